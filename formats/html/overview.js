"use strict";
// overview.js - the whole trace in one strip: the number of events, the states of living coroutines, and the visible window.
//
// Each column is an exact sum over its time, not a sample: the height is the number of events, at least one pixel if there was
// any, and the band below is divided by the time spent in each state.

const BAND = 12, BRUSH_EDGE = 6, LEGEND = 14;

// The sums of a list of rows in columns of time. Long stretches are noted where they begin and end, and summed up at the end.
class Density {
	constructor(model, columns, low, high) {
		Object.assign(this, { model, columns, low, high, per: (high - low) / columns });
		this.events = new Uint32Array(columns);
		this.part = Array.from({ length: STATES }, () => new Float64Array(columns));
		this.step = Array.from({ length: STATES }, () => new Int32Array(columns + 1));
	}
	column(t) {
		const column = Math.floor((t - this.low) / this.per);
		return column < this.columns ? column : this.columns - 1;
	}
	add(state, from, to, a, b) {
		const { per, low } = this, part = this.part[state];
		if (a === b) {
			part[a] += to - from;
			return;
		}
		part[a] += low + (a + 1) * per - from;
		part[b] += to - low - b * per;
		this.step[state][a + 1]++;
		this.step[state][b]--;
	}
	addRow(row) {
		const { time, state, first, end, born, initial } = this.model.lanes;
		const stop = Math.min(end[row], this.high); // no event is outside low and high, but a coroutine may live there
		let at = Math.max(born[row], this.low), now = initial[row], column = this.column(at);
		for (let e = first[row]; e < first[row + 1]; e++) {
			const to = this.column(time[e]);
			this.events[to]++;
			if (time[e] > stop)
				continue;
			this.add(now, at, time[e], column, to);
			at = time[e];
			now = state[e];
			column = to;
		}
		this.add(now, at, stop, column, this.column(stop));
	}
	async fill(rows, breath, cancelled) {
		const { lanes } = this.model, n = rows ? rows.length : lanes.n;
		for (let i = 0; i < n && !cancelled(); i++) {
			const row = rows ? rows[i] : i;
			this.addRow(row);
			if (breath.due(lanes.first[row + 1]))
				await breath.take(i / n);
		}
		for (let s = 0; s < STATES; s++)
			for (let c = 0, whole = 0; c < this.columns; c++)
				this.part[s][c] += (whole += this.step[s][c]) * this.per;
		this.most = this.events.reduce((a, b) => Math.max(a, b), 0);
	}
}

class Overview {
	constructor(canvas, model, window) {
		Object.assign(this, { canvas, model, window, rows: null, density: null, turn: 0, pending: 0 });
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
		canvas.addEventListener("wheel", event => {
			event.preventDefault();
			window.zoom(wheelFactor(event), this.time(event.offsetX));
		}, { passive: false });
	}

	get left() {
		return gutterOf(this.canvas.clientWidth);
	}

	plot() {
		return Math.max(1, this.canvas.clientWidth - this.left - SCROLLBAR);
	}

	// For other rows or another width. If the next count begins first, this one is dropped.
	async count(rows, say = () => {}) {
		const turn = ++this.turn, density = new Density(this.model, this.plot(), this.window.low, this.window.high);
		this.rows = rows;
		await density.fill(rows, new Breath(say), () => turn !== this.turn);
		if (turn !== this.turn)
			return;
		this.density = density;
		this.invalidate();
	}

	invalidate() {
		this.pending ||= requestAnimationFrame(() => {
			this.pending = 0;
			this.draw();
		});
	}

	x(t) {
		const { low, high } = this.window;
		return this.left + (t - low) / (high - low) * this.plot();
	}

	time(x) {
		const { low, high } = this.window;
		return low + (x - this.left) / this.plot() * (high - low);
	}

	draw() {
		const { canvas, ctx, density } = this, { clientWidth: width, clientHeight: height } = canvas;
		const ratio = devicePixelRatio || 1;
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
		if (density) {
			this.drawDensity(colours, ratio, height);
			ctx.drawImage(this.picture, this.left, 0, density.columns, height);
		}
		this.drawBrush(height, css);
		this.drawLegend(height, css);
	}

	// Into a separate canvas: a pan does not change it.
	drawDensity(colours, ratio, height) {
		const { density } = this, { css } = colours, key = [density, colours, ratio, height];
		if (this.drawn && key.every((part, i) => part === this.drawn[i]))
			return;
		this.drawn = key;
		this.picture = el("canvas", { width: Math.round(density.columns * ratio), height: Math.round(height * ratio) });
		const ctx = this.picture.getContext("2d"), floor = height - BAND - 3, tall = floor - LEGEND;
		ctx.scale(ratio, ratio);
		for (let c = 0; c < density.columns; c++) {
			const h = density.events[c] && Math.max(1, tall * density.events[c] / density.most);
			ctx.fillStyle = css("density");
			ctx.fillRect(c, floor - h, 1, h);
			this.drawBand(ctx, css, c, height - 1);
		}
		ctx.fillStyle = css("line");
		ctx.fillRect(0, floor, density.columns, 1);
	}

	drawBand(ctx, css, c, bottom) {
		const { part } = this.density;
		let total = 0;
		for (let s = 0; s < STATES; s++)
			total += part[s][c];
		for (const s of STACK) {
			if (part[s][c] < 0.5) // less than a nanosecond is a rounding error
				continue;
			const h = BAND * part[s][c] / total;
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
		ctx.fillStyle = css("accent");
		ctx.fillRect(Math.round(a) - 1, 0, 2, height);
		ctx.fillRect(Math.round(b) - 1, 0, 2, height);
	}

	drawLegend(height, css) {
		const { ctx, density, left } = this;
		ctx.font = FONT;
		ctx.textBaseline = "middle";
		ctx.fillStyle = css("text");
		ctx.fillText("events", 10, LEGEND + 8);
		ctx.fillStyle = css("faint");
		if (density && density.most)
			ctx.fillText(`most ${count(density.most)}${hasClock() ? ` in ${duration(density.per)}` : ""}`, 10, LEGEND + 24, left - 16);
		ctx.fillStyle = css("text");
		ctx.fillText("alive, by state", 10, height - BAND / 2 - 1);
	}

	down(event) {
		if (event.button !== 0)
			return;
		const { window } = this, { from, to } = window, x = event.offsetX, a = this.x(from), b = this.x(to);
		const near = edge => Math.abs(x - edge) <= BRUSH_EDGE;
		this.canvas.setPointerCapture(event.pointerId);
		// If the window shows all, dragging inside it could move nothing: it draws a new window.
		const inside = x > a && x < b && window.width < (window.high - window.low) * 0.999;
		this.drag = { x, from, to, kind: near(a) ? "from" : near(b) ? "to" : inside ? "move" : "new" };
	}

	move(event) {
		const { drag, window } = this, x = event.offsetX;
		if (!drag) {
			const edge = [this.x(window.from), this.x(window.to)].some(at => Math.abs(x - at) <= BRUSH_EDGE);
			this.canvas.style.cursor = edge ? "ew-resize" : "crosshair";
			return;
		}
		const t = this.time(x), t0 = this.time(drag.x);
		if (drag.kind === "move")
			window.set(drag.from + t - t0, drag.to + t - t0);
		else if (drag.kind === "from")
			window.set(Math.min(t, drag.to - NARROWEST_NS), drag.to);
		else if (drag.kind === "to")
			window.set(drag.from, Math.max(t, drag.from + NARROWEST_NS));
		else if (Math.abs(x - drag.x) >= CLICK_PX)
			window.set(Math.min(t, t0), Math.max(t, t0));
	}
}
