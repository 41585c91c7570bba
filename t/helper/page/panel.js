// SPDX-License-Identifier: MIT
// Copyright (c) 2026 the ctptools authors
// panel.js - tries the parts of the findings panel that need no browser: mentions of coroutines, forests of waits, their layout, Markdown.
"use strict";
const fs = require("node:fs"), path = require("node:path"), vm = require("node:vm");

const html = path.join(__dirname, "../../../formats/html");
const parts = ["model/text.js", "model/mentions.js", "model/waits.js", "model/members.js", "panels/waittree.js", "panels/findingbody.js", "panels/findingtext.js"];
const names = "mentionsIn, anyInferred, nodeTexts, wantedBy, waitForest, firstNodes, placeNodes, freeText, objectTitle, alikeObjects, alikeTitle, functionOf, shortSite, useFolder, waitOf, findingMarkdown, codeText, plainText, duration";
const script = parts.map(part => fs.readFileSync(path.join(html, part), "utf8")).join("\n");
const page = vm.runInNewContext(`${script}\n;({ ${names} })`, {});

let tests = 0;
function is(got, expected, name) {
	const [a, b] = [got, expected].map(value => JSON.stringify(value)), ok = a === b;
	console.log(`${ok ? "ok" : "not ok"} ${++tests} - ${name}`);
	if (!ok) {
		console.log(`#      got: ${a}\n# expected: ${b}`);
		process.exitCode = 1;
	}
}

// --- lengths of time, as ctp-report has them

const LENGTHS = [[0, "0 ns"], [0.25, "0.25 ns"], [127, "127 ns"], [999, "999 ns"], [1000, "1.00 µs"], [999400, "999 µs"], [999600, "1.00 ms"],
	[9996000, "10.0 ms"], [38249999, "38.2 ms"], [2560000000, "2.56 s"], [2553881233, "2.55 s"], [9.8e6, "9.80 ms"], [-61.2e9, "−1.02 min"],
	[7200e9, "2.00 h"], [86400e9 * 2000, "2,000 d"]];
is(LENGTHS.map(([ns]) => page.duration(ns)), LENGTHS.map(([, text]) => text), "three digits, with the zeros at the end");

// --- mentions

const coros = new Map([["36", "client 17"], ["5", "x"], ["6", "a x (#5)"], ["7", "worker #5"], ["8", "f(a) (b"], ["9", ""], [String(0xffff00000010n), "far"]]);
const ids = [...coros.keys()];
const known = { row: id => ids.indexOf(id), name: row => coros.get(ids[row]), isSite: text => text === "pool.c:40:get", sites: ["read it:3:f now"] };
const mentions = line => page.mentionsIn(line, known).map(({ text, row, site }) => site !== undefined ? `S(${text})` : row !== undefined ? `${ids[row]}(${text})` : text).join("|");

is(mentions("its wait was ended by client 17 (#36), which has ended"), "its wait was ended by |36(client 17 (#36))|, which has ended", "a name with its number");
is(mentions("coroutine #36, in server, waits"), "36(coroutine #36)|, in server, waits", "a number without a name");
is(mentions("worker #5 (#7) waits"), "7(worker #5 (#7))| waits", "a name that contains another number");
is(mentions("a x (#5) (#6) and x (#5)"), "6(a x (#5) (#6))| and |5(x (#5))", "a name that looks like another mention");
is(mentions("f(a) (b (#8), f(a) (b (#8)"), "8(f(a) (b (#8))|, |8(f(a) (b (#8))", "a name with parentheses, twice");
is(mentions("far (#0xffff00000010) waits"), "281470681743376(far (#0xffff00000010))| waits", "a number in hexadecimal");
is(mentions("lost (#99) waits for coroutine #99"), "lost (#99) waits for coroutine #99", "a coroutine that is not on the page");
is(mentions("worker #5 (#99) waits"), "worker #5 (#99) waits", "the name of such a coroutine makes no link");
is(mentions("renamed (#36) waits"), "renamed (|36(#36)|) waits", "under another name, the number alone is the link");
is(mentions("issue#36 and #36a and colour #36 differ"), "issue#36 and #36a and colour #36 differ", "a number in other text is no mention");
is(mentions("held at pool.c:40:get, by client 17 (#36)"), "held at |S(pool.c:40:get)|, by |36(client 17 (#36))", "a site before punctuation");
is(mentions("at read it:3:f now for 2 s"), "at |S(read it:3:f now)| for 2 s", "a site with spaces");
is(mentions(""), "", "an empty line");
is(page.mentionsIn("#36: a <b> & (#36)", known).map(part => part.text).join(""), "#36: a <b> & (#36)", "no character is lost");

