#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""mem-model.py BIN SEED... - a naive model of ctp-mem, by the words of its manual page, against ctp-mem -j on random traces.

Regions are a list that is searched from its end, sets are lists, bytes have sets of writers. Every number of -j is compared.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
import memtrace  # noqa: E402

END, PLACES, HOT = 1 << 64, 64, 256


class Counts:
    def __init__(self, levels):
        self.ops, self.rest = [0, 0], [0, 0, 0]
        self.misses = [[0, 0] for _ in range(levels)]

    def count(self, write, rest, missed):
        self.ops[write] += 1
        self.rest = [a + b for a, b in zip(self.rest, rest)]
        for level in range(missed):
            self.misses[level][write] += 1

    def cost(self):
        weights = [10] * (len(self.misses) - 1) + [100]
        return sum(self.ops) + sum(w * sum(m) for w, m in zip(weights, self.misses))

    def json(self):
        return {"reads": self.ops[0], "writes": self.ops[1], "atomics": self.rest[0], "unaligned": self.rest[1],
                "straddles": self.rest[2], "misses": [{"reads": r, "writes": w} for r, w in self.misses], "cost": self.cost()}


class Level:
    """One cache: for each set its lines, the last used first, each [block, written]; and blocks that were taken, the last first."""

    def __init__(self, size, ways, line):
        self.size, self.ways, self.line, self.sets, self.taken = size, ways, line, {}, {}

    def taken_of(self, block):
        return self.taken.setdefault(block % (self.size // self.line // self.ways), [])

    def take(self, block, line):
        self.set_of(block).remove(line)
        self.taken_of(block).insert(0, block)

    def set_of(self, block):
        return self.sets.setdefault(block % (self.size // self.line // self.ways), [])

    def has(self, block):
        return next((line for line in self.set_of(block) if line[0] == block), None)

    def refer(self, block, written):
        """Whether it was there, the line that was replaced, and whether it had been taken."""
        lines, line, out = self.set_of(block), self.has(block), None
        ghosts = self.taken_of(block)
        was_taken = block in ghosts
        hit = line is not None
        if hit:
            lines.remove(line)
        else:
            line = [block, False]
            if was_taken:
                ghosts.remove(block)
            elif len(lines) == self.ways:
                out = lines.pop()
            elif len(lines) + len(ghosts) == self.ways:
                ghosts.pop()
        line[1] |= written
        lines.insert(0, line)
        return hit, out, was_taken


class Caches:
    def __init__(self, shapes, private):
        self.shapes, self.private = shapes, private
        self.counts = [dict.fromkeys(("read_hits", "read_misses", "write_hits", "write_misses", "write_backs", "invalidated",
                                       "taken_misses"), 0)
                       for _ in shapes]
        self.memory_writes = 0
        self.clear()

    def clear(self):
        self.caches = [{} for _ in self.shapes]

    def own(self, level):
        return self.private and (level + 1 < len(self.shapes) or len(self.shapes) == 1)

    def cache(self, level, thread):
        return self.caches[level].setdefault(thread if self.own(level) else 0, Level(*self.shapes[level]))

    def write_back(self, level, thread, address):
        self.counts[level]["write_backs"] += 1
        for below in range(level + 1, len(self.shapes)):
            line = self.cache(below, thread).has(address // self.shapes[below][2])
            if line:
                line[1] = True
                return
        self.memory_writes += 1

    def invalidate(self, thread, first, last):
        for level in range(len(self.shapes)):
            if not self.own(level):
                return
            size = self.shapes[level][2]
            for owner, cache in sorted(self.caches[level].items()):
                for block in range(first // size, last // size + 1):
                    line = cache.has(block) if owner != thread else None
                    if line:
                        cache.take(block, line)
                        self.counts[level]["invalidated"] += 1
                        if line[1]:
                            self.write_back(level, owner, block * size)

    def access(self, thread, first, last, write):
        """In how many levels it missed."""
        if write:
            self.invalidate(thread, first, last)
        for level, (_, _, size) in enumerate(self.shapes):
            hit, taken = True, False
            for block in range(first // size, last // size + 1):
                there, out, was_taken = self.cache(level, thread).refer(block, write and level == 0)
                hit, taken = hit and there, taken or was_taken
                if out and out[1]:
                    self.write_back(level, thread, out[0] * size)
            self.counts[level][("write" if write else "read") + ("_hits" if hit else "_misses")] += 1
            self.counts[level]["taken_misses"] += taken
            if hit:
                return level
        return len(self.shapes)


class Line:
    """A line that is written: who wrote which bytes; and, once two have written, who does what."""

    def __init__(self, section, number):
        self.section, self.number = section, number
        self.writers, self.last, self.alternations, self.places, self.unplaced = {}, None, 0, {}, 0
        self.first, self.log = None, []

    def access(self, thread, write, bytes_, place):
        if write:
            self.alternations += self.last is not None and self.last != thread
            self.last = thread
            self.first = thread if self.first is None else self.first
            self.writers.setdefault(thread, set()).update(bytes_)
        if len(self.writers) > 1:
            self.log.append((thread, write, set(bytes_)))
            where = (thread,) + place
            if where in self.places or len(self.places) < PLACES:
                self.places.setdefault(where, [0, 0])[write] += 1
            else:
                self.unplaced += 1

    def times(self, thread):
        """Each time that a thread has the line, from the first on: bytes that others wrote since it had it before, and all it touches."""
        out, since = [], None if thread != self.first else set()
        if thread == self.first:
            out.append([set(), set()])
        for who, write, bytes_ in self.log:
            if who != thread:
                since = since | bytes_ if write and since is not None else since
                continue
            if since is None or since:
                out.append([since or set(), set()])
            since = set()
            out[-1][1].update(bytes_)
        return out

    def handovers(self):
        out = {"first": 0, "needed": 0, "needless": 0, "others": 0}
        for thread in {who for who, _, _ in self.log} | {self.first}:
            times = self.times(thread)
            out["first"] += thread != self.first
            for written, touched in times[1:]:
                out["needed" if written & touched else "needless"] += 1
        return out

    def verdict(self):
        n = self.handovers()
        back = n["needed"] + n["needless"]
        return "once" if not back else "false" if 4 * n["needless"] >= 3 * back else "true" if 4 * n["needed"] >= 3 * back else "mixed"


class Model:
    def __init__(self, shapes, private):
        self.levels, self.caches = len(shapes), Caches(shapes, private)
        self.line = shapes[0][2] if shapes else 64
        self.all = self.counts()
        self.types, self.spans, self.threads, self.numbers, self.dead = {}, {}, {}, {}, []
        self.facts = dict.fromkeys(("added", "removed", "replaced", "unmatched_removes", "empty", "refused", "alive",
                                    "most_alive"), 0)
        self.losses = self.lost = self.born = 0
        self.sections, self.lines, self.shared = 0, {}, []
        self.alive = []
        self.section()

    def counts(self):
        return Counts(self.levels)

    def section(self):
        self.alive, self.lines = [], {}
        self.sections += 1
        self.caches.clear()

    def end(self):
        self.facts["alive"] += len(self.alive)
        self.dead += self.alive
        self.shared += [line for line in self.lines.values() if len(line.writers) > 1]

    def type_of(self, key):
        return self.types.setdefault(key, {"order": len(self.types) + 2 if key else 0, "regions": 0, "counts": self.counts()})

    def access(self, op):
        name, address, size, thread, atomic, unaligned = op
        write, size = name == "write", max(size, 1)
        last = min(address + size, END) - 1
        region = next((r for r in reversed(self.alive) if r["start"] <= address < r["start"] + r["bytes"]), None)
        key, offset = (region["key"], (address - region["start"]) % region["key"][1]) if region else (None, 0)
        straddles = bool(region) and offset + size > key[1]
        number = self.numbers.setdefault(thread, len(self.numbers))
        missed = self.caches.access(number, address, last, write)
        places = [self.all, self.type_of(key)["counts"], self.threads.setdefault(thread, self.counts())]
        if region:
            places.append(region["counts"])
            what = (write, (atomic, unaligned, straddles), missed)
            self.spans.setdefault(key, []).append((offset, min(offset + size, key[1]), what))
        for counts in places:
            counts.count(write, (atomic, unaligned, straddles), missed)
        for number in range(address // self.line, last // self.line + 1):
            begin = max(address, number * self.line)
            bytes_ = range(begin, min(last, number * self.line + self.line - 1) + 1)
            if write or number in self.lines:
                line = self.lines.setdefault(number, Line(self.sections - 1, number))
                line.access(thread, write, bytes_, (begin % self.line, key, offset))

    def add(self, ts, op):
        _, start, _, size, count, name = op
        self.facts["added"] += 1
        self.facts["replaced"] += self.take(ts, start)
        self.born += 1
        bytes_ = min(start + size * count, END) - start
        self.facts["empty"] += bytes_ == 0
        self.type_of((name, size))["regions"] += 1
        self.alive.append({"start": start, "bytes": bytes_, "key": (name, size), "count": count, "born": self.born, "added": ts,
                           "removed": None, "counts": self.counts()})
        self.facts["most_alive"] = max(self.facts["most_alive"], len(self.alive))

    def take(self, ts, start):
        for region in self.alive:
            if region["start"] == start:
                self.alive.remove(region)
                region["removed"] = ts
                self.dead.append(region)
                return True
        return False

    def run(self, trace):
        for ts, op in enumerate(trace):
            if op[0] in ("read", "write"):
                self.access(op)
            elif op[0] == "add":
                self.add(ts, op)
            elif op[0] == "remove":
                self.facts["removed" if self.take(ts, op[1]) else "unmatched_removes"] += 1
            elif op[0] == "loss":
                self.losses += 1
                self.lost += op[1]
            else:
                self.end()
                self.section()
        self.end()

    def json(self):
        return {"sections": self.sections, "filtered": 0, "complete": not self.losses, "losses": self.losses, "lost": self.lost, "late": 0,
                "unknown": 0, **self.all.json(), "regions": self.facts, "caches_from": "option",
                "caches": [{"size": s, "ways": w, "line": b, "private": self.caches.own(i), **self.caches.counts[i]}
                           for i, (s, w, b) in enumerate(self.caches.shapes)],
                "memory_writes": self.caches.memory_writes, "types": self.types_json(),
                "threads": [{"thread": t, **self.threads[t].json()} for t in sorted(self.threads)], "other_threads": 0,
                "hot_regions": self.hot_json(),
                "sharing": {"line": self.line, "shared": len(self.shared), "unknown": 0, "unkept": 0,
                            "lines": self.lines_json()}}

    def types_json(self):
        out = []
        for key, t in sorted(self.types.items(), key=lambda kt: (-kt[1]["counts"].cost(), kt[1]["order"])):
            members = self.members_json(self.spans.get(key, []))
            repeats = sum(m["reads"] + m["writes"] for m in members) - len(self.spans.get(key, []))
            out.append({"type": key[0] if key else None, "element_size": key[1] if key else 0, "regions": t["regions"],
                        **t["counts"].json(), "unplaced": 0, "repeats": repeats, "members": members})
        return out

    def members_json(self, spans):
        """From where accesses begin to the next such place, or as far as one reaches: the accesses that touch that."""
        out, begins = [], sorted({begin for begin, _, _ in spans})
        for at, upto in zip(begins, begins[1:] + [END]):
            reach = min(upto, max(end for begin, end, _ in spans if begin <= at))
            counts = self.counts()
            for begin, end, what in spans:
                if begin < reach and end > at:
                    counts.count(*what)
            out.append({"offset": at, "size": reach - at, **counts.json()})
        return out

    def hot_json(self):
        hot = sorted((r for r in self.dead if r["counts"].cost()), key=lambda r: (-r["counts"].cost(), r["born"]))[:HOT]
        return [{"address": f"0x{r['start']:016x}", "type": r["key"][0], "element_size": r["key"][1], "count": r["count"],
                 "added": r["added"], "removed": r["removed"], **r["counts"].json()} for r in hot]

    def place_order(self, item):
        """Most writes, then reads, first; then as threads and types came."""
        (thread, byte, key, offset), (reads, writes) = item
        return -writes, -reads, self.numbers[thread], byte, self.types[key]["order"], offset

    def lines_json(self):
        out = []
        for line in sorted(self.shared, key=lambda s: (-sum(s.handovers().values()), s.section, s.number)):
            places = [{"thread": t, "byte": b, "type": k[0] if k else None, "element_size": k[1] if k else 0,
                       "offset": o, "reads": n[0], "writes": n[1]}
                      for (t, b, k, o), n in sorted(line.places.items(), key=self.place_order)]
            out.append({"address": f"0x{line.number * self.line:016x}", "section": line.section, "verdict": line.verdict(),
                        "alternations": line.alternations, "handovers": line.handovers(), "writers": list(line.writers), "more_writers": False,
                        "places": places, "unplaced": line.unplaced})
        return out


def random_trace(rng):
    """Regions in, across and over each other, at the end of memory too; few addresses, so that they meet."""
    bases = [0, 64, 0x1000, 0x7fff00000000, END - 512]
    spots = [rng.choice(bases) + rng.randrange(512) for _ in range(rng.choice((3, 12, 40)))]
    names = ["struct.Foo", "class.ns::Bar", "i32", "", "a \"b\" \\ \x1b", "Größe"]
    threads, trace = [rng.choice((0, 1, 7, END - 1, rng.randrange(END))) for _ in range(rng.randrange(1, 5))], []
    for _ in range(rng.choice((20, 200, 800))):
        spot, thread, dice = rng.choice(spots), rng.choice(threads), rng.random()
        if dice < 0.15:
            trace.append(("add", spot, thread, rng.choice((0, 1, 3, 8, 24, 64, 200, (1 << 32) - 1)),
                          rng.choice((0, 1, 1, 2, 5, 100, (1 << 32) - 1)), rng.choice(names)))
        elif dice < 0.25:
            trace.append(("remove", spot, thread))
        elif dice < 0.26:
            trace.append(rng.choice((("loss", rng.randrange(5)), ("section",), ("loss", 1 << 40))))
        else:
            address = min(spot + rng.randrange(rng.choice((1, 8, 100))), END - 1)
            trace.append((rng.choice(("read", "write")), address, rng.choice((0, 1, 2, 4, 8, 16, 255)), thread,
                          rng.random() < 0.1, rng.random() < 0.1))
    return trace


def random_caches(rng):
    """Small ones, so that lines are replaced."""
    shapes, line = [], rng.choice((16, 32, 64, 128))
    for _ in range(rng.randrange(4)):
        ways, sets = rng.choice((1, 2, 3, 8)), rng.choice((1, 2, 3, 4, 16))
        shapes.append((ways * sets * line, ways, line))
        line = rng.choice([more for more in (16, 32, 64, 128) if more >= line])
    return shapes, rng.random() < 0.5


def difference(got, want, where="$"):
    """The first place where two values differ, or None."""
    if isinstance(want, dict) and isinstance(got, dict):
        if list(got) != list(want):
            return f"{where}: keys {list(got)} and not {list(want)}"
        return next(filter(None, (difference(got[k], want[k], f"{where}.{k}") for k in want)), None)
    if isinstance(want, list) and isinstance(got, list):
        if len(got) != len(want):
            return f"{where}: {len(got)} and not {len(want)} elements"
        return next(filter(None, (difference(g, w, f"{where}[{i}]") for i, (g, w) in enumerate(zip(got, want)))), None)
    return None if got == want and isinstance(got, bool) == isinstance(want, bool) else f"{where}: {got!r} and not {want!r}"


def check(bin_, seed, folder):
    rng = random.Random(seed)
    trace, (shapes, private) = random_trace(rng), random_caches(rng)
    path = os.path.join(folder, "t")
    with open(path + ".jsonl", "w", encoding="utf-8") as out:
        memtrace.write(trace, out)
    subprocess.run([f"{bin_}/ctp-fromjsonl", "-q", "-o", path + ".ctp", path + ".jsonl"], check=False)
    options = [f"--cache={s},{w},{b}" for s, w, b in shapes] or ["--cache=none"]
    run = subprocess.run([f"{bin_}/ctp-mem", "-qj", *options, *(["--private"] if private and shapes else []), path + ".ctp"],
                         capture_output=True, check=False)
    model = Model(shapes, private)
    model.run(trace)
    status = 3 if model.lost else 0
    if run.returncode != status:
        return f"status {run.returncode} and not {status}: {run.stderr.decode()}"
    return difference(json.loads(run.stdout), model.json())


def main():
    with tempfile.TemporaryDirectory() as folder:
        for seed in map(int, sys.argv[2:]):
            wrong = check(sys.argv[1], seed, folder)
            if wrong:
                sys.exit(f"seed {seed}: {wrong[:2000]}")


if __name__ == "__main__":
    main()
