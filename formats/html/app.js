// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// app.js - the page. view has what is shown, as in the address (address.js); everything else follows from it in show().

const byId = id => document.getElementById(id);
const FEW_TO_LIST = 2000; // so many rows can be listed anew in each frame of a pan
const SLOW_ROWS = 100000; // from here on they are arranged in parts
const MANY_ROWS = 300; // from here on rows are in groups, and those without life in view are left out, unless asked otherwise

class App {
	constructor(model) {
		this.model = model;
		this.many = model.n > MANY_ROWS;
		this.defaults = {
			q: "", order: "findings", group: model.meta.origins ? "origin" : this.many ? "spawn" : "none", rows: 20, pins: [], turned: [], hide: [], even: false,
			alive: this.many,
		};
		this.view = { page: "timeline", arg: null };
		this.window = new TimeWindow(model.span, model.busy);
		this.tip = new Tip(byId("tip"));
		this.help = byId("help");
		this.searchBox = byId("search");
		this.finding = -1;
		this.moment = null; // findingMoment() of it
		this.findingNodes = [];
		this.alone = null; // the timeline of a coroutine's own page
		this.timeline = new Timeline(byId("lanes"), model, this.window, {
			threads: true, gutter: true, onStatus: text => this.drawn(text),
		});
		this.overview = new Overview(byId("overview"), model, this.window);
		this.gestures = new Gestures(this.timeline, this);
		this.keys = new Keys(this);
		this.detail = new Detail(this, byId("detail"));
		this.mirror = new Mirror(this, byId("mirror"));
		this.shown = {}; // what show() last made of the view, to make nothing twice
		this.searched = { q: "", found: null }; // what a search has found
		this.sorts = new WeakMap(); // of a list of rows: the same rows in other orders
		this.arranging = 0;
		this.slow = SLOW_ROWS;
		wireControls(this);
	}

	// After each frame of the timeline.
	drawn(status) {
		byId("status").textContent = byId("status").title = status;
		this.mirror.later();
	}

	// At once: a print does not wait for the next frame.
	redraw() {
		Colours.forget();
		this.overview.draw();
		this.timeline.draw();
		if (this.alone)
			this.alone.draw();
		if (this.flame)
			this.flame.draw();
	}

	option(key) {
		return this.view[key] ?? this.defaults[key];
	}

	// --- the address

	// Other options of this view; push: as a step of the history.
	change(options, push = false) {
		this.settle();
		const next = { ...this.view, ...options };
		for (const key of Object.keys(this.defaults))
			if (String(next[key]) === String(this.defaults[key]))
				delete next[key];
		this.go(next, push);
	}

	// The same for what takes long if there are a million rows.
	slowly(options, push = false) {
		return this.arrange({ ...this.view, ...options }, () => this.change(options, push));
	}

	// Makes what a view needs of all rows in parts, and says how far it is: what the search finds, the order, the groups. Then calls act,
	// unless another view is shown first. Few rows are arranged by show(), at once.
	async arrange(view, act) {
		const turn = ++this.arranging, { model } = this, of = key => view[key] ?? this.defaults[key];
		if (model.n < this.slow)
			return act();
		const current = () => turn === this.arranging;
		const breath = new Breath(share => {
			if (current())
				byId("status").textContent = `arranging ${count(model.n)} rows: ${percent(share)}`;
		});
		const q = of("q").trim(), order = of("order"), key = model.orderKey(order);
		if (q !== this.searched.q)
			this.searched = { q, found: q ? Int32Array.from(await inParts(model.searching(q), breath)) : null };
		const rows = this.searched.found || this.everyRow();
		if (key && !(this.sorts.get(rows) || {})[order])
			this.sorts.set(rows, { ...this.sorts.get(rows), [order]: await sortRows(rows, key, breath) });
		if (Object.hasOwn(GROUPINGS, of("group")))
			await inParts(groupingIn(model, of("group")), breath);
		if (current())
			act();
	}

	go(view, push = true) {
		this.settle();
		const hash = writeAddress(view);
		if (push && hash !== location.hash)
			history.pushState(null, "", hash);
		else
			history.replaceState(null, "", hash);
		this.show(view);
	}

	// The options that other pages keep.
	kept() {
		const { q, order, group, rows, pins, turned, hide, even, alive, section, range } = this.view;
		return { q, order, group, rows, pins, turned, hide, even, alive, section, range };
	}

