// What was said about a machine and a version: the same as `wavegate methods machines` says.

/** @param {any} m A machine of a version's list. @returns {{state?: string, since?: string, by?: string}} */
export function said(m) {
	if (m.confirmed && m.clear) return { state: 'confirmed', since: m.confirmed.at, by: `person ${m.confirmed.name ?? m.confirmed.userId}` };
	if (m.state) return { state: m.state, since: m.since, by: 'machine' };
	return m.waits ? { state: 'waits' } : {};
}

/** @param {any} m @returns {string} */
export const orders = (m) => [...(m.orders ?? []).map((/** @type {any} */ o) => o.order), ...(m.ordersUnlisted ? ['and more'] : [])].join(', ');

/** @param {any} d A deviation. @returns {string} */
export const deviation = (d) => `${d.state} content ${d.contentSha256.slice(0, 12)}`;
