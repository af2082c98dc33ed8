// The plants of an organization: when their boxes take updates.
import { html } from './html.mjs';
import { at, call, query } from './api.mjs';
import { moved, read } from './sources.mjs';
import { may } from './state.mjs';
import { organization } from './waiting.mjs';
import { ask, Reason } from './dialog.mjs';
import { boxes, count, some, moment, Moment, Said } from './format.mjs';
import { Chip, More, PlantLink, Shown, boxesIn, further } from './parts.mjs';

const few = 20; // plants that are named at first

const every = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

// line is a window in the form in which people write it, such as sat,sun 22:00-06:00.
const line = (w) => `${w.days.length < every.length ? `${w.days.join(',')} ` : ''}${w.from}-${w.to}`;

// windows reads such lines.
function windows(text) {
	return text.split('\n').map((l) => l.trim()).filter(Boolean).map((l) => {
		const [, days, from, to] = l.match(/^(?:([a-z,]+)\s+)?([0-9:]+)\s*-\s*([0-9:]+)$/) ?? [];
		if (!from) throw new Error(`“${l}” is not a window such as sat,sun 22:00-06:00.`);
		return { ...(days && { days: days.split(',') }), from, to };
	});
}

async function put(f, updates, outcome) {
	await call('PUT', at`/api/factories/${f.factoryId}`, { body: { organizationId: f.organizationId, name: f.name, updates }, ifMatch: `"${f.revision}"` });
	moved('/api/factories');
	return outcome;
}

function pause(f) {
	ask({
		title: `Pause ${f.name}?`, action: 'Pause',
		body: () => html`<p>Its boxes keep what they run, for at most 14 days, and 14 in any 30. A release with a deadline waits no longer than that, and an urgent one does not wait.</p>`,
		fields: () => html`<label class="field">Days <input name="days" type="number" min="1" max="14" value="7" /></label><${Reason} label="Reason, for whoever asks why a box waits" />`,
		run: ({ days, reason }) => put(f, { pausedUntil: new Date(Date.now() + Number(days) * 86_400_000 - 60_000).toISOString(), reason }, `${f.name} takes no updates for ${days} days.`),
	});
}

function resume(f) {
	ask({
		title: `End the pause of ${f.name}?`, action: 'End the pause',
		body: () => html`<p>Its boxes take updates from their next poll on${f.updates.windows ? ', in its windows' : ''}.</p>`,
		run: () => put(f, { pausedUntil: null }, `${f.name} takes updates again.`),
	});
}

const signed = (o) => html`${o.by.userId} opted out at ${moment(o.at)}: <${Said}>${o.reason}<//>`;

function optOut(f) {
	ask({
		title: `Which releases does ${f.name} not take?`, action: 'Opt out',
		body: () => html`<p>Until you end that, its boxes are not told such releases, neither urgent ones nor after a deadline. The manufacturer sees who says so, and may allow less for some boxes.</p>`,
		fields: () => html`<label class="field">Releases <select name="of"><option value="ordinary">All but those for security</option><option value="all">All</option></select></label><${Reason} label="Reason, for whoever asks why a box waits" />`,
		run: ({ of, reason }) => put(f, { optOut: { of, reason } }, `${f.name} takes no such releases.`),
	});
}

function optIn(f) {
	ask({
		title: `Does ${f.name} take releases again?`, action: 'Opt in',
		body: () => html`<p>${signed(f.updates.optOut)}</p>`,
		run: () => put(f, { optOut: null }, `${f.name} takes releases again.`),
	});
}

function change(f) {
	const u = f.updates ?? {};
	ask({
		title: `When does ${f.name} take updates?`, action: 'Save',
		body: () => html`<p>In the time of the plant, a window on each line. Without any, always.</p>`,
		fields: () => html`<label class="field">Time zone <input name="zone" value=${u.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone} /></label>
			<label class="field">Windows <textarea name="windows" rows="4" placeholder="sat,sun 22:00-06:00">${(u.windows ?? []).map(line).join('\n')}</textarea></label>
			<label class="check"><input type="checkbox" name="late" defaultChecked=${u.opensAtDeadline} /> A security release waits for no window after its deadline</label>`,
		run: ({ zone, windows: text, late }) => put(f, { timeZone: zone, windows: windows(text), opensAtDeadline: Boolean(late) }, `${f.name} takes updates in its windows.`),
	});
}

