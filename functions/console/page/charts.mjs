// The stages of a rollout and its history, as plain shapes. Every shape has its number beside it.
import { html } from './html.mjs';
import { count, share, boxes, moment } from './format.mjs';
import { bad } from './actions.mjs';
import { More } from './parts.mjs';

/** The patterns that shapes are filled with, so that they differ by more than their colour. Once on the page. */
export function Patterns() {
	return html`<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>
		<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6" /><rect class="hatch-line" width="2.4" height="6" /></pattern>
	</defs></svg>`;
}


const told = (s) => s.expected - s.notYetPolled;
const rate = (s) => told(s) ? bad(s) / told(s) * 100 : 0;

function Stage({ s, reached, bounds, most }) {
	const onWay = s.offered + s.working + s.deferred;
	const part = (n) => `${s.expected ? n / s.expected * 100 : 0}%`;
	return html`<li class=${`stage ${reached ? '' : 'ahead'}`}>
		<h3>${s.percent} %</h3>
		${reached ? html`<div class="lanes">
			<svg class="bar" width="100%" height="20" aria-hidden="true"><rect class="empty-bar" width="100%" height="20" rx="3" />
				<rect class="installed" width=${part(s.installed)} height="20" /><rect class="on-way" x=${part(s.installed)} width=${part(onWay)} height="20" /></svg>
			<p class="numbers"><strong>${count(s.installed)}</strong> of ${count(s.expected)} installed${onWay ? html` · ${count(onWay)} on the way` : ''}${s.notYetPolled ? html` · ${count(s.notYetPolled)} not polled yet` : ''}</p>
			<svg class="bar lane" width="100%" height="12" aria-hidden="true"><rect class="empty-bar" width="100%" height="12" rx="2" />
				<rect class="bad" width=${`${Math.min(100, rate(s) / most * 100)}%`} height="12" />
				${[bounds.acceptable, bounds.intolerable].map((b) => b * 100 <= most && html`<rect class="bound" x=${`${b * 100 / most * 100}%`} y="0" width="2" height="12" />`)}</svg>
			<p class=${`numbers ${bad(s) ? 'bad-text' : ''}`}>${bad(s) ? html`<span aria-hidden="true">■ </span><strong>${count(bad(s))}</strong> bad of ${count(told(s))} offered, ${share(bad(s), told(s))}` : `No bad boxes of ${count(told(s))} offered`}</p>
		</div>` : html`<p class="numbers">${boxes(s.expected)}, not reached yet</p>`}
	</li>`;
}

/** Which boxes have what, stage by stage. Bad boxes have their own lane, because a few of many would be a sliver in one bar. */
export function Stages({ progress, policy, returned = '' }) {
	const bounds = policy?.guard ?? { acceptable: 0.01, intolerable: 0.05 };
	const highest = Math.max(bounds.intolerable * 100, ...progress.stages.filter((s) => s.percent <= progress.staged_percent).map(rate));
	const most = [6, 10, 20, 50].find((n) => n > highest) ?? 100; // where the lanes of bad boxes end, in percent
	return html`<section class="panel" aria-labelledby="stages"><h2 id="stages">Stages</h2>
		<ol class="stages">${progress.stages.map((s) => html`<${Stage} key=${s.percent} s=${s} reached=${s.percent <= progress.staged_percent} bounds=${bounds} most=${most} />`)}</ol>
		<p class="legend"><span><span class="key installed"></span>installed</span> <span><span class="key on-way"></span>on the way</span> <span><span class="key open"></span>not polled yet</span> <span><span class="key bad"></span>bad of those offered, 0 to ${most} %; lines at ${share(bounds.acceptable, 1)} and ${share(bounds.intolerable, 1)}</span></p>${returned && html`<p class="note">Boxes that had it before the return count as installed.</p>`}
	</section>`;
}

const height = 120;
const laneTop = 132;
const laneHeight = 36;

// gap is the time between two counts, in ms, from which on nothing is drawn between them: nobody knows what was there.
const gap = 150_000;

// area is a path between two rows of numbers, over x from 0 to 1000, with a part for each run of counts. One count alone is a bar.
function area(runs, xs, low, high, base, scale) {
	return runs.map((run) => {
		const points = (of) => run.flatMap((i) => (run.length > 1 ? [0] : [-2, 2]).map((by) => `${(xs[i] + by).toFixed(1)},${(base - of[i] * scale).toFixed(1)}`));
		return `M${points(high).join('L')}L${points(low).reverse().join('L')}Z`;
	}).join('');
}

/** The history of a rollout: installed boxes and those on the way, moves as flags, bad boxes below on their own scale. */
export function History({ moments }) {
	const all = [...moments].reverse();
	if (all.length < 2) return html`<p class="note">The history appears after two counts, one per minute.</p>`;
	const times = all.map((m) => new Date(m.at).getTime());
	const span = times.at(-1) - times[0] || 1;
	const xs = times.map((t) => (t - times[0]) / span * 1000);
	const installed = all.map((m) => m.installed);
	const told = all.map((m) => m.installed + m.offered + m.working + m.deferred);
	const top = Math.max(1, ...told);
	const bads = all.map(bad);
	const topBad = Math.max(...bads);
	const zero = all.map(() => 0);
	const runs = times.reduce((list, t, i) => { if (i && t - times[i - 1] < gap) list.at(-1)?.push(i); else list.push([i]); return list; }, /** @type {number[][]} */ ([]));
	const moves = all.flatMap((m, i) => i && m.staged_percent !== all[i - 1].staged_percent ? [{ x: xs[i], to: m.staged_percent }] : []);
	return html`<figure class="history">
		<div class="plot">
			<svg viewBox="0 0 1000 170" preserveAspectRatio="none" width="100%" height="170" aria-hidden="true">
				<path class="on-way" d=${area(runs, xs, installed, told, height, height / top)} /><path class="installed" d=${area(runs, xs, zero, installed, height, height / top)} />
				${topBad > 0 && html`<path class="bad" d=${area(runs, xs, zero, bads, laneTop + laneHeight, laneHeight / topBad)} />`}
				<path class="axis" d=${`M0,${height}H1000M0,${laneTop + laneHeight}H1000`} />
				${moves.map((m) => html`<path class="flag" d=${`M${m.x},0V${laneTop + laneHeight}`} />`)}
			</svg>
			${moves.map((m) => html`<span class="flag-name" style=${{ left: `${Math.min(90, m.x / 10)}%` }}>${m.to} %</span>`)}
			<span class="scale" aria-hidden="true">${count(top)}</span>${topBad > 0 && html`<span class="scale lane-scale" aria-hidden="true">to ${count(topBad)} bad</span>`}
		</div>
		<figcaption class="ends"><span>${moment(times[0])}</span><span>${count(installed.at(-1))} installed, ${count(told.at(-1) - installed.at(-1))} on the way, ${count(bads.at(-1))} bad</span><span>${moment(times.at(-1))}</span></figcaption>
		<${More} id="history" label="Show as a table"><div class="wide" tabindex="0" role="region" aria-label="Counts over time"><table><thead><tr><th scope="col">Time</th><th scope="col">Stage</th><th scope="col">Installed</th><th scope="col">On the way</th><th scope="col">Bad</th><th scope="col">Silent</th></tr></thead>
			<tbody>${moments.map((m) => html`<tr key=${m.at}><th scope="row">${moment(m.at)}</th><td>${m.staged_percent} %</td><td>${count(m.installed)}</td><td>${count(m.offered + m.working + m.deferred)}</td><td>${count(bad(m))}</td><td>${count(m.silent)}</td></tr>`)}</tbody></table></div><//>
	</figure>`;
}
