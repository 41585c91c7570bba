// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// theme.js - light or dark: as the system is, unless the button says otherwise. Not every browser remembers that for a file.
// And the size of text, which the canvases follow.

const THEMES = ["auto", "light", "dark"];

class Theme {
	constructor() {
		this.system = matchMedia("(prefers-color-scheme: dark)");
		this.system.addEventListener("change", () => this.apply());
		this.name = "auto";
		this.changed = () => {};
		try {
			const name = localStorage.getItem("ctp-theme");
			this.name = THEMES.includes(name) ? name : "auto";
		} catch { /* then the system decides */ }
		// A print is light.
		addEventListener("beforeprint", () => this.apply("light"));
		addEventListener("afterprint", () => this.apply());
		this.apply();
	}
	apply(forced = null) {
		const wanted = forced || this.name;
		document.documentElement.dataset.theme = wanted !== "auto" ? wanted : this.system.matches ? "dark" : "light";
		this.changed();
	}
	wire(button, changed) {
		const say = () => button.textContent = "colours: " + this.name;
		followTextSize(byId("text-size"));
		this.changed = changed;
		say();
		button.addEventListener("click", () => {
			this.name = THEMES[(THEMES.indexOf(this.name) + 1) % THEMES.length];
			say();
			this.apply();
			try {
				localStorage.setItem("ctp-theme", this.name);
			} catch { /* as above */ }
		});
	}
}

// node is as high as text of the usual size. The style sheet draws the canvases as many times larger.
function followTextSize(node) {
	const follow = () => {
		const share = Math.round(node.getBoundingClientRect().height / 16 * 100) / 100;
		document.documentElement.style.setProperty("--text-size", Math.min(4, Math.max(0.5, share)));
	};
	follow();
	new ResizeObserver(follow).observe(node);
}

// At once, so that a dark page is not white while it loads.
const theme = new Theme();
