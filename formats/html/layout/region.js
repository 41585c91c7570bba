// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// region.js - a part of the timeline that scrolls: the threads, the pinned coroutines, or all of them.

const AXIS = 30, HEADING = 20, THREAD_ROW = 18, SCROLLBAR = 10;
const ROW_HEIGHTS = [2, 6, 12, 20];
const GUTTER = 230, GUTTER_SHARE = 0.3; // for names: pixels, and a share of a narrow picture

function gutterOf(width) {
	return Math.round(Math.min(GUTTER, width * GUTTER_SHARE));
}

class Region {
	// kind: "threads", "pins" or "coros"; list: RowList or GroupList
	constructor(kind, lanes, rowHeight, list = new RowList(lanes.n, null)) {
		Object.assign(this, { kind, lanes, rowHeight, list, scroll: 0, top: 0, height: 0 });
	}
	get count() {
		return this.list.count;
	}
	get all() { // its height, if nothing had to scroll
		return this.count * this.rowHeight;
	}
	get bar() {
		return this.rowHeight < 4 ? this.rowHeight : this.rowHeight - Math.max(1, Math.round(this.rowHeight / 5));
	}
	row(index) {
		return this.list.row(index);
	}
	index(row) {
		return this.list.index(row);
	}
	// The coroutine of an entry that lives at t, or the one that is nearest; -1: a heading.
	rowAt(index, t) {
		const lane = this.list.lane(index), { born, end } = this.lanes;
		const away = row => t < born[row] ? born[row] - t : t > end[row] ? t - end[row] : 0;
		return lane.length ? lane.reduce((best, row) => away(row) < away(best) ? row : best) : -1;
	}
	// Another list. The row at the top stays there, if both have it.
	show(list, keep = false) {
		const top = keep && this.first < this.count ? this.row(this.first) : -1, over = this.scroll - this.first * this.rowHeight;
		this.list = list;
		this.scrollTo(top >= 0 && list.index(top) >= 0 ? list.index(top) * this.rowHeight + over : keep ? this.scroll : 0);
	}
	scrollTo(scroll) {
		this.scroll = Math.min(Math.max(0, scroll), Math.max(0, this.all - this.height));
	}
	reveal(index) {
		const y = index * this.rowHeight;
		this.scrollTo(Math.min(y, Math.max(this.scroll, y + this.rowHeight - this.height)));
	}
	y(index) {
		return this.top + index * this.rowHeight - this.scroll;
	}
	middle(index) { // of the bar
		return this.y(index) + 1 + this.bar / 2;
	}
	get first() {
		return Math.max(0, Math.floor(this.scroll / this.rowHeight));
	}
	get last() { // after the last visible one
		return Math.min(this.count, Math.ceil((this.scroll + this.height) / this.rowHeight));
	}
	// The entry at a height of the canvas, or -1.
	entryAt(y) {
		const index = Math.floor((y - this.top + this.scroll) / this.rowHeight);
		return y >= this.top && y < this.top + this.height && index < this.count ? index : -1;
	}
	// The thumb of its scrollbar: { y, height, scale }, or null; scale: how far one of its pixels scrolls.
	get thumb() {
		if (this.all <= this.height)
			return null;
		const height = Math.max(24, this.height * this.height / this.all), scale = (this.all - this.height) / (this.height - height);
		return { y: this.top + this.scroll / scale, height, scale };
	}
	// Whether an entry has a coroutine that lives between two moments.
	lives(index, from, to) {
		const { born, end } = this.lanes, group = this.list.group(index), rows = group ? group.rows : this.list.lane(index);
		return rows.some(row => born[row] <= to && end[row] >= from);
	}
	// If no visible entry has anything in this time, but another has: scrolls to the nearest one; way: -1: to one above if there is
	// one, 1: to one below.
	seekLife(from, to, way = 0) {
		const { first, last, count } = this, lives = i => i >= 0 && i < count && this.lives(i, from, to);
		let above = first - 1, below = last;
		for (let i = first; i < last; i++)
			if (lives(i))
				return;
		while (above >= 0 || below < count) {
			if (below < count && (way >= 0 || above < 0) && lives(below++))
				return this.reveal(below - 1);
			if (above >= 0 && (way <= 0 || below >= count) && lives(above--))
				return this.reveal(above + 1);
		}
	}
	// Scrolls for somebody who looks at this time.
	scrollIn({ from, to }, scroll) {
		const way = Math.sign(scroll - this.scroll);
		this.scrollTo(scroll);
		if (this.kind === "coros")
			this.seekLife(from, to, way);
	}
}
