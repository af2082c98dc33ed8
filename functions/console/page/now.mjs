// What is going on now: rollouts, those with trouble first, and what applies to all of them.
import { html, fields } from './html.mjs';
import { read } from './sources.mjs';
import { at, query } from './api.mjs';
import { state, changed, may, mayAct } from './state.mjs';
import { enrolments, organization, waiting } from './waiting.mjs';
import { count, some, boxes, since, length, moment } from './format.mjs';
import { Chip, Empty, Shown, Loading, channelOf, soaked, Command } from './parts.mjs';
import { Verdict } from './evidence.mjs';
import { HaltedBy, HaltedWhy, HaltedCounts } from './halted.mjs';
import { halt, resume, giveBack, total, bad, atStage } from './actions.mjs';

const recent = 24 * 3600; // how long a halt is shown, in seconds
const most = 50; // rollouts on a page
const mostChannels = 20; // each needs a call

const chosen = () => (state.local.filter ?? '').split('/');

/** The path of the current page of rollouts, those with trouble first. */
export function overview() {
	const [edgeType, channel] = chosen();
	const of = new URLSearchParams({ limit: String(most), skip: String((state.local.page ?? 0) * most), ...(edgeType && { edgeType }), ...(channel && { channel }) });
	return `/api/ota/overview?${of}`;
}

// channelsPath is the path of the current page of channels.
function channelsPath() {
	const [edgeType] = chosen();
	return '/api/ota/release-channels' + query({ edgeType, limit: String(mostChannels), offset: String((state.local.channels ?? 0) * mostChannels || '') });
}

// health describes a rollout in a few words, by the guard's last verdict.
function health({ trouble, rollout: r, progress: p, ageSeconds }) {
	const g = p?.guard;
	const d = g?.distance;
	const close = d && (d.moreBad > 0 && !(d.moreSilent > 0 && d.moreSilent < d.moreBad && g.treated.silent) ? `${some(d.moreBad, 'more bad box', 'more bad boxes')} would halt it` : d.moreSilent > 0 ? `${some(d.moreSilent, 'more silent box', 'more silent boxes')} would halt it` : '');
	switch (trouble) {
	case 'halting': return 'The guard would halt it';
	case 'bad': return g.organization ? `Bad only for ${g.organization}` : 'Going bad, and all boxes get it';
	case 'stale': return p ? `Not counted for ${length(ageSeconds)}` : `Never counted, active for ${length(ageSeconds)}`;
	case 'stuck': return 'Too few boxes take it';
	case 'waiting': return g.reason === 'APPROVAL_REQUIRED' ? `Waiting for approval of ${g.next} %` : 'Waiting for a person to promote it';
	}
	return close || (g ? `Soaked ${soaked(d)}` : `At this stage for ${atStage(r)}`);
}

// The chip of a row: the verdict, but quiet while all is well. A rollout that is near a halt must look different.
function State({ trouble, guard: g }) {
	if (trouble === 'near') return html`<${Chip} kind="bad">Near a halt<//>`;
	return html`<${Verdict} guard=${g} quiet=${trouble === 'none'} />`;
}

const kinds = { halting: 'bad', bad: 'bad', near: 'bad', stale: 'act', stuck: 'act', waiting: 'hold' };
const urgent = (trouble) => ['halting', 'bad', 'near', 'stale'].includes(trouble);

