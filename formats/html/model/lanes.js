// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// lanes.js - rows of states over time, with sums that give the exact shares of any stretch at once.
//
// A lane has the states of one coroutine or of one thread: its events first[row] .. first[row + 1], each with the state that begins
// with it; before the first event it is in initial[row], and it ends at end[row]. Every BLOCK events the time spent in each
// state since the lane's birth is kept, and how often each began. So the shares of the states between any two moments cost two
// searches and at most 2 BLOCK steps, exactly, whether ten events are in between or ten million.

const BORN = 0, SUSPENDED = 1, RUNNABLE = 2, RUNNING = 3, UNKNOWN = 4, DEAD = 5, STATES = 5; // no time is spent in DEAD
const STATE_NAMES = ["not started", "suspended", "runnable", "running", "unknown", "dead"];
const STACK = [RUNNING, RUNNABLE, UNKNOWN, SUSPENDED, BORN]; // drawn from the bottom: the rare states that matter come first
const BLOCK = 32, BLOCK_SHIFT = 5;

class Lanes {
	// born, end and initial: for each lane; time and state: for each event; arg: what the drawing says of it
	constructor(parts) {
		Object.assign(this, parts);
		this.n = this.first.length - 1;
		this.totals = new Float64Array(this.n * STATES);
		const blocks = Math.ceil(this.time.length / BLOCK);
		this.blockTime = new Float64Array(blocks * STATES);
		this.blockCount = new Uint32Array(blocks * STATES);
		// Results of the last shares(): the time in each state, and how often each began.
		this.share = new Float64Array(STATES);
		this.begun = new Uint32Array(STATES);
		this.shareFrom = new Float64Array(STATES);
		this.begunFrom = new Uint32Array(STATES);
	}

	async sum(breath) {
		const spent = new Float64Array(STATES), begun = new Uint32Array(STATES);
		for (let row = 0; row < this.n; row++) {
			this.sumRow(row, spent.fill(0), begun.fill(0));
			this.totals.set(spent, row * STATES);
			if (breath.due(this.first[row + 1]))
				await breath.take(this.first[row + 1] / this.time.length);
		}
	}

	sumRow(row, spent, begun) {
		const { time, state, blockTime, blockCount } = this, stop = this.first[row + 1], end = this.end[row];
		let at = this.born[row], now = this.initial[row];
		for (let e = this.first[row]; e < stop; e++) {
			const next = time[e] < end ? time[e] : end;
			spent[now] += next - at;
			if ((e & (BLOCK - 1)) === 0) {
				blockTime.set(spent, (e >> BLOCK_SHIFT) * STATES);
				blockCount.set(begun, (e >> BLOCK_SHIFT) * STATES);
			}
			at = next;
			now = state[e];
			begun[now]++;
		}
		spent[now] += end - at;
	}

	// The first event of the lane that is later than t, from `low` on.
	after(row, t, low = this.first[row]) {
		const { time } = this;
		let high = this.first[row + 1];
		for (let step = 1; low + step < high; step *= 2) { // near, mostly
			if (time[low + step] > t) {
				high = low + step;
				break;
			}
			low += step;
		}
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (time[middle] <= t)
				low = middle + 1;
			else
				high = middle;
		}
		return low;
	}

	stateAt(row, t) {
		if (t < this.born[row] || t > this.end[row] || (t === this.end[row] && this.died && this.died[row] <= t))
			return DEAD;
		return this.stateBefore(row, this.after(row, t));
	}

	// The state that event e ends: the event before began it.
	stateBefore(row, e) {
		return e > this.first[row] ? this.state[e - 1] : this.initial[row];
	}

	// The sums from the lane's birth to t, where e is after(row, t).
	sumTo(row, e, t, spent, begun) {
		const { time, state } = this;
		let i = this.first[row], at = this.born[row], now = this.initial[row];
		const block = (e - 1) >> BLOCK_SHIFT, base = block * STATES;
		spent.fill(0);
		begun.fill(0);
		if (e > i && block * BLOCK > i) {
			for (let s = 0; s < STATES; s++) {
				spent[s] = this.blockTime[base + s];
				begun[s] = this.blockCount[base + s];
			}
			i = block * BLOCK;
			at = Math.min(time[i], t);
			now = state[i];
			begun[now]++;
			i++;
		}
		for (; i < e; i++) {
			const next = Math.min(time[i], t); // events may be later than the lane's end, and count no time
			spent[now] += next - at;
			at = next;
			now = state[i];
			begun[now]++;
		}
		if (t > at)
			spent[now] += t - at;
	}

	// Fills share and begun for [from, to), e0 and e1 being after() of both. Outside of the lane's life nothing counts.
	shares(row, from, to, e0, e1) {
		const { share, begun, time, state } = this;
		from = Math.max(from, this.born[row]);
		to = Math.min(to, this.end[row]);
		if (e1 - e0 > 2 * BLOCK) {
			this.sumTo(row, e0, from, this.shareFrom, this.begunFrom);
			this.sumTo(row, e1, to, share, begun);
			for (let s = 0; s < STATES; s++) {
				share[s] -= this.shareFrom[s];
				begun[s] -= this.begunFrom[s];
			}
			return;
		}
		share.fill(0);
		begun.fill(0);
		let at = from, now = this.stateBefore(row, e0);
		for (let e = e0; e < e1; e++) {
			const next = Math.min(time[e], to);
			if (next > at)
				share[now] += next - at;
			at = Math.max(at, next);
			now = state[e];
			begun[now]++;
		}
		if (to > at)
			share[now] += to - at;
	}

	// The same for [from, to), if e is after(row, from). Returns after(row, to). leap() is for many events; pass() is for few,
	// and says only whether a state began.
	leap(row, from, to, e) {
		const next = this.after(row, to, e);
		this.shares(row, from, to, e, next);
		return next;
	}
	pass(row, from, to, e) {
		const { share, begun, time, state } = this, last = this.first[row + 1], born = this.born[row], end = this.end[row];
		const stop = to < end ? to : end;
		let at = from > born ? from : born, now = this.stateBefore(row, e), seen = 0;
		for (let s = 0; s < STATES; s++)
			share[s] = 0;
		for (; e < last && time[e] <= to; e++) {
			const t = time[e] < stop ? time[e] : stop;
			if (t > at) {
				share[now] += t - at;
				at = t;
			}
			now = state[e];
			seen |= 1 << now;
		}
		if (stop > at)
			share[now] += stop - at;
		for (let s = 0; s < STATES; s++)
			begun[s] = seen >> s & 1;
		return e;
	}
}
