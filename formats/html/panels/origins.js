// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// origins.js - which origins a merge has, when each began and ended, and links that show the same moment in another one or in all.

const FEW_ORIGINS = 8; // more are folded

// "0.690 s to 1.594 s; its times are off by at most 30 µs"; span: of all origins
function originText({ after, to, error }, span) {
	const most = /^\d+$/.test(error ?? "") ? `are off by at most ${duration(Number(error))}` : "may be off: it is not known how far";
	const at = t => moment(t, Math.max(1, span / 1000), span);
	return `${at(after)} to ${at(to)}${error === null ? "" : `; its times ${most}`}`;
}

// The merge that is shown, or that the origin is from which is shown: its part with all origins, or undefined.
function mergeOf({ parts, section }) {
	const has = origins => origins && origins.some(({ part }) => part.section === section);
	return parts.find(({ origins, section: whole }) => has(origins) || origins && whole === section);
}

// The address of another section. If both have one time axis, the same moments are in view and selected, and so is the same coroutine.
function sectionAddress(app, number) {
	app.settle();
	const { model, view: { t, range, at, row } } = app, { meta } = model, part = sectionPart(meta, number), whole = mergeOf(meta);
	const view = { page: "timeline", section: number };
	if (!whole || !part || whole !== mergeOf({ ...meta, section: part.section }))
		return writeAddress(view);
	const by = Number(BigInt(meta.t0_ns) - BigInt(part.t0_ns));
	const move = times => times && times[1] + by > 0 ? times.map(ns => ns + by) : undefined;
	const selected = /^\d+$/.test(row ?? "") && (part.origins || (model.originOf(model.rowAt(row)) || {}).part === part);
	return writeAddress({ ...view, t: move(t), range: move(range), ...selected && { row, at: at === undefined ? at : at + by } });
}

// The address is made when the link is followed: the time in view may have changed.
function sectionLink(app, section, ...text) {
	const follow = ({ currentTarget }) => currentTarget.href = sectionAddress(app, section + 1);
	return el("a", { href: writeAddress({ page: "timeline", section: section + 1 }), onclick: follow }, ...text);
}

// For the panel; null: the trace was not merged, or the page has only one origin.
function originsNode(app) {
	const { meta } = app.model, whole = mergeOf(meta);
	if (!whole)
		return null;
	const item = ({ name, part: { section }, ...origin }) => el("li", null, section === meta.section
		? el("strong", null, quoted(name, 60)) : sectionLink(app, section, quoted(name, 60)), ": ", originText(origin, whole.span_ns));
	const words = meta.origins ? ["Each link shows this time in one origin. In evidence, “the start” is that of its origin."]
		: ["This time in ", sectionLink(app, whole.section, `all ${whole.origins.length} origins`), ", or in another one:"];
	return el("details", { class: "lines", open: whole.origins.length <= FEW_ORIGINS },
		el("summary", null, plural(whole.origins.length, "origin")),
		el("p", null, ...words), el("ul", null, ...whole.origins.map(item)));
}
