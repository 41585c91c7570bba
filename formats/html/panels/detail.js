// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// detail.js - the panel below the timeline: the selected coroutine at the selected moment, or the selected range of time.

const TOP_SITES = 4, TOP_THREADS = 6;

class Detail {
	constructor(app, node) {
		Object.assign(this, { app, node, turn: 0 });
	}

	show() {
		const { timeline } = this.app;
		this.turn++;
		const nodes = timeline.range ? this.range(timeline.range) : timeline.cursor >= 0 ? this.coroutine(timeline.cursor, timeline.cursorTime) : null;
		this.node.hidden = !nodes;
		this.node.replaceChildren(...nodes || []);
	}

	// On a phone it may be below the screen. As little as that takes is scrolled, so that the row stays in sight.
	intoView() {
		const { bottom, height } = this.node.getBoundingClientRect(), over = Math.min(bottom - innerHeight, bottom - height - innerHeight / 3);
		if (over > 0)
			scrollBy({ top: over, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
	}

	button(title, onclick, key = "") {
		return el("button", { type: "button", onclick, title: key && `key: ${key}` }, title);
	}

	coroutine(row, t) {
		const { app } = this, { model, window } = app, { coros } = model;
		const at = Math.min(t ?? Math.min(window.to, coros.end[row]), coros.end[row]), links = [], act = [];
		const head = el("h2", null, el("a", { href: app.link("coro", model.id(row)) }, el("bdi", null, model.label(row))),
			el("span", { class: "faint" }, " " + model.idText(row)));
		act.push(this.button("its own page", () => app.open(row), "Enter"));
		act.push(this.button("fit its life", () => this.fit(coros.born[row], coros.end[row])));
		const pinned = app.option("pins").includes(model.id(row));
		act.push(this.button(pinned ? "unpin" : "pin", () => app.turnPin(row), "p"));
		act.push(this.button("who woke it", () => app.keys.cause(-1), "b"), this.button("whom it woke", () => app.keys.cause(1), "n"));
		if (coros.died[row] <= Math.min(model.span, t ?? window.to))
			links.push(el("li", null, coros.flags[row] & DESTROYED ? "destroyed " : "ended ", this.moment(row, coros.died[row]), ...lastPlace(app, row)));
		links.push(...heldLines(app, row).map(nodes => el("li", null, ...nodes)));
		const wake = model.wakeBefore(row, at + 1);
		if (wake)
			links.push(el("li", null, "last woken ", this.moment(row, wake.t), " by ",
				wakerNodeOf(app, wake.waker)));
		return [head, el("ul", { class: "facts-line" }, el("li", { class: "faint" }, "at ", moment(at)), ...stateNodes(app, row, at), ...links), el("p", { class: "acts" }, ...act)];
	}

	// To scale: in squeezed time it could end within a pixel.
	fit(from, to) {
		const { app } = this, { window } = app;
		if (window.folded)
			app.change({ even: true, t: undefined }, true);
		window.show(from, to);
	}

	moment(row, t) {
		return el("button", { type: "button", class: "link", onclick: () => this.app.goTo(row, t) }, moment(t));
	}

	// The sums come a little later.
	range([from, to]) {
		const { app, turn } = this, { timeline } = app, { list } = timeline.coros;
		const sums = el("div", { class: "sums", role: "status" }, "counting …");
		const breath = new Breath(share => sums.textContent = `counting: ${percent(share)}`);
		rangeSums(app.model, app.matches(), from, to, () => turn !== this.turn, breath).then(found => {
			if (found)
				sums.replaceChildren(...this.sumNodes(found));
		});
		const title = `${hasClock() ? duration(to - from) : plural(Math.round(to - from), "record")} selected, ${moment(from)} to ${moment(to)}`;
		return [el("h2", null, title), sums, el("p", { class: "acts" }, this.button("zoom to it", () => app.zoomToRange(), "Enter"),
			this.button("leave", () => app.setRange(null), "Esc"))];
	}

	sumNodes({ ns, sites, threads, wakes, alive }) {
		const { app } = this, { model } = app, total = ns.reduce((sum, part) => sum + part, 0);
		const states = STACK.filter(state => ns[state] > 0).map(state => el("li", null, el("i", { class: PALETTE[state] }),
			hasClock() ? `${STATE_NAMES[state]} ${duration(ns[state])} (${percent(ns[state] / total)})` : STATE_NAMES[state]));
		const most = (map, n) => [...map].sort((a, b) => b[1].ns - a[1].ns || b[1].times - a[1].times).slice(0, n);
		const length = ({ ns, times }) => hasClock() ? `${duration(ns)} in ${plural(times, "wait")}` : plural(times, "wait");
		const waits = most(sites, TOP_SITES).map(([place, sum]) => el("li", null, place ? siteLink(app, model.place(place)) : "an unknown site", " ",
			el("span", { class: "faint" }, length(sum))));
		const runs = most(threads, TOP_THREADS).map(([thread, sum]) => el("li", null, el("bdi", null, model.threadLabel(thread)), " ",
			el("span", { class: "faint" }, `${plural(sum.times, "run")}${hasClock() ? `, ${duration(sum.ns)}` : ""}`)));
		const list = (title, items, more) => el("div", null, el("h3", null, title), el("ul", null, ...items,
			more > 0 ? el("li", { class: "faint" }, `and ${count(more)} more`) : null));
		return [list(`${plural(alive, "coroutine")}, ${plural(wakes, "wake")}`, states, 0),
			list("waits, by site", waits, sites.size - TOP_SITES), list("runs, by thread", runs, threads.size - TOP_THREADS)];
	}
}

// Where a coroutine that has ended was suspended last.
function lastPlace(app, row) {
	const { model } = app, wait = lastEvent(model, row, model.span, SUSPEND), place = wait < 0 ? "" : model.place(model.events.arg[wait]);
	return place ? [", last suspended at ", siteLink(app, place)] : [];
}

// What a coroutine does at a moment, as items with links: "waits for db 3 at pool.cpp:40:get, held by conn 12".
function stateNodes(app, row, t) {
	const { model } = app, { events } = model, { state, from, to, e, open } = stretch(model, row, t);
	const items = [el("li", null, el("i", { class: PALETTE[state] }),
		`${STATE_NAMES[state]} ${lasting(from, to)}${open ? ", until the end" : ""}${sinceText(from)}`)];
	if (state === RUNNING && events.kind[e] === RESUME)
		items.push(el("li", null, "on ", el("bdi", null, model.threadLabel(events.arg[e]))));
	if (state !== SUSPENDED && state !== RUNNABLE)
		return items;
	const wait = model.waitAt(row, e);
	if (wait >= 0)
		items.push(el("li", null, ...waitNodes(app, row, wait, state === SUSPENDED ? "waits" : "waited")));
	return items;
}
