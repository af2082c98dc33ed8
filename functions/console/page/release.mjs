// Publishing a version, and starting a rollout: which boxes it reaches, and which policy judges it.
import { html, fields } from './html.mjs';
import { moved, read } from './sources.mjs';
import { at, call, query } from './api.mjs';
import { state, changed, may } from './state.mjs';
import { ask } from './dialog.mjs';
import { boxes, count, moment } from './format.mjs';
import { Chip, Empty, More } from './parts.mjs';
import { Field, Others, faultsOf } from './form.mjs';
import { Editor, Meaning, edited, standard } from './policy.mjs';

const name = '[A-Za-z0-9][A-Za-z0-9._-]*';

// facts are what is known about the channel in a form: its version, how many boxes follow it, and its active rollout.
function facts({ edgeType, channel }) {
	if (!new RegExp(`^${name}$`).test(edgeType) || !new RegExp(`^${name}$`).test(channel)) return null;
	return {
		name: `${edgeType}/${channel}`, now: read(at`/api/ota/release-channels/${edgeType}/${channel}`, 60).value,
		progress: read(at`/api/ota/release-channels/${edgeType}/${channel}/progress`, 120).value,
		active: read('/api/ota/rollouts' + query({ edgeType, channel, status: 'active', limit: '1' }), 60).value,
		freeze: read('/api/ota/freeze', 30).value,
	};
}

const asText = (n) => n === undefined ? 'Reading…' : n === null ? 'None yet' : boxes(n.boxes);

function Channel({ of, toStart }) {
	if (!of) return html`<p class="note">Enter a channel to see what it has.</p>`;
	const rollout = of.active?.items[0];
	return html`<dl class="facts"><div><dt>${of.name} has</dt><dd><bdi>${of.now === undefined ? 'Reading…' : of.now?.currentVersion ?? 'Nothing yet'}</bdi></dd></div>${of.now?.requires && html`<div><dt>Which requires</dt><dd><bdi>${of.now.requires}</bdi></dd></div>`}
		<div><dt>Boxes that follow it</dt><dd>${of.now === null ? 'None known' : asText(of.progress)}</dd></div></dl>
		${of.freeze && html`<p class="warn"><span aria-hidden="true">▲ </span>Rollouts are frozen until ${moment(of.freeze.until)}: <bdi>${of.freeze.reason}</bdi></p>`}
		${rollout && html`<p class="warn"><span aria-hidden="true">▲ </span>${rollout.targetVersion} is being rolled out there, at ${rollout.staged_percent} %. ${toStart ? 'A channel has one active rollout at most.' : 'A publication ends it.'}</p>`}`;
}

const channelFields = (f, keep) => html`<div class="filter"><${Field} label="Edge type" name="edgeType" value=${f.values.edgeType} scope=${f.scope} faults=${f.faults} onChange=${keep} placeholder="gateway-x" /><${Field} label="Channel" name="channel" value=${f.values.channel} scope=${f.scope} faults=${f.faults} onChange=${keep} /></div>`;
const groundFields = (f, of) => html`<${Field} label="Reason, for the log (optional)" name="reason" value="" maxlength="256" scope=${f.scope} faults=${f.faults} />${of?.freeze && html`<${Field} label="Reason to override the freeze" name="overrideReason" value="" maxlength="256" scope=${f.scope} faults=${f.faults} />`}`;

const given = (values) => Object.fromEntries(Object.entries(values).filter(([, v]) => v !== ''));

// form is the state of a form. Its values are kept when the page is drawn again.
const form = (id, values) => state.local[id] ??= { scope: id, values, faults: {} };
const keeper = (f) => (event) => { f.values = fields(event.target.closest('form')); changed(); };

// send makes a call and shows faults beside the fields.
async function send(f, method, path, options) {
	f.faults = {};
	try {
		return await call(method, path, options);
	} catch (e) {
		f.faults = faultsOf(e);
		throw e;
	}
}

