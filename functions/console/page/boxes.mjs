// New boxes: those that wait to be accepted, the enrolments that register them, and a list to register.
import { html } from './html.mjs';
import { moved } from './sources.mjs';
import { at, call } from './api.mjs';
import { may } from './state.mjs';
import { ask } from './dialog.mjs';
import { Ago, Moment, count, boxes, some } from './format.mjs';
import { Chip, Empty, Loading, More, Shown, Table, channelOf } from './parts.mjs';
import { Organization, enrolments, organization, waiting } from './waiting.mjs';
import { Register } from './register.mjs';
import { Fleet } from './fleet.mjs';

const least = 8; // characters of a fingerprint that are typed

// groups makes a fingerprint readable.
const groups = (sha256) => (sha256.match(/.{1,8}/g) ?? []).join(' ');

function accept(b) {
	const { enrolment: e } = b;
	ask({
		title: `Accept ${b.edgeId}?`, action: 'Accept',
		body: () => html`<p>It becomes a box of <strong>${e.organizationId}</strong> on <span class="mono">${channelOf(e)}</span>${e.factoryId ? ` in ${e.factoryId}` : ''}, and gets its releases.</p>
			<p>The box, or its station, shows a fingerprint. It must be this one:</p><p class="mono">${groups(b.tokenSha256)}</p>`,
		fields: () => html`<label class="field">First characters of the fingerprint on the box, at least ${least} <input name="shown" autocomplete="off" autocapitalize="off" spellcheck=${false} autofocus=${true} /></label>
			<label class="check"><input type="checkbox" name="compared" /> Or: I have compared the whole fingerprint</label>`,
		run: async ({ shown, compared }) => {
			const typed = shown.toLowerCase().replace(/[\s:.-]/g, '');
			if (typed && !b.tokenSha256.startsWith(typed)) throw new Error('That is another fingerprint. This may not be your box, so do not accept it.');
			if (typed.length < least && !compared) throw new Error(`Type at least ${least} characters of the fingerprint, or compare all of it.`);
			await call('POST', at`/api/edge-enrolments/${e.id}/accept`, { body: { items: [{ edgeId: b.edgeId, tokenSha256: b.tokenSha256 }] } });
			moved('/api/edge-enrolments');
			return `${b.edgeId} is accepted. It learns of this at its next call, within a minute.`;
		},
	});
}

function end(e) {
	ask({
		title: `End the enrolment for ${channelOf(e)}?`, action: 'End it', danger: true,
		body: () => html`<p>Its code stops working, and waiting boxes are ignored. The ${boxes(e.redemptions.length)} that it registered ${e.redemptions.length === 1 ? 'stays' : 'stay'} as they are.</p>`,
		run: async () => {
			await call('DELETE', at`/api/edge-enrolments/${e.id}`);
			moved('/api/edge-enrolments');
			return `The enrolment for ${channelOf(e)} has ended.`;
		},
	});
}

function reset(e, edgeId) {
	ask({
		title: `Retire ${edgeId} and free its id?`, action: 'Reset', danger: true, type: edgeId,
		body: () => html`<p>The box that has this id now loses its token and gets no more releases. The next box that calls with the code and this id takes its place. Do this if the board was replaced.</p>`,
		run: async () => {
			const { value } = await call('DELETE', at`/api/edge-enrolments/${e.id}/redemptions/${edgeId}`);
			moved('/api/edge-enrolments');
			const left = value?.unknown ? ' The machines that it spoke for could not be read.' : value ? ` These machines hear of no recall until they have another box: ${value.machines.join(', ')}.` : '';
			return `${edgeId} is retired, and its id is free.${left}`;
		},
	});
}

