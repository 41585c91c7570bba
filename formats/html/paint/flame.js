// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// flame.js - a tree of frames on a canvas, the root at the top. The width of a frame is its time.

const FRAME_HIGH = 20, FRAME_NARROWEST = 1, FRAME_TEXT_FROM = 24; // in pixels
const FRAME_FONT = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

// The boxes of the frames that can be seen: [{ frame, x, w, depth }]. The frames above `zoom` have the whole width. Frames that are
// too narrow are left out, and a box without a frame (-1) stands for all of them.
function layFrames(tree, { zoom, state, absolute }, width) {
	const boxes = [], todo = [{ frame: zoom, x: 0, w: width, depth: tree.depth[zoom] }];
	for (const frame of tree.path(zoom).slice(0, -1))
		boxes.push({ frame, x: 0, w: width, depth: tree.depth[frame] });
	while (todo.length) {
		const box = todo.pop(), whole = tree.width(box.frame, state, absolute);
		boxes.push(box);
		let x = box.x;
		for (const frame of whole > 0 ? tree.ordered(box.frame, state, absolute) : []) {
			const w = box.w * tree.width(frame, state, absolute) / whole;
			if (w < FRAME_NARROWEST)
				break;
			todo.push({ frame, x, w, depth: box.depth + 1 });
			x += w;
		}
		const left = smallWidth(tree, box, x, { state, absolute }, whole);
		if (left >= FRAME_NARROWEST)
			boxes.push({ frame: -1, x, w: left, depth: box.depth + 1 });
	}
	return boxes;
}

// The width of the frames below a box that begin at x and later: those that are too narrow to be drawn.
function smallWidth(tree, box, x, { state, absolute }, whole) {
	let sum = 0;
	for (const frame of tree.ordered(box.frame, state, absolute))
		sum += tree.width(frame, state, absolute);
	return whole > 0 ? box.x + box.w * sum / whole - x : 0;
}

class FlameCanvas {
	constructor(canvas) {
		Object.assign(this, { canvas, tree: null, boxes: [], pending: 0, pointed: -1 });
		this.ctx = canvas.getContext("2d", { alpha: false });
		this.view = { zoom: 0, cursor: 0, state: 0, absolute: false, hits: null };
		new ResizeObserver(() => this.invalidate()).observe(canvas);
	}

	show(tree, view) {
		Object.assign(this, { tree, view });
		this.laid = null;
		this.invalidate();
	}
	invalidate() {
		this.pending ||= requestAnimationFrame(() => {
			this.pending = 0;
			this.draw();
		});
	}

	// The frame at a point, or -1.
	frameAt(x, y) {
		const depth = Math.floor(y / FRAME_HIGH);
		const box = this.boxes.find(b => b.depth === depth && b.x <= x && x < b.x + b.w);
		return box ? box.frame : -1;
	}
	point(frame) {
		if (frame !== this.pointed)
			this.invalidate();
		this.pointed = frame;
	}

	lay(width) {
		const { tree, view } = this;
		if (this.laid === width)
			return;
		this.laid = width;
		this.boxes = layFrames(tree, view, width);
		this.deepest = this.boxes.reduce((most, box) => Math.max(most, box.depth), 0);
		const changes = this.boxes.map(({ frame }) => tree.base && frame >= 0 ? Math.abs(this.change(frame)) : 0);
		this.mostChange = changes.reduce((a, b) => Math.max(a, b), 0);
		this.canvas.style.height = (this.deepest + 1) * FRAME_HIGH + "px";
	}
	change(frame) {
		const { tree, view: { state, absolute } } = this;
		return tree.change(tree.value(frame, state), tree.baseValue(frame, state), state, absolute);
	}

	draw() {
		const { canvas, ctx, tree } = this, width = canvas.clientWidth, ratio = pixelRatio(canvas);
		if (!tree || !width)
			return;
		this.lay(width);
		const height = (this.deepest + 1) * FRAME_HIGH;
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.font = FRAME_FONT;
		ctx.textBaseline = "middle";
		this.letter = ctx.measureText("0").width;
		const { css } = Colours.now();
		ctx.fillStyle = css("back");
		ctx.fillRect(0, 0, width, height);
		this.hatch = this.makeHatch(css);
		for (const box of this.boxes)
			this.drawBox(box, css);
		for (const [frame, colour] of [[this.pointed, "faint"], [this.view.cursor, "text"]])
			this.outline(frame, css(colour));
	}

