// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// flame.js - how long coroutines were suspended, runnable and running, by stack: the spawn sites of a coroutine's ancestors and its
// own, then the site where it suspended last.
//
// The definition is that of ctp-report --folded, and so are the numbers (formats/report/report-folded.h). An unknown site is left
// out, or is a frame if a known one is before it. A coroutine that awaits one of its descendants is not counted as suspended: the
// stack of the descendant has that time. Unknown time is a frame of its own, whatever state is asked for. Without a clock, the sums
// are numbers of times.

const FLAME_STATES = ["suspended", "runnable", "running"]; // the sums of a frame, by state - SUSPENDED; the last is unknown time
const FLAME_UNKNOWN = 3, FLAME_SUMS = 4;
const FLAME_DEPTH = 64; // frames in a stack
const UNKNOWN_SITE = -1; // of the frame that has unknown time
const MOST_FRAMES = 1 << 20;

// Frames as a tree, in typed arrays; frame 0 is the root. A child has a larger number than its parent. own and base have four sums
// for each frame: of this trace and of the baseline; after finish(), total and baseTotal have those of the frame and all below it.
class FlameTree {
	constructor(places) {
		this.texts = [...places];
		this.count = 1;
		this.parent = new Int32Array(256);
		this.site = new Int32Array(256);
		this.depth = new Uint8Array(256);
		this.own = new Float64Array(256 * FLAME_SUMS);
		this.base = null;
		this.baseline = null;
		this.children = new Map(); // of a frame and a site
		this.orders = new Map();
	}

	grow() {
		for (const name of ["parent", "site", "depth", "own", "base"]) {
			const old = this[name];
			if (!old)
				continue;
			this[name] = new old.constructor(old.length * 2);
			this[name].set(old);
		}
	}

	// The frame below another one. If there is no room for it, that one.
	child(parent, site) {
		const key = parent * 0x1000000 + site + 1, known = this.children.get(key);
		if (known !== undefined)
			return known;
		if (this.depth[parent] === FLAME_DEPTH || this.count === MOST_FRAMES)
			return parent;
		if (this.count === this.parent.length)
			this.grow();
		const frame = this.count++;
		this.parent[frame] = parent;
		this.site[frame] = site;
		this.depth[frame] = this.depth[parent] + 1;
		this.children.set(key, frame);
		return frame;
	}

	// The frames of the baseline, from the data of the page. Its sites are found by their texts.
	addBaseline(baseline) {
		const numbers = new Map(this.texts.map((text, i) => [text, i]));
		const sites = baseline.frames.map((text, i) => {
			if (i && !numbers.has(text))
				numbers.set(text, this.texts.push(text) - 1);
			return i ? numbers.get(text) : 0;
		});
		this.baseline = baseline;
		this.base = new Float64Array(this.own.length);
		for (const stack of baseline.stacks) {
			const [state, ns] = stack.slice(-2);
			let frame = 0;
			for (const number of stack.slice(0, -2))
				frame = this.child(frame, sites[number]);
			if (state === FLAME_UNKNOWN)
				frame = this.child(frame, UNKNOWN_SITE);
			this.base[frame * FLAME_SUMS + state] += ns;
		}
	}

	finish() {
		this.total = this.sums(this.own);
		this.baseTotal = this.base && this.sums(this.base);
		const { count, parent } = this, start = this.start = new Int32Array(count + 2);
		for (let frame = 1; frame < count; frame++)
			start[parent[frame] + 2]++;
		for (let frame = 0; frame < count; frame++)
			start[frame + 2] += start[frame + 1];
		this.below = new Int32Array(count);
		for (let frame = 1; frame < count; frame++)
			this.below[start[parent[frame] + 1]++] = frame;
		this.children = null;
		this.hash();
		return this;
	}

	sums(own) {
		const total = own.slice(0, this.count * FLAME_SUMS);
		for (let frame = this.count - 1; frame > 0; frame--)
			for (let s = 0; s < FLAME_SUMS; s++)
				total[this.parent[frame] * FLAME_SUMS + s] += total[frame * FLAME_SUMS + s];
		return total;
	}

	// A number for each stack, from the texts of its frames, so that an address names the same frame on another page.
	hash() {
		const texts = this.texts.map(text => parseInt(shortHash(text), 36) | 0);
		this.hashes = new Int32Array(this.count);
		for (let frame = 1; frame < this.count; frame++) {
			const site = this.site[frame], above = this.hashes[this.parent[frame]];
			const text = site < 0 ? 1 : site ? texts[site] : 2;
			this.hashes[frame] = Math.imul(above ^ text, 0x9e3779b1) + this.depth[frame] | 0;
		}
	}
	name(frame) { // in an address
		return (this.hashes[frame] >>> 0).toString(36);
	}
	find(name) { // or -1
		const hash = /^[0-9a-z]{1,7}$/.test(name) ? parseInt(name, 36) | 0 : null;
		return hash === null ? -1 : this.hashes.indexOf(hash);
	}

