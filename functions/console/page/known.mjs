// One version of an edge type: its bytes and documents, who runs it, what is known against it, and until when it is supported.
import { html } from './html.mjs';
import { read, moved } from './sources.mjs';
import { at, call } from './api.mjs';
import { may } from './state.mjs';
import { ask, Reason } from './dialog.mjs';
import { Ago, Moment, Said, boxes, count, moment } from './format.mjs';
import { Chip, Empty, Shown, Table, boxesIn } from './parts.mjs';

const path = (r) => at`/api/ota/releases/${r.edgeType}/${r.version}`;

// describe sends what a person says of the version.
async function describe(r, body, outcome) {
	await call('PUT', path(r), { body });
	moved('/api/ota/releases');
	return outcome;
}

const support = (r) => ask({
	title: `Until when is ${r.version} supported?`, action: 'Save',
	body: () => html`<p>Organizations with boxes that run it are warned 90 and 30 days before, and at the end. Without a day, nobody says.</p>`,
	fields: () => html`<label class="field">Day <input type="date" name="day" value=${(r.supportedUntil ?? '').slice(0, 10)} /></label>`,
	run: ({ day }) => describe(r, { supportedUntil: day ? `${day}T00:00:00Z` : null }, `The end of the support of ${r.version} is set.`),
});

const advise = (r) => ask({
	title: `A weakness of ${r.version}`, action: 'Save',
	body: () => html`<p>What is said of a weakness takes the place of what was said of it before.</p>`,
	fields: () => html`<label class="field">Its name <input name="id" required placeholder="CVE-2026-1234" autocapitalize="off" spellcheck=${false} /></label>
		<label class="field">Severity <select name="severity">${['critical', 'high', 'medium', 'low', 'none'].map((s) => html`<option>${s}</option>`)}</select></label>
		<label class="field">Fixed in version <input name="fixedIn" autocapitalize="off" spellcheck=${false} /></label>
		<label class="check"><input type="checkbox" name="spared" /> The version is not affected</label><${Reason} label="Why not" />`,
	run: ({ id, severity, fixedIn, spared, reason }) => describe(r, { advisories: [{ id, severity, ...(fixedIn && { fixedIn }), ...(spared && { notAffected: true }), ...(reason && { reason }) }] }, `${id} is noted.`),
});

// size is a number of bytes as people read it.
const size = (n) => n < 1e6 ? `${count(Math.ceil(n / 1e3))} KB` : `${count(Math.round(n / 1e6))} MB`;

const Document = ({ d }) => html`<li><strong><${Said}>${d.kind}<//></strong> <${Said}>${d.url}<//> <span class="note mono">${d.sha256}</span></li>`;

const Box = ({ of, word }) => of && html`<div><dt>${word}</dt><dd><a href=${`#/box/${encodeURIComponent(of.edgeId)}`}>${of.edgeId}</a>, <${Moment} at=${of.ranAt} /></dd></div>`;

// Running says who runs the version, by the last counts, and who ran it before.
function Running({ r }) {
	return html`<section class="panel" aria-labelledby="running"><h2 id="running">Boxes</h2>
		${r.channels.length > 0 && html`<${Table} label="Channels" head=${['Channel', 'Run it', 'Counted', 'Opted out']} rows=${r.channels.map((c) => [
			html`<a href=${`#/log/release-channel/${encodeURIComponent(`${r.edgeType}/${c.channel}`)}`}>${c.channel}</a>${c.current && html` <${Chip} kind="good">has it<//>`}`,
			c.boxes === undefined ? 'not counted' : html`<a href=${boxesIn({ edgeType: r.edgeType, channel: c.channel, version: r.version })}>${boxes(c.boxes)}</a>`, c.asOf && html`<${Ago} at=${c.asOf} />`,
			(c.optedOut ?? []).map((o) => html`<div>${boxes(o.boxes)} of <bdi>${o.organizationId}</bdi>${o.of === 'all' ? ', of all releases' : ''}</div>`)])} />`}
		${r.ran ? html`<dl class="facts"><div><dt>Ran it before</dt><dd>${boxes(r.ran.boxes)}, counted <${Ago} at=${r.ran.asOf} /></dd></div><${Box} of=${r.ran.first} word="First" /><${Box} of=${r.ran.last} word="Last" /></dl>` : html`<p class="note">Those that ran it before are being counted.</p>`}</section>`;
}

