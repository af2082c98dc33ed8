// What boxes say about their work: each health number of a rollout, with and without the release, and those of one box.
import { html } from './html.mjs';
import { count, moment } from './format.mjs';
import { Chip } from './parts.mjs';

const figure = (x) => Number(x.toPrecision(4)).toLocaleString();

// Bar shows a number beside the largest of its looks.
function Bar({ of, most, kind }) {
	return html`<td class="number">${figure(of.now)} <svg width="60" height="8" aria-hidden="true"><rect class=${kind} width=${most > 0 ? Math.max(1, 60 * of.now / most) : 1} height="8" /></svg></td>`;
}

/** The looks at each number, the first stage first. */
export function Numbers({ looks }) {
	const names = [...new Set(looks.map((l) => l.name))];
	return html`<section class="panel" aria-labelledby="health"><h2 id="health">Work</h2>${names.map((name) => {
		const list = looks.filter((l) => l.name === name).sort((a, b) => a.percent - b.percent);
		const most = Math.max(...list.flatMap((l) => [l.reached.now, l.control.now]));
		return html`<table key=${name}><caption>${name}</caption>
			<thead><tr><th scope="col">Stage</th><th scope="col">With the release</th><th scope="col">Without</th><th scope="col">Say it</th></tr></thead>
			<tbody>${list.map((l) => html`<tr key=${l.percent}><th scope="row">${l.percent} % <span class="note">${moment(l.at)}</span></th>
				<${Bar} of=${l.reached} most=${most} kind="strip-halt" /><${Bar} of=${l.control} most=${most} kind="strip-clear" />
				<td>${count(l.reached.said)} of ${count(l.reached.boxes)}, ${count(l.control.said)} of ${count(l.control.boxes)} ${l.halts && !l.accepted ? html`<${Chip} kind="bad">Worse<//>` : l.unreported && html`<${Chip} kind="hold">Too few<//>`}</td></tr>`)}</tbody></table>`;
	})}<p class="note">A gauge is the median of the boxes, and a counter their mean in a day. Whether one is worse follows from each box's change since before the release.</p></section>`;
}

/** What one box says. */
export function Work({ health }) {
	const names = [...new Set([...Object.keys(health.before ?? {}), ...Object.keys(health.now ?? {})])].sort();
	const said = (of, name) => (of && name in of ? figure(of[name]) : 'not said');
	return html`<section class="panel" aria-labelledby="work"><h2 id="work">Work</h2>
		<dl class="facts">${names.map((n) => html`<div key=${n}><dt>${n}</dt><dd>${said(health.now, n)} <span class="note">${said(health.before, n)} before ${health.version}</span></dd></div>`)}</dl>
		<p class="note">Said with ${health.running ?? 'an unknown version'}, ${moment(health.at)}.</p></section>`;
}
