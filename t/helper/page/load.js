// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// load.js - the scripts of ctp-tohtml's page under node: they are joined, as make joins them, and run in a context of their own.
const fs = require("node:fs"), path = require("node:path"), vm = require("node:vm");

const HTML = path.join(__dirname, "../../../formats/html");
const GLOBALS = { performance, setTimeout, clearTimeout, atob, DecompressionStream, console, Blob, URL, location: { hash: "" } };

// The given names of the given scripts, as "model/data.js"; globals: what the page would have of a browser besides GLOBALS.
function load(scripts, names, globals = {}) {
	const source = scripts.map(script => fs.readFileSync(path.join(HTML, script), "utf8")).join("");
	return vm.runInContext(`${source}\n;({ ${names.join(", ")} })`, vm.createContext({ ...GLOBALS, ...globals }));
}

// As much of a document as the decoder reads: the elements with the data of a page.
function documentOf(text) {
	const elements = [...text.matchAll(/<(?:script type="application\/[a-z-]+"|[a-z]+) id="(ctp-[a-z0-9-]+)"[^>]*>([^<]*)<\//g)]
		.map(([, id, textContent]) => ({ id, textContent, remove() {} }));
	return {
		getElementById: id => elements.find(element => element.id === id),
		querySelectorAll: selector => elements.filter(({ id }) => id.startsWith(/^\[id\^="(.*)"\]$/.exec(selector)[1])),
	};
}

// TAP: test(what it is, whether it holds, what it is instead).
let tests = 0;

function ok(holds, title, found) {
	console.log(`${holds ? "" : "not "}ok ${++tests} - ${title}`);
	if (!holds && found !== undefined)
		console.log(`# ${JSON.stringify(found)}`);
	process.exitCode ||= holds ? 0 : 1;
}

function same(found, wanted, title) {
	const flat = (_, part) => typeof part === "bigint" ? String(part) : ArrayBuffer.isView(part) ? [...part] : part;
	const plain = value => JSON.stringify(value, flat);
	ok(plain(found) === plain(wanted), title, `${plain(found)}, not ${plain(wanted)}`.slice(0, 500));
}

function done() {
	console.log(`1..${tests}`);
}

module.exports = { load, documentOf, ok, same, done };
