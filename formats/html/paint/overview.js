// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// overview.js - the whole trace in one strip: the events per time, the living coroutines by state, the oldest wait, and the visible
// window.

const EVENTS_HIGH = 32, ALIVE_HIGH = 26, WAIT_HIGH = 18, BAND_GAP = 4; // of the three bands
const OVERVIEW_AXIS = 14; // above them
const BRUSH_EDGE = 6;

const FLAT_SHARE = 0.1, FAR_ABOVE = 4; // columns with less than this share of the events, and with so many times as much as the others

// How many events there were in a time, in each column: columns of squeezed time have more time. { at(column), top, cut, text(rate) }: what
// is as high as the band is. A few columns that would make all others flat, as when all coroutines are spawned at once, are cut: then
// top is what the others reach.
function eventRates({ events, edges, columns }) {
	const at = c => events[c] / (edges[c + 1] - edges[c]), some = Array.from(events.keys()).filter(c => events[c]);
	const rates = some.map(at).sort((a, b) => a - b), most = rates.at(-1) || 0, usual = (rates[Math.floor(rates.length * 0.97)] || 0) * FAR_ABOVE;
	const above = some.filter(c => at(c) > usual).reduce((sum, c) => sum + events[c], 0), total = events.reduce((sum, n) => sum + n, 0);
	const cut = above > 0 && above < total * FLAT_SHARE;
	const top = cut ? rates.findLast(rate => rate <= usual) : most;
	const text = rate => hasClock() ? `${threeDigits(rate * 1e9)}/s` : `${threeDigits(rate)} per record`;
	return { at, top, cut, text };
}

function threeDigits(n) {
	const scale = n > 0 ? 10 ** (2 - Math.floor(Math.log10(n))) : 1;
	return n >= 100 || Number.isInteger(n) ? count(Math.round(Math.round(n * scale) / scale)) : n.toPrecision(n < 1 ? 2 : 3);
}

class Overview {
	constructor(canvas, model, window) {
		Object.assign(this, { canvas, model, window, rows: null, density: null, axis: null, pointed: null, mark: null, turn: 0, pending: 0 });
		this.share = null; // of the events that are counted so far; null: all
		this.ctx = canvas.getContext("2d", { alpha: false });
		window.listeners.push(() => this.invalidate());
		new ResizeObserver(() => {
			if (this.density && this.plot() !== this.density.columns)
				this.count(this.rows);
			this.invalidate();
		}).observe(canvas);
		canvas.addEventListener("pointerdown", event => this.down(event));
		canvas.addEventListener("pointermove", event => this.move(event));
		canvas.addEventListener("pointerup", () => this.drag = null);
		canvas.addEventListener("pointercancel", () => this.drag = null);
		canvas.addEventListener("pointerleave", () => this.point(null));
		canvas.addEventListener("wheel", event => {
			event.preventDefault();
			window.zoom(wheelFactor(event), this.time(pointOf(event).x));
		}, { passive: false });
	}

	get left() {
		return gutterOf(this.canvas.clientWidth);
	}

	plot() {
		return Math.max(1, this.canvas.clientWidth - this.left - SCROLLBAR);
	}

	// For other rows, another width or another scale. If the next count begins first, this one is dropped.
	count(rows) {
		this.counted = this.countNow(rows); // for those who wait for it
	}
	async countNow(rows) {
		const { window, model } = this, turn = ++this.turn, { base } = window, whole = { scale: base, from: base.low, to: base.high };
		whole.at = () => [0, base.length];
		this.rows = rows;
		this.axis = new Axis(whole, this.plot(), this.left);
		const density = new Density(model.lanes, this.axis);
		await density.fill(rows, new Breath(share => this.sayCounted(share)), () => turn !== this.turn);
		if (turn !== this.turn)
			return;
		this.share = null;
		this.density = density;
		this.rates = eventRates(density);
		this.invalidate();
	}

	// How far the count is, beside what the last one showed, if there was one.
	sayCounted(share) {
		this.share = share;
		this.invalidate();
	}

	invalidate() {
		this.pending ||= requestAnimationFrame(() => {
			this.pending = 0;
			this.draw();
		});
	}

	x(t) {
		return this.axis ? this.axis.x(t) : this.left;
	}

