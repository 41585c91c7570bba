#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""nested.py [SEED [SLOW]] - a made-up trace as JSON lines: listeners spawn connections, these spawn queries and await them.

SLOW multiplies how long a query waits for the disk. What runs is decided by the seed alone.
"""
import json
import random
import sys

SITES = [("main.cpp", 12, "main"), ("server.cpp", 35, "listen"), ("server.cpp", 48, "accept"),
         ("conn.cpp", 90, "serve(request const&)"), ("conn.cpp", 112, "parse"), ("db.cpp", 40, "query"),
         ("db.cpp", 61, "lock_pool"), ("db.cpp", 77, "read_disk"), ("cache.cpp", 22, "lookup")]
MAIN, LISTEN, ACCEPT, SERVE, PARSE, QUERY, LOCK, DISK, CACHE = range(1, 10)


class Trace:
    def __init__(self, seed, slow):
        self.random, self.slow, self.coro, self.records = random.Random(seed), slow, 0, []

    def put(self, ts, **fields):
        self.records.append((ts, len(self.records), {"ts": ts, **fields}))

    def birth(self, ts, parent, site):
        self.coro += 1
        self.put(ts, type="birth", probe_id=7000 + self.coro, coro=self.coro, station=0, after=ts, before=ts, parent=parent,
                 site=site, pid=7)
        return {"coro": self.coro, "probe_id": 7000 + self.coro, "index": 0}

    def step(self, ts, co, active, site=0):
        self.put(ts, type="transition", probe_id=co["probe_id"], coro=co["coro"], tid=3, addr="0x0000000000000000", seq=2,
                 is_active=active, index=co["index"], site=site)
        co["index"] += 1

    def wait(self, ts, co, site, long):
        """A wait, a wake and a resume; the time after it."""
        ready = self.random.randint(1, 9) * 1000
        self.step(ts, co, False, site)
        self.put(ts + long, type="wake", probe_id=co["probe_id"], coro=co["coro"], tid=3, by=0)
        self.step(ts + long + ready, co, True)
        return ts + long + ready + self.random.randint(1, 20) * 1000

    def death(self, ts, co):
        self.step(ts, co, False)
        self.put(ts + 10, type="death", probe_id=co["probe_id"], coro=co["coro"], after=ts + 10, before=ts + 10)

    def query(self, ts, parent):
        co = self.birth(ts, parent["coro"], QUERY)
        self.put(ts + 10, type="await", probe_id=parent["probe_id"], coro=parent["coro"], target=co["coro"])
        self.step(ts + 20, parent, False, SERVE)
        self.step(ts + 30, co, True)
        now = ts + 5000
        for site, long in ((CACHE, 40), (LOCK, 300), (DISK, 900 * self.slow)):
            if self.random.random() < 0.7:
                now = self.wait(now, co, site, self.random.randint(1, long) * 1000)
        self.death(now, co)
        self.step(now + 500, parent, True)
        return now + 3000

    def connection(self, ts, parent):
        co = self.birth(ts, parent, SERVE)
        self.put(ts, type="name", probe_id=co["probe_id"], coro=co["coro"], name=f"connection {co['coro']}")
        self.step(ts + 1000, co, True)
        now = ts + 9000
        for _ in range(self.random.randint(1, 6)):
            now = self.wait(now, co, PARSE, self.random.randint(20, 200) * 1000)
            if self.random.random() < 0.8:
                now = self.query(now, co)
        self.death(now, co)

    def run(self):
        root = self.birth(1000, 0, MAIN)
        self.step(1500, root, True)
        for i in range(3):
            co, now = self.birth(2000 + i, root["coro"], LISTEN), 4000
            self.step(3000 + i, co, True)
            for _ in range(12):
                now = self.wait(now, co, ACCEPT, self.random.randint(100, 900) * 1000)
                self.connection(now, co["coro"])
            self.step(now + 50, co, False, ACCEPT)
        self.step(5000, root, False, MAIN)


def main():
    trace = Trace(int(sys.argv[1]) if len(sys.argv) > 1 else 1, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    trace.run()
    print(json.dumps({"type": "@section", "attrs": {"pid": "7", "argv": ["./server", "--port", "80"]}}))
    for i, (file, line, function) in enumerate(SITES):
        print(json.dumps({"type": "site", "ts": 1000, "site": i + 1, "file": file, "line": line, "function": function}))
    for _, _, record in sorted(trace.records, key=lambda r: r[:2]):
        print(json.dumps(record))
    print(json.dumps({"type": "@end", "complete": True}))


main()
