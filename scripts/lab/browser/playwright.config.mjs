// The widths and colour schemes for the tests, and the processes that they need.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { defineConfig } from '@playwright/test';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];
const browser = names.flatMap((name) => process.env.PATH.split(delimiter).map((dir) => join(dir, name))).find(existsSync);
if (!browser) throw new Error('There is no Chromium (apt-get install chromium, brew install chromium).');

const root = join(import.meta.dirname, '../../..');
const looks = (width, colorScheme) => ({ viewport: { width, height: 900 }, colorScheme });
const each = (widths, schemes = ['light', 'dark']) => widths.flatMap((width) => schemes.map((scheme) => ({ name: `${width} px, ${scheme}`, use: looks(width, scheme) })));
const pictures = process.env.SCREENSHOTS;
const before = { dependencies: ['scene'] };

export default defineConfig({
	outputDir: join(root, '.dev/browser'),
	workers: 1, // the tests share one service, and the last ones end its rollout
	timeout: 120_000,
	expect: { timeout: 30_000 },
	reporter: 'list',
	forbidOnly: true,
	use: {
		actionTimeout: 30_000,
		trace: { mode: 'retain-on-failure', snapshots: false, screenshots: false }, // these take longer than the tests
		screenshot: 'only-on-failure',
		contextOptions: { reducedMotion: 'reduce' },
		launchOptions: { executablePath: browser, chromiumSandbox: process.getuid() !== 0 }, // Chromium refuses to run as root with its sandbox on
	},
	projects: [
		{ name: 'scene', testMatch: 'scene.setup.mjs', timeout: 1_200_000 },
		...(pictures ? each([1280, 390]).map((look) => ({ ...look, ...before, testMatch: 'pictures.spec.mjs' })) : [
			// Colours depend on the scheme, and on whether the page is narrow, but no more on its width.
			...[...each([1280, 390]), ...each([768, 320], process.env.LONG ? undefined : ['light'])].map((look) => ({ ...look, ...before, testMatch: 'views.spec.mjs' })),
			...[1280, 390].map((width) => ({ name: `contract, ${width} px`, use: looks(width, 'light'), testMatch: 'contract.spec.mjs' })),
			{ name: 'origins', testMatch: 'origins.spec.mjs' },
			{ name: 'roles', use: looks(1280, 'light'), ...before, testMatch: 'roles.spec.mjs' },
			{ name: 'operator', use: looks(1280, 'light'), ...before, testMatch: 'operator.spec.mjs' },
			{ name: 'work', use: looks(1280, 'light'), ...before, testMatch: ['methods.spec.mjs', 'work.spec.mjs'] },
			{ name: 'boxes', use: looks(1280, 'light'), testMatch: 'boxes.spec.mjs' },
			{ name: 'network', use: looks(1280, 'light'), ...before, testMatch: 'network.spec.mjs' },
			{ name: 'trouble', use: looks(1280, 'light'), ...before, testMatch: 'trouble.spec.mjs' },
		]),
	],
	// The first process prints the addresses of other origins, and the second its own.
	webServer: [
		{ command: 'node origins.mjs', wait: { stdout: /one (?<one>\S+) two (?<two>\S+) stranger (?<stranger>\S+)/ } },
		{
			// A change is visible at the next poll, and the guard looks every second.
			command: 'CORS_ORIGINS=$ONE,$TWO exec ./scripts/dev 2>.dev/browser-service.log', cwd: root,
			env: { PORT: '0', PREFIX: '/prod', GUARD_INTERVAL_SECONDS: '1', CHANNEL_CACHE_SECONDS: '0' },
			wait: { stdout: /^ready (?<service>\S+)$/m }, timeout: 600_000,
			gracefulShutdown: { signal: 'SIGTERM', timeout: 10_000 },
		},
	],
});
