// The guard's verdict, as a sentence and as a distance to clear and to halt.
import { html } from './html.mjs';
import { count, some, share, moment, plain } from './format.mjs';
import { Chip, soaked } from './parts.mjs';

const verdicts = { halt: ['bad', 'Halt'], promote: ['act', 'Promote'], complete: ['act', 'Complete'], hold: ['hold', 'Hold'] };

/** The verdict in a word. quiet: a hold is not marked, because all is well. */
export function Verdict({ guard, quiet = false }) {
	const [kind, word] = verdicts[guard.verdict] ?? ['quiet', guard.verdict];
	return html`<${Chip} kind=${quiet && kind === 'hold' ? 'quiet' : kind}>${word}<//>`;
}

/** What the guard's sentence counts as bad, if that is fewer than failed; otherwise empty. */
export function fewerBad(guard, stages = []) {
	if (!guard) return '';
	const { percent, bad } = guard.halting;
	const failed = stages.filter((s) => percent ? s.percent === percent : s.percent <= guard.stage).reduce((n, s) => n + s.failed + s.reverted, 0);
	return failed > bad ? `The guard counted ${count(bad)} as bad, because the others could still retry.` : '';
}

// place is the position of the evidence: 0 clears the stage and 1 halts the rollout.
function place(g) {
	const within = (x) => Math.min(1, Math.max(0, x));
	if (g.halting.likelihood > 0) return 0.5 + within(g.halting.likelihood / g.halting.limit) / 2;
	if (g.taken) return 0.5 - within(g.taken.good / Math.max(1, g.taken.needed)) / 2;
	return 0.5;
}

function distances(g) {
	const d = g.distance;
	const clear = g.verdict === 'promote' || g.verdict === 'complete' || d.moreGood === 0 ? 'Clear' : d.moreGood > 0 ? `${some(d.moreGood, 'more good box', 'more good boxes')} would clear it` : 'Soaking';
	const halt = d.fewerBad > 0 ? 'Over the line' : g.retrying?.halts ? `${count(g.retrying.boxes)} that failed must recover by ${moment(g.retrying.until)}` : d.moreBad > 0 ? `${some(d.moreBad, 'more bad box', 'more bad boxes')} would halt it` : 'Cannot halt yet';
	return [clear, halt];
}

/** The guard's sentence: the verdict first, and the rest as a list. Its times are UTC; here they are the person's. */
export function Sentence({ text }) {
	const [first, ...rest] = plain(text).replace(/\.$/, '').split('; ');
	return html`<p class="sentence">${first}.</p>${rest.length > 0 && html`<ul class="reasons">${rest.map((r) => html`<li>${r[0].toUpperCase() + r.slice(1)}</li>`)}</ul>`}`;
}

/** The verdict, its sentence, and the evidence as a strip from clear to halt. */
export function Evidence({ guard, policy, stages = [] }) {
	if (!guard) {
		return html`<section class="panel evidence" aria-labelledby="guard"><h2 id="guard">Guard</h2>
			<p>${policy ? 'The guard has not judged this rollout yet. It does so once a minute.' : 'No guard: people halt and promote this rollout.'}</p></section>`;
	}
	const [clear, halt] = distances(guard);
	const x = Math.round(place(guard) * 1000) / 10;
	const d = guard.distance;
	const { percent } = guard.halting;
	const failed = stages.filter((s) => s.percent <= guard.stage).reduce((n, s) => n + s.failed + s.reverted, 0);
	return html`<section class="panel evidence" aria-labelledby="guard">
		<h2 id="guard">Guard <${Verdict} guard=${guard} /></h2>
		<${Sentence} text=${guard.sentence} />
		${guard.needs && html`<p class="warn"><span aria-hidden="true">▲ </span><strong>To do:</strong> ${guard.needs.do}.</p>`}
		<div class="strip" aria-hidden="true"><svg width="100%" height="34">
			<rect class="strip-clear" x="0" y="12" width="50%" height="10" /><rect class="strip-halt" x="50%" y="12" width="50%" height="10" />
			<rect class="strip-end good" x="0" y="6" width="3" height="22" /><rect class="strip-end bad" x="100%" y="6" width="3" height="22" transform="translate(-3 0)" />
			<svg x=${`${x}%`} overflow="visible"><path class="strip-mark" d="M0 -1 L8 7 V24 H-8 V7 Z" transform="translate(${x > 97 ? -9 : x < 3 ? 9 : 0} 5)" /></svg>
		</svg></div>
		<div class="ends"><span><strong>Clear</strong> ${clear}</span><span><strong>Halt</strong> ${halt}</span></div>
		<dl class="facts">
			<div><dt>Bad</dt><dd>${guard.halting.bad ? html`${count(guard.halting.bad)} of ${count(guard.halting.boxes)} offered${percent ? ` at stage ${percent} %${percent === guard.stage ? '' : ', the closest to a halt'}` : ''}` : 'None'}</dd></div>
			${failed > guard.halting.bad && html`<div><dt>Not in this count</dt><dd>${count(failed - guard.halting.bad)} that failed: they may still retry${percent ? ', or are of another stage' : ''}</dd></div>`}
			${guard.taken && html`<div><dt>Took it</dt><dd>${count(guard.taken.good)} of ${count(guard.taken.boxes)}, ${count(guard.taken.needed)} needed</dd></div>`}
			<div><dt>Silent</dt><dd>${share(guard.treated.silent, guard.treated.boxes)} here, ${share(guard.control.silent, guard.control.boxes)} elsewhere</dd></div>
			<div><dt>Soaked</dt><dd>${soaked(d)}</dd></div>
			${d.opensAt && html`<div><dt>Window</dt><dd>opens ${moment(d.opensAt)}</dd></div>`}
			<div><dt>Mode</dt><dd>${policy?.mode !== 'act' ? 'only advises' : policy.promote.auto ? 'halts and promotes' : 'halts'}</dd></div>
		</dl>
	</section>`;
}
