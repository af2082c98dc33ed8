// Publishes a version on one channel, rolls it out on another one, and waits until the rollout has ended.
//
//   BASE=http://127.0.0.1:8080 TOKEN=... node scripts/samples/release.mts gateway-x canary stable 1.1.0 URL SHA256
//
// It needs only Node.js 22.18 or newer, and can be repeated at any point. It exits with 1 if the rollout was halted.
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

interface Rollout {
	status: string; // active, halted, completed, and perhaps others later
	staged_percent: number;
}

const { BASE, TOKEN, EVERY = '30' } = process.env;

// call makes a call, and makes it again if the service is busy.
async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
	for (;;) {
		const answer = await fetch(BASE + path, {
			method, body: JSON.stringify(body), signal: AbortSignal.timeout(35_000),
			headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers },
		});
		if (answer.ok) return answer;
		if (answer.status !== 429 && answer.status !== 503) throw new Error(await answer.text());
		await sleep(1000 * Number(answer.headers.get('Retry-After') ?? 1));
	}
}

const [edgeType, first, then, version, url, sha256] = process.argv.slice(2);
await call('PUT', `/api/ota/release-channels/${edgeType}/${first}`, { currentVersion: version, artifactUrl: url, sha256 });
// With the same key and body, the answer is the first one for 24 hours.
const started = await call('POST', '/api/ota/rollouts', { edgeType, channel: then, targetVersion: version },
	{ 'Idempotency-Key': `${edgeType}/${then} ${version}` });
const id = started.headers.get('Location')!.split('/').pop();
for (;;) {
	const rollout = await (await call('GET', `/api/ota/rollouts/${id}`)).json() as Rollout;
	console.log(`${version} is ${rollout.status} at ${rollout.staged_percent} %`);
	if (rollout.status !== 'active') process.exit(rollout.status === 'completed' ? 0 : 1);
	await sleep(1000 * Number(EVERY));
}
