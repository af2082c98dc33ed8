// An operator's work on the page, with a small fleet in the middle of a failing rollout. The last tests change it.
import { readFile } from 'node:fs/promises';
import { expect } from '@playwright/test';
import { fact, logIn, looksWell, press, rollout, says, show, signIn, test } from './page.mjs';
import { as, poll, service } from './world.mjs';

const online = (page) => page.evaluate(() => window.dispatchEvent(new Event('online'))); // makes the page look immediately
const showRollout = (page, scene) => show(page, rollout(scene.failing), 'Which boxes');

test('the vendored modules are those of the packages in scripts/package.json', async () => {
	for (const [mine, theirs] of [['preact.mjs', 'preact/dist/preact.mjs'], ['preact.LICENSE', 'preact/LICENSE'], ['htm.mjs', 'htm/dist/htm.mjs']]) {
		expect(await readFile(`functions/console/page/vendor/${mine}`, 'utf8'), `copy ${theirs}`).toBe(await readFile(`scripts/node_modules/${theirs}`, 'utf8'));
	}
});

test('the sign-in keeps no token where another page could read it, and accepts no unrequested answer', async ({ page }) => {
	await page.goto(`${service}/console?code=forged&state=forged`);
	await says(page, 'That was not the answer to this sign-in.');
	await signIn(page);
	const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, history.state]));
	expect(kept).not.toMatch(/eyJ|code|verifier/);
});

test('a reloaded page leads to the sign-in and back to the view', async ({ page, scene }) => {
	await signIn(page);
	await showRollout(page, scene);
	await page.reload();
	await logIn(page, 'olga');
	await says(page, 'Which boxes');
	await page.evaluate(() => { location.hash = '#/now'; });
	await expect(page.locator('.row').first()).toBeVisible();
});

test('the numbers are those of the service', async ({ page, scene }) => {
	const { stages, staged_percent: reached, guard } = (await as('otto', 'GET', scene.failing + '/progress')).value;
	const sum = (name) => stages.filter((s) => s.percent <= reached).reduce((n, s) => n + s[name], 0);
	const bad = sum('failed') + sum('reverted');
	expect(bad).toBeGreaterThan(0);
	await signIn(page);
	const row = page.locator('.row', { hasText: 'gateway-x/stable' });
	await expect(row.locator('.row-count')).toHaveText(new RegExp(`^${sum('installed')} of ${sum('expected')} installed■ ${bad} badcounted \\d+\\s(s|min) ago(, \\d+ silent)?$`));
	await showRollout(page, scene);
	const { halting, stage } = guard;
	await expect(page.locator('.evidence div:has(> dt:text-is("Bad")) dd')).toHaveText(halting.bad ? `${halting.bad} of ${halting.boxes} offered${halting.percent ? ` at stage ${halting.percent} %${halting.percent === stage ? '' : ', the closest to a halt'}` : ''}` : 'None');
	await expect(page.locator('[aria-labelledby=which] tbody tr')).toHaveCount(bad);
});

test('a link that starts the sign-in leads to the login, but not for another service', async ({ page }) => {
	await page.goto(`${service}/console?iss=https%3A%2F%2Fpeople.wavegate.localhost&login_hint=olga`);
	await expect(page.getByLabel('Name')).toHaveValue('olga');
	await page.getByRole('button', { name: 'Sign in' }).click();
	await expect(page.locator('.row').first()).toBeVisible();
	await page.goto(`${service}/console?iss=https%3A%2F%2Felsewhere.example&login_hint=olga`);
	await says(page, 'This link is for another service.');
});

test('rollouts with trouble come first, and only they have a prominent halt', async ({ page }) => {
	await signIn(page);
	await says(page, 'Other channels');
	const sorted = (await as('otto', 'GET', '/api/ota/overview')).value.items;
	await expect(page.locator('.row:not(.quiet):not(.ended):not(.about) h3')).toHaveText(sorted.map((x) => `${x.rollout.edgeType}/${x.rollout.channel}`));
	for (const { trouble, rollout: r } of sorted) {
		const prominent = ['halting', 'bad', 'failing', 'held', 'needs', 'near', 'stale'].includes(trouble);
		const halt = page.getByRole('button', { name: `Halt ${r.edgeType}/${r.channel}` });
		await (prominent ? expect(halt).toHaveClass(/halt/) : expect(halt).not.toHaveClass(/halt/));
	}
});

