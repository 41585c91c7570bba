"use strict";
// arrows.js - wakes: an arrow from the lane of the waker to the lane of the woken coroutine.
//
// Thousands of arrows would hide everything else. Then only those of the lane under the pointer or the cursor are drawn, and the
// last wakes of a finding, and the status line says so.

const MOST_ARROWS = 400, MOST_LOOKED_AT = 40000, MOST_OF_ONE = 4000;

function pointedAt(timeline) {
	return timeline.hovered >= 0 ? timeline.hovered : timeline.cursor;
}

// The visible wakes of a row, as { t, row, waker }; null: there are more than `most`. Wakes by an unknown waker are left out,
// unless the pointer is on the row or it is in the finding.
function wakesOf(timeline, row, most) {
	const { model, window, moment } = timeline, { kind, time, arg } = model.events;
	const any = row === pointedAt(timeline) || moment && moment.members.has(row);
	const first = model.lanes.after(row, window.from), last = model.lanes.after(row, window.to, first), found = [];
	if (last - first > MOST_LOOKED_AT)
		return null;
	for (let e = first; e < last; e++) {
		if (kind[e] !== WAKE || arg[e] < 0 && !any)
			continue;
		if (found.length === most)
			return null;
		found.push({ t: time[e], row, waker: arg[e] });
	}
	return found;
}

function wakesInSight(timeline) {
	const { coros, window, model } = timeline;
	let all = [], looked = 0;
	for (let index = coros.first; index < coros.last; index++) {
		const row = coros.row(index);
		looked += model.lanes.after(row, window.to) - model.lanes.after(row, window.from);
		const some = looked > MOST_LOOKED_AT ? null : wakesOf(timeline, row, MOST_ARROWS - all.length);
		if (!some)
			return null;
		all = all.concat(some);
	}
	return all;
}

// Returns how many wakes are drawn; null: there are too many.
function drawArrows(timeline) {
	const { ctx, coros, colours } = timeline;
	if (coros.rowHeight < 6)
		return null;
	let wakes = wakesInSight(timeline);
	const all = wakes !== null, own = pointedAt(timeline), { moment } = timeline;
	if (!all && own >= 0 && coros.index(own) >= 0)
		wakes = wakesOf(timeline, own, MOST_OF_ONE);
	if (!all && moment)
		wakes = (wakes || []).concat(moment.wakes.filter(({ row }) => coros.index(row) >= 0));
	if (!wakes)
		return null;
	ctx.save();
	ctx.beginPath();
	ctx.rect(timeline.left, coros.top, timeline.plot, coros.height);
	ctx.clip();
	ctx.strokeStyle = ctx.fillStyle = colours.css("wake");
	ctx.lineWidth = 1;
	for (const wake of wakes)
		drawArrow(timeline, wake);
	ctx.restore();
	return all ? wakes.length : null;
}

// The arrow of an unknown waker, or of one that is not in the list, has no start.
function drawArrow(timeline, { t, row, waker }) {
	const { ctx, coros } = timeline, x = Math.round(timeline.x(t)) + 0.5;
	const to = coros.middle(coros.index(row)), index = waker >= 0 && waker < timeline.model.n ? coros.index(waker) : -1;
	const from = index < 0 ? to : coros.middle(index), down = from <= to ? 1 : -1;
	const tip = to - down * (coros.bar / 2 - 1);
	ctx.beginPath();
	ctx.moveTo(x, index < 0 ? tip - down * 6 : from);
	ctx.lineTo(x, tip);
	ctx.stroke();
	ctx.beginPath();
	ctx.moveTo(x, tip + down * 2);
	ctx.lineTo(x - 3.5, tip - down * 4);
	ctx.lineTo(x + 3.5, tip - down * 4);
	ctx.fill();
	if (index >= 0)
		ctx.fillRect(x - 1.5, from - 1.5, 3, 3);
}
