// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
// origins.js [PAGE] - tests formats/html/model/origins.js, as TAP. With a page of a merge, it prints how the trace of all origins differs
// from those of the single ones, and on stderr how much it has compared.
"use strict";
const fs = require("node:fs"), { load, documentOf, same, ok, done } = require("./load.js");

const SCRIPTS = ["model/data.js", "model/origins.js", "model/lanes.js", "model/threads.js", "model/text.js", "model/model.js", "model/waits.js",
	"model/moment.js", "model/members.js", "layout/rows.js", "layout/scale.js", "input/address.js", "panels/describe.js", "panels/origins.js"];
const NAMES = ["Model", "readTrace", "useClock", "withMerges", "joinTraces", "joinedSection", "sectionAddress", "originText", "groupRows",
	"GroupList", "SUSPEND", "RESUME", "WAKE", "LOST", "AWAIT", "WAIT", "HELD", "FEW_OF_ORIGINS"];

const page = load(SCRIPTS, NAMES);

// --- a real page

async function modelOf(text, section) {
	const globals = { document: documentOf(text), location: { hash: section ? `#/timeline?section=${section}` : "" } };
	const own = load(SCRIPTS, NAMES, globals), model = new own.Model(await own.readTrace(() => {}));
	own.useClock(model.meta);
	await model.build(() => {});
	return model;
}

// A row without numbers that depend on the page: its events with texts and ids, and the shares of its states.
function rowText(model, row, after, name) {
	const { coros, events, lanes, meta, n } = model, lines = [], { SUSPEND, RESUME, WAIT, LOST } = page;
	const id = other => other < 0 ? "none" : other < n ? String(coros.coro[other]) : "left out";
	const thread = i => meta.threads[i] ? `${meta.threads[i].tid} ${meta.threads[i].origin ?? name}` : "unknown";
	for (let e = coros.first[row]; e < coros.first[row + 1]; e++) {
		const kind = events.kind[e], arg = events.arg[e];
		const what = kind === SUSPEND ? model.place(arg) : kind === RESUME ? thread(arg) : kind === WAIT ? meta.reasons[arg] : kind === LOST ? arg : id(arg);
		lines.push([events.time[e] + after, kind, what, lanes.state[e], model.reasonAt(row, e), events.kind[e] > LOST ? "" : what].join(" "));
	}
	const ns = Array.from(lanes.totals.subarray(row * 5, row * 5 + 5), t => Math.round(t));
	return [coros.probe[row], meta.strings[coros.name[row]], model.place(coros.spawn[row]), id(coros.parent[row]), coros.flags[row],
		coros.born[row] + after, coros.died[row] + after, coros.end[row] + after, ns, ...lines].join("\n");
}

function threadText(model, thread, after) {
	const { first, time, state, arg } = model.threads, runs = [];
	for (let e = first[thread]; e < first[thread + 1]; e++)
		runs.push([time[e] + after, state[e], arg[e] < 0 ? "none" : model.coros.coro[arg[e]]].join(" "));
	return runs.join("\n");
}

async function compare(file) {
	const text = fs.readFileSync(file, "utf8"), whole = await modelOf(text), { origins } = whole.meta, differ = [];
	let row = 0, thread = 0, events = 0, findings = 0;
	if (!origins)
		return console.log("the page does not open on all origins");
	const check = (a, b, what) => a === b || differ.push(`${what}: ${a}\nin all origins: ${b}`);
	for (const { part, name, after } of origins) {
		const own = await modelOf(text, part.section + 1);
		for (let i = 0; i < own.n; i++, row++) {
			check(rowText(own, i, after, name), rowText(whole, row, 0), `origin ${name}, coroutine ${own.coros.coro[i]}`);
			check(own.coros.coro[i], whole.coros.coro[row], `origin ${name}, row ${i}`);
			check(whole.originOf(row).name, name, `row ${row}`);
		}
		for (let i = 0; i < own.threadGaps.length; i++)
			check(threadText(own, i, after), threadText(whole, thread++, 0), `origin ${name}, thread ${i}`);
		for (const finding of own.leads) {
			const found = whole.leads.find(({ title, coroutines, from_ns: from }) => title === finding.title
				&& coroutines.every(({ coro }, i) => coro === finding.coroutines[i].coro)
				&& from + whole.reportOffset === finding.from_ns + own.reportOffset + after);
			check(Boolean(found), true, `origin ${name}, finding ${finding.title}`);
			findings++;
		}
		events += own.events.time.length;
	}
	check(row, whole.n, "rows");
	check(events, whole.events.time.length, "events");
	check(findings, whole.leads.length, "findings");
	console.error(`${origins.length} origins, ${row} rows, ${events} events, ${thread} threads, ${findings} findings`);
	differ.slice(0, 3).forEach(text => console.log(text.slice(0, 2000)));
}

