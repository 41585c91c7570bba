// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// mirror.js - what the canvas shows as elements, for screen readers, magnifiers and voice control.
//
// The canvas has the focus and owns a tree of the rows in sight: coroutines, and groups that are expanded or not. The selected one
// is its active descendant. Threads and pinned coroutines are lists, and the time in view and the selected range are a text. Only
// what is in sight is here, so the number of elements has a limit whatever the trace has.

const MIRROR_MS = 250; // at most four times a second: a screen reader follows every change
const PARTS = { member: "of the finding", holder: "holds what is waited for", waker: "woke or spawned one of the finding" };
const MOST_ROWS = 60, MOST_THREAD_ITEMS = 12, MOST_PIN_ITEMS = 8;

class Mirror {
	constructor(app, node) {
		Object.assign(this, { app, node, timer: 0, last: -Infinity, alive: new WeakMap() });
		this.view = byId("mirror-view");
		this.lists = { threads: byId("mirror-threads"), pins: byId("mirror-pins") };
		this.rows = byId("mirror-rows");
		node.addEventListener("click", event => this.click(event.target.closest("[data-index]")));
		app.window.listeners.push(() => this.later());
	}

	// Soon, and not too often.
	later() {
		this.timer ||= setTimeout(() => {
			this.timer = 0;
			this.last = performance.now();
			this.update();
		}, Math.max(0, this.last + MIRROR_MS - performance.now()));
	}

	// A screen reader can press a row, too.
	click(node) {
		if (!node)
			return;
		const { app } = this, { coros } = app.timeline, group = coros.list.group(Number(node.dataset.index));
		if (group)
			app.turnGroup(group);
		else
			app.select(Number(node.dataset.row));
	}

	update() {
		const { timeline } = this.app;
		if (byId("timeline").hidden || !timeline.axis)
			return;
		setText(this.view, this.viewText());
		this.fillList("threads", timeline.threads, MOST_THREAD_ITEMS, describeThread);
		this.fillList("pins", timeline.pins, MOST_PIN_ITEMS, describeCoroutine);
		this.fillRows();
	}

	// "In view: 160 ms to 162 ms of 1.869 s. Selected: 1.2 ms, from 160.1 ms to 161.3 ms."
	viewText() {
		const { window, timeline, model } = this.app, { range } = timeline;
		const step = timeline.axis.per(timeline.left + timeline.plot / 2), at = t => moment(t, step, window.to);
		const parts = [`In view: ${at(window.from)} to ${at(window.to)} of ${at(model.span)}.`];
		if (range)
			parts.push(`Selected: ${duration(range[1] - range[0])}, from ${at(range[0])} to ${at(range[1])}.`);
		return parts.join(" ");
	}

	// The moment that the rows are described at.
	now() {
		const { timeline, window } = this.app, t = timeline.cursorTime ?? (window.from + window.to) / 2;
		return [t, timeline.axis.per(timeline.x(t))];
	}

	fillList(name, region, most, describe) {
		const list = this.lists[name], { timeline, model } = this.app, now = this.now(), { first } = region;
		const n = Math.max(0, Math.min(most, region.last - first));
		list.hidden = !n;
		setAttribute(list, "aria-label", timeline.headingText(region));
		fit(list, n, () => el("li", { class: "row" }));
		for (let i = 0; i < n; i++)
			this.place(list.children[i], region, first + i, describe(model, region.row(first + i), ...now));
	}

	place(node, region, index, lines) {
		setText(node, lines.join(", "));
		node.style.top = region.y(index) + "px";
		node.style.height = region.rowHeight + "px";
	}

	// The rows in sight; if they are too many, those around the selected one.
	fillRows() {
		const { app, rows } = this, { timeline } = app, { coros } = timeline, selected = this.selected();
		setAttribute(rows, "aria-label", timeline.headingText(coros));
		const from = coros.last - coros.first <= MOST_ROWS || selected < 0 ? coros.first
			: Math.max(coros.first, Math.min(selected - (MOST_ROWS >> 1), coros.last - MOST_ROWS));
		const n = Math.min(MOST_ROWS, coros.last - from);
		fit(rows, Math.max(1, n), () => el("div", { class: "row", role: "treeitem" }));
		if (n <= 0)
			this.nothing(rows.firstChild);
		for (let i = 0; i < n; i++)
			this.row(rows.children[i], from + i, from + i === selected);
		const active = selected >= from && selected < from + n ? `row-${selected}` : null;
		setAttribute(timeline.canvas, "aria-activedescendant", active);
	}

	// The entry of the selected row or heading; -1: none.
	selected() {
		const { cursor, heading, coros } = this.app.timeline;
		return heading >= 0 ? heading : cursor >= 0 ? coros.index(cursor) : -1;
	}

	nothing(node) {
		for (const name of node.getAttributeNames())
			if (!["class", "role", "style"].includes(name))
				node.removeAttribute(name);
		setText(node, "no coroutine matches");
	}

	row(node, index, selected) {
		const { timeline } = this.app, { coros } = timeline, { list } = coros, group = list.group(index), lane = list.lane(index);
		const row = group ? -1 : lane.includes(timeline.cursor) ? timeline.cursor : coros.rowAt(index, this.now()[0]);
		const facts = {
			id: `row-${index}`, "data-index": index, "data-row": row, "aria-selected": selected, "aria-posinset": index + 1,
			"aria-setsize": coros.count, "aria-level": list.groups.length && !group ? 2 : 1, "aria-expanded": group ? group.open : null,
		};
		for (const [name, value] of Object.entries(facts))
			setAttribute(node, name, value);
		this.place(node, coros, index, group ? this.groupText(group) : this.coroutineText(row, lane.length));
	}

	// What it does, what it has to do with the finding, and whether it shares its lane.
	coroutineText(row, others) {
		const { timeline, model } = this.app, part = PARTS[timeline.partOf(row)];
		const [middle, per] = this.now(), { born, end } = model.coros, { from, to } = this.app.window;
		// One that does not live in the middle of the view is described at the nearest moment of its life that is in view.
		const t = timeline.cursorTime !== null || end[row] < from || born[row] > to ? middle : Math.max(born[row], Math.min(middle, lastMoment(model, row)));
		const lines = [...describeCoroutine(model, row, t, per), part, others > 1 && `one of ${count(others)} short lives`];
		return lines.filter(line => line);
	}

	groupText(group) { // counts all of its coroutines, so once
		if (!this.alive.has(group))
			this.alive.set(group, describeGroup(this.app.model, group));
		return this.alive.get(group);
	}
}

// The last moment at which a row has a state.
function lastMoment({ coros, span }, row) {
	return coros.died[row] > span ? coros.end[row] : Math.max(coros.born[row], coros.end[row] - 1);
}

// Only what is different: each change of an element is an event for a screen reader.
function setText(node, text) {
	if (node.textContent !== text)
		node.textContent = text;
}

function setAttribute(node, name, value) {
	if (value === null)
		node.removeAttribute(name);
	else if (node.getAttribute(name) !== String(value))
		node.setAttribute(name, value);
}

function fit(list, n, make) {
	while (list.children.length > n)
		list.lastChild.remove();
	while (list.children.length < n)
		list.append(make());
}
