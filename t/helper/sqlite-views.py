# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""sqlite-views.py make SEED [STEPS] | check DATABASE STREAM... - compares the views of ctp-sqlite with an independent computation, row by
row.

make prints a stream as JSON lines: coroutines that run, wait, are woken, wait for each other, die or never run, on a few threads,
with reused ids and missing events, recorded before or after what follows them or not at all. Its sections: one that is
complete, one without wakes, one that is not complete, one whose transitions have no number, and two of coroTracer's, without
identities: its slots count rounds, or events. Each has STEPS steps, 700 by default. check reads the streams of the database, and prints where a view differs, with status 1.
"""
import collections
import json
import random
import sqlite3
import sys

EARLY_NS = 1000  # a wake of another thread that is so little later than a resumption may be its cause


def schema(name, kind, *fields):
    print(json.dumps({"type": "@schema", "name": name, "kind": kind, "fields": [
        dict({"name": n, "type": t}, **({"role": r} if r else {})) for n, t, r in fields]}))


def put(kind, **fields):
    print(json.dumps(dict({"type": kind}, **fields)))


PLAIN = [("probe_id", "u64", "probe"), ("tid", "u64", "thread"), ("addr", "u64", "address"), ("seq", "u64", "sequence"),
         ("is_active", "bool", "state"), ("ts", "u64", "time")]
SITES = [{"file": "none.c", "line": 9, "function": "nowhere"}, {"file": "a.c", "line": 7, "function": "f"},
         {"file": "b.c", "line": 0, "function": "g"}, {"file": "c.c", "line": 3, "function": ""},
         {"file": "", "line": 0, "function": ""}]
WHO = [("ts", "u64", "time"), ("probe_id", "u64", "probe"), ("coro", "u64", "coroutine")]


def schemas(kind):
    numbered = [("index", "u64", "sequence")] if kind != "unnumbered" else []
    if kind in ("rounds", "events"):
        schema("transition", "transition", *PLAIN)
        schema("conflict", "conflict", *WHO[:2])
        return
    schema("transition", "transition", *PLAIN, ("coro", "u64", "coroutine"), *numbered, ("site", "u64", "site"))
    schema("birth", "birth", *WHO, ("parent", "u64", ""), ("site", "u64", "site"))
    schema("wake", "wake", *WHO, ("tid", "u64", "thread"), ("by", "u64", ""))
    schema("await", "await", *WHO, ("target", "u64", ""))
    schema("name", "name", *WHO, ("name", "string", "name"))
    schema("site", "site", ("ts", "u64", "time"), ("site", "u64", "site"), ("file", "string", ""), ("line", "u64", ""),
           ("function", "string", "name"))
    transitions = [("transitions", "u64", "count")] if kind != "quiet" else []  # as it was before threads had gaps
    schema("missed", "loss", ("ts", "u64", "time"), ("tid", "u64", "thread"), ("count", "u64", "count"), ("after", "u64", "time"),
           *transitions)
    schema("death", "death", *WHO, ("after", "u64", "time"))
    schema("conflict", "conflict", *WHO)
    schema("end", "end", ("ts", "u64", "time"), ("after", "u64", "time"))
    schema("lost", "loss", *WHO, *numbered, ("count", "u64", "count"), ("after", "u64", "time"))
    schema("thread", "thread", ("ts", "u64", "time"), ("tid", "u64", "thread"), ("name", "string", "name"))
    for site, place in enumerate(SITES):
        put("site", ts=5, site=site, file="old.c", line=1, function="")
        put("site", ts=6, site=site, **place)


class Maker:
    """One section of a stream, as it is printed."""

    def __init__(self, kind, rnd, steps):
        self.kind, self.rnd, self.steps, self.ts, self.coros = kind, rnd, steps, 1000, {}
        self.plain = kind in ("rounds", "events")

    def number(self, index):
        return {} if self.kind == "unnumbered" else {"index": index}

    def lost(self, c, index, count, after=None):
        put("lost", ts=self.ts, probe_id=c["probe"], coro=c["coro"], count=count, after=c["last"] if after is None else after,
            **self.number(index))

    def wake(self, c):
        if self.kind != "quiet":
            put("wake", ts=self.ts, probe_id=c["probe"], coro=c["coro"], tid=self.rnd.randrange(1, 4), by=self.rnd.randrange(4))

    def transition(self, c):
        rnd = self.rnd
        c["active"] = c["active"] if rnd.random() < 0.05 else not c["active"]
        if not self.plain and not c["active"] and rnd.random() < 0.3:
            put("await", ts=self.ts, probe_id=c["probe"], coro=c["coro"], target=rnd.randrange(33))
            self.ts += rnd.randrange(3)
        more = {} if self.plain else dict(coro=c["coro"], site=0 if c["active"] else rnd.randrange(6), **self.number(c["index"]))
        put("transition", probe_id=c["probe"], tid=rnd.randrange(1, 4), addr="0x%016x" % rnd.randrange(4096, 4100),
            seq=c["index"] + 1 if self.kind == "events" else 2 * (c["index"] // 8 + 1), is_active=c["active"], ts=self.ts, **more)
        c["index"] += 1
        c["last"] = self.ts

    def lose(self, c):
        """Events are missing here. Returns whether the transition after the gap is at its end."""
        rnd, count = self.rnd, self.rnd.randrange(1, 4)
        index, c["index"] = c["index"], c["index"] + count
        how = rnd.choice(["before", "after", "silent", "early", "twice", "open"])
        if rnd.random() < 0.7:
            self.wake(c)  # in the gap
            self.ts += rnd.randrange(30)
        if how == "silent" and self.kind != "unnumbered":
            self.transition(c)
        elif how == "after":
            after = c["last"]
            self.transition(c)
            self.lost(c, index, count, after)
        else:
            self.lost(c, index, count)
            self.ts += rnd.randrange(1, 20) if how in ("early", "twice") else 0
            if how == "twice":
                self.lost(c, c["index"], 2)
                c["index"] += 2
            if how != "open":
                self.transition(c)
            elif rnd.random() < 0.5:
                self.ts += rnd.randrange(20)
                self.die(c)
            elif rnd.random() < 0.5:
                c["dead"] = True  # as far as it is recorded

    def die(self, c):
        rnd = self.rnd
        put("death", ts=self.ts, probe_id=c["probe"], coro=c["coro"], after=rnd.choice([self.ts, self.ts - 20, c["last"] + 1, 0]))
        c["dead"] = True

    def at(self, *of_700):
        """Where these steps of 700 are in a section that has another number of them."""
        return [n * self.steps // 700 for n in of_700]

    def step(self, n):
        rnd, coro = self.rnd, self.rnd.randrange(1, 31)
        self.ts += rnd.randrange(50)
        if n in self.at(*range(97, 700, 97)):
            self.ts += 3000
        new = {"coro": coro, "probe": 100 + (coro if self.plain else coro % 7), "index": 0, "active": rnd.random() < 0.5,
               "last": self.ts, "dead": False}
        c = self.coros.setdefault(coro, new)
        if c["dead"]:
            return
        if self.plain:
            if rnd.random() < 0.04:
                c["index"] = 0  # another with its probe_id
            elif rnd.random() < 0.04:
                c["index"] += rnd.randrange(1, 20)
            elif rnd.random() < 0.04:
                c["index"] = max(0, c["index"] - rnd.randrange(1, 12))  # two coroutines write as it
            self.transition(c)
            if n in self.at(300, 500):
                put("conflict", ts=self.ts + 1, probe_id=c["probe"])
            return
        if c["index"] == 0 and coro != 28 and rnd.random() < 0.7 and "born" not in c:
            c["born"] = put("birth", ts=self.ts, probe_id=c["probe"], coro=coro, parent=rnd.randrange(3), site=rnd.randrange(6))
        if rnd.random() < 0.1:
            put("name", ts=self.ts, probe_id=c["probe"], coro=coro, name="name %d" % self.ts)
        if rnd.random() < 0.5:
            self.wake(c)
            self.ts += rnd.randrange(2)
        if n in self.at(*range(30, 700, 60)):
            self.miss(n)
        if n in self.at(250, 400):
            put("conflict", ts=self.ts, probe_id=c["probe"], coro=coro)
        if n in self.at(550) and self.kind != "cut":
            put("lost", ts=self.ts, probe_id=0, coro=0, count=2, after=1, **self.number(0))
        if coro > 27:
            if coro == 28 and rnd.random() < 0.5:
                self.lost(c, c["index"], 1)  # nothing else is known of it
                c["index"] += 1
            return  # never runs
        if rnd.random() < 0.06:
            self.lose(c)
        elif rnd.random() < 0.03:
            self.die(c)
        else:
            self.transition(c)

    def miss(self, n):
        """What a thread could not record, and the number of transitions, if known: overlapping gaps, and one of unknown threads."""
        for after in (self.ts - 150, self.ts - 70) if n in self.at(*range(30, 700, 120)) else (0,):
            more = {} if self.kind == "quiet" else {"transitions": self.rnd.randrange(3)}
            put("missed", ts=self.ts, tid=self.rnd.randrange(4), count=self.rnd.randrange(2) if n < self.at(600)[0] else 0, after=after, **more)

    def end(self):
        if not self.plain:
            for c in [c for c in self.coros.values() if c["index"] and not c["dead"] and c["coro"] < 28][:2]:
                self.lost(c, c["index"], 3)
            for tid in 1, 2:
                put("thread", ts=1, tid=tid, name="old")
                put("thread", ts=2, tid=tid, name="worker %d" % tid)
            put("conflict", ts=self.ts, probe_id=103, coro=3)
        if self.kind in ("complete", "quiet"):  # the program was last seen executing, or that is not known
            put("end", ts=self.ts + 5000, after=self.ts + 700 if self.kind == "complete" else 0)
        print(json.dumps({"type": "@end", "complete": self.kind != "cut"}))


def make(seed, steps=700):
    rnd = random.Random(seed)
    for kind in "complete", "quiet", "cut", "unnumbered", "rounds", "events":
        print(json.dumps({"type": "@section", "attrs": {"wall_offset_ns": "1700000000123456789"} if kind not in ("rounds", "events") else {}}))
        schemas(kind)
        m = Maker(kind, rnd, steps)
        for n in range(1, steps):
            m.step(n)
        m.end()


# --- the independent computation -----------------------------------------------------------------------------------------------

class Section:
    """The records of one section, by kind; and what follows from them for the whole section."""

    def __init__(self, number, attrs):
        self.id, self.complete, self.records = number, 0, collections.defaultdict(list)
        self.wall = int(attrs["wall_offset_ns"]) if "wall_offset_ns" in attrs else None

    def finish(self):
        events = [r["ts"] for kind in ("transition", "birth", "death", "wake") for r in self.records[kind]]
        self.end = max(events + [r["after"] or r["ts"] for r in self.records["end"]] or [None])
        for rows in self.records.values():
            rows.sort(key=lambda r: r["ts"])
        self.places = {s["site"]: s["file"] + (":%d" % s["line"] if s["line"] else "") + (":" + s["function"] if s["function"] else "")
                       for s in self.records["site"] if s["site"]}
        self.nobodys = [r for r in self.records["lost"] if r["coro"] == 0]
        self.threads = {t["tid"]: t["name"] for t in self.records["thread"]}
        self.lives = {}
        for kind in "transition", "birth", "death", "lost":
            for r in self.records[kind]:
                who = r.get("coro", "probe %d" % r["probe_id"])
                if who:
                    self.lives.setdefault(who, Life(self, who))
        for life in self.lives.values():
            life.finish()

    def place(self, site):
        return self.places.get(site) or None


def load(paths):
    sections, kinds = [], {}
    for path in paths:
        for line in open(path):
            r = json.loads(line)
            if r["type"] == "@section":
                sections.append(Section(len(sections) + 1, r["attrs"]))
                kinds = {}
            elif r["type"] == "@schema":
                kinds[r["name"]] = r
            elif r["type"] == "@end":
                sections[-1].complete = int(r["complete"])
            else:
                sections[-1].records[r["type"]].append(r)
    for s in sections:
        s.finish()
    return sections


class Life:
    """A coroutine: its transitions in order, and from each to the next what is known; and its gaps."""

    def __init__(self, section, who):
        self.section, self.who, self.plain = section, who, isinstance(who, str)
        self.coro = None if self.plain else who

    def mine(self, kind):
        if self.plain:
            return [r for r in self.section.records[kind] if "coro" not in r and "probe %d" % r["probe_id"] == self.who]
        return [r for r in self.section.records[kind] if r.get("coro") == self.who]

    def finish(self):
        self.events, self.losses = self.mine("transition"), self.mine("lost")
        self.numbered = all("index" in e for e in self.events + self.losses) and not self.plain
        if self.numbered:
            self.events.sort(key=lambda e: e["index"])
        self.birth = (self.mine("birth") or [None])[0]
        self.death = (self.mine("death") or [None])[-1]
        self.name = ([n["name"] for n in self.mine("name")] or [None])[-1]
        self.conflicts = [c["ts"] for c in self.mine("conflict")]
        known = self.birth["ts"] if self.birth else self.losses[0]["after"] or self.losses[0]["ts"] if self.losses else None
        self.begin = min(t for t in (known, self.events[0]["ts"] if self.events else None, *self.dead_at()) if t is not None)
        self.end = self.death["ts"] if self.death else self.section.end
        probes = [r["probe_id"] for r in self.events + [self.birth or {}] + self.losses + [self.death or {}] if "probe_id" in r]
        self.probe = str(probes[0])
        self.find_gaps()

    def dead_at(self):
        return [self.death["ts"]] if self.death and not self.birth and not self.losses and not self.events else []

    def find_gaps(self):
        """holes[i]: what is missing after transition i, -1 for before the first: None, or how many, or "other": another's."""
        self.mixed = [False] * len(self.events)  # after it, by the numbers, until another one begins
        self.since = [0] * len(self.events)      # when that one began; 0 for the first
        if self.plain:
            self.read_sequence()
            return
        self.holes = collections.OrderedDict()
        last = len(self.events) - 1
        for i in range(-1, last + 1):
            self.holes[i] = self.hole(i, last)
        times = [self.begin] + [e["ts"] for e in self.events] + [self.end]
        self.gaps = [(times[i + 1], max(times[i + 1:i + 3]), None if lost == "?" else lost)
                     for i, lost in self.holes.items() if lost and lost != "other"]

    def hole(self, i, last):
        e, after = self.events[i] if i >= 0 else None, self.events[i + 1] if i < last else None
        if self.numbered:
            index = e["index"] if e else -1
            if after:
                return after["index"] - index - 1 or None
            return sum(l["count"] for l in self.losses if l["index"] > index) or None
        between = [l for l in self.losses if (e is None or l["ts"] > e["ts"]) and (after is None or l["ts"] <= after["ts"])]
        return sum(l["count"] for l in between) or None

    def read_sequence(self):
        """What coroTracer's numbers tell, as lib/stream/sequence.h has it."""
        self.holes, self.gaps = collections.OrderedDict({i: None for i in range(-1, len(self.events))}), []
        rows, odd, mixed, since = 1, False, False, 0
        for i, (e, after) in enumerate(zip(self.events, self.events[1:])):
            was, seq, self.since[i] = e["seq"], after["seq"], since
            odd |= was % 2 == 1
            if seq == 1 or seq == 2 and was > 2 and not odd:
                self.holes[i], mixed, since = "other", False, after["ts"]
            else:
                mixed |= seq < was and after["ts"] > e["ts"] or seq == was and (odd or rows >= 8)
                if mixed or seq > was + 1 and not (was % 2 == 0 and seq == was + 2 and rows >= 8):
                    self.holes[i] = "?"
                    self.gaps.append((e["ts"], after["ts"], None))
            self.mixed[i], rows = mixed, rows + 1 if seq == was else 1
        self.mixed[-1], self.since[-1] = mixed, since

    def in_conflict(self, i, end):
        """Whether more than one had written as it when what began with transition i ended."""
        return self.mixed[i] or any(self.since[i] <= ts and (end is None or ts <= end) for ts in self.conflicts)

    def intervals(self):
        s = self.section
        for i, e in enumerate(self.events):
            after = self.events[i + 1] if i + 1 < len(self.events) else None
            missing, death = self.holes[i], None if after else self.death
            conflict = self.in_conflict(i, after["ts"] if after else death["ts"] if death else None)
            stop = None if missing or conflict else after["ts"] if after else max(death["after"], e["ts"]) if death else s.end
            certain = self.numbered and not missing and not self.conflicts
            if not after:
                certain = certain and s.complete and not any(l["ts"] > e["ts"] for l in s.nobodys)
            yield dict(e, section=s.id, coro=self.coro, probe_id=str(e["probe_id"]), index=e.get("index"), site=e.get("site"),
                       is_active=int(e["is_active"]), start_ns=e["ts"], stop_ns=stop, duration_ns=None if stop is None else stop - e["ts"],
                       death_ns=death and death["ts"], exact=int(not death or death["after"] >= death["ts"]), certain=int(bool(certain)),
                       open=0 if after or death else None if missing or conflict else 1, site_text=s.place(e.get("site")), i=i)

    def state(self):
        """At the end."""
        s, e = self.section, self.events[-1] if self.events else None
        missing = self.holes[len(self.events) - 1]
        state = "dead" if self.death else "unknown" if missing else "born" if not e else "running" if e["is_active"] else "suspended"
        ts = e["ts"] if e else self.begin
        since = self.death["ts"] if self.death else ts
        certain = not self.conflicts and (self.death or not missing and s.complete and self.numbered and
                                         not any(l["ts"] > ts for l in s.nobodys))
        return dict(section=s.id, coro=self.coro, probe_id=self.probe, tid=e and e["tid"], addr=e and e["addr"], state=state,
                    since_ns=since, for_ns=max(0, s.end - since), certain=int(bool(certain)), name=self.name,
                    site_text=s.place(e.get("site")) if state == "suspended" else None,
                    parent=self.birth and self.birth["parent"] or None, born_ns=self.birth and self.birth["ts"],
                    spawn_site_text=s.place(self.birth and self.birth["site"]),
                    unknown_ns=None if e and "index" not in e else self.unknown(), **self.woken(state, certain))

    def unknown(self):
        return sum(stop - start for start, stop, lost in self.gaps)

    def woken(self, state, certain):
        s, answer = self.section, dict(woken=None, woken_ns=None, woken_by=None)
        if state != "suspended" or self.plain:
            return answer
        e = self.events[-1]
        before = self.events[-2] if self.numbered and len(self.events) > 1 else None
        gap = self.holes[len(self.events) - 2] if self.numbered else None
        wakes = self.mine("wake")
        since = [w for w in wakes if w["ts"] >= e["ts"]]
        earlier = [w for w in wakes if w["ts"] < e["ts"] and (w["ts"] > before["ts"] if before else gap)]
        wake = ((earlier + since) or [None])[-1]
        ran = before and before["is_active"] and not gap
        if since or wake and ran and (wake["tid"] == before["tid"] or wake["ts"] > before["ts"] + EARLY_NS):
            return dict(woken=1, woken_ns=wake["ts"], woken_by=wake["by"] or None)
        missed = any(m["ts"] >= e["ts"] and m["count"] for m in s.records["missed"])
        if not wake and certain and not missed and s.records["wake"]:
            answer["woken"] = 0
        return answer

    def awaits(self):
        """What it waits for: recorded between the transition before the suspension and that."""
        s = self.section
        for i in self.intervals():
            before = self.events[i["i"] - 1] if i["i"] else None
            if i["is_active"] or not self.numbered or self.holes[i["i"] - 1]:
                continue
            told = [a for a in self.mine("await") if (before["ts"] if before else 0) <= a["ts"] <= i["ts"]]
            if told:
                target = s.lives.get(told[-1]["target"])
                name = [n["name"] for n in s.records["name"] if n["coro"] == told[-1]["target"]]
                yield dict(i, certain=int(i["certain"] and i["exact"]), name=self.name, target=told[-1]["target"],
                           target_name=(name or [None])[-1], target_state=target and target.state()["state"])


