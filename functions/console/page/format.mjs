// Numbers, times and durations as people read them.
import { html } from './html.mjs';

const whole = new Intl.NumberFormat('en');
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'long' });

/** A whole number with separators. */
export const count = (n) => whole.format(n ?? 0);

/** A number and its noun: 1 box, 2 boxes. */
export const some = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;

export const boxes = (n) => some(n, 'box', 'boxes');

/** A share in percent, with a digit after the point below 10. */
export function share(part, all) {
	const p = all ? part / all * 100 : 0;
	return `${p >= 10 || Number.isInteger(p) ? Math.round(p) : p.toFixed(1)} %`;
}

/** How long something takes: 12 s, 3 min, 4 h, 2 days. */
export function length(seconds) {
	const s = Math.max(0, Math.round(seconds));
	if (s < 90) return `${s} s`;
	if (s < 5400) return `${Math.round(s / 60)} min`;
	if (s < 129600) return `${Math.round(s / 3600)} h`;
	return `${Math.round(s / 86400)} days`;
}

/** An ISO 8601 duration of days to seconds, such as P1DT12H, in seconds. */
export function seconds(duration) {
	const m = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(duration ?? '');
	return m ? (+m[1] || 0) * 86400 + (+m[2] || 0) * 3600 + (+m[3] || 0) * 60 + (+m[4] || 0) : 0;
}

/** The service's text with its times and durations as people read them: 28 Nov, 10:00 for 2026-11-28T10:00:00Z, and 50 s for PT50S. */
export const plain = (text) => text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, moment).replace(/(?<![\w=-])P(?:\d+D)?(?:T[\dHMS]+)?(?![\w-])/g, (d) => seconds(d) ? length(seconds(d)) : d);

/** The time between a moment and now, in seconds. */
export const since = (moment) => (Date.now() - new Date(moment).getTime()) / 1000;

/** How long ago a moment was. */
export function Ago({ at }) {
	const d = new Date(at);
	return html`<time datetime=${d.toISOString()} title=${full.format(d)}>${length(since(at))} ago</time>`;
}

/** A moment: the time of today, and the date of other days. */
export function Moment({ at }) {
	const d = new Date(at);
	return html`<time datetime=${d.toISOString()} title=${full.format(d)}>${moment(at)}</time>`;
}

export function moment(at) {
	const d = new Date(at);
	return (d.toDateString() === new Date().toDateString() ? clock : day).format(d);
}

/** Text that somebody else wrote. It cannot change the direction of what is around it. */
export function Said({ children }) { return html`<bdi>${children}</bdi>`; }
