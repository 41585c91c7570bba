// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// mentions.js - the coroutines and sites that a sentence of the report names.
//
// The report writes "client 17 (#36)", or "coroutine #36" if there is no name. A name is from the traced program, and may look like
// such a mention itself: "worker #5 (#36)" is about #36 alone. So the mentions with a known name are found first, the longest of
// them first, and the rest of the text is searched for what is left.

// known: { row(id): of an id as text, or -1; name(row): or ""; isSite(text); sites: some that are looked for even if they contain
// spaces }. Returns parts of the line in order, { text } or { text, row } or { text, site }.
function mentionsIn(line, known) {
	const found = [], free = (from, to) => found.every(span => to <= span.from || from >= span.to);
	const add = span => free(span.from, span.to) && found.push(span);
	const coroutines = coroutinesIn(line, known);
	coroutines.filter(span => span.named).sort((a, b) => b.to - b.from - (a.to - a.from)).forEach(add);
	sitesIn(line, known).forEach(add);
	coroutines.filter(span => !span.named).forEach(add);
	return partsOf(line, found.sort((a, b) => a.from - b.from));
}

function coroutinesIn(line, { row: rowOf, name: nameOf }) {
	const spans = [];
	for (const match of line.matchAll(/#(0x[0-9a-f]{1,16}|\d{1,20})(?![\w#])/g)) {
		const row = rowOf(String(BigInt(match[1])));
		if (row < 0)
			continue;
		const at = match.index, end = at + match[0].length, name = nameOf(row), before = line.slice(0, at);
		if (name && line[end] === ")" && before.endsWith(name + " ("))
			spans.push({ from: at - name.length - 2, to: end + 1, row, named: true });
		else if (before.endsWith("coroutine "))
			spans.push({ from: at - "coroutine ".length, to: end, row });
		else if (!before || before.endsWith("(") && line[end] === ")")
			spans.push({ from: at, to: end, row });
	}
	return spans;
}

// A site mostly has no spaces. The others are only found if they are in known.sites.
function sitesIn(line, { isSite, sites }) {
	const spans = [];
	for (const site of sites)
		for (let at = line.indexOf(site); site && at >= 0; at = line.indexOf(site, at + site.length))
			spans.push({ from: at, to: at + site.length, site });
	for (const match of line.matchAll(/\S+/g)) {
		const ends = [match[0], match[0].replace(/[,;:.?!)]+$/, "")], site = ends.find(text => text && isSite(text));
		if (site)
			spans.push({ from: match.index, to: match.index + site.length, site });
	}
	return spans.sort((a, b) => b.to - b.from - (a.to - a.from));
}

function partsOf(line, spans) {
	const parts = [];
	let at = 0;
	for (const { from, to, row, site } of spans) {
		if (from > at)
			parts.push({ text: line.slice(at, from) });
		parts.push(site === undefined ? { text: line.slice(from, to), row } : { text: line.slice(from, to), site });
		at = to;
	}
	return at < line.length ? [...parts, { text: line.slice(at) }] : parts;
}
