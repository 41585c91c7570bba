// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// strips.js - the summaries of groups, one for each heading in sight: how many coroutines live, and in which states.
//
// They are counted after the frame that needs them, a few milliseconds at a time; until then the last one is shown.

const MOST_STRIPS = 200;

class Strips {
	constructor(timeline) {
		Object.assign(this, { timeline, known: new Map(), wanted: new Map(), running: false, turn: 0 });
	}
	// The sums of a group on an axis, or those of an earlier axis of this width; null: there are none yet.
	of(group, axis) {
		const known = this.known.get(group), { from, to, scale } = axis.window, key = [from, to, axis.columns, scale];
		if (known && known.key.every((part, i) => part === key[i]))
			return known.density;
		this.wanted.set(group, { axis, key });
		this.run();
		return known && known.density.columns === axis.columns ? known.density : null;
	}
	async run() {
		if (this.running)
			return;
		this.running = true;
		const breath = new Breath(() => {});
		await breath.take(0);
		while (this.wanted.size) {
			const [group, { axis, key }] = this.wanted.entries().next().value;
			this.wanted.delete(group);
			const density = new Density(this.timeline.model.lanes, axis);
			await density.fill(group.rows, breath, () => this.wanted.has(group));
			if (this.wanted.has(group)) // for another axis
				continue;
			if (this.known.size >= MOST_STRIPS)
				this.known.clear();
			this.known.set(group, { density, key });
			this.turn++;
			this.timeline.invalidate();
		}
		this.running = false;
	}
}
