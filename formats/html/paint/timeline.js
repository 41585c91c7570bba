// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// timeline.js - the picture: an axis, and a lane for each thread and each coroutine. Only those in sight are drawn.

const GLYPHS = 12; // the lanes that are high enough for text
const FONT = "11px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

class Timeline {
	// options: threads and gutter (whether to show threads, and names), rowHeight, onStatus(text)
	constructor(canvas, model, window, options) {
		Object.assign(this, { canvas, model, window, options, ctx: canvas.getContext("2d", { alpha: false }) });
		this.coros = new Region("coros", model.lanes, options.rowHeight || 20);
		this.regions = [this.coros];
		if (options.threads) {
			this.threads = new Region("threads", model.threads, THREAD_ROW);
			this.pins = new Region("pins", model.lanes, this.coros.rowHeight, new RowList(model.n, new Int32Array(0)));
			this.regions = [this.threads, this.pins, this.coros];
			this.strips = new Strips(this);
		}
		this.cursor = -1; // the selected row
		this.heading = -1; // or the entry of the selected heading
		this.cursorTime = null; // and the moment, if one was pointed at
		this.hovered = -1; // the row under the pointer
		this.cross = null; // the moment under the pointer
		this.mark = null; // a finding's time: [from, to]
		this.moment = null; // findingMoment() of the finding whose coroutines are marked
		this.range = null; // the selected range of time: [from, to]
		this.hidden = new Set(); // states that are not drawn
		this.arrows = []; // as drawn: { x, from, to, wake }
		this.awaits = []; // the dotted lines, as drawn: { x, row, from, to, wait }
		this.pointed = null; // the wake whose arrow is under the pointer
		this.pending = 0;
		this.left = 0;
		this.plot = 1; // the width that has time, as layout() finds it
		window.listeners.push(() => this.invalidate());
		new ResizeObserver(() => this.invalidate()).observe(canvas);
	}

	invalidate() {
		this.pending ||= requestAnimationFrame(() => {
			this.pending = 0;
			this.draw();
		});
	}

	show(list, keep) {
		this.coros.show(list, keep);
		this.invalidate();
	}

	pin(rows) {
		this.pins.show(new RowList(this.model.n, Int32Array.from(rows)), true);
		this.invalidate();
	}

	setRowHeight(height) {
		const middle = (this.coros.scroll + this.coros.height / 2) / this.coros.rowHeight;
		this.coros.rowHeight = height;
		if (this.pins)
			this.pins.rowHeight = Math.max(12, height);
		this.coros.scrollTo(middle * height - this.coros.height / 2);
		this.invalidate();
	}

	layout() {
		const { canvas, options } = this, { clientWidth: width, clientHeight: height } = canvas;
		const ratio = pixelRatio(canvas);
		const wide = Math.round(width * ratio), high = Math.max(1, Math.round(height * ratio));
		if (!this.pixels || canvas.width !== wide || canvas.height !== high) {
			canvas.width = wide;
			canvas.height = high;
			this.pixels = new Pixels(this.ctx, wide, high);
		}
		this.ratio = ratio;
		this.left = options.gutter ? gutterOf(width) : 0;
		this.plot = Math.max(1, width - this.left - SCROLLBAR);
		this.axis = new Axis(this.window, Math.round(this.plot * ratio), this.left, 1 / ratio);
		let top = AXIS;
		for (const region of this.regions) {
			const heading = !options.threads || region.kind === "pins" && !region.count ? 0 : HEADING;
			region.top = top + heading;
			region.height = Math.max(0, height - region.top);
			if (region.kind !== "coros")
				region.height = Math.min(region.all && region.all + 4, Math.floor(height * 0.3));
			region.scrollTo(region.scroll);
			top = region.top + region.height;
		}
		this.followTouch();
	}

	// With a finger: a swipe up or down scrolls the page, unless there are rows to scroll.
	followTouch() {
		const rows = this.regions.some(region => region.thumb), action = rows ? "none" : "pan-y";
		if (this.canvas.style.touchAction !== action)
			this.canvas.style.touchAction = action;
	}

	x(t) {
		return this.axis.x(t);
	}

	time(x) {
		return this.axis.time(x);
	}

	// What is at a point of the canvas: { region, index, row, group, t, inGutter }, or null.
	hit(x, y) {
		const t = this.axis ? this.time(x) : 0;
		for (const region of this.regions) {
			const index = region.entryAt(y);
			if (index >= 0)
				return { region, index, row: region.rowAt(index, t), group: region.list.group(index), t, inGutter: x < this.left };
		}
		return null;
	}