def wait_for(sections, awaits):
    """Which coroutine still waits for which, and the end of each chain; by walking from each to the next."""
    waits = {(a["section"], a["coro"]): a for a in awaits if a["open"] and a["target"] and not any(
        w["coro"] == a["coro"] and w["ts"] >= a["ts"] for w in sections[a["section"] - 1].records["wake"])}
    for (section, coro), a in waits.items():
        passed, at = [], coro
        while (section, at) in waits and at not in passed:
            passed.append(at)
            at = waits[section, at]["target"]
        round_about = at in passed
        s = sections[section - 1]
        name = [n["name"] for n in s.records["name"] if n["coro"] == at]
        birth = s.lives[coro].birth
        yield dict(section=section, coro=coro, probe_id=a["probe_id"], name=a["name"], awaits=a["target"], awaits_name=a["target_name"],
                   root=None if round_about else at, root_name=None if round_about else (name or [None])[-1],
                   depth=None if round_about else len(passed), since_ns=a["ts"], for_ns=a["duration_ns"], certain=a["certain"],
                   site_text=a["site_text"], spawn_site_text=s.place(birth and birth["site"]))


def union(spans):
    """What of the time is in any of them, as spans that are apart."""
    merged = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(stop, merged[-1][1])
        else:
            merged.append([start, stop])
    return merged


