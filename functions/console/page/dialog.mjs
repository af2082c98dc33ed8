// The question before an action. At most one is open. The browser's own dialog keeps the focus inside and
// returns it.
import { html, fields, Component, createRef } from './html.mjs';
import { state, changed, tell } from './state.mjs';

/**
 * Opens a question.
 * @param {object} question
 * @param {string} question.title
 * @param {() => any} question.body what will happen
 * @param {string} question.action the label of the button that does it
 * @param {boolean} [question.danger]
 * @param {boolean} [question.halts] whether the key that asks to halt confirms it
 * @param {string} [question.type] what the person has to type first
 * @param {() => any} [question.fields] further fields
 * @param {(values: Record<string, string>) => Promise<string>} question.run does it and returns the outcome
 */
export function ask(question) {
	state.dialog = { ...question, busy: false, error: '' };
	state.notice = null;
	changed();
}

/** Confirms the open question, as its button does. */
export function confirm() { /** @type {HTMLFormElement | null} */ (document.querySelector('dialog form'))?.requestSubmit(); }

async function submit(event, d) {
	event.preventDefault();
	if (d.busy) return;
	const values = fields(event.target);
	if (d.type && values.typed !== d.type) {
		d.error = `Type ${d.type} to confirm.`;
		document.getElementById('typed')?.focus();
		return changed();
	}
	Object.assign(d, { busy: true, error: '' });
	changed();
	try {
		const outcome = await d.run(values);
		if (state.dialog === d) state.dialog = null;
		tell(outcome);
	} catch (e) {
		Object.assign(d, { busy: false, error: e.message, faults: e.problem?.errors ?? [] });
		changed();
	}
}

// nameOf is the label of the field that a fault is about; otherwise the words of its name.
export function nameOf(place = '') {
	const name = place.split('/').at(-1);
	const field = /** @type {HTMLInputElement | null} */ (document.querySelector(`[name="${CSS.escape(name === 'overrideReason' ? 'override' : name)}"], [name="${CSS.escape(name)}"]`));
	const label = field?.labels?.[0]?.firstChild?.textContent?.trim();
	return label || name.replace(/([A-Z])|_/g, (_, big = '') => ` ${big.toLowerCase()}`);
}

function close(d) {
	if (state.dialog !== d) return;
	state.dialog = null;
	changed();
}

class Modal extends Component {
	element = createRef();
	componentDidMount() { this.element.current.showModal(); }
	componentWillUnmount() { this.element.current.close(); } // returns the focus
	render({ d }) {
		return html`<dialog ref=${this.element} aria-labelledby="question" onClose=${() => close(d)}>
			<form onSubmit=${(e) => submit(e, d)} novalidate>
				<h2 id="question">${d.title}</h2>
				<div class="what">${d.body()}</div>
				${d.fields?.()}
				${d.type && html`<label class="field"><span>Type <strong class="mono">${d.type}</strong> to confirm</span>
					<input id="typed" name="typed" autocomplete="off" autocapitalize="off" spellcheck=${false} aria-describedby="wrong" /></label>`}
				<div role="alert"><p id="wrong" class="wrong">${d.error}</p>
					${d.error && d.faults?.length > 0 && html`<ul class="reasons">${d.faults.map((f) => html`<li><bdi>${nameOf(f.pointer ?? f.parameter)}</bdi> ${f.detail}</li>`)}</ul>`}</div>
				<div class="buttons">
					<button type="button" class="button" onClick=${() => close(d)}>Cancel</button>
					<button class=${`button ${d.danger ? 'halt' : 'main'}`} autofocus=${!d.type && !d.fields} aria-disabled=${d.busy}>${d.busy ? 'Working…' : d.action}</button>
				</div>
			</form>
		</dialog>`;
	}
}

export function Dialog() { return state.dialog && html`<${Modal} key=${state.dialog.title} d=${state.dialog} />`; }

/** A line of text that is kept in the audit trail. */
export function Reason({ label = 'Reason, for the log (optional)', name = 'reason', focus = false }) {
	return html`<label class="field">${label} <input name=${name} maxlength="256" autocomplete="off" autofocus=${focus} /></label>`;
}
