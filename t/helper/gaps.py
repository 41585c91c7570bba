#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""gaps.py make SEED >ROWS.jsonl - a trace with losses, as `ctp-tojsonl -a` would write it, of a simulated program.
gaps.py know ROWS.jsonl [SINCE UNTIL] - the unknown time of each coroutine and thread by those rows, as JSON.

The program is a scheduler with threads, wakes, births and deaths. What its threads do goes through rings that lose now and then, so
that losses are realistic: wakes inside them, several coroutines at once, no event left, a death after them, no end in
sight. Losses are recorded before or after the transition that ends them. Some are of unknown coroutines.

The unknown time is computed from the rows alone, by the definition: a coroutine's gap reaches from `after` to `ts` of a row
`lost`, and on to its next transition, its death or the end; a thread's is that of a row `missed` with transitions. Each moment
counts once.
"""
import json
import random
import sys
from collections import defaultdict


def field(name, role=None, **more):
    said = {"name": name, "type": "u64", **more}
    if role:
        said["role"] = role
    return said


TS, AFTER = field("ts", "time", unit="ns"), field("after", "time", unit="ns")
PROBE, CORO, TID, SITE = field("probe_id", "probe"), field("coro", "coroutine"), field("tid", "thread"), field("site", "site")
CLASSES = {
    "thread": ("thread", [TS, TID, field("pid", "process"), {"name": "name", "type": "string", "role": "name"}]),
    "site": ("site", [TS, SITE, {"name": "file", "type": "string"}, field("line"),
                      {"name": "function", "type": "string", "role": "name"}]),
    "birth": ("birth", [TS, PROBE, CORO, field("station"), AFTER, field("before", "time", unit="ns"), field("parent"), SITE,
                        field("pid", "process")]),
    "death": ("death", [TS, PROBE, CORO, AFTER, field("before", "time", unit="ns")]),
    "transition": ("transition", [PROBE, TID, field("addr", "address", hex=True), field("seq", "sequence"),
                                  {"name": "is_active", "type": "bool", "role": "state"}, TS, {**CORO, "extra": True},
                                  field("index", "sequence", extra=True), {**SITE, "extra": True}]),
    "wake": ("wake", [TS, PROBE, CORO, TID, field("by")]),
    "lost": ("loss", [TS, PROBE, CORO, field("index", "sequence"), field("count", "count"), field("unverified", "unverified"),
                      AFTER]),
    "missed": ("loss", [TS, TID, field("count", "count"), AFTER, field("transitions", "count")]),
    "end": ("end", [TS] + [field(n, "count") for n in ("events", "lost", "unverified", "untraced", "births", "deaths")] +
            [{"name": "outcome", "type": "enum", "labels": {"exited": 0, "killed": 1, "running": 2, "ended": 3}},
             {"name": "status", "type": "i32"}]),
}
PID, START, THREADS, COROUTINES, EVENTS = 700, 5_000_000_000, 3, 24, 3000


class Ring:
    """A thread's ring: its records, without those that found no room."""

    def __init__(self, tid):
        self.tid, self.told, self.full_until, self.gap = tid, [], 0, None

    def put(self, ts, row):
        """Adds a row of class transition or another. True if it was recorded."""
        if ts < self.full_until:
            self.gap = self.gap or {"after": ts, "count": 0, "transitions": 0}
            self.gap["transitions" if row["type"] == "transition" else "count"] += 1
            return False
        self.close(ts)
        self.told.append(row)
        return True

    def close(self, ts):
        if self.gap:
            self.told.append({"type": "missed", "ts": ts, "tid": self.tid, **self.gap})
            self.gap = None


