// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// hang.js - a frame around each wait of the finding, with its length.

function drawHangs(timeline) {
	const { ctx, coros, colours, moment, window, left, plot } = timeline, { stuck } = moment || { stuck: new Map() };
	ctx.strokeStyle = colours.css("bad");
	ctx.lineWidth = 1.5;
	for (let index = coros.first; stuck.size && coros.rowHeight >= 6 && index < coros.last; index++)
		for (const row of coros.list.lane(index)) {
			const [since, until] = stuck.get(row) || [Infinity, 0];
			if (since > window.to || until < window.from)
				continue;
			const a = Math.max(left - 4, timeline.x(since)), b = Math.min(left + plot + 4, timeline.x(until));
			ctx.strokeRect(a + 0.75, coros.y(index) + 1.5, Math.max(1, b - a - 1.5), coros.bar - 1);
		}
}

// For the part of such a wait that is in a squeezed piece, or all of it to scale, the longest first. where: texts that go before its length,
// if nothing else in sight has that.
function hangTexts({ moment, model, axis }, row, e, x, where) {
	const hang = moment && moment.stuck.get(row), piece = hang && axis.pieces.findLast(({ first }) => axis.left + first * axis.cell <= x + 1);
	if (!hang || Math.abs(model.events.time[e] - hang[0]) > 1)
		return [];
	const long = lasting(...hang), end = hang[1] >= model.span - 1 ? `${long}, to the end` : long;
	const short = hasClock() ? [duration(hang[1] - hang[0])] : [];
	if (axis.pieces.length < 2)
		return [...where.map(text => `${text}, ${end}`), ...where.map(text => `${text}, ${long}`), end, long, ...short];
	return piece.quiet ? [`stands still ${end}`, end, long, ...short] : [];
}

// What the axis says of a squeezed piece, the longest first. The length of the last one would look like that of a wait in it.
function quietTexts({ window, model }, { from, to }) {
	const { silent = Infinity } = window.scale, { span } = model, length = duration(Math.min(span, to) - Math.max(0, from));
	if (from >= silent)
		return [`no event for ${duration(span - silent)}`, duration(span - silent)];
	return to >= span && hasClock() ? [`squeezed, to ${duration(span)}`, `to ${duration(span)}`] : [`${length}, squeezed`, length];
}
