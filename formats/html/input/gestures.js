// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// gestures.js - mouse, pen and trackpad on a timeline. The keys are in keys.js.
//
// A drag selects a range, with shift it pans. The wheel zooms; over the names, or with shift, it scrolls.

const CLICK_PX = 4; // a drag is longer

// For one turn of the wheel or one step of a pinch, which is a wheel event with ctrl.
function wheelFactor(event) {
	const lines = event.deltaMode ? 16 : 1;
	return Math.exp(Math.max(-50, Math.min(50, event.deltaY * lines)) * 0.01);
}

// Where an event is on its canvas, in the canvas's own units.
function pointOf(event) {
	const { target } = event, box = target.getBoundingClientRect(), zoom = target.currentCSSZoom || 1;
	return { x: (event.clientX - box.left) / zoom - target.clientLeft, y: (event.clientY - box.top) / zoom - target.clientTop };
}

class Gestures {
	constructor(timeline, app) {
		Object.assign(this, { timeline, app, drag: null, touches: new Map() });
		const { canvas } = timeline;
		canvas.addEventListener("pointerdown", event => this.down(event));
		canvas.addEventListener("pointermove", event => this.drag ? this.move(event) : this.hover(event));
		canvas.addEventListener("pointerup", event => this.up(event));
		canvas.addEventListener("pointercancel", event => this.cancel(event));
		canvas.addEventListener("pointerleave", () => this.leave());
		canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
		canvas.addEventListener("dblclick", event => this.doubleClick(event));
	}

	region(y) {
		const { regions } = this.timeline;
		return regions.find(r => y >= r.top && y < r.top + r.height) || regions.at(-1);
	}

	// What a drag from here does.
	kind(event, region) {
		const { left, canvas } = this.timeline, { x } = pointOf(event);
		if (region.thumb && x >= canvas.clientWidth - SCROLLBAR)
			return "scroll";
		return event.shiftKey || event.pointerType === "touch" || x < left ? "pan" : "range";
	}

	down(event) {
		if (event.button !== 0)
			return;
		const { timeline } = this, { x, y } = pointOf(event), region = this.region(y);
		this.touches.set(event.pointerId, { x });
		this.drag = { x, y, region, scroll: region.scroll, at: timeline.window.at(), kind: this.kind(event, region), thumb: region.thumb, moved: false,
			clientY: event.clientY, page: scrollY };
		timeline.canvas.setPointerCapture(event.pointerId);
		this.leave();
	}

	move(event) {
		const { timeline, drag } = this, { x, y } = pointOf(event), dx = x - drag.x, dy = y - drag.y;
		if (this.touches.size > 1 && this.pinch(event))
			return;
		drag.moved ||= Math.hypot(dx, dy) >= CLICK_PX;
		if (!drag.moved)
			return;
		if (drag.kind === "range") {
			const at = x => timeline.time(Math.max(timeline.left, Math.min(timeline.left + timeline.plot, x)));
			timeline.range = [at(drag.x), at(x)].sort((a, b) => a - b);
			timeline.cross = at(x);
		} else if (drag.kind === "scroll") {
			drag.region.scrollIn(timeline.window, drag.scroll + dy * drag.thumb.scale);
		} else {
			const [begin, end] = drag.at, by = (end - begin) * dx / timeline.plot;
			timeline.canvas.style.cursor = "grabbing";
			this.scrollRows(event, drag.scroll - dy);
			if (drag.x >= timeline.left)
				timeline.window.setAt(begin - by, end - by);
		}
		timeline.invalidate();
	}

	// A finger that has scrolled to the first or the last row scrolls the page. Then the canvas moves, too, so its way is that on the screen.
	scrollRows(event, scroll) {
		const { timeline, drag } = this, { region } = drag;
		if (event.pointerType !== "touch")
			return region.scrollIn(timeline.window, scroll);
		const wanted = drag.scroll - (event.clientY - drag.clientY) / (timeline.canvas.currentCSSZoom || 1);
		const most = Math.max(0, region.all - region.height), rest = wanted < 0 ? wanted : Math.max(0, wanted - most);
		region.scrollIn(timeline.window, wanted);
		if (rest)
			scrollTo(scrollX, drag.page + rest);
	}

	// Two fingers: zooms by how far they part.
	pinch(event) {
		const { timeline } = this, was = this.touches.get(event.pointerId), now = { x: pointOf(event).x };
		const other = [...this.touches.values()].find(touch => touch !== was);
		this.touches.set(event.pointerId, now);
		const apart = touch => Math.max(10, Math.abs(touch.x - other.x));
		timeline.window.zoom(apart(was) / apart(now), timeline.time((now.x + other.x) / 2));
		this.drag.moved = true;
		this.drag.kind = "pinch";
		return true;
	}

