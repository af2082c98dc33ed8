// One rollout: which boxes have what, the evidence so far, its history, and what to do.
import { html } from './html.mjs';
import { read } from './sources.mjs';
import { at } from './api.mjs';
import { mayAct } from './state.mjs';
import { count, Moment, Ago, Said, plain } from './format.mjs';
import { Chip, Empty, PlantLink, Shown, Loading, Age, Command, channelOf, further, nameOf, Later, More, Seen, Table, VersionLink } from './parts.mjs';
import { reasons } from './box.mjs';
import { Evidence } from './evidence.mjs';
import { Stages, History } from './charts.mjs';
import { Halted, HaltedAt, HaltedBy, counted } from './halted.mjs';
import { Pins } from './pins.mjs';
import { next, halt, promote, complete, resume, goOn, giveBack, approve, mark, total, bad, atStage, held, steered } from './actions.mjs';

/** How a rollout stands. */
export function Standing({ r }) {
	if (r.status === 'active') return html`<p class="chips"><${Chip} kind="wait">Active at ${r.staged_percent} %<//>${r.guard === 'none' && html` <${Chip} kind="quiet">No guard<//>`}${r.stoppedFor && html` <${Chip} kind="bad">Held<//>`}${r.fast && html` <${Chip} kind="quiet">Fast<//>`}<span>for ${atStage(r)}</span></p>${r.stoppedFor && html`<p class="bad-text">${held(r)}</p>`}<${Seen} r=${r} />`;
	if (r.status === 'halted') {
		return html`<p class="chips"><${HaltedAt} r=${r} /><span><${HaltedBy} r=${r} /></span></p><${Seen} r=${r} />`;
	}
	return html`<p class="chips"><${Chip} kind="good">Completed at ${r.staged_percent} %<//><span><${Moment} at=${r.completedAt ?? r.updatedAt} /></span></p>`;
}

function Actions({ r, p }) {
	if (!mayAct()) return html`<p class="note">You can look. A platform owner can act.</p>`;
	const name = channelOf(r);
	const stage = next(r);
	const needed = stage && r.terms?.policy.approvals.before?.includes(stage) && !r.terms.approvals?.some((a) => a.stage === stage);
	if (r.status === 'active') {
		return html`<div class="buttons">
				<button type="button" class="button halt" onClick=${() => halt(r)}>Halt</button>
				${stage ? html`<button type="button" class="button" onClick=${() => promote(r, p)}>Promote to ${stage} %…</button>` : html`<button type="button" class="button" onClick=${() => complete(r, p)}>Complete…</button>`}
				${(r.stoppedFor || r.youngStopped) && html`<button type="button" class="button" onClick=${() => goOn(r, p)}>Go on…</button>`}
				${r.stoppedFor && p?.guard?.organization && html`<button type="button" class="button" onClick=${() => goOn(r, p, p.guard.organization)}>Go on without ${p.guard.organization}…</button>`}
				${needed && !steered(r) && html`<button type="button" class="button" onClick=${() => approve(r, stage)}>Approve ${stage} %…</button>`}
				${r.stoppedFor && !r.seen && html`<button type="button" class="button" onClick=${() => mark(r)}>Seen…</button>`}
			</div>${needed && steered(r) && html`<p class="note">${stage} % needs the approval of somebody else than who started, promoted or set it up.</p>`}
			<${More} id="commands" label="As commands"><${Command} text=${`wavegate halt ${name}`} /><${Command} text=${stage ? `wavegate promote ${name}` : `wavegate complete ${name}`} /><${Command} text=${`wavegate watch ${name}`} /><//>`;
	}
	if (r.status !== 'halted' || r.endedBy === 'publication') return null;
	return html`<div class="buttons">${!r.completedAt && !r.returnedAt && html`<button type="button" class="button" onClick=${() => resume(r, p)}>Start again…</button>
		<button type="button" class="button" onClick=${() => giveBack(r, p)}>Return to ${r.previousVersion}…</button>`}
		${!r.seen && html`<button type="button" class="button" onClick=${() => mark(r)}>Seen…</button>`}</div>`;
}

