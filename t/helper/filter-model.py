#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""filter-model.py make SEED >ROWS.jsonl - random rows of all kinds, as `ctp-tojsonl -a` writes them.
filter-model.py options SEED - random options of ctp-filter for such rows, on one line.
filter-model.py check ALL.jsonl FILTERED.jsonl OPTION... - compares what ctp-filter wrote with a model of what it must write.

The rows follow no program: coroutines are reused after their death, numbers are missing, parents, wakers and sites may be
unknown. The model is written from ctp-filter(1). It reads all rows first, and asks for each one whether it is written and what
that needs. Rows are compared as sets, because a birth that is needed late is written late; that a site comes before its use is
checked on its own, and so is the order of a loss and the transition after it. It prints the differences, and then how many rows there were.
"""
import fnmatch
import json
import random
import sys
from collections import Counter, defaultdict


def field(name, role=None, **more):
    return {"name": name, "type": "u64", **({"role": role} if role else {}), **more}


TS, AFTER, PROBE, CORO = field("ts", "time", unit="ns"), field("after", "time", unit="ns"), field("probe_id", "probe"), field("coro", "coroutine")
TID, SITE, PID, OBJECT = field("tid", "thread"), field("site", "site"), field("pid", "process"), field("object", "address", hex=True)
WHAT = {"name": "for", "type": "enum", "labels": {"none": 0, "timer": 1, "descriptor": 2, "lock": 3, "permits": 4, "item": 5, "room": 6}}
OUTCOME = {"name": "outcome", "type": "enum", "labels": {"exited": 0, "killed": 1, "running": 2, "ended": 3}}
CLASSES = {
    "thread": ("thread", [TS, TID, PID, {"name": "name", "type": "string", "role": "name"}]),
    "mapping": ("mapping", [TS, PID, field("start", "address", hex=True), {"name": "path", "type": "string", "role": "name"}]),
    "site": ("site", [TS, SITE, {"name": "file", "type": "string"}, field("line"), {"name": "function", "type": "string", "role": "name"}]),
    "birth": ("birth", [TS, PROBE, CORO, AFTER, field("parent"), SITE, PID]),
    "death": ("death", [TS, PROBE, CORO, AFTER]),
    "transition": ("transition", [TS, PROBE, CORO, TID, {"name": "is_active", "type": "bool", "role": "state"}, field("index", "sequence"), SITE]),
    "row": ("transition", [TS, CORO, {"name": "on", "type": "bool", "role": "state"}]),  # without a number
    "wake": ("wake", [TS, PROBE, CORO, TID, field("by")]),
    "wake_for": ("cause", [TS, CORO, PID, OBJECT]),
    "name": ("name", [TS, PROBE, CORO, {"name": "name", "type": "string", "role": "name"}]),
    "function": ("function", [TS, CORO, field("code", "address", hex=True)]),
    "conflict": ("conflict", [TS, PROBE, CORO]),
    "await": ("await", [TS, CORO, field("target")]),
    "reason": ("reason", [TS, CORO, PID, WHAT, {"name": "fd", "type": "i32"}, OBJECT]),
    "hold": ("hold", [TS, CORO, PID, OBJECT, {"name": "count", "type": "i32", "role": "count"}]),
    "object": ("object", [TS, PID, OBJECT, WHAT, field("available", "count"), SITE, field("marks")]),
    "object_name": ("label", [TS, PID, OBJECT, {"name": "name", "type": "string", "role": "name"}]),
    "descriptor": ("descriptor", [TS, PID, {"name": "fd", "type": "i32"}, field("unread")]),
    "lost": ("loss", [TS, PROBE, CORO, field("index", "sequence"), field("count", "count"), field("unverified", "unverified"), AFTER]),
    "missed": ("loss", [TS, TID, field("count", "count"), AFTER, field("transitions", "count")]),
    "sample": ("sample", [TS, TID, PID]),
    "process": ("process", [TS, PID, field("threads", "count")]),
    "signal": ("signal", [TS, PID]),
    "untraced": ("untraced", [TS, field("count", "count")]),
    "note": ("other", [TS, {"name": "text", "type": "string"}]),
    "own note": ("other", [TS, CORO, TID, field("n")]),
    "end": ("end", [TS] + [field(n, "count") for n in ("events", "lost", "unverified", "untraced", "births", "deaths")] +
            [OUTCOME, {"name": "status", "type": "i32"}, AFTER, field("before", "time", unit="ns")]),
}
KIND = {name: kind for name, (kind, _) in CLASSES.items()} | {"left_out": "left_out"}
PIDS, TIDS, NAMES, FUNCTIONS = (700, 701), (11, 12, 13), ("client 1", "client 2", "server", ""), ("run", "serve", "step")
SOME = {"birth": 6, "transition": 30, "row": 2, "wake": 8, "death": 4, "lost": 3, "name": 4, "site": 3, "reason": 4, "object": 4, "own note": 2}


# --- random rows -----------------------------------------------------------------------------------------------------------


def random_value(rng, name, spec, state):
    role, key = spec.get("role"), spec["name"]
    if key == "after":
        return rng.choice((state["ts"], max(0, state["ts"] - rng.randrange(400)), 0))
    if key in ("coro", "parent", "by", "target"):
        return rng.choice((0, *range(1, 13), *range(1, 13)))
    if key == "index":
        return 0  # set later
    if key in ("site",):
        return rng.randrange(1, 9) if name == "site" else rng.randrange(9)
    if role == "process":
        return rng.choice((0, *PIDS, PIDS[0]))
    if role == "thread":
        return rng.choice(TIDS)
    if key == "object":
        return f"0x{rng.choice((0, 4096, 8192, 12288)):016x}"
    if key == "marks":
        return rng.choice((0, 0, 0, 1, 2, 4, 8))
    if key == "function":
        return rng.choice(FUNCTIONS)
    if key == "file":
        return rng.choice(("a.c", "src/b.cpp"))
    if spec["type"] == "string":
        return rng.choice(NAMES)
    if spec["type"] == "bool":
        return rng.random() < 0.5
    if spec["type"] == "enum":
        return rng.choice(list(spec["labels"]))
    return f"0x{rng.randrange(9):016x}" if spec.get("hex") else rng.randrange(4)


def make(seed):
    rng = random.Random(seed)
    put = lambda row: print(json.dumps(row, separators=(",", ":")))
    for section in range(rng.choice((1, 1, 2))):
        put({"type": "@section", "attrs": {"tool": "model", "host": f"host {section}", "pid": str(PIDS[0]), "argv": ["./server", "-v"]}})
        for name, (kind, fields) in CLASSES.items():
            put({"type": "@schema", "name": name, "kind": kind, "fields": fields})
        state, index = {"ts": 1000 + rng.randrange(1000)}, Counter()
        chosen = rng.sample(sorted(CLASSES), rng.randrange(10, len(CLASSES)))  # not all at once: few rows would be like a trace
        names = [name for name in CLASSES for _ in range(SOME.get(name, 1)) if name != "end" and (name in chosen or name in SOME)]
        for _ in range(rng.choice((30, 300))):
            name = rng.choice(names)
            state["ts"] += rng.choice((0, 1, 7, 20))
            row = {spec["name"]: random_value(rng, name, spec, state) for spec in CLASSES[name][1]}
            row["ts"] = state["ts"]
            if "index" in row:
                row["index"] = index[row["coro"]] = index[row["coro"]] + rng.choice((1, 1, 1, 1, 3))
            put({"type": name, **row})
        ended = rng.random() < 0.7
        if ended:
            ts = state["ts"] + rng.randrange(300)
            put({"type": "end", "ts": ts, "events": 7, "lost": 7, "unverified": 7, "untraced": 7, "births": 7, "deaths": 7,
                 "outcome": "exited", "status": 3, "after": ts - rng.randrange(100), "before": ts})
        put({"type": "@end", "complete": ended})


def random_options(seed):
    rng = random.Random(seed)
    options = []
    if rng.random() < 0.5:
        options += [f"--coro={','.join(str(rng.randrange(1, 13)) for _ in range(rng.choice((1, 3))))}"]
    if rng.random() < 0.3:
        options += [f"--spawn={rng.choice(('run', 'a.c', 'b.cpp:2', 's*'))}"]
    if rng.random() < 0.3:
        options += [f"--name={rng.choice(('client*', 'server'))}"]
    if rng.random() < 0.2:
        options += [f"--process={rng.choice(PIDS)}"]
    if options and rng.random() < 0.4:
        options += ["--descendants"]
    since = rng.choice((0, 0, 100, 500, 1500))
    if since:
        options += [f"--since={since}ns"]
    if rng.random() < 0.3:
        options += [f"--until={since + rng.choice((1, 300, 1000))}ns"]
    elif not since and rng.random() < 0.3:
        options += [f"--last={rng.choice((1, 100, 500, 9999))}ns"]
    if rng.random() < 0.15:
        options += [f"--thread={rng.choice(TIDS)}"]
    if rng.random() < 0.15:
        options += [f"--class={rng.choice(('transition', 'w*', 'own note'))}"]
    if rng.random() < 0.15:
        options += [f"--place={rng.choice(('run', 'a.c:*', 'step'))}"]
    if rng.random() < 0.15:
        options += [f"--state={rng.choice(('running', 'suspended'))}"]
    print(" ".join(option.replace(" ", "\\ ") for option in options))


# --- the model -------------------------------------------------------------------------------------------------------------


class Options:
    def __init__(self, words):
        self.given = defaultdict(list)
        for word in words:
            name, _, value = word.removeprefix("--").partition("=")
            self.given[name].append(value)
        numbers = lambda name: {int(n) for value in self.given[name] for n in value.split(",")}
        self.coros, self.processes, self.threads = numbers("coro"), numbers("process"), numbers("thread")
        self.since, self.until, self.last = (int(self.given[name][-1].removesuffix("ns")) if self.given[name] else 0
                                             for name in ("since", "until", "last"))
        self.descendants = "descendants" in self.given
        self.picks = any(self.given[name] for name in ("coro", "spawn", "name", "process", "descendants"))
        self.lazy = any(self.given[name] for name in ("thread", "class", "place", "state"))
        self.filters_events = self.lazy or any(self.given[name] for name in ("coro", "spawn", "name", "descendants"))
        self.by_birth = any(self.given[name] for name in ("spawn", "name", "process", "descendants"))
        self.any = self.picks or self.lazy or self.since or self.until or self.last


def matches_part(patterns, text):
    """A pattern is of the whole text, or of parts between colons or after a slash."""
    return any(fnmatch.fnmatchcase(text, before + pattern + after) for pattern in patterns for before in ("", "*[:/]") for after in ("", ":*"))


class Life:
    """A coroutine, from its first row to its death."""

    def __init__(self):
        self.chosen = self.fits = self.shown = self.told = self.at_place = False
        self.left = None  # the time of the first transition that is left out since the last that was written
        self.next = self.last = 0  # the number that is due, and the time of the last transition or birth
        self.held = []    # rows that are written when it is shown


ABOUT = ("birth", "name", "function", "conflict")


class Section:
    def __init__(self, options, rows, pid):
        self.o, self.rows, self.pid = options, rows, pid
        self.out, self.lives, self.sites, self.texts, self.things = [], {}, {}, {}, {}
        self.totals, self.samples_left, self.last = Counter(), False, 0
        self.errors, self.used_sites, self.since, self.unsure = [], set(), None, 0

    # what is written, and what it needs

    def write(self, row, kind=None):
        kind = kind or KIND[row["type"]]
        for key in ("site",):
            if kind != "site" and row.get(key) in self.sites:
                self.use_site(row[key])
        if kind in ("birth", "wake", "await"):
            self.show_other(row[{"birth": "parent", "wake": "by", "await": "target"}[kind]], row)
        if kind == "reason" and row["for"] == "descriptor":
            self.want((row["pid"], "fd", row["fd"]))
        elif kind in ("reason", "hold", "cause") and int(row["object"], 16):
            self.want((row["pid"], "object", row["object"]))
        self.totals["events"] += kind == "transition"
        self.totals["births"] += kind == "birth"
        self.totals["deaths"] += kind == "death"
        if row["type"] == "lost":
            self.totals["lost"] += row["count"]
            self.totals["unverified"] += row["unverified"]
        self.out.append(row)

    def use_site(self, number):
        if number not in self.used_sites:
            self.used_sites.add(number)
            self.out.append(self.sites[number])

    def take_site(self, row):
        number = row["site"]
        before = self.sites.get(number)
        if before and {**before, "ts": 0} == {**row, "ts": 0}:
            return
        if before:
            self.use_site(number)
        self.used_sites.discard(number)
        self.sites[number] = row

    def want(self, thing):
        held = self.things.get(thing)
        self.things[thing] = None  # wanted
        for row in held or ():
            self.write(row)

    def show_other(self, ident, row):
        life = self.lives.get(ident)
        if ident and life and not life.shown:
            self.show(ident, life, row["ts"])

    def show(self, ident, life, ts):
        if life.shown:
            return
        life.shown, held, life.held = True, life.held, []
        for row in held:
            if row["type"] == "lost" and self.is_before(row):
                self.leave_loss(life, row)
            else:
                self.write_of(ident, life, row)
        if held and not life.chosen:
            self.out.append({"type": "left_out", "ts": ts, "coro": ident, "after": 0})
            life.told = True

    def write_of(self, ident, life, row):
        kind = KIND[row["type"]]
        numbered = "index" in row and kind in ("transition", "loss")
        if life.left is not None and not life.told and not numbered and kind not in ABOUT:
            self.out.append({"type": "left_out", "ts": row["ts"], "coro": ident, "after": life.left})
            life.told = True
        if kind == "transition":
            life.left, life.told = None, False
        self.write(row)

    # what is held

    def hold(self, life, row):
        kind = KIND[row["type"]]
        keep = lambda drop: [r for r in life.held if KIND[r["type"]] not in drop]
        if kind in ABOUT or (kind == "loss" and self.o.lazy):
            life.held = keep((kind,)) + [row]
        elif self.o.lazy:
            self.leave(life, row)
        elif kind == "transition":
            for before in life.held:
                if KIND[before["type"]] == "transition":
                    self.leave(life, before)
            active = row.get("is_active", row.get("on"))
            life.held = keep(("transition", "loss") + (("wake", "cause", "await", "reason") if active else ())) + [row]
        elif kind == "reason":
            if sum(KIND[r["type"]] == "reason" for r in life.held) < 8:
                life.held.append(row)
        elif kind in ("loss", "wake", "cause", "await"):
            life.held = keep((kind,) + (("cause",) if kind == "wake" else ())) + [row]

    def is_before(self, row):
        """A loss that ended before the time that is asked for."""
        return KIND[row["type"]] == "loss" and self.since is not None and row["ts"] < self.since

    @staticmethod
    def leave_loss(life, row):
        if life.left is None and row["index"] >= life.next:  # else the transition after it is known
            life.left = row["after"] or row["ts"]

    @staticmethod
    def leave(life, row):
        if KIND[row["type"]] == "transition" and life.left is None:
            life.left = row["ts"]

    # which coroutines

    def place(self, row):
        return self.texts.get(row.get("site"), "") if row.get("site") else ""

    def fits(self, ident, birth):
        o, pid = self.o, (birth or {}).get("pid") or self.pid
        spawned = not o.given["spawn"] or (birth and matches_part(o.given["spawn"], self.place(birth)))
        return bool(spawned and (not o.coros or ident in o.coros) and (not o.processes or pid in o.processes))

    def life_of(self, ident):
        if ident not in self.lives:
            life = self.lives[ident] = Life()
            life.fits = self.fits(ident, None)
            life.chosen = life.fits and not self.o.given["name"]
        return self.lives[ident]

    def take_coro(self, row, ident, started):
        life, kind = self.life_of(ident), KIND[row["type"]]
        before = life.chosen
        if kind in ("transition", "birth"):
            life.last = max(life.last, row["ts"])
        if row["type"] == "transition":
            life.next = max(life.next, row["index"] + 1)
        if kind == "birth":
            life.fits = self.fits(ident, row)
            parent = self.lives.get(row["parent"])
            life.chosen |= (life.fits and not self.o.given["name"]) or bool(self.o.descendants and parent and parent.chosen)
            before = life.chosen
        if kind == "name" and life.fits and self.o.given["name"]:
            life.chosen |= any(fnmatch.fnmatchcase(row["name"], pattern) for pattern in self.o.given["name"])
        if not life.chosen:
            if life.shown and kind in (*ABOUT, "death"):
                self.write(row)
            elif kind in ABOUT or (life.fits and self.o.given["name"]):
                self.hold(life, row)
        else:
            if not before and life.shown:
                life.left, life.told = row["ts"], True
            self.take_chosen(row, ident, life, started)
        if kind == "death":
            life.held, life.shown, life.last = [], True, float("inf")
            if not (life.chosen and self.o.by_birth):
                del self.lives[ident]

    def is_selected(self, life, row):
        o, kind = self.o, KIND[row["type"]]
        active, place = row.get("is_active", row.get("on")), True
        if o.given["place"]:
            place = life.at_place
            if kind == "transition":
                life.at_place = not active and matches_part(o.given["place"], self.place(row)) and bool(self.place(row))
                place |= life.at_place
        thread = not o.threads or "tid" not in row or row["tid"] in o.threads
        state = not o.given["state"] or kind != "transition" or ("running" if active else "suspended") in o.given["state"]
        return self.wanted(row) and place and thread and state

    def wanted(self, row):
        return not self.o.given["class"] or any(fnmatch.fnmatchcase(row["type"], pattern) for pattern in self.o.given["class"])

    def take_chosen(self, row, ident, life, started):
        kind = KIND[row["type"]]
        about = kind in ABOUT or kind == "loss"
        selected = not about and kind != "death" and self.is_selected(life, row)  # also before the start: it notes the place
        if not started:
            self.hold(life, row)
        elif self.is_before(row):
            self.leave_loss(life, row)
        elif kind == "death":
            if life.shown or not self.o.lazy:
                self.show(ident, life, row["ts"])
                self.write_of(ident, life, row)
        elif about and self.o.lazy and not life.shown:
            self.hold(life, row)
        elif about or selected:
            self.show(ident, life, row["ts"])
            self.write_of(ident, life, row)
        else:
            self.leave(life, row)

    # other rows

    def take_plain(self, row, started):
        o, kind, pid = self.o, KIND[row["type"]], row.get("pid", 0)
        other = kind not in ("thread", "mapping", "process", "signal", "untraced", "loss", "object", "label", "descriptor")
        out = bool(pid and o.processes and pid not in o.processes)
        out |= kind != "loss" and bool(o.threads) and "tid" in row and row["tid"] not in o.threads
        out |= other and (not self.wanted(row) or not started)
        out |= o.picks and other and kind != "sample"
        if self.is_before(row):
            out = True
            self.unsure = max(self.unsure, row["ts"] if row["type"] == "lost" else 0)
        if kind == "sample":
            self.samples_left |= out
        if out:
            return
        if kind == "process":
            left, self.samples_left = self.samples_left, False
            if row["threads"] and not started:
                return
            if row["threads"] and left:
                row = {**row, "threads": 0}
        self.write(row)

    def take_thing(self, row, started):
        kind, pid = KIND[row["type"]], row["pid"]
        if pid and self.o.processes and pid not in self.o.processes:
            return
        if kind == "descriptor":
            if started and (pid, "fd", row["fd"]) in self.things:
                self.write(row)
            return
        thing, marks = (pid, "object", row["object"]), row.get("marks", 0)
        if marks & 8:
            self.things[thing] = []
        held = self.things.setdefault(thing, [])
        if held is None and started:
            self.write(row)
        elif held is not None:
            slot = self.slot(row)
            self.things[thing] = [r for r in held if self.slot(r) != slot] + [row]
        else:
            self.errors.append("wanted before it began")
        if marks & 4:
            del self.things[thing]

    @staticmethod
    def slot(row):
        marks = row.get("marks", 0)
        return ("label" if row["type"] == "object_name" else "made" if marks & 8 else "closed" if marks & 2 else
                "room" if row["for"] == "room" else "stock")

    def tell_left(self):
        for ident, life in self.lives.items():
            unsure = life.chosen and life.last < self.unsure
            if life.shown and (life.left is not None or unsure) and not life.told:
                after = life.left if life.left is not None else life.last
                self.out.append({"type": "left_out", "ts": self.last, "coro": ident, "after": after})
                life.told = True

    def run(self):
        o, first, end = self.o, None, None
        begin = max(0, max((row["ts"] for row in self.rows), default=0) - o.last) if o.last else 0
        started = not o.since and not begin
        for row in self.rows:
            kind, ts = KIND[row["type"]], row["ts"]
            self.last = max(self.last, ts)
            if kind == "site":
                self.texts[row["site"]] = ":".join([row["file"], *([str(row["line"])] if row["line"] else []),
                                                    *([row["function"]] if row["function"] else [])])
            if first is None and kind in ("transition", "wake", "birth", "death"):
                first = ts
            until = first + o.until if o.until and first is not None else float("inf")
            since = begin if o.last else first + o.since if first is not None else 0
            self.since = (since if first is not None else float("inf")) if o.since or begin else None
            if not started and first is not None and ts >= since:
                started = True
                if not o.lazy:
                    for ident, life in list(self.lives.items()):
                        if life.chosen and not life.shown and life.held:
                            self.show(ident, life, since)
            if kind == "end":
                end = row
                continue
            if (min(ts, row["after"]) if kind == "loss" else ts) > until:
                continue
            if kind == "site":
                self.take_site(row)
            elif row.get("coro"):
                self.take_coro(row, row["coro"], started)
            elif kind in ("object", "label", "descriptor") and (o.picks or o.lazy or o.since or begin):
                self.take_thing(row, started)
            else:
                self.take_plain(row, started)
        self.tell_left()
        if end:
            until = first + o.until if o.until and first is not None else float("inf")
            end = {**end, **{key: self.totals[key] for key in ("events", "lost", "unverified", "births", "deaths")}}
            if end["after"] > until:
                end |= {"outcome": "running", "status": 0}
            if end["after"] > until or end["ts"] > until:
                end |= {key: min(end[key], until) for key in ("after", "before", "ts")}
            self.out.append(end)
        return self.out


# --- the comparison --------------------------------------------------------------------------------------------------------


def read(path):
    """The sections: their attributes, and their rows without what is only shown."""
    sections = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["type"] == "@section":
                sections.append((row["attrs"], []))
            elif not row["type"].startswith("@"):
                sections[-1][1].append({key: value for key, value in row.items() if key not in ("late", "site_text", "code_text", "object_text")})
    return sections


def as_set(rows):
    return Counter(json.dumps(row, sort_keys=True) for row in rows)


def check_sites(rows, before):
    """A site comes before its use, if the trace had it."""
    known, had = set(), set()
    for row in before:
        if row["type"] == "site":
            had.add(row["site"])
        elif row.get("site") in had:
            row["had"] = True
    uses = {json.dumps({k: v for k, v in row.items() if k != "had"}, sort_keys=True) for row in before if row.get("had")}
    for row in rows:
        if row["type"] == "site":
            known.add(row["site"])
        elif row.get("site") and row["site"] not in known and json.dumps(row, sort_keys=True) in uses:
            yield f"site {row['site']} comes after its use, or not at all: {row}"


def check_jumps(rows, before):
    """At a transition before which numbers are missing, a reader knows already whether they are lost: the loss comes first."""
    due, at = Counter(), {json.dumps(row, sort_keys=True): n for n, row in enumerate(rows)}
    for row, loss in zip(before, before[1:]):
        if row["type"] != "transition" or not row["coro"]:
            continue
        jump, due[row["coro"]] = row["index"] > due[row["coro"]], row["index"] + 1
        places = [at.get(json.dumps(r, sort_keys=True)) for r in (row, loss)]
        if jump and KIND[loss["type"]] == "loss" and row["ts"] == loss["ts"] and None not in places and places[0] < places[1]:
            yield f"a loss comes after the transition that ends its gap: {loss}"


def check(whole, filtered, words):
    options, differences = Options(words), []
    say = differences.append
    all_sections, sections, rows_seen = read(whole), read(filtered), 0
    if len(all_sections) != len(sections):
        say(f"{len(sections)} sections of {len(all_sections)}")
    for (attrs, rows), (new_attrs, new_rows) in zip(all_sections, sections):
        rows_seen += len(new_rows)
        said = {"filtered": " ".join(word.replace("=", " ", 1) for word in words)} if options.any else {}
        first = next((row["ts"] for row in rows if KIND[row["type"]] in ("transition", "wake", "birth", "death")), None)
        if options.any and first is not None:
            said["first_event_ns"] = str(first)
            since = max(row["ts"] for row in rows) - options.last if options.last else first + options.since
            if options.since or (options.last and since > 0):
                said["filtered_since_ns"] = str(since)
        if options.filters_events:
            said["filtered_events"] = "yes"
        if new_attrs != {**said, **attrs}:
            say(f"attributes {new_attrs}, not {attrs}")
        model = Section(options, rows, int(attrs["pid"]))
        want = model.run() if options.any else rows
        for what, more in (("is missing", as_set(want) - as_set(new_rows)), ("is too much", as_set(new_rows) - as_set(want))):
            for text in more:
                say(f"{what}: {text}")
        differences.extend(model.errors)
        differences.extend(check_sites(new_rows, rows))
        differences.extend(check_jumps(new_rows, rows) if options.any else ())
    for text in differences:
        print(text)
    print(f"{rows_seen} rows, {len(differences)} differences")
    return 1 if differences else 0


def main():
    if sys.argv[1] == "make":
        make(int(sys.argv[2]))
    elif sys.argv[1] == "options":
        random_options(int(sys.argv[2]))
    else:
        return check(sys.argv[2], sys.argv[3], sys.argv[4:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
