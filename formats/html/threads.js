"use strict";
// threads.js - what ran on each thread. The events are kept by coroutine; here all their runs are sorted by thread and time.

function runArrays(n) {
	return { start: new Float64Array(n), stop: new Float64Array(n), row: new Int32Array(n) };
}

// Every resume, as what it put on which thread, those of a thread together. A run that a loss ended is a moment: how long it
// was is not known.
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
			if (kind[e] !== RESUME && state[e] === RUNNING)
				continue; // a wake of what runs
			if (open >= 0)
				runs.stop[open] = time[e];
			open = -1;
			if (!starts(e))
				continue;
			const i = next[arg[e]]++;
			runs.start[i] = runs.stop[i] = time[e];
			runs.row[i] = row;
			if (state[e] === RUNNING)
				open = i;
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

// Runs [first, last) by their start. They are dealt into buckets of equal time, about 8 to each, and each bucket likewise: that
// walks through memory once for a level, of which there are one or two; millions compared, or sorted by digits, take seconds.
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

// Runs may be inside of others, where one coroutine resumes another: the innermost is what the thread is said to run.
function threadLanes(runs, threads, span) {
	const time = new Float64Array(2 * runs.n), state = new Uint8Array(2 * runs.n), arg = new Int32Array(2 * runs.n);
	const first = new Uint32Array(threads + 1), stack = [];
	let n = 0, base = 0, deep = 0;
	const emit = (t, row) => {
		if (n > base && time[n - 1] === t && arg[n - 1] < 0)
			n--; // nothing ran for no time
		time[n] = t;
		arg[n] = row;
		state[n++] = row < 0 ? BORN : RUNNING;
	};
	const leave = until => {
		while (deep && runs.stop[stack[deep - 1]] <= until) {
			const t = runs.stop[stack[--deep]];
			while (deep && runs.stop[stack[deep - 1]] <= t)
				deep--;
			emit(t, deep ? runs.row[stack[deep - 1]] : -1);
		}
	};
	for (let thread = 0; thread < threads; thread++) {
		first[thread] = base = n;
		for (let run = runs.first[thread]; run < runs.first[thread + 1]; run++) {
			leave(runs.start[run]);
			emit(runs.start[run], runs.row[run]);
			stack[deep++] = run;
		}
		leave(Infinity);
	}
	first[threads] = n;
	return new Lanes({
		first, time: time.subarray(0, n), state: state.subarray(0, n), arg: arg.subarray(0, n),
		born: new Float64Array(threads), end: new Float64Array(threads).fill(span), initial: new Uint8Array(threads),
	});
}

async function buildThreads(coros, events, state, threads, span, breath) {
	const runs = collectRuns(coros, events, state, threads), spare = runArrays(runs.n);
	for (let thread = 0; thread < threads; thread++) {
		sortRuns(runs, spare, runs.first[thread], runs.first[thread + 1]);
		await breath.take(thread / threads);
	}
	return threadLanes(runs, threads, span);
}
