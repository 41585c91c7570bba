#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
// names.js - all scripts of ctp-tohtml's page are parts of one: no two of them may declare the same name at the top level.
"use strict";
const fs = require("node:fs"), path = require("node:path"), vm = require("node:vm"), { ok, same, done } = require("./load.js");

const HTML = path.join(__dirname, "../../../formats/html");
const files = fs.readdirSync(HTML, { recursive: true }).filter(file => file.endsWith(".js")).sort();
const sources = files.map(file => fs.readFileSync(path.join(HTML, file), "utf8"));

// A second const, let or class is an error of the language.
function errorOf(source) {
	try {
		new vm.Script(source);
		return "";
	} catch (error) {
		return String(error);
	}
}

// The last of several functions of one name replaces the others, without an error.
const functions = sources.flatMap((source, i) =>
	[...source.matchAll(/^(?:async )?function\*? +([\w$]+)/gm)].map(([, name]) => [name, files[i]]));
const count = name => functions.filter(([other]) => other === name).length;

ok(files.length > 30 && functions.length > 200, "the page has scripts, and these have functions", [files.length, functions.length]);
same(errorOf(sources.join("")), "", "together they are one script, which declares no name twice");
same(functions.filter(([name]) => count(name) > 1), [], "and no function twice");
done();
