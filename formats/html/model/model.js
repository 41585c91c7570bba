// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// model.js - the meaning of the events: states of coroutines, wakers, and search by name.

// The state that begins with each event. A loss says that transitions are missing between the last one that is known and the
// next: all of that is unknown, and a wake in between says nothing about the state before or after it.
function deriveStates(coros, events) {
	const { kind } = events, state = new Uint8Array(kind.length), initial = new Uint8Array(coros.n);
	for (let row = 0; row < coros.n; row++) {
		const first = coros.first[row], stop = coros.first[row + 1];
		let now = coros.flags[row] & OMITTED ? UNKNOWN : BORN, woken = false, last = first - 1; // last: transition
		initial[row] = now;
		for (let e = first; e < stop; e++) {
			const what = kind[e];
			if (what === SUSPEND) {
				now = woken ? RUNNABLE : SUSPENDED;
				woken = false;
				last = e;
			} else if (what === RESUME) {
				now = RUNNING;
				last = e;
			} else if (what === WAKE) {
				if (now === RUNNING)
					woken = true;
				else if (now !== UNKNOWN)
					now = RUNNABLE;
			} else if (what === LOST) {
				now = UNKNOWN;
				woken = false;
				if (last < first)
					initial[row] = UNKNOWN;
				state.fill(UNKNOWN, Math.max(last, first), e);
			}
			state[e] = now;
		}
		if (coros.flags[row] & TAIL) {
			if (last < first)
				initial[row] = UNKNOWN;
			state.fill(UNKNOWN, Math.max(last, first), stop);
		}
	}
	return { state, initial };
}

const NAMELESS = "coroutine", NO_NAME = "no name", NO_NAME_AT = "no name, first suspended at ";

// From an id to its row; if an id was reused, to the latest. A Map of a million BigInts takes most of a second; this hashes their
// halves.
class Index {
	constructor(ids) {
		this.ids = ids;
		this.shift = 31 - Math.ceil(Math.log2(ids.length + 1));
		this.slots = new Int32Array(2 ** (32 - this.shift)).fill(-1);
		this.words = new Uint32Array(ids.buffer);
		for (let row = 0; row < ids.length; row++)
			this.slots[this.slot(this.words[2 * row], this.words[2 * row + 1])] = row;
	}
	// The slot of the id, or the free slot where it belongs.
	slot(low, high) {
		const { slots, words } = this, mask = slots.length - 1;
		let at = Math.imul(low ^ Math.imul(high, 0x85ebca6b), 0x9e3779b1) >>> this.shift;
		for (; slots[at] >= 0; at = (at + 1) & mask)
			if (words[2 * slots[at]] === low && words[2 * slots[at] + 1] === high)
				break;
		return at;
	}
	find(id) { // a BigInt; -1 where there is none
		return this.slots[this.slot(Number(id & 0xffffffffn), Number(id >> 32n))];
	}
}

// Rows by a key, smallest first, stable: sorting runs is far faster than comparing.
function sortedBy(rows, key) {
	const items = runArrays(rows.length);
	for (let i = 0; i < rows.length; i++) {
		items.start[i] = key(rows[i]);
		items.row[i] = rows[i];
	}
	sortRuns(items, runArrays(rows.length), 0, rows.length);
	return items.row;
}

// The list of the panel for a section: its findings, then those with an excuse, in the form of findings. Of a wait that stands out
// the report has no waiters. The evidence of a finding that has a root begins with that.
function leadsOf({ findings, suspects = [] }) {
	const all = [...findings, ...suspects];
	const isRoot = (lead, { root, origin }) => root && lead.number === root && lead.origin === origin;
	const withRoot = finding => {
		const because = all.filter(lead => isRoot(lead, finding)).map(({ title }) => "because of: " + title);
		return because.length ? { ...finding, evidence: [...because, ...finding.evidence] } : finding;
	};
	return [...findings, ...suspects.map(({ rule, next, awaits, evidence, ...suspect }) => ({
		...suspect, rule: rule || "stands out", members: suspect.count,
		from_ns: suspect.since_ns, to_ns: suspect.since_ns + suspect.for_ns,
		evidence: ["not reported as likely because " + suspect.excuse, ...evidence || (suspect.also ? [suspect.also] : [])],
		next: next || [], waiting: rule ? suspect.waiting : 0, awaits: awaits || [],
	}))].map(withRoot);
}

