"use strict";
// paint.js - lanes into pixels.
//
// A column of pixels without events has one colour. Other columns are divided by the time spent in each state, in true proportions
// over several columns. A state that is too short for a pixel gets a tick below the lane: a single run of a microsecond in a minute
// of waiting is seen. Millions of cells in each frame are too many for calls into the canvas, so they are written to memory.

const PALETTE = ["born", "suspended", "runnable", "running", "unknown"]; // by state
const FLAT = 4; // lanes lower than this have no room for a division: their columns are blended
const TICKED = 10; // lanes from this height on have room for ticks below them
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
		for (const name of ["hatch", "back", "grid", "gutter", "cursor", "tick"])
			this[name] = this.pixel(name);
	}
	pixel(name) { // "#rrggbb", as the word that a canvas has in memory
		const rgb = parseInt(this.css(name).slice(1), 16);
		return (0xff000000 | (rgb & 255) << 16 | rgb & 0xff00 | rgb >> 16) >>> 0;
	}
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

	state(x, y, w, h, state, colours, palette) {
		if (state === UNKNOWN)
			this.hatch(x, y, w, h, palette[UNKNOWN], colours.hatch);
		else
			this.rect(x, y, w, h, palette[state]);
	}

	// One column, by the last shares() of the lanes. turn is a fraction that differs from column to column: a state that is too
	// small for a pixel gets one in as many columns as its share needs.
	mixed(x, y, w, h, lanes, colours, palette, turn) {
		const { share, begun } = lanes;
		let total = 0;
		for (let s = 0; s < STATES; s++)
			total += share[s];
		if (h < FLAT)
			return this.rect(x, y, w, h, this.blend(lanes, total, palette));
		let sum = 0, edge = 0, hidden = false;
		for (let i = 0; i < STATES; i++) {
			const s = STACK[i];
			if (!total && begun[s])
				sum = total = 1; // all of it happened at once
			sum += share[s];
			const next = sum >= total * ALL ? h : Math.floor(h * sum / total + turn);
			if (next > edge)
				this.state(x, y + h - next, w, next - edge, s, colours, palette);
			else if (s !== SUSPENDED && s !== BORN && (share[s] > 0 || begun[s]))
				hidden = true;
			edge = Math.max(edge, next);
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

	// A lane from x0 on: column i is `cell` pixels wide and stands for [from + i per, from + (i + 1) per).
	// onSpan(x, w, state, e) is called for each stretch of one state; e: the event after it.
	lane({ lanes, row, x0, y, columns, cell, h, from, per }, colours, palette, onSpan) {
		const born = lanes.born[row], last = lanes.first[row + 1];
		let x = Math.max(0, Math.floor((born - from) / per));
		const stop = Math.min(columns, Math.max(x + 1, Math.ceil((lanes.end[row] - from) / per)));
		if (x >= stop || lanes.end[row] < from)
			return;
		const column = Math.abs(Math.round(from / per)) % 0x10000; // in the whole trace: a pan changes nothing
		let e = born >= from + x * per ? lanes.first[row] : lanes.after(row, from + x * per);
		while (x < stop) {
			const run = e < last ? Math.min(stop, Math.floor((lanes.time[e] - from) / per)) : stop;
			if (run > x) {
				const state = lanes.stateBefore(row, e);
				this.state(x0 + x * cell, y, (run - x) * cell, h, state, colours, palette);
				onSpan(x * cell, (run - x) * cell, state, e);
				x = run;
				continue;
			}
			const at = from + x * per, next = lanes.after(row, at + per, e);
			lanes.shares(row, at, at + per, e, next);
			this.mixed(x0 + x * cell, y, cell, h, lanes, colours, palette, (column + x) * GOLDEN % 1);
			e = next;
			x++;
		}
	}
}
