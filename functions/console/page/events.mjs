// Events of the audit trail as a timeline: who changed what, when and why, and the states before and after.
import { html } from './html.mjs';
import { read } from './sources.mjs';
import { may } from './state.mjs';
import { Moment, Said, count, plain, some } from './format.mjs';
import { Shown, Empty, More, Table, nameOf, further } from './parts.mjs';

// phrase returns what an event did, and to what.
function phrase(e) {
	const a = e.after ?? e.before ?? {};
	const stage = a.given?.at(-1)?.stage;
	const channel = a.edgeType && a.channel ? `${a.edgeType}/${a.channel}` : e.resource.id;
	switch (e.eventName) {
	case 'RolloutSeen': return ['marked as seen', `${a.targetVersion} on ${channel}`];
	case 'RolloutStarted': return ['started', `${a.targetVersion} on ${channel}`];
	case 'RolloutPromoted': return ['promoted', `${channel} ${e.before?.staged_percent} → ${a.staged_percent} %`];
	case 'RolloutHalted': return ['halted', `${a.targetVersion} on ${channel} at ${a.staged_percent} %`];
	case 'RolloutResumed': return ['started again', `${a.targetVersion} on ${channel} at ${a.staged_percent} %`];
	case 'RolloutReturned': return ['returned', `${a.targetVersion} on ${channel}`];
	case 'ReleaseReturned': return ['told boxes', `${a.currentVersion} of ${channel} again`];
	case 'RolloutTellingStopped': return ['stopped telling boxes', `of ${a.targetVersion} on ${channel}`];
	case 'RolloutCompleted': return ['completed', `${a.targetVersion} on ${channel}`];
	case 'RolloutApproved': return ['approved', `${a.terms?.approvals?.at(-1)?.stage ?? ''} % of ${a.targetVersion} on ${channel}`];
	case 'RolloutPolicyChanged': return ['changed the policy', `of ${a.targetVersion} on ${channel}`];
	case 'RolloutNearHalt': return ['warned that a halt is near', `for ${a.targetVersion} on ${channel} at ${stage} %`];
	case 'RolloutApprovalWaiting': return ['asks for an approval', `of ${stage} % of ${a.targetVersion} on ${channel}`];
	case 'RolloutNeedsPerson': return ['asks for a person', `for ${a.targetVersion} on ${channel} at ${stage} %`];
	case 'RolloutNeedsNobody': return ['no longer asks for a person', `for ${a.targetVersion} on ${channel} at ${stage} %`];
	case 'RolloutWentBad': return ['warned of a release going bad:', `${a.targetVersion} on ${channel}`];
	case 'MachineDeviates': return ['warned that a machine deviates from', `method ${a.methodId} on ${a.machine}`];
	case 'MachineConfirmedByPerson': return ['confirmed that a version is gone from', `machine ${a.machine}`];
	case 'MachineAdmitted': return ['signed for', `machine ${a.code}`];
	case 'RecallUnconfirmed': return ['warned that machines may still have', `version ${a.version} of method ${a.methodId}`];
	case 'SupportEnding': case 'SupportEnded': return [e.eventName === 'SupportEnded' ? 'warned that the support ended of' : 'warned that the support ends of', `${a.version} of ${a.edgeType}, which ${a.boxes} boxes of ${a.organizationId} run`];
	case 'ReleasePublished': return ['published', `${a.currentVersion} on ${channel}`];
	case 'ReleaseAdopted': return ['made', `${a.currentVersion} the version of ${channel}`];
	case 'FreezeSet': return ['froze', 'all rollouts'];
	case 'FreezeLifted': return ['lifted', 'the freeze'];
	case 'RateLimitSet': return ['set the limit', `of ${e.resource.id.replace(/^(?:.* |[^/]*\/)/, '')}`];
	case 'RateLimitRemoved': return ['removed the limit', `of ${e.resource.id.replace(/^(?:.* |[^/]*\/)/, '')}`];
	case 'EdgeRegistered': return ['registered', `${e.resource.id} on ${channel}`];
	case 'EdgeReassigned': if (a.pin && a.pin.until !== e.before?.pin?.until) return ['pinned', `${e.resource.id} to ${a.pin.version}`];
		if (!a.pin && e.before?.pin) return ['unpinned', e.resource.id];
		return ['moved', `${e.resource.id} to ${channel}`];
	case 'EdgeRetired': return ['retired', e.resource.id];
	case 'EdgeLeft': return ['gave to another organization', e.resource.id];
	case 'EdgeTakenOver': return ['took over', `${e.resource.id} on ${channel}`];
	}
	// Other names are split: FactoryRenamed becomes renamed, factory munich-1.
	const words = e.eventName.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().split(' ');
	return [words.at(-1), `${words.slice(0, -1).join(' ')} ${e.resource.id}`];
}

