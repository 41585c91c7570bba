// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// listing.js - the rows of a table in an order, and those of them that a filter leaves. Rows are numbers: there may be millions.
//
// A column sorts by keys(breath): a list of functions from a row to a number, the most significant one last.

const SORTED_AT_ONCE = 0x4000;

// What texts are sorted by: upper and lower case together, numbers by their value, and an empty text last.
function sortKey(text) {
	return text ? text.toLowerCase().replace(/\d+/g, digits => digits.replace(/^0+(?=\d)/, "").padStart(20, "0")) : "\uffff";
}

// The position of each text in their order. Millions take seconds, so they are sorted in slices, which are merged.
async function rankTexts(texts, breath) {
	const n = texts.length, keys = texts.map(sortKey), ranks = new Uint32Array(n);
	const compare = (a, b) => keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : a - b;
	let order = new Uint32Array(n), spare = new Uint32Array(n);
	for (let from = 0; from < n; from += SORTED_AT_ONCE) {
		order.set(Array.from({ length: Math.min(SORTED_AT_ONCE, n - from) }, (_, i) => from + i).sort(compare), from);
		await breath.take(from / n);
	}
	for (let width = SORTED_AT_ONCE; width < n; width *= 2) {
		for (let from = 0; from < n; from += 2 * width)
			await mergeParts(order, spare, [from, from + width, from + 2 * width], compare, breath);
		[order, spare] = [spare, order];
	}
	for (let i = 0; i < n; i++)
		ranks[order[i]] = i;
	return ranks;
}

// Merges two sorted parts, which begin and end at `parts`.
async function mergeParts(order, into, parts, compare, breath) {
	const [from, middle, to] = parts.map(at => Math.min(at, order.length));
	for (let a = from, b = middle, at = from; at < to; at++) {
		into[at] = b >= to || a < middle && compare(order[a], order[b]) < 0 ? order[a++] : order[b++];
		if (at % SORTED_AT_ONCE === 0)
			await breath.take(at / order.length);
	}
}

// from() of a typed array takes seconds for millions; this does not.
function everyNumber(n) {
	const all = new Int32Array(n);
	for (let i = 0; i < n; i++)
		all[i] = i;
	return all;
}

// Rows by a number, the smallest first; equal ones stay as they are. The numbers are sorted by their bits, 16 at a time from the
// lowest: those of a larger one are larger if the sign is turned, and all other bits too if it is negative.
async function sortRows(rows, key, breath) {
	const n = rows.length, keys = new Float64Array(n), sorted = new Int32Array(n);
	const words = new Uint32Array(keys.buffer), digits = new Uint16Array(keys.buffer);
	for (let i = 0; i < n; i++) {
		if (i % SORTED_AT_ONCE === 0)
			await breath.take(0);
		keys[i] = key(rows[i]) + 0; // there is no -0
		const sign = words[2 * i + 1] >>> 31 ? 0xffffffff : 0;
		words[2 * i] ^= sign;
		words[2 * i + 1] ^= sign | 0x80000000;
	}
	let order = everyNumber(n), spare = new Int32Array(n);
	for (let digit = 0; digit < 4; digit++) {
		if (await sortDigit(digits, digit, order, spare, breath))
			[order, spare] = [spare, order];
	}
	for (let i = 0; i < n; i++)
		sorted[i] = rows[order[i]];
	return sorted;
}

// Sorts by one of the four digits of each number, into `into`. False: all have the same digit, and nothing was done.
async function sortDigit(digits, digit, order, into, breath) {
	const at = new Uint32Array(0x10001), n = order.length;
	for (let i = digit; i < 4 * n; i += 4)
		at[digits[i] + 1]++;
	if (!n || at[digits[digit] + 1] === n)
		return false;
	for (let value = 1; value <= 0x10000; value++)
		at[value] += at[value - 1];
	for (let from = 0; from < n; from += SORTED_AT_ONCE) {
		await breath.take((digit + from / n) / 4);
		placeRows(digits, digit, order.subarray(from, from + SORTED_AT_ONCE), into, at);
	}
	return true;
}

// Puts each row where the rows with its digit go on.
function placeRows(digits, digit, order, into, at) {
	for (let i = 0; i < order.length; i++)
		into[at[digits[4 * order[i] + digit]]++] = order[i];
}

class Listing {
	constructor(n, columns) {
		Object.assign(this, { n, columns, all: null, order: null, sort: null });
	}

	// All rows, by a column: sort is its index + 1, negative: the largest first; 0: as they are.
	async sorted(sort, breath) {
		const column = this.columns[Math.abs(sort) - 1], sign = Math.sign(sort);
		this.all ||= everyNumber(this.n);
		if (this.sort === sort)
			return this.order;
		let order = this.all;
		if (column)
			for (const key of column.ready ||= await column.keys(breath))
				order = await sortRows(order, row => sign * key(row), breath);
		Object.assign(this, { sort, order });
		return order;
	}

	// The rows, in their order, for which all tests hold. null: cancelled.
	async select(sort, tests, breath, cancelled = () => false) {
		const order = await this.sorted(sort, breath), found = new Int32Array(order.length);
		let n = 0;
		for (let i = 0; i < order.length && !cancelled(); i++) {
			if (tests.every(test => test(order[i])))
				found[n++] = order[i];
			if (i % 4096 === 4095)
				await breath.take(i / order.length);
		}
		return cancelled() ? null : found.slice(0, n);
	}
}
