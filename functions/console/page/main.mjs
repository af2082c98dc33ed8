// Starts the page: who is signed in, which view the address names, and the keys.
import { html, render, Component } from './html.mjs';
import { state, changed, drawBy, may, mayAct } from './state.mjs';
import { start } from './login.mjs';
import { begin, read, turn, run, forget } from './sources.mjs';
import { at } from './api.mjs';
import { confirm } from './dialog.mjs';
import { halt } from './actions.mjs';
import { Shell, Welcome, Nothing, everything, views } from './shell.mjs';
import { Empty, Later } from './parts.mjs';
import { Now, overview } from './now.mjs';
import { Rollout, said } from './rollout.mjs';
import { Box } from './box.mjs';

function View() {
	const [view, first, second, third] = state.route;
	const rest = state.route.slice(1);
	switch (view) {
	case 'now': return may('get-overview') ? html`<${Now} />` : html`<${Later} name="Now" load=${() => import('./own.mjs')} />`;
	case 'rollout':
		if (!first || first === 'in') return html`<${Later} key=${second} name="Rollouts" load=${() => import('./rollouts.mjs')} of=${second} />`;
		if (second === 'bad' || said[second]) return html`<${Later} key=${second} name="Found" load=${() => import('./rollouts.mjs')} id=${first} state=${second} />`;
		if (first === 'new') return html`<${Later} name="Release" load=${() => import('./release.mjs')} edgeType=${second} channel=${third} />`;
		if (second === 'policy') return html`<${Later} name="Policy" load=${() => import('./policy.mjs')} id=${first} />`;
		return html`<${Rollout} key=${first} id=${first} />`;
	case 'box':
		if (first === 'in') return html`<${Later} key=${second} name="Boxes" load=${() => import('./boxes.mjs')} of=${second} />`;
		if (first === 'plant' && second) return html`<${Later} key=${second} name="Plant" load=${() => import('./fleet.mjs')} id=${second} />`;
		return first ? html`<${Box} key=${first} id=${first} />` : html`<${Later} name="Boxes" load=${() => import('./boxes.mjs')} />`;
	case 'release': return html`<${Later} key=${rest.join('/')} name="Known" load=${() => import('./known.mjs')} edgeType=${first ?? ''} version=${second ?? ''} />`;
	case 'log': return html`<${Later} name="Log" load=${() => import('./log.mjs')} parts=${rest} />`;
	case 'rules': return html`<${Later} name="Rules" load=${() => import('./rules.mjs')} />`;
	case 'methods': return html`<${Later} name="Methods" load=${() => import('./methods.mjs')} factory=${first} id=${second} number=${third} />`;
	}
	if (view === 'unknown') return html`<h1>Nothing here</h1><${Empty} title="This address leads to no view."><p><a href="#/">Go to the first view</a></p><//>`;
	return html`<${Nothing} />`;
}

let person = null;

function draw() {
	begin();
	if (person && !state.person) forget();
	if (!person && state.person) place();
	person = state.person;
	render(state.person ? html`<${Shell}><${Drawn} key=${state.route.join('/')}><${View} /><//><//>` : html`<${Welcome} />`, document.getElementById('page'));
	turn();
	const name = views().find(([id]) => id === state.route[0])?.[1] ?? 'Nothing to see';
	document.title = state.person ? `${[name, state.route.at(-1)].slice(0, state.route.length > 1 ? 2 : 1).join(' – ')} – Wavegate` : 'Wavegate';
}

// Drawn keeps the page usable if a view cannot be drawn.
class Drawn extends Component {
	componentDidCatch(e) { this.setState({ failed: true }); reportError(e); }
	render({ children }) { return this.state.failed ? html`<h1>Sorry</h1><p>This view cannot be shown. The other views, and halting, still work.</p>` : children; }
}

// place takes the view from the address. If the person may not see that one, it takes their first.
function place() {
	const known = (part) => !part || everything.some(([id]) => id === part);
	const parts = location.hash.replace(/^#\/?/, '').split('/').map((p) => { try { return decodeURIComponent(p); } catch { return p; } });
	const mine = views();
	state.route = mine.some(([id]) => id === parts[0]) ? parts : !known(parts[0]) ? ['unknown', ...parts] : [mine[0]?.[0] ?? ''];
}

function route(first) {
	place();
	if (Date.now() - (state.notice?.at ?? 0) > 1000) state.notice = null; // an action that leads to another view shows its outcome there
	state.dialog = null;
	changed();
	if (!first) queueMicrotask(() => { document.getElementById('main')?.focus({ preventScroll: true }); window.scrollTo(0, 0); });
}

// onPage is the rollout that Shift+H halts: the one that is shown or, on the first view, the only one.
function onPage() {
	if (state.route[0] === 'rollout' && state.route[1]) return read(at`/api/ota/rollouts/${state.route[1]}`, 10, true).value;
	const o = state.route[0] === 'now' && mayAct() && read(overview(), 10, true).value;
	return o && o.active === 1 ? o.items[0].rollout : null;
}

// A question is open until the browser has closed it, which happens before the browser's event.
function asked() { return state.dialog && document.querySelector('dialog')?.open !== false; }

function key(event) {
	if (!state.keys || !state.person || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
	if (event.key === 'H' && event.shiftKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
		if (asked() && state.dialog.halts) return confirm();
		const r = onPage();
		if (!asked() && r?.status === 'active' && mayAct()) { event.preventDefault(); halt(r); }
		return;
	}
	if (asked() || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
	if (event.key === '/') {
		event.preventDefault();
		document.getElementById('search')?.focus();
	} else if (views()[Number(event.key) - 1]) {
		location.hash = `#/${views()[Number(event.key) - 1][0]}`;
	}
}

drawBy(draw);
window.addEventListener('hashchange', () => route(false));
window.addEventListener('keydown', key);
route(true);
run();
start().then(() => route(true)); // the sign-in leads back to where the person was
