// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// waittree.js - the forest of waits.js as a picture: each arrow leads from what waits to what it waits for.
//
// In a narrow panel each node has a line of its own, to the right of and below what it waits for. In a wide dialog each level has a
// column. The edge that closes a circle goes around the other nodes. An edge that the report inferred is dashed.

const NARROW = { gap: 6, step: 15, margin: 16, letter: 6.6, small: 5.6 };
const WIDE = { gap: 17, step: 262, most: 380, between: 36, margin: 14, letter: 6.9, small: 5.9 };
const TWO_LINES = 33, ONE_LINE = 20;
const TREE_TITLE = "Which coroutine waits for which";
const NODES_IN_PANEL = 5, NODES_IN_DIALOG = 60;

// In the panel, those that wait at the end of a branch have one line.
function isShort(node, wide) {
	return !node || !wide && !node.children.length && !node.circle && !node.object;
}

// Where each row of firstNodes() is: { boxes: [{ node, left, x, y, w, h, parent: index or -1 }], width, height }.
function placeNodes(rows, width, wide) {
	const form = wide ? WIDE : NARROW, boxes = [], at = [], levels = 1 + rows.reduce((most, { depth }) => Math.max(most, depth), 0);
	const turns = rows.some(({ node }) => node && node.closes) ? form.margin : 2;
	const step = wide ? Math.min(form.most, width / levels) : form.step;
	let y = 2, next = 2;
	rows.forEach(({ node, depth, left, alike }, i) => {
		const beside = wide && i > 0 && depth === rows[i - 1].depth + 1; // the first child is in the line of its parent
		y = beside ? y : next;
		const x = 2 + (wide ? depth * step : Math.min(depth * step, width * 0.4)), w = wide ? step - form.between : width - x - turns;
		const h = isShort(node, wide) ? ONE_LINE : TWO_LINES;
		boxes.push({ node, left, alike, x, y, w, h, parent: depth ? at[depth - 1] : -1 });
		next = Math.max(next, y + h + (h === ONE_LINE && !wide ? 3 : form.gap));
		at[depth] = i;
	});
	const right = boxes.reduce((most, box) => Math.max(most, box.x + box.w), 0);
	return { boxes, width: right + turns, height: next };
}

function svgNode(tag, attrs, ...children) {
	return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attrs, children);
}

// An arrow's head with its tip at x, y.
function headPath(x, y, toward) {
	const [dx, dy] = { up: [0, 1], left: [1, 0] }[toward];
	return `M${x} ${y}l${5 * dx + 3.5 * dy} ${5 * dy + 3.5 * dx}l${-7 * dy} ${-7 * dx}z`;
}

// From a box to the one that it waits for. The line begins at that one: so the dashes of several lines are in the same places.
function edgePath(box, to, wide) {
	const y = box.y + box.h / 2;
	if (!wide) {
		const x = to.x + 7, from = to.y + to.h;
		return { line: `M${x} ${from + 4}V${y}H${box.x}`, head: headPath(x, from + 1, "up") };
	}
	const middle = to.x + to.w + 14, end = to.y + to.h / 2;
	return { line: `M${to.x + to.w + 4} ${end}H${middle}V${y}H${box.x}`, head: headPath(to.x + to.w + 1, end, "left") };
}

// From the root of a circle to the box at its other end, which it waits for.
function closingPath(root, to, wide) {
	if (!wide) {
		const apart = root === to ? 6 : 0, x = Math.max(root.x + root.w, to.x + to.w);
		const y = root.y + root.h / 2 - apart, end = to.y + to.h / 2 + apart;
		const out = `M${root.x + root.w} ${y}H${x + 4}Q${x + 12} ${y} ${x + 12} ${y + 8}`;
		return { line: `${out}V${end - 8}Q${x + 12} ${end} ${x + 6} ${end}H${to.x + to.w + 6}`,
			head: headPath(to.x + to.w + 1, end, "left") };
	}
	const low = to.y + to.h + 12, from = root.x + 20, end = to.x + to.w - 20;
	const down = `M${from} ${root.y + root.h}V${low - 5}Q${from} ${low} ${from + 5} ${low}`;
	return { line: `${down}H${end - 5}Q${end} ${low} ${end} ${low - 5}V${to.y + to.h + 4}`,
		head: headPath(end, to.y + to.h + 1, "up") };
}

