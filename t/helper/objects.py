#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""objects.py make SEED >ROWS.jsonl - a trace of a simulated program with locks, pools and queues, as `ctp-tojsonl -a`
would write it. Its threads write through rings that lose records now and then.
objects.py know ROWS.jsonl - the known state of each object at the end, by those rows, as JSON.
objects.py sqlite ROWS.jsonl REPORT.json DATABASE - how ctp-sqlite's views objects, holders and reasons differ from that, and from
ctp-report's objects; then how many rows were compared.
objects.py holds SEED DATABASE - how ctp-sqlite's view hold_intervals differs from what that program really held: what is certain must be
true, and if no record is lost, all must be there.

The known state is computed from the rows alone, by the definition in ctp-report(1): after a row `missed` with a count, nothing is
known of what is available and of its holders; the next row with an available count is believed; the holders are known
again when all of it is available, which is 1 for a lock, and else what it had at first. A coroutine that gives back what it did not
have shows that records are missing, and then the holders are unknown, too.
"""
import json
import random
import sqlite3
import sys

from gaps import AFTER, CLASSES, CORO, PID, PROBE, Ring, START, TS, field

MARKS = {"none": 0, "shared": 1, "timed": 2, "cancellable": 4, "rests": 8}
OBJECT_MARKS = {"none": 0, "owned": 1, "closed": 2, "gone": 4, "made": 8, "owned made": 9}
KINDS = {"none": 0, "timer": 1, "descriptor": 2, "lock": 3, "permits": 4, "item": 5, "room": 6, "event": 7, "barrier": 8, "other": 9}
AT, PROCESS = field("object", "address", hex=True), field("pid", "process")
FOR = {"name": "for", "type": "enum", "labels": KINDS}
FACTS = {
    "reason": ("reason", [TS, PROBE, CORO, PROCESS, FOR, field("deadline", "time", unit="ns"), {"name": "fd", "type": "i32"}, AT,
                          field("count", "count"), {"name": "marks", "type": "enum", "labels": MARKS}]),
    "object": ("object", [TS, PROCESS, AT, FOR, field("available", "count"), field("site", "site"),
                          {"name": "marks", "type": "enum", "labels": OBJECT_MARKS}]),
    "object_name": ("label", [TS, PROCESS, AT, {"name": "name", "type": "string", "role": "name"}]),
    "hold": ("hold", [TS, PROBE, CORO, PROCESS, AT, {"name": "count", "type": "i32", "role": "count"}, field("site", "site")]),
}
THREADS, COROUTINES, OBJECTS, STEPS = 3, 14, 6, 4000


class Object:
    def __init__(self, at, kind, total):
        self.at, self.kind, self.total, self.free, self.held = at, kind, total, total, {}


class Program:
    def __init__(self, seed):
        self.random, self.now = random.Random(seed), START
        self.rings = [Ring(101 + i) for i in range(THREADS)]
        self.rows, self.objects, self.truth = [], {}, []
        self.index = {co: 0 for co in range(1, COROUTINES + 1)}
        self.runs = {co: False for co in self.index}

    def put(self, row):
        """By any thread; True: it was not lost."""
        self.now += self.random.randint(1, 9000)
        ring = self.random.choice(self.rings)
        if self.random.random() < 0.0007:
            ring.full_until = self.now + self.random.randint(10_000, 400_000)
        return ring.put(self.now, {"type": row.pop("type"), "ts": self.now, **row})

    def ident(self, co):
        return {"probe_id": 9000 + co, "coro": co}

    def tell(self, ob, kind, available, marks="none"):
        self.put({"type": "object", "pid": PID, "object": hex(ob.at), "for": kind, "available": available, "site": 0, "marks": marks})

    def hold(self, co, ob, n):
        ob.held[co] = ob.held.get(co, 0) + n
        if not ob.held[co]:
            del ob.held[co]
        self.put({"type": "hold", **self.ident(co), "pid": PID, "object": hex(ob.at), "count": n, "site": 0})
        self.truth.append((self.now, ob.at, co, n))

    def transition(self, co, active):
        """Always recorded: losses of coroutines are tested by gaps.py."""
        self.now += 1
        self.rows.append({"type": "transition", "probe_id": 9000 + co, "tid": 101, "addr": "0x0", "seq": self.index[co] + 1,
                          "is_active": active, "ts": self.now, "coro": co, "index": self.index[co], "site": 0 if active else 2})
        self.index[co] += 1
        self.runs[co] = active

    def waits(self, co, ob, kind, n):
        if not self.runs[co]:
            self.transition(co, True)
        for _ in range(self.random.choice((1, 1, 1, 2, 5))):
            self.put({"type": "reason", **self.ident(co), "pid": PID, "for": kind, "deadline": 0, "fd": -1, "object": hex(ob.at),
                      "count": n, "marks": "none"})
        self.transition(co, False)

    def new(self, at):
        kind = self.random.choice(("lock", "permits", "item"))
        ob = self.objects[at] = Object(at, kind, {"lock": 1, "permits": self.random.randint(2, 7), "item": 0}[kind])
        if self.random.random() < 0.8: # else it is known from its first use on
            self.tell(ob, kind, ob.free, "made")
            if self.random.random() < 0.5:
                self.put({"type": "object_name", "pid": PID, "object": hex(at), "name": f"thing {at:x}"})

    def step(self):
        pick = self.random
        at = 0x1000 * pick.randint(1, OBJECTS)
        ob, co = self.objects.get(at), pick.randint(1, COROUTINES)
        if not ob:
            self.new(at)
        elif pick.random() < 0.01 and not ob.held:
            self.tell(ob, "none", 0, "gone")
            del self.objects[at]
        elif pick.random() < 0.01:
            self.tell(ob, "none", 0, "closed")
        elif ob.kind == "item":
            if pick.random() < 0.4:
                self.waits(co, ob, "item", 1)
            else:
                ob.free = pick.randint(0, 5)
                self.tell(ob, "item", ob.free)
                if pick.random() < 0.5:
                    self.tell(ob, "room", 5 - ob.free)
        elif co in ob.held and pick.random() < 0.6:
            n = pick.randint(1, ob.held[co])
            self.hold(co, ob, -n)
            ob.free += n
            self.tell(ob, ob.kind, ob.free)
        elif ob.free and pick.random() < 0.7:
            n = pick.randint(1, ob.free)
            ob.free -= n
            self.hold(co, ob, n)
            if not ob.free:
                self.tell(ob, ob.kind, 0)
        else:
            self.waits(co, ob, ob.kind, 1)

    def all_rows(self):
        for co in self.index:
            self.now += 1
            self.rows.append({"type": "birth", "ts": self.now, **self.ident(co), "station": co, "after": self.now, "before": self.now,
                              "parent": 0, "site": 1, "pid": PID})
        for _ in range(STEPS):
            self.step()
        for ring in self.rings:
            ring.close(self.now)
        rows = self.rows + [row for ring in self.rings for row in ring.told]
        return sorted(rows, key=lambda row: row["ts"]), self.now + 1000


def make(seed):
    put = lambda row: print(json.dumps(row, separators=(",", ":")))
    rows, end = Program(seed).all_rows()
    put({"type": "@section", "attrs": {"tool": "objects", "pid": str(PID), "clock": "monotonic", "start_ns": str(START)}})
    for name, (kind, fields) in {**CLASSES, **FACTS}.items():
        put({"type": "@schema", "name": name, "kind": kind, "fields": fields})
    put({"type": "site", "ts": START, "site": 2, "file": "made-up.c", "line": 2, "function": "f"})
    for row in rows:
        put(row)
    put({"type": "end", "ts": end, "events": 0, "lost": 0, "unverified": 0, "untraced": 0, "births": COROUTINES, "deaths": 0,
         "outcome": "exited", "status": 0})
    put({"type": "@end", "complete": True})


# --- what is known ----------------------------------------------------------------------------------------------------------------

class Known:
    def __init__(self, nothing_missed):
        self.available = self.room = None
        self.total, self.all, self.closed, self.name, self.kind = 0, None, False, None, None
        self.holders = {} if nothing_missed else None

    def most(self):
        self.total = max(self.total, self.available or 0, sum(self.holders.values()) if self.holders else 0)


def know(path):
    objects, missed = {}, False
    expected, reasons, waits = {}, {}, {}
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        at, kind = row.get("object"), row["type"]
        if kind == "missed" and row["count"]:
            missed = True
            for ob in objects.values():
                ob.available = ob.room = ob.holders = None
        elif kind == "object":
            if row["marks"] == "made":
                objects[at] = Known(True)
            ob = objects.setdefault(at, Known(not missed))
            ob.closed |= row["marks"] == "closed"
            if row["for"] == "room":
                ob.room, ob.kind = row["available"], ob.kind or "room"
            elif row["for"] != "none":
                ob.available, ob.kind = row["available"], ob.kind or row["for"]
                if row["marks"] == "made" or row["for"] == "lock":
                    ob.all = 1 if row["for"] == "lock" else row["available"]
                if ob.holders is None and ob.all and ob.available >= ob.all:
                    ob.holders = {}
                ob.most()
            if row["marks"] == "gone":
                del objects[at]
        elif kind == "object_name":
            objects.setdefault(at, Known(not missed)).name = row["name"]
        elif kind == "hold":
            ob = objects.setdefault(at, Known(not missed))
            if ob.holders is not None:
                co = str(row["coro"])
                ob.holders[co] = ob.holders.get(co, 0) + row["count"]
                if not ob.holders[co]:
                    del ob.holders[co]
                if ob.holders.get(co, 0) < 0:
                    ob.holders = None
                ob.most()
        elif kind == "reason":
            reasons.setdefault(row["coro"], []).append(row)
        elif kind == "transition":
            said = [] if row["is_active"] else reasons.get(row["coro"], [])
            waits[row["coro"]] = [r["object"] for r in said] if len(said) <= 4 else [] # of five, not all are kept
            reasons[row["coro"]] = []
    waiting = [at for of in waits.values() for at in of]
    return {at: {"available": ob.available, "room": ob.room, "total": ob.total or None, "closed": ob.closed, "name": ob.name,
                 "holders": ob.holders, "waiters": waiting.count(at)} for at, ob in objects.items()}


def know_reasons(path):
    """Of each wait that goes on: coro, since, what, object, how many, whether there are more, whether nothing can be missing of it."""
    reasons, waits, resumed, missed = {}, {}, {}, 0
    with open(path, encoding="utf-8") as file:
        for row in map(json.loads, file):
            co = row.get("coro")
            if row["type"] == "missed" and row["count"]:
                missed = row["ts"]
            elif row["type"] == "reason":
                reasons.setdefault(co, []).append(row)
            elif row["type"] == "transition":
                said, reasons[co] = reasons.get(co, []), []
                waits[co] = (row["ts"], [] if row["is_active"] else said)
                if row["is_active"]:
                    resumed[co] = row["ts"]
    return sorted([co, since, r["for"], int(r["object"], 16), r["count"], len(said) > 4, not missed or missed < resumed[co]]
                  for co, (since, said) in waits.items() for r in said[:4])


# --- what a database has ----------------------------------------------------------------------------------------------------------

def check(what, got, want):
    if got != want:
        print(f"{what}: {got} and not {want}")


def select(db, query):
    return [dict(row) for row in db.execute(query)]


def check_objects(db, known, report):
    rows = {int(row["object"], 16): row for row in select(db, "SELECT * FROM objects")}
    check("objects", sorted(rows), sorted(known))
    for at, row in rows.items():
        is_so, held = known.get(at, {}), known.get(at, {}).get("holders")
        for what in ("available", "room", "total", "closed", "name", "waiters"):
            check(f"{at:#x}: {what}", row[what], is_so.get(what))
        check(f"{at:#x}: holders", (row["holders"], row["held"]), (None, None) if held is None else (len(held), sum(held.values())))
    for ob in report:
        if ob["destroyed_ns"] is not None:
            continue # the tables have only those that are there
        for what in ("kind", "pid", "made_site", "owned", "longest_ns"):
            check(f"{ob['object']}: {what}", rows[int(ob["object"], 16)][what], ob[what])
    return len(rows)


def check_holders(db, known):
    held = [(at, int(co), n) for at, ob in known.items() for co, n in (ob["holders"] or {}).items()]
    rows = select(db, "SELECT * FROM holders")
    check("holders", sorted((int(row["object"], 16), row["coro"], row["count"]) for row in rows), sorted(held))
    for row in rows:
        check("what is held", row["object_name"], known[int(row["object"], 16)]["name"])
        check("the holder", (row["alive"], row["probe_id"]), (1, str(9000 + row["coro"])))
    return len(rows)


def check_reasons(db, reasons, known):
    rows = select(db, "SELECT * FROM reasons")
    got = [[row["coro"], row["since_ns"], row["what"], int(row["object"], 16), row["count"], bool(row["more"]), bool(row["certain"])]
           for row in rows]
    check("reasons", sorted(got), reasons)
    for row in rows:
        check("what is waited for", row["object_name"], known.get(int(row["object"], 16), {}).get("name"))
        check("where", row["site_text"], "made-up.c:2:f")
    return len(rows)


def check_sqlite(path, report, database):
    db = sqlite3.connect(database)
    db.row_factory = sqlite3.Row
    known = {int(at, 16): ob for at, ob in know(path).items()}
    with open(report, encoding="utf-8") as file:
        said = json.load(file)["sections"][0]["objects"]
    print(check_objects(db, known, said), check_holders(db, known), check_reasons(db, know_reasons(path), known))


def true_holds(program):
    """The object, coroutine, begin, end and highest count of each; no end: it goes on."""
    held, over = {}, []
    for ts, at, co, n in program.truth:
        begin, count, most = held.pop((at, co), (ts, 0, 0))
        if count + n:
            held[at, co] = begin, count + n, max(most, count + n)
        else:
            over.append((at, co, begin, ts, most))
    return over, [(at, co, begin, None, most) for (at, co), (begin, _, most) in held.items()]


def check_holds(seed, database):
    program = Program(int(seed))
    rows, _ = program.all_rows()
    over, going_on = true_holds(program)
    db = sqlite3.connect(database)
    got = [((int(at, 16), co, begin, None if is_open else end, most), certain) for at, co, begin, end, most, is_open, certain in db.execute(
        "SELECT object, coro, start_ns, stop_ns, count, open, certain FROM hold_intervals")]
    check("certain holds that are not true", sorted(hold for hold, certain in got if certain and hold not in over + going_on), [])
    if not any(row["type"] == "missed" and row["count"] for row in rows):
        check("holds", sorted(hold for hold, _ in got if hold[3]), sorted(over))
        check("holds that go on", sorted(hold[:3] for hold, _ in got if not hold[3]), sorted(hold[:3] for hold in going_on))
    check("whether there are certain holds", any(certain for _, certain in got), True)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]))
    elif sys.argv[1] == "sqlite":
        check_sqlite(*sys.argv[2:])
    elif sys.argv[1] == "holds":
        check_holds(*sys.argv[2:])
    else:
        json.dump(know(sys.argv[2]), sys.stdout, indent=1, sort_keys=True)