test('200 rollouts are read with one call, turned page by page, narrowed by name, and old counts say so', async ({ page }) => {
	const one = (await as('otto', 'GET', '/api/ota/overview')).value;
	const asked = [];
	await page.route('**/api/ota/overview?*', (route) => {
		const q = new URL(route.request().url()).searchParams;
		asked.push(q.toString());
		const [limit, skip] = [Number(q.get('limit')), Number(q.get('skip'))];
		const all = Array.from({ length: 200 }, (_, i) => {
			const [x] = one.items;
			const old = i === 0;
			return { ...x, trouble: old ? 'stale' : 'none', ageSeconds: old ? 900 : 20, rollout: { ...x.rollout, id: x.rollout.id.slice(0, -3) + String(i).padStart(3, '0'), edgeType: `line-${i}` } };
		}).filter((x) => !q.get('edgeType') || x.rollout.edgeType === q.get('edgeType'));
		route.fulfill({ json: { ...one, active: all.length, troubles: { stale: 1, none: all.length - 1 }, dark: [], items: all.slice(skip, skip + limit), limit, skip } });
	});
	await signIn(page);
	const rows = page.locator('.row:not(.quiet):not(.ended):not(.about)');
	await expect(rows).toHaveCount(20);
	await expect(rows.first()).toContainText('Not counted for 15 min');
	await expect(rows.first().getByRole('button')).toHaveClass(/halt/);
	await expect(rows.nth(1).getByRole('button')).not.toHaveClass(/halt/);
	await expect(fact(page, 'Active rollouts')).toHaveText('200');
	await expect(fact(page, 'To look at')).toHaveText('■1');
	await says(page, '1 to 20 of 200');
	await press(page, 'Next rollouts');
	await expect(rows.first()).toContainText('line-20/');
	await page.getByLabel('Only').fill('line-123');
	await page.waitForTimeout(1500); // the page is redrawn every second, and typed text stays
	await press(page, 'Show');
	await expect(rows).toHaveCount(1);
	await expect(rows).toContainText('line-123/');
	expect(new Set(asked).size).toBe(3);
	await looksWell(page, 'line-123/');
});

test('130 channels without a rollout are turned page by page, and narrowed by name', async ({ page }) => {
	await page.route('**/api/ota/release-channels?*', (route) => {
		const q = new URL(route.request().url()).searchParams;
		const [limit, offset] = [Number(q.get('limit')), Number(q.get('offset'))];
		const all = Array.from({ length: 130 }, (_, i) => ({ edgeType: `press-${String(i).padStart(3, '0')}`, channel: 'stable', currentVersion: '1.0.0', revision: 1 }))
			.filter((c) => !q.get('edgeType') || c.edgeType === q.get('edgeType'));
		route.fulfill({ json: { items: all.slice(offset, offset + limit), limit, ...(offset + limit < all.length && { next: '/api/ota/release-channels?more' }) } });
	});
	await page.route('**/press-*/stable/progress', (route) => route.fulfill({ json: { boxes: 7, unknown: 0, versions: [], otherVersions: 0 } }));
	await signIn(page);
	const rows = page.locator('.row.quiet');
	await expect(rows).toHaveCount(20);
	await says(page, '1 to 20');
	for (let i = 0; i < 6; i++) await press(page, 'Next channels');
	await expect(rows).toHaveCount(10);
	await expect(rows.last()).toContainText('press-129/stable');
	await says(page, '121 to 130');
	await looksWell(page, 'the last channels');
	await page.getByLabel('Only').fill('press-042/stable');
	await press(page, 'Show');
	await expect(rows).toHaveCount(1);
	await expect(rows).toContainText('press-042/stable');
});