class Model {
	constructor({ meta, coros, events, threadGaps }) {
		Object.assign(this, { meta, coros, events, threadGaps, n: coros.n, span: Math.max(1, meta.span_ns) });
		const nothing = { findings: [], waiting: [], running: [], sites: [], threads: [], top: {} };
		this.section = (meta.origins ? joinedSection(meta) : meta.report.sections[meta.section]) || nothing;
		this.leads = leadsOf(this.section);
		// The report's times are since its start, the page's since t0, which may be a little earlier.
		this.reportOffset = this.section.start_ns ? Number(BigInt(this.section.start_ns) - BigInt(meta.t0_ns)) : 0;
		this.index = new Index(coros.coro);
		[this.firstEvent, this.lastEvent] = this.extent();
		this.patterns = []; // namePattern() of each name, as far as it was asked for
	}

	// The origin that a row is from, if the trace has several; else null.
	originOf(row) {
		return (this.meta.origins || [])[this.coros.origin?.[row]] || null;
	}
	// When the trace ends, for a finding: its origin may have ended earlier than others.
	endOf({ origin }) {
		return ((this.meta.origins || []).find(({ name }) => name === origin) || { to: this.span }).to;
	}
	sameOrigin(row, other) {
		return !this.coros.origin || this.coros.origin[row] === this.coros.origin[other];
	}

	// All of the time, without room at the sides.
	get whole() {
		return [Math.min(0, this.firstEvent), Math.max(this.span, this.lastEvent)];
	}

	hasSection(number) {
		return Boolean(sectionPart(this.meta, number));
	}

	// How the time of the whole trace, or of one row, is spread over the width.
	scale() {
		const sample = this.events.time.length ? sampleEvents(this.coros, this.events.time) : null;
		return busyScale(this.span, this.firstEvent, this.lastEvent, sample);
	}
	rowScale(row) {
		const { first } = this.coros, start = this.events.time.slice(first[row], first[row + 1]);
		return busyScale(this.span, this.beginning(row), this.ending(row), { start, stop: new Float64Array(start.length).fill(1) });
	}

	// A row's first event, or its birth if there is none, and its last event, or its death.
	beginning(row) {
		const { first, born } = this.coros;
		return Math.min(this.span, first[row] < first[row + 1] ? this.events.time[first[row]] : born[row]);
	}
	ending(row) {
		const { first, born, died } = this.coros;
		const last = first[row] < first[row + 1] ? this.events.time[first[row + 1] - 1] : born[row];
		return Math.min(this.span, died[row] <= this.span ? Math.max(last, died[row]) : last);
	}

	// From the first event of all to the last.
	extent() {
		let low = Infinity, high = -Infinity;
		for (let row = 0; row < this.n; row++) {
			low = Math.min(low, this.beginning(row));
			high = Math.max(high, this.ending(row));
		}
		for (const { from, to } of this.threadGaps) {
			low = Math.min(low, ...from.subarray(0, 1));
			high = Math.max(high, ...to.subarray(-1));
		}
		return this.n ? [low, high] : [0, this.span];
	}

	async build(say) {
		this.busy = this.scale();
		const { coros, events } = this, breath = new Breath(share => say("adding up", share));
		const { state, initial } = deriveStates(coros, events);
		const { first, born, end, died } = coros;
		this.lanes = new Lanes({ first, born, end, died, initial, state, time: events.time, arg: events.arg });
		await this.lanes.sum(breath);
		this.threads = await buildThreads(coros, events, state, this.threadGaps, this.span, breath);
		await this.threads.sum(breath);
		const awaited = this.leads.filter(({ also }) => also);
		const awaiting = awaited.length ? await inParts(awaitingAtEnd(this), breath) : null;
		for (const lead of awaited)
			Object.assign(lead, awaitsOf(this, lead, awaiting));
		findOthers(this);
	}

	idText(row) {
		return idText(this.coros.coro[row]);
	}

	row(coro) { // of an id as text, or -1
		return /^\d{1,20}$/.test(coro) ? this.index.find(BigInt(coro)) : -1;
	}

	// A row in an address: its id, and the row too if a later one has the same id.
	id(row) {
		const id = this.coros.coro[row];
		return this.index.find(id) === row ? String(id) : `${id}@${row}`;
	}

