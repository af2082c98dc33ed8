// Trouble stands first, each number leads to what it counts, and what is wrong has words.
import { expect } from '@playwright/test';
import { fact, looksWell, press, rollout, says, show, signIn, test } from './page.mjs';
import { as, publish, register, start } from './world.mjs';

test('each number of a rollout leads to the boxes that it counts, and the counts agree', async ({ page, scene }) => {
	const { stages, staged_percent: reached } = (await as('otto', 'GET', scene.failing + '/progress?fresh=true')).value;
	const sum = (name) => stages.filter((s) => s.percent <= reached).reduce((n, s) => n + s[name], 0);
	await signIn(page);
	await page.locator('.row', { hasText: 'gateway-x/stable' }).getByRole('link', { name: /bad$/ }).click();
	await says(page, 'Bad boxes');
	await expect(page.locator('main tbody tr')).toHaveCount(sum('failed') + sum('reverted'));
	await looksWell(page, 'bad boxes');
	for (const [name, state] of [['Boxes that have it', 'installed'], ['Boxes that were offered it', 'offered'], ['Boxes that put it off', 'deferred']]) {
		await page.getByRole('link', { name: `${name}: ${sum(state)}`, exact: true }).click();
		await expect(page.locator('h1')).toHaveText(name);
		for (const more = page.getByRole('button', { name: 'Show more' }); await more.count();) await more.click();
		await expect(page.locator('main tbody tr')).toHaveCount(sum(state));
	}
	const { silent } = (await as('otto', 'GET', scene.good + '/progress')).value;
	expect(silent.boxes).toBeGreaterThan(0);
	await show(page, '#/now', 'Other channels');
	await expect(fact(page, 'Silent on them')).toHaveText(String((await as('otto', 'GET', '/api/ota/overview')).value.silent));
	await page.locator('.row', { hasText: 'gateway-y/stable' }).getByRole('link', { name: `${silent.boxes} silent` }).click();
	await says(page, 'Those that are silent now');
	await expect(page.locator('main tbody tr')).toHaveCount(silent.boxes);
});

test('the numbers of a channel lead to its boxes, to everybody who sees them', async ({ page }) => {
	await publish('otto', 'mixer', 'stable', '1.0.0');
	await register('mixer', 'stable', '1.0.0', 'mix-', 3);
	await signIn(page);
	await page.locator('.row.quiet', { hasText: 'mixer/stable' }).getByRole('link', { name: '3 boxes' }).click();
	await says(page, '3 boxes in all.');
	await expect(page.getByLabel('Edge type, or edge type/channel')).toHaveValue('mixer/stable');
	await press(page, 'Sign out');
	await signIn(page, 'anna', 'organization_admin');
	await page.getByRole('link', { name: '3 run 1.0.0' }).click();
	await says(page, '3 boxes in all.');
	await expect(page.getByLabel('Runs')).toHaveValue('1.0.0');
});

test('halted rollouts stand on top and are counted, until somebody marks them as seen, for everybody', async ({ page }) => {
	await signIn(page, 'olaf');
	const trouble = page.locator('[aria-labelledby=trouble]');
	const { troubles } = (await as('otto', 'GET', '/api/ota/overview')).value;
	await expect(trouble.locator('.row.ended')).toHaveCount(troubles.halted);
	await expect(trouble.locator('.row').first()).toBeVisible();
	const before = Number((await fact(page, 'To look at').innerText()).match(/\d+/)[0]);
	await press(page, 'Seen… press-line/stable');
	await looksWell(page, 'the question');
	await page.getByLabel('Reason, for the log (optional)').fill('The vendor is on it');
	await press(page, 'Mark as seen');
	await says(page, 'press-line/stable is marked as seen.');
	await expect(trouble.locator('.row.ended')).toHaveCount(troubles.halted - 1);
	await expect(fact(page, 'To look at')).toHaveText(`■${before - 1}`);
	await expect(page.locator('[aria-labelledby=active] .row.ended', { hasText: 'press-line/stable' })).toContainText(/Seen by olaf, \d+\s(s|min) ago/);
	await looksWell(page, 'a mark');
	await press(page, 'Sign out');
	await signIn(page, 'vera', 'platform_viewer');
	await expect(page.locator('[aria-labelledby=active] .row.ended', { hasText: 'press-line/stable' })).toContainText('Seen by olaf');
	await expect(page.getByRole('button', { name: /Seen/ })).toHaveCount(0);
	expect((await as('otto', 'GET', '/api/ota/overview')).value.troubles).toMatchObject({ seen: 1 });
});

