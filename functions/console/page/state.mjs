// What the page shows depends on this object and on what sources.mjs read. Code that changes either calls changed,
// and the whole page is drawn again before the next frame.

export const state = {
	/** @type {string[]} the view and what it is about, such as ['box', 'box-0042'] */
	route: ['now'],
	/** @type {null | {id: string, user: string, organization: string, roles: string[] | null}} who is signed in */
	person: null,
	/** Why nobody is signed in, as text for the person; empty if nothing went wrong. */
	ended: '',
	/** True until the page knows whether somebody signs in. */
	starting: true,
	/** @type {null | object} the question that is open; see dialog.mjs */
	dialog: null,
	/** @type {null | {text: string, bad: boolean, at: number}} the outcome of the last action */
	notice: null,
	/** True while single-key commands are on. */
	keys: true,
	/** @type {Record<string, any>} what views remember, such as an open filter */
	local: {},
};

let draw = () => {};
let asked = false;

/** Sets the function that draws the page. */
export function drawBy(f) { draw = f; }

/** Draws the page again. */
export function changed() {
	if (asked) return;
	asked = true;
	queueMicrotask(() => { asked = false; draw(); });
}

/** Shows the outcome of an action. */
export function tell(text, bad = false) {
	state.notice = { text, bad, at: Date.now() };
	changed();
}

// The service writes into the page who may call what.
const rights = new Map((document.documentElement.dataset.may ?? '').split(';').map((group) => group.split('='))
	.flatMap(([roles, ids = '']) => ids.split(' ').map((id) => [id, roles.split(' ')])));

/**
 * Reports whether the signed-in person may call an operation, by the service's rules. If the token does not show its
 * roles, only the service knows.
 */
export function may(operation) {
	const { roles, organization } = state.person ?? { roles: [], organization: '' };
	if (!roles) return !state.local.forbidden || /^(?:get|list)-/.test(operation);
	const narrow = roles.length > 0 && roles.every((r) => ['platform_viewer', 'fleet_viewer', 'fleet_installer'].includes(r));
	const all = !organization && roles.includes('fleet_viewer'); // the same as a platform_viewer
	return rights.get(operation)?.some((r) => r === '(anyone)' ? !roles.includes('enrolment')
		: r === '(member)' ? Boolean(organization) && !narrow && !roles.includes('edge') : roles.includes(r) || r === 'platform_viewer' && all) ?? false;
}

/** Reports whether the signed-in person may halt and change rollouts. */
export const mayAct = () => !state.local.forbidden && may('update-rollout');
