// The production methods of the factories: which versions they have, and what holds where.
import { html } from './html.mjs';
import { read } from './sources.mjs';
import { at, query } from './api.mjs';
import { state, changed, may } from './state.mjs';
import { Ago, Moment, Said, count } from './format.mjs';
import { Chip, Empty, Shown, Table, further } from './parts.mjs';
import { Organization, organization } from './waiting.mjs';
import { Version } from './version.mjs';

const statuses = {
	draft: ['quiet', 'Draft'], in_review: ['hold', 'In review'], trial: ['act', 'On trial'], released: ['good', 'Released'], withdrawn: ['bad', 'Withdrawn'],
};

/** The status of a version in a word. */
export function Status({ of, standing }) {
	const [kind, word] = statuses[of] ?? ['quiet', of];
	return html`<${Chip} kind=${standing === 'superseded' ? 'quiet' : kind}>${word}${standing === 'scheduled' ? ', later' : standing === 'superseded' ? ', superseded' : ''}<//>`;
}

/** Where the methods of a factory are, and a version of one. */
export const pathOf = (factory, id = '', number = '') => at`/api/factories/${factory}/production-methods` + (id && at`/${id}`) + (number && at`/versions/${number}`);

/** The address of a view of a method. */
export const viewOf = (...parts) => '#/methods/' + parts.map(encodeURIComponent).join('/');

/** The machines that a decision covers. */
export const where = (machines) => machines?.length ? `on ${machines.join(', ')}` : 'on all machines';

/** What a method makes, by its name if somebody named it. */
export const Product = ({ of: m }) => m.product ? html`<${Said}>${[m.product.name, m.product.number, m.product.productRevision && `revision ${m.product.productRevision}`].filter(Boolean).join(', ')}<//>${m.product.status === 'retired' ? ' (retired)' : ''}` : html`Product ${m.productId}, not named`;

// holding lists the decisions of a method that have begun, the last first.
const holding = (m) => (m.effectivity ?? []).filter((d) => new Date(d.from).getTime() <= Date.now()).reverse();
const coming = (m) => (m.effectivity ?? []).filter((d) => new Date(d.from).getTime() > Date.now());

function Row({ factory, m }) {
	const held = holding(m);
	const last = m.withdrawn?.[0];
	return html`<li class="row">
		<div class="row-name"><h3><a href=${viewOf(factory, m.methodId)}><${Said}>${m.name}<//></a></h3><p><${Product} of=${m} /></p></div>
		<div class="row-state">${m.latest ? html`<p class="chips"><a href=${viewOf(factory, m.methodId, m.latest.version)}>Version ${m.latest.version}</a> <${Status} of=${m.latest.status} /></p>` : html`<p>No version yet</p>`}</div>
		<div>${held.length ? held.map((d) => html`<p>Version ${d.version} holds ${where(d.machines)}</p>`) : html`<p>Nothing holds</p>`}
			${last && html`<p>Version ${last.version} was withdrawn <${Ago} at=${last.at} /></p>`}</div></li>`;
}

