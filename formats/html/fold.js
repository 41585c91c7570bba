"use strict";
// fold.js - the buttons at the ends of a timeline whose silence is folded: they say how long it is, and a click shows it.

function foldButton(side, onclick) {
	return el("button", { type: "button", class: "fold " + side, onclick });
}

class Folds {
	// node: the parent of the buttons; onFold: called on a click
	constructor(node, window, onFold = () => {}) {
		Object.assign(this, { window, onFold, before: foldButton("before", () => this.toggle()) });
		this.after = foldButton("after", () => this.toggle());
		node.append(this.before, this.after);
		this.say();
	}
	toggle() {
		if (!this.window.foldable)
			return;
		this.window.fold(!this.window.folded);
		this.say();
		this.onFold();
	}
	say() {
		const { folded, foldable, silence } = this.window;
		this.before.hidden = !folded || !silence.before;
		this.after.hidden = folded ? !silence.after : !foldable;
		this.before.textContent = `◂ ${duration(silence.before)} before the first event`;
		this.after.textContent = folded ? `${duration(silence.after)} after the last event ▸` : "fit the events";
		this.before.title = this.after.title = folded ? "folded: click to see all of the time ( f )" : "fold it again ( f )";
	}
}
