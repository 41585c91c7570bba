"use strict";
// paint.js - lanes into pixels.
//
// A column of pixels in which nothing happens has one colour. One in which something does is divided by the time spent in each
// state, and a state that was there at all gets a mark, however short it was: a single run of a microsecond in a minute of
// waiting is seen. Millions of cells in each frame are too many for calls into the canvas, so they are written to memory.

const PALETTE = ["born", "suspended", "runnable", "running", "unknown"]; // by state
const FLAT = 4; // lanes lower than this have no room for a division: their columns are blended
const FAINTEST = 0.3; // the least that a state shows in a blend

// The style sheet's colours. Reading one costs more than drawing with it, so they are read once for a theme.
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
		for (const name of ["hatch", "back", "grid", "gutter", "cursor"])
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
		this.tall = new Int32Array(STATES);
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
		if (state === UNKNOWN && h >= FLAT)
			this.hatch(x, y, w, h, palette[UNKNOWN], colours.hatch);
		else
			this.rect(x, y, w, h, palette[state]);
	}

	// One column, by the shares that the lanes have just worked out.
	mixed(x, y, w, h, lanes, colours, palette) {
		const { share, begun } = lanes, { tall } = this;
		let total = 0, largest = SUSPENDED;
		for (let s = 0; s < STATES; s++) {
			total += share[s];
			if (share[s] > share[largest])
				largest = s;
		}
		if (h < FLAT)
			return this.rect(x, y, w, h, this.blend(lanes, total, palette));
		const least = Math.max(1, Math.round(h / 3));
		let left = h;
		for (let s = 0; s < STATES; s++) {
			tall[s] = share[s] > 0 || begun[s] ? Math.max(least, Math.round(total ? h * share[s] / total : 0)) : 0;
			left -= tall[s];
		}
		tall[largest] += left;
		let bottom = y + h;
		for (let i = 0; i < STATES; i++) {
			const s = STACK[i], high = Math.min(tall[s], bottom - y);
			if (high <= 0)
				continue;
			bottom -= high;
			this.state(x, bottom, w, high, s, colours, palette);
		}
	}

	blend(lanes, total, palette) {
		let r = 0, g = 0, b = 0, weights = 0;
		for (let s = 0; s < STATES; s++) {
			if (!(lanes.share[s] > 0 || lanes.begun[s]))
				continue;
			const part = total ? lanes.share[s] / total : 0;
			const weight = s === BORN || s === SUSPENDED ? part : Math.max(part, FAINTEST), word = palette[s];
			r += (word & 255) * weight;
			g += (word >> 8 & 255) * weight;
			b += (word >> 16 & 255) * weight;
			weights += weight;
		}
		if (!weights)
			return palette[SUSPENDED];
		return (0xff000000 | b / weights << 16 | g / weights << 8 | r / weights) >>> 0;
	}

	// A lane from x0 on: column i is `cell` pixels wide and stands for [from + i per, from + (i + 1) per).
	// onSpan(x, w, state, e) hears of each stretch of one state, e being the event behind it.
	lane({ lanes, row, x0, y, columns, cell, h, from, per }, colours, palette, onSpan) {
		const born = lanes.born[row], last = lanes.first[row + 1];
		let x = Math.max(0, Math.floor((born - from) / per));
		const stop = Math.min(columns, Math.max(x + 1, Math.ceil((lanes.end[row] - from) / per)));
		if (x >= stop || lanes.end[row] < from)
			return;
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
			this.mixed(x0 + x * cell, y, cell, h, lanes, colours, palette);
			e = next;
			x++;
		}
	}
}
