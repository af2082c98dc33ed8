// Pages of other origins: two are allowed to call; they read, write and see the headers that they need. One is not:
// it sees only the refusals of API Gateway.
import { expect, test } from '@playwright/test';
import { bearer, service } from './world.mjs';

// The page makes calls that only API Gateway answers: an unknown path, an unknown method, no token. Then it reads a
// factory, renames it with the tag that it read, and tries that again with the old tag. An error is the browser's
// refusal.
async function call({ service, reader, owner }) {
	const seen = {};
	try {
		const path = service + '/api/factories/munich-1';
		seen.unknown = (await fetch(service + '/api/no-such')).status;
		const wrong = await fetch(path, { method: 'POST' });
		Object.assign(seen, { wrong: wrong.status, allow: wrong.headers.get('Allow') });
		seen.nobody = (await fetch(path)).status;
		const read = await fetch(path, { headers: { Authorization: reader } });
		Object.assign(seen, { read: read.status, tag: read.headers.get('ETag'), limit: read.headers.get('RateLimit') });
		const put = { method: 'PUT', headers: { Authorization: owner, 'Content-Type': 'application/json', 'If-Match': seen.tag } };
		const named = (name) => fetch(path, { ...put, body: JSON.stringify({ organizationId: 'acme', name }) });
		seen.changed = (await named('At ' + Math.random())).status;
		seen.stale = (await named('Not at ' + Math.random())).status;
	} catch (e) { seen.error = String(e); }
	return seen;
}

// What any page can see of API Gateway's own answers, if several origins are allowed to call.
const own = { unknown: 404, wrong: 405, nobody: 401, allow: 'GET, OPTIONS, PUT' };
const all = { ...own, read: 200, changed: 204, stale: 412, tag: expect.stringMatching(/./), limit: expect.stringMatching(/./) };

for (const [origin, want] of Object.entries({ ONE: all, TWO: all, STRANGER: { ...own, error: expect.stringMatching(/./) } })) {
	test(`calls from the origin ${origin}`, async ({ page }) => {
		await page.goto(process.env[origin]);
		const [reader, owner] = await Promise.all([bearer('anna', 'organization_admin', 'acme'), bearer('olga', 'platform_owner', 'acme')]);
		expect(await page.evaluate(call, { service, reader, owner })).toEqual(want);
	});
}

test('a page of another origin cannot show the operator\'s page inside itself', async ({ page }) => {
	await page.goto(process.env.STRANGER);
	await page.evaluate((src) => new Promise((onload) => document.body.append(Object.assign(document.createElement('iframe'), { src, onload }))), `${service}/console`);
	const inside = page.frames().slice(1).map((frame) => frame.url());
	expect(inside).toHaveLength(1);
	expect(inside[0]).not.toContain(service);
});
