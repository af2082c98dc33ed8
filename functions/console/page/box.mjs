// One box: its version and why, what it runs, and the state of its last offer.
import { html } from './html.mjs';
import { read, moved } from './sources.mjs';
import { at, call, query } from './api.mjs';
import { state, changed, may } from './state.mjs';
import { ask } from './dialog.mjs';
import { Ago, Said, plain } from './format.mjs';
import { Chip, Empty, Later, PlantLink, Shown, VersionLink, once } from './parts.mjs';
import { Events } from './events.mjs';
import { Pin } from './pins.mjs';

/** How a box stands with what it was offered: the kind of a chip, and a word. */
export const states = {
	offered: ['wait', 'Offered'], working: ['wait', 'Working'], deferred: ['hold', 'Deferred'], installed: ['good', 'Installed'],
	failed: ['bad', 'Failed'], reverted: ['bad', 'Fell back'],
};

/** Why an attempt failed. */
export const reasons = {
	download: 'Download', checksum: 'Checksum', signature: 'Signature', space: 'No space', power: 'Power', incompatible: 'Incompatible',
	install: 'Install', boot: 'Boot', health: 'Health', other: 'Other',
};

/** The percentile of a box for a version: SHA-256 over edge type, version and id. The service computes the same. */
export async function percentile(edgeType, version, edgeId) {
	const sum = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${edgeType}/${version}/${edgeId}`));
	return Number((new DataView(sum).getBigUint64(0) * 100n) >> 64n);
}

// checked computes the percentile in this browser, once for each box and version.
function checked(w) {
	const key = `percentile ${w.edgeType} ${w.rollout.targetVersion} ${w.edgeId}`;
	if (!(key in state.local)) {
		state.local[key] = null;
		percentile(w.edgeType, w.rollout.targetVersion, w.edgeId).then((n) => { state.local[key] = n; changed(); });
	}
	return state.local[key];
}

function Check({ w }) {
	const n = checked(w);
	if (n === null) return html`<p class="note">Computing here…</p>`;
	return n === w.rollout.percentile ? html`<p><${Chip} kind="good">Checked in this browser<//> Percentile ${n}, as the service says.</p>`
		: html`<p><${Chip} kind="bad">Not as computed here<//> The service says ${w.rollout.percentile}, this browser ${n}.</p>`;
}

// Steps shows how far an offer got.
function Steps({ report }) {
	const last = report.state;
	const order = ['offered', 'working', last === 'failed' || last === 'deferred' ? last : 'installed', ...(last === 'reverted' ? ['reverted'] : [])];
	const reached = order.indexOf(last);
	return html`<ol class="steps" aria-label="How far it got">${order.map((s, i) => html`<li class=${i <= reached ? states[s][0] : 'ahead'} aria-current=${i === reached ? 'step' : null}>${states[s][1]}${i > reached ? html`<span class="unseen">, not yet</span>` : ''}</li>`)}</ol>`;
}

