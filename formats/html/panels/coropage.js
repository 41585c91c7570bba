// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// coropage.js - the page of one coroutine: its name, how it spent its time, its own timeline and each of its events.

const EVENTS_AT_ONCE = 200, EVENTS_AT_FIRST = 20, MOST_CHILDREN = 100, MOST_OTHERS = 6;

function coroutineLink(app, row) {
	const { model } = app, id = el("span", { class: "faint" }, " " + model.idText(row));
	return el("a", { href: app.link("coro", model.id(row)) }, el("bdi", null, model.label(row)), id);
}

// What woke a coroutine: the row of another one, or -1.
function wakerNodeOf(app, row) {
	return row >= 0 && row < app.model.n ? coroutineLink(app, row) : app.model.wakerText(row);
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
function othersNode(app, times) {
	const others = [...times].sort((a, b) => b[1] - a[1]), left = others.length - MOST_OTHERS;
	const nodes = others.slice(0, MOST_OTHERS).flatMap(([row, n], i) => [
		i ? ", " : "", wakerNodeOf(app, row), ` (${count(n)} ×)`,
	]);
	return el("span", null, ...nodes, left > 0 ? ` and ${plural(left, "other")}` : "");
}

// The wakers of a row, as a Map from row to count; -1: not known.
function wakersOf({ coros, events }, row) {
	const times = new Map();
	for (let e = coros.first[row]; e < coros.first[row + 1]; e++)
		if (events.kind[e] === WAKE)
			times.set(events.arg[e], (times.get(events.arg[e]) || 0) + 1);
	return times;
}

// The rows that a row woke. All events are looked at, so this takes a while.
async function wokenBy({ coros, events, n }, row, breath) {
	const times = new Map();
	for (let other = 0; other < n; other++) {
		for (let e = coros.first[other]; e < coros.first[other + 1]; e++)
			if (events.arg[e] === row && events.kind[e] === WAKE)
				times.set(other, (times.get(other) || 0) + 1);
		if (breath.due(coros.first[other + 1]))
			await breath.take(other / n);
	}
	return times;
}

function factsNode(app, row) {
	const { model } = app, { coros } = model, parent = coros.parent[row], born = coros.born[row];
	const spawn = model.place(coros.spawn[row]), wall = wallClock(model.meta, born);
	const list = el("dl", { class: "facts" });
	const fact = (title, ...nodes) => list.append(el("dt", null, title), el("dd", null, ...nodes));
	fact("coroutine", model.idText(row));
	fact("probe id", `${coros.probe[row]} (0x${coros.probe[row].toString(16)})`);
	if (model.meta.origins)
		fact("origin", quoted(model.originOf(row).name, 100));
	fact("spawned at", spawn ? siteLink(app, spawn) : "not known");
	fact("spawned by", parent < 0 && coros.flags[row] & UNSEEN ? "not known" : wakerNodeOf(app, parent));
	fact("born", timeLink(app, row, born), wall ? el("span", { class: "faint" }, `  ${wall}`) : "");
	fact("died", coros.died[row] > model.span ? "alive at the end" : timeLink(app, row, coros.end[row]));
	if (hasClock())
		fact("lived", duration(coros.end[row] - born));
	for (const nodes of heldLines(app, row))
		fact("at the end", ...nodes);
	const by = wakersOf(model, row), said = el("span", { class: "faint", role: "status" }, "counting …");
	const woke = [el("dt", null, "woke"), el("dd", null, said)];
	if (by.size)
		fact("woken by", othersNode(app, by));
	list.append(...woke);
	wokenBy(model, row, new Breath(share => said.textContent = `counting: ${percent(share)}`)).then(times => {
		woke.forEach(node => node.hidden = !times.size);
		woke[1].replaceChildren(othersNode(app, times));
	});
	const notes = lifeNotes(coros.flags[row], coros.first[row + 1] - coros.first[row]);
	if (notes)
		fact("note", notes);
	return list;
}

// Nodes with words between them: "a, b and c".
function joinedNodes(nodes, last) {
	return nodes.flatMap((node, i) => [i ? i === nodes.length - 1 ? ` ${last} ` : ", " : "", node]);
}

// What it waits for: "waits for db 3 at pool.cpp:40:get, held by conn 12".
function waitNodes(app, row, wait, verb = "waits") {
	const { model } = app, { things, awaited, inferred, place, holders } = waitOf(model, row, wait), nodes = [];
	const holder = other => other === row ? "itself" : coroutineLink(app, other);
	const what = things.map(thing => el("strong", null, quoted(thing, 80)));
	if (awaited !== null && !what.length)
		what.push(awaited < 0 ? "a coroutine that is not known" : coroutineLink(app, awaited));
	nodes.push(...what.length ? [`${verb} for `, ...joinedNodes(what, "or")] : [verb]);
	if (inferred && awaited !== null && !things.length)
		nodes.push(" (inferred)");
	if (place)
		nodes.push(" at ", siteLink(app, place));
	if (holders.length)
		nodes.push(", held by ", ...joinedNodes(holders.slice(0, MOST_OTHERS).map(holder), "and"));
	return nodes;
}

// "holds lock 'accounts', since its wait for it ended at 0.2 s; 11 wait for it: client 1 #2, ..."; what it holds when the trace ends.
function heldLines(app, row) {
	const { model } = app, alive = model.coros.died[row] > model.span;
	return heldBy(model, row).map(({ object, since, waiters }) => {
		const n = Math.max(object.waiters || 0, waiters.length), left = n - Math.min(waiters.length, MOST_OTHERS), nodes = [alive ? "holds " : "still holds ", el("strong", null, objectLink(app, object))];
		if (since !== null)
			nodes.push(", since its wait for it ended at ", timeLink(app, row, since));
		if (!n)
			return [...nodes, "; nothing waits for it"];
		const named = waiters.slice(0, MOST_OTHERS).map(other => coroutineLink(app, other));
		const some = left ? named.flatMap((node, i) => [i ? ", " : "", node]) : joinedNodes(named, "and");
		return [...nodes, `; ${count(n)} ${n === 1 ? "waits" : "wait"} for it`, ...some.length ? [": ", ...some, left > 0 ? ` and ${count(left)} more` : ""] : []];
	});
}

// What it does in its last state, as the middle of a sentence.
function lastNodes(app, row, { state, e }) {
	const { model } = app, { events } = model, wait = model.waitAt(row, e), by = events.kind[e] === WAKE ? events.arg[e] : -1;
	switch (state) {
	case SUSPENDED:
		return wait >= 0 ? waitNodes(app, row, wait) : ["waits"];
	case RUNNABLE:
		return ["has been woken", ...by >= 0 && by < model.n ? [" by ", coroutineLink(app, by)] : [], ", but not resumed"];
	case RUNNING:
		return ["runs", ...events.kind[e] === RESUME ? [" on ", el("bdi", null, model.threadLabel(events.arg[e]))] : []];
	case BORN:
		return ["has not been started"];
	}
	return ["may do anything: events are missing"];
}

// A sentence that says how it ends.
function endNode(app, row) {
	const { model } = app, { coros } = model, at = coros.end[row], alive = coros.died[row] > model.span;
	const last = stretch(model, row, at), time = t => timeLink(app, row, t);
	if (!alive && !(coros.flags[row] & DESTROYED))
		return el("p", { class: "ending" }, "It ended at ", time(at), ".");
	const since = hasClock() ? `, for ${duration(at - last.from)}, since ` : ", since ", nodes = lastNodes(app, row, last);
	if (!alive)
		return el("p", { class: "ending" }, "It was destroyed at ", time(at), ". Then it ", ...nodes, since, time(last.from), ".");
	const wake = last.state === SUSPENDED ? model.wakeBefore(row, last.from + 1) : null, waker = wake ? wake.waker : -1;
	const known = waker >= 0 && waker < model.n;
	const before = known ? [" Before that, ", coroutineLink(app, waker), " woke it at ", time(wake.t), "."] : [];
	return el("p", { class: "ending" }, "At the end it ", ...nodes, since, time(last.from), ".", ...before);
}

// A moment of a row, as a link to it in the timeline.
function timeLink(app, row, t, half = app.model.span / 200) {
	const around = Math.max(NARROWEST_NS, half), view = { row: app.model.id(row), at: t, t: [t - around, t + around] };
	return el("a", { href: app.link("timeline", null, view) }, moment(t));
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
		list.append(el("li", null, stateWord(state, el("i", { class: PALETTE[state] }), said.at(-1))));
	}
	bar.setAttribute("aria-label", said.join(", "));
	return el("div", { class: "totals" }, bar, list);
}