	time(x) {
		return this.axis.time(x);
	}

	draw() {
		const { canvas, ctx, density } = this, { clientWidth: width, clientHeight: height } = canvas;
		const ratio = pixelRatio(canvas);
		if (!width)
			return;
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
		}
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		const colours = Colours.now(), { css } = colours;
		ctx.fillStyle = css("panel");
		ctx.fillRect(0, 0, width, height);
		ctx.font = FONT;
		ctx.textBaseline = "middle";
		if (density) {
			this.drawDensity(colours, ratio, height - OVERVIEW_AXIS);
			ctx.drawImage(this.picture, this.left, OVERVIEW_AXIS, density.columns, height - OVERVIEW_AXIS);
			this.drawTicks(css);
		}
		this.drawBrush(height, css);
		this.drawLegend(height, css);
	}

	// The times of its own scale, which may differ from that of the rows.
	drawTicks(css) {
		const { ctx, axis, window } = this, glyph = ctx.measureText("0").width, right = this.left + this.plot();
		let free = this.left;
		ctx.fillStyle = css("faint");
		for (const { step, at } of axis.ticks(90))
			for (const t of at) {
				const x = Math.round(this.x(t)), text = moment(t, step, window.high), width = text.length * glyph;
				if (x < free || x + 4 + width > right)
					continue;
				ctx.fillRect(x, OVERVIEW_AXIS - 5, 1, 5);
				ctx.fillText(text, x + 3, OVERVIEW_AXIS / 2);
				free = x + 10 + width;
			}
	}

	// Into a separate canvas: a pan does not change it.
	drawDensity(colours, ratio, height) {
		const { density } = this, { css } = colours, key = [density, colours, ratio, height];
		if (this.drawn && key.every((part, i) => part === this.drawn[i]))
			return;
		this.drawn = key;
		this.picture = el("canvas", { width: Math.round(density.columns * ratio), height: Math.round(height * ratio) });
		const ctx = this.picture.getContext("2d"), share = (n, most, high) => n > 0 ? Math.max(1, high * n / most) : 0;
		ctx.scale(ratio, ratio);
		for (const { quiet, first, columns } of this.axis.pieces) {
			ctx.fillStyle = css("quiet");
			if (quiet && this.axis.pieces.length > 1)
				ctx.fillRect(first, 0, columns, height);
		}
		for (let c = 0; c < density.columns; c++) {
			const rate = this.rates.at(c), events = Math.min(EVENTS_HIGH - 4, share(rate, this.rates.top, EVENTS_HIGH - 4));
			const wait = share(density.oldestWait(c), density.oldest, WAIT_HIGH);
			ctx.fillStyle = css("density");
			ctx.fillRect(c, EVENTS_HIGH - events, 1, events);
			if (rate > this.rates.top)
				ctx.fillRect(c, 0, 1, 2);
			this.drawAlive(ctx, css, c);
			ctx.fillStyle = css("tick");
			ctx.fillRect(c, height - 1 - wait, 1, wait);
		}
		ctx.fillStyle = css("line");
		for (const y of [EVENTS_HIGH, EVENTS_HIGH + BAND_GAP + ALIVE_HIGH, height - 1])
			ctx.fillRect(0, y, density.columns, 1);
	}

	// The living coroutines of a column, by state, in proportion to the most that lived at once.
	drawAlive(ctx, css, c) {
		const { density } = this, wide = density.edges[c + 1] - density.edges[c];
		let bottom = EVENTS_HIGH + BAND_GAP + ALIVE_HIGH;
		for (const s of STACK) {
			if (density.part[s][c] < 0.5) // less than a nanosecond is a rounding error
				continue;
			const h = Math.max(0.5, ALIVE_HIGH * density.part[s][c] / wide / density.mostAlive);
			ctx.fillStyle = css(s === UNKNOWN ? "hatch" : PALETTE[s]);
			ctx.fillRect(c, bottom - h, 1, h);
			bottom -= h;
		}
	}

	drawBrush(height, css) {
		const { ctx, window, left } = this, right = left + this.plot();
		const a = Math.max(left, this.x(window.from)), b = Math.min(right, this.x(window.to));
		ctx.fillStyle = css("shade");
		ctx.fillRect(left, 0, a - left, height);
		ctx.fillRect(b, 0, right - b, height);
		if (this.mark !== null) { // when the finding began
			ctx.fillStyle = css("bad");
			ctx.fillRect(Math.round(this.x(this.mark)), 0, 2, height);
		}
		ctx.fillStyle = css("accent");
		ctx.fillRect(Math.round(a) - 1, 0, 2, height);
		ctx.fillRect(Math.round(b) - 1, 0, 2, height);
	}

	// What each band shows, on its left. Under the pointer: what it shows there.
	drawLegend(height, css) {
		const { ctx, density, left, window } = this, c = this.pointed, at = c !== null && density && c < density.columns;
		const glyph = ctx.measureText("0").width, room = Math.floor((left - 16) / glyph);
		const say = (title, texts, y) => {
			const text = texts.find(text => title.length + 1 + text.length <= room);
			ctx.fillStyle = css("text");
			ctx.fillText(title, 10, y, left - 16);
			ctx.fillStyle = css("faint");
			if (text)
				ctx.fillText(text, 10 + (title.length + 1) * glyph, y);
		};
		if (this.share !== null)
			say(`counting: ${percent(this.share)}`, [], height - WAIT_HIGH / 2);
		if (!density)
			return;
		const of = this.rows ? ", of matches" : "", when = at ? ` at ${moment(density.edges[c], this.axis.per(left + c), window.high)}` : "";
		const wide = at ? density.edges[c + 1] - density.edges[c] : 1, runnable = at ? density.part[RUNNABLE][c] / wide : 0;
		const top = OVERVIEW_AXIS, { rates } = this;
		const most = `${rates.text(rates.top)}${of}`, here = at ? count(density.events[c]) : "", rate = at ? rates.text(rates.at(c)) : "";
		say("events", at ? [`${here}, ${rate}${when}`, here + when] : [`${rates.cut ? "up to" : "most"} ${most}`, most], top + EVENTS_HIGH / 2 + 2);
		say("alive", [at ? `${rough(density.alive(c))}, runnable ${rough(runnable)}` : `most ${rough(density.mostAlive)}${of || ", by state"}`],
			top + EVENTS_HIGH + BAND_GAP + ALIVE_HIGH / 2 + 2);
		if (hasClock() && this.share === null)
			say("oldest wait", [duration(at ? density.oldestWait(c) : density.oldest) + (at ? "" : of)], height - WAIT_HIGH / 2);
	}

	down(event) {
		if (event.button !== 0)
			return;
		const { window } = this, { from, to } = window, { x } = pointOf(event), a = this.x(from), b = this.x(to);
		const near = edge => Math.abs(x - edge) <= BRUSH_EDGE;
		this.canvas.setPointerCapture(event.pointerId);
		// If the window shows all, dragging inside it could move nothing: it draws a new window.
		const inside = x > a && x < b && window.width < (window.high - window.low) * 0.999;
		this.drag = { x, from, to, kind: near(a) ? "from" : near(b) ? "to" : inside ? "move" : "new" };
	}

	move(event) {
		const { drag, window } = this, { x } = pointOf(event);
		if (!drag) {
			const edge = [this.x(window.from), this.x(window.to)].some(at => Math.abs(x - at) <= BRUSH_EDGE);
			this.canvas.style.cursor = edge ? "ew-resize" : "crosshair";
			return this.point(Math.floor(x - this.left));
		}
		const t = this.time(x), t0 = this.time(drag.x);
		if (drag.kind === "move") {
			const { base } = window, by = base.at(t) - base.at(t0);
			window.set(base.time(base.at(drag.from) + by), base.time(base.at(drag.to) + by));
		} else if (drag.kind === "from") {
			window.set(Math.min(t, drag.to - NARROWEST_NS), drag.to);
		} else if (drag.kind === "to") {
			window.set(drag.from, Math.max(t, drag.from + NARROWEST_NS));
		} else if (Math.abs(x - drag.x) >= CLICK_PX) {
			window.set(Math.min(t, t0), Math.max(t, t0));
		}
	}

	point(column) { // or null
		this.pointed = column !== null && column >= 0 ? column : null;
		this.invalidate();
	}
}