	draw() {
		if (!this.canvas.clientWidth)
			return;
		this.layout();
		const colours = this.colours = Colours.now(), ctx = this.ctx, ticks = this.axis.ticks(110);
		this.paintLanes(colours, ticks);
		this.ctx.putImageData(this.pixels.image, 0, 0);
		ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		ctx.font = FONT;
		ctx.textBaseline = "middle";
		this.glyph = ctx.measureText("0").width;
		this.drawQuiet();
		this.drawSpanTexts(this.spans);
		const wakes = drawArrows(this);
		this.drawMarks();
		for (const region of this.regions)
			this.drawGutter(region);
		this.drawAxis(ticks);
		this.drawCross();
		if (this.options.onStatus)
			this.options.onStatus(this.status(wakes));
	}

	// The lanes as pixels, and the stretches that are long enough for a text. The pointer moves far more often than they change.
	paintLanes(colours, ticks) {
		const { window, pixels, cursor, hidden, regions } = this, strips = this.strips ? this.strips.turn : 0;
		const key = [pixels, colours, window.from, window.to, window.scale, cursor, [...hidden].join(), strips,
			...regions.flatMap(({ list, scroll, top, height, rowHeight }) => [list, scroll, top, height, rowHeight])];
		if (this.painted && key.length === this.painted.length && key.every((part, i) => part === this.painted[i]))
			return;
		this.painted = key;
		this.spans = [];
		pixels.words.fill(colours.back);
		this.drawGrid(ticks);
		for (const region of [...regions].reverse()) // so that a region's first row cannot overlap the one above
			this.drawLanes(region, this.spans);
	}

	drawGrid(ticks) {
		const { pixels, ratio, colours } = this;
		for (const { at } of ticks)
			for (const t of at) {
				const x = Math.round(this.x(t) * ratio);
				if (x >= this.left * ratio && x < pixels.width)
					pixels.rect(x, 0, 1, pixels.height, colours.grid);
			}
	}

	// Cells are wider in the lowest lanes: a screen would have half a million of them.
	axisOf(region) {
		const { ratio, plot, window } = this, cell = Math.max(1, Math.round(ratio)) * (region.rowHeight < 4 ? 2 : 1);
		return new Axis(window, Math.round(plot * ratio / cell), Math.round(this.left * ratio), cell);
	}

	drawLanes(region, spans) {
		const { pixels, ratio, colours, window } = this, { lanes } = region;
		const palette = region.kind === "threads" ? colours.thread : colours.shown(this.hidden), axis = this.axisOf(region);
		const h = Math.max(1, Math.round(region.bar * ratio)), texts = region.rowHeight >= GLYPHS, threads = region.kind === "threads";
		if (region.kind !== "coros") // it covers the top of the next one
			pixels.rect(0, 0, pixels.width, Math.round((region.top + region.height) * ratio), colours.back);
		for (let index = region.first; index < region.last; index++) {
			const group = region.list.group(index), y = Math.round(region.y(index) * ratio) + (h < FLAT ? 0 : 1);
			if (group) {
				pixels.strip(this.strips.of(group, axis), axis, y, h, colours, palette);
				continue;
			}
			for (const row of region.list.lane(index)) {
				if (lanes.end[row] < window.from || lanes.born[row] > window.to)
					continue;
				if (row === this.cursor && !threads)
					pixels.rect(0, y - 1, pixels.width, Math.round(region.rowHeight * ratio), colours.cursor);
				pixels.lane({ lanes, row, y, h, axis }, colours, palette, (x, w, state, e) => {
					if (w > 2 && state === RUNNING && threads)
						pixels.rect(x, y, 1, h, colours.back); // between one run and the next
					if (texts && w > 40 * ratio)
						spans.push({ region, row, index, e, state, x: x / ratio, w: w / ratio });
				});
			}
		}
	}

	// The text for a stretch of one state: at least the function of a site, at least some letters of a name.
	spanText({ region, row, e, state, x, w }) {
		const room = Math.floor((w - 10) / this.glyph), { model } = this;
		if (state === UNKNOWN)
			return room >= 7 ? "unknown" : "";
		if (region === this.threads)
			return state !== RUNNING || room < 5 ? "" : clean(model.shortLabel(region.lanes.arg[e - 1]), room);
		if (state === RUNNING && room >= 5 && model.events.kind[e - 1] === RESUME)
			return clean("on " + model.threadLabel(model.events.arg[e - 1]), room);
		if (state !== SUSPENDED && state !== RUNNABLE)
			return "";
		const site = model.placeAt(row, e - 1), place = shortSite(site), name = functionOf(site);
		const reason = model.reasonAt(row, e - 1), texts = reason ? [`${reason} at ${place}`, `${reason} at ${name}`, reason] : [];
		texts.push(...[place, name].filter(text => text));
		return clean([...hangTexts(this, row, e - 1, x, texts), ...texts].find(text => text.length <= room) || "");
	}