test('what a rollout alone does not show stands on top: dark plants, restless and frequent boxes, a late count, a held rollout', async ({ page }) => {
	const recall = { factoryId: 'graz-1', organizationId: 'acme', since: new Date(Date.now() - 7_200_000).toISOString(), left: 2, of: 5 };
	await page.route('**/api/ota/overview?*', async (route) => {
		const one = await (await route.fetch()).json();
		const [x] = one.items;
		const row = (i, more, rollout) => ({ ...x, trouble: 'none', ageSeconds: 400, ...more, rollout: { ...x.rollout, id: x.rollout.id.slice(0, -2) + `3${i}`, edgeType: `line-${i}`, ...rollout } });
		await route.fulfill({ json: { ...one, active: 2, halted: [], troubles: { held: 1, none: 1 }, restless: 3, frequent: 4, recalls: [recall], dark: [{ factoryId: 'lyon-2', of: 12, silent: 11 }],
			items: [row(1, { trouble: 'held' }, { stoppedFor: 'FACTORY_BAD' }), row(2)] } });
	});
	await signIn(page);
	const trouble = page.locator('[aria-labelledby=trouble]');
	for (const text of ['Tells no more boxes: most boxes of one plant are bad or silent', 'last counted boxes 7 min ago', '11 of 12 boxes that were looked up are silent', '3 boxes: nobody can tell', '4 boxes: more than twice as often as told', '2 machines of 5 may still have the version, 2']) await expect(trouble).toContainText(text);
	await expect(fact(page, 'To look at')).toHaveText('■6');
	await expect(trouble).not.toContainText('line-2');
	await looksWell(page, 'other trouble');
	await trouble.getByRole('link', { name: 'Restless boxes' }).click();
	await expect(page.getByLabel('State')).toHaveValue('restless');
	await page.goBack();
	await trouble.getByRole('link', { name: 'lyon-2' }).click();
	await says(page, 'Machines');
	await page.route('**/fleet?*', async (route) => route.fulfill({ json: { ...await (await route.fetch()).json(), recalls: [recall] } }));
	await press(page, 'Sign out');
	await signIn(page, 'anna', 'organization_admin');
	await expect(trouble).toContainText('a recall is not confirmed: 2 machines of 5');
	await looksWell(page, 'an organization\'s trouble');
	await trouble.getByRole('link', { name: 'Look at the methods' }).click();
	await says(page, 'Methods of graz-1');
});

test('a halt for silence leads to the silent boxes', async ({ page, scene }) => {
	const sentence = 'Halt: 4 of 12 boxes of stage 10 are silent, and 0 of 100 that the release did not reach, which chance does not explain.';
	await page.route(`**${scene.halted}`, async (route) => {
		const response = await route.fetch();
		await route.fulfill({ json: { ...await response.json(), endedBy: 'guard' }, headers: response.headers() });
	});
	await page.route('**/api/audit-events?*', async (route) => {
		const events = await (await route.fetch()).json();
		for (const e of events.items) if (e.eventName === 'RolloutHalted') Object.assign(e, { reason: undefined, cause: { sentence } });
		await route.fulfill({ json: events });
	});
	await page.route('**/edges?state=silent&*', (route) => route.fulfill({ json: { limit: 20, items: [1, 2, 3, 4].map((i) => ({ edgeId: `mute-${i}`, stage: 10, version: '7.1.0', state: 'installed', since: '2026-03-02T11:41:00Z', lastSeenAt: '2026-03-02T11:51:00Z' })) } }));
	await page.route(`**${scene.halted}/progress`, (route) => route.fulfill({ json: { asOf: new Date().toISOString(), staged_percent: 1, stages: [], failures: {}, silent: { of: 12, sampled: 12, silent: 4, unknown: 0, boxes: 4, low: 4, high: 4 } } }));
	await signIn(page);
	await page.getByRole('link', { name: 'Look at the 4 silent boxes of press-line/stable' }).click();
	await says(page, 'Silent boxes: 4');
	await show(page, rollout(scene.halted), sentence.slice(6, 60));
	await page.getByRole('link', { name: 'Look at the silent boxes' }).click();
	await says(page, 'Silent boxes: 4');
	await expect(page.locator('main tbody tr')).toHaveCount(4);
	await looksWell(page, 'silent boxes');
});