	link(page, arg = null, options = {}) {
		return writeAddress({ page, arg, ...this.kept(), ...options });
	}

	route() {
		clearTimeout(this.moving); // it belongs to the view before
		this.moving = 0;
		const view = readAddress(location.hash), { meta } = this.model, first = meta.parts[meta.shown];
		const section = view && (view.section ?? (first ? first.section + 1 : 1));
		if (view && section !== meta.section + 1 && this.model.hasSection(section))
			return location.reload();
		if (!view || !this.knows(view))
			return this.unknown(location.hash);
		if (view.trace !== undefined && view.trace !== this.traceName())
			return this.unknown(location.hash, "The link is to the page of another trace.");
		const there = view.page ? view : this.opening();
		return this.arrange(there, () => this.show(there));
	}

	// Whether the page has what an address names.
	knows({ page, arg, section }) {
		if (section !== undefined && !this.model.hasSection(section))
			return false;
		if (page === "coro")
			return this.model.rowAt(arg) >= 0;
		if (page === "finding")
			return /^\d+$/.test(arg) && Boolean(this.model.leads[arg]);
		return page === "" || Object.hasOwn(PAGES, page) && arg === null;
	}

	// Which trace it is: a link to the page of another one would show something else here.
	traceName() {
		const { start_wall_ns: start, start_ns: since, pid } = this.model.section;
		return shortHash([start, since, pid].join());
	}

	unknown(hash, why = "The link may be to the page of another trace.") {
		const text = `This page has nothing at ${clean(hash, 100)}. ${why}`;
		this.showPage("Not found", { node: el("div", { class: "unknown-link" }, el("h1", null, "Not on this page"),
			el("p", null, text), el("p", null, el("a", { href: this.link("timeline") }, "Show the timeline"))) });
	}

	// What the page opens on: the most severe finding, or everything.
	opening() {
		return this.model.leads.length ? { page: "finding", arg: "0" } : { page: "timeline", arg: null };
	}

	// --- what is shown

	show(view) {
		this.arranging++;
		const row = view.page === "coro" ? this.model.rowAt(view.arg) : -1, was = this.view;
		if (this.isTimeline(was) && !this.isTimeline(view))
			this.left = was;
		this.view = view;
		this.tip.hide();
		byId("live").classList.remove("seen");
		this.alone = this.flame = null;
		this.searchBox.value = this.option("q");
		if (row >= 0)
			this.showPage(this.model.label(row), coroutinePage(this, row));
		else if (view.page === "flame")
			this.showPage(PAGES.flame, flamePage(this));
		else if (Object.hasOwn(TABLES, view.page))
			this.showPage(TABLES[view.page], tablePage(this, view.page));
		else
			this.showTimeline(was);
		this.showTabs();
		this.refocus();
	}

	showTabs() {
		const { page } = this.view, tab = page === "finding" || page === "" ? "timeline" : page;
		for (const link of document.querySelectorAll("#tabs a")) {
			link.href = link.dataset.page === "timeline" ? writeAddress(this.home()) : this.link(link.dataset.page);
			if (link.dataset.page === tab)
				link.setAttribute("aria-current", "page");
			else
				link.removeAttribute("aria-current");
		}
	}

	setTitle(what) {
		document.title = [what, clean(this.model.meta.title, 100), "coroutine trace"].filter(part => part).join(" – ");
	}

	// If the element with the focus is gone, the view gets the focus, for keys and screen readers.
	refocus() {
		const at = document.activeElement;
		if (this.routed && (!at || at === document.body || !at.checkVisibility()))
			this.focusView({ preventScroll: true });
		this.routed = true;
	}

	focusView(options) {
		(byId("timeline").hidden ? byId("view") : byId("lanes")).focus(options);
	}

	showPage(title, { node, timeline = null, flame = null }) {
		this.alone = timeline;
		this.flame = flame;
		byId("timeline").hidden = true;
		byId("view").hidden = false;
		byId("view").replaceChildren(node);
		byId("view").scrollTop = 0;
		this.setTitle(title);
	}

