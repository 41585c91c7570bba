#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
// layout.js - tests of what ctp-tohtml's page computes before it draws: the scale of time, the axis, the window, the rows, the
// address, and the sums over columns and ranges. What must hold of every trace is tried on random ones. Sums are compared with
// those of slow and simple code.
"use strict";
const { load, ok, same, done } = require("./load.js");

const SCRIPTS = ["model/data.js", "model/origins.js", "model/lanes.js", "model/text.js", "model/threads.js", "model/model.js", "model/range.js",
	"layout/scale.js", "layout/axis.js", "layout/window.js", "layout/rows.js", "layout/region.js", "input/address.js",
		"paint/density.js", "paint/overview.js"];
const NAMES = ["busyScale", "momentScale", "sampleEvents", "evenScale", "Scale", "MOST_QUIET", "QUIET_SHARE", "Axis", "TimeWindow", "NARROWEST_NS",
	"MOST_PAST", "RowList", "GroupList", "packRows", "rowsAlive", "aliveFirst", "groupingIn", "atOnce", "inParts", "APART", "SHORT_LIFE", "FEW_LANES", "Region", "ROW_HEIGHTS", "OPTIONS",
		"PAGES",
	"readAddress", "writeAddress", "Density", "eventRates", "useClock", "rangeSums", "deriveStates", "Lanes", "Breath", "STATES", "SUSPENDED", "RUNNING",
		"SUSPEND",
	"RESUME", "WAKE", "LOST", "WAIT", "isTransition"];
const page = load(SCRIPTS, NAMES);
const MS = 1e6, S = 1e9, TURNS = 150;

// --- chance, the same in each run

let drawn = 1;
function chance() { // from 0 to 1, by mulberry32
	drawn = drawn + 0x6d2b79f5 | 0;
	let t = Math.imul(drawn ^ drawn >>> 15, drawn | 1);
	t ^= t + Math.imul(t ^ t >>> 7, t | 61);
	return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
}
const below = n => Math.floor(chance() * n), oneOf = list => list[below(list.length)];
const some = (n, make) => Array.from({ length: n }, (_, i) => make(i));
const moments = (n, from, to) => some(n, () => from + Math.floor(chance() * (to - from))).sort((a, b) => a - b);
const near = (a, b, most) => Math.abs(a - b) <= most;

// The first of many random cases in which something does not hold, or null. check returns what is wrong, or nothing.
function firstWrong(make, check, turns = TURNS) {
	for (let i = 0; i < turns; i++) {
		const wrong = check(make(i), i);
		if (wrong)
			return `case ${i}: ${wrong}`;
	}
	return null;
}

function holds(make, check, title, turns) {
	const wrong = firstWrong(make, check, turns);
	ok(!wrong, title, wrong);
}

// --- the scale

// The scale of a trace whose coroutines have these times.
function scaleOf(coros, span, [first, last] = [Infinity, -Infinity]) {
	const time = Float64Array.from(coros.flat()), edges = new Uint32Array(coros.length + 1);
	coros.forEach((events, i) => edges[i + 1] = edges[i] + events.length);
	first = time.reduce((a, b) => Math.min(a, b), first);
	last = time.reduce((a, b) => Math.max(a, b), last);
	return page.busyScale(span, first, last, page.sampleEvents({ first: edges, n: coros.length }, time));
}

const beats = (every, span) => some(Math.floor(span / every), i => [i * every, i * every + 20000]).flat();
const pieceAt = (scale, t) => scale.pieces.find(({ from, to }) => from <= t && t < to);
const shareOf = (scale, from, to) => (scale.at(to) - scale.at(from)) / scale.length;

// A trace with periods of its own, random in every respect.
function anyTrace() {
	const span = oneOf([1000, 2 * MS, 20 * S, 3600 * S]), coros = [];
	for (let i = 1 + below(4); i-- > 0;) {
		const from = Math.floor(chance() * span * 0.9), long = chance() ** 4 * (span - from);
		coros.push(...some(1 + below(30), () => moments(1 + below(60), from, from + long)));
	}
	if (below(2))
		coros.push(beats(span / (10 + below(200)), span).map(Math.floor));
	return { coros, span };
}

function wrongScale(scale, span) {
	const { pieces, low, high, length } = scale, numbers = pieces.flatMap(({ from, to, begin, end }) => [from, to, begin, end]);
	if (!numbers.every(Number.isFinite) || !(length > 0))
		return `${JSON.stringify(pieces)}`;
	if (pieces.some((p, i) => p.to <= p.from || p.end <= p.begin || i
		&& (p.from !== pieces[i - 1].to || p.begin !== pieces[i - 1].end)))
		return `not contiguous: ${JSON.stringify(pieces)}`;
	if (pieces.some((p, i) => i && p.quiet === pieces[i - 1].quiet))
		return `two pieces of a kind: ${JSON.stringify(pieces)}`;
	if (low > 0 || high < span)
		return `from ${low} to ${high} of ${span}`;
	const quiet = pieces.reduce((sum, p) => sum + (p.quiet ? p.end - p.begin : 0), 0);
	if (quiet > length * page.QUIET_SHARE * 1.001 || pieces.filter(p => p.quiet).length > page.MOST_QUIET + 2)
		return `${quiet / length} of the width is quiet, in ${pieces.length} pieces`;
	for (let i = 0; i <= 50; i++) {
		const u = length * i / 50, t = low + (high - low) * i / 50;
		if (!near(scale.at(scale.time(u)), u, length * 1e-9 + high * 1e-15)
			|| !near(scale.time(scale.at(t)), t, (high - low) * 1e-9))
			return `at(time(${u})) is ${scale.at(scale.time(u))}, time(at(${t})) is ${scale.time(scale.at(t))}`;
		if (i && scale.at(t) <= scale.at(low + (high - low) * (i - 1) / 50))
			return `not monotonic at ${t}`;
	}
	return "";
}