def length(spans):
    return sum(stop - start for start, stop in spans)


def thread_gaps(s):
    for m in s.records["missed"]:
        if m.get("transitions") and m["tid"]:
            seen = [e["ts"] for e in s.records["transition"] if e["tid"] == m["tid"]]
            start = min(m["after"] or (seen or [m["ts"]])[0], m["ts"])
            yield dict(section=s.id, tid=m["tid"], start_ns=start, stop_ns=m["ts"], duration_ns=m["ts"] - start, lost=m["transitions"])


def thread_times(s, runs):
    gaps = list(thread_gaps(s))
    lost, told = sum(l["count"] for l in s.records["lost"]), sum(m.get("transitions") or 0 for m in s.records["missed"])
    for tid in sorted({r["tid"] for r in runs} | {g["tid"] for g in gaps}):
        mine, holes = [r for r in runs if r["tid"] == tid], [g for g in gaps if g["tid"] == tid]
        whole = [r for r in mine if r["stop_ns"] is not None and (r["certain"] or not r["open"])]
        spans, unknown = [(r["start_ns"], r["stop_ns"]) for r in whole], [(g["start_ns"], g["stop_ns"]) for g in holes]
        times = [t for span in spans + unknown for t in span] + [r["start_ns"] for r in mine]
        yield dict(section=s.id, tid=tid, thread=s.threads.get(tid), first_ns=min(times), last_ns=max(times), runs=len(mine),
                   busy_ns=length(union(spans + unknown)) - length(union(unknown)), unknown_ns=length(union(unknown)),
                   gaps=len(holes), lost=sum(g["lost"] for g in holes), certain=int(s.complete and lost <= told),
                   uncertain=sum(not r["certain"] for r in mine))


