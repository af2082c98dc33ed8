// What a person does with a rollout. A halt stops whatever is there. Everything else is done only if the
// rollout is still what the person saw.
import { html } from './html.mjs';
import { call, at, Refusal, Unreachable } from './api.mjs';
import { read, moved, known } from './sources.mjs';
import { state, changed } from './state.mjs';
import { ask, Reason } from './dialog.mjs';
import { boxes, count, some, length, moment } from './format.mjs';
import { channelOf, windowText } from './parts.mjs';
import { Sentence } from './evidence.mjs';

// The service puts its stages into the page.
const stages = (document.documentElement.dataset.stages ?? '').match(/\d+/g)?.map(Number) ?? [];

/** The stage after the present one; undefined at the last. */
export const next = (r) => stages.find((s) => s > r.staged_percent);

/** The boxes that the stages after the present one add, up to a stage. */
export const added = (r, progress, stage) => progress?.stages.filter((s) => s.percent > r.staged_percent && s.percent <= stage).reduce((n, s) => n + s.expected, 0);

/** The sum of the stages that are reached. */
export function total(progress) {
	const sum = { expected: 0, notYetPolled: 0, offered: 0, working: 0, deferred: 0, installed: 0, failed: 0, reverted: 0 };
	for (const s of progress?.stages ?? []) if (s.percent <= progress.staged_percent) for (const k of Object.keys(sum)) sum[k] += s[k];
	return sum;
}

export const bad = (s) => s.failed + s.reverted;

// unread is shown instead of missing counts.
const unread = (progress) => progress === undefined ? 'Reading…' : 'Not counted yet';

/** Reports whether the guard is against promoting the rollout now, or has not judged its stage yet. */
export const against = (r, guard) => Boolean(guard) && (guard.stage !== r.staged_percent || guard.verdict === 'halt' || guard.verdict === 'hold' && guard.reason !== 'PEOPLE_PROMOTE');

const path = (r) => at`/api/ota/rollouts/${r.id}`;

// move changes a rollout and returns the outcome as text. A call without an answer may have arrived, so the rollout is
// read again before the outcome is reported.
async function move(r, body, ifMatch, done, tries = 1) {
	const wish = (now) => (!body.status || now.status === body.status) && (!body.staged_percent || now.staged_percent === body.staged_percent);
	for (let i = 1; ; i++) {
		try {
			const { headers } = await call('PATCH', path(r), { body, ifMatch });
			known(r.id, { status: body.status ?? r.status, staged_percent: body.staged_percent ?? r.staged_percent, ...(body.status === 'halted' && { endedAt: new Date().toISOString() }) });
			moved('/api/ota/');
			return [done, headers.get('Wavegate-Warning')].filter(Boolean).join(' '); // until when boxes may still be told the version
		} catch (e) {
			if (e instanceof Refusal && e.status === 403 && e.code === 'FORBIDDEN') { state.local.forbidden = true; changed(); }
			if (e instanceof Refusal && e.status < 500 && e.status !== 412) { moved('/api/ota/'); throw e; }
			const lost = e instanceof Unreachable || e.status >= 500;
			const now = await call('GET', path(r)).catch(() => null);
			moved('/api/ota/');
			if (lost && now && wish(now.value) && now.value.revision > r.revision) return done;
			if (lost && i < tries) continue;
			if (lost && !now) throw new Error(`${e.message} The change may or may not have been made.`);
			if (lost) throw new Error(`${e.message} The rollout is ${now.value.status} at ${now.value.staged_percent} %. Nothing was changed.`);
			throw new Error('The rollout has changed since you opened this. Close it, check the rollout, and try again.');
		}
	}
}

const because = (values, body) => ({ ...body, ...(values.reason && { reason: values.reason }), ...(values.override && { overrideReason: values.override }) });

/** Asks once and halts. */
export function halt(r) {
	ask({
		title: `Halt ${r.targetVersion} on ${channelOf(r)}?`, action: 'Halt now', danger: true, halts: true,
		body: () => html`<p>No more boxes get ${r.targetVersion}. Boxes that run it keep it.</p><p>You can start the rollout again later.</p>`,
		run: () => move(r, { status: 'halted' }, '', `${channelOf(r)}: ${r.targetVersion} is halted at ${r.staged_percent} %.`, 3),
	});
}

// hurdles are what can block a promotion. They are read while the question is open.
function hurdles(r, progress, stage) {
	const freeze = read('/api/ota/freeze', 30).value;
	const guard = progress?.guard;
	const policy = r.terms?.policy;
	const closed = policy?.promote.windows?.length && guard?.distance.opensAt ? guard.distance.opensAt : null;
	const needed = policy?.approvals.before?.includes(stage) && !r.terms.approvals?.some((a) => a.stage === stage);
	return { freeze, closed, needed, guard, policy };
}

