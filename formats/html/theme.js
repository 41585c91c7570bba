"use strict";
// theme.js - light or dark: as the system is, unless the button says otherwise. Not every browser remembers that for a file.

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

// At once, so that a dark page is not white while it loads.
const theme = new Theme();