	makeHatch(css) {
		const tile = el("canvas", { width: 6, height: 6 }), ctx = tile.getContext("2d");
		ctx.fillStyle = css("unknown");
		ctx.fillRect(0, 0, 6, 6);
		ctx.strokeStyle = css("hatch");
		ctx.beginPath();
		for (const x of [-6, 0, 6]) {
			ctx.moveTo(x - 1, 7);
			ctx.lineTo(x + 7, -1);
		}
		ctx.stroke();
		return this.ctx.createPattern(tile, "repeat");
	}

	drawBox({ frame, x, w, depth }, css) {
		const { ctx } = this, y = depth * FRAME_HIGH, wide = Math.max(1, w - (w > 3 ? 1 : 0)), high = FRAME_HIGH - 1;
		if (frame < 0) {
			ctx.fillStyle = css("line");
			ctx.fillRect(x, y, wide, high / 3);
			return;
		}
		const { fill, strength, text } = this.paintOf(frame, css);
		ctx.fillStyle = css("panel");
		ctx.fillRect(x, y, wide, high);
		ctx.globalAlpha = strength;
		ctx.fillStyle = fill;
		ctx.fillRect(x, y, wide, high);
		ctx.globalAlpha = 1;
		if (w >= FRAME_TEXT_FROM)
			this.drawText(frame, x, y, w, fill === this.hatch ? css("unknown") : null, text);
	}
	drawText(frame, x, y, w, behind, colour) {
		const { ctx, tree, letter } = this, most = Math.floor((w - 8) / letter);
		const text = shorten((tree.base && frame ? this.sign(frame) : "") + tree.text(frame), most);
		if (behind) {
			ctx.fillStyle = behind;
			ctx.fillRect(x + 2, y + 2, text.length * letter + 4, FRAME_HIGH - 5);
		}
		ctx.fillStyle = colour;
		if (most > 1)
			ctx.fillText(isolate(text), x + 4, y + FRAME_HIGH / 2, w - 6);
		const time = amount(tree.value(frame, this.view.state)), room = most - text.length - 2;
		if (time.length <= room)
			ctx.fillText(time, x + w - 5 - time.length * letter, y + FRAME_HIGH / 2);
	}
	// So that a difference is seen without its colour.
	sign(frame) {
		const change = this.change(frame);
		return Math.abs(change) < this.mostChange / 100 || !this.mostChange ? "" : change > 0 ? "+ " : "− ";
	}

	// The colour of a frame: that of the state if most of its time is its own, and a paler one if it only leads there.
	paintOf(frame, css) {
		const { tree, view: { state, zoom, hits } } = this, site = tree.site[frame];
		const above = frame !== zoom && tree.depth[frame] <= tree.depth[zoom];
		if (hits && site > 0 && hits[site])
			return { fill: css("hit"), strength: 1, text: css("text") };
		if (frame && site < 0)
			return { fill: this.hatch, strength: 1, text: css("on-unknown") };
		if (tree.base) {
			const change = this.change(frame), part = partOf(Math.abs(change), this.mostChange);
			const strength = Math.sqrt(part) / (above ? 2 : 1);
			return { fill: css(change > 0 ? "more" : "less"), strength, text: css("text") };
		}
		if (above || !frame || tree.ownValue(frame, state) < tree.value(frame, state) / 2)
			return { fill: css(FLAME_STATES[state]), strength: above || !frame ? 0.1 : 0.3, text: css("text") };
		return { fill: css(FLAME_STATES[state]), strength: 1, text: css("on-" + FLAME_STATES[state]) };
	}

	outline(frame, colour) {
		const box = this.boxes.find(b => b.frame === frame && frame >= 0), { ctx } = this;
		if (!box)
			return;
		ctx.strokeStyle = colour;
		ctx.lineWidth = 2;
		ctx.strokeRect(box.x + 1, box.depth * FRAME_HIGH + 1, Math.max(1, box.w - 3), FRAME_HIGH - 3);
	}
}
