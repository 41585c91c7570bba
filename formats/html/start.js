// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// start.js - reads the data, fills in the fixed parts of the page, and opens the address. window.ctpReady is resolved then.

function outcomeText({ outcome, status }) {
	const words = {
		exited: `exited with status ${status}`, killed: `killed by signal ${status}`,
		running: "still running", ended: "ended",
	};
	return Object.hasOwn(words, outcome || "") ? words[outcome] : null;
}

function lengthText(ns) {
	if (!hasClock() && !ns && moment(0) === "0")
		return "no clock, nothing numbered";
	return hasClock() ? duration(ns) : `no clock, numbered ${moment(0)} to ${moment(ns)}`;
}

function aboutNodes({ meta, section }) {
	const facts = [
		lengthText(section.ended_ns ?? section.duration_ns ?? meta.span_ns),
		outcomeText(section),
		plural(section.coroutines ?? meta.coroutines, "coroutine"),
		section.alive ? `${count(section.alive)} ${section.missing ? "not seen to die" : "alive at the end"}` : null,
		plural(section.threads_seen ?? meta.threads.length, "thread"),
		plural(section.events ?? meta.events, "event"),
		(wallClock(meta, 0) || "").replace(/\.\d+/, ""),
		section.filtered ? `filtered: ${clean(section.filtered, 100)}` : null,
	];
	const known = facts.filter(fact => fact).map((fact, i) => el("span", null, `${i ? " · " : ""}${fact}`));
	return [el("h1", null, quoted(meta.title, 100)), el("p", null, ...known)];
}

// What this page cannot show comes first.
function noticeText({ meta, section }) {
	const said = [], sections = meta.report.sections.length, parts = meta.parts.filter(part => !part.origins).length, { lost = 0, lost_of_nobody: nobody = 0 } = section;
	if (lost > nobody)
		said.push(`${plural(lost - nobody, "event")} lost: what they hide is hatched in the timeline.`);
	if (nobody)
		said.push(`${plural(nobody, "event")} lost of an unknown coroutine: the timeline does not show where.`);
	if (section.filtered)
		said.push("The trace is filtered: what was left out is hatched in the timeline, and the report judges only what the rest proves.");
	if (section.missed)
		said.push(`${count(section.missed)} ${section.missed === 1 ? "wake, name or await" : "wakes, names or awaits"} missed: `
			+ "who woke whom is not always known.");
	if (section.untraced)
		said.push(`${plural(section.untraced, "coroutine")} not traced: there was no room for more.`);
	if (section.events && !section.wakes && !section.filtered)
		said.push("The trace has no wakes: who was runnable is not known.");
	if (section.complete === false)
		said.push("The trace was cut short: what happened later is not known.");
	const omitted = `${plural(meta.omitted_coroutines, "coroutine")} and ${plural(meta.omitted_events, "event")}`;
	if (meta.omitted_coroutines || meta.omitted_events)
		said.push(`Too many for a page: ${omitted} are left out of the timeline. The report counts all of them.`);
	if (sections > parts)
		said.push(`${plural(sections - parts, "section")} of ${sections} ${sections - parts === 1 ? "is" : "are"} not on this page: ctp-tohtml --section shows them.`);
	if (meta.finding)
		said.push(`This page has only the coroutines of finding ${meta.finding}: ctp-tohtml without --finding shows all.`);
	return said.join(" ");
}

function fillIn(app) {
	const { model } = app, { meta } = model, notice = noticeText(model);
	byId("about").replaceChildren(...aboutNodes(model));
	const about = [meta.title, byId("about").lastChild.textContent, `${clean(meta.source, 200)} – ${clean(meta.tool, 100)}`];
	byId("about").title = about.map(line => clean(line, 400)).join("\n");
	byId("tabs").replaceChildren(...Object.entries(PAGES).map(([page, title]) => el("a", { href: "#/" + page, "data-page": page }, title)));
	byId("findings").replaceChildren(...panelNodes(app));
	sectionChoice(app);
	byId("notice").textContent = notice;
	byId("notice").hidden = !notice;
	if (!hasClock())
		for (const by of ["stuck", "running", "runnable", "suspended", "life"])
			byId("order").querySelector(`[value=${by}]`).remove();
}

// Another section is another trace: the page is loaded again.
function sectionChoice(app) {
	const { meta } = app.model, { sections } = meta.report, choice = byId("section");
	byId("section-label").hidden = meta.parts.length < 2;
	choice.replaceChildren(...meta.parts.map(({ section, origins }) => {
		if (origins)
			return el("option", { value: section + 1 }, `${origins[0].part.section + 1} to ${origins.at(-1).part.section + 1} of ${sections.length}: all origins on one time axis`);
		const { command, findings, origin } = sections[section], what = (command || []).join(" ") || "no command";
		const which = `${section + 1} of ${sections.length}: ${shorten(origin ? `${origin}: ${what}` : what, 40)}`;
		return el("option", { value: section + 1 }, `${which}${findings.length ? ", " + plural(findings.length, "finding") : ""}`);
	}));
	choice.value = String(meta.section + 1);
	choice.addEventListener("change", () => location.hash = sectionAddress(app, Number(choice.value)));
	if (meta.origins)
		byId("group").append(el("option", { value: "origin" }, "by origin"));
}

// For tests.
function surface(app) {
	const { model, window: seen, timeline } = app, { lanes } = model, { coros } = timeline;
	return {
		app, model,
		search: text => model.search(text),
		state: (row, t) => STATE_NAMES[lanes.stateAt(row, t)],
		shares: (row, from, to) => {
			lanes.shares(row, from, to, lanes.after(row, from), lanes.after(row, to));
			return Object.fromEntries(Array.from(lanes.share, (ns, state) => [STATE_NAMES[state], ns]));
		},
		visible: () => ({ from: seen.from, to: seen.to, rows: coros.count, first: coros.first, last: coros.last }),
		where: (row, t) => ({ x: timeline.x(t), y: coros.y(coros.index(row)) + coros.rowHeight / 2 }),
	};
}

async function start() {
	const say = (what, share) => {
		byId("loading-what").textContent = what;
		byId("loading-share").value = share;
	};
	try {
		const model = new Model(await readTrace(say));
		useClock(model.meta);
		useFolder(model.meta.places);
		await model.build(say);
		const app = new App(model);
		fillIn(app);
		window.ctp = surface(app);
		document.body.classList.remove("loading");
		byId("loading").remove();
		await app.route();
		await app.overview.counted;
		await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
	} catch (error) {
		const text = `This page cannot be ${byId("loading") ? "read" : "shown"}: ${clean(error.message, 300)}.`;
		(byId("loading-what") || byId("notice")).textContent = text;
		byId("notice").hidden = Boolean(byId("loading"));
		byId("loading-share")?.remove();
		throw error;
	}
}

window.ctpReady = new Promise((resolve, reject) => {
	document.addEventListener("DOMContentLoaded", () => start().then(resolve, reject));
});