function Publish({ edgeType, channel }) {
	const f = form('publish', { edgeType, channel });
	const of = facts(f.values);
	const keep = keeper(f);
	const submit = (event) => {
		event.preventDefault();
		f.values = fields(event.target);
		const { edgeType, channel, sizeBytes, file: _, ...body } = f.values;
		const chosen = event.target.elements.file;
		const file = chosen?.files[0];
		const to = facts(f.values);
		if (!to) {
			f.faults = { edgeType: 'must name a channel, with letters, digits and . _ -' };
			return changed();
		}
		ask({
			title: `Publish ${body.currentVersion || 'a version'} on ${to.name}?`, action: 'Publish', type: to.name, danger: true,
			body: () => html`<p>Every box of ${to.name} gets it at its next poll: <strong>${facts(f.values).now === null ? 'none is known' : asText(facts(f.values).progress)}</strong>. To reach 1 % first, publish it on a channel with few boxes, and start a rollout.</p>${file && html`<p>First <bdi>${file.name}</bdi> is uploaded, ${count(file.size)} bytes.</p>`}<${Channel} of=${facts(f.values)} />`,
			run: async () => {
				if (file) Object.assign(body, { sha256: await (await import('./upload.mjs')).keep(edgeType, file), artifactUrl: '' });
				const path = at`/api/ota/release-channels/${edgeType}/${channel}`;
				const was = await call('GET', path).catch((e) => { if (e.status === 404) return null; throw e; });
				const { headers } = await send(f, 'PUT', path, { body: { ...given(body), ...(sizeBytes && !file && { sizeBytes: isNaN(Number(sizeBytes)) ? sizeBytes : Number(sizeBytes) }) }, ...(was ? { ifMatch: was.tag ?? '' } : { ifNoneMatch: '*' }) });
				if (file) chosen.value = ''; // the next publication is of another one
				moved('/api/ota/');
				Object.assign(state.local, { publish: undefined, start: { scope: 'start', values: { edgeType, channel: '', targetVersion: body.currentVersion }, faults: {} } });
				return `${body.currentVersion} is the version of ${to.name}. ${headers.get('Wavegate-Warning') ?? ''}`;
			},
		});
	};
	return html`<section class="panel" aria-labelledby="publish"><h2 id="publish">Publish a version</h2>
		<form onSubmit=${submit} novalidate>${channelFields(f, keep)}<${Channel} of=${of} />
			<${Field} label="Version" name="currentVersion" value=${f.values.currentVersion} scope=${f.scope} faults=${f.faults} />
			${may('put-artifact') && html`<${Field} label="Its file, which the service then keeps" name="file" type="file" scope=${f.scope} faults=${f.faults} hint="Or enter where you keep it:" />`}
			<${Field} label="Where its file is" name="artifactUrl" value=${f.values.artifactUrl} scope=${f.scope} faults=${f.faults} hint="An https address. Leave it empty for a file that the service keeps." />
			<${Field} label="SHA-256 of the file" name="sha256" value=${f.values.sha256} scope=${f.scope} faults=${f.faults} />
			<${Field} label="Size in bytes (optional)" name="sizeBytes" value=${f.values.sizeBytes} scope=${f.scope} faults=${f.faults} inputmode="numeric" />
			<${Field} label="Requires (optional)" name="requires" value=${f.values.requires} scope=${f.scope} faults=${f.faults} hint="A published version that boxes below it are told first." />
			${groundFields(f, of)}
			<${Others} faults=${f.faults} names=${['edgeType', 'channel', 'currentVersion', 'artifactUrl', 'sha256', 'sizeBytes', 'requires', 'reason', 'overrideReason']} />
			<div class="buttons"><button class="button">Publish…</button></div></form></section>`;
}

/** @type {[string, number][]} */
const shares = [['1 %', 0.01], ['10 %', 0.1], ['50 %', 0.5], ['100 %', 1]];

