"use strict";
// findings.js - the findings of ctp-report, in its order: certainty, evidence, and what to look at. A click shows the moment.

const CERTAINTY = {
	proved: "the trace has the fact itself: it holds whatever else happened",
	likely: "the trace speaks for it, but does not prove it",
	possible: "the wait stands out, but there is an excuse for it",
	unknown: "events were lost: it may be so",
};

// Rules about running coroutines.
const RUNNING_RULES = new Set(["crash", "stalled-thread", "blocking-call", "long-run", "double-resume", "use-after-death"]);

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

// How long; without a clock, since which record number.
function sinceOrFor({ ordinal, start_ns: first }, { since_ns, for_ns }) {
	return ordinal ? `since ${numberAt(first, since_ns)}` : `for ${duration(for_ns, true)}`;
}

function membersNode({ site, coroutine, section }, { coroutines, members }) {
	if (!coroutines.length)
		return null;
	const spread = coroutines.some(member => member.suspend_site !== coroutines[0].suspend_site);
	const items = coroutines.map(member => el("li", null, coroutine(member),
		el("span", { class: "faint" }, ` ${clean(member.state, 40)} ${sinceOrFor(section, member)}`),
		spread && member.suspend_site ? el("span", null, el("span", { class: "faint" }, " at "), site(member.suspend_site)) : null));
	const some = `The report lists ${count(coroutines.length)} of ${count(members)}. Its sites find all that were there.`;
	return el("details", null, el("summary", null, "who"), el("ul", { class: "who" }, ...items),
		members > coroutines.length ? el("p", { class: "faint" }, some) : null);
}

// What a waiter does, in the words of the other forms of the report.
function waitText(section, waiter) {
	const does = waiter.state === "runnable" ? "ready to run " : waiter.state === "born" ? "not yet run " : "";
	return ` ${does}${sinceOrFor(section, waiter)}${does || waiter.told ? "" : " (inferred)"}`;
}

// The coroutines that wait because of the finding, each below the one that it waits for, the longest first. Roots are not
// in the list.
function treeNode({ site, coroutine, section }, { coroutines, awaits, waiting, members }) {
	if (!awaits || !awaits.length)
		return null;
	const left = new Set([...awaits].sort((a, b) => b.for_ns - a.for_ns));
	const below = coro => {
		const waiters = [...left].filter(waiter => waiter.waits_for === coro);
		waiters.forEach(waiter => left.delete(waiter));
		return waiters.length ? el("ul", null, ...waiters.map(waiter => el("li", null, coroutine(waiter),
			waiter.suspend_site ? el("span", null, el("span", { class: "faint" }, " at "), site(waiter.suspend_site)) : null,
			el("span", { class: "faint" }, waitText(section, waiter)), below(waiter.coro)))) : null;
	};
	const root = member => [member, below(member.coro)];
	const roots = coroutines.map(root).filter(([, list]) => list), listed = new Set(awaits.map(waiter => waiter.coro));
	for (const strict of [true, false])
		for (const waiter of [...left])
			if (left.has(waiter) && !(strict && listed.has(waiter.waits_for)))
				roots.push(root({ coro: waiter.waits_for, name: null }));
	const items = roots.map(([member, list]) => el("li", null, coroutine(member), list));
	return el("details", { open: "" }, el("summary", null, `waiting because of ${members === 1 ? "it" : "them"}: ${count(waiting)}`),
		el("ul", { class: "who tree" }, ...items),
		waiting > awaits.length ? el("p", { class: "faint" }, `The report lists ${count(awaits.length)} of them.`) : null);
}

// links: how a site and a coroutine are shown, and the section; toggle: what a click does.
function findingNode(finding, links, toggle) {
	const { site } = links;
	const head = el("button", { type: "button", class: "head", "aria-pressed": "false", onclick: toggle },
		badgesNode(finding), el("span", { class: "title" }, quoted(finding.title, 300)));
	const body = el("div", { class: "body" },
		whereNode(site, RUNNING_RULES.has(finding.rule) ? "resumed from" : "suspended at", finding.suspend_site), whereNode(site, "spawned at", finding.spawn_site),
		linesNode("evidence", finding.evidence), linesNode("look at", finding.next), membersNode(links, finding),
		treeNode(links, finding));
	return el("li", { class: "finding" }, head, body);
}