// The two lines of a node, and all of it in words.
function nodeTexts({ member, object }, section) {
	if (object)
		return { title: objectTitle(object), more: objectText(object), words: `${objectTitle(object)}: ${objectText(object)}` };
	const { coro, in: within, state } = member, name = member.name || functionOf(member.spawn_site || ""), id = idText(coro);
	const inferred = isInferred(member), site = member.suspend_site ? shortSite(member.suspend_site) : member.suspend_site;
	const title = (name ? `${name} ${id}` : id) + (!member.name && within ? `, in ${within}` : "");
	const does = state ? `${WAITING_WORDS[state] || state} ${sinceOrFor(section, member)}${inferred ? " (inferred)" : ""}` : "";
	const words = [title, does, site ? "at " + site : ""].filter(part => part).join(" ");
	return { title, more: does || (member.alive === false ? "has ended" : ""), site, words };
}

// Whether the report only infers what a coroutine waits for.
function isInferred({ told, state }) {
	return told === false && state !== "runnable" && state !== "born";
}

const INFERRED = "Dashed arrows are inferred: the trace does not say what these coroutines wait for. They lead to a coroutine that has ended such waits before.";

function anyInferred(roots) {
	return roots.some(({ member, children, parent }) => parent && member && isInferred(member) || anyInferred(children));
}

const WAITING_WORDS = { suspended: "waits", runnable: "woken, not resumed", born: "not yet run", running: "runs" };

function stockText(object) {
	const n = Math.max(object.waiters || 0, object.here), free = freeText(object);
	return `${free === "not known" ? "" : free + " available, "}${count(n)} ${n === 1 ? "waits" : "wait"}`;
}

// In the words of the report's sentences.
function unheldText({ unheld }) {
	return unheld ? ", which no coroutine holds" : "";
}

function objectText(object) {
	const { holders, held_by_others: others } = object, held = (holders || []).length + (others ? 1 : 0);
	return stockText(object) + (!held ? unheldText(object) : held === 1 ? ", held" : ", held by several");
}

// The texts of a box, cut to its width.
function boxTexts({ node, w, h }, { title, more, site }, wide) {
	const form = wide ? WIDE : NARROW, room = w - 16, letters = Math.floor(room / form.small);
	if (h === ONE_LINE) {
		const end = more.replace(/^waits for (.*?)( \(inferred\))?$/, (_, long, inferred) => inferred ? `inferred, ${long}` : long);
		const most = Math.max(8, Math.floor((room - end.length * 6) / form.letter));
		return [svgNode("text", { class: "name", x: 10, y: 14 }, isolate(shorten(title, most))),
			svgNode("text", { class: "more", x: w - 6, y: 14, "text-anchor": "end" }, isolate(clean(end, 60)))];
	}
	const rest = letters - more.length - 4, line = more + (site && rest > 9 ? ` at ${shorten(site, rest)}` : "");
	const head = shorten(title, Math.max(8, Math.floor(room / form.letter)));
	return [svgNode("text", { class: "name", x: 10, y: 14 }, isolate(head)),
		svgNode("text", { class: "more", x: 10, y: 27 }, isolate(shorten(line, node.object ? letters : Infinity)))];
}

function boxNode(app, index, box, section, wide) {
	const { node, left, alike, x, y, w, h } = box;
	if (!node)
		return svgNode("text", { class: "left", x: x + 4, y: y + 14 }, alike ? `and ${count(alike)} more like it` : `and ${count(left)} more`);
	const named = node.member ? { member: withName(app, node.member) } : node;
	const texts = nodeTexts(named, section), row = node.member ? app.model.row(node.member.coro) : -1, words = clean(texts.words, 400);
	const kind = [node.object ? "thing" : "who", node.circle ? "circle" : "", node.member ? node.member.state || "" : ""].join(" ");
	const inner = svgNode("svg", { x, y, width: w, height: h }, svgNode("title", null, words),
		svgNode("rect", { x: 0.5, y: 0.5, width: w - 1, height: h - 1, rx: node.object ? 9 : 3 }),
		node.object ? null : svgNode("rect", { class: "bar", x: 0.5, y: 0.5, width: 4, height: h - 1 }),
		...boxTexts(box, texts, wide));
	const attrs = row >= 0 ? rowLink(app, index, row) : node.object ? searchAttrs(app, objectWords(node.object)) : null;
	return svgNode(attrs ? "a" : "g", { class: kind, ...attrs }, inner);
}

