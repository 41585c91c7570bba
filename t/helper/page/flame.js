#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
// flame.js [PAGE STATE] - tests formats/html/model/flame.js, as TAP. With a page, it prints its sums as ctp-report --folded does.
"use strict";
const fs = require("node:fs"), path = require("node:path"), vm = require("node:vm");

const PARTS = ["model/data.js", "model/origins.js", "model/lanes.js", "model/threads.js", "model/text.js", "model/range.js", "model/moment.js",
	"model/model.js", "model/waits.js", "model/members.js", "model/flame.js", "layout/rows.js", "layout/scale.js", "input/address.js", "paint/flame.js"];
const NAMES = ["FlameSums", "FLAME_STATES", "Model", "readTrace", "Breath", "layFrames", "useClock", "SUSPEND", "RESUME", "WAKE",
	"LOST", "AWAIT"];

// The parts are one script in the page, and here.
function load(document) {
	const context = vm.createContext({ document, location: { hash: "" }, performance, setTimeout, DecompressionStream, Uint8Array, atob, console });
	const source = PARTS.map(part => fs.readFileSync(path.join(__dirname, "../../../formats/html", part), "utf8")).join("\n");
	return vm.runInContext(`${source}\n({ ${NAMES.join(", ")} })`, context);
}

// What the parts ask of a document: the elements with the data.
function documentOf(html) {
	const elements = [...html.matchAll(/<script type="application\/[a-z-]+" id="(ctp-[a-z0-9-]+)">([^<]*)<\/script>/g)]
		.map(([, id, textContent]) => ({ id, textContent, remove() {} }));
	return {
		getElementById: id => id === "ctp-end" ? {} : elements.find(element => element.id === id),
		querySelectorAll: selector => elements.filter(element => element.id.startsWith(selector.split('"')[1])),
	};
}

async function treeOf(page, data) {
	const model = new page.Model(data);
	page.useClock(model.meta);
	await model.build(() => {});
	const sums = new page.FlameSums(model);
	return { sums, tree: await sums.build(new page.Breath(() => {})) };
}

function folded(page, tree, state) {
	const index = page.FLAME_STATES.indexOf(state), lines = [], none = "[no_place]";
	const textOf = site => site < 0 ? "[unknown]" : tree.texts[site].replace(/ /g, "_").replace(/;/g, ":") || none;
	for (let frame = 0; frame < tree.count; frame++) {
		const texts = tree.path(frame).slice(1).map(at => textOf(tree.site[at])), value = tree.ownValue(frame, index);
		if (value)
			lines.push(`${texts.join(";") || none} ${value}`);
	}
	return lines.sort();
}

// --- tests

let tests = 0;
function is(what, got, wanted) {
	const a = JSON.stringify(got), b = JSON.stringify(wanted);
	console.log(`${a === b ? "ok" : "not ok"} ${++tests} - ${what}`);
	if (a !== b)
		console.log(`# got    ${a}\n# wanted ${b}`);
}

// Rows are { parent, spawn, born, died, flags, events: [[time, kind, arg]] }.
function trace(rows, places, { span = 100, ordinal = false, since = 0, duration = span, baseline } = {}) {
	const n = rows.length, events = rows.flatMap(row => row.events), column = (Type, get) => Type.from(rows, get);
	const first = new Uint32Array(n + 1), clock = ordinal ? null : duration;
	rows.forEach((row, i) => first[i + 1] = first[i] + row.events.length);
	const coros = {
		n, first, coro: column(BigUint64Array, (_, i) => BigInt(i + 1)), probe: new BigUint64Array(n),
		name: new Uint32Array(n), spawn: column(Uint32Array, row => row.spawn || 0),
		parent: column(Int32Array, row => row.parent ?? -1),
		born: column(Float64Array, row => row.born || 0), died: column(Float64Array, row => row.died ?? Infinity),
		end: column(Float64Array, row => Math.min(row.died ?? Infinity, span)),
		flags: column(Uint8Array, row => row.flags ?? 1),
	};
	const sections = [{ findings: [], suspects: [], start_ns: ordinal ? null : "1000", duration_ns: clock }];
	const part = (Type, i) => Type.from(events, event => event[i]);
	return {
		coros, threadGaps: [],
		events: { time: part(Float64Array, 0), kind: part(Uint8Array, 1), arg: part(Int32Array, 2), reason: null },
		meta: {
			places, strings: [""], threads: [], reasons: [""], section: 0, t0_ns: "1000", span_ns: span, ordinal,
			baseline, report: { sections, since_ns: since, until_ns: null },
		},
	};
}

