// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// origins.js - all origins of a merge as one trace: on one time axis, from the start of the earliest on, the rows of each together.
//
// The page has a part for each origin. A merge with several of them has one more part here, which has no data of its own, but
// `origins`: { name, section, part, after, to, error }. Times of an origin are `after` nanoseconds later in the whole.

// The page with such parts. It opens on the one with the part that it would open on. A page with the coroutines of one finding has no
// such parts: it has all coroutines of the other origins.
function withMerges(page) {
	const { parts, report } = page, merges = new Map(), shown = parts[page.shown];
	for (const part of parts.filter(({ merge }) => merge && !page.finding))
		merges.set(part.merge, [...merges.get(part.merge) || [], part]);
	const whole = [...merges.values()].filter(list => list.length > 1).map((list, i) =>
		joinedPart(originsOf(list, report.sections), report.sections.length + i));
	const opens = whole.findIndex(({ origins }) => origins.some(({ part }) => part === shown));
	return { ...page, parts: [...parts, ...whole], shown: opens < 0 ? page.shown : parts.length + opens };
}

function originsOf(parts, sections) {
	const start = parts.map(part => BigInt(part.t0_ns)).reduce((a, b) => a < b ? a : b), names = new Set();
	return parts.map(part => {
		const section = sections[part.section], after = Number(BigInt(part.t0_ns) - start);
		const known = section.origin || "", name = names.has(known) ? `${known} (${section.origin_number})` : known;
		names.add(name);
		return { name, section, part, after, to: after + part.span_ns, error: section.origin_error_ns ?? null };
	});
}

function joinedPart(origins, section) {
	const sum = key => origins.reduce((all, { part }) => all + part[key], 0), first = origins.find(({ after }) => !after).part;
	const titles = [...new Set(origins.map(({ part }) => part.title))];
	return {
		section, origins, title: titles.join(", "), t0_wall_ns: first.t0_wall_ns, ordinal: false, t0_ns: first.t0_ns,
		span_ns: Math.max(...origins.map(({ to }) => to)),
		...Object.fromEntries(["coroutines", "events", "omitted_coroutines", "omitted_events"].map(key => [key, sum(key)])),
		threads: origins.flatMap(({ part, name }) => part.threads.map(thread => ({ ...thread, origin: name }))),
	};
}

// Texts of all origins, once each, and for each origin the numbers of its texts among them. "" is number 0 everywhere.
function joinTexts(origins, key) {
	const known = new Map([["", 0]]), number = text => known.get(text) ?? known.set(text, known.size).get(text);
	const numbers = origins.map(({ part }) => Uint32Array.from(part[key], number));
	return { texts: [...known.keys()], numbers };
}

// --- the events

// traces: what readPart() made of each origin. The texts are joined only here: a page that shows one origin needs none of others.
function joinTraces({ origins }, traces) {
	const places = joinTexts(origins, "places"), strings = joinTexts(origins, "strings"), reasons = joinTexts(origins, "reasons");
	const rows = traces.reduce((sum, { coros }) => sum + coros.n, 0);
	const total = traces.reduce((sum, { events }) => sum + events.time.length, 0);
	const coros = {
		n: rows, coro: new BigUint64Array(rows), probe: new BigUint64Array(rows), parent: new Int32Array(rows),
		name: new Uint32Array(rows), spawn: new Uint32Array(rows), born: new Float64Array(rows), died: new Float64Array(rows), end: new Float64Array(rows),
		flags: new Uint8Array(rows), first: new Uint32Array(rows + 1), origin: new Uint16Array(rows),
	};
	const events = { time: new Float64Array(total), kind: new Uint8Array(total), arg: new Int32Array(total), reason: null };
	if (reasons.texts.length > 1)
		events.reason = new Uint32Array(total);
	const whole = { coros, events, threadGaps: [] };
	for (let i = 0, row = 0; i < traces.length; row += traces[i++].coros.n) {
		const numbers = { places: places.numbers[i], strings: strings.numbers[i], reasons: reasons.numbers[i] };
		addTrace(whole, traces[i], { origin: i, row, after: origins[i].after, numbers });
	}
	return { texts: { places: places.texts, strings: strings.texts, reasons: reasons.texts }, ...whole };
}

function addTrace({ coros, events, threadGaps }, trace, { origin, row, after, numbers }) {
	const { coros: own, threadGaps: gaps } = trace, at = coros.first[row];
	const other = it => it < 0 ? -1 : it < own.n ? it + row : coros.n; // a row; or none that is on the page
	for (const key of ["coro", "probe", "flags"])
		coros[key].set(own[key], row);
	for (let i = 0; i < own.n; i++) {
		const to = row + i;
		coros.origin[to] = origin;
		coros.name[to] = numbers.strings[own.name[i]] || 0;
		coros.spawn[to] = numbers.places[own.spawn[i]] || 0;
		coros.parent[to] = other(own.parent[i]);
		coros.born[to] = own.born[i] + after;
		coros.died[to] = own.died[i] + after;
		coros.end[to] = own.end[i] + after;
		coros.first[to + 1] = own.first[i + 1] + at;
	}
	addEvents(events, trace, { at, other, after, numbers, thread: threadGaps.length, threads: gaps.length });
	for (const { from, to, count } of gaps)
		threadGaps.push({ from: from.map(t => t + after), to: to.map(t => t + after), count });
}

