// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// arrows.js - wakes: an arrow from the lane of the waker to the lane of the woken coroutine; and awaits, as dotted lines.
//
// Thousands of arrows would hide everything else. Then each row gets some, spread over the time in sight; the lane under the pointer
// or the cursor gets a few more, and the last wakes of a finding are always there.

const MOST_ARROWS = 160, MOST_LOOKED_AT = 40000, MOST_OF_ONE = 24, NEAR_PX = 4, LOOK_AHEAD = 64;
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

// Returns { drawn, all }; null: the lanes are too low for arrows.
function drawArrows(timeline) {
	const { ctx, coros, colours, moment, hidden } = timeline;
	timeline.arrows = timeline.awaits = [];
	if (coros.rowHeight < 6)
		return null;
	const { wakes: inSight, all } = hidden.has("wake") ? { wakes: [], all: true } : wakesInSight(timeline);
	const wakes = chosenWakes(timeline, inSight), seen = new Set(wakes.map(({ e }) => e));
	if (moment && !hidden.has("wake"))
		wakes.push(...moment.wakes.filter(({ row, e }) => coros.index(row) >= 0 && !seen.has(e)));
	ctx.save();
	ctx.beginPath();
	ctx.rect(timeline.left, coros.top, timeline.plot, coros.height);
	ctx.clip();
	ctx.strokeStyle = ctx.fillStyle = colours.css("wake");
	for (const wake of wakes)
		drawArrow(timeline, wake);
	if (!hidden.has("await"))
		drawAwaits(timeline);
	ctx.restore();
	return { drawn: wakes.length, all: all && wakes.length >= inSight.length };
}

// Those that hide nothing, and some of the row that is pointed at.
function chosenWakes(timeline, wakes) {
	const own = pointedAt(timeline), plain = wakes.filter(wake => !isAside(timeline, wake));
	const more = plain.length < wakes.length ? wakes.filter(wake => (wake.row === own || wake.waker === own) && isAside(timeline, wake)) : [];
	const step = Math.max(1, more.length / MOST_OF_ONE);
	return [...plain, ...more.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step))];
}

// Arrows that would hide what matters: with a finding those to other coroutines; and, as a solid block, those where time is far narrower
// than in the middle.
function isAside(timeline, { t, row }) {
	const { axis, left, plot, moment } = timeline;
	const other = moment && moment.members.size && !moment.first.has(row);
	return other || axis.per(timeline.x(t)) > SQUEEZED * axis.per(left + plot / 2);
}

// The arrow of an unknown waker, or of one that is not in the list, has no start.
function drawArrow(timeline, wake) {
	const { ctx, coros, model, pointed } = timeline, { t, row, waker } = wake, x = Math.round(timeline.x(t)) + 0.5;
	const index = waker >= 0 && waker < model.n ? coros.index(waker) : -1, own = coros.index(row);
	const to = coros.middle(own), from = index < 0 || index === own ? to : coros.middle(index), down = from <= to ? 1 : -1;
	const tip = to - down * (coros.bar / 2 - 1), start = from === to ? tip - down * 6 : from;
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
	if (from !== to)
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
