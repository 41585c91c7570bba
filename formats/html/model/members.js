// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// members.js - the members of a finding that the report counts but does not list, as far as the page can tell which they are.

const MOST_KNOWN = 1000; // members in a list or a tree

// What a row does at the end, in the form of a member of a finding.
function memberOf(model, row) {
	const { coros, events, meta } = model, waits = coros.died[row] > model.span ? stretch(model, row, coros.end[row]) : null;
	const wait = waits && waits.state <= RUNNABLE ? model.waitAt(row, coros.first[row + 1] - 1) : -1;
	const member = { coro: String(coros.coro[row]), name: meta.strings[coros.name[row]] || null, in: null,
		spawn_site: model.place(coros.spawn[row]) || null, suspend_site: null, state: null, reasons: [], waits_for: null, woken_by: null };
	if (wait < 0)
		return member;
	const from = waits.state === SUSPENDED ? events.time[wait] : waits.from;
	return { ...member, state: waits.state === SUSPENDED ? "suspended" : "runnable", suspend_site: model.place(events.arg[wait]) || null,
		since_ns: from - model.reportOffset, for_ns: Math.max(0, reportEnd(model, row) - from) };
}

// When the report about a row that is alive ends, in the times of the page.
function reportEnd({ section, coros, reportOffset }, row) {
	return Number.isFinite(section.duration_ns) ? section.duration_ns + reportOffset : coros.end[row];
}

// The rows that wait at the end as the listed members of a finding do: since it began, at their site, of their spawn site, for the same
// thing. What another finding lists, or waits because of one, is not among them.
function rowsLike(model, finding, listed) {
	const { coros, lanes, n, span } = model, [first] = finding.coroutines, sample = model.row(first.coro), found = [];
	const last = row => model.waitAt(row, coros.first[row + 1] - 1), since = finding.from_ns + model.reportOffset - 1;
	if (sample < 0 || last(sample) < 0)
		return found;
	const reason = model.reasonAt(sample, last(sample)), site = model.events.arg[last(sample)];
	for (let row = 0; row < n; row++) {
		if (coros.died[row] <= span || listed.has(row) || !model.sameOrigin(row, sample) || lanes.stateBefore(row, coros.first[row + 1]) !== SUSPENDED)
			continue;
		const wait = last(row);
		if (wait >= 0 && model.events.arg[wait] === site && model.events.time[wait] >= since && model.reasonAt(row, wait) === reason
			&& (!finding.spawn_site || coros.spawn[row] === coros.spawn[sample]))
			found.push(row);
	}
	return found;
}

// Gives each finding `others`: the rows of the members that the report does not list. If as many rows as are missing wait like those that
// it lists, these are they; else none is known.
function findOthers(model) {
	const lists = model.leads.flatMap(listedIn), listed = new Set();
	for (const finding of model.leads)
		finding.others = [];
	for (const finding of model.leads) {
		const { coroutines: some, members } = finding, missing = members - some.length;
		const alike = missing > 0 && some.length && finding.suspend_site && finding.rule !== "leaked"
			&& some.every(member => member.state === "suspended" && member.suspend_site === some[0].suspend_site);
		if (!alike)
			continue;
		if (!listed.size)
			lists.forEach(({ coro }) => listed.add(model.row(coro)));
		const rows = rowsLike(model, finding, listed);
		finding.others = rows.length === missing ? rows : [];
		finding.others.forEach(row => listed.add(row));
	}
}

// All members that are known, up to a number of them; those that the report lists come first.
function knownMembers(model, { coroutines, others = [] }, most = MOST_KNOWN) {
	const reasons = coroutines.length ? coroutines[0].reasons : [], left = Math.max(0, most - coroutines.length);
	return [...coroutines, ...others.slice(0, left).map(row => ({ ...memberOf(model, row), reasons }))];
}

// The objects of the report that a row holds: { object, since: when its last wait for it ended, or null, waiters: rows that wait for it }.
function heldBy(model, row) {
	const coro = String(model.coros.coro[row]), { objects = [] } = model.section;
	return objects.filter(({ holders }) => (holders || []).some(holder => holder.coro === coro))
		.map(object => ({ object, since: gotAt(model, row, object), waiters: waitersFor(model, object) }));
}

// Whether the text of a reason is of an object.
function isFor(reason, object) {
	const words = objectWords(object);
	return reason === words || reason.split(" or ").some(part => part.endsWith(` ${words}`) || part === words);
}

// When the last wait of a row for an object ended; null: it has not waited for it.
function gotAt(model, row, object) {
	const { events, coros } = model;
	for (let e = coros.first[row + 1] - 1, ended = null; e >= coros.first[row]; e--) {
		if (events.kind[e] === RESUME || events.kind[e] === WAKE)
			ended = events.time[e];
		else if (events.kind[e] === SUSPEND && ended !== null && isFor(model.reasonAt(row, e), object))
			return ended;
		else if (events.kind[e] === SUSPEND)
			ended = null;
	}
	return null;
}

// The rows that wait for an object at the end, the longest first.
function waitersFor(model, object) {
	const { coros, lanes, events, n, span } = model, found = [];
	for (let row = 0; row < n && events.reason; row++) {
		const waits = coros.died[row] > span && lanes.stateBefore(row, coros.first[row + 1]) === SUSPENDED;
		const wait = waits ? model.waitAt(row, coros.first[row + 1] - 1) : -1;
		if (wait >= 0 && isFor(model.reasonAt(row, wait), object) && object.origin === (model.originOf(row) || {}).name)
			found.push([events.time[wait], row]);
	}
	return found.sort((a, b) => a[0] - b[0]).map(([, row]) => row);
}
