// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// window.js - the stretch of time that is seen, which the timeline, the overview, the keys and the address move.
//
// The time has several scales (scale.js): on one of them quiet periods are narrow, one is even, and on one the moment of a finding has
// most of the width. Moves and zooms are in parts of the visible width, so that they feel the same on all.

const NARROWEST_NS = 20;

class TimeWindow {
	// busy: the scale on which quiet periods are narrow
	constructor(span, busy) {
		this.scales = { busy, even: evenScale(Math.min(busy.low, -span * 0.01), Math.max(busy.high, span * 1.01)), moment: null };
		this.listeners = [];
		this.past = []; // windows before the last zooms
		this.zoomed = -Infinity; // when
		this.stepped = false;
		this.use(busy);
	}
	// Whether some of the time is narrower than the rest, or could be.
	get folded() {
		return this.scale !== this.scales.even && !this.scale.even;
	}
	get foldable() {
		return !this.scales.busy.even || this.scales.moment !== null;
	}
	// The scale without the moment of a finding.
	get base() {
		return this.scale === this.scales.even ? this.scales.even : this.scales.busy;
	}
	get low() {
		return this.scale.low;
	}
	get high() {
		return this.scale.high;
	}
	get width() { // in time
		return this.to - this.from;
	}
	// Takes a scale, and shows everything.
	use(scale) {
		this.scale = scale;
		this.past = [];
		this.all();
	}
	set(from, to) {
		const width = Math.min(Math.max(to - from, NARROWEST_NS), this.high - this.low);
		this.from = Math.min(Math.max(from, this.low), this.high - width);
		this.to = this.from + width;
		this.changed();
	}
	changed() {
		for (const listener of this.listeners)
			listener();
	}
	// The same in positions of the scale.
	setAt(begin, end) {
		const { scale } = this, long = Math.min(end - begin, scale.length);
		begin = Math.min(Math.max(begin, 0), scale.length - long);
		this.set(scale.time(begin), scale.time(begin + long));
	}
	at() { // where the window is on the scale
		return [this.scale.at(this.from), this.scale.at(this.to)];
	}
	// A span, with some room at both sides.
	show(from, to) {
		const room = Math.max(NARROWEST_NS, (to - from) * 0.05);
		this.remember();
		this.set(from - room, to + room);
	}
	all() {
		this.set(this.low, this.high);
	}
	pan(share) { // of the width
		const [begin, end] = this.at(), by = (end - begin) * share;
		this.setAt(begin + by, end + by);
	}
	// Zooms; the moment `at` stays where it is.
	zoom(factor, at = null) {
		if (performance.now() - this.zoomed > ONE_ZOOM_MS)
			this.remember();
		this.zoomed = performance.now();
		const [begin, end] = this.at(), middle = at === null ? (begin + end) / 2 : this.scale.at(at);
		const least = this.width * factor < NARROWEST_NS ? NARROWEST_NS / this.width : factor;
		const long = Math.min((end - begin) * least, this.scale.length), share = (middle - begin) / (end - begin);
		this.setAt(middle - share * long, middle - share * long + long);
	}
	// Before a zoom that undo() can take back.
	remember() {
		this.past.push([this.from, this.to]);
		this.past = this.past.slice(-MOST_PAST);
		this.stepped = true; // of the history
	}
	undo() { // whether there was anything to take back
		const last = this.past.pop();
		if (last)
			this.set(...last);
		return Boolean(last);
	}
}
const MOST_PAST = 50, ONE_ZOOM_MS = 600; // turns of the wheel in quick succession are one zoom
