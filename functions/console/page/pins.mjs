// Pins: boxes that somebody keeps on a version, whatever their channel says.
import { html } from './html.mjs';
import { read } from './sources.mjs';
import { query } from './api.mjs';
import { count, boxes, Moment, Said } from './format.mjs';
import { More, Shown, boxesIn, nameOf } from './parts.mjs';

const many = 0.05; // of a channel's boxes, from which on the page warns

/** A box's pin: who made it, why, and until when. */
export function Pin({ pin }) {
	return html`<dl class="facts"><div><dt>Pinned to</dt><dd><${Said}>${pin.version}<//></dd></div><div><dt>Until</dt><dd><${Moment} at=${pin.until} /></dd></div>
		<div><dt>By</dt><dd><${Said}>${nameOf(pin.by)}<//></dd></div><div><dt>Why</dt><dd><${Said}>${pin.reason}<//></dd></div></dl>`;
}

function List({ edgeType, channel }) {
	const s = read('/api/edges' + query({ edgeType, channel, pinned: 'true', limit: '20' }), 60);
	return html`<${Shown} of=${s} lines=${2} then=${(page) => html`<ul class="plain">${page.items.map((b) => html`<li key=${b.edgeId}><a href=${`#/box/${encodeURIComponent(b.edgeId)}`}>${b.edgeId}</a> <span class="note">${b.pin.version} until <${Moment} at=${b.pin.until} />: <${Said}>${b.pin.reason}<//></span></li>`)}</ul>${page.next && html`<p><a href=${boxesIn({ pinned: 'true', edgeType, channel })}>All of them</a></p>`}`} />`;
}

/** How many boxes of a rollout's channel are pinned or held; of is all of its boxes. */
export function Pins({ r, p, of }) {
	const { pinned = 0, held = 0 } = p;
	if (!pinned && !held) return null;
	const warns = pinned >= many * of;
	return html`<section class="panel" aria-labelledby="pins"><h2 id="pins">Pinned boxes</h2>
		${pinned > 0 && html`<p class=${warns ? 'bad-text' : ''}>${warns && html`<span aria-hidden="true">■ </span>`}${count(pinned)} of ${boxes(of)} ${pinned === 1 ? 'is' : 'are'} pinned${warns ? '. The rollout does not reach them.' : ''}</p>
			<${More} id="pinned" label="Which"><${List} edgeType=${r.edgeType} channel=${r.channel} /><//>`}
		${held > 0 && html`<p>${boxes(held)} ${held === 1 ? 'keeps' : 'keep'} a newer release after a move or the end of a pin</p>`}</section>`;
}
