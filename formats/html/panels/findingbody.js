// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// findingbody.js - what a finding says below its title: what is waited for, the picture of the waits, the evidence, and who.
//
// A link to a coroutine selects its row in the timeline, at the moment of the finding. Followed once more, it opens the coroutine's
// own page, as a double click on the row does.

// Rules about running coroutines.
const RUNNING_RULES = new Set(["crash", "stalled-thread", "blocking-call", "long-run", "double-resume", "use-after-death"]);

// The attributes of a link to a row, at the moment of the finding; index -1: in the whole trace. The address keeps the options of
// the view, which may have changed since the link was made.
function rowLink(app, index, row) {
	const { model } = app, id = model.id(row);
	const there = () => index < 0 ? app.link("timeline", null, { row: id }) : app.link("finding", String(index), { row: id });
	const here = () => !byId("timeline").hidden && (index < 0 || app.finding === index);
	const selected = () => here() && app.view.row === id && !app.view.t;
	const aim = event => event.currentTarget.setAttribute("href", there());
	return { href: there(), onpointerdown: aim, onfocus: aim, onclick: event => {
		const again = selected();
		event.currentTarget.setAttribute("href", again ? app.link("coro", id) : there());
		if (!again)
			app.say(`${model.label(row)} ${model.idText(row)} is selected in the timeline. The same link again opens its own page.`);
	} };
}

// The attributes of a link that searches for coroutines. Its address keeps the options of the view, as that of rowLink() does.
function searchAttrs(app, text) {
	const aim = event => event.currentTarget.setAttribute("href", app.searchLink(text));
	return { href: app.searchLink(text), onpointerdown: aim, onfocus: aim, onclick: aim };
}

// A site, as a link to the coroutines that were there.
function siteLink(app, site) {
	return el("a", { class: "site", title: "show the coroutines with this site", ...searchAttrs(app, site) },
		el("bdi", { class: "said", title: shortSite(site) !== site || site.length > 100 ? clean(site, 2000) : null },
			...breakable(shorten(shortSite(site), 100))));
}

// An object, as a link to the coroutines that waited for it.
function objectLink(app, object) {
	const title = "search for all coroutines that waited for it, at the end or earlier";
	return el("a", { title, ...searchAttrs(app, objectWords(object)) }, quoted(alikeTitle(object), 120));
}

const LINK_TITLE = "select it in the timeline; twice: its own page";

// A coroutine of the report, without a name by the function that it was spawned in. attrs: of its link; null: the page does not have it.
function memberNode({ coro, name, in: within, spawn_site: spawn }, attrs) {
	const text = name || functionOf(spawn || ""), number = el("span", { class: text ? "faint" : null }, (text ? " " : "") + idText(coro));
	const nodes = [text ? quoted(text, 60) : null, number, !name && within ? el("span", null, ", in ", quoted(within, 60)) : null];
	return attrs ? el("a", attrs, ...nodes) : el("span", { title: "not on this page" }, ...nodes);
}

// The same with a link that selects its row, see rowLink().
function selectNode(app, index, member) {
	const row = app.model.row(member.coro);
	return memberNode(member, row < 0 ? null : { title: LINK_TITLE, ...rowLink(app, index, row) });
}

function linesNode(title, lines, node = line => [quoted(line, 1000)]) {
	if (!lines || !lines.length)
		return null;
	const items = lines.map(line => el("li", null, ...node(line)));
	return el("div", { class: "lines" }, el("h3", null, title), el("ul", null, ...items));
}

function placesOf(model) {
	return model.placeSet ||= new Set(model.meta.places);
}

// A text of the report in which each coroutine and each site is a link.
function linkedText(app, index, line) {
	const { model } = app, finding = model.leads[index], places = placesOf(model);
	const known = { row: id => model.row(id), name: row => model.meta.strings[model.coros.name[row]] || "",
		isSite: text => places.has(text),
		sites: [finding.suspend_site, finding.spawn_site].filter(site => site && site.includes(" ")) };
	const link = (row, text) => el("a", { title: LINK_TITLE, ...rowLink(app, index, row) }, quoted(text, 200));
	return mentionsIn(line, known).map(({ text, row, site }) => site !== undefined ? siteLink(app, site)
		: row === undefined ? quoted(text, 1000) : link(row, text));
}

