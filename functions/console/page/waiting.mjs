// The boxes that wait to be accepted, in the organization that the page is about.
import { html, fields } from './html.mjs';
import { read } from './sources.mjs';
import { at, query } from './api.mjs';
import { state, changed, may } from './state.mjs';

const most = 8; // enrolments that are checked

/** The organization that the page is about: the person's own, unless a platform owner names another. */
export const organization = () => state.local.organization ?? state.person?.organization ?? '';

/** Enrolments that are open, as a source. */
export const enrolments = () => read('/api/edge-enrolments' + query({ organizationId: organization(), limit: '50' }), 30, true);

const open = (e) => !e.endedAt && new Date(e.expiresAt).getTime() > Date.now();

/**
 * The waiting boxes, newest first. partial: not every open enrolment was checked. read: whether the others were.
 */
export function waiting(list, looked = most) {
	const all = (list.value?.items ?? []).filter(open);
	const details = all.slice(0, looked).map((e) => read(at`/api/edge-enrolments/${e.id}`, 60, true));
	const boxes = details.flatMap((d) => (d.value?.waiting ?? []).map((b) => ({ ...b, enrolment: d.value })));
	boxes.sort((a, b) => b.since.localeCompare(a.since));
	return { boxes, open: details, partial: all.length > looked || Boolean(list.value?.next) || details.some((d) => d.error), read: list.value !== undefined && details.every((d) => d.value !== undefined || d.error) };
}

/** Lets a platform owner choose the organization whose boxes or methods are shown. */
export function Organization() {
	if (!may('put-factory')) return null;
	const choose = (event) => {
		event.preventDefault();
		state.local.organization = fields(event.target).organization || undefined;
		changed();
	};
	return html`<form class="choice" onSubmit=${choose} key=${organization()}><label for="organization">Organization</label><input id="organization" name="organization" defaultValue=${organization()} autocomplete="off" autocapitalize="off" spellcheck=${false} /><button class="button small">Show</button></form>`;
}
