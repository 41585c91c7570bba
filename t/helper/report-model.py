#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""report-model.py REPORT.json <ROWS.jsonl - compares `ctp-report -j` of a trace of ctp-collect with a model.

The rows are those of `ctp-tojsonl -a`. The model is written from the manual and not from the program: each coroutine's rows,
in the order of their index, give its states; from the last row before a gap to the first after it nothing is known, whatever
wakes say. It prints where the two differ.
"""
import json
import sys
from collections import defaultdict


class Coroutine:
    def __init__(self, ts):
        self.since, self.state = ts, "born"
        self.due, self.sound, self.pending, self.called, self.tid = 0, True, False, False, 0
        self.place, self.spawn, self.ours = None, None, False
        self.suspended_at, self.resumed_at, self.woken_at, self.moved_at = 0, 0, None, ts
        self.total = defaultdict(int)


class Thread:
    def __init__(self):
        self.runs, self.gaps, self.resumes = [], [], 0
        self.last, self.deaths = 0, []

    def busy(self):
        return covered(self.runs + self.gaps) - covered(self.gaps)


def covered(spans):
    """How long, each moment once."""
    total, reached = 0, 0
    for start, stop in sorted(spans):
        start = max(start, reached)
        if stop > start:
            total, reached = total + stop - start, stop
    return total


class Model:
    def __init__(self):
        self.threads = defaultdict(Thread)
        self.first, self.named = None, True  # named: all sites have texts in the rows
        self.coroutines = {}
        self.sites = defaultdict(lambda: defaultdict(list))  # place -> suspended, runnable, running -> durations
        self.counts = defaultdict(int)
        self.last = self.end = self.missed = self.unsure = 0

    def coroutine(self, row):
        ident = row["coro"]
        if not ident:
            return None
        if ident not in self.coroutines:
            after = row["type"] == "lost" and row["after"]
            self.coroutines[ident] = Coroutine(min(row["ts"], after or row["ts"]))
        return self.coroutines[ident]

    def spend(self, co, ts, sound, gap=False):
        """The state that it was in since its last transition ends; on the way there it may have been woken."""
        if not sound:
            co.total["unknown"] += max(0, ts - co.moved_at) if gap else 0
            return 0
        if co.state == "runnable" and co.suspended_at:
            wait = max(0, co.since - co.suspended_at)
            co.total["suspended"] += wait
            if co.woken_at:
                self.sites[co.place]["suspended"].append(wait)
        span = max(0, ts - co.since)
        co.total[co.state] += span
        return span

    def transition(self, row):
        self.counts["events"] += 1
        co, ts, index = self.coroutine(row), row["ts"], row["index"]
        if not co or co.state == "dead" or index < co.due:
            return
        sound = co.sound and index == co.due
        co.due, co.sound = index + 1, True
        was, span = co.state, self.spend(co, ts, sound, True)
        thread = self.threads[row["tid"]]
        thread.last = max(thread.last, ts)
        if row["is_active"]:
            thread.resumes += 1
        elif sound and was == "running" and co.tid == row["tid"]:
            thread.runs.append((co.since, ts))
        if not sound:
            co.pending, was = False, "unknown"
            co.place = None  # it may have suspended elsewhere
        if row["is_active"]:
            told = was == "runnable" or self.missed <= co.since  # a wake may be missing
            if sound and co.suspended_at and was in ("suspended", "runnable") and told:
                self.sites[co.place][was].append(span)
            co.state, co.resumed_at, co.tid, co.called = "running", ts, row["tid"], was == "runnable"
        else:
            if sound and was == "running":
                self.sites[co.place]["running"].append(span)
            co.place = row["site_text"] if row["site"] else None
            self.named &= bool(row["site"])
            co.state = "runnable" if co.pending else "suspended"
            co.suspended_at, co.pending = ts, False
        co.since = co.moved_at = ts
        co.woken_at = None

    def wake(self, row):
        self.counts["wakes"] += 1
        co, ts = self.coroutine(row), row["ts"]
        if not co or co.state in ("dead", "runnable") or ts < co.resumed_at:
            return
        if co.state == "running":
            early = not co.called and row["tid"] != co.tid and ts - co.resumed_at <= 1000
            co.pending |= not early  # a clock may be read before the cause has arrived
            return
        if co.sound:
            co.state, co.since = "runnable", max(ts, co.since)
            co.woken_at = co.since if co.since > co.suspended_at else None

    def birth(self, row):
        co = self.coroutine(row)
        if co and co.state != "dead":
            co.spawn = row["site_text"] if row["site"] else None
            co.ours = bool(row["pid"])

    def death(self, row):
        co = self.coroutine(row)
        if not co or co.state == "dead":
            return
        sound = co.sound and row["after"] == row["ts"]
        span = self.spend(co, row["ts"], sound, not co.sound)
        if sound and co.state == "running":
            self.sites[co.place]["running"].append(span)
            self.threads[co.tid].runs.append((co.since, row["ts"]))
        if co.sound and co.state == "running":
            self.threads[co.tid].deaths.append(row["ts"])  # which may be later, if the thread has run another one meanwhile
        co.state = "dead"

    def lost(self, row):
        self.counts["lost"] += row["count"]
        co = self.coroutine(row)
        if not co:
            self.counts["lost_of_nobody"] += row["count"]
            self.unsure = max(self.unsure, row["ts"])
        if co and co.state != "dead" and row["index"] + row["count"] > co.due:
            co.sound = False

    def take(self, row):
        kind = row["type"]
        if kind in ("transition", "wake", "birth", "death"):
            self.last = max(self.last, row["ts"])
            self.first = row["ts"] if self.first is None else min(self.first, row["ts"])
        if kind == "end":
            self.end = min(row["ts"], row.get("after") or row["ts"])  # when it was last seen executing
        if kind == "missed" and row["count"]:
            self.missed = max(self.missed, row["ts"])
            self.counts["missed"] += row["count"]
        if kind == "missed" and row.get("transitions"):
            self.threads[row["tid"]].gaps.append((row["after"], row["ts"]))
        if kind in ("transition", "wake", "birth", "death", "lost"):
            getattr(self, kind)(row)
        if kind in ("name", "await", "function"):
            self.coroutine(row)


def read(lines):
    """One model for each section."""
    models = []
    for line in lines:
        row = json.loads(line)
        if row["type"] == "@section":
            models.append(Model())
        elif not row["type"].startswith("@"):
            models[-1].take(row)
    return models


class Differences:
    def __init__(self):
        self.count = 0

    def check(self, what, got, want):
        if got != want:
            self.count += 1
            print(f"{what}: the report says {got}, the model {want}")


def times(durations):
    return {"count": len(durations), "total_ns": sum(durations), "max_ns": max(durations, default=0)}


def compare_sites(diff, model, section):
    said = {site["site"]: site for site in section["sites"]}
    for state in ("suspended", "runnable", "running"):
        want = times([ns for place in model.sites.values() for ns in place[state]])
        got = {"count": sum(site[state]["count"] for site in said.values()),
               "total_ns": sum(site[state]["total_ns"] for site in said.values()),
               "max_ns": max((site[state]["max_ns"] for site in said.values()), default=0)}
        diff.check(f"all sites, {state}", got, want)
        for place in model.sites:
            if place in said and place is not None:
                got = {key: said[place][state][key] for key in want}
                diff.check(f"{place}, {state}", got, times(model.sites[place][state]))
                p50, durations = said[place][state]["p50_ns"], sorted(model.sites[place][state])
                middle = durations[len(durations) // 2] if durations else 0
                diff.check(f"{place}, {state}, p50 {p50} near {middle}", middle <= p50 <= middle + middle // 8, True)


def end_of(model):
    return max(model.end, model.last)


def compare_coroutines(diff, model, section):
    for co in model.coroutines.values():  # a living coroutine stays in its state up to the end
        if co.state != "dead":
            model.spend(co, end_of(model), co.sound, True)
    for state in ("running", "runnable", "suspended", "unknown"):
        diff.check(f"all time {state}", section["total_ns"][state], sum(co.total[state] for co in model.coroutines.values()))
        best = sorted((co.total[state] for co in model.coroutines.values() if co.total[state]), reverse=True)[:20]
        top = section["top"][state]
        diff.check(f"the most time {state}", [co["ns"] for co in top], best)
        for co in top:
            diff.check(f"coroutine {co['coro']}, {state}", co["ns"], model.coroutines[int(co["coro"])].total[state])


def groups_of(model, coroutines, since):
    """By spawn and suspend site: how many, how many are ready, the longest and the shortest."""
    groups = {}
    for co in coroutines:
        ns = max(0, end_of(model) - since(co))
        n, ready, most, least = groups.get((co.spawn, co.place), (0, 0, 0, ns))
        groups[co.spawn, co.place] = (n + 1, ready + (co.state == "runnable"), max(most, ns), min(least, ns))
    return groups


def said_groups(listed):
    """The groups of the report: those in findings are apart from the others."""
    groups = {}
    for g in listed:
        key = g["spawn_site"], g["suspend_site"]
        n, ready, most, least = groups.get(key, (0, 0, 0, g["shortest_ns"]))
        groups[key] = (n + g["coroutines"], ready + g.get("runnable", 0), max(most, g["longest_ns"]), min(least, g["shortest_ns"]))
    return groups


def compare_waiting(diff, model, section):
    waiting = [co for co in model.coroutines.values() if co.state in ("suspended", "runnable") and co.sound]
    want = groups_of(model, waiting, lambda co: co.suspended_at or co.since)
    got = said_groups(section["waiting"])
    diff.check("how many wait", sum(g[0] for g in got.values()), len(waiting))
    diff.check("how many wait, by the table of sites", sum(site["still_waiting"] for site in section["sites"]), len(waiting))
    if model.named:
        diff.check("who waits, by both sites", got, want)
        there = {site["site"]: site["still_waiting"] for site in section["sites"] if site["still_waiting"]}
        wanted = defaultdict(int)
        for co in waiting:
            wanted[co.place] += 1
        diff.check("who waits, by the table of sites", there, dict(wanted))
    for group in section["waiting"]:
        place = group["suspend_site"]
        if place in model.sites and place is not None:
            ended = model.sites[place]["suspended"]
            diff.check(f"waits that ended at {place}", [group["ended"], group["ended_max_ns"]], [len(ended), max(ended, default=0)])


def compare_running(diff, model, section):
    running = [co for co in model.coroutines.values() if co.state == "running" and co.ours and co.sound]
    want, got = groups_of(model, running, lambda co: co.since), said_groups(section["running"])
    diff.check("how many run", sum(g[0] for g in got.values()), len(running))
    if model.named:
        diff.check("who runs, by both sites", got, want)
    for co in running:
        model.threads[co.tid].runs.append((co.since, end_of(model)))


def compare_threads(diff, model, section):
    seen = {tid: thread for tid, thread in model.threads.items() if thread.resumes or covered(thread.gaps)}
    diff.check("threads", section["threads_seen"], len(seen))
    diff.check("their numbers", sorted(thread["tid"] for thread in section["threads"]), sorted(seen))
    for said in section["threads"]:
        thread = seen.get(said["tid"])
        if not thread:
            continue
        got = {key: said[key] for key in ("busy_ns", "unknown_ns", "resumes")}
        want = {"busy_ns": thread.busy(), "unknown_ns": covered(thread.gaps), "resumes": thread.resumes}
        diff.check(f"thread {said['tid']}", got, want)
        last = [max(0, ts - model.first) for ts in [thread.last] + thread.deaths if ts >= thread.last]
        diff.check(f"thread {said['tid']}, last seen at {said['last_ns']}, one of {last[:3]}", said["last_ns"] in last, True)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        sections = json.load(file)["sections"]
    models, diff = read(sys.stdin), Differences()
    diff.check("sections", len(sections), len(models))
    for model, section in zip(models, sections):
        for co in model.coroutines.values():  # what was lost of no known coroutine may be the last of any
            co.sound &= co.state == "dead" or co.since >= model.unsure
        alive = sum(co.state != "dead" for co in model.coroutines.values())
        diff.check("coroutines", section["coroutines"], len(model.coroutines))
        diff.check("alive", section["alive"], alive)
        diff.check("in a gap", section["in_gap"], sum(co.state != "dead" and not co.sound for co in model.coroutines.values()))
        for count in ("events", "wakes", "lost", "lost_of_nobody", "missed"):
            diff.check(count, section[count], model.counts[count])
        compare_coroutines(diff, model, section)
        compare_sites(diff, model, section)
        if not section["destroyed"]:  # else the report has those that waited before
            compare_waiting(diff, model, section)
        compare_running(diff, model, section)
        compare_threads(diff, model, section)
    print(f"{sum(len(model.coroutines) for model in models)} coroutines, {diff.count} differences")
    return diff.count > 0


if __name__ == "__main__":
    sys.exit(main())
