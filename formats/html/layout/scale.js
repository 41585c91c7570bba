// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// scale.js - how time becomes width: busy periods get most of it, and quiet ones little.
//
// A server that hangs does its work in a few milliseconds and then waits for seconds, with a heartbeat now and then. On an even scale
// the work is a few pixels wide. So the scale has pieces: within each, width is proportional to time. u is the position on the
// scale: one nanosecond of a busy piece is 1, one of a quiet piece is less.

const QUIET_SHARE = 0.2; // of the whole scale, for all quiet pieces together
const HANG_SHARE = 0.4; // the same beside the moment of a finding that goes on after it
const MOST_QUIET = 12; // pieces
const MOST_CHUNKS = 256, LEAST_IN_CHUNK = 8; // parts of equal weight, by which busy and quiet are told apart; and events in one
const LEAST_CHUNKS = 8; // with fewer, nothing can be said
const LEAST_GAIN = 0.4; // the share of the activity in busy periods must exceed their share of the time by this
const LEAST_ACTIVE_NS = 100;
const SAMPLE = 65536; // events that are looked at
const MOMENT_SHARE = 0.5; // of the whole scale: a moment with so much width is seen well enough
const SILENCE = 0.05; // of the busy time: a quiet period that is shorter than this stays as it is

class Scale {
	// pieces: { from, to, quiet }, one after the other, without a gap. share: the width of all quiet ones.
	constructor(pieces, share = QUIET_SHARE) {
		const quiet = pieces.filter(piece => piece.quiet), rank = piece => Math.sqrt(piece.to - piece.from);
		const busy = pieces.reduce((sum, piece) => sum + (piece.quiet ? 0 : piece.to - piece.from), 0);
		const ranks = quiet.reduce((sum, piece) => sum + rank(piece), 0);
		const room = busy * share / (1 - share);
		let u = 0;
		this.pieces = pieces.map(({ from, to, quiet }) => {
			const begin = u;
			u += quiet ? Math.min(to - from, room * Math.sqrt(to - from) / ranks) : to - from;
			return { from, to, quiet, begin, end: u };
		});
		this.length = u;
	}
	get low() {
		return this.pieces[0].from;
	}
	get high() {
		return this.pieces.at(-1).to;
	}
	get even() {
		return this.pieces.length === 1;
	}
	// The piece that has a position or a moment; those outside belong to the first or the last.
	piece(of, edge) {
		const { pieces } = this;
		let low = 0, high = pieces.length - 1;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (pieces[middle][edge] <= of)
				low = middle + 1;
			else
				high = middle;
		}
		return pieces[low];
	}
	at(t) { // its position
		const { from, to, begin, end } = this.piece(t, "to");
		return begin + (t - from) / (to - from) * (end - begin);
	}
	time(u) {
		const { from, to, begin, end } = this.piece(u, "end");
		return from + (u - begin) / (end - begin) * (to - from);
	}
}

function evenScale(low, high) {
	return new Scale([{ from: low, to: high, quiet: false }]);
}

// Some moments of the events, with weights, in time order: { start, stop: the weights }. All events of a coroutine together weigh the
// root of their number: a heartbeat that beats a thousand times says less than a thousand coroutines.
function sampleEvents({ first, n }, time) {
	const step = Math.max(1, Math.ceil(time.length / SAMPLE)), some = runArrays(Math.ceil(time.length / step));
	let k = 0;
	for (let row = 0, e = 0; row < n; row++) {
		const weight = 1 / Math.sqrt(first[row + 1] - first[row]);
		for (; e < first[row + 1]; e += step) {
			some.start[k] = time[e];
			some.stop[k++] = weight;
		}
	}
	sortRuns(some, runArrays(k), 0, k);
	return some;
}