	drawSpanTexts(spans) {
		const ctx = this.ctx;
		for (const span of spans) {
			const text = this.spanText(span), y = span.region.middle(span.index);
			if (!text || y < span.region.top || this.hidden.has(span.state))
				continue;
			if (span.state === UNKNOWN || span.state === RUNNABLE) { // a text on a texture would be hard to read
				ctx.fillStyle = this.colours.css(PALETTE[span.state]);
				ctx.fillRect(span.x + 3, y - 6, text.length * this.glyph + 4, 12);
			}
			ctx.fillStyle = this.colours.css("on-" + PALETTE[span.state]);
			ctx.fillText(isolate(text), span.x + 5, y + 0.5, span.w - 8);
		}
	}

	drawGutter(region) {
		const { ctx, left } = this, { css } = this.colours;
		if (!left || !region.count && region.kind === "pins")
			return;
		ctx.fillStyle = css("gutter");
		ctx.fillRect(0, region.top, left - 1, region.height);
		ctx.save();
		ctx.beginPath();
		ctx.rect(0, region.top, left - 6, region.height);
		ctx.clip();
		for (let index = region.first; region.rowHeight >= 10 && index < region.last; index++)
			this.drawLabel(region, index);
		ctx.restore();
		this.drawHeading(region);
		this.drawScrollbar(region);
	}

	// The name of an entry, and its number on the right.
	drawLabel(region, index) {
		const { ctx, left, model } = this, { css } = this.colours, y = region.middle(index), group = region.list.group(index);
		const row = region.row(index), lane = region.list.lane(index), others = lane.length - 1, threads = region.kind === "threads";
		const indent = !group && region.list.groups.length ? 22 : 10, part = threads || group ? "" : this.partOf(row);
		const tail = group ? count(group.rows.length) : threads ? "" : others ? `${count(lane.length)} short` : model.idText(row);
		const heading = group ? `${group.open ? "▾" : "▸"} ${shortSite(group.title.replace(NO_NAME_AT, ""))}` : "";
		const text = group ? heading : threads ? model.threadLabel(row) : others ? model.namePattern(row) : model.label(row);
		if (!threads && (lane.includes(this.cursor) || index === this.heading && region === this.coros)) {
			ctx.fillStyle = css("cursor");
			ctx.fillRect(0, region.y(index), left, region.rowHeight);
		}
		if (part === "member" || part === "waker" || part === "holder") {
			ctx.fillStyle = css(part === "member" ? "bad" : part === "waker" ? "wake" : "accent");
			ctx.fillRect(2, region.y(index) + 2, 3, region.rowHeight - 4);
		}
		ctx.fillStyle = css(part === "other" ? "faint" : "text");
		const width = left - tail.length * this.glyph - indent - 14;
		ctx.fillText(isolate(shorten(text, Math.max(2, Math.floor(width / this.glyph)))), indent, y, Math.max(10, width));
		ctx.fillStyle = css("faint");
		ctx.fillText(tail, left - 8 - tail.length * this.glyph, y);
	}

	drawHeading(region) {
		const { ctx, canvas } = this, { css } = this.colours, y = region.top - HEADING;
		ctx.fillStyle = css("panel");
		ctx.fillRect(0, y, canvas.clientWidth, HEADING);
		ctx.fillStyle = css("line");
		ctx.fillRect(0, y, canvas.clientWidth, 1);
		ctx.fillStyle = css("faint");
		const room = Math.floor((canvas.clientWidth - 20) / this.glyph);
		const text = this.headingText(region);
		ctx.fillText(text.length <= room ? text : shorten(text.split(":")[0], room), 10, y + HEADING / 2 + 1);
	}

	headingText(region) {
		const { model, moment } = this, { list } = region;
		if (region.kind === "threads")
			return plural(region.count, "thread");
		if (region.kind === "pins")
			return plural(region.count, "pinned coroutine");
		let text = list.coroutines === model.n ? plural(model.n, "coroutine") : `${count(list.coroutines)} of ${plural(model.n, "coroutine")}`;
		if (this.matching && region.kind === "coros")
			text += list.coroutines === 1 ? " matches the search" : " match the search";
		if (list.groups.length)
			text += ` in ${plural(list.groups.length, "group")}`;
		else if (moment && moment.members.size && !this.matching)
			text += `: first ${this.membersText()} of the finding${this.othersText()}, then all the others`;
		return text;
	}

