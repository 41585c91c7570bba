#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""html-judge.py PAGE JSONL [PAGE'S SECTION] - whether a page of ctp-tohtml shows what ctp-tojsonl -a says, coroutine by coroutine

Follows the rules that ctp-tohtml.1 has for states, in its own words: which wakes change nothing, and so are not shown, is decided
here anew, and so is where events are missing: by a loss record, or by numbers that jump. The threads' gaps are those that the
stream records. Prints what differs; exit status 1 if anything does.
"""
import json
import sys

from htmlpage import read


class Life:
    def __init__(self, probe):
        self.probe, self.born, self.died, self.name, self.spawn, self.parent = probe, None, None, "", "", 0
        self.state, self.woken, self.events = "born", False, []
        self.due, self.in_gap, self.resumed, self.tid, self.called = 0, False, 0, None, False

    def lose(self, ts, count):
        """Whatever woke it since its last transition tells nothing."""
        self.events.append((ts, "lost", count))
        self.in_gap, self.woken, self.called = True, False, False
        if self.state == "runnable":
            self.state = "suspended" if any(e[1] == "suspend" for e in self.events) else "born"

    def step(self, rec):
        if rec["type"] == "transition" and self.state != "dead" and rec["index"] > self.due and not self.in_gap:
            self.lose(rec["ts"], rec["index"] - self.due)
        self.take(rec)
        if rec["type"] == "transition":
            self.due, self.in_gap = rec["index"] + 1, False

    def is_cause(self, rec):
        """Another thread's clock may be a little behind the one on which it was resumed by that."""
        return self.state == "running" and not self.called and rec["tid"] != self.tid and rec["ts"] - self.resumed <= 1000

    def take(self, rec):
        kind, ts = rec["type"], rec["ts"]
        if self.state == "dead":
            return
        if kind == "birth":
            self.born, self.parent, self.spawn = ts, rec["parent"], rec.get("site_text", "")
        elif kind == "death":
            self.died, self.state = ts, "dead"
        elif kind == "name":
            self.name = rec["name"]
        elif kind == "transition" and rec["is_active"]:
            self.events.append((ts, "resume", rec["tid"]))
            self.resumed, self.tid, self.called, self.state = ts, rec["tid"], self.state == "runnable", "running"
        elif kind == "transition":
            self.events.append((ts, "suspend", rec.get("site_text", "")))
            self.state, self.woken = "runnable" if self.woken else "suspended", False
        elif kind == "lost" and rec["index"] + rec["count"] > self.due:
            self.lose(ts, rec["count"])
        elif kind == "wake" and self.state != "runnable" and ts >= self.resumed and not self.is_cause(rec):
            self.events.append((ts, "wake", rec["by"]))
            if self.in_gap:
                return
            if self.state == "running":
                self.woken = True
            else:
                self.state = "runnable"
        elif kind == "await":
            self.events.append((ts, "await", rec["target"]))


def lives_of(path, section):
    """The coroutines, and the gaps of the threads: {tid: [(from, to, how many)]}."""
    lives, gaps, at = {}, {}, -1
    for line in open(path, encoding="utf-8"):
        rec = json.loads(line)
        at += rec["type"] == "@section"
        if at == section and rec.get("coro") and rec["type"][0] != "@":
            lives.setdefault(rec["coro"], Life(rec["probe_id"])).step(rec)
        if at == section and rec.get("transitions") and rec["ts"] > rec["after"]:
            gaps.setdefault(rec["tid"], []).append((rec["after"], rec["ts"], rec["transitions"]))
    return lives, gaps


def same(stream, page, own):
    """Except the waker: a coroutine that is woken right after it suspended, by no known coroutine, has woken itself."""
    return len(stream) == len(page) and all(a == b or a[:2] == b[:2] and a[1:] == ("wake", 0) and b[2] == own for a, b in zip(stream, page))


def differences(meta, rows, lives, gaps):
    t0 = int(meta["t0_ns"])
    told = {thread["tid"]: [(t0 + a, t0 + b, n) for a, b, n in thread["gaps"]] for thread in meta["threads"] if thread["gaps"]}
    if told != gaps:
        yield f"gaps of threads: page {told!r:.300}, stream {gaps!r:.300}"
    ids = [row["coro"] for row in rows]
    if sorted(ids) != sorted(lives):
        yield f"coroutines: {sorted(set(ids) ^ set(lives))}"
        return
    if [row["born"] for row in rows] != sorted(row["born"] for row in rows):
        yield "rows are not in the order of births"
    for row in rows:
        life = lives[row["coro"]]
        events = [(t0 + ns, what, (ids[arg] if arg is not None and arg >= 0 else 0) if what in ("wake", "await") else arg)
                  for ns, what, arg in row["events"]]
        told = dict(probe=row["probe"], born=t0 + row["born"], died=None if row["died"] is None else t0 + row["died"], name=row["name"],
                    spawn=row["spawn"], parent=0 if row["parent"] is None else ids[row["parent"]], events=events)
        for key, value in told.items():
            if value != getattr(life, key) and not (key == "events" and same(life.events, events, row["coro"])):
                yield f"coroutine {row['coro']}: {key}: page {value!r:.300}, stream {getattr(life, key)!r:.300}"


def main():
    with open(sys.argv[1], encoding="utf-8") as page:
        meta, rows = read(page.read())
    section = meta["section"]
    found = list(differences(meta, rows, *lives_of(sys.argv[2], section)))
    if len(sys.argv) > 3 and section != int(sys.argv[3]):
        found.append(f"the page shows section {section}")
    if meta["events"] != sum(len(row["events"]) for row in rows):
        found.append(f"{meta['events']} events, says the page")
    for text in found[:10]:
        print(text)
    sys.exit(bool(found))


main()
