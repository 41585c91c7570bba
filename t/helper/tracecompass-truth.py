# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""tracecompass-truth.py make SEED | rows FILE.jsonl - what the analyses for Trace Compass have to show.

make: a trace, in ctp-tojsonl -a's form, of a program whose threads lose records for a while again and again, as a
collector records it: a transition and the loss before it in either order, wakes inside gaps, gaps before the first transition,
before a death and at the end, jumps without a loss record, coroutines without a birth, late records, names that are no
texts.
rows: what is true of such a trace, computed from its records and not from events: between two transitions of a coroutine
whose numbers follow each other its state is known, and nowhere else. The form is that of tracecompass.py.
"""
import collections
import json
import random
import sys

UNKNOWN = "unknown: events were lost"

# --- making one -----------------------------------------------------------------------------------------------------------

SITES = [(1, "src/server.cpp", 10, "accept"), (2, "src/server.cpp", 20, "serve"), (3, "src/server.cpp", 30, "serve"),
         (4, "src/odd.rs", 7, ""), (5, "src/stra\u00dfe.rs", 8, "for_\u03bb"), (6, "", 9, "operator\t"), (7, "\u20ac", 10, "")]
# Those that Trace Compass cannot take, and ASCII ones that must not be taken for how they are spelled.
NAMES = ["reader", "writer", "7th", "12", "reader", "gr\u00fc\u00dfe", "", "no\udcfftext", "nu\0l", None, None, "tab\tbed", "\x7f",
         "\x85", "\u20ac", "\u0416", "\u5b57", "\U0001f600", "C:\\u20ac", "\\u20ac", "\\", "*", "\\x2a"]


class Program:
    def __init__(self, seed):
        self.rnd = random.Random(seed)
        self.ts = 1000
        self.records = []  # (thread that writes it, record)
        self.index = collections.Counter()

    def tell(self, thread, kind, coro, **more):
        self.ts += self.rnd.randint(1, 40)
        self.records.append((thread, dict({"type": kind, "ts": self.ts, "probe_id": coro * 16, "coro": coro}, **more)))

    def transition(self, thread, coro, active, site=0):
        self.tell(thread, "transition", coro, tid=thread, addr="0x%016x" % coro, seq=2, is_active=active, index=self.index[coro],
                  site=site)
        self.index[coro] += 1

    def run(self, coroutines=40, threads=3, steps=3000):
        idle, waiting, ready, running = list(range(100, 100 + threads)), [], [], {}
        coro, alive = 0, 0
        for _ in range(steps):
            thread = self.rnd.randint(100, 99 + threads)
            what = self.rnd.random()
            if thread in running and what < 0.9:
                c = running.pop(thread)
                if self.rnd.random() < 0.06:
                    if self.rnd.random() < 0.5:
                        self.transition(thread, c, False)
                    self.tell(thread, "death", c, after=self.ts, before=self.ts)
                    alive -= 1
                else:
                    self.transition(thread, c, False, self.rnd.randint(0, 7))
                    waiting.append(c)
            elif thread not in running and ready:
                running[thread] = ready.pop(self.rnd.randrange(len(ready)))
                self.transition(thread, running[thread], True)
            elif waiting and what < 0.6:
                c = waiting.pop(self.rnd.randrange(len(waiting)))
                for _ in range(self.rnd.choice([0, 1, 1, 1, 2])):
                    self.tell(thread, "wake", c, tid=thread, by=running.get(thread, 0))
                ready.append(c)
            elif alive < coroutines:
                coro += 1
                alive += 1
                self.tell(thread, "birth", coro, station=coro, after=self.ts, before=self.ts, parent=0, site=1, pid=9)
                name = self.rnd.choice(NAMES)
                if name is not None:
                    self.tell(thread, "name", coro, name=name)
                    if self.rnd.random() < 0.1:  # the name is known first
                        (_, born), (_, named) = self.records[-2:]
                        born["ts"], named["ts"] = named["ts"], born["ts"]
                        self.records[-2:] = reversed(self.records[-2:])
                if self.rnd.random() < 0.5:
                    self.transition(thread, coro, False, 1)
                ready.append(coro)
        self.ts += 100

    def lose(self):
        """Removes some stretches of a thread's records, and adds loss records as the collector would."""
        kept, gaps = [], collections.defaultdict(lambda: None)
        until = collections.defaultdict(int)
        for thread, r in self.records:
            if r["ts"] >= until[thread] and self.rnd.random() < 0.012:
                until[thread] = r["ts"] + self.rnd.choice([20, 400, 3000])
            if r["ts"] < until[thread] and r["type"] not in ("birth", "death"):
                gap = gaps[thread] or {"type": "missed", "ts": 0, "tid": thread, "count": 0, "after": r["ts"], "transitions": 0}
                gap["transitions" if r["type"] == "transition" else "count"] += 1
                gaps[thread] = gap
                continue
            if r["ts"] >= until[thread] and gaps[thread]:
                # Some are not recorded: then the coroutine's gap shows the thread's.
                told = gaps[thread]["transitions"] if self.rnd.random() < 0.6 else 0
                kept.append(dict(gaps[thread], ts=r["ts"], transitions=told))
                gaps[thread] = None
            kept.append(r)
        kept += [dict(gap, ts=self.ts) for gap in gaps.values() if gap]
        return kept

    def tell_losses(self, kept):
        """A record of the loss at each jump of a coroutine's numbers: before or after the transition, or none."""
        out, number, since = [], collections.Counter(), {}
        for r in kept:
            coro = r.get("coro")
            if r["type"] == "birth":
                since[coro] = r["ts"]
            lost = None
            total = self.index[coro] if r["type"] == "death" else r.get("index", 0) if r["type"] == "transition" else 0
            if total > number[coro]:
                lost = self.lost(coro, number[coro], total - number[coro], since.get(coro, 0), r["ts"])
            if r["type"] == "transition":
                number[coro], since[coro] = r["index"] + 1, r["ts"]
            elif lost:
                number[coro] = total
            chance = self.rnd.random()
            after = r["type"] == "transition" and chance < 0.5
            told = lost and (chance < 0.95 or r["type"] == "death")
            out += ([lost] if told and not after else []) + [r] + ([lost] if told and after else [])
        for coro, total in sorted(self.index.items()):
            if total > number[coro]:
                out.append(self.lost(coro, number[coro], total - number[coro], since.get(coro, 0), self.ts))
        return out

    @staticmethod
    def lost(coro, index, count, after, ts):
        return {"type": "lost", "ts": ts, "probe_id": coro * 16, "coro": coro, "index": index, "count": count, "unverified": 0,
                "after": after}

    @staticmethod
    def thread(tid, ts, name):
        return json.dumps({"type": "thread", "ts": ts, "tid": tid, "pid": 9, "name": name})

    def shuffle(self, rows):
        """Some come late: after records of later times, but never separated from one of the same time."""
        times = collections.Counter(r["ts"] for r in rows)
        late = {n for n, r in enumerate(rows) if r["type"] in ("transition", "wake") and times[r["ts"]] == 1 and
                self.rnd.random() < 0.01}
        place = {n: n + (self.rnd.randint(2, 6) + 0.5 if n in late else 0) for n in range(len(rows))}
        return [rows[n] for n in sorted(place, key=place.get)]

    def print(self):
        self.run()
        unseen = {r["coro"]: self.rnd.choice([["birth"], ["birth", "name"]]) for _, r in self.records
                  if r["type"] == "birth" and self.rnd.random() < 0.15}
        kept = [r for r in self.lose() if r["type"] not in unseen.get(r.get("coro"), [])]
        rows = self.shuffle(self.tell_losses(kept))
        print('{"type":"@section","attrs":{}}')
        for tid, name in (100, "main"), (101, ""), (102, "f\u00fcnf"), (103, "never runs one"):
            print(self.thread(tid, 900, name))
        for site, file, line, function in SITES:
            print(json.dumps({"type": "site", "ts": 900, "site": site, "file": file, "line": line, "function": function}))
        for r in rows:
            print(json.dumps(r))
        print(self.thread(100, self.ts, "renamed"))
        print(json.dumps(self.lost(0, 0, 3, 900, self.ts)))
        print(json.dumps({"type": "missed", "ts": self.ts, "tid": 0, "count": 5, "after": 900, "transitions": 0}))
        print('{"type":"@end","complete":true}')


