// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
// clickhouse-new.js ENGINE DIR [--OPTION=VALUE]... [--query QUERY] - clickhouse-client and a new ClickHouse in one process.
// clickhouse-new.js ENGINE DIR --listen FILE - answers clickhouse-http.c, writes the port to FILE, and ends when it is killed.
//
// ENGINE is where t/helper/clickhouse-engine has put it, and DIR has the database, of one process at a time. Queries come, one or many,
// from --query or standard input; after an INSERT with --query standard input has its rows. Options are settings; --database is not.
"use strict";
const fs = require("fs"), http = require("http");
const [engine, dir, ...options] = process.argv.slice(2);
const native = require(engine);
const connection = native.CreateConnection(dir);

async function answer(settings, query, rows) {
	for (const [name, value] of settings)
		native.QueryWithConnection(connection, name === "database" ? `USE ${value}` : `SET ${name} = ${/^\d+$/.test(value) ? value : `'${value}'`}`, "TabSeparated");
	if (rows) { // the engine takes binary rows from a file alone
		fs.writeFileSync(dir + ".rows", rows);
		query = query.replace(/ FORMAT Native$/, ` FROM INFILE '${dir}.rows' FORMAT Native`);
	}
	return (await native.QueryAsyncConnection(connection, query, "TabSeparated")).bytes;
}

const complaint = (e) => e.message.replace(/^Query failed: /, "") + "\n";

async function body(request) {
	const pieces = [];
	for await (const piece of request) pieces.push(piece);
	return Buffer.concat(pieces);
}

function listen(file) {
	let last = Promise.resolve(); // settings are those of the connection: one query at a time
	const server = http.createServer(async (request, response) => {
		const had = new URL(request.url, "http://localhost").searchParams, query = had.get("query"), data = await body(request);
		const settings = [...had].filter(([name]) => name !== "query" && name !== "wait_end_of_query");
		last = last.then(() => answer(settings, query || data.toString("latin1"), query ? data : null)).then(
			(bytes) => response.writeHead(200).end(bytes), (e) => response.writeHead(500).end(complaint(e)));
	});
	server.listen(0, "127.0.0.1", () => {
		fs.writeFileSync(file + ".new", String(server.address().port));
		fs.renameSync(file + ".new", file);
	});
}

async function once() {
	const settings = [];
	let query = null;
	for (let i = 0; i < options.length; i++) {
		if (options[i] === "--query") query = options[++i];
		else if (options[i].startsWith("--") && options[i].includes("=")) settings.push(options[i].slice(2).split(/=(.*)/s, 2));
	}
	const input = query === null || query.startsWith("INSERT") ? fs.readFileSync(0) : null;
	const bytes = await answer(settings, query ?? input.toString(), query === null ? null : input);
	native.CloseConnection(connection);
	fs.writeSync(1, bytes);
}

if (options[0] === "--listen") listen(options[1]);
else once().catch((e) => { process.stderr.write(complaint(e)); process.exitCode = 1; });
