"use strict";
// tables.js - the tables of the report, sortable by each column.

const ROWS_AT_ONCE = 200;

// A column is { title, key(item): what it is sorted by, show(item): node or text, number: whether it is one }; a group is
// [title, columns] and stands over them.
class Table {
	constructor(caption, columns, items, groups) {
		Object.assign(this, { columns, items: [...items], shown: ROWS_AT_ONCE, by: -1, down: true, body: el("tbody") });
		this.heads = columns.map((column, i) => el("th", { scope: "col", class: column.number ? "number" : null },
			el("button", { type: "button", onclick: () => this.sort(i) }, column.title)));
		this.more = el("button", { type: "button", class: "more", onclick: () => {
			this.shown += 10 * ROWS_AT_ONCE;
			this.fill();
		} });
		const over = groups && groups.map(([title, n]) => el("th", { colspan: n, scope: "colgroup" }, title));
		const head = el("thead", null, over && el("tr", null, ...over), el("tr", null, ...this.heads));
		const table = el("table", null, el("caption", null, caption), head, this.body);
		this.node = el("div", { class: "table" }, table, this.more);
		this.fill();
	}
	sort(index, down = this.by === index ? !this.down : Boolean(this.columns[index].number)) {
		const { key } = this.columns[index], sign = down ? -1 : 1;
		const compare = (a, b) => typeof a === "string" ? a.localeCompare(b) : a - b;
		this.items.sort((a, b) => sign * compare(key(a), key(b)));
		this.heads.forEach(head => head.removeAttribute("aria-sort"));
		this.heads[index].setAttribute("aria-sort", down ? "descending" : "ascending");
		Object.assign(this, { by: index, down });
		this.fill();
		return this;
	}
	line(item) {
		const cell = column => el("td", { class: column.number ? "number" : null }, column.show(item));
		return el("tr", null, ...this.columns.map(cell));
	}
	fill() {
		const items = this.items.slice(0, this.shown), left = this.items.length - items.length;
		this.body.replaceChildren(...items.map(item => this.line(item)));
		if (!items.length)
			this.body.append(el("tr", null, el("td", { class: "none", colspan: this.columns.length }, "none")));
		this.more.hidden = left <= 0;
		this.more.textContent = `show more (${count(left)} are left)`;
	}
}

function textColumn(title, get, node) {
	const unknown = () => el("span", { class: "faint" }, "not known");
	return { title, key: item => get(item) || "", show: item => get(item) ? node(get(item)) : unknown() };
}

function numberColumn(title, get, show) {
	return { title, key: get, show: item => show(get(item)), number: true };
}

// Columns that only a section with a clock has.
function timeColumns(...columns) {
	return hasClock() ? columns : [];
}

// A site, as a button that searches for the coroutines that were there.
function siteNode(app) {
	const attrs = { type: "button", class: "link site", title: "show the coroutines with this site" };
	return site => el("button", { ...attrs, onclick: () => app.lookFor(site) }, quoted(site, 100));
}

// A coroutine of the report. The page may not have it.
function coroutineNode(app, { coro, name, in: within }) {
	const nodes = [name ? quoted(name, 60) : null, el("span", { class: name ? "faint" : null }, (name ? " " : "") + idText(coro)),
		!name && within ? el("span", null, ", in ", quoted(within, 60)) : null];
	const row = app.model.row(coro);
	if (row < 0)
		return el("span", { title: "not on this page" }, ...nodes);
	return el("a", { href: "#/" + app.model.address(row) }, ...nodes);
}

function sitesTable(app) {
	const spans = hasClock() ? ["p50", "p99", "max", "total"] : [], wide = 1 + spans.length;
	const parts = ["suspended", "runnable", "running"].flatMap(state => [
		numberColumn("times", item => item[state].count, count),
		...spans.map(what => numberColumn(what, item => item[state][what + "_ns"], duration)),
	]);
	const columns = [
		textColumn("site", item => item.site, siteNode(app)),
		numberColumn("still waiting", item => item.still_waiting, count),
		...parts,
	];
	const groups = [["", 2], ["suspended", wide], ["runnable: woken, not yet resumed", wide], ["running after it", wide]];
	const caption = `How ${hasClock() ? "long" : "often"} coroutines were in each state, by site`;
	return new Table(caption, columns, app.model.section.sites, groups).sort(1 + wide, true).node;
}