function addEvents({ time, kind, arg, reason }, { events: own }, { at, other, after, numbers, thread, threads }) {
	kind.set(own.kind, at);
	for (let e = 0; e < own.time.length; e++) {
		const what = own.kind[e], value = own.arg[e];
		time[at + e] = own.time[e] + after;
		if (what === SUSPEND)
			arg[at + e] = numbers.places[value] || 0;
		else if (what === RESUME)
			arg[at + e] = value >= 0 && value < threads ? value + thread : -1;
		else if (what === WAKE || what === AWAIT || what === HELD)
			arg[at + e] = other(value);
		else
			arg[at + e] = what === WAIT ? numbers.reasons[value] || 0 : value;
		if (own.reason)
			reason[at + e] = numbers.reasons[own.reason[e]] || 0;
	}
}

// --- the report

const MOMENTS = new Set(["from_ns", "to_ns", "since_ns", "last_ns", "due_ns"]); // the other times of the report are lengths
const CERTAINTIES = ["proved", "likely", "unknown"];

// A part of a report with its moments so much later. A process has the same number as one of another origin may have.
function later(value, { after, name }) {
	if (Array.isArray(value))
		return value.map(item => later(item, { after, name }));
	if (value === null || typeof value !== "object")
		return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => {
		const moved = MOMENTS.has(key) && Number.isFinite(item) ? item + after : later(item, { after, name });
		return [key, key === "pid" ? `${name} ${item}` : moved];
	}));
}

const FEW_NAMES = 3;

// Lines of the report; one that is not of all origins says of which, or of how many.
function joinedLines(origins, key) {
	const lines = new Map();
	for (const { section, name } of origins)
		for (const line of section[key] || [])
			lines.set(line, [...lines.get(line) || [], name]);
	const whose = names => names.length <= FEW_NAMES ? names.join(", ") : `${count(names.length)} of ${count(origins.length)} origins`;
	return Array.from(lines, ([line, names]) => names.length === origins.length ? line : `${whose(names)}: ${line}`);
}

// Findings that are because of another one come after that.
function belowRoots(findings) {
	const isBelow = (finding, root) => Boolean(finding.root) && finding.root === root.number && finding.origin === root.origin;
	return findings.filter(finding => !findings.some(root => isBelow(finding, root)))
		.flatMap(root => [root, ...findings.filter(finding => isBelow(finding, root))]);
}

// The report of all origins: lists with all of their items, each with the name of its origin, and sums.
function joinedSection({ origins, verdicts = [], t0_ns: t0, t0_wall_ns: wall }) {
	const sections = origins.map(({ section }) => section), sum = key => sections.reduce((all, one) => all + (one[key] || 0), 0);
	const list = key => origins.flatMap(origin => {
		const { part, section, name } = origin;
		// The report's times are since its start, which may be a little later than that of the page.
		const after = origin.after + Number(BigInt(section.start_ns ?? part.t0_ns) - BigInt(part.t0_ns));
		return (section[key] || []).map(item => ({ ...later(item, { after, name }), origin: name }));
	});
	const rank = ({ certainty }) => CERTAINTIES.indexOf(certainty);
	const filtered = new Set(sections.map(section => section.filtered).filter(text => text));
	const lasted = ({ section, part }) => section.ended_ns ?? section.duration_ns ?? part.span_ns;
	const findings = belowRoots(list("findings").sort((a, b) => rank(a) - rank(b) || a.gravity - b.gravity || b.members - a.members));
	const certain = CERTAINTIES.map((_, i) => `${findings.filter(finding => rank(finding) === i).length} ${CERTAINTIES[i]}`);
	const alone = [...new Set(origins.map(({ part }) => verdicts[part.section] || "No findings"))].join(" · ");
	const sums = "coroutines alive threads_seen events wakes lost lost_of_nobody missed untraced".split(" ");
	return {
		...Object.fromEntries(sums.map(key => [key, sum(key)])),
		...Object.fromEntries(["suspects", "waiting", "running", "sites", "threads", "objects"].map(key => [key, list(key)])),
		findings, verdict: findings.length ? `${plural(findings.length, "finding")}: ${certain.join(", ")}` : alone,
		caveats: joinedLines(origins, "caveats"),
		filtered: [...filtered].join("; ") || null, missing: sections.some(({ missing }) => missing), top: {},
		complete: sections.every(({ complete }) => complete !== false), ordinal: false,
		start_ns: t0, start_wall_ns: wall, pid: origins.map(({ name }) => name).join(),
		ended_ns: Math.max(...origins.map(origin => origin.after + lasted(origin))),
	};
}
