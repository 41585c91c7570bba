// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// range.js - what happened in a range of time: states, sites, wakes, and runs on each thread.

// { ns: by state, sites: Map of place to { ns, times } of waits, wakes, threads: Map of thread to { ns, runs } }; rows null: all.
// Waits and runs count as far as they are within the range. null: cancelled.
async function rangeSums(model, rows, from, to, cancelled, breath = new Breath(() => {})) {
	const sums = { ns: new Float64Array(STATES), sites: new Map(), threads: new Map(), wakes: 0, alive: 0 };
	const n = rows ? rows.length : model.n, { first, born, end } = model.coros;
	for (let i = 0; i < n; i++) {
		const row = rows ? rows[i] : i;
		if (born[row] <= to && end[row] >= from)
			addRange(model, row, from, to, sums);
		if (breath.due(first[row + 1]))
			await breath.take(i / n);
		if (cancelled())
			return null;
	}
	return sums;
}

function addRange({ lanes, events, coros }, row, from, to, sums) {
	const { kind, time, arg } = events, last = coros.first[row + 1], stop = Math.min(to, coros.end[row]);
	let e = lanes.after(row, from), at = Math.max(from, coros.born[row]), now = lanes.stateBefore(row, e);
	let began = e - 1; // the event that began the state: for its site or thread
	while (began >= coros.first[row] && !isTransition(kind[began]))
		began--;
	const pass = (until, fresh) => {
		const ns = Math.max(0, until - at);
		sums.ns[now] += ns;
		if (began < coros.first[row])
			return;
		const into = now === RUNNING ? sums.threads : now === SUSPENDED ? sums.sites : null;
		if (into)
			addTo(into, arg[began], ns, fresh);
	};
	sums.alive++;
	let fresh = true; // the first part of a stretch: an event that changes nothing divides it
	for (; e < last && time[e] <= to; e++) {
		pass(Math.min(time[e], stop), fresh);
		fresh = lanes.state[e] !== now || isTransition(kind[e]);
		at = Math.min(time[e], stop);
		now = lanes.state[e];
		if (isTransition(kind[e]))
			began = e;
		else if (kind[e] === WAKE)
			sums.wakes++;
	}
	pass(stop, fresh);
}

function addTo(map, key, ns, fresh) {
	const sum = map.get(key) || { ns: 0, times: 0 };
	sum.ns += ns;
	sum.times += fresh ? 1 : 0;
	map.set(key, sum);
}
