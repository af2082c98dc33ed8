// What goes on now: rollouts, those with trouble first, and what holds for all of them.
import { html } from './html.mjs';
import { read } from './sources.mjs';
import { at } from './api.mjs';
import { mayAct } from './state.mjs';
import { count, boxes, share, since, length, moment, Ago } from './format.mjs';
import { Chip, Empty, Shown, Loading, channelOf, soaked, Command } from './parts.mjs';
import { Verdict } from './evidence.mjs';
import { halt, total, bad, atStage } from './actions.mjs';

const recent = 24 * 3600; // a halt is shown for so long

// trouble puts rollouts in order: the guard would halt, bad boxes, the rest.
const trouble = (p) => p ? (p.guard?.verdict === 'halt' ? 1e9 : 0) + bad(total(p)) : 0;

function Row({ r, p, of }) {
	const sum = total(p);
	const g = p?.guard;
	return html`<li class="row">
		<div class="row-name"><h3><a href=${`#/rollout/${r.id}`}>${channelOf(r)}</a></h3><p>${r.previousVersion} → <strong>${r.targetVersion}</strong></p></div>
		<div class="row-state">
			<p class="chips"><${Chip} kind="wait">At ${r.staged_percent} %<//>${g ? html` <${Verdict} guard=${g} />` : r.guard === 'none' && html` <${Chip} kind="quiet">No guard<//>`}</p>
			<p>${g ? `Soaked ${soaked(g.distance)}` : `At this stage for ${atStage(r)}`}</p>
		</div>
		<div class="row-count">${p ? html`<svg class="bar" width="100%" height="12" aria-hidden="true"><rect class="empty-bar" width="100%" height="12" rx="2" /><rect class="installed" width=${`${sum.expected ? sum.installed / sum.expected * 100 : 0}%`} height="12" /></svg>
			<p>${count(sum.installed)} of ${count(sum.expected)} installed</p>
			<p class=${bad(sum) ? 'bad-text' : ''}>${bad(sum) ? html`<span aria-hidden="true">■ </span>${count(bad(sum))} bad` : 'None bad'}</p>` : p === null ? html`<p>Not counted yet</p>` : of.error ? html`<p>Could not be read</p>` : html`<${Loading} lines=${1} />`}</div>
		${mayAct() && html`<div class="row-act"><button type="button" class="button halt" onClick=${() => halt(r)}>Halt<span class="unseen"> ${channelOf(r)}</span></button></div>`}
	</li>`;
}

function Halted({ r }) {
	return html`<li class="row">
		<div class="row-name"><h3><a href=${`#/rollout/${r.id}`}>${channelOf(r)}</a></h3><p>${r.previousVersion} → ${r.targetVersion}</p></div>
		<div class="row-state"><p class="chips"><${Chip} kind="bad">Halted at ${r.staged_percent} %<//></p><p>${r.endedBy === 'guard' ? 'By the guard, ' : r.endedBy === 'publication' ? 'By a publication, ' : ''}<${Ago} at=${r.endedAt} /></p></div>
	</li>`;
}

function Channel({ c }) {
	const p = read(at`/api/ota/release-channels/${c.edgeType}/${c.channel}/progress`, 600).value;
	return html`<li class="row quiet">
		<div class="row-name"><h3><a href=${`#/log/release-channel/${encodeURIComponent(channelOf(c))}`}>${channelOf(c)}<span class="unseen">, its log</span></a></h3><p><strong>${c.currentVersion}</strong></p></div>
		<div class="row-state"><p class="chips"><${Chip} kind="quiet">No rollout<//></p></div>
		<div class="row-count">${p && html`<p>${boxes(p.boxes)}</p>`}</div>
	</li>`;
}

function Facts({ freeze, counts, loading }) {
	const newest = Math.max(0, ...counts.map((p) => new Date(p.asOf).getTime()));
	const all = counts.reduce((n, p) => n + p.stages.reduce((m, s) => m + s.expected, 0), 0);
	const of = counts.reduce((n, p) => n + p.silent.of, 0);
	const silent = counts.reduce((n, p) => n + p.silent.boxes, 0);
	return html`<dl class="facts panel now-facts">
		<div><dt>Freeze</dt><dd>${freeze.value ? html`<${Chip} kind="hold">until ${moment(freeze.value.until)}<//>` : freeze.value === null ? 'None' : '…'}</dd></div>
		<div><dt>Last count</dt><dd>${newest ? `${length(since(newest))} ago` : loading ? '…' : 'No rollout to count'}</dd></div>
		<div><dt>Boxes on these channels</dt><dd>${loading ? '…' : count(all)}</dd></div>
		<div><dt>Silent</dt><dd>${loading ? '…' : of ? `${share(silent, of)} of ${count(of)} with a release` : 'None'}</dd></div>
	</dl>`;
}

export function Now() {
	const active = read('/api/ota/rollouts?status=active&limit=100', 10, true);
	const ended = read('/api/ota/rollouts?status=halted&limit=10', 30, true);
	const channels = read('/api/ota/release-channels?limit=100', 60);
	const freeze = read('/api/ota/freeze', 60);
	const all = [...new Map([...(ended.value?.items ?? []), ...(active.value?.items ?? [])].map((r) => [r.id, r])).values()];
	const rows = all.filter((r) => r.status === 'active').map((r) => ({ r, of: read(at`/api/ota/rollouts/${r.id}/progress`, 30, true) }))
		.map((x) => ({ ...x, p: x.of.value }));
	rows.sort((a, b) => trouble(b.p) - trouble(a.p));
	const halted = all.filter((r) => r.status === 'halted' && since(r.endedAt ?? r.updatedAt) < recent && !rows.some((x) => channelOf(x.r) === channelOf(r)));
	const shown = [...rows.map((x) => x.r), ...halted].map(channelOf);
	const quiet = (channels.value?.items ?? []).filter((c) => !shown.includes(channelOf(c)));
	return html`<h1>Now</h1>
		<${Facts} freeze=${freeze} counts=${rows.flatMap((x) => x.p ?? [])} loading=${active.value === undefined || rows.some((x) => x.p === undefined)} />
		<section aria-labelledby="active"><h2 id="active">Rollouts</h2>
			<${Shown} of=${active} lines=${4} then=${() => rows.length + halted.length ? html`<ul class="rows">${rows.map((x) => html`<${Row} key=${x.r.id} ...${x} />`)}${halted.map((r) => html`<${Halted} key=${r.id} r=${r} />`)}</ul>`
				: html`<${Empty} title="No rollout is active."><p>Publish a version where few boxes are, then start a rollout:</p>
					<${Command} text="wavegate publish gateway-x/canary 1.1.0 --url URL --sha256 SHA256" /><${Command} text="wavegate start gateway-x/stable 1.1.0" /><//>`} />
		</section>
		<section aria-labelledby="quiet"><h2 id="quiet">Other channels</h2>
			${channels.value === undefined && !channels.error ? html`<${Loading} lines=${2} />` : quiet.length ? html`<ul class="rows tight">${quiet.map((c) => html`<${Channel} key=${channelOf(c)} c=${c} />`)}</ul>` : html`<p class="note">No other channel.</p>`}
		</section>`;
}
