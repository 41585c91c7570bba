// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// controls.js - the buttons, lists and fields above and below the timeline: what they do, and how they show the options of the view.

function wireControls(app) {
	const { window } = app;
	addEventListener("hashchange", () => app.route());
	byId("tools").addEventListener("submit", event => event.preventDefault());
	app.searchBox.addEventListener("input", () => {
		clearTimeout(app.typing);
		app.typing = setTimeout(() => app.search(app.searchBox.value), 120);
	});
	byId("order").addEventListener("change", event => app.slowly({ order: event.target.value }));
	byId("group").addEventListener("change", event => app.slowly({ group: event.target.value, turned: null }));
	byId("rows").addEventListener("change", event => app.change({ rows: Number(event.target.value) }));
	byId("alive").addEventListener("change", event => app.change({ alive: event.target.checked }));
	byId("even").addEventListener("click", () => app.turnScale());
	byId("zoom-in").addEventListener("click", () => window.zoom(ZOOM_STEP));
	byId("zoom-out").addEventListener("click", () => window.zoom(1 / ZOOM_STEP));
	byId("zoom-all").addEventListener("click", () => app.showAll());
	byId("leave").addEventListener("click", () => app.leaveFinding());
	byId("next-match").addEventListener("click", () => app.stepMatch(1));
	byId("previous-match").addEventListener("click", () => app.stepMatch(-1));
	byId("copy-link").addEventListener("click", () => app.copyLink());
	byId("save-picture").addEventListener("click", () => savePicture(app));
	byId("options").addEventListener("click", ({ currentTarget }) => {
		const open = byId("tools").classList.toggle("unfolded");
		currentTarget.setAttribute("aria-expanded", String(open));
	});
	byId("show-help").addEventListener("click", () => app.help.showModal());
	byId("legend").addEventListener("click", event => app.turnState(event.target.closest("[data-state]")));
	byId("skip").addEventListener("click", () => app.focusView());
	addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(node => node.open = true));
	window.listeners.push(() => app.moved());
	theme.wire(byId("theme"), () => app.redraw());
}

// at: the number of the match that is selected, or -1
function matchesText(found, all, at) {
	if (at < 0 && found === all && found > 1)
		return `all ${count(found)} match`;
	return `${at >= 0 ? count(at + 1) + " of " : ""}${count(found)} ${found === 1 ? "match" : "matches"}`;
}

function showControls(app) {
	byId("order").value = app.option("order");
	byId("group").value = app.option("group");
	byId("rows").value = String(app.option("rows"));
	byId("alive").checked = app.option("alive");
	byId("leave").hidden = app.finding < 0;
	byId("even").hidden = !app.window.foldable;
	byId("even").setAttribute("aria-pressed", String(app.option("even")));
	const hide = app.option("hide");
	for (const node of byId("legend").querySelectorAll("[data-state]"))
		node.setAttribute("aria-pressed", String(!hide.includes(node.dataset.state)));
}
