"use strict";
// timeline.js - the picture: an axis, a lane for each thread and for each coroutine. Only those in sight are drawn.

const AXIS = 24, HEADING = 20, THREAD_ROW = 18, SCROLLBAR = 10;
const ROW_HEIGHTS = [2, 6, 12, 20];
const GLYPHS = 12; // the lanes that are high enough for text
const GUTTER = 230, GUTTER_SHARE = 0.3; // for names: pixels, and a share of a narrow picture
const FONT = "11px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

function gutterOf(width) {
	return Math.round(Math.min(GUTTER, width * GUTTER_SHARE));
}

class Region {
	constructor(lanes, palette, rowHeight) {
		Object.assign(this, { lanes, palette, rowHeight, rows: null, position: null, scroll: 0, top: 0, height: 0 });
	}
	get count() {
		return this.rows ? this.rows.length : this.lanes.n;
	}
	get bar() {
		return this.rowHeight < 4 ? this.rowHeight : this.rowHeight - Math.max(1, Math.round(this.rowHeight / 5));
	}
	row(index) {
		return this.rows ? this.rows[index] : index;
	}
	show(rows) {
		this.rows = rows;
		this.position = null;
		if (rows) {
			this.position = new Int32Array(this.lanes.n).fill(-1);
			rows.forEach((row, index) => this.position[row] = index);
		}
		this.scrollTo(0);
	}
	// Where a row is in the list, or -1.
	index(row) {
		return this.position ? this.position[row] : row;
	}
	scrollTo(scroll) {
		this.scroll = Math.min(Math.max(0, scroll), Math.max(0, this.count * this.rowHeight - this.height));
	}
	reveal(index) {
		const y = index * this.rowHeight;
		this.scrollTo(Math.min(y, Math.max(this.scroll, y + this.rowHeight - this.height)));
	}
	y(index) {
		return this.top + index * this.rowHeight - this.scroll;
	}
	middle(index) { // of the bar
		return this.y(index) + 1 + this.bar / 2;
	}
	get first() {
		return Math.max(0, Math.floor(this.scroll / this.rowHeight));
	}
	get last() { // after the last visible one
		return Math.min(this.count, Math.ceil((this.scroll + this.height) / this.rowHeight));
	}
}

class Timeline {
	// options: threads and gutter (whether to show threads, and names), rowHeight, onOpen(row), onStatus(text), tip
	constructor(canvas, model, window, options) {
		Object.assign(this, { canvas, model, window, options, ctx: canvas.getContext("2d", { alpha: false }) });
		this.coros = new Region(model.lanes, "coroutine", options.rowHeight || 20);
		this.regions = [this.coros];
		if (options.threads)
			this.regions.unshift(this.threads = new Region(model.threads, "thread", THREAD_ROW));
		this.cursor = -1; // the row that the keys move
		this.mark = null; // a finding's time: [from, to]
		this.moment = null; // findingMoment() of the finding whose coroutines are marked
		this.folds = null; // the buttons for its silence
		this.range = null; // being drawn with shift
		this.pending = 0;
		this.left = 0;
		this.plot = 1; // the width that has time, as layout() finds it
		window.listeners.push(() => this.invalidate());
		new ResizeObserver(() => this.invalidate()).observe(canvas);
		this.gestures = new Gestures(this);
	}

	invalidate() {
		this.pending ||= requestAnimationFrame(() => {
			this.pending = 0;
			this.draw();
		});
	}

	show(rows) {
		this.coros.show(rows);
		this.cursor = -1;
		this.invalidate();
	}

	setRowHeight(height) {
		const middle = (this.coros.scroll + this.coros.height / 2) / this.coros.rowHeight;
		this.coros.rowHeight = height;
		this.coros.scrollTo(middle * height - this.coros.height / 2);
		this.invalidate();
	}

	layout() {
		const { canvas, options } = this, { clientWidth: width, clientHeight: height } = canvas;
		const ratio = devicePixelRatio || 1;
		const wide = Math.round(width * ratio), high = Math.max(1, Math.round(height * ratio));
		if (!this.pixels || canvas.width !== wide || canvas.height !== high) {
			canvas.width = wide;
			canvas.height = high;
			this.pixels = new Pixels(this.ctx, wide, high);
		}
		this.ratio = ratio;
		this.left = options.gutter ? gutterOf(width) : 0;
		this.plot = Math.max(1, width - this.left - SCROLLBAR);
		let top = AXIS;
		for (const region of this.regions) {
			const heading = options.threads ? HEADING : 0;
			region.top = top + heading;
			region.height = height - region.top;
			if (region === this.threads)
				region.height = Math.min(region.count * region.rowHeight + 4, Math.floor(height * 0.35));
			region.scrollTo(region.scroll);
			top = region.top + region.height;
		}
	}

