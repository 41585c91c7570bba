// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// tables.js - the pages with tables. What is shown is in the address: sort, filter, state, and what is selected.

const TYPING_MS = 150, TABLE_STEP = 100; // in the option sort, the tables of a page are this far apart

// A site in a table, as a link: short, with all of it in the title.
function siteCell(app, site, main = false) {
	if (!site)
		return notKnown();
	const title = `${clean(site, 2000)}: search for the coroutines that were there`;
	return el("a", { href: app.link("timeline", null, { q: site }), class: main ? "goes" : null, title },
		el("bdi", { class: "site" }, ...breakable(shorten(shortSite(site), 56))));
}

// A site may be broken after its slashes and colons.
function breakable(text) {
	return text.split(/(?<=[/:])/).flatMap((part, i) => i ? [el("wbr"), part] : [part]);
}

// A coroutine of the report, with a link to its own page.
function coroutineNode(app, member) {
	const row = app.model.row(member.coro);
	return memberNode(member, row < 0 ? null : { href: app.link("coro", app.model.id(row)) });
}

// --- the tables of the report. A row of a table is the index of an item.

function siteColumn(app, title, items, get, more = {}) {
	const show = site => siteCell(app, site, more.main);
	return textColumn(title, i => get(items[i]), show, { n: items.length, kind: "text place", ...more });
}

function coroutineColumn(app, title, items, get, more = {}) {
	const who = i => get(items[i]) || {}, text = i => who(i).coro ? `${who(i).name || ""} ${idText(who(i).coro)}` : "";
	const fields = [{ title, get: i => who(i).name, text: true }, { title: `${title} id`, get: i => who(i).coro }];
	return textColumn(title, text, (_, i) => coroutineNode(app, who(i)), { n: items.length, fields, ...more });
}

// If the items are from several origins: which.
function originColumns({ meta }, items) {
	return meta.origins ? [textColumn("origin", i => items[i].origin, name => quoted(name, 40), { n: items.length })] : [];
}

function sitesTables(app) {
	const items = app.model.section.sites;
	const groups = { suspended: "suspended", runnable: "runnable: woken, not yet resumed", running: "running after it" };
	const numbers = Object.entries(groups).flatMap(([state, group]) => {
		const length = (title, more) => {
			const get = i => items[i][state].count ? items[i][state][`${title}_ns`] : null;
			return lengthColumn(title, get, { group, fields: [{ title: `${state} ${title} (ns)`, get }], ...more });
		};
		const times = i => items[i][state].count;
		return [countColumn("times", times, { group, fields: [{ title: `${state} times`, get: times }] }),
			...timeColumns(length("p50", { spare: true, about: "half of them took at most this long" }),
				length("p99", { about: "99 of 100 took at most this long" }), length("max"), length("total"))];
	});
	const columns = [
		siteColumn(app, "site", items, item => item.site, { main: true, missing: "the start, or not known" }),
		...originColumns(app.model, items),
		countColumn("still waiting", i => items[i].still_waiting, { about: "coroutines that waited there at the end" }),
		...numbers,
	];
	const caption = `How ${hasClock() ? "long" : "often"} coroutines were in each state, by the site where they were suspended`;
	const total = columns.findLastIndex(({ group }) => group === "suspended");
	return [new Table(app, caption, columns, items.length, { noun: "site", name: "sites", sort: -(total + 1),
		about: "Waits that ended. Those that go on at the end of the trace are only counted, in the column “still waiting”." })];
}

// When the coroutine of a group that waits or runs longest began to; null: the page does not have that coroutine.
function longestSince(model, { longest }) {
	const row = longest ? model.row(longest.coro) : -1;
	if (row < 0)
		return null;
	const last = model.coros.first[row + 1] - 1, wait = model.waitAt(row, last);
	return wait >= 0 ? model.events.time[wait] : stretch(model, row, model.coros.end[row]).from;
}

function atEndTable(app, caption, items, more, options) {
	const columns = [
		siteColumn(app, "last suspended at", items, item => item.suspend_site, { main: true }),
		siteColumn(app, "spawned at", items, item => item.spawn_site),
		countColumn("coroutines", i => items[i].coroutines),
		...originColumns(app.model, items),
		...more,
		...timeColumns(momentColumn(app.model, "since", i => longestSince(app.model, items[i]), { about: "of the longest" }),
			lengthColumn("shortest", i => items[i].shortest_ns), lengthColumn("longest", i => items[i].longest_ns)),
		coroutineColumn(app, hasClock() ? "the longest" : "the first", items, item => item.longest),
		textColumn("all events seen", i => items[i].certain ? "yes" : "no, events lost", text => text, { n: items.length }),
	];
	return new Table(app, caption, columns, items.length, { noun: "group", sort: -3, ...options });
}

