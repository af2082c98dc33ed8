// People's work on the parts of the operator's page that load later: new boxes, releases, policies, the
// freeze and the log. Each test changes its own things.
import { expect } from '@playwright/test';
import { fact, looksWell, press, rollout, says, show, signIn, test } from './page.mjs';
import { as, publish, register } from './world.mjs';

const field = (page, name) => page.getByLabel(name, { exact: true });
const dialog = (page) => page.getByRole('dialog');
const table = (page, name) => page.getByRole('region', { name: `Table: ${name}`, exact: true });

test('a waiting box is accepted by its fingerprint, and not by another one', async ({ page, scene }) => {
	await signIn(page, 'ines', 'fleet_installer');
	await show(page, '#/box', 'box-9100');
	await press(page, 'Accept… box-9100');
	const shown = dialog(page).getByLabel(/First characters of the fingerprint/);
	await press(page, 'Accept');
	await says(page, 'Type at least 8 characters');
	await shown.fill('0000 0000');
	await press(page, 'Accept');
	await says(page, 'That is another fingerprint.');
	await looksWell(page, 'acceptance');
	await shown.fill(scene.waits.slice(0, 8).toUpperCase());
	await press(page, 'Accept');
	await says(page, 'box-9100 is accepted.');
	await expect(table(page, 'Boxes to accept')).not.toContainText('box-9100');
	expect((await as('otto', 'GET', '/api/edges/box-9100')).value).toMatchObject({ edgeType: 'gateway-x', channel: 'stable', factoryId: 'munich-1' });
	const { keyboard } = page; // and only with keys
	const next = page.getByRole('button', { name: 'Accept… box-9101' });
	const focused = () => next.evaluate((e) => e === document.activeElement);
	for (let i = 0; i < 60 && !await focused(); i++) await keyboard.press('Tab');
	await expect(next).toBeFocused();
	await keyboard.press('Enter');
	await expect(shown).toBeFocused();
	await keyboard.press('Tab');
	await keyboard.press('Space');
	await keyboard.press('Enter');
	await says(page, 'box-9101 is accepted.');
	await says(page, 'No box waits to be accepted.');
});

test('a box with a replaced board is reset, and an enrolment is ended', async ({ page }) => {
	await signIn(page, 'anna', 'organization_admin');
	await show(page, '#/box', 'Open enrolments');
	await press(page, 'Which');
	await press(page, 'Reset… box-9001');
	await dialog(page).locator('#typed').fill('box-9001');
	await press(page, 'Reset');
	await says(page, 'box-9001 is retired, and its id is free.');
	await press(page, 'End… gateway-x/stable');
	await press(page, 'End it');
	await says(page, 'The enrolment for gateway-x/stable has ended.');
	await says(page, 'No enrolment is open in acme.');
});

test('content stays when the service answers with errors, and an action shows its result', async ({ page, context, scene }) => {
	await signIn(page, 'emil', 'production_engineer');
	const answer = (status, more = {}) => page.route('**/api/**', (route) => route.fulfill({ status, json: { title: 'The service is being changed', status }, contentType: 'application/problem+json', ...more }));
	const again = async () => {
		await page.unrouteAll({ behavior: 'ignoreErrors' });
		await page.evaluate(() => window.dispatchEvent(new Event('online')));
		await says(page, 'Connected');
		await expect(page.locator('.trouble')).toHaveCount(0);
	};
	for (const [hash, text] of [[`#/methods/${scene.recalled}`, 'may still have it'], [`#/methods/${scene.recalled}/1`, 'What is left of the recall']]) {
		await show(page, hash, text);
		await answer(503);
		await page.evaluate(() => window.dispatchEvent(new Event('online')));
		await says(page, 'Not up to date. The service is being changed');
		await says(page, 'Not connected');
		await says(page, text);
		await looksWell(page, `${hash}, 503`);
		await again();
		await context.setOffline(true);
		await says(page, 'Your computer is offline.');
		await says(page, text);
		await context.setOffline(false);
		await again();
	}
	await answer(429, { headers: { 'Retry-After': '5', 'Content-Type': 'application/problem+json' } });
	await press(page, 'Change the withdrawal…');
	await dialog(page).getByLabel('Reason, beside your signature').fill('Again');
	await press(page, 'Change the withdrawal');
	await expect(dialog(page).locator('.wrong')).toHaveText('The service is being changed');
	await says(page, 'You have used up your calls for this minute.');
	await looksWell(page, '429');
	await page.unrouteAll({ behavior: 'ignoreErrors' });
	await page.route('**/api/**', (route) => route.fulfill({ status: 401 }));
	await press(page, 'Change the withdrawal');
	await says(page, 'Your session has ended. Sign in again.');
	await looksWell(page, '401');
});

