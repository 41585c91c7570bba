// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// density.js - sums over rows in columns of time: events, time in each state, and the oldest wait.
//
// Each column is an exact sum over its time, not a sample. Long stretches are noted where they begin and end, and summed up at the
// end.

class Density {
	// axis: the columns
	constructor(lanes, axis) {
		const { columns, pieces } = axis, edges = new Float64Array(columns + 1);
		for (const { first, columns: n, from, per } of pieces)
			for (let i = 0; i <= n; i++)
				edges[first + i] = from + i * per;
		edges[0] = axis.window.from;
		edges[columns] = axis.window.to;
		Object.assign(this, { lanes, columns, pieces, edges, low: edges[0], high: edges[columns] });
		this.events = new Uint32Array(columns);
		this.oldest = 0; // the longest wait: at the end of a column, or of a life
		this.part = Array.from({ length: STATES }, () => new Float64Array(columns));
		this.step = Array.from({ length: STATES }, () => new Int32Array(columns + 1));
		// The earliest start of a wait that goes on through 2^k columns from each one on.
		this.waits = Array.from({ length: Math.floor(Math.log2(columns)) + 1 }, () => new Float64Array(columns).fill(Infinity));
	}
	// The column of t, which is in piece number `at` or a later one. The moments of a piece that is too narrow for a column of its own
	// belong to the column before it.
	column(t) {
		const { pieces } = this;
		while (this.at < pieces.length - 1 && t >= pieces[this.at].to)
			this.at++;
		const { first, columns, from, per } = pieces[this.at], column = first + Math.floor((t - from) / per);
		return column < first ? Math.max(0, first - 1) : column < first + columns ? column : first + columns - 1;
	}
	add(state, from, to, a, b) {
		const { edges } = this, part = this.part[state];
		if (a === b) {
			part[a] += to - from;
			return;
		}
		part[a] += edges[a + 1] - from;
		part[b] += to - edges[b];
		this.step[state][a + 1]++;
		this.step[state][b]--;
	}
	wait(since, a, b) { // at the ends of columns a to b - 1
		if (b <= a)
			return;
		const k = 31 - Math.clz32(b - a), level = this.waits[k];
		level[a] = Math.min(level[a], since);
		level[b - (1 << k)] = Math.min(level[b - (1 << k)], since);
	}
	addRow(row) {
		const { lanes, low, high } = this, { time, state, first, end, born } = lanes;
		const stop = Math.min(end[row], high), begin = Math.max(born[row], low), last = first[row + 1];
		if (begin > high || stop < low)
			return;
		let e = begin > low ? first[row] : lanes.after(row, low), now = lanes.stateBefore(row, e);
		let since = e > first[row] ? time[e - 1] : born[row], at = begin;
		this.at = 0;
		let column = this.column(at), from = column; // from: where the state began
		for (; e < last && time[e] <= stop; e++) {
			const to = this.column(time[e]);
			this.events[to]++;
			this.add(now, at, time[e], column, to);
			if (state[e] !== now) {
				if (now === SUSPENDED)
					this.wait(since, from, to);
				now = state[e];
				since = time[e];
				from = to;
			}
			at = time[e];
			column = to;
		}
		const to = this.column(stop);
		this.add(now, at, stop, column, to);
		if (now === SUSPENDED) {
			this.wait(since, from, stop >= high ? this.columns : to);
			this.oldest = Math.max(this.oldest, stop - since);
		}
		for (; e < last && time[e] <= high; e++) // after the end
			this.events[this.column(time[e])]++;
	}
	async fill(rows, breath, cancelled) {
		const { lanes } = this, n = rows ? rows.length : lanes.n;
		for (let i = 0; i < n && !cancelled(); i++) {
			const row = rows ? rows[i] : i;
			this.addRow(row);
			if (breath.due(lanes.first[row + 1]))
				await breath.take(i / n);
		}
		this.finish();
	}
	finish() {
		const { edges, columns, waits } = this;
		for (let s = 0; s < STATES; s++)
			for (let c = 0, whole = 0; c < columns; c++)
				this.part[s][c] += (whole += this.step[s][c]) * (edges[c + 1] - edges[c]);
		for (let k = waits.length; --k > 0;)
			for (let c = 0; c + (1 << (k - 1)) < columns; c++)
				for (const to of [c, c + (1 << (k - 1))])
					waits[k - 1][to] = Math.min(waits[k - 1][to], waits[k][c]);
		this.most = this.events.reduce((a, b) => Math.max(a, b), 0);
		this.mostAlive = 0;
		for (let c = 0; c < columns; c++) {
			this.mostAlive = Math.max(this.mostAlive, this.alive(c));
			this.oldest = Math.max(this.oldest, this.oldestWait(c));
		}
	}
	alive(c) { // how many, on average over the column
		return this.part.reduce((sum, part) => sum + part[c], 0) / (this.edges[c + 1] - this.edges[c]);
	}
	oldestWait(c) { // at the end of the column; 0: nobody waits
		return Math.max(0, this.edges[c + 1] - this.waits[0][c]);
	}
}
