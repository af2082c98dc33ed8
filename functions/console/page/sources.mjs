// What views read, kept fresh. A view calls read for what it shows. While it is on the page, that is read repeatedly,
// with the entity tag of the last answer. If the service cannot be reached, what was read stays.
import { state, changed } from './state.mjs';
import { call, health, Refusal } from './api.mjs';

/** The most calls that the page makes on its own in a minute. Calls for what a person does are not counted. */
export const most = 30;

const retry = 8_000; // after a failure
const quiet = 10_000; // the longest time without an answer
const hidden = 60_000; // while nobody looks
const quick = 2_000; // for half a minute after a move
const quickFor = 30_000;

/**
 * @typedef {object} Source
 * @property {string} path
 * @property {any} value what was read last; undefined: nothing yet; null: the service said that there is nothing at the path
 * @property {number} at when that was
 * @property {Error | null} error of the last try
 * @property {number} next when it is read again
 */

const sources = new Map();
let wanted = new Map();
let shown = new Map(); // what the drawing before wanted
let calls = [];
let movedAt = 0;
let knownAt = 0; // when the service last confirmed a change
let probe = 0; // no call before this, while the service cannot be reached

/** Begins a drawing: what is read during it is what the page shows. */
export function begin() {
	shown = wanted;
	wanted = new Map();
}

/**
 * Reads what is at a path, again every so many seconds. live sources are read more often after a move.
 * @returns {Source}
 */
export function read(path, every, live = false) {
	let s = sources.get(path);
	if (!s) {
		s = { path, value: undefined, at: 0, error: null, next: 0, tag: '', busy: false, asked: true };
		sources.set(path, s);
	}
	s.every = every * 1000;
	s.live = live;
	wanted.set(path, s);
	return s;
}

/** Reads sources again now: all, or those whose paths have a prefix. */
export function again(prefix = '') {
	probe = 0;
	for (const s of sources.values()) if (s.path.startsWith(prefix)) Object.assign(s, { next: 0, asked: true });
	turn();
}

/** After a move, live sources are read often for a while. */
export function moved(prefix) {
	movedAt = Date.now();
	again(prefix);
}

/** Applies a change that the service has just confirmed to what is shown, because that may not be read again for a while. */
export function known(id, change) {
	knownAt = Date.now();
	const has = (v, name) => name in Object(v) ? v[name] : undefined; // not everything that was read has an id
	const put = (v) => has(v, 'id') === id ? { ...v, ...change } : has(v, 'rollout')?.id === id ? { ...v, rollout: { ...v.rollout, ...change } } : v;
	for (const s of sources.values()) s.value = has(s.value, 'items') ? { ...s.value, items: s.value.items.map(put) } : put(s.value);
}

/** Forgets everything, for the next person. */
export function forget() { sources.clear(); wanted.clear(); shown.clear(); }

/** What could not be read, and in how many seconds it is read again; null if nothing failed. */
export function failing() {
	const bad = [...shown.values()].filter((s) => s.error);
	if (!bad.length) return null;
	const next = Math.max(Math.min(...bad.map((s) => s.next)), health.waitUntil);
	const read = bad.map((s) => s.at).filter(Boolean);
	return { error: bad[0].error, seconds: Math.max(0, Math.ceil((next - Date.now()) / 1000)), at: read.length ? Math.min(...read) : 0 };
}

// soonest is what is read next, if no answer has come for a while. The page must know whether the service answers.
function soonest(now) {
	if (now - health.answered < quiet) return null;
	return [...wanted.values()].reduce((a, b) => a && a.next <= b.next ? a : b, null);
}

/** Reads what is due. */
export function turn() {
	if (!state.person) return;
	const now = Date.now();
	calls = calls.filter((t) => now - t < 60_000);
	if (now < health.waitUntil || navigator.onLine === false || !health.reachable && now < probe) return;
	for (const s of wanted.values()) {
		if (s.busy || now < s.next && s !== soonest(now)) continue;
		if (!s.asked) {
			if (calls.length >= most || document.hidden && now - s.at < hidden) continue;
			calls.push(now);
		}
		s.asked = false;
		fetchOne(s);
		if (!health.reachable) { // one call finds out whether the service is back
			probe = now + retry;
			return;
		}
	}
}

async function fetchOne(s) {
	s.busy = true;
	const was = health.reachable;
	const began = Date.now();
	try {
		const answer = await call('GET', s.path, { ifNoneMatch: s.tag });
		if (began <= knownAt) { // it may be from before the change
			s.asked = true;
			s.next = 0;
		} else if (answer.status !== 304) {
			s.value = answer.value;
			s.tag = answer.tag ?? '';
		}
		s.at = Date.now();
		s.error = null;
	} catch (e) {
		if (e instanceof Refusal && (e.status === 404 || e.status === 400 && !s.path.includes('?'))) { // no such id, or none at all
			Object.assign(s, { value: null, tag: '', at: Date.now(), error: null });
		} else {
			s.error = e;
		}
	}
	const soon = s.live && Date.now() - movedAt < quickFor;
	if (!s.asked) s.next = Date.now() + (s.error ? retry : soon ? quick : s.every); // otherwise it was asked for meanwhile
	s.busy = false;
	if (health.reachable && !was) again();
	changed();
}

/** Starts reading. It also draws the page each second, to update ages and countdowns. */
export function run() {
	setInterval(() => { turn(); changed(); }, 1000);
	for (const event of ['online', 'offline', 'visibilitychange', 'focus']) {
		window.addEventListener(event, () => {
			if (event === 'offline') health.reachable = false;
			if (event === 'online') again();
			turn();
			changed();
		});
	}
}
