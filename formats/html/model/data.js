// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// data.js - decodes the data in the page to typed arrays: base64, gzip, varints. doc/ctp-tohtml.1 describes the format.
//
// A trace may have ten million events. They are decoded in slices of some milliseconds, so that the page can show progress.

const CERTAIN = 1, DESTROYED = 2, UNSEEN = 4, OMITTED = 8, TAIL = 16; // a coroutine's flags
// An event's kind, and what an OTHER is.
const SUSPEND = 0, SUSPEND_AT = 1, RESUME = 2, RESUME_ON = 3, WAKE = 4, WAKE_BY = 5, LOST = 6, OTHER = 7;
const IS_AWAIT = 1, IS_WAIT = 2, IS_HELD = 3;
const AWAIT = 8, WAIT = 9, HELD = 10; // kinds that an OTHER becomes

function isTransition(kind) {
	return kind === SUSPEND || kind === RESUME;
}
const SLICE_MS = 40;
const AT_ONCE = 0x1000; // rows of a part of some work

// Lets the browser paint and take input if decoding has taken long. Reading the clock is slow: due() says when to read it.
class Breath {
	constructor(progress) {
		this.progress = progress;
		this.since = performance.now();
		this.at = 0;
	}
	due(events) {
		if (events < this.at + 0x10000 && events >= this.at)
			return false;
		this.at = events;
		return true;
	}
	async take(share) {
		if (performance.now() - this.since < SLICE_MS)
			return;
		this.progress(share);
		await new Promise(done => setTimeout(done));
		this.since = performance.now();
	}
}

// Some work is a generator, which yields from time to time which share of it is done and returns the result. Does it at once.
function atOnce(work) {
	for (;;) {
		const { done, value } = work.next();
		if (done)
			return value;
	}
}

// Does it in parts, between which the browser can paint and take input.
async function inParts(work, breath) {
	for (;;) {
		const { done, value } = work.next();
		if (done)
			return value;
		await breath.take(value);
	}
}

function base64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const binary = atob(text), bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

// Elements are emptied as they are read: their text is as large as the decoded data.
async function unpack(part, progress) {
	if (!globalThis.DecompressionStream)
		throw new Error("this browser is too old to unpack it");
	const unzip = new DecompressionStream("gzip");
	const writer = unzip.writable.getWriter();
	const number = node => Number(node.id.split("-")[3]);
	const pieces = [...document.querySelectorAll(`[id^="ctp-data-${part}-"]`)].sort((a, b) => number(a) - number(b));
	if (!pieces.length)
		return new Uint8Array(0);
	const feed = (async () => {
		for (let i = 0; i < pieces.length; i++) {
			await writer.write(base64(pieces[i].textContent));
			pieces[i].remove();
			progress((i + 1) / pieces.length);
		}
		await writer.close();
	})();
	feed.catch(error => writer.abort(error).catch(() => {})); // then the reader fails, which is handled below
	const chunks = [];
	let size = 0;
	for (const reader = unzip.readable.getReader(); ;) {
		const { done, value } = await reader.read().catch(() => {
			throw new Error("its data is damaged. Copy the file again from where it comes from");
		});
		if (done)
			break;
		chunks.push(value);
		size += value.length;
	}
	await feed;
	const bytes = new Uint8Array(size);
	let at = 0;
	for (const chunk of chunks) {
		bytes.set(chunk, at);
		at += chunk.length;
	}
	return bytes;
}

class Varints {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}
	// Exact below 2^53. After the end there are zeros, which finish() reports.
	next() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];
		if (byte < 128)
			return byte;
		let value = byte & 127, scale = 128;
		do {
			byte = bytes[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte >= 128);
		return value;
	}
	signed() {
		const value = this.next();
		return value % 2 ? -(value + 1) / 2 : value / 2;
	}
	signedBig() {
		const from = this.at, value = this.next();
		if (this.at - from < 8)
			return BigInt(value % 2 ? -(value + 1) / 2 : value / 2);
		let big = 0n;
		for (let i = this.at; i-- > from;)
			big = big << 7n | BigInt(this.bytes[i] & 127);
		return big & 1n ? -(big + 1n) / 2n : big / 2n;
	}
	finish() {
		if (this.at !== this.bytes.length)
			throw new Error(`the data has ${this.bytes.length} bytes, but ${this.at} were expected`);
	}
}

function readIds(input, n) {
	const ids = new BigUint64Array(n); // which takes a number modulo 2^64
	for (let i = 0, id = 0n; i < n; i++) {
		ids[i] = id + input.signedBig();
		id = ids[i];
	}
	return ids;
}

function readNumbers(input, array) {
	for (let i = 0; i < array.length; i++)
		array[i] = input.next();
	return array;
}

function readCoroutines(input, n, span) {
	const coros = { n, coro: readIds(input, n), probe: readIds(input, n) };
	coros.name = readNumbers(input, new Uint32Array(n));
	coros.spawn = readNumbers(input, new Uint32Array(n));
	coros.parent = readNumbers(input, new Int32Array(n));
	coros.born = new Float64Array(n);
	for (let i = 0, born = 0; i < n; i++)
		coros.born[i] = born += input.signed();
	coros.died = readNumbers(input, new Float64Array(n));
	coros.end = new Float64Array(n);
	for (let i = 0; i < n; i++) {
		const born = coros.born[i];
		coros.parent[i]--; // -1: not known
		coros.died[i] = coros.died[i] ? born + coros.died[i] - 1 : Infinity;
		coros.end[i] = Math.max(born, Math.min(coros.died[i], span));
	}
	coros.flags = readNumbers(input, new Uint8Array(n));
	coros.first = new Uint32Array(n + 1);
	readNumbers(input, coros.first.subarray(1));
	for (let i = 0; i < n; i++)
		coros.first[i + 1] += coros.first[i];
	return coros;
}