// Reach shows about how many boxes each stage reaches. A box's place depends on its hash, so the shares are not exact.
function Reach({ of }) {
	if (!of) return html`<p class="note">How many boxes it reaches stands here once the channel is named.</p>`;
	const n = of.progress?.boxes;
	if (!n) return html`<p class="note">${of.progress === undefined ? 'Reading how many boxes it reaches…' : 'No box follows this channel yet.'}</p>`;
	return html`<dl class="facts four">${shares.map(([stage, share]) => html`<div><dt>${stage}</dt><dd>${share === 1 ? boxes(n) : `about ${count(Math.round(n * share))}`}</dd></div>`)}</dl>`;
}

function Start({ edgeType, channel }) {
	const f = form('start', { edgeType, channel });
	const of = facts(f.values);
	const keep = keeper(f);
	const e = edited('new', standard());
	const guarded = f.values.guard !== 'none';
	const submit = (event) => {
		event.preventDefault();
		f.values = fields(event.target);
		f.key ??= crypto.randomUUID();
		const { edgeType, channel, targetVersion, reason, overrideReason } = f.values;
		const on = facts(f.values);
		const policy = guarded ? e.policy : null;
		ask({
			title: `Start ${targetVersion || 'a rollout'} on ${edgeType}/${channel}?`, action: 'Start at 1 %',
			body: () => html`<${Reach} of=${facts(f.values)} /><${Channel} of=${facts(f.values)} toStart=${true} />${policy ? html`<${Meaning} policy=${policy} />` : html`<p class="warn"><span aria-hidden="true">▲ </span>No guard judges it: people halt and promote it.</p>`}`,
			run: async () => {
				try {
					const a = await send(f, 'POST', '/api/ota/rollouts', { body: { edgeType, channel, targetVersion, policy, ...given({ reason: reason ?? '', overrideReason: overrideReason ?? '' }) }, key: f.key });
					moved('/api/ota/');
					Object.assign(state.local, { start: undefined, 'policy new': undefined });
					location.hash = `#/rollout/${a.headers.get('Location').split('/').at(-1)}`;
					return `${targetVersion} is started on ${on?.name}, at 1 %.`;
				} catch (error) {
					if (error.status < 500) f.key = undefined; // it was refused, so the next request is a different one
					e.faults = Object.fromEntries(Object.entries(f.faults).filter(([place]) => place.startsWith('policy/')).map(([place, d]) => [place.slice(7), d]));
					throw error;
				}
			},
		});
	};
	return html`<section class="panel" aria-labelledby="start"><h2 id="start">Start a rollout</h2>
		<p>It brings a published version to 1 % of a channel’s boxes, then to 10, 50 and 100 %.</p>
		<form id="start-form" onSubmit=${submit} novalidate>${channelFields(f, keep)}<${Channel} of=${of} toStart=${true} /><${Reach} of=${of} />
			<${Field} label="Version to roll out" name="targetVersion" value=${f.values.targetVersion} scope=${f.scope} faults=${f.faults} hint="It must be published on a channel of this edge type." />
			<${Field} label="Guard" name="guard" scope=${f.scope} value=${f.values.guard} options=${[['policy', 'judges it by the policy below'], ['none', 'none: only people']]} onChange=${keep} />
			${groundFields(f, of)}
			<${Others} faults=${f.faults} names=${['edgeType', 'channel', 'targetVersion', 'reason', 'overrideReason', 'policy']} /></form>
		${guarded && html`${!state.local.policy && html`<${Meaning} policy=${e.meant} />`}<${More} id="policy" label="Change the policy"><${Editor} e=${e} /><//>`}
		<div class="buttons"><button class="button main" form="start-form">Start…</button></div></section>`;
}

/** The forms to publish and to start. */
export function Release({ edgeType = '', channel = '' }) {
	if (!may('publish-release')) return html`<h1>Publish and start</h1><${Empty} title="Only a platform owner can publish and start." />`;
	return html`<h1>Publish and start</h1><div class="columns even"><div class="column"><${Publish} edgeType=${edgeType} channel=${channel} /></div><div class="column"><${Start} edgeType=${edgeType} channel=${channel} /></div></div>`;
}