	showTimeline(was) {
		const { view, timeline, window, model } = this, finding = view.page === "finding" ? Number(view.arg) : -1;
		byId("view").hidden = true;
		byId("view").replaceChildren();
		byId("timeline").hidden = false;
		const other = finding !== this.finding;
		if (other)
			this.choose(finding);
		showControls(this);
		const { scales } = window, scale = this.option("even") ? scales.even : scales.moment || scales.busy;
		if (window.scale !== scale)
			this.quietly(() => window.use(scale));
		if (view.t)
			this.quietly(() => window.set(...view.t));
		else if (finding >= 0 || was !== view)
			this.quietly(() => window.all());
		timeline.hidden = new Set(this.option("hide").map(name => name === "wake" || name === "await" ? name : PALETTE.indexOf(name)));
		timeline.cursor = view.row ? model.rowAt(view.row) : -1;
		timeline.cursorTime = view.at ?? null;
		timeline.range = view.range || null;
		const pins = this.option("pins"), unknown = [...pins, ...view.row ? [view.row] : []].filter(id => model.rowAt(id) < 0);
		timeline.pin(pins.map(id => model.rowAt(id)).filter(row => row >= 0));
		if (timeline.coros.rowHeight !== this.option("rows"))
			timeline.setRowHeight(this.option("rows"));
		this.list();
		timeline.coros.seekLife(window.from, window.to);
		if (unknown.length)
			this.say(`Not on this page: coroutine ${clean(unknown.join(", "), 60)}.`, true);
		if (timeline.cursor >= 0 && view.row !== was.row)
			this.reveal(timeline.cursor);
		this.detail.show();
		this.setTitle(finding >= 0 ? clean(model.leads[finding].title, 120) : this.option("q") && `“${clean(this.option("q"), 60)}”`);
		timeline.invalidate();
		this.overview.invalidate();
	}

	// Shows the finding's coroutines and its moment.
	choose(index) {
		const { model, timeline } = this, finding = model.leads[index], offset = model.reportOffset;
		this.finding = index;
		this.moment = finding ? findingMoment(model, finding) : null;
		timeline.moment = this.moment;
		timeline.mark = finding ? [finding.from_ns + offset, this.moment.open ? model.endOf(finding) : finding.to_ns + offset] : null;
		this.overview.mark = finding ? timeline.mark[0] : null;
		this.window.scales.moment = finding ? momentScale(this.window.scales.busy, this.moment, model.whole, timeline.mark[1]) : null;
		this.findingNodes.forEach((node, i) => choose(node, i === index));
		if (finding && this.routed)
			byId("timeline").scrollIntoView({ block: "nearest" });
	}

	leaveFinding() {
		this.go({ ...this.view, page: "timeline", arg: null, t: this.before });
	}

	// Of one that is shown already: its moment again.
	showFinding(index) {
		this.settle();
		if (this.finding < 0)
			this.before = this.view.t; // where the timeline was
		this.go({ ...this.kept(), page: "finding", arg: String(index) });
	}

	showAll() {
		this.window.remember();
		this.window.all();
	}

	turnScale() {
		if (!this.window.foldable)
			return;
		const { window } = this, whole = window.from <= window.low && window.to >= window.high;
		this.change({ even: !this.option("even"), t: whole ? undefined : [window.from, window.to] }, true);
		this.overview.count(this.overview.rows);
	}

	turnState(node) {
		if (!node)
			return;
		const hide = this.option("hide"), { state } = node.dataset;
		this.change({ hide: hide.includes(state) ? hide.filter(name => name !== state) : [...hide, state] });
	}

	// The window has been moved: some time later the address says so.
	moved() {
		if (this.quiet)
			return;
		const few = this.model.n <= FEW_TO_LIST;
		if (few)
			this.relist();
		clearTimeout(this.moving);
		this.moving = setTimeout(() => {
			if (!few)
				this.relist();
			this.settle();
		}, 200);
	}

	// Writes where the window is into the address, if it has been moved.
	settle() {
		if (!this.moving)
			return;
		clearTimeout(this.moving);
		this.moving = 0;
		if (!byId("timeline").hidden)
			this.note({ t: [this.window.from, this.window.to] }, this.window.stepped);
		this.window.stepped = false;
	}

	// The rows that live in the window have changed.
	relist() {
		if (this.option("alive"))
			this.list(true);
		this.timeline.coros.seekLife(this.window.from, this.window.to);
	}

