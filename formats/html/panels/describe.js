// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// describe.js - a point of the picture in words, for the tip at the pointer and for screen readers.

const MEANINGS = [ // by state
	"spawned, but no thread has resumed it so far", "it waits, and has not been woken",
	"it was woken, but no thread has resumed it yet", "a thread executes it", "events are missing, so what it did is not known", "it has ended",
];

// The name of a state, with its meaning, which is there on a press or a click, too.
function stateWord(state, ...more) {
	const word = more.length ? more : [STATE_NAMES[state]];
	return el("details", { class: "word" }, el("summary", { title: MEANINGS[state] }, ...word), el("span", null, MEANINGS[state]));
}

function percent(share) {
	return share > 0 && share < 0.001 ? "under 0.1 %" : `${share > 0 && share < 0.0995 ? (share * 100).toFixed(1) : Math.round(share * 100)} %`;
}

// The whole stretch of one state around a moment: { state, from, to, e }; e: the event that began it.
function stretch(model, row, t) {
	const { lanes, coros, events } = model, first = coros.first[row], last = coros.first[row + 1];
	let begin = lanes.after(row, t), stop = begin;
	const state = lanes.stateBefore(row, begin);
	const same = e => !isTransition(events.kind[e]) && events.kind[e] !== LOST && lanes.state[e] === state;
	while (begin > first && same(begin - 1) && lanes.stateBefore(row, begin - 1) === state)
		begin--;
	while (stop < last && same(stop))
		stop++;
	const open = stop === last && coros.died[row] > model.span;
	return { state, e: begin - 1, open, from: begin > first ? events.time[begin - 1] : coros.born[row],
		to: stop < last ? events.time[stop] : coros.end[row] };
}

// For a pixel with more than one event; null for others.
function describeMixture(lanes, row, t, per, names) {
	const from = t - per / 2, to = t + per / 2, e0 = lanes.after(row, from), e1 = lanes.after(row, to);
	if (e1 - e0 < 2)
		return null;
	lanes.shares(row, from, to, e0, e1);
	const parts = [];
	for (const state of STACK)
		if (lanes.share[state] > 0 || lanes.begun[state])
			parts.push(hasClock() ? `${names[state]} ${percent(lanes.share[state] / (to - from))}` : names[state]);
	return `${plural(e1 - e0, "event")} in the ${duration(to - from)} of this pixel: ${parts.join(", ")}`;
}

// Without a clock, lasting() has it.
function sinceText(from) {
	return hasClock() ? `, since ${moment(from)}` : "";
}

function describeCoroutine(model, row, t, per) {
	const { coros, lanes, events } = model, lines = [`${model.label(row)}  ${model.idText(row)}`];
	const mixture = describeMixture(lanes, row, t, per, STATE_NAMES);
	if (mixture)
		return [...lines, mixture];
	if (lanes.stateAt(row, t) === DEAD)
		return [...lines, t < coros.born[row] ? `not born yet, but at ${moment(coros.born[row])}` : `${coros.flags[row] & DESTROYED ? "destroyed" : "ended"} at ${moment(coros.end[row])}`];
	const { state, from, to, e, open } = stretch(model, row, t);
	lines.push(`${STATE_NAMES[state]} ${lasting(from, to)}${open ? ", until the end" : ""}${sinceText(from)}`);
	if (state === SUSPENDED || state === RUNNABLE)
		lines.push(waitLine(model, row, e, state));
	if (state === RUNNING && events.kind[e] === RESUME)
		lines.push("on " + model.threadLabel(events.arg[e]));
	if (state === RUNNABLE && events.kind[e] === WAKE)
		lines.push("woken by " + model.wakerText(events.arg[e]));
	if (state === UNKNOWN)
		lines.push(lostText(lostAround(model, row, e), "event", model.section.filtered));
	return lines.filter(line => line);
}

// "waits for db 3 at pool.cpp:40:get, held by conn 12 #12"; what is not known is left out.
function waitLine(model, row, e, state) {
	const wait = model.waitAt(row, e), waits = state === SUSPENDED ? "waits for" : "waited for", parts = [];
	if (wait < 0)
		return "";
	const { things, awaited, inferred, place, holders } = waitOf(model, row, wait);
	const name = other => model.fullLabel(other);
	if (things.length)
		parts.push(`${waits} ${things.map(thing => clean(thing, 80)).join(" or ")}`);
	else if (awaited !== null && awaited >= 0)
		parts.push(`${waits} ${name(awaited)}${inferred ? " (inferred)" : ""}`);
	if (place)
		parts.push("at " + clean(shortSite(place)));
	return parts.join(" ") + (holders.length ? `, held by ${holders.slice(0, 3).map(name).join(", ")}` : "");
}

