// One version of a production method: what it says, what it changes, who signed, who has it, and its next moves.
import { html } from './html.mjs';
import { read } from './sources.mjs';
import { state, changed, may } from './state.mjs';
import { Ago, Moment, Said } from './format.mjs';
import { Chip, Empty, More, Shown, Table, further } from './parts.mjs';
import { Content, valueText } from './content.mjs';
import { Left, Product, Status, pathOf, viewOf } from './methods.mjs';
import { confirmed, moves, orderText } from './moves.mjs';
import { deviation, orders, said } from './said.mjs';

// place reads /steps/50/parameters/time/target as a person does.
const place = (path) => path.split('/').slice(1).map((p) => p.replaceAll('~1', '/').replaceAll('~0', '~')).join(' › ');

function Changes({ path, number }) {
	const last = Number(number);
	const since = state.local[`since ${path}`] ?? last - 1;
	const s = last > 1 && read(`${path}/changes?since=${since}`, 60);
	const choose = (e) => { state.local[`since ${path}`] = Number(e.target.value); changed(); };
	return html`<section class="panel" aria-labelledby="diff"><h2 id="diff">What it changes</h2>
		${!s ? html`<p>It is the first version.</p>` : html`<div class="choice"><label for="since">Since version</label><select id="since" onChange=${choose}>${Array.from({ length: Math.min(last - 1, 100) }, (_, i) => last - 1 - i).map((n) => html`<option value=${n} selected=${n === since}>${n}</option>`)}</select></div>
		<${Shown} of=${s} lines=${2} none=${() => html`<p>There is no version ${since}.</p>`} then=${(c) => c.changes.length ? html`<${Table} label="Changes" head=${['Where', 'Change', 'Before', 'After']} rows=${c.changes.map((x) => [
			html`<${Said}>${place(x.path)}<//>`, html`${x.op}${x.critical && html` <${Chip} kind="bad">critical<//>`}`,
			x.from !== undefined && html`<del><${Said}>${valueText(x.from)}<//></del>`, x.to !== undefined ? html`<ins><${Said}>${valueText(x.to)}<//></ins>` : x.op === 'moved' && (x.after ? html`after <${Said}>${x.after}<//>` : 'to the front')])} />` : html`<p>Nothing: the contents are the same.</p>`} />`}</section>`;
}

const meanings = { authorship: 'Submitted', approval: 'Approved', responsibility: 'Withdrawn' };

function Signatures({ v }) {
	return html`<section class="panel" aria-labelledby="signed"><h2 id="signed">Who signed</h2>
		<p>Written by <${Said}>${v.authors.map((a) => a.userId).join(', ')}<//></p>
		${(v.signatures ?? []).map((s) => html`<div><p><strong>${meanings[s.meaning] ?? s.meaning}</strong>${s.further ? ' too' : ''} by <${Said}>${s.name ?? s.userId}<//>, <${Moment} at=${s.at} /></p><p class="said">“<${Said}>${s.reason}<//>”</p></div>`)}
		${v.firstArticle && html`<p>First article inspected: <${Said}>${v.firstArticle.reference}<//></p>`}
		<${More} id=${`hash ${v.contentSha256}`} label="Hash of the content"><p class="mono">${v.contentSha256}</p><//></section>`;
}

const doing = { loaded: ['wait', 'Has it'], running: ['act', 'Runs it'], finished: ['good', 'Finished with it'], refused: ['hold', 'Refuses it'],
	confirmed: ['good', 'Confirmed by a person'], waits: ['wait', 'Waits for a signature'] };

// Word is what was said last about a machine, by it or by a person.
function Word({ m, withdrawn }) {
	const { state } = said(m);
	let [kind, text] = doing[state] ?? ['quiet', state ?? 'Nothing'];
	if (withdrawn && !m.clear) kind = state ? 'bad' : 'hold'; // it has a recalled version, or may have it
	return html`<${Chip} kind=${kind}>${text}<//>${orders(m) && html` <span class="note">order <${Said}>${orders(m)}<//></span>`}${m.detail && html` <span class="note"><${Said}>${m.detail}<//></span>`}${m.confirmed && html` <span class="note"><${Said}>${m.confirmed.name ?? m.confirmed.userId}<//>: “<${Said}>${m.confirmed.reason}<//>”</span>`}${m.deviates && html` <${Chip} kind="bad">Deviates<//> <span class="note"><${Said}>${deviation(m.deviates)}<//> since <${Ago} at=${m.deviates.since} /></span>`}${m.withoutBox && html` <span class="note">no box can say it</span>`}${withdrawn && m.told && html` <span class="note">told: orders ${orderText(m.told)}</span>`}`;
}

