// The page that shows the contract: it shows every operation, reports no error, asks nothing of another host, is not
// wider than its window, and cuts no code sample.
import { readFile } from 'node:fs/promises';
import { expect } from '@playwright/test';
import { test } from './page.mjs';
import { service } from './world.mjs';

test('the page of the contract', async ({ page, viewport }) => {
	const faults = [];
	page.on('request', (r) => { if (!r.url().startsWith(service + '/') && !/^(data|blob):/.test(r.url())) faults.push(`it asks for ${r.url()}`); });
	page.on('response', (r) => { if (r.status() >= 400) faults.push(`${r.url()} was answered with ${r.status()}`); });
	page.on('requestfailed', (r) => faults.push(`${r.url()} was not loaded: ${r.failure()?.errorText}`));
	await page.goto(`${service}/docs`);
	const contract = await readFile('shared/contract/openapi.yaml', 'utf8');
	const operations = [...contract.matchAll(/^ +operationId: (\S+)$/gm)].map(([, id]) => id);
	expect(operations).not.toEqual([]);
	// The renderer adds the operations by and by, as parts whose ids end with the operation's.
	const shown = () => page.locator('[id*="operation/"]').evaluateAll((parts) => parts.map((e) => e.id.replace(/.*operation\//, '')));
	await expect.poll(shown).toEqual(expect.arrayContaining(operations));
	expect(await page.evaluate(() => document.documentElement.scrollWidth), 'the width of the page').toBeLessThanOrEqual(viewport.width);
	const cut = await page.locator('pre').evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.slice(0, 60)));
	expect(cut, 'code samples that are cut').toEqual([]);
	await page.screenshot({ path: `.dev/browser/docs-${viewport.width}.png` });
	expect(faults).toEqual([]);
});