const page = load(process.argv[2] ? documentOf(fs.readFileSync(process.argv[2], "utf8")) : null);
const { SUSPEND, RESUME, WAKE, LOST, AWAIT } = page;
const PLACES = ["", "main", "accept", "read", "lock"];
const ROWS = [
	{ spawn: 1, events: [[10, RESUME, 0], [20, SUSPEND, 2], [50, WAKE, -1], [60, RESUME, 0], [70, SUSPEND, 2]] },
	{
		spawn: 2, parent: 0, born: 20, died: 90,
		events: [[30, RESUME, 0], [32, WAKE, 0], [40, SUSPEND, 3], [45, RESUME, 0], [80, SUSPEND, 3]],
	},
];

async function testSums() {
	const { tree } = await treeOf(page, trace(ROWS, PLACES)), lines = state => folded(page, tree, state);
	is("suspended: until the wake, and until the end", lines("suspended"), ["main;accept 60", "main;accept;read 10"]);
	is("runnable: from the wake to the resume; if it was woken while it ran, from the suspension", lines("runnable"),
		["main;accept 10", "main;accept;read 5"]);
	is("running: before the first suspension without a site", lines("running"),
		["main 10", "main;accept 20", "main;accept;read 35"]);
	const cut = await treeOf(page, trace(ROWS, PLACES, { since: 65, duration: 85 }));
	is("only the time that was asked for counts, up to when the program was last seen", folded(page, cut.tree, "suspended"),
		["main;accept 15", "main;accept;read 10"]);
	const numbered = await treeOf(page, trace(ROWS, PLACES, { ordinal: true }));
	is("without a clock: how often", folded(page, numbered.tree, "running"), ["main 1", "main;accept 2", "main;accept;read 1"]);
}

async function testTree() {
	const { tree, sums } = await treeOf(page, trace(ROWS, PLACES)), frames = [...Array(tree.count).keys()];
	const [, accept, read] = ["main", "accept", "read"].map(text => frames.find(frame => tree.text(frame) === text));
	const rowsOf = frame => sums.rowsOf(frame, 2, 20, new page.Breath(() => {}), () => false);
	const names = [tree.name(read), "zzzzzzz", "../"];
	is("a frame is found by its name in an address", names.map(name => tree.find(name)), [read, -1, -1]);
	is("a frame has the sums of those below it", [0, accept].map(frame => tree.value(frame, 2)), [65, 55]);
	is("and its own", tree.ownValue(accept, 2), 20);
	is("the coroutines of a frame, the longest first", await rowsOf(accept),
		{ rows: [{ row: 1, value: 45 }, { row: 0, value: 10 }], count: 2 });
	is("of a site, those that were there", (await rowsOf(read)).rows, [{ row: 1, value: 35 }]);
	const found = tree.search("a", 2);
	is("a search counts time once, where a frame with the text is below another one", [found.frames, found.value], [3, 65]);
	is("the widest frames come with their parents", tree.largest(0, 3, 2, false).map(frame => tree.text(frame)),
		["all", "main", "accept"]);
}