	up(event) {
		const { timeline, drag, app } = this, { range } = timeline;
		this.touches.delete(event.pointerId);
		if (!drag || this.touches.size)
			return;
		this.cancel(event);
		if (drag.kind === "range" && drag.moved)
			app.setRange(range);
		else if (!drag.moved && drag.kind !== "scroll")
			this.click(event);
	}

	cancel(event) {
		this.touches.delete(event.pointerId);
		this.drag = null;
		this.timeline.canvas.style.cursor = "";
		this.timeline.invalidate();
	}

	// On an arrow: goes to the coroutine at that end. On a heading: folds the group. Else: selects.
	click(event) {
		const { timeline, app } = this, { x, y } = pointOf(event), hit = timeline.hit(x, y), wake = arrowAt(timeline, x, y);
		if (wake && !(hit && hit.inGutter)) {
			const arrow = timeline.arrows.find(arrow => arrow.wake === wake), known = wake.waker >= 0 && wake.waker < timeline.model.n;
			return app.goTo(known && Math.abs(y - arrow.from) < Math.abs(y - arrow.to) ? wake.waker : wake.row, wake.t);
		}
		if (hit && hit.group)
			return app.turnGroup(hit.group);
		const row = hit ? this.coroutine(hit) : -1;
		app.setRange(null);
		app.select(row, row >= 0 && !hit.inGutter ? hit.t : null);
		if (row >= 0 && event.pointerType === "touch")
			app.detail.intoView();
	}

	doubleClick(event) {
		const { x, y } = pointOf(event), hit = this.timeline.hit(x, y), row = hit && !hit.group ? this.coroutine(hit) : -1;
		if (row >= 0)
			this.app.open(row);
	}

	// On a coroutine's lane it is the coroutine, on a thread's lane the coroutine that ran.
	coroutine({ region, row, t, inGutter }) {
		if (region.kind !== "threads")
			return row;
		const e = region.lanes.after(row, t);
		return inGutter || e === region.lanes.first[row] ? -1 : region.lanes.arg[e - 1];
	}

	hover(event) {
		const { timeline, app } = this, { x, y } = pointOf(event), hit = timeline.hit(x, y), inPlot = x >= timeline.left && x <= timeline.left + timeline.plot;
		const wake = inPlot ? arrowAt(timeline, x, y) : null, row = hit && hit.region.kind !== "threads" ? hit.row : -1;
		timeline.canvas.style.cursor = wake || hit && (hit.group || this.coroutine(hit) >= 0) && hit.inGutter ? "pointer" : inPlot ? "crosshair" : "";
		timeline.hovered = row;
		timeline.pointed = wake;
		timeline.cross = inPlot && timeline.axis ? timeline.time(x) : null;
		timeline.invalidate();
		const awaits = inPlot && !wake ? awaitsAt(timeline, x, y) : [];
		const lines = wake ? describeWake(timeline.model, wake) : awaits.length ? describeAwaits(timeline.model, awaits) : hit && this.describe(hit, x);
		if (lines && x <= timeline.left + timeline.plot)
			app.tip.show(lines, event.clientX, event.clientY);
		else
			app.tip.hide();
	}

	describe({ region, row, group, t, inGutter }, x) {
		const { model, axis } = this.timeline;
		if (group)
			return describeGroup(model, group);
		if (region.kind === "threads")
			return inGutter ? null : describeThread(model, row, t, axis.per(x));
		return inGutter ? describeLife(model, row) : describeCoroutine(model, row, t, axis.per(x));
	}

	leave() {
		const { timeline, app } = this;
		timeline.hovered = -1;
		timeline.cross = timeline.pointed = null;
		app.tip.hide();
		timeline.invalidate();
	}

	wheel(event) {
		const { timeline } = this, { window } = timeline, lines = event.deltaMode ? 16 : 1, { x, y } = pointOf(event);
		const names = x < timeline.left || x > timeline.left + timeline.plot, zooms = event.ctrlKey || event.metaKey || !event.shiftKey && !names;
		const region = this.region(y), { scroll } = region;
		if (zooms && Math.abs(event.deltaY) >= Math.abs(event.deltaX)) {
			event.preventDefault();
			window.zoom(wheelFactor(event), timeline.time(x));
		} else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.shiftKey) {
			event.preventDefault();
			window.pan(event.deltaX * lines / timeline.plot);
		} else {
			region.scrollIn(window, scroll + (event.deltaY || event.deltaX) * lines);
			if (region.scroll !== scroll) // else the page may scroll
				event.preventDefault();
		}
		this.hover(event);
	}
}

// The words beside the pointer.
class Tip {
	constructor(node) {
		this.node = node;
	}
	show(lines, x, y) {
		this.node.replaceChildren(...lines.map(line => el("div", null, el("bdi", null, line))));
		this.node.hidden = false;
		const { offsetWidth: w, offsetHeight: h } = this.node;
		this.node.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 8)) + "px";
		this.node.style.top = (y + 18 + h > innerHeight ? Math.max(4, y - h - 10) : y + 18) + "px";
	}
	hide() {
		this.node.hidden = true;
	}
}