test('after the guard halted, the rollout says so in the guard\'s words, with one set of counts', async ({ page, scene }) => {
	const sentence = 'Halt: 17 of 291 boxes with the release are bad, 3 more than allowed.';
	await page.route(`**${scene.halted}`, async (route) => {
		const response = await route.fetch();
		await route.fulfill({ json: { ...await response.json(), endedBy: 'guard' }, headers: response.headers() });
	});
	await page.route('**/api/audit-events?*', async (route) => {
		const events = await (await route.fetch()).json();
		for (const e of events.items) if (e.eventName === 'RolloutHalted') Object.assign(e, { reason: undefined, actor: { issuer: 'urn:wavegate:guard', userId: 'guard' }, cause: { sentence } });
		await route.fulfill({ json: events });
	});
	await page.route(`**${scene.halted}/progress`, async (route) => {
		const progress = await (await route.fetch()).json();
		const [first] = progress.stages;
		Object.assign(first, { expected: 321, notYetPolled: 30, installed: 260, working: 14, failed: 12, reverted: 5 });
		await route.fulfill({ json: progress });
	});
	await signIn(page);
	await show(page, rollout(scene.halted), 'Why it was halted');
	await says(page, 'By the guard,');
	await says(page, sentence);
	await says(page, '260 boxes have 7.1.0, ■ 17 bad, of 291 that were offered it.');
	await says(page, '17 bad of 291 offered, 5.8');
	await expect(page.locator('.evidence .chip')).toHaveCount(0); // it is halted, not held
	expect(await page.locator('main').innerText()).not.toContain('not active');
	for (const next of ['Look at the boxes', 'Return', 'Start again']) await expect(page.locator('[aria-labelledby=halted]')).toContainText(next);
	await looksWell(page, 'halted by the guard');
});

test('a version is published and rolled out, by a policy that the service checks field by field', async ({ page }) => {
	await as('otto', 'PUT', '/api/ota/release-channels/welder/stable', { currentVersion: '1.0.0', artifactUrl: 'https://artifacts.example.com/welder.tar.gz', sha256: 'a'.repeat(64) });
	await register('welder', 'stable', '1.0.0', 'weld-', 20);
	await signIn(page);
	await show(page, '#/rollout', 'Publish or start…');
	await page.getByRole('link', { name: 'Publish or start…' }).click();
	const publish = page.locator('[aria-labelledby=publish]');
	const start = page.locator('[aria-labelledby=start]');
	await field(publish, 'Edge type').fill('welder');
	await field(publish, 'Channel').fill('canary');
	await field(publish, 'Version').fill('not a version');
	await field(publish, 'Where its file is').fill('http://artifacts.example.com/welder.tar.gz');
	await field(publish, 'SHA-256 of the file').fill('xyz');
	await publish.getByRole('button', { name: 'Publish…' }).click();
	await dialog(page).locator('#typed').fill('welder/canary');
	await press(page, 'Publish');
	await expect(dialog(page).locator('.wrong')).not.toBeEmpty();
	await expect(dialog(page).locator('.reasons')).toContainText('Where its file is');
	await expect(dialog(page).locator('.reasons')).not.toContainText(/artifactUrl|currentVersion/);
	await looksWell(page, 'a publication that is refused');
	await press(page, 'Cancel');
	for (const name of ['Version', 'Where its file is', 'SHA-256 of the file']) {
		await expect(field(publish, name)).toHaveAttribute('aria-invalid', 'true');
		await expect(field(publish, name)).toHaveAccessibleDescription(/\S/);
	}
	await field(publish, 'Version').fill('1.1.0');
	await field(publish, 'Where its file is').fill('https://artifacts.example.com/welder.tar.gz');
	await field(publish, 'SHA-256 of the file').fill('b'.repeat(64));
	await publish.getByRole('button', { name: 'Publish…' }).click();
	await dialog(page).locator('#typed').fill('welder/canary');
	await press(page, 'Publish');
	await says(page, '1.1.0 is the version of welder/canary.');

	// A file goes straight to the store; the service then tells its address.
	await field(publish, 'Edge type').fill('welder');
	await field(publish, 'Channel').fill('beta');
	await field(publish, 'Version').fill('1.2.0');
	await publish.locator('input[type=file]').setInputFiles({ name: 'welder 1.2.0 (final).swu', mimeType: 'application/octet-stream', buffer: Buffer.from('the bytes of 1.2.0') });
	await publish.getByRole('button', { name: 'Publish…' }).click();
	await expect(dialog(page)).toContainText('First welder 1.2.0 (final).swu is uploaded, 18 bytes.');
	await looksWell(page, 'a publication of a file');
	await dialog(page).locator('#typed').fill('welder/beta');
	await press(page, 'Publish');
	await says(page, '1.2.0 is the version of welder/beta.');
	const { value: kept } = await as('otto', 'GET', '/api/ota/release-channels/welder/beta');
	expect(kept.sizeBytes, 'the size that DDI clients need').toBe(18);
	expect(kept.sha1).toMatch(/^[0-9a-f]{40}$/);
	expect(await (await fetch(kept.artifactUrl)).text(), kept.artifactUrl).toBe('the bytes of 1.2.0');

	await field(start, 'Edge type').fill('welder');
	await field(start, 'Channel').fill('stable');
	await field(start, 'Version to roll out').fill('1.1.0');
	await expect(start).toContainText('20 boxes');
	await press(page, 'Change the policy');
	await field(start, 'Acceptable, % bad').fill('4');
	await field(start, 'Silent after').fill('half an hour');
	await field(start, 'Silent after').blur();
	await expect(field(start, 'Intolerable, % bad')).toHaveAccessibleDescription(/at least twice what is acceptable/);
	await expect(field(start, 'Silent after')).toHaveAccessibleDescription(/a duration from/);
	await looksWell(page, 'a policy with faults');
	await field(start, 'Acceptable, % bad').fill('2');
	await field(start, 'Silent after').fill('45 min');
	await start.getByRole('checkbox', { name: '50 %' }).check();
	await expect(start.locator('.policy .reasons')).toContainText('is silent if it is not heard from for 45 min');
	await expect(start.locator('.policy .reasons')).toContainText('A second person approves before 50 %.');
	await start.getByRole('button', { name: 'Start…' }).click();
	await expect(dialog(page)).toContainText('2 % bad boxes are acceptable.');
	await looksWell(page, 'the start');
	await press(page, 'Start at 1 %');
	await says(page, '1.1.0 is started on welder/stable, at 1 %.');
	await expect(page.locator('h1')).toHaveText('welder/stable');
	const [started] = (await as('otto', 'GET', '/api/ota/rollouts?edgeType=welder')).value.items;
	expect(started.terms.policy).toMatchObject({ guard: { acceptable: 0.02, silentAfter: 'PT45M' }, approvals: { before: [50] } });

	await page.getByRole('link', { name: 'What it says' }).click();
	await says(page, 'What it means');
	await field(page, 'Mode').selectOption('advise');
	await expect(page.locator('.policy .reasons')).toContainText('The guard only says what it would do.');
	await press(page, 'Add a window');
	await field(page, 'Time zone').fill('Europe/Nowhere');
	await press(page, 'Save the policy');
	await expect(field(page, 'Time zone')).toHaveAttribute('aria-invalid', 'true');
	await looksWell(page, 'a window with a fault');
	await field(page, 'Time zone').fill('Europe/Berlin');
	await press(page, 'Save the policy');
	await says(page, 'The guard judges welder/stable by the new policy.');
	expect((await as('otto', 'GET', `/api/ota/rollouts/${started.id}/policy`)).value).toMatchObject({ mode: 'advise', promote: { windows: [{ timeZone: 'Europe/Berlin', from: '06:00' }] } });
});

