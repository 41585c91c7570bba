// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// arrows.js - wakes: an arrow from the lane of the waker to the lane of the woken coroutine; and awaits, as dotted lines.
//
// Thousands of arrows would hide everything else. Then each row gets some, spread over the time in sight; the lane under the pointer
// or the cursor gets a few more, and the last wakes of a finding are always there.

const MOST_ARROWS = 160, MOST_LOOKED_AT = 40000, MOST_OF_ONE = 24, NEAR_PX = 4, LOOK_AHEAD = 64;
const MOST_BUNDLED = 24; // arrows from one row, unless they are one thick line
const SQUEEZED = 20; // times as much time in a pixel as in the middle

function pointedAt(timeline) {
	return timeline.hovered >= 0 ? timeline.hovered : timeline.cursor;
}

function wakeAt(model, row, e) {
	return { t: model.events.time[e], row, waker: model.events.arg[e], e };
}

// Wakes by an unknown waker are left out, unless the pointer is on the row or it is in the finding.
function showsUnknown(timeline, row) {
	const { moment } = timeline;
	return row === pointedAt(timeline) || Boolean(moment) && moment.members.has(row);
}

// The visible wakes of a row; null: there are more than `most`, or too many events to look at.
function wakesOf(timeline, row, most) {
	const { model, window } = timeline, { kind, arg } = model.events, any = showsUnknown(timeline, row);
	const first = model.lanes.after(row, window.from), last = model.lanes.after(row, window.to, first), found = [];
	if (last - first > MOST_LOOKED_AT)
		return null;
	for (let e = first; e < last; e++) {
		if (kind[e] !== WAKE || arg[e] < 0 && !any)
			continue;
		if (found.length === most)
			return null;
		found.push(wakeAt(model, row, e));
	}
	return found;
}

// At most `most` of the visible wakes of a row: the first in each of as many stretches of the picture.
function someWakesOf(timeline, row, most) {
	const { model, axis } = timeline, { kind, arg } = model.events, any = showsUnknown(timeline, row), found = [];
	const last = model.lanes.after(row, timeline.window.to);
	let from = model.lanes.after(row, timeline.window.from);
	for (let i = 0; i < most && from < last; i++) {
		const to = model.lanes.after(row, timeline.time(timeline.left + timeline.plot * (i + 1) / most), from);
		for (let e = from; e < Math.min(to, from + LOOK_AHEAD, last); e++)
			if (kind[e] === WAKE && (arg[e] >= 0 || any)) {
				found.push(wakeAt(model, row, e));
				break;
			}
		from = Math.max(from, to);
	}
	return axis ? found : [];
}

function rowsInSight({ coros }) {
	const rows = [];
	for (let index = coros.first; index < coros.last && rows.length < MOST_ARROWS; index++)
		rows.push(...coros.list.lane(index));
	return rows;
}

// { wakes, all }: those to draw, and whether that is all of them.
function wakesInSight(timeline) {
	const { window, model } = timeline, rows = rowsInSight(timeline), own = pointedAt(timeline);
	let looked = 0, wakes = [];
	for (const row of rows) {
		looked += model.lanes.after(row, window.to) - model.lanes.after(row, window.from);
		const some = looked > MOST_LOOKED_AT ? null : wakesOf(timeline, row, MOST_ARROWS - wakes.length);
		if (some) {
			wakes.push(...some);
			continue;
		}
		const most = Math.max(1, Math.floor(MOST_ARROWS / rows.length));
		wakes = rows.flatMap(row => someWakesOf(timeline, row, row === own ? MOST_OF_ONE : most));
		return { wakes, all: false };
	}
	return { wakes, all: true };
}