function waitingTables(app) {
	const { waiting, running, objects = [] } = app.model.section;
	const woken = countColumn("woken, not resumed", i => waiting[i].runnable);
	const usual = timeColumns(lengthColumn("longest earlier", i => waiting[i].ended ? waiting[i].ended_max_ns : null,
		{ about: "of the waits there that ended", fields: [{ title: "earlier waits", get: i => waiting[i].ended },
			{ title: "longest earlier wait (ns)", get: i => waiting[i].ended ? waiting[i].ended_max_ns : "" }] }));
	const caption = does => `Which coroutines ${does} when the trace ended`;
	const tables = [atEndTable(app, caption("waited"), waiting, [woken, ...usual], { name: "waiting" })];
	if (objects.length)
		tables.push(objectsTable(app, objects));
	if (running.length)
		tables.push(atEndTable(app, caption("ran"), running, [], { name: "running" }));
	return tables;
}

function holderNodes(app, { holders, held_by_others: others }) {
	if (!holders)
		return notKnown();
	const nodes = holders.flatMap((holder, i) => [i ? ", " : "", coroutineNode(app, holder), holder.alive ? "" : ", ended"]);
	return el("span", null, ...nodes, others ? ` and ${count(others)} more` : "");
}

function holdersText({ holders, held_by_others: others }) {
	const names = (holders || []).map(({ name, coro }) => `${name ? name + " " : ""}${idText(coro)}`);
	return names.join("; ") + (others ? ` and ${others} more` : "");
}

// The object leads to the coroutine that holds it, if the page has that.
function objectNode(app, item) {
	const holder = (item.holders || []).map(({ coro }) => app.model.row(coro)).find(row => row >= 0);
	const name = quoted(alikeTitle(item), 60), title = "show the coroutine that holds it in the timeline";
	if (item.alike > 1 && !item.name)
		return name;
	const search = { href: app.link("timeline", null, { q: objectWords(item) }), title: "search for all coroutines that waited for it, at the end or earlier" };
	return el("a", { class: "goes", ...holder === undefined ? search : { href: rowAddress(app, holder), title } }, name);
}

function objectsTable(app, objects) {
	const items = alikeObjects(objects), n = items.length, columns = [
		textColumn("what", i => alikeTitle(items[i]), (_, i) => objectNode(app, items[i]), { n, main: true }),
		textColumn("kind", i => items[i].kind, kind => clean(kind, 40), { n }),
		siteColumn(app, "created at", items, item => item.made_site),
		countColumn("waiting", i => items[i].waiters),
		...originColumns(app.model, items),
		...timeColumns(lengthColumn("longest", i => items[i].longest_ns)),
		numberColumn("available", i => items[i].available ?? -1, (_, i) => freeText(items[i]),
			{ fields: [{ title: "available", get: i => freeText(items[i]), text: true }] }),
		{ ...textColumn("held by", i => holdersText(items[i]), () => "", { n }), show: i => holderNodes(app, items[i]) },
	];
	return new Table(app, "What coroutines wait for", columns, n, { noun: "object", name: "objects", sort: -4 });
}

// The coroutine that the thread ran last, and since when: { row, at }, or null.
function lastRun({ threads }, thread) {
	for (let e = threads.first[thread + 1] - 1; e >= threads.first[thread]; e--)
		if (threads.arg[e] >= 0)
			return { row: threads.arg[e], at: threads.time[e] };
	return null;
}

function threadsTables(app) {
	const { model } = app, items = model.section.threads, n = items.length, origin = originColumns(model, items);
	const key = ({ tid, origin = "" }) => `${tid} ${origin}`, numbers = new Map(model.meta.threads.map((thread, i) => [key(thread), i]));
	const last = items.map(item => numbers.has(key(item)) ? lastRun(model, numbers.get(key(item))) : null);
	const label = i => last[i] ? `${nameOf(model, last[i].row) || ""} ${model.idText(last[i].row)}` : "";
	const address = ({ row, at }) => app.link("timeline", null, { row: model.id(row), at,
		t: [at - model.span * AROUND_WAKE, at + model.span * AROUND_WAKE] });
	const ran = (_, i) => el("span", null, rowNode(app, last[i].row, address(last[i])), " ", idNode(app, last[i].row));
	const columns = [
		textColumn("thread", i => items[i].name, name => quoted(name, 60), { n, main: true }),
		numberColumn("tid", i => items[i].tid, String),
		...origin,
		...timeColumns(lengthColumn("busy", i => items[i].busy_ns, { about: "it ran a coroutine" }),
			numberColumn("of what is known", i => items[i].busy_share, percent),
			lengthColumn("unknown", i => items[i].unknown_ns || 0, { about: "events are missing there" })),
		countColumn("resumes", i => items[i].resumes),
		momentColumn(model, "last seen", i => items[i].last_ns + model.reportOffset,
			{ about: "when a coroutine was resumed, was suspended or ended on it" }),
		{ ...textColumn("ran last", label, ran, { n, about: "leads to that time in the timeline" }),
			fields: [{ title: "ran last", get: i => last[i] && nameOf(model, last[i].row), text: true },
				{ title: "ran last id", get: i => last[i] ? model.coros.coro[last[i].row] : "" }] },
	];
	return [new Table(app, "Threads", columns, n, { noun: "thread", name: "threads", sort: -3 - origin.length })];
}

