// What is going on now: what needs a look, the other rollouts, and what applies to all of them.
import { html, fields } from './html.mjs';
import { read } from './sources.mjs';
import { at, query } from './api.mjs';
import { state, changed, may, mayAct } from './state.mjs';
import { enrolments, organization, waiting } from './waiting.mjs';
import { count, some, boxes, since, length, moment, Moment } from './format.mjs';
import { Chip, Empty, Shown, Loading, PlantLink, VersionLink, boxesIn, channelOf, soaked, Command, Seen } from './parts.mjs';
import { Verdict } from './evidence.mjs';
import { HaltedAt, HaltedBy, HaltedWhy, HaltedCounts } from './halted.mjs';
import { halt, resume, giveBack, mark, total, bad, atStage, held } from './actions.mjs';

const late = 150; // the age of the newest count, in seconds, from which on the guard is late
const most = 20; // rollouts on a page: a row takes 2 kB at each reading
const mostChannels = 20; // each needs a call
const mostHalted = 10; // each needs two

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
	case 'held': return held(r);
	case 'failing': return `${count(g.retrying.boxes)} of ${count(g.retrying.told)} failed; unless they recover by ${moment(g.retrying.until)}, the guard halts it`;
	case 'needs': return `Waits for a person: ${g.needs.do}`;
	case 'bad': return g.organization ? `Bad only for ${g.organization}` : 'Going bad, and all boxes get it';
	case 'stale': return p ? `Not counted for ${length(ageSeconds)}` : `Never counted, active for ${length(ageSeconds)}`;
	case 'mislabelled': return `${some(p.mislabelled, 'box runs', 'boxes run')} it and ${p.mislabelled > 1 ? 'say' : 'says'} so in other words`;
	case 'stuck': return 'Too few boxes take it';
	case 'waiting': return g.reason === 'APPROVAL_REQUIRED' ? `Waiting for approval of ${g.next} %` : 'Waiting for a person to promote it';
	}
	return close || (g ? `Soaked ${soaked(d)}` : `At this stage for ${atStage(r)}`);
}

// The chip of a row: the verdict, but quiet while all is well. A rollout that is near a halt must look different.
function State({ trouble, guard: g }) {
	if (trouble === 'near') return html`<${Chip} kind="bad">Near a halt<//>`;
	return html`<${Verdict} guard=${g} quiet=${quiet(trouble)} />`;
}

const kinds = { halting: 'bad', bad: 'bad', failing: 'bad', held: 'bad', needs: 'bad', near: 'bad', stale: 'act', mislabelled: 'act', stuck: 'act', waiting: 'hold' };
const worst = ['halting', 'bad', 'halted', 'failing', 'held', 'needs', 'near', 'stale', 'mislabelled', 'stuck', 'waiting'];
const quiet = (trouble) => !worst.includes(trouble);
const urgent = (trouble) => worst.indexOf(trouble) >= 0 && worst.indexOf(trouble) < worst.indexOf('mislabelled');