// --- waits

const at = 0x10, lock = (object, more) => ({ name: null, kind: "lock", made_site: null, pid: 1, object, available: 0, available_exact: true, room: null,
	room_exact: false, available_text: "0", unheld: false, total: 1, closed: false, holders: [], held_by_others: 0, waiters: 1, longest_ns: 5, ...more });
const who = (coro, more) => ({ coro: String(coro), name: `co ${coro}`, state: "suspended", since_ns: 0, for_ns: 100 - coro, suspend_site: "a.c:1:f",
	reasons: [], waits_for: null, ...more });
const wants = object => [{ kind: "lock", pid: 1, object, count: 1 }];
const holder = coro => ({ coro: String(coro), name: `co ${coro}`, count: 1, alive: true });
const finding = (coroutines, awaits = []) => ({ rule: "wait-cycle", certainty: "likely", title: "t", evidence: [], next: [], coroutines, awaits,
	members: coroutines.length, waiting: awaits.length, suspend_site: null, spawn_site: null });
const drawn = nodes => nodes.map(({ key, children, closes, circle }) => `${key.replace(/^1 /, "")}${circle ? "*" : ""}${closes ? `>${closes.key}` : ""}`
	+ (children.length ? `(${drawn(children)})` : "")).join(" ");
const forest = (f, objects) => drawn(page.waitForest(f, objects));

is(forest(finding([who(1, { waits_for: "2", reasons: wants("0xa") }), who(2, { waits_for: "1", reasons: wants("0xb") })]),
	[lock("0xa", { holders: [holder(2)] }), lock("0xb", { holders: [holder(1)] })]), "#1*(0xb*(#2*(0xa*>#1)))", "two locks in two orders are a circle");
is(forest(finding([who(4, { waits_for: "4", reasons: wants("0xa") })], [who(5, { waits_for: "4", reasons: wants("0xa") }), who(6, { waits_for: "5", told: true })]),
	[lock("0xa", { holders: [holder(4)] })]), "#4*(0xa*>#4(#5(#6)))", "a coroutine that waits for itself, and the others below the lock");
is(forest(finding([who(1), who(2)], [])), "#1 #2", "coroutines that wait for nothing known are apart");
is(forest(finding([who(1, { waits_for: "1" })])), "#1*>#1", "a coroutine that awaits itself");
is(forest(finding([who(1, { reasons: wants("0xa") }), who(2, { reasons: wants("0xa") })]), [lock("0xa")]), "0xa(#1 #2)", "an object that nobody holds is a root");
is(forest(finding([who(1, { reasons: wants("0xa") })]), []), "0xa(#1)", "an object that the report does not list");
is(forest(finding([who(1, { waits_for: "8", reasons: wants("0xa") }), who(2, { waits_for: "9", reasons: wants("0xa") })]),
	[lock("0xa", { holders: [holder(9)] })]), "#9(0xa(#1 #2))", "who was awaited has passed the lock on: its holder leads");
is(forest(finding([who(3)], [who(5, { waits_for: "6" }), who(6, { waits_for: "5" }), who(7, { waits_for: "77" })])), "#5*(#6*>#5) #3 #77(#7)",
	"a circle comes first, then what is not listed");
