// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// corotable.js - the tables of all coroutines and of wakes by pair. Both follow what is selected: the search, a range, a coroutine.

// What a coroutine can be at the end, by state: as text, and in the address.
const END_TEXTS = ["not started", "suspended", "runnable", "running", "unknown", "ended"];
const END_NAMES = ["born", "suspended", "runnable", "running", "unknown", "ended"];
const SHORT_STAY = 0.1, AROUND_WAKE = 0.01; // of the trace

// The timeline with a coroutine selected; zoomed to its life if that would be only a few pixels wide.
function rowAddress(app, row) {
	const { model } = app, { born, end } = model.coros, life = Math.max(NARROWEST_NS, end[row] - born[row]);
	const around = [Math.max(0, born[row] - life), Math.min(model.span, end[row] + life)];
	return app.link("timeline", null, { row: model.id(row), t: life < model.span * SHORT_STAY ? around : undefined });
}

// The name of a coroutine, as a link to its row in the timeline; main: a click on the row follows it.
function rowNode(app, row, address = rowAddress(app, row), main = true) {
	const name = nameOf(app.model, row), text = name || "no name";
	return el("a", { href: address, class: main ? "goes" : null, title: `${clean(text, 2000)}: show it in the timeline` },
		el("bdi", { class: name ? "said" : "said faint" }, shorten(text, 60)));
}

function idNode(app, row) {
	const { model } = app;
	return el("a", { href: app.link("coro", model.id(row)), title: "its own page" }, model.idText(row));
}

function nameOf({ meta, coros }, row) {
	return meta.strings[coros.name[row]];
}

// A column by a list of texts that many rows share, as names and sites are.
function sharedColumn(title, texts, numbers, show, more) {
	return {
		title, show, fields: [{ title, get: row => texts[numbers[row]], text: true }],
		keys: async breath => {
			const rank = await rankTexts(texts, breath);
			return [row => rank[numbers[row]]];
		}, ...more,
	};
}

// Exact for ids of 64 bits: by their lower halves, then by their upper ones.
function idKeys(ids) {
	const words = new Uint32Array(ids.buffer, ids.byteOffset, 2 * ids.length);
	return async () => [row => words[2 * row], row => words[2 * row + 1]];
}

// Of each row that waits at t: where it was suspended, as a number of a place, and since when; else 0 and Infinity.
function waitsAt(model, t) {
	const { coros, events, lanes, n } = model, place = new Uint32Array(n), since = new Float64Array(n).fill(Infinity);
	for (let row = 0; row < n; row++) {
		const state = t >= coros.born[row] && t < coros.died[row] ? lanes.stateBefore(row, lanes.after(row, t)) : DEAD;
		const wait = state === SUSPENDED || state === RUNNABLE ? model.waitAt(row, lanes.after(row, t) - 1) : -1;
		if (wait < 0)
			continue;
		place[row] = events.arg[wait];
		since[row] = events.time[wait];
	}
	return { place, since };
}

function coroutineColumns(app, counts) {
	const { range } = app.view, waits = waitsAt(app.model, range ? range[1] : app.model.span);
	const since = row => waits.since[row] < Infinity ? waits.since[row] : null, { model } = app, { coros, meta } = model, spent = state => row => counts.ns(row, state);
	const text = row => endText(model, counts, row);
	const wakers = row => ({ href: app.link("wakes", null, { row: model.id(row) }), title: "which coroutines woke it" });
	return [
		{
			title: "state", about: "when the trace ended", kind: "state", keys: async () => [counts.state],
			show: row => el("span", null, el("i", { class: END_NAMES[counts.state(row)] }), text(row)),
			fields: [{ title: "state", get: text }],
		},
		sharedColumn("name", meta.strings, coros.name, row => rowNode(app, row), { main: true }),
		{
			title: "id", number: true, about: "leads to the page of the coroutine", show: row => idNode(app, row),
			keys: idKeys(coros.coro), fields: [{ title: "id", get: row => coros.coro[row] }],
		},
		...meta.origins ? [sharedColumn("origin", meta.origins.map(({ name }) => name), coros.origin, row => quoted(model.originOf(row).name, 40))] : [],
		sharedColumn("suspended at", meta.places, waits.place, row => waits.place[row] ? siteCell(app, model.place(waits.place[row])) : "",
			{ kind: "text place", about: "where it waits when the trace ends, or the range" }),
		momentColumn(model, "waits since", since, { about: "when that wait began", step: Math.max(1, model.span / 1000) }),
		...timeColumns(lengthColumn("alive", counts.life, { about: "from its birth to its end, or that of the trace" }),
			lengthColumn("running", spent(RUNNING), { about: "a thread executed it" }),
			lengthColumn("runnable", spent(RUNNABLE), { about: "woken, but not yet resumed" }),
			lengthColumn("waiting", spent(SUSPENDED), { about: "all its waits: suspended, and not woken" }),
			lengthColumn("unknown", spent(UNKNOWN), { about: "events are missing there" })),
		countColumn("resumes", row => counts.resumes[row]),
		numberColumn("woken", row => counts.wakes[row], (n, row) => n ? el("a", wakers(row), count(n)) : "0",
			{ about: "how often it was woken, without those that changed nothing: it was runnable already" }),
		sharedColumn("spawn site", meta.places, coros.spawn, row => siteCell(app, model.place(coros.spawn[row])),
			{ kind: "text place" }),
	];
}