function Waiting({ w }) {
	const twice = new Set(w.boxes.map((b) => b.edgeId).filter((id, i, all) => all.indexOf(id) !== i));
	return html`<section class="panel" aria-labelledby="waiting"><h2 id="waiting">Boxes to accept</h2>
		${!w.read ? html`<${Loading} lines=${2} />` : w.boxes.length ? html`<${Table} label="Boxes to accept" head=${['Box', 'Fingerprint', 'Channel', 'Since', html`<span class="unseen">Accept</span>`]}
			rows=${w.boxes.map((b) => [html`${b.edgeId}${twice.has(b.edgeId) && html` <${Chip} kind="bad">Claimed twice<//>`}`, html`<span class="mono">${groups(b.tokenSha256).slice(0, 17)}…</span>`, channelOf(b.enrolment), html`<${Ago} at=${b.since} />`,
				may('accept-edge-enrolment') && html`<button type="button" class="button small" onClick=${() => accept(b)}>Accept…<span class="unseen"> ${b.edgeId}</span></button>`])} />`
		: w.partial ? null : html`<p>No box waits to be accepted.</p><p class="note">A box does if it calls with a code of ${organization() || 'the organization'} that does not list its id.</p>`}
		${w.partial && html`<p class="note">Not every open enrolment could be checked: others may wait.</p>`}</section>`;
}

function Enrolment({ e }) {
	return html`<li class="row">
		<div class="row-name"><h3>${channelOf(e)}</h3><p>${e.factoryId ?? e.organizationId}</p></div>
		<div class="row-state"><p>Open until <${Moment} at=${e.expiresAt} /></p>${e.refusedAt && html`<p class="bad-text"><span aria-hidden="true">■ </span>${e.refusedFor} was refused <${Ago} at=${e.refusedAt} />: another box has this id</p>`}</div>
		<div><p>${count(e.redemptions.length)} of ${some(e.edgeIds.length, 'listed box', 'listed boxes')} registered${e.accepted ? `, ${some(e.accepted, 'other')} accepted` : ''}</p>
			${e.redemptions.length > 0 && html`<${More} id=${`enrolment ${e.id}`} label="Which"><ul class="plain">${e.redemptions.map((b) => html`<li key=${b.edgeId} class="line"><span>${may('get-edge') ? html`<a href=${`#/box/${encodeURIComponent(b.edgeId)}`}>${b.edgeId}</a>` : b.edgeId} <span class="note">${b.retiredAt ? 'retired ' : ''}<${Ago} at=${b.retiredAt ?? b.redeemedAt} /></span></span>
				${may('reset-edge-enrolment') && html`<button type="button" class="button small" onClick=${() => reset(e, b.edgeId)}>Reset…<span class="unseen"> ${b.edgeId}</span></button>`}</li>`)}</ul><//>`}</div>
		${may('delete-edge-enrolment') && html`<div class="row-act"><button type="button" class="button small" onClick=${() => end(e)}>End…<span class="unseen"> ${channelOf(e)}</span></button></div>`}</li>`;
}

function Enrolments() {
	const list = enrolments();
	const w = waiting(list);
	return html`<${Organization} /><${Shown} of=${list} lines=${3} none=${() => html`<${Empty} title="There is no such organization."><p>Or it is not yours.</p><//>`} then=${() => html`<${Waiting} w=${w} />
		<section aria-labelledby="enrolments"><h2 id="enrolments">Open enrolments</h2>
			${w.open.length ? html`<ul class="rows">${w.open.map((d) => d.value && html`<${Enrolment} key=${d.value.id} e=${d.value} />`)}</ul>` : html`<p class="note">No enrolment is open in ${organization()}. An enrolment is a code with which boxes of an image register themselves.</p>`}</section>`} />`;
}

/** The waiting boxes, the enrolments and the registration. */
export function Boxes({ of }) {
	const lists = may('list-edge-enrolments');
	return html`<h1>Boxes</h1>
		${may('list-edges') && html`<${Fleet} of=${of} />`}
		${lists && (organization() ? html`<${Enrolments} />` : html`<${Organization} /><p class="note">Enter the organization whose boxes to accept you want to see.</p>`)}
		${may('register-edges') && html`<${Register} />`}`;
}
