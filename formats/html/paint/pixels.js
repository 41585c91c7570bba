// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// paint.js - lanes into pixels.
//
// A column of pixels without events has one colour. Other columns are divided by the time spent in each state, in true proportions
// over several columns. A state that is too short for a pixel gets a tick below the lane: a single run of a microsecond in a minute
// of waiting is seen. Millions of cells in each frame are too many for calls into the canvas, so they are written to memory.

const PALETTE = ["born", "suspended", "runnable", "running", "unknown"]; // by state
const FLAT = 4; // lanes lower than this have no room for a division: their columns are blended
const TICKED = 10; // lanes from this height on have room for ticks below them
const FEW = 24; // events in a column: adding them up is faster than looking for sums
const TEXTURED = 8; // stretches from this height on have room for a texture
const ALL = 1 - 1e-9; // sums of fractions
const GOLDEN = 0.6180339887498949; // the fractions of its multiples are spread evenly

// The colours of the style sheet. Reading one is slower than drawing with it, so they are read once for each theme.
class Colours {
	static now() {
		return Colours.current ||= new Colours();
	}
	static forget() {
		Colours.current = null;
	}
	constructor() {
		const style = getComputedStyle(document.documentElement), known = new Map();
		this.css = name => {
			if (!known.has(name))
				known.set(name, style.getPropertyValue("--" + name).trim());
			return known.get(name);
		};
		this.coroutine = Uint32Array.from(PALETTE, name => this.pixel(name));
		this.thread = Uint32Array.from(this.coroutine);
		this.thread[BORN] = this.pixel("idle");
		for (const name of ["hatch", "dot", "edge", "back", "grid", "gutter", "cursor", "tick"])
			this[name] = this.pixel(name);
	}
	// The colours of coroutines, with the background in place of hidden states.
	shown(hidden) {
		if (!hidden.size)
			return this.coroutine;
		return this.coroutine.map((word, state) => hidden.has(state) ? this.back : word);
	}
	pixel(name) { // "#rrggbb", as the word that a canvas has in memory
		const rgb = parseInt(this.css(name).slice(1), 16);
		return (0xff000000 | (rgb & 255) << 16 | rgb & 0xff00 | rgb >> 16) >>> 0;
	}
}

// How many pixels a unit of the canvas has: the style sheet enlarges it when text is large.
function pixelRatio(canvas) {
	return (devicePixelRatio || 1) * (canvas.currentCSSZoom || 1);
}

class Pixels {
	constructor(ctx, width, height) {
		this.image = ctx.createImageData(Math.max(1, width), Math.max(1, height));
		this.words = new Uint32Array(this.image.data.buffer);
		this.width = this.image.width;
		this.height = this.image.height;
	}

	rect(x, y, w, h, colour) {
		const bottom = Math.min(this.height, y + h);
		for (let line = Math.max(0, y); line < bottom; line++) {
			const at = line * this.width + x;
			if (w > 16)
				this.words.fill(colour, at, at + w);
			else
				for (let i = at; i < at + w; i++)
					this.words[i] = colour;
		}
	}

	hatch(x, y, w, h, colour, line) {
		const bottom = Math.min(this.height, y + h);
		for (let j = Math.max(0, y); j < bottom; j++)
			for (let i = x; i < x + w; i++)
				this.words[j * this.width + i] = (i + j) % 6 < 2 ? line : colour;
	}

	// Dots that lie on the same lattice in all columns.
	dots(x, y, w, h, colour, dot) {
		this.rect(x, y, w, h, colour);
		const bottom = Math.min(this.height, y + h);
		for (let j = Math.max(0, y); j < bottom; j++) {
			const line = j % 10;
			if (line % 5 > 1)
				continue;
			const shift = line < 5 ? 0 : 3, at = j * this.width;
			for (let i = x; i < x + w; i++)
				if ((i + shift) % 6 < 2)
					this.words[at + i] = dot;
		}
	}

	// Each state has its texture, if there is room for one; `palette` may hide it.
	state(x, y, w, h, state, colours, palette) {
		const plain = h < TEXTURED || palette[state] === colours.back;
		if (state === UNKNOWN)
			return this.hatch(x, y, w, h, palette[UNKNOWN], colours.hatch);
		if (state === RUNNABLE && !plain)
			return this.dots(x, y, w, h, palette[RUNNABLE], colours.dot);
		this.rect(x, y, w, h, palette[state]);
		if (plain || state === RUNNING || palette === colours.thread)
			return;
		this.rect(x, y, w, 1, colours.edge);
		if (state === BORN)
			this.rect(x, y + h - 1, w, 1, colours.edge);
	}

