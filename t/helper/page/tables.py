#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""tables.py ROWS.jsonl PAGE - whether the tables of a page of ctp-tohtml have what `ctp-tojsonl -a` says.

The tables are the CSV that node makes of them (tables.js). Here the same numbers come from the rows alone. Between two suspends or
resumes whose numbers follow each other nothing is missing, so the time between them has the state that ctp-tohtml.1 says; all
other time is unknown. Prints what differs; the status is 1 if anything does.
"""
import csv
import io
import json
import pathlib
import subprocess
import sys
from collections import defaultdict

HERE = pathlib.Path(__file__).resolve().parent
CLOCK_NS = 1000  # a wake that seems to come this long after its resume may have caused it


class Life:
    def __init__(self):
        self.born = self.died = self.parent = None
        self.name = self.spawn = ""
        self.steps, self.wakes, self.lost_to = [], [], 0  # steps: (ts, is_active, index, tid); wakes: those that count: (ts, by)
        self.runnable = self.woken = self.open_gap = self.called = False

    def transition(self, row):
        if self.died is not None:
            return
        if row["index"] > (self.steps[-1][2] + 1 if self.steps else 0):
            self.runnable = self.woken = False
        self.called = row["is_active"] and self.runnable
        self.runnable, self.woken = not row["is_active"] and self.woken, self.woken and row["is_active"]
        self.steps.append((row["ts"], row["is_active"], row["index"], row["tid"]))
        self.open_gap = False

    def lost(self, row):
        self.lost_to = max(self.lost_to, row["index"] + row["count"])
        if self.lost_to > (self.steps[-1][2] + 1 if self.steps else 0):
            self.runnable = self.woken = self.called = False
            self.open_gap = True

    def wake(self, row):
        runs = bool(self.steps) and self.steps[-1][1]
        last = max((ts for ts, active, *_ in self.steps if active), default=0)
        cause = runs and not self.called and row["tid"] != self.steps[-1][3] and row["ts"] - last <= CLOCK_NS
        if self.died is not None or self.runnable or row["ts"] < last or cause:
            return
        self.wakes.append((row["ts"], row["by"]))
        if not self.open_gap:
            self.woken, self.runnable = (True, False) if runs else (self.woken, True)

    def times(self, end):
        """The nanoseconds in each state."""
        spent = defaultdict(int)
        last = end if self.died is None else self.died
        ends = [*self.steps, (last, None, max(self.lost_to, self.steps[-1][2] + 1 if self.steps else 0), None)]
        before, active, index, ran = self.born, None, -1, False
        for ts, next_active, next_index, _ in ends:
            within = [at for at, _ in self.wakes if before <= at <= ts]
            if next_index != index + 1:
                spent["unknown"] += ts - before
                ran = False
            elif active:
                spent["running"] += ts - before
                ran = True  # wakes in this run count for the wait that follows
            else:
                woken = before if ran and self.woken_in(before) else min(within, default=ts)
                spent["waiting" if active is not None else "not started"] += woken - before
                spent["runnable"] += ts - woken
                ran = False
            before, active, index = ts, next_active, next_index
        return spent

    def woken_in(self, until):
        """Whether it was woken in the run that ended then."""
        start = max(ts for ts, active, *_ in self.steps if active and ts <= until)
        return any(start <= at <= until for at, _ in self.wakes)

    def state(self):
        if self.died is not None:
            return "ended"
        if self.lost_to > (self.steps[-1][2] + 1 if self.steps else 0):
            return "unknown"
        if self.runnable:
            return "runnable"
        return "not started" if not self.steps else "running" if self.steps[-1][1] else "suspended"


def waker(lives, last_ran, row):
    """If the row names none: a child of the woken coroutine that ran last on the thread and has ended."""
    child = lives.get(last_ran.get(row["tid"]))
    return last_ran[row["tid"]] if not row["by"] and child and child.died is not None and child.parent == row["coro"] else row["by"]


def lives_of(rows):
    lives, last_ran = defaultdict(Life), {}
    for row in rows:
        if row["type"] == "transition" and row["is_active"]:
            last_ran[row["tid"]] = row["coro"]
        elif row["type"] == "wake":
            row["by"] = waker(lives, last_ran, row)
        life = lives[row["coro"]] if row.get("coro") else None
        if life and row["type"] == "birth":
            life.born, life.parent, life.spawn = row["ts"], row["parent"], row.get("site_text", "")
        elif life and row["type"] == "death":
            life.died = row["ts"]
        elif life and row["type"] == "name":
            life.name = row["name"]
        elif life and row["type"] in ("transition", "lost", "wake"):
            getattr(life, row["type"])(row)
    return dict(lives)


def table(page, name):
    text = subprocess.run(["node", HERE / "tables.js", page, name], check=True, stdout=subprocess.PIPE).stdout.decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def coroutines(page, lives, end):
    shown = {int(row["id"]): row for row in table(page, "coroutines")}
    if sorted(shown) != sorted(lives):
        yield f"coroutines: {sorted(set(shown) ^ set(lives))}"
        return
    for coro, life in lives.items():
        spent = life.times(end)
        wanted = {"state": life.state(), "name": life.name, "spawn site": life.spawn,
                  "resumes": sum(step[1] for step in life.steps), "woken": len(life.wakes),
                  "alive (ns)": (end if life.died is None else life.died) - life.born}
        wanted.update({f"{state} (ns)": spent[state] for state in ("running", "runnable", "waiting", "unknown")})
        for key, value in wanted.items():
            if str(value) != shown[coro][key].replace("destroyed", "ended"):
                yield f"coroutine {coro}: {key}: {shown[coro][key]}, not {value}"


def wakes(page, lives, start):
    pairs = {}
    for coro, life in lives.items():
        for ts, by in life.wakes:
            by = by if by in lives else 0
            pair = (by, coro if by else 0)  # what no coroutine woke is one row
            count, first, last = pairs.get(pair, (0, ts, ts))
            pairs[pair] = (count + 1, min(first, ts), max(last, ts))
    woken = {coro for coro, life in lives.items() for _, by in life.wakes if by not in lives}
    if len(woken) == 1 and (0, 0) in pairs:
        pairs[0, woken.pop()] = pairs.pop((0, 0))
    shown = {}
    for row in table(page, "wakes"):
        times = [start + int(row[key]) for key in ("first (ns)", "last (ns)")]
        shown[int(row["waker id"] or 0), int(row["woken id"] or 0)] = (int(row["wakes"]), *times)
    for pair in sorted(set(pairs) | set(shown)):
        if pairs.get(pair) != shown.get(pair):
            yield f"wakes of {pair}: {shown.get(pair)}, not {pairs.get(pair)}"


def runs_of(lives, tid, end):
    """The runs on a thread in which nothing is missing: a death or the end of the trace ends one too."""
    for life in lives.values():
        last = (end if life.died is None else life.died, None, max(life.lost_to, life.steps[-1][2] + 1 if life.steps else 0))
        yield from ((step[0], after[0]) for step, after in zip(life.steps, [*life.steps[1:], last])
                    if step[1] and step[3] == tid and after[2] == step[2] + 1)


def threads(page, rows, lives, start, end):
    """Busy: the time in which at least one coroutine ran on it, without the thread's gaps."""
    resumes, last, gaps = defaultdict(int), {}, defaultdict(list)
    for row in rows:
        life = lives.get(row.get("coro"))
        if row["type"] == "transition":
            resumes[row["tid"]] += row["is_active"]
            last[row["tid"]] = row["ts"]
        elif row["type"] == "death" and life.steps and life.steps[-1][1]:
            last[life.steps[-1][3]] = row["ts"]
        elif row["type"] == "missed" and row["transitions"]:
            gaps[row["tid"]].append((row["after"], row["ts"]))
    for row in table(page, "threads"):
        tid = int(row["tid"])
        unknown = length(gaps[tid])
        wanted = {"resumes": resumes[tid], "last seen (ns)": last[tid] - start if tid in last else None, "unknown (ns)": unknown,
                  "busy (ns)": length([*gaps[tid], *runs_of(lives, tid, end)]) - unknown}
        yield from (f"thread {tid}: {key}: {row[key]}, not {value}" for key, value in wanted.items() if row[key] != str(value))


def length(spans):
    """Of the time that is in any of them."""
    total = reached = 0
    for start, stop in sorted(spans):
        total += max(0, stop - max(start, reached))
        reached = max(reached, stop)
    return total


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if not row["type"].startswith("@")]
    page = sys.argv[2]
    meta = json.loads(pathlib.Path(page).read_text(encoding="utf-8").split('id="ctp-meta">')[1].split("</script>")[0])
    part, lives = meta["parts"][meta["shown"]], lives_of(rows)
    start = int(part["t0_ns"])
    end = start + part["span_ns"]
    found = [*coroutines(page, lives, end), *wakes(page, lives, start), *threads(page, rows, lives, start, end)]
    print("\n".join(found[:40]))
    total = sum(len(life.wakes) for life in lives.values())
    print(f"{len(lives)} coroutines, {total} wakes, {len(found)} differences", file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
