// What is known about a halt: who or what halted the rollout, why, when, and how many boxes have the release.
import { html } from './html.mjs';
import { read } from './sources.mjs';
import { query } from './api.mjs';
import { boxes, count, some, Ago } from './format.mjs';
import { Chip, boxesIn, nameOf } from './parts.mjs';
import { Sentence, fewerBad } from './evidence.mjs';
import { total, bad } from './actions.mjs';

// eventOf reads the audit event of a rollout's last halt. It is undefined until it is read, and null if there is none.
function eventOf(r) {
	const from = new Date(new Date(r.endedAt ?? r.updatedAt).getTime() - 1000).toISOString();
	const said = read('/api/audit-events' + query({ resourceType: 'rollout', resourceId: r.id, from, limit: '5' }), 600).value;
	return said && (said.items.find((e) => e.eventName === 'RolloutHalted') ?? null);
}

/** At which stage a rollout was halted, and whether it was returned. */
export const HaltedAt = ({ r, kind = 'bad' }) => html`<${Chip} kind=${kind}>Halted at ${r.staged_percent} %<//>${r.returnedAt && html` <${Chip} kind="bad">Returned<//>`}`;

/** Who or what halted a rollout, and when. */
export function HaltedBy({ r }) {
	const e = eventOf(r);
	const who = r.endedBy === 'guard' ? 'the guard' : e === undefined ? '…' : html`<bdi>${nameOf(e?.actor) || 'somebody'}</bdi>`;
	return html`${r.endedBy === 'publication' ? html`By a publication of ${who}` : html`By ${who}`}, <${Ago} at=${r.endedAt ?? r.updatedAt} />`;
}

/** Why a rollout was halted: what the guard saw, or what the person said. */
export function HaltedWhy({ r }) {
	const e = eventOf(r);
	if (e === undefined) return html`<p class="note">Reading why…</p>`;
	if (e?.cause?.sentence) return html`<${Sentence} text=${e.cause.sentence} />`;
	if (e === null && r.endedBy !== 'publication') return html`<p class="note">The audit trail does not show why.</p>`;
	if (e?.reason) return html`<p class="said">“<bdi>${e.reason}</bdi>”</p>`;
	return html`<p class="note">${r.endedBy === 'publication' ? 'The channel got another version.' : 'No reason was given.'}</p>`;
}

/** Reports whether boxes were counted after a return. Until then, nobody knows how many went back. */
export const counted = (r, p) => Date.parse(p.asOf) > Date.parse(r.returnedAt);

// Left is how many boxes still run the target of a returned rollout.
const Left = ({ r, p }) => p.returning ? html`<a href=${boxesIn({ edgeType: r.edgeType, channel: r.channel, version: r.targetVersion })}><strong>${count(p.returning)}</strong> still ${p.returning === 1 ? 'runs' : 'run'} ${r.targetVersion}</a>` : html`none still runs ${r.targetVersion}`;

/** How many boxes have the release, from a count. */
export function HaltedCounts({ r, p }) {
	if (p === undefined) return html`<p class="note">Reading how many boxes have it…</p>`;
	if (p === null) return html`<p>The boxes were never counted.</p>`;
	const sum = total(p);
	if (sum.expected === sum.notYetPolled) return html`<p>No box was offered ${r.targetVersion}.</p>`;
	const had = r.returnedAt && (counted(r, p) ? html`<strong>${boxes(p.returned ?? 0)}</strong> went back to ${r.previousVersion}, <${Left} r=${r} p=${p} />` : html`Before the return, <strong>${boxes(sum.installed)}</strong> had ${r.targetVersion}`);
	return html`<p>${had || html`<a href=${`#/rollout/${r.id}/installed`}><strong>${some(sum.installed, 'box has', 'boxes have')}</strong></a> ${r.targetVersion}`}, ${bad(sum) ? html`<a class="bad-text" href=${`#/rollout/${r.id}/bad`}><span aria-hidden="true">■ </span>${count(bad(sum))} bad</a>` : '0 bad'}, of ${count(sum.expected - sum.notYetPolled)} that were offered it.${r.endedBy === 'guard' && fewerBad(p.guard, p.stages) ? ` ${fewerBad(p.guard, p.stages)}` : ''}</p>`;
}

/** What is shown for a halted rollout instead of the guard's verdict. */
export function Halted({ r, p, may }) {
	const silence = /silent/.test(eventOf(r)?.cause?.sentence ?? '');
	const look = () => document.getElementById('which')?.scrollIntoView();
	const kinds = [...new Map((p?.guard?.surveys ?? []).filter((s) => s.culprit && s.halts).map(({ culprit: c }) => [`${c.name}=${c.value}`, c]))];
	return html`<section class="panel evidence" aria-labelledby="halted"><h2 id="halted">Why it was halted</h2>
		<${HaltedWhy} r=${r} /><${HaltedCounts} r=${r} p=${p} />
		<h3>What now</h3><ul class="reasons">
			${p && total(p).installed + bad(total(p)) > 0 && html`<li><button type="button" class="link" onClick=${look}>Look at the boxes</button></li>`}
			${kinds.map(([kind, c]) => html`<li key=${kind}><a href=${boxesIn({ edgeType: r.edgeType, channel: r.channel, attribute: `${c.name}:${c.value}` })}>Look at all boxes with <bdi>${kind}</bdi></a></li>`)}
			${silence && html`<li><a href=${`#/rollout/${r.id}/silent`}>Look at the silent boxes</a>${p && !p.silent.boxes ? ': none is silent now' : ''}</li>`}
			${r.returnedAt && html`<li>It was returned <${Ago} at=${r.returnedAt} />: boxes that run ${r.targetVersion} are told ${r.previousVersion} again.${p && !counted(r, p) ? ' They were not counted since.' : ''}</li>`}
			${may && !r.adopted && !r.returnedAt && html`<li><strong>Return</strong>: boxes that run ${r.targetVersion} get ${r.previousVersion} again.</li>`}
			${may && !r.completedAt && !r.returnedAt && r.endedBy !== 'publication' && html`<li><strong>Start again</strong>: the same boxes are offered ${r.targetVersion} again, and the guard only advises.</li>`}</ul></section>`;
}
