// Serves an empty page from each of three origins until it is stopped.
import { createServer } from 'node:http';

const page = '<!doctype html><title>A page</title><link rel="icon" href="data:,">';
const serve = () => new Promise((served) => {
	const server = createServer((_, answer) => answer.setHeader('Content-Type', 'text/html').end(page));
	server.listen(0, '127.0.0.1', () => served(`http://127.0.0.1:${server.address().port}`));
});
console.log(`one ${await serve()} two ${await serve()} stranger ${await serve()} `);