	// Options that are shown already: only the address changes.
	note(options, push = false) {
		this.view = { ...this.view, ...options };
		history[push ? "pushState" : "replaceState"](null, "", writeAddress(this.view));
	}

	quietly(move) {
		this.quiet = true;
		move();
		this.quiet = false;
	}

	// --- the rows

	search(text) {
		if (text.startsWith("#/"))
			return; // a fragment, to be opened with Enter
		this.slowly({ q: text }, !this.option("q") && text.trim() !== "");
	}

	// The address of the timeline with this search. A finding that is shown stays.
	searchLink(text) {
		const { page, arg } = this.view;
		return page === "finding" ? this.link(page, arg, { q: text }) : this.link("timeline", null, { q: text });
	}

	everyRow() {
		return this.all ||= everyNumber(this.model.n);
	}

	// The rows that match the search: null: all.
	matches() {
		const q = this.option("q").trim();
		if (this.shown.q !== q) {
			this.shown.q = q;
			if (this.searched.q !== q)
				this.searched = { q, found: q ? Int32Array.from(this.model.search(q)) : null };
			this.shown.found = this.searched.found;
			this.overview.count(this.shown.found);
			this.atMatch = -1;
		}
		const found = this.shown.found;
		byId("matches").textContent = found ? matchesText(found.length, this.model.n, this.atMatch) : "";
		byId("next-match").disabled = byId("previous-match").disabled = !found || !found.length;
		return found;
	}

	// Goes to another coroutine that the search has found.
	stepMatch(by) {
		const found = this.shown.found && this.ordered(); // in the order in which they are shown
		if (!found || !found.length)
			return;
		this.atMatch = this.atMatch < 0 ? (by > 0 ? 0 : found.length - 1) : (this.atMatch + by + found.length) % found.length;
		this.select(found[this.atMatch]);
		this.matches();
	}

	ordered() {
		const { model, moment } = this, order = this.option("order"), found = this.matches();
		const { shown } = this;
		if (shown.order === order && shown.moment === moment && shown.rowsOf === found)
			return shown.rows;
		let rows = found;
		if (order === "findings" && !moment && model.leads.length)
			rows = model.rowsFirst(model.ofFindings(), rows || this.everyRow());
		else if (model.orderKey(order))
			rows = this.sorted(rows || this.everyRow(), order);
		if (moment && order === "findings")
			rows = aliveFirst(rows || this.everyRow(), model.coros, moment.from, moment.to);
		if (moment && moment.first.size)
			rows = model.rowsFirst(moment.first, rows || this.everyRow());
		Object.assign(shown, { order, moment, rowsOf: found, rows });
		return rows;
	}

	sorted(rows, order) {
		const known = this.sorts.get(rows) || {};
		if (!known[order])
			this.sorts.set(rows, { ...known, [order]: this.model.sorted(rows, order) });
		return this.sorts.get(rows)[order];
	}

	// Makes the list of rows; keep: the same row stays at the top.
	list(keep = false) {
		const { model, moment, window, timeline } = this, by = this.option("group");
		let rows = this.ordered();
		const key = [by, this.option("turned"), this.option("alive") ? [window.from, window.to] : ""].join("|");
		if (this.shown.listKey === key && this.shown.listOf === rows)
			return;
		const same = this.shown.listOf === rows && this.shown.by === by; // other groups begin at their first heading
		Object.assign(this.shown, { listKey: key, listOf: rows, by });
		const first = moment ? moment.first : new Set();
		if (this.option("alive"))
			rows = rowsAlive(rows || this.everyRow(), model.coros, window.from, window.to, first);
		const turned = new Set(this.option("turned")), open = (group, few) => (group.leads || few) !== turned.has(shortHash(group.title));
		const list = Object.hasOwn(GROUPINGS, by) ? new GroupList(model, rows || this.everyRow(), { by, open, first })
			: new RowList(model.n, rows);
		timeline.matching = Boolean(this.shown.found);
		timeline.show(list, keep || same);
		this.mirror.later();
	}

	turnGroup({ title }) {
		const turned = this.option("turned"), hash = shortHash(title);
		this.change({ turned: turned.includes(hash) ? turned.filter(other => other !== hash) : [...turned, hash] });
	}

	turnPin(row) {
		const pins = this.option("pins"), id = this.model.id(row);
		this.change({ pins: pins.includes(id) ? pins.filter(other => other !== id) : [...pins, id] });
	}