// Returns { drawn, all, others: how many were left out because they are not the finding's, bundles }; null: the lanes are too low for
// arrows.
function drawArrows(timeline) {
	const { ctx, coros, colours, moment, hidden } = timeline;
	timeline.arrows = timeline.awaits = [];
	if (coros.rowHeight < 6)
		return null;
	const { wakes: inSight, all } = hidden.has("wake") ? { wakes: [], all: true } : wakesInSight(timeline);
	const { wakes, others } = chosenWakes(timeline, inSight), seen = new Set(wakes.map(({ e }) => e));
	if (moment && !hidden.has("wake"))
		wakes.push(...moment.wakes.filter(({ row, e }) => coros.index(row) >= 0 && !seen.has(e)));
	ctx.save();
	ctx.beginPath();
	ctx.rect(timeline.left, coros.top, timeline.plot, coros.height);
	ctx.clip();
	ctx.strokeStyle = ctx.fillStyle = colours.css("wake");
	const bundles = bundled(timeline, wakes), heads = new Set(bundles.flat());
	for (const wake of wakes)
		drawArrow(timeline, wake, heads.has(wake));
	for (const bundle of bundles)
		drawBundle(timeline, bundle);
	if (!hidden.has("await"))
		drawAwaits(timeline);
	ctx.restore();
	return { drawn: wakes.length, all: all && wakes.length >= inSight.length - others, others, bundles };
}

// How many are drawn, and why not all.
function wakesText({ drawn, all, others }) {
	const wakes = plural(drawn, "wake");
	if (others)
		return `${wakes} of the finding only${all ? "" : ": zoom in for more"}`;
	return all ? wakes : `${wakes} drawn: zoom in for more`;
}

// The wakes by one coroutine, if they are so many that their lines would hide the rows between: only the heads are drawn, and one line for
// all of them. Those of the row that is pointed at stay.
function bundled(timeline, wakes) {
	const { model, coros } = timeline, own = pointedAt(timeline), by = new Map();
	for (const wake of wakes)
		if (wake.waker >= 0 && wake.waker < model.n && wake.waker !== own && wake.row !== own && coros.index(wake.waker) >= 0)
			by.set(wake.waker, [...by.get(wake.waker) || [], wake]);
	const long = ({ waker, row }) => Math.abs(coros.index(waker) - coros.index(row)) > 1;
	return [...by.values()].map(list => list.filter(long)).filter(list => list.length > MOST_BUNDLED);
}

// A thick line from the waker to where its wakes begin, which says how many they are.
function drawBundle(timeline, bundle) {
	const { ctx, coros, model, colours, glyph } = timeline, first = bundle.reduce((a, b) => b.t < a.t ? b : a);
	const x = Math.round(timeline.x(first.t)), from = coros.middle(coros.index(first.waker)), to = coros.middle(coros.index(first.row));
	const bottom = coros.top + coros.height, low = Math.max(coros.top, Math.min(from, to)), high = Math.min(bottom, Math.max(from, to));
	if (high <= low)
		return;
	ctx.fillRect(x - 1.5, low, 3, high - low);
	const text = `${plural(bundle.length, "wake")} by ${clean(model.fullLabel(first.waker), 40)}`, width = text.length * glyph + 8;
	const left = Math.min(x + 2, timeline.left + timeline.plot - width), y = from > to ? high - 9 : low + 9;
	ctx.fillRect(left, y - 7, width, 14);
	ctx.fillStyle = colours.css("back");
	ctx.fillText(isolate(text), left + 4, y + 0.5);
	ctx.fillStyle = colours.css("wake");
}

// { wakes: those that hide nothing, and some of the row that is pointed at; others: how many are left out since a finding is shown that
// is not theirs }.
function chosenWakes(timeline, wakes) {
	const own = pointedAt(timeline), plain = wakes.filter(wake => !isAside(timeline, wake));
	const more = plain.length < wakes.length ? wakes.filter(wake => (wake.row === own || wake.waker === own) && isAside(timeline, wake)) : [];
	const step = Math.max(1, more.length / MOST_OF_ONE);
	const some = more.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step)), drawn = new Set(some);
	return { wakes: [...plain, ...some], others: wakes.filter(wake => isOthers(timeline, wake) && !drawn.has(wake)).length };
}