	// The report may list only some of them.
	membersText() {
		const { members: { size }, all } = this.moment;
		return all > size ? `${count(size)} of the ${count(all)}` : count(size);
	}

	othersText() {
		const { members, wakers, holders } = this.moment, those = members.size === 1 ? "it" : "them", parts = [];
		if (holders.size)
			parts.push(`${count(holders.size)} that ${holders.size === 1 ? "holds" : "hold"} what ${members.size === 1 ? "it waits" : "they wait"} for`);
		if (wakers.size)
			parts.push(`${count(wakers.size)} that woke or spawned ${those} last`);
		return parts.length ? " with " + parts.join(" and ") : "";
	}

	// The role of a row in the selected finding.
	partOf(row) {
		const { moment } = this;
		if (!moment || !moment.members.size)
			return "";
		return moment.members.has(row) ? "member" : moment.holders.has(row) ? "holder" : moment.wakers.has(row) ? "waker" : "other";
	}

	drawScrollbar(region) {
		const { thumb } = region, x = this.canvas.clientWidth - SCROLLBAR;
		this.ctx.fillStyle = this.colours.css("gutter");
		this.ctx.fillRect(x, region.top, SCROLLBAR, region.height);
		if (!thumb)
			return;
		this.ctx.fillStyle = this.colours.css("thumb");
		this.ctx.fillRect(x + 2, thumb.y + 1, SCROLLBAR - 4, thumb.height - 2);
	}

	// Quiet pieces, which are narrower than their time, are shaded, between torn edges.
	drawQuiet() {
		const { ctx, canvas, colours, axis } = this, bottom = canvas.clientHeight;
		if (axis.pieces.length < 2)
			return;
		for (const { quiet, from, to } of axis.pieces) {
			if (!quiet)
				continue;
			const a = this.x(from), b = this.x(to - (to - from) * 1e-9);
			ctx.fillStyle = colours.css("quiet");
			ctx.fillRect(a, AXIS, b - a, bottom);
			ctx.strokeStyle = colours.css("tick");
			ctx.lineWidth = 1;
			for (const x of [a, b]) {
				if (x <= this.left + 2 || x >= this.left + this.plot - 2)
					continue;
				ctx.beginPath();
				for (let y = AXIS, side = 0; y < bottom; y += 5, side = 3 - side)
					ctx.lineTo(Math.round(x) - 1.5 + side, y);
				ctx.stroke();
			}
		}
	}

	// A text instead of rows, if there are none.
	drawNothing() {
		const { ctx, coros, model } = this;
		ctx.fillStyle = this.colours.css("faint");
		const text = model.n ? "no coroutine matches" : "There is not one event in the trace.";
		ctx.fillText(text, this.left + 12, coros.top + 16);
	}

	// Over the lanes: destroyed coroutines, what awaits what, the time of the finding, and the selected range.
	drawMarks() {
		const { ctx, coros, model, colours, canvas } = this, bottom = canvas.clientHeight;
		if (!coros.count)
			this.drawNothing();
		ctx.save();
		ctx.beginPath();
		ctx.rect(this.left, coros.top, this.plot, coros.height);
		ctx.clip();
		drawHangs(this);
		for (let index = coros.first; coros.rowHeight >= 6 && index < coros.last; index++)
			for (const row of coros.list.lane(index)) {
				if (!(model.coros.flags[row] & DESTROYED))
					continue;
				const x = this.x(model.coros.end[row]), y = coros.middle(index), r = Math.min(4, coros.bar / 2);
				ctx.stroke(new Path2D(`M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`));
			}
		ctx.restore();
		if (this.mark) {
			ctx.fillStyle = colours.css("bad");
			const [begin] = this.mark;
			if (begin >= this.window.from && begin <= this.window.to)
				ctx.fillRect(Math.round(this.x(begin)), AXIS - 6, 1, bottom);
		}
		if (this.range) {
			const [a, b] = this.range.map(t => Math.max(this.left, Math.min(this.left + this.plot, this.x(t))));
			ctx.fillStyle = colours.css("brush");
			ctx.fillRect(a, AXIS, Math.max(1, b - a), bottom);
		}
	}