	get per() { // nanoseconds to a pixel
		return this.window.width / this.plot;
	}

	x(t) {
		return this.left + (t - this.window.from) / this.per;
	}

	time(x) {
		return this.window.from + (x - this.left) * this.per;
	}

	// What is at a point of the canvas: { region, index, row, t }, or null.
	hit(x, y) {
		for (const region of this.regions) {
			const index = Math.floor((y - region.top + region.scroll) / region.rowHeight);
			if (y >= region.top && y < region.top + region.height && index < region.count)
				return { region, index, row: region.row(index), t: this.time(x), inGutter: x < this.left };
		}
		return null;
	}

	draw() {
		if (!this.canvas.clientWidth)
			return;
		this.layout();
		const colours = this.colours = Colours.now(), ctx = this.ctx, spans = [];
		const ticks = this.window.ticks(this.plot / 110);
		this.pixels.words.fill(colours.back);
		this.drawGrid(ticks);
		for (const region of [...this.regions].reverse()) // so that a region's first row cannot overlap the one above
			this.drawLanes(region, spans);
		this.ctx.putImageData(this.pixels.image, 0, 0);
		ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		ctx.font = FONT;
		ctx.textBaseline = "middle";
		this.glyph = ctx.measureText("0").width;
		this.drawSpanTexts(spans);
		const wakes = drawArrows(this);
		this.drawMarks();
		for (const region of this.regions)
			this.drawGutter(region);
		this.drawAxis(ticks);
		this.options.onStatus(this.status(wakes));
	}

	drawGrid(ticks) {
		const { pixels, ratio, colours } = this;
		for (const t of ticks.at) {
			const x = Math.round(this.x(t) * ratio);
			if (x >= this.left * ratio && x < pixels.width)
				pixels.rect(x, 0, 1, pixels.height, colours.grid);
		}
	}

	drawLanes(region, spans) {
		const { pixels, ratio, colours, window } = this, { lanes } = region, palette = colours[region.palette];
		// Cells are wider in the lowest lanes: a screen would have half a million of them.
		const cell = Math.max(1, Math.round(ratio)) * (region.rowHeight < 4 ? 2 : 1);
		const columns = Math.round(this.plot * ratio / cell), x0 = Math.round(this.left * ratio);
		const from = window.from, per = window.width / columns, h = Math.max(1, Math.round(region.bar * ratio));
		if (region === this.threads) // it covers the top of the coroutines
			pixels.rect(0, 0, pixels.width, Math.round((region.top + region.height) * ratio), colours.back);
		for (let index = region.first; index < region.last; index++) {
			const row = region.row(index), y = Math.round(region.y(index) * ratio) + (h < FLAT ? 0 : 1);
			if (row === this.cursor && region === this.coros)
				pixels.rect(0, y - 1, pixels.width, Math.round(region.rowHeight * ratio), colours.cursor);
			pixels.lane({ lanes, row, x0, y, columns, cell, h, from, per }, colours, palette, (x, w, state, e) => {
				if (w > 2 && state === RUNNING && region === this.threads)
					pixels.rect(x0 + x, y, 1, h, colours.back); // between one run and the next
				if (region.rowHeight >= GLYPHS && w > 40 * ratio)
					spans.push({ region, row, index, e, state, x: this.left + x / ratio, w: w / ratio });
			});
		}
	}

	// The text for a stretch of one state: at least the function of a site, at least some letters of a name.
	spanText({ region, row, e, state, w }) {
		const room = Math.floor((w - 10) / this.glyph);
		if (state === UNKNOWN)
			return room >= 7 ? "unknown" : "";
		if (region === this.threads)
			return state !== RUNNING || room < 5 ? "" : clean(this.model.shortLabel(region.lanes.arg[e - 1]), room);
		if (state === RUNNING && room >= 5 && this.model.events.kind[e - 1] === RESUME)
			return clean(this.model.threadLabel(this.model.events.arg[e - 1]), room);
		if (state !== SUSPENDED && state !== RUNNABLE)
			return "";
		const place = this.model.placeAt(row, e - 1), name = place.slice(place.lastIndexOf(":") + 1);
		return place.length <= room ? clean(place) : name.length <= room ? clean(name) : "";
	}