export function Plant({ f }) {
	const u = f.updates ?? {};
	const paused = u.pausedUntil && Date.parse(u.pausedUntil) > Date.now();
	const out = u.optOut && !(Date.parse(u.optOut.until) <= Date.now()) && u.optOut;
	return html`<li class="row quiet">
		<div class="row-name"><h3><${Said}>${f.name}<//></h3><p class="note"><${PlantLink} id=${f.factoryId} /></p></div>
		<div class="row-state"><p class="chips">${out && html`<${Chip} kind="hold">${out.of === 'all' ? 'Takes no releases' : 'Only for security'}${out.until && html` until ${moment(out.until)}`}<//>`}${paused ? html`<${Chip} kind="hold">Paused until ${moment(u.pausedUntil)}<//>` : html`<${Chip} kind="quiet">${u.windows ? 'In its windows' : 'Takes updates'}<//>`}</p>
			${out && html`<p>${signed(out)}</p>`}${paused && html`<p><${Said}>${u.reason}<//></p>`}${u.windows && html`<p class="note">${u.windows.map(line).join('; ')} (${u.timeZone})</p>`}</div>
		${may('put-factory') && html`<div class="row-act">${paused ? html`<button type="button" class="button small" onClick=${() => resume(f)}>End the pause<span class="unseen"> of ${f.name}</span></button>` : html`<button type="button" class="button small" onClick=${() => pause(f)}>Pause<span class="unseen"> ${f.name}</span></button>`}
			<button type="button" class="button small" onClick=${() => change(f)}>Windows<span class="unseen"> of ${f.name}</span></button>
			<button type="button" class="button small" onClick=${() => (out ? optIn : optOut)(f)}>${out ? 'Opt in' : 'Opt out'}<span class="unseen"> ${f.name}</span></button></div>`}
	</li>`;
}

/** The plants of the person's organization. */
export function Plants() {
	const path = '/api/factories' + query({ organizationId: organization(), limit: '50' });
	return html`<${Shown} of=${read(path, 60)} lines=${2} then=${(page) => {
		const { items, button } = further(path, page, (f) => f.factoryId, () => true);
		return items.length > 0 && html`<section aria-labelledby="plants"><h2 id="plants">Your plants</h2>
			<ul class="rows">${items.map((f) => html`<${Plant} key=${f.factoryId} f=${f} />`)}</ul>${button}</section>`;
	}} />`;
}

/** The boxes of a rollout that wait until their plants take updates. */
export function Waits({ w, r }) {
	const list = (n, factoryId) => html`<a href=${boxesIn({ state: 'waiting', edgeType: r.edgeType, channel: r.channel, factoryId })}>${boxes(n)}</a>`;
	const closed = w.closed ?? [];
	const one = (p) => html`<li key=${p.factoryId}><${PlantLink} id=${p.factoryId} />: ${list(p.boxes, p.factoryId)} <span class="note">${p.for === 'opt-out' && `opted out, ${p.organizationId} `}${p.overdue && 'past the deadline '}${p.timeZone ?? ''} ${p.opensAt && html`until <${Moment} at=${p.opensAt} />`}</span></li>`;
	return html`<section class="panel" aria-labelledby="waits"><h2 id="waits">Waiting for plants</h2>
		<p>${list(w.window + w.pause + (w.optedOut ?? 0))} in ${some(w.plants, 'plant', 'plants')}: ${count(w.window)} for a window, ${count(w.pause)} for the end of a pause${w.optedOut && html`, ${count(w.optedOut)} opted out`}.${w.overdue && html` <strong>${count(w.overdue)} past the deadline.</strong>`}${w.opensAt && html` The next one opens <${Moment} at=${w.opensAt} />.`}</p>
		<ul class="plain">${closed.slice(0, few).map(one)}</ul>${closed.length > few && html`<${More} id="waits" label=${`${count(closed.length - few)} more`}><ul class="plain">${closed.slice(few).map(one)}</ul><//>`}</section>`;
}
