"use strict";
// coropage.js - the page of one coroutine: its name, how it spent its time, its own timeline and each of its events.

const EVENTS_AT_ONCE = 200, MOST_CHILDREN = 100, MOST_OTHERS = 6;

function coroutineLink(model, row) {
	const id = el("span", { class: "faint" }, " " + model.idText(row));
	return el("a", { href: "#/" + model.address(row) }, el("bdi", null, model.label(row)), id);
}

function lifeNotes(flags, events) {
	const notes = [];
	if (flags & DESTROYED)
		notes.push("It was destroyed while it was suspended.");
	if (flags & UNSEEN)
		notes.push("Its birth was not seen: this is its first event.");
	if (flags & OMITTED)
		notes.push(`Its ${events ? "older " : ""}events are too many for this page and were left out.`);
	if (flags & TAIL)
		notes.push("Something may have happened after its last event.");
	if (!(flags & (CERTAIN | OMITTED | TAIL)))
		notes.push("Some of its events are missing, or may be.");
	return notes.join(" ");
}

// Other coroutines and how often, the most frequent first.
function othersNode(model, times) {
	const others = [...times].sort((a, b) => b[1] - a[1]), left = others.length - MOST_OTHERS;
	const nodes = others.slice(0, MOST_OTHERS).flatMap(([row, n], i) => [
		i ? ", " : "", row < 0 ? "nobody known" : coroutineLink(model, row), ` (${count(n)} ×)`,
	]);
	return el("span", null, ...nodes, left > 0 ? ` and ${plural(left, "other")}` : "");
}

function factsNode(app, row) {
	const { model } = app, { coros } = model, parent = coros.parent[row], born = coros.born[row];
	const spawn = model.place(coros.spawn[row]), wall = wallClock(model.meta, born);
	const { by, woke } = model.wakes(row), list = el("dl", { class: "facts" });
	const fact = (title, ...nodes) => list.append(el("dt", null, title), el("dd", null, ...nodes));
	fact("coroutine", model.idText(row));
	fact("probe id", `${coros.probe[row]} (0x${coros.probe[row].toString(16)})`);
	fact("spawned at", spawn ? siteNode(app)(spawn) : "not known");
	fact("spawned by", parent >= 0 ? coroutineLink(model, parent) : "not known");
	fact("born", moment(born), wall ? el("span", { class: "faint" }, `  ${wall}`) : "");
	fact("died", coros.died[row] > model.span ? "alive at the end" : moment(coros.end[row]));
	if (hasClock())
		fact("lived", duration(coros.end[row] - born));
	if (by.size)
		fact("woken by", othersNode(model, by));
	if (woke.size)
		fact("woke", othersNode(model, woke));
	const notes = lifeNotes(coros.flags[row], coros.first[row + 1] - coros.first[row]);
	if (notes)
		fact("note", notes);
	return list;
}

function totalsNode(model, row) {
	if (!hasClock())
		return null;
	const total = model.coros.end[row] - model.coros.born[row], said = [];
	const bar = el("div", { class: "shares", role: "img" }), list = el("ul");
	for (const state of STACK) {
		const ns = model.lanes.totals[row * STATES + state], part = el("i", { class: PALETTE[state] });
		if (!ns)
			continue;
		part.style.flexGrow = ns / total;
		bar.append(part);
		said.push(`${STATE_NAMES[state]} ${duration(ns)} (${percent(ns / total)})`);
		list.append(el("li", null, el("i", { class: PALETTE[state] }), said.at(-1)));
	}
	bar.setAttribute("aria-label", said.join(", "));
	return el("div", { class: "totals" }, bar, list);
}

// An event as text: what happened; and where, by which coroutine or on which thread.
function eventCells(app, e) {
	const { model } = app, { events } = model, arg = events.arg[e];
	const who = row => row >= 0 && row < model.n ? coroutineLink(model, row) : "not known";
	switch (events.kind[e]) {
	case SUSPEND:
		return ["suspended", arg ? siteNode(app)(model.place(arg)) : ""];
	case RESUME:
		return ["resumed", el("bdi", null, "on " + model.threadLabel(arg))];
	case WAKE:
		return ["woken", el("span", null, "by ", arg < 0 ? "nobody known" : who(arg))];
	case LOST:
		return ["events are missing", arg ? count(arg) : "how many is not known"];
	}
	return arg === NO_AWAIT ? ["something else", ""] : ["awaits", who(arg)];
}