const override = (h) => (h.freeze || h.closed) && html`<${Reason} name="override" label=${`Reason to override ${h.freeze ? 'the freeze' : 'the closed window'}`} />`;

// Hurdles shows what can block a move, except for what the guard's sentence has already said.
function Hurdles({ h, stage, told = false }) {
	return html`${h.freeze && html`<p class="warn"><span aria-hidden="true">▲ </span>Rollouts are frozen until ${moment(h.freeze.until)}: <bdi>${h.freeze.reason}</bdi></p>`}
		${h.closed && !told && html`<p class="warn"><span aria-hidden="true">▲ </span>The window is closed until ${moment(h.closed)}. ${h.policy.promote.windows.map(windowText).join('; ')}.</p>`}
		${h.needed && !told && html`<p class="warn"><span aria-hidden="true">▲ </span>${stage} % needs the approval of a second person first.</p>`}`;
}

function Opposed({ r, guard }) {
	return html`<div class="warn"><p><span aria-hidden="true">▲ </span>This goes against the guard.${guard.stage === r.staged_percent ? '' : ' It has not judged this stage yet.'}</p>
		${guard.stage === r.staged_percent && html`<${Sentence} text=${guard.sentence} />`}</div>`;
}

/** Shows what a promotion to the next stage does, asks for confirmation, and promotes. */
export function promote(r, progress) {
	const stage = next(r);
	const opposed = against(r, progress?.guard);
	const sum = total(progress);
	const more = added(r, progress, stage);
	const plants = () => {
		const p = read(path(r) + '/progress?by=factory', 60).value;
		return p ? (p.factories ?? []).length + (p.moreFactories ?? 0) : 0;
	};
	ask({
		title: `Promote ${r.targetVersion} to ${stage} %?`, action: `Promote to ${stage} %`, danger: opposed,
		type: stage === 100 || opposed ? channelOf(r) : '',
		body: () => html`<dl class="facts">
				<div><dt>Channel</dt><dd class="mono">${channelOf(r)}</dd></div>
				<div><dt>Stage</dt><dd>${r.staged_percent} % → <strong>${stage} %</strong></dd></div>
				<div><dt>More boxes</dt><dd>${progress ? html`<strong>${boxes(more)}</strong>${plants() > 1 ? ` in ${some(plants(), 'factory', 'factories')}` : ''}` : unread(progress)}</dd></div>
				<div><dt>So far</dt><dd>${progress ? `${count(sum.installed)} of ${count(sum.expected)} installed, ${count(bad(sum))} bad` : unread(progress)}</dd></div>
			</dl>
			${opposed && html`<${Opposed} r=${r} guard=${progress.guard} />`}
			<${Hurdles} h=${hurdles(r, progress, stage)} stage=${stage} told=${opposed && progress.guard.stage === r.staged_percent} />`,
		fields: () => html`${override(hurdles(r, progress, stage))}<${Reason} />`,
		run: (values) => move(r, because(values, { staged_percent: stage }), `"${r.revision}"`, `${channelOf(r)}: ${r.targetVersion} is at ${stage} %.`),
	});
}

/** Ends a rollout that went well. */
export function complete(r, progress) {
	ask({
		title: `Complete ${r.targetVersion} on ${channelOf(r)}?`, action: 'Complete', type: against(r, progress?.guard) ? channelOf(r) : '',
		body: () => html`<p>${r.targetVersion} becomes the version of the channel. Every box gets it, new ones included.</p>
			${against(r, progress?.guard) && html`<${Opposed} r=${r} guard=${progress.guard} />`}`,
		fields: () => html`<${Reason} />`,
		run: (values) => move(r, because(values, { status: 'completed' }), `"${r.revision}"`, `${channelOf(r)}: ${r.targetVersion} is the version of the channel.`),
	});
}

const suspicions = { ONE_ORGANIZATION: 'one organization’s boxes are bad', FACTORY_BAD: 'most boxes of one plant are bad or silent', PLANTS_DOWN: 'plants went dark with it', KIND_DOUBTFUL: 'one kind of boxes may be bad or silent', YOUNG_HARMED: 'new boxes are bad or silent', SILENT: 'boxes are silent', EVIDENCE_TOO_SMALL: 'some of few boxes are bad or silent' };

