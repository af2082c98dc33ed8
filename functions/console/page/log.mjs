// The audit trail as a timeline: who changed what, when and why, and what was before and after.
import { html, fields } from './html.mjs';
import { read } from './sources.mjs';
import { call, query } from './api.mjs';
import { state, changed } from './state.mjs';
import { Moment, Said } from './format.mjs';
import { Shown, Empty, More, nameOf } from './parts.mjs';

// phrase says what an event did, with what.
function phrase(e) {
	const a = e.after ?? e.before ?? {};
	const channel = a.edgeType && a.channel ? `${a.edgeType}/${a.channel}` : e.resource.id;
	switch (e.eventName) {
	case 'RolloutStarted': return ['started', `${a.targetVersion} on ${channel}`];
	case 'RolloutPromoted': return ['promoted', `${channel} ${e.before?.staged_percent} → ${a.staged_percent} %`];
	case 'RolloutHalted': return ['halted', `${a.targetVersion} on ${channel} at ${a.staged_percent} %`];
	case 'RolloutResumed': return ['started again', `${a.targetVersion} on ${channel} at ${a.staged_percent} %`];
	case 'RolloutCompleted': return ['completed', `${a.targetVersion} on ${channel}`];
	case 'RolloutApproved': return ['approved', `${a.terms?.approvals?.at(-1)?.stage ?? ''} % of ${a.targetVersion} on ${channel}`];
	case 'RolloutPolicyChanged': return ['changed the policy', `of ${a.targetVersion} on ${channel}`];
	case 'ReleasePublished': return ['published', `${a.currentVersion} on ${channel}`];
	case 'ReleaseAdopted': return ['made it the version', `${a.currentVersion} of ${channel}`];
	case 'FreezeSet': return ['froze', 'all rollouts'];
	case 'FreezeLifted': return ['lifted', 'the freeze'];
	case 'RateLimitSet': return ['set the limit', `of ${e.resource.id.replace(/^(?:.* |[^/]*\/)/, '')}`];
	case 'RateLimitRemoved': return ['took back the limit', `of ${e.resource.id.replace(/^(?:.* |[^/]*\/)/, '')}`];
	case 'EdgeRegistered': return ['registered', `${e.resource.id} on ${channel}`];
	case 'EdgeReassigned': return ['moved', `${e.resource.id} to ${channel}`];
	case 'EdgeRetired': return ['retired', e.resource.id];
	}
	// Others are named by what and how: FactoryRenamed is renamed, factory munich-1.
	const words = e.eventName.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().split(' ');
	return [words.at(-1), `${words.slice(0, -1).join(' ')} ${e.resource.id}`];
}

const kind = { RolloutHalted: 'bad', RolloutPromoted: 'act', RolloutStarted: 'act', RolloutResumed: 'act', ReleasePublished: 'act', FreezeSet: 'hold', RolloutApproved: 'good', RolloutCompleted: 'good', ReleaseAdopted: 'good' };
const unsaid = new Set(['revision', 'updatedAt']);

// flat turns a document into lines of path and value.
function flat(value, path = '', into = {}) {
	if (value && typeof value === 'object') for (const [k, v] of Object.entries(value)) flat(v, path ? `${path}.${k}` : k, into);
	else if (path) into[path] = value;
	return into;
}

/** What differs between two documents: path, before, after. */
export function differences(before, after) {
	const [b, a] = [flat(before), flat(after)];
	return [...new Set([...Object.keys(b), ...Object.keys(a)])].filter((k) => b[k] !== a[k] && !unsaid.has(k)).map((k) => [k, b[k], a[k]]);
}

const shown = (v) => v === undefined ? html`<span class="unseen">nothing</span>` : html`<${Said}>${String(v)}<//>`;

function Difference({ rows }) {
	return html`<div class="wide" tabindex="0" role="region" aria-label="Differences"><table class="diff"><thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
		<tbody>${rows.map(([k, b, a]) => html`<tr><th scope="row">${k}</th><td>${b !== undefined && html`<del>${shown(b)}</del>`}</td><td>${a !== undefined && html`<ins>${shown(a)}</ins>`}</td></tr>`)}</tbody></table></div>`;
}

