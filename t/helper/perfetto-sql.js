// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
// perfetto-sql.js ENGINE < QUESTIONS - answers SQL about traces with Perfetto's own trace_processor.
//
// A line "trace FILE" opens a trace, in a new instance of the engine. Any other line is a question about it. Its rows are printed as lines
// of columns with | between them, and then a line "status 0", or what is wrong and "status 1"; a line "end" is answered with "end". One
// process answers about many traces, because the engine takes two seconds of CPU to start. The engine is wasm made for a worker of a
// browser: what it needs of that is made here. ENGINE is where t/helper/perfetto-engine has put it.
"use strict";
const fs = require("fs"), path = require("path"), vm = require("vm"), { pathToFileURL } = require("url");
const [engine] = process.argv.slice(2);
const folder = path.join(engine, "assets/trace-processor");

// --- a worker ---
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
Object.defineProperty(globalThis, "location", { value: { href: pathToFileURL(folder).href + "/" } });
globalThis.XMLHttpRequest = class {
	open() {}
	send() { this.response = fs.readFileSync(path.join(folder, "trace_processor.wasm")); }
};
const Module = WebAssembly.Module;
WebAssembly.Module = function (bytes) {
	if (bytes.length === 23) throw new Error("no"); // the probe for 64-bit memory, of which there is no engine here
	return new Module(bytes);
};
console.warn = (line) => { if (process.env.VERBOSE) console.error(line); };

// --- the engine, at the other end of a port that passes messages at once ---
(async () => {
	const { EngineBase } = await import(pathToFileURL(path.join(folder, "engine.mjs")).href);
	const glue = path.join(folder, "engine_bundle.node.js");
	vm.runInThisContext(fs.readFileSync(glue, "utf8"), { filename: glue });
	const engine = new (class extends EngineBase {
		mode = "WASM";
		id = "test";
		rpcSendRequestBytes(data) { port.onmessage({ data }); }
	})();
	const port = { postMessage: (data) => engine.onRpcResponseBytes(data) };
	self.onmessage({ data: port });
	await new Promise((done) => setTimeout(done, 100)); // until the memory of the engine is there
	const piece = 16 << 20;
	const open = async (trace) => {
		const bytes = fs.readFileSync(trace);
		await engine.resetTraceProcessor({});
		for (let at = 0; at < bytes.length; at += piece) await engine.parse(new Uint8Array(bytes.subarray(at, at + piece)));
		await engine.notifyEof();
	};
	const ask = async (question) => {
		const rows = await engine.query(question), columns = rows.columns();
		for (const row = rows.iter({}); row.valid(); row.next())
			console.log(columns.map((c) => { const v = row.get(c); return v === null ? "null" : String(v); }).join("|"));
		console.log("status 0");
	};
	for await (const line of require("readline").createInterface({ input: process.stdin })) {
		try {
			if (line === "end") console.log("end");
			else if (line.startsWith("trace ")) await open(line.slice(6));
			else await ask(line);
		} catch (e) {
			console.log(String(e.message).split("\n").pop() + "\nstatus 1");
		}
	}
	process.stdout.write("", () => process.exit(0)); // when all is written
})();