async function testChains() {
	const awaiting = [
		{
			spawn: 1,
			events: [[0, RESUME, 0], [9, AWAIT, 2], [10, SUSPEND, 2], [60, RESUME, 0], [69, AWAIT, 3],
				[70, SUSPEND, 2]],
		},
		{ spawn: 2, parent: 0, events: [] },
		{ spawn: 3, parent: 1, events: [[10, RESUME, 0], [20, SUSPEND, 3]] },
		{ events: [[0, RESUME, 0], [90, SUSPEND, 0]] },
	];
	let { tree } = await treeOf(page, trace(awaiting, PLACES));
	is("a wait for a descendant counts for that one alone; any other wait counts", folded(page, tree, "suspended"),
		["[no_place] 10", "main;accept 30", "main;accept;read;read 80"]);
	const lost = [
		{ spawn: 1, events: [[0, RESUME, 0], [10, SUSPEND, 3], [20, WAKE, -1], [30, LOST, 2], [50, RESUME, 0]] },
		{ spawn: 1, flags: 16, events: [[0, RESUME, 0], [10, SUSPEND, 3]] },
		{ parent: 0, events: [[0, RESUME, 0]] },
		{ parent: 3, spawn: 4, events: [[0, RESUME, 0]] },
	];
	({ tree } = await treeOf(page, trace(lost, PLACES)));
	is("unknown time is a frame, whatever the state", [folded(page, tree, "suspended"), folded(page, tree, "runnable")],
		[["main;[unknown] 130"], ["main;[unknown] 130"]]);
	is("an unknown site below a known one is a frame; a coroutine may be its own parent", folded(page, tree, "running"),
		["lock 100", "main 70", "main;[no_place] 100", "main;[unknown] 130"]);
	const deep = Array.from({ length: 100 }, (_, i) => ({ spawn: 1 + i % 4, parent: i - 1, events: [[0, RESUME, 0]] }));
	({ tree } = await treeOf(page, trace(deep, PLACES)));
	is("a stack has at most 64 frames, and no time is lost", [Math.max(...tree.depth), tree.value(0, 2)], [64, 10000]);
}

async function testBaseline() {
	const baseline = {
		title: "b", source: "b.ctp", ordinal: false, total_ns: [100, 0, 130, 20], left_out: 1, left_out_ns: [0, 0, 10, 0],
		frames: ["", "main", "gone"], stacks: [[1, 2, 120], [1, 2, 0, 100], [1, 3, 20]],
	};
	const { tree } = await treeOf(page, trace(ROWS, PLACES, { baseline })), view = { state: 2, absolute: true };
	is("the frames of a baseline join those with the same texts", [tree.texts, tree.count], [[...PLACES, "gone"], 6]);
	is("both numbers of a frame", [tree.value(1, 2), tree.baseValue(1, 2), tree.wholeBase(2)], [65, 140, 150]);
	const changes = tree.changes(2, true, 2).map(({ frame, now, before, change }) => [tree.text(frame), now, before, change]);
	is("the largest changes are of single stacks", changes, [["main", 10, 120, -110], ["read", 35, 0, 35]]);
	is("changes of shares, against all of the baseline", tree.changes(0, false, 1).map(c => [tree.text(c.frame), c.change]),
		[["accept", 60 / 70]]);
	const zoomed = page.layFrames(tree, { zoom: 1, ...view }, 1000);
	const whole = page.layFrames(tree, { ...view, zoom: 0, state: 0 }, 1000);
	is("the frame that is zoomed in on is as wide as the root", zoomed.slice(0, 2).map(box => [box.frame, box.x, box.w]),
		[[0, 0, 1000], [1, 0, 1000]]);
	is("a frame of the baseline alone is drawn", whole.some(box => tree.text(box.frame) === "gone"), true);
	const other = await treeOf(page, trace(ROWS, PLACES, { baseline: { ...baseline, ordinal: true } }));
	is("a baseline without a clock is not compared with times", other.tree.base, null);
}

async function testLayout() {
	const places = Array.from({ length: 3000 }, (_, i) => i ? `site ${i}` : "");
	const { tree } = await treeOf(page, trace(places.map((_, spawn) => ({ spawn, events: [[0, RESUME, 0]] })), places));
	const boxes = page.layFrames(tree, { zoom: 0, state: 2, absolute: false }, 1000);
	is("frames that are too narrow become one box", [boxes.length, boxes.at(-1).frame, boxes.at(-1).w > 990], [2, -1, true]);
}

async function test() {
	for (const part of [testSums, testTree, testChains, testBaseline, testLayout])
		await part();
	console.log(`1..${tests}`);
}

async function print(state) {
	const { tree } = await treeOf(page, await page.readTrace(() => {}));
	console.log(folded(page, tree, state).join("\n"));
}

(process.argv[2] ? print(process.argv[3]) : test()).catch(error => {
	console.log(`Bail out! ${error.stack}`);
	process.exitCode = 1;
});