test('a freeze is set, shown where rollouts are started, and ended', async ({ page }) => {
	await signIn(page);
	await show(page, '#/rules', 'Nothing is frozen.');
	await press(page, 'Freeze…');
	await press(page, 'Freeze');
	await says(page, 'Give the reason.');
	await dialog(page).getByLabel('Reason, for everyone to read').fill('Year-end count in all plants');
	await press(page, 'Freeze');
	await says(page, 'Year-end count in all plants');
	await looksWell(page, 'frozen');
	await show(page, '#/rollout/new/gateway-x/stable', 'Reason to override the freeze');
	await show(page, '#/now', 'until');
	await show(page, '#/rules', 'Lift…');
	await press(page, 'Lift…');
	await dialog(page).locator('#typed').fill('freeze');
	await press(page, 'Lift the freeze');
	await says(page, 'Nothing is frozen.');
});

test('the log is searched by type, person, text and time, and says what it has not searched', async ({ page, scene }) => {
	await page.route('**/api/audit-events?*', (route) => route.continue({ url: route.request().url().replace('limit=50', 'limit=3') })); // so that there are many pages
	await signIn(page);
	await show(page, '#/log', 'Show older');
	const events = page.locator('.event');
	await expect(events).toHaveCount(3);
	await field(page, 'Text').fill('torque readings');
	await press(page, 'Show');
	await says(page, 'Found 0 in the newest 3 events. Not searched: events before');
	await expect(async () => { // five pages at a time, until something is found
		if (await events.count() === 0) await press(page, 'Search older ones');
		await expect(events).toHaveCount(1, { timeout: 3000 });
	}).toPass();
	await expect(events).toContainText('mia halted');
	await says(page, 'Found 1 in the newest');
	await page.unrouteAll({ behavior: 'ignoreErrors' });
	await field(page, 'Text').fill('no such words');
	await press(page, 'Show');
	await says(page, 'None of them matches.');
	await looksWell(page, 'nothing found');
	await show(page, '#/log', 'promoted');
	await field(page, 'Show').selectOption('rollout');
	await field(page, 'Person').fill('otto');
	await press(page, 'Show');
	await says(page, 'started 1.1.0 on gateway-x/stable');
	for (const text of await events.allInnerTexts()) expect(text).toContain('otto');
	await field(page, 'To').fill('2020-01-01T00:00');
	await press(page, 'Show');
	await says(page, 'Found 0 in all 0 events.');
	await show(page, `#/log/${rollout(scene.good).slice(2)}`, 'The night shift wants it before Monday');
	await expect(events.filter({ hasText: 'gateway-x' })).toHaveCount(0);
});

