// The policy of a rollout: what it means in sentences, and a form for it that shows the service's faults.
import { html, fields } from './html.mjs';
import { moved, read } from './sources.mjs';
import { at, call } from './api.mjs';
import { state, changed, mayAct, tell } from './state.mjs';
import { length, seconds } from './format.mjs';
import { Empty, Shown, channelOf, windowText } from './parts.mjs';
import { Field, Others, faultsOf } from './form.mjs';

const stages = [1, 10, 50, 100];

/** The default policy of a rollout. */
export const standard = () => JSON.parse(document.documentElement.dataset.policy ?? '{}');

const percent = (x) => Number((x * 100).toFixed(4));

/** What a policy means, in sentences. */
export function meaning(p) {
	const g = p.guard;
	const least = Math.max(seconds(g.decideWithin), seconds(g.silentAfter));
	const soaks = stages.map((s) => Math.max(seconds(p.promote.soak[s]), least));
	const acts = p.mode === 'act';
	const same = soaks.every((s) => s === soaks[0]);
	return [
		acts ? 'The guard halts a bad rollout automatically.' : 'The guard only says what it would do. People halt.',
		`${percent(g.acceptable)} % bad boxes are acceptable. With ${percent(g.intolerable)} %, the rollout must not go on.`,
		`A box has ${length(seconds(g.decideWithin))} to install the release, and is silent if it is not heard from for ${length(seconds(g.silentAfter))}. Boxes without the release are compared.`,
		`At least ${percent(g.taken)} % of a stage’s boxes must have run the release for a soak before the rollout goes on.`,
		same ? `It stays at each stage for at least ${length(soaks[0])}.` : `It stays at ${stages.map((s, i) => `${s} % for at least ${length(soaks[i])}`).join(', at ')}.`,
		acts && p.promote.auto ? `The guard promotes it automatically, and completes it after at least ${length(soaks.reduce((a, b) => a + b))}.` : 'People promote it.',
		...(g.smallFleet === 'peopleIfFew' ? ['In a fleet of fewer than 40 boxes, people promote.'] : []),
		g.smallFleet === 'people' ? 'A stage with too few boxes for the test is promoted by people.' : 'A stage with too few boxes for the test is clear if its bad and silent boxes are no more than chance explains.',
		p.promote.windows?.length ? `It is promoted only in these windows: ${p.promote.windows.map((w) => windowText({ days: [], ...w })).join('; ')}.` : 'It may be promoted at any time.',
		p.approvals.before?.length ? `A second person approves before ${p.approvals.before.map((s) => `${s} %`).join(', ')}.` : 'It needs no approval.',
	];
}

/** The sentences of a policy, as a list. */
export function Meaning({ policy }) { return html`<ul class="reasons">${meaning(policy).map((s) => html`<li>${s}</li>`)}</ul>`; }

// duration also accepts 30 min, 2 h and 1 day. The service checks everything else.
function duration(text) {
	const m = /^\s*(\d+)\s*(s|min|m|h|d|days?)\s*$/i.exec(text);
	if (!m) return text.trim();
	const unit = m[2].toLowerCase()[0];
	return unit === 'd' ? `P${m[1]}D` : `PT${m[1]}${unit.toUpperCase()}`;
}

const number = (text) => text === '' || isNaN(Number(text)) ? text : Number((Number(text) / 100).toFixed(6));

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

// policyOf reads the form. A value that is not a number is sent unchanged, and the service reports the fault.
function policyOf(form, was) {
	const f = fields(form);
	const windows = (was.promote.windows ?? []).map((_, i) => ({
		days: days.filter((d) => f[`promote/windows/${i}/days/${d}`]), from: f[`promote/windows/${i}/from`], to: f[`promote/windows/${i}/to`], timeZone: f[`promote/windows/${i}/timeZone`],
	}));
	return {
		mode: f.mode,
		guard: {
			acceptable: number(f['guard/acceptable']), intolerable: number(f['guard/intolerable']), silentAfter: duration(f['guard/silentAfter']),
			decideWithin: duration(f['guard/decideWithin']), taken: number(f['guard/taken']), smallFleet: f['guard/smallFleet'],
		},
		promote: { auto: f['promote/auto'] === 'yes', soak: Object.fromEntries(stages.map((s) => [s, duration(f[`promote/soak/${s}`])])), ...(windows.length && { windows }) },
		approvals: { ...(stages.some((s) => f[`approvals/before/${s}`]) && { before: stages.filter((s) => f[`approvals/before/${s}`]) }) },
	};
}

