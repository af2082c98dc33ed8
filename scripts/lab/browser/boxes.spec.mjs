// The list of boxes and what is done with one box, with a fleet of its own.
import { readFile } from 'node:fs/promises';
import { expect } from '@playwright/test';
import { looksWell, press, says, show, signIn, test } from './page.mjs';
import { as, move, plants, poll, publish, register, start } from './world.mjs';

test.beforeAll(async () => { for (const id of plants) await as('seed', 'PUT', `/api/factories/${id}`, { organizationId: 'acme', name: id }); });

const find = (page) => press(page, 'Find');
const rows = (page) => page.locator('main tbody tr');

test('boxes of one organization and with one attribute are found, and saved as CSV', async ({ page }) => {
	await publish('otto', 'crane', 'stable', '1.5.0');
	await register('crane', 'stable', '1.5.0', 'crane-', 3);
	await as('registrar', 'POST', '/api/edges', { edges: [{ edgeId: 'crane-r', edgeType: 'crane', channel: 'stable', organizationId: 'rival', attributes: { board: 'B', note: 'a;b' } }] });
	await poll('crane-r', '%3D1%2B2');
	await signIn(page);
	await says(page, 'Boxes to accept in acme'); // a box that waits is another thing
	await show(page, '#/box', 'All boxes');
	await page.getByLabel('Edge type, or edge type/channel').fill('crane');
	await find(page);
	await says(page, '4 boxes in all.');
	const [file] = await Promise.all([page.waitForEvent('download'), press(page, 'Save as CSV')]);
	const [head, ...lines] = (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
	expect(head).toBe('edgeId,edgeType,channel,organizationId,factoryId,attributes,running,state,waits');
	expect(lines).toEqual(['crane-0001,crane,stable,acme,munich-1,,1.5.0,,', 'crane-0002,crane,stable,acme,lyon-2,,1.5.0,,', 'crane-0003,crane,stable,acme,graz-1,,1.5.0,,', `crane-r,crane,stable,rival,,"{""board"":""B"",""note"":""a;b""}",'=1+2,offered,`]);
	await says(page, 'The file has 4 boxes.');
	await looksWell(page, 'a list of boxes');
	await page.getByRole('link', { name: '3 run 1.5.0' }).click();
	await says(page, '3 boxes in all.');
	await page.getByLabel('Runs').fill('');
	await page.getByLabel('Organization', { exact: true }).first().fill('rival');
	await find(page);
	await says(page, '1 box in all.');
	await expect(page.getByRole('row', { name: 'crane-r' })).toBeVisible();
	await page.getByLabel('Organization', { exact: true }).first().fill('');
	await page.getByLabel('Attribute').fill('board=B');
	await find(page);
	await says(page, '1 box in all.');
	await expect(page.getByLabel('Attribute')).toHaveValue('board=B');
});

test('a box is pinned to an older version and follows its channel again, by those who keep boxes', async ({ page }) => {
	await publish('otto', 'lift', 'canary', '1.0.0');
	await new Promise((over) => setTimeout(over, 1100)); // releases of one second have no order
	await publish('otto', 'lift', 'stable', '2.0.0');
	await register('lift', 'stable', '2.0.0', 'lift-', 1);
	await signIn(page, 'anna', 'organization_admin');
	await show(page, '#/box/lift-0001', 'Told 2.0.0');
	await press(page, 'Pin…');
	const dialog = page.locator('dialog');
	await expect(dialog.getByLabel(/^Version/)).toHaveValue('2.0.0');
	await looksWell(page, 'a pin');
	await dialog.getByLabel(/^Version/).fill('1.0.0');
	await press(page, 'Pin');
	await says(page, 'Give the reason.');
	await dialog.getByLabel(/^Reason/).fill('2.0.0 fails here');
	await press(page, 'Pin');
	await expect(dialog.getByRole('alert')).toContainText('lift-0001 runs a newer version than 1.0.0');
	await dialog.getByLabel(/may go back/).check();
	await press(page, 'Pin');
	await says(page, 'lift-0001 is pinned to 1.0.0 until');
	await says(page, 'Told 1.0.0: anna pinned it');
	expect(await poll('lift-0001', '2.0.0')).toBe('1.0.0');
	await press(page, 'End the pin…');
	await press(page, 'End the pin');
	await says(page, 'lift-0001 follows lift/stable again.');
	await expect(page.getByRole('button', { name: 'End the pin…' })).toHaveCount(0);
	await press(page, 'Sign out');
	await signIn(page, 'vera', 'platform_viewer');
	await show(page, '#/box/lift-0001', 'Told');
	await expect(page.getByRole('button', { name: /Pin|Move/ })).toHaveCount(0);
});

test('the number of boxes that wait for a plant leads to these boxes', async ({ page }) => {
	const pausedUntil = new Date(Date.now() + 3 * 86_400_000).toISOString().replace(/\.\d+/, '');
	await as('seed', 'PUT', '/api/factories/munich-1', { organizationId: 'acme', name: 'munich-1', updates: { pausedUntil, reason: 'Stocktaking' } });
	await publish('otto', 'robot', 'stable', '1.0.0');
	await register('robot', 'stable', '1.0.0', 'robot-', 12);
	const path = await start('otto', 'robot', '1.1.0');
	for (const staged_percent of [10, 50, 100]) await move('otto', path, { staged_percent, overrideReason: 'A test' });
	await signIn(page);
	await show(page, '#/rollout/' + path.split('/').at(-1), 'Waiting for plants');
	await page.getByRole('link', { name: '2 boxes', exact: true }).first().click();
	await says(page, '2 boxes in all.');
	await expect(page.getByLabel('State')).toHaveValue('waiting');
	await expect(rows(page).first()).toContainText('Waits for the end of its plant’s pause');
	await looksWell(page, 'waiting boxes');
	await press(page, 'Sign out');
	await signIn(page, 'anna', 'organization_admin');
	await page.locator('.row', { hasText: 'robot/stable' }).getByRole('link', { name: '2 boxes wait for your plants' }).click();
	await says(page, '2 boxes in all.');
	await as('seed', 'PUT', '/api/factories/munich-1', { organizationId: 'acme', name: 'munich-1', updates: { pausedUntil: null } });
});