// halted shows scene.halted with other fields and counts.
async function halted(page, scene, fields, progress) {
	await page.route(`**${scene.halted}`, async (route) => {
		const response = await route.fetch();
		await route.fulfill({ json: { ...await response.json(), ...fields }, headers: response.headers() });
	});
	await page.route('**/api/ota/overview?*', async (route) => {
		const o = await (await route.fetch()).json();
		const put = (x) => scene.halted.endsWith(x.rollout.id) ? { ...x, rollout: { ...x.rollout, ...fields } } : x;
		await route.fulfill({ json: { ...o, halted: o.halted.map(put) } });
	});
	const stage = { percent: 1, expected: 9, notYetPolled: 1, offered: 0, working: 0, deferred: 0, installed: 7, failed: 1, reverted: 0 };
	const silent = { of: 0, sampled: 0, silent: 0, unknown: 0, boxes: 0, low: 0, high: 0 };
	await page.route(`**${scene.halted}/progress`, (route) => route.fulfill({ json: { staged_percent: 1, stages: [stage], failures: { boot: 1 }, silent, ...progress() } }));
}

test('a returned rollout counts the boxes that went back, and leads to the others', async ({ page, scene }) => {
	const { value: r } = await as('otto', 'GET', scene.halted);
	const returnedAt = r.endedAt;
	let progress = { asOf: new Date(Date.parse(returnedAt) - 1000).toISOString() };
	await halted(page, scene, { returnedAt }, () => progress);
	await signIn(page);
	await show(page, rollout(scene.halted), 'They were not counted since.');
	await says(page, 'Before the return, 7 boxes had');
	progress = { asOf: new Date(Date.parse(returnedAt) + 1000).toISOString(), returned: 5, returning: 2 };
	await press(page, 'Sign out');
	await signIn(page);
	await show(page, rollout(scene.halted), `5 boxes went back to ${r.previousVersion}, 2 still run ${r.targetVersion}, ■ 1 bad, of 8 that were offered it.`);
	await says(page, 'Boxes that had it before the return count as installed.');
	await expect(page.locator('main')).not.toContainText('is silent');
	await looksWell(page, 'a return');
	await show(page, '#/now', 'Other channels');
	const row = page.locator('.row.ended', { hasText: `${r.edgeType}/${r.channel}` });
	await expect(row).toContainText('Returned');
	await row.getByRole('link', { name: '2 still run' }).click();
	await expect(page.getByLabel('Runs')).toHaveValue(r.targetVersion);
	progress = { asOf: progress.asOf, returned: 7 };
	await press(page, 'Sign out');
	await signIn(page);
	await show(page, rollout(scene.halted), `7 boxes went back to ${r.previousVersion}, none still runs ${r.targetVersion}`);
	await expect(page.getByRole('button', { name: 'Boxes that have it' })).toHaveCount(0);
});

test('times and durations in the words of the service are the person\'s', async ({ page, scene }) => {
	await halted(page, scene, { fast: 'Stages 1 and 10 soak for at most PT50S instead of a week.' }, () => ({ asOf: new Date().toISOString() }));
	await page.route(`**/${scene.box}/update/why`, async (route) => route.fulfill({ json: { ...await (await route.fetch()).json(), sentence: 'Its plant P7 of P1D-x opens next: 2031-05-04T10:00:00Z.' } }));
	await signIn(page);
	await show(page, rollout(scene.halted), 'soak for at most 50 s instead of a week');
	await show(page, `#/box/${scene.box}`, 'Its plant P7 of P1D-x opens next: 4 May');
});