// To a coroutine that has no part in the finding that is shown.
function isOthers({ moment }, { row }) {
	return Boolean(moment) && moment.members.size > 0 && !moment.first.has(row);
}

// Arrows that would hide what matters: with a finding those to other coroutines; and, as a solid block, those where time is far narrower
// than in the middle.
function isAside(timeline, wake) {
	const { axis, left, plot } = timeline, { t } = wake;
	return isOthers(timeline, wake) || axis.per(timeline.x(t)) > SQUEEZED * axis.per(left + plot / 2);
}

// The arrow of an unknown waker, or of one that is not in the list, has no start; nor has one of a bundle: short.
function drawArrow(timeline, wake, short) {
	const { ctx, coros, model, pointed } = timeline, { t, row, waker } = wake, x = Math.round(timeline.x(t)) + 0.5;
	const index = waker >= 0 && waker < model.n ? coros.index(waker) : -1, own = coros.index(row);
	const to = coros.middle(own), from = index < 0 || index === own ? to : coros.middle(index), down = from <= to ? 1 : -1;
	const tip = to - down * (coros.bar / 2 - 1), start = from === to || short ? tip - down * 6 : from;
	ctx.lineWidth = pointed && pointed.e === wake.e && pointed.row === row ? 2.5 : 1;
	ctx.beginPath();
	ctx.moveTo(x, start);
	ctx.lineTo(x, tip);
	ctx.stroke();
	ctx.beginPath();
	ctx.moveTo(x, tip + down * 2);
	ctx.lineTo(x - 3.5, tip - down * 4);
	ctx.lineTo(x + 3.5, tip - down * 4);
	ctx.fill();
	if (from !== to && !short)
		ctx.fillRect(x - 1.5, from - 1.5, 3, 3);
	timeline.arrows.push({ x, from: start, to: tip, wake });
}

// The wake whose arrow is at a point, or null; the nearest, and of these the shortest.
function arrowAt({ arrows, coros }, x, y) {
	let best = null, distance = NEAR_PX;
	for (const arrow of arrows) {
		const near = Math.abs(arrow.x - x), low = Math.min(arrow.from, arrow.to) - 3, high = Math.max(arrow.from, arrow.to) + 3;
		if (y < low || y > high || y < coros.top || near > distance)
			continue;
		if (near < distance || !best || Math.abs(arrow.to - arrow.from) < Math.abs(best.to - best.from))
			best = arrow;
		distance = near;
	}
	return best && best.wake;
}

// The dotted lines at a point.
function awaitsAt({ awaits, coros }, x, y) {
	return awaits.filter(({ x: at, from, to }) => Math.abs(at - x) <= NEAR_PX && y >= coros.top && Math.min(from, to) <= y && y <= Math.max(from, to));
}

// A dotted line from each visible coroutine that awaits another one to that one, from the time when it began to wait.
function drawAwaits(timeline) {
	const { ctx, coros, colours, model, window } = timeline;
	ctx.strokeStyle = colours.css("await");
	ctx.lineWidth = 1.5;
	ctx.setLineDash([2, 3]);
	timeline.awaits = [];
	for (const row of rowsInSight(timeline)) {
		const wait = model.awaitAt(row, window.to);
		if (!wait || wait.target < 0 || coros.index(wait.target) < 0)
			continue;
		const x = Math.round(timeline.x(Math.max(wait.t, window.from))) + 4.5;
		ctx.beginPath();
		ctx.moveTo(x, coros.middle(coros.index(row)));
		ctx.lineTo(x, coros.middle(coros.index(wait.target)));
		ctx.stroke();
		timeline.awaits.push({ x, row, from: coros.middle(coros.index(row)), to: coros.middle(coros.index(wait.target)), wait });
	}
	ctx.setLineDash([]);
}
