// The rules for rollouts: the freeze, pending approvals, policies and limits.
import { html, fields } from './html.mjs';
import { read, moved, again } from './sources.mjs';
import { at, call } from './api.mjs';
import { state, changed, mayAct } from './state.mjs';
import { ask, Reason } from './dialog.mjs';
import { Moment, Said, count, moment } from './format.mjs';
import { Chip, More, Shown, channelOf, nameOf } from './parts.mjs';
import { next, approve, steered } from './actions.mjs';
import { Meaning } from './policy.mjs';

const few = 10; // approvals and policies that are shown at first

const inHours = (h) => new Date(Date.now() + h * 3600_000).toISOString();

function freeze() {
	ask({
		title: 'Freeze all rollouts?', action: 'Freeze',
		body: () => html`<p>Nothing is published, started, promoted or resumed until then, by people or by the guard. Halts still work.</p>`,
		fields: () => html`<label class="field">For <select name="hours"><option value="12">12 hours</option><option value="24">1 day</option><option value="72">3 days</option><option value="168">1 week</option><option value="720">30 days</option></select></label>
			<${Reason} label="Reason, for everyone to read" focus=${true} />`,
		run: async ({ hours, reason }) => {
			if (!reason) throw new Error('Give the reason.');
			const until = inHours(Math.min(Number(hours), 719.9));
			await call('PUT', '/api/ota/freeze', { body: { reason, until } });
			moved('/api/ota/');
			return `Rollouts are frozen until ${moment(until)}.`;
		},
	});
}

function lift(f) {
	ask({
		title: 'Lift the freeze?', action: 'Lift the freeze', type: 'freeze', danger: true,
		body: () => html`<p>It was set until ${moment(f.until)}: <${Said}>${f.reason}<//></p><p>The guard promotes again if its policy lets it.</p>`,
		run: async () => {
			await call('DELETE', '/api/ota/freeze', { ifMatch: `"${f.revision}"` });
			moved('/api/ota/');
			return 'The freeze is lifted.';
		},
	});
}

function Freeze() {
	const f = read('/api/ota/freeze', 30);
	return html`<section class="panel" aria-labelledby="freeze"><h2 id="freeze">Freeze</h2>
		<${Shown} of=${f} lines=${1} none=${() => html`<p>Nothing is frozen.</p>${mayAct() && html`<button type="button" class="button" onClick=${freeze}>Freeze…</button>`}`}
			then=${(v) => html`<p><${Chip} kind="hold">Frozen until ${moment(v.until)}<//></p><p class="said">“<${Said}>${v.reason}<//>”</p>${mayAct() && html`<div class="buttons"><button type="button" class="button" onClick=${freeze}>Change…</button><button type="button" class="button" onClick=${() => lift(v)}>Lift…</button></div>`}`} /></section>`;
}

