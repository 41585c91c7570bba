"use strict";
// window.js - the stretch of time that is seen, which the timeline, the overview and the keys all move.

const NARROWEST_NS = 20;

class TimeWindow {
	constructor(span) {
		this.low = -span * 0.01;
		this.high = span * 1.01;
		this.listeners = [];
		this.set(this.low, this.high);
	}
	get width() {
		return this.to - this.from;
	}
	set(from, to) {
		const width = Math.min(Math.max(to - from, NARROWEST_NS), this.high - this.low);
		this.from = Math.min(Math.max(from, this.low), this.high - width);
		this.to = this.from + width;
		for (const listener of this.listeners)
			listener();
	}
	// A span, with some room at both sides.
	show(from, to) {
		const room = Math.max(NARROWEST_NS, (to - from) * 0.05);
		this.set(from - room, to + room);
	}
	all() {
		this.set(this.low, this.high);
	}
	pan(ns) {
		this.set(this.from + ns, this.to + ns);
	}
	// The moment `at` stays where it is.
	zoom(factor, at = (this.from + this.to) / 2) {
		const width = Math.min(Math.max(this.width * factor, NARROWEST_NS), this.high - this.low);
		const share = (at - this.from) / this.width;
		this.set(at - share * width, at - share * width + width);
	}
	// The moments for an axis: the finest of 1, 2, 5 times a power of ten that leaves them `most` or fewer.
	ticks(most) {
		let step = 10 ** Math.floor(Math.log10(this.width / most));
		step *= [1, 2, 5, 10].find(m => this.width / (step * m) <= most);
		step = Math.max(1, step);
		const out = [];
		for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step)
			out.push(t);
		return { step, at: out };
	}
}