// The edges of the picture, { from, to, node }: those of circles are painted last.
function edgeNodes(boxes, wide) {
	const of = new Map(boxes.map((box, i) => [box.node, i])), edges = [];
	const add = (from, to, { line, head }, circle) => {
		const paths = [svgNode("path", { class: "line", d: line }), svgNode("path", { class: "head", d: head })];
		const { member } = boxes[from].node, kind = `edge${circle ? " circle" : ""}${member && isInferred(member) ? " inferred" : ""}`;
		edges.push({ from, to, circle, node: svgNode("g", { class: kind }, ...paths) });
	};
	boxes.forEach((box, i) => {
		const { node, parent } = box, root = node && node.closes;
		if (node && parent >= 0)
			add(i, parent, edgePath(box, boxes[parent], wide), node.circle && boxes[parent].node.circle);
		if (root && of.has(root))
			add(of.get(root), i, closingPath(boxes[of.get(root)], box, wide), true);
	});
	return edges.sort((a, b) => a.circle - b.circle);
}

// The picture of a forest. index: of the finding; most: nodes.
function waitTree(app, index, roots, { width, most, wide = false }) {
	const { boxes, width: w, height: h } = placeNodes(firstNodes(roots, most), width, wide);
	const nodes = boxes.map(box => boxNode(app, index, box, app.model.section, wide)), edges = edgeNodes(boxes, wide);
	lightPath(app, boxes, nodes, edges);
	const attrs = { class: "waits", role: "group", "aria-label": TREE_TITLE, width: w, height: h, viewBox: `0 0 ${w} ${h}` };
	return svgNode("svg", attrs, ...edges.map(({ node }) => node), ...nodes);
}

// Under the pointer or with the focus: what a node waits for, up to the end, and its row of the timeline.
function lightPath(app, boxes, nodes, edges) {
	const { timeline, model } = app;
	const turn = (i, on) => {
		for (let at = i, steps = 0; at >= 0 && steps <= boxes.length; at = boxes[at].parent, steps++) {
			nodes[at].classList.toggle("lit", on);
			edges.filter(({ from }) => from === at).forEach(({ node }) => node.classList.toggle("lit", on));
		}
		const { member } = boxes[i].node || {};
		timeline.hovered = on && member ? model.row(member.coro) : -1;
		timeline.invalidate();
	};
	nodes.forEach((node, i) => {
		for (const [event, on] of [["pointerenter", true], ["pointerleave", false], ["focus", true], ["blur", false]])
			node.addEventListener(event, () => turn(i, on));
	});
}

// The picture with more nodes and more room: in columns if they fit.
function openTree(app, index, roots) {
	const room = Math.max(280, Math.min(innerWidth - 90, 1340));
	const deep = firstNodes(roots, NODES_IN_DIALOG).reduce((most, { depth }) => Math.max(most, depth + 1), 0);
	const wide = deep * WIDE.step <= room, dialog = el("dialog", { class: "tree-dialog", "aria-label": TREE_TITLE });
	const picture = waitTree(app, index, roots, { width: wide ? room : Math.min(room, 760), most: NODES_IN_DIALOG, wide });
	dialog.append(el("div", { class: "acts" }, el("h2", null, "Which waits for which"),
		el("button", { type: "button", onclick: () => dialog.close() }, "close")),
	el("p", { class: "faint" }, `Each arrow leads from what waits to what it waits for. ${anyInferred(roots) ? INFERRED + " " : ""}A coroutine leads to its row.`),
	el("div", { class: "canvas" }, picture));
	dialog.addEventListener("keydown", event => event.stopPropagation()); // Esc closes the dialog alone
	dialog.addEventListener("click", event => event.target.closest("a") && dialog.close());
	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
}
