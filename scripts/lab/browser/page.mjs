// Functions to use the operator's page like a person, and checks for every view.
import { readFile } from 'node:fs/promises';
import { test as base, expect } from '@playwright/test';
import axe from 'axe-core';
import { watchFields } from './fields.mjs';
import { service } from './world.mjs';

export const test = base.extend({
	// A test fails on errors of the page's own code: exceptions, console output, violations of its policy, and fields of
	// answers that the contract does not have. Error answers of the service do not count.
	complaints: [async ({ context }, use) => {
		const said = [];
		await watchFields(context);
		context.on('weberror', (e) => said.push(`exception: ${e.error()}`));
		context.on('console', (m) => { if (!m.text().startsWith('Failed to load resource')) said.push(`${m.type()}: ${m.text()}`); });
		await use(said);
		expect(said, 'complaints').toEqual([]);
	}, { auto: true }],
	scene: async ({}, use) => { await use(JSON.parse(await readFile('.dev/browser/scene.json', 'utf8'))); },
});

/** The views of a scene, each with a text that shows that it is complete. */
export const views = (scene) => [
	['now', '#/now', 'Other channels'],
	['rollout', rollout(scene.failing), 'Which boxes'],
	['halted', rollout(scene.halted), 'The torque readings are off by ten'],
	['box', `#/box/${scene.box}`, 'Checked in this browser'],
	['boxes', '#/box', 'Register boxes'],
	['methods', '#/methods/munich-1', 'Version 2'],
	['method', `#/methods/${scene.recalled}`, 'may still have it'],
	['version', `#/methods/${scene.method}/2`, 'What it changes'],
	['release', '#/rollout/new/gateway-x/stable', 'about'],
	['known', '#/release/gateway-y/2.3.1', 'First published'],
	['policy', rollout(scene.failing) + '/policy', 'What it means'],
	['rollouts', '#/rollout', 'rollouts in all'],
	['bad', rollout(scene.failing) + '/bad', 'Boxes that failed:'],
	['log', '#/log', 'promoted'],
	['rules', '#/rules', 'Yours, in calls a minute'],
];

/** The address of a rollout's view. */
export const rollout = (path) => '#/rollout/' + path.split('/').at(-1);

/** Waits until the page shows a text. */
export const says = (page, text) => expect(page.locator('body')).toContainText(text, { useInnerText: true });

/** Opens a view and waits for its text. */
export async function show(page, hash, text) {
	await page.evaluate((to) => { location.hash = to; }, hash);
	await says(page, text);
	await expect(page.locator('.loading')).toHaveCount(0);
	await expect(page.locator('main')).not.toContainText('Reading');
}

/** The value of a fact by its name. */
export const fact = (page, name) => page.locator(`.facts div:has(> dt:text-is("${name}")) dd`);

/** Clicks the button with a name. */
export const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

/** Signs in with the service's own login. */
export async function signIn(page, user = 'olga', ...roles) {
	await page.goto(`${service}/console`);
	await press(page, 'Sign in');
	await logIn(page, user, ...roles);
}

/** Fills in the sign-in form. */
export async function logIn(page, user, role = 'platform_owner', organization = 'acme') {
	await expect(page.getByLabel('Name')).toBeFocused(); // automatically; the browser complains if something else had the focus before
	await page.getByLabel('Name').fill(user);
	await page.getByRole('textbox', { name: 'Organization' }).fill(organization);
	for (const box of await page.getByRole('checkbox').all()) await box.setChecked(await box.inputValue() === role);
	await press(page, 'Sign in');
	await expect(page.locator('.light')).toBeVisible();
}

/** Checks the page: axe's findings, text without contrast, and elements that are wider than the window or too small to touch. */
export async function looksWell(page, what = '') {
	if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axe.source);
	expect.soft(await page.evaluate(async () => {
		const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
		const { violations } = await window.axe.run(document, { runOnly: tags });
		return violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 160) + ' ' + n.failureSummary).join(' | '));
	}), `axe: ${what}`).toEqual([]);
	expect.soft(await page.evaluate(pale), `contrast: ${what}`).toEqual([]);
	expect.soft(await page.evaluate(misfits), `sizes: ${what}`).toEqual([]);
}

// misfits finds elements that are wider than the window, or too small to touch.
function misfits() {
	const width = document.documentElement.clientWidth, whole = document.documentElement.scrollWidth;
	const seen = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
	const wide = seen('body *').filter((e) => e.getBoundingClientRect().right > width + 1 && !e.closest('.wide, .unseen, .skip, svg'));
	const small = seen('button, select, input, nav a').filter((e) => e.getBoundingClientRect().height < 24);
	const html = (why) => (e) => `${why}: ${e.outerHTML.slice(0, 120)}`;
	return [...(whole > width ? [`the page is ${whole} px wide`] : []), ...wide.map(html('too wide')), ...small.map(html('too small'))];
}

// pale computes the contrast of each text with its background, because axe leaves some undecided. WCAG requires 4.5
// to 1.
function pale() {
	const light = (c) => {
		const [r, g, b] = c.slice(0, 3).map((x) => { x /= 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const colour = (text) => { const m = text.match(/[\d.]+/g).map(Number); return [...m.slice(0, 3), m[3] ?? 1]; };
	const found = [];
	for (const e of document.querySelectorAll('body *')) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.closest('.unseen, .skip, [aria-disabled=true], noscript')) continue;
		let at = e, ground = [255, 255, 255, 0];
		while (at && ground[3] === 0) { ground = colour(getComputedStyle(at).backgroundColor); at = at.parentElement; }
		const [a, b] = [light(colour(getComputedStyle(e).color)), light(ground)].sort((x, y) => y - x);
		if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`${((a + 0.05) / (b + 0.05)).toFixed(2)}: ${e.outerHTML.slice(0, 120)}`);
	}
	return found;
}