function Approvals({ list }) {
	const waiting = list.flatMap((r) => {
		const stage = next(r);
		const needs = stage && r.terms?.policy.approvals.before?.includes(stage);
		return needs ? [{ r, stage, given: r.terms.approvals?.find((a) => a.stage === stage) }] : [];
	});
	const row = ({ r, stage, given }) => html`<li class="row" key=${r.id}>
			<div class="row-name"><h3><a href=${`#/rollout/${r.id}`}>${channelOf(r)}</a></h3><p>${r.targetVersion} to ${stage} %</p></div>
			<div class="row-state">${given ? html`<p><${Chip} kind="good">Approved<//> by <${Said}>${nameOf(given.by)}<//></p>` : html`<p><${Chip} kind="wait">Waits for a second person<//></p>${steered(r) && html`<p class="note">You started, promoted or set it up, so somebody else must approve.</p>`}`}</div>
			${!given && mayAct() && !steered(r) && html`<div class="row-act"><button type="button" class="button" onClick=${() => approve(r, stage)}>Approve ${stage} %…</button></div>`}</li>`;
	return waiting.length ? html`<ul class="rows inner">${waiting.slice(0, few).map(row)}</ul>${waiting.length > few && html`<${More} id="approvals" label=${`${count(waiting.length - few)} more approvals`}><ul class="rows inner">${waiting.slice(few).map(row)}</ul><//>`}` : html`<p>No rollout waits for an approval.</p>`;
}

function Policies({ list }) {
	if (list.length > few) return html`<${Policies} list=${list.slice(0, few)} /><${More} id="policies" label=${`${count(list.length - few)} more policies`}>${list.slice(few).map((r) => html`<p><a href=${`#/rollout/${r.id}/policy`}>${channelOf(r)}</a></p>`)}<p><a href="#/rollout/in/status=active">All active rollouts</a></p><//>`;
	return list.length ? list.map((r) => html`<h3><a href=${`#/rollout/${r.id}/policy`}>${channelOf(r)}</a></h3>${r.terms ? html`<${More} id=${`policy of ${r.id}`} label=${r.terms.policy.mode === 'act' ? r.terms.policy.promote.auto ? 'The guard halts and promotes' : 'The guard halts, people promote' : 'The guard only advises'}><${Meaning} policy=${r.terms.policy} /><//>` : html`<p>No guard</p>`}`) : html`<p>No rollout is active.</p>`;
}

const holderPath = (kind, id) => at`/api/rate-limits/${kind}/${id}`;

function Limits() {
	const me = read('/api/rate-limits/me', 60);
	const asked = state.local.holder;
	const arranged = asked && read(holderPath(asked.kind, asked.id), 60);
	const look = (event) => {
		event.preventDefault();
		const f = fields(event.target);
		if (!f.id) return;
		state.local.holder = { kind: f.kind, id: f.id };
		changed();
	};
	return html`<section class="panel" aria-labelledby="limits"><h2 id="limits">Limits</h2>
		<${Shown} of=${me} lines=${2} then=${(m) => html`<table class="plain"><caption>Yours, in calls a minute</caption><thead><tr><th scope="col">Limit</th><th scope="col">Used</th><th scope="col">Of</th></tr></thead>
			<tbody>${m.limits.map((l) => html`<tr key=${l.policy}><th scope="row">${{ user: 'You', org: 'Your organization', 'copilot-user': 'Copilot, you', 'copilot-org': 'Copilot, organization' }[l.policy] ?? l.policy}</th><td>${count(l.used)}</td><td>${count(l.limit)}${l.arranged ? ', override' : ''}</td></tr>`)}</tbody></table>`} />
		${mayAct() && html`<form class="filter" onSubmit=${look}>
			<label class="field">Whose <select name="kind"><option value="users">User</option><option value="organizations">Organization</option></select></label>
			<label class="field">Name <input name="id" autocomplete="off" autocapitalize="off" /></label><button class="button">Look up</button></form>
		${asked && html`<h3><${Said}>${asked.id}<//></h3><${Shown} of=${arranged} lines=${1} none=${() => html`<p>The defaults apply.</p><button type="button" class="button" onClick=${() => arrange(asked)}>Set…</button>`}
			then=${(v) => html`<p><strong>${v.limit === undefined ? 'The default' : count(v.limit)}</strong> calls a minute${v.expiresAt ? html`, until <${Moment} at=${v.expiresAt} />` : ''}${v.reason ? html`: <${Said}>${v.reason}<//>` : ''}</p>
				<div class="buttons"><button type="button" class="button" onClick=${() => arrange(asked)}>Change…</button><button type="button" class="button" onClick=${() => takeBack(asked, v)}>Return to the default…</button></div>`} />`}`}
	</section>`;
}

function arrange({ kind, id }) {
	ask({
		title: `Set a limit for ${id}`, action: 'Set',
		body: () => html`<p>It applies from the next call on. 0 stops everything except halts.</p>`,
		fields: () => html`<label class="field">Calls a minute, 0 to 30,000 <input name="limit" type="number" min="0" max="30000" inputmode="numeric" autofocus=${true} /></label>
			<label class="field">For <select name="hours"><option value="24">1 day</option><option value="168">1 week</option><option value="720">30 days</option><option value="">No end</option></select></label><${Reason} />`,
		run: async ({ limit, hours, reason }) => {
			if (!/^\d+$/.test(limit)) throw new Error('Give the number of calls a minute.');
			await call('PUT', holderPath(kind, id), { body: { limit: Number(limit), ...(hours && { expiresAt: inHours(Number(hours)) }), ...(reason && { reason }) } });
			again('/api/rate-limits');
			return `${id} may make ${count(Number(limit))} calls a minute.`;
		},
	});
}

function takeBack({ kind, id }, v) {
	ask({
		title: `Return ${id} to the default?`, action: 'Return to the default', body: () => html`<p>The default applies from the next call on.</p>`,
		run: async () => {
			await call('DELETE', holderPath(kind, id), { ifMatch: `"${v.revision}"` });
			again('/api/rate-limits');
			return `The default applies to ${id}.`;
		},
	});
}

export function Rules() {
	const active = read('/api/ota/rollouts?status=active&limit=100', 20, true);
	const shown = (Part, title) => html`<section class="panel" aria-labelledby=${title}><h2 id=${title}>${title}</h2><${Shown} of=${active} lines=${2} then=${(page) => html`<${Part} list=${page.items} />${page.next && html`<p class="note">Of the ${count(page.items.length)} rollouts that started last.</p>`}`} /></section>`;
	return html`<h1>Rules</h1><div class="columns even">
		<div class="column"><${Freeze} />${shown(Approvals, 'Approvals')}</div>
		<div class="column"><${Limits} />${shown(Policies, 'Policies')}</div></div>`;
}