// Silent names some of the silent boxes.
function Silent({ r, s }) {
	if (!s.of) return null; // the release is on no box that is looked up
	return html`<p>${s.boxes ? html`<a href=${`#/rollout/${r.id}/silent`}>Silent: ${s.sampled < s.of ? 'about ' : ''}${count(s.boxes)}</a> of ${count(s.of)}` : `None of ${count(s.of)} is silent`}${s.edgeIds?.length > 0 && html`, ${s.edgeIds.slice(0, 5).map((id, i) => html`${i > 0 && ', '}<a href=${`#/box/${encodeURIComponent(id)}`}>${id}</a>`)}${s.edgeIds.length > 5 || s.boxes > s.edgeIds.length ? ' …' : ''}`}</p>`;
}

function Reasons({ r, p }) {
	const sum = total(p);
	const rows = [...Object.entries(p.failures).map(([code, n]) => [reasons[code] ?? code, n]), ...(sum.reverted ? [['Fell back', sum.reverted]] : [])].sort((a, b) => b[1] - a[1]);
	if (!rows.length) return html`<p>No box failed or fell back.</p><${Silent} r=${r} s=${p.silent} />`;
	return html`<ul class="bars">${rows.map(([name, n]) => html`<li key=${name}><span>${name}</span><svg width="100%" height="10" aria-hidden="true"><rect class="bad" width=${`${n / rows[0][1] * 100}%`} height="10" rx="1" /></svg><strong>${count(n)}</strong></li>`)}</ul>
		<${Silent} r=${r} s=${p.silent} />`;
}

/** The states in which the boxes of a rollout are listed. */
export const said = { failed: 'Boxes that failed', reverted: 'Boxes that fell back', silent: 'Silent boxes', installed: 'Boxes that have it', offered: 'Boxes that were offered it', working: 'Boxes that install it', deferred: 'Boxes that put it off' };

/** The boxes of a rollout in a state. */
export function Boxes({ r, state, none = null }) {
	const path = at`/api/ota/rollouts/${r.id}/edges` + `?state=${state}&limit=20`;
	return html`<${Shown} of=${read(path, 30)} lines=${2} then=${(page) => {
		const { items, next, button } = further(path, page, (b) => b.edgeId, (p) => p.items.length > 0);
		return items.length ? html`<div class="wide" tabindex="0" role="region" aria-label=${said[state]}><table>
			<caption>${said[state]}: ${count(items.length)}${next ? ' so far' : ''}</caption>
			<thead><tr><th scope="col">Box</th><th scope="col">Factory</th><th scope="col">Reason</th><th scope="col">It said</th><th scope="col">${state === 'silent' ? 'Last seen' : 'Since'}</th></tr></thead>
			<tbody>${items.map((b) => html`<tr key=${b.edgeId}><th scope="row"><a href=${`#/box/${encodeURIComponent(b.edgeId)}`}>${b.edgeId}</a></th><td>${b.factoryId ? html`<${PlantLink} id=${b.factoryId} />` : '–'}</td><td>${reasons[b.code] ?? b.code ?? '–'}</td><td><${Said}>${b.detail ?? '–'}<//></td><td><${Ago} at=${b.lastSeenAt ?? b.since} /></td></tr>`)}</tbody></table></div>${button}` : none;
	}} />`;
}

function Plants({ r }) {
	const s = read(at`/api/ota/rollouts/${r.id}/progress` + '?by=factory', 60);
	const cells = (f) => [f.factoryId ? html`<${PlantLink} id=${f.factoryId} />` : 'No factory named', `${count(f.installed)} of ${count(f.expected)}`, html`<span class=${bad(f) ? 'bad-text' : ''}>${count(bad(f))}</span>`];
	return html`<section class="panel" aria-labelledby="plants"><h2 id="plants">By factory</h2>
		<${Shown} of=${s} lines=${2} none=${() => html`<p class="note">Not counted yet.</p>`} then=${({ factories = [], moreFactories = 0 }) => factories.length ? html`<${Table} label="Factories" head=${['Factory', 'Installed', 'Bad']} rows=${factories.slice(0, 10).map(cells)} />
			${factories.length > 10 && html`<${More} id=${`plants ${r.id}`} label=${`${count(factories.length - 10)} more`}><${Table} label="More factories" head=${['Factory', 'Installed', 'Bad']} rows=${factories.slice(10).map(cells)} />${moreFactories > 0 && html`<p class="note">And ${count(moreFactories)} with fewer bad boxes.</p>`}<//>`}` : html`<p class="note">No box yet.</p>`} /></section>`;
}

function People({ r }) {
	const approvals = r.terms?.approvals ?? [];
	return html`<dl class="facts">
		${r.without && html`<div><dt>Without</dt><dd>${r.without.join(', ')}</dd></div>`}
		${r.fast && html`<div><dt>Fast</dt><dd>${plain(r.fast)}</dd></div>`}
		${r.startedBy && html`<div><dt>Started</dt><dd><${Said}>${nameOf(r.startedBy)}<//>, <${Moment} at=${r.startedAt} /></dd></div>`}
		${r.promotedBy && html`<div><dt>Promoted last</dt><dd><${Said}>${nameOf(r.promotedBy)}<//></dd></div>`}
		${approvals.map((a) => html`<div><dt>Approved ${a.stage} %</dt><dd><${Said}>${nameOf(a.by)}<//>, <${Moment} at=${a.at} /></dd></div>`)}
		<div><dt>Policy</dt><dd><a href=${`#/rollout/${r.id}/policy`}>${r.terms ? 'What it says' : 'None'}</a></dd></div>
		<div><dt>Release</dt><dd class="mono break">${r.sha256.slice(0, 16)}…</dd></div>
	</dl>`;
}

/** The rollout of an id. */
export function Rollout({ id }) {
	const rollout = read(at`/api/ota/rollouts/${id}`, 10, true);
	const progress = read(at`/api/ota/rollouts/${id}/progress`, 20, true);
	const history = read(at`/api/ota/rollouts/${id}/progress/history` + '?limit=100', 60);
	const p = progress.value;
	return html`${rollout.value === undefined && html`<h1>Rollout</h1>`}<${Shown} of=${rollout} lines=${6} none=${() => html`<h1>Rollout</h1><${Empty} title="There is no such rollout."><p><a href="#/now">See what is going on now</a></p><//>`} then=${(r) => html`
		<header class="title"><div><h1>${channelOf(r)}</h1><p class="versions">${r.previousVersion} → <strong><${VersionLink} edgeType=${r.edgeType} version=${r.targetVersion} /></strong></p><${Standing} r=${r} /></div>
			<div class="act"><${Actions} r=${r} p=${p} /></div></header>
		<div class="columns">
			<div class="column">
				${p ? html`<${Stages} progress=${p} policy=${r.terms?.policy} returned=${r.returnedAt} />` : p === null ? html`<section class="panel"><h2>Stages</h2><p>The boxes have not been counted yet. They are counted once a minute.</p></section>` : html`<section class="panel"><h2>Stages</h2><${Loading} lines=${6} /></section>`}
				<section class="panel" aria-labelledby="course"><h2 id="course">Over time</h2><${Shown} of=${history} lines=${4} none=${() => html`<p class="note">Not counted yet.</p>`} then=${(h) => html`<${History} moments=${h.items} />`} /></section>
				${(p?.work || p?.guard?.health) && html`<${Later} name="Numbers" load=${() => import('./health.mjs')} looks=${p.guard?.health ?? []} readings=${p.work ?? []} health=${r.health} />`}
				<${Plants} r=${r} />
			</div>
			<div class="column">
				${r.status === 'halted' ? html`<${Halted} r=${r} p=${p} may=${mayAct()} />` : p?.guard?.reason === 'NOT_ACTIVE' ? null : p === undefined ? html`<section class="panel evidence" aria-labelledby="guard"><h2 id="guard">Guard</h2><${Loading} lines=${3} /></section>` : html`<${Evidence} guard=${p?.guard} policy=${r.terms?.policy} stages=${p?.stages} />`}
				<section class="panel" aria-labelledby="reasons"><h2 id="reasons">Bad boxes</h2>${p ? html`<${Reasons} r=${r} p=${p} />` : p === null ? html`<p class="note">Not counted yet.</p>` : html`<${Loading} lines=${2} />`}</section>
				${p?.waiting && r.status !== 'halted' && html`<${Later} name="Waits" load=${() => import('./plants.mjs')} w=${p.waiting} r=${r} />`}
				${p && html`<${Pins} r=${r} p=${p} of=${p.stages.reduce((n, s) => n + s.expected, 0)} />`}
				<section class="panel" aria-labelledby="people"><h2 id="people">Who</h2><${People} r=${r} /></section>
			</div>
		</div>
		${p && total(p).installed + bad(total(p)) + p.silent.boxes > 0 && html`<section class="panel" aria-labelledby="which"><h2 id="which">Which boxes</h2>
			${total(p).failed > 0 && html`<${Boxes} r=${r} state="failed" />`}${total(p).reverted > 0 && html`<${Boxes} r=${r} state="reverted" />`}${p.silent.boxes > 0 && html`<${Boxes} r=${r} state="silent" />`}
			${total(p).installed > 0 && !(r.returnedAt && counted(r, p) && !p.returning) && html`<${More} id="installed" label="Boxes that have it"><${Boxes} r=${r} state="installed" /><//>`}</section>`}
		<p><${Age} of=${p ? { at: p.asOf } : progress} prefix="Counted" /> <a href=${`#/log/rollout/${r.id}`}>Log of this rollout</a></p>`} />`;
}
