// The views of each role on the operator's page: everything that the role is allowed to do, and nothing that the
// service refuses.
import { expect } from '@playwright/test';
import { logIn, looksWell, press, show, signIn, test } from './page.mjs';
import { bearer, service } from './world.mjs';

// The views of each role, in order.
const views = {
	platform_owner: ['Now', 'Rollouts', 'Boxes', 'Methods', 'Log', 'Rules'],
	platform_viewer: ['Now', 'Rollouts', 'Boxes', 'Log', 'Rules'],
	organization_admin: ['Now', 'Boxes', 'Methods', 'Log'],
	production_engineer: ['Methods'],
	fleet_viewer: ['Now', 'Boxes', 'Log'],
	fleet_installer: ['Boxes'],
};

// refusals collects the calls of the page that the service refuses. A missing resource is not a refusal.
function refusals(page) {
	const all = [];
	page.on('response', (r) => { if (r.status() >= 400 && r.status() !== 404) all.push(`${r.status()} ${r.url()}`); });
	return all;
}

// walk opens every view that the page offers.
async function walk(page, names) {
	const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
	await expect(links).toHaveText(names);
	for (const name of names) {
		await links.getByText(name, { exact: true }).click();
		await expect(page.locator('h1')).toHaveText(name);
		await expect(page.locator('.loading')).toHaveCount(0);
		await expect(page.locator('.trouble, main .note.bad-text')).toHaveCount(0);
		expect((await page.locator('main').innerText()).length).toBeGreaterThan(name.length + 20);
		await looksWell(page, name);
	}
}

for (const [role, names] of Object.entries(views)) {
	test(`a ${role} sees its own views, the most important first`, async ({ page, scene }) => {
		const refused = refusals(page);
		await signIn(page, `a-${role}`, role);
		await expect(page.locator('h1')).toHaveText(names[0]);
		await walk(page, names);
		if (names.includes('Rollouts')) await show(page, '#/rollout/' + scene.failing.split('/').at(-1), 'Which boxes');
		if (names.includes('Now') && !names.includes('Rollouts')) await show(page, '#/now', 'Of the organization\'s');
		if (names.includes('Methods')) await show(page, `#/methods/${scene.method}/2`, 'What it changes');
		await page.waitForTimeout(3000); // so that the page reads again
		await expect(page.locator('.light')).toHaveText(role === 'platform_owner' ? '✓Ready to halt' : '✓Connected');
		expect(refused).toEqual([]);
		for (const foreign of ['now', 'rules', 'box', 'methods', 'log']) await page.evaluate((to) => { location.hash = to; }, `#/${foreign}`);
		await expect(page.locator('.loading')).toHaveCount(0);
		expect(refused).toEqual([]);
	});
}

// Only people can sign in. To see what the page would do with other tokens, the test gives it one.
for (const [role, organization, names] of [['', 'acme', ['Methods']], ['', '', []], ['edge', '', []]]) {
	test(`${role || 'somebody without a role'} ${organization ? 'of an organization' : 'without an organization'} sees ${names.join() || 'why there is nothing'}`, async ({ page }) => {
		const refused = refusals(page);
		const token = (await bearer('somebody', role, organization)).replace('Bearer ', '');
		await page.route('**/token', (route) => route.fulfill({ json: { access_token: token, expires_in: 3600 }, headers: { 'Access-Control-Allow-Origin': '*' } }));
		await signIn(page, 'somebody');
		await expect(page.locator('h1')).toHaveText(names[0] ?? 'Nothing to see');
		await walk(page, names);
		await looksWell(page, 'the first view');
		expect(refused).toEqual([]);
	});
}

test('a part of the page that cannot be loaded says so', async ({ page }) => {
	await page.route('**/rules.mjs', (route) => route.fulfill({ status: 404 }));
	await signIn(page);
	await page.getByRole('link', { name: 'Rules', exact: true }).click();
	await expect(page.getByRole('button', { name: 'Load the page again' })).toBeVisible();
	await looksWell(page, 'a part is missing');
	await page.unrouteAll({ behavior: 'ignoreErrors' });
	await press(page, 'Load the page again');
	await logIn(page, 'olga');
	await expect(page.locator('h1')).toHaveText('Rules');
});

test('a page of which a part does not arrive says so', async ({ page }) => {
	await page.route('**/sources.mjs', (route) => route.abort());
	await page.goto(`${service}/console`);
	await expect(page.getByText('The page did not arrive as a whole. Load it again.')).toBeVisible();
	await page.unrouteAll();
	await page.reload();
	await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
	await expect(page.getByText('Load it again')).toBeHidden();
});

test('an admin of an organization pauses a plant of it, and says when it takes updates', async ({ page }) => {
	const made = await fetch(`${service}/api/factories/leipzig-9`, {
		method: 'PUT', headers: { Authorization: await bearer('olga', 'platform_owner', 'acme'), 'Content-Type': 'application/json' },
		body: JSON.stringify({ organizationId: 'acme', name: 'Leipzig' }),
	});
	expect(made.status).toBe(201);
	await signIn(page, 'anna', 'organization_admin');
	const plant = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Leipzig' }) });
	await plant.getByRole('button', { name: 'Pause' }).click();
	await page.getByLabel('Days').fill('3');
	await page.getByLabel('Reason').fill('stocktaking');
	await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
	await expect(plant.getByText('Paused until')).toBeVisible();
	await expect(plant.getByText('stocktaking')).toBeVisible();
	await plant.getByRole('button', { name: 'End the pause' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'End the pause' }).click();
	await expect(plant.getByText('Takes updates')).toBeVisible();
	await plant.getByRole('button', { name: 'Opt out' }).click();
	await page.getByLabel('Reason').fill('certified line');
	await looksWell(page, 'an opt-out');
	await page.getByRole('dialog').getByRole('button', { name: 'Opt out' }).click();
	await expect(plant.getByText('Only for security')).toBeVisible();
	await expect(plant.getByText('anna opted out at')).toContainText('certified line');
	await plant.getByRole('button', { name: 'Opt in' }).click();
	await page.getByRole('dialog').getByRole('button', { name: 'Opt in' }).click();
	await expect(plant.getByText('Takes updates')).toBeVisible();
	await plant.getByRole('button', { name: 'Windows' }).click();
	await page.getByLabel('Time zone').fill('Europe/Berlin');
	await page.getByLabel('Windows').fill('sat,sun 22:00-06:00\n12:00-12:00');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(page.getByRole('dialog').getByText('must be another time of day')).toBeVisible();
	await page.getByLabel('Windows').fill('sat,sun 22:00-06:00\n12:00-12:30');
	await page.getByRole('button', { name: 'Save' }).click();
	await expect(plant.getByText('12:00-12:30')).toBeVisible();
	await looksWell(page, 'Plants');
});
