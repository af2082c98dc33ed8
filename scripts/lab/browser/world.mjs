// A service with fleets of boxes that are simulated call by call, so that the result is the same each time.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';

export const service = process.env.SERVICE;

const tokens = new Map();

/** The Authorization of a caller. */
export function bearer(user, role, organization = '') {
	const key = `${user} ${role} ${organization}`;
	if (!tokens.has(key)) {
		const made = promisify(execFile)('./scripts/token', ['--user', user, ...(role ? ['--role', role] : []), '--org', organization]);
		tokens.set(key, made.then(({ stdout }) => `Bearer ${stdout.trim()}`));
	}
	return tokens.get(key);
}

// send fails if the call is refused.
async function send(authorization, method, path, body) {
	const headers = { Authorization: await authorization, ...(body && { 'Content-Type': 'application/json' }) };
	const answer = await fetch(service + path, { method, headers, body: body && JSON.stringify(body) });
	const text = await answer.text();
	if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
	return { headers: answer.headers, value: text && JSON.parse(text) };
}

/** Calls the service as a platform owner. */
export const as = (user, method, path, body) => send(bearer(user, 'platform_owner', 'wavegate'), method, path, body);

/** Calls it as an engineer of the factories. */
export const engineer = (user, method, path, body) => send(bearer(user, 'production_engineer', 'acme'), method, path, body);

const sha256 = (text) => createHash('sha256').update(text).digest('hex');

/** Makes a code for boxes, makes boxes that are not listed use it, and returns the SHA-256 of each one's token. */
export async function enrol(listed, ...others) {
	const expiresAt = new Date(Date.now() + 14 * 24 * 3600_000).toISOString();
	const { code } = (await as('otto', 'POST', '/api/edge-enrolments', { edgeType: 'gateway-x', channel: 'stable', organizationId: 'acme', factoryId: 'munich-1', edgeIds: listed, expiresAt })).value;
	const redeem = (edgeId) => send(Promise.resolve(`Bearer wavegate-enrol:${code}`), 'POST', '/api/edge-enrolments/redemptions', { edgeId, tokenSha256: sha256(`token of ${edgeId}`) });
	for (const edgeId of [listed[0], ...others]) await redeem(edgeId);
	return others.map((edgeId) => sha256(`token of ${edgeId}`));
}

/** Makes a machine's box report its state with a version. */
export const says = (box, factory, machine, method, body) => send(bearer(box, 'edge'), 'PUT', `/api/factories/${factory}/machines/${machine}/methods/${method}/report`, body);

/** Makes a box report the version that it runs, and returns the one that it is told. */
export async function poll(box, installed) {
	for (let i = 0; i < 20; i++) {
		const a = await send(bearer(box, 'edge'), 'GET', `/api/edges/${box}/update/manifest?installed=${installed}`);
		if (a.headers.has('ETag')) return a.value.version; // otherwise the poll was not recorded in time, and the box polls again
	}
	throw new Error(`no poll of ${box} was recorded`);
}

/** Makes a box report about an attempt. */
export const report = (box, what) => send(bearer(box, 'edge'), 'PUT', `/api/edges/${box}/update/report`, { ...what, attempt: 1 });

/** Makes a box poll that should be told a version. */
export async function tell(box, installed, version) {
	const told = await poll(box, installed);
	if (told !== version) throw new Error(`${box} was told ${told}, not ${version}`);
}

/** Tells boxes the version, and makes them run it at their next poll. */
export const install = (boxes, was, target) => each(boxes, async (box) => {
	await tell(box, was, target);
	await poll(box, target);
});

/** Calls a function for boxes, eight at a time. */
export async function each(boxes, act) {
	const left = boxes.entries();
	await Promise.all(Array.from({ length: 8 }, async () => { for (const [i, box] of left) await act(box, i); }));
}

export const plants = ['munich-1', 'lyon-2', 'graz-1', 'brno-3', 'porto-1', 'gdansk-2'];

const batch = 30;

/** Puts n boxes on a channel, and makes each report that it runs the version. */
export async function register(edgeType, channel, version, prefix, n) {
	const boxes = Array.from({ length: n }, (_, i) => prefix + String(i + 1).padStart(4, '0'));
	const members = boxes.map((edgeId, i) => ({ edgeId, edgeType, channel, organizationId: 'acme', factoryId: plants[i % plants.length] }));
	for (let from = 0; from < n; from += batch) await as('registrar', 'POST', '/api/edges', { edges: members.slice(from, from + batch) });
	await each(boxes, (box) => poll(box, version));
	return boxes;
}

/** Publishes a version, with a digest that is made from its name. */
export const publish = (user, edgeType, channel, version) => as(user, 'PUT', `/api/ota/release-channels/${edgeType}/${channel}`, {
	currentVersion: version, artifactUrl: `https://artifacts.example.com/${edgeType}/${version}.tar.gz`,
	sha256: sha256(edgeType + version),
});

/** Starts a rollout on the channel stable, of a version that was published on canary, and returns its path. */
export async function start(user, edgeType, targetVersion, policy) {
	await publish(user, edgeType, 'canary', targetVersion);
	const a = await as(user, 'POST', '/api/ota/rollouts', { edgeType, channel: 'stable', targetVersion, policy });
	return '/api/ota/rollouts/' + a.headers.get('Location').split('/').at(-1);
}

export const move = (user, path, body) => as(user, 'PATCH', path, body);

/** The boxes that a stage adds, computed like in shared/fleet/cohort. */
export const reached = (edgeType, version, boxes, stage) => boxes.filter((box) => {
	const bucket = createHash('sha256').update(`${edgeType}/${version}/${box}`).digest().readBigUInt64BE();
	return [1, 10, 50, 100].find((s) => bucket * 100n >> 64n < s) === stage;
});

/** Waits until a rollout is counted and judged: now or, for a history of minutes, in the next minute, because the history keeps one count a minute. */
export async function counted(path, nextMinute) {
	if (nextMinute) await sleep(61_000 - Date.now() % 60_000);
	const since = Date.now();
	await until(`${path} is not counted`, async () => {
		const progress = await as('otto', 'GET', path + '/progress').catch(() => null); // it may not have been counted yet
		return Date.parse(progress?.value.asOf) > since;
	});
}

/** Tries until a condition holds. */
export async function until(otherwise, holds) {
	for (let i = 0; i < 60; i++) {
		if (await holds()) return;
		await sleep(500);
	}
	throw new Error(otherwise);
}

const sleep = (ms) => new Promise((over) => setTimeout(over, ms));
