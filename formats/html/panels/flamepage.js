// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// flamepage.js - the flame view: how long coroutines were suspended, runnable or running, by stack; or, with a baseline, how much
// longer than in another trace.

const MOST_OF_FRAME = 20, MOST_LISTED = 100, MOST_CHANGES = 10;

// The page is made once: its sums take a while. open() shows what the address says.
function flamePage(app) {
	const panel = app.flamePanel ||= new FlamePanel(app);
	panel.open();
	return { node: panel.node, flame: panel };
}

function amount(n) { // of time, or of times
	return hasClock() ? duration(n) : plural(n, "time");
}

function exactly(n) {
	return hasClock() ? `${amount(n)} (${count(n)} ns)` : amount(n);
}

function shareText(part) {
	return `${Number((part * 100).toPrecision(3))} %`;
}

function pointsText(n) {
	return n >= 0.01 || !n ? String(Number(n.toPrecision(3))) : "0.00";
}

function signed(n, text) {
	return (n > 0 ? "+" : n < 0 ? "−" : "±") + text(Math.abs(n));
}

class FlamePanel {
	constructor(app) {
		Object.assign(this, { app, tree: null, turn: 0, zoom: 0, cursor: 0, state: 0, absolute: false });
		this.canvas = el("canvas", { id: "flame", tabindex: "0", role: "img", "aria-describedby": "flame-about" });
		this.paint = new FlameCanvas(this.canvas);
		this.make();
		this.wire();
		this.build();
	}

	make() {
		const button = (title, label, act) => el("button", { type: "button", title, onclick: act }, label);
		const group = (label, nodes) => el("span", { class: "group", role: "group", "aria-label": label }, ...nodes);
		this.states = FLAME_STATES.map(name =>
			button(`${name}: ${MEANINGS[STATE_NAMES.indexOf(name)]}`, name, () => this.set({ state: name })));
		this.modes = [
			button("compare shares of all time", "shares", () => this.set({ absolute: undefined })),
			button("compare the times", "absolute", () => this.set({ absolute: true })),
		];
		this.box = el("input", { type: "search", placeholder: "search frames", "aria-label": "Search frames",
			autocomplete: "off", spellcheck: "false" });
		this.found = el("span", { role: "status", class: "faint" });
		this.out = button("zoom out ( Esc )", "zoom out", () => this.zoomOut());
		this.heading = el("h1");
		this.about = el("p", { id: "flame-about", class: "faint" });
		this.crumbs = el("nav", { class: "flame-path", "aria-label": "Path to the frame in view" });
		this.notes = el("div", { class: "faint" });
		this.chosen = el("section", { class: "flame-chosen", "aria-label": "Selected frame" });
		this.changed = el("section");
		this.list = el("ul", { class: "flame-list" });
		this.compare = group("Differences of", this.modes);
		const tools = el("div", { class: "flame-tools" }, group("Time in this state", this.states), this.compare, this.out,
			this.box, this.found);
		this.body = el("div", { hidden: true }, tools, this.crumbs, this.canvas, this.notes, this.changed, this.chosen,
			el("details", { class: "flame-mirror" }, el("summary", null, "The frames as a list"), this.list));
		this.wait = el("p", { role: "status" }, "adding up");
		this.node = el("article", { class: "flame" }, this.heading, this.about, this.wait, this.body);
	}

	wire() {
		const { canvas, app } = this, at = event => this.paint.frameAt(pointOf(event).x, pointOf(event).y);
		canvas.addEventListener("pointermove", event => this.hover(at(event), event));
		canvas.addEventListener("pointerleave", () => this.hover(-1));
		canvas.addEventListener("click", event => at(event) >= 0 && this.zoomTo(at(event)));
		canvas.addEventListener("keydown", event => {
			if (!event.ctrlKey && !event.metaKey && !event.altKey && this.press(event.key))
				event.preventDefault();
		});
		this.box.addEventListener("input", () => {
			clearTimeout(this.typing);
			this.typing = setTimeout(() => this.search(), 120);
		});
		canvas.addEventListener("focus", () => app.tip.hide());
	}

