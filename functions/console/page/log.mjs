// The audit trail: by type, person, time and text.
import { html, fields } from './html.mjs';
import { read } from './sources.mjs';
import { at, query } from './api.mjs';
import { state, changed, may } from './state.mjs';
import { Empty, Shown } from './parts.mjs';
import { Organization, organization } from './waiting.mjs';
import { Field } from './form.mjs';
import { Events, textOf } from './events.mjs';

// The types of resources in the platform's trail, and in a factory's.
const everything = ['', 'Everything'];
const platform = [everything, ['release-channel', 'Channels'], ['rollout', 'Rollouts'], ['rollout-warning', 'Warnings of rollouts'], ['edge', 'Boxes'], ['enrolment', 'Enrolments'], ['freeze', 'Freeze'], ['rate-limit', 'Limits'], ['factory', 'Factories']];
const plant = [everything, ['factory', 'Factory'], ['machine', 'Machines'], ['production-method', 'Methods'], ['production-method-version', 'Versions of methods'], ['method-on-machine', 'Methods on machines'], ['recall', 'Recalls not confirmed']];
const own = [everything, ['edge', 'Boxes'], ['enrolment', 'Enrolments'], ['rate-limit', 'Limits'], ['factory', 'Factories']];

const names = ['type', 'id', 'person', 'from', 'to', 'text'];

/** The address of the filtered log. */
const address = (f) => ['#/log', ...names.map((n) => encodeURIComponent(f[n] ?? ''))].join('/').replace(/\/+$/, '');

// Where chooses the trail: the platform's or, for people of an organization, what it owns, or a factory's.
function Where({ then }) {
	const trail = may('list-audit-events');
	if (trail && !may('list-factory-audit-events') || may('get-overview')) return then('/api/audit-events', may('get-overview') ? platform : own);
	const list = read('/api/factories' + query({ organizationId: organization(), limit: '100' }), 120);
	return html`<${Organization} /><${Shown} of=${list} lines=${1} then=${(page) => {
		if (!page.items.length) return trail ? then('/api/audit-events', own) : html`<${Empty} title=${`${organization()} has no factory.`} />`;
		const factory = state.local.logOf ?? (trail ? '' : page.items[0].factoryId);
		const choose = (e) => { state.local.logOf = e.target.value; changed(); };
		return html`<div class="choice"><label for="factory">${trail ? 'Log of' : 'Factory'}</label><select id="factory" onChange=${choose}>${trail && html`<option value="" selected=${!factory}>The organization and its boxes</option>`}${page.items.map((f) => html`<option value=${f.factoryId} selected=${f.factoryId === factory}>${f.name}</option>`)}</select></div>${factory ? then(at`/api/factories/${factory}/audit-events`, plant) : then('/api/audit-events', own)}`;
	}} />`;
}

/** The log, filtered by its address: #/log/rollout/ID, and then a person, two times and a text. */
export function Log({ parts }) {
	const f = Object.fromEntries(names.map((n, i) => [n, parts[i] ?? '']));
	const me = read('/api/rate-limits/me', 120).value;
	const guard = f.person.toLowerCase() === 'guard';
	const actor = f.person && me ? { actorIssuer: guard ? 'urn:wavegate:guard' : me.issuer, actorUserId: guard ? 'guard' : f.person } : {};
	// Boxes can be listed without an id, but not in a factory's trail.
	const resourceIn = (types) => f.type && (f.id || f.type === 'edge' && types !== plant) ? { resourceType: f.type, resourceId: f.id } : {};
	const time = (t) => t && !isNaN(new Date(t).getTime()) ? new Date(t).toISOString() : '';
	// The service filters by a resource, a person and the time. The other filters apply to the events that were read.
	const searchIn = (types) => [
		f.type && !resourceIn(types).resourceType && ((e) => e.resource.type === f.type),
		!f.type && f.id && ((e) => e.resource.id.toLowerCase().includes(f.id.toLowerCase())),
		f.text && ((e) => textOf(e).includes(f.text.toLowerCase())),
	].filter((x) => typeof x === 'function');
	const narrow = (event) => { event.preventDefault(); location.hash = address(fields(event.target)); };
	const narrowed = parts.some(Boolean);
	return html`<h1>Log</h1><${Where} then=${(path, types) => html`
		<form class="filter panel" onSubmit=${narrow} key=${parts.join('/')}>
			<${Field} label="Show" name="type" value=${f.type} options=${types} /><${Field} label="Name or id" name="id" value=${f.id}  />
			<${Field} label="Person" name="person" value=${f.person} placeholder="olga, or guard" /><${Field} label="From" name="from" value=${f.from} type="datetime-local" /><${Field} label="To" name="to" value=${f.to} type="datetime-local" />
			<${Field} label="Text" name="text" value=${f.text} placeholder="a word of the reason" />
			<button class="button">Show</button>${narrowed && html`<a class="button" href="#/log">Show everything</a>`}
		</form>
		${f.person && !me ? null : html`<${Events} path=${path + query({ ...resourceIn(types), ...actor, from: time(f.from), to: time(f.to), limit: '50' })} matches=${searchIn(types).length ? (e) => searchIn(types).every((holds) => holds(e)) : null} />`}`} />`;
}