	text(frame) {
		const site = this.site[frame];
		return !frame ? "all" : site < 0 ? "unknown: events are missing" : this.texts[site] || "a site that is not known";
	}
	path(frame) { // from the root on
		const path = [];
		for (; frame; frame = this.parent[frame])
			path.unshift(frame);
		return [0, ...path];
	}
	isBelow(frame, above) { // or the same
		while (this.depth[frame] > this.depth[above])
			frame = this.parent[frame];
		return frame === above;
	}

	// The time of a state in a frame and all below it, with the unknown time; and the time of the frame alone.
	value(frame, state, total = this.total) {
		return total[frame * FLAME_SUMS + state] + total[frame * FLAME_SUMS + FLAME_UNKNOWN];
	}
	ownValue(frame, state) {
		return this.value(frame, state, this.own);
	}
	baseValue(frame, state) {
		return this.baseTotal ? this.value(frame, state, this.baseTotal) : 0;
	}
	unknown(frame) {
		return this.total[frame * FLAME_SUMS + FLAME_UNKNOWN];
	}
	wholeBase(state) { // also of the stacks that the page does not have
		const { total_ns: total } = this.baseline;
		return total[state] + total[FLAME_UNKNOWN];
	}

	// With a baseline: how much more time this trace has, as a share of all or, if absolute, as it is.
	change(now, before, state, absolute) {
		return absolute ? now - before : partOf(now, this.value(0, state)) - partOf(before, this.wholeBase(state));
	}
	// How wide a frame is drawn: its value; with a baseline the mean of both, so that frames of either trace are seen.
	width(frame, state, absolute) {
		const now = this.value(frame, state);
		if (!this.base)
			return now;
		const before = this.baseValue(frame, state);
		if (absolute)
			return (now + before) / 2;
		return (partOf(now, this.value(0, state)) + partOf(before, this.wholeBase(state))) / 2;
	}

	// The frames directly below, the widest first.
	ordered(frame, state, absolute) {
		const key = `${frame} ${state} ${absolute}`;
		if (!this.orders.has(key)) {
			const list = [...this.below.subarray(this.start[frame], this.start[frame + 1])];
			const wide = new Map(list.map(child => [child, this.width(child, state, absolute)]));
			const seen = list.filter(child => wide.get(child) > 0);
			this.orders.set(key, seen.sort((a, b) => wide.get(b) - wide.get(a) || a - b));
		}
		return this.orders.get(key);
	}

	// The widest frames below one, and that one: none without its parent.
	largest(from, most, state, absolute) {
		const found = [], heap = [];
		rise(heap, [-this.width(from, state, absolute), from]);
		while (heap.length && found.length < most) {
			const frame = heap[0][1], last = heap.pop();
			if (heap.length)
				sink(heap, last);
			found.push(frame);
			for (const child of this.ordered(frame, state, absolute).slice(0, most))
				rise(heap, [-this.width(child, state, absolute), child]);
		}
		return found;
	}

	// Which sites have the text; and the time of stacks that have such a frame, counted once.
	search(text, state) {
		text = text.trim().toLowerCase();
		const hits = Uint8Array.from(this.texts, site => text && site.toLowerCase().includes(text) ? 1 : 0);
		const inside = new Uint8Array(this.count);
		let frames = 0, value = 0;
		for (let frame = 1; frame < this.count; frame++) {
			const hit = this.site[frame] > 0 && hits[this.site[frame]], before = inside[this.parent[frame]];
			inside[frame] = hit || before;
			if (hit && this.value(frame, state) > 0)
				frames++;
			if (hit && !before)
				value += this.value(frame, state);
		}
		return { hits, frames, value };
	}

	// The stacks whose own time differs most from the baseline: [{ frame, now, before, change }].
	changes(state, absolute, most) {
		const list = [];
		for (let frame = 0; frame < this.count; frame++) {
			const now = this.ownValue(frame, state), before = this.value(frame, state, this.base);
			const change = now || before ? this.change(now, before, state, absolute) : 0;
			if (change)
				list.push({ frame, now, before, change });
		}
		return list.sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || a.frame - b.frame).slice(0, most);
	}
}

function partOf(part, whole) {
	return whole > 0 ? part / whole : 0;
}

// The stacks of the model's coroutines.
class FlameSums {
	constructor(model) {
		const { meta, section } = model, { since_ns: since = 0, until_ns: until } = meta.report;
		Object.assign(this, { model, tree: new FlameTree(meta.places), clock: !meta.ordinal });
		this.from = since ? since + model.reportOffset : -Infinity;
		this.to = until ? until + model.reportOffset : Infinity;
		// Time after the program was last seen does not count.
		this.end = Number.isFinite(section.duration_ns) ? section.duration_ns + model.reportOffset : model.span;
		this.chains = new Int32Array(model.n).fill(-1);
	}