function List({ factory }) {
	const status = state.local.status ?? '';
	const path = pathOf(factory) + query({ status, limit: '100' });
	const list = read(path, 30);
	const choose = (e) => { state.local.status = e.target.value; changed(); };
	return html`<section aria-labelledby="methods"><h2 id="methods">Methods of ${factory}</h2>
		<div class="choice"><label for="status">Latest version</label><select id="status" onChange=${choose}><option value="">Any status</option>${Object.entries(statuses).map(([v, [, name]]) => html`<option value=${v} selected=${v === status}>${name}</option>`)}</select></div>
		<${Shown} of=${list} lines=${4} none=${() => html`<p>There is no factory <${Said}>${factory}<//>.</p>`} then=${(page) => {
			const { items, button } = further(path, page, (m) => m.methodId, () => true);
			return items.length ? html`<ul class="rows">${items.map((m) => html`<${Row} key=${m.methodId} factory=${factory} m=${m} />`)}</ul>${button}`
				: html`<${Empty} title=${status ? 'No method has a latest version with this status.' : 'This factory has no method yet.'} />`;
		}} /></section>`;
}

const mostTabs = 8; // factories that are tabs; more are a choice

function Factories({ chosen }) {
	const one = chosen && read(at`/api/factories/${chosen}`, 300); // it may be another organization's
	if (one && one.value === undefined) return html`<${Shown} of=${one} lines=${3} />`;
	const owner = one?.value?.organizationId ?? organization();
	const list = read('/api/factories' + query({ organizationId: owner, limit: '100' }), 120);
	return html`<${Shown} of=${list} lines=${3} then=${(page) => {
		if (!page.items.length) return html`<${Empty} title=${`${owner} has no factory.`}><p>${may('put-factory') ? 'Choose another organization, or register a factory for it.' : 'A platform owner registers factories.'}</p><//>`;
		const factory = chosen || page.items[0].factoryId;
		const choose = (event) => { location.hash = viewOf(event.target.value); };
		return html`${page.items.length > mostTabs ? html`<div class="choice"><label for="plant">Factory</label><select id="plant" onChange=${choose}>${page.items.map((f) => html`<option value=${f.factoryId} selected=${f.factoryId === factory}>${f.name}</option>`)}</select></div>` : html`<nav aria-label="Factories"><ul class="tabs">${page.items.map((f) => html`<li><a href=${viewOf(f.factoryId)} aria-current=${f.factoryId === factory ? 'true' : null}><${Said}>${f.name}<//></a></li>`)}</ul></nav>`}
			<${List} key=${factory} factory=${factory} />`;
	}} />`;
}

const concerned = (page) => page.items.filter((x) => !x.waits);
const left = (page) => concerned(page).filter((x) => !x.clear);

// Recalls shows what is left of the last withdrawal, and of older ones that machines have not all confirmed.
function Recalls({ factory, m }) {
	return (m.withdrawn ?? []).map((w, i) => {
		const s = read(pathOf(factory, m.methodId, w.version) + '/machines?limit=100', i ? 120 : 20, true);
		if (i && !(s.value && (left(s.value).length || s.value.next))) return null;
		const id = `recall-${w.version}`;
		return html`<section key=${id} class="panel" aria-labelledby=${id}><h2 id=${id}>Recall of version ${w.version}</h2>
			<p>Withdrawn <${Ago} at=${w.at} />. Orders under way ${w.orders === 'finish' ? 'may finish' : 'stop'}.</p>
			<${Shown} of=${s} lines=${1} then=${(page) => html`<${Left} page=${page} />`} />
			<p><a href=${viewOf(factory, m.methodId, w.version)}>See the machines<span class="unseen"> of version ${w.version}</span></a></p></section>`;
	});
}

/** How many machines may still have a withdrawn version. */
export function Left({ page }) {
	const all = concerned(page).length, open = left(page);
	const more = page.next ? ' or more' : '';
	if (!all) return html`<p><${Chip} kind="good">Done<//> It reached no machine.</p>`;
	return html`<p>${open.length ? html`<${Chip} kind="bad">${count(open.length)}${more} of ${count(all)}${more}<//> may still have it` : html`<${Chip} kind="good">Done<//> ${all === 1 ? 'The one machine is' : `All ${count(all)} machines are`} confirmed not to have it${page.next ? ', of those listed' : ''}`}${open.length ? html`: <${Said}>${open.slice(0, 5).map((x) => x.machine).join(', ')}<//>${open.length > 5 ? ' …' : '.'}` : '.'}</p>`;
}

function Method({ factory, id }) {
	const method = read(pathOf(factory, id), 20, true);
	const list = pathOf(factory, id) + '/versions?limit=50';
	const versions = read(list, 30, true);
	return html`${method.value ? null : html`<h1>Method</h1>`}<${Shown} of=${method} lines=${4} none=${() => html`<${Empty} title="There is no such method."><p><a href=${viewOf(factory)}>See the methods of ${factory}</a></p><//>`} then=${(m) => html`
		<header class="title"><div><h1><${Said}>${m.name}<//></h1><p class="versions"><a href=${viewOf(factory)}>${factory}</a> · <${Product} of=${m} /></p></div></header>
		<div class="columns"><div class="column"><section class="panel" aria-labelledby="versions"><h2 id="versions">Versions</h2>
			<${Shown} of=${versions} lines=${3} then=${(first) => {
				const { items, button } = further(list, first, (v) => v.version, () => true);
				return items.length ? html`<${Table} label="Versions" head=${['Version', 'Status', 'By', 'Last change']} rows=${items.map((v) => [
				html`<a href=${viewOf(factory, id, v.version)}>Version ${v.version}</a>`, html`<${Status} of=${v.status} standing=${v.standing} />`, html`<${Said}>${v.authors.map((a) => a.userId).join(', ')}<//>`, html`<${Ago} at=${v.updatedAt} />`])} />${button}`
					: html`<p>No version yet. Save content as version 1: <code>PUT ${pathOf(factory, id, '1')}/content</code></p>`;
			}} /></section></div>
			<div class="column"><section class="panel" aria-labelledby="holds"><h2 id="holds">What holds</h2>
				${holding(m).length ? html`<ul class="plain">${holding(m).map((d) => html`<li><a href=${viewOf(factory, id, d.version)}>Version ${d.version}</a> ${where(d.machines)}, since <${Moment} at=${d.from} /></li>`)}</ul>` : html`<p>Nothing. Machines may not start this method.</p>`}
				${coming(m).map((d) => html`<p>Version ${d.version} follows ${where(d.machines)} at <${Moment} at=${d.from} />.</p>`)}</section>
				<${Recalls} factory=${factory} m=${m} /></div></div>`} />`;
}

/** The methods of a factory, one of them, or one of its versions. */
export function Methods({ factory = '', id = '', number = '' }) {
	if (number) return html`<${Version} key=${`${id} ${number}`} factory=${factory} id=${id} number=${number} />`;
	if (id) return html`<${Method} key=${id} factory=${factory} id=${id} />`;
	return html`<h1>Methods</h1><${Organization} />${organization() || factory ? html`<${Factories} key=${organization()} chosen=${factory} />` : html`<p class="note">Enter the organization whose methods you want to see.</p>`}`;
}
