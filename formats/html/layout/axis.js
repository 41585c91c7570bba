// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// axis.js - a window on a number of pixels: where each moment is drawn, and the ticks.
//
// The pieces of the scale that are in the window get whole cells, so that a cell never belongs to two of them.

class Axis {
	// columns: cells of `cell` pixels; left: where the first one begins
	constructor(window, columns, left = 0, cell = 1) {
		const [begin, end] = window.at(), per = (end - begin) / columns, edge = u => Math.round((u - begin) / per);
		Object.assign(this, { window, columns, left, cell, pieces: [] });
		for (const piece of window.scale.pieces) {
			if (piece.end <= begin && piece !== window.scale.pieces.at(-1) || piece.begin >= end)
				continue;
			const from = Math.max(piece.from, window.from), to = Math.min(piece.to, window.to);
			const first = Math.max(0, edge(piece.begin)), stop = Math.min(columns, edge(piece.end));
			if (stop > first && to > from)
				this.pieces.push({ from, to, first, columns: stop - first, per: (to - from) / (stop - first), quiet: piece.quiet });
		}
	}
	// The piece with a moment or a cell; before the first the first, after the last the last.
	piece(holds) {
		const { pieces } = this;
		let i = 0;
		while (i < pieces.length - 1 && !holds(pieces[i]))
			i++;
		return pieces[i];
	}
	// A piece that is too narrow for a cell has none: its moments are where the next one begins.
	x(t) {
		const { window } = this, { first, columns, from, per } = this.piece(({ to }) => t < to), at = first + (t - from) / per;
		return this.left + (t < window.from || t > window.to ? at : Math.max(first, Math.min(first + columns, at))) * this.cell;
	}
	time(x) {
		const at = (x - this.left) / this.cell, piece = this.piece(({ first, columns }) => at < first + columns);
		return piece.from + (at - piece.first) * piece.per;
	}
	per(x) { // how long a pixel is there
		const at = (x - this.left) / this.cell;
		return this.piece(({ first, columns }) => at < first + columns).per / this.cell;
	}
	// For each busy piece, { step, at: moments }, with about one tick for each `apart` pixels; quiet pieces have none, unless the
	// window shows nothing else.
	ticks(apart) {
		const alone = this.pieces.length === 1;
		return this.pieces.filter(piece => alone || !piece.quiet)
			.map(({ from, to, columns }) => ticksOf(from, to, Math.max(1, columns * this.cell / apart)));
	}
}

// The smallest step of 1, 2 or 5 times a power of ten that gives at most `most` ticks, and these.
function ticksOf(from, to, most) {
	let step = 10 ** Math.floor(Math.log10((to - from) / most));
	step *= [1, 2, 5, 10].find(m => (to - from) / (step * m) <= most);
	step = Math.max(1, step);
	const at = [], odd = hasClock() ? 0 : Number(firstNumber % BigInt(step)); // so that the shown numbers are round
	for (let t = Math.ceil((from + odd) / step) * step - odd; t <= to; t += step)
		at.push(t);
	return { step, at };
}