/** Why a rollout tells no more boxes. */
export const held = (r) => `Tells no more boxes: ${suspicions[r.stoppedFor] ?? 'people must decide'}`;

/** Marks that people know of a halted or held rollout. */
export function mark(r) {
	ask({
		title: `Mark ${channelOf(r)} as seen?`, action: 'Mark as seen',
		body: () => html`<p>It stays ${r.status === 'halted' ? 'halted' : 'held'}, and no longer counts as something to look at, for everybody, until that changes.</p>`,
		fields: () => html`<${Reason} />`,
		run: (values) => move(r, because(values, { seen: true }), `"${r.revision}"`, `${channelOf(r)} is marked as seen.`),
	});
}

/** Resumes a halted rollout. */
export function resume(r, progress) {
	ask({
		title: `Start ${r.targetVersion} again?`, action: `Start again at ${r.staged_percent} %`, type: channelOf(r), danger: true,
		body: () => html`<p>The same boxes are offered ${r.targetVersion} again: ${progress ? boxes(total(progress).expected) : 'those of its stage'} of ${channelOf(r)}.</p>
			${r.terms && html`<p>From then on, the guard judges what is new. Boxes that are bad or silent now no longer count.</p>`}
			<${Hurdles} h=${hurdles(r, progress, r.staged_percent)} stage=${0} />`,
		fields: () => html`${override(hurdles(r, progress, r.staged_percent))}<${Reason} />`,
		run: (values) => move(r, because(values, { status: 'active' }), `"${r.revision}"`, `${channelOf(r)}: ${r.targetVersion} continues at ${r.staged_percent} %.`),
	});
}

/** Lets a rollout go on that tells no more boxes; without an organization, if one is given. */
export function goOn(r, progress, organization) {
	const without = organization ? { without: [...new Set([...(r.without ?? []), organization])] } : {};
	ask({
		title: `Go on with ${r.targetVersion}${organization ? ` without ${organization}` : ''}?`, action: 'Go on', type: channelOf(r), danger: true,
		body: () => html`<p>${organization ? `Boxes of ${organization} keep what they run. ` : ''}The guard judges what is new. Boxes that are bad or silent now no longer count.</p>
			<${Hurdles} h=${hurdles(r, progress, r.staged_percent)} stage=${0} />`,
		fields: () => html`${override(hurdles(r, progress, r.staged_percent))}<${Reason} />`,
		run: (values) => move(r, because(values, { status: 'active', ...without }), `"${r.revision}"`, `${channelOf(r)}: ${r.targetVersion} goes on.`),
	});
}

/** Returns a rollout: boxes that run its target are told the channel's version again. */
export function giveBack(r, progress) {
	const sum = progress && total(progress);
	ask({
		title: `Return boxes to ${r.previousVersion}?`, action: `Return to ${r.previousVersion}`, type: channelOf(r), danger: true,
		body: () => html`<p>${sum ? `${some(sum.installed, 'box runs', 'boxes run')} ${r.targetVersion} and ${sum.installed === 1 ? 'is' : 'are'}` : `Boxes that run ${r.targetVersion} are`} told ${r.previousVersion} again. Pinned boxes keep what they run, and so do boxes that are held after a move or a pin. After that, the rollout cannot be started again.</p>`,
		fields: () => html`<${Reason} />`,
		run: (values) => move(r, because(values, { status: 'halted', return: true }), `"${r.revision}"`, `${channelOf(r)}: boxes with ${r.targetVersion} get ${r.previousVersion} again.`),
	});
}

/** Reports whether the person started, promoted or set up the rollout, so that somebody else must approve it. */
export const steered = (r) => [r.startedBy, r.promotedBy, r.terms?.by].some((p) => p?.userId === state.person?.id);

/** Approves a stage, as a second person. */
export function approve(r, stage) {
	ask({
		title: `Approve ${stage} % of ${r.targetVersion}?`, action: `Approve ${stage} %`,
		body: () => html`<p>This lets somebody else promote ${channelOf(r)} from ${r.staged_percent} % to ${stage} %. Until then, it stays at ${r.staged_percent} %.</p>`,
		fields: () => html`<${Reason} />`,
		run: async (values) => {
			await call('POST', path(r) + '/approvals', { body: because(values, { stage }), ifMatch: `"${r.revision}"` });
			moved('/api/ota/');
			return `${stage} % of ${r.targetVersion} on ${channelOf(r)} is approved.`;
		},
	});
}

/** How long a rollout has been at its stage. */
export const atStage = (r) => length((Date.now() - new Date(r.stageSince ?? r.updatedAt).getTime()) / 1000);