function atEndTable(app, caption, items, more) {
	const columns = [
		textColumn("last suspended at", item => item.suspend_site, siteNode(app)),
		textColumn("spawned at", item => item.spawn_site, siteNode(app)),
		numberColumn("coroutines", item => item.coroutines, count),
		...more,
		...timeColumns(numberColumn("shortest", item => item.shortest_ns, duration),
			numberColumn("longest", item => item.longest_ns, duration)),
		{ title: "which", key: item => item.longest.name || "", show: item => coroutineNode(app, item.longest) },
		{ title: "certain", key: item => Number(item.certain), show: item => item.certain ? "yes" : "no, events lost" },
	];
	return new Table(caption, columns, items).sort(2, true).node;
}

// "0 of 4", "3, room for 5", "some, some room", "not known".
function availableText({ available, available_exact: exact, total, room, room_exact: roomExact, kind, closed }) {
	const of = kind === "permits" && total !== null ? ` of ${count(total)}` : "";
	const some = available === null ? "not known" : (exact ? count(available) : "some") + of;
	const left = room === null ? "" : roomExact ? `, room for ${count(room)}` : ", some room";
	return some + left + (closed ? ", closed" : "");
}

function holderNodes(app, { holders, held_by_others: others }) {
	if (!holders)
		return el("span", { class: "faint" }, "not known");
	const nodes = holders.flatMap((holder, i) => [i ? ", " : "", coroutineNode(app, holder), holder.alive ? "" : ", ended"]);
	return el("span", null, ...nodes, others ? ` and ${count(others)} more` : "");
}

function objectsTable(app, objects) {
	const columns = [
		textColumn("what", item => item.name, name => quoted(name, 60)),
		textColumn("kind", item => item.kind, kind => kind),
		textColumn("created at", item => item.made_site, site => quoted(site, 100)),
		numberColumn("waiting", item => item.waiters, count),
		...timeColumns(numberColumn("longest", item => item.longest_ns, duration)),
		{ title: "available", key: item => item.available === null ? -1 : item.available, show: availableText, number: true },
		{ title: "held by", key: item => (item.holders || []).length, show: item => holderNodes(app, item) },
	];
	return new Table("What coroutines wait for", columns, objects).node;
}

function atEndTables(app) {
	const { waiting, running, objects = [] } = app.model.section;
	const woken = numberColumn("woken, not resumed", item => item.runnable, count);
	const tables = [atEndTable(app, "Who waited when the trace ended", waiting, [woken])];
	if (objects.length)
		tables.push(objectsTable(app, objects));
	return running.length ? [...tables, atEndTable(app, "Who ran", running, [])] : tables;
}

function threadsTable(app) {
	const columns = [
		textColumn("thread", item => item.name, name => quoted(name, 60)),
		numberColumn("tid", item => item.tid, String),
		...timeColumns(numberColumn("busy", item => item.busy_ns, duration),
			numberColumn("of what is known", item => item.busy_share, percent),
			numberColumn("unknown", item => item.unknown_ns || 0, duration)),
		numberColumn("resumes", item => item.resumes, count),
		numberColumn("last event at", item => item.last_ns, ns => moment(ns, 1000)),
	];
	return new Table("Threads", columns, app.model.section.threads).sort(2, true).node;
}

function topTables(app) {
	const { top } = app.model.section;
	if (!hasClock())
		return [el("p", { class: "faint" }, "The section has no clock: no state of a coroutine has a length.")];
	return ["running", "runnable", "suspended", "unknown"].filter(state => state !== "unknown" || (top[state] || []).length).map(state => {
		const columns = [
			{ title: "coroutine", key: item => item.name || "", show: item => coroutineNode(app, item) },
			textColumn("spawned at", item => item.spawn_site, siteNode(app)),
			numberColumn(state, item => item.ns, duration),
		];
		return new Table(`Longest ${state}`, columns, top[state] || []).sort(2, true).node;
	});
}
