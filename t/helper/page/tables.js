// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// tables.js - tests of the tables of ctp-tohtml's page: their order, their filter, their files, and the counts in them.
// tables.js PAGE TABLE - prints a table of a page as the page would save it: coroutines, wakes, threads, sites ...
const fs = require("node:fs"), { load, documentOf, ok, same, done } = require("./load.js");

const SCRIPTS = ["model/data.js", "model/origins.js", "model/lanes.js", "model/model.js", "model/moment.js", "model/threads.js", "model/text.js",
	"model/range.js", "model/counts.js", "model/waits.js", "model/members.js", "model/pairs.js", "model/listing.js", "layout/scale.js",
	"layout/window.js", "input/export.js", "input/address.js", "panels/describe.js", "panels/findings.js", "panels/table.js",
	"panels/corotable.js", "panels/tables.js"];
const NAMES = ["Breath", "Model", "readTrace", "useClock", "Listing", "rankTexts", "wakePairs", "csvText", "csvField", "csvPieces",
	"numberColumn", "idKeys", "TABLE_PAGES", "writeAddress"];

// An element of which only what tables do with it is there.
function node() {
	const made = { children: [], classList: { toggle() {} }, setAttribute() {}, addEventListener() {},
		querySelector: () => null, contains: () => false };
	made.append = made.prepend = made.replaceChildren = (...children) => made.children.push(...children);
	return made;
}

function open(text = "") {
	const document = { ...documentOf(text), createElement: node, activeElement: null };
	const globals = { document, ResizeObserver: class { observe() {} } };
	return load(SCRIPTS, NAMES, globals);
}

async function appOf(text) {
	const page = open(text), model = new page.Model(await page.readTrace(() => {}));
	page.useClock(model.meta);
	await model.build(() => {});
	const view = { page: "coroutines", arg: null };
	return { page, app: { model, view, option: key => view[key] ?? "", note() {},
		link: (name, arg, options) => page.writeAddress({ page: name, arg, ...options }),
		matches: () => view.q ? Int32Array.from(model.search(view.q)) : null } };
}

async function print(file, name) {
	const { page, app } = await appOf(fs.readFileSync(file, "utf8"));
	for (const table of await page.TABLE_PAGES[name](app, { tools() {} })) {
		await table.update();
		const pieces = await page.csvPieces(table.columns.flatMap(({ fields }) => fields), table.rows,
			new page.Breath(() => {}));
		process.stdout.write(pieces.join(""));
	}
}

// --- the parts

const breath = page => new page.Breath(() => {});

async function testOrder(page) {
	const words = ["job 10", "job 9", "", "Alpha", "beta", "job 09", "job 18446744073709551615", "job 18446744073709551614"];
	const rank = await page.rankTexts(words, breath(page));
	same(words.map((_, i) => words[[...rank].indexOf(i)]),
		["Alpha", "beta", "job 9", "job 09", "job 10", "job 18446744073709551614",
		"job 18446744073709551615", ""], "texts: numbers by their value, upper and lower case together, none last");
	const many = Array.from({ length: 100000 }, (_, i) => `n${(i * 7919) % 100003}`),
		ranks = await page.rankTexts(many, breath(page));
	const sorted = many.map((_, i) => i).sort((a, b) => ranks[a] - ranks[b]).map(i => Number(many[i].slice(1)));
	ok(sorted.every((value, i) => !i || sorted[i - 1] < value), "100,000 texts, sorted in parts that are merged");
	const ids = BigUint64Array.of(2n ** 64n - 1n, 9007199254740993n, 9007199254740992n, 5n, 2n ** 32n),
		columns = [{ keys: page.idKeys(ids) }];
	const listing = new page.Listing(5, columns);
	same(await listing.select(1, [], breath(page)), [3, 4, 2, 1, 0], "ids of 64 bits in their exact order");
	same(await listing.select(-1, [], breath(page)), [0, 1, 2, 4, 3], "and from the largest");
	same(await listing.select(0, [row => row !== 1, row => row < 4], breath(page)), [0, 2, 3],
		"rows as they are, that pass all tests");
	same(await listing.select(1, [], breath(page), () => true), null, "a selection that has been cancelled");
	const shares = Float64Array.from({ length: 50000 }, (_, i) => (i * 7919 % 50021) / 1e9),
		share = page.numberColumn("n", i => shares[i], String);
	const order = await new page.Listing(50000, [share]).select(1, [], breath(page));
	ok(order.every((row, i) => !i || shares[order[i - 1]] < shares[row]), "fractions that are close to each other");
	const numbers = [3, null, 1, 3, 0], column = page.numberColumn("n", i => numbers[i], String);
	same(await new page.Listing(5, [column]).select(-1, [], breath(page)), [0, 3, 2, 4, 1],
		"equal numbers keep their order, unknown ones are the smallest");
}

