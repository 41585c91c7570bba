// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
"use strict";
// export.js - what leaves the page: text to the clipboard, tables and pictures as files.

async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
	} catch { // a browser that refuses this for a file
		const area = el("textarea", { readonly: true, class: "aside" });
		area.value = text;
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
}

function saveFile(name, blob) {
	const url = URL.createObjectURL(blob), link = el("a", { href: url, download: name });
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// A field of CSV, as RFC 4180 has it.
function csvField(text) {
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// What a spreadsheet takes for a formula: one of these signs, or a wide or small form, after what it leaves out.
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@\u2212\uFE62\uFE63\uFE66\uFE6B\uFF0B\uFF0D\uFF1D\uFF20]/u;

// A text from the trace as a field. A spreadsheet would run what begins like a formula.
function csvText(text) {
	text = clean(text ?? "", Infinity);
	return csvField(FORMULA.test(text) ? "'" + text : text);
}

const CSV_LINES = 1024; // in a piece

// A table in pieces of text. fields: { title, get(row), text: whether it is one of the trace, and not a number }.
async function csvPieces(fields, rows, breath) {
	const pieces = [fields.map(({ title }) => csvField(title)).join(",") + "\r\n"];
	const write = fields.map(({ get, text }) => text ? row => csvText(get(row)) : row => String(get(row) ?? ""));
	for (let from = 0; from < rows.length; from += CSV_LINES) {
		const lines = Array.from(rows.subarray(from, from + CSV_LINES), row => write.map(field => field(row)).join(","));
		pieces.push(lines.join("\r\n") + "\r\n");
		await breath.take(from / rows.length);
	}
	return pieces;
}

async function saveTable(name, fields, rows, breath) {
	saveFile(name, new Blob(await csvPieces(fields, rows, breath), { type: "text/csv" }));
}

// The overview and the rows that are in view, with what they show in words above them.
function savePicture(app) {
	const { timeline, overview, model } = app, parts = [overview.canvas, timeline.canvas], head = 24 * timeline.ratio;
	const width = Math.max(...parts.map(part => part.width)), height = parts.reduce((sum, part) => sum + part.height, head);
	const canvas = el("canvas", { width, height }), ctx = canvas.getContext("2d"), { css } = Colours.now();
	ctx.fillStyle = css("back");
	ctx.fillRect(0, 0, width, height);
	ctx.fillStyle = css("text");
	ctx.font = `${13 * timeline.ratio}px sans-serif`;
	ctx.textBaseline = "middle";
	ctx.fillText(isolate(document.title), 8 * timeline.ratio, head / 2, width - 16);
	let y = head;
	for (const part of parts) {
		ctx.drawImage(part, 0, y);
		y += part.height;
	}
	canvas.toBlob(blob => saveFile(fileName(model, "png"), blob));
}

function fileName({ meta }, ending) {
	const name = clean(meta.title, 40).split("/").at(-1).replace(/[^\w.-]+/g, "-").replace(/^[.-]+|-+$/g, "");
	return `${name || "trace"}.${ending}`;
}