function choose(node, on) {
	node.classList.toggle("chosen", on);
	node.querySelector(".head").setAttribute("aria-pressed", String(on));
}

// The findings of the section that the timeline shows: app.findingNodes has them by index.
function findingsNode(app) {
	const { section, leads } = app.model, list = el("ol");
	const links = { site: siteNode(app), coroutine: member => coroutineNode(app, member), section };
	for (const [index, finding] of leads.entries()) {
		app.findingNodes[index] = findingNode(finding, links, () => app.toggleFinding(index));
		list.append(app.findingNodes[index]);
	}
	return list;
}

const MOST_STILL = 6;

// Coroutines that waited or ran at the end and are in no finding, as ctp-report lists them.
function stillNode(app, title, list) {
	const items = list.filter(item => item.in_findings < item.coroutines), left = items.length - MOST_STILL;
	const longest = hasClock() ? ", the longest " : ", the first ";
	if (!items.length)
		return null;
	const nodes = items.slice(0, MOST_STILL).map(item => el("li", null, plural(item.coroutines, "coroutine"),
		item.suspend_site || item.spawn_site ? " at " : "", whereOf(app, item),
		hasClock() ? el("span", { class: "faint" }, ` for ${duration(item.longest_ns)}${item.coroutines > 1 ? " at most" : ""}`) : null,
		item.longest ? el("span", null, item.coroutines > 1 ? longest : ", ", coroutineNode(app, item.longest)) : null,
		item.certain ? null : el("span", { class: "faint" }, " (not certain)")));
	const more = left > 0 ? el("a", { href: "#/waiting" }, `and ${count(left)} more`) : null;
	return el("div", { class: "lines" }, el("h3", null, title), el("ul", null, ...nodes), more);
}

function whereOf(app, { suspend_site: suspend, spawn_site: spawn }) {
	return suspend || spawn ? siteNode(app)(suspend || spawn) : "";
}

// The panel: the words of the report about the section.
function panelNodes(app) {
	const { meta, section, leads } = app.model, { findings, caveats, waiting, running } = section, closing = meta.closing || [];
	const unmatched = meta.report.ignore_unmatched || [];
	const verdict = (meta.verdicts || [])[meta.section] || (findings.length ? plural(findings.length, "finding") : "No findings");
	return [el("h2", null, verdict), leads.length ? findingsNode(app) : null, linesNode("what this could not see", caveats),
		stillNode(app, "still waiting at the end, but no finding", waiting),
		stillNode(app, "still running at the end, but no finding", running),
		...otherFindingsNodes(app.model), ...closing.map(line => el("p", { class: "closing" }, line)),
		unmatched.length ? el("p", { class: "closing" }, "To be ignored, but no finding is like it: ", quoted(unmatched.join(", "), 300)) : null,
	].filter(node => node);
}

// The findings of other sections, which the timeline cannot show.
function otherFindingsNodes(model) {
	const coroutine = ({ name, coro, in: within }) => quoted(`${name || ""} ${idText(coro)}${!name && within ? ", in " + within : ""}`, 120);
	const nodes = [];
	model.meta.report.sections.forEach((section, number) => {
		const leads = leadsOf(section);
		if (number === model.meta.section || !leads.length)
			return;
		const links = { site: site => quoted(site, 100), coroutine, section };
		const list = leads.map(finding => {
			const node = findingNode(finding, links, () => choose(node, !node.classList.contains("chosen")));
			return node;
		});
		nodes.push(el("h2", null, `Section ${number + 1}, not in the timeline`), el("ol", null, ...list));
	});
	return nodes;
}