function Row(row) {
	const { trouble, rollout: r, progress: p, ageSeconds, at: readAt } = row;
	const sum = total(p);
	const g = p?.guard;
	const age = ageSeconds + since(readAt); // the counts are up to a minute old at best
	return html`<li class=${`row ${trouble}`}>
		<div class="row-name"><h3><a href=${`#/rollout/${r.id}`}>${channelOf(r)}</a></h3><p>${r.previousVersion} → <strong>${r.targetVersion}</strong></p></div>
		<div class="row-state">
			<p class="chips"><${Chip} kind="wait">At ${r.staged_percent} %<//>${g ? html` <${State} trouble=${trouble} guard=${g} />` : r.guard === 'none' && html` <${Chip} kind="quiet">No guard<//>`}</p>
			<p class=${urgent(trouble) ? 'bad-text' : ''}>${kinds[trouble] && html`<span aria-hidden="true">${kinds[trouble] === 'bad' ? '■' : '▲'} </span>`}<bdi>${health(row)}</bdi></p><${Seen} r=${r} />
		</div>
		<div class="row-count">${p ? html`<svg class="bar" width="100%" height="12" aria-hidden="true"><rect class="empty-bar" width="100%" height="12" rx="2" /><rect class="installed" width=${`${sum.expected ? sum.installed / sum.expected * 100 : 0}%`} height="12" /></svg>
			<p>${count(sum.installed)} of ${count(sum.expected)} installed</p>
			<p class=${bad(sum) ? 'bad-text' : ''}>${bad(sum) ? html`<a href=${`#/rollout/${r.id}/bad`}><span aria-hidden="true">■ </span>${count(bad(sum))} bad</a>` : 'None bad'}</p><p class="row-age">counted ${length(age)} ago${p.silent.boxes > 0 && html`, <a href=${`#/rollout/${r.id}/silent`}>${count(p.silent.boxes)} silent</a>`}</p>` : html`<p>Not counted yet</p>`}</div>
		${mayAct() && html`<div class="row-act"><button type="button" class=${`button ${urgent(trouble) ? 'halt' : ''}`} onClick=${() => halt(r)}>Halt<span class="unseen"> ${channelOf(r)}</span></button>${trouble === 'held' && html`<${Mark} r=${r} />`}</div>`}
	</li>`;
}

const Mark = ({ r }) => html`<button type="button" class="button small" onClick=${() => mark(r)}>Seen…<span class="unseen"> ${channelOf(r)}</span></button>`;

function Ended({ rollout: r, trouble }) {
	const p = read(at`/api/ota/rollouts/${r.id}/progress`, since(r.endedAt ?? r.updatedAt) < 3600 ? 60 : 300).value; // boxes go back, or silent, after a halt
	return html`<li class="row ended">
		<div class="row-name"><h3><a href=${`#/rollout/${r.id}`}>${channelOf(r)}</a></h3><p>${r.previousVersion} → ${r.targetVersion}</p></div>
		<div class="row-state"><p class="chips"><${HaltedAt} r=${r} kind=${trouble === 'seen' ? 'hold' : 'bad'} /></p><p><${HaltedBy} r=${r} /></p><${Seen} r=${r} /></div>
		<div class="row-why"><${HaltedWhy} r=${r} /><${HaltedCounts} r=${r} p=${p} />
			<p><a href=${`#/rollout/${r.id}${p?.silent.boxes ? '/silent' : ''}`}>Look at the ${p?.silent.boxes ? `${count(p.silent.boxes)} silent ` : ''}boxes<span class="unseen"> of ${channelOf(r)}</span></a></p></div>
		${mayAct() && html`<div class="row-act">${trouble === 'halted' && html`<${Mark} r=${r} />`}${!r.returnedAt && html`<button type="button" class="button small" onClick=${() => giveBack(r, p)}>Return<span class="unseen"> ${channelOf(r)}</span></button>${!r.completedAt && html`<button type="button" class="button small" onClick=${() => resume(r, p)}>Start again<span class="unseen"> ${channelOf(r)}</span></button>`}`}</div>`}
	</li>`;
}

/** A trouble that is not of a rollout alone. */
const About = ({ name, children }) => html`<li class="row about"><div class="row-name"><h3>${name}</h3></div><div class="row-state"><p class="bad-text"><span aria-hidden="true">■ </span>${children}</p></div></li>`;

/** A recall that was not confirmed in time. */
export const Recall = ({ x }) => html`<${About} name=${html`<${PlantLink} id=${x.factoryId} />`}>a recall is not confirmed: ${some(x.left, 'machine')} of ${count(x.of)} may still have the version, ${length(since(x.since))} after its orders were stopped. ${may('list-production-methods') && html`<a href=${`#/methods/${x.factoryId}`}>Look at the methods</a>`}<//>`;

/** A version that boxes run, and whose support ends or has ended. */
export const Ending = ({ x }) => html`<${About} name=${html`<${VersionLink} ...${x} /> of ${x.edgeType}`}>${Date.parse(x.supportedUntil) > Date.now() ? 'its support ends' : 'its support ended'} <${Moment} at=${x.supportedUntil} />, and ${boxes(x.boxes)} of <bdi>${x.organizationId}</bdi> ${x.boxes === 1 ? 'runs' : 'run'} it<//>`;

// newest is the age of the newest count; without any, Infinity.
const newest = (v) => v?.items.length ? Math.min(...v.items.filter((x) => x.progress).map((x) => x.ageSeconds)) : Infinity;

// troubled are the troubles that are not of a rollout alone.
const troubled = (v) => [
	newest(v) > late && newest(v) < Infinity && html`<${About} key="late" name="The guard">is late: it last counted boxes ${length(newest(v))} ago.<//>`,
	...(v.dark ?? []).map((d) => html`<${About} key=${d.factoryId} name=${html`<${PlantLink} id=${d.factoryId} />`}>is dark: ${count(d.silent)} of ${boxes(d.of)} that were looked up ${d.silent === 1 ? 'is' : 'are'} silent<//>`),
	...(v.recalls ?? []).map((x, i) => html`<${Recall} key=${`recall ${i}`} x=${x} />`),
	...(v.support ?? []).map((x, i) => html`<${Ending} key=${`support ${i}`} x=${x} />`),
	v.restless && html`<${About} key="restless" name=${html`<a href=${boxesIn({ state: 'restless' })}>Restless boxes</a>`}>${boxes(v.restless)}: nobody can tell what they say, so the guard does not count them<//>`,
	v.frequent && html`<${About} key="frequent" name=${html`<a href=${boxesIn({ state: 'frequent' })}>Boxes that call too often</a>`}>${boxes(v.frequent)}: more than twice as often as told, which costs more<//>`,
].filter(Boolean);

function Channel({ c }) {
	const p = read(at`/api/ota/release-channels/${c.edgeType}/${c.channel}/progress`, 600).value;
	return html`<li class="row quiet">
		<div class="row-name"><h3><a href=${`#/log/release-channel/${encodeURIComponent(channelOf(c))}`}>${channelOf(c)}<span class="unseen">, its log</span></a></h3><p><strong><${VersionLink} edgeType=${c.edgeType} version=${c.currentVersion} /></strong></p></div>
		<div class="row-state"><p class="chips"><${Chip} kind="quiet">No rollout<//></p></div>
		<div class="row-count">${p && html`<p><a href=${boxesIn({ edgeType: c.edgeType, channel: c.channel })}>${boxes(p.boxes)}</a></p>${p.importedUnknown > 0 && html`<p>${count(p.importedUnknown)} from another server ${p.importedUnknown > 1 ? 'have' : 'has'} not said what ${p.importedUnknown > 1 ? 'they run' : 'it runs'}</p>`}${p.frequent > 0 && html`<p><a href=${boxesIn({ edgeType: c.edgeType, channel: c.channel, state: 'frequent' })}>${count(p.frequent)} call too often</a></p>`}`}</div>
	</li>`;
}

/** How many boxes wait to be accepted. It checks few enrolments, because each needs a call. */
export function Waiting() {
	if (!may('list-edge-enrolments') || !organization()) return null;
	const w = waiting(enrolments(), 3);
	return html`<div><dt>Boxes to accept in <bdi>${organization()}</bdi></dt><dd>${!w.read ? 'Reading…' : html`<a href="#/box">${count(w.boxes.length)}${w.partial ? ' or more' : ''}<span class="unseen"> boxes to accept</span></a>`}</dd></div>`;
}

function Facts({ o }) {
	const v = o.value;
	const troubles = v && Object.entries(v.troubles).reduce((n, [t, of]) => n + (quiet(t) ? 0 : of), troubled(v).length);
	return html`<dl class="facts panel now-facts">
		<div><dt>To look at</dt><dd>${!v ? 'Reading…' : troubles ? html`<${Chip} kind="bad">${count(troubles)}<//>` : 'Nothing'}</dd></div>
		<div><dt>Freeze</dt><dd>${!v ? 'Reading…' : v.freeze ? html`<${Chip} kind="hold">until ${moment(v.freeze.until)}<//>` : 'None'}</dd></div>
		<div><dt>Active rollouts</dt><dd>${!v ? 'Reading…' : html`<a href="#/rollout/in/status=active">${count(v.active)}${v.more ? ' or more' : ''}</a>`}</dd></div>
		${v?.active > 0 && html`<div><dt>Last count</dt><dd>${newest(v) < Infinity ? `${length(newest(v) + since(o.at))} ago` : 'None yet'}</dd></div>
			<div><dt>Boxes on their channels</dt><dd>${count(v.boxes)}</dd></div><div><dt>Silent on them</dt><dd>${count(v.silent)}</dd></div>`}
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
	const o = read(overview(), state.local.many ? 20 : 10, true); // boxes are counted once a minute
	state.local.many = o.value?.active > most;
	const channels = read(channelsPath(), 60);
	const all = o.value?.items ?? [];
	const active = all.filter((x) => x.rollout.status === 'active');
	const [, channel] = chosen();
	// A rollout that was halted a moment ago, on this page, is among the active ones until these are read again.
	const ended = all.filter((x) => x.rollout.status === 'halted').map((x) => ({ ...x, trouble: 'halted' }));
	const halted = state.local.page ? [] : [...ended, ...(o.value?.halted ?? []).filter((x) => !all.some((y) => channelOf(y.rollout) === channelOf(x.rollout)))];
	const shown = [...active, ...halted].map((x) => channelOf(x.rollout));
	const row = (x) => x.rollout.status === 'active' ? html`<${Row} key=${x.rollout.id} ...${x} at=${o.at} />` : html`<${Ended} key=${x.rollout.id} ...${x} />`;
	const first = [...active, ...halted.slice(0, mostHalted)].filter((x) => !quiet(x.trouble)).sort((a, b) => worst.indexOf(a.trouble) - worst.indexOf(b.trouble));
	const others = [...active, ...halted.slice(0, mostHalted)].filter((x) => quiet(x.trouble));
	const left = (o.value?.troubles.halted ?? 0) - first.filter((x) => x.trouble === 'halted').length;
	const more = o.value ? troubled(o.value) : [];
	return html`<h1>Now</h1>
		<${Facts} o=${o} />
		<${Choice} o=${o} channels=${channels} />
		${first.length + more.length > 0 && html`<section aria-labelledby="trouble"><h2 id="trouble">To look at</h2><ul class="rows">${first.map(row)}${more}</ul>
			${left > 0 && !state.local.page && html`<p><a href="#/rollout/in/status=halted">All halted rollouts, with ${count(left)} more to look at</a></p>`}</section>`}
		<section aria-labelledby="active"><h2 id="active">${first.length ? 'Other rollouts' : 'Rollouts'}</h2>
			<${Shown} of=${o} lines=${4} then=${() => others.length ? html`<ul class="rows">${others.map(row)}</ul>`
				: first.length ? html`<p class="note">No other rollout is active.</p>` : state.local.filter ? html`<p class="note">No active rollout of that name.</p>` : html`<${Empty} title="No rollout is active.">${may('start-rollout') && html`<p><a href="#/rollout/new">Publish a version and start one</a>, or use the command:</p>
					<${Command} text="wavegate publish gateway-x/canary 1.1.0 --file FILE" /><${Command} text="wavegate start gateway-x/stable 1.1.0" />`}<//>`} />
		</section>
		<section aria-labelledby="quiet"><h2 id="quiet">Other channels</h2>
			<${Quiet} of=${channels} shown=${shown} channel=${channel} />
		</section>`;
}
