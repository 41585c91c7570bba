// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// pairs.js - wakes by pair: which coroutine woke which, how often, and when first and last.
//
// A row has all wakes that its coroutine received. So a pair is complete when its row has been read, and of millions of pairs only
// those with the most wakes have to be kept. What no coroutine woke is one pair, whatever it woke: timers and sockets wake everybody.

const MOST_PAIRS = 10000;

class Pairs {
	constructor(most) {
		Object.assign(this, { most, list: [], pairs: 0, wakes: 0, least: 0 });
		this.places = new Map(); // from a waker to its place in the arrays below
		this.count = [];
		this.first = [];
		this.last = [];
		this.outside = null;
	}

	add(waker, t) {
		let place = this.places.get(waker);
		if (place === undefined) {
			place = this.places.size;
			this.places.set(waker, place);
			this.count[place] = 0;
			this.first[place] = t;
		}
		this.count[place]++;
		this.last[place] = t;
	}

	// The row is complete. Of two pairs with the same number of wakes, the earlier row's is kept.
	finish(woken) {
		for (const [waker, place] of this.places) {
			this.wakes += this.count[place];
			if (waker < 0) {
				this.addOutside(this.pair(waker, woken, place));
				continue;
			}
			this.pairs++;
			if (this.count[place] > this.least)
				this.list.push(this.pair(waker, woken, place));
			if (this.list.length >= 2 * this.most)
				this.cut();
		}
		this.places.clear();
	}

	addOutside({ woken, count, first, last }) {
		const none = { rows: 0, count: 0, first: Infinity, last: -Infinity }, all = this.outside || none;
		this.outside = { waker: -1, woken: all.rows ? -1 : woken, rows: all.rows + 1, count: all.count + count,
			first: Math.min(all.first, first), last: Math.max(all.last, last) };
	}

	pair(waker, woken, place) {
		return { waker, woken, count: this.count[place], first: this.first[place], last: this.last[place] };
	}

	cut() {
		this.list.sort((a, b) => b.count - a.count);
		if (this.list.length >= this.most) {
			this.list.length = this.most;
			this.least = this.list[this.most - 1].count;
		}
	}
}

// { list: [{ waker (-1: not known), woken, count, first, last }], pairs and wakes: how many there are in all }. The list has the
// largest pairs, at most `most`. The pair of what no coroutine woke has rows: how many; if there are several,
// woken is -1. keep(waker, woken): whether a pair counts; range: only wakes in it.
async function wakePairs(model, { keep = () => true, range = null, most = MOST_PAIRS } = {}, breath = new Breath(() => {})) {
	const { coros, events, lanes, n } = model, { kind, time, arg } = events;
	const pairs = new Pairs(most), until = range ? range[1] : Infinity;
	for (let row = 0; row < n; row++) {
		const stop = coros.first[row + 1];
		for (let e = range ? lanes.after(row, range[0]) : coros.first[row]; e < stop && time[e] <= until; e++) {
			if (breath.due(e))
				await breath.take(e / kind.length);
			if (kind[e] !== WAKE)
				continue;
			const waker = arg[e] >= 0 && arg[e] < n ? arg[e] : -1;
			if (keep(waker, row))
				pairs.add(waker, time[e]);
		}
		pairs.finish(row);
	}
	if (pairs.outside) {
		pairs.list.push(pairs.outside);
		pairs.pairs++;
	}
	pairs.cut();
	return { list: pairs.list, pairs: pairs.pairs, wakes: pairs.wakes };
}