// An event as text: what happened; and where, by which coroutine or on which thread.
function eventCells(app, row, e) {
	const { model } = app, { events } = model, arg = events.arg[e];
	const who = other => other >= 0 && other < model.n ? coroutineLink(app, other) : "not known";
	switch (events.kind[e]) {
	case SUSPEND:
		return ["suspended", el("span", null, arg ? siteLink(app, model.place(arg)) : "", reasonText(model, e))];
	case RESUME:
		return ["resumed", el("bdi", null, "on " + model.threadLabel(arg))];
	case WAKE:
		return ["woken", el("span", null, "by ", wakerNodeOf(app, arg))];
	case LOST:
		return ["events are missing", arg ? count(arg) : "how many is not known"];
	case AWAIT:
		return ["will wait for", who(arg)];
	case WAIT:
		return ["will wait for", arg ? quoted(model.meta.reasons[arg], 80) : "something that is not known"];
	case HELD: // at the end of the wait
		return [goesOn(model, row, e) ? "what it waits for is held" : "what it waited for was held", el("span", null, "by ", who(arg))];
	}
	return ["something else", ""];
}

// Whether the wait that event e of a row belongs to goes on at the end of the trace.
function goesOn({ events, coros }, row, e) {
	return !events.kind.subarray(e, coros.first[row + 1]).some(kind => kind === RESUME || kind === SUSPEND || kind === WAKE);
}

function reasonText({ events, meta }, e) {
	return events.reason && events.reason[e] ? ` for ${clean(meta.reasons[events.reason[e]], 80)}` : "";
}

