// What boxes say about their work: each health number of a rollout, with and without the release, and those of one box.
import { html } from './html.mjs';
import { count, moment } from './format.mjs';
import { Chip, More } from './parts.mjs';

const figure = (x) => Number(x.toPrecision(4)).toLocaleString();

// Bar shows a number beside the largest of its looks.
function Bar({ of, most, kind }) {
	return html`<td class="number">${figure(of.now)} <svg width="60" height="8" aria-hidden="true"><rect class=${kind} width=${most > 0 ? Math.max(1, 60 * of.now / most) : 1} height="8" /></svg></td>`;
}

// A mark stands for what boxes said at a time: a disc with the release, and a square without it. Nothing joins them, since nobody
// knows what was in between.
const Disc = ({ x, y }) => html`<circle class="installed" cx=${x} cy=${y} r="4" />`;
const Square = ({ x, y }) => html`<rect class="bound" x=${x} y=${y} width="6" height="6" transform="translate(-3 -3)" />`;

// Course shows a number over time.
function Course({ name, readings }) {
	const said = readings.filter((r) => r.reached.said + r.control.said > 0);
	if (said.length === 0) return html`<p class="note">${name}: no box has said it yet.</p>`;
	const marks = said.flatMap((r) => [[Disc, r.reached], [Square, r.control]].flatMap(([Mark, of]) => of.said ? [{ Mark, now: of.now, at: new Date(r.at).getTime() }] : []));
	const [first, last] = [marks[0].at, marks.at(-1).at];
	const least = Math.min(...marks.map((m) => m.now)), most = Math.max(...marks.map((m) => m.now));
	const x = (at) => `${2 + 96 * (at - first) / (last - first || 1)}%`, y = (now) => 8 + 80 * (most - now) / (most - least || 1);
	const now = (of) => (of.said ? figure(of.now) : 'not said');
	return html`<h3>${name}</h3><figure class="history"><svg width="100%" height="96" aria-hidden="true">${marks.map(({ Mark, at, now }) => html`<${Mark} x=${x(at)} y=${y(now)} />`)}</svg>
		<figcaption class="ends"><span>${moment(first)}</span><span>${figure(least)} at the bottom, ${figure(most)} at the top</span><span>${moment(last)}</span></figcaption>
		<p class="legend"><span><svg width="10" height="10" aria-hidden="true"><${Disc} x="5" y="5" /></svg> with the release, last ${now(said.at(-1).reached)}</span> <span><svg width="10" height="10" aria-hidden="true"><${Square} x="5" y="5" /></svg> without, last ${now(said.at(-1).control)}</span></p>
		<${More} id=${`course ${name}`} label=${`Show ${name} as a table`}><table><thead><tr><th scope="col">Time</th><th scope="col">With the release</th><th scope="col">Without</th></tr></thead>
			<tbody>${said.toReversed().map((r) => html`<tr key=${r.at}><th scope="row">${moment(r.at)}</th><td>${now(r.reached)}</td><td>${now(r.control)}</td></tr>`)}</tbody></table><//></figure>`;
}

/** Each number over time, and the looks at it, the first stage first. */
export function Numbers({ looks, readings, health = {} }) {
	const names = [...new Set([...looks, ...readings].map((l) => l.name))].sort();
	return html`<section class="panel" aria-labelledby="health"><h2 id="health">Work</h2>${names.map((name) => {
		const list = looks.filter((l) => l.name === name).sort((a, b) => a.percent - b.percent);
		const most = Math.max(...list.flatMap((l) => [l.reached.now, l.control.now]));
		return html`<${Course} key=${name} name=${name} readings=${readings.filter((r) => r.name === name)} />${list.length > 0 && html`<table><caption>${`The guard’s looks at ${name}`}</caption>
			<thead><tr><th scope="col">Stage</th><th scope="col">With the release</th><th scope="col">Without</th><th scope="col">Say it</th></tr></thead>
			<tbody>${list.map((l) => html`<tr key=${l.percent}><th scope="row">${l.percent} % <span class="note">${moment(l.at)}</span></th>
				<${Bar} of=${l.reached} most=${most} kind="installed" /><${Bar} of=${l.control} most=${most} kind="bound" />
				<td>${count(l.reached.said)} of ${count(l.reached.boxes)}, ${count(l.control.said)} of ${count(l.control.boxes)} ${l.halts && !l.accepted ? html`<${Chip} kind="bad">Worse<//>${health[name]?.is === 'gauge' && html` <span class="note">${(100 * Math.abs(l.more)).toFixed(1)} % ${l.more < 0 ? 'lower' : 'higher'} than before, beside the others</span>`}` : l.changed ? html`<${Chip} kind="hold">Another meter<//>` : l.unreported && html`<${Chip} kind="hold">Too few<//>`}</td></tr>`)}</tbody></table>`}`;
	})}<p class="note">A gauge is the median of the boxes, and a counter their mean in a day. Whether one is worse follows from each box's change since before the release.</p></section>`;
}

/** What one box says. */
export function Work({ health }) {
	const names = [...new Set([...Object.keys(health.before ?? {}), ...Object.keys(health.now ?? {})])].sort();
	const said = (of, name) => (of && Object.hasOwn(of, name) ? figure(of[name]) : 'not said');
	return html`<section class="panel" aria-labelledby="work"><h2 id="work">Work</h2>
		<dl class="facts">${names.map((n) => html`<div key=${n}><dt>${n}</dt><dd>${said(health.now, n)} <span class="note">${said(health.before, n)} before ${health.version}</span></dd></div>`)}</dl>
		<p class="note">Said with ${health.running ?? 'an unknown version'}, ${moment(health.at)}.</p></section>`;
}