// A wake, under the pointer.
function describeWake(model, { row, waker, t }) {
	const known = waker >= 0 && waker < model.n, by = known ? `${model.label(waker)}  ${model.idText(waker)}` : model.wakerText(waker);
	return [`${model.label(row)}  ${model.idText(row)}`, `woken at ${moment(t)}`, `by ${by}`,
		known ? "click near an end to go to the coroutine there" : "click to select the coroutine"];
}

// The first of some dotted lines in one place.
function describeAwaits(model, awaits) {
	const line = ({ row, wait: { target, t } }) => `${model.fullLabel(row)} waits for ${model.fullLabel(target)}, since ${moment(t)}`;
	return [...awaits.slice(0, 3).map(line), awaits.length > 3 ? `a dotted line: awaits; ${awaits.length - 3} more are here` : "a dotted line: awaits"];
}

function lostText(missing, what = "event", filtered = null) {
	if (filtered && !missing)
		return "what happens here is left out: the trace is filtered";
	return missing ? `${plural(missing, what)} ${missing === 1 ? "is" : "are"} missing here` : "events are missing here";
}

// How many events are missing around event e of a row, up to the transitions on both sides; 0: not known.
function lostAround(model, row, e) {
	const { first } = model.coros, { kind, arg } = model.events, passes = i => kind[i] !== SUSPEND && kind[i] !== RESUME;
	let begin = Math.max(e, first[row]), missing = 0;
	while (begin > first[row] && passes(begin))
		begin--;
	for (let i = begin; i < first[row + 1] && (i === begin || passes(i)); i++)
		missing += kind[i] === LOST ? arg[i] : 0;
	return missing;
}

function describeThread(model, row, t, per) {
	const lanes = model.threads, lines = [model.threadLabel(row)];
	const mixture = describeMixture(lanes, row, t, per, ["nothing traced", "", "", "coroutines", "unknown"]);
	if (mixture)
		return [...lines, mixture];
	const e = lanes.after(row, t), runs = e > lanes.first[row] ? lanes.arg[e - 1] : -1;
	const from = e > lanes.first[row] ? lanes.time[e - 1] : 0, to = e < lanes.first[row + 1] ? lanes.time[e] : model.span;
	const what = runs < 0 ? "nothing traced" : `${model.label(runs)}  ${model.idText(runs)}`;
	if (lanes.stateBefore(row, e) !== UNKNOWN)
		return [...lines, `ran ${what} ${lasting(from, to)}`];
	lines.push(`unknown ${lasting(from, to)}${sinceText(from)}`);
	if (runs >= 0)
		return [...lines, `resumed ${what}, of which events are missing`];
	const gaps = model.threadGaps[row], gap = gaps.to.findIndex(end => end > t);
	return [...lines, gap < 0 ? lostText(0) : lostText(gaps.count[gap], "transition")];
}

// For a name in the margin.
function describeLife(model, row) {
	const { coros, meta } = model, lines = [`${clean(meta.strings[coros.name[row]] || "no name")}  ${model.idText(row)}`];
	const spawn = model.place(coros.spawn[row]), alive = coros.died[row] > model.span;
	if (spawn)
		lines.push("spawned at " + clean(shortSite(spawn)));
	if (meta.origins)
		lines.push("on " + clean(model.originOf(row).name));
	lines.push(`born ${moment(coros.born[row])}, ${alive ? "alive at the end" : "died " + moment(coros.end[row])}`);
	return [...lines, "click to select it, twice for its own page"];
}

// For the heading of a group.
function describeGroup(model, { title, rows }) {
	const alive = rows.reduce((n, row) => n + (model.coros.died[row] > model.span), 0);
	const origin = (model.meta.origins || []).find(({ name }) => name === title);
	return [clean(title), `${plural(rows.length, "coroutine")}, ${alive ? `${count(alive)} alive at the end` : "none alive at the end"}`,
		...origin ? [originText(origin, model.span)] : []];
}
