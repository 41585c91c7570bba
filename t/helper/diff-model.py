#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""diff-model.py - compares `ctp-diff -j` with a model, and makes traces for it.

    diff-model.py make SEED SLOWER [loses] [SPAWNS]
                                             rows of a trace, for ctp-fromjsonl: SLOWER is a factor of the runs after pop; with
                                             loses, events of some handlers are lost; they are spawned at SPAWNS sites
    diff-model.py check DIFF.json PER A.jsonl... -- B.jsonl...

The rows to check are those of `ctp-tojsonl -a`. Spans are those of the model of ctp-report; medians are of sorted lists, p is that of
all orders counted one by one, the correction is that of the textbook, with weights. It prints where the two differ, and at last how many numbers
were compared. PER is - for none.
"""
import importlib.util
import itertools
import json
import math
import os
import random
import re
import sys
from collections import defaultdict

ALPHA, SMALL, MIN_CHANGE, P99_SPANS, STATES = 0.05, 0.001, 0.02, 100, ("running", "suspended", "runnable")
EVENLY = 0.25
PARTS = {"resumes": 0.5, "wakes": 0.25, "coroutines": 0.5, "running_total_ns": 1, "running_p50_ns": 2, "suspended_p50_ns": 1}


def report_model():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "report-model.py")
    spec = importlib.util.spec_from_file_location("report_model", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- traces -----------------------------------------------------------------------------------------------------------------


def make(seed, slower, loses, spawns):
    """A listener spawns handlers, which wait in pop, run, wait in reply, run, and end. spawns: at how many sites, 0 for one of accept."""
    rng = random.Random(seed)
    rows, index = [], defaultdict(int)

    def row(kind, ts, **fields):
        rows.append((ts, len(rows), dict(type=kind, ts=ts, **fields)))

    def move(coro, ts, active, site=0, lost=False):
        if not lost:
            row("transition", ts, coro=coro, index=index[coro], tid=5, is_active=active, site=site)
        index[coro] += 1

    shift = int(seed) % 7  # lines move
    for site, (file, line, function) in enumerate([("main.c", 12, "main"), ("server.c", 30 + shift, "accept"),
                                                   ("queue.c", 41 + shift, "pop"), ("queue.c", 77 + shift, "reply")], 1):
        row("site", 1, site=site, file=file, line=line, function=function)
    for spawn in range(spawns):
        row("site", 1, site=5 + spawn, file="handler.c", line=10 * spawn + 1, function=f"handle{spawn}")
    for coro in (1, 2):
        row("birth", 2, coro=coro, site=1, pid=100)
        row("name", 2, coro=coro, name=f"listener {coro}")
    now = 1000
    for coro in (1, 2):
        move(coro, now, True)
        move(coro, now + 100, False, 2)
    for coro in range(11, 11 + 300 + rng.randrange(4)):
        now += rng.randrange(900_000, 1_100_000)
        listener = 1 + coro % 2
        row("wake", now, coro=listener, by=0, tid=5)
        move(listener, now + 500, True)
        row("birth", now + 600, coro=coro, site=5 + coro % spawns if spawns else 2, pid=100)
        row("name", now + 650, coro=coro, name=("client" if coro % 3 else "proxy") + f" {coro}")
        move(listener, now + rng.randrange(10_000, 15_000), False, 2)
        at = now + 20_000
        lost = loses and coro % 50 == 0
        for site, run in ((3, slower * rng.lognormvariate(12, 0.05)), (4, rng.lognormvariate(10, 0.1))):
            move(coro, at, True)
            at += 1000 + rng.randrange(3000)
            move(coro, at, False, site, lost)
            at += int(rng.lognormvariate(11, 0.3))
            row("wake", at, coro=coro, by=listener, tid=5)
            at += int(rng.lognormvariate(7, 0.5))
            move(coro, at, True, lost=lost)
            at += int(run)
            move(coro, at, False, 3 if site == 3 else 4)
            at += int(rng.lognormvariate(10, 0.3))
            row("wake", at, coro=coro, by=listener, tid=5)
            at += 700
            if lost and site == 4:
                row("lost", at - 10, coro=coro, index=1, count=2, after=now)
        move(coro, at, True)
        row("death", at + 2000, coro=coro, after=at + 2000)
        now = max(now, at)
    row("end", now + 10_000, events=0, lost=0, unverified=0, untraced=0, births=0, deaths=0, outcome="exited", status=0)
    print('{"type":"@section","attrs":{"pid":"100","argv":["./server"]}}')
    for _, _, fields in sorted(rows, key=lambda r: r[:2]):
        print(json.dumps(fields))
    print('{"type":"@end","complete":true}')


# --- the model --------------------------------------------------------------------------------------------------------------


def site_of(text):
    """FILE:LINE:FUNCTION without the line."""
    return re.sub(r"^([^:]*):[0-9]+(?=:|$)", r"\1", text) if text else None


def name_of(name):
    return re.sub(r"[0-9]+", "*", name) if name else None


def run_class(report):
    class Run(report.Model):
        """What the model of ctp-report has, by group. A group is found by the coroutine whose row is taken."""

        def __init__(self):
            super().__init__()
            self.groups = defaultdict(lambda: defaultdict(list))
            self.resumed, self.born, self.lost_spawns = defaultdict(int), defaultdict(int), set()
            self.names, self.totals, self.current = {}, defaultdict(int), None
            run = self

            class Sites:
                def __getitem__(self, place):
                    return run.groups[run.group(place)]

                def values(self):
                    return run.groups.values()

            self.sites = Sites()

        def group(self, place):
            co = self.coroutines[self.current]
            return site_of(place), site_of(co.spawn), name_of(self.names.get(self.current))

        def take(self, row):
            self.current = row.get("coro")
            if row["type"] == "name":
                self.names[row["coro"]] = row["name"]
            elif row["type"] == "transition" and row["is_active"]:
                self.totals["resumes"] += 1
            super().take(row)
            if row["type"] == "transition" and row["is_active"]:
                self.resumed[self.group(self.coroutines[self.current].place)] += 1
            elif row["type"] == "birth":
                self.born[site_of(row["site_text"] if row["site"] else None)] += 1
            elif row["type"] == "lost":
                self.lost_spawns.add(site_of(self.coroutines[self.current].spawn))

        def still(self):
            """How many coroutines wait at the end, by group."""
            waiting = defaultdict(int)
            for self.current, co in self.coroutines.items():
                if co.state == "suspended":
                    waiting[self.group(co.place)] += 1
            return waiting

        def whole(self, report_end):
            for self.current, co in self.coroutines.items():
                if co.state in STATES:
                    self.spend(co, report_end, co.sound, True)
            return sum(co.total["running"] for co in self.coroutines.values())

    return Run


def read(path, report):
    runs = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["type"] == "@section":
                runs.append(run_class(report)())
            elif not row["type"].startswith("@"):
                runs[-1].take(row)
    for run in runs:
        run.totals["running_total_ns"] = run.whole(report.end_of(run))
        run.totals["wakes"], run.totals["coroutines"] = run.counts["wakes"], len(run.coroutines)
    return runs


class Model:
    """sides: the runs before, and after. per: a site, or None."""

    def __init__(self, sides, per):
        self.sides, self.per = sides, per
        self.rows = {}  # (what, of, place, spawn, name) -> values of both sides
        self.weights, self.counts = defaultdict(float), {}
        keys = {key for side in sides for run in side for key in set(run.groups) | set(run.resumed)}
        spawns = {spawn for side in sides for run in side for spawn in run.born}
        for what in ("resumes", "wakes", "coroutines", "running_total_ns"):
            lossy = what in ("resumes", "running_total_ns")
            self.add((what, "run", None, None, None), lambda run, w=what, l=lossy: self.unit(run, run.totals[w], l and run.counts["lost"]))
        for spawn in spawns:
            self.add(("coroutines", "spawn", None, spawn, None), lambda run, s=spawn: self.unit(run, run.born[s], False))
            self.counts["coroutines", "spawn", None, spawn, None] = sum(run.born[spawn] for side in sides for run in side)
        for key in keys:
            if any(run.still()[key] for side in sides for run in side):
                self.add(("still_waiting", "suspend") + key,
                         lambda run, k=key: None if run.counts["missed"] or self.touched(run, k) else run.still()[k])
                self.counts[("still_waiting", "suspend") + key] = sum(run.still()[key] for side in sides for run in side)
            self.add(("resumes", "suspend") + key, lambda run, k=key: self.unit(run, run.resumed[k], self.touched(run, k)))
            self.counts[("resumes", "suspend") + key] = sum(run.resumed[key] for side in sides for run in side)
            for state in STATES:
                for part, share in (("p50", 0.5), ("p99", 0.99)):
                    what = (f"{state}_{part}_ns", "suspend") + key
                    self.add(what, lambda run, k=key, s=state, q=share: self.quantile(run, k, s, q))
                    least = P99_SPANS if part == "p99" else 1
                    self.weights[what] = sum(sum(run.groups[key][state]) for side in sides for run in side
                                             if key in run.groups and len(run.groups[key][state]) >= least)

    def add(self, row, number):
        values = [[v for v in (number(run) for run in side) if v is not None] for side in self.sides]
        if any(values):
            self.rows[row] = values

    def touched(self, run, key):
        if key in run.groups or key in run.resumed:
            return key[1] in run.lost_spawns
        return run.counts["lost"] > 0

    def unit(self, run, number, touched):
        if touched:
            return None
        if not self.per:
            return number
        if any(key[1] in run.lost_spawns for key in run.resumed if key[0] == self.per):
            return None
        return number / sum(n for key, n in run.resumed.items() if key[0] == self.per)

    def quantile(self, run, key, state, share):
        spans = sorted(run.groups[key][state]) if key in run.groups else []
        if len(spans) < (P99_SPANS if share > 0.9 else 1) or self.touched(run, key):
            return None
        return spans[int(share * len(spans))]

    def small(self, row):
        every = sum(weight for other, weight in self.weights.items() if other[0] == row[0])
        return row in self.weights and self.weights[row] < SMALL * every


    def shares(self, rows):
        """What each row that is compared gets of the correction. The whole run is as much as all its groups."""
        amount = {row: self.weights[row] if row in self.weights else self.counts.get(row, 0) for row in rows}
        for row in rows:
            if row[1] == "run":
                amount[row] = max(1, sum(n for other, n in amount.items() if other[0] == row[0] and other[1] != "run"))
        every = defaultdict(float)
        for row in rows:
            every[row[0]] += amount[row]
        parts = {what: PARTS.get(what, 0.25) for what, total in every.items() if total}
        return {row: EVENLY + (1 - EVENLY) * len(rows) * amount[row] / every[row[0]] * parts[row[0]] / sum(parts.values())
                if every[row[0]] else EVENLY for row in rows}


def p_of(a, b):
    both = sorted(a + b)
    rank = {v: (both.index(v) + 1 + len(both) - both[::-1].index(v)) / 2 for v in both}
    mine, ranks = sum(rank[v] for v in a), [rank[v] for v in a + b]
    sums = [sum(choice) for choice in itertools.combinations(ranks, len(a))]
    below, above = sum(s <= mine for s in sums), sum(s >= mine for s in sums)
    return min(1, 2 * min(below, above) / len(sums))


def adjust(ps, shares):
    order = sorted(ps, key=lambda key: ps[key] / shares[key])
    least, out = 1, {}
    for rank in range(len(order), 0, -1):
        least = min(least, ps[order[rank - 1]] / shares[order[rank - 1]] * len(order) / rank)
        out[order[rank - 1]] = least
    return out


def median(values):
    s = sorted(values)
    return (s[(len(s) - 1) // 2] + s[len(s) // 2]) / 2


# --- the comparison ---------------------------------------------------------------------------------------------------------


class Differences:
    def __init__(self):
        self.count = self.compared = 0

    def check(self, what, got, want, part=1e-9):
        self.compared += 1
        right = got == want if not isinstance(want, float) or got is None else math.isclose(got, want, rel_tol=part, abs_tol=1e-9)
        if not right:
            self.count += 1
            print(f"{what}: ctp-diff says {got}, the model {want}")


def compare(said, model, diff):
    rows = {(q["what"], q["of"], q["suspend_site"], q["spawn_site"], q["name"]): q for q in said["quantities"]}
    kept = {key for key, q in rows.items() if q["before"]["runs"] or q["after"]["runs"]}
    diff.check("the quantities", sorted(map(str, kept)), sorted(map(str, model.rows)))
    ps = {}
    for key in kept & set(model.rows):
        q, want = rows[key], model.rows[key]
        values = [q[side]["values"] for side in ("before", "after")]
        part = 0.002 if "_p" in key[0] else 1e-9
        for side, got, numbers in zip(("before", "after"), values, want):
            diff.check(f"{key}: runs {side}", len(got), len(numbers))
            for one, other in zip(got, sorted(numbers)):
                diff.check(f"{key}: {side}", one, float(other), part)
            if got:
                diff.check(f"{key}: median {side}", q[side]["median"], float(median(got)))
        diff.check(f"{key}: small", q["small"], model.small(key))
        n = [len(v) for v in values]
        enough = all(n) and 2 / math.comb(sum(n), n[0]) <= ALPHA
        if not enough or q["small"]:
            diff.check(f"{key}: verdict and p", (q["verdict"], "p" in q), ("not judged", False))
        if enough and not q["small"] and len(set(values[0] + values[1])) > 1:
            ps[key] = p_of(*values)
            diff.check(f"{key}: p", q["p"], ps[key])
    shares = model.shares(list(ps))
    diff.check("the mean share", sum(shares.values()), float(len(shares)))
    adjusted = adjust(ps, shares)
    shown = 0
    for key, p in adjusted.items():
        a, b = (rows[key][side]["median"] for side in ("before", "after"))
        diff.check(f"{key}: corrected p", rows[key]["p_adjusted"], p)
        slight = abs(b - a) < MIN_CHANGE * a
        if a != b:
            large = "less than min_change" if slight else "more" if b > a else "less"
            diff.check(f"{key}: verdict", rows[key]["verdict"], "no difference shown" if p > ALPHA else large)
        shown += p <= ALPHA and not slight
    diff.check("comparisons", said["compared"], len(ps))
    least = 2 / math.comb(len(said["before"]) + len(said["after"]), len(said["before"]))
    diff.check("differences that can be alone", said["alone"], sum(least / share * len(ps) <= ALPHA for share in shares.values()))
    diff.check("differences", said["differences"], shown)


def main():
    if sys.argv[1] == "make":
        how = sys.argv[4:]
        make(sys.argv[2], float(sys.argv[3]), "loses" in how, next((int(word) for word in how if word != "loses"), 0))
        return 0
    report, diff = report_model(), Differences()
    files, at = sys.argv[4:], sys.argv[4:].index("--")
    sides = [[run for path in part for run in read(path, report)] for part in (files[:at], files[at + 1:])]
    with open(sys.argv[2], encoding="utf-8") as file:
        said = json.load(file)
    compare(said, Model(sides, None if sys.argv[3] == "-" else sys.argv[3]), diff)
    print(f"{diff.compared} numbers, {diff.count} differences")
    return diff.count > 0


if __name__ == "__main__":
    sys.exit(main())