async function readEvents(input, coros, reasons, breath) {
	const total = coros.first[coros.n];
	const events = { time: new Float64Array(total), kind: new Uint8Array(total), arg: new Int32Array(total), reason: null };
	const waits = new Waits();
	if (reasons) {
		waits.any = true;
		events.reason = new Uint16Array(total); // of a SUSPEND
	}
	for (let row = 0; row < coros.n; row++) {
		waits.start();
		readRow(input, coros, row, events, waits);
		if (breath.due(coros.first[row + 1]))
			await breath.take(coros.first[row + 1] / total);
	}
	return events;
}

// Kinds without an argument get the last one, so that no reader has to look back: kinds 0 and 1 become one, and so do 2 and 3.
function readRow(input, coros, row, events, waits) {
	const { time, kind, arg } = events;
	let now = coros.born[row], place = 0, thread = -1;
	for (let e = coros.first[row], end = coros.first[row + 1]; e < end; e++) {
		const head = input.next(), what = head & 7;
		now += (head - what) / 8;
		time[e] = now;
		kind[e] = what;
		if (what <= SUSPEND_AT) {
			kind[e] = SUSPEND;
			arg[e] = place = what === SUSPEND_AT ? input.next() : place;
		} else if (what <= RESUME_ON) {
			kind[e] = RESUME;
			arg[e] = thread = what === RESUME_ON ? input.next() : thread;
		} else if (what <= WAKE_BY) {
			kind[e] = WAKE;
			arg[e] = what === WAKE_BY ? row + input.signed() : -1;
		} else if (what === LOST) {
			arg[e] = input.next();
		} else {
			readOther(input, events, e, waits);
		}
		if (what <= SUSPEND_AT && waits.any)
			events.reason[e] = waits.at(place);
	}
}

// What a coroutine waits for at each place: a WAIT holds for its next suspension and for all later ones at that place.
class Waits {
	constructor() {
		this.any = false;
		this.places = new Map();
	}
	start() { // another row
		this.next = -1;
		if (this.places.size)
			this.places.clear();
	}
	at(place) {
		if (this.next >= 0)
			this.places.set(place, this.next);
		this.next = -1;
		return this.places.get(place) || 0;
	}
}

function readOther(input, { kind, arg }, e, waits) {
	const code = input.next();
	if (code === IS_AWAIT || code === IS_HELD) {
		kind[e] = code === IS_AWAIT ? AWAIT : HELD;
		arg[e] = input.next() - 1;
	} else if (code === IS_WAIT) {
		kind[e] = WAIT;
		arg[e] = waits.next = input.next();
	}
}

// For each thread, the times in which its transitions are missing: { from, to, count }, in time order.
function readThreadGaps(input, threads) {
	return Array.from({ length: threads }, () => {
		const n = input.next(), gaps = { from: new Float64Array(n), to: new Float64Array(n), count: new Float64Array(n) };
		for (let i = 0, at = 0; i < n; i++) {
			gaps.from[i] = at += input.next();
			gaps.to[i] = at += input.next();
			gaps.count[i] = input.next();
		}
		return gaps;
	});
}

// What the page has of a section, or null. number: as people count, from 1 on.
function sectionPart({ parts }, number) {
	return parts.find(part => part.section === number - 1) || null;
}

const NO_PART = { section: 0, t0_wall_ns: null, ordinal: false, t0_ns: "0", span_ns: 0, coroutines: 0, events: 0, omitted_coroutines: 0,
	omitted_events: 0, threads: [], places: [""], strings: [""], reasons: [""] };

// The section that the address names, or the one that the page opens on; or all origins of a merge. meta is of the page and of that.
async function readTrace(say) {
	const page = withMerges(readMeta()), wanted = readAddress(location.hash);
	const part = wanted && sectionPart(page, wanted.section) || page.parts[page.shown] || NO_PART, traces = [];
	for (const { part: one } of part.origins || [{ part }])
		traces.push(await readPart(one, page.parts.indexOf(one), say));
	const { texts, ...trace } = part.origins ? joinTraces(part, traces) : traces[0];
	return { meta: { ...page, ...part, ...texts }, ...trace };
}

async function readPart(part, number, say) {
	const bytes = await unpack(number, share => say("unpacking", share));
	const input = new Varints(bytes);
	const coros = readCoroutines(input, part.coroutines, part.span_ns);
	const events = await readEvents(input, coros, part.reasons.length > 1, new Breath(share => say("reading events", share)));
	const threadGaps = readThreadGaps(input, part.threads.length);
	input.finish();
	return { coros, events, threadGaps };
}

// A page that was cut off has no end, or not all of its data.
function readMeta() {
	const node = document.getElementById("ctp-meta");
	if (!node || !document.getElementById("ctp-end"))
		throw new Error("the file is not complete. It may have been cut off while it was saved or sent");
	const meta = JSON.parse(node.textContent);
	if (meta.format !== 3)
		throw new Error(`the data has format ${meta.format}, this page reads 3`);
	return meta;
}
