// Templates: html`<p>${text}</p>` makes what preact renders. Text is never taken for markup.
import { h, render, Component, createRef } from './preact.mjs';
import htm from './htm.mjs';

export const html = htm.bind(h);
export { render, Component, createRef };