function Row(row) {
	const { trouble, rollout: r, progress: p, ageSeconds, at: readAt } = row;
	const sum = total(p);
	const g = p?.guard;
	const age = ageSeconds + since(readAt); // the counts are up to a minute old at best
	return html`<li class=${`row ${trouble}`}>
		<div class="row-name"><h3><a href=${`#/rollout/${r.id}`}>${channelOf(r)}</a></h3><p>${r.previousVersion} → <strong>${r.targetVersion}</strong></p></div>
		<div class="row-state">
			<p class="chips"><${Chip} kind="wait">At ${r.staged_percent} %<//>${g ? html` <${State} trouble=${trouble} guard=${g} />` : r.guard === 'none' && html` <${Chip} kind="quiet">No guard<//>`}</p>
			<p class=${urgent(trouble) ? 'bad-text' : ''}>${kinds[trouble] && html`<span aria-hidden="true">${kinds[trouble] === 'bad' ? '■' : '▲'} </span>`}<bdi>${health(row)}</bdi></p>
		</div>
		<div class="row-count">${p ? html`<svg class="bar" width="100%" height="12" aria-hidden="true"><rect class="empty-bar" width="100%" height="12" rx="2" /><rect class="installed" width=${`${sum.expected ? sum.installed / sum.expected * 100 : 0}%`} height="12" /></svg>
			<p>${count(sum.installed)} of ${count(sum.expected)} installed</p>
			<p class=${bad(sum) ? 'bad-text' : ''}>${bad(sum) ? html`<span aria-hidden="true">■ </span>${count(bad(sum))} bad` : 'None bad'}</p><p class="row-age">counted ${length(age)} ago</p>` : html`<p>Not counted yet</p>`}</div>
		${mayAct() && html`<div class="row-act"><button type="button" class=${`button ${urgent(trouble) ? 'halt' : ''}`} onClick=${() => halt(r)}>Halt<span class="unseen"> ${channelOf(r)}</span></button></div>`}
	</li>`;
}

function Ended({ r }) {
	const p = read(at`/api/ota/rollouts/${r.id}/progress`, 300).value;
	return html`<li class="row ended">
		<div class="row-name"><h3><a href=${`#/rollout/${r.id}`}>${channelOf(r)}</a></h3><p>${r.previousVersion} → ${r.targetVersion}</p></div>
		<div class="row-state"><p class="chips"><${Chip} kind="bad">Halted at ${r.staged_percent} %<//></p><p><${HaltedBy} r=${r} /></p></div>
		<div class="row-why"><${HaltedWhy} r=${r} /><${HaltedCounts} r=${r} p=${p} />
			<p><a href=${`#/rollout/${r.id}`}>Look at the boxes<span class="unseen"> of ${channelOf(r)}</span></a></p></div>
		${mayAct() && !r.returnedAt && html`<div class="row-act"><button type="button" class="button small" onClick=${() => giveBack(r, p)}>Return<span class="unseen"> ${channelOf(r)}</span></button>${!r.completedAt && html`<button type="button" class="button small" onClick=${() => resume(r, p)}>Start again<span class="unseen"> ${channelOf(r)}</span></button>`}</div>`}
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

/** How many boxes wait to be accepted. It checks few enrolments, because each needs a call. */
export function Waiting() {
	if (!may('list-edge-enrolments') || !organization()) return null;
	const w = waiting(enrolments(), 3);
	return html`<div><dt>Boxes waiting in <bdi>${organization()}</bdi></dt><dd>${!w.read ? 'Reading…' : html`<a href="#/box">${count(w.boxes.length)}${w.partial ? ' or more' : ''}<span class="unseen"> waiting boxes</span></a>`}</dd></div>`;
}

function Facts({ o }) {
	const v = o.value;
	const troubled = v && Object.entries(v.troubles).reduce((n, [t, of]) => n + (t === 'none' ? 0 : of), 0);
	const newest = v?.items.length ? Math.min(...v.items.filter((x) => x.progress).map((x) => x.ageSeconds)) : Infinity;
	return html`<dl class="facts panel now-facts">
		<div><dt>Freeze</dt><dd>${!v ? 'Reading…' : v.freeze ? html`<${Chip} kind="hold">until ${moment(v.freeze.until)}<//>` : 'None'}</dd></div>
		<div><dt>Active rollouts</dt><dd>${!v ? 'Reading…' : `${count(v.active)}${v.more ? ' or more' : ''}${troubled ? `, ${count(troubled)} to look at` : ''}`}</dd></div>
		<div><dt>Last count</dt><dd>${!v ? 'Reading…' : newest < Infinity ? `${length(newest + since(o.at))} ago` : v.items.length ? 'None yet' : 'No rollout to count'}</dd></div>
		<div><dt>Boxes on these channels</dt><dd>${!v ? 'Reading…' : count(v.boxes)}</dd></div>
		<div><dt>Silent</dt><dd>${!v ? 'Reading…' : count(v.silent)}</dd></div>
		<${Waiting} />
	</dl>`;
}

// Choice filters rollouts and channels, and turns the pages of rollouts.
function Choice({ o, channels }) {
	const page = state.local.page ?? 0;
	const choose = (event) => {
		event.preventDefault();
		Object.assign(state.local, { filter: fields(event.target).only.trim(), page: 0, channels: 0 });
		changed();
	};
	const all = o.value?.active ?? 0;
	if (!state.local.filter && !page && all <= most && !channels.value?.next && !state.local.channels) return null;
	return html`<form class="choice" onSubmit=${choose}><label for="only">Only <span class="note">edge type, or edge type/channel</span></label><input id="only" name="only" defaultValue=${state.local.filter ?? ''} autocomplete="off" autocapitalize="off" spellcheck=${false} /><button class="button small">Show</button>
		${all > most && html`<${Pages} of="page" what="rollouts" from=${page * most + 1} to=${Math.min(all, (page + 1) * most)} all=${all} more=${(page + 1) * most < all} />`}</form>`;
}

// Pages shows which items of a list are visible, and turns its pages. state.local keeps the page number under a name.
function Pages({ of, what, from, to, all, more }) {
	const page = state.local[of] ?? 0;
	const turn = (by) => { state.local[of] = page + by; changed(); };
	return html`<span>${count(from)} to ${count(to)}${all ? ` of ${count(all)}` : ''}</span><button type="button" class="button small" disabled=${!page} onClick=${() => turn(-1)}>Previous<span class="unseen"> ${what}</span></button><button type="button" class="button small" disabled=${!more} onClick=${() => turn(1)}>Next<span class="unseen"> ${what}</span></button>`;
}

// Quiet lists the channels without a rollout that is shown above.
function Quiet({ of, shown, channel }) {
	const page = state.local.channels ?? 0;
	const all = of.value?.items ?? [];
	const quiet = all.filter((c) => !c.activeRollout && !shown.includes(channelOf(c)) && (!channel || c.channel === channel));
	if (of.value === undefined && !of.error) return html`<${Loading} lines=${2} />`;
	return html`${quiet.length ? html`<ul class="rows tight">${quiet.map((c) => html`<${Channel} key=${channelOf(c)} c=${c} />`)}</ul>` : html`<p class="note">No other channel${page || of.value?.next ? ' among these' : ''}.</p>`}
		${(page > 0 || of.value?.next) && html`<p class="choice"><span>Channels</span> <${Pages} of="channels" what="channels" from=${page * mostChannels + 1} to=${page * mostChannels + all.length} more=${Boolean(of.value?.next)} /></p>`}`;
}

export function Now() {
	const o = read(overview(), 10, true);
	const ended = read('/api/ota/rollouts?status=halted&limit=10', 30, true);
	const channels = read(channelsPath(), 60);
	const all = o.value?.items ?? [];
	const rows = all.filter((x) => x.rollout.status === 'active');
	const rest = [...new Map([...(ended.value?.items ?? []), ...all.map((x) => x.rollout)].map((r) => [r.id, r])).values()];
	const [edgeType, channel] = chosen();
	const matches = (r) => (!edgeType || r.edgeType === edgeType) && (!channel || r.channel === channel);
	const halted = rest.filter((r) => matches(r) && r.status === 'halted' && since(r.endedAt ?? r.updatedAt) < recent && !rows.some((x) => channelOf(x.rollout) === channelOf(r)));
	const shown = [...rows.map((x) => x.rollout), ...halted].map(channelOf);
	return html`<h1>Now</h1>
		<${Facts} o=${o} />
		<section aria-labelledby="active"><h2 id="active">Rollouts</h2>
			<${Choice} o=${o} channels=${channels} />
			<${Shown} of=${o} lines=${4} then=${() => rows.length + halted.length ? html`<ul class="rows">${rows.map((x) => html`<${Row} key=${x.rollout.id} ...${x} at=${o.at} />`)}${halted.map((r) => html`<${Ended} key=${r.id} r=${r} />`)}</ul>`
				: state.local.filter ? html`<p class="note">No active rollout of that name.</p>` : html`<${Empty} title="No rollout is active.">${may('start-rollout') && html`<p><a href="#/rollout/new">Publish a version and start one</a>, or use the command:</p>
					<${Command} text="wavegate publish gateway-x/canary 1.1.0 --file FILE" /><${Command} text="wavegate start gateway-x/stable 1.1.0" />`}<//>`} />
		</section>
		<section aria-labelledby="quiet"><h2 id="quiet">Other channels</h2>
			<${Quiet} of=${channels} shown=${shown} channel=${channel} />
		</section>`;
}