	rowAt(text) { // of such an id; or -1
		const [id, row] = String(text).split("@");
		if (row !== undefined && !(/^\d{1,7}$/.test(row) && Number(row) < this.n))
			return -1;
		return row === undefined ? this.row(id) : String(this.coros.coro[row]) === id ? Number(row) : -1;
	}

	place(index) {
		return this.meta.places[index] || "";
	}

	// The title of a row, beside its number: its name, or else the function that it was spawned in.
	label(row) {
		const name = this.meta.strings[this.coros.name[row]], spawn = this.place(this.coros.spawn[row]);
		return shorten(name || functionOf(spawn) || shortSite(spawn) || NAMELESS, 80);
	}

	// The name without its numbers: what coroutines of one kind have in common.
	namePattern(row) {
		const name = this.coros.name[row];
		this.patterns[name] ??= clean(this.meta.strings[name] || "", 80).replace(/0x[0-9a-f]+|\d+/gi, "…");
		return this.patterns[name] || NO_NAME;
	}

	// The same; of a row without a name, where it was first suspended.
	kindOf(row) {
		const { kind, arg } = this.events, stop = this.coros.first[row + 1];
		let e = this.coros.first[row];
		if (this.meta.strings[this.coros.name[row]])
			return this.namePattern(row);
		while (e < stop && kind[e] !== SUSPEND)
			e++;
		const place = e < stop ? this.place(arg[e]) : "";
		return place ? NO_NAME_AT + place : NO_NAME;
	}

	// The same without room for the number: the number replaces a missing name.
	shortLabel(row) {
		const label = this.label(row);
		return label === NAMELESS ? this.idText(row) : label;
	}

	// The name with its number, or the number alone.
	fullLabel(row) {
		const label = this.shortLabel(row), id = this.idText(row);
		return label === id ? id : `${label} ${id}`;
	}

	// What woke or spawned a coroutine, if that was none of the coroutines. If events or wakes were lost, it may have been one.
	get outside() {
		const { lost, missed } = this.section;
		return `something outside any coroutine${lost || missed ? ", or one that is not known" : ""}`;
	}

	// The label of a waker with its number.
	wakerText(row) {
		return row < 0 ? this.outside : row < this.n ? this.fullLabel(row) : "a coroutine that is not on this page";
	}

	threadLabel(index) {
		const thread = this.meta.threads[index];
		if (!thread)
			return "a thread that is not known";
		return clean(`${thread.name ? `${thread.name} (${thread.tid})` : `thread ${thread.tid}`}${thread.origin ? ` on ${thread.origin}` : ""}`, 80);
	}

	// The last suspension at or before event e of the row: where it waits.
	placeAt(row, e) {
		for (; e >= this.coros.first[row]; e--)
			if (this.events.kind[e] === SUSPEND)
				return this.place(this.events.arg[e]);
		return "";
	}

	// The last suspension of the row at or before event e, if it has not been resumed since; or -1.
	waitAt(row, e) {
		const { kind } = this.events, first = this.coros.first[row];
		for (; e >= first && kind[e] !== RESUME && kind[e] !== LOST; e--)
			if (kind[e] === SUSPEND)
				return e;
		return -1;
	}

	// What the row waits for at event e: a text, or "".
	reasonAt(row, e) {
		const wait = this.events.reason ? this.waitAt(row, e) : -1;
		return wait >= 0 ? this.meta.reasons[this.events.reason[wait]] || "" : "";
	}

	// The coroutine that held what the row waits for at event e, or -1. It is told at the end of a long wait.
	holderAt(row, e) {
		const { kind, arg } = this.events, wait = this.waitAt(row, e), stop = this.coros.first[row + 1];
		for (let i = wait + 1; wait >= 0 && i < stop && kind[i] !== RESUME && kind[i] !== SUSPEND; i++)
			if (kind[i] === HELD)
				return arg[i];
		return -1;
	}

	// If the row awaits another one at t: { t: since when, target: that one, -1: not known }; else null.
	awaitAt(row, t) {
		const { kind, arg, time } = this.events, wait = this.waitAt(row, this.lanes.after(row, t) - 1);
		for (let e = wait - 1; wait >= 0 && e >= this.coros.first[row] && kind[e] !== RESUME && kind[e] !== SUSPEND; e--)
			if (kind[e] === AWAIT)
				return { t: time[wait], target: arg[e] < this.n ? arg[e] : -1 };
		return null;
	}

