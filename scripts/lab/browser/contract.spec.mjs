// The page that shows the contract: it shows every operation, reports no error, loads nothing from another host, is
// not wider than its window, and cuts no code sample. Each operation has a curl call, and shows success before
// refusals. Checked with axe in light and dark.
import { readFile } from 'node:fs/promises';
import { expect } from '@playwright/test';
import axe from 'axe-core';
import { test } from './page.mjs';
import { service } from './world.mjs';

test('the page of the contract', async ({ page, viewport }) => {
	test.slow(); // the page is long, and axe reads everything
	const faults = [];
	page.on('request', (r) => { if (!r.url().startsWith(service + '/') && !/^(data|blob):/.test(r.url())) faults.push(`it asks for ${r.url()}`); });
	page.on('response', (r) => { if (r.status() >= 400) faults.push(`${r.url()} was answered with ${r.status()}`); });
	page.on('requestfailed', (r) => faults.push(`${r.url()} was not loaded: ${r.failure()?.errorText}`));
	await page.goto(`${service}/docs`);
	const contract = await readFile('shared/contract/openapi.yaml', 'utf8');
	const operations = [...contract.matchAll(/^ +operationId: (\S+)$/gm)].map(([, id]) => id);
	expect(operations).not.toEqual([]);
	// The renderer adds the operations gradually, as parts with ids that end with the operation's. The test's timeout limits it.
	const shown = () => page.locator('[id*="operation/"]').evaluateAll((parts) => parts.map((e) => e.id.replace(/.*operation\//, '')));
	const allShown = () => expect.poll(shown, { timeout: 0 }).toEqual(expect.arrayContaining(operations));
	await allShown();
	expect(await page.evaluate(() => document.documentElement.scrollWidth), 'the width of the page').toBeLessThanOrEqual(viewport.width);
	const cut = await page.locator('pre').evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.slice(0, 60)));
	expect(cut, 'code samples that are cut').toEqual([]);
	const calls = await page.locator('pre').evaluateAll((all) => all.filter((e) => e.textContent.startsWith('curl -i ')).length);
	expect(calls, 'operations with a call by curl').toBe(contract.match(/x-codeSamples:/g).length);
	expect(await refusedFirst(page), 'samples of answers that begin with a refusal').toEqual([]);
	for (const colorScheme of ['light', 'dark']) {
		if (colorScheme === 'dark') await Promise.all([page.waitForEvent('load'), page.emulateMedia({ colorScheme })]); // the page reloads itself
		await allShown();
		const [red, green, blue] = await page.evaluate(() => getComputedStyle(document.body).color.match(/\d+/g).map(Number));
		expect(red + green + blue > 384, `light text: ${colorScheme}`).toBe(colorScheme === 'dark');
		await page.screenshot({ path: `.dev/browser/docs-${viewport.width}-${colorScheme}.png` });
		// Only the contrast depends on the colours, and it does not depend on the width. It takes most of the time.
		const wide = viewport.width > 1000;
		const rules = { light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], dark: ['color-contrast'] };
		if (colorScheme === 'dark' && !wide) continue;
		await page.evaluate(axe.source);
		expect(await page.evaluate(async (options) => {
			const { violations } = await window.axe.run(document, options);
			return violations.map((v) => v.id + ': ' + v.nodes.slice(0, 5).map((n) => n.html.slice(0, 160)).join(' | '));
		}, { runOnly: rules[colorScheme], rules: { 'color-contrast': { enabled: wide } } }), `axe: ${colorScheme}`).toEqual([]);
	}
	expect(faults).toEqual([]);
});

// refusedFirst lists the visible groups of sample answers that begin with a refusal.
function refusedFirst(page) {
	return page.locator('ul.react-tabs__tab-list').evaluateAll((lists) => lists
		.filter((list) => list.checkVisibility() && list.firstElementChild.classList.contains('tab-error'))
		.map((list) => list.textContent));
}
