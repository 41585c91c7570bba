// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// table.js - a table: columns that sort, a filter, a count, and a file. It may have millions of rows: some hundreds are elements.
//
// A column is
//	title, about: its heading, and what that means
//	keys(breath): what it is sorted by, see listing.js
//	show(row): an element or a text
//	fields: what the file has of it, see csvPieces()
//	text(row): what the filter looks at; a column without it is not looked at
//	group: the heading above it and its neighbours
// and may be a number, the main one (which names the row and has its link), or spare: left out if there is little room.

const ROWS_AT_ONCE = 200, MORE_ROWS = 1000;
const ROOM_FOR_ALL = 1000; // pixels: from here on spare columns are shown

let captions = 0; // so far: each has an id of its own

class Table {
	// options: { noun, matches(text): a test of rows that is faster than looking at each text, sort: the order at first,
	// about: a line below the caption, name: of the file, number: of the table on its page }
	constructor(app, caption, columns, n, options = {}) {
		Object.assign(this, { app, columns, n, options, listing: new Listing(n, columns), rows: new Int32Array(0) });
		Object.assign(this, { shown: 0, turn: 0 });
		this.sort = options.sort || 0;
		this.filter = "";
		this.tests = []; // of the page: the state, the search
		this.spare = false;
		this.body = el("tbody", { onclick: event => this.click(event) });
		this.head = el("thead");
		this.count = el("span", { class: "count", role: "status" });
		this.more = el("button", { type: "button", class: "more", hidden: true, onclick: () => this.append(MORE_ROWS) });
		this.build(caption);
		this.watchWidth();
	}

	build(caption) {
		const id = `caption-${captions++}`, { about } = this.options;
		const save = el("button", { type: "button", class: "save", title: "save the rows that the filter leaves as CSV",
			onclick: () => this.save() }, "CSV");
		const words = [el("span", null, caption), about ? el("span", { class: "about" }, about) : null];
		const table = el("table", null, el("caption", { id }, ...words), this.head, this.body);
		this.beside = el("button", { type: "button", class: "beside", hidden: true, title: "scroll to them",
			onclick: () => this.box.scrollBy({ left: this.box.clientWidth * 0.7, behavior: "smooth" }) }, "more columns ▸");
		this.bar = el("div", { class: "bar" }, this.beside, this.count, save);
		this.box = el("div", { class: "box", role: "region", tabindex: "0", "aria-labelledby": id, onscroll: () => this.sayBeside() }, table, this.more);
		this.node = el("section", { class: "table" }, this.bar, this.box);
		this.fillHead();
	}

	// Whether columns are out of sight on the right, which nothing else would tell on a phone.
	sayBeside() {
		const { box } = this;
		this.beside.hidden = box.scrollLeft + box.clientWidth >= box.scrollWidth - 24;
	}

	watchWidth() {
		new ResizeObserver(([{ contentRect }]) => {
			this.sayBeside();
			const spare = contentRect.width >= ROOM_FOR_ALL;
			if (spare === this.spare || !contentRect.width || !this.columns.some(column => column.spare))
				return;
			this.spare = spare;
			this.fillHead();
			this.refill();
		}).observe(this.node);
	}

	get visible() {
		return this.columns.filter(column => this.spare || !column.spare);
	}

	// --- the heading

	fillHead() {
		const groups = [];
		for (const { group = "" } of this.visible) {
			if (groups.length && groups.at(-1).group === group)
				groups.at(-1).n++;
			else
				groups.push({ group, n: 1 });
		}
		const over = groups.length > 1 ? el("tr", null, ...groups.map(({ group, n }) => group
			? el("th", { colspan: n, scope: "colgroup" }, group) : el("td", { colspan: n }))) : null;
		const heads = el("tr", null, ...this.visible.map(column => this.heading(column)));
		this.head.replaceChildren(...over ? [over] : [], heads);
	}

	heading(column) {
		const index = this.columns.indexOf(column), sorted = Math.abs(this.sort) - 1 === index;
		const button = { type: "button", title: column.about || null, onclick: () => this.sortBy(index) };
		const direction = sorted ? this.sort < 0 ? "descending" : "ascending" : null;
		const head = { scope: "col", class: this.kind(column), "aria-sort": direction };
		return el("th", head, el("button", button, column.title));
	}

	// The first column of a group has a line before it.
	kind(column) {
		const starts = column.group && column === this.visible.find(({ group }) => group === column.group);
		return `${column.number ? "number" : column.kind || "text"}${starts ? " starts" : ""}${column.main ? " main" : ""}`;
	}

	// --- which rows, in which order

	// The first press sorts numbers from the largest, texts from the first.
	sortBy(index) {
		const same = Math.abs(this.sort) - 1 === index;
		this.sort = same ? -this.sort : this.columns[index].number ? -(index + 1) : index + 1;
		if (this.options.onSort)
			this.options.onSort(this);
		const focused = this.head.contains(document.activeElement);
		this.fillHead();
		if (focused)
			this.head.querySelector("[aria-sort] button").focus();
		return this.update();
	}