function testMoment() {
	const busy = new page.Scale([{ from: -8 * MS, to: 3 * S, quiet: false }]), moment = { from: 838 * MS, to: 839 * MS };
	const hang = page.momentScale(busy, moment, [0, 3 * S], 3 * S), past = page.momentScale(busy, moment, [0, 3 * S], 839 * MS);
	same([hang.low, hang.high], [0, 3 * S], "beside the moment of a finding is the time of the trace, and none before it");
	ok(shareOf(hang, 839 * MS, 3 * S) > 0.2 && shareOf(hang, 838 * MS, 839 * MS) > 0.55, "what goes on after the moment is seen",
		hang.pieces);
	ok(shareOf(past, 838 * MS, 839 * MS) > 0.75, "if the finding ends with it, it has more of the width", past.pieces);
}

function testScale() {
	const burst = some(40, () => moments(30, 3000 * MS, 3020 * MS)), span = 20 * S;
	const scale = scaleOf([beats(250 * MS, span), ...burst], span), piece = pieceAt(scale, 3010 * MS);
	ok(shareOf(scale, 2990 * MS, 3030 * MS) > 0.7, "a burst of 20 ms in 20 s of heartbeats has most of the width",
		scale.pieces);
	ok(!piece.quiet && piece.from < 3000 * MS && piece.to > 3020 * MS && piece.to - piece.from < 25 * MS,
		"it is one busy piece, with room", piece);
	same(scale.pieces.map(p => p.quiet), [true, false, true], "what is before and after it is quiet");
	const two = scaleOf([beats(250 * MS, span), ...burst, ...some(40, () => moments(30, 15000 * MS, 15010 * MS))], span);
	same(two.pieces.map(p => p.quiet), [true, false, true, false, true], "two bursts are two busy pieces");
	const loud = scaleOf([some(40000, i => i * 500000), ...burst], span);
	ok(shareOf(loud, 2990 * MS, 3030 * MS) > 20 * 40 * MS / span, "a heartbeat that beats 40,000 times does not hide it",
		loud.pieces);
	same(scaleOf(some(50, () => moments(40, 0, span)), span).pieces.length, 1, "uniform activity is one piece");
	same(scaleOf([beats(250 * MS, span)], span).pieces.length, 1, "a heartbeat alone is one piece");
	same(scaleOf([[0, 1, 2, 3, span]], span).pieces.length, 1, "so are few events");
	const ends = scaleOf(some(20, () => moments(20, 5 * S, 6 * S)), span);
	same(ends.pieces.map(p => p.quiet), [true, false, true], "silence before the first event and after the last is quiet");
	ok(ends.low === 0 && ends.high === span && shareOf(ends, 5 * S, 6 * S) > 0.75, "and narrow", ends.pieces);
	const close = scaleOf(some(20, () => moments(20, 0.4 * S, 19.6 * S)), span);
	ok(close.even && close.low < 0 && close.high > span, "a little silence stays as it is", close.pieces);
	holds(anyTrace, ({ coros, span }) => wrongScale(scaleOf(coros, span), span),
		"random traces: pieces are contiguous, at() and time() inverse");
	const at = t => some(400, () => [t]);
	same(wrongScale(scaleOf([...at(0), ...at(5 * S), ...at(9 * S), [10 * S]], span), span), "",
		"many events at the same few moments");
	same([[[5, 5]], [[0]], [[7 * S, 7 * S, 7 * S]]].map(coros => wrongScale(scaleOf(coros, 10 * S), 10 * S)), ["", "", ""],
		"events at one moment");
}

// --- the axis

const windowOf = (scale, from, to) => ({ scale, from, to, at: () => [scale.at(from), scale.at(to)] });

// A scale with pieces of any length, and a window on a number of columns.
function anyAxis() {
	const pieces = [];
	for (let i = 0, at = -below(1000), n = 1 + 2 * below(6), quiet = n > 1 && chance() < 0.5; i < n; i++, quiet = !quiet) {
		const to = at + 1 + Math.floor(10 ** (chance() * 9));
		pieces.push({ from: at, to, quiet });
		at = to;
	}
	if (pieces.every(p => p.quiet))
		pieces[0].quiet = false;
	const scale = new page.Scale(pieces), { length } = scale, all = chance() < 0.3;
	const begin = all ? 0 : chance() * length * 0.8, end = all ? length : begin + (0.001 + chance() * 0.999) * (length - begin);
	const window = windowOf(scale, scale.time(begin), scale.time(end));
	return new page.Axis(window, 20 + below(1500), below(300), oneOf([0.5, 1, 2]));
}

function wrongAxis(axis) {
	const { pieces, columns, left, cell, window } = axis;
	let next = 0;
	for (const { first, columns: n, from, to, per } of pieces) {
		if (first !== next || !Number.isInteger(n) || n < 1 || !near(per * n, to - from, 1e-6 * (to - from)))
			return `column ${next} of ${columns}: ${JSON.stringify(pieces)}`;
		next += n;
	}
	if (next !== columns)
		return `${next} of ${columns} columns have a piece`;
	const right = left + columns * cell;
	for (let i = 0, last = -Infinity; i <= 100; i++) {
		const x = left + (right - left) * i / 100, t = Math.min(window.to,
			window.from + (window.to - window.from) * i / 100);
		if (!near(axis.x(axis.time(x)), x, 1e-3 * cell)) // a piece that is narrower than half a cell has none
			return `x(time(${x})) is ${axis.x(axis.time(x))}`;
		if (axis.x(t) < last - 1e-6 || axis.x(t) < left - 1e-6 || axis.x(t) > right + 1e-6)
			return `${t} is at ${axis.x(t)}, after ${last}: ${JSON.stringify(pieces)}`;
		last = axis.x(t);
		const inside = pieces.find(p => p.from <= t && t <= p.to);
		if (inside && !near(axis.time(axis.x(t)), t, 1e-6 * (window.to - window.from)))
			return `time(x(${t})) is ${axis.time(axis.x(t))}`;
	}
	return "";
}

