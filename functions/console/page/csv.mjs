// Saves a list of boxes as a CSV file: all of it, not only the part that is shown.
import { call, query } from './api.mjs';
import { state, changed, tell } from './state.mjs';
import { boxes } from './format.mjs';

const most = 200; // pages, because each is a call

const columns = ['edgeId', 'edgeType', 'channel', 'organizationId', 'factoryId', 'attributes', 'running', 'state', 'waits'];

// cell makes a value safe as a cell: a spreadsheet must not take what a box says for a formula.
function cell(value = '') {
	const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// attributes writes them as `wavegate register` reads them: as JSON if a value has the separator.
function attributes(all = {}) {
	const pairs = Object.entries(all);
	return pairs.some(([, value]) => value.includes(';')) ? JSON.stringify(all) : pairs.map(([name, value]) => `${name}=${value}`).join('; ');
}

/** Reads the boxes of a filter, and gives them to the browser as a file. */
export async function save(of) {
	const is = state.local.csv = { read: 0 };
	changed();
	try {
		const lines = [columns.join(',')];
		let next = '/api/edges' + query({ ...of, limit: '100' });
		for (let pages = 0; next && pages < most; pages++) {
			const { value } = await call('GET', next);
			lines.push(...value.items.map((b) => columns.map((name) => cell(name === 'attributes' ? attributes(b.attributes) : b[name])).join(',')));
			is.read = lines.length - 1;
			changed();
			next = value.next?.slice(value.next.indexOf('/api/'));
		}
		const url = URL.createObjectURL(new Blob([lines.join('\r\n') + '\r\n'], { type: 'text/csv' }));
		Object.assign(document.createElement('a'), { href: url, download: 'boxes.csv' }).click();
		setTimeout(() => URL.revokeObjectURL(url), 60_000);
		tell(next ? `The file has the first ${boxes(is.read)}. For all, use: wavegate boxes --csv --limit 0` : `The file has ${boxes(is.read)}.`);
	} catch (e) {
		tell(e.message, true);
	}
	delete state.local.csv;
	changed();
}
