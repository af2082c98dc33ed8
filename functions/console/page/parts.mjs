// Small parts that several views show.
import { html } from './html.mjs';
import { call, query } from './api.mjs';
import { state, changed, tell, may } from './state.mjs';
import { Ago, Said, length } from './format.mjs';

/** A plant, with a link for those who may see it. */
export const PlantLink = ({ id }) => may('get-factory') ? html`<a href=${`#/box/plant/${id}`}>${id}</a>` : id;

/** A version, which leads to what is known of it. */
export const VersionLink = ({ edgeType, version }) => may('get-release') ? html`<a href=${`#/release/${edgeType}/${encodeURIComponent(version)}`}><${Said}>${version}<//></a>` : html`<${Said}>${version}<//>`;

/** The address of the list of boxes, filtered. */
export const boxesIn = (filter) => `#/box/in/${encodeURIComponent(query(filter).slice(1))}`;

/** How a rollout or a verdict stands: a shape and a word, and a colour for those who see it. */
export function Chip({ kind, children }) {
	const shape = { good: '●', act: '▲', hold: '❚❚', bad: '■', quiet: '○', wait: '◆' }[kind] ?? '○';
	return html`<span class=${`chip ${kind}`}><span class="shape" aria-hidden="true">${shape}</span>${children}</span>`;
}

/** Who has marked a rollout's trouble as seen, and when. */
export const Seen = ({ r }) => r.seen ? html`<p class="note">Seen by <bdi>${nameOf(r.seen.by)}</bdi>, <${Ago} at=${r.seen.at} /></p>` : null;

/** The name of a rollout's channel. */
export const channelOf = (r) => `${r.edgeType}/${r.channel}`;

/** Who did something. The guard is distinguished from a person of that name. */
export const nameOf = (who) => who?.issuer === 'urn:wavegate:guard' ? 'Guard' : who?.userId ?? '';

/** What is shown until there is something to show. */
export function Loading({ lines = 3 }) {
	return html`<div class="loading" role="status"><span class="unseen">Reading…</span>${Array.from({ length: lines }, () => html`<span class="line" aria-hidden="true"></span>`)}</div>`;
}

const later = {}; // what was opened, by its name

/** Loads a module, and does something with it. */
export const once = (load, act) => load().then(act, () => tell('This part of the page could not be loaded. Load the page again.', true));

/** A part of the page that is loaded when it is first opened. load imports its module, which exports it under the name. */
export function Later({ name, load, ...props }) {
	later[name] ??= (load().then((m) => { later[name] = { Part: m[name] }; changed(); }, () => { later[name] = { failed: true }; changed(); }), {});
	const { Part, failed } = later[name];
	if (Part) return html`<${Part} ...${props} />`;
	return html`<h1>${name}</h1>${failed ? html`<${Empty} title="This part of the page could not be loaded."><p><button type="button" class="button" onClick=${() => location.reload()}>Load the page again</button></p><//>` : html`<${Loading} />`}`;
}

/** What is shown if there is nothing, and what to do about it. */
export function Empty({ title, children }) {
	return html`<div class="empty"><p class="lead">${title}</p>${children}</div>`;
}

/** What is shown for a source: its value, a placeholder while it is read, or why it is missing. */
export function Shown({ of, lines, none, then }) {
	if (of.value === undefined) {
		return of.error ? html`<p class="note bad-text"><span aria-hidden="true">▲ </span>${of.error.message}</p>` : html`<${Loading} lines=${lines} />`;
	}
	return of.value === null && none ? none() : then(of.value);
}

/** A table that scrolls on its own if it is too wide. The first cell of a row names the row. */
export function Table({ label, head, rows }) {
	return html`<div class="wide" tabindex="0" role="region" aria-label=${`Table: ${label}`}><table>
		<thead><tr>${head.map((h) => html`<th scope="col">${h}</th>`)}</tr></thead>
		<tbody>${rows.map(([first, ...cells]) => html`<tr><th scope="row">${first}</th>${cells.map((c) => html`<td>${c}</td>`)}</tr>`)}</tbody></table></div>`;
}

const none = { items: [], busy: false, error: '' };

/**
 * What is on the pages of a list that were read so far, and a button that reads on: until there is what found finds in a
 * page, but only for some pages, because each is a call. The first page is read again meanwhile, so a thing may be on two.
 */
export function further(path, first, idOf, found, label = 'Show more') {
	const more = state.local[`more ${path}`] ?? none;
	const next = 'next' in more ? more.next : first?.next;
	const go = async () => {
		let is = { ...more, next };
		const put = (change) => { is = { ...is, ...change }; state.local[`more ${path}`] = is; changed(); };
		put({ busy: true, error: '' });
		try {
			for (let pages = 0; is.next && pages < 5; pages++) {
				const page = (await call('GET', is.next.slice(is.next.indexOf('/api/')))).value;
				put({ items: [...is.items, ...page.items], next: page.next });
				if (found(page)) break;
			}
			put({ busy: false });
		} catch (e) {
			put({ busy: false, error: e.message });
		}
	};
	const known = new Set(first?.items.map(idOf));
	return { items: [...first?.items ?? [], ...more.items.filter((one) => !known.has(idOf(one)))], next,
		button: html`${next && html`<button type="button" class="button" aria-disabled=${more.busy} onClick=${go}>${more.busy ? 'Reading…' : label}</button>`}${more.error && html`<p class="bad-text" role="alert">${more.error}</p>`}` };
}

/** The age of what is shown. */
export function Age({ of, prefix = 'Updated' }) {
	return of.at ? html`<span class="age">${prefix} <${Ago} at=${of.at} /></span>` : null;
}

/** Offers an action as a command for the terminal. */
export function Command({ text }) {
	const copy = async () => {
		try {
			await navigator.clipboard.writeText(text);
			tell('The command is copied.');
		} catch {
			tell('The browser does not let this page copy. Select the command instead.', true);
		}
	};
	return html`<div class="command"><code>${text}</code><button type="button" class="button small" onClick=${copy}>Copy<span class="unseen"> the command ${text}</span></button></div>`;
}

/** A part of a view that can be opened. It stays open while the view is drawn again. */
export function More({ id, label, children }) {
	const open = Boolean(state.local[id]);
	const toggle = () => { state.local[id] = !open; changed(); };
	return html`<div class="more"><button type="button" class="link" aria-expanded=${open} onClick=${toggle}><span aria-hidden="true">${open ? '▾' : '▸'} </span>${label}</button>${open && html`<div>${children}</div>`}</div>`;
}

/** A window of a policy: mon to thu, 22:00–04:00 Europe/Berlin. */
export function windowText(w) {
	const all = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
	const names = { mon: 'Mon', tue: 'Tue', wed: 'Wed', thu: 'Thu', fri: 'Fri', sat: 'Sat', sun: 'Sun' };
	const days = all.filter((d) => w.days.includes(d));
	const row = days.length > 2 && all.indexOf(days.at(-1)) - all.indexOf(days[0]) === days.length - 1;
	const when = days.length === 7 ? 'Every day' : row ? `${names[days[0]]} to ${names[days.at(-1)]}` : days.map((d) => names[d]).join(', ');
	return `${when}, ${w.from} to ${w.to}, ${w.timeZone}`;
}

/** How long a stage has soaked, and of how long: 4 of 24 h. */
export const soaked = (d) => `${length(Math.min(d.soakedSeconds, d.soakSeconds))} of ${length(d.soakSeconds)}`;