// The events in a window of time, some hundreds at a time: a coroutine may have millions.
class EventTable {
	constructor(app, row, window) {
		Object.assign(this, { app, row, window, from: 0, most: EVENTS_AT_FIRST });
		Object.assign(this, { body: el("tbody"), where: el("span", { role: "status" }) });
		const step = (title, by) => el("button", { type: "button", onclick: () => {
			this.most = EVENTS_AT_ONCE;
			this.fill(this.from + by);
		} }, title);
		const head = (title, kind) => el("th", { scope: "col", class: kind }, title);
		const pager = el("div", { class: "pager" }, el("h2", null, "Events in the window above"),
			step("◀◀ first", -Infinity), step("◀ earlier", -EVENTS_AT_ONCE), step("later ▶", EVENTS_AT_ONCE),
			step("last ▶▶", Infinity), this.where);
		const heads = [head("at"), head("what"), head("where, by whom, on what"), head("then"), hasClock() ? head("for", "number") : null];
		const table = el("table", null, el("thead", null, el("tr", null, ...heads)), this.body);
		this.node = el("section", { class: "table events" }, pager, table);
		window.listeners.push(() => this.later());
		this.fill(Infinity); // the last ones: they say how it ended
	}
	later() { // not in each frame of a pan
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.fill(Infinity), 120);
	}
	line(e) {
		const { events, lanes, coros } = this.app.model, state = lanes.state[e], at = events.time[e];
		const end = e + 1 < coros.first[this.row + 1] ? events.time[e + 1] : coros.end[this.row];
		return el("tr", null, el("td", { class: "number" }, timeLink(this.app, this.row, at, this.window.width / 20)),
			...eventCells(this.app, this.row, e).map(cell => el("td", null, cell)),
			el("td", { class: "then", title: MEANINGS[state] }, el("i", { class: PALETTE[state] }), STATE_NAMES[state]),
			hasClock() ? el("td", { class: "number" }, duration(Math.max(0, end - at))) : null);
	}
	// It has no event of its own.
	ending() {
		const { coros, span } = this.app.model, at = coros.died[this.row];
		const what = coros.flags[this.row] & DESTROYED ? "destroyed" : "ended";
		return at > span ? [] : [el("tr", null, el("td", { class: "number" }, timeLink(this.app, this.row, at, this.window.width / 20)),
			el("td", null, what), ...Array.from({ length: hasClock() ? 3 : 2 }, () => el("td")))];
	}
	fill(from) {
		const { row, window } = this, { lanes, coros } = this.app.model;
		const first = lanes.after(row, window.from - 1), n = lanes.after(row, window.to) - first;
		this.from = Math.max(0, Math.min(from, n - this.most));
		const shown = Math.min(n - this.from, this.most);
		const last = first + this.from + shown === coros.first[row + 1] && coros.died[row] <= window.to;
		this.body.replaceChildren(...Array.from({ length: shown }, (_, i) => this.line(first + this.from + i)), ...last ? this.ending() : []);
		this.where.textContent = n ? `${count(this.from + 1)} to ${count(this.from + shown)} of ${plural(n, "event")}` : "none";
	}
}

function childrenNode(app, row) {
	const { model } = app;
	const children = model.children(row, MOST_CHILDREN + 1);
	if (!children.length)
		return null;
	const items = children.slice(0, MOST_CHILDREN).map(child => el("li", null, coroutineLink(app, child)));
	if (children.length > MOST_CHILDREN)
		items.push(el("li", { class: "faint" }, "and more"));
	return el("section", null, el("h2", null, "Spawned"), el("ul", { class: "children" }, ...items));
}

function coroutinePage(app, row) {
	const { model } = app, { coros } = model, window = new TimeWindow(model.span, model.rowScale(row));
	const canvas = el("canvas", { class: "alone", tabindex: "0", role: "img", "aria-label": "Timeline of this coroutine" });
	const timeline = new Timeline(canvas, model, window, { rowHeight: 44 });
	timeline.show(new RowList(model.n, Int32Array.of(row)));
	timeline.gestures = new AloneGestures(timeline, app);
	const name = model.meta.strings[coros.name[row]] || model.label(row);
	const node = el("article", { class: "coro" },
		el("p", { class: "crumbs" }, el("a", { href: app.link("timeline", null, { row: model.id(row) }) }, "◀ show in the timeline")),
		el("h1", null, quoted(name, 200), el("span", { class: "faint" }, " " + model.idText(row))), endNode(app, row),
		factsNode(app, row),
		totalsNode(model, row), el("div", { class: "own" }, canvas), childrenNode(app, row), new EventTable(app, row, window).node);
	return { node, timeline };
}

// The timeline of one coroutine has no selection: a drag zooms.
class AloneGestures extends Gestures {
	click() {}
	doubleClick() {}
	up(event) {
		const { timeline, drag } = this, { range } = timeline;
		this.cancel(event);
		timeline.range = null;
		if (drag && drag.kind === "range" && drag.moved && range)
			timeline.window.set(...range);
	}
}
