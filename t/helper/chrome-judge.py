#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""chrome-judge.py TRACE.json REPORT.json - is a file of ctp-toperfetto --chrome what viewers read, and does it have what ctp-report -j has?

Each event has all fields, runs of a thread nest, each b has its e, arrows have both ends, and texts are valid. Runs of each thread,
waits that still go on and findings are those of the report. Prints what differs, and ends with status 1.
"""
import json
import sys
from collections import Counter, defaultdict

trace = json.loads(open(sys.argv[1], "rb").read().decode("utf-8"))
section = json.load(open(sys.argv[2]))["sections"][0]
events = trace["traceEvents"]
failures = 0


def same(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"{what}: {got}, not {want}")


runs, halves, arrows, titles, counts = defaultdict(list), defaultdict(int), defaultdict(list), [], Counter()
waiting = alive = wakes = still = frames = 0
for e in events:
    missing = {"name", "cat", "ph", "pid", "tid", "ts", "args"} - set(e)
    same(f"missing in {e}", missing, set())
    e["name"].encode("utf-8")
    counts[e["ph"]] += 1
    if e["ph"] == "X" and e["cat"] == "run":
        runs[e["tid"]].append((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)))
    elif e["ph"] == "X": # viewers that show no other events show these waits
        same(f"whether {e} is a wait that goes on", (e["cat"], e["name"].endswith(" (still waiting)")), ("wait", True))
        frames += 1
    elif e["ph"] in "be":
        halves[e["id"]] += 1 if e["ph"] == "b" else -1
        ended = section["destroyed"] and "destroyed" in e["args"] # with the program
        still += e["ph"] == "b" and e["name"].endswith(" (still waiting)")
        waiting += e["ph"] == "b" and (e["name"].endswith(" (still waiting)") or bool(ended))
    elif e["ph"] in "sf":
        arrows[e["id"]].append((round(e["ts"] * 1000), e["ph"]))
        same("where an arrow ends", e.get("bp"), "e" if e["ph"] == "f" else None)
        if e["ph"] == "f": # a reader that sorts by time must find the run before the arrow
            same(f"the run that the arrow {e['id']} leads to", runs[e["tid"]][-1:][0][0], round(e["ts"] * 1000))
    elif e["ph"] == "n":
        alive += e["name"].endswith(" (still alive)")
    elif e["ph"] == "i" and e["name"] == "wake":
        wakes += bool(e["args"]) # else an arrow begins there
    elif e["ph"] == "i" and "certainty" in e["args"]:
        titles.append(e["name"])
for tid, spans in runs.items():
    open_until = []
    for begin, end in sorted(spans, key=lambda s: (s[0], -s[1])):
        while open_until and open_until[-1] <= begin:
            open_until.pop()
        if open_until and end > open_until[-1]:
            same(f"run on {tid}", (begin, end), f"up to {open_until[-1]}")
        open_until.append(end)
same("b without e", [number for number, n in halves.items() if n], [])
for number, ends in arrows.items():
    same(f"ends of the arrow {number}", [phase for _, phase in sorted(ends, key=lambda end: end[0])], ["s", "f"])
same("wakes", wakes + len(arrows), section["wakes"])
same("still alive", alive, section["alive"])
same("runs", {tid: len(spans) for tid, spans in runs.items()}, {th["tid"]: th["resumes"] for th in section["threads"] if th["resumes"]})
same("still waiting", waiting, sum(row["coroutines"] - row["runnable"] for row in section["waiting"]))
same("waits that go on, as frames", frames, still)
same("findings", sorted(titles), sorted([f["title"] for f in section["findings"]] + [s["title"] for s in section["suspects"]]))
sys.exit(failures > 0)