	// The frame of a coroutine, without the site where it suspended: its ancestors' are made first.
	chain(row) {
		const { chains, tree } = this, { parent, spawn } = this.model.coros, path = [];
		let at = row;
		for (; chains[at] < 0 && path.length <= FLAME_DEPTH && !path.includes(at); at = parent[at])
			path.push(at);
		let frame = chains[at] > 0 ? chains[at] : 0; // a parent that is not known has none
		while (path.length) {
			at = path.pop();
			frame = frame || spawn[at] ? tree.child(frame, spawn[at]) : 0;
			chains[at] = frame;
		}
		return frame;
	}

	// Whether a row is an ancestor of the one that it awaits.
	covers(row, target) {
		const { parent } = this.model.coros;
		for (let depth = 0; target >= 0 && target < this.model.n && depth < FLAME_DEPTH; depth++) {
			if (parent[target] === row)
				return true;
			target = parent[target];
		}
		return false;
	}

	// Calls take(state - SUSPENDED, site, amount) for each span of a row that counts.
	walk(row, take) {
		const { coros, events, lanes } = this.model, { kind, arg, time } = events, { state } = lanes;
		const stop = coros.first[row + 1];
		let at = coros.born[row], now = lanes.initial[row], site = 0, awaited = -1, covered = false;
		this.after = (this.model.originOf(row) || { after: 0 }).after; // --since and --until count from the start of each origin
		const span = to => {
			if (now !== BORN && !(now === SUSPENDED && covered))
				this.part(now - SUSPENDED, now === UNKNOWN ? UNKNOWN_SITE : site, at, to, take);
		};
		for (let e = coros.first[row]; e < stop; e++) {
			const what = kind[e];
			if (what === AWAIT)
				awaited = arg[e];
			else if (what === LOST)
				awaited = -1;
			if (state[e] === now && !isTransition(what))
				continue;
			span(time[e]);
			if (what === SUSPEND) {
				covered = now !== UNKNOWN && this.covers(row, awaited);
				site = arg[e];
			} else if (what === RESUME) {
				covered = false;
				site = now === UNKNOWN ? 0 : site; // the last suspension may be missing
			}
			if (isTransition(what))
				awaited = -1;
			at = time[e];
			now = state[e];
		}
		span(coros.died[row] <= coros.end[row] ? coros.end[row] : Math.min(coros.end[row], this.end));
	}
	part(state, site, from, to, take) {
		from = Math.max(from, this.from + this.after);
		to = Math.min(to, this.to + this.after);
		if (from < to)
			take(state, site, this.clock ? to - from : 1);
	}

	async build(breath) {
		const { model, tree } = this, { first } = model.coros, total = first[model.n] || 1;
		for (let row = 0; row < model.n; row++) {
			this.addRow(row);
			if (breath.due(first[row + 1]))
				await breath.take(first[row + 1] / total);
		}
		if (model.meta.baseline && !model.meta.baseline.ordinal === this.clock)
			tree.addBaseline(model.meta.baseline);
		return tree.finish();
	}
	addRow(row) {
		const { tree } = this, chain = this.chain(row);
		let last = 0, frame = chain; // of the last site: mostly the same comes again
		this.walk(row, (state, site, amount) => {
			if (site !== last) {
				frame = site ? tree.child(chain, site) : chain;
				last = site;
			}
			tree.own[frame * FLAME_SUMS + state] += amount;
		});
	}

	// The coroutines with most time of a state in a frame: { rows: [{ row, value }], count }. Null: stale() said to stop.
	async rowsOf(frame, state, most, breath, stale) {
		const { model, tree } = this, { first } = model.coros, found = [];
		let n = 0;
		for (let row = 0; row < model.n; row++) {
			const value = this.valueIn(row, frame, state);
			if (value > 0) {
				n++;
				found.push({ row, value });
			}
			if (found.length > 50 * most)
				largestFirst(found, most);
			if (breath.due(first[row + 1]))
				await breath.take(first[row + 1] / first[model.n]);
			if (stale())
				return null;
		}
		return { rows: largestFirst(found, most), count: n };
	}
	valueIn(row, frame, state) {
		const { tree } = this, chain = this.chains[row], whole = tree.isBelow(chain, frame);
		let value = 0;
		if (!whole && chain !== tree.parent[frame])
			return 0;
		this.walk(row, (what, site, amount) => {
			if ((what === state || what === FLAME_UNKNOWN) && (whole || site === tree.site[frame]))
				value += amount;
		});
		return value;
	}
}

function largestFirst(list, most) {
	list.sort((a, b) => b.value - a.value || a.row - b.row);
	list.length = Math.min(list.length, most);
	return list;
}
