"use strict";
// keys.js - the keyboard. Letters work wherever nothing is being typed; the arrows only where they scroll nothing else.

const PAN_SHARE = 0.15, ZOOM_STEP = 0.7;

const TIME_KEYS = {
	a: window => window.pan(-window.width * PAN_SHARE), d: window => window.pan(window.width * PAN_SHARE),
	ArrowLeft: window => window.pan(-window.width * PAN_SHARE), ArrowRight: window => window.pan(window.width * PAN_SHARE),
	w: window => window.zoom(ZOOM_STEP), s: window => window.zoom(1 / ZOOM_STEP),
	"+": window => window.zoom(ZOOM_STEP), "=": window => window.zoom(ZOOM_STEP), "-": window => window.zoom(1 / ZOOM_STEP),
	Home: window => window.all(),
};

class Keys {
	constructor(app) {
		this.app = app;
		document.addEventListener("keydown", event => {
			if (this.press(event))
				event.preventDefault();
		});
	}

	press(event) {
		const { app } = this, typing = event.target.matches("input, select, textarea");
		if (event.ctrlKey || event.metaKey || event.altKey || app.help.open)
			return false;
		if (event.key === "Escape")
			return app.escape();
		if (typing)
			return event.key === "Enter" && event.target === app.searchBox && app.focusLanes();
		if (event.key === "/")
			return app.focusSearch();
		if (event.key === "?")
			return app.help.showModal() || true;
		const timeline = app.activeTimeline();
		if (event.key === "f" && timeline)
			return timeline.folds.toggle(), true;
		const free = event.target === document.body || event.target.tagName === "CANVAS";
		if (!timeline || event.key.length > 1 && !free)
			return false;
		const act = Object.hasOwn(TIME_KEYS, event.key) ? TIME_KEYS[event.key] : null;
		if (act)
			return act(timeline.window), true;
		return timeline === app.timeline && this.rows(event.key, timeline);
	}

	rows(key, timeline) {
		const { coros } = timeline, page = Math.max(1, Math.floor(coros.height / coros.rowHeight) - 1);
		const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page };
		if (Object.hasOwn(steps, key))
			return this.moveCursor(timeline, steps[key]);
		if (key === "Enter" && timeline.cursor >= 0)
			return timeline.options.onOpen(timeline.cursor), true;
		if (key === "[" || key === "]") {
			const at = ROW_HEIGHTS.indexOf(coros.rowHeight) + (key === "]" ? 1 : -1);
			return at in ROW_HEIGHTS && this.app.setRowHeight(ROW_HEIGHTS[at]), true;
		}
		return false;
	}

	// The first press goes to what is in sight.
	moveCursor(timeline, by) {
		const { coros, window } = timeline, now = timeline.cursor < 0 ? -1 : coros.index(timeline.cursor);
		if (!coros.count)
			return true;
		const index = now < 0 ? coros.first : Math.max(0, Math.min(coros.count - 1, now + by));
		timeline.cursor = coros.row(index);
		coros.reveal(index);
		timeline.invalidate();
		const middle = (window.from + window.to) / 2;
		this.app.say(describeCoroutine(timeline.model, timeline.cursor, middle, timeline.per).join(", "));
		return true;
	}
}