	// The rows whose name, spawn site or any suspend site or reason of a wait has the text, or whose id or probe id it is.
	search(text) {
		return atOnce(this.searching(text));
	}
	*searching(text) {
		text = text.trim().toLowerCase();
		const { coros, events, meta } = this, found = [];
		const having = list => Uint8Array.from(list, word => word.toLowerCase().includes(text));
		const names = having(meta.strings), places = having(meta.places), reasons = having(meta.reasons || []), { reason } = events;
		const number = /^#?(0x[0-9a-f]{1,16}|\d{1,20})$/.test(text) ? BigInt(text.replace("#", "")) : null;
		const probe = text.startsWith("#") ? null : number;
		for (let row = 0; row < this.n; row++) {
			if (row % AT_ONCE === 0)
				yield row / this.n;
			let hit = names[coros.name[row]] || places[coros.spawn[row]];
			hit ||= number !== null && coros.coro[row] === number || probe !== null && coros.probe[row] === probe;
			for (let e = coros.first[row]; !hit && e < coros.first[row + 1]; e++)
				hit = events.kind[e] === SUSPEND && (places[events.arg[e]] || reason && reasons[reason[e]]);
			if (hit)
				found.push(row);
		}
		return found;
	}

	// The coroutines of findings and suspects, as far as the report lists them and the page has them.
	ofFindings() {
		const members = this.leads.flatMap(finding => finding.coroutines);
		return new Set(members.map(member => this.row(member.coro)).filter(row => row >= 0));
	}

	// Rows of a set before all the others.
	rowsFirst(first, rows) {
		const left = new Uint8Array(this.n), found = new Int32Array(rows.length);
		let at = 0;
		for (let i = 0; i < rows.length; i++)
			left[rows[i]] = 1;
		for (const row of first)
			if (left[row]) {
				found[at++] = row;
				left[row] = 0;
			}
		for (let i = 0; i < rows.length; i++)
			if (left[rows[i]])
				found[at++] = rows[i];
		return found;
	}

	// The last wake of the row before t, or null.
	wakeBefore(row, t) {
		const { kind, time } = this.events;
		for (let e = this.lanes.after(row, t) - 1; e >= this.coros.first[row]; e--)
			if (kind[e] === WAKE && time[e] < t)
				return wakeAt(this, row, e);
		return null;
	}

	// The first wake by the row at t or later, or null.
	wakeAfter(row, t) {
		const { coros, events, lanes } = this;
		let best = null;
		for (let other = 0; other < this.n; other++) {
			if (coros.end[other] < t)
				continue;
			for (let e = lanes.after(other, t - 0.5); e < coros.first[other + 1] && !(best && events.time[e] >= best.t); e++)
				if (events.arg[e] === row && events.kind[e] === WAKE)
					best = wakeAt(this, other, e);
		}
		return best;
	}

	children(row, most) {
		const found = [];
		for (let other = 0; other < this.n && found.length < most; other++)
			if (this.coros.parent[other] === row)
				found.push(other);
		return found;
	}

	// What rows are sorted by, the largest first; null: they stay as they are.
	orderKey(by) {
		const { lanes, coros, span } = this;
		const total = state => row => lanes.totals[row * STATES + state];
		const keys = {
			running: total(RUNNING), runnable: total(RUNNABLE), suspended: total(SUSPENDED),
			// Living rows that have waited longest at the end come first.
			stuck: row => {
				const last = coros.first[row + 1] - 1;
				const waits = coros.died[row] > span && lanes.stateBefore(row, last + 1) <= RUNNABLE;
				return waits ? coros.end[row] - (last >= coros.first[row] ? lanes.time[last] : coros.born[row]) : -1;
			},
			life: row => coros.end[row] - coros.born[row],
			...coros.origin && { birth: row => -coros.born[row] }, // otherwise they are in that order
		};
		return Object.hasOwn(keys, by) ? row => -keys[by](row) : null;
	}

	// Rows in another order.
	sorted(rows, by) {
		const key = this.orderKey(by);
		return key ? sortedBy(rows, key) : rows;
	}
}