function testAxis() {
	holds(anyAxis, wrongAxis, "every column belongs to one piece, and x() and time() are inverse", 2000);
	holds(anyAxis, axis => {
		const wrong = axis.ticks(80).find(({ step, at }) => at.some((t, i) => t % step !== 0 || i && t - at[i - 1] !== step)
			|| at.length > 50);
		return wrong && JSON.stringify(wrong);
	}, "ticks are at round moments, and not too many");
	const { Axis, evenScale } = page, even = new Axis(windowOf(evenScale(0, 1000), 0, 1000), 100, 10, 2);
	same([even.x(0), even.x(500), even.x(1000), even.time(110), even.per(50)], [10, 110, 210, 500, 5], "an even axis");
	same(even.ticks(40), [{ step: 200, at: [0, 200, 400, 600, 800, 1000] }], "and its ticks");
}

// --- the window

const SCALES = [];

function anyWindow() {
	if (SCALES.length < 30) {
		const { coros, span } = anyTrace();
		SCALES.push([span, scaleOf(coros, span)]);
	}
	const window = new page.TimeWindow(...oneOf(SCALES)), { low, high } = window;
	if (below(3) === 0)
		window.use(window.scales.even);
	const width = (high - low) * (0.01 + chance() * 0.5), from = low + chance() * (high - low - width);
	window.set(from, from + width);
	return window;
}

const inside = ({ from, to, low, high }) => from >= low - high * 1e-12 && to <= high * (1 + 1e-12) && to > from;

function testWindow() {
	const { TimeWindow, evenScale, NARROWEST_NS } = page;
	holds(anyWindow, window => {
		const { scale, from, to } = window, pointer = from + (to - from) * chance(), factor = oneOf([0.5, 0.7, 0.9, 1.1]),
			[a, b] = window.at();
		const share = (scale.at(pointer) - a) / (b - a);
		if (window.width * factor < 2 * NARROWEST_NS)
			return "";
		window.zoom(factor, pointer);
		const [c, d] = window.at(), edge = c < 1e-9 * scale.length || d > scale.length * (1 - 1e-9);
		if (!inside(window) || !near(d - c, Math.min(scale.length, (b - a) * factor), 1e-6 * scale.length))
			return `${b - a} became ${d - c} with ${factor}`;
		return edge || near((scale.at(pointer) - c) / (d - c), share, 1e-6) ? ""
			: `${share} became ${(scale.at(pointer) - c) / (d - c)}`;
	}, "a zoom keeps the moment under the pointer where it is", 1000);
	holds(anyWindow, window => {
		const [a, b] = window.at(), { length } = window.scale, share = chance() * 2 - 1,
			by = Math.max(-a, Math.min(length - b, share * (b - a)));
		window.pan(share);
		const [c, d] = window.at();
		if (window.width < NARROWEST_NS * 1.01)
			return ""; // it is wider than it was, in a busy piece
		return inside(window) && near(c - a, by, length * 1e-6) && near(d - b, by, length * 1e-6) ? ""
			: `${[a, b]} became ${[c, d]}, not by ${by}`;
	}, "a pan moves by a share of the width, as far as there is time", 1000);
	holds(anyWindow, window => {
		for (let i = 0; i < 40; i++)
			oneOf([() => window.zoom(0.2 + chance() * 3, window.from + chance() * window.width),
				() => window.pan(chance() * 4 - 2),
				() => window.show(chance() * window.high, chance() * window.high * 2), () => window.undo()])();
		return inside(window) && window.width >= NARROWEST_NS * 0.99 ? ""
			: JSON.stringify([window.from, window.to, window.low, window.high]);
	}, "whatever is done, the window is within the trace");
	const window = new TimeWindow(1000 * MS, evenScale(0, 1000 * MS)), seen = () => [window.from, window.to].map(Math.round);
	let told = 0;
	window.listeners.push(() => told++);
	same([window.undo(), told], [false, 0], "at first nothing can be undone");
	window.set(100 * MS, 300 * MS);
	window.show(200 * MS, 220 * MS);
	same(seen(), [199 * MS, 221 * MS], "a span is shown with some room");
	window.show(205 * MS, 205 * MS);
	same([window.undo(), ...seen(), window.undo(), ...seen(), window.undo()],
		[true, 199 * MS, 221 * MS, true, 100 * MS, 300 * MS, false],
		"zooms are undone, the last first");
	same(told, 5, "and each move is told");
	for (let i = 0; i < 200; i++)
		window.show(i * MS, (i + 1) * MS);
	let back = 0;
	while (window.undo())
		back++;
	same(back, page.MOST_PAST, "not all zooms are remembered");
	window.set(5, 6);
	same(Math.round(window.width), NARROWEST_NS, "a window has a least width");
	window.all();
	for (let i = 0; i < 300; i++)
		window.zoom(0.5, 500 * MS);
	ok(window.width >= NARROWEST_NS * 0.99 && window.from <= 500 * MS && window.to >= 500 * MS, "and keeps it", seen());
}

// --- the rows