	drawSpanTexts(spans) {
		const ctx = this.ctx;
		for (const span of spans) {
			const text = this.spanText(span), y = span.region.middle(span.index);
			if (!text || y < span.region.top)
				continue;
			if (span.state === UNKNOWN) { // a text on hatching would be hard to read
				ctx.fillStyle = this.colours.css("unknown");
				ctx.fillRect(span.x + 3, y - 6, text.length * this.glyph + 4, 12);
			}
			ctx.fillStyle = this.colours.css("on-" + PALETTE[span.state]);
			ctx.fillText(isolate(text), span.x + 5, y + 0.5, span.w - 8);
		}
	}

	fit(text, width) {
		return clean(text, Math.max(2, Math.floor(width / this.glyph)));
	}

	drawGutter(region) {
		const { ctx, left, model } = this, { css } = this.colours;
		if (!left)
			return;
		const write = region.rowHeight >= 10;
		ctx.fillStyle = css("gutter");
		ctx.fillRect(0, region.top, left - 1, region.height);
		ctx.save();
		ctx.beginPath();
		ctx.rect(0, region.top, left - 6, region.height);
		ctx.clip();
		for (let index = region.first; write && index < region.last; index++) {
			const row = region.row(index), y = region.middle(index);
			if (row === this.cursor && region === this.coros) {
				ctx.fillStyle = css("cursor");
				ctx.fillRect(0, region.y(index), left, region.rowHeight);
			}
			const ofThread = region === this.threads, text = ofThread ? model.threadLabel(row) : model.label(row);
			const id = ofThread ? "" : model.idText(row), tail = id.length * this.glyph, part = ofThread ? "" : this.partOf(row);
			if (part === "member" || part === "waker") {
				ctx.fillStyle = css(part === "member" ? "bad" : "wake");
				ctx.fillRect(2, region.y(index) + 2, 3, region.rowHeight - 4);
			}
			ctx.fillStyle = css(part === "other" ? "faint" : "text");
			ctx.fillText(isolate(this.fit(text, left - tail - 24)), 10, y, Math.max(10, left - tail - 24));
			ctx.fillStyle = css("faint");
			ctx.fillText(id, left - 8 - tail, y);
		}
		ctx.restore();
		this.drawHeading(region);
		this.drawScrollbar(region);
	}

	drawHeading(region) {
		const { ctx, model, canvas } = this, { css } = this.colours, y = region.top - HEADING;
		ctx.fillStyle = css("panel");
		ctx.fillRect(0, y, canvas.clientWidth, HEADING);
		ctx.fillStyle = css("line");
		ctx.fillRect(0, y, canvas.clientWidth, 1);
		ctx.fillStyle = css("faint");
		let text = plural(region.count, region === this.threads ? "thread" : "coroutine");
		if (region === this.coros && region.count !== model.n)
			text = `${count(region.count)} of ${plural(model.n, "coroutine")}`;
		if (region === this.coros && this.moment && this.moment.members.size)
			text += `: first ${count(this.moment.members.size)} of the finding${this.wakersText()}, then all the others`;
		ctx.fillText(text, 10, y + HEADING / 2 + 1);
	}

	wakersText() {
		const { members, wakers } = this.moment, those = members.size === 1 ? "it" : "them";
		return wakers.size ? ` with ${count(wakers.size)} that woke or made ${those} last` : "";
	}

	// The role of a row in the selected finding.
	partOf(row) {
		const { moment } = this;
		if (!moment || !moment.members.size)
			return "";
		return moment.members.has(row) ? "member" : moment.wakers.has(row) ? "waker" : "other";
	}

	// The thumb: { x, y, height, scale }, or null; scale: how far one of its pixels scrolls.
	thumb(region) {
		const all = region.count * region.rowHeight;
		if (all <= region.height)
			return null;
		const height = Math.max(24, region.height * region.height / all);
		const scale = (all - region.height) / (region.height - height);
		return { x: this.canvas.clientWidth - SCROLLBAR, y: region.top + region.scroll / scale, height, scale };
	}

