// The frame of every view: the header with the views, the search, and whether a halt would succeed.
import { html, fields } from './html.mjs';
import { state, changed } from './state.mjs';
import { health } from './api.mjs';
import { failing, most } from './sources.mjs';
import { expires, signIn, over } from './login.mjs';
import { Ago, length, count } from './format.mjs';
import { Dialog } from './dialog.mjs';
import { Patterns } from './charts.mjs';
import { Empty } from './parts.mjs';
import { may, mayAct } from './state.mjs';

/**
 * Each view, and its operations. A person who may call one of them has the view.
 * @type {[string, string, string[]][]}
 */
export const everything = [
	['now', 'Now', ['get-overview', 'get-organization-fleet']], ['rollout', 'Rollouts', ['list-rollouts']], ['box', 'Boxes', ['get-edge', 'list-edge-enrolments']],
	['methods', 'Methods', ['list-production-methods']], ['log', 'Log', ['list-audit-events', 'list-factory-audit-events']], ['rules', 'Rules', ['get-freeze']], ['release', '', ['get-release']], // reached by links
];

/** The views that the signed-in person may see. Before the sign-in, all views. */
export const views = () => everything.filter(([, , operations]) => !state.person || operations.some(may));

/** Whether a halt would succeed, and what would prevent it, before there is an emergency. People who cannot halt see whether the service answers. */
export function readiness() {
	const left = expires() - Date.now();
	const quiet = Date.now() - health.answered;
	const checks = [
		...(mayAct() ? [{ name: 'Role', ok: true, text: 'You may halt.' }] : []),
		{ name: 'Sign-in', ok: left > 5 * 60_000, text: left > 0 ? `Good for ${length(left / 1000)}, and renewed before it ends.` : 'It has ended.' },
		{ name: 'Service', ok: health.reachable && navigator.onLine !== false && quiet < 15_000, text: !health.answered ? 'No answer yet.' : health.reachable && quiet < 15_000 ? `Answers in ${health.roundTrip} ms.` : `Last answer ${length(quiet / 1000)} ago.` },
		{ name: 'Calls', ok: true, text: health.left === null ? 'Not known yet.' : health.left > 0 ? `${count(health.left)} left this minute.` : 'Used up. A halt is let through from a reserve.' },
	];
	return { checks, ready: checks.every((c) => c.ok), waiting: !health.answered };
}

function Light() {
	const { checks, ready, waiting } = readiness();
	const open = Boolean(state.local.light);
	const halts = mayAct();
	const word = waiting ? 'Checking' : halts ? ready ? 'Ready to halt' : 'Not ready to halt' : ready ? 'Connected' : 'Not connected';
	return html`<div class="light-box"><button type="button" class=${`light ${waiting || !halts ? 'wait' : ready ? 'ready' : 'not'}`} aria-expanded=${open} aria-controls="readiness" onClick=${() => { state.local.light = !open; changed(); }}>
			<span class="shape" aria-hidden="true">${waiting ? '…' : ready ? '✓' : '✕'}</span>${word}</button>
		<dl id="readiness" class="readiness" hidden=${!open}>${checks.map((c) => html`<div><dt><span aria-hidden="true">${c.ok ? '✓' : '✕'} </span>${c.name}</dt><dd>${c.text}</dd></div>`)}</dl></div>`;
}

