// The world in the middle of failing rollouts: one at 10 percent that goes wrong, one that goes well, one that was
// halted, and a channel without a rollout.
import { writeFile } from 'node:fs/promises';
import { test } from '@playwright/test';
import { as, counted, each, engineer, enrol, install, move, plants, poll, publish, reached, register, report, says, start, tell, until } from './world.mjs';

const n = Number(process.env.BOXES || 240);
const slow = Boolean(process.env.SLOW);

// The reports of the bad boxes, in turn.
const failures = [
	['boot', 'no heartbeat within 90 s'], ['boot', 'kernel panic, slot b'], ['health', 'line controller does not answer'],
	['boot', 'no heartbeat within 90 s'], ['install', 'cannot write /boot'],
];

test('a fleet in the middle of a failing rollout', async () => {
	for (const id of plants) await as('seed', 'PUT', `/api/factories/${id}`, { organizationId: 'acme', name: id });
	const boxes = await register('gateway-x', 'stable', '1.0.0', 'box-', n);
	const good = await goesWell(Math.max(Math.floor(n / 15), 40));
	const halted = await goesOn();
	const [waits] = await enrol(['box-9001', 'box-9002'], 'box-9100', 'box-9101');
	const methods = await produces();
	const failing = await start('otto', 'gateway-x', '1.1.0', {
		...(slow && { guard: { decideWithin: 'PT1M' } }), // failures count as bad within the simulated minutes
		promote: { auto: true, windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '06:00', to: '22:00', timeZone: 'Europe/Berlin' }] },
		approvals: { before: [50, 100] },
	});
	await install(reached('gateway-x', '1.1.0', boxes, 1), '1.0.0', '1.1.0');
	await counted(failing, slow);
	await move('otto', failing, { staged_percent: 10, reason: 'All boxes of the first stage are fine', overrideReason: 'Agreed with the plants' });
	// The guard compares with boxes that the stage does not reach.
	await each(reached('gateway-x', '1.1.0', boxes, 50).slice(0, 200), (box) => poll(box, '1.0.0'));
	const second = reached('gateway-x', '1.1.0', boxes, 10);
	await spoil(failing, second);
	const scene = { failing, good, halted, waits, ...methods, box: second[2], waiting: second.at(-1) };
	await writeFile('.dev/browser/scene.json', JSON.stringify(scene));
});

// spoil plays the second stage: most boxes install the release, some fail, and some have not reported yet.
async function spoil(failing, boxes) {
	const told = boxes.slice(0, Math.floor(boxes.length * 4 / 5));
	const every = Math.floor(told.length / Math.max(3, Math.floor(boxes.length * 28 / 1000))); // bad boxes are spread over the stage
	const size = Math.floor(told.length / (slow ? 9 : 3)) + 1;
	for (let from = 0; from < told.length; from += size) {
		await each(told.slice(from, from + size), async (box, i) => {
			const at = from + i;
			await tell(box, '1.0.0', '1.1.0');
			if (at % every === 2) {
				const [code, detail] = failures[Math.floor(at / every) % failures.length];
				await report(box, { version: '1.1.0', outcome: 'failed', code, detail });
			} else if (at % 31 === 5) {
				await report(box, { version: '1.1.0', outcome: 'deferred', until: new Date(Date.now() + 3600_000).toISOString().replace(/\.\d+/, '') });
			} else if (from + size < told.length) { // the last ones are still installing
				await poll(box, '1.1.0');
			}
		});
		await counted(failing, slow);
	}
}

// goesWell plays a rollout that first the guard and then people promote, and returns its path.
async function goesWell(n) {
	const [type, was, target] = ['gateway-y', '2.3.1', '2.4.0'];
	await publish('mia', type, 'stable', was);
	const boxes = await register(type, 'stable', was, 'cell-', n);
	const path = await start('mia', type, target, {
		guard: { silentAfter: 'PT5S', decideWithin: 'PT2S' }, promote: { auto: true, soak: { 1: 'PT2S', 10: 'PT12H' } },
	});
	const [first, second, third] = [1, 10, 50].map((stage) => reached(type, target, boxes, stage));
	await install(first, was, target);
	await until('the guard does not promote', async () => { // the boxes keep polling
		await each(first, (box) => poll(box, target));
		return (await as('mia', 'GET', path)).value.staged_percent === 10;
	});
	await install(second, was, target);
	await move('mia', path, { staged_percent: 50, reason: 'The night shift wants it before Monday' });
	await install(third.slice(0, Math.floor(third.length * 2 / 3)), was, target);
	return path;
}

