#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""judge FILE - what ctp-tojsonl -a says of a program's coroutines, in lines that a test can compare.

	coroutine FUNCTION births N deaths N of PARENT
	suspended FUNCTION FILE:LINE N
	woken FUNCTION N
	told FUNCTION HOW FUNCTION N
	awaits FUNCTION FUNCTION N
	shut FUNCTION N		destroyed where it was suspended, while no coroutine ran
	threads N

and a line with "wrong:" for each fault: something lost, a coroutine that is resumed twice or has no place, and so on.
A coroutine's function is that of its spawn site; - stands for none.
"""
import collections
import json
import os
import sys

sites = {}
coros = {}
wrong = []


class Coro:
    def __init__(self, record):
        self.function = sites[record["site"]][2] if record["site"] else "?"
        self.parent = coros[record["parent"]].function if record["parent"] else "-"
        self.transitions = []
        self.deaths = 0
        self.runs = self.shut = False
        self.wakers = []
        self.targets = []


def place(site):
    if not site:
        return "nowhere"
    file, line, function = sites[site]
    return f"{function} {os.path.basename(file)}:{line}"


def read(path):
    threads = set()
    with open(path, encoding="utf-8") as f:
        records = [json.loads(line) for line in f]
    for r in records:
        if r["type"] == "site":
            sites[r["site"]] = (r["file"], r["line"], r["function"])
    for r in records:
        kind = r["type"]
        if kind == "birth":
            coros[r["coro"]] = Coro(r)
        elif kind == "death":
            coro = coros[r["coro"]]
            coro.deaths += 1
            coro.shut = bool(coro.transitions) and not any(c.runs for c in coros.values())
            coro.runs = False
        elif kind == "wake":
            how = "by" if r["how"] == "call" else r["how"]
            coros[r["coro"]].wakers.append(f"{how} {coros[r['by']].function if r['by'] else '-'}")
        elif kind == "await":
            coros[r["coro"]].targets.append(coros[r["target"]].function)
        elif kind == "transition":
            coros[r["coro"]].transitions.append(r)
            coros[r["coro"]].runs = r["is_active"]
            threads.add(r["tid"])
        elif kind in ("lost", "missed", "untraced", "conflict"):
            wrong.append(f"{kind}: {r}")
    return threads


def check(coro):
    for k, t in enumerate(sorted(coro.transitions, key=lambda t: t["index"])):
        if t["index"] != k:
            wrong.append(f"{coro.function}: event {t['index']} where {k} should be")
            return
        if t["is_active"] != (k % 2 == 1):
            wrong.append(f"{coro.function}: event {k} is a second {'resume' if t['is_active'] else 'suspend'}")
            return
    if coro.function == "?":
        wrong.append("a coroutine that was born nowhere")


def main():
    threads = read(sys.argv[1])
    births, deaths, suspended, woken, told, awaits, shut = (collections.Counter() for _ in range(7))
    for coro in coros.values():
        check(coro)
        key = (coro.function, coro.parent)
        births[key] += 1
        deaths[key] += coro.deaths
        shut[coro.function] += coro.shut
        woken[coro.function] += len(coro.wakers)
        told.update((coro.function, waker) for waker in coro.wakers)
        awaits.update((coro.function, target) for target in coro.targets)
        for t in coro.transitions:
            if not t["is_active"]:
                suspended[place(t["site"])] += 1
    for function, parent in sorted(births):
        print(f"coroutine {function} births {births[function, parent]} deaths {deaths[function, parent]} of {parent}")
    for where, n in sorted(suspended.items()):
        print(f"suspended {where} {n}")
    for function, n in sorted(woken.items()):
        if n:
            print(f"woken {function} {n}")
    for (function, waker), n in sorted(told.items()):
        print(f"told {function} {waker} {n}")
    for (function, target), n in sorted(awaits.items()):
        print(f"awaits {function} {target} {n}")
    for function, n in sorted(shut.items()):
        if n:
            print(f"shut {function} {n}")
    print(f"threads {len(threads)}")
    for line in wrong:
        print(f"wrong: {line}")


main()
