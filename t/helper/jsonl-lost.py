#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""jsonl-lost.py BIN - are events that coroTracer's engine loses found, all of them, and only where they are missing?

Stations are written and looked at by chance, as that engine does it: slot by slot, and what has another number than the last time
is a row. So it is known which events have a row, and each row's place among all. Then, in what ctp-fromjsonl makes of the rows:
the losses of each probe are those that there were; and between two rows with nothing lost in front of the second, there was
nothing.
"""
import collections
import json
import random
import subprocess
import sys

BIN = sys.argv[1]
SLOTS = 8


class Station:
    def __init__(self, probe, counts):
        self.probe, self.counts, self.events = probe, counts, 0
        self.slots, self.seen = [(0, 0)] * SLOTS, [0] * SLOTS  # (seq, number of the event)

    def write(self):
        k, self.events = self.events, self.events + 1
        self.slots[(k + self.counts) % SLOTS] = (k + 1 if self.counts else 2 * (k // SLOTS + 1), k)


def trace(seed, counts, stations, events, hurry, even=False):
    """Rows of an engine, in the order of its file: (probe, number of the event, seq, ts). even: it passes odd numbers over."""
    rnd = random.Random(seed)
    them = [Station(1000 + i, counts) for i in range(stations)]
    ts_of, rows, now, ended = collections.defaultdict(dict), [], 10**9, 0
    while ended < 2:
        ended += all(s.events >= events for s in them)
        for s in them:
            for i in range(SLOTS):
                while rnd.random() < hurry:
                    other = s if rnd.random() < 0.8 else rnd.choice(them)
                    if other.events < events:
                        now += rnd.randrange(1, 50)
                        ts_of[other.probe][other.events] = now
                        other.write()
                    elif all(o.events >= events for o in them):
                        break
                seq, k = s.slots[i]
                if seq > s.seen[i] and not (even and seq % 2):
                    s.seen[i] = seq
                    rows.append((s.probe, k, seq, ts_of[s.probe][k]))
    return rows


def line(probe, k, seq, ts):
    addr, active = (0, "true") if k % 2 else (4096, "false")
    return f'{{"probe_id":{probe},"tid":7,"addr":"0x{addr:016x}","seq":{seq},"is_active":{active},"ts":{ts}}}\n'


def run(tool, data, *args):
    done = subprocess.run([f"{BIN}/{tool}", *args], input=data, capture_output=True, check=False)
    return done.stdout, done.returncode, done.stderr.decode()


def judge(name, rows, exact=True):
    """What is wrong, or an empty text."""
    text = "".join(line(*r) for r in rows).encode()
    stream, status, said = run("ctp-fromjsonl", text)
    last, have, number = collections.Counter(), collections.Counter(), {}
    for probe, k, _, ts in rows:
        last[probe] = max(last[probe], k + 1)
        have[probe] += 1
        number[probe, ts] = k
    truth = {p: last[p] - have[p] for p in last if last[p] != have[p]}
    if status != (3 if truth else 0):
        return f"status {status} where {sum(truth.values())} are missing: {said}"
    whole, _, _ = run("ctp-tojsonl", stream, "-a")
    lost, at, doubted, spans, wrong = collections.Counter(), {}, set(), 0, 0
    for r in map(json.loads, whole.splitlines()):
        if r["type"] == "lost":
            lost[r["probe_id"]] += r["count"]
            doubted.add((r["probe_id"], r["ts"]))
            if r["after"] != r["ts"] and at.get(r["probe_id"], (0, 0))[1] != r["after"]:
                return f"a gap that does not begin at the row before: {r}"
        elif r["type"] == "transition":
            probe, k = r["probe_id"], number[r["probe_id"], r["ts"]]
            before = at.get(probe, (-1, 0))[0]
            spans += 1
            wrong += (probe, r["ts"]) not in doubted and k != before + 1
            at[probe] = (k, r["ts"])
    if exact and lost != truth:
        return f"lost {lost}, but there were {truth}"
    if not exact and (sum(lost.values()) > sum(truth.values()) or not lost):
        return f"lost {lost} of {truth}"
    if wrong:
        return f"{wrong} of {spans} spans look whole and are not"
    plain, _, _ = run("ctp-tojsonl", stream)
    if plain.splitlines() != [line(*r).encode().rstrip() for r in sorted(rows, key=lambda r: r[3])]:
        return "the rows do not come back as they were"
    if run("ctp-tojsonl", run("ctp-fromjsonl", whole)[0], "-a")[0] != whole:
        return "the full form does not come back as it was"
    table, _, _ = run("ctp-tocsv", stream)
    again, status, said = run("ctp-fromcsv", table)
    if run("ctp-tojsonl", again, "-a")[0].count(b'"lost"') != whole.count(b'"lost"'):
        return f"as CSV it has other losses: {said}"
    stat = json.loads(run("ctp-stat", stream, "-j")[0])
    report = json.loads(run("ctp-report", stream, "-j")[0])
    if not stat["lost"] == sum(s["lost"] for s in report["sections"]) == sum(lost.values()):
        return f"ctp-stat counts {stat['lost']} lost, ctp-report {[s['lost'] for s in report['sections']]}"
    print(f"# {name}: {len(rows)} rows, {sum(truth.values())} lost, {len(doubted)} of {spans} spans not whole")
    return ""


def main():
    cases = []
    for seed, hurry in enumerate([0.05, 0.3, 0.5, 0.7, 0.8, 0.9]):
        for counts in (False, True):
            way = "events" if counts else "rounds"
            cases.append((f"numbers of {way}, {hurry}", trace(seed, counts, 6, 250, hurry), True))
    cases.append(("many stations", trace(1, False, 3000, 40, 0.7), True))
    cases.append(("an engine that passes odd numbers over", trace(2, True, 6, 200, 0.3, True), False))
    failed = 0
    for n, (name, rows, exact) in enumerate(cases, 1):
        wrong = judge(name, rows, exact)
        print(f"{'not ok' if wrong else 'ok'} {n} - {name}" + (f"\n# {wrong}" if wrong else ""))
        failed += bool(wrong)
    print(f"1..{len(cases)}")
    sys.exit(failed > 0)


main()