# --- the truth ------------------------------------------------------------------------------------------------------------

def spell(name):
    """As ctp-toctf.1 says that Trace Compass gets it. A lone surrogate is a byte that is not UTF-8."""
    def one(c):
        n = ord(c)
        return "\\\\" if c == "\\" else c if " " <= c <= "~" else "\\x%02x" % (n & 255) if n < 0x80 or 0xdc80 <= n < 0xdd00 else \
            "\\u%04x" % n if n < 0x10000 else "\\U%08x" % n
    return "\\x2a" if name == "*" else "".join(map(one, name))


class Coroutine:
    """Its stretches, each from a transition (or the birth) to what comes next: [from, to, state, the record, what comes next]."""

    def __init__(self, records, end):
        of = lambda kind: [r for r in records if r["type"] == kind]
        self.transitions, self.losses, self.wakes = of("transition"), of("lost"), of("wake")
        self.death = (of("death") or [None])[0]
        self.names = [r for r in of("name") if r["name"]]
        birth = (of("birth") or [None])[0]
        first = self.transitions[0] if self.transitions else None
        points = ([birth] if birth and not (first and first["order"] < birth["order"]) else []) + self.transitions
        # A coroutine that is first known by a loss: the time before, and until its next transition, is unknown.
        if not points[:1] or (points[0] is first and self.losses and self.losses[0]["order"] < first["order"]):
            points = self.losses[:1] + points
        points += [self.death or {"type": "end", "ts": end}]
        self.stretches = []
        for at, to in zip(points, points[1:]):
            number = at.get("index", -1) + 1 if at["type"] == "transition" else 0
            jump = to["type"] == "transition" and to["index"] != number
            lost = [l for l in self.losses if l["index"] >= number and (to["type"] != "transition" or l["index"] < to["index"])]
            state = UNKNOWN if jump or lost else "created" if at["type"] == "birth" else \
                "running" if at.get("is_active") else "suspended"
            self.stretches.append([at["ts"], to["ts"], state, at, to])
        if self.death:
            self.stretches.append([self.death["ts"], end, "dead", self.death, None])

    def states(self):
        return join([[a, b, state] for a, b, state, _, _ in self.stretches])

    def gaps(self, end):
        """The same unknown time from the records of losses alone: since when, and until the next that is known."""
        known = [t["ts"] for t in self.transitions] + [self.death["ts"] if self.death else end]
        life = self.stretches[0][0]
        return join(sorted([max(l["after"], life), min(t for t in known if t >= l["ts"]), UNKNOWN] for l in self.losses))

    def woken(self):
        """[since, until, the first wake, what comes next] where it is known that it waited."""
        for a, b, state, at, to in self.stretches:
            wakes = [w for w in self.wakes if at["order"] < w["order"] and (w["order"] < to.get("order", 1 << 60))] \
                if state == "suspended" else []
            if wakes:
                yield wakes[0]["ts"], b, wakes[0], to