// A coroutine that was destroyed has not returned.
function endText({ coros }, counts, row) {
	const state = counts.state(row);
	return state === DEAD && coros.flags[row] & DESTROYED ? "destroyed" : END_TEXTS[state];
}

// A test of rows for a text: of names and sites once each, of ids only if the text can be a part of one.
function coroutineMatches(model, counts) {
	return text => {
		const having = list => Uint8Array.from(list, word => word.toLowerCase().includes(text)), { coros, meta } = model;
		const names = having(meta.strings), places = having(meta.places), states = having(END_TEXTS);
		const origins = having((meta.origins || []).map(({ name }) => name));
		const destroyed = "destroyed".includes(text), number = /^#?[0-9a-fx]+$/.test(text);
		return row => names[coros.name[row]] || places[coros.spawn[row]] || states[counts.state(row)] || coros.origin && origins[coros.origin[row]]
			|| destroyed && endText(model, counts, row) === "destroyed" || number && model.idText(row).includes(text);
	};
}

// The tests of rows for what is selected: the search and the range.
function selectionTests(app, counts) {
	const found = app.matches(), tests = [];
	if (found) {
		const isFound = new Uint8Array(app.model.n);
		for (const row of found)
			isFound[row] = 1;
		tests.push(row => isFound[row]);
	}
	return app.view.range ? [...tests, counts.lives] : tests;
}

function stateTest(counts, model, name) {
	const state = END_NAMES.indexOf(name);
	if (name === "alive")
		return row => counts.state(row) !== DEAD;
	if (name === "destroyed")
		return row => endText(model, counts, row) === "destroyed";
	return state >= 0 ? row => counts.state(row) === state : null;
}

function stateSelect(app, changed) {
	const option = (value, text) => el("option", { value, selected: (app.view.state || "") === value }, text);
	const ends = END_NAMES.map((name, state) => option(name, END_TEXTS[state]));
	const select = el("select", { onchange: event => changed(event.target.value) },
		option("", "any"), option("alive", "alive"), ...ends, option("destroyed", "destroyed"));
	return el("label", null, "state at the end ", select);
}

async function coroutinesTable(app, page) {
	const { model, view } = app, counts = await coroutineCounts(model, view.range, page.breath);
	const columns = coroutineColumns(app, counts), first = hasClock() ? "waiting" : "resumes";
	const table = new Table(app, "Coroutines", columns, model.n, {
		noun: "coroutine", name: "coroutines", matches: coroutineMatches(model, counts),
		sort: -(columns.findIndex(({ title }) => title === first) + 1),
		about: view.range ? "Times and counts are those of the range." : omittedText(model),
	});
	const selected = selectionTests(app, counts);
	const apply = name => table.tests = [...selected, stateTest(counts, model, name)].filter(test => test);
	apply(view.state);
	page.tools(stateSelect(app, name => {
		app.note({ state: name || undefined });
		apply(name);
		table.update();
	}));
	return [table];
}

function omittedText({ meta: { omitted_coroutines: n } }) {
	return n ? `${plural(n, "coroutine")} of the trace ${n === 1 ? "is" : "are"} not on this page.` : null;
}

// --- wakes by pair

async function wakesTable(app, page) {
	const { model, view } = app, only = view.row ? model.rowAt(view.row) : -1;
	const found = app.matches(), of = found && new Set(found);
	const keep = (waker, woken) => (only < 0 || waker === only || woken === only) && (!of || of.has(waker) || of.has(woken));
	const { list, pairs, wakes } = await wakePairs(model, { keep, range: view.range }, page.breath);
	const show = (row, { last }, main) => {
		const t = [last - model.span * AROUND_WAKE, last + model.span * AROUND_WAKE];
		const address = app.link("timeline", null, { row: model.id(row), at: last, t });
		return el("span", null, rowNode(app, row, address, main), " ", idNode(app, row));
	};
	const who = (title, get, many, main, about) => {
		const text = i => get(i) < 0 ? many(list[i]) : `${nameOf(model, get(i)) || ""} ${model.idText(get(i))}`;
		const fields = [{ title, get: i => get(i) < 0 ? "" : nameOf(model, get(i)), text: true },
			{ title: `${title} id`, get: i => get(i) < 0 ? "" : model.coros.coro[get(i)] }];
		const node = (words, i) => get(i) < 0 ? words : show(get(i), list[i], main);
		return textColumn(title, text, node, { n: list.length, about, main, fields, missing: model.outside });
	};
	const columns = [
		who("waker", i => list[i].waker, () => "", false, "the coroutine that woke the other one"),
		who("woken", i => list[i].woken, ({ rows }) => plural(rows, "coroutine"), true, "the coroutine that was woken"),
		countColumn("wakes", i => list[i].count, { about: "without those that changed nothing: it was runnable already" }),
		momentColumn(model, "first", i => list[i].first), momentColumn(model, "last", i => list[i].last),
	];
	const about = `${plural(wakes, "wake")} of ${plural(pairs, "pair")}`
		+ (pairs > list.length ? `; the ${count(list.length)} pairs with the most wakes are listed` : "");
	return [new Table(app, "Wakes by pair", columns, list.length, { noun: "pair", name: "wakes", sort: -3, about })];
}