function Report({ report }) {
	return html`<section class="panel" aria-labelledby="report"><h2 id="report">Last offer: <${Said}>${report.version}<//></h2>
		<${Steps} report=${report} />
		<dl class="facts"><div><dt>Since</dt><dd><${Ago} at=${report.since} /></dd></div>
			${report.attempts && html`<div><dt>Attempts</dt><dd>${report.attempts}</dd></div>`}
			${report.code && html`<div><dt>Reason</dt><dd>${reasons[report.code] ?? report.code}</dd></div>`}
			${report.detail && html`<div><dt>It said</dt><dd><${Said}>${report.detail}<//></dd></div>`}
			${report.rolloutId && may('get-rollout') && html`<div><dt>From</dt><dd><a href=${`#/rollout/${report.rolloutId}`}>this rollout</a></dd></div>`}</dl></section>`;
}

// Attributes shows those of the registration, which win, and those that the box says.
function Attributes({ edge }) {
	const { attributes = {}, saidAttributes = {} } = edge;
	const names = [...new Set([...Object.keys(attributes), ...Object.keys(saidAttributes)])].sort();
	if (!names.length) return null;
	const registered = (n) => (n in saidAttributes && saidAttributes[n] !== attributes[n] ? html`as registered; the box says <${Said}>${saidAttributes[n]}<//>` : 'as registered');
	return html`<section class="panel" aria-labelledby="attributes"><h2 id="attributes">Attributes</h2>
		<dl class="facts">${names.map((n) => html`<div key=${n}><dt>${n}</dt><dd><${Said}>${attributes[n] ?? saidAttributes[n]}<//> <span class="note">${n in attributes ? registered(n) : 'as the box says'}</span></dd></div>`)}</dl></section>`;
}

function move(edge) {
	ask({
		title: `Move ${edge.edgeId} to another channel?`, action: 'Move',
		body: () => html`<p>It now follows <span class="mono">${edge.edgeType}/${edge.channel}</span>. It follows the new channel from its next poll on.</p>`,
		fields: () => html`<label class="field">Channel of ${edge.edgeType} <input name="channel" autocomplete="off" autocapitalize="off" autofocus=${true} required /></label>`,
		run: async ({ channel }) => {
			if (!channel) throw new Error('Enter the channel.');
			const { edgeType, organizationId } = edge;
			await call('PUT', at`/api/edges/${edge.edgeId}`, { body: { edgeType, channel, organizationId }, ifMatch: `"${edge.revision}"` });
			moved('/api/edges');
			return `${edge.edgeId} now follows ${edgeType}/${channel}.`;
		},
	});
}

// pinning is what keepers of boxes may do, and installers may not.
const pinning = (act) => once(() => import('./pinning.mjs'), act);

function Nobody({ id }) {
	const like = /^[\w.:-]{1,128}$/.test(id) && may('list-edges') ? read('/api/edges' + query({ idPart: id, limit: '20' }), 300).value?.items ?? [] : [];
	return html`<h1>Box</h1>${like.length ? html`<p>There is no box <strong><${Said}>${id}<//></strong>. Ids that contain it:</p>
		<ul class="plain">${like.map((b) => html`<li key=${b.edgeId}><a href=${`#/box/${encodeURIComponent(b.edgeId)}`}>${b.edgeId}</a> <span class="note">${b.edgeType}/${b.channel}</span></li>`)}</ul>`
		: html`<${Empty} title=${html`There is no box <${Said}>${id}<//>.`}><p>Enter the registered id, or a part of it. <a href="#/box">All boxes</a></p><//>`}`;
}

export function Box({ id }) {
	const why = read(at`/api/edges/${id}/update/why`, 10);
	const edge = read(at`/api/edges/${id}`, 30).value;
	return html`${why.value === undefined && html`<h1><${Said}>${id}<//></h1>`}<${Shown} of=${why} lines=${5} none=${() => html`<${Nobody} id=${id} />`} then=${(w) => html`
		<header class="title"><div><h1>${w.edgeId}</h1><p class="versions">Runs <strong>${w.running ? html`<${VersionLink} edgeType=${w.edgeType} version=${w.running} />` : 'an unknown version'}</strong>${w.supportedUntil && Date.parse(w.supportedUntil) <= Date.now() && html` <${Chip} kind="bad">Support ended<//>`}${w.label && html`, as <${Said}>${w.label}<//>`}${w.assumed && html`, <span class="note">because somebody said so; the box has not</span>`}</p>
			<p>${w.lastSeenAt ? html`Seen <${Ago} at=${w.lastSeenAt} />` : 'Last seen: unknown'} · ${w.edgeType}/${w.channel}${edge ? html` · <${Said}>${edge.organizationId}<//>${edge.factoryId && html` · <${PlantLink} id=${edge.factoryId} />`}` : ''}</p></div>
			${edge && may('put-edge') && html`<div class="act"><div class="buttons"><button type="button" class="button" onClick=${() => move(edge)}>Move…</button>
				${may('delete-edge') && html`<button type="button" class="button" onClick=${() => pinning((m) => m.pin(edge, w))}>${w.pin ? 'Change the pin…' : 'Pin…'}</button>${w.pin && html`<button type="button" class="button" onClick=${() => pinning((m) => m.unpin(edge))}>End the pin…</button>`}`}</div></div>`}</header>
		<section class="panel" aria-labelledby="why"><h2 id="why">Why</h2><p class="sentence">${plain(w.sentence)}</p>
			${w.towards && html`<dl class="facts"><div><dt>Told first</dt><dd><${Said}>${w.version}<//></dd></div><div><dt>On its way to</dt><dd>${!may('get-rollout') ? w.towards : html`<a href=${w.rollout?.targetVersion === w.towards ? `#/rollout/${w.rollout.id}` : `#/log/release-channel/${encodeURIComponent(`${w.edgeType}/${w.channel}`)}`}>${w.towards}</a>`}</dd></div></dl>`}
			${w.pin && html`<${Pin} pin=${w.pin} />`}
			${w.rollout && html`<dl class="facts"><div><dt>Percentile</dt><dd>${w.rollout.percentile}</dd></div><div><dt>Reached at</dt><dd>${w.rollout.reachedAt} %</dd></div>
				<div><dt>Rollout</dt><dd>${may('get-rollout') ? html`<a href=${`#/rollout/${w.rollout.id}`}>${w.rollout.targetVersion}</a>` : w.rollout.targetVersion}, ${w.rollout.status} at ${w.rollout.staged_percent} %</dd></div></dl><${Check} w=${w} />`}</section>
		${w.report && html`<${Report} report=${w.report} />`}
		${w.health && html`<${Later} name="Work" load=${() => import('./health.mjs')} health=${w.health} />`}
		${edge && html`<${Attributes} edge=${edge} />`}
		<section class="panel" aria-labelledby="changes"><h2 id="changes">Changes</h2><${Events} path=${'/api/audit-events' + query({ resourceType: 'edge', resourceId: id, limit: '20' })} /></section>`} />`;
}
