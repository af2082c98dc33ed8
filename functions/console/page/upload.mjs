// A file that the service keeps. It goes from the browser straight to the service's store.
import { at, call } from './api.mjs';

// most is how many bytes a browser can hash: the whole file must be in memory.
const most = 2 ** 30;

const hex = (bytes) => Array.from(new Uint8Array(bytes), (n) => n.toString(16).padStart(2, '0')).join('');

/** The name in the file's address, which has only some characters. */
const named = (name) => name.replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/\.{2,}/g, '.').replace(/^[.-]+|[.-]+$/g, '') || 'artifact';

/**
 * Makes the service keep a file, and returns its SHA-256.
 * @param {string} edgeType
 * @param {File} file
 */
export async function keep(edgeType, file) {
	if (file.size > most) throw new Error('The file has more than 1 GB. Use the command: wavegate publish … --file');
	const bytes = await file.arrayBuffer();
	const sha256 = hex(await crypto.subtle.digest('SHA-256', bytes));
	const path = at`/api/ota/artifacts/${edgeType}/${sha256}`;
	const { value: { upload } } = await call('PUT', path, { body: { sizeBytes: file.size, filename: named(file.name) } });
	if (!upload) return sha256; // it is there
	const answer = await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: bytes, credentials: 'omit' }).catch(() => {
		throw new Error('The store of files cannot be reached.');
	});
	if (!answer.ok && answer.status !== 412) throw new Error(`The store of files answered ${answer.status}.`); // 412: somebody else has sent it
	await kept(path);
	return sha256;
}

// The service reads the bytes, for some seconds a call.
async function kept(path) {
	try {
		await call('PATCH', path, { body: { state: 'kept' } });
	} catch (refusal) {
		if (refusal.code !== 'ARTIFACT_NOT_KEPT' || !refusal.wait) throw refusal;
		await new Promise((over) => setTimeout(over, refusal.wait * 1000));
		await kept(path);
	}
}