// goesOn plays everything else.
async function goesOn() {
	await publish('mia', 'press-line', 'stable', '7.0.2');
	const path = await start('mia', 'press-line', '7.1.0');
	await move('mia', path, { status: 'halted', reason: 'The torque readings are off by ten' });
	await as('otto', 'PUT', '/api/rate-limits/users/mes-integration?issuer=https%3A%2F%2Fpeople.wavegate.localhost', { limit: 3000, reason: 'Line controllers of hall 2 poll for orders' });
	return path;
}

// content is the content of a method with two steps.
const content = (current, time = 'PT32M') => ({
	form: 1, basis: { quantity: 40, unit: '{piece}' }, steps: [
		{ id: '40', name: 'Degrease', setup: 'PT5M', run: { time: 'PT10M', per: { quantity: 40, unit: '{piece}' } }, instructions: 'Rinse twice in deionized water.' },
		{
			id: '50', name: 'Anodize', equipment: { class: 'anodizing' }, run: { time, per: { quantity: 40, unit: '{piece}' } },
			parameters: [{ id: 'current-density', name: 'Current density', target: current, min: 1.4, max: 1.6, unit: 'A/dm2', critical: true }],
			checks: [{ id: 'thickness', name: 'Thickness of the layer', min: 12, max: 15, unit: 'um', critical: true, every: { quantity: 10, unit: '{piece}' } }],
			outputs: [{ material: 'housing-anodized', quantity: 40, unit: '{piece}' }],
		},
	],
});

// produces plays two methods: the second version of one waits for an approval, and the other is recalled.
async function produces() {
	const factory = '/api/factories/munich-1';
	for (const [code, edgeId] of [['tank-1', 'box-0001'], ['tank-2', 'box-0007'], ['tank-3', 'box-0013']]) {
		await engineer('eva', 'PUT', `${factory}/machines/${code}`, { name: `Tank of hall ${code.at(-1)}`, classes: ['anodizing'], edgeId });
	}
	const create = async (name) => (await engineer('eva', 'POST', `${factory}/production-methods`, { productId: '7c9e6679-7425-40de-944b-e07fc1f90ae7', name })).headers.get('Location').split('/').at(-1);
	const save = async (id, number, made) => {
		const version = `${factory}/production-methods/${id}/versions/${number}`;
		await engineer('eva', 'PUT', `${version}/content`, made);
		return (await engineer('eva', 'GET', version)).value.contentSha256;
	};
	const go = (user, id, number, body) => engineer(user, 'PATCH', `${factory}/production-methods/${id}/versions/${number}`, body);
	const release = async (id, number, made) => {
		const contentSha256 = await save(id, number, made);
		await go('eva', id, number, { status: 'in_review', reason: 'Ready' });
		await go('emil', id, number, { status: 'released', contentSha256, reason: 'Samples are within limits' });
		return contentSha256;
	};
	const method = await create('Housing, anodized');
	await release(method, 1, content(1.5));
	await save(method, 2, content(1.55, 'PT30M'));
	await go('eva', method, 2, { status: 'in_review', reason: 'Less time in the tank' });
	const recalled = await create('Cover, anodized');
	const contentSha256 = await release(recalled, 1, content(1.45));
	for (const [box, machine] of [['box-0001', 'tank-1'], ['box-0007', 'tank-2']]) await says(box, 'munich-1', machine, recalled, { version: 1, contentSha256, state: 'running', order: `PO-${machine}` });
	await go('emil', recalled, 1, { status: 'withdrawn', orders: 'stop', reason: 'The layer is too thin' });
	await says('box-0001', 'munich-1', 'tank-1', recalled, { version: 1, contentSha256, state: 'finished', order: 'PO-tank-1' });
	return { method: `munich-1/${method}`, recalled: `munich-1/${recalled}` };
}