function anyRows() {
	const n = 1 + below(200), span = 1e6, born = new Float64Array(n), end = new Float64Array(n),
		group = some(n, () => below(1 + below(12)));
	for (let i = 0; i < n; i++) {
		born[i] = chance() * span;
		end[i] = Math.min(span, born[i] + chance() ** 4 * span);
	}
	const coros = { born, end, spawn: group.map(g => g % 3 ? g : 0), n };
	// Some have a name, some have none.
	const names = some(n, row => `job ${group[row] % 2}`), meta = { places: some(13, i => `f.c:${i}:f`), strings: ["", ...names] };
	coros.name = some(n, row => group[row] % 5 ? row + 1 : 0);
	const kindOf = row => names[row];
	const model = { n, span, busy: page.evenScale(0, span), coros, meta, place: i => meta.places[i], namePattern: kindOf, kindOf };
	const rows = Int32Array.from({ length: n }, (_, i) => i).filter(row => !row || chance() < 0.8),
		first = new Set(some(below(6), () => below(n)));
	return { model, rows, first, by: oneOf(["spawn", "name"]), group };
}

function titleOf({ model, by }, row) {
	return by === "spawn" && model.coros.spawn[row] ? model.place(model.coros.spawn[row]) : model.kindOf(row);
}

function wrongLanes({ born, end }, lanes, rows, span, first) {
	const flat = lanes.flat();
	if (flat.length !== rows.length || new Set(flat).size !== flat.length || !flat.every(row => rows.includes(row)))
		return `${flat.length} of ${rows.length} rows have a lane`;
	for (const lane of lanes) {
		if (lane.length > 1 && lane.some(row => first.has(row) || end[row] - born[row] > span * page.SHORT_LIFE))
			return `${lane} has one that shares no lane`;
		for (let i = 1; i < lane.length; i++)
			if (end[lane[i - 1]] + span * page.APART > born[lane[i]])
				return `${lane[i - 1]} ends at ${end[lane[i - 1]]}, and ${lane[i]} begins at ${born[lane[i]]}`;
	}
	return "";
}

// The fewest lanes: how many short lives, with the room that each needs, overlap at most.
function fewestLanes({ born, end }, rows, span) {
	const short = [...rows].filter(row => end[row] - born[row] <= span * page.SHORT_LIFE),
		over = row => end[row] + span * page.APART;
	return short.reduce((most, row) => Math.max(most, short.filter(other => born[other] <= born[row]
		&& over(other) > born[row]).length), 0);
}

function wrongList(made) {
	const { model, rows, first, by } = made, list = new page.GroupList(model, rows, { by, open: () => true, first });
	const seen = new Set();
	for (let i = 0; i < list.count; i++) {
		const group = list.group(i), lane = list.lane(i);
		if (group ? lane.length || list.row(i) !== -1 || group.index !== i : list.row(i) !== lane[0])
			return `entry ${i} is neither a lane nor a heading`;
		for (const row of lane) {
			if (seen.has(row) || list.index(row) !== i)
				return `row ${row} is in entry ${i}, index() says ${list.index(row)}`;
			seen.add(row);
		}
	}
	if (seen.size !== rows.length || [...rows].some(row => !seen.has(row)) || list.coroutines !== rows.length)
		return `${seen.size} of ${rows.length} rows are listed`;
	if (some(model.n, row => row).some(row => !seen.has(row) && list.index(row) !== -1))
		return "a row that is not listed has an entry";
	const leading = list.groups.filter(group => group.leads);
	if (leading.length > 1 || leading.length && leading[0] !== list.groups[0])
		return "the rows of a finding are no group at the top";
	const wanted = [...first].filter(row => rows.includes(row)), others = list.groups.filter(group => !group.leads);
	if (String(wanted) !== String(leading.flatMap(group => group.rows)))
		return `${leading.flatMap(group => group.rows)} come first, not ${wanted}`;
	if (others.some((group, i) => i && group.rows.length > others[i - 1].rows.length))
		return "a group is before a larger one";
	const wrong = others.find(group => group.rows.some(row => first.has(row) || titleOf(made, row) !== group.title));
	if (wrong || new Set(others.map(({ title }) => title)).size !== others.length)
		return `the group ${wrong && wrong.title} has others`;
	return list.groups.map(group => wrongLanes(model.coros, list.entries.slice(group.index + (group.rows.length > 1 ? 1 : 0))
		.filter(entry => Array.isArray(entry) && group.rows.includes(entry[0])), group.rows, model.span,
			first)).find(text => text) || "";
}

function wrongFolds({ model, rows, first, by }) {
	const list = new page.GroupList(model, rows, { by, open: () => false, first });
	for (const group of list.groups) {
		const headed = group.rows.length > 1;
		if (group.rows.some(row => list.index(row) !== group.index) || (list.group(group.index) === group) !== headed)
			return `a row of ${group.title} is elsewhere`;
	}
	return list.count === list.groups.length ? "" : `${list.count} entries for ${list.groups.length} folded groups`;
}

function wrongAlive({ model, rows, first }) {
	const { born, end } = model.coros, from = chance() * model.span, to = from + chance() * model.span * 0.2;
	const lives = row => born[row] <= to && end[row] >= from, all = [...rows], only = page.rowsAlive(rows, model.coros, from, to, first);
	if (String([...only]) !== String(all.filter(row => lives(row) || first.has(row))))
		return `alive from ${from} to ${to}: ${only}`;
	const sorted = page.aliveFirst(rows, model.coros, from, to);
	return String([...sorted]) === String([...all.filter(lives), ...all.filter(row => !lives(row))]) ? "" : `${sorted}`;
}