	drawScrollbar(region) {
		const thumb = this.thumb(region);
		this.ctx.fillStyle = this.colours.css("gutter");
		this.ctx.fillRect(this.canvas.clientWidth - SCROLLBAR, region.top, SCROLLBAR, region.height);
		if (!thumb)
			return;
		this.ctx.fillStyle = this.colours.css("thumb");
		this.ctx.fillRect(thumb.x + 2, thumb.y + 1, SCROLLBAR - 4, thumb.height - 2);
	}

	// Where silence is folded the picture is torn.
	drawFold(t) {
		const { ctx, canvas, colours } = this, x = Math.round(this.x(t)), bottom = canvas.clientHeight;
		if (x < this.left || x > this.left + this.plot)
			return;
		ctx.strokeStyle = colours.css("faint");
		ctx.lineWidth = 1.5;
		ctx.beginPath();
		for (let y = AXIS, side = 0; y < bottom; y += 5, side = 3 - side)
			ctx.lineTo(x - 1.5 + side, y);
		ctx.stroke();
	}

	// A text instead of rows, if there are none.
	drawNothing() {
		const { ctx, coros, model } = this;
		ctx.fillStyle = this.colours.css("faint");
		const text = model.n ? "no coroutine matches" : "There is not one event in the trace.";
		ctx.fillText(text, this.left + 12, coros.top + 16);
	}

	// Over the lanes: destroyed coroutines, the time of the finding, and a range that is being drawn.
	drawMarks() {
		const { ctx, coros, model, colours, canvas, window } = this, bottom = canvas.clientHeight;
		if (!coros.count)
			this.drawNothing();
		if (window.folded && window.silence.before)
			this.drawFold(window.low);
		if (window.folded && window.silence.after)
			this.drawFold(window.high);
		ctx.save();
		ctx.beginPath();
		ctx.rect(this.left, coros.top, this.plot, coros.height);
		ctx.clip();
		ctx.strokeStyle = colours.css("bad");
		ctx.lineWidth = 1.5;
		for (let index = coros.first; coros.rowHeight >= 6 && index < coros.last; index++) {
			const row = coros.row(index);
			if (!(model.coros.flags[row] & DESTROYED))
				continue;
			const x = this.x(model.coros.end[row]), y = coros.middle(index), r = Math.min(4, coros.bar / 2);
			ctx.stroke(new Path2D(`M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`));
		}
		ctx.restore();
		if (this.mark) {
			ctx.fillStyle = colours.css("bad");
			for (const t of this.mark)
				if (t >= this.window.from && t <= this.window.to)
					ctx.fillRect(Math.round(this.x(t)), AXIS - 6, 1, bottom);
		}
		if (this.range) {
			const [a, b] = this.range.map(t => this.x(t)).sort((p, q) => p - q);
			ctx.fillStyle = colours.css("brush");
			ctx.fillRect(a, AXIS, b - a, bottom);
		}
	}

	drawAxis({ step, at }) {
		const { ctx, canvas } = this, { css } = this.colours;
		ctx.fillStyle = css("panel");
		ctx.fillRect(0, 0, canvas.clientWidth, AXIS);
		if (this.mark) {
			const [from, to] = this.mark.map(t => Math.max(this.left, Math.min(this.left + this.plot, this.x(t))));
			ctx.fillStyle = css("bad");
			ctx.fillRect(from, AXIS - 3, to - from, 3);
		}
		ctx.fillStyle = css("faint");
		for (const t of at) {
			const x = Math.round(this.x(t));
			const text = moment(t, step, this.window.to);
			if (x < this.left)
				continue;
			ctx.fillRect(x, AXIS - 8, 1, 8);
			if (x + 4 + text.length * this.glyph < canvas.clientWidth)
				ctx.fillText(text, x + 4, AXIS / 2 - 1);
		}
		ctx.fillStyle = css("line");
		ctx.fillRect(0, AXIS - 1, canvas.clientWidth, 1);
	}

	status(wakes) {
		if (!this.model.n)
			return "";
		const parts = [duration(this.window.width) + " in view", "a pixel is " + duration(this.per)];
		if (wakes === null)
			parts.push("too many wakes to draw: zoom in, or point at a coroutine");
		else if (wakes)
			parts.push(plural(wakes, "wake"));
		return parts.join(" · ");
	}
}