function whereNode(node, title, site) {
	return site ? el("div", null, el("span", { class: "faint" }, title), " ", node(site)) : null;
}

// How long; without a clock, since which record number.
function sinceOrFor({ ordinal, start_ns: first }, { since_ns, for_ns }) {
	return ordinal ? `since ${numberAt(first, since_ns)}` : `for ${duration(for_ns, true)}`;
}

// --- what is waited for

const MOST_WANTED = 12;

function wantedTitle(object, { ordinal }) {
	if (object.kind === "timer")
		return object.due_ns === undefined || ordinal ? "a timer" : `a timer, due at ${moment(object.due_ns)}`;
	return object.kind === "descriptor" ? `descriptor ${object.fd}` : alikeTitle(object);
}

// Who holds it, below it: a name is not broken.
function heldNodes(node, { holders, held_by_others: others, object, kind, unheld }) {
	if (!object || !holders && kind !== "lock" && kind !== "permits")
		return [];
	if (!holders || unheld)
		return [el("span", { class: "faint" }, unheld ? "held by no coroutine" : "its holders are not known")];
	const ends = (holder, i) => (holder.alive ? "" : ", ended") + (i < holders.length - 1 ? "," : "");
	const nodes = holders.flatMap((holder, i) => [i ? " " : "", el("span", { class: "whole" }, node(holder), ends(holder, i))]);
	const by = [el("span", { class: "faint" }, "held by "), ...nodes, others ? ` and ${count(others)} more` : ""];
	return holders.length || others ? by : [];
}

function wantedNode({ coroutine, section, thing }, finding) {
	const wanted = alikeObjects(wantedBy(finding, section.objects)), left = wanted.length - MOST_WANTED;
	if (!wanted.length)
		return RUNNING_RULES.has(finding.rule) || !finding.coroutines.length ? null
			: el("p", { class: "faint wanted" }, "The program did not record what is waited for.");
	const head = ["waits for", "available", "waiting"].map(title => el("th", { scope: "col" }, title));
	const name = object => object.object && thing && (object.alike < 2 || object.name) ? thing(object) : quoted(wantedTitle(object, section), 120);
	const cells = object => [name(object), object.object ? freeText(object) : "–", count(Math.max(object.waiters || 0, object.here))];
	const lines = wanted.slice(0, MOST_WANTED).flatMap(object => {
		const held = heldNodes(coroutine, object), list = cells(object).map(cell => el("td", null, cell));
		const line = el("tr", { class: held.length ? "goes-on" : null }, ...list);
		return held.length ? [line, el("tr", null, el("td", { colspan: 3 }, ...held))] : [line];
	});
	const table = el("table", null, el("thead", null, el("tr", null, ...head)), el("tbody", null, ...lines));
	return el("div", { class: "wanted" }, table,
		left > 0 ? el("p", { class: "faint" }, `and ${count(left)} more`) : null);
}

// --- who waits

// Its last waker; and, if that has ended since, how long after the wait had begun.
function wakerNode({ coroutine, model }, { woken_by: waker, since_ns: since }) {
	const row = waker && model ? model.row(waker) : -1, lived = row < 0 ? 0 : model.coros.died[row] - since - model.reportOffset;
	const ended = hasClock() && lived > 0 && model.coros.died[row] <= model.span;
	const words = ended ? el("span", { class: "faint" }, `, which ended ${duration(lived)} after this wait began`) : null;
	return waker ? el("span", null, afterWords(", last woken by ", coroutine({ coro: waker, name: null })), words) : null;
}

// A node after words that only lead to it.
function afterWords(words, node) {
	return el("span", null, el("span", { class: "faint" }, words), node);
}

const MOST_NAMED = 3; // of the members of a finding, as long as their list is folded

function memberText({ name: given, coro, spawn_site: spawn }) {
	const name = given || functionOf(spawn || "");
	return name ? `${isolate(clean(name, 40))} ${idText(coro)}` : idText(coro);
}

