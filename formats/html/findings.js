"use strict";
// findings.js - what ctp-report found, in its order: how certain, why, and what to look at. A click filters the timeline.

const CERTAINTY = {
	proved: "nothing that is missing could change it",
	likely: "the trace speaks for it, but does not prove it",
	unknown: "events were lost: it may be so",
};

// Those that are about coroutines that run.
const RUNNING_RULES = new Set(["stalled-thread", "long-run", "double-resume", "use-after-death"]);

function badgesNode({ certainty, rule, members }) {
	const known = Object.hasOwn(CERTAINTY, certainty) ? certainty : "unknown";
	return el("span", { class: "badges" },
		el("span", { class: "badge " + known, title: CERTAINTY[known] }, clean(certainty, 20)),
		el("span", { class: "rule" }, clean(rule, 40)),
		members ? el("span", { class: "members" }, plural(members, "coroutine")) : null);
}

function linesNode(title, lines) {
	if (!lines || !lines.length)
		return null;
	const items = lines.map(line => el("li", null, quoted(line, 1000)));
	return el("div", { class: "lines" }, el("h3", null, title), el("ul", null, ...items));
}

function whereNode(node, title, site) {
	return site ? el("div", null, el("span", { class: "faint" }, title), " ", node(site)) : null;
}

function membersNode(node, { coroutines, members }) {
	if (!coroutines.length)
		return null;
	const items = coroutines.map(member => el("li", null, node(member),
		el("span", { class: "faint" }, ` ${clean(member.state, 40)} for ${duration(member.for_ns)}`)));
	const some = `The report lists ${count(coroutines.length)} of ${count(members)}. Its sites find all that were there.`;
	return el("details", null, el("summary", null, "who"), el("ul", { class: "who" }, ...items),
		members > coroutines.length ? el("p", { class: "faint" }, some) : null);
}

// links: how a site and a coroutine are shown; toggle: what a click does.
function findingNode(finding, { site, coroutine }, toggle) {
	const head = el("button", { type: "button", class: "head", "aria-pressed": "false", onclick: toggle },
		badgesNode(finding), el("span", { class: "title" }, quoted(finding.title, 300)));
	const body = el("div", { class: "body" },
		whereNode(site, RUNNING_RULES.has(finding.rule) ? "resumed from" : "suspended at", finding.suspend_site), whereNode(site, "spawned at", finding.spawn_site),
		linesNode("evidence", finding.evidence), linesNode("look at", finding.next), membersNode(coroutine, finding));
	return el("li", { class: "finding" }, head, body);
}

function choose(node, on) {
	node.classList.toggle("chosen", on);
	node.querySelector(".head").setAttribute("aria-pressed", String(on));
}

// Those of the section that the timeline shows: app.findingNodes has them by their index.
function findingsNode(app) {
	const links = { site: siteNode(app), coroutine: member => coroutineNode(app, member) }, list = el("ol");
	for (const [index, finding] of app.model.section.findings.entries()) {
		app.findingNodes[index] = findingNode(finding, links, () => app.toggleFinding(index));
		list.append(app.findingNodes[index]);
	}
	return list;
}

// Those of the trace's other sections, which can be read but not be shown in the timeline.
function otherFindingsNodes(model) {
	const coroutine = ({ name, coro }) => quoted(`${name || ""} ${idText(coro)}`, 80);
	const links = { site: site => quoted(site, 100), coroutine };
	const nodes = [];
	model.meta.report.sections.forEach((section, number) => {
		if (number === model.meta.section || !section.findings.length)
			return;
		const list = section.findings.map(finding => {
			const node = findingNode(finding, links, () => choose(node, !node.classList.contains("chosen")));
			return node;
		});
		nodes.push(el("h2", null, `Section ${number + 1}, not in the timeline`), el("ol", null, ...list));
	});
	return nodes;
}