	// One column, by the last shares() of the lanes. turn is a fraction that differs from column to column: a state that is too
	// small for a pixel gets one in as many columns as its share needs.
	mixed(x, y, w, h, lanes, colours, palette, turn) {
		const { share, begun } = lanes, { words, width, height } = this;
		let total = share[0] + share[1] + share[2] + share[3] + share[4];
		if (h < FLAT)
			return this.rect(x, y, w, h, this.blend(lanes, total, palette));
		const inside = w === 1 && y >= 0 && y + h <= height; // as nearly always
		let sum = 0, edge = 0, hidden = false;
		for (let i = 0; i < STATES; i++) {
			const s = STACK[i];
			if (!share[s] && !begun[s])
				continue;
			if (!total && begun[s])
				sum = total = 1; // all of it happened at once
			sum += share[s];
			const next = sum >= total * ALL ? h : h * sum / total + turn | 0;
			if (next <= edge) {
				hidden ||= s !== SUSPENDED && s !== BORN;
				continue;
			}
			const colour = palette[s];
			if (s === UNKNOWN) {
				this.hatch(x, y + h - next, w, next - edge, colour, colours.hatch);
			} else if (inside) {
				for (let at = (y + h - 1 - edge) * width + x, n = next - edge; n > 0; n--, at -= width)
					words[at] = colour;
			} else {
				for (let line = Math.max(0, y + h - next), stop = Math.min(height, y + h - edge); line < stop; line++)
					for (let at = line * width + x, end = at + w; at < end; at++)
						words[at] = colour;
			}
			edge = next;
		}
		if (hidden && h >= TICKED)
			this.rect(x, y + h, w, 2, colours.tick);
	}

	blend(lanes, total, palette) {
		let r = 0, g = 0, b = 0;
		for (let s = 0; total && s < STATES; s++) {
			if (!lanes.share[s])
				continue;
			const part = lanes.share[s] / total, word = palette[s];
			r += (word & 255) * part;
			g += (word >> 8 & 255) * part;
			b += (word >> 16 & 255) * part;
		}
		return total ? (0xff000000 | b << 16 | g << 8 | r) >>> 0 : palette[RUNNING];
	}

	// A lane. onSpan(x, w, state, e) is called for each stretch of one state; e: the event after it.
	lane({ lanes, row, y, h, axis }, colours, palette, onSpan) {
		for (const piece of axis.pieces)
			this.lanePiece({ lanes, row, y, h }, piece, axis.left + piece.first * axis.cell, axis.cell, colours, palette, onSpan);
	}

	// From x0 on: column i is `cell` pixels wide and stands for [from + i per, from + (i + 1) per).
	lanePiece({ lanes, row, y, h }, { from, per, columns }, x0, cell, colours, palette, onSpan) {
		const born = lanes.born[row], last = lanes.first[row + 1];
		let x = Math.max(0, Math.floor((born - from) / per));
		const stop = Math.min(columns, Math.max(x + 1, Math.ceil((lanes.end[row] - from) / per)));
		if (x >= stop || lanes.end[row] < from)
			return;
		const column = Math.abs(Math.round(from / per)) % 0x10000; // in the whole trace: a pan changes nothing
		let e = born >= from + x * per ? lanes.first[row] : lanes.after(row, from + x * per);
		let turn = -1; // of column x; -1: not known
		const few = lanes.after(row, from + stop * per, e) - e < FEW * (stop - x);
		while (x < stop) {
			const run = e < last ? Math.min(stop, Math.floor((lanes.time[e] - from) / per)) : stop;
			if (run > x) {
				const state = lanes.stateBefore(row, e);
				this.state(x0 + x * cell, y, (run - x) * cell, h, state, colours, palette);
				onSpan(x0 + x * cell, (run - x) * cell, state, e);
				x = run;
				turn = -1;
				continue;
			}
			const at = from + x * per;
			e = few ? lanes.pass(row, at, at + per, e) : lanes.leap(row, at, at + per, e);
			if (turn < 0)
				turn = (column + x) * GOLDEN % 1;
			this.mixed(x0 + x * cell, y, cell, h, lanes, colours, palette, turn);
			turn += turn + GOLDEN < 1 ? GOLDEN : GOLDEN - 1;
			x++;
		}
	}

	// The strip of a group: how many live in each column, and in which states. density null: it is still being counted.
	strip(density, axis, y, h, colours, palette) {
		if (!density)
			return;
		for (let c = 0; c < density.columns; c++) {
			const wide = density.edges[c + 1] - density.edges[c], alive = density.alive(c), x = axis.left + c * axis.cell;
			let edge = 0, sum = 0;
			for (const s of STACK) {
				sum += density.part[s][c] / wide;
				const next = alive < 1e-9 ? 0 : Math.min(h, Math.max(edge + (density.part[s][c] > 0.5 && edge < h ? 1 : 0),
					Math.round(h * sum / density.mostAlive)));
				if (next > edge)
					this.state(x, y + h - next, axis.cell, next - edge, s, colours, palette);
				edge = next;
			}
		}
	}
}
