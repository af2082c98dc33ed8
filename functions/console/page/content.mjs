// The content of a version of a production method, for people to read.
import { html } from './html.mjs';
import { Said } from './format.mjs';
import { Chip, Table } from './parts.mjs';

/** A value of a content as a line of text. */
export function valueText(v) {
	if (v === null || typeof v !== 'object') return /^PT(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?$/.test(v) ? time(v) : String(v);
	if (Array.isArray(v)) return v.map(valueText).join(', ');
	if ('quantity' in v && 'unit' in v && Object.keys(v).length === 2) return `${v.quantity} ${unit(v.unit)}`;
	return Object.entries(v).map(([k, x]) => `${k}: ${valueText(x)}`).join('; ');
}

// unit shows a unit of UCUM by its name, as far as it is known. Text in braces is a word.
let names = {};
const unit = (u) => names[u] ?? u.replace(/^\{(.*)\}$/, '$1');

const time = (d) => d.replace(/^PT/, '').replace(/(\d)([HMS])/g, (_, n, u) => `${n} ${{ H: 'h', M: 'min', S: 's' }[u]} `).trim();

// limits shows the numbers of a parameter or a check.
function limits(p) {
	if (p.points) return p.points.map((q) => `${q.x} ${unit(p.xUnit)}: ${q.y}${'min' in q || 'max' in q ? ` (${q.min ?? ''} to ${q.max ?? ''})` : ''}`).join(', ') + ` ${unit(p.unit)}`;
	const range = p.min !== undefined && p.max !== undefined ? `${p.min} to ${p.max}` : p.min !== undefined ? `at least ${p.min}` : p.max !== undefined ? `at most ${p.max}` : '';
	return `${p.target ?? range} ${unit(p.unit ?? '')}${p.target !== undefined && range ? ` (${range})` : ''}`;
}

function Step({ s }) {
	const rows = [
		...(s.parameters ?? []).map((p) => ['Set', p, [p.text ?? limits(p), ...(p.overrides ?? []).map((o) => `on ${o.machine}: ${o.target ?? o.text ?? o.points.map((q) => `${q.x}: ${q.y}`).join(', ')}`)].join('; ')]),
		...(s.checks ?? []).map((c) => ['Check', c, (c.accept ?? limits(c)) + (c.every ? `, every ${valueText(c.every)}` : '')]),
		...(s.inputs ?? []).map((m) => ['Input', { id: m.material }, `${m.quantity} ${unit(m.unit)}${m.lotTracked ? ', by lot' : ''}`]),
		...(s.outputs ?? []).map((m) => ['Output', { id: m.material }, `${m.quantity} ${unit(m.unit)}${m.lotTracked ? ', by lot' : ''}`]),
	];
	const facts = [
		s.equipment ? s.equipment.class ? `any machine of class ${s.equipment.class}` : `on ${s.equipment.machines.join(' or ')}` : 'by hand',
		s.setup && `set-up ${time(s.setup)}`, s.run && `${time(s.run.time)} per ${valueText(s.run.per)}`,
	].filter(Boolean);
	return html`<li class="step"><h3><${Said}>${s.name}<//> <span class="note">step <${Said}>${s.id}<//></span></h3><p><${Said}>${facts.join(', ')}<//></p>
		${s.instructions && html`<p class="text"><${Said}>${s.instructions}<//></p>`}
		${rows.length > 0 && html`<${Table} label=${`Step ${s.id}`} head=${['Name', 'What', 'Value']} rows=${rows.map(([what, x, value]) => [html`<${Said}>${x.name ?? x.id}<//>${x.critical && html` <${Chip} kind="bad">critical<//>`}`, what, html`<${Said}>${value}<//>`])} />`}
		${s.documents?.length > 0 && html`<ul class="plain">${s.documents.map((d) => html`<li><${Said}>${d.title}<//> <span class="note"><${Said}>${d.url}<//></span></li>`)}</ul>`}</li>`;
}

/** The steps of a content, in order, with the names of its units. */
export function Content({ of, units }) {
	names = units ?? {};
	return html`<p>Amounts are per ${valueText(of.basis)}.</p>${of.steps.length ? html`<ol class="method-steps">${of.steps.map((s) => html`<${Step} key=${s.id} s=${s} />`)}</ol>` : html`<p>It has no step yet.</p>`}`;
}
