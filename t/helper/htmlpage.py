#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""htmlpage.py KIND [EVENTS [COROUTINES]] > page.html, htmlpage.py read < page.html - made-up pages of ctp-tohtml, and a reader

A second writer and reader of what doc/ctp-tohtml.1 calls the page's data, made from its description alone: t/helper/page.py tries
the JavaScript on traces of which it knows every answer, and `read`, which prints the data as JSON, judges what the C writer
wrote. The kinds are the functions made_KIND below.
"""
import base64
import gzip
import hashlib
import json
import pathlib
import random
import re
import sys

HTML = pathlib.Path(__file__).resolve().parent.parent.parent / "formats" / "html"
PIECE = 8 << 20  # of base64
CERTAIN, DESTROYED, UNSEEN, OMITTED, TAIL = 1, 2, 4, 8, 16
COLUMNS = "coro probe name spawn parent born died flags nevents".split()


# --- the format

def varint(x):
    out = bytearray()
    while x > 127:
        out.append(x & 127 | 128)
        x >>= 7
    out.append(x)
    return bytes(out)


def zigzag(x, bits=64):
    """Of a difference modulo 2^64, which is the one that fits 64 bits with a sign."""
    x = (x + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    return x << 1 if x >= 0 else ~x << 1 | 1


def unzigzag(x):
    return x >> 1 if x & 1 == 0 else ~(x >> 1)


class Coro:
    """A row; events are (ns, what, argument), in the words of encode()."""

    def __init__(self, coro, probe, born, died=None, name="", spawn="", parent=None, flags=CERTAIN, events=()):
        self.coro, self.probe, self.born, self.died, self.name, self.spawn = coro, probe, born, died, name, spawn
        self.parent, self.flags, self.events = parent, flags, list(events)
        self.raw = None  # (events, bytes): made already, where there are millions

    def encode(self, row, places, threads, reasons):
        if self.raw:
            return self.raw
        out, last, place, thread = [], self.born, None, None
        for ns, what, *arg in self.events:
            arg = arg[0] if arg else None
            if what == "suspend":
                at = places(arg or "")
                kind, more = (0, b"") if at == place else (1, varint(at))
                place = at
            elif what == "resume":
                on = threads(arg)
                kind, more = (2, b"") if on == thread else (3, varint(on))
                thread = on
            elif what == "wake":
                kind, more = (4, b"") if arg is None else (5, varint(zigzag(arg - row)))
            elif what == "lost":
                kind, more = 6, varint(arg)
            elif what in ("await", "held"):
                kind, more = 7, varint(1 if what == "await" else 3) + varint(arg + 1)
            elif what == "wait":
                kind, more = 7, varint(2) + varint(reasons(arg))
            else:
                kind, more = 7, varint(what)
            out.append(varint(ns - last << 3 | kind) + more)
            last = ns
        return len(out), b"".join(out)


class Words:
    """Texts and their numbers, in the order of their first use."""

    def __init__(self, first=None):
        self.list, self.number = [], {}
        if first is not None:
            self(first)

    def __call__(self, word):
        if word not in self.number:
            self.number[word] = len(self.list)
            self.list.append(word)
        return self.number[word]


def thread_gaps(gaps):
    """Of one thread: (from, to, how many), in the order of time."""
    out, last = [varint(len(gaps))], 0
    for begin, end, missing in gaps:
        out += [varint(begin - last), varint(end - begin), varint(missing)]
        last = end
    return b"".join(out)


def payload(coros, places, strings, threads, reasons, gaps):
    events = [c.encode(row, places, threads, reasons) for row, c in enumerate(coros)]
    columns = [[] for _ in COLUMNS]
    coro = probe = born = 0
    for c, (n, _) in zip(coros, events):
        row = (zigzag(c.coro - coro), zigzag(c.probe - probe), strings(c.name), places(c.spawn),
               0 if c.parent is None else c.parent + 1, zigzag(c.born - born), 0 if c.died is None else 1 + c.died - c.born,
               c.flags, n)
        for column, value in zip(columns, row):
            column.append(varint(value))
        coro, probe, born = c.coro, c.probe, c.born
    tail = b"".join(thread_gaps(gaps.get(tid, ())) for tid in threads.list)
    return b"".join(b"".join(column) for column in columns) + b"".join(data for _, data in events) + tail


def hashes(tag, text):
    """The sources of the page's policy for scripts or styles."""
    inside = re.findall(f"^<{tag}>(.*?)^</{tag}>", text, re.MULTILINE | re.DOTALL)
    return "".join(f" 'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in inside)


def template():
    """What make joins: every .js is a part of one script, whatever their order. policy.sh puts in the hashes."""
    text = (HTML / "page.html").read_text()
    script = "".join(file.read_text() for file in sorted(HTML.rglob("*.js")))
    text = text.replace("<!-- css -->\n", "<style>\n" + (HTML / "style.css").read_text() + "</style>\n")
    text = text.replace("<!-- js -->\n", "<script>\n" + script + "</script>\n")
    for tag in "script", "style":
        text = text.replace(f" {{{tag} hashes}}", hashes(tag, text))
    return text


def quote(value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda m: f"\\u{ord(m.group()):04x}", text)


def page(coros, span, title="server -v", findings=(), level=6, **meta):
    places, strings, reasons, threads = Words(""), Words(""), Words(""), Words()
    for tid in meta.pop("tids", ()):
        threads(tid)
    data = payload(coros, places, strings, threads, reasons, meta.pop("gaps", {}))
    total = sum(c.raw[0] if c.raw else len(c.events) for c in coros)
    part = {
        "section": 0, "title": title, "t0_wall_ns": "1731668000000000000", "ordinal": False, "t0_ns": "33437698316319", "span_ns": span,
        "coroutines": len(coros), "events": total, "omitted_coroutines": 0, "omitted_events": 0,
        "threads": [{"tid": tid, "name": f"worker {i}", "pid": 18799} for i, tid in enumerate(threads.list)],
        "places": places.list, "strings": strings.list, "reasons": reasons.list}
    about = {
        "format": 3, "tool": "ctp-tohtml 0.1.0", "title": title, "source": "made.ctp", "finding": 0, "shown": 0, "parts": [part],
        "verdicts": [f"{len(findings)} findings" if findings else "No findings, and no verdict: see below"], "closing": [],
        "report": report(coros, span, findings, threads.list, total, places.list)}
    for key, value in meta.items():
        (part if key in part else about)[key] = value
    text = base64.b64encode(gzip.compress(data, level, mtime=0)).decode()
    parts = [f'<script type="application/json" id="ctp-meta">{quote(about)}</script>\n']
    for i, at in enumerate(range(0, len(text), PIECE)):
        parts.append(f'<script type="application/octet-stream" id="ctp-data-0-{i}">{text[at:at + PIECE]}</script>\n')
    return template().replace("<!-- data -->\n", "".join(parts))


def report(coros, span, findings, tids, events, places):
    """As ctp-report -j would have it, near enough: the page only shows it."""
    def quantiles(n):
        return {"count": n, "total_ns": n * 900, "p50_ns": 800, "p99_ns": 40000 * n, "max_ns": 90000 * n}
    sites = [{"site": p, "suspended": quantiles(90 + i), "runnable": quantiles(80 - i % 70),
              "running": quantiles(10 + i * 7 % 50), "still_waiting": i % 3} for i, p in enumerate(places[1:200])]
    top = [{"coro": str(c.coro), "name": c.name or None, "spawn_site": c.spawn or None, "ns": (span >> 3) // (i + 1)}
           for i, c in enumerate(coros[:20])]
    waiting = [{"spawn_site": f["spawn_site"], "suspend_site": f["suspend_site"], "coroutines": f["members"], "runnable": 0,
                "longest_ns": f["to_ns"] - f["from_ns"], "shortest_ns": 1000, "in_findings": 0, "certain": True,
                "longest": {"coro": str(coros[0].coro), "name": coros[0].name or None}} for f in findings]
    running = [dict(w, longest=dict(w["longest"], thread=tids[0])) for w in waiting[:1]]
    holders = [{"coro": str(c.coro), "name": c.name or None, "count": 1, "alive": False} for c in coros[:1]]
    thing = {"pid": 18799, "object": "0x1000", "available_exact": True, "room": None, "room_exact": True, "total": 4, "closed": False,
             "owned": True, "held_by_others": 2, "unheld": False}
    objects = [dict(thing, name="db pool", kind="permits", made_site="pool.c:30:main", available=0, available_text="0 of 4",
                    holders=holders, waiters=3, longest_ns=span >> 2),
               dict(thing, name=None, kind="queue", made_site=None, available=None, available_text="?, room for 5, closed", room=5,
                    holders=None, held_by_others=None, waiters=0, longest_ns=0, closed=True)]
    threads = [{"tid": tid, "name": f"worker {i}", "busy_ns": (span >> 1) + i, "busy_share": 0.5 + i / 100,
                "resumes": events >> 2, "last_ns": span - i} for i, tid in enumerate(tids)]
    return {"ctp_report": 1, "tool": "ctp-report 0.1.0", "ignored": 0, "sections": [{
        "command": ["./server", "-v"], "host": "a", "pid": "18799", "source": "made.ctp",
        "start_wall_ns": "1731668000000000000", "start_ns": "33437698316319", "duration_ns": span, "outcome": "exited",
        "status": 0, "complete": True, "events": events, "wakes": events >> 2, "coroutines": len(coros),
        "alive": sum(c.died is None for c in coros), "threads_seen": len(tids), "lost": 0, "missed": 0, "untraced": 0,
        "late": 0, "findings": list(findings), "waiting": waiting, "running": running, "sites": sites,
        "threads": threads, "objects": objects,
        "top": {"running": top, "runnable": top[:5], "suspended": top}}]}


def finding(rule, title, coros, span, certainty="proved", gravity=1, since=0, site=None, evidence=(), members=None):
    return {"rule": rule, "certainty": certainty, "gravity": gravity, "title": title, "evidence": list(evidence),
            "next": ["look at who should wake it"], "spawn_site": coros[0].spawn if coros else None, "suspend_site": site,
            "members": members or len(coros), "from_ns": since, "to_ns": span,
            "coroutines": [{"coro": str(c.coro), "probe_id": str(c.probe), "name": c.name or None, "in": None, "state": "suspended",
                            "since_ns": since, "for_ns": span - since, "spawn_site": c.spawn or None, "suspend_site": site,
                            "woken_by": None, "thread": None} for c in coros[:100]],
            "waiting": 0, "awaits": []}


# --- the made-up traces

def made_empty(*_):
    return page([], 0, "true")


def made_one(*_):
    """One coroutine: born at 0, runs from 100 to 200, waits, is woken at 600, runs from 700 to 1000, waits for good."""
    c = Coro(7, 0x7f0012345678, 0, None, "only", "one.c:1:main", events=[
        (100, "resume", 42), (200, "suspend", "one.c:9:read"), (600, "wake", None), (700, "resume", 42),
        (1000, "suspend", "one.c:12:write")])
    return page([c], 2000, "./one")


def made_states(*_):
    """Each rule of a state, a row each. The spans are microseconds, so that a zoom can tell them apart."""
    us = 1000
    rows = [
        Coro(1, 11, 0, 900 * us, "normal", "s.c:1:a", events=[(100 * us, "resume", 1), (300 * us, "suspend", "s.c:2:b"),
             (500 * us, "wake", 1), (600 * us, "resume", 2), (800 * us, "suspend", "s.c:3:c")]),
        Coro(2, 2**64 - 1, 0, None, "wake while it runs", "s.c:1:a", parent=0, events=[
             (100 * us, "resume", 2), (200 * us, "wake", 0), (300 * us, "suspend", "s.c:2:b"), (500 * us, "resume", 2),
             (1000 * us, "suspend", "s.c:2:b")]),
        Coro(9007199254740993, 12, 10 * us, 700 * us, "lost", "s.c:1:a", parent=0, flags=0, events=[
             (100 * us, "resume", 1), (200 * us, "suspend", "s.c:2:b"), (300 * us, "lost", 5), (500 * us, "resume", 1),
             (600 * us, "suspend", "s.c:2:b")]),
        Coro(4, 13, 20 * us, None, "tail", "", flags=TAIL, events=[(100 * us, "resume", 1), (200 * us, "suspend", "s.c:2:b")]),
        Coro(5, 14, 30 * us, 400 * us, "destroyed", "s.c:4:d", flags=CERTAIN | DESTROYED, events=[
             (40 * us, "suspend", "s.c:5:e"), (50 * us, "wake", 1), (60 * us, "await", 1), (70 * us, 99)]),
        Coro(6, 15, 30 * us, None, "never ran", "s.c:4:d"),
        Coro(8, 16, 30 * us, None, "omitted", "s.c:4:d", flags=OMITTED),
        Coro(9, 17, 0, None, "a blink", "s.c:4:d", events=[(1, "suspend", "s.c:6:f"), (500 * us, "resume", 3),
             (500 * us, "suspend", "s.c:6:f")]),
        Coro(10, 18, 0, None, "outer", "s.c:4:d", events=[
             (100 * us, "resume", 9), (900 * us, "suspend", "s.c:6:f"), (950 * us, "wake", None)]),
        Coro(11, 19, 0, None, "inner", "s.c:4:d", events=[(300 * us, "resume", 9), (500 * us, "suspend", "s.c:6:f")]),
        Coro(12, 20, 0, 10 * us, "first life"), Coro(12, 20, 20 * us, None, "second life"),
    ]
    found = [finding("destroyed-waiting", "1 coroutine was destroyed while it waited", [rows[4]], 400 * us, since=40 * us,
                     site="s.c:5:e"),
             finding("long-run", "2 coroutines ran for long", rows[:2], 1000 * us, "likely", 2, 500 * us)]
    made = report(rows, 1000 * us, found, [1, 2, 3, 9], 28, [""])
    other = finding("leaked", "of the first section", [], 0)
    made["sections"].insert(0, dict(made["sections"][0], findings=[other]))
    return page(rows, 1000 * us, "./states", omitted_coroutines=3, omitted_events=17, section=1, report=made)


def made_stuck(events=100000, coroutines=1000, seed=5):
    """A server: handlers read, are woken by the reactor, write. 50 are never woken again after three quarters of the time."""
    rnd, span = random.Random(seed), 2_000_000_000
    tids = [18800 + i for i in range(4)]
    coros = [Coro(1, 0x5000, 0, None, "reactor", "server.c:40:main")]
    each = max(2, events // coroutines // 3)
    for i in range(1, coroutines):
        born = rnd.randrange(span // 3)
        stuck = i % (coroutines // 50) == 7
        until = span * 3 // 4 if stuck else span - rnd.randrange(1, span // 4)
        c = Coro(i + 1, 0x5000 + 64 * i, born, None if stuck else until + 1000, f"handler {i}", "server.c:88:accept_loop", 0)
        at = sorted(rnd.randrange(born, until) for _ in range(2 * each))
        for a, b in zip(at[::2], at[1::2]):
            length = min(b - a, rnd.choice((2000, 9000, 30000, 400000)))
            if c.events:
                c.events.append((a - min(a - c.events[-1][0], rnd.randrange(60000)), "wake", 0))
            c.events.append((a, "resume", rnd.choice(tids)))
            c.events.append((a + length, "suspend", rnd.choice(("server.c:120:AsyncRead", "server.c:160:AsyncWrite"))))
        if stuck:
            c.events[-1] = (c.events[-1][0], "suspend", "server.c:212:AsyncRead")
        coros.append(c)
    for t in range(0, span, span // 2000):
        coros[0].events += [(t + 1, "resume", tids[0]), (t + rnd.randrange(300000) + 5000, "suspend", "server.c:55:epoll")]
    coros[1:] = sorted(coros[1:], key=lambda c: c.born)
    lost = [c for c in coros if c.died is None and c.coro > 1]
    found = [
        finding("never-woken", f"{len(lost)} coroutines are suspended for good, and nobody woke them", lost, span,
                since=span * 3 // 4, site="server.c:212:AsyncRead",
                evidence=["each waited 40 us here before (p99 of 41,332 waits), now 500 ms",
                          "after 1.50 s, throughput fell from 48,112 resumes a second to 3, and stayed at that for 500 ms",
                          "nothing that could wake them ran after 1.500 s", "no event is missing"]),
        finding("growth", "the number of coroutines spawned at server.c:90:accept keeps growing", [], span, "likely", 2, span * 3 // 4),
        finding("long-run", "the reactor ran 300 us without suspending", coros[:1], span, "likely", 3, span // 2),
        finding("leaked", "12 coroutines may have leaked", coros[1:13], span, "unknown", 5, evidence=["12 events are missing"]),
    ]
    return page(coros, span, "./server -v --port 8080", found)


def made_still(*_):
    """Two coroutines that are in no finding when the trace ends, and one that is."""
    rows = [Coro(1, 11, 0, None, "first", "s.c:1:a", events=[(100, "resume", 1), (300, "suspend", "s.c:2:b")]),
            Coro(2, 12, 0, None, "second", "", events=[(400, "resume", 1)])]
    made = report(rows, 1000, [], [1], 3, [""])
    still = {"spawn_site": "s.c:1:a", "suspend_site": "s.c:2:b", "coroutines": 3, "runnable": 0, "longest_ns": 700000,
             "shortest_ns": 10, "in_findings": 1, "certain": True, "longest": {"coro": "1", "name": "first"}, "ended": 1200, "ended_max_ns": 5000}
    runs = dict(still, ended=0, spawn_site=None, suspend_site=None, coroutines=1, longest_ns=100000, in_findings=0, certain=False,
                longest={"coro": "2", "name": "second", "thread": 1})
    made["sections"][0].update(waiting=[still, dict(still, in_findings=3)], running=[runs])
    return page(rows, 1000, "./still", report=made)


def waiter(c, waits_for, for_ns, **more):
    return dict({"coro": str(c.coro), "probe_id": str(c.probe), "name": c.name or None, "in": None, "state": "suspended", "since_ns": 0,
                 "for_ns": for_ns, "spawn_site": c.spawn or None, "suspend_site": None, "waits_for": str(waits_for), "told": True}, **more)


def made_tree(*_):
    """1 and 2 are members, at two places. 3 waits for 2, 4 and 5 for 3, 6 for one that is not listed, and so do 94 that are neither."""
    rows = [Coro(i, 10 + i, 0, None, "" if i > 2 else f"lock {i}", "s.c:1:a", events=[(100 * i, "resume", 1), (100 * i + 50, "suspend", "s.c:2:b")])
            for i in range(1, 7)]
    found = finding("standstill", "the whole program stands still", rows[:2], 1000000, "likely", site="s.c:2:b")
    found["coroutines"][1]["suspend_site"] = "s.c:3:c"
    found["awaits"] = [waiter(rows[4], 3, 2000), waiter(rows[2], 2, 9000, suspend_site="q.c:41:pop", **{"in": "consumer 5"}),
                       waiter(rows[3], 3, 8000, told=False), waiter(rows[5], 77, 1000, state="runnable")]
    found["waiting"] = 98
    made = report(rows, 1000000, [found], [1], 12, [""])
    made["ignore_unmatched"] = ["leaked *"]
    return page(rows, 1000000, "./tree", [found], report=made)


def made_leaked(*_):
    """20 of a spawn site end after a wait at a.c:10. 3 more are woken by "main" at birth, by nobody who is known later, and stay at
    a.c:9."""
    ms, span = 1_000_000, 3_000_000_000
    rows = [Coro(1, 0x100, 0, None, "main", "a.c:1:main", events=[(10, "resume", 1)])]
    for i in range(23):
        at, end = 10 * (i + 1) * ms, None if i > 19 else 10 * (i + 1) * ms + 5 * ms
        c = Coro(10 + i, 0x200 + i, at, end, f"handler {i}", "a.c:5:spawn", parent=0)
        c.events = [(at, "wake", 0), (at + 100, "resume", 1), (at + 200, "suspend", "a.c:10:serve")]
        if i > 19:
            late = 500 * ms + 10 * (i - 20) * ms
            c.events += [(late, "wake", None), (late + 100, "resume", 1), (late + 200, "suspend", "a.c:9:serve")]
        rows.append(c)
    stuck = rows[-3:]
    found = finding("leaked", "3 coroutines leaked: suspended at a.c:9:serve, where hardly any wait has ended", stuck, span, "likely",
                    since=stuck[0].born, site="a.c:9:serve", evidence=["alive for up to 2.79 s"])
    for member, c in zip(found["coroutines"], stuck):
        member.update(since_ns=c.born, for_ns=span - c.born)
    return page(rows, span, "./leaked", [found])


def made_hang(*_):
    """A when_all of which one part waits for good, which is no finding but stands out: 20 rounds of 8 parts, then silence."""
    ms, span = 1_000_000, 5_000_000_000
    main = Coro(1, 0x100, 0, None, "main", "a.c:1:main", events=[(10, "resume", 1), (ms, "await", 1), (ms, "suspend", "a.c:30:main")])
    whole = Coro(2, 0x101, 500000, None, "when_all", "a.c:2:main", parent=0, events=[(ms, "resume", 1)])
    parts, others = [], []
    for turn in range(20):
        at = (2 + 10 * turn) * ms
        for i in range(8):
            stuck, c = turn == 19 and i == 5, Coro(100 + 8 * turn + i, 0x200 + 8 * turn + i, at, at + 9 * ms, f"fetch {turn}.{i}", "a.c:20:spawn", 1)
            c.events = [(at + 1000 * i + 500, "resume", 2), (at + ms + 1000 * i, "suspend", "a.c:11:fetch" if stuck else "a.c:12:fetch")]
            c.died = None if stuck else c.died
            (parts if stuck else others).append(c)
    rows = [main, whole, *others, *parts]
    last = whole.events[-1][0] + 200 * ms
    whole.events += [(last, "await", len(rows) - 1), (last, "suspend", "a.c:22:when_all")]
    since = parts[0].events[-1][0]
    # The report and the page begin at different times.
    members = finding("", "", parts, span, since=since, site="a.c:11:fetch")["coroutines"]
    suspect = {"certainty": "possible", "title": "1 coroutine waits at a.c:11:fetch for 4.8 s; no other wait there has ended",
               "excuse": "there is nothing to compare with", "also": "2 more coroutines wait for it at a.c:22:when_all",
               "spawn_site": "a.c:20:spawn", "suspend_site": "a.c:11:fetch", "count": 1, "waiting": 1, "since_ns": since,
               "for_ns": span - since, "open": 1, "ended": 0, "longest_ns": 0, "p99_ns": 0, "coroutines": members}
    made = report(rows, span, [], [1, 2], sum(len(c.events) for c in rows), ["", "a.c:11:fetch"])
    made["sections"][0]["suspects"] = [suspect]
    return page(rows, span, "./hang", report=made)


def made_held(*_):
    """A lock that is held for good: "conn 12" has it and awaits "replica", which nobody wakes; 8 clients wait for it. All that happens in
    20 ms of 20 s. 400 jobs come and go then, and a heartbeat beats every 250 ms."""
    ms, span, start, site = 1_000_000, 20_000_000_000, 3_000_000_000, "pool.cpp:40:get"
    beat = Coro(1, 0x100, 0, None, "heartbeat", "main.cpp:9:main")
    for t in range(0, span, 250 * ms):
        beat.events += [(t + 1000, "wake", None), (t + 2000, "resume", 501), (t + 22000, "suspend", "timer.cpp:5:tick")]
    holder = Coro(12, 0x112, start, None, "conn 12", "server.cpp:20:accept", parent=0, events=[
        (start + ms, "resume", 501), (start + 6 * ms, "await", 2), (start + 6 * ms, "suspend", "conn.cpp:88:query")])
    replica = Coro(13, 0x113, start, None, "replica", "server.cpp:21:accept", parent=0, events=[
        (start + 2 * ms, "resume", 502), (start + 3 * ms, "suspend", "replica.cpp:9:recv"), (start + 4 * ms, "wake", 1),
        (start + 5 * ms, "resume", 502), (start + 7 * ms, "suspend", "replica.cpp:9:recv")])
    clients = []
    for i in range(8):
        at, c = start + (8 + i) * ms, Coro(30 + i, 0x130 + i, start, None, f"client {i}", "server.cpp:30:serve", parent=0)
        c.events = [(start + 100000 * i + 10, "resume", 501), (start + 100000 * i + 50000, "suspend", "client.cpp:7:read"),
                    (at - 300000, "wake", 0),
                    (at - 200000, "resume", 502), (at, "await", 1), (at, "wait", "lock 'db 3'"), (at, "suspend", site), (at, "held",
                                                                                                                         1)]
        clients.append(c)
    jobs = [Coro(1000 + i, 0x1000 + i, start + i * 45000, start + i * 45000 + 400000, f"job {i}", "job.cpp:7:spawn", parent=0,
                 events=[
        (start + i * 45000 + 100000, "resume", 502), (start + i * 45000 + 300000, "suspend",
                                                      "job.cpp:9:yield")]) for i in range(400)]
    rows, since = [beat, holder, replica, *clients, *jobs], start + 8 * ms
    found = finding("held-lock", "8 coroutines wait for the lock 'db 3', held by conn 12", clients, span, "likely", 1, since, site,
                    [
        "client 0 (#30) waits for the lock 'db 3', held by conn 12 (#12), which has been suspended at conn.cpp:88:query for 17 s",
        "conn 12 (#12) awaits replica (#13), which nobody has woken", "no event is missing"])
    lock = {"kind": "lock", "pid": 18799, "object": "0x0000000000001000", "count": 1}
    for i, member in enumerate(found["coroutines"]):
        member.update(reasons=[lock], waits_for="12", since_ns=since + i * ms, for_ns=span - since - i * ms)
    found["awaits"] = [waiter(holder, 13, span - start - 6 * ms, since_ns=start + 6 * ms, suspend_site="conn.cpp:88:query",
                              reasons=[])]
    found["waiting"] = 1
    made = report(rows, span, [found], [501, 502], sum(len(c.events) for c in rows), ["", site])
    made["sections"][0]["objects"] = [{
        "name": "db 3", "kind": "lock", "made_site": "pool.cpp:12:open", "pid": 18799, "object": lock["object"], "available": 0,
        "available_text": "0", "available_exact": True, "room": None, "room_exact": False, "total": 1, "closed": False, "owned": True,
        "held_by_others": 0, "unheld": False,
        "holders": [{"coro": "12", "name": "conn 12", "count": 1, "alive": True}], "waiters": 8, "longest_ns": span - since}]
    return page(rows, span, "./server --pool 1", [found], report=made)


def made_permits(*_):
    """A pool of 3 permits that "request 0" to 2 take along when they end: 130 others wait for one, and the report lists the first 100.
    "acceptor" spawns and wakes all of them, 1 ms apart; then a ticker, which no coroutine wakes, goes on alone."""
    ms, span, site, reason = 1_000_000, 2_000_000_000, "pool.cpp:82:take", "a permit of db pool"
    acceptor = Coro(1, 0x100, 0, None, "acceptor", "main.cpp:1:main", events=[(10, "resume", 7)])
    ticker = Coro(2, 0x101, 0, None, "ticker", "main.cpp:2:main")
    for t in range(ms, span, 10 * ms):
        ticker.events += [(t, "suspend", "timer.cpp:5:tick"), (t + 9 * ms, "wake", None), (t + 9 * ms + 1000, "resume", 7)]
    ticker.events.pop(), ticker.events.pop()
    rows = [acceptor, ticker]
    for i in range(133):
        at = 10 * ms + i * ms
        c = Coro(10 + i, 0x200 + i, at, at + ms if i < 3 else None, f"request {i}", "main.cpp:9:acceptor", parent=0)
        c.events = [(at + 100, "wake", 0), (at + 200, "resume", 7)]
        if i == 0:
            c.events += [(at + 300, "wait", reason), (at + 300, "suspend", site), (at + 500, "wake", None), (at + 600, "resume", 7)]
        elif i > 2:
            c.events += [(at + 300, "wait", reason), (at + 300, "suspend", site)]
        rows.append(c)
    stuck, first = rows[5:], rows[5].events[-1][0]
    found = finding("held-by-dead", "130 coroutines wait for 'db pool', held by a coroutine that has ended", stuck, span, "likely", 7,
                    first, site)
    want = {"kind": "permits", "pid": 18799, "object": "0x0000000000001000", "count": 1}
    for member, c in zip(found["coroutines"], stuck):
        member.update(reasons=[want], waits_for=None, since_ns=c.events[-1][0], for_ns=span - c.events[-1][0])
    made = report(rows, span, [found], [7], sum(len(c.events) for c in rows), ["", site])
    made["sections"][0]["objects"] = [{
        "name": "db pool", "kind": "permits", "made_site": "pool.cpp:60:pool", "pid": 18799, "object": want["object"], "available": 0,
        "available_text": "0 of 3", "available_exact": True, "room": None, "room_exact": False, "total": 3, "closed": False,
        "owned": True, "held_by_others": 0, "unheld": False,
        "holders": [{"coro": str(c.coro), "name": c.name, "count": 1, "alive": False} for c in rows[2:5]], "waiters": 130,
        "longest_ns": span - first}]
    return page(rows, span, "./server --permits 3", [found], report=made)


def made_queues(*_):
    """Ten chains of the same shape: "session 0" to 9 wait, each for a queue of its own that has no name, a reader without a name for each
    of them, and a writer for each reader. 33 write queues have one name: one of them has items, and 7 coroutines wait for it. Nobody
    has the permits. Paths are long, and functions are Rust's. What no coroutine woke are 20 coroutines."""
    ms, span, root = 1_000_000, 2_000_000_000, "/home/somebody/work/projects/messages/server-of-messages/crates/network/"
    site = root + "session/src/channel/receive.rs:88:core::future::poll_fn::PollFn<app::read<alloc::vec::Vec<alloc::string::String>>>"
    spawn, queue = root + "listener/src/accept.rs:20:app::serve::<alloc::string::String>::{{closure}}", {"kind": "item", "pid": 7, "count": 1}
    rows, kinds = [], (("session", site), ("", root + "reader/src/lib.rs:9:app::read"), ("writer", root + "writer/src/lib.rs:7:app::write"))
    for k, (name, place) in enumerate(kinds):
        for i in range(10):
            c = Coro(100 * k + i + 1, 0x100 * k + i, 0, None, name and f"{name} {i}", spawn)
            c.events = [(ms + i, "wake", None)] * (k < 2) + [(ms + 100 + i, "resume", 7), (2 * ms + i, "suspend", place)]
            rows.append(c)
    found = finding("never-woken", "10 coroutines wait for items of queues and are not woken", rows[:10], span, "likely", 1, 2 * ms, site,
                    [f"all of them wait at {site}", "no event is missing"])
    for i, member in enumerate(found["coroutines"]):
        member.update(reasons=[dict(queue, object=f"0x00007fa2e4000b{i}0")], waits_for=None, since_ns=2 * ms, for_ns=span - 2 * ms)
    for k in 1, 2:
        found["awaits"] += [waiter(c, rows[10 * (k - 1) + i].coro, span - 2 * ms, since_ns=2 * ms, suspend_site=kinds[k][1])
                            for i, c in enumerate(rows[10 * k:10 * k + 10])]
    found["waiting"] = 20
    made = report(rows, span, [found], [7], sum(len(c.events) for c in rows), ["", site])
    thing = {"pid": 7, "available_exact": True, "room": None, "room_exact": True, "total": None, "closed": False, "owned": False,
             "held_by_others": 0, "holders": [], "unheld": False, "kind": "queue", "longest_ns": ms}
    at = root + "writer/src/lib.rs:3:app::open"
    objects = [dict(thing, name=None, made_site=None, object=f"0x00007fa2e4000b{i}0", available=0, available_text="0", waiters=1)
               for i in range(10)]
    objects += [dict(thing, name="write queue", made_site=at, object=f"0x{0x1000 + i:016x}", available=5 * (i == 20),
                     available_text="5" if i == 20 else "0", waiters=7 if i == 20 else 0) for i in range(33)]
    objects += [dict(thing, name="db", kind="permits", made_site=None, object="0x0000000000009000", available=1, available_text="4 of 4",
                     total=4, owned=True, unheld=True, waiters=3)]
    made["sections"][0]["objects"] = objects
    found["coroutines"][0]["reasons"].append({"kind": "permits", "pid": 7, "object": "0x0000000000009000", "count": 1})
    return page(rows, span, "./messages --port 7", [found], report=made)


def made_hostile(*_):
    bad = ["</script><script>alert(1)</script>", "\"quote's & <b>bold</b>", "\u202eevil\u202c \u2066x",
           "new\nline\ttab\0nul\x1b[31m", "x" * 10000, "\u05e9\u05dc\u05d5\u05dd \u0639\u0631\u0628\u064a", "<!--<script>",
           "\u2028\u2029", "\U0001f600" * 300, "__proto__", "constructor", "</title>", "javascript:alert(1)"]
    coros = [Coro(i + 1, i, 0, None, name, name + ":1:f", events=[(100 + i, "resume", 5), (5000 + i, "suspend", name)])
             for i, name in enumerate(bad)]
    found = [finding("never-woken", name, [c], 10000, site=name, evidence=[name]) for name, c in zip(bad, coros)]
    return page(coros, 10000, bad[0], found, source=bad[2],
                threads=[{"tid": 5, "name": bad[0], "pid": 1}])


def tokens(rnd, threads, mean):
    """Suspensions and resumptions, encoded: a trace of millions is a draw of these."""
    out = []
    for _ in range(4096):
        wait, run = int(rnd.expovariate(1 / mean)), int(rnd.expovariate(4 / mean))
        place, thread = rnd.randrange(1, 40), rnd.randrange(threads)
        wake = varint(wait // 2 << 3 | 4) if rnd.random() < 0.3 else b""
        last = varint((wait - wait // 2 if wake else wait) << 3 | 3) + varint(thread)
        out.append((2 + bool(wake), wait + run, wake + last + varint(run << 3 | 1) + varint(place)))
    return out


def made_big(events=1000000, coroutines=10000, seed=1):
    rnd, span = random.Random(seed), 10_000_000_000
    each = events // coroutines
    choices = tokens(rnd, 8, max(40, span // (each + 1)))
    coros, last = [], 0
    for i in range(coroutines):
        drawn = rnd.choices(choices, k=max(1, each * 10 // 23))
        born = rnd.randrange(span // 2) if coroutines > 1 else 0
        c = Coro(i + 1, 0x7f0000000000 + 4096 * i, born, None, "" if i % 3 else f"job {i % 1000}", f"big.c:{i % 40 + 1}:f")
        c.raw = sum(d[0] for d in drawn), b"".join(d[2] for d in drawn)
        last = max(last, born + sum(d[1] for d in drawn))
        c.died = born + sum(d[1] for d in drawn) if i % 5 else None
        coros.append(c)
    coros.sort(key=lambda c: c.born)
    places = {"places": [""] + [f"big.c:{i}:function_{i}" for i in range(1, 80)]}
    found = [finding("suspended", "some wait", coros[:30], last, "likely", 2, site="big.c:3:f", members=5000)]
    return page(coros, last, "./big", found, 6, tids=range(100, 108), **places)


# --- and back

def read(text, part=None):
    """The data of a page, of its part of this number, or else the one that it opens on: (meta, rows), meta with what is in the
    part, each row with its columns by name and its events as Coro has them; meta's threads have
    their gaps."""
    meta = json.loads(re.search(r'<script type="application/json" id="ctp-meta">(.*?)</script>', text, re.S).group(1))
    part = meta["shown"] if part is None else part
    meta.update(meta["parts"][part] if meta["parts"] else {"coroutines": 0, "events": 0, "threads": []})
    pieces = re.findall(rf'<script type="application/octet-stream" id="ctp-data-{part}-(\d+)">(.*?)</script>', text, re.S)
    assert [int(i) for i, _ in pieces] == list(range(len(pieces))), "pieces out of order"
    assert all(len(data) <= PIECE for _, data in pieces), "a piece is too long"
    data = gzip.decompress(b"".join(base64.b64decode(d, validate=True) for _, d in pieces)) if pieces else b""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
    table = {name: [number() for _ in range(meta["coroutines"])] for name in COLUMNS}
    rows, coro, probe, born = [], 0, 0, 0
    for values in zip(*table.values()):
        row = dict(zip(COLUMNS, values))
        coro, probe = (coro + unzigzag(row["coro"])) % 2**64, (probe + unzigzag(row["probe"])) % 2**64
        born += unzigzag(row["born"])
        row.update(coro=coro, probe=probe, born=born, name=meta["strings"][row["name"]], spawn=meta["places"][row["spawn"]],
                   parent=row["parent"] - 1 if row["parent"] else None, died=born + row["died"] - 1 if row["died"] else None,
                   events=[])
        rows.append(row)
    for i, row in enumerate(rows):
        ns, place, thread = row["born"], 0, None
        for _ in range(row["nevents"]):
            value = number()
            ns, kind = ns + (value >> 3), value & 7
            if kind < 2:
                place = number() if kind else place
                event = (ns, "suspend", meta["places"][place])
            elif kind < 4:
                thread = number() if kind == 3 else thread
                event = (ns, "resume", meta["threads"][thread]["tid"])
            elif kind < 6:
                event = (ns, "wake", i + unzigzag(number()) if kind == 5 else None)
            elif kind == 6:
                event = (ns, "lost", number())
            else:
                what = number()
                if what == 2:
                    event = (ns, "wait", meta["reasons"][number()])
                else:
                    event = (ns, {1: "await", 3: "held"}[what], number() - 1) if what in (1, 3) else (ns, what)
            row["events"].append(event)
    for thread in meta["threads"]:
        thread["gaps"], ns = [], 0
        for _ in range(number()):
            begin = ns + number()
            ns = begin + number()
            thread["gaps"].append((begin, ns, number()))
    assert at == len(data), f"{len(data) - at} bytes after the data"
    return meta, rows


def main():
    kind, numbers = sys.argv[1], [int(n) for n in sys.argv[2:]]
    if kind == "read":
        meta, rows = read(sys.stdin.read())
        json.dump({"meta": meta, "rows": rows}, sys.stdout)
    else:
        sys.stdout.reconfigure(encoding="utf-8", errors="strict")
        sys.stdout.write(globals()["made_" + kind](*numbers))


if __name__ == "__main__":
    main()