	async build() {
		const { app } = this;
		this.sums = new FlameSums(app.model);
		this.tree = await this.sums.build(new Breath(done => this.wait.textContent = `adding up: ${percent(done)}`));
		this.wait.hidden = true;
		this.body.hidden = false;
		this.update();
	}

	// --- the address

	// After a step back the focus stays where it was.
	open() {
		const focus = this.node.contains(document.activeElement) ? document.activeElement : null;
		this.update();
		if (focus)
			setTimeout(() => focus.focus({ preventScroll: true }));
	}

	set(options, push = false) {
		if (push)
			history.pushState(null, "", location.hash);
		this.app.note(options);
		this.app.showTabs();
		this.update();
	}

	update() {
		const { view } = this.app, { tree } = this, state = Math.max(0, FLAME_STATES.indexOf(view.state ?? "suspended"));
		this.heading.textContent = `Time ${FLAME_STATES[state]}, by stack`;
		if (!hasClock())
			this.heading.textContent = `How often ${FLAME_STATES[state]}, by stack`;
		if (!tree)
			return;
		const zoom = view.frame === undefined ? 0 : tree.find(view.frame);
		Object.assign(this, { state, absolute: Boolean(view.absolute), zoom: Math.max(0, zoom) });
		if (!tree.isBelow(this.cursor, this.zoom))
			this.cursor = this.zoom;
		this.box.value = view.q || "";
		this.missing = zoom < 0;
		this.show();
	}

	show() {
		const { tree, state, absolute, zoom } = this, q = this.box.value.trim();
		this.states.forEach((node, i) => node.setAttribute("aria-pressed", String(i === state)));
		this.modes.forEach((node, i) => node.setAttribute("aria-pressed", String(Boolean(i) === absolute)));
		this.compare.hidden = !tree.base;
		this.out.disabled = !zoom;
		const { hits, frames, value } = tree.search(q, state), whole = tree.value(0, state);
		this.found.textContent = q ? `${plural(frames, "frame")}: ${this.ofAll(value)}` : "";
		this.hits = q ? hits : null;
		this.about.textContent = this.aboutText(whole);
		this.canvas.setAttribute("aria-label", `Flame graph of ${amount(whole)} ${FLAME_STATES[state]}. `
			+ "Up goes to the frame above, down to the widest below, left and right to those beside it. Enter zooms. "
			+ "The list below has the same frames.");
		this.notes.replaceChildren(...this.noteTexts().map(text => el("p", null, text)));
		this.crumbs.hidden = !zoom;
		this.crumbs.replaceChildren(...tree.path(zoom).map(frame => this.crumb(frame)));
		this.changed.replaceChildren(...tree.base ? [this.changesTable()] : []);
		this.list.replaceChildren(this.listed());
		this.draw();
		this.describe();
	}

	draw() {
		const { tree, zoom, cursor, state, absolute, hits } = this;
		if (tree)
			this.paint.show(tree, { zoom, cursor, state, absolute, hits });
	}

	// --- words

	aboutText(whole) {
		const what = hasClock() ? "The width is time" : "The trace has no clock: the width is how often";
		const sum = `${amount(whole)} in all, of all coroutines.`;
		if (!whole)
			return `No coroutine was ${FLAME_STATES[this.state]}, as far as the trace shows.`;
		return `${sum} ${what}. From the top: where the ancestors of a coroutine were spawned, where it was spawned, `
			+ `and where it ${this.state ? "suspended last" : "is suspended"}.`;
	}

	// A time, and its share of all.
	ofAll(now) {
		return `${amount(now)}, ${shareText(partOf(now, this.tree.value(0, this.state)))} of all`;
	}

