"use strict";
// app.js - the page. The address has what is shown, the app has what is filtered, and tests ask for both through window.ctp.

const VIEWS = {
	timeline: "Timeline", waiting: "Waiting", sites: "Sites", threads: "Threads", top: "Top coroutines",
};
const byId = id => document.getElementById(id);

class App {
	constructor(model) {
		this.model = model;
		this.window = new TimeWindow(model.span, model.firstEvent, model.lastEvent);
		this.tip = new Tip(byId("tip"));
		this.help = byId("help");
		this.searchBox = byId("search");
		this.text = "";
		this.finding = -1;
		this.moment = null; // findingMoment() of it
		this.before = null; // where the timeline was when it was chosen
		this.findingNodes = [];
		this.alone = null; // the timeline of a coroutine's own page
		this.timeline = new Timeline(byId("lanes"), model, this.window, {
			threads: true, gutter: true, tip: this.tip, onOpen: row => this.open(row),
			onStatus: text => byId("status").textContent = text,
		});
		this.overview = new Overview(byId("overview"), model, this.window);
		this.timeline.folds = new Folds(byId("whole"), this.window, () => this.overview.count(this.overview.rows));
		this.keys = new Keys(this);
		this.wire();
		this.filter();
	}

	wire() {
		addEventListener("hashchange", () => this.route());
		byId("tools").addEventListener("submit", event => event.preventDefault());
		this.searchBox.addEventListener("input", () => {
			clearTimeout(this.typing);
			this.typing = setTimeout(() => this.setSearch(this.searchBox.value), 120);
		});
		byId("sort").addEventListener("change", () => this.filter());
		byId("height").addEventListener("change", event => this.setRowHeight(Number(event.target.value)));
		byId("zoom-in").addEventListener("click", () => this.window.zoom(ZOOM_STEP));
		byId("zoom-out").addEventListener("click", () => this.window.zoom(1 / ZOOM_STEP));
		byId("zoom-all").addEventListener("click", () => this.window.all());
		byId("leave").addEventListener("click", () => this.go("timeline"));
		byId("show-help").addEventListener("click", () => this.help.showModal());
		addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(node => node.open = true));
		theme.wire(byId("theme"), () => this.redraw());
	}

	// At once: a print does not wait for the next frame.
	redraw() {
		Colours.forget();
		this.overview.draw();
		this.timeline.draw();
		if (this.alone)
			this.alone.draw();
	}

	go(where) {
		location.hash = "#/" + where;
	}

	open(row) {
		this.timeline.cursor = row; // so that going back shows it again
		this.go(this.model.address(row));
	}

	route() {
		const [view, arg] = location.hash.replace(/^#\//, "").split("/");
		const row = view === "coro" ? this.model.rowAt(arg) : -1;
		const finding = view === "finding" && /^\d+$/.test(arg) && this.model.leads[arg] ? Number(arg) : -1;
		this.tip.hide();
		this.alone = null;
		if (row >= 0)
			this.showPage(coroutinePage(this, row));
		else if (Object.hasOwn(VIEWS, view) && view !== "timeline")
			this.showTable(view);
		else
			this.showTimeline(finding);
		const tab = row >= 0 ? "" : Object.hasOwn(VIEWS, view) ? view : "timeline";
		for (const link of document.querySelectorAll("#tabs a")) {
			link.removeAttribute("aria-current");
			if (link.hash === "#/" + tab)
				link.setAttribute("aria-current", "page");
		}
		this.refocus();
	}

	// If the element with the focus is gone, the view gets the focus, for keys and screen readers.
	refocus() {
		const at = document.activeElement;
		if (this.routed && (!at || at === document.body || !at.checkVisibility()))
			(byId("timeline").hidden ? byId("view") : byId("lanes")).focus({ preventScroll: true });
		this.routed = true;
	}

	// The address of the timeline, as the user left it.
	home() {
		return this.finding >= 0 ? "finding/" + this.finding : "timeline";
	}

	showTimeline(finding) {
		byId("view").hidden = true;
		byId("timeline").hidden = false;
		if (finding !== this.finding)
			this.choose(finding);
		this.findingNodes.forEach((node, index) => choose(node, index === finding));
		this.timeline.invalidate();
		this.overview.invalidate();
	}

	showPage({ node, timeline }) {
		this.alone = timeline;
		byId("timeline").hidden = true;
		byId("view").hidden = false;
		byId("view").replaceChildren(node);
		byId("view").scrollTop = 0;
	}

	showTable(view) {
		const tables = { waiting: atEndTables, sites: sitesTable, threads: threadsTable, top: topTables };
		const node = el("div", { class: "tables" });
		node.append(...[tables[view](this)].flat());
		this.showPage({ node, timeline: null });
	}

	activeTimeline() {
		return byId("timeline").hidden ? this.alone : this.timeline;
	}

	toggleFinding(index) {
		this.go(index === this.finding && !byId("timeline").hidden ? "timeline" : "finding/" + index);
	}

	// Shows the finding's coroutines and its moment; without a finding, what the timeline showed before.
	choose(index) {
		const { model, timeline, window } = this, finding = model.leads[index], offset = model.reportOffset;
		const now = { from: window.from, to: window.to, scroll: timeline.coros.scroll };
		this.before ||= now;
		this.finding = index;
		this.moment = finding ? findingMoment(model, finding) : null;
		timeline.moment = this.moment;
		timeline.mark = finding ? [finding.from_ns + offset, finding.to_ns + offset] : null;
		byId("leave").hidden = !finding;
		this.filter();
		if (finding) {
			byId("timeline").scrollIntoView({ block: "nearest" });
			return window.set(this.moment.from, this.moment.to);
		}
		window.set(this.before.from, this.before.to);
		timeline.coros.scrollTo(this.before.scroll);
		this.before = null;
	}

	setSearch(text) {
		this.text = text;
		this.searchBox.value = text;
		this.filter();
	}

	lookFor(text) {
		this.go("timeline");
		this.setSearch(text);
	}

	setRowHeight(height) {
		byId("height").value = String(height);
		this.timeline.setRowHeight(height);
	}

	everyRow() {
		return Int32Array.from({ length: this.model.n }, (_, row) => row);
	}

	filter() {
		const { model, moment } = this, by = byId("sort").value;
		let rows = this.text.trim() ? model.search(this.text) : null;
		const matches = this.text.trim() && `${count(rows.length)} ${rows.length === 1 ? "match" : "matches"}`;
		byId("matches").textContent = matches;
		this.overview.count(rows);
		if (by === "findings" && !moment && model.leads.length)
			rows = model.rowsFirst(model.ofFindings(), rows || this.everyRow());
		else if (by !== "findings" && by !== "birth")
			rows = model.sorted(rows || this.everyRow(), by);
		if (moment && moment.first.size)
			rows = model.rowsFirst(moment.first, rows || this.everyRow());
		this.timeline.show(rows);
	}

	escape() {
		if (this.text) {
			this.setSearch("");
			this.searchBox.blur();
		} else if (document.activeElement === this.searchBox) {
			this.searchBox.blur();
		} else if (byId("timeline").hidden) {
			this.go(this.home());
		} else if (this.finding >= 0) {
			this.go("timeline");
		} else {
			this.timeline.cursor = -1;
			this.timeline.invalidate();
		}
		return true;
	}

	focusSearch() {
		if (byId("timeline").hidden)
			this.go(this.home());
		setTimeout(() => this.searchBox.select());
		return true;
	}

	focusLanes() {
		byId("lanes").focus();
		return true;
	}

	say(text) {
		byId("live").textContent = text;
	}
}