async function testParts() {
	const made = anyRows(), titles = ({ of, titles }) => [...of].map(i => titles[i]);
	let parts = 0;
	const breath = { take: async () => parts++ }, { model, by } = made;
	same(titles(await page.inParts(page.groupingIn({ ...model }, by), breath)), titles(page.atOnce(page.groupingIn({ ...model }, by))),
		"groups made in parts are those that are made at once");
	ok(parts > 0, "with room for input between the parts");
}

function testRows() {
	const none = new Set();
	holds(anyRows, ({ model, rows, first }) => wrongLanes(model.coros, page.packRows(model.coros, rows, model.busy, first),
		rows, model.span, first),
		"lives in a lane do not overlap, and are apart");
	holds(anyRows, ({ model, rows }) => {
		const { coros, span } = model, lanes = page.packRows(coros, rows, model.busy, none), fewest = fewestLanes(coros, rows, span);
		const long = lanes.filter(lane => lane.some(row => coros.end[row] - coros.born[row] > span * page.SHORT_LIFE));
		return lanes.length - long.length === fewest ? "" : `${lanes.length - long.length} lanes, not ${fewest}`;
	}, "in as few lanes as possible");
	holds(anyRows, wrongList, "in groups every row has its entry, the first ones first");
	holds(anyRows, wrongAlive, "rows that are alive, alone or before the others");
	holds(anyRows, wrongFolds, "a folded group is one entry, and has all its rows");
	const n = 40, coros = { born: new Float64Array(n), end: new Float64Array(n).fill(1000),
		spawn: some(n, row => row < 30 ? 1 : 2), name: some(n, () => 0) };
	const model = { n, span: 1000, busy: page.evenScale(0, 1000), coros, place: i => `s${i}`, kindOf: () => "",
		meta: { places: ["", "s1", "s2"], strings: [""] } }, rows = Int32Array.from(some(n, i => i));
	const asked = [], list = new page.GroupList(model, rows,
		{ by: "spawn", open: (group, few) => asked.push([group.title, few]) && few, first: none });
	same(asked, [["s1", false], ["s2", true]], `groups of at most ${page.FEW_LANES} lanes are few`);
	same([list.count, list.index(3), list.index(35)], [12, 0, 7], "and open");
	const plain = new page.RowList(5, Int32Array.of(3, 1, 4)), all = new page.RowList(5, null);
	same([plain.count, plain.row(1), plain.index(4), plain.index(0), plain.lane(0), all.count, all.row(2), all.index(2),
		all.group(0)],
		[3, 1, 2, -1, [3], 5, 2, 2, null], "a list without groups");
}

// --- a region

function anyRegion() {
	const made = anyRows(), { model, rows, first, by } = made, height = 40 + below(300), rowHeight = oneOf(page.ROW_HEIGHTS);
	const list = below(3) ? new page.GroupList(model, rows, { by, open: () => below(2) > 0, first })
		: new page.RowList(model.n, rows);
	const region = new page.Region("coros", model.coros, rowHeight, list);
	region.height = height;
	region.scrollTo(chance() * region.all);
	return { ...made, region };
}

function testRegion() {
	const livesInSight = (region, from, to) => some(region.last - region.first,
		i => region.first + i).some(i => region.lives(i, from, to));
	holds(anyRegion, ({ region, model, rows }) => {
		const from = chance() * model.span, to = from + chance() ** 3 * model.span * 0.1, { born, end } = model.coros,
			before = region.scroll;
		const any = [...rows].some(row => born[row] <= to && end[row] >= from), seen = livesInSight(region, from, to);
		region.seekLife(from, to);
		if (any !== livesInSight(region, from, to))
			return `${rows.length} rows, ${from} to ${to}: lives ${any}, seen ${!any}`;
		return (seen || !any) && region.scroll !== before ? "it scrolled without need" : "";
	}, "if a coroutine lives in view, an entry in sight has one", 1500);
	holds(anyRegion, ({ region, model }) => {
		const from = chance() * model.span, to = from + chance() ** 3 * model.span * 0.1, way = chance() < 0.5 ? -1 : 1;
		const entries = some(region.count, i => i), there = way > 0 ? entries.slice(region.last) : entries.slice(0, region.first);
		const before = region.scroll, seen = livesInSight(region, from, to);
		region.seekLife(from, to, way);
		const turned = Math.sign(region.scroll - before) === -way;
		return turned && (seen || there.some(i => region.lives(i, from, to))) ? `way ${way}: from ${before} to ${region.scroll}` : "";
	}, "who scrolls on is led to what lives in that direction, if anything does", 1500);
	holds(anyRegion, ({ region }) => {
		const { count, all, height, rowHeight } = region, index = below(count),
			inSight = () => region.y(index) >= 0 && region.y(index) + rowHeight <= height;
		if (region.scroll < 0 || region.scroll > Math.max(0, all - height) || region.last > count || region.thumb
			&& region.thumb.y + region.thumb.height > height + 1e-6)
			return `scrolled to ${region.scroll} of ${all}`;
		region.reveal(index);
		const middle = region.entryAt(region.y(index) + rowHeight / 2);
		return inSight() && middle === index ? "" : `entry ${index} is at ${region.y(index)}, where ${middle} is`;
	}, "what is revealed is in sight, and where the pointer finds it");
	holds(anyRegion, ({ region, model, rows }) => {
		const top = region.row(region.first), over = region.scroll - region.first * region.rowHeight,
			fewer = rows.filter(row => row === top || chance() < 0.7);
		region.show(new page.RowList(model.n, fewer), true);
		const want = Math.min(fewer.indexOf(top) * region.rowHeight + over, Math.max(0, region.all - region.height));
		return top < 0 || region.scroll === want ? "" : `${top} is at ${region.y(region.index(top))}`;
	}, "another list keeps the row at the top");
	holds(anyRegion, ({ region, model }) => {
		const index = below(region.count), lane = region.list.lane(index), t = chance() * model.span,
			{ born, end } = model.coros;
		const away = row => Math.max(0, born[row] - t, t - end[row]), row = region.rowAt(index, t);
		return lane.length ? lane.some(other => away(other) < away(row)) && `${row} is not the nearest` : row !== -1
			&& "a heading has a row";
	}, "in a lane the pointer finds the nearest life");
}

