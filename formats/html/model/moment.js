// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// moment.js - what to look at for a finding: its coroutines, the last waker of each, and the time in which that happened.

// The last event of a kind at or before t; -1: the last few events have none.
function lastEvent(model, row, t, kind) {
	const first = model.coros.first[row], e = model.lanes.after(row, t) - 1;
	for (let i = e; i >= first && i > e - MOST_LOOKED_AT; i--)
		if (model.events.kind[i] === kind)
			return i;
	return -1;
}

// When a coroutine that is alive at the end began its last wait; null: it does not wait.
function lastWait(model, row) {
	const { coros, events } = model, wait = coros.died[row] > model.span ? model.waitAt(row, coros.first[row + 1] - 1) : -1;
	return wait >= 0 ? events.time[wait] : null;
}

// For a member: { row, since, until, wake, waker, from, to }. If it was never woken, waker is its parent; -1: not known. The span of a running
// member is its whole run; of another, the time when it began to wait.
function memberMoment(model, row, { since_ns, for_ns, state }, rule) {
	const { events, coros } = model, told = since_ns + model.reportOffset, since = rule === "leaked" ? lastWait(model, row) ?? told : told;
	const wake = lastEvent(model, row, since, WAKE), run = lastEvent(model, row, since, RESUME);
	const waker = wake < 0 ? coros.parent[row] : events.arg[wake];
	const from = wake >= 0 ? events.time[wake] : run >= 0 ? events.time[run] : since;
	const until = told + for_ns, to = state === "running" ? until : since;
	return { row, since, until, wake, waker: waker < model.n ? waker : -1, from: Math.min(from, since), to };
}

// Without members: the start of the finding, with some time before and after it; if it lasted for nearly all the time, everything.
function plainMoment(model, finding) {
	const from = finding.from_ns + model.reportOffset, to = finding.to_ns + model.reportOffset;
	const active = Math.max(1, model.lastEvent - model.firstEvent), around = active / 4;
	return to - from > active * 0.8 ? [model.firstEvent, model.lastEvent] : [from - around, Math.min(to, from + around)];
}

// { first, members, all: how many members the finding has, holders, wakers, wakes, stuck, open, from, to }: sets of rows, the last wakes, stuckRows(), whether a member is alive at
// the end.
// first: who holds what the members wait for or is awaited by them, then the members, each followed by its last waker.
function findingMoment(model, finding) {
	const moments = finding.coroutines.map(member => [model.row(member.coro), member]).filter(([row]) => row >= 0)
		.map(([row, member]) => memberMoment(model, row, member, finding.rule));
	const members = new Set(moments.map(moment => moment.row)), holders = new Set(), first = new Set();
	for (const { row, since } of moments) {
		const e = model.lanes.after(row, since) - 1, awaited = model.awaitAt(row, since), holder = model.holderAt(row, e);
		const other = holder >= 0 ? holder : awaited ? awaited.target : -1; // who was awaited may have passed it on
		if (other >= 0 && other < model.n && !members.has(other))
			holders.add(other);
	}
	for (const { holders: held } of wantedBy(finding, model.section.objects))
		(held || []).map(({ coro }) => model.row(coro)).filter(row => row >= 0 && !members.has(row)).forEach(row => holders.add(row));
	for (const row of holders)
		first.add(row);
	for (const { row, waker } of moments) {
		first.add(row);
		if (waker >= 0)
			first.add(waker);
	}
	for (const row of finding.others || []) {
		members.add(row);
		first.add(row);
	}
	for (const row of waitersOf(model, finding))
		first.add(row);
	const wakers = new Set(moments.map(({ waker }) => waker).filter(row => row >= 0 && !members.has(row) && !holders.has(row)));
	let [from, to] = moments.length ? [Infinity, -Infinity] : plainMoment(model, finding);
	for (const moment of moments) {
		from = Math.min(from, moment.from);
		to = Math.max(to, moment.to);
	}
	const wide = to > from ? to - from : (model.lastEvent - model.firstEvent) / 100;
	const wakes = moments.filter(({ wake }) => wake >= 0).map(({ row, wake }) => wakeAt(model, row, wake));
	const open = moments.some(({ row }) => model.coros.died[row] > model.span);
	return { first, members, all: finding.members, holders, wakers, wakes, stuck: stuckRows(model, finding, moments), open, from: from - wide * 0.5, to: to + wide * (moments.length ? 1 : 0.1) };
}

// The coroutines that wait because of the finding, each after the one that it waits for, as far as the report lists them and the page
// has them.
function waitersOf(model, { awaits }) {
	return (awaits || []).flatMap(({ waits_for: other, coro }) => [model.row(other), model.row(coro)]).filter(row => row >= 0);
}

// When each row of the finding stands still, and each that waits because of it: a Map of row to [since, until].
function stuckRows(model, { awaits, rule, others }, moments) {
	const stuck = new Map(), offset = model.reportOffset;
	if (RUNNING_RULES.has(rule))
		return stuck;
	for (const { coro, since_ns: since, for_ns: ns } of awaits || [])
		stuck.set(model.row(coro), [since + offset, since + offset + ns]);
	for (const row of others || [])
		stuck.set(row, [lastWait(model, row), reportEnd(model, row)]);
	for (const { row, since, until } of moments)
		stuck.set(row, [since, until]);
	return stuck;
}