	// --- the selection

	open(row) {
		this.go({ ...this.kept(), page: "coro", arg: this.model.id(row), t: undefined });
	}

	// Selects a row of the timeline and, if one is given, a moment.
	select(row, t = null) {
		const { timeline } = this;
		timeline.cursor = row;
		timeline.heading = -1;
		timeline.cursorTime = t;
		this.note({ row: row < 0 ? undefined : this.model.id(row), at: t ?? undefined });
		if (row >= 0)
			this.reveal(row);
		this.detail.show();
		this.mirror.later();
		timeline.invalidate();
	}

	// Scrolls to a row; one that the search or its group hides becomes visible.
	reveal(row) {
		const { coros } = this.timeline;
		if (coros.index(row) < 0)
			this.change({ q: null, alive: false });
		const group = coros.index(row) < 0 ? null : coros.list.group(coros.index(row));
		if (group && !group.open)
			this.turnGroup(group);
		if (coros.index(row) >= 0)
			coros.reveal(coros.index(row));
	}

	// Selects a moment of a row and makes sure that it is in sight.
	goTo(row, t) {
		const { window } = this, half = window.width / 2;
		if (byId("timeline").hidden)
			this.go({ ...this.kept(), page: "timeline", arg: null, row: this.model.id(row), at: t });
		if (t < window.from || t > window.to) {
			window.remember();
			window.set(t - half, t + half);
		}
		this.select(row, t);
	}

	setRange(range) {
		this.timeline.range = range;
		this.settle();
		this.note({ range: range || undefined }, Boolean(range) && !this.view.range);
		this.detail.show();
		this.timeline.invalidate();
	}

	zoomToRange() {
		const { range } = this.timeline;
		if (!range)
			return false;
		this.window.remember();
		this.window.set(...range);
		this.setRange(null);
		return true;
	}

	activeTimeline() {
		return byId("timeline").hidden ? this.alone : this.timeline;
	}

	// Esc: leaves the innermost thing.
	escape() {
		const { timeline } = this;
		if (document.activeElement === this.searchBox && !this.option("q"))
			this.searchBox.blur();
		else if (this.flame && this.flame.escape())
			return true;
		else if (byId("timeline").hidden)
			this.goHome();
		else if (timeline.range)
			this.setRange(null);
		else if (this.option("q")) {
			this.change({ q: "" });
			this.searchBox.blur();
		} else if (timeline.cursor >= 0)
			this.select(-1);
		else if (this.finding >= 0)
			this.leaveFinding();
		return true;
	}

	isTimeline({ page }) {
		return page === "timeline" || page === "finding" || page === "";
	}

	// The timeline as the user left it; from the page of a coroutine with that one selected.
	home() {
		const { page, arg } = this.view, { page: home = "timeline", arg: what = null, t, row, at } = this.left || {};
		if (this.isTimeline(this.view))
			return this.view;
		return { ...this.kept(), page: home || "timeline", arg: what, t, ...page === "coro" ? { row: arg } : { row, at } };
	}

	goHome() {
		this.go(this.home());
	}

	focusSearch() {
		if (this.flame)
			return this.flame.focusSearch();
		const filter = byId("view").querySelector(".filter");
		if (filter)
			return filter.select(), true;
		if (byId("timeline").hidden)
			this.goHome();
		this.searchBox.select();
		return true;
	}

	// Enter in the search: opens a link that was pasted, or goes to the next match.
	enterSearch() {
		const text = this.searchBox.value.trim();
		if (text.startsWith("#/"))
			location.hash = text;
		else
			this.stepMatch(1);
		byId("lanes").focus();
		return true;
	}

	async copyLink() {
		const { from, to, low, high } = this.window, t = from > low || to < high ? [from, to] : undefined;
		const trace = this.traceName(), link = writeAddress(byId("timeline").hidden ? { ...this.view, trace } : { ...this.view, t, trace });
		await copyText(link);
		this.say(`Copied ${link}: the search of any copy of this page opens it.`, true);
	}

	// To screen readers; and for a moment to everybody.
	say(text, seen = false) {
		byId("live").textContent = text;
		byId("live").classList.toggle("seen", seen);
		clearTimeout(this.saying);
		this.saying = setTimeout(() => byId("live").classList.remove("seen"), 4000);
	}
}