// The busy periods of a sample, as [from, to], in time order: where there is more activity than on average. One period for all
// of it: no part of the time is much busier than the rest.
function busyPeriods({ start, stop: weight }) {
	const n = start.length, low = start[0], high = start[n - 1];
	const total = weight.reduce((sum, w) => sum + w, 0), edges = [0], busy = [];
	const chunks = Math.min(MOST_CHUNKS, Math.floor(n / LEAST_IN_CHUNK));
	let gain = 0;
	for (let i = 0, sum = 0; i < n; i++) {
		sum += weight[i];
		if (sum < total / chunks && i < n - 1)
			continue;
		const share = sum / total, long = (start[i] - start[edges.at(-1)]) / (high - low);
		busy.push(long < share);
		gain += Math.max(0, share - long);
		edges.push(i);
		sum = 0;
	}
	if (gain < LEAST_GAIN || chunks < LEAST_CHUNKS)
		return [[low, high]];
	const periods = [], near = (high - low) / chunks / 2;
	for (let c = 0; c < busy.length; c++) {
		if (!busy[c])
			continue;
		let a = edges[c], b = edges[c + 1];
		while (a > edges[Math.max(0, c - 1)] && start[a] - start[a - 1] < near) // the end of the chunk before may be busy, too
			a--;
		while (b < edges[Math.min(busy.length, c + 2)] && start[b + 1] - start[b] < near)
			b++;
		periods.push([start[a], start[b]]);
	}
	return periods;
}

// Periods that are close together become one, so that at most MOST_QUIET pieces of some length are between them.
function joinPeriods(periods) {
	const busy = periods.reduce((sum, [from, to]) => sum + to - from, 0);
	const gaps = periods.slice(1).map(([from], i) => from - periods[i][1]).sort((a, b) => b - a);
	const least = Math.max(busy * SILENCE, gaps[MOST_QUIET] || 0), joined = [periods[0].slice()];
	for (const [from, to] of periods.slice(1)) {
		const last = joined.at(-1);
		if (from - last[1] <= least)
			last[1] = Math.max(last[1], to);
		else
			joined.push([from, to]);
	}
	return joined;
}

// The scale of a trace: span is its length, first and last are the times of the first event and the last, sample is of its events.
function busyScale(span, first, last, sample) {
	const periods = sample && sample.start.length > 1 && last > first ? joinPeriods(busyPeriods(sample)) : [[first, last]];
	const long = periods.reduce((sum, [from, to]) => sum + to - from, 0), busy = Math.max(long, LEAST_ACTIVE_NS);
	const room = Math.max(busy * 0.02, (busy - long) / 2), quiet = ns => ns > busy * SILENCE;
	const before = quiet(periods[0][0]), after = quiet(span - periods.at(-1)[1]);
	const low = Math.min(0, first) - (before ? 0 : busy * 0.01), high = Math.max(span, last) + (after ? 0 : busy * 0.01);
	const pieces = [];
	let at = low;
	const add = (to, quiet) => {
		if (to <= at)
			return;
		if (!pieces.length || pieces.at(-1).quiet || quiet)
			pieces.push({ from: at, to, quiet });
		pieces.at(-1).to = at = to;
	};
	for (const [from, to] of periods) {
		add(from - room, pieces.length > 0 || before);
		add(Math.min(high, to + room), false);
	}
	add(high, after);
	return Object.assign(new Scale(pieces), { silent: last });
}

// The scale on which one moment has most of the width, with all of the time before and after it at the sides; null: it has so already.
// low, high: all of the time; end: when the finding ended. If that is after its moment, what goes on has more width, too.
function momentScale(scale, { from, to }, [low, high], end) {
	from = Math.max(from, low);
	to = Math.min(to, high);
	const seen = scale.at(to) - scale.at(from) > scale.length * MOMENT_SHARE, goesOn = end > to;
	if (to <= from || seen && !goesOn)
		return null;
	const moment = [{ from: low, to: from, quiet: true }, { from, to, quiet: false }, { from: to, to: high, quiet: true }];
	const pieces = seen ? scale.pieces : moment.filter(piece => piece.to > piece.from);
	return Object.assign(new Scale(pieces, goesOn ? HANG_SHARE : QUIET_SHARE), { silent: scale.silent });
}