// --- made-up parts

const finding = (title, certainty, gravity, members, more = {}) => ({ title, certainty, gravity, members, from_ns: 5, to_ns: 9, coroutines: [], ...more });
const section = (origin, more = {}) => ({ origin, origin_number: 1, start_ns: "1000", findings: [], coroutines: 2, lost: 1, caveats: ["blind"], ...more });
const part = (number, merge, t0, more = {}) => ({ section: number, ...merge && { merge }, title: `t${number}`, t0_wall_ns: String(t0 + 7), t0_ns: String(t0), span_ns: 100,
	coroutines: 2, events: 5, omitted_coroutines: 0, omitted_events: 1, threads: [{ tid: 3 }], places: ["", "a.c:1", `p${number}`],
	strings: ["", "same"], reasons: ["", "lock"], ...more });

function testParts() {
	const sections = ["a", "b", undefined, "b", "c", "d"].map(name => section(name)), plain = { parts: [part(0, 0, 5)], shown: 0, report: { sections: [section()] } };
	same(page.withMerges(plain), plain, "a page that was not merged stays as it is");
	const one = { parts: [part(0, 1, 5), part(2, 0, 9)], shown: 1, report: { sections } };
	same(page.withMerges(one).parts.length, 2, "one origin alone is no whole");
	const found = { parts: [part(0, 1, 5), part(1, 1, 9)], shown: 0, finding: 1, report: { sections } };
	same(page.withMerges(found), found, "a page with one finding has none");
	const parts = [part(0, 1, 1000), part(1, 1, 940), part(2, 0, 0), part(3, 2, 50), part(4, 2, 70), part(5, 2, 70, { span_ns: 500 })];
	const made = page.withMerges({ parts, shown: 4, report: { sections } }), [first, second] = made.parts.slice(6);
	same([made.parts.length, made.shown], [8, 7], "each merge has a whole, and the page opens on that of the part that it would open on");
	same([first.section, second.section], [6, 7], "their sections come after all others");
	same(first.origins.map(({ name, after, to }) => [name, after, to]), [["a", 60, 160], ["b", 0, 100]], "the axis begins with the earliest origin");
	same([first.t0_ns, first.t0_wall_ns, first.span_ns], ["940", "947", 160], "and so does its wall clock");
	same([second.span_ns, second.coroutines, second.events, second.omitted_events], [520, 6, 15, 3], "it lasts as long as the last one, and has the sums");
	same(page.withMerges({ parts, shown: 2, report: { sections } }).shown, 2, "a section that was not merged can be what the page opens on");
	const twice = page.withMerges({ parts: parts.slice(0, 2), shown: 0, report: { sections: [section("a"), section("a", { origin_number: 4 })] } });
	same(twice.parts[2].origins.map(({ name }) => name), ["a", "a (4)"], "two origins with one name are told apart");
}

// Two rows each: every kind of event, with numbers that are known, are none, or are of what is not on the page.
function trace() {
	const { SUSPEND, RESUME, WAKE, LOST, AWAIT, WAIT, HELD } = page, kind = [RESUME, WAIT, SUSPEND, WAKE, RESUME, SUSPEND, AWAIT, HELD, LOST, WAKE];
	return {
		coros: { n: 2, coro: BigUint64Array.of(11n, 21n), probe: BigUint64Array.of(1n, 2n), name: Uint32Array.of(1, 0), spawn: Uint32Array.of(2, 0),
			parent: Int32Array.of(-1, 0), born: Float64Array.of(0, 1), died: Float64Array.of(50, Infinity), end: Float64Array.of(50, 100),
			flags: Uint8Array.of(1, 16), first: Uint32Array.of(0, 6, 10) },
		events: { time: Float64Array.from(kind, (_, i) => i), kind: Uint8Array.from(kind), arg: Int32Array.of(0, 1, 2, 1, 9, 1, 2, 0, 2, -1),
			reason: Uint16Array.of(0, 0, 1, 0, 0, 1, 0, 0, 0, 0) },
		threadGaps: [{ from: Float64Array.of(4), to: Float64Array.of(6), count: Float64Array.of(2) }],
	};
}

