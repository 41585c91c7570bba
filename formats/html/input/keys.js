// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// keys.js - the keyboard. Letters work wherever nothing is being typed; the arrows only where they scroll nothing else.

const PAN_SHARE = 0.15, ZOOM_STEP = 0.7;
const RANGE_SHARE = 0.02; // of the window: a step of an end of the range

const TIME_KEYS = {
	a: window => window.pan(-PAN_SHARE), d: window => window.pan(PAN_SHARE),
	ArrowLeft: window => window.pan(-PAN_SHARE), ArrowRight: window => window.pan(PAN_SHARE),
	w: window => window.zoom(ZOOM_STEP), s: window => window.zoom(1 / ZOOM_STEP),
	"+": window => window.zoom(ZOOM_STEP), "=": window => window.zoom(ZOOM_STEP), "-": window => window.zoom(1 / ZOOM_STEP),
	u: window => window.undo(),
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
		const { app } = this, typing = event.target.matches("input:not([type=checkbox]), select, textarea");
		if (event.ctrlKey || event.metaKey || event.altKey || app.help.open)
			return false;
		if (event.key === "Escape")
			return app.escape();
		if (typing)
			return event.key === "Enter" && event.target === app.searchBox && app.enterSearch();
		if (event.key === "/")
			return app.focusSearch();
		if (event.key === "?")
			return app.help.showModal() || true;
		const timeline = app.activeTimeline();
		const free = event.target === document.body || event.target.tagName === "CANVAS";
		if (!timeline || event.key.length > 1 && !free)
			return false;
		const moves = Object.hasOwn(TIME_KEYS, event.key) && (event.key.length === 1 || !event.shiftKey); // + needs shift on many keyboards
		const act = moves ? TIME_KEYS[event.key] : null;
		if (act)
			return act(timeline.window), true;
		if (event.key === "f" && timeline !== app.timeline)
			return this.turnAlone(timeline.window), true;
		if (event.key === "Home" && timeline !== app.timeline)
			return timeline.window.all(), true;
		if (timeline !== app.timeline)
			return false;
		return this.view(event.key) || this.range(event) || this.rows(event.key, timeline);
	}

	// Shift and an arrow: moves one end of the range, which begins at the selected moment. e: the other end moves from now on.
	range({ key, shiftKey }) {
		const { app } = this, { timeline, window } = app, ends = timeline.range;
		if (key === "e" && ends) {
			this.first = !this.first;
			return app.say(`moving the ${this.first ? "beginning" : "end"} of the range`, true), true;
		}
		const by = !shiftKey ? 0 : key === "ArrowLeft" ? -RANGE_SHARE : key === "ArrowRight" ? RANGE_SHARE : 0;
		if (!by)
			return false;
		const start = timeline.cursorTime ?? (window.from + window.to) / 2, [from, to] = ends || [start, start];
		const still = this.first ? to : from, at = window.scale.at(this.first ? from : to), [begin, end] = window.at();
		const moved = Math.max(window.from, Math.min(window.to, window.scale.time(at + (end - begin) * by)));
		this.first = moved < still;
		app.setRange([still, moved].sort((a, b) => a - b));
		return app.say(`${duration(Math.abs(moved - still))} selected`), true;
	}

	// Selects the event before or after the selected moment of the selected coroutine.
	stepEvent(by) {
		const { app } = this, { timeline, model } = app, { cursor: row } = timeline, { lanes, events } = model;
		if (row < 0)
			return app.say("Select a coroutine first.", true);
		const t = timeline.cursorTime ?? (by > 0 ? timeline.window.from : timeline.window.to);
		const first = model.coros.first[row], e = by > 0 ? lanes.after(row, t) : lanes.after(row, t - 0.5) - 1;
		if (e < first || e >= model.coros.first[row + 1])
			return app.say(by > 0 ? "It has no later event." : "It has no earlier event.", true);
		app.goTo(row, events.time[e]);
	}

	turnAlone(window) { // on the page of a coroutine
		window.use(window.folded ? window.scales.even : window.scales.busy);
	}

	// What the timeline shows.
	view(key) {
		const { app } = this, acts = {
			f: () => app.turnScale(), Home: () => app.showAll(), n: () => this.cause(1), b: () => this.cause(-1),
			p: () => app.timeline.cursor >= 0 && app.turnPin(app.timeline.cursor), c: () => app.copyLink(),
			".": () => app.stepMatch(1), ",": () => app.stepMatch(-1), r: () => this.selectWindow(),
			j: () => this.stepEvent(-1), k: () => this.stepEvent(1),
		};
		return Object.hasOwn(acts, key) && (acts[key](), true);
	}

	rows(key, timeline) {
		const { coros } = timeline, { app } = this, page = Math.max(1, Math.floor(coros.height / coros.rowHeight) - 1);
		const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page };
		if (Object.hasOwn(steps, key))
			return this.moveCursor(timeline, steps[key]);
		if (key === "Enter")
			return app.zoomToRange() || this.enter(timeline);
		if (key === "[" || key === "]") {
			const at = ROW_HEIGHTS.indexOf(coros.rowHeight) + (key === "]" ? 1 : -1);
			return at in ROW_HEIGHTS && app.change({ rows: ROW_HEIGHTS[at] }), true;
		}
		return false;
	}

	// Opens the coroutine, or folds the group.
	enter(timeline) {
		const { app } = this, group = timeline.heading >= 0 && timeline.coros.list.group(timeline.heading);
		if (group)
			app.turnGroup(group);
		else if (timeline.cursor >= 0)
			app.open(timeline.cursor);
		return true;
	}

	// The first press goes to what is in sight. Headings of groups are steps of their own.
	moveCursor(timeline, by) {
		const { coros, window } = timeline, { app } = this;
		if (!coros.count)
			return true;
		const now = timeline.heading >= 0 ? timeline.heading : timeline.cursor < 0 ? -1 : coros.index(timeline.cursor);
		const index = now < 0 ? coros.first : Math.max(0, Math.min(coros.count - 1, now + by)), group = coros.list.group(index);
		coros.reveal(index);
		if (group) {
			app.select(-1);
			timeline.heading = index;
			return true;
		}
		const middle = timeline.cursorTime ?? (window.from + window.to) / 2, row = coros.rowAt(index, middle);
		app.select(row, timeline.cursorTime); // mirror.js says what it is
		return true;
	}

	// From when on a row without a selected moment is looked at: a coroutine of the finding from the last wake before its moment.
	sight(row) {
		const { timeline, model, finding } = this.app, { from } = this.app.moment || timeline.window;
		return finding >= 0 ? Math.min(from, model.ending(row)) : timeline.window.from;
	}

	// To the coroutine that woke the selected one last, or to the one that it woke next.
	cause(by) {
		const { app } = this, { timeline, model } = app, { cursor } = timeline;
		if (cursor < 0)
			return app.say("Select a coroutine first.", true);
		const t = timeline.cursorTime ?? timeline.window.to, since = timeline.cursorTime ?? this.sight(cursor);
		const wake = by < 0 ? model.wakeBefore(cursor, t) : model.wakeAfter(cursor, since);
		if (!wake)
			return app.say(by < 0 ? "Nobody woke it before, as far as the trace has it." : "It woke nobody after that.", true);
		if (by < 0 && wake.waker < 0)
			return app.say(`It was woken by ${model.outside}, at ${moment(wake.t)}.`, true);
		app.goTo(by < 0 ? wake.waker : wake.row, wake.t);
		app.say(`${by < 0 ? "woken by" : "woke"} ${model.label(timeline.cursor)} ${model.idText(timeline.cursor)} at ${moment(wake.t)}`);
	}

	// A range without a mouse: what is in view.
	selectWindow() {
		const { from, to } = this.app.window;
		this.app.setRange([from, to]);
	}
}
