// The moves of a version of a production method, each with its question.
import { html } from './html.mjs';
import { call } from './api.mjs';
import { moved, read } from './sources.mjs';
import { at } from './api.mjs';
import { ask, Reason } from './dialog.mjs';
import { Ago, Said, moment } from './format.mjs';
import { said } from './said.mjs';
import { where } from './methods.mjs';

/** What happens to orders under way. */
export const orderText = (orders) => orders === 'finish' ? 'may finish' : 'stop';

const Effective = () => html`<label class="field">From, if not immediately <input type="datetime-local" name="from" /></label>`;
const begins = (from) => from ? { effectiveFrom: new Date(from).toISOString() } : {};

// told puts the outcome of a move into a sentence.
function told(v, o) {
	const now = (o.holds ?? []).map((h) => `version ${h.version} holds ${where(h.machines)}`).join(', ') || 'nothing holds';
	const next = (o.next ?? []).map((h) => ` Version ${h.version} follows ${where(h.machines)} at ${moment(h.from)}.`).join('');
	const waiting = o.waiting?.length ? ` These machines wait for a signature: ${o.waiting.join(', ')}.` : '';
	return `Version ${v.version} is ${{ in_review: 'in review', draft: 'a draft again', trial: 'on trial', released: 'released', withdrawn: 'withdrawn' }[o.version.status] ?? o.version.status}: ${now}.${next}${waiting}`;
}

// sign sends a change with the reason for its signature.
async function sign(method, path, { reason, ...body }, options) {
	if (!reason) throw new Error('Give the reason. It is kept with your signature.');
	const answer = await call(method, path, { body: { ...body, reason }, ...options });
	moved('/api/factories/');
	return answer;
}

const move = async ({ v, path }, body, reason) => told(v, (await sign('PATCH', path, { ...body, reason }, { ifMatch: `"${v.revision}"` })).value);

const why = html`<${Reason} label="Reason, beside your signature" />`;
const seen = (v) => ({ contentSha256: v.contentSha256 });
const name = (at) => `version ${at.v.version}`;

function submit(on) {
	ask({
		title: `Submit ${name(on)}?`, action: 'Submit', fields: () => why,
		body: () => html`<p>The content is frozen, and waits for ${on.factory}’s approval. It can be returned to draft.</p>`,
		run: ({ reason }) => move(on, { status: 'in_review' }, reason),
	});
}

function back(on) {
	ask({
		title: `Return ${name(on)} to draft?`, action: 'Return to draft', fields: () => why,
		body: () => html`<p>Its authors can save it again. The signatures of this content are removed.</p>`,
		run: ({ reason }) => move(on, { status: 'draft' }, reason),
	});
}

function trial(on) {
	const machines = () => read(at`/api/factories/${on.factory}/machines` + '?limit=100', 120).value;
	ask({
		title: `Put ${name(on)} on trial?`, action: 'Put on trial',
		body: () => html`<p>It holds on exactly these machines. Together they must do all steps that machines do. You sign for the content that you see on this page.</p>`,
		fields: () => html`<fieldset class="checks"><legend>Machines</legend>${machines()?.items.map((m) => html`<label class="check"><input type="checkbox" name=${`machine ${m.code}`} /> ${m.code} <span class="note"><${Said}>${m.name}<//></span></label>`) ?? html`<p class="note">Reading…</p>`}</fieldset><${Effective} />${why}`,
		run: ({ reason, from, ...chosen }) => {
			const codes = Object.keys(chosen).filter((k) => k.startsWith('machine ')).map((k) => k.slice(8));
			if (!codes.length) throw new Error('Choose at least one machine.');
			return move(on, { status: 'trial', machines: codes, ...seen(on.v), ...begins(from) }, reason);
		},
	});
}

function release(on) {
	const tried = on.v.status === 'trial';
	ask({
		title: `Release ${name(on)} to all machines?`, action: 'Release', type: on.factory,
		body: () => html`<p>It holds on every machine of ${on.factory} that its steps name, and replaces what holds there. You sign for the content that you see on this page.</p>`,
		fields: () => html`${tried && html`<label class="field">Record of the first article’s inspection <input name="article" maxlength="128" autocomplete="off" /></label>`}<${Effective} />${why}`,
		run: ({ reason, from, article }) => {
			if (tried && !article) throw new Error('Name the record of the first article. A release after a trial needs it.');
			return move(on, { status: 'released', ...seen(on.v), ...begins(from), ...(article && { firstArticle: { reference: article } }) }, reason);
		},
	});
}

function withdraw(on) {
	const again = on.v.status === 'withdrawn';
	const held = !['draft', 'in_review'].includes(on.v.status);
	ask({
		title: again ? `Withdraw ${name(on)} again?` : `Withdraw ${name(on)}?`, action: again ? 'Change the withdrawal' : 'Withdraw', danger: true,
		body: () => html`<p>${held ? 'It will not hold on any machine again. Machines learn this at their next poll.' : 'It will never hold. Start another version to continue.'}</p>`,
		fields: () => html`${held && html`<label class="field">Orders under way <select name="orders"><option value="stop">stop</option>${on.v.orders !== 'stop' && html`<option value="finish" selected=${on.v.orders === 'finish'}>may finish</option>`}</select></label>
			<label class="field">Older version that holds again, if any <input name="reinstate" inputmode="numeric" autocomplete="off" /></label>`}${why}`,
		run: ({ reason, orders, reinstate }) => {
			if (reinstate && !/^\d{1,9}$/.test(reinstate)) throw new Error('Give the older version by its number.');
			return move(on, { status: 'withdrawn', ...(held && { orders }), ...(reinstate && { reinstate: Number(reinstate) }) }, reason);
		},
	});
}

/** Confirms that a machine no longer has a withdrawn version. */
export function confirmed({ path, v }, m) {
	const { machine } = m;
	ask({
		title: `Confirm that ${machine} no longer has ${name({ v })}?`, action: 'Confirm', type: machine, fields: () => why,
		body: () => html`<p>You sign for it. Do this if the machine cannot report it${said(m).state === 'running' ? html`. <strong>It said that it runs it</strong>, <${Ago} at=${said(m).since} />` : ''}.</p>`,
		run: async ({ reason }) => {
			await sign('PUT', path + at`/machines/${machine}/confirmation`, { reason });
			return `${machine} is confirmed not to have ${name({ v })}.`;
		},
	});
}

/** The moves that a version may make now. The last stops it. */
export function moves(on) {
	const approve = on.author ? [] : [{ name: 'Put on trial', ask: () => trial(on) }, { name: 'Release', ask: () => release(on) }];
	const stop = { name: 'Withdraw', danger: ['trial', 'released'].includes(on.v.status), ask: () => withdraw(on) };
	switch (on.v.status) {
	case 'draft': return [{ name: 'Submit', ask: () => submit(on) }, stop];
	case 'in_review': return [...approve, { name: 'Return to draft', ask: () => back(on) }, stop];
	case 'trial': return [...approve, stop];
	case 'released': return [stop];
	}
	return [{ name: 'Change the withdrawal', ask: () => withdraw(on) }];
}