is(forest({ ...finding([{ ...who(1), reasons: undefined, waits_for: undefined }]), awaits: undefined }), "#1", "a report without reasons");
is(page.wantedBy(finding([who(1, { reasons: wants("0xa") }), who(2, { reasons: wants("0xb") })], [who(3, { reasons: wants("0xb") })]), [lock("0xb", { name: "db" })])
	.map(({ object, name, here }) => [object, name, here]), [["0xb", "db", 2], ["0xa", null, 1]], "what is waited for, the most first");
is([lock("0x0000aaaa"), lock("0x1", { name: "db" }), lock("0x1", { made_site: "p.c:3:f", kind: "permits" })].map(page.objectTitle),
	["lock 0xaaaa", "lock 'db'", "pool made at p.c:3:f"], "an object by its address, its name, its site");
is([lock("0xa"), lock("0xa", { available_text: "?, room for 2" }), {}].map(page.freeText), ["0", "not known, room for 2", "not known"],
	"how much is available, in the words of the report");
const queue = (object, name, more) => lock(object, { kind: "queue", name, waiters: 0, ...more });
const alike = page.alikeObjects([queue("0x1", "write"), queue("0x2", "write", { waiters: 2, longest_ns: 9 }), queue("0x3", "write", { available_text: "5" }),
	queue("0x4", "write", { holders: [holder(1)], waiters: 1 }), queue("0x5", null), queue("0x6", null), queue("0x7", null, { waiters: 1 }),
	queue("0x8", null, { made_site: "q.c:1:f" }), queue("0x9", null, { made_site: "q.c:1:f" }), queue("0xa", "read")]);
is(alike.map(item => [page.alikeTitle(item), item.alike, item.waiters]), [["queue 'write' × 2", 2, 2], ["queue 'write'", 1, 1], ["queue 0x7", 1, 1],
	["queue 'write'", 1, 0], ["queue without a name × 2", 2, 0], ["queue made at q.c:1:f × 2", 2, 0], ["queue 'read'", 1, 0]],
	"objects with one name in one state are one, unless one of them is held");

// --- sites

const FUNCTIONS = [["a.c:1:get", "get"], ["a.rs:7:core::future::poll_fn::PollFn<app::read<alloc::string::String>>", "PollFn"],
	["a.rs:7:app::serve::<alloc::string::String>::{{closure}}", "serve"], ["a.rs:7:<app::Conn<T> as core::future::Future>::poll", "poll"],
	["a.rs:7:<F<fn(u8) -> u8> as G>::call::{{closure}}::{{closure}}", "call"], ["a.cpp:2:task<void> Foo::bar(int, std::vector<int>)", "bar"],
	["a.cpp:2:void (anonymous namespace)::run(int)", "run"], ["a.cpp:2:a::operator<<", "operator<<"], ["a.c:1", ""], ["app+0x1f", ""], ["", ""],
	["a.rs:7:<A as B>", "<A as B>"], ["/a:b/c.rs:7:f", "f"]];
is(FUNCTIONS.map(([site]) => page.functionOf(site)), FUNCTIONS.map(([, name]) => name), "the function of a site, without types and closures");
is(page.useFolder(["", "/a/b/c/d.rs:1:f", "/a/b/ce/d.rs:1:f", "src/e.rs:2:g"]), "/a/b/", "the folder of all absolute paths");
is(["/a/b/c/d.rs:1:f<T>", "src/e.rs:2:g", "/a/bc.rs:1:h", "/a/b/app+0x1f"].map(page.shortSite), ["c/d.rs:1:f", "src/e.rs:2:g", "/a/bc.rs:1:h", "app+0x1f"],
	"is left out, and so are types");
is([page.useFolder(["/a/b.c:1:f", "/c/d.c:1:f"]), page.useFolder(["a/b.c:1:f"]), page.useFolder([])], ["", "", ""], "unless there is none");

// --- layout

const many = page.waitForest(finding([who(1)], Array.from({ length: 99 }, (_, i) => who(i + 2, { waits_for: i < 3 ? "1" : String(2 + i % 3) }))));
const rows = page.firstNodes(many, 10);
is(rows.filter(({ node }) => node).length, 10, "a large forest shows its first nodes");
is(rows.reduce((sum, { node, left }) => sum + (node ? 1 : left), 0), 100, "and counts all the others");
const chains = page.waitForest(finding(Array.from({ length: 10 }, (_, i) => who(i + 1)), Array.from({ length: 20 }, (_, i) =>
	who(i + 11, { waits_for: String(i + 1) }))));