// No rollout has this id. The service reads the whole body before it looks for the rollout, so it reports the faults of
// a policy, and changes nothing.
const nobody = '/api/ota/rollouts/00000000-0000-7000-8000-000000000000/policy';

// asPercent words what the service says about a share as the form asks for it.
const asPercent = (detail) => detail.replace(/a share from ([\d.]+) to ([\d.]+);.*/, (_, least, most) => `${percent(least)} to ${percent(most)} %`);

async function faultsIn(policy) {
	try {
		await call('PUT', nobody, { body: policy });
	} catch (e) {
		if (e.status === 400) return Object.fromEntries(Object.entries(faultsOf(e)).map(([place, detail]) => [place, asPercent(detail)]));
		if (e.status !== 404) throw e;
	}
	return {};
}

/** What is being edited, by a key. */
export const edited = (key, policy) => state.local[`policy ${key}`] ??= { policy, meant: policy, faults: {} };

let checks = 0;

// How long nothing moves after a change, in ms, so that a click on a button that leaves a field still hits the button.
const calm = 300;

// edit reads the form, and asks the service for its faults.
async function edit(form, e, windows = e.policy.promote.windows) {
	const now = policyOf(form, e.policy);
	e.policy = windows === e.policy.promote.windows ? now : { ...now, promote: { ...now.promote, windows: windows(now.promote.windows ?? []) } };
	const mine = ++checks;
	e.error = '';
	changed();
	await new Promise((over) => setTimeout(over, calm));
	if (mine !== checks) return;
	try {
		const faults = await faultsIn(e.policy);
		if (mine === checks) Object.assign(e, { faults, meant: Object.keys(faults).length ? e.meant : e.policy });
	} catch (error) {
		if (mine === checks) e.error = error.message;
	}
	changed();
}

function Window({ i, w, faults, remove }) {
	const name = `promote/windows/${i}`;
	return html`<fieldset class="window"><legend>Window ${i + 1}</legend>
		<div class="days">${days.map((d) => html`<label class="check"><input type="checkbox" name=${`${name}/days/${d}`} checked=${w.days.includes(d)} /> ${d[0].toUpperCase() + d.slice(1)}</label>`)}</div>
		<div class="filter"><${Field} label="From" name=${`${name}/from`} value=${w.from} faults=${faults} /><${Field} label="To" name=${`${name}/to`} value=${w.to} faults=${faults} />
			<${Field} label="Time zone" name=${`${name}/timeZone`} value=${w.timeZone} faults=${faults} />
			<button type="button" class="button" onClick=${remove}>Remove<span class="unseen"> window ${i + 1}</span></button></div>
		${faults[`${name}/days`] && html`<p class="wrong">${faults[`${name}/days`]}</p>`}</fieldset>`;
}

