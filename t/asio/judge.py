#!/usr/bin/env python3
"""judge FILE - what ctp-tojsonl -a says of a program's coroutines, in lines that a test can compare.

	coroutine FUNCTION births N deaths N of PARENT
	suspended FUNCTION FILE:LINE N
	woken FUNCTION N
	threads N

and one with "wrong:" for whatever should not be: something lost, a coroutine that is resumed twice or has no place, and so on.
A coroutine's function is the one of the place where it was born.
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
        self.wakes = 0


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
            coros[r["coro"]].deaths += 1
        elif kind == "wake":
            coros[r["coro"]].wakes += 1
        elif kind == "transition":
            coros[r["coro"]].transitions.append(r)
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
    births, deaths, suspended, woken = (collections.Counter() for _ in range(4))
    for coro in coros.values():
        check(coro)
        key = (coro.function, coro.parent)
        births[key] += 1
        deaths[key] += coro.deaths
        woken[coro.function] += coro.wakes
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
    print(f"threads {len(threads)}")
    for line in wrong:
        print(f"wrong: {line}")


main()
