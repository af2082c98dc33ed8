// The list of boxes and what is done with one box, with a fleet of its own.
import { expect } from '@playwright/test';
import { looksWell, press, says, show, signIn, test } from './page.mjs';
import { as, plants, poll, publish, register } from './world.mjs';

test.beforeAll(async () => { for (const id of plants) await as('seed', 'PUT', `/api/factories/${id}`, { organizationId: 'acme', name: id }); });

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
