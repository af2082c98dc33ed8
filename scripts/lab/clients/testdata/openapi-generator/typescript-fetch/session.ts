// Makes ten calls with a client that openapi-generator made from the contract. The arguments are the service's URL and
// that of a later service. The tokens are in the environment.
import * as w from './index';

declare const process: { argv: string[]; env: Record<string, string>; exit(code: number): never };

const at = (url: string, variable: string) => new w.Configuration({ basePath: url, accessToken: process.env[variable] });

function expect(got: unknown, want: unknown) {
	if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

// refused is the status and the code of a call that fails.
async function refused(call: Promise<unknown>) {
	try {
		await call;
	} catch (e) {
		const { response } = e as w.ResponseError;
		return [response.status, w.ProblemFromJSON(await response.json()).code];
	}
	return [];
}

async function session(url: string) {
	const owner = at(url, 'OWNER');
	const [channels, rollouts] = [new w.ReleaseChannelsApi(owner), new w.RolloutsApi(owner)];
	expect((await channels.getReleaseChannel({ edgeType: 'gateway-x', channel: 'stable' })).currentVersion, '1.0.0');
	await channels.publishRelease({ edgeType: 'gateway-x', channel: 'canary', publication: {
		currentVersion: '1.1.0', artifactUrl: 'https://artifacts.example.com/gateway-x/1.1.0.tar.gz', sha256: '0b'.repeat(32) } });
	const started = await rollouts.startRolloutRaw({ rolloutPlan: { edgeType: 'gateway-x', channel: 'stable', targetVersion: '1.1.0' }, idempotencyKey: 'roll-1.1.0' });
	const id = started.raw.headers.get('Location')!.split('/').pop()!;
	await rollouts.updateRollout({ id, rolloutMove: { stagedPercent: 10 } });
	expect(await refused(rollouts.updateRollout({ id, rolloutMove: { stagedPercent: 100 } })), [409, 'INVALID_STATE_TRANSITION']);
	await new w.EdgesApi(owner).putEdge({ edgeId: 'box-0027', edgeDraft: { edgeType: 'gateway-x', channel: 'stable', organizationId: 'acme' } });
	const poll = await new w.EdgesApi(at(url, 'BOX_0027')).getManifest({ edgeId: 'box-0027', installed: '1.0.0' });
	expect([poll.version, poll.source], ['1.1.0', 'rollout']);
	expect((await rollouts.getRollout({ id })).stagedPercent, 10);
	const [methods, productId] = [new w.ProductionMethodsApi(at(url, 'ENGINEER')), '7b0f2c52-6e0b-4f53-9f51-0c5d6a3c1e11'];
	await methods.createProductionMethod({ factoryId: 'munich-1', methodDraft: { productId, name: 'Milling' } });
	expect((await methods.listProductionMethods({ factoryId: 'munich-1', productId })).items.map((m) => m.name), ['Milling']);
}

async function later(url: string) {
	expect((await new w.EdgesApi(at(url, 'BOX_0027')).getManifest({ edgeId: 'box-0027' })).source, 'from-tomorrow');
	expect(await refused(new w.ReleaseChannelsApi(at(url, 'OWNER')).getReleaseChannel({ edgeType: 'gateway-x', channel: 'stable' })), [404, 'FROM_TOMORROW']);
}

session(process.argv[2]).then(() => later(process.argv[3])).then(() => console.log('done'), (e) => { console.error(e); process.exit(1); });