	noteTexts() {
		const { tree, app } = this, { meta } = app.model, texts = [], unknown = tree.unknown(0);
		if (this.missing)
			texts.push("The link names a frame that this trace does not have.");
		if (unknown)
			texts.push(`Hatched: ${amount(unknown)} of unknown time: events are missing. It counts for each state.`);
		if (meta.report.since_ns)
			texts.push("The page begins later than the trace: the ancestors of older coroutines and what they awaited "
				+ "are not always known here. ctp-report --folded knows them.");
		if (meta.omitted_events)
			texts.push("Events that are left out of this page do not count here. ctp-report --folded counts them.");
		return [...texts, ...this.baselineTexts(meta.baseline)];
	}
	baselineTexts(baseline) {
		if (!baseline)
			return [];
		const { state, tree } = this, name = clean(baseline.source, 100), { left_out: left } = baseline;
		if (!tree.base)
			return [`The baseline ${name} cannot be compared: only one of the two traces has a clock.`];
		const texts = [`Compared with ${name}: ${clean(baseline.title, 100)}. Red (+): more than there; blue (−): less. `
			+ "A frame is as wide as the mean of both."];
		if (left)
			texts.push(`Not on this page: the ${plural(left, "smallest stack")} of the baseline, with `
				+ `${amount(baseline.left_out_ns[state])}.`);
		return texts;
	}

	// What is known of a frame, a line each: its time, that of the frame alone, and the difference to the baseline.
	lines(frame) {
		const { tree, state, zoom } = this, now = tree.value(frame, state), own = tree.ownValue(frame, state);
		const lines = [`${exactly(now)}, ${shareText(partOf(now, tree.value(0, state)))} of all`];
		if (zoom && frame !== zoom && tree.isBelow(frame, zoom))
			lines.push(`${shareText(partOf(now, tree.value(zoom, state)))} of the frame that is zoomed in on`);
		if (own && own !== now)
			lines.push(`${amount(own)} of this in the frame itself`);
		if (!tree.base)
			return lines;
		const before = tree.baseValue(frame, state), part = shareText(partOf(before, tree.wholeBase(state)));
		return [...lines, `baseline: ${exactly(before)}, ${part} of all`, this.changeText(now, before)];
	}
	changeText(now, before) {
		const { tree, state } = this, points = 100 * tree.change(now, before, state, false);
		return `change: ${signed(now - before, amount)}, ${signed(points, pointsText)} percentage points of the share`;
	}

	crumb(frame) {
		const link = this.frameLink(frame, "link", 44);
		if (frame === this.zoom)
			link.setAttribute("aria-current", "true");
		return el("span", null, frame ? " › " : "", link);
	}
	frameLink(frame, kind = "link site", most = 70) {
		const text = this.tree.text(frame), attrs = { type: "button", class: kind, title: clean(text, 300) };
		return el("button", { ...attrs, onclick: () => this.zoomTo(frame) }, el("bdi", null, shorten(text, most)));
	}

	// --- the frames

	hover(frame, event) {
		this.paint.point(frame);
		this.canvas.style.cursor = frame >= 0 ? "pointer" : "default";
		if (frame >= 0)
			this.app.tip.show([clean(this.tree.text(frame), 300), ...this.lines(frame)], event.clientX, event.clientY);
		else
			this.app.tip.hide();
	}

	zoomTo(frame) {
		this.cursor = frame;
		if (frame === this.zoom)
			this.show();
		else
			this.set({ frame: frame ? this.tree.name(frame) : undefined }, true);
	}

	// To the nearest frame above that is wider.
	zoomOut() {
		const { tree, state, absolute } = this, now = tree.width(this.zoom, state, absolute);
		let frame = this.zoom;
		do
			frame = tree.parent[frame];
		while (frame && tree.width(frame, state, absolute) <= now);
		this.zoomTo(frame);
	}

	escape() {
		if (document.activeElement === this.box && this.box.value) {
			this.box.value = "";
			this.search();
		} else if (this.zoom)
			this.zoomOut();
		else
			return false;
		return true;
	}

	focusSearch() {
		setTimeout(() => this.box.select());
		return true;
	}

	search() {
		this.set({ q: this.box.value || undefined });
	}

	press(key) {
		const { tree, cursor, state, absolute } = this, beside = tree.ordered(tree.parent[cursor], state, absolute);
		const step = by => beside[beside.indexOf(cursor) + by] ?? cursor;
		const moves = {
			ArrowUp: () => tree.parent[cursor], ArrowDown: () => tree.ordered(cursor, state, absolute)[0] ?? cursor,
			ArrowLeft: () => cursor && step(-1), ArrowRight: () => cursor && step(1), Home: () => 0,
		};
		if (key === "Enter")
			this.zoomTo(cursor);
		else if (Object.hasOwn(moves, key))
			this.select(moves[key]());
		else
			return false;
		return true;
	}