def join(spans):
    """Spans in order, those of one state that meet as one, without the empty ones."""
    out = []
    for a, b, v in spans:
        if out and out[-1][2] == v and out[-1][1] >= a:
            out[-1][1] = max(out[-1][1], b)
        elif a < b:
            out.append([a, b, v])
    return out


class Threads:
    """What each thread runs. A gap reaches back to the last time at which that changed."""

    def __init__(self):
        self.spans = collections.defaultdict(list)  # [from, what]
        self.coro, self.last = {}, {}

    def put(self, tid, ts, what, coro):
        if not self.spans[tid] or self.spans[tid][-1][1] != what:
            self.spans[tid].append([ts, what])
        self.coro[tid] = coro

    def doubt(self, tid):
        if self.spans.get(tid):
            self.spans[tid][-1][1] = UNKNOWN
            self.coro[tid] = None

    def doubt_coroutine(self, coro):
        tid = self.last.get(coro)
        if tid is not None and self.coro.get(tid) == coro:
            self.doubt(tid)

    def take(self, r, name):
        tid, coro = r["tid"], r["coro"]
        if r["is_active"]:
            self.put(tid, r["ts"], name or str(coro), coro)
        elif self.coro.get(tid) in (coro, None):
            self.put(tid, r["ts"], None, None)
        self.last[coro] = tid

    def rows(self, end):
        for tid, spans in sorted(self.spans.items()):
            ends = [s[0] for s in spans[1:]] + [end]
            yield tid, [s for s in join([[a, b, v] for (a, v), b in zip(spans, ends)]) if s[2] is not None]


