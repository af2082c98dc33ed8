// Each view of the operator's page, at each width and in each colour scheme.
import { expect } from '@playwright/test';
import { looksWell, press, says, show, signIn, test, views } from './page.mjs';

test('each view looks right', async ({ page, scene }) => {
	// The page gets a longer history of the rollout than these few seconds.
	await page.route('**/progress/history*', async (route) => {
		const response = await route.fetch();
		const [last] = (await response.json()).items;
		if (!route.request().url().includes(scene.failing)) return route.fulfill({ response });
		const items = Array.from({ length: 12 }, (_, i) => ({ ...last, at: new Date(Date.now() - i * 60_000).toISOString(), staged_percent: i < 8 ? 10 : 1, installed: 24 - 2 * i }));
		await route.fulfill({ json: { items } });
	});
	// Its policy judges a health number, and half of the boxes say it once the release has reached them.
	await page.route(`**${scene.failing}/progress`, async (route) => {
		const response = await route.fetch();
		const answer = await response.json();
		const said = (i) => ({ name: 'cycleSeconds', at: new Date(Date.now() - (12 - i) * 3_600_000).toISOString(), control: { boxes: 60, said: 58, now: 10 + i % 2 / 10 }, reached: { boxes: 25, said: i && 12, now: i && 11.1 } });
		answer.work = Array.from({ length: 12 }, (_, i) => said(i));
		answer.guard.health = [{ ...said(11), percent: 10, more: 0.1, halts: true }];
		await route.fulfill({ json: answer });
	});
	await signIn(page);
	for (const [name, hash, text] of views(scene)) {
		await test.step(name, async () => {
			await show(page, hash, text);
			if (name === 'rollout') {
				await press(page, 'Show cycleSeconds as a table');
				await says(page, 'with the release, last 11.1');
				await expect(page.locator('circle.installed')).toHaveCount(11 + 1); // nobody said it the first time; one is in the legend
				await expect(page.getByRole('row', { name: /11\.1.*10\.1/ })).toHaveCount(7); // of the course, and the look
			}
			await looksWell(page, name);
		});
	}
});