	test(text) {
		const { matches } = this.options, words = text.trim().toLowerCase();
		if (!words)
			return null;
		if (matches)
			return matches(words);
		const columns = this.columns.filter(column => column.text);
		return row => columns.some(column => column.text(row).toLowerCase().includes(words));
	}

	async update() {
		const turn = ++this.turn, breath = new Breath(() => this.count.textContent = "sorting …");
		const test = this.test(this.filter), tests = test ? [...this.tests, test] : this.tests;
		const rows = await this.listing.select(this.sort, tests, breath, () => turn !== this.turn);
		if (!rows)
			return;
		this.rows = rows;
		this.shown = 0;
		this.refill();
		this.box.scrollTop = 0;
	}

	// --- the rows as elements

	line(row) {
		return el("tr", null, ...this.visible.map(column => el(column.main ? "th" : "td",
			{ scope: column.main ? "row" : null, class: this.kind(column) }, column.show(row))));
	}

	refill() {
		const shown = Math.max(this.shown, ROWS_AT_ONCE);
		this.body.replaceChildren();
		this.shown = 0;
		this.append(shown);
		const none = { class: "none", colspan: this.visible.length };
		if (!this.rows.length)
			this.body.append(el("tr", null, el("td", none, this.n ? "none of them matches" : "none")));
		this.sayCount();
		this.sayBeside();
	}

	sayCount() {
		const all = plural(this.n, this.options.noun || "row"), { length } = this.rows;
		this.count.textContent = length < this.n ? `${count(length)} of ${all}` : all;
	}

	append(n) {
		const rows = this.rows.subarray(this.shown, this.shown + n), refocus = document.activeElement === this.more;
		const lines = Array.from(rows, row => this.line(row)), first = lines[0] && lines[0].querySelector("a, button");
		this.body.append(...lines);
		this.shown += rows.length;
		const left = this.rows.length - this.shown;
		this.more.hidden = left <= 0;
		this.more.textContent = `show ${count(Math.min(left, MORE_ROWS))} more of ${count(left)}`;
		if (refocus && first)
			first.focus();
	}

	// A click anywhere in a row is one on its link, unless it is one on another, or selects text.
	click(event) {
		const row = event.target.closest("tr"), link = row && row.querySelector("a.goes");
		if (link && !event.target.closest("a, button") && !String(getSelection()))
			link.click();
	}

	async save() {
		const breath = new Breath(share => this.count.textContent = `writing, ${percent(share)}`);
		const name = fileName(this.app.model, `${this.options.name}.csv`);
		await saveTable(name, this.columns.flatMap(column => column.fields), this.rows, breath);
		this.sayCount();
	}
}

// --- columns

function notKnown(text = "not known") {
	return el("span", { class: "faint" }, text);
}

// A column of texts. show(text, row): an element; more: other properties of the column.
function textColumn(title, get, show, more = {}) {
	return {
		title, show: row => get(row) ? show(get(row), row) : notKnown(more.missing), text: row => get(row) || "",
		keys: async breath => {
			const rank = await rankTexts(Array.from({ length: more.n }, (_, row) => get(row) || ""), breath);
			return [row => rank[row]];
		},
		fields: [{ title, get, text: true }], ...more,
	};
}

// A column of numbers; one that is null is not known.
function numberColumn(title, get, show, more = {}) {
	return {
		title, number: true, show: row => get(row) === null || get(row) === undefined ? notKnown("–") : show(get(row), row),
		keys: async () => [row => get(row) ?? -1], fields: [{ title, get }], ...more,
	};
}

function countColumn(title, get, more) {
	return numberColumn(title, get, count, more);
}

// A length of time: shown with three digits; its title and the file have nanoseconds.
function lengthColumn(title, get, more = {}) {
	const show = ns => el("span", { title: hasClock() ? `${count(ns)} ns` : null }, duration(ns));
	return numberColumn(title, get, show, { fields: [{ title: `${title} (ns)`, get: row => rawNs(get(row)) }], ...more });
}

// A moment, since the start of the page. Without a clock it is the number of a record.
function momentColumn({ span }, title, get, more = {}) {
	const step = more.step || Math.min(1000, Math.max(1, span / 1e5));
	const show = ns => el("span", { title: moment(ns) }, moment(ns, step, span));
	const field = { title: hasClock() ? `${title} (ns)` : title, get: row => rawMoment(get(row)) };
	return numberColumn(title, get, show, { fields: [field], ...more });
}

function rawNs(ns) {
	return ns === null || ns === undefined ? "" : String(Math.round(ns));
}

function rawMoment(ns) {
	return hasClock() || ns === null ? rawNs(ns) : String(firstNumber + BigInt(Math.round(ns)));
}

// Columns that only a section with a clock has.
function timeColumns(...columns) {
	return hasClock() ? columns : [];
}
