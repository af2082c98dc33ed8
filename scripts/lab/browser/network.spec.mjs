// What the page says while its network cuts, stalls, shortens or replaces answers: nothing that the service has not said.
import { createServer } from 'node:http';
import { expect } from '@playwright/test';
import { says, show, signIn, test, views } from './page.mjs';
import { service } from './world.mjs';

// Each fault spoils an answer of the service.
const faults = {
	'cut in the middle': (to, { status, headers, body }) => { to.writeHead(status, { ...headers, 'Content-Length': body.length }); to.write(body.subarray(0, body.length / 2)); setTimeout(() => to.destroy(), 20); },
	'cut before its body': (to, { status, headers, body }) => { to.writeHead(status, { ...headers, 'Content-Length': body.length }); to.flushHeaders(); setTimeout(() => to.destroy(), 20); },
	'shortened on the way': (to, { status, headers, body }) => to.writeHead(status, headers).end(body.subarray(0, body.length / 2)),
	'without a body': (to, { status, headers }) => to.writeHead(status, headers).end(),
	'a page of a proxy': (to) => to.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Sign in to the network</p>'),
	'502 of a proxy': (to) => to.writeHead(502, { 'Content-Type': 'text/html' }).end('<p>Bad gateway</p>'),
	'404 of a proxy': (to) => to.writeHead(404, { 'Content-Type': 'text/html' }).end('<p>Not found</p>'),
};

// proxy spoils the answers to reads of the API, and returns what makes it stop.
async function proxy(page, spoil) {
	const server = createServer(async (from, to) => {
		const answer = await fetch(service + from.url, { headers: { authorization: from.headers.authorization } });
		const headers = Object.fromEntries(['content-type', 'etag'].flatMap((name) => answer.headers.has(name) ? [[name, answer.headers.get(name)]] : []));
		spoil(to, { status: answer.status, headers, body: Buffer.from(await answer.arrayBuffer()) });
	});
	await new Promise((listening) => { server.listen(0, '127.0.0.1', listening); });
	const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
	const spoiled = (route) => route.request().method() === 'GET' ? route.continue({ url: route.request().url().replace(service, `http://127.0.0.1:${port}`) }) : route.continue();
	await page.route('**/api/**', spoiled);
	return async () => {
		await page.unroute('**/api/**', spoiled);
		server.closeAllConnections();
		server.close();
	};
}

// The page says these only if it knows them.
const statements = ['There is no such', 'Sorry', 'Nothing is frozen', 'No reason was given', 'does not show why', 'has no factory', 'No rollout', 'No other channel',
	'No box failed', 'No box was offered', 'No box follows', 'Nobody', 'nobody', 'was never counted', 'were never counted', 'Nothing was changed', 'null', 'undefined', 'NaN', 'Nothing to look at', 'The defaults apply'];

const stated = async (page) => {
	const text = await page.locator('main').innerText();
	return statements.filter((s) => text.includes(s));
};

for (const [fault, spoil] of Object.entries(faults)) {
	test(`an answer ${fault} is no answer`, async ({ page, scene }) => {
		await signIn(page);
		const stop = await proxy(page, spoil);
		for (const [name, hash] of views(scene).filter(([view]) => view !== 'now')) {
			await page.evaluate((to) => { location.hash = to; }, hash);
			await expect(page.locator('main')).toBeVisible();
			for (let turn = 0; turn < 4; turn++) {
				await page.evaluate(() => window.dispatchEvent(new Event('online'))); // tries again
				await page.waitForTimeout(60);
			}
			expect(await stated(page), name).toEqual([]);
		}
		await expect(page.locator('body')).not.toContainText('Ready to halt');
		await stop();
		await page.evaluate(() => window.dispatchEvent(new Event('online')));
		const [, hash, text] = views(scene)[2];
		await show(page, hash, text);
		await says(page, 'Ready to halt');
	});
}

test('an answer that stalls is late, and what was read before stays', async ({ page, scene }) => {
	await signIn(page);
	const [, hash, text] = views(scene)[2];
	await show(page, hash, text);
	const before = await stated(page);
	const stop = await proxy(page, (to, { status, headers, body }) => to.writeHead(status, headers).write(body.subarray(0, body.length / 2)));
	await page.evaluate(() => window.dispatchEvent(new Event('online')));
	await says(page, 'did not answer in time');
	await says(page, text);
	expect(await stated(page)).toEqual(before);
	await stop();
});
