"use strict";
// moment.js - what to look at of a finding: its coroutines, who woke each of them last, and the time in which that happened.

// The last event of a kind at or before t, or -1 where there is none among the last so many.
function lastEvent(model, row, t, kind) {
	const first = model.coros.first[row], e = model.lanes.after(row, t) - 1;
	for (let i = e; i >= first && i > e - MOST_LOOKED_AT; i--)
		if (model.events.kind[i] === kind)
			return i;
	return -1;
}

// Of a member: { row, wake, waker, from, to }. One that was never woken has who made it instead; -1 is nobody known. Of one that
// runs the whole run matters, of another when it began to wait.
function memberMoment(model, row, { since_ns, for_ns, state }) {
	const { events, coros } = model, since = since_ns + model.reportOffset;
	const wake = lastEvent(model, row, since, WAKE), run = lastEvent(model, row, since, RESUME);
	const waker = wake < 0 ? coros.parent[row] : events.arg[wake];
	const from = wake >= 0 ? events.time[wake] : run >= 0 ? events.time[run] : since;
	const to = state === "running" ? since + for_ns : since;
	return { row, wake, waker: waker < model.n ? waker : -1, from: Math.min(from, since), to };
}

// Without members: where it began, with some of what was before and behind; all, where it lasted for nearly all the time.
function plainMoment(model, finding) {
	const from = finding.from_ns + model.reportOffset, to = finding.to_ns + model.reportOffset;
	const active = Math.max(1, model.lastEvent - model.firstEvent), around = active / 4;
	return to - from > active * 0.8 ? [model.firstEvent, model.lastEvent] : [from - around, Math.min(to, from + around)];
}

// { first, members, wakers, wakes, from, to }: sets of rows, first being each member with who woke it last behind it; and those
// last wakes.
function findingMoment(model, finding) {
	const moments = finding.coroutines.map(member => [model.row(member.coro), member]).filter(([row]) => row >= 0)
		.map(([row, member]) => memberMoment(model, row, member));
	const members = new Set(moments.map(moment => moment.row)), first = new Set();
	for (const { row, waker } of moments) {
		first.add(row);
		if (waker >= 0)
			first.add(waker);
	}
	const wakers = new Set([...first].filter(row => !members.has(row)));
	let [from, to] = moments.length ? [Infinity, -Infinity] : plainMoment(model, finding);
	for (const moment of moments) {
		from = Math.min(from, moment.from);
		to = Math.max(to, moment.to);
	}
	const wide = to > from ? to - from : (model.lastEvent - model.firstEvent) / 100;
	const wakes = moments.filter(({ wake }) => wake >= 0).map(({ row, wake, waker }) => ({ t: model.events.time[wake], row, waker }));
	return { first, members, wakers, wakes, from: from - wide * 0.5, to: to + wide * (moments.length ? 1 : 0.1) };
}
