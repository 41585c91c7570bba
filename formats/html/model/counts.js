// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// counts.js - how often each coroutine was resumed and woken, and how it spent its time: in the whole trace, or in a range of it.
//
// As in range.js, an event at the start of a range is not in it, and one at its end is.

const COUNTED = new WeakMap(); // from a model to the counts of its whole trace, or the promise of them

// { resumes, wakes: of each row, ns(row, state), life(row), state(row): at the end, lives(row) }; range null: the whole trace.
function coroutineCounts(model, range = null, breath = new Breath(() => {})) {
	if (range)
		return countRange(model, range, breath);
	if (!COUNTED.has(model))
		COUNTED.set(model, countAll(model, breath));
	return COUNTED.get(model);
}

async function countAll(model, breath) {
	const { coros, lanes } = model, counts = await countEvents(model, null, breath);
	return {
		...counts, lives: () => true, state: row => stateAtEnd(model, row), life: row => coros.end[row] - coros.born[row],
		ns: (row, state) => lanes.totals[row * STATES + state],
	};
}

async function countRange(model, [from, to], breath) {
	const { coros, lanes, n } = model, counts = await countEvents(model, [from, to], breath);
	const spent = new Float64Array(n * STATES);
	for (let row = 0; row < n; row++) {
		lanes.shares(row, from, to, lanes.after(row, from), lanes.after(row, to));
		spent.set(lanes.share, row * STATES);
		if (row % 1024 === 1023)
			await breath.take(row / n);
	}
	return {
		...counts, lives: row => coros.born[row] <= to && coros.end[row] >= from,
		state: row => to >= coros.end[row] ? stateAtEnd(model, row) : lanes.stateAt(row, to),
		life: row => Math.max(0, Math.min(coros.end[row], to) - Math.max(coros.born[row], from)),
		ns: (row, state) => spent[row * STATES + state],
	};
}

async function countEvents({ coros, events, lanes, n }, range, breath) {
	const { kind, time } = events, resumes = new Uint32Array(n), wakes = new Uint32Array(n);
	const until = range ? range[1] : Infinity;
	for (let row = 0; row < n; row++) {
		const stop = coros.first[row + 1];
		for (let e = range ? lanes.after(row, range[0]) : coros.first[row]; e < stop && time[e] <= until; e++) {
			if (kind[e] === RESUME)
				resumes[row]++;
			else if (kind[e] === WAKE)
				wakes[row]++;
			if (breath.due(e))
				await breath.take(e / kind.length);
		}
	}
	return { resumes, wakes };
}

// When the trace, or the coroutine, ended.
function stateAtEnd({ coros, lanes, span }, row) {
	return coros.died[row] <= span ? DEAD : lanes.stateBefore(row, coros.first[row + 1]);
}
