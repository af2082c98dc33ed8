// Each view of the operator's page, at each width and in each colour scheme.
import { looksWell, show, signIn, test, views } from './page.mjs';

test('each view looks right', async ({ page, scene }) => {
	// The page gets a longer history of the rollout than these few seconds.
	await page.route('**/progress/history*', async (route) => {
		const response = await route.fetch();
		const [last] = (await response.json()).items;
		if (!route.request().url().includes(scene.failing)) return route.fulfill({ response });
		const items = Array.from({ length: 12 }, (_, i) => ({ ...last, at: new Date(Date.now() - i * 60_000).toISOString(), staged_percent: i < 8 ? 10 : 1, installed: 24 - 2 * i }));
		await route.fulfill({ json: { items } });
	});
	await signIn(page);
	for (const [name, hash, text] of views(scene)) {
		await test.step(name, async () => {
			await show(page, hash, text);
			await looksWell(page, name);
		});
	}
});