function Weaknesses({ r }) {
	return html`<section class="panel" aria-labelledby="weak"><h2 id="weak">Weaknesses and support</h2>
		<p>${!r.supportedUntil ? 'Nobody has said until when it is supported.' : Date.parse(r.supportedUntil) > Date.now() ? `Supported until ${moment(r.supportedUntil)}.` : html`<${Chip} kind="bad">Support ended<//> ${moment(r.supportedUntil)}`}</p>
		${r.advisories?.length > 0 && html`<${Table} label="Weaknesses" head=${['Weakness', 'Severity', 'Fixed in', 'Meaning']} rows=${r.advisories.map((a) => [
			html`<${Said}>${a.id}<//>`, a.severity, a.fixedIn && html`<a href=${`#/release/${r.edgeType}/${encodeURIComponent(a.fixedIn)}`}>${a.fixedIn}</a>`, html`${a.notAffected && html`<${Chip} kind="good">Not affected<//> `}<${Said}>${a.reason ?? ''}<//>`])} />`}
		${may('put-release') && html`<p class="buttons"><button type="button" class="button small" onClick=${() => support(r)}>Support…</button> <button type="button" class="button small" onClick=${() => advise(r)}>A weakness…</button></p>`}</section>`;
}

/** What is known of a version. */
export function Known({ edgeType, version }) {
	return html`<${Shown} of=${read(path({ edgeType, version }), 60)} lines=${5} none=${() => html`<h1><${Said}>${version}<//></h1><${Empty} title="No such version was published for this edge type." />`} then=${(r) => html`
		<header class="title"><div><h1>${r.version}</h1><p class="versions">${r.edgeType} ${r.kind === 'security' && html`<${Chip} kind="act">Security<//>`}</p></div>
			${may('publish-release') && html`<div class="act"><a class="button" href=${`#/rollout/new/${r.edgeType}`}>Publish or roll out…</a></div>`}</header>
		<section class="panel" aria-labelledby="bytes"><h2 id="bytes">What it is</h2><dl class="facts"><div><dt>First published</dt><dd><${Moment} at=${r.publishedAt} /></dd></div>
			${r.sizeBytes && html`<div><dt>Size</dt><dd>${size(r.sizeBytes)}</dd></div>`}${r.requires && html`<div><dt>Requires</dt><dd><a href=${`#/release/${r.edgeType}/${encodeURIComponent(r.requires)}`}>${r.requires}</a></dd></div>`}</dl>
			<p><${Said}>${r.artifactUrl}<//></p><p class="note mono">SHA-256 ${r.sha256}</p>
			${r.documents?.length > 0 && html`<h3>Documents</h3><ul class="plain">${r.documents.map((d) => html`<${Document} d=${d} />`)}</ul>`}
			${r.replaced?.length > 0 && html`<h3>Replaced documents</h3><ul class="plain">${r.replaced.map((d) => html`<${Document} d=${d} />`)}</ul>`}</section>
		<${Running} r=${r} /><${Weaknesses} r=${r} />
		${r.rollouts.length > 0 && html`<section class="panel" aria-labelledby="rollouts"><h2 id="rollouts">Rollouts</h2><${Table} label="Rollouts" head=${['Channel', 'Status', 'Started']} rows=${r.rollouts.map((o) => [
			html`<a href=${`#/rollout/${o.rolloutId}`}>${o.channel}</a>`, o.status, html`<${Moment} at=${o.startedAt} />`])} /></section>`}`} />`;
}