test('a rollout that is near a halt looks different from a good one', async ({ page }) => {
	await page.route('**/api/ota/overview?*', async (route) => {
		const one = await (await route.fetch()).json();
		const [x] = one.items.filter((item) => item.progress?.guard);
		const row = (i, trouble) => ({ ...x, trouble, rollout: { ...x.rollout, id: x.rollout.id.slice(0, -2) + `2${i}`, edgeType: `line-${i}` }, progress: { ...x.progress, guard: { ...x.progress.guard, verdict: 'hold', treated: { boxes: 0, silent: 0 }, distance: { ...x.progress.guard.distance, moreBad: 2, moreSilent: -1 } } } });
		await route.fulfill({ json: { ...one, active: 2, troubles: { near: 1, none: 1 }, items: [row(1, 'near'), row(2, 'none')] } });
	});
	await signIn(page);
	const row = (name) => page.locator('.row', { hasText: name });
	await expect(row('line-1').locator('.chip.bad')).toHaveText(/Near a halt/);
	await expect(row('line-1')).toContainText('2 more bad boxes would halt it');
	await expect(row('line-2').locator('.chip.quiet')).toHaveText(/Hold/);
	await expect(row('line-2').locator('.chip.hold, .chip.bad, .halt')).toHaveCount(0);
});

test('the page shows nothing that it has not read yet', async ({ page, scene }) => {
	await page.route('**/progress', (route) => new Promise((go) => setTimeout(() => go(route.continue().catch(() => {})), 5000)));
	await signIn(page);
	await page.evaluate((to) => { location.hash = to; }, rollout(scene.failing));
	await expect(page.locator('.evidence .loading')).toHaveCount(1);
	expect(await page.locator('body').innerText()).not.toMatch(/not judged|[Nn]ot counted/);
	await expect(page.locator('.evidence .sentence')).toBeVisible();
});

