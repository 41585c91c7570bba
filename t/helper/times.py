#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""times.py make|late|csv FILE|check ENGINE - times that do not fit into 63 bits, or are before 1970.

make prints JSON lines for ctp-fromjsonl: transitions with such times, whose thread is the number of the case; check reads the columns tid,
wall and wall_ns of wall_times, as TSV with `\\N` for NULL, and prints what is wrong. What an engine has no room for is NULL there.
late adds 2^63 to all times of such lines, but for the time of day; csv answers sql-same.py --once for a SQLite file.
"""
import csv
import datetime
import json
import sqlite3
import sys

LATE = 2**63
OFFSETS = (0, 5, -5, 1700000000123456789, -1700000000123456789, -10**18 - 1, -10**9, -10**9 + 1, 2**63 - 1, -2**63, -2**63 + 999999999)
TIMES = (0, 1, 4, 5, 6, 999999999, 10**9, 2**32 - 1, 2**32, 4 * 10**18 + 3, 2**63 - 2, 2**63 - 1, 2**63, 2**63 + 1, 2**63 + 10**18 + 7, 2**64 - 10**9, 2**64 - 1)
CASES = [(ts, offset) for offset in OFFSETS for ts in TIMES]
FIELDS = [("probe_id", "u64", "probe"), ("tid", "u64", "thread"), ("addr", "u64", "address"), ("seq", "u64", "sequence"),
          ("is_active", "bool", "state"), ("ts", "u64", "time"), ("coro", "u64", "coroutine"), ("index", "u64", "sequence")]


def fits(engine, ts):
    return engine != 'bigint' or ts < LATE


def make(engine='all'):
    for offset in OFFSETS:
        print(json.dumps({"type": "@section", "attrs": {"wall_offset_ns": str(offset)}}))
        print(json.dumps({"type": "@schema", "name": "transition", "kind": "transition", "fields": [{"name": n, "type": t, "role": r} for n, t, r in FIELDS]}))
        for ts in TIMES:
            if fits(engine, ts):
                print(json.dumps({"type": "transition", "probe_id": 1, "tid": CASES.index((ts, offset)), "addr": 0, "seq": 2, "is_active": True,
                                  "ts": ts, "coro": 1, "index": TIMES.index(ts)}))
        print(json.dumps({"type": "@end", "complete": True}))


def want(engine, ts, offset):
    seconds, fraction = divmod(ts + offset, 10**9)
    text = (datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)).isoformat() + f'.{fraction:09d}Z'
    number = str(ts + offset)
    if engine == 'clickhouse' and not 0 <= seconds < 2**32:
        text = r'\N'
    if engine in ('sqlite', 'clickhouse') and not -9223372036 <= seconds <= 9223372035:
        number = r'\N'
    if engine == 'bigint' and ts + offset >= LATE:
        text = number = r'\N'
    return text, number


def check(engine):
    rows = {int(tid): (wall, ns) for tid, wall, ns in (line.rstrip('\n').split('\t') for line in sys.stdin)}
    for n, (ts, offset) in enumerate(CASES):
        if fits(engine, ts) and rows.get(n) != want(engine, ts, offset):
            print(f'{ts} {offset:+}: {rows.get(n)}, not {want(engine, ts, offset)}')


def late():
    times = {}
    for row in map(json.loads, sys.stdin):
        if row["type"] == "@schema":
            times[row["name"]] = [f["name"] for f in row["fields"] if f.get("role") == "time"]
        attrs = row.get("attrs", {})
        for name, change in ("start_ns", LATE), ("wall_offset_ns", -LATE):
            if name in attrs:
                attrs[name] = str(int(attrs[name]) + change)
        for name in times.get(row["type"], ()):
            if row.get(name) or row["type"] == "death": # elsewhere a 0 is no time
                row[name] += LATE
        print(json.dumps(row))


def answer(path):
    db = sqlite3.connect(path)
    db.text_factory = lambda b: b.decode(errors='surrogateescape')
    out = csv.writer(sys.stdout)
    for query in sys.stdin.read().split('\0')[:-1]:
        cursor = db.execute(query)
        out.writerow(d[0] for d in cursor.description)
        out.writerows([r'\N' if v is None else v for v in row] for row in cursor)
        print(end='\0')


{'make': make, 'late': late, 'csv': answer, 'check': check}[sys.argv[1]](*sys.argv[2:])
