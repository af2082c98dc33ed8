// Registers boxes from lines of text, thirty per call.
import { html, fields } from './html.mjs';
import { call } from './api.mjs';
import { again } from './sources.mjs';
import { state, changed } from './state.mjs';
import { boxes, some } from './format.mjs';

const columns = ['edgeId', 'edgeType', 'channel', 'organizationId', 'factoryId'];
const most = 30;

/** Reads lines of edgeId,edgeType,channel,organizationId and optionally factoryId. It returns all faults. */
export function parse(text) {
	const edges = [];
	const faults = [];
	const seen = new Map();
	text.split(/\r?\n/).forEach((line, i) => {
		if (!line.trim() || /^\s*edgeId\s*,/.test(line)) return;
		const cells = line.split(',').map((c) => c.trim());
		const edge = Object.fromEntries(columns.map((name, j) => [name, cells[j] ?? '']).filter(([, v]) => v));
		const missing = columns.slice(0, 4).filter((c) => !edge[c]);
		if (missing.length) faults.push(`Line ${i + 1} has no ${missing.join(', ')}.`);
		if (cells.length > columns.length) faults.push(`Line ${i + 1} has more than ${columns.length} columns.`);
		if (seen.has(edge.edgeId)) faults.push(`Line ${i + 1} names ${edge.edgeId} again, after line ${seen.get(edge.edgeId)}.`);
		else if (edge.edgeId) seen.set(edge.edgeId, i + 1);
		edges.push(edge);
	});
	return { edges, faults };
}

async function register(event) {
	event.preventDefault();
	const { edges, faults } = parse(fields(event.target).lines);
	const said = state.local.register = { faults, done: 0, of: edges.length, busy: !faults.length && edges.length > 0, text: '' };
	if (!edges.length && !faults.length) faults.push('Give at least one line.');
	changed();
	if (faults.length) return;
	try {
		for (let i = 0; i < edges.length; i += most) {
			await call('POST', '/api/edges', { body: { edges: edges.slice(i, i + most) } });
			said.done = Math.min(i + most, edges.length);
			changed();
		}
		said.text = `${boxes(edges.length)} are registered.`;
		again('/api/');
	} catch (e) {
		const more = (e.problem?.errors ?? []).map((f) => {
			const m = /^\/edges\/(\d+)\/?(.*)$/.exec(f.pointer);
			return m ? `${edges[said.done + Number(m[1])]?.edgeId}: ${m[2]} ${f.detail}.` : `${f.pointer} ${f.detail}.`;
		});
		faults.push(...(more.length ? more : [e.message]));
		if (said.done) faults.push(`The first ${boxes(said.done)} are registered. Correct the rest and send the list again.`);
	}
	said.busy = false;
	changed();
}

export function Register() {
	const said = state.local.register;
	return html`<section class="panel" aria-labelledby="register"><h2 id="register">Register boxes</h2>
		<form onSubmit=${register}><label class="field">One box per line: id, edge type, channel, organization, and factory if you know it
			<textarea name="lines" rows="4" spellcheck=${false} autocapitalize="off" placeholder="box-0042,gateway-x,stable,acme,munich-1"></textarea></label>
			<div class="buttons"><button class="button" aria-disabled=${Boolean(said?.busy)}>Register</button></div></form>
		<div role="status">${said?.busy ? html`<p>${said.done} of ${boxes(said.of)}</p>` : said?.text && html`<p>${said.text}</p>`}
			${said?.faults.length > 0 && html`<p class="bad-text"><span aria-hidden="true">■ </span>${some(said.faults.length, 'fault')}:</p><ul class="plain">${said.faults.slice(0, 20).map((f) => html`<li>${f}</li>`)}</ul>`}</div></section>`;
}
