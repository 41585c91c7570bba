// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// findingtext.js - a finding as Markdown, to be pasted into an issue or a chat.

// A text from the trace as code, whatever is in it.
function codeText(text, most = 300) {
	const said = clean(text, most), ticks = Math.max(0, ...[...said.matchAll(/`+/g)].map(([run]) => run.length));
	const fence = "`".repeat(ticks + 1), pad = /^`|`$/.test(said) || !said.trim() ? " " : "";
	return `${fence}${pad}${said}${pad}${fence}`;
}

// A sentence of the report: what Markdown could take for markup is escaped.
function plainText(text, most = 1000) {
	return clean(text, most).replace(/[\\`*_[\]<>|~&$#@!]/g, "\\$&");
}

function whoText({ coro, name, in: within }) {
	return codeText(name ? `${name} (${idText(coro)})` : within ? `${idText(coro)}, in ${within}` : idText(coro));
}

function forestLines(nodes, section, depth = 0) {
	return nodes.flatMap(node => {
		const { member, object, closes, children } = node, indent = "  ".repeat(depth) + "- ";
		const site = member && member.suspend_site ? ` at ${codeText(member.suspend_site)}` : "";
		const text = object ? `${codeText(objectTitle(object))}: ${plainText(objectText(object))}`
			: `${whoText(member)}${site}${member.state ? `, ${sinceOrFor(section, member)}` : ""}${isInferred(member) ? " (inferred)" : ""}`;
		const circle = closes ? `, for which ${closes.member ? whoText(closes.member) : "the first"} waits: a circle` : "";
		return [indent + text + circle, ...forestLines(children, section, depth + 1)];
	});
}

const MOST_IN_TEXT = 20;

function memberLines({ coroutines, members }, section) {
	const lines = coroutines.slice(0, MOST_IN_TEXT).map(member => {
		const site = member.suspend_site ? ` at ${codeText(member.suspend_site)}` : "";
		return `- ${whoText(member)} ${plainText(member.state, 40)} ${sinceOrFor(section, member)}${site}`;
	});
	return members > lines.length ? [...lines, `- and ${count(members - lines.length)} more`] : lines;
}

function wantedLine(object) {
	const { holders, held_by_others: others } = object;
	const held = [...(holders || []).map(whoText), ...others ? [`${count(others)} more`] : []];
	const by = held.length ? `, held by ${held.join(", ")}` : unheldText(object);
	return `- ${codeText(alikeTitle(object))}: ${stockText(object)}${by}`;
}

// link: the fragment of the address that shows the finding.
function findingMarkdown(finding, section, link) {
	const { title, certainty, rule, evidence, next } = finding;
	const lines = [`### ${plainText(title, 400)}`, "", `${plainText(certainty, 40)}, ${plainText(rule, 40)}`];
	const part = (heading, list) => list.length && lines.push("", `**${heading}**`, "", ...list);
	const roots = waitForest(finding, section.objects).filter(({ children, closes }) => children.length || closes);
	if (finding.suspend_site)
		lines.push("", `${RUNNING_RULES.has(rule) ? "resumed from" : "suspended at"} ${codeText(finding.suspend_site)}`);
	if (finding.spawn_site)
		lines.push("", `spawned at ${codeText(finding.spawn_site)}`);
	part("waits for", alikeObjects(wantedBy(finding, section.objects)).map(wantedLine));
	part("evidence", evidence.map(line => "- " + plainText(line)));
	part("who", memberLines(finding, section));
	part("which waits for which", forestLines(roots, section));
	part("next", next.map(line => "- " + plainText(line)));
	lines.push("", `In the page of the trace, paste this into the search: ${codeText(link, 1000)}`);
	return lines.join("\n") + "\n";
}