function testTraces() {
	const parts = [part(0, 1, 1000), part(1, 1, 940, { places: ["", "p0", "a.c:1"], reasons: ["", "lock", "queue"] })];
	const whole = page.withMerges({ parts, shown: 0, report: { sections: [section("a"), section("b")] } }).parts[2];
	const { texts, coros, events, threadGaps } = page.joinTraces(whole, [trace(), trace()]);
	same(texts, { places: ["", "a.c:1", "p0"], strings: ["", "same"], reasons: ["", "lock", "queue"] }, "each text is there once");
	same([coros.n, coros.coro, coros.origin, coros.first], [4, ["11", "21", "11", "21"], [0, 0, 1, 1], [0, 6, 10, 16, 20]], "the rows of one origin after those of another");
	same([coros.born, coros.end, coros.parent], [[60, 61, 0, 1], [110, 160, 50, 100], [-1, 0, -1, 2]], "with the times of the whole, and its rows");
	same([coros.died[0], coros.died[3] === Infinity], [110, true], "one that is alive stays alive");
	same([coros.name, coros.spawn], [[1, 0, 1, 0], [2, 0, 1, 0]], "and its texts");
	same(events.arg, [0, 1, 2, 1, -1, 1, 4, 0, 2, -1, 1, 1, 1, 3, -1, 2, 4, 2, 2, -1], "events refer to rows, threads and texts of the whole");
	same([events.time[3], events.time[13]], [63, 3], "at its times");
	same(events.reason, [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0], "and reasons are of the whole");
	same(threadGaps.map(({ from, to, count }) => [from[0], to[0], count[0]]), [[64, 66, 2], [4, 6, 2]], "gaps of threads");
	const alone = trace();
	alone.events.reason = null;
	same(page.joinTraces(whole, [alone, trace()]).events.reason.subarray(0, 6), [0, 0, 0, 0, 0, 0], "an origin without reasons has none");
}

function testReport() {
	const member = { coro: "5", since_ns: 3, for_ns: 4, reasons: [{ pid: "7", object: "0x1", due_ns: 8 }] };
	const sections = [section("a", { findings: [finding("small", "likely", 2, 1), finding("late", "unknown", 1, 1)], ended_ns: 500, objects: [{ pid: "7", object: "0x1" }] }),
		section("b", { findings: [finding("proof", "proved", 9, 1, { coroutines: [member] }), finding("large", "likely", 2, 8)], start_ns: "945", complete: false,
			threads: [{ tid: 3, last_ns: 9, busy_ns: 9 }], caveats: ["blind", "deaf"], filtered: "--coro 1" })];
	const whole = page.withMerges({ parts: [part(0, 1, 1000), part(1, 1, 940)], shown: 0, report: { sections } }).parts[2], all = page.joinedSection(whole);
	same(all.findings.map(({ title }) => title), ["proof", "large", "small", "late"], "findings: the most severe first");
	same(all.findings.map(({ origin }) => origin), ["b", "b", "a", "a"], "each with its origin");
	same(all.findings.map(({ from_ns: from, to_ns: to }) => [from, to]), [[10, 14], [10, 14], [65, 69], [65, 69]], "and with times of the whole");
	same(all.findings[0].coroutines, [{ coro: "5", since_ns: 8, for_ns: 4, reasons: [{ pid: "b 7", object: "0x1", due_ns: 13 }] }], "so have its members; lengths stay");
	same([all.threads, all.objects], [[{ tid: 3, last_ns: 14, busy_ns: 9, origin: "b" }], [{ pid: "a 7", object: "0x1", origin: "a" }]],
		"an object is not one of another origin with the same numbers");
	same([all.coroutines, all.lost, all.complete, all.ended_ns, all.filtered], [4, 2, false, 560, "--coro 1"], "sums");
	same(all.caveats, ["blind", "b: deaf"], "a caveat that is not of all says of which");
	const many = [1, 2, 3, 4, 5].map(number => part(number - 1, 1, 1000)), blind = [1, 2, 3, 4, 5].map(number => section(`n${number}`, { caveats: number < 5 ? ["blind"] : [] }));
	same(page.joinedSection(page.withMerges({ parts: many, shown: 0, report: { sections: blind } }).parts[5]).caveats, ["4 of 5 origins: blind"], "or of how many");
	same(all.verdict, "4 findings: 1 proved, 2 likely, 1 unknown", "the verdict");
	same(sections[0].findings[0].from_ns, 5, "the report itself stays as it is");
	const numbered = (title, certainty, number, root) => ({ ...finding(title, certainty, 2, 1), evidence: [], number, root });
	const incident = ["a", "b"].map(name => section(name, { findings: [numbered("root", "likely", 1, null), numbered("below", "proved", 2, 1)] }));
	const rooted = page.joinedSection(page.withMerges({ parts: [part(0, 1, 1000), part(1, 1, 940)], shown: 0, report: { sections: incident } }).parts[2]);
	same(rooted.findings.map(({ title, origin }) => `${title} of ${origin}`), ["root of a", "below of a", "root of b", "below of b"],
		"what is because of a finding comes after it, in its origin");
	same(page.joinedSection({ ...whole, origins: whole.origins.map(origin => ({ ...origin, section: { ...origin.section, findings: [] } })), verdicts: ["none", "none"] }).verdict,
		"none", "without findings it is that of the report");
}