function search(event) {
	event.preventDefault();
	const text = fields(event.target).search.replace(/^\//, '');
	if (!text) return;
	event.target.reset();
	location.hash = text.includes('/') ? `#/log/release-channel/${encodeURIComponent(text)}` : `#/box/${encodeURIComponent(text)}`;
}

function Header() {
	return html`<header class="top">
		<a class="brand" href="#/now"><svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><rect width="32" height="32" rx="7" class="brand-ground" /><path class="brand-bars" d="M6 22V18M12 22V15M18 22V11M24 22V7" /></svg>Wavegate</a>
		<nav aria-label="Views"><ul>${views().filter(([, name]) => name).map(([id, name]) => html`<li><a href=${`#/${id}`} aria-current=${state.route[0] === id ? 'page' : null}>${name}</a></li>`)}</ul></nav>
		${may('get-update-why') && html`<form class="search" role="search" onSubmit=${search}><label class="unseen" for="search">Find a box, or a channel’s log</label><input id="search" name="search" type="search" placeholder="Find a box" autocomplete="off" autocapitalize="off" spellcheck=${false} /></form>`}
		<${Light} />
		<div class="person"><bdi>${state.person.user}</bdi><button type="button" class="link" onClick=${() => over('')}>Sign out</button></div>
	</header>`;
}

// Trouble shows what is out of date, and when it is read again.
function Trouble() {
	const f = failing();
	const wait = Math.ceil((health.waitUntil - Date.now()) / 1000);
	const offline = navigator.onLine === false;
	if (!f && wait <= 0 && !offline) return null;
	const why = offline ? 'Your computer is offline.' : wait > 0 ? 'You have used up your calls for this minute.' : f.error.status === 403 ? 'Your role cannot read all of this.' : f.error.message;
	const again = offline ? 'It continues when you are back online.' : `Again in ${Math.max(wait, f?.seconds ?? 0)} s.`;
	return html`<p class="trouble"><span aria-hidden="true">▲ </span><span role="status">Not up to date. ${why}</span> ${again} ${f?.at ? html`What you see is from <${Ago} at=${f.at} />.` : ''}</p>`;
}

function Notice() {
	const n = state.notice;
	return html`<div class="notices" role="status">${n && html`<p class=${`notice ${n.bad ? 'bad' : ''}`}>${n.text} <button type="button" class="link" onClick=${() => { state.notice = null; changed(); }}>Close<span class="unseen"> this message</span></button></p>`}</div>`;
}

function Keys() {
	return html`<footer class="foot"><details><summary>Keys</summary>
		<ul class="plain"><li><kbd>1</kbd> to <kbd>${views().length}</kbd> views</li>${may('get-update-why') && html`<li><kbd>/</kbd> search</li>`}${mayAct() && html`<li><kbd>Shift</kbd>+<kbd>H</kbd> asks to halt the rollout on this page; pressed again, halts it</li>`}</ul>
		<label class="check"><input type="checkbox" checked=${state.keys} onChange=${(e) => { state.keys = e.target.checked; changed(); }} /> Use these keys</label></details>
		<p class="note">This page makes at most ${most} calls a minute on its own.</p></footer>`;
}

/** What is shown to people who are not signed in. */
export function Welcome() {
	return html`<main class="welcome" id="main"><svg viewBox="0 0 32 32" width="56" height="56" aria-hidden="true"><rect width="32" height="32" rx="7" class="brand-ground" /><path class="brand-bars" d="M6 22V18M12 22V15M18 22V11M24 22V7" /></svg>
		<h1>Wavegate</h1><p>Watch rollouts and halt them. Release production methods and recall them.</p>
		${state.ended && html`<p class="warn" role="alert"><span aria-hidden="true">▲ </span>${state.ended}</p>`}
		${state.starting ? html`<p role="status">Signing in…</p>` : html`<button type="button" class="button main" onClick=${() => signIn()}>Sign in</button>`}</main>`;
}

/** What is shown to people who may see no view. */
export function Nothing() {
	const { roles } = state.person;
	return html`<h1>Nothing to see</h1><${Empty} title="Your account has no role that this page is for."><p>${roles?.length ? html`It has: <bdi>${roles.join(', ')}</bdi>.` : 'It has none.'} Ask a platform owner for one of: platform_owner, platform_viewer, organization_admin, production_engineer, fleet_viewer, fleet_installer.</p><//>`;
}

export function Shell({ children }) {
	return html`<a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); document.getElementById('main').focus(); }}>Skip to the content</a>
		<${Patterns} /><${Header} /><section aria-label="Messages"><${Trouble} /><${Notice} /></section>
		<main id="main" tabindex="-1">${children}</main><${Keys} /><${Dialog} />`;
}