// --- the address

const CHARACTERS = ["a", "Z", "0", " ", "+", "%", "&", "=", "?", "#", "/", ",", ":", "é", "\u202e", "😀", "\n", "<", '"', "%2C",
	"&q=x", "__proto__"];
const anyText = (most = 8) => some(below(most), () => oneOf(CHARACTERS)).join("");
const anyWord = () => some(1 + below(6), () => oneOf([..."abcz09-"])).join("");

function anyView() {
	const between = () => [below(1e6) - 1000, 1e6 + below(1e15)], list = () => some(1 + below(4), anyWord), flag = () => true;
	const make = {
		t: between, range: between, at: () => below(1e15) - 500, q: anyText, order: () => oneOf(["birth", "life", "stuck"]),
			group: () => oneOf(["none", "spawn", "name"]),
			rows: () => oneOf(page.ROW_HEIGHTS),
		row: () => `${below(1e9)}@${below(9)}`, pins: list, turned: list, hide: list, even: flag,
			alive: () => chance() < 0.5, section: () => below(1e4),
		sort: () => below(41) - 20, filter: anyText, state: anyWord, frame: anyText, absolute: flag, trace: anyWord,
	};
	const unknown = Object.keys(page.OPTIONS).find(key => !make[key]),
		view = { page: oneOf([...Object.keys(page.PAGES), "coro", "finding"]), arg: null };
	if (unknown)
		throw new Error(`anyView() lacks the option ${unknown}`);
	if (view.page === "coro" || view.page === "finding")
		view.arg = String(below(1e9));
	for (const key of Object.keys(page.OPTIONS))
		if (chance() < 0.4)
			view[key] = make[key]();
	return view;
}

function plain(view) {
	return JSON.stringify(Object.entries(view).sort(([a], [b]) => a < b ? -1 : 1));
}

function tryAddress(hash) {
	try {
		const view = page.readAddress(hash);
		return view === null || page.writeAddress(view).startsWith("#/") ? "" : "it is no address";
	} catch (error) {
		return `${JSON.stringify(hash)}: ${error}`;
	}
}

function testAddress() {
	const { readAddress, writeAddress } = page;
	holds(anyView, view => {
		const hash = writeAddress(view), read = readAddress(hash);
		if (new URL("file:///a.html" + hash).hash !== hash)
			return `${hash} is not the same in an address`;
		return read && plain(read) === plain(view) ? "" : `${plain(view)} became ${plain(read)}, by ${hash}`;
	}, "what is written is read again", 3000);
	holds(() => "#/" + anyText(12), tryAddress, "rubbish does not throw", 3000);
	holds(() => {
		const hash = [...writeAddress(anyView())];
		for (let i = 1 + below(5); i-- > 0;)
			hash.splice(below(hash.length), below(3), oneOf(CHARACTERS));
		return hash.join("");
	}, tryAddress, "neither do damaged addresses", 3000);
	same(["", "#", "#/"].map(readAddress), some(3, () => ({ page: "", arg: null })), "without an address it is the first view");
	same(["#top", "x", "#//", "#/Timeline", "#/ timeline", "#timeline", "#/../etc", "#/%74imeline"].map(readAddress),
		some(8, () => null), "what is no address");
	const ignored = ["t=5-3", "t=1", "t=x-y", "t=", "rows=7", "rows=", "section=x", "sort=1e9", "at=now", "__proto__=1",
		"constructor=2", "toString", "&&", "=", "x=y"];
	same(ignored.map(text => plain(readAddress(`#/timeline?${text}`))),
		ignored.map(() => plain({ page: "timeline", arg: null })), "options that mean nothing are left out");
	same([readAddress("#/timeline?q=%E0%A4").q, readAddress("#/timeline?q=a+b%20c=d").q], ["", "a b c=d"],
		"texts, damaged and not");
	same([200, 201].map(n => readAddress(`#/timeline?q=${"x".repeat(n)}`).q.length), [200, 200], "long texts are cut");
	same(tryAddress(`#/timeline?q=${"x".repeat(199)}%F0%9F%98%80&filter=${"x".repeat(199)}%F0%9F%98%80`), "",
		"but not within a character");
	same(writeAddress({ page: "timeline", t: [0.4, 0.4] }), "#/timeline?t=0-1", "a window has some length");
}

// --- sums over columns

// Lanes of random states, some with events that change nothing; late: a few are after the end.
function anyLanes(span, late) {
	const n = 1 + below(25), first = new Uint32Array(n + 1), born = new Float64Array(n), end = new Float64Array(n),
		initial = new Uint8Array(n);
	const time = [], state = [];
	for (let row = 0; row < n; row++) {
		born[row] = chance() < 0.3 ? 0 : chance() * span * 0.8;
		end[row] = chance() < 0.3 ? span : born[row] + chance() * (span - born[row]);
		initial[row] = below(page.STATES);
		const last = late && chance() < 0.1 ? span : end[row],
			at = some(below(40), () => born[row] + chance() * (last - born[row])).sort((a, b) => a - b);
		at.forEach((t, i) => {
			time.push(t);
			state.push(i && chance() < 0.3 ? state.at(-1) : below(page.STATES));
		});
		first[row + 1] = time.length;
	}
	return new page.Lanes({ first, born, end, initial, time: Float64Array.from(time), state: Uint8Array.from(state) });
}

