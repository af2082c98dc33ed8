// Starts the page: who is signed in, which view the address names, and the keys.
import { html, render } from './html.mjs';
import { state, changed, drawBy, mayAct } from './state.mjs';
import { start } from './login.mjs';
import { begin, read, turn, run, forget } from './sources.mjs';
import { at } from './api.mjs';
import { confirm } from './dialog.mjs';
import { halt } from './actions.mjs';
import { Shell, Welcome, views } from './shell.mjs';
import { Now, overview } from './now.mjs';
import { Rollout } from './rollout.mjs';
import { Box } from './box.mjs';
import { Log } from './log.mjs';
import { Rules } from './rules.mjs';

function View() {
	const [view, first, second, third] = state.route;
	switch (view) {
	case 'rollout': return html`<${Rollout} key=${first} id=${first} />`;
	case 'box': return html`<${Box} key=${first} id=${first} />`;
	case 'log': return html`<${Log} type=${first} id=${second} from=${third} />`;
	case 'rules': return html`<${Rules} />`;
	}
	return html`<${Now} />`;
}

let person = null;

function draw() {
	begin();
	if (person && !state.person) forget();
	person = state.person;
	render(state.person ? html`<${Shell}><${View} /><//>` : html`<${Welcome} />`, document.getElementById('page'));
	turn();
	const name = views.find(([id]) => id === state.route[0])?.[1] ?? 'Now';
	document.title = state.person ? `${[name, state.route.at(-1)].slice(0, state.route.length > 1 ? 2 : 1).join(' – ')} – Wavegate` : 'Wavegate';
}

function route(first) {
	const parts = location.hash.replace(/^#\/?/, '').split('/').map((p) => { try { return decodeURIComponent(p); } catch { return p; } });
	state.route = views.some(([id]) => id === parts[0]) ? parts : ['now'];
	state.notice = null;
	state.dialog = null;
	changed();
	if (!first) queueMicrotask(() => { document.getElementById('main')?.focus({ preventScroll: true }); window.scrollTo(0, 0); });
}

// onPage is the rollout that Shift+H halts: the one that is shown or, on the first view, the only one.
function onPage() {
	if (state.route[0] === 'rollout' && state.route[1]) return read(at`/api/ota/rollouts/${state.route[1]}`, 10, true).value;
	const o = state.route[0] === 'now' && read(overview(), 10, true).value;
	return o && o.active === 1 ? o.items[0].rollout : null;
}

function key(event) {
	if (!state.keys || !state.person || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
	if (event.key === 'H' && event.shiftKey && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
		if (state.dialog?.halts) return confirm();
		const r = onPage();
		if (!state.dialog && r?.status === 'active' && mayAct()) { event.preventDefault(); halt(r); }
		return;
	}
	if (state.dialog || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
	if (event.key === '/') {
		event.preventDefault();
		document.getElementById('search').focus();
	} else if (views[Number(event.key) - 1]) {
		location.hash = `#/${views[Number(event.key) - 1][0]}`;
	}
}

drawBy(draw);
window.addEventListener('hashchange', () => route(false));
window.addEventListener('keydown', key);
route(true);
run();
start().then(() => route(true)); // the sign-in leads back to where the person was