test('rollouts that are being halted, or are bad at 100 %, are marked', async ({ page }) => {
	await page.route('**/api/ota/overview?*', async (route) => {
		const one = (await (await route.fetch()).json());
		const [x] = one.items.filter((item) => item.progress?.guard);
		const row = (i, trouble, guard) => ({ ...x, trouble, rollout: { ...x.rollout, id: x.rollout.id.slice(0, -2) + `1${i}`, edgeType: `line-${i}`, status: 'active' }, progress: { ...x.progress, guard: { ...x.progress.guard, ...guard } } });
		const items = [row(1, 'halting', { verdict: 'halt' }), row(2, 'bad', { pages: true }), row(3, 'bad', { organization: 'acme', reason: 'ONE_ORGANIZATION' }), row(4, 'stuck', { reason: 'TOO_FEW_TAKEN' }),
			row(5, 'failing', { retrying: { boxes: 5, told: 9, until: '2026-03-02T03:21:00Z', halts: true } }), row(6, 'needs', { needs: { reason: 'TOO_FEW_TAKEN', stage: 10, do: 'look at the boxes', counts: 10 } })];
		await route.fulfill({ json: { ...one, active: items.length, troubles: { halting: 1, bad: 2, stuck: 1, failing: 1, needs: 1 }, items } });
	});
	await signIn(page);
	const row = (name) => page.locator('.row', { hasText: name });
	for (const [name, text, prominent] of [
		['line-1', 'The guard would halt it', true], ['line-2', 'Going bad, and all boxes get it', true], ['line-3', 'Bad only for acme', true], ['line-4', 'Too few boxes take it', false],
		['line-5', '5 of 9 failed; unless they recover by', true], ['line-6', 'Waits for a person: look at the boxes', true],
	]) {
		await expect(row(name)).toContainText(text);
		await expect(row(name)).toContainText(/counted \d+\s(s|min) ago/);
		const halt = row(name).getByRole('button');
		await (prominent ? expect(halt).toHaveClass(/halt/) : expect(halt).not.toHaveClass(/halt/));
	}
	await expect(fact(page, 'Active rollouts')).toHaveText('6');
	await looksWell(page, 'halting and bad');
	await page.emulateMedia({ colorScheme: 'dark' });
	await page.setViewportSize({ width: 320, height: 900 });
	await looksWell(page, 'halting and bad, narrow');
});

test('a box is found by a part of its id, and leads to its plant and back', async ({ page }) => {
	await publish('otto', 'gateway-list', 'stable', '1.0.0');
	await register('gateway-list', 'stable', '1.0.0', 'Found-', 60);
	await signIn(page, 'otto', 'platform_owner');
	await show(page, '#/box', 'All boxes');
	const boxes = table(page, 'Boxes').locator('tbody tr');
	await field(page, 'Part of the id').fill('OUND-00');
	await press(page, 'Find');
	await says(page, '50 boxes so far.');
	await press(page, 'Show more');
	await says(page, '60 boxes in all.');
	const answer = (await as('otto', 'GET', '/api/edges?idPart=ound-&factoryId=munich-1&limit=100')).value;
	await field(page, 'Plant').fill('munich-1');
	await press(page, 'Find');
	await says(page, `${answer.items.length} boxes in all.`);
	await expect(boxes).toHaveCount(answer.items.length);
	await expect(boxes.first()).toContainText('1.0.0');
	await looksWell(page, 'boxes');
	await boxes.first().getByRole('link', { name: 'munich-1' }).click();
	await says(page, 'Machines');
	await expect(table(page, 'Boxes')).toContainText('Found-0001');
	await looksWell(page, 'plant');
	await page.getByRole('link', { name: 'Found-0001' }).click();
	await says(page, 'Runs 1.0.0');
	await page.getByLabel('Find a box, or a channel’s log').fill('ound-0017');
	await page.keyboard.press('Enter');
	await says(page, 'Ids that contain it');
	await page.getByRole('link', { name: 'Found-0017' }).click();
	await expect(page.getByRole('heading', { name: 'Found-0017' })).toBeVisible();
});