// The states of a row, [from, to, state], those that follow each other as one.
function stretches(lanes, row) {
	const { first, time, state, born, end, initial } = lanes, out = [[born[row], born[row], initial[row]]];
	for (let e = first[row]; e < first[row + 1] && time[e] <= end[row]; e++) {
		out.at(-1)[1] = time[e];
		if (state[e] !== out.at(-1)[2])
			out.push([time[e], time[e], state[e]]);
	}
	out.at(-1)[1] = end[row];
	return out;
}

const overlap = (from, to, a, b) => Math.max(0, Math.min(to, b) - Math.max(from, a));

function naiveColumns(lanes, edges, columns) {
	const all = some(lanes.n, row => stretches(lanes, row)).flat(), last = c => c === columns - 1;
	return some(columns, c => {
		const from = edges[c], to = edges[c + 1], ns = new Float64Array(page.STATES);
		for (const [a, b, state] of all)
			ns[state] += overlap(from, to, a, b);
		const wait = all.filter(([a, b, state]) => state === page.SUSPENDED && a < to
			&& b >= to).reduce((most, [a]) => Math.max(most, to - a), 0);
		let events = 0;
		for (let row = 0; row < lanes.n; row++)
			for (let e = lanes.first[row]; e < lanes.first[row + 1]; e++)
				events += lanes.time[e] >= from && (lanes.time[e] < to || last(c) && lanes.time[e] === to);
		return { ns, wait, events, alive: ns.reduce((a, b) => a + b) / (to - from) };
	});
}

// waits: whether to compare them, which only the overview of the whole trace shows
async function wrongDensity(axis, lanes, waits) {
	const density = new page.Density(lanes, axis), { columns } = axis;
	await density.fill(null, new page.Breath(() => {}), () => false);
	const want = naiveColumns(lanes, density.edges, columns);
	for (let c = 0; c < columns; c++) {
		const { ns, wait, events, alive } = want[c], wide = density.edges[c + 1] - density.edges[c],
			most = 1e-6 * density.edges[columns];
		if (density.events[c] !== events)
			return `column ${c}: ${density.events[c]} events, not ${events}`;
		for (let s = 0; s < page.STATES; s++)
			if (!near(density.part[s][c], ns[s], most))
				return `column ${c}: state ${s} for ${density.part[s][c]}, not ${ns[s]}`;
		if (!near(density.alive(c), alive, most / wide))
			return `column ${c}: ${density.alive(c)} alive, not ${alive}`;
		if (waits && !near(density.oldestWait(c), wait, most))
			return `column ${c}: a wait of ${density.oldestWait(c)}, not ${wait}`;
	}
	const top = key => want.reduce((most, column) => Math.max(most, column[key]), 0), { edges } = density;
	const atEnd = some(lanes.n, row => stretches(lanes, row).at(-1)).filter(([, b, state]) => state === page.SUSPENDED && b >= edges[0])
		.reduce((most, [a, b]) => Math.max(most, Math.min(b, edges[columns]) - a), 0);
	const oldest = !waits || near(density.oldest, Math.max(atEnd, top("wait")), 1e-3);
	return density.most === top("events") && near(density.mostAlive, top("alive"), 1e-6) && oldest ? ""
		: "the largest are wrong";
}

async function holdsFor(make, check, title, turns = TURNS) {
	let wrong = "";
	for (let i = 0; i < turns && !wrong; i++)
		wrong = await check(make(i));
	ok(!wrong, title, wrong);
}

// Busy and quiet pieces; uneven: some are so short that they have no column.
function anyPieces(span, uneven) {
	const edges = [0, ...some(below(5), () => span * (uneven ? chance() ** 12 : chance())).sort((a, b) => a - b), span],
		start = below(2);
	const pieces = edges.slice(1).map((to, i) => ({ from: edges[i], to,
		quiet: edges.length > 2 && i % 2 === start })).filter(({ from, to }) => to > from);
	return new page.Scale(pieces.some(p => !p.quiet) ? pieces : [{ from: 0, to: span, quiet: false }]);
}

async function testDensity() {
	const span = 1e6;
	const whole = (uneven, part = false) => () => {
		const scale = anyPieces(span, uneven), from = part ? chance() * span / 2 : 0,
			to = part ? from + (0.1 + chance() * 0.9) * (span - from) : span;
		return [new page.Axis(windowOf(scale, from, to), 1 + below(80)), anyLanes(span, !part)];
	};
	const check = ([axis, lanes]) => wrongDensity(axis, lanes, true);
	await holdsFor(whole(false), check, "events, states, living and the oldest wait in each column, on random lanes");
	await holdsFor(whole(true), check, "also if some pieces are too short for a column");
	await holdsFor(whole(true, true), ([axis, lanes]) => wrongDensity(axis, lanes, false),
		"and of a part of the time, without the wait");
	await holdsFor(() => {
		const [axis, lanes] = whole(false)(), rows = Int32Array.from(some(lanes.n, row => row)).filter(() => below(2));
		return { axis, lanes, rows };
	}, async ({ axis, lanes, rows }) => {
		const density = new page.Density(lanes, axis),
			want = rows.reduce((sum, row) => sum + lanes.end[row] - lanes.born[row], 0);
		await density.fill(rows, new page.Breath(() => {}), () => false);
		const got = density.part.reduce((sum, part) => sum + part.reduce((a, b) => a + b), 0);
		return near(got, want, 1e-3) ? "" : `${got} of ${want}`;
	}, "some rows alone");
}