function membersNode(links, { coroutines: some, members, rule }) {
	const { site, coroutine, section, known } = links, coroutines = known || some, does = member => rule === "leaked" ? "alive" : clean(member.state, 40);
	const spread = coroutines.some(member => member.suspend_site !== coroutines[0].suspend_site);
	const nodes = member => [coroutine(member),
		el("span", { class: "faint" }, ` ${does(member)} ${sinceOrFor(section, member)}`),
		spread && member.suspend_site ? afterWords(" at ", site(member.suspend_site)) : null,
		wakerNode(links, member)];
	if (!coroutines.length)
		return null;
	if (members === 1)
		return afterWords("who ", el("span", null, ...nodes(coroutines[0])));
	const items = coroutines.map(member => el("li", null, ...nodes(member)));
	const left = `Listed are ${count(coroutines.length)} of ${count(members)}. The site finds all that were there.`;
	const open = coroutines.length <= 8, few = coroutines.slice(0, MOST_NAMED).map(memberText).join(", ");
	const names = open ? "who" : `who: ${few} and ${count(members - MOST_NAMED)} more`;
	return el("details", { open }, el("summary", null, names), el("ul", { class: "who" }, ...items),
		members > coroutines.length ? el("p", { class: "faint" }, left) : null);
}

// What a waiter does, in the words of the other forms of the report.
function waiterText(section, waiter) {
	const does = waiter.state === "runnable" ? "ready to run " : waiter.state === "born" ? "not yet run " : "";
	return ` ${does}${sinceOrFor(section, waiter)}${isInferred(waiter) ? " (inferred)" : ""}`;
}

// The coroutines that wait because of the finding, each below the one that it waits for, the longest first. Roots are not
// in the list.
function treeNode({ site, coroutine, section, drawn }, { coroutines, awaits, waiting, members }) {
	if (!awaits || !awaits.length)
		return null;
	const left = new Set([...awaits].sort((a, b) => b.for_ns - a.for_ns));
	const below = coro => {
		const waiters = [...left].filter(waiter => waiter.waits_for === coro);
		waiters.forEach(waiter => left.delete(waiter));
		return waiters.length ? el("ul", null, ...waiters.map(waiter => el("li", null, coroutine(waiter),
			waiter.suspend_site ? afterWords(" at ", site(waiter.suspend_site)) : null,
			el("span", { class: "faint" }, waiterText(section, waiter)), below(waiter.coro)))) : null;
	};
	const root = member => [member, below(member.coro)];
	const roots = coroutines.map(root).filter(([, list]) => list), listed = new Set(awaits.map(waiter => waiter.coro));
	for (const strict of [true, false])
		for (const waiter of [...left])
			if (left.has(waiter) && !(strict && listed.has(waiter.waits_for)))
				roots.push(root({ coro: waiter.waits_for, name: null }));
	const items = roots.map(([member, list]) => el("li", null, coroutine(member), list));
	const title = `waiting because of ${members === 1 ? "it" : "them"}: ${count(waiting)}`;
	return el("details", { open: !drawn }, el("summary", null, title),
		el("ul", { class: "who tree" }, ...items),
		waiting > awaits.length ? el("p", { class: "faint" }, `The report lists ${count(awaits.length)} of them.`) : null);
}

// The picture of the waits, if there is more than one coroutine or thing in it.
function drawnNode(app, index, finding) {
	const known = knownMembers(app.model, finding), left = finding.members - known.length;
	const roots = waitForest({ ...finding, coroutines: known }, app.model.section.objects).filter(({ children, closes }) => children.length || closes);
	if (!roots.length)
		return null;
	const larger = el("button", { type: "button", class: "link", onclick: () => openTree(app, index, roots) }, "enlarge");
	return el("div", { class: "drawn" }, el("h3", null, "which waits for which ", larger),
		anyInferred(roots) ? el("p", { class: "faint" }, INFERRED) : null,
		waitTree(app, index, roots, { width: 290, most: NODES_IN_PANEL }),
		left > 0 ? el("p", { class: "faint" }, `The tree has ${count(known.length)} of the ${count(finding.members)} coroutines of the finding.`) : null);
}

// --- the whole

// When it began. app null: of a section that is not on the page.
function sinceNode(app, { from_ns: from, to_ns: to, rule }) {
	if (!app || to <= from)
		return null;
	const { model } = app, at = from + model.reportOffset, clock = wallClock(model.meta, at);
	const words = hasClock() ? [clock ? el("span", { class: "faint" }, ` (${clock})`) : null, ` for ${duration(to - from, true)}`] : [];
	return el("div", null, afterWords(rule === "leaked" ? "alive since " : "since ", moment(at, 1000)), ...words);
}