is(page.firstNodes(chains, 5).map(({ node, depth, left, alike }) => node ? [node.key, depth] : [left, depth, alike]), [["#1", 0], ["#11", 1], ["#21", 2], [27, 0, 9]],
	"of ten chains of one shape there is one, and the others are counted");
is(page.firstNodes(chains, 30).every(({ node }) => node), true, "if not all have room");
is(page.firstNodes(many, 1000).every(({ node }) => node), true, "with room for all, none is left out");
is(page.firstNodes(page.waitForest(finding([who(1)], [who(2, { waits_for: "1" }), who(3, { waits_for: "1" })])), 2).map(({ node }) => node && node.key),
	["#1", "#2", "#3"], "one that is left is shown");
for (const wide of [false, true]) {
	const { boxes, width, height } = page.placeNodes(rows, 1000, wide);
	const apart = boxes.every((a, i) => boxes.every((b, k) => i === k || a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y));
	is([apart, boxes.every(({ x, y, w, h }) => x >= 0 && x + w <= width && y + h <= height)], [true, true], `boxes do not overlap, ${wide ? "wide" : "narrow"}`);
}
const chain = page.waitForest(finding([who(1)], Array.from({ length: 99 }, (_, i) => who(i + 2, { waits_for: String(i + 1) }))));
is(page.placeNodes(page.firstNodes(chain, 99), 290, false).boxes.every(({ w }) => w > 100), true, "a deep chain leaves room for names");

// --- what is inferred

const guessed = page.waitForest(finding([who(1)], [who(2, { waits_for: "1", told: false }), who(3, { waits_for: "1", told: true }), who(4, { waits_for: "2", told: false, state: "runnable" })]));
is([page.anyInferred(guessed), page.anyInferred(guessed[0].children[1].children), page.anyInferred([guessed[0].children[1]])], [true, false, false],
	"a forest knows whether any of its edges is inferred");
is(guessed[0].children.map(({ member }) => page.nodeTexts({ member }, { ordinal: false }).more), ["waits for 98 ns (inferred)", "waits for 97 ns"],
	"a node says that its wait is inferred");
is(page.findingMarkdown(finding([who(1)], [who(2, { waits_for: "1", told: false })]), { objects: [] }, "#").includes("for 98 ns (inferred)"), true,
	"and so does the Markdown");

// --- Markdown

is([page.codeText("a"), page.codeText("a`b"), page.codeText("`"), page.codeText("a\nb")], ["`a`", "``a`b``", "`` ` ``", "`a⟨U+000A⟩b`"], "names become code");
is(page.plainText("<b>*x*</b> @you #1 [a](b)"), "\\<b\\>\\*x\\*\\</b\\> \\@you \\#1 \\[a\\](b)", "markup in a sentence is escaped");
const text = page.findingMarkdown({ ...finding([who(1, { waits_for: "1", reasons: wants("0xa") })]), evidence: ["e"], next: ["n"], suspend_site: "a.c:1:f" },
	{ ordinal: false, objects: [lock("0xa", { holders: [holder(1)] })] }, "#/finding/0");
is(text.split("\n").filter(line => line), ["### t", "likely, wait-cycle", "suspended at `a.c:1:f`", "**waits for**", "- `lock 0xa`: 0 available, 1 waits, held by `co 1 (#1)`",
	"**evidence**", "- e", "**who**", "- `co 1 (#1)` suspended for 99 ns at `a.c:1:f`", "**which waits for which**", "- `co 1 (#1)` at `a.c:1:f`, for 99 ns",
	"  - `lock 0xa`: 0 available, 1 waits, held, for which `co 1 (#1)` waits: a circle", "**next**", "- n",
	"In the page of the trace, paste this into the search: `#/finding/0`"], "a finding as Markdown");

console.log(`1..${tests}`);
