// Every field of an answer that the page reads must be one that the contract has: the page declares no types of answers.
import { readFile } from 'node:fs/promises';
import { load } from 'js-yaml';

const { paths, components } = load(await readFile('shared/contract/openapi.yaml', 'utf8'));
const operations = Object.entries(paths).flatMap(([path, item]) => Object.entries(item).filter(([, op]) => op.responses).map(([method, op]) => ({
	method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, '[^/]+'), parts: path.split('{').length, // fewer are more exact
	answers: Object.fromEntries(Object.entries(op.responses).map(([status, r]) => [status, schemaOf(follow(r))])),
}))).sort((a, b) => a.parts - b.parts);
const schemas = Object.fromEntries(Object.entries(components.schemas).map(([name, s]) => [name, bare(s)]));

/** Has a page complain on its console if it reads a field that the contract does not have. */
export const watchFields = (context) => context.addInitScript(watch, { operations, schemas });

function follow(r) { return r.$ref ? components.responses[r.$ref.split('/').at(-1)] : r; }
function schemaOf(response) { return bare(Object.values(response.content ?? {})[0]?.schema); }

// bare is what a schema says about names.
function bare(s) {
	const kept = Object.entries(s ?? {}).filter(([key]) => ['$ref', 'properties', 'items', 'additionalProperties', 'oneOf', 'anyOf', 'allOf'].includes(key));
	return Object.fromEntries(kept.map(([key, v]) => [key, key === '$ref' ? v.split('/').at(-1) : key === 'properties'
		? Object.fromEntries(Object.entries(v).map(([name, p]) => [name, bare(p)])) : Array.isArray(v) ? v.map(bare) : typeof v === 'object' ? bare(v) : v]));
}

// watch runs in the page, before its own code.
function watch({ operations, schemas }) {
	const whole = (s) => {
		if (!s) return { properties: {} };
		const parts = [s, ...[...(s.$ref ? [schemas[s.$ref]] : []), ...(s.oneOf ?? []), ...(s.anyOf ?? []), ...(s.allOf ?? [])].map(whole)];
		return { properties: Object.assign({}, ...parts.map((p) => p.properties)), items: parts.find((p) => p.items)?.items, additionalProperties: parts.find((p) => p.additionalProperties)?.additionalProperties };
	};
	const seen = (value, schema, where) => {
		if (value === null || typeof value !== 'object') return value;
		const s = whole(schema);
		if (Array.isArray(value)) return value.map((v) => seen(v, s.items, `${where}[]`));
		if (!Object.keys(s.properties).length) return value; // any value, or a map
		const own = Object.fromEntries(Object.entries(value).map(([name, v]) => [name, seen(v, s.properties[name], `${where}.${name}`)]));
		return new Proxy(own, {
			get(o, name) {
				if (typeof name === 'string' && !(name in s.properties) && !s.additionalProperties && !(name in Object.prototype) && !['then', 'toJSON'].includes(name)) console.error(`${where} has no field ${name} in the contract`);
				return o[name];
			},
		});
	};
	const send = window.fetch;
	window.fetch = async (url, options = {}) => {
		const answer = await send(url, options);
		const path = new URL(url, location.href).pathname;
		const op = operations.find((o) => o.method === (options.method ?? 'GET') && new RegExp(`${o.path}$`).test(path));
		if (!op) return answer;
		const read = answer.json.bind(answer);
		answer.json = async () => seen(await read(), op.answers[answer.status] ?? op.answers.default, `${op.method} ${op.path}`);
		return answer;
	};
}
