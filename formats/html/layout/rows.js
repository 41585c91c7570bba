// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// rows.js - which coroutines the timeline lists, and how: each in a lane, or in groups that fold, with short lives sharing lanes.
//
// The list has entries of the same height. An entry is a lane, with one coroutine or several whose lives do not overlap, or the
// heading of a group.

const SHORT_LIFE = 0.1; // of the width of the trace, on the scale of busy times: shorter lives may share a lane
const FEW_LANES = 12, MOST_SMALL = 3000; // lanes and rows of a group that is open unless it was folded
const FEW_OF_ORIGINS = 36; // lanes of all origins together: they fit a screen
const APART = 0.004; // of that width: two lives in a lane are at least so far apart

// Whether rows are grouped by where they were spawned; else by name, or by origin (origins.js).
const GROUPINGS = { spawn: true, name: false, origin: false };
const groupingsOf = new WeakMap(); // of a model: what groupingIn() has made

// Each row's group, as a number, and the title of each: { of, titles }. Made once for a model, as work for atOnce() or inParts().
function* groupingIn(model, by) {
	const { coros, meta, n } = model, known = groupingsOf.get(model) || {}, titles = [], numbers = new Map();
	if (known[by])
		return known[by];
	if (by === "origin")
		return { of: coros.origin || new Uint16Array(n), titles: (meta.origins || [{ name: "all" }]).map(({ name }) => name) };
	const of = new Int32Array(n), spawns = new Int32Array(meta.places.length), names = new Int32Array(meta.strings.length);
	const number = title => { // from 1 on: 0 is none yet
		if (!numbers.has(title))
			numbers.set(title, titles.push(title));
		return numbers.get(title);
	};
	for (let row = 0; row < n; row++) {
		const spawn = GROUPINGS[by] ? coros.spawn[row] : 0, name = coros.name[row];
		if (spawn)
			of[row] = spawns[spawn] ||= number(model.place(spawn));
		else
			of[row] = meta.strings[name] ? names[name] ||= number(model.namePattern(row)) : number(model.kindOf(row));
		of[row]--;
		if (row % AT_ONCE === 0)
			yield row / n;
	}
	groupingsOf.set(model, { ...groupingsOf.get(model), [by]: { of, titles } });
	return { of, titles };
}

// The rows of each group: [{ title, rows, leads }], the largest first, or origins in their order. The rows of `first` are a group of their own, before all others.
function groupRows(model, rows, by, first) {
	const { of, titles } = atOnce(groupingIn(model, by)), leads = new Uint8Array(model.n), found = new Set();
	const at = new Int32Array(titles.length + 1), sorted = new Int32Array(rows.length);
	for (const row of first)
		leads[row] = 1;
	for (let i = 0; i < rows.length; i++)
		if (leads[rows[i]])
			found.add(rows[i]);
		else
			at[of[rows[i]] + 1]++;
	for (let i = 0; i < titles.length; i++)
		at[i + 1] += at[i];
	const edges = at.slice();
	for (let i = 0; i < rows.length; i++)
		if (!leads[rows[i]])
			sorted[at[of[rows[i]]]++] = rows[i];
	const list = titles.map((title, i) => ({ title, rows: sorted.subarray(edges[i], edges[i + 1]), leads: false }))
		.filter(group => group.rows.length);
	if (by !== "origin")
		list.sort((a, b) => b.rows.length - a.rows.length || (a.title < b.title ? -1 : 1));
	const own = { title: "of the finding", rows: Int32Array.from([...first].filter(row => found.has(row))), leads: true };
	return own.rows.length ? [own, ...list] : list;
}

// Those of the rows that live between two moments, and those of `first`.
function rowsAlive(rows, { born, end }, from, to, first) {
	const found = new Int32Array(rows.length);
	let n = 0;
	for (let i = 0; i < rows.length; i++) {
		const row = rows[i];
		if (born[row] <= to && end[row] >= from || first.has(row))
			found[n++] = row;
	}
	return found.subarray(0, n);
}

// The rows that live between two moments before all the others.
function aliveFirst(rows, { born, end }, from, to) {
	const found = new Int32Array(rows.length), others = new Int32Array(rows.length);
	let n = 0, left = 0;
	for (let i = 0; i < rows.length; i++) {
		const row = rows[i];
		if (born[row] <= to && end[row] >= from)
			found[n++] = row;
		else
			others[left++] = row;
	}
	found.set(others.subarray(0, left), n);
	return found;
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
	const free = []; // a heap of [end, lane]
	for (const row of sortedBy(short, row => born[row])) {
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

// A list with groups; a group of one coroutine has no heading, but an origin has. open(group, few): whether its lanes are shown;
// few: they are by default. Those of an origin are, too, if it has findings, or is one of only two.
class GroupList {
	constructor(model, rows, { by, open, first }) {
		this.groups = groupRows(model, rows, by, first);
		this.coroutines = rows.length;
		this.position = new Int32Array(model.n).fill(-1);
		this.entries = [];
		const few = by === "origin" ? Math.max(FEW_LANES, FEW_OF_ORIGINS / this.groups.length) : FEW_LANES;
		const origins = by === "origin" && model.meta.origins;
		const found = new Set(origins ? model.section.findings.map(({ origin }) => origin) : []);
		const asked = ({ title }) => found.has(title) || (origins && origins.length <= 2);
		for (const group of this.groups) {
			group.index = this.entries.length;
			const small = group.rows.length <= MOST_SMALL, alone = group.rows.length === 1 && (group.leads || by !== "origin"), lanes = () => packRows(model.coros, group.rows, model.busy, first);
			let packed = small ? lanes() : null;
			group.open = alone || open(group, small && (packed.length <= few || asked(group)));
			packed = group.open ? packed || lanes() : [];
			if (!alone)
				this.entries.push(group);
			for (let i = 0; i < group.rows.length; i++)
				this.position[group.rows[i]] = group.index;
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