class Coroutine:
    def __init__(self, ident, born):
        self.ident, self.born, self.state, self.index, self.events = ident, born, "suspended", 0, []
        self.thread = self.died = None


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.now, self.rings = START, [Ring(101 + i) for i in range(THREADS)]
        self.running, self.coroutines, self.rows = [None] * THREADS, [], []
        self.births = 0

    def ident(self, co):
        return {"probe_id": 9000 + co.ident, "coro": co.ident}

    def birth(self):
        co = Coroutine(len(self.coroutines) + 1, self.now)
        self.coroutines.append(co)
        self.rows.append({"type": "birth", "ts": self.now, **self.ident(co), "station": co.ident, "after": self.now,
                          "before": self.now, "parent": 0, "site": 1, "pid": PID})
        return co

    def transition(self, co, thread, active):
        row = {"type": "transition", "probe_id": 9000 + co.ident, "tid": self.rings[thread].tid, "addr": "0x0",
               "seq": co.index + 1, "is_active": active, "ts": self.now, "coro": co.ident, "index": co.index,
               "site": 0 if active else self.random.randint(2, 4)}
        co.index += 1
        co.events.append((row, self.rings[thread].put(self.now, row)))
        co.state, co.thread = ("running", thread) if active else ("suspended", None)
        self.running[thread] = co if active else None

    def wake(self, co, thread):
        by = self.running[thread]
        self.rings[thread].put(self.now, {"type": "wake", "ts": self.now, **self.ident(co), "tid": self.rings[thread].tid,
                                          "by": by.ident if by else 0})
        if co.state == "suspended":
            co.state = "ready"

    def death(self, co):
        """A station's header records it, even if a ring has no room."""
        if co.thread is not None:
            self.running[co.thread] = None
        co.state, co.died = "dead", self.now
        self.rows.append({"type": "death", "ts": self.now, **self.ident(co), "after": self.now, "before": self.now})

    def step(self):
        pick = self.random
        self.now += pick.randint(1, 40_000)
        thread = pick.randrange(THREADS)
        if pick.random() < 0.004:
            self.rings[thread].full_until = self.now + pick.randint(50_000, 900_000)
        co = self.running[thread]
        living = [c for c in self.coroutines if c.state in ("suspended", "ready")]
        if co and pick.random() < 0.05:
            self.death(co)
        elif co and pick.random() < 0.6:
            self.transition(co, thread, False)
        elif len(self.coroutines) < COROUTINES * 3 and (len(living) < COROUTINES // 2 or pick.random() < 0.02):
            self.birth()
        elif not co and living and pick.random() < 0.7:
            self.transition(pick.choice(living), thread, True)
        elif living:
            self.wake(pick.choice(living), thread)

    def losses(self, end):
        """For each coroutine: its runs of lost events, with the times around them."""
        for co in self.coroutines:
            after, first, count = co.born, 0, 0
            for row, told in co.events + [(None, True)]:
                if not told:
                    first, count = (row["index"], 1) if not count else (first, count + 1)
                    continue
                ts = row["ts"] if row else co.died if co.died is not None else end
                if count:
                    lost = {"type": "lost", "ts": ts, **self.ident(co), "index": first, "count": count, "unverified": 0,
                            "after": after}
                    yield lost, row is None or self.random.random() < 0.5
                after, count = ts, 0

    def all_rows(self):
        for _ in range(COROUTINES // 2):
            self.now += 1
            self.birth()
        for _ in range(EVENTS):
            self.step()
        end = self.now + 50_000
        for ring in self.rings:
            ring.close(end)
        rows = self.rows + [row for ring in self.rings for row in ring.told]
        early, late = [], []
        for row, first in self.losses(end):
            (early if first else late).append(row)
        nobody = [{"type": "lost", "ts": START + 1_000_000, "probe_id": 0, "coro": 0, "index": 0, "count": 3, "unverified": 0,
                   "after": START}]
        births = [row for row in rows if row["type"] == "birth"]
        others = [row for row in rows if row["type"] != "birth"]
        return sorted(births + early + nobody + others + late, key=lambda row: row["ts"]), end


def make(seed):
    put = lambda row: print(json.dumps(row, separators=(",", ":")))
    rows, end = Program(seed).all_rows()
    lost = sum(row["count"] for row in rows if row["type"] == "lost")
    put({"type": "@section", "attrs": {"tool": "gaps", "pid": str(PID), "clock": "monotonic", "start_ns": str(START)}})
    for name, (kind, fields) in CLASSES.items():
        put({"type": "@schema", "name": name, "kind": kind, "fields": fields})
    for ring in range(THREADS):
        put({"type": "thread", "ts": START, "tid": 101 + ring, "pid": PID, "name": f"worker {ring}"})
    for site in range(1, 5):
        put({"type": "site", "ts": START, "site": site, "file": "made-up.c", "line": site, "function": f"f{site}"})
    for row in rows:
        put(row)
    put({"type": "end", "ts": end, "events": sum(row["type"] == "transition" for row in rows), "lost": lost, "unverified": 0,
         "untraced": 0, "births": sum(row["type"] == "birth" for row in rows),
         "deaths": sum(row["type"] == "death" for row in rows), "outcome": "exited", "status": 0})
    put({"type": "@end", "complete": True})


# --- what is not known ------------------------------------------------------------------------------------------------------------

def union(spans, low, high):
    """How long, each moment once, between two times."""
    total, reached = 0, low
    for start, stop in sorted(spans):
        start, stop = max(start, reached), min(stop, high)
        if stop > start:
            total, reached = total + stop - start, stop
    return total


def first_at(times, ts, otherwise):
    return next((t for t in times if t >= ts), otherwise)


def know(path, since=None, until=None):
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if not row["type"].startswith("@")]
    first = min(row["ts"] for row in rows if row["type"] in ("transition", "wake", "birth", "death"))
    end = max(row["ts"] for row in rows)
    low, high = (first, end) if since is None else (first + since, min(end, first + until))
    lives = defaultdict(lambda: {"born": None, "died": None, "events": []})
    losses = defaultdict(list)
    for row in rows:
        coro = row.get("coro")
        if row["type"] == "birth":
            lives[coro]["born"] = row["ts"]
        elif row["type"] == "death":
            lives[coro]["died"] = row["ts"]
        elif row["type"] == "transition":
            lives[coro]["events"].append(row)
        elif row["type"] == "lost" and coro:
            losses[coro].append(row)
    gaps = {}
    for coro, of in losses.items():
        times, died = [e["ts"] for e in lives[coro]["events"]], lives[coro]["died"]
        last = end if died is None else died
        gaps[coro] = [(row["after"], first_at(times, row["ts"], last)) for row in of]
    threads = defaultdict(list)
    for row in rows:
        if row["type"] == "missed" and row["transitions"]:
            threads[row["tid"]].append((row["after"], row["ts"]))
    coroutines = {str(coro): union(gaps[coro], max(low, lives[coro]["born"]), high) for coro in gaps}
    return {
        "first_ns": first, "end_ns": end,
        "gaps": sum(len(of) for of in gaps.values()),
        "lost": sum(row["count"] for row in rows if row["type"] == "lost"),
        "of_nobody": sum(row["count"] for row in rows if row["type"] == "lost" and not row["coro"]),
        "coroutines": {coro: ns for coro, ns in coroutines.items() if ns},
        "threads": {str(tid): union(of, low, high) for tid, of in threads.items()},
    }


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]))
    else:
        json.dump(know(sys.argv[2], *map(int, sys.argv[3:5])), sys.stdout, indent=1, sort_keys=True)
