"use strict";
// window.js - the stretch of time that is seen, which the timeline, the overview and the keys all move.
//
// A program may do nothing for seconds before the first event and after the last. If that is more than a little, it is folded: the
// window goes from just before the first event to just after the last, and silence has the lengths of the rest.

const NARROWEST_NS = 20, LEAST_ACTIVE_NS = 100;
const SILENCE_SHARE = 0.05; // of the time with events: less silence than this at an end stays

class TimeWindow {
	// span: of the trace; first and last: of all events
	constructor(span, first = 0, last = span) {
		const active = Math.max(last - first, LEAST_ACTIVE_NS), quiet = ns => ns > active * SILENCE_SHARE ? ns : 0;
		const room = Math.max(active * 0.03, (active - last + first) / 2);
		this.silence = { before: quiet(first), after: quiet(span - last) };
		this.whole = [-span * 0.01, span * 1.01];
		this.fit = [this.silence.before ? first - room : -active * 0.01,
			this.silence.after ? last + room : span + active * 0.01];
		this.listeners = [];
		this.fold(true);
	}
	get foldable() {
		return this.silence.before > 0 || this.silence.after > 0;
	}
	// Shows everything; with silence folded, or not.
	fold(on) {
		this.folded = on && this.foldable;
		[this.low, this.high] = this.folded ? this.fit : this.whole;
		this.all();
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
	// Zooms; the moment `at` stays where it is.
	zoom(factor, at = (this.from + this.to) / 2) {
		const width = Math.min(Math.max(this.width * factor, NARROWEST_NS), this.high - this.low);
		const share = (at - this.from) / this.width;
		this.set(at - share * width, at - share * width + width);
	}
	// The ticks of an axis: the smallest step of 1, 2 or 5 times a power of ten that gives at most `most`.
	ticks(most) {
		let step = 10 ** Math.floor(Math.log10(this.width / most));
		step *= [1, 2, 5, 10].find(m => this.width / (step * m) <= most);
		step = Math.max(1, step);
		const out = [], odd = hasClock() ? 0 : Number(firstNumber % BigInt(step)); // so that the shown numbers are round
		for (let t = Math.ceil((this.from + odd) / step) * step - odd; t <= this.to; t += step)
			out.push(t);
		return { step, at: out };
	}
}