function Machines({ path, v, mine }) {
	const list = `${path}/machines?limit=100`;
	const s = read(list, 20, true);
	const withdrawn = v.status === 'withdrawn';
	return html`<section class="panel" aria-labelledby="machines"><h2 id="machines">${withdrawn ? 'What is left of the recall' : 'Machines that have it or may have it'}</h2>
		<${Shown} of=${s} lines=${2} then=${(first) => {
			const { button, ...page } = further(list, first, (m) => m.machine, () => true);
			return html`${withdrawn && html`<p>Orders under way ${orderText(v.orders)}.</p><${Left} page=${page} />`}
			${page.items.length ? html`<${Table} label="Machines" head=${['Machine', 'Last word', 'Since', 'Last heard from']} rows=${[...page.items].sort((a, b) => Number(a.clear) - Number(b.clear)).map((m) => [
				html`${m.machine} <span class="note"><${Said}>${m.name}<//></span>`,
				html`<${Word} m=${m} withdrawn=${withdrawn} />${mine && withdrawn && !m.clear && !m.waits && html` <button type="button" class="button small" onClick=${() => confirmed({ path, v }, m)}>Confirm…<span class="unseen"> ${m.machine}</span></button>`}`,
				said(m).since ? html`<${Ago} at=${said(m).since} />` : '–', m.lastHeardAt ? html`<${Ago} at=${m.lastHeardAt} />` : 'unknown'])} />${button}`
			: !withdrawn && html`<p>No machine has it or may have it.</p>`}`;
		}} /></section>`;
}

/** A version, by its number. */
export function Version({ factory, id, number }) {
	const path = pathOf(factory, id, number);
	const method = read(pathOf(factory, id), 30, true).value;
	const version = read(path, 15, true);
	const content = read(`${path}/content`, 300);
	const plant = read(pathOf(factory).replace(/\/production-methods$/, ''), 300).value;
	return html`${version.value ? null : html`<h1>Version ${number}</h1>`}<${Shown} of=${version} lines=${6} none=${() => html`<${Empty} title="There is no such version."><p><a href=${viewOf(factory, id)}>See the versions</a></p><//>`} then=${(v) => {
		const mine = may('update-method-version') && plant?.organizationId === state.person?.organization;
		const author = plant?.methodApproval !== 'single' && v.authors.some((a) => a.userId === state.person?.id);
		const possible = mine ? moves({ factory, method, v, path, author }) : [];
		return html`<header class="title"><div><h1><${Said}>${method?.name ?? 'Method'}<//>, version ${v.version}</h1>
				<p class="versions"><a href=${viewOf(factory)}>${factory}</a> · <a href=${viewOf(factory, id)}>all versions</a>${method && html` · <${Product} of=${method} />`}</p>
				<p class="chips"><${Status} of=${v.status} standing=${v.standing} /><span>changed <${Ago} at=${v.updatedAt} /></span></p></div>
			<div class="act">${possible.length > 0 && html`<div class="buttons">${possible.map((m) => html`<button type="button" class=${`button ${m.danger ? 'halt' : ''}`} onClick=${m.ask}>${m.name}…</button>`)}</div>`}
				${author && mine && v.status === 'in_review' && html`<p class="note">You saved or submitted it, so somebody else must approve it.</p>`}
				${!mine && plant && html`<p class="note">You can look. An engineer of ${plant.organizationId} can act.</p>`}</div></header>
			<div class="columns"><div class="column">
				<${Changes} path=${path} number=${number} />
				<${Machines} path=${path} v=${v} mine=${may('put-method-confirmation') && plant?.organizationId === state.person?.organization} /></div>
				<div class="column"><${Signatures} v=${v} /></div></div>
			<section class="panel" aria-labelledby="content"><h2 id="content">Content</h2>${v.doubts?.map((d) => html`<p class="note"><${Chip} kind="bad">Is it meant?<//> <${Said}>${d.pointer} ${d.detail}<//></p>`)}<${Shown} of=${content} lines=${4} then=${(c) => html`<${Content} of=${c} units=${v.units} />`} /></section>`;
	}} />`;
}
