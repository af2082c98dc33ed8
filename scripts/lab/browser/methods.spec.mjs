// People's work on production methods: versions, approvals and recalls, on the operator's page.
import { expect } from '@playwright/test';
import { looksWell, press, says, show, signIn, test } from './page.mjs';
import { engineer } from './world.mjs';

const dialog = (page) => page.getByRole('dialog');
const table = (page, name) => page.getByRole('region', { name: `Table: ${name}`, exact: true });

test('a version is compared, and approved by a second person with a reason', async ({ page, scene }) => {
	const path = `/api/factories/${scene.method.replace('/', '/production-methods/')}/versions/2`;
	await signIn(page, 'eva', 'production_engineer');
	await show(page, `#/methods/${scene.method}/2`, 'What it changes');
	await says(page, 'You saved or submitted it, so somebody else must approve it.');
	await expect(page.getByRole('button', { name: 'Release…' })).toHaveCount(0);
	await press(page, 'Sign out');
	await signIn(page, 'emil', 'production_engineer');
	await show(page, `#/methods/${scene.method}/2`, 'What it changes');
	const change = table(page, 'Changes').getByRole('row', { name: /current-density › target/ });
	await expect(change).toContainText('critical');
	await expect(change).toContainText('1.55');
	await press(page, 'Put on trial…');
	await press(page, 'Put on trial');
	await says(page, 'Choose at least one machine.');
	await looksWell(page, 'trial');
	await dialog(page).getByLabel(/tank-3/).check();
	await press(page, 'Put on trial');
	await says(page, 'Give the reason.');
	await dialog(page).getByLabel('Reason, beside your signature').fill('One tank first');
	await press(page, 'Put on trial');
	await says(page, 'Version 2 is on trial: version 1 holds on all machines, version 2 holds on tank-3.');
	await says(page, 'One tank first');
	await press(page, 'Release…');
	await dialog(page).locator('#typed').fill('munich-1');
	await dialog(page).getByLabel('Reason, beside your signature').fill('The first housings are fine');
	await press(page, 'Release');
	await says(page, 'Name the record of the first article.');
	await dialog(page).getByLabel('Record of the first article’s inspection').fill('FAI 2026-114');
	await press(page, 'Release');
	await says(page, 'Version 2 is released: version 2 holds on all machines.');
	expect((await engineer('emil', 'GET', path)).value).toMatchObject({ status: 'released', firstArticle: { reference: 'FAI 2026-114' } });
});

test('a withdrawal asks for a reason, and shows which machines may still have the version', async ({ page, scene }) => {
	await signIn(page, 'emil', 'production_engineer');
	await show(page, `#/methods/${scene.recalled}/1`, 'What is left of the recall');
	await says(page, '2 of 3 may still have it');
	const rows = table(page, 'Machines').locator('tbody tr');
	await expect(rows.first()).toContainText(/tank-[23]/);
	await expect(rows.filter({ hasText: 'tank-1' })).toContainText('Finished with it');
	await show(page, `#/methods/${scene.method}/1`, 'Machines that have it or may have it');
	await press(page, 'Withdraw…');
	await press(page, 'Withdraw');
	await says(page, 'Give the reason.');
	await looksWell(page, 'withdrawal');
	await dialog(page).getByLabel('Reason, beside your signature').fill('Replaced');
	await press(page, 'Withdraw');
	await says(page, 'Version 1 is withdrawn');
	await says(page, 'What is left of the recall');
});

test('a recall is closed machine by machine, by engineers of the organization alone', async ({ page, scene }) => {
	const rows = table(page, 'Machines').locator('tbody tr');
	await signIn(page);
	await show(page, `#/methods/${scene.recalled}/1`, '2 of 3 may still have it');
	await expect(page.getByRole('button', { name: /Confirm/ })).toHaveCount(0);
	await press(page, 'Sign out');
	await signIn(page, 'emil', 'production_engineer');
	await show(page, `#/methods/${scene.recalled}/1`, '2 of 3 may still have it');
	await expect(rows.filter({ hasText: 'tank-1' }).getByRole('button')).toHaveCount(0);
	await press(page, 'Confirm… tank-2');
	await says(page, 'It said that it runs it');
	await page.keyboard.press('Escape');
	await press(page, 'Confirm… tank-3');
	await dialog(page).getByLabel('Reason, beside your signature').fill('The program is deleted');
	await press(page, 'Confirm');
	await says(page, 'Type tank-3 to confirm.');
	await looksWell(page, 'confirmation');
	await dialog(page).locator('#typed').fill('tank-3');
	await press(page, 'Confirm');
	await says(page, 'tank-3 is confirmed not to have version 1.');
	await says(page, '1 of 3 may still have it');
	await expect(rows.filter({ hasText: 'tank-3' })).toContainText('“The program is deleted”');
});

test('an older recall that is open is shown beside the last one', async ({ page, scene }) => {
	const [factory, id] = scene.recalled.split('/');
	const path = `/api/factories/${factory}/production-methods/${id}`;
	await page.route(`**${path}`, async (route) => {
		const response = await route.fetch();
		const m = await response.json();
		const [last] = m.withdrawn;
		await route.fulfill({ json: { ...m, withdrawn: [{ ...last, version: 3 }, { ...last, version: 2 }, last] }, headers: response.headers() });
	});
	for (const closed of [2, 3]) await page.route(`**${path}/versions/${closed}/machines?*`, (route) => route.fulfill({ json: { items: [{ machine: 'tank-1', name: 'Tank 1', clear: true }] } }));
	await signIn(page);
	await show(page, `#/methods/${scene.recalled}`, 'The one machine is confirmed not to have it.');
	await expect(page.getByRole('region', { name: 'Recall of version 3' })).toContainText('Done');
	await expect(page.getByRole('region', { name: 'Recall of version 1' })).toContainText('of 3 may still have it');
	await expect(page.getByRole('region', { name: 'Recall of version 2' })).toHaveCount(0);
});
