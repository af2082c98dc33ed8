// All boxes, those of a plant, and the plant itself.
import { html, fields } from './html.mjs';
import { read } from './sources.mjs';
import { at, query } from './api.mjs';
import { state, may } from './state.mjs';
import { Moment, Said, boxes, count, some } from './format.mjs';
import { Chip, Empty, PlantLink, Shown, Table, boxesIn, channelOf, further, once } from './parts.mjs';
import { states } from './box.mjs';
import { Events } from './events.mjs';
import { Plant as Row } from './plants.mjs';

const chosen = { trouble: 'In trouble', restless: 'Restless', frequent: 'Calls too often', mislabelled: 'Says its version in other words', waiting: 'Waits for its plant or group', ...Object.fromEntries(Object.entries(states).map(([id, [, word]]) => [id, word])) };

const causes = { window: 'its plant’s window', pause: 'the end of its plant’s pause', group: 'a box of its group', 'opt-out': 'its plant, which opted out' };

// Standing shows for what a box waits, if that was asked, or how its last offer went.
function Standing({ b }) {
	if (b.waits) return html`<${Chip} kind="hold">Waits for ${causes[b.waits] ?? b.waits}<//>${b.opensAt && html` <span class="note">until <${Moment} at=${b.opensAt} /></span>`}`;
	return html`${b.state && html`<${Chip} kind=${states[b.state]?.[0]}>${states[b.state]?.[1] ?? b.state}<//>`}${b.restless && html` <${Chip} kind="bad">Restless<//>`}${b.frequent && html` <${Chip} kind="hold">Calls every ${b.frequent.everySeconds} s<//> <span class="note">told ${b.frequent.toldSeconds} s; ${b.frequent.dollarsPerMonth.toFixed(2)} dollars a month more</span>`}`;
}

const mostVersions = 5;

// Versions says what the listed boxes run, if they differ. Each number leads to its boxes.
function Versions({ items, of }) {
	const sums = new Map();
	for (const { running } of items) if (running) sums.set(running, (sums.get(running) ?? 0) + 1);
	const all = [...sums].sort(([, a], [, b]) => b - a);
	return all.length > 1 && html`${all.slice(0, mostVersions).map(([version, n], i) => html`${i > 0 && ', '}<a href=${boxesIn({ ...of, version })}>${count(n)} run <${Said}>${version}<//></a>`)}${all.length > mostVersions && ' …'}`;
}