test('no box waits for its plant on a halted rollout', async ({ page, scene }) => {
	await halted(page, scene, {}, () => ({ asOf: new Date().toISOString(), waiting: { window: 2, pause: 0, plants: 1 } }));
	await signIn(page);
	await show(page, rollout(scene.halted), '7 boxes have');
	await expect(page.locator('main')).not.toContainText('Waiting for plants');
});

test('the kind of boxes that a halt names leads to all of them', async ({ page, scene }) => {
	const culprit = { name: 'hardwareRevision', value: 'C', harmed: 6, boxes: 6, factories: 5, otherHarmed: 0, otherBoxes: 74 };
	const surveys = [1, 10].map((percent) => ({ percent, number: 1, at: new Date().toISOString(), halts: true, culprit }));
	await halted(page, scene, {}, () => ({ asOf: new Date().toISOString(), guard: { verdict: 'hold', reason: 'NOT_ACTIVE', stage: 1, halting: { bad: 1 }, surveys } }));
	await signIn(page);
	await show(page, rollout(scene.halted), 'Look at all boxes with hardwareRevision=C');
	await page.getByRole('link', { name: 'Look at all boxes with hardwareRevision=C' }).click();
	await expect(page.getByLabel('Attribute')).toHaveValue('hardwareRevision=C');
	await expect(page.getByLabel('Edge type, or edge type/channel')).toHaveValue('press-line/stable');
});

test('a worse number says by how much, if it is a gauge', async ({ page, scene }) => {
	const look = (name) => ({ name, percent: 1, at: new Date().toISOString(), reached: { boxes: 8, said: 8, now: 10.11 }, control: { boxes: 90, said: 90, now: 9.996 }, more: 0.041, halts: true });
	const by = { worse: 'higher', by: 0.01 };
	await halted(page, scene, { health: { cycleSeconds: { is: 'gauge', ...by }, scrap: { is: 'counter', ...by } } },
		() => ({ asOf: new Date().toISOString(), guard: { verdict: 'hold', reason: 'NOT_ACTIVE', stage: 1, halting: { bad: 1 }, health: ['cycleSeconds', 'scrap'].map(look) } }));
	await signIn(page);
	await show(page, rollout(scene.halted), 'The guard’s looks at cycleSeconds');
	await expect(page.getByText('4.1 % higher than before, beside the others')).toHaveCount(1);
	await looksWell(page, 'a worse number');
});

test('rollouts are filtered by status and channel, and read on', async ({ page }) => {
	const one = (await as('otto', 'GET', '/api/ota/rollouts?limit=1')).value;
	const asked = [];
	await page.route('**/api/ota/rollouts?*', (route) => {
		const q = new URL(route.request().url()).searchParams;
		asked.push(q.toString());
		const from = Number(q.get('offset') ?? 0);
		const items = Array.from({ length: 20 }, (_, i) => ({ ...one.items[0], id: one.items[0].id.slice(0, -2) + String(from + i).padStart(2, '0'), edgeType: `line-${from + i}`, status: 'completed' }));
		route.fulfill({ json: { items, limit: 20, ...(from < 40 && { next: `/api/ota/rollouts?limit=20&offset=${from + 20}` }) } });
	});
	await signIn(page);
	await show(page, '#/rollout', '20 rollouts so far');
	await press(page, 'Show more');
	await press(page, 'Show more');
	await says(page, '60 rollouts in all');
	await expect(page.locator('.row')).toHaveCount(60);
	await page.getByLabel('Edge type, or edge type/channel').fill('gateway-x/stable');
	await page.getByLabel('Status').selectOption('halted');
	await press(page, 'Find');
	await expect.poll(() => asked.at(-1)).toBe('edgeType=gateway-x&channel=stable&status=halted&limit=20');
	await expect(page.getByLabel('Status')).toHaveValue('halted');
	await looksWell(page, 'rollouts');
});