def times(life, intervals):
    of = {state: [i for i in intervals if i["is_active"] == state] for state in (0, 1)}
    total = {state: sum(i["duration_ns"] or 0 for i in of[state]) for state in of}
    return dict(section=life.section.id, coro=life.coro, probe_id=life.probe if life.events or life.losses else None, name=life.name,
                begin_ns=life.begin, end_ns=life.end, runs=len(of[1]), running_ns=total[1], waits=len(of[0]), suspended_ns=total[0],
                gaps=len(life.gaps), unknown_ns=life.unknown(), lost=sum(lost or 0 for a, b, lost in life.gaps), uncertain=sum(not (i["certain"] and i["exact"]) for i in intervals))


def waits_at(waits, key):
    groups = collections.defaultdict(list)
    for w in waits:
        groups[w["section"], w[key]].append(w)
    for (section, value), w in groups.items():
        known = [x["duration_ns"] for x in w if x["duration_ns"] is not None]
        yield dict({key: value}, section=section, waits=len(w), total_ns=sum(known) if known else None, max_ns=max(known or [None]),
                   still_waiting=sum(x["open"] or 0 for x in w), uncertain=sum(not x["certain"] for x in w),
                   unknown=len(w) - len(known), addr_text=None, site_text=w[0]["site_text"])


