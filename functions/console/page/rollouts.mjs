// All rollouts, those of a filter, and the boxes of one at a state.
import { html, fields } from './html.mjs';
import { read } from './sources.mjs';
import { at, query } from './api.mjs';
import { may } from './state.mjs';
import { count, some } from './format.mjs';
import { Empty, Shown, channelOf, further } from './parts.mjs';
import { Boxes, Standing, said } from './rollout.mjs';
import { total, bad } from './actions.mjs';

/** The rollouts of a filter, such as status=halted. */
export function Rollouts({ of = '' }) {
	const f = Object.fromEntries(new URLSearchParams(of));
	const path = '/api/ota/rollouts' + query({ ...f, limit: '20' });
	const find = (event) => {
		event.preventDefault();
		const { only, status } = fields(event.target);
		const [edgeType, channel] = only.split('/');
		location.hash = `#/rollout/in/${encodeURIComponent(query({ edgeType, channel, status }).slice(1))}`;
	};
	return html`<header class="title"><h1>Rollouts</h1>${may('start-rollout') && html`<div class="act"><a class="button" href="#/rollout/new">Publish or start…</a></div>`}</header>
		<form class="choice" onSubmit=${find} key=${of}><label class="field">Edge type, or edge type/channel <input name="only" defaultValue=${[f.edgeType, f.channel].filter(Boolean).join('/')} autocomplete="off" autocapitalize="off" spellcheck=${false} pattern="[A-Za-z0-9._\\-]*(/[A-Za-z0-9._\\-]*)?" /></label>
			<label class="field">Status <select name="status"><option value="">Any</option>${['active', 'halted', 'completed'].map((s) => html`<option value=${s} selected=${f.status === s}>${s[0].toUpperCase() + s.slice(1)}</option>`)}</select></label><button class="button">Find</button></form>
		<${Shown} of=${read(path, 10)} lines=${5} then=${(page) => {
		const { items, next, button } = further(path, page, (r) => r.id, (p) => p.items.length > 0);
		return items.length ? html`<p class="note" role="status">${some(items.length, 'rollout')} ${next ? 'so far' : 'in all'}, the newest first.</p><ul class="rows">${items.map((r) => html`<li class="row" key=${r.id}>
			<div class="row-name"><h2><a href=${`#/rollout/${r.id}`}>${channelOf(r)}</a></h2><p>${r.previousVersion} → <strong>${r.targetVersion}</strong></p></div><div class="row-state"><${Standing} r=${r} /></div></li>`)}</ul>${button}`
			: of ? html`<${Empty} title="There is no such rollout." />` : html`<${Empty} title="There has been no rollout yet."><p>${may('start-rollout') ? html`<a href="#/rollout/new">Publish a version and start one</a>` : 'A platform owner starts one.'}</p><//>`;
	}} />`;
}

/** The boxes of a rollout at a state; bad is failed and reverted. */
export function Found({ id, state }) {
	const p = read(at`/api/ota/rollouts/${id}/progress` + '?fresh=true', 30).value; // the list is of now, too
	const sum = p && { ...total(p), silent: p.silent.boxes };
	const link = (s) => html`<li><a href=${`#/rollout/${id}/${s}`} aria-current=${s === state ? 'page' : null}>${said[s]}${sum ? `: ${count(sum[s])}` : ''}</a></li>`;
	return html`<${Shown} of=${read(at`/api/ota/rollouts/${id}`, 15, true)} lines=${4} none=${() => html`<h1>Boxes</h1><${Empty} title="There is no such rollout." />`} then=${(r) => html`
		<h1>${state === 'bad' ? 'Bad boxes' : said[state]}</h1><p><a href=${`#/rollout/${id}`}>${channelOf(r)}, ${r.targetVersion}</a></p>
		<nav aria-label="States"><ul class="tabs">${Object.keys(said).map(link)}</ul></nav>
		${state === 'silent' && p && html`<p class="note">${p.silent.sampled < p.silent.of ? `${count(p.silent.silent)} of a sample of ${count(p.silent.sampled)} were silent at the last count. The list has those of the sample that are silent now.` : 'Those that are silent now, of all that were offered it or have it.'}</p>`}
		<section class="panel" aria-label="Boxes">${(state === 'bad' ? ['failed', 'reverted'] : [state]).map((s) => html`<${Boxes} key=${s} r=${r} state=${s} none=${state !== 'bad' || sum && !bad(sum) && s === 'failed' ? html`<p>There is none.</p>` : null} />`)}</section>`} />`;
}