const kind = { RolloutHalted: 'bad', RolloutPromoted: 'act', RolloutStarted: 'act', RolloutResumed: 'act', ReleasePublished: 'act', FreezeSet: 'hold', RolloutApproved: 'good', RolloutReturned: 'bad', RolloutCompleted: 'good', ReleaseAdopted: 'good', RolloutNearHalt: 'bad', RolloutTellingStopped: 'bad', RolloutWentBad: 'bad', RolloutApprovalWaiting: 'hold', RolloutNeedsPerson: 'bad', RecallUnconfirmed: 'bad', MachineDeviates: 'bad', SupportEnding: 'hold', SupportEnded: 'bad' };
const unsaid = new Set(['revision', 'updatedAt']);

// flat turns a document into lines of path and value.
function flat(value, path = '', into = {}) {
	if (value && typeof value === 'object') for (const [k, v] of Object.entries(value)) flat(v, path ? `${path}.${k}` : k, into);
	else if (path) into[path] = value;
	return into;
}

/** The differences between two documents: path, before, after. */
export function differences(before, after) {
	const [b, a] = [flat(before), flat(after)];
	return [...new Set([...Object.keys(b), ...Object.keys(a)])].filter((k) => b[k] !== a[k] && !unsaid.has(k)).map((k) => [k, b[k], a[k]]);
}

const shown = (v) => v === undefined ? html`<span class="unseen">nothing</span>` : html`<${Said}>${String(v)}<//>`;

const Difference = ({ label, rows }) => html`<${Table} label=${label} head=${['Field', 'Before', 'After']} rows=${rows.map(([k, b, a]) => [k, b !== undefined && html`<del>${shown(b)}</del>`, a !== undefined && html`<ins>${shown(a)}</ins>`])} />`;

/** The text of an event that a search looks in: who, what, why, and each value before and after. */
export const textOf = (e) => [nameOf(e.actor), ...phrase(e), e.eventName, e.reason, e.overrideReason, ...Object.values(flat(e.cause ?? {})), ...Object.values(flat(e.before ?? {})), ...Object.values(flat(e.after ?? {}))].join(' ').toLowerCase();

function Event({ e }) {
	const [did, what] = phrase(e);
	const rows = differences(e.before, e.after);
	const link = ['rollout', 'rollout-warning'].includes(e.resource.type) && may('get-rollout') ? `#/rollout/${e.resource.id}` : e.resource.type === 'edge' && may('get-edge') ? `#/box/${encodeURIComponent(e.resource.id)}` : e.resource.type === 'recall' && may('get-method-version') ? `#/methods/${e.resource.id}` : '';
	return html`<li class=${`event ${kind[e.eventName] ?? 'quiet'}`}>
		<p class="event-when"><${Moment} at=${e.eventTime} /></p>
		<div><p><strong><${Said}>${nameOf(e.actor)}<//></strong> ${did} ${link ? html`<a href=${link}><${Said}>${what}<//></a>` : html`<${Said}>${what}<//>`}</p>
			${e.reason && html`<p class="said">“<${Said}>${e.reason}<//>”</p>`}
			${e.overrideReason && html`<p class="said">Overrode a freeze or window: “<${Said}>${e.overrideReason}<//>”</p>`}
			${e.cause?.sentence && html`<p class="note"><${Said}>${plain(e.cause.sentence)}<//></p>`}
			${e.cause && html`<${More} id=${`cause ${e.eventId}`} label="What the guard saw"><${Difference} label=${`what the guard saw, ${e.eventId}`} rows=${Object.entries(flat(e.cause)).map(([k, v]) => [k, undefined, v])} /><//>`}
			${rows.length > 0 && html`<${More} id=${`diff ${e.eventId}`} label=${e.before ? e.after ? 'Before and after' : 'What it was' : 'What it is'}><${Difference} label=${`differences, ${e.eventId}`} rows=${rows} /><//>`}
		</div></li>`;
}

/**
 * The events at a path, newest first, with older ones on demand. If matches is given, only events that match are shown,
 * with a note on what was searched.
 */
export function Events({ path, matches = null }) {
	const first = read(path, 20, true);
	return html`<${Shown} of=${first} lines=${6} none=${() => null} then=${(page) => {
		const { items: all, next, button } = further(path, page, (e) => e.eventId, (p) => !matches || p.items.some(matches), matches ? 'Search older ones' : 'Show older');
		const items = matches ? all.filter(matches) : all;
		return html`${matches && html`<p class="note" role="status">Found ${count(items.length)} in ${next ? `the newest ${count(all.length)} events` : `all ${some(all.length, 'event')}`}. ${next ? html`Not searched: events before <${Moment} at=${all.at(-1)?.eventTime ?? new Date()} />.` : ''}</p>`}
			${items.length ? html`<ol class="events">${items.map((e) => html`<${Event} key=${e.eventId} e=${e} />`)}</ol>` : html`<${Empty} title=${matches ? 'None of them matches.' : 'Nothing was changed here.'} />`}
			${button}`;
	}} />`;
}
