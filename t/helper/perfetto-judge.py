#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""perfetto-judge.py TRACE REPORT.json [GAPS.json] 8>QUESTIONS 9<ANSWERS - does Perfetto see in a file of ctp-toperfetto what ctp-report -j sees in the stream?

Perfetto's trace_processor answers: perfetto-sql.js, at the other end of two pipes. Compared are runs and busy time of each thread, the time in each state, the waits
at each site, what is open at the end, arrows, counters and findings; with GAPS.json, of gaps.py know, the unknown time of each
coroutine and thread. Each life is one slice, and what is in it fills it without a gap. Says what differs, and ends with status 1.
"""
import json
import sys
from collections import Counter, defaultdict

STATES = {"running": "running", "ready": "runnable", "lost": "unknown", "left out": "unknown"}
LANES = "select id from track where parent_id in (select id from track where name = 'coroutines')"
SQL = {
    "stats": "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
    "lanes": "select s.id, s.track_id, s.ts, s.dur, ifnull(s.parent_id, -1), s.name, ifnull(extract_arg(s.arg_set_id, 'debug.coro'), 0),"
             " ifnull(extract_arg(s.arg_set_id, 'debug.wakes_lost'), ''), ifnull(extract_arg(s.arg_set_id, 'debug.destroyed'), '')"
             f" from slice s where s.track_id in ({LANES}) and s.name != 'wake' and s.name not like '%more lost'"
             " order by s.track_id, s.ts, s.id",
    "runs": "select t.tid, s.ts, s.dur, s.depth from slice s join thread_track k on s.track_id = k.id join thread t using (utid)"
            " where s.name not in ('wake', 'lost') order by 1, 2",
    "missed": "select t.tid, s.ts, s.dur from slice s join thread_track k on s.track_id = k.id join thread t using (utid)"
              " where k.name = 'lost' order by 1, 2",
    "flows": "select count(*) from flow",
    "wakes": "select count(*) from slice where name = 'wake'",
    "counters": "select t.name, c.value from counter c join track t on c.track_id = t.id order by c.ts, c.id",
    "findings": "select s.name from slice s join track t on s.track_id = t.id where t.name = 'findings'",
    "colours": "select count(*) from slice s join thread_track k on s.track_id = k.id where s.name not in ('wake',"
               " 'lost') and extract_arg(s.arg_set_id, 'debug.coro') is null",
}
failures = 0


def same(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"{what}: Perfetto has {got}, not {want}")


def ask(trace):
    with open(8, "w", encoding="utf-8", closefd=False) as questions:
        questions.write("\n".join([f"trace {trace}", *SQL.values(), "end", ""]))
    answers, rows, wrong = [], [], []
    with open(9, encoding="utf-8", closefd=False) as lines:
        for line in iter(lines.readline, "end\n"): # also what comes after an error, which the next one must not read
            if not line:
                sys.exit("Perfetto's engine has ended")
            line = line.rstrip("\n")
            if line == "status 1":
                wrong += rows
            if line.startswith("status "):
                answers.append([[int(v) if v.lstrip("-").isdigit() else v for v in row.split("|")] for row in rows])
                rows = []
            elif line:
                rows.append(line)
    if wrong:
        sys.exit("\n".join(wrong))
    return dict(zip(SQL, answers))


def union(spans):
    total, until = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def lives_of(rows, end):
    """Slices of lanes: lives, and what is in each; with checks."""
    lives, inner = {}, defaultdict(list)
    for number, track, ts, dur, parent, name, coro, missed, destroyed in rows:
        until = end if dur == -1 else ts + dur
        if parent == -1:
            lives[number] = (track, ts, until, coro, dur == -1, name)
        else:
            inner[parent].append((ts, until, name, dur == -1, missed, destroyed))
    last = {}
    for track, ts, until, coro, _, _ in lives.values():
        if ts < last.get(track, 0):
            same(f"the life of {coro}", ts, "after the one before it on the lane")
        last[track] = until
    for number, slices in inner.items():
        if number not in lives:
            same("slice", slices[0], "in a life")
            continue
        for a, b in zip(slices, slices[1:]):
            if a[1] != b[0]:
                same(f"in the life of {lives[number][3]}", a, f"up to {b}")
        if slices[-1][3] != lives[number][4]:
            same(f"the life of {lives[number][3]}", lives[number], f"open as {slices[-1]}")
    return lives, inner


def judge_states(section, inner, end):
    sums, waits, still = Counter(), Counter(), Counter()
    for slices in inner.values():
        for i, (ts, until, name, is_open, missed, destroyed) in enumerate(slices):
            following = next((s[2] for s in slices[i + 1:] if s[2] != "ready"), None)
            state = STATES.get(name, "suspended")
            sums[state] += until - ts
            if state == "suspended" and following == "running" and not missed:
                waits[name] += 1
            if state in ("suspended", "runnable") and (is_open or (destroyed and section["destroyed"])):
                still[name] += 1
    if not section["destroyed"]: # the report is about the time before that
        same("time in states", {k: sums[k] for k in section["total_ns"]}, section["total_ns"])
    want = Counter()
    for site in section["sites"]: # inlined code may have several sites of one text
        want[site["site"] or "suspended"] += site["suspended"]["count"]
    for place, count in want.items():
        same(f"waits at {place}", waits[place], count)
    want = Counter()
    for row in section["waiting"]:
        want[row["suspend_site"] or "suspended"] += row["coroutines"] - row["runnable"]
        want["ready"] += row["runnable"]
    same("open waits", +still, +want)


def judge_threads(section, answers, whole):
    runs, busy = Counter(), defaultdict(list)
    end = section["start_ns"] + section["duration_ns"]
    for tid, ts, dur, _ in answers["runs"]:
        runs[tid] += 1
        busy[tid].append((ts, end if dur == -1 else ts + dur))
    for th in section["threads"]:
        same(f"runs on thread {th['tid']}", runs[th["tid"]], th["resumes"])
        if whole:
            same(f"busy time of thread {th['tid']}", union(busy[th["tid"]]), th["busy_ns"])


def judge_counters(section, answers):
    last = {}
    for name, value in answers["counters"]:
        last[name] = int(float(value))
        if last[name] < 0:
            same(name, value, "a count")
    same("alive at the end", last.get("alive", 0), section["alive"])
    same("runnable at the end", last.get("runnable", 0), sum(row["runnable"] for row in section["waiting"]))


def judge_gaps(lives, inner, answers, gaps):
    unknown, missed = Counter(), defaultdict(list)
    for number, slices in inner.items():
        unknown[str(lives[number][3])] += sum(until - ts for ts, until, name, *_ in slices if name == "lost")
    for tid, ts, dur in answers["missed"]:
        missed[str(tid)].append((ts, ts + dur))
    same("unknown time of coroutines", dict(+unknown), gaps["coroutines"])
    same("unknown time of threads", {tid: union(spans) for tid, spans in missed.items()}, gaps["threads"])


trace, report = sys.argv[1:3]
section = json.load(open(report))["sections"][0]
for key in "start_ns", "duration_ns":
    section[key] = int(section[key])
gaps = json.load(open(sys.argv[3])) if len(sys.argv) > 3 else None
answers = ask(trace)
end = section["start_ns"] + section["duration_ns"]
same("errors", answers["stats"], [])
lives, inner = lives_of(answers["lanes"], end)
same("lives", len(lives), section["coroutines"])
same("open lives", sum(life[4] for life in lives.values()), section["alive"])
judge_states(section, inner, end)
judge_threads(section, answers, gaps is None)
judge_counters(section, answers)
same("findings", sorted(row[0] for row in answers["findings"]),
     sorted([f["title"] for f in section["findings"]] + [s["title"] for s in section["suspects"]]))
same("runs without a coroutine", answers["colours"], [[0]])
if gaps:
    judge_gaps(lives, inner, answers, gaps)
else:
    same("arrows", answers["flows"], [[section["wakes"]]])
same("wakes", answers["wakes"], [[section["wakes"]]])
sys.exit(failures > 0)
