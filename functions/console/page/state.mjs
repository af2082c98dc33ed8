// What the page shows depends on this object and on what sources.mjs read. Whoever changes either calls
// changed, and the whole page is drawn again before the next frame.

export const state = {
	/** @type {string[]} the view and what it is about, such as ['box', 'box-0042'] */
	route: ['now'],
	/** @type {null | {user: string, organization: string, roles: string[] | null}} who is signed in */
	person: null,
	/** Why nobody is signed in, for the person; empty: nothing went wrong. */
	ended: '',
	/** True until it is known whether somebody signs in. */
	starting: true,
	/** @type {null | object} the question that is open; see dialog.mjs */
	dialog: null,
	/** @type {null | {text: string, bad: boolean}} the outcome of the last action */
	notice: null,
	/** True while single keys act. */
	keys: true,
	/** @type {Record<string, any>} what views remember, such as an open filter */
	local: {},
};

let draw = () => {};
let asked = false;

/** Says what draws the page. */
export function drawBy(f) { draw = f; }

/** Has the page drawn again. */
export function changed() {
	if (asked) return;
	asked = true;
	queueMicrotask(() => { asked = false; draw(); });
}

/** Tells the outcome of an action. */
export function tell(text, bad = false) {
	state.notice = { text, bad };
	changed();
}

/** Tells whether who is signed in may change anything. Roles that the token does not show are left to the service. */
export function mayAct() {
	return !state.local.forbidden && (!state.person?.roles || state.person.roles.includes('platform_owner'));
}
