// Pinning a box to a version, and ending that.
import { html } from './html.mjs';
import { at, call } from './api.mjs';
import { moved } from './sources.mjs';
import { ask, Reason } from './dialog.mjs';
import { Said, moment } from './format.mjs';

async function put(edge, pin) {
	const { edgeId, edgeType, channel, organizationId, revision } = edge;
	await call('PUT', at`/api/edges/${edgeId}`, { body: { edgeType, channel, organizationId, pin }, ifMatch: `"${revision}"` });
	moved('/api/edges');
}

/** Asks for a version and pins the box to it, whatever its channel says. w is why the box is told its version. */
export function pin(edge, w) {
	ask({
		title: `Pin ${edge.edgeId}?`, action: 'Pin',
		body: () => html`<p>It runs <strong><${Said}>${w.running ?? 'an unknown version'}<//></strong>. Until the pin ends, its channel and rollouts do not reach it.</p>`,
		fields: () => html`<label class="field">Version, also an older one <input name="version" defaultValue=${edge.pin?.version ?? w.running ?? ''} autocomplete="off" autocapitalize="off" spellcheck=${false} autofocus=${true} /></label>
			<label class="check"><input type="checkbox" name="allowDowngrade" /> It may go back to an older version than it runs</label>
			<label class="field">Days <input name="days" type="number" min="1" max="365" defaultValue="30" /></label><${Reason} label="Reason, for whoever asks why" />`,
		run: async ({ version, allowDowngrade, days, reason }) => {
			if (!version) throw new Error('Enter the version.');
			if (!reason) throw new Error('Give the reason.');
			const until = new Date(Date.now() + Number(days) * 86_400_000 - 60_000).toISOString();
			await put(edge, { version, reason, until, ...(allowDowngrade && { allowDowngrade: true }) }).catch((e) => {
				throw e.code === 'DOWNGRADE_REFUSED' ? new Error(`${edge.edgeId} runs a newer version than ${version}, or was told one. Say above that it may go back.`) : e;
			});
			return `${edge.edgeId} is pinned to ${version} until ${moment(until)}.`;
		},
	});
}

/** Ends the pin of a box. */
export function unpin(edge) {
	ask({
		title: `End the pin of ${edge.edgeId}?`, action: 'End the pin',
		body: () => html`<p>It follows <span class="mono">${edge.edgeType}/${edge.channel}</span> again. While that has an older version than the box runs, the box keeps what it runs.</p>`,
		run: async () => {
			await put(edge, null);
			return `${edge.edgeId} follows ${edge.edgeType}/${edge.channel} again.`;
		},
	});
}
