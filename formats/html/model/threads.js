// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// threads.js - the coroutines that ran on each thread. Events are kept by coroutine; here all runs are sorted by thread and time.

function runArrays(n) {
	return { start: new Float64Array(n), stop: new Float64Array(n), row: new Int32Array(n) };
}

// Every resume, with its row and thread, grouped by thread. A run in which events are missing has no known length: it is stored as
// ~row, and ends with the gap at the latest.
function collectRuns(coros, events, state, threads) {
	const { kind, time, arg } = events, first = new Uint32Array(threads + 1);
	const starts = e => kind[e] === RESUME && arg[e] >= 0 && arg[e] < threads;
	for (let e = 0; e < kind.length; e++)
		if (starts(e))
			first[arg[e] + 1]++;
	for (let thread = 0; thread < threads; thread++)
		first[thread + 1] += first[thread];
	const n = first[threads], next = first.slice();
	const runs = { n, first, ...runArrays(n) };
	for (let row = 0; row < coros.n; row++) {
		const stop = coros.first[row + 1];
		let open = -1;
		for (let e = coros.first[row]; e < stop; e++) {
			if (!isTransition(kind[e]) && kind[e] !== LOST)
				continue;
			if (open >= 0)
				runs.stop[open] = time[e];
			open = -1;
			if (!starts(e))
				continue;
			open = next[arg[e]]++;
			runs.start[open] = runs.stop[open] = time[e];
			runs.row[open] = state[e] === RUNNING ? row : ~row;
		}
		if (open >= 0)
			runs.stop[open] = Math.max(runs.start[open], coros.end[row]);
	}
	return runs;
}

function insertRuns({ start, stop, row }, first, last) {
	for (let i = first + 1; i < last; i++) {
		const a = start[i], b = stop[i], r = row[i];
		let j = i;
		for (; j > first && start[j - 1] > a; j--) {
			start[j] = start[j - 1];
			stop[j] = stop[j - 1];
			row[j] = row[j - 1];
		}
		start[j] = a;
		stop[j] = b;
		row[j] = r;
	}
}

// Sorts runs [first, last) by their start. They are put into buckets of equal time, about 8 in each, and each bucket is sorted
// likewise. That passes memory once or twice; comparing millions, or sorting them by digits, takes seconds.
function sortRuns(runs, spare, first, last) {
	const { start } = runs;
	if (last - first <= 32)
		return insertRuns(runs, first, last);
	let low = Infinity, high = -Infinity, sorted = true;
	for (let i = first; i < last; i++) {
		sorted &&= start[i] >= high;
		low = Math.min(low, start[i]);
		high = Math.max(high, start[i]);
	}
	if (sorted)
		return;
	const buckets = (last - first) >> 3, scale = buckets / (high - low + 1), at = new Uint32Array(buckets + 1).fill(first);
	const bucket = i => Math.floor((start[i] - low) * scale);
	for (let i = first; i < last; i++)
		at[bucket(i) + 1]++;
	for (let i = 1; i <= buckets; i++)
		at[i] += at[i - 1] - first;
	const next = at.slice();
	for (let i = first; i < last; i++) {
		const to = next[bucket(i)]++;
		spare.start[to] = start[i];
		spare.stop[to] = runs.stop[i];
		spare.row[to] = runs.row[i];
	}
	for (const part of ["start", "stop", "row"])
		runs[part].set(spare[part].subarray(first, last), first);
	for (let i = 0; i < buckets; i++)
		if (at[i + 1] - at[i] > 1)
			sortRuns(runs, spare, at[i], at[i + 1]);
}

// Runs may be nested, if one coroutine resumes another: the thread shows the innermost. A run without a known end lasts until the
// next one of the thread.
function threadLanes(runs, threads, span) {
	const time = new Float64Array(2 * runs.n), state = new Uint8Array(2 * runs.n), arg = new Int32Array(2 * runs.n);
	const first = new Uint32Array(threads + 1), stack = [];
	let n = 0, base = 0, deep = 0;
	const emit = (t, row, now) => {
		if (n > base && time[n - 1] === t && arg[n - 1] < 0)
			n--; // drops runs of no length
		time[n] = t;
		arg[n] = row;
		state[n++] = now;
	};
	const show = (t, run) => {
		const row = runs.row[run];
		emit(t, row < 0 ? ~row : row, row < 0 ? UNKNOWN : RUNNING);
	};
	const leave = until => {
		while (deep && runs.stop[stack[deep - 1]] <= until) {
			const t = runs.stop[stack[--deep]];
			while (deep && runs.stop[stack[deep - 1]] <= t)
				deep--;
			if (deep)
				show(t, stack[deep - 1]);
			else
				emit(t, -1, BORN);
		}
	};
	for (let thread = 0; thread < threads; thread++) {
		first[thread] = base = n;
		for (let run = runs.first[thread]; run < runs.first[thread + 1]; run++) {
			leave(runs.start[run]);
			while (deep && runs.row[stack[deep - 1]] < 0)
				deep--;
			show(runs.start[run], run);
			stack[deep++] = run;
		}
		leave(Infinity);
	}
	first[threads] = n;
	return {
		first, time: time.subarray(0, n), state: state.subarray(0, n), arg: arg.subarray(0, n),
		born: new Float64Array(threads), end: new Float64Array(threads).fill(span), initial: new Uint8Array(threads),
	};
}

// The lanes with the threads' own gaps, in which nothing is known.
function coverGaps(lanes, gaps) {
	const total = gaps.reduce((sum, { from }) => sum + from.length, 0), room = lanes.time.length + 2 * total;
	if (!total)
		return lanes;
	const time = new Float64Array(room), state = new Uint8Array(room), arg = new Int32Array(room);
	const first = new Uint32Array(gaps.length + 1);
	let n = 0;
	const emit = (t, now, row) => {
		time[n] = t;
		state[n] = now;
		arg[n++] = row;
	};
	for (let thread = 0; thread < gaps.length; thread++) {
		const { from, to } = gaps[thread], last = lanes.first[thread + 1];
		let e = lanes.first[thread], now = BORN, row = -1;
		const pass = () => [now, row] = [lanes.state[e], lanes.arg[e++]];
		for (let gap = 0; gap < from.length; gap++) {
			for (; e < last && lanes.time[e] < from[gap]; emit(lanes.time[e - 1], now, row))
				pass();
			emit(from[gap], UNKNOWN, -1);
			while (e < last && lanes.time[e] < to[gap])
				pass();
			if (e === last || lanes.time[e] > to[gap])
				emit(to[gap], now, row);
		}
		for (; e < last; emit(lanes.time[e - 1], now, row))
			pass();
		first[thread + 1] = n;
	}
	return { ...lanes, first, time: time.subarray(0, n), state: state.subarray(0, n), arg: arg.subarray(0, n) };
}

async function buildThreads(coros, events, state, gaps, span, breath) {
	const threads = gaps.length, runs = collectRuns(coros, events, state, threads), { first } = runs;
	let most = 0;
	for (let thread = 0; thread < threads; thread++)
		most = Math.max(most, first[thread + 1] - first[thread]);
	const spare = runArrays(most);
	for (let thread = 0; thread < threads; thread++) {
		const own = part => runs[part].subarray(first[thread], first[thread + 1]);
		sortRuns({ start: own("start"), stop: own("stop"), row: own("row") }, spare, 0, first[thread + 1] - first[thread]);
		await breath.take(thread / threads);
	}
	return new Lanes(coverGaps(threadLanes(runs, threads, span), gaps));
}
