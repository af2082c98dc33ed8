// The fleet of one organization: its boxes by channel, and what rollouts do with them.
import { html } from './html.mjs';
import { read } from './sources.mjs';
import { at, query } from './api.mjs';
import { may } from './state.mjs';
import { organization } from './waiting.mjs';
import { count, boxes, Moment, plain } from './format.mjs';
import { Age, Chip, Empty, More, Shown, boxesIn, channelOf } from './parts.mjs';
import { Verdict } from './evidence.mjs';
import { Ending, Recall, Waiting } from './now.mjs';
import { Plants } from './plants.mjs';
import { Boxes } from './rollout.mjs';
import { total, bad } from './actions.mjs';

function Standing({ r }) {
	const [kind, word] = { active: ['wait', 'At'], halted: ['bad', 'Halted at'], completed: ['good', 'Completed at'] }[r.status] ?? ['quiet', r.status];
	return html`<p class="chips"><${Chip} kind=${kind}>${word} ${r.staged_percent} %<//>${r.returnedAt && html` <${Chip} kind="bad">Returned<//>`}${r.action && r.status === 'active' && html` <${Verdict} guard=${{ verdict: r.action, reason: r.reason }} quiet=${true} />`}</p>
		<p>${plain(r.sentence)}</p>`;
}

function Counts({ r }) {
	const sum = total(r);
	return html`<svg class="bar" width="100%" height="12" aria-hidden="true"><rect class="empty-bar" width="100%" height="12" rx="2" /><rect class="installed" width=${`${sum.expected ? sum.installed / sum.expected * 100 : 0}%`} height="12" /></svg>
		<p>${count(sum.installed)} of ${count(sum.expected)} installed</p>
		<p class=${bad(sum) ? 'bad-text' : ''}>${bad(sum) ? html`<span aria-hidden="true">■ </span>${count(bad(sum))} bad` : 'None bad'}</p>`;
}

function List({ c }) {
	const s = read('/api/edges' + query({ organizationId: organization(), edgeType: c.edgeType, channel: c.channel, limit: '20' }), 60);
	return html`<${Shown} of=${s} lines=${2} then=${(page) => html`<ul class="plain">${page.items.map((b) => html`<li key=${b.edgeId}><a href=${`#/box/${encodeURIComponent(b.edgeId)}`}>${b.edgeId}</a> <span class="note">${b.factoryId ?? ''}</span></li>`)}</ul>${page.next && html`<p><a href=${boxesIn({ edgeType: c.edgeType, channel: c.channel })}>All of them</a></p>`}`} />`;
}

// running says what the boxes of a channel run, in the parts that there are.
function running(c) {
	if (!c.versions.length) return c.boxes ? [`${boxes(c.boxes)}, none has reported yet`] : [];
	const of = { edgeType: c.edgeType, channel: c.channel };
	return [...c.versions.map((v) => html`<a href=${boxesIn({ ...of, version: v.version })}>${count(v.boxes)} run <bdi>${v.version}</bdi></a>`),
		c.unknown && `${count(c.unknown)} never said`, c.pinned && html`<a href=${boxesIn({ ...of, pinned: 'true' })}>${count(c.pinned)} pinned</a>`].filter(Boolean);
}

function Channel({ c }) {
	const r = c.rollout;
	const sum = r?.stages && total(r);
	return html`<li class=${`row ${r?.status === 'active' ? '' : 'quiet'}`}>
		<div class="row-name"><h3>${channelOf(c)}</h3><p>${r?.status === 'active' ? html`${c.currentVersion} → <strong>${r.targetVersion}</strong>` : html`<strong>${c.currentVersion ?? 'Nothing published'}</strong>`}</p></div>
		<div class="row-state">${r ? html`<${Standing} r=${r} />` : html`<p class="chips"><${Chip} kind="quiet">No rollout<//></p>`}
			<p class="note">${running(c).map((part, i) => html`${i > 0 && ', '}${part}`)}</p></div>
		<div class="row-count">${r?.stages ? html`<${Counts} r=${r} />` : html`<p>${boxes(c.boxes)}</p>`}
			${r?.waiting && html`<p class="note"><a href=${boxesIn({ state: 'waiting', edgeType: c.edgeType, channel: c.channel })}>${boxes(r.waiting.window + r.waiting.pause + (r.waiting.optedOut ?? 0))} wait for your plants</a>${r.waiting.opensAt && html`, the next opens <${Moment} at=${r.waiting.opensAt} />`}</p>`}
			${sum?.failed > 0 && html`<${More} id=${`failed ${r.id}`} label="Boxes that failed"><${Boxes} r=${r} state="failed" /><//>`}
			${sum?.reverted > 0 && html`<${More} id=${`reverted ${r.id}`} label="Boxes that fell back"><${Boxes} r=${r} state="reverted" /><//>`}
			<${More} id=${`boxes ${channelOf(c)}`} label="Boxes"><${List} c=${c} /><//></div>
	</li>`;
}

// worse tells channels with a halted rollout or bad boxes from the others, which stand below them.
const worse = ({ rollout: r }) => Number(r?.status === 'halted') * 2 + Number(r?.status === 'active' && bad(total(r)) > 0);

/** What is going on now with the boxes of the person's organization. */
export function Now() {
	if (!organization()) return html`<h1>Now</h1><${Empty} title="Your account belongs to no organization." />`;
	const fleet = read(at`/api/organizations/${organization()}/fleet` + query({ fresh: 'true' }), 30, true);
	return html`<h1>Now</h1><${Shown} of=${fleet} lines=${6} then=${(f) => html`
		<dl class="facts panel now-facts"><div><dt>Boxes of <bdi>${f.organizationId}</bdi></dt><dd>${count(f.boxes)}</dd></div>
			<div><dt>Active rollouts</dt><dd>${count(f.channels.filter((c) => c.rollout?.status === 'active').length)}</dd></div><${Waiting} /></dl>
		${(f.recalls || f.support) && html`<section aria-labelledby="trouble"><h2 id="trouble">To look at</h2><ul class="rows">${(f.recalls ?? []).map((x, i) => html`<${Recall} key=${i} x=${x} />`)}${(f.support ?? []).map((x, i) => html`<${Ending} key=${`support ${i}`} x=${x} />`)}</ul></section>`}
		<section aria-labelledby="channels"><h2 id="channels">Your boxes</h2>
			${f.channels.length ? html`<ul class="rows">${[...f.channels].sort((a, b) => worse(b) - worse(a)).map((c) => html`<${Channel} key=${channelOf(c)} c=${c} />`)}</ul>` : html`<${Empty} title="Your organization has no box yet."><p>${may('register-edges') ? html`<a href="#/box">Register some</a>` : 'An admin of the organization registers them.'}</p><//>`}
			${f.moreChannels && html`<p class="note">And ${count(f.moreChannels)} channels with fewer boxes: <a href="#/box">all boxes</a></p>`}</section>
		${may('list-factories') && html`<${Plants} />`}
		<p><${Age} of=${{ at: f.asOf }} prefix="Counted" /></p>`} />`;
}
