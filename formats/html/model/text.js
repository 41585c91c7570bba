// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// text.js - how times, counts and names become text and elements.
//
// Names and sites come from the traced program. They reach the page through textContent and fillText alone, never as markup, and
// each through clean(), so that none can reorder, break or hide the text around it.

// Control characters, and marks that change the direction of writing. Joiners stay: scripts and emoji need them.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function clean(text, most = 160) {
	text = String(text);
	if (text.length > most) // not between the halves of a character
		text = text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "") + "…";
	return text.replace(HIDDEN, c => "⟨U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
}

// Cut in the middle: of a site its function and line stay, of a name its end, which is mostly a number.
function shorten(text, most) {
	text = clean(text, Infinity);
	if (text.length <= most)
		return text;
	const file = text.slice(text.lastIndexOf("/") + 1), tail = /:\d+:[^/]*$/.test(text) && file.length <= most - 4 ? file.length : 0;
	const head = tail ? most - 1 - tail : Math.floor((most - 1) / 3);
	return text.slice(0, head).replace(/[\ud800-\udbff]$/, "") + "…" + text.slice(text.length - (most - 1 - head)).replace(/^[\udc00-\udfff]/, "");
}

// --- sites: FILE:LINE:FUNCTION

// The folder that all files with an absolute path are in, which only makes sites longer; "": there is none.
let folder = "";

function useFolder(sites) {
	const files = sites.filter(site => site.startsWith("/")).map(site => siteParts(site).file).filter(file => file);
	const folders = files.map(file => file.slice(0, file.lastIndexOf("/") + 1));
	folder = folders[0] || "";
	for (const other of folders)
		while (!other.startsWith(folder))
			folder = folder.slice(0, folder.lastIndexOf("/", folder.length - 2) + 1);
	folder = folder === "/" ? "" : folder;
	return folder;
}

function siteParts(site) {
	const [, file = "", name = ""] = site.match(/^(.*?):\d+(?::(.*))?$/s) || [];
	return { file, name };
}

// Without what is between < and >: the types of Rust and C++.
function withoutTypes(name) {
	let text = name.replace(/->/g, ""), before = "";
	while (text !== before && !/\boperator\b/.test(text)) {
		before = text;
		text = text.replace(/(::)?<[^<>]*>/g, "");
	}
	return text === name.replace(/->/g, "") ? name : text.replace(/^::/, "");
}

// Without the folder of all, and without types.
function shortSite(site) {
	const text = folder && site.startsWith(folder) ? site.slice(folder.length) : site, { name } = siteParts(text);
	return text.slice(0, text.length - name.length) + (withoutTypes(name) || name);
}

// The last part of the name of a function: without its types, and without what a closure adds. "": the site names no function.
function functionOf(site) {
	const { name } = siteParts(site);
	let text = withoutTypes(name.replace(/\(anonymous namespace\)::/g, ""));
	if (/.\(/.test(text)) // with its parameters, C++ puts its result before it
		text = text.replace(/(?<=.)\(.*$/s, "").replace(/^.*\s(?=\S)/s, "");
	const parts = text.split("::").map(part => part.trim()).filter(part => part && !part.startsWith("{"));
	return parts.at(-1) || name;
}

// For fillText, which has no element that would isolate the direction of a name from its neighbours'.
function isolate(text) {
	return "\u2068" + text + "\u2069";
}

function el(tag, attrs, ...children) {
	return filled(document.createElement(tag), attrs, children);
}

function filled(node, attrs, children) {
	for (const [key, value] of Object.entries(attrs || {})) {
		if (key.startsWith("on"))
			node.addEventListener(key.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			node.setAttribute(key, value === true ? "" : value);
	}
	node.append(...children.filter(child => child !== null && child !== undefined));
	return node;
}

// A text from the trace, isolated. If it was cut, its title has all of it.
function quoted(text, most) {
	const shown = shorten(text, most);
	return el("bdi", { class: "said", title: String(text).length > most ? clean(text, 2000) : null }, shown);
}

const NUMBERS = new Intl.NumberFormat("en"); // toLocaleString() would make one for each number

function count(n) {
	return NUMBERS.format(n);
}

function plural(n, noun) {
	return count(n) + " " + noun + (n === 1 ? "" : "s");
}

// The number of a coroutine, as in ctp-report: an id of more than 32 bits is an address.
function idText(id) {
	const number = BigInt(id);
	return number > 0xffffffffn ? "#0x" + number.toString(16) : "#" + number;
}

// The number of the record at t0, if the section has no clock: its times are numbers, and no span has a length.
let firstNumber = null;

function useClock({ ordinal, t0_ns: first }) {
	firstNumber = ordinal ? BigInt(first) : null;
}

function hasClock() {
	return firstNumber === null;
}

function numberAt(first, after) {
	return (BigInt(first) + BigInt(Math.round(after))).toLocaleString("en");
}

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

const LONG_UNITS = [[86400e9, "d"], [3600e9, "h"], [60e9, "min"], ...UNITS.slice(0, 3)];

// Three significant digits, in the unit that suits, as ctp_text_duration() in C has it; without a clock, records.
function duration(ns, clock = hasClock()) {
	if (!clock)
		return plural(ns < 1 ? Number(ns.toPrecision(4)) : Math.round(ns), "record");
	if (!ns)
		return "0 ns";
	const sign = ns < 0 ? "−" : "", long = Math.abs(ns), found = LONG_UNITS.find(([scale]) => long / scale >= 0.9995);
	if (!found)
		return `${sign}${long < 9.995 && long % 1 ? long.toPrecision(2) : Math.round(long)} ns`;
	const value = long / found[0], digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	return `${sign}${digits ? value.toFixed(digits) : count(Math.round(value))} ${found[1]}`;
}

function rough(n) { // a number of coroutines, on average
	return n >= 10 || Math.abs(n - Math.round(n)) < 0.05 ? count(Math.round(n)) : n.toFixed(1);
}

// A moment since the start, in the unit that suits `most`, with the digits that a step of this size needs, in threes; or a number.
function moment(ns, step = 1, most = 1e9) {
	if (!hasClock())
		return numberAt(firstNumber, ns);
	const [scale, unit] = UNITS.find(u => most >= u[0]) || UNITS[3];
	const needed = Math.max(0, Math.ceil(Math.log10(scale / step) - 1e-9));
	const digits = needed > 3 ? Math.ceil(needed / 3) * 3 : needed;
	const [whole, part] = Math.abs(ns / scale).toFixed(digits).split(".");
	return (ns < 0 ? "−" : "") + whole + (part ? "." + part.replace(/\d{3}(?=\d)/g, "$&\u2009") : "") + " " + unit;
}

// The time between two moments.
function lasting(from, to) {
	return hasClock() ? `for ${duration(to - from)}` : `from ${moment(from)} to ${moment(to)}`;
}

function wallClock(meta, ns) {
	if (meta.t0_wall_ns === null || meta.t0_wall_ns === undefined)
		return null;
	const at = BigInt(meta.t0_wall_ns) + BigInt(Math.round(ns));
	const date = new Date(Number(at / 1000000n));
	return Number.isNaN(date.getTime()) ? null : date.toISOString().replace("T", " ").replace("Z", " UTC");
}
