# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""sql-growth.py make N - a trace in which everything grows with N: the rows of a coroutine, the coroutines, and all that is lost.

Of each of its sections half of the N transitions are of four coroutines, and the others of coroutines with ten: events with a number,
events without, and coroTracer's rows, without an identity. There are losses of coroutines, of threads and of unknown coroutines. One more section
loses nothing: N / 16 coroutines each hold a lock, and wait for that of another.

sql-growth.py sqlite|mariadb|postgres SMALL LARGE - counts what the engine does for each view of two databases, the second of four times
as many records, and prints those views for which it does more than n log n: the machine for SQLite's statements, rows that are read from
tables and indexes for MariaDB (SOCKET in the environment), rows of all nodes of the plan for PostgreSQL.

sql-growth.py time sqlite|mariadb|postgres NAME... - for t/bench/engines: the seconds that all views take in each database, and the view
whose time grows fastest from the first to the last, as the power of the records that it grows with: n log n is below 1.2 there.
"""
import json
import math
import os
import sqlite3
import subprocess
import sys
import time

WHO = [("ts", "u64", "time"), ("probe_id", "u64", "probe")]
STEP = [("probe_id", "u64", "probe"), ("tid", "u64", "thread"), ("addr", "u64", "address"), ("seq", "u64", "sequence"),
        ("is_active", "bool", "state"), ("ts", "u64", "time")]
HOT = 4


def schema(name, kind, *fields):
    print(json.dumps({"type": "@schema", "name": name, "kind": kind, "fields": [
        dict({"name": n, "type": t}, **({"role": r} if r else {}), **({"labels": {"lock": 3}} if t == "enum" else {})) for n, t, r in fields]}))


def put(kind, **fields):
    print(json.dumps(dict({"type": kind}, **fields)))


def schemas(numbered, known):
    coro = [("coro", "u64", "coroutine")] if known else []
    index = [("index", "u64", "sequence")] if numbered else []
    who = WHO + coro
    schema("transition", "transition", *STEP, *coro, *index, *([("site", "u64", "site")] if known else []))
    schema("lost", "loss", *who, *index, ("count", "u64", "count"), ("after", "u64", "time"))
    schema("missed", "loss", ("ts", "u64", "time"), ("tid", "u64", "thread"), ("count", "u64", "count"), ("after", "u64", "time"),
           ("transitions", "u64", "count"))
    schema("conflict", "conflict", *who)
    schema("birth", "birth", *who, ("parent", "u64", ""), ("site", "u64", "site"))
    schema("death", "death", *who, ("after", "u64", "time"))
    schema("thread", "thread", ("ts", "u64", "time"), ("tid", "u64", "thread"), ("name", "string", "name"))
    if known:
        schema("wake", "wake", *who, ("tid", "u64", "thread"), ("by", "u64", ""))
        schema("await", "await", *who, ("target", "u64", ""))
        schema("name", "name", *who, ("name", "string", "name"))
        schema("site", "site", ("ts", "u64", "time"), ("site", "u64", "site"), ("file", "string", ""), ("line", "u64", ""),
               ("function", "string", "name"))
        for site in range(1, 9):
            put("site", ts=site, site=site, file="a.c", line=site, function="f")


def section(n, numbered, known):
    print(json.dumps({"type": "@section", "attrs": {}}))
    schemas(numbered, known)
    ts, seq, index = 1000, {}, {}
    for i in range(n):
        hot = i % 2 == 0
        coro = 1 + i // 2 % HOT if hot else 1 + HOT + i // 80 * 4 + i // 2 % 4
        first = coro not in seq
        at = index.get(coro, 0)
        who = dict(probe_id=coro << 8, **({"coro": coro} if known else {}))
        number = (lambda v: {"index": v}) if numbered else (lambda v: {})
        ts += 10
        if first:
            put("birth", ts=ts, parent=0, site=1, **who)
            seq[coro] = 0
            for tid in (1 + coro % 8,) if coro <= 16 else ():
                put("thread", ts=ts, tid=tid, name="t")
        if known and (first or i % 100 < HOT * 2):
            put("name", ts=ts, name="n%d" % i, **who)
        active = at % 2 == 0
        if known and active and not first:
            put("wake", ts=ts + 1, tid=1 + i % 8, by=1 + i % HOT, **who)
        if known and not active:
            put("await", ts=ts + 1, target=1 + i % HOT, **who)
        if i % 20 < 2 * HOT and not first and i // 20 % 2:
            put("lost", ts=ts + 2, count=2, after=ts - 5, **number(at), **who)
            at += 2
            seq[coro] += 2
        put("transition", tid=1 + i % 8, addr="0x%016x" % (4096 + i % 7), seq=seq[coro] + 1, is_active=at % 2 == 0, ts=ts + 3, **number(at),
            **({"site": 1 + at % 8} if known else {}), **who)
        seq[coro] += 1
        index[coro] = at + 1
        if i % 50 == 49:
            put("lost", ts=ts + 4, count=1, after=ts, **number(0), **dict(who, probe_id=0, **({"coro": 0} if known else {})))
            put("missed", ts=ts + 4, tid=1 + i // 50 % 8, count=1, after=ts - 4 if i % 100 == 49 else 0, transitions=1)
        if i % 70 == 69:
            put("conflict", ts=ts + 5, **who)
        if not hot and i % 80 // 8 == 9 and i // 80 % 3:
            put("death", ts=ts + 5, after=ts + 4, **who)
    for i in range(n // 50):
        put("conflict", ts=ts + 5, **dict(who, probe_id=HOT << 8, **({"coro": HOT} if known else {})))
    print(json.dumps({"type": "@end", "complete": True}))


def locks(n):
    print(json.dumps({"type": "@section", "attrs": {}}))
    schemas(True, True)
    lock = [("pid", "u64", "process"), ("object", "u64", "address"), ("for", "enum", "")]
    who = WHO + [("coro", "u64", "coroutine")]
    schema("object", "object", WHO[0], *lock, ("available", "u64", "count"))
    schema("hold", "hold", *who, *lock[:2], ("count", "i64", "count"))
    schema("reason", "reason", *who, *lock, ("count", "u64", "count"))
    for co in range(1, n // 16 + 1):
        me, mine, other = dict(probe_id=co << 8, coro=co), "0x%x" % (co << 4), "0x%x" % ((co * 7 % (n // 16) + 1) << 4)
        put("name", ts=10 * co, name="n%d" % co, **me)
        put("object", ts=10 * co, pid=1, object=mine, available=1, **{"for": "lock"})
        for i in (0, 1):
            put("transition", tid=1, addr="0x1000", seq=i + 1, is_active=i == 0, ts=10 * co + 3 * i, index=i, site=i, **me)
            if i == 0:
                put("hold", ts=10 * co + 1, pid=1, object=mine, count=1, **me)
                put("reason", ts=10 * co + 2, pid=1, object=other, count=1, **{"for": "lock"}, **me)
    print(json.dumps({"type": "@end", "complete": True}))


def make(n):
    section(n, True, True)
    section(n, False, True)
    section(n, False, False)
    locks(n)


VIEWS = ("coroutines steps intervals gaps run_intervals wait_intervals longest_waits suspend_addresses suspend_sites await_intervals wait_for"
         " thread_runs thread_gaps thread_times coroutine_times coroutine_states loss_totals wall_times objects holders reasons").split()
TIMES, ALLOWED, FEW = 4, 6, 5000  # 4 log 4n / log n is below 6 for any n here; what is little does not count


def run(command, text):
    said = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    if said.returncode:
        sys.exit("%s: %s" % (command[0], said.stderr.decode(errors="replace").strip()))
    return said.stdout.decode()


def sqlite(path, view):
    db, steps = sqlite3.connect(path), [0]

    def count():
        steps[0] += 100

    db.set_progress_handler(count, 100)
    for _ in db.execute("SELECT * FROM " + view):
        pass
    return steps[0]


def mariadb(name, view):
    said = run(["mariadb", "--no-defaults", "--ssl=0", "-S", os.environ["SOCKET"], "-u", "root", "-N", "-B", "-D", name],
               "FLUSH STATUS; CREATE TEMPORARY TABLE got SELECT * FROM %s; SHOW STATUS LIKE 'Handler_read%%'" % view)
    return sum(int(line.split()[1]) for line in said.splitlines())


def rows(node):
    removed = sum(v for k, v in node.items() if k.startswith("Rows Removed"))
    return (node["Actual Rows"] + removed + 1) * node["Actual Loops"] + sum(map(rows, node.get("Plans", [])))


def postgres(name, view):
    said = run(["psql", "-X", "-A", "-t", "-d", name], "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT * FROM " + view)
    return rows(json.loads(said)[0]["Plan"])


def compare(work, small, large):
    for view in VIEWS:
        a, b = work(small, view), work(large, view)
        print("# %s: %d, %d" % (view, a, b), file=sys.stderr)
        if b > FEW and b > ALLOWED * a:
            print("%s: %d, and %d of %d times as many records" % (view, a, b, TIMES))


def seconds(work, name, view):
    best = math.inf
    for _ in range(3):
        began = time.monotonic()
        work(name, view)
        best = min(best, time.monotonic() - began)
    return best


def growth(engine, names):
    took = {view: [seconds(ENGINES[engine], name, view) for name in names] for view in VIEWS}
    for i, name in enumerate(names):
        print("%s_views_%d" % (engine, i + 1), sum(t[i] for t in took.values()))
    times = TIMES ** (len(names) - 1)
    power = {view: math.log(t[-1] / t[0], times) for view, t in took.items()}
    worst = max(power, key=power.get)
    print("# %s: %s takes %s s" % (engine, worst, ", ".join("%.3f" % t for t in took[worst])), file=sys.stderr)
    print("%s_growth" % engine, power[worst])


ENGINES = {"sqlite": sqlite, "mariadb": mariadb, "postgres": postgres}
if sys.argv[1] == "make":
    make(int(sys.argv[2]))
elif sys.argv[1] == "time":
    growth(sys.argv[2], sys.argv[3:])
else:
    compare(ENGINES[sys.argv[1]], *sys.argv[2:])