// Of leaked coroutines the finding begins with their birth: this is when the first of them began to wait for good.
function leakedSince(app, { rule, coroutines, members, to_ns: to }) {
	if (!app || rule !== "leaked" || !hasClock())
		return null;
	const { model } = app, rows = coroutines.map(({ coro }) => model.row(coro)).filter(row => row >= 0);
	const waits = rows.map(row => lastWait(model, row)).filter(t => t !== null);
	const at = Math.min(...waits), end = to + model.reportOffset;
	return waits.length && end > at ? el("div", null, afterWords(members > 1 ? "the first suspended since " : "suspended since ",
		moment(at, 1000)), ` for ${duration(end - at, true)}`) : null;
}

const MOST_WAYS = 3;

// Of a leak: where those of the same spawn site that have ended waited last, as a line of nodes.
function otherWayLines(app, { rule, coroutines }) {
	const { model } = app, row = rule === "leaked" && coroutines.length ? model.row(coroutines[0].coro) : -1;
	const ways = row < 0 ? [] : [...lastSites(model, row)].sort((a, b) => b[1] - a[1]);
	const n = ways.reduce((sum, [, times]) => sum + times, 0), left = ways.length - MOST_WAYS;
	const nodes = ways.slice(0, MOST_WAYS).flatMap(([place, times], i) => [i ? ", " : "", siteLink(app, model.place(place)),
		ways.length > 1 ? ` (${count(times)})` : ""]);
	return n ? [[`${count(n)} of the same spawn site ended; their last wait was at `, ...nodes, left > 0 ? ` and ${plural(left, "other site")}` : ""]] : [];
}

// Where coroutines that have ended and were spawned at the site of this one waited last: a Map of place to number.
function lastSites(model, like) {
	const { coros, events, span, n } = model, sites = new Map();
	for (let row = 0; row < n; row++) {
		if (coros.spawn[row] !== coros.spawn[like] || coros.died[row] > span || !model.sameOrigin(row, like))
			continue;
		let e = coros.first[row + 1] - 1;
		while (e >= coros.first[row] && events.kind[e] !== SUSPEND)
			e--;
		if (e >= coros.first[row] && events.arg[e])
			sites.set(events.arg[e], (sites.get(events.arg[e]) || 0) + 1);
	}
	return sites;
}

function wordsNodes(links, finding, app = null) {
	const { site } = links;
	return [sinceNode(app, finding), leakedSince(app, finding), whereNode(site, RUNNING_RULES.has(finding.rule) ? "resumed from" : "suspended at", finding.suspend_site),
		whereNode(site, "spawned at", finding.spawn_site)];
}

function findingBody(app, index, finding) {
	const { section } = app.model, drawn = drawnNode(app, index, finding);
	const coroutine = member => selectNode(app, index, withName(app, member));
	const links = { site: site => siteLink(app, site), coroutine, section, drawn, known: knownMembers(app.model, finding),
		model: app.model, thing: object => objectLink(app, object) };
	const text = line => Array.isArray(line) ? line : linkedText(app, index, line);
	const copy = el("button", { type: "button", onclick: async () => {
		await copyText(findingMarkdown(finding, section, app.link("finding", String(index))));
		app.say("Copied the finding as Markdown.", true);
	} }, "copy as Markdown");
	const who = membersNode(links, finding), alone = finding.members === 1;
	return [alone ? who : null, ...wordsNodes(links, finding, app),
		linesNode("evidence", [...otherWayLines(app, finding), ...finding.evidence], text), linesNode("next", finding.next, text),
		wantedNode(links, finding), drawn, alone ? null : who, treeNode(links, finding), el("p", { class: "acts" }, copy)];
}

// With what the page has, if the report gives only the number: the name, and the wait that goes on at the end.
function withName({ model }, member) {
	const row = member.name === null ? model.row(member.coro) : -1;
	return row < 0 || member.in ? member : { ...memberOf(model, row), ...member, name: model.meta.strings[model.coros.name[row]] || null };
}

// Of a section that is not on the page: without links.
function otherBody(finding, section) {
	const links = { site: site => quoted(site, 100), coroutine: member => memberNode(member, null), section };
	return [...wordsNodes(links, finding), linesNode("evidence", finding.evidence), linesNode("next", finding.next),
		wantedNode(links, finding), membersNode(links, finding), treeNode(links, finding)];
}