test('100 policies and 40 factories stay short', async ({ page }) => {
	const one = (await as('otto', 'GET', '/api/ota/rollouts?status=active&limit=1')).value;
	await page.route('**/api/ota/rollouts?status=active*', (route) => route.fulfill({ json: { items: Array.from({ length: 100 }, (_, i) => ({ ...one.items[0], id: `${i}`, edgeType: `line-${i}` })), limit: 100 } }));
	await page.route('**/api/factories?*', (route) => route.fulfill({ json: { items: Array.from({ length: 40 }, (_, i) => ({ factoryId: `plant-${i}`, organizationId: 'acme', name: `Plant ${i}`, revision: 1 })), limit: 100 } }));
	await signIn(page);
	await show(page, '#/rules', '90 more policies');
	expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(3000);
	await press(page, '90 more policies');
	await page.getByRole('link', { name: 'line-99/stable' }).click();
	await show(page, '#/methods', 'Methods of plant-0');
	await expect(page.locator('.tabs a')).toHaveCount(0);
	await page.getByLabel('Factory').selectOption('Plant 39');
	await says(page, 'Methods of plant-39');
	await looksWell(page, 'factories');
});

test('a chart shows only what was measured', async ({ page, scene }) => {
	await page.route('**/progress/history*', async (route) => {
		const response = await route.fetch();
		const [last] = (await response.json()).items;
		const at = [0, 1, 2, 90, 180, 181]; // minutes ago
		await route.fulfill({ json: { items: at.map((m) => ({ ...last, at: new Date(Date.now() - m * 60_000).toISOString(), installed: 20, offered: 0, working: 0, deferred: 0, failed: 0, reverted: 0 })) } });
	});
	await signIn(page);
	await show(page, rollout(scene.good), 'Over time');
	const drawn = page.locator('.history path.installed');
	expect((await drawn.getAttribute('d')).match(/M/g), 'one part for each run of counts').toHaveLength(3);
	await expect(page.locator('.history path.bad')).toHaveCount(0);
	await expect(page.locator('.lane-scale')).toHaveCount(0);
	await expect(page.locator('.history')).not.toContainText(/[1-9]\d* bad/);
});

test('what is not there has words, and so has what the service refuses', async ({ page, scene }) => {
	await signIn(page);
	await show(page, '#/nowhere/at/all', 'This address leads to no view.');
	await looksWell(page, 'no view');
	for (const hash of ['#/rollout/no-such', '#/rollout/no-such/policy', '#/rollout/no-such/failed', '#/rollout/00000000-0000-7000-8000-000000000000']) {
		await show(page, hash, 'There is no such rollout.');
		await expect(page.locator('main')).not.toContainText(/errors|valid/);
	}
	await show(page, rollout(scene.good) + '/policy', 'What it means');
	await page.getByLabel('Acceptable, % bad').fill('bad');
	await page.getByLabel('Taken, % of a stage').fill('0.1');
	await page.getByLabel('Taken, % of a stage').blur();
	await expect(page.getByLabel('Taken, % of a stage')).toHaveAccessibleDescription(/1 to 100\s%/);
	await page.getByLabel('Acceptable, % bad').fill('70');
	await page.getByLabel('Acceptable, % bad').blur();
	await expect(page.getByLabel('Acceptable, % bad')).toHaveAccessibleDescription(/0.1 to 50\s%/);
	await page.route('**/policy', (route) => route.fulfill({ status: 400, contentType: 'application/problem+json', json: { title: 'Not valid', status: 400, code: 'VALIDATION_FAILED', errors: [{ pointer: '/overrideReason', detail: 'is too long' }, { pointer: '/someField', detail: 'is not known' }] } }));
	await press(page, 'Save the policy');
	await says(page, 'override reason is too long');
	await says(page, 'some field is not known');
});

test('who started a rollout is not asked to approve it', async ({ page }) => {
	await publish('olga', 'lathe', 'stable', '1.0.0');
	const path = await start('olga', 'lathe', '1.1.0', { approvals: { before: [10] } });
	await signIn(page);
	await show(page, rollout(path), 'needs the approval of somebody else');
	await expect(page.getByRole('button', { name: /^Approve/ })).toHaveCount(0);
	await show(page, '#/rules', 'somebody else must approve');
	await expect(page.locator('.row', { hasText: 'lathe' }).getByRole('button')).toHaveCount(0);
	await press(page, 'Sign out');
	await signIn(page, 'otto');
	await show(page, rollout(path), 'Approve 10 %…');
	await as('otto', 'PATCH', path, { status: 'halted' });
});