async function testFile(page) {
	const cells = [["plain", "plain"], ["a,b", '"a,b"'], ['say "x"', '"say ""x"""'], ["=1+1", "'=1+1"], ["+x", "'+x"],
		["-x", "'-x"], ["@x", "'@x"], ["\uff1d1", "'\uff1d1"], ["\uff20x", "'\uff20x"], ["\u22121", "'\u22121"],
		[" \u3000=1", "' \u3000=1"], [" a=b", " a=b"],
		["=a,b", `"'=a,b"`], ["a=b", "a=b"], [null, ""], ["two\nlines", "two⟨U+000A⟩lines"], ["\u202eevil", "⟨U+202E⟩evil"],
			["\t=x", "⟨U+0009⟩=x"]];
	for (const [text, cell] of cells)
		same(page.csvText(text), cell, `a field of ${JSON.stringify(text)}`);
	same(page.csvField("a\r\nb"), '"a\r\nb"', "a line end is quoted");
	const fields = [{ title: "na,me", get: i => ["=x", "y"][i], text: true }, { title: "n", get: i => [-5, null][i] }];
	same((await page.csvPieces(fields, Int32Array.of(1, 0), breath(page))).join(""), '"na,me",n\r\ny,\r\n\'=x,-5\r\n',
		"a file: titles, rows in their order, numbers as they are");
	const long = await page.csvPieces([{ title: "n", get: i => i }], Int32Array.from({ length: 5000 }, (_, i) => i),
		breath(page));
	same(long.join("").split("\r\n").length, 5002, "a file in pieces has all rows");
}

// Wakes as a trace of them: rows of [time, waker].
function wakesModel(rows) {
	const first = Uint32Array.from([0, ...rows]);
	rows.forEach((row, i) => first[i + 1] = first[i] + row.length);
	const all = rows.flat(), time = Float64Array.from(all, ([t]) => t), kind = new Uint8Array(all.length).fill(4);
	const after = (row, t) => {
		let e = first[row];
		while (e < first[row + 1] && time[e] <= t)
			e++;
		return e;
	};
	return { n: rows.length, coros: { first }, events: { time, kind, arg: Int32Array.from(all, ([, by]) => by) },
		lanes: { after } };
}

async function testPairs(page) {
	const model = wakesModel([[[1, 1], [2, -1], [5, 1], [9, 1]], [[3, 0], [4, 99]], []]);
	same(await page.wakePairs(model), { list: [{ waker: 1, woken: 0, count: 3, first: 1, last: 9 },
		{ waker: -1, woken: -1, rows: 2, count: 2, first: 2, last: 4 }, { waker: 0, woken: 1, count: 1, first: 3, last: 3 }],
			pairs: 3, wakes: 6 },
		"pairs, the largest first; wakers that are none of the page's coroutines are one");
	same((await page.wakePairs(model, { range: [1, 5] })).list.map(({ count }) => count), [2, 1, 1],
		"in a range: after its start, up to its end");
	same((await page.wakePairs(model, { range: [1, 3] })).list.map(({ waker, woken }) => [waker, woken]), [[0, 1], [-1, 0]],
		"which names what it woke if that is one");
	same((await page.wakePairs(model, { keep: (waker, woken) => woken === 1 })).wakes, 2, "of some coroutines only");
	const rows = Array.from({ length: 300 }, (_, woken) => Array.from({ length: 1 + (woken * 37) % 101 },
		(_, i) => [i, (woken + i % 3) % 300]));
	const all = (await page.wakePairs(wakesModel(rows), { most: 100000 })).list,
		most = await page.wakePairs(wakesModel(rows), { most: 50 });
	same(most.list, all.slice(0, 50), "of many pairs the largest are kept, however they come");
	same([most.pairs, most.wakes], [all.length, rows.flat().length], "and all are counted");
}