def watch_threads(records):
    threads, number, names = Threads(), {}, {}
    for r in records:
        coro = r.get("coro")
        if r["type"] == "name" and r["name"]:
            names[coro] = r["name"]
        elif r["type"] == "missed" and r["transitions"] and r["tid"]:
            threads.doubt(r["tid"])
        elif r["type"] == "lost" and coro and number.get(coro, 0) <= r["index"]:
            threads.doubt_coroutine(coro)
        elif r["type"] == "transition" and number.get(coro, 0) <= r["index"]:
            if r["index"] != number.get(coro, 0):
                threads.doubt_coroutine(coro)
            number[coro] = r["index"] + 1
            threads.take(r, names.get(coro))
        elif r["type"] == "death":
            tid = threads.last.get(coro)
            if tid is not None and threads.coro.get(tid) == coro:
                threads.put(tid, r["ts"], None, None)
    return threads


def show(*what):
    print(json.dumps(list(what), sort_keys=True))


def show_coroutine(coro, c, sites):
    states, row = c.states(), str(coro)
    show("Coroutines", ["Coroutines", row], states)
    if c.names:
        named = [[max(a, c.names[0]["ts"]), b, v] for a, b, v in states if b > c.names[0]["ts"]]
        show("Coroutines by name", ["Names", c.names[0]["name"], row], named)
    woken = list(c.woken())
    show("Woken, not yet running", ["Woken", row], join([[a, b, "woken, not yet running"] for a, b, _, _ in woken]))
    for a, b, wake, to in woken:
        if to["type"] == "transition" and to["is_active"]:
            called = [n["name"] for n in c.names if n["order"] < to["order"]]
            show("segment", a, b, called[-1] if called else "(no name)",
                 {"coroutine": coro, "thread": to["tid"], "woken by": wake["by"]})
    waits = collections.defaultdict(list)
    for a, b, state, at, _ in c.stretches:
        if at["type"] == "transition" and not at["is_active"] and at["site"] in sites:
            waits[sites[at["site"]]].append([a, b, state])
        elif at["type"] == "transition" and not at["is_active"] and int(at["addr"], 16):
            waits["at address", str(int(at["addr"], 16))].append([a, b, state])
    for (function, line), spans in waits.items():
        show("Where coroutines wait", ["Waits", function, line, row], join(spans))


def rows(path):
    with open(path, encoding="utf-8") as f:
        every = [r for r in map(json.loads, f) if not r["type"].startswith("@")]
    for r in every:
        r.update({key: spell(r[key]) for key in ("name", "function") if key in r})
    records = sorted(every, key=lambda r: r["ts"])
    for n, r in enumerate(records):
        r["order"] = n
    end = max(r["ts"] for r in records)
    sites = {r["site"]: (r["function"], str(r["line"])) if r["function"] else
             ("site", str(r["site"])) for r in records if r["type"] == "site"}
    per, unknown = collections.defaultdict(list), 0
    for r in records:
        if r.get("coro"):
            per[r["coro"]].append(r)
    for coro, of in sorted(per.items()):
        c = Coroutine(of, end)
        show_coroutine(coro, c, sites)
        lost = [s for s in c.states() if s[2] == UNKNOWN]
        unknown += sum(b - a for a, b, _ in lost)
        silent = any(to["type"] == "transition" and not any(l["index"] < to["index"] <= l["index"] + l["count"] for l in c.losses)
                     for a, b, state, at, to in c.stretches if state == UNKNOWN)
        assert silent or lost == c.gaps(end), (coro, lost, c.gaps(end))
    names = {r["tid"]: r["name"] for r in records if r["type"] == "thread" and r["name"]}
    for tid, spans in watch_threads(records).rows(end):
        show("Threads and their coroutines", ["Threads", str(tid), names.get(tid, str(tid))], spans)
        show("call stack", ["Threads", str(tid), "CallStack"], join([[a, b, 1] for a, b, _ in spans]))  # how deep it is
        show("call stack", ["Threads", str(tid), "CallStack", "1"], [[a, b, "[unknown]" if v == UNKNOWN else v] for a, b, v in spans])
    print("unknown for %d ns" % unknown, file=sys.stderr)


if sys.argv[1] == "make":
    Program(int(sys.argv[2])).print()
else:
    rows(sys.argv[2])
