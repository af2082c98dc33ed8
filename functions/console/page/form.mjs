// Fields of forms, with what the service says about each of them.
import { html } from './html.mjs';
import { nameOf } from './dialog.mjs';

/** The faults that the service found, by field: { 'guard/acceptable': 'must be …' }. A field is named by its path below within. */
export function faultsOf(error, within = '') {
	const all = {};
	for (const f of error.problem?.errors ?? []) {
		const place = f.pointer ?? f.parameter ?? '';
		all[place.startsWith(within) ? place.slice(within.length).replace(/^\//, '') : place] = f.detail;
	}
	return all;
}

// faultAt finds the fault of a field, or of a part of it.
const faultAt = (faults, name) => faults[name] ?? Object.entries(faults).find(([place]) => place.startsWith(`${name}/`))?.[1];

/** A field. options makes it a choice: a list of values and their names. */
export function Field({ label, name, value, faults = {}, hint, options, onChange, type = 'text', scope = '', ...more }) {
	const fault = faultAt(faults, name);
	const id = `field ${scope} ${name}`.replace(/[^a-z0-9]+/gi, '-');
	const about = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ') || null;
	return html`<div class="field"><label for=${id}>${label}</label>
		${options ? html`<select id=${id} name=${name} aria-describedby=${about} aria-invalid=${Boolean(fault)} onChange=${onChange} ...${more}>${options.map(([v, text]) => html`<option value=${v} selected=${v === value}>${text}</option>`)}</select>`
		: html`<input id=${id} name=${name} type=${type} defaultValue=${value ?? ''} autocomplete="off" autocapitalize="off" spellcheck=${false} aria-describedby=${about} aria-invalid=${Boolean(fault)} onChange=${onChange} ...${more} />`}
		${hint && html`<p class="note" id=${`${id}-hint`}>${hint}</p>`}
		${fault && html`<p class="wrong" id=${`${id}-fault`}><span aria-hidden="true">■ </span>${fault}</p>`}</div>`;
}

/** Faults that no field shows. */
export function Others({ faults = {}, names }) {
	const rest = Object.entries(faults).filter(([place]) => !names.some((n) => place === n || place.startsWith(`${n}/`)));
	return rest.length > 0 && html`<ul class="plain wrong" role="alert">${rest.map(([place, detail]) => html`<li><span aria-hidden="true">■ </span><bdi>${nameOf(place)}</bdi> ${detail}</li>`)}</ul>`;
}
