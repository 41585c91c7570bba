// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// rows.js - which coroutines the timeline lists, and how: each in a lane, or in groups that fold, with short lives sharing lanes.
//
// The list has entries of the same height. An entry is a lane, with one coroutine or several whose lives do not overlap, or the
// heading of a group.

const SHORT_LIFE = 0.1; // of the width of the trace, on the scale of busy times: shorter lives may share a lane
const FEW_LANES = 12, MOST_SMALL = 3000; // lanes and rows of a group that is open unless it was folded
const APART = 0.004; // of that width: two lives in a lane are at least so far apart

// The title of each row's group.
const GROUPINGS = {
	spawn: model => row => model.coros.spawn[row] ? model.place(model.coros.spawn[row]) : model.kindOf(row),
	name: model => row => model.kindOf(row),
};

// The rows of each group: [{ title, rows, leads }], the largest first. The rows of `first` are a group of their own, before all others.
function groupRows(model, rows, by, first) {
	const titleOf = GROUPINGS[by](model), groups = new Map(), found = new Set();
	for (const row of rows) {
		if (first.has(row)) {
			found.add(row);
			continue;
		}
		const title = titleOf(row), group = groups.get(title);
		if (group)
			group.rows.push(row);
		else
			groups.set(title, { title, rows: [row], leads: false });
	}
	const list = [...groups.values()].sort((a, b) => b.rows.length - a.rows.length || (a.title < b.title ? -1 : 1));
	const own = { title: "of the finding", rows: [...first].filter(row => found.has(row)), leads: true };
	return own.rows.length ? [own, ...list] : list;
}

// Lanes for the rows: long lives and rows of `first` have a lane each, in the order of rows; short ones share. apart is the least time
// between two lives in a lane.
function packRows({ born, end }, rows, scale, first) {
	const lanes = [], short = [], shared = [], apart = scale.length * APART;
	for (const row of rows)
		if (first.has(row) || scale.at(end[row]) - scale.at(born[row]) > scale.length * SHORT_LIFE)
			lanes.push([row]);
		else
			short.push(row);
	short.sort((a, b) => born[a] - born[b]);
	const free = []; // a heap of [end, lane]
	for (const row of short) {
		const begin = scale.at(born[row]), stop = scale.at(end[row]);
		if (free.length && free[0][0] + apart <= begin) {
			free[0][1].push(row);
			sink(free, [stop, free[0][1]]);
		} else {
			shared.push([row]);
			rise(free, [stop, shared.at(-1)]);
		}
	}
	return [...lanes, ...shared];
}

function sink(heap, item) { // in place of the first
	let at = 0;
	for (let child; (child = 2 * at + 1) < heap.length; at = child) {
		if (child + 1 < heap.length && heap[child + 1][0] < heap[child][0])
			child++;
		if (heap[child][0] >= item[0])
			break;
		heap[at] = heap[child];
	}
	heap[at] = item;
}

function rise(heap, item) {
	let at = heap.length;
	for (let parent; at > 0 && heap[parent = (at - 1) >> 1][0] > item[0]; at = parent)
		heap[at] = heap[parent];
	heap[at] = item;
}

// A list of entries, without groups: one row each.
class RowList {
	constructor(n, rows) { // rows null: all of them, as they are
		this.rows = rows;
		this.n = n;
		this.groups = [];
		if (rows) {
			this.position = new Int32Array(n).fill(-1);
			for (let i = 0; i < rows.length; i++)
				this.position[rows[i]] = i;
		}
	}
	get count() {
		return this.rows ? this.rows.length : this.n;
	}
	get coroutines() {
		return this.count;
	}
	row(index) { // the only coroutine of the entry, or its first; -1: it is a heading
		return this.rows ? this.rows[index] : index;
	}
	lane(index) { // all of them, by birth
		return [this.row(index)];
	}
	group() {
		return null;
	}
	// The entry that has a row; -1: none.
	index(row) {
		return this.position ? this.position[row] : row;
	}
}

// A list with groups; a group of one coroutine has no heading. open(group, few): whether its lanes are shown; few: they are few.
class GroupList {
	constructor(model, rows, { by, open, first }) {
		this.groups = groupRows(model, rows, by, first);
		this.coroutines = rows.length;
		this.position = new Int32Array(model.n).fill(-1);
		this.entries = [];
		for (const group of this.groups) {
			group.index = this.entries.length;
			const small = group.rows.length <= MOST_SMALL, lanes = () => packRows(model.coros, group.rows, model.busy, first);
			let packed = small ? lanes() : null;
			group.open = group.rows.length === 1 || open(group, small && packed.length <= FEW_LANES);
			packed = group.open ? packed || lanes() : [];
			if (group.rows.length > 1)
				this.entries.push(group);
			for (const row of group.rows)
				this.position[row] = group.index;
			for (const lane of packed) {
				for (const row of lane)
					this.position[row] = this.entries.length;
				this.entries.push(lane);
			}
		}
	}
	get count() {
		return this.entries.length;
	}
	row(index) {
		return Array.isArray(this.entries[index]) ? this.entries[index][0] : -1;
	}
	lane(index) {
		return Array.isArray(this.entries[index]) ? this.entries[index] : [];
	}
	group(index) {
		return Array.isArray(this.entries[index]) ? null : this.entries[index];
	}
	index(row) {
		return this.position[row];
	}
}