// A trace: of each coroutine { id, name, born, died, flags, events: [[time, kind, argument]] }.
function modelOf(page, span, list) {
	const events = list.flatMap(coro => coro.events), first = new Uint32Array(list.length + 1),
		strings = ["", ...list.map(({ name }) => name)];
	list.forEach((coro, i) => first[i + 1] = first[i] + coro.events.length);
	const died = Float64Array.from(list, coro => coro.died ?? Infinity);
	const coros = {
		n: list.length, first, died, coro: BigUint64Array.from(list, coro => BigInt(coro.id)),
			probe: new BigUint64Array(list.length),
		name: Uint32Array.from(list, (_, i) => i + 1), spawn: Uint32Array.from(list, () => 1),
			parent: new Int32Array(list.length).fill(-1),
		born: Float64Array.from(list, coro => coro.born), end: died.map(at => Math.min(at, span)),
			flags: Uint8Array.from(list, coro => coro.flags ?? 1),
	};
	const meta = { span_ns: span, section: 0, t0_ns: "0", report: { sections: [] }, strings, places: ["", "a.c:1:f"],
		threads: [{ tid: 5 }], reasons: [""],
		omitted_coroutines: 0, title: "made" };
	const none = { from: new Float64Array(0), to: new Float64Array(0), count: new Float64Array(0) };
	return new page.Model({ meta, coros, threadGaps: [none], events: {
		time: Float64Array.from(events, ([t]) => t), kind: Uint8Array.from(events, ([, kind]) => kind),
			arg: Int32Array.from(events, e => e[2] ?? 0),
		reason: null } });
}

async function testCoroutines(page) {
	const SUSPEND = 0, RESUME = 2, WAKE = 4, LOST = 6, model = modelOf(page, 1000, [
		{ id: 7, name: "worker 7", born: 0, events: [[100, RESUME], [200, SUSPEND, 1], [600, WAKE, 1], [700, RESUME],
			[900, SUSPEND, 1]] },
		{ id: 36, name: "Lost", born: 50, died: 500, flags: 0,
			events: [[100, RESUME], [200, SUSPEND, 1], [300, LOST, 2], [400, RESUME]] },
		{ id: 2n ** 40n, name: "idle", born: 800, events: [] },
		{ id: 9, name: "gone", born: 0, died: 300, flags: 3, events: [[10, SUSPEND, 1]] },
	]);
	await model.build(() => {});
	const view = { page: "coroutines", arg: null }, app = { model, view, option: key => view[key] ?? "", note() {},
		link: () => "#", matches: () => null };
	const show = async (options, filter = "") => {
		for (const key of ["range", "state", "sort"])
			view[key] = options[key];
		const [table] = await page.TABLE_PAGES.coroutines(app, { tools() {} });
		table.sort = options.sort || 3;
		table.filter = filter;
		await table.update();
		const fields = table.columns.flatMap(column => column.fields);
		const pieces = await page.csvPieces(fields, table.rows, breath(page));
		return pieces.join("").trim().split("\r\n").slice(1).map(line => line.replace(/,a.c:1:f$/, ""));
	};
	const lost = "ended,Lost,36,,,450,200,0,0,200,2,0", gone = "destroyed,gone,9,,,300,0,0,290,0,0,0",
		idle = "not started,idle,1099511627776,,,200,0,0,0,0,0,0";
	const worker = "suspended,worker 7,7,a.c:1:f,900,1000,300,100,500,0,2,1";
	same(await show({}), [worker, gone, lost, idle], "all coroutines: state, life, times and counts, by id");
	same(await show({ sort: -6 }), [worker, lost, gone, idle], "the longest life first");
	same((await show({ sort: -5 }))[0], worker, "the one that waits, by since when");
	same(await show({ sort: 2 }), [gone, idle, lost, worker], "by name");
	same(await show({ state: "ended" }), [gone, lost], "those that have ended");
	same(await show({ state: "alive" }), [worker, idle], "those that live");
	same(await show({ state: "destroyed" }), [gone], "those that were destroyed");
	same(await show({ state: "no such state" }), [worker, gone, lost, idle], "a state that is not known filters nothing");
	same(await show({}, "LOST"), [lost], "a filter by name, whatever its case");
	same(await show({}, "#0x1"), [idle], "by a part of an id");
	same(await show({}, "not started"), [idle], "by state");
	same((await show({}, "a.c:1")).length, 4, "by spawn site");
	same(await show({ range: [150, 650] }), ["runnable,worker 7,7,a.c:1:f,200,500,50,50,400,0,0,1", "destroyed,gone,9,,,150,0,0,150,0,0,0",
		"ended,Lost,36,,,350,150,0,0,200,1,0"], "in a range: those that live in it, with their times in it");
}

async function main() {
	if (process.argv.length > 2)
		return print(...process.argv.slice(2));
	const page = open();
	await testOrder(page);
	await testFile(page);
	await testPairs(page);
	await testCoroutines(page);
	done();
}

main();