	// Ticks on the busy pieces, and how long each quiet one is.
	drawAxis(ticks) {
		const { ctx, canvas, axis } = this, { css } = this.colours, right = this.left + this.plot;
		ctx.fillStyle = css("panel");
		ctx.fillRect(0, 0, canvas.clientWidth, AXIS);
		this.drawQuietLengths();
		if (this.mark) {
			const [from, to] = this.mark.map(t => Math.max(this.left, Math.min(right, this.x(t))));
			ctx.fillStyle = css("bad");
			ctx.fillRect(from, AXIS - 3, to - from, 3);
		}
		ctx.fillStyle = css("faint");
		let free = this.left;
		for (const { step, at } of ticks)
			for (const t of at) {
				const x = Math.round(this.x(t)), text = moment(t, step, this.window.to), width = text.length * this.glyph;
				if (x < this.left)
					continue;
				ctx.fillRect(x, AXIS - 8, 1, 8);
				if (x + 4 < free || x + 4 + width > Math.min(right, this.quietAfter(t)))
					continue;
				ctx.fillText(text, x + 4, 8);
				free = x + 8 + width;
			}
		ctx.fillStyle = css("line");
		ctx.fillRect(0, AXIS - 1, canvas.clientWidth, 1);
		if (this.left && axis.pieces.length > 1) {
			ctx.fillStyle = css("faint");
			this.fitText(["grey: squeezed ( f: to scale )", "grey: squeezed", "squeezed"], 10, AXIS / 2, this.left - 14);
		}
	}

	// The first of some texts that fits.
	fitText(texts, x, y, room) {
		this.ctx.fillText(texts.find(text => text.length * this.glyph <= room) || "", x, y);
	}

	// Where the next quiet piece after t begins.
	quietAfter(t) {
		const piece = this.axis.pieces.find(({ quiet, from }) => quiet && from >= t);
		return piece && this.axis.pieces.length > 1 ? this.x(piece.from) : Infinity;
	}

	drawQuietLengths() {
		const { ctx, axis, colours } = this;
		if (axis.pieces.length < 2)
			return;
		for (const piece of axis.pieces.filter(({ quiet }) => quiet)) {
			const { from, to } = piece, a = this.x(from), b = this.x(to - (to - from) * 1e-9);
			const text = quietTexts(this, piece).find(text => text.length * this.glyph < b - a - 4);
			ctx.fillStyle = colours.css("quiet-axis");
			ctx.fillRect(a, 0, b - a, AXIS);
			ctx.fillStyle = colours.css("text");
			if (text)
				ctx.fillText(text, (a + b - text.length * this.glyph) / 2, AXIS - 9);
		}
	}

	// A line at the moment under the pointer, with its times.
	drawCross() {
		const { cross, ctx, colours, canvas } = this;
		if (cross === null || cross < this.window.from || cross > this.window.to)
			return;
		const x = Math.round(this.x(cross)), parts = this.crossTexts(cross), most = (canvas.clientWidth - 12) / this.glyph;
		while (parts.length > 1 && parts.join(" · ").length > most)
			parts.pop();
		const text = parts.join(" · "), width = text.length * this.glyph + 8;
		ctx.fillStyle = colours.css("cross");
		ctx.fillRect(x, AXIS, 1, canvas.clientHeight);
		const at = Math.max(this.left, Math.min(x - width / 2, canvas.clientWidth - width - 2));
		ctx.fillStyle = colours.css("text");
		ctx.fillRect(at, AXIS - 16, width, 15);
		ctx.fillStyle = colours.css("back");
		ctx.fillText(text, at + 4, AXIS - 8);
	}

	// Since the start; since the finding; and of day.
	crossTexts(t) {
		const { model, mark } = this, step = this.axis.per(this.x(t)), parts = [moment(t, step, this.window.to)];
		if (!hasClock())
			return parts;
		if (mark)
			parts.push(`${t < mark[0] ? "−" : "+"}${duration(Math.abs(t - mark[0]))} from the finding`);
		const wall = wallClock(model.meta, t);
		return [...parts, ...wall ? [wall.slice(11, 23)] : []];
	}

	status(wakes) {
		if (!this.model.n)
			return "";
		const middle = this.left + this.plot / 2, { from, to } = this.window;
		const parts = [duration(Math.min(to, this.model.span) - Math.max(0, from)) + " in view"];
		parts.push(`1 px is ${duration(this.axis.per(middle))}${this.axis.pieces.length > 1 ? " in the middle" : ""}`);
		if (wakes && wakes.drawn)
			parts.push(wakesText(wakes));
		return parts.join(" · ");
	}
}