function Event({ e }) {
	const [did, what] = phrase(e);
	const rows = differences(e.before, e.after);
	const link = e.resource.type === 'rollout' ? `#/rollout/${e.resource.id}` : e.resource.type === 'edge' ? `#/box/${encodeURIComponent(e.resource.id)}` : '';
	return html`<li class=${`event ${kind[e.eventName] ?? 'quiet'}`}>
		<p class="event-when"><${Moment} at=${e.eventTime} /></p>
		<div><p><strong><${Said}>${nameOf(e.actor)}<//></strong> ${did} ${link ? html`<a href=${link}><${Said}>${what}<//></a>` : html`<${Said}>${what}<//>`}</p>
			${e.reason && html`<p class="said">“<${Said}>${e.reason}<//>”</p>`}
			${e.overrideReason && html`<p class="said">Passed over a freeze or window: “<${Said}>${e.overrideReason}<//>”</p>`}
			${e.cause && html`<${More} id=${`cause ${e.eventId}`} label="What the guard saw"><${Difference} rows=${Object.entries(flat(e.cause)).map(([k, v]) => [k, undefined, v])} /><//>`}
			${rows.length > 0 && html`<${More} id=${`diff ${e.eventId}`} label=${e.before ? e.after ? 'Before and after' : 'What it was' : 'What it is'}><${Difference} rows=${rows} /><//>`}
		</div></li>`;
}

/** The events that lie at a path, newest first, with older ones on demand. */
export function Events({ path }) {
	const first = read(path, 20, true);
	const older = state.local[`older ${path}`] ?? { items: [], next: undefined };
	const next = older.items.length ? older.next : first.value?.next;
	const more = async () => {
		try {
			const page = (await call('GET', next.slice(next.indexOf('/api/')))).value;
			state.local[`older ${path}`] = { items: [...older.items, ...page.items], next: page.next };
		} catch (e) {
			state.local[`older ${path}`] = { ...older, error: e.message };
		}
		changed();
	};
	return html`<${Shown} of=${first} lines=${6} none=${() => null} then=${(page) => {
		const known = new Set(page.items.map((e) => e.eventId));
		const items = [...page.items, ...older.items.filter((e) => !known.has(e.eventId))];
		return items.length ? html`<ol class="events">${items.map((e) => html`<${Event} key=${e.eventId} e=${e} />`)}</ol>
			${next && html`<button type="button" class="button" onClick=${more}>Show older</button>`}${older.error && html`<p class="bad-text" role="alert">${older.error}</p>`}`
			: html`<${Empty} title="Nothing was changed here." />`;
	}} />`;
}

const kinds = { '': 'Everything', 'release-channel': 'Channel', rollout: 'Rollout', edge: 'Box', person: 'Person' };

/** The log, narrowed to a resource or a person by its address: #/log/rollout/ID. */
export function Log({ type = '', id = '', from = '' }) {
	const me = read('/api/rate-limits/me', 120).value;
	const who = type === 'person' ? { actorIssuer: id.toLowerCase() === 'guard' ? 'urn:wavegate:guard' : me?.issuer, actorUserId: id.toLowerCase() === 'guard' ? 'guard' : id } : {};
	const resource = type && type !== 'person' ? { resourceType: type, resourceId: id } : {};
	const path = '/api/audit-events' + query({ ...resource, ...who, from: from && new Date(from).toISOString(), limit: '50' });
	const narrow = (event) => {
		event.preventDefault();
		const f = fields(event.target);
		location.hash = ['#/log', f.type, f.id, f.from].map((x, i) => i ? encodeURIComponent(x) : x).join('/').replace(/\/+$/, '');
	};
	const ready = type !== 'person' || me;
	return html`<h1>Log</h1>
		<form class="filter panel" onSubmit=${narrow} key=${`${type}/${id}`}>
			<label class="field">Show <select name="type">${Object.entries(kinds).map(([v, name]) => html`<option value=${v} selected=${v === type}>${name}</option>`)}</select></label>
			<label class="field">Name or id <input name="id" defaultValue=${id} autocomplete="off" autocapitalize="off" placeholder="gateway-x/stable" /></label>
			<label class="field">From <input type="datetime-local" name="from" defaultValue=${from} /></label>
			<button class="button">Show</button>${type || from ? html`<a href="#/log">Show everything</a>` : ''}
		</form>
		${ready && html`<${Events} path=${path} />`}`;
}
