// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// address.js - the view as the fragment of an address, and back: what is shown can be sent, and the browser's history goes through it.
//
//	#/timeline?t=1200-3400&q=client&order=running
//	#/finding/0    #/coro/17    #/sites?sort=2    #/flame
//
// What a view does not say has its default.

const TABLES = {
	coroutines: "Coroutines", waiting: "Waiting", sites: "Sites", threads: "Threads", wakes: "Wakes", findings: "Findings",
};
const PAGES = { timeline: "Timeline", flame: "Flame", ...TABLES };

const ORDERS = ["findings", "birth", "stuck", "running", "runnable", "suspended", "life"];

// Options of a view in the address: how each is read and written. A reader returns undefined for what it does not understand.
const OPTIONS = {
	t: { // the window, in nanoseconds
		read: text => {
			const parts = /^(-?\d{1,16})-(\d{1,16})$/.exec(text);
			return parts && Number(parts[1]) < Number(parts[2]) ? [Number(parts[1]), Number(parts[2])] : undefined;
		},
		write: ([from, to]) => `${Math.round(from)}-${Math.max(Math.round(from) + 1, Math.round(to))}`,
	},
	range: null, // like t, see below
	at: { read: text => /^-?\d{1,16}$/.test(text) ? Number(text) : undefined, write: t => String(Math.round(t)) },
	q: { read: text => cutText(text, 200), write: text => text },
	order: { read: text => ORDERS.includes(text) ? text : undefined, write: text => text },
	group: { read: text => text === "none" || Object.hasOwn(GROUPINGS, text) ? text : undefined, write: text => text },
	rows: { read: text => ROW_HEIGHTS.includes(Number(text)) ? Number(text) : undefined, write: String },
	row: { read: text => text, write: text => text },
	pins: { read: text => text.split(",").slice(0, 50), write: list => list.join(",") },
	turned: { read: text => text.split(",").slice(0, 500), write: list => list.join(",") }, // groups that are not as by default
	hide: { read: text => text.split(","), write: list => list.join(",") },
	even: { read: () => true, write: () => "" },
	alive: { read: text => text !== "no", write: on => on ? "" : "no" },
	section: { read: text => /^\d{1,4}$/.test(text) ? Number(text) : undefined, write: String },
	sort: { read: text => /^-?\d{1,3}$/.test(text) ? Number(text) : undefined, write: String },
	filter: { read: text => cutText(text, 200), write: text => text },
	state: { read: text => text, write: text => text },
	frame: { read: text => text, write: text => text },
	trace: { read: text => text.slice(0, 10), write: text => text }, // the page's, in a link that is copied
	absolute: { read: () => true, write: () => "" }, // differences to a baseline: not of shares
};
OPTIONS.range = OPTIONS.t;

// The view of a fragment: { page, arg, and options }; null: it is none. An empty fragment is the view { page: "" }.
function readAddress(hash) {
	const text = hash.replace(/^#/, "");
	if (!text || text === "/")
		return { page: "", arg: null };
	const parts = /^\/([a-z]+)(?:\/([^?]*))?(?:\?(.*))?$/.exec(text);
	if (!parts)
		return null;
	const view = { page: parts[1], arg: parts[2] ?? null };
	for (const pair of (parts[3] || "").split("&")) {
		const [key, ...rest] = pair.split("="), option = Object.hasOwn(OPTIONS, key) ? OPTIONS[key] : null;
		const value = option ? option.read(decode(rest.join("="))) : undefined;
		if (value !== undefined)
			view[key] = value;
	}
	return view;
}

// Not between the halves of a character, which no address can hold.
function cutText(text, most) {
	return text.slice(0, most).replace(/[\ud800-\udbff]$/, "");
}

function decode(text) {
	try {
		return decodeURIComponent(text.replaceAll("+", " "));
	} catch {
		return "";
	}
}

function writeAddress(view) {
	const options = Object.keys(OPTIONS).filter(key => view[key] !== undefined && view[key] !== null).map(key => {
		const value = encodeURIComponent(OPTIONS[key].write(view[key])).replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/");
		return value ? `${key}=${value}` : key;
	});
	return `#/${view.page || "timeline"}${view.arg === null || view.arg === undefined ? "" : "/" + view.arg}${options.length ? "?" + options.join("&") : ""}`;
}

// A short name for a text, for lists in an address.
function shortHash(text) {
	let hash = 0;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash, 31) + text.charCodeAt(i) | 0;
	return (hash >>> 0).toString(36);
}
