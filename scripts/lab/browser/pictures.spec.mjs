// Takes screenshots of the operator's page. One shows the first screen of a window, for the README.
import { press, show, signIn, test, views } from './page.mjs';

test('pictures', async ({ page, scene, viewport, colorScheme }) => {
	const look = `${viewport.width}-${colorScheme}`;
	const keep = (name, options) => page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png`, ...options });
	await signIn(page);
	const all = views(scene);
	for (const [name, hash, text] of all) {
		await show(page, hash, text);
		await keep(`console-${name}-${look}`, { fullPage: true });
	}
	const [, rollout] = all;
	await show(page, rollout[1], rollout[2]);
	for (const [button, name] of [['Promote to 50 %…', 'promote'], ['Halt', 'halt']]) {
		await press(page, button);
		await keep(`console-${name}-${look}`);
		await press(page, 'Cancel');
	}
	await page.setViewportSize({ width: viewport.width, height: 800 });
	if (look === '1280-light') await keep('readme-rollout');
});