function findingsTables(app) {
	const { model } = app, items = model.leads, n = items.length, offset = model.reportOffset;
	const badge = text => {
		const known = Object.hasOwn(CERTAINTY, text) ? text : "unknown";
		return el("span", { class: `badge ${known}`, title: CERTAINTY[known] }, clean(text, 20));
	};
	const title = (text, i) => el("a", { href: app.link("finding", String(i)), class: "goes" }, quoted(text, 300));
	const columns = [
		textColumn("certainty", i => items[i].certainty, badge, { n }),
		textColumn("rule", i => items[i].rule, rule => clean(rule, 40), { n }),
		textColumn("what", i => items[i].title, title, { n, main: true, kind: "text long" }),
		...originColumns(model, items),
		countColumn("coroutines", i => items[i].members),
		countColumn("waiting because of it", i => items[i].waiting),
		momentColumn(model, "since", i => items[i].from_ns + offset),
		...timeColumns(lengthColumn("for", i => items[i].to_ns - items[i].from_ns)),
		siteColumn(app, "suspended at", items, item => item.suspend_site),
		siteColumn(app, "spawned at", items, item => item.spawn_site),
	];
	const about = n > 1 ? "The most severe one first, until you sort." : null;
	return [new Table(app, "Findings and waits that stand out", columns, n, { noun: "finding", name: "findings", about })];
}

// --- the page

const TABLE_PAGES = {
	coroutines: (app, page) => coroutinesTable(app, page), waiting: waitingTables, sites: sitesTables, threads: threadsTables,
	wakes: (app, page) => wakesTable(app, page), findings: findingsTables,
};

// One filter for all tables of the page. app.tables is the page, for tests: ready is resolved when its tables are filled.
class TablePage {
	constructor(app, name) {
		Object.assign(this, { app, name, tables: [], extra: [], node: el("div", { class: "tables" }) });
		this.box = el("input", {
			type: "search", class: "filter", placeholder: "filter ( / )", "aria-label": "Filter: rows with this text",
			autocomplete: "off", spellcheck: "false", oninput: () => this.typed(), onkeydown: event => this.key(event),
		});
		this.box.value = app.view.filter || "";
		const sign = el("p", { class: "counting", role: "status" }, "counting …");
		this.breath = new Breath(share => sign.textContent = `counting: ${percent(share)}`);
		this.node.append(sign);
		this.ready = this.fill();
	}

	async fill() {
		const { app } = this;
		this.tables = await TABLE_PAGES[this.name](app, this);
		this.node.replaceChildren(...this.tables.map(table => table.node));
		this.node.classList.toggle("one", this.tables.length === 1);
		this.tables[0].bar.prepend(this.box, ...this.extra, ...selectionNodes(app, this.name));
		this.tables.forEach((table, i) => {
			table.options.onSort = ({ sort }) => app.note({ sort: sort + Math.sign(sort) * TABLE_STEP * i });
			table.filter = this.box.value;
		});
		this.applySort(app.view.sort || 0);
		await Promise.all(this.tables.map(table => table.update()));
	}

	tools(...nodes) {
		this.extra = nodes;
	}

	applySort(sort) {
		const at = Math.abs(sort), table = this.tables[Math.floor(at / TABLE_STEP)], index = at % TABLE_STEP;
		if (!table || !index || index > table.columns.length)
			return;
		table.sort = Math.sign(sort) * index;
		table.fillHead();
	}

	typed() {
		clearTimeout(this.typing);
		this.typing = setTimeout(() => {
			this.app.note({ filter: this.box.value || undefined });
			for (const table of this.tables) {
				table.filter = this.box.value;
				table.update();
			}
		}, TYPING_MS);
	}

	// Esc empties the filter before it leaves the page.
	key(event) {
		if (event.key !== "Escape" || !this.box.value)
			return;
		event.stopPropagation();
		event.preventDefault();
		this.box.value = "";
		this.typed();
	}
}

// What is selected, each with a link that drops it. Tables of the report have numbers of the whole trace, and follow no selection.
function selectionNodes(app, name) {
	const { view, model } = app, row = view.row ? model.rowAt(view.row) : -1, nodes = [];
	const { sort, filter, state, range } = view, options = { sort, filter, state, range, row: view.row };
	const drop = (text, without) => {
		const href = app.link(name, null, { ...options, ...without });
		nodes.push(el("span", { class: "chosen-by" }, text, el("a", { href, "aria-label": "show all", title: "show all" }, " ✕")));
	};
	if (name !== "coroutines" && name !== "wakes")
		return nodes;
	if (app.option("q").trim())
		drop(el("span", null, "search: ", quoted(app.option("q"), 60)), { q: undefined });
	if (range)
		drop(`from ${moment(range[0])} to ${moment(range[1])}`, { range: undefined });
	if (name === "wakes" && row >= 0)
		drop(el("span", null, "of ", el("bdi", null, model.shortLabel(row)), " ", model.idText(row)), { row: undefined });
	return nodes;
}

function tablePage(app, name) {
	app.tables = new TablePage(app, name);
	return { node: app.tables.node };
}
