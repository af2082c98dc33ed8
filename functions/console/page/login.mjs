// Signing in by the authorization code flow with PKCE (RFC 7636). The tokens are only in this module's memory, so a
// page that is loaded again signs in again. While the person is away at the login, only the verifier is kept, for
// this tab, and it is removed when they are back.
import { state, changed } from './state.mjs';

/** The path before /api and /console. */
export const base = location.pathname.replace(/\/console\/?$/, '');

const kept = 'wavegate.login';
const was = 'wavegate.signed-in';
const hours = 12;

let config = null;
let session = null;
let refreshing = null;
let stale = false; // the next sign-in has to ask the person
let ended = 0; // how many sessions have ended

const text = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const random = () => text(crypto.getRandomValues(new Uint8Array(32)));

async function read() {
	if (config) return config;
	const answer = await fetch(`${base}/console/config.json`, { signal: AbortSignal.timeout(10_000) });
	if (!answer.ok) throw new Error('This service does not say how people sign in.');
	config = await answer.json();
	return config;
}

/** Sends the person to the login. A link can name the issuer and the person. */
export async function signIn(hint = '', issuer = '') {
	try {
		const c = await read();
		if (issuer && issuer !== c.issuer) return over('This link is for another service. Sign in here.');
		const mine = { verifier: random(), state: random(), hash: location.hash };
		sessionStorage.setItem(kept, JSON.stringify(mine));
		const sum = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(mine.verifier));
		const to = new URL(c.authorizationEndpoint);
		for (const [name, value] of Object.entries({
			response_type: 'code', client_id: c.clientId, scope: c.scope, redirect_uri: location.origin + base + '/console',
			state: mine.state, code_challenge: text(new Uint8Array(sum)), code_challenge_method: 'S256',
			...(hint && { login_hint: hint }), ...(stale && { prompt: 'login' }),
		})) to.searchParams.set(name, value);
		location.assign(to);
	} catch (e) {
		over(e.message || 'The login cannot be reached.');
	}
}

/**
 * Signs in a person who comes back from the login. A person who signed in before in this tab is sent there immediately,
 * and so is one whose link starts a login (OpenID Connect Core 1.0, section 4).
 */
export async function start() {
	const answer = new URLSearchParams(location.search);
	const mine = JSON.parse(sessionStorage.getItem(kept) ?? 'null');
	sessionStorage.removeItem(kept);
	if (!answer.has('state')) {
		const before = sessionStorage.getItem(was);
		if (before !== null || answer.has('iss')) return signIn(answer.get('login_hint') ?? before ?? '', answer.get('iss') ?? '');
		return over('');
	}
	history.replaceState(null, '', location.pathname + (mine?.hash ?? ''));
	try {
		const c = await read();
		if (mine?.state !== answer.get('state') || answer.get('iss') && answer.get('iss') !== c.issuer) {
			return over('That was not the answer to this sign-in. Sign in again.');
		}
		if (!answer.get('code')) return over(`The login refused: ${answer.get('error_description') ?? answer.get('error')}.`);
		await exchange({ grant_type: 'authorization_code', code: answer.get('code'), code_verifier: mine.verifier, redirect_uri: location.origin + base + '/console' }, Date.now());
		sessionStorage.setItem(was, state.person.user);
	} catch {
		return over('The sign-in could not be completed. Sign in again.');
	}
	state.starting = false;
	changed();
}

async function exchange(grant, began) {
	const c = await read();
	const before = ended;
	const answer = await fetch(c.tokenEndpoint, {
		method: 'POST', body: new URLSearchParams({ ...grant, client_id: c.clientId }), credentials: 'omit', signal: AbortSignal.timeout(10_000),
	});
	if (!answer.ok) throw Object.assign(new Error('refused'), { refused: answer.status < 500 });
	const t = await answer.json();
	if (ended !== before) throw Object.assign(new Error('over'), { refused: true }); // meanwhile
	session = { access: t.access_token, refresh: t.refresh_token ?? session?.refresh, expires: Date.now() + t.expires_in * 1000, began };
	const claims = read64(t.access_token);
	const roles = claims.roles ?? (claims.token_use ? [] : null); // a user pool omits the claim if a user has no roles
	state.person = {
		id: claims.sub ?? '', user: claims.name ?? claims.username ?? claims.sub ?? '', organization: claims.org ?? '',
		roles: typeof roles === 'string' ? roles.split(' ').filter(Boolean) : roles,
	};
}

// read64 reads the claims only for display. The service verifies them.
function read64(token) {
	try {
		const bytes = Uint8Array.from(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
		return JSON.parse(new TextDecoder().decode(bytes));
	} catch {
		return {};
	}
}

/** The access token. One that expires soon is refreshed first. */
export async function token() {
	if (session && session.expires - Date.now() < 5 * 60_000 && session.refresh) await refresh();
	return session?.access ?? '';
}

/** Gets another access token. It returns false if there is none: the session is over, or the login cannot be reached. */
export function refresh() {
	refreshing ??= (async () => {
		await null; // refreshing is set before even an immediate failure clears it
		try {
			if (!session?.refresh || Date.now() - session.began > hours * 3600_000) throw Object.assign(new Error('over'), { refused: true });
			await exchange({ grant_type: 'refresh_token', refresh_token: session.refresh }, session.began);
			return true;
		} catch (e) {
			if (e.refused && session && session.expires < Date.now()) over('Your session has ended. Sign in again.');
			return false;
		} finally {
			refreshing = null;
		}
	})();
	return refreshing;
}

/** When the token expires, in milliseconds of the clock; 0 if there is none. */
export const expires = () => session?.expires ?? 0;

/** Forgets the tokens. With again, the login has to ask the person, whatever it remembers. */
export function over(why, again = false) {
	stale = again;
	ended++;
	session = null;
	sessionStorage.removeItem(was);
	state.person = null;
	state.ended = why;
	state.starting = false;
	state.dialog = null;
	state.local = {};
	changed();
}