test('keys lead to a view, open a question, leave it, and lead back', async ({ page, scene }) => {
	const { keyboard } = page;
	const halt = page.getByRole('button', { name: 'Halt gateway-x/stable' });
	const dialog = page.getByRole('dialog');
	await signIn(page);
	await show(page, '#/now', 'Other channels');
	await keyboard.press('5');
	await expect(page).toHaveURL(/#\/log$/);
	await keyboard.press('1');
	await expect(page).toHaveURL(/#\/now$/);
	await says(page, 'Other channels');
	const focused = () => halt.evaluate((e) => e === document.activeElement);
	for (let i = 0; i < 60 && !await focused(); i++) await keyboard.press('Tab');
	await expect(halt).toBeFocused();
	await expect(halt).not.toHaveCSS('outline-style', 'none');
	await keyboard.press('Enter');
	await expect(dialog).toContainText('Halt 1.1.0 on gateway-x/stable?');
	await expect(page.getByRole('button', { name: 'Halt now' })).toBeFocused();
	await keyboard.press('Escape');
	await expect(dialog).toHaveCount(0);
	await expect(halt).toBeFocused();
	await showRollout(page, scene);
	await keyboard.press('Shift+H');
	await expect(dialog).toContainText('Halt 1.1.0 on gateway-x/stable?');
	await keyboard.press('Escape');
	await expect(dialog).toHaveCount(0);
	await keyboard.press('/');
	await expect(page.locator('#search')).toBeFocused();
	await keyboard.type(scene.box);
	await keyboard.press('Enter');
	await says(page, 'Checked in this browser');
});

test('the page rarely polls, and conditionally', async ({ page, scene }) => {
	await signIn(page);
	await showRollout(page, scene);
	let asked = 0;
	page.on('request', (r) => { asked += Number(r.url().includes('/api/')); });
	const same = page.waitForResponse((a) => /rollouts\/[^/]+$/.test(a.url()) && a.status() === 304, { timeout: 30_000 });
	await page.waitForTimeout(6000);
	expect((await same).request().headers()).toHaveProperty('if-none-match');
	expect(asked).toBeLessThanOrEqual(12);
});

test('content stays when the service answers with errors', async ({ page, context, scene }) => {
	const answer = (status, title = 'The service is being changed') => page.route('**/api/**', (route) => route.fulfill({ status, json: { title, status }, contentType: 'application/problem+json' }));
	const again = async () => {
		await page.unrouteAll({ behavior: 'ignoreErrors' });
		await online(page);
		await says(page, 'Ready to halt');
		await expect(page.locator('.trouble')).toHaveCount(0);
	};
	const stays = async (...texts) => {
		for (const text of [...texts, 'Not ready to halt', 'Stages']) await says(page, text);
		await looksWell(page, texts[0]);
	};
	await signIn(page);
	await showRollout(page, scene);
	await answer(503);
	await online(page);
	await stays('Not up to date. The service is being changed');
	await again();
	await context.setOffline(true);
	await stays('Your computer is offline.');
	await context.setOffline(false);
	await again();
	await page.route('**/api/**', (route) => route.abort());
	await online(page);
	await stays('The service cannot be reached.');
	await again();
	await answer(403);
	await online(page);
	await says(page, 'Your role cannot read all of this.');
	await again();
});

test('an expired token is renewed unnoticed', async ({ page, scene }) => {
	await signIn(page);
	await showRollout(page, scene);
	let renewed = 0;
	page.on('request', (r) => { renewed += Number(r.url().endsWith('/token')); });
	await page.route('**/api/**', (route) => route.fulfill({ status: 401 }), { times: 1 });
	await online(page);
	await expect.poll(() => renewed).toBe(1);
	await says(page, 'Ready to halt');
	await expect(page.locator('.trouble')).toHaveCount(0);
	expect(renewed).toBe(1);
});

test('the page stays while nothing answers, and says when the session is over', async ({ page }) => {
	await signIn(page);
	await page.route('**/api/**', () => {}); // forever
	await page.evaluate(() => { location.hash = '#/box/cell-0002'; });
	await expect(page.locator('.loading').first()).toBeVisible();
	await looksWell(page, 'nothing answers');
	await page.unrouteAll({ behavior: 'ignoreErrors' });
	await page.route('**/api/**', (route) => route.fulfill({ status: 401 }));
	await page.evaluate(() => { location.hash = '#/rules'; });
	await online(page);
	await says(page, 'Your session has ended. Sign in again.');
	await looksWell(page, 'the session is over');
});

test('a viewer cannot act, and can sign out', async ({ page, scene }) => {
	await signIn(page, 'vera', 'platform_viewer');
	await showRollout(page, scene);
	await says(page, 'You can look. A platform owner can act.');
	await says(page, 'Connected');
	await expect(page.locator('button', { hasText: /^\s*(Halt|Promote|Approve)/ })).toHaveCount(0);
	await looksWell(page, 'a viewer');
	await press(page, 'Sign out');
	await press(page, 'Sign in');
	await logIn(page, 'olga');
});

test('a script cannot turn text into markup', async ({ page, complaints }) => {
	await signIn(page);
	const refused = await page.evaluate(() => { try { document.getElementById('page').innerHTML = '<b>x</b>'; return false; } catch { return true; } });
	expect(refused).toBe(true);
	await expect.poll(() => complaints.splice(0).join()).toContain('TrustedHTML'); // the browser reports it
});

test('hostile text stays text', async ({ page, scene }) => {
	const bad = '<img src=x onerror="window.hurt = true"><script>window.hurt = true</script>\u202e"\'&amp;{{7*7}}' + 'x'.repeat(200);
	let kept = []; // names of fields that lead to other resources
	// Every text of every answer is hostile, except times and the fields on which the page's logic depends.
	const worse = (v, key) => {
		if (Array.isArray(v)) return v.map((x) => worse(x));
		if (v && typeof v === 'object') return Object.fromEntries(Object.entries(v).map(([k, x]) => [k, worse(x, k)]));
		return typeof v === 'string' && !/^\d{4}-\d\d-\d\dT/.test(v) && !['status', 'verdict', 'next', 'eventId', ...kept].includes(key) ? bad : v;
	};
	await page.route('**/api/**', async (route) => {
		const response = await route.fetch();
		if (!response.ok()) return route.fulfill({ response });
		const text = await response.text();
		return route.fulfill({ response, body: text && JSON.stringify(worse(JSON.parse(text))) });
	});
	await signIn(page);
	const ids = ['id', 'factoryId', 'methodId', 'organizationId'];
	for (const [hash, text, keeps = []] of [
		['#/now', '<img src=x'], [rollout(scene.good), '<img src=x'], ['#/box/cell-0003', '<img src=x'],
		['#/log/release-channel/gateway-x%2Fcanary', '<img src=x'], ['#/rules', 'Approvals'], ['#/box', 'Register boxes'], ['#/box', '<img src=x', ids],
		['#/methods', '<img src=x', ids], [`#/methods/${scene.recalled}`, '<img src=x', ids], [`#/methods/${scene.method}/2`, '<img src=x', ids],
		['#/log', '<img src=x'], ['#/rollout/new/gateway-x/stable', '<img src=x'], [rollout(scene.good) + '/policy', '<img src=x'],
	]) {
		await test.step(hash, async () => {
			kept = keeps;
			await page.setViewportSize({ width: 1280, height: 900 });
			await page.emulateMedia({ colorScheme: 'light' });
			await show(page, hash, text);
			for (const more of await page.locator('main .more > button').all()) await more.click();
			await page.setViewportSize({ width: 320, height: 900 });
			await page.emulateMedia({ colorScheme: 'dark' });
			await looksWell(page, hash);
			expect(await page.evaluate(() => 'hurt' in window)).toBe(false);
			await expect(page.locator('img, script:not([src])')).toHaveCount(0);
		});
	}
});

test('a promotion against the guard asks for the channel\'s name, and for a second person', async ({ page, scene }) => {
	await signIn(page);
	await showRollout(page, scene);
	await press(page, 'Promote to 50 %…');
	await says(page, 'This goes against the guard.');
	await says(page, 'Stage 50 is not approved');
	await looksWell(page, 'promotion');
	await press(page, 'Promote to 50 %');
	await says(page, 'Type gateway-x/stable to confirm.');
	await page.locator('#typed').fill('gateway-x/stable');
	await press(page, 'Promote to 50 %');
	await says(page, 'second person');
	await expect(page.locator('.wrong')).not.toBeEmpty();
	await press(page, 'Cancel');
	await expect(page.getByRole('dialog')).toHaveCount(0);
	await press(page, 'Approve 50 %…');
	await press(page, 'Approve 50 %');
	await says(page, '50 % of 1.1.0 on gateway-x/stable is approved.');
	await says(page, 'Approved 50 %');
});

test('two clicks halt, although the limit is used up, and a box\'s next poll proves it', async ({ page, scene }) => {
	const mine = '/api/rate-limits/users/olga';
	await signIn(page);
	await showRollout(page, scene);
	await as('otto', 'PUT', mine, { limit: 0 });
	await says(page, 'You have used up your calls for this minute.');
	await says(page, 'Stages');
	await looksWell(page, 'no calls left');
	expect(await poll(scene.waiting, '1.0.0')).toBe('1.1.0');
	await press(page, 'Halt');
	await press(page, 'Halt now');
	await says(page, '1.1.0 is halted at 10 %.');
	expect(await poll(scene.waiting, '1.0.0')).toBe('1.0.0');
	expect((await as('otto', 'GET', scene.failing)).value.status).toBe('halted');
	await as('otto', 'DELETE', mine);
	await says(page, 'Start again…');
	await says(page, 'Return to 1.0.0…');
	await looksWell(page, 'halted');
});

test('after a halt, the page says who halted, why, how many boxes have it, and what to do next', async ({ page }) => {
	await signIn(page, 'olaf');
	const ended = (name) => page.locator('.row.ended', { hasText: name });
	for (const text of ['Halted at 10 %', 'By olga', 'have 1.1.0', 'Look at the boxes', 'Return', 'Start again']) await expect(ended('gateway-x/stable')).toContainText(text);
	for (const text of ['By mia', 'The torque readings are off by ten']) await expect(ended('press-line/stable')).toContainText(text);
	await looksWell(page, 'after a halt');
});
