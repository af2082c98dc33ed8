// Templates: html`<p>${text}</p>` makes what preact renders. Text is never treated as markup.
import { h, render, Component, createRef } from './preact.mjs';
import htm from './htm.mjs';

export const html = htm.bind(h);
/** The values of a form, without surrounding white space. @returns {Record<string, string>} */
export const fields = (form) => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));

export { render, Component, createRef };