/** The form of a policy. The service checks each change immediately. */
export function Editor({ e }) {
	const { policy: p, faults } = e;
	const form = (event) => event.target.closest('form');
	const field = (label, name, value, more = {}) => html`<${Field} label=${label} name=${name} value=${value} faults=${faults} ...${more} />`;
	const time = (label, name, value) => field(label, name, value, { hint: seconds(value) ? `= ${length(seconds(value))}` : 'such as PT30M, P1D, or 30 min, 1 day' });
	const windows = p.promote.windows ?? [];
	const names = ['mode', 'guard', 'promote', 'approvals'];
	return html`<form class="policy" novalidate onChange=${(event) => edit(form(event), e)} onSubmit=${(event) => event.preventDefault()}>
		<div class="columns even"><div class="column">
			${field('Mode', 'mode', p.mode, { options: [['act', 'It halts, and promotes if it may'], ['advise', 'It only says what it would do']] })}
			<div class="filter">${field('Acceptable, % bad', 'guard/acceptable', percent(p.guard.acceptable), { inputmode: 'decimal' })}${field('Intolerable, % bad', 'guard/intolerable', percent(p.guard.intolerable), { inputmode: 'decimal' })}${field('Taken, % of a stage', 'guard/taken', percent(p.guard.taken), { inputmode: 'decimal' })}</div>
			<div class="filter">${time('Silent after', 'guard/silentAfter', p.guard.silentAfter)}${time('Decide within', 'guard/decideWithin', p.guard.decideWithin)}</div>
			${field('Small fleet', 'guard/smallFleet', p.guard.smallFleet, { options: [['peopleIfFew', 'People promote if there are fewer than 40'], ['allDecided', 'Clear if chance explains it'], ['people', 'People promote']] })}
		</div><div class="column">
			${field('Promotion', 'promote/auto', p.promote.auto ? 'yes' : 'no', { options: [['no', 'People promote'], ['yes', 'The guard promotes']] })}
			<fieldset><legend>Soak at least</legend><div class="four">${stages.map((s) => time(`At ${s} %`, `promote/soak/${s}`, p.promote.soak[s]))}</div></fieldset>
			<fieldset><legend>A second person approves before</legend><div class="days">${stages.slice(1).map((s) => html`<label class="check"><input type="checkbox" name=${`approvals/before/${s}`} checked=${p.approvals.before?.includes(s)} /> ${s} %</label>`)}</div></fieldset>
		</div></div>
		${windows.map((w, i) => html`<${Window} key=${`${i} of ${windows.length}`} i=${i} w=${w} faults=${faults} remove=${(event) => edit(form(event), e, (all) => all.filter((_, j) => j !== i))} />`)}
		<div class="buttons"><button type="button" class="button small" onClick=${(event) => edit(form(event), e, (all) => [...all, { days: days.slice(0, 5), from: '06:00', to: '22:00', timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }])}>Add a window</button></div>
		<${Others} faults=${Object.fromEntries(Object.entries(faults).filter(([place]) => !names.some((n) => place.startsWith(`${n}/`))))} names=${[]} />
		<p class="lead">What it means</p><div role="status">${Object.keys(faults).length ? html`<p class="bad-text"><span aria-hidden="true">■ </span>The service would refuse it. See the fields.</p>` : e.error ? html`<p class="bad-text">Not checked: ${e.error}</p>` : html`<${Meaning} policy=${e.meant} />`}</div>
	</form>`;
}

async function save(r, e) {
	if (e.busy) return;
	Object.assign(e, { busy: true, error: '' });
	changed();
	try {
		await call('PUT', at`/api/ota/rollouts/${r.id}/policy`, { body: e.policy, ifMatch: `"${e.revision}"` });
		moved('/api/ota/');
		delete state.local[`policy ${r.id}`];
		location.hash = `#/rollout/${r.id}`;
		tell(`The guard judges ${channelOf(r)} by the new policy.`);
	} catch (error) {
		Object.assign(e, { busy: false, faults: faultsOf(error), error: error.status === 412 ? 'The rollout has changed since you began. Check it and try again.' : error.message });
		changed();
	}
}

/** The policy of a rollout, to look at or to change. */
export function Policy({ id }) {
	const rollout = read(at`/api/ota/rollouts/${id}`, 15, true);
	return html`<h1>Policy</h1><${Shown} of=${rollout} lines=${5} none=${() => html`<${Empty} title="There is no such rollout." />`} then=${(r) => {
		const back = html`<p><a href=${`#/rollout/${r.id}`}>${channelOf(r)}, ${r.targetVersion}</a></p>`;
		if (!mayAct() || r.status === 'completed') return html`${back}<section class="panel">${r.terms ? html`<${Meaning} policy=${r.terms.policy} />` : html`<p>No guard: people halt and promote this rollout.</p>`}</section>`;
		const e = edited(r.id, r.terms?.policy ?? standard());
		e.revision ??= r.revision;
		return html`${back}${!r.terms && html`<p class="note">The rollout has no guard. This would give it one.</p>`}<section class="panel"><${Editor} e=${e} />
			${e.error && html`<p class="wrong" role="alert">${e.error}</p>`}
			<div class="buttons"><button type="button" class="button main" aria-disabled=${Boolean(e.busy)} onClick=${() => save(r, e)}>Save the policy</button></div></section>`;
	}} />`;
}