/** The boxes that a query of the list of boxes finds. */
function List({ of }) {
	const path = '/api/edges' + query({ ...of, limit: '50' });
	const all = may('get-overview'); // and so boxes of several organizations
	return html`<${Shown} of=${read(path, 300)} lines=${4} none=${() => html`<${Empty} title="There is no such organization." />`} then=${(page) => {
		const { items, next, button } = further(path, page, (b) => b.edgeId, (p) => p.items.length > 0);
		return html`<p class="note" role="status">${some(items.length, 'box', 'boxes')} ${next ? 'so far' : 'in all'}.${of.version ? '' : html` <${Versions} items=${items} of=${of} />`}</p>
			${items.length > 0 && html`<${Table} label="Boxes" head=${['Box', 'Channel', ...(all ? ['Organization'] : []), 'Plant', 'Runs', 'State']} rows=${items.map((b) => [
				html`<a href=${`#/box/${encodeURIComponent(b.edgeId)}`}>${b.edgeId}</a>`, channelOf(b), ...(all ? [b.organizationId] : []), b.factoryId && html`<${PlantLink} id=${b.factoryId} />`,
				html`<${Said}>${b.running ?? ''}<//>${b.label && html` <span class="note">as <${Said}>${b.label}<//></span>`}${b.assumed && html` <span class="note">somebody said so</span>`}${!b.running && b.imported && html`<span class="note">not said since it came from another server</span>`}`, html`<${Standing} b=${b} />`])} />`}${button}`;
	}} />`;
}

const asFile = (f) => once(() => import('./csv.mjs'), (m) => m.save(f));

/** The boxes of a filter that the person may see, such as state=restless&edgeType=gateway-x. */
export function Fleet({ of = '' }) {
	const f = Object.fromEntries(new URLSearchParams(of));
	const find = (e) => {
		e.preventDefault();
		const { only, attribute, ...others } = fields(e.target);
		const [edgeType, channel] = only.split('/');
		location.hash = boxesIn({ ...others, attribute: attribute.replace(/[=:]/, ':'), edgeType, channel });
	};
	return html`<section aria-labelledby="fleet"><h2 id="fleet">${of ? 'Boxes found' : 'All boxes'}</h2>
		<form class="choice" onSubmit=${find} key=${of}><label class="field">Part of the id <input name="idPart" defaultValue=${f.idPart} autocapitalize="off" spellcheck=${false} pattern="[A-Za-z0-9._:\\-]*" /></label>
			<label class="field">Edge type, or edge type/channel <input name="only" defaultValue=${[f.edgeType, f.channel].filter(Boolean).join('/')} autocapitalize="off" spellcheck=${false} pattern="[A-Za-z0-9._\\-]*(/[A-Za-z0-9._\\-]*)?" /></label>
			${may('get-overview') && html`<label class="field">Organization <input name="organizationId" defaultValue=${f.organizationId} autocapitalize="off" spellcheck=${false} pattern="[A-Za-z0-9._\\-]*" /></label>`}
			<label class="field">Plant <input name="factoryId" defaultValue=${f.factoryId} autocapitalize="off" spellcheck=${false} pattern="[a-z0-9][a-z0-9\\-]*" /></label>
			<label class="field">Runs <input name="version" defaultValue=${f.version} autocapitalize="off" spellcheck=${false} /></label>
			<label class="field">State <select name="state"><option value="">Any</option>${Object.entries(chosen).map(([id, name]) => html`<option value=${id} selected=${f.state === id}>${name}</option>`)}</select></label>
			<label class="field">Attribute <input name="attribute" defaultValue=${f.attribute?.replace(':', '=')} placeholder="name=value" title="The name of an attribute, = and its value" autocapitalize="off" spellcheck=${false} pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*[=:].+" /></label>
			<label class="check"><input type="checkbox" name="pinned" value="true" checked=${f.pinned === 'true'} /> Pinned</label>
			<button type="submit" class="button">Find</button></form>
		<p><button type="button" class="button small" aria-disabled=${Boolean(state.local.csv)} onClick=${() => !state.local.csv && asFile(f)}>${state.local.csv ? `Reading… ${boxes(state.local.csv.read)}` : 'Save as CSV'}</button></p>
		<${List} of=${f} /></section>`;
}

function Machines({ id }) {
	const path = at`/api/factories/${id}/machines` + '?limit=100';
	return html`<${Shown} of=${read(path, 120)} lines=${2} then=${(page) => {
		const { items, button } = further(path, page, (m) => m.code, () => true);
		return items.length ? html`<${Table} label="Machines" head=${['Machine', 'Name', 'Classes', 'Box']} rows=${items.map((m) => [m.code, html`<${Said}>${m.name ?? ''}<//>`, (m.classes ?? []).join(', '), m.edgeId && html`<a href=${`#/box/${encodeURIComponent(m.edgeId)}`}>${m.edgeId}</a>`])} />${button}` : html`<p class="note">It has none.</p>`;
	}} />`;
}

/** A plant: when it takes updates, its boxes, its machines, and what happened there. */
export function Plant({ id }) {
	return html`<${Shown} of=${read(at`/api/factories/${id}`, 60)} lines=${4} none=${() => html`<h1>Plant</h1><${Empty} title=${html`There is no plant <${Said}>${id}<//>.`} />`} then=${(f) => html`
		<h1><${Said}>${f.name}<//></h1><section aria-labelledby="updates"><h2 id="updates">Updates</h2><ul class="rows"><${Row} f=${f} /></ul></section>
		${may('list-edges') && html`<section aria-labelledby="boxes"><h2 id="boxes">Boxes</h2><${List} of=${{ organizationId: f.organizationId, factoryId: id }} /></section>`}
		${may('list-machines') && html`<section aria-labelledby="machines"><h2 id="machines">Machines</h2><${Machines} id=${id} />${may('list-production-methods') && html`<p><a href=${`#/methods/${id}`}>Its production methods</a></p>`}</section>`}
		${may('list-factory-audit-events') && html`<section aria-labelledby="changes"><h2 id="changes">Changes</h2><${Events} path=${at`/api/factories/${id}/audit-events` + '?limit=20'} />
			${may('list-audit-events') && html`<h3>The plant itself</h3><${Events} path=${'/api/audit-events' + query({ resourceType: 'factory', resourceId: id, limit: '20' })} />`}</section>`}`} />`;
}
