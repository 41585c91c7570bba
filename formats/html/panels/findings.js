// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// findings.js - the panel: the findings of ctp-report in its order, then the waits that stand out. A click shows the moment.
//
// What a finding says below its title is made when it is first opened: there may be a thousand.

const CERTAINTY = {
	proved: "the trace has the fact itself: it holds whatever else happened",
	likely: "the trace speaks for it, but does not prove it",
	possible: "the wait stands out, but there is an excuse for it",
	unknown: "events were lost: it may be so",
};

function badgesNode({ certainty, rule, members, waiting, origin }) {
	const known = Object.hasOwn(CERTAINTY, certainty) ? certainty : "unknown";
	return el("span", { class: "badges" },
		el("span", { class: "badge " + known, title: CERTAINTY[known] }, clean(certainty, 20)),
		el("span", { class: "rule" }, clean(rule, 40)), origin ? quoted(origin, 40) : null,
		members ? el("span", { class: "members" }, plural(members, "coroutine") + (waiting ? ` + ${count(waiting)} waiting` : "")) : null);
}

function othersNodes({ members, waiting }) {
	const text = `and ${plural(waiting, "other")} ${waiting === 1 ? "waits" : "wait"} because of ${members === 1 ? "it" : "them"}`;
	return waiting ? [el("span", { class: "others" }, text)] : [];
}

const isPhone = () => matchMedia("(max-width: 56em)").matches;

// fill: makes the body; press: what a click on the title does.
function findingNode(finding, fill, press) {
	const attrs = { type: "button", class: "head", "aria-pressed": "false", "aria-expanded": "false", onclick: press };
	const head = el("button", attrs, badgesNode(finding), el("span", { class: "title" }, quoted(finding.title, 300)), ...othersNodes(finding));
	const body = el("div", { class: "body" }), node = el("li", { class: "finding" }, head, body);
	node.fill = () => {
		if (!body.hasChildNodes())
			body.append(...fill().filter(part => part));
	};
	return node;
}

function choose(node, on) {
	if (on)
		node.fill();
	if (on && !node.classList.contains("chosen"))
		setTimeout(() => node.querySelector(".head").scrollIntoView({ block: "nearest" }));
	node.classList.toggle("chosen", on);
	if (!on)
		node.classList.remove("unfolded");
	node.querySelector(".head").setAttribute("aria-pressed", String(on));
	sayFolded(node);
}

function sayFolded(node) {
	const open = node.classList.contains(isPhone() ? "unfolded" : "chosen");
	node.querySelector(".head").setAttribute("aria-expanded", String(open));
}

// On a phone a finding that is shown is still folded: the first press opens it, the next one folds it again.
function pressFinding(app, index) {
	const node = app.findingNodes[index];
	if (!isPhone())
		return app.showFinding(index);
	const unfold = !node.classList.contains("unfolded");
	if (index !== app.finding)
		app.showFinding(index);
	node.classList.toggle("unfolded", unfold);
	sayFolded(node);
}

// The findings of the section that the timeline shows: app.findingNodes has them by index.
function findingsNodes(app) {
	const { section, leads } = app.model, nodes = app.findingNodes;
	for (const [index, finding] of leads.entries())
		nodes[index] = findingNode(finding, () => findingBody(app, index, finding), () => pressFinding(app, index));
	const found = nodes.slice(0, section.findings.length), others = nodes.slice(section.findings.length);
	addEventListener("beforeprint", () => nodes.forEach(node => node.fill()));
	if (nodes.length) {
		nodes[0].fill();
		nodes[0].classList.add("first");
	}
	return [found.length ? el("ol", null, ...found) : null,
		others.length ? el("h2", { class: "lesser" }, "Stands out, but is no finding") : null,
		others.length ? el("ol", { class: "lesser" }, ...others) : null];
}

const MOST_STILL = 6;

// Coroutines that waited or ran at the end and are in no finding, as ctp-report lists them.
function stillNode(app, title, list) {
	const items = list.filter(item => item.in_findings < item.coroutines), left = items.length - MOST_STILL;
	const longest = hasClock() ? ", the longest " : ", the first ";
	if (!items.length)
		return null;
	const nodes = items.slice(0, MOST_STILL).map(item => el("li", null, plural(item.coroutines, "coroutine"),
		item.suspend_site || item.spawn_site ? " at " : "", whereOf(app, item), item.origin ? el("span", null, " on ", quoted(item.origin, 40)) : null,
		hasClock() ? el("span", { class: "faint" }, ` for ${duration(item.longest_ns)}${item.coroutines > 1 ? " at most" : ""}`) : null,
		usualNode(item),
		item.longest ? el("span", null, item.coroutines > 1 ? longest : ", ", selectNode(app, -1, item.longest)) : null,
		item.certain ? null : el("span", { class: "faint" }, " (not certain)")));
	const more = left > 0 ? el("a", { href: app.link("waiting") }, `and ${count(left)} more`) : null;
	return el("div", { class: "lines" }, el("h3", null, title), el("ul", null, ...nodes), more);
}

// How long other waits there took, which shows whether these are stuck.
function usualNode({ ended, ended_max_ns: most }) {
	return ended && hasClock() ? el("span", { class: "faint" }, `; ${count(ended)} earlier ${ended === 1 ? "wait" : "waits"} there ended within ${duration(most)}`) : null;
}

function whereOf(app, { suspend_site: suspend, spawn_site: spawn }) {
	return suspend || spawn ? siteLink(app, suspend || spawn) : "";
}

// The panel: the words of the report about the section.
function panelNodes(app) {
	const { meta, section, leads } = app.model, { findings, caveats, waiting, running } = section, closing = meta.closing || [];
	const unmatched = meta.report.ignore_unmatched || [];
	const verdict = section.verdict || (meta.verdicts || [])[meta.section] || (findings.length ? plural(findings.length, "finding") : "No findings");
	return [el("h2", null, verdict), originsNode(app), ...leads.length ? findingsNodes(app) : [], linesNode("what this could not see", caveats),
		stillNode(app, "still waiting at the end, but no finding", waiting),
		stillNode(app, "still running at the end, but no finding", running),
		...otherFindingsNodes(app), folder ? el("p", { class: "closing" }, "Files are in ", quoted(folder, 200)) : null,
		...closing.map(line => el("p", { class: "closing" }, line)),
		unmatched.length ? el("p", { class: "closing" }, "To be ignored, but no finding is like it: ", quoted(unmatched.join(", "), 300)) : null,
	].filter(node => node);
}

// The findings of other sections, which the timeline cannot show.
function otherFindingsNodes(app) {
	const { model } = app, nodes = [], origins = model.meta.origins || [];
	model.meta.report.sections.forEach((section, number) => {
		const leads = leadsOf(section);
		if (number === model.meta.section || !leads.length || origins.some(({ part }) => part.section === number))
			return;
		const list = leads.map(finding => {
			const node = findingNode(finding, () => otherBody(finding, section), () => {
				choose(node, !node.classList.contains("chosen"));
				node.classList.toggle("unfolded", node.classList.contains("chosen"));
				sayFolded(node);
			});
			return node;
		});
		const there = model.hasSection(number + 1), title = `Section ${number + 1}, not in the timeline`;
		const show = there ? el("a", { href: writeAddress({ page: "finding", arg: "0", section: number + 1 }) }, "show it") : null;
		nodes.push(el("h2", null, title, show ? ": " : "", show), el("ol", null, ...list));
	});
	return nodes;
}
