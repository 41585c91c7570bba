// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// waits.js - what the coroutines of a finding wait for: the objects, who holds them, and the forest of waits.
//
// In the forest each node waits for its parent: a coroutine for an object or for another coroutine, an object for its holder. Each
// has one parent at most, so what is not a tree ends in a circle. Such a circle is cut at one node, its root, and the node at the
// other end of the cut has the root in closes.

const THINGS = {
	lock: "lock", permits: "pool", item: "queue", room: "queue", queue: "queue", event: "event", barrier: "barrier",
	timer: "timer", descriptor: "descriptor",
};

function objectKey({ pid, object }) {
	return `${pid} ${object}`;
}

// "pool 'db pool'"; "lock made at pool.c:30:main"; "lock 0x55e2a1d171c4".
function objectTitle({ kind, name, made_site: made, object }) {
	const thing = Object.hasOwn(THINGS, kind || "") ? THINGS[kind] : "object";
	if (name)
		return `${thing} '${name}'`;
	return made ? `${thing} made at ${shortSite(made)}` : object ? `${thing} ${object.replace(/^0x0+(?=.)/, "0x")}` : thing;
}

// What finds it among the reasons of waits.
function objectWords({ name, object }) {
	return name || object.replace(/^0x0+(?=.)/, "0x");
}

// How much of an object is available, in the report's words: "0 of 4", "some, room for 5".
function freeText({ available_text: text }) {
	return (text ?? "?").replace(/^\?/, "not known");
}

// Objects of a kind and a name, or made at a place, that are in the same state and that nobody holds, as one: with `alike`, which is how
// many they are. Those that nobody waits for need no name. The most waited for come first.
function alikeObjects(objects) {
	const groups = new Map();
	for (const item of objects) {
		const { kind, name, made_site: made, object, pid, origin, holders, held_by_others: others, waiters, here } = item;
		const own = (holders || []).length || others || !name && !made && (waiters || here) || !object;
		const key = own ? item : JSON.stringify([kind, pid, origin, name, made, freeText(item), !holders]), first = groups.get(key);
		const longest_ns = first && Math.max(first.longest_ns || 0, item.longest_ns || 0);
		groups.set(key, !first ? { ...item, alike: 1 } : { ...first, alike: first.alike + 1, longest_ns,
			waiters: (first.waiters || 0) + (waiters || 0), here: (first.here || 0) + (here || 0) });
	}
	return [...groups.values()].sort((a, b) => Math.max(b.waiters || 0, b.here || 0) - Math.max(a.waiters || 0, a.here || 0));
}

// The title of such a group: "queue 'write queue' × 32".
function alikeTitle(item) {
	const { alike, name, made_site: made, kind } = item;
	const title = alike > 1 && !name && !made ? `${objectTitle({ kind })} without a name` : objectTitle(item);
	return alike > 1 ? `${title} × ${count(alike)}` : title;
}

// The coroutines that a finding lists: its members, then those that wait because of them.
function listedIn({ coroutines, awaits }) {
	return [...coroutines, ...awaits || []];
}

// What the listed coroutines of a finding wait for, the most waited for first: objects as in the report, with `here`, which is how
// many of those coroutines wait for it. Timers and descriptors have no holder.
function wantedBy(finding, objects = []) {
	const known = new Map(objects.map(object => [objectKey(object), object])), wanted = new Map();
	for (const { reasons } of listedIn(finding))
		for (const reason of reasons || []) {
			const key = reason.object ? objectKey(reason) : `${reason.kind} ${reason.fd ?? ""}`;
			if (!wanted.has(key))
				wanted.set(key, { ...reason, name: null, available: null, holders: null, ...known.get(key), here: 0 });
			wanted.get(key).here++;
		}
	return [...wanted.values()].sort((a, b) => b.here - a.here);
}

// The roots of the forest. A node is { key, member or object, children, closes, circle }; member has { coro, name } at least; circle:
// it is in one. The coroutines that wait longest come first.
function waitForest(finding, objects = []) {
	const nodes = new Map(), listed = listedIn(finding), things = wantedBy(finding, objects).filter(({ object }) => object);
	const named = new Map(things.flatMap(({ holders }) => holders || []).map(holder => [holder.coro, holder]));
	const make = (key, what) => {
		if (!nodes.has(key))
			nodes.set(key, { key, children: [], parent: null, closes: null, circle: false, ...what });
		return nodes.get(key);
	};
	const coroutine = coro => make("#" + coro, { member: named.get(coro) || { coro, name: null } });
	for (const member of listed)
		make("#" + member.coro, { member });
	for (const member of listed) {
		const node = nodes.get("#" + member.coro), thing = thingOf(member, things, nodes);
		const target = !thing && member.waits_for ? coroutine(member.waits_for) : null;
		if (node.parent)
			continue;
		node.parent = thing ? make(objectKey(thing), { object: thing }) : target;
		const holder = thing && !node.parent.parent ? holderOf(thing, member.waits_for) : null;
		if (holder)
			node.parent.parent = coroutine(holder);
	}
	return plantedFrom([...nodes.values()]);
}

