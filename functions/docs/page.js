// Shows the contract in the colours that the reader's system asks for. The renderer computes with its colours, so they
// are given as values, and the page is loaded again when the reader changes them.
const scheme = matchMedia('(prefers-color-scheme: dark)')
scheme.addEventListener('change', () => location.reload())

const dark = {
  colors: {
    primary: { main: '#8ab4f8' },
    success: { main: '#7ee2a8' },
    error: { main: '#ff9b94' },
    text: { primary: '#e3e6ea', secondary: '#b6bcc4' },
    border: { dark: '#4a525c', light: '#39414a' },
    gray: { 50: '#1b2026', 100: '#272e36' },
    responses: {
      success: { color: '#7ee2a8', backgroundColor: '#16301f', tabTextColor: '#7ee2a8' },
      error: { color: '#ff9b94', backgroundColor: '#3a1b1b', tabTextColor: '#ff9b94' },
      redirect: { color: '#f0c674', backgroundColor: '#33290f', tabTextColor: '#f0c674' },
      info: { color: '#8fd0ff', backgroundColor: '#12293a', tabTextColor: '#8fd0ff' },
    },
  },
  schema: {
    nestedBackground: '#1b2026', linesColor: '#5b6570', typeNameColor: '#b6bcc4', typeTitleColor: '#b6bcc4',
    requireLabelColor: '#ff9b94', arrow: { color: '#b6bcc4' },
  },
  typography: {
    code: { color: '#ffb3ab', backgroundColor: '#272e36' },
    links: { color: '#8ab4f8', visited: '#8ab4f8', hover: '#b7d0fb' },
  },
  sidebar: { backgroundColor: '#1b2026', textColor: '#e3e6ea', activeTextColor: '#8ab4f8' },
  rightPanel: { backgroundColor: '#20262c', textColor: '#e3e6ea', servers: { overlay: { backgroundColor: '#1b2026', textColor: '#e3e6ea' }, url: { backgroundColor: '#272e36' } } },
  codeBlock: { backgroundColor: '#11171a' },
}

const fonts = { fontFamily: 'system-ui, sans-serif', headings: { fontFamily: 'system-ui, sans-serif' } }
const theme = scheme.matches ? dark : {} // the renderer's own colours are light

Redoc.init('openapi.yaml', {
  hideDownloadButton: true,
  hideSchemaTitles: true,
  sortRequiredPropsFirst: true,
  showExtensions: 'x-extensible-enum',
  jsonSampleExpandLevel: 'all',
  payloadSampleIdx: 1, // the curl call comes first, then the body
  expandResponses: '201,204', // successes without a sample
  theme: { ...theme, typography: { ...theme.typography, ...fonts, code: { ...theme.typography?.code, fontFamily: 'ui-monospace, monospace', wrap: true } } },
}, document.querySelector('main'))