// --- events per time

function testRates() {
	const of = (events, edges) => page.eventRates({ events: Uint32Array.from(events), edges, columns: events.length });
	const even = some(101, c => c), busy = some(100, c => 8 + c % 3);
	same(some(2, c => of([10, 10], [0, 10, 110]).at(c)), [1, 0.1], "a column with ten times as much time has a tenth of the rate");
	let rates = of(busy, even);
	same([rates.top, rates.cut], [10, false], "the largest rate is as high as the band");
	rates = of([80, ...busy.slice(1)], even);
	same([rates.top, rates.cut, rates.at(0)], [10, true, 80], "one column that would make all others flat is cut");
	rates = of([900, ...busy.slice(1)], even);
	same([rates.top, rates.cut], [900, false], "unless it has many of the events");
	same([of([], [0]).top, of([0, 0], [0, 1, 2]).top], [0, 0], "without events there is no rate");
	same([of([5], [0, 1e9]).text(5e-9), of([5], [0, 1]).text(445873.7e-9)], ["5/s", "446,000/s"], "a rate in words");
}

// --- sums over a range

// late: events after the end, which count no time
function anyModel(late) {
	const span = 1e6, n = 1 + below(20), first = new Uint32Array(n + 1), born = new Float64Array(n), end = new Float64Array(n),
		time = [], kind = [], arg = [];
	for (let row = 0; row < n; row++) {
		born[row] = Math.floor(chance() * span * 0.7);
		end[row] = chance() < 0.3 ? span : born[row] + Math.floor(chance() * (span - born[row]));
		for (const t of moments(below(50), born[row], late ? span : end[row])) {
			const what = chance() < 0.35 ? page.SUSPEND : chance() < 0.55 ? page.RESUME
				: oneOf([page.WAKE, page.WAKE, page.WAKE, page.WAIT, page.LOST]);
			time.push(t);
			kind.push(what);
			arg.push(below(4));
		}
		first[row + 1] = time.length;
	}
	const coros = { n, first, born, end, flags: new Uint8Array(n) };
	const events = { time: Float64Array.from(time), kind: Uint8Array.from(kind), arg: Int32Array.from(arg) };
	return { n, span, coros, events, lanes: new page.Lanes({ first, born, end, time: events.time,
		...page.deriveStates(coros, events) }) };
}

// A row divided where its state changes and at each transition: [from, to, state, the transition that began it or -1].
function partsOf({ coros, events, lanes }, row) {
	const out = [[coros.born[row], 0, lanes.initial[row], -1]];
	for (let e = coros.first[row]; e < coros.first[row + 1]; e++) {
		const begins = page.isTransition(events.kind[e]);
		out.at(-1)[1] = Math.min(events.time[e], coros.end[row]);
		if (begins || lanes.state[e] !== out.at(-1)[2])
			out.push([events.time[e], 0, lanes.state[e], begins ? e : out.at(-1)[3]]);
	}
	out.at(-1)[1] = coros.end[row];
	return out;
}

function naiveRange(model, rows, from, to) {
	const sums = { ns: some(page.STATES, () => 0), sites: new Map(), threads: new Map(), wakes: 0, alive: 0 };
	for (const row of rows) {
		const { born, end, first } = model.coros, { kind, time, arg } = model.events;
		if (born[row] > to || end[row] < from)
			continue;
		sums.alive++;
		for (let e = first[row]; e < first[row + 1]; e++)
			sums.wakes += kind[e] === page.WAKE && time[e] > from && time[e] <= to;
		for (const [a, b, state, began] of partsOf(model, row)) {
			sums.ns[state] += overlap(from, to, a, b);
			const into = state === page.RUNNING ? sums.threads : state === page.SUSPENDED ? sums.sites : null;
			if (!into || began < 0 || a > to || b < from || b === from && b < end[row])
				continue;
			const sum = into.get(arg[began]) || { ns: 0, times: 0 };
			into.set(arg[began], { ns: sum.ns + overlap(from, to, a, b), times: sum.times + 1 });
		}
	}
	return sums;
}

const flat = ({ ns, sites, threads, wakes, alive }) => JSON.stringify([[...ns],
	...[sites, threads].map(map => [...map].sort(([a], [b]) => a - b)), wakes, alive]);

async function testRange() {
	await holdsFor(() => anyModel(false), async model => {
		const [from, to] = moments(2, -1000, model.span + 1000).map(t => t + 0.5),
			rows = below(2) ? null : Int32Array.from(some(model.n, row => row)).filter(() => below(2));
		const got = flat(await page.rangeSums(model, rows, from, to, () => false)),
			want = flat(naiveRange(model, rows || some(model.n, row => row), from, to));
		return got === want ? "" : `${got}, not ${want}`;
	}, "states, waits, runs and wakes of any range", 2000);
	await holdsFor(() => anyModel(true), async model => {
		const rows = some(model.n, row => row), sums = await page.rangeSums(model, null, 0, model.span, () => false);
		const want = naiveRange(model, rows, 0, model.span).ns;
		return String([...sums.ns]) === String(want) ? "" : `${[...sums.ns]}, not ${want}`;
	}, "events after the end count no time");
	same(await page.rangeSums(anyModel(false), null, 0, 1e6, () => true), null, "a sum that has been cancelled");
}

async function main() {
	for (const test of [testScale, testMoment, testAxis, testWindow, testRows, testParts, testRegion, testAddress, testDensity, testRates,
		testRange])
		await test();
	done();
}

main();