// The object that leads on: one that is held by the coroutine that the member waits for; else, if that is not known or has passed the
// object on and is none of the nodes, the first.
function thingOf({ reasons, waits_for: target }, things, nodes) {
	const keys = (reasons || []).filter(({ object }) => object).map(objectKey);
	const wanted = things.filter(thing => keys.includes(objectKey(thing)));
	const held = wanted.find(({ holders }) => (holders || []).some(({ coro }) => coro === target));
	return held || (target && nodes.has("#" + target) ? undefined : wanted[0]);
}

function holderOf({ holders }, target) {
	const held = holders || [];
	return held.some(({ coro }) => coro === target) ? target : held.length === 1 ? held[0].coro : null;
}

// Hangs each node below its parent. What is left then is in circles, or waits for one.
function plantedFrom(nodes) {
	const length = ({ member, object }) => member ? member.for_ns || 0 : object.longest_ns || 0, roots = [];
	nodes.sort((a, b) => length(b) - length(a));
	const root = node => {
		for (const other of circleOf(node))
			other.circle = true;
		if (node.circle) {
			node.parent.closes = node;
			node.parent = null;
		}
		roots.push(node);
	};
	nodes.filter(node => !node.parent).forEach(root);
	for (const node of nodes)
		if (rootOf(node).parent)
			root(rootOf(node));
	nodes.sort((a, b) => b.circle - a.circle);
	for (const node of nodes)
		if (node.parent)
			node.parent.children.push(node);
	return roots.sort((a, b) => b.circle - a.circle);
}

// The nodes of the circle that a node is in; or none.
function circleOf(node) {
	const nodes = [];
	for (let at = node; at && !nodes.includes(at); at = at.parent) {
		nodes.push(at);
		if (at.parent === node)
			return nodes;
	}
	return [];
}

// The end of the chain; if it runs into a circle, the coroutine of the circle that has waited longest.
function rootOf(node) {
	const seen = new Set();
	let at = node;
	while (at.parent && !seen.has(at)) {
		seen.add(at);
		at = at.parent;
	}
	const circle = at.parent ? circleOf(at).filter(({ member }) => member) : [];
	const length = ({ member }) => member.for_ns || 0;
	return circle.reduce((best, other) => length(other) > length(best) ? other : best, circle[0] || at);
}

// How many nodes there are from this one on.
function nodesBelow(node) {
	return 1 + node.children.reduce((sum, child) => sum + nodesBelow(child), 0);
}

// The shape of a node, as a number: what chains that look the same have in common is names without their numbers, sites, and what waits
// below. shapes: the numbers so far, of texts.
function shapeOf({ member, object, circle, children }, shapes) {
	const { name, spawn_site: spawn, suspend_site: site, state } = member || {};
	const kind = (name || functionOf(spawn || "")).replace(/\d+/g, "…");
	const own = object ? [alikeTitle({ ...object, alike: 2 }), freeText(object)] : [kind, site, state];
	const text = JSON.stringify([...own, circle, children.map(child => shapeOf(child, shapes)).sort()]);
	if (!shapes.has(text))
		shapes.set(text, shapes.size);
	return shapes.get(text);
}

// From a chain to the others beside it that have the same shape, if any has; below a chain that stands for others, too. Coroutines for
// which none waits are no chains.
function chainsLike(nodes, found = new Map(), shapes = new Map()) {
	const first = new Map();
	for (const node of nodes.filter(({ children, closes }) => children.length || closes)) {
		const shape = shapeOf(node, shapes), other = first.get(shape);
		if (other)
			found.set(other, [...found.get(other) || [], node]);
		else
			chainsLike(node.children, found, shapes);
		if (!other)
			first.set(shape, node);
	}
	return found;
}