function testWords() {
	same(page.originText({ after: 0, to: 2e9, error: null }, 2e9), "0.000 s to 2.000 s", "when an origin began and ended");
	same(page.originText({ after: 1e6, to: 2e6, error: "30000" }, 3e6), "1.000 ms to 2.000 ms; its times are off by at most 30.0 µs", "how far its times may be off");
	same(page.originText({ after: 1e6, to: 2e6, error: "unknown" }, 2e9), "0.001 s to 0.002 s; its times may be off: it is not known how far", "or that nobody knows");
}

function testLinks() {
	const sections = [section("a"), section("b"), section()], made = page.withMerges({ parts: [part(0, 1, 1000), part(1, 1, 940), part(2, 0, 0)], shown: 0, report: { sections } });
	const app = (at, view) => ({ settle() {}, view, model: { meta: { ...made, ...made.parts[at] }, rowAt: id => Number(id) - 1,
		originOf: row => made.parts[at].origins ? made.parts[at].origins[row] : null } });
	const link = (at, number, view) => page.sectionAddress(app(at, view), number);
	same(link(3, 1, { t: [70, 90] }), "#/timeline?t=10-30&section=1", "to an origin, at the same time");
	same(link(0, 2, { t: [10, 30], range: [11, 12] }), "#/timeline?t=70-90&range=71-72&section=2", "from one to another");
	same(link(1, 1, { t: [10, 30] }), "#/timeline?section=1", "before it began: all of it");
	same(link(0, 3, { t: [10, 30] }), "#/timeline?section=3", "a section that was not merged has another axis");
	same(link(1, 4, { t: [10, 30], row: "2", at: 12 }), "#/timeline?t=10-30&at=12&row=2&section=4", "with what is selected");
	same([link(3, 1, { row: "1", at: 70 }), link(3, 1, { row: "2", at: 70 })], ["#/timeline?at=10&row=1&section=1", "#/timeline?section=1"],
		"if that is of the origin");
}

function testGroups() {
	const origins = [{ name: "a" }, { name: "b" }, { name: "c" }], origin = Uint16Array.of(0, 1, 1, 2), n = 4;
	const coros = { origin, born: new Float64Array(n), end: new Float64Array(n).fill(9) };
	const model = { n, meta: { origins, places: [""], strings: [""] }, coros, busy: { length: 9, at: t => t },
		section: { findings: [] } };
	const list = first => new page.GroupList(model, Int32Array.of(0, 1, 2, 3), { by: "origin", open: (_, few) => few, first: new Set(first) });
	const heads = made => made.entries.map(entry => Array.isArray(entry) ? entry : entry.title);
	same(heads(list([])), ["a", [0], "b", [1], [2], "c", [3]], "each origin has a heading, in their order, and its rows below");
	same(heads(list([2])), [[2], "a", [0], "b", [1], "c", [3]], "what a finding is about comes first");
	const open = (names, found) => {
		const rows = page.FEW_OF_ORIGINS + 1, all = names.length * rows, own = Uint16Array.from({ length: all }, (_, i) => i / rows);
		const large = { n: all, meta: { origins: names.map(name => ({ name })), places: [""], strings: [""] }, busy: model.busy,
			section: { findings: found.map(name => ({ origin: name })) },
			coros: { origin: own, born: new Float64Array(all), end: new Float64Array(all).fill(9) } };
		const made = new page.GroupList(large, own.map((_, i) => i), { by: "origin", open: (_, shown) => shown, first: new Set() });
		return made.groups.filter(group => group.open).map(({ title }) => title);
	};
	same(open(["a", "b", "c"], ["b"]), ["b"], "of large origins, those with findings are open");
	same(open(["a", "b"], []), ["a", "b"], "and the only two");
	model.meta.origins = undefined;
	coros.origin = undefined;
	ok(list([]).count > 0, "an address that asks for groups by origin harms no other trace");
}

if (process.argv[2])
	compare(process.argv[2]);
else {
	for (const test of [testParts, testTraces, testReport, testWords, testLinks, testGroups])
		test();
	done();
}
