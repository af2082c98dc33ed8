// Calls of the service, with the token of the person who is signed in.
import { state, changed } from './state.mjs';
import { base, token, refresh, over } from './login.mjs';

/** The service refused a call. problem is its problem document. */
export class Refusal extends Error {
	constructor(status, problem, wait) {
		super((problem?.detail || problem?.title)?.replace('an overrideReason', 'the reason to override it') || `The service answered ${status}.`);
		this.status = status;
		this.code = problem?.code ?? '';
		this.problem = problem;
		this.wait = wait;
	}
}

/** No answer came, or not all of it. It is unknown whether the call arrived. */
export class Unreachable extends Error {
	constructor(late) { super(late ? 'The service did not answer in time.' : 'The service cannot be reached.'); }
}

/** How the connection is. */
export const health = {
	answered: 0, // when the last answer came
	roundTrip: 0, // how long it took, in ms
	reachable: true,
	left: /** @type {number | null} */ (null), // calls that the limits leave
	limit: /** @type {number | null} */ (null),
	waitUntil: 0, // no background call before
};

const patience = 10_000;

/**
 * Sends a call. Returns the answer's value and entity tag; 304 has no value. A 200 to a GET has one.
 * @param {string} method
 * @param {string} path
 * @param {{body?: object, ifMatch?: string, ifNoneMatch?: string, key?: string}} [options]
 */
export async function call(method, path, { body, ifMatch, ifNoneMatch, key } = {}) {
	let answer = await send(method, path, { body, ifMatch, ifNoneMatch, key });
	const stale = answer.value?.code === 'SIGN_IN_AGAIN'; // a signature needs a sign-in that is not long ago
	if (answer.status === 401 && !stale && await refresh()) answer = await send(method, path, { body, ifMatch, ifNoneMatch, key });
	const { value } = answer;
	const type = answer.headers.get('Content-Type') ?? '';
	// What something on the way said: a page, no value, no reason, or that what was never read is unchanged.
	const foreign = answer.status === 304 ? !ifNoneMatch : answer.ok ? value === undefined && (method === 'GET' || answer.text) : answer.status !== 401 && !(value && /problem\+json/.test(type));
	if (foreign) throw lost();
	if (answer.ok || answer.status === 304) return { status: answer.status, value, tag: answer.headers.get('ETag'), headers: answer.headers };
	const wait = Number(answer.headers.get('Retry-After')) || 0;
	if (answer.status === 401 && state.person) over(stale ? value.detail : 'Your session has ended. Sign in again.', stale);
	if (answer.status === 429) health.waitUntil = Math.max(health.waitUntil, Date.now() + (wait || 10) * 1000);
	throw new Refusal(answer.status, value, wait);
}

async function send(method, path, { body, ifMatch, ifNoneMatch, key }) {
	const headers = { Authorization: `Bearer ${await token()}` };
	if (body) headers['Content-Type'] = 'application/json';
	if (ifMatch) headers['If-Match'] = ifMatch;
	if (ifNoneMatch) headers['If-None-Match'] = ifNoneMatch;
	if (key) headers['Idempotency-Key'] = key;
	const began = Date.now();
	try {
		const answer = await fetch(base + path, {
			method, headers, body: body && JSON.stringify(body), credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(patience),
		});
		const text = await answer.text();
		const value = text && /json/.test(answer.headers.get('Content-Type') ?? '') ? JSON.parse(text) : undefined; // some changes have no body
		Object.assign(health, { answered: Date.now(), roundTrip: Date.now() - began, reachable: answer.status < 500 });
		note(answer.headers);
		return { status: answer.status, ok: answer.ok, headers: answer.headers, text, value };
	} catch (e) {
		throw lost(e.name === 'TimeoutError');
	} finally {
		changed();
	}
}

// lost is what is thrown if no whole answer of the service came: a body that was cut or came from something on the way says nothing.
function lost(late = false) {
	health.reachable = false;
	return new Unreachable(late);
}

// note records what is left of the limits, such as "user";r=412;t=9, "org";r=5871;t=2. The smallest number counts.
function note(headers) {
	const numbers = (name, of) => [...(headers.get(name) ?? '').matchAll(new RegExp(`"(?:user|org)"[^,]*;${of}=(\\d+)`, 'g'))].map((m) => Number(m[1]));
	const left = numbers('RateLimit', 'r');
	if (left.length) health.left = Math.min(...left);
	const limits = numbers('RateLimit-Policy', 'q');
	if (limits.length) health.limit = limits[0];
}

/** A path of the service, with each part escaped. */
export function at(strings, ...parts) {
	return strings.reduce((path, s, i) => path + encodeURIComponent(parts[i - 1]) + s);
}

/** A query string of the values that are not empty. */
export function query(values) {
	const q = new URLSearchParams(Object.entries(values).filter(([, v]) => v));
	return q.size ? `?${q}` : '';
}