// The first nodes of a forest, as { node, depth } in the order of the tree: a whole level is chosen before the next. Where nodes are
// left out, { node: null, depth, left } says how many. If not all have room, chains like one that is shown are left out first, and
// `alike` says how many those are.
function firstNodes(roots, most) {
	const all = roots.reduce((sum, node) => sum + nodesBelow(node), 0), chosen = new Set(), rows = [];
	const alike = all > most ? chainsLike(roots) : new Map(), folded = new Set([...alike.values()].flat());
	const sum = nodes => nodes.reduce((n, node) => n + nodesBelow(node), 0), shown = nodes => nodes.filter(node => !folded.has(node));
	let level = shown(roots);
	while (level.length && chosen.size < most) {
		level.slice(0, most - chosen.size).forEach(node => chosen.add(node));
		level = level.filter(node => chosen.has(node)).flatMap(({ children }) => shown(children));
	}
	const put = (nodes, depth) => {
		const left = shown(nodes).filter(node => !chosen.has(node)), n = sum(left.flatMap(node => [node, ...alike.get(node) || []]));
		for (const node of shown(nodes)) {
			if (!chosen.has(node) && n > 1)
				continue;
			rows.push({ node, depth });
			put(node.children, depth + 1);
			if (alike.has(node))
				rows.push({ node: null, depth, left: sum(alike.get(node)), alike: alike.get(node).length });
		}
		if (n > 1)
			rows.push({ node: null, depth, left: n });
	};
	put(roots, 0);
	return rows;
}

const MOST_AWAITING = 100; // as many as the report lists of a finding

// Of each coroutine that another one awaits at the end: those that do, as rows. Work for atOnce() or inParts().
function* awaitingAtEnd(model) {
	const { coros, lanes, n, span } = model, of = new Map();
	for (let row = 0; row < n; row++) {
		const waits = coros.died[row] > span && lanes.stateBefore(row, coros.first[row + 1]) === SUSPENDED;
		const awaited = waits && model.awaitAt(row, span), target = awaited ? awaited.target : -1;
		if (target >= 0)
			of.set(target, [...of.get(target) || [], row]);
		if (row % AT_ONCE === 0)
			yield row / n;
	}
	return of;
}

// The coroutines that await a member of a suspect, or one that does, in the form of a finding's `awaits`. The report only counts
// those of a suspect.
function awaitsOf(model, { coroutines }, awaiting) {
	const { coros } = model, seen = new Set(coroutines.map(({ coro }) => model.row(coro))), awaits = [];
	for (const target of seen) // grows
		for (const row of awaiting.get(target) || []) {
			if (seen.has(row))
				continue;
			seen.add(row);
			awaits.push({ ...memberOf(model, row), waits_for: String(coros.coro[target]), told: true });
		}
	return { waiting: awaits.length, awaits: awaits.slice(0, MOST_AWAITING) };
}

// The coroutines that findings and suspects list, by their ids; and the objects of the report. Made once for a model.
const reportedOf = new WeakMap();

function reportedIn(model) {
	if (!reportedOf.has(model)) {
		const { objects = [] } = model.section;
		reportedOf.set(model, { members: new Map(model.leads.flatMap(listedIn).map(member => [member.coro, member])),
			objects: new Map(objects.map(object => [objectKey(object), object])) });
	}
	return reportedOf.get(model);
}

// What a row waits for after its suspension, event `wait`: { things: texts, awaited: a row, -1: not known, null: none, inferred: whether the
// report only infers that, place, holders: rows }. The events say some of it; the report says more of waits that lasted until the end.
function waitOf(model, row, wait) {
	const { members, objects } = reportedIn(model), time = model.events.time[wait], object = reason => objects.get(objectKey(reason));
	const member = members.get(String(model.coros.coro[row]));
	const away = member ? member.since_ns + model.reportOffset - time : NaN; // of one that leaked: from its birth to its last wait
	const same = Math.abs(away) < 1 || away < 0 && model.waitAt(row, model.coros.first[row + 1] - 1) === wait;
	const reasons = same && member.reasons || [];
	const said = model.reasonAt(row, wait), awaited = model.awaitAt(row, time), holder = model.holderAt(row, wait);
	const things = reasons.map(reason => {
		const { kind, fd } = reason;
		return kind === "timer" ? "a timer" : kind === "descriptor" ? `descriptor ${fd}` : objectTitle({ ...reason, ...object(reason) });
	});
	const held = reasons.flatMap(reason => (object(reason) || {}).holders || []).map(({ coro }) => model.row(coro));
	const target = awaited ? awaited.target : same && member.waits_for ? model.row(member.waits_for) : null;
	const holders = [...new Set([holder, ...held])].filter(other => other >= 0 && other < model.n);
	return { things: said && !things.length ? [said] : things, awaited: holders.includes(target) ? null : target,
		inferred: !awaited && target !== null && isInferred(member),
		place: model.place(model.events.arg[wait]), holders };
}