	select(frame) {
		this.cursor = frame;
		this.app.say([clean(this.tree.text(frame), 200), ...this.lines(frame)].join(", "));
		this.draw();
		this.describe();
	}

	// --- below the graph

	// The selected frame, and its coroutines once they are counted.
	async describe() {
		const { app, tree, cursor, state } = this, turn = ++this.turn, site = tree.site[cursor], rows = el("div");
		const look = () => app.lookFor(tree.texts[site]);
		const find = el("button", { type: "button", onclick: look }, "Show these in the timeline");
		this.chosen.replaceChildren(el("h2", null, cursor ? quoted(tree.text(cursor), 200) : "All frames"),
			el("ul", null, ...this.lines(cursor).map(line => el("li", null, line))),
			site > 0 ? el("p", { class: "acts" }, find) : "", rows);
		await new Promise(done => setTimeout(done, 60)); // not for each frame that the arrows pass
		if (turn !== this.turn)
			return;
		const most = await this.sums.rowsOf(cursor, state, MOST_OF_FRAME, new Breath(() => {}), () => turn !== this.turn);
		if (most)
			rows.replaceChildren(...this.rowNodes(most));
	}
	rowNodes({ rows, count: n }) {
		const { app } = this, { model } = app;
		const item = ({ row, value }) => {
			const href = app.link("timeline", null, { row: model.id(row), q: undefined });
			const number = el("span", { class: "faint" }, " " + model.idText(row));
			const link = el("a", { href }, el("bdi", null, model.label(row)), number);
			return el("li", null, link, el("span", { class: "number" }, amount(value)));
		};
		const title = n > rows.length ? `The ${rows.length} coroutines with most, of ${count(n)}` : plural(n, "coroutine");
		return [el("h3", null, title), el("ol", { class: "flame-rows" }, ...rows.map(item))];
	}

	changesTable() {
		const { tree, state, absolute } = this, changes = tree.changes(state, absolute, MOST_CHANGES);
		if (!changes.length)
			return el("p", null, `The baseline has the same ${absolute ? "times" : "shares"}.`);
		const number = text => el("td", { class: "number" }, text);
		const head = (title, kind) => el("th", { scope: "col", class: kind }, title);
		const said = change => absolute ? signed(change, amount) : signed(change * 100, pointsText);
		const line = ({ frame, now, before, change }) => el("tr", { class: change > 0 ? "gain" : "loss" },
			el("td", null, this.frameLink(frame), el("div", { class: "faint" }, this.ways(frame))), number(amount(now)),
			number(amount(before)), el("td", { class: "number" }, el("i"), said(change)));
		const heads = [head("stack"), ...["this trace", "baseline", "change"].map(title => head(title, "number"))];
		const caption = `The largest changes of single stacks${absolute ? "" : ", in percentage points of the share"}`;
		return el("table", { class: "flame-changes" }, el("caption", null, caption),
			el("thead", null, el("tr", null, ...heads)),
			el("tbody", null, ...changes.map(line)));
	}
	ways(frame) { // the last frames above
		const above = this.tree.path(frame).slice(1, -1);
		return `${above.length > 2 ? "… › " : ""}${above.slice(-2).map(at => shorten(this.tree.text(at), 40)).join(" › ")}`;
	}

	// The widest frames in view as nested lists.
	listed() {
		const { tree, state, absolute, zoom } = this, lists = new Map();
		for (const frame of tree.largest(zoom, MOST_LISTED, state, absolute)) {
			const list = el("ul"), above = lists.get(tree.parent[frame]);
			const item = el("li", null, this.frameLink(frame), " " + this.ofAll(tree.value(frame, state)), list);
			lists.set(frame, list);
			if (frame === zoom)
				lists.set("item", item);
			else
				above.append(item);
		}
		for (const list of lists.values())
			if (list.tagName === "UL" && !list.children.length)
				list.remove();
		return lists.get("item");
	}
}
