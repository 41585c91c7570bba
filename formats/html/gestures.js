"use strict";
// gestures.js - mouse and trackpad on a timeline. The keys are in keys.js.

const CLICK_PX = 4; // a drag is longer

// For one turn of the wheel or one step of a pinch, which is a wheel event with ctrl.
function wheelFactor(event) {
	const lines = event.deltaMode ? 16 : 1;
	return Math.exp(Math.max(-50, Math.min(50, event.deltaY * lines)) * 0.01);
}

class Gestures {
	constructor(timeline) {
		this.timeline = timeline;
		this.drag = null;
		const { canvas } = timeline;
		canvas.addEventListener("pointerdown", event => this.down(event));
		canvas.addEventListener("pointermove", event => this.drag ? this.move(event) : this.hover(event));
		canvas.addEventListener("pointerup", event => this.up(event));
		canvas.addEventListener("pointercancel", () => this.cancel());
		canvas.addEventListener("pointerleave", () => this.leave());
		canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
	}

	region(y) {
		const { regions } = this.timeline;
		return regions.find(r => y >= r.top && y < r.top + r.height) || regions.at(-1);
	}

	down(event) {
		if (event.button !== 0)
			return;
		const { timeline } = this, x = event.offsetX, y = event.offsetY, region = this.region(y);
		const { from, to } = timeline.window, { scroll } = region, thumb = timeline.thumb(region);
		const kind = event.shiftKey ? "range" : thumb && x >= thumb.x ? "scroll" : "pan";
		this.drag = { x, y, region, scroll, from, to, kind, thumb, moved: false };
		timeline.canvas.setPointerCapture(event.pointerId);
		this.leave();
	}

	move(event) {
		const { timeline, drag } = this, dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
		drag.moved ||= Math.hypot(dx, dy) >= CLICK_PX;
		if (!drag.moved)
			return;
		if (drag.kind === "range") {
			timeline.range = [timeline.time(drag.x), timeline.time(event.offsetX)];
		} else if (drag.kind === "scroll") {
			drag.region.scrollTo(drag.scroll + dy * drag.thumb.scale);
		} else {
			const ns = dx * timeline.per;
			timeline.canvas.style.cursor = "grabbing";
			drag.region.scrollTo(drag.scroll - dy);
			timeline.window.set(drag.from - ns, drag.to - ns);
		}
		timeline.invalidate();
	}

	up(event) {
		const { timeline, drag } = this, range = timeline.range;
		this.cancel();
		if (!drag)
			return;
		if (range)
			timeline.window.set(Math.min(...range), Math.max(...range));
		else if (!drag.moved && drag.kind === "pan")
			this.click(event);
	}

	cancel() {
		this.drag = this.timeline.range = null;
		this.timeline.canvas.style.cursor = "";
		this.timeline.invalidate();
	}

	click(event) {
		const { timeline } = this, hit = timeline.hit(event.offsetX, event.offsetY);
		const row = hit ? this.coroutine(hit) : -1;
		if (row >= 0)
			timeline.options.onOpen(row);
	}

	// On a coroutine's lane it is the coroutine, on a thread's lane the coroutine that ran.
	coroutine({ region, row, t, inGutter }) {
		if (region === this.timeline.coros)
			return row;
		const e = region.lanes.after(row, t);
		return inGutter || e === region.lanes.first[row] ? -1 : region.lanes.arg[e - 1];
	}

	hover(event) {
		const { timeline } = this, hit = timeline.hit(event.offsetX, event.offsetY);
		const row = hit && hit.region === timeline.coros ? hit.row : -1;
		timeline.canvas.style.cursor = hit && this.coroutine(hit) >= 0 ? "pointer" : "";
		if (row !== timeline.hovered) {
			timeline.hovered = row;
			timeline.invalidate();
		}
		if (!hit || hit.inGutter && hit.region === timeline.threads || event.offsetX > timeline.left + timeline.plot)
			return timeline.options.tip.hide();
		const { model, per } = timeline;
		const lines = hit.region === timeline.threads ? describeThread(model, hit.row, hit.t, per)
			: hit.inGutter ? describeLife(model, hit.row) : describeCoroutine(model, hit.row, hit.t, per);
		timeline.options.tip.show(lines, event.clientX, event.clientY);
	}

	leave() {
		this.timeline.hovered = -1;
		this.timeline.options.tip.hide();
		this.timeline.invalidate();
	}

	wheel(event) {
		const { timeline } = this, lines = event.deltaMode ? 16 : 1;
		if (event.ctrlKey || event.metaKey || event.offsetY < AXIS) {
			event.preventDefault();
			return timeline.window.zoom(wheelFactor(event), timeline.time(Math.max(timeline.left, event.offsetX)));
		}
		const sideways = event.shiftKey && !event.deltaX;
		const dx = (sideways ? event.deltaY : event.deltaX) * lines, dy = sideways ? 0 : event.deltaY * lines;
		const region = this.region(event.offsetY), { scroll } = region;
		region.scrollTo(scroll + dy);
		if (dx || region.scroll !== scroll) // else the page may scroll
			event.preventDefault();
		timeline.window.pan(dx * timeline.per);
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