// The events in a window of time, some hundreds at a time: a coroutine may have millions.
class EventTable {
	constructor(app, row, window) {
		Object.assign(this, { app, row, window, from: 0, body: el("tbody"), where: el("span", { role: "status" }) });
		const step = (title, by) => el("button", { type: "button", onclick: () => this.fill(this.from + by) }, title);
		const head = (title, kind) => el("th", { scope: "col", class: kind }, title);
		const pager = el("div", { class: "pager" }, el("h2", null, "Events in the window above"),
			step("◀ earlier", -EVENTS_AT_ONCE), step("later ▶", EVENTS_AT_ONCE), this.where);
		const heads = [head("at"), head("what"), head("where, by whom, on what"), head("then"), hasClock() ? head("for", "number") : null];
		const table = el("table", null, el("thead", null, el("tr", null, ...heads)), this.body);
		this.node = el("section", { class: "table events" }, pager, table);
		window.listeners.push(() => this.later());
		this.fill(0);
	}
	later() { // not in each frame of a pan
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.fill(0), 120);
	}
	line(e) {
		const { events, lanes, coros } = this.app.model, state = lanes.state[e], at = events.time[e];
		const end = e + 1 < coros.first[this.row + 1] ? events.time[e + 1] : coros.end[this.row];
		return el("tr", null, el("td", { class: "number" }, moment(at)),
			...eventCells(this.app, e).map(cell => el("td", null, cell)),
			el("td", null, el("i", { class: PALETTE[state] }), STATE_NAMES[state]),
			hasClock() ? el("td", { class: "number" }, duration(Math.max(0, end - at))) : null);
	}
	fill(from) {
		const { row, window } = this, { lanes } = this.app.model;
		const first = lanes.after(row, window.from - 1), n = lanes.after(row, window.to) - first;
		this.from = Math.max(0, Math.min(from, Math.floor((n - 1) / EVENTS_AT_ONCE) * EVENTS_AT_ONCE));
		const shown = Math.min(n - this.from, EVENTS_AT_ONCE);
		this.body.replaceChildren(...Array.from({ length: shown }, (_, i) => this.line(first + this.from + i)));
		this.where.textContent = n ? `${count(this.from + 1)} to ${count(this.from + shown)} of ${count(n)}` : "none";
	}
}

function childrenNode(model, row) {
	const children = model.children(row, MOST_CHILDREN + 1);
	if (!children.length)
		return null;
	const items = children.slice(0, MOST_CHILDREN).map(child => el("li", null, coroutineLink(model, child)));
	if (children.length > MOST_CHILDREN)
		items.push(el("li", { class: "faint" }, "and more"));
	return el("section", null, el("h2", null, "Spawned"), el("ul", { class: "children" }, ...items));
}

function coroutinePage(app, row) {
	const { model, tip } = app, { coros } = model, window = new TimeWindow(model.span, model.beginning(row), model.ending(row));
	const canvas = el("canvas", { class: "alone", tabindex: "0", role: "img", "aria-label": "Timeline of this coroutine" });
	const options = { rowHeight: 44, tip, onOpen: () => {}, onStatus: () => {} }, own = el("div", { class: "own" }, canvas);
	const timeline = new Timeline(canvas, model, window, options);
	timeline.show(Int32Array.of(row));
	timeline.folds = new Folds(own, window);
	const name = model.meta.strings[coros.name[row]] || model.label(row);
	const node = el("article", { class: "coro" },
		el("p", { class: "crumbs" }, el("a", { href: "#/" + app.home() }, "◀ timeline")),
		el("h1", null, quoted(name, 200)), factsNode(app, row), totalsNode(model, row),
		own, childrenNode(model, row), new EventTable(app, row, window).node);
	return { node, timeline };
}