def expect(sections):
    want = collections.defaultdict(list)
    for s in sections:
        for e in s.records["transition"]:
            ns = None if s.wall is None else e["ts"] + s.wall
            want["wall_times"].append(dict(e, section=s.id, probe_id=str(e["probe_id"]), is_active=int(e["is_active"]), wall_ns=ns, **{
                n: e.get(n) for n in ("coro", "index", "site")}, wall=None if ns is None else
                "2023-11-14T22:13:%02d.%09dZ" % (20 + ns // 10**9 - 1700000000, ns % 10**9)))
        runs = []
        for life in s.lives.values():
            mine = list(life.intervals())
            told = [dict(i, certain=int(i["certain"] and i["exact"])) for i in mine]
            want["intervals"] += mine
            want["wait_intervals"] += [i for i in told if not i["is_active"]]
            runs += [dict(i, thread=s.threads.get(i["tid"])) for i in told if i["is_active"]]
            want["coroutines"].append(dict(section=s.id, coro=life.coro, probe_id=life.probe if life.plain else None))
            want["coroutine_states"].append(life.state())
            want["coroutine_times"].append(times(life, mine))
            want["await_intervals"] += life.awaits()
            want["gaps"] += [dict(section=s.id, coro=life.coro, probe_id=life.probe, start_ns=start, stop_ns=stop,
                                  duration_ns=stop - start, lost=lost) for start, stop, lost in life.gaps]
        want["run_intervals"] += runs
        want["thread_gaps"] += thread_gaps(s)
        want["thread_times"] += thread_times(s, runs)
        want["loss_totals"].append(dict(
            section=s.id, complete=s.complete, lost=sum(l["count"] for l in s.records["lost"]), nobodys=sum(l["count"] for l in s.nobodys),
            gaps=sum(bool(lost) for life in s.lives.values() for a, b, lost in life.gaps), unknown_ns=sum(life.unknown() for life in s.lives.values()),
            of_threads=sum(m.get("transitions") or 0 for m in s.records["missed"]), missed=sum(m["count"] for m in s.records["missed"])))
    want["wait_for"] = list(wait_for(sections, want["await_intervals"]))
    want["thread_runs"] = want["run_intervals"]
    names = {(s.id, life.coro): life.name for s in sections for life in s.lives.values() if life.coro}
    want["longest_waits"] = [dict(w, name=names.get((w["section"], w["coro"])), what=None, object=None, object_name=None)
                             for w in want["wait_intervals"]]
    want["suspend_addresses"] = list(waits_at(want["wait_intervals"], "addr"))
    want["suspend_sites"] = list(waits_at(want["wait_intervals"], "site"))
    return want


def overlaps(sections, want):
    """Whether anything that has a duration lies in a gap of its coroutine, or of its thread."""
    for s in sections:
        for life in s.lives.values():
            for i in life.intervals():
                if i["stop_ns"] is not None and any(max(i["ts"], start) < min(i["stop_ns"], stop) for start, stop, lost in life.gaps):
                    yield "in a gap: %s" % i


def tried(sections, want):
    """What the streams must have had for this to be a test."""
    lives = [life for s in sections for life in s.lives.values()]
    numbered = [life for life in lives if life.numbered]
    return {
        "states": len({x["state"] for x in want["coroutine_states"]}) == 5,
        "certain": len({x["certain"] for x in want["intervals"]}) == 2,
        "open": len({x["open"] for x in want["intervals"]}) == 3,
        "woken": len({x["woken"] for x in want["coroutine_states"] if x["state"] == "suspended"}) == 3,
        "targets": {"running", "suspended", "dead", "unknown", None} <= {x["target_state"] for x in want["await_intervals"]},
        "who still waits for whom": want["wait_for"],
        "a gap before the first transition": any(life.holes[-1] and life.events for life in numbered),
        "a gap after the last": any(life.holes[len(life.events) - 1] and life.events and not life.death for life in numbered),
        "one that ends in a death": any(life.holes[len(life.events) - 1] and life.death for life in numbered),
        "one that is known by a loss alone": any(not life.events and not life.birth for life in numbered),
        "a gap that only the numbers tell": any(sum(lost for a, b, lost in life.gaps) > sum(l["count"] for l in life.losses)
                                                for life in numbered),
        "wakes in gaps": any(start < w["ts"] < stop for life in numbered for start, stop, lost in life.gaps for w in life.mine("wake")),
        "threads with gaps": any(g["duration_ns"] for g in want["thread_gaps"]),
        "busy threads with gaps": any(t["busy_ns"] and t["unknown_ns"] for t in want["thread_times"]),
        "conflicts in midst of a life": any(
            None in durations and any(durations) for durations in (
                [i["duration_ns"] for i in life.intervals() if not life.holes[i["i"]]] for life in numbered if life.conflicts)),
        "numbers of two": any(any(life.mixed) for life in lives),
        "one that begins after those": any(a and not b for life in lives for a, b in zip(life.mixed, life.mixed[1:])),
        "who begins again after one event": any(e["seq"] == after["seq"] == 1 for life in lives if life.plain
                                                for e, after in zip(life.events, life.events[1:])),
        "coroTracer's gaps": any(life.gaps for life in lives if life.plain),
    }


def check(path, streams, must):
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    sections = load(streams)
    want = expect(sections)
    wrong = list(overlaps(sections, want))
    for view, rows in want.items():
        got = [dict(r) for r in db.execute("SELECT * FROM " + view)]
        for r in got:
            r.pop("id", None)
        columns = got[0] if got else []
        key = lambda r: json.dumps({c: r[c] for c in columns}, sort_keys=True)
        want_keys, got_keys = collections.Counter(map(key, rows)), collections.Counter(map(key, got))
        wrong += ["%s lacks %s" % (view, k) for k in list(want_keys - got_keys)[:3]]
        wrong += ["%s has too much: %s" % (view, k) for k in list(got_keys - want_keys)[:3]]
        if len(rows) != len(got):
            wrong.append("%s has %d rows, not %d" % (view, len(got), len(rows)))
    for s in db.execute("SELECT id, end_ns FROM sections"):
        if s["end_ns"] != sections[s["id"] - 1].end:
            wrong.append("section %d ends at %s" % tuple(s))
    order = [r[0] for r in db.execute("SELECT duration_ns FROM longest_waits WHERE duration_ns IS NOT NULL")]
    if order != sorted(order, reverse=True):
        wrong.append("the longest waits are not in order")
    if must:
        wrong += ["not tried: " + what for what, yes in tried(sections, want).items() if not yes]
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if sys.argv[1] == "make":
    make(*map(int, sys.argv[2:]))
else:
    check(sys.argv[2], sys.argv[3:], sys.argv[1] == "check")
