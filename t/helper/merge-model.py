#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""merge-model.py MERGED INPUT... | --make SEED DIR - what ctp-merge must make of the inputs. All are outputs of ctp-tojsonl -a.

Works from doc/ctp-merge.1 and doc/ctp-stream.5 alone: all records in memory, integers without limit, one list that is sorted in the
plainest way. Prints differences, and in the last line how much was compared.

--make writes inputs for ctp-fromjsonl, with clocks that are set back and forth and go at different speeds, and prints their names.
"""
import json
import random
import sys

U64 = 2**64 - 1
IDS = {"thread", "process", "coroutine", "probe", "site", "origin"}
NAMED = {"birth": ["parent"], "wake": ["by"], "await": ["target"], "finding": ["waker", "waits_for"]}
WHOLE = {"u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"}


class Section:
    def __init__(self, attrs):
        self.attrs, self.records, self.complete, self.number = attrs, [], False, 0  # a record: (schema, dict)


def sections(path):
    """The sections of a file, with the class of each record."""
    found, schemas = [], {}
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            record = json.loads(line)
            kind = record["type"]
            if kind == "@section":
                found.append(Section(record.get("attrs", {})))
                schemas = {}
            elif kind == "@schema":
                schemas[record["name"]] = record
            elif kind == "@end":
                found[-1].complete = record.get("complete", False)
            else:
                name = kind[1:] if kind.startswith("@") else kind
                found[-1].records.append((schemas[name], record))
    return found


def key_of(name):
    return "@" + name if name.startswith("@") or name in ("type", "late") else name


def number(value):
    return int(value, 16) if isinstance(value, str) else value


def like(value, old):
    return f"0x{value:016x}" if isinstance(old, str) else value


def fields_of(schema, record):
    """Without what ctp-tojsonl adds: whether the record is late, and texts of sites."""
    return {"type": record["type"], **{key_of(f["name"]): record[key_of(f["name"])] for f in schema["fields"]}}


def time_field(schema):
    return next((f for f in schema["fields"] if f.get("role") == "time"), None)


class Clock:
    """From readings of both clocks to times of the wall clock."""

    def __init__(self):
        self.readings, self.offsets = [], []

    def settle(self):
        points = sorted(set(self.readings)) or self.offsets[:1]
        kept, best = [], None  # (mono, wall without steps, the sum of the steps, quality)
        steps = 0
        for mono, wall, read, error, synced in points:
            if kept:
                before = kept[-1]
                passed, gain = mono - before[0], wall - steps - before[1] - (mono - before[0])
                if abs(gain) > before[4] + read + passed // 1000 or (passed >= 10**9 and abs(gain) > passed // 8):
                    steps += gain
                elif passed < 10**9:
                    continue
            kept.append((mono, wall - steps, steps, (not synced, error), read))
            if best is None or kept[-1][3] <= best[3]:
                best = kept[-1]
        self.points = [(mono, wall + best[2]) for mono, wall, *_ in kept]

    def wall(self, time):
        if not time:
            return 0
        before = [p for p in self.points if p[0] <= time]
        after = [p for p in self.points if p[0] > time]
        if not before:
            result = after[0][1] - (after[0][0] - time)
        elif not after:
            result = before[-1][1] + time - before[-1][0]
        else:
            (m0, w0), (m1, w1) = before[-1], after[0]
            result = w0 + (time - m0) * (w1 - w0) // (m1 - m0)
        return min(max(result, 1), U64)


def clocks_of(parts):
    clocks = {}
    for part in parts:
        attrs = part.attrs
        shared = attrs.get("clock") == "monotonic" and attrs.get("boot_id")
        key = (attrs["boot_id"], attrs.get("time_namespace")) if shared else part.number
        part.clock = clocks.setdefault(key, Clock())
        exact = attrs.get("clock") == "wall" and "merged" in attrs
        if "wall_offset_ns" in attrs and attrs.get("clock") != "ordinal":
            at = int(attrs.get("start_ns", 0)) or 1
            part.clock.offsets.append((at, at + int(attrs["wall_offset_ns"]), 0, 0, False))
        for schema, record in part.records:
            if schema["kind"] == "clock" and not exact and "wall_ns" in record and time_field(schema):
                time = number(record[key_of(time_field(schema)["name"])])
                error = record.get("error_ns", 0)
                synced = bool(record.get("synced")) and error > 0
                part.clock.readings.append((time, record["wall_ns"], max(record.get("read_ns", 0), 1), error, synced))
    return clocks


class Model:
    def __init__(self, parts):
        self.parts, self.stride, self.large = parts, 10, {}
        while self.stride <= len(parts):
            self.stride *= 10
        clocks = clocks_of(parts)
        self.by_wall = len(clocks) > 1
        for clock in clocks.values() if self.by_wall else ():
            clock.settle()

    def time(self, part, value):
        return part.clock.wall(value) if self.by_wall else value

    def identity(self, part, value):
        value &= U64
        made = value * self.stride + part.number
        if not value or made <= U64:
            return made if value else 0
        return self.large.setdefault((part.number, value), (len(self.large) + 1) * self.stride)

    def queue(self, part):
        """(time in the output, own time, has a time, record) in the order of the section."""
        last = 0
        for schema, record in part.records:
            field = time_field(schema)
            own = self.time(part, number(record[key_of(field["name"])])) if field else last
            last = max(last, own)
            yield last, own, field is not None, (schema, record)

    def converted(self, part, schema, record):
        result = fields_of(schema, record)
        for f in schema["fields"]:
            key, role = key_of(f["name"]), f.get("role")
            if role == "time":
                result[key] = like(self.time(part, number(record[key])), record[key])
            elif f["type"] in WHOLE and (role in IDS or f["name"] in NAMED.get(schema["kind"], [])):
                result[key] = like(self.identity(part, number(record[key])), record[key])
            elif f["type"] in WHOLE and schema["kind"] == "origin" and f["name"] == "stride":
                made = number(record[key]) * self.stride
                result[key] = like(made if made <= U64 else 0, record[key])
        origin = next((f for f in schema["fields"] if f.get("role") == "origin"), None)  # the first counts, as for other roles
        if not origin or origin["type"] not in WHOLE:
            name, nth, names = "origin", 2, {f["name"] for f in schema["fields"]}
            while name in names:
                name, nth = f"origin_{nth}", nth + 1
            result[name] = part.number
        return result

    def run(self):
        """(late, record) in the order in which they must be written."""
        queues = [list(self.queue(part)) for part in self.parts]
        at, now = [0] * len(queues), 0
        while True:
            heads = [(queue[i][0], n) for n, (queue, i) in enumerate(zip(queues, at)) if i < len(queue)]
            if not heads:
                return
            n = min(heads)[1]
            first = True
            while at[n] < len(queues[n]) and (first or not queues[n][at[n]][2]):
                when, own, _, (schema, record) = queues[n][at[n]]
                yield own < now, self.converted(self.parts[n], schema, record)
                now, first = when, False
                at[n] += 1


def is_ours(stride, schema, record):
    """Whether ctp-merge itself has added the record."""
    return schema["name"] in ("origin", "origin_attribute") and record["origin"] < stride


def compare(name, want, got):
    for i in range(max(len(want), len(got))):
        a, b = (x[i] if i < len(x) else None for x in (want, got))
        if a != b:
            print(f"{name} {i}: expected {a}\n got {b}")
            return 1
    return 0


CLOCK = [("ts", "u64", "time"), ("wall_ns", "u64", None), ("read_ns", "u64", None), ("error_ns", "u64", None), ("synced", "bool", None)]
BIRTH = [("ts", "u64", "time"), ("coro", "u64", "coroutine"), ("parent", "u64", None), ("after", "u64", "time"), ("pid", "u32", "process")]


def schema_line(name, fields):
    fields = [{"name": f, "type": type_, **({"role": role} if role else {})} for f, type_, role in fields]
    return json.dumps({"type": "@schema", "name": name, "kind": name, "fields": fields})


def make(seed, folder):
    rng = random.Random(seed)
    for name in (f"clock{seed}{i}" for i in range(5)):
        start, boot = rng.randrange(1, 10**14), rng.choice(["x", "y", "z"])
        offset = 1_700_000_000_000_000_000 - start + rng.randrange(10**9)
        attrs = {"clock": "monotonic", "boot_id": boot + name[:-1] if rng.random() < 0.5 else boot, "wall_offset_ns": str(offset), "pid": "7"}
        lines = [json.dumps({"type": "@section", "attrs": attrs}), schema_line("clock", CLOCK), schema_line("birth", BIRTH)]
        time = start
        for i in range(200):
            time += rng.choice([0, 1, 10**6, 10**8, 3 * 10**9])
            if rng.random() < 0.1:
                offset += rng.choice([0, 3, -3, 2 * 10**6, -(10**12), 10**12, 10**10])
                reading = {"wall_ns": time + offset, "read_ns": rng.randrange(50), "error_ns": rng.randrange(10**6), "synced": rng.random() < 0.9}
                lines.append(json.dumps({"type": "clock", "ts": time, **reading}))
            big = rng.choice([0, 1, 36, 2**62, U64])
            lines.append(json.dumps({"type": "birth", "ts": time, "coro": i, "parent": big, "after": rng.choice([0, time]), "pid": 7}))
        lines.append('{"type":"@end","complete":true}')
        with open(f"{folder}/{name}.in", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        print(name)


def main():
    if sys.argv[1] == "--make":
        make(int(sys.argv[2]), sys.argv[3])
        return 0
    (merged,) = sections(sys.argv[1])
    parts = [part for path in sys.argv[2:] for part in sections(path)]
    for i, part in enumerate(parts):
        part.number = i + 1
    model = Model(parts)
    written = list(model.run())
    theirs = [(r.get("late") is True, fields_of(s, r)) for s, r in merged.records if not is_ours(model.stride, s, r)]
    ours = [r for s, r in merged.records if is_ours(model.stride, s, r)]
    in_time = [r for late, r in written if not late]
    late = sorted(json.dumps(r, sort_keys=True) for was_late, r in written if was_late)
    got_late = sorted(json.dumps(r, sort_keys=True) for was_late, r in theirs if was_late)
    differences = compare("record", in_time, [r for was_late, r in theirs if not was_late])
    differences += compare("late record", late, got_late)
    differences += compare("clock", ["wall" if model.by_wall else parts[0].attrs.get("clock", "monotonic")], [merged.attrs.get("clock")])
    differences += compare("complete", [all(p.complete for p in parts)], [merged.complete])
    for part in parts:
        mine = [r for r in ours if r["origin"] == part.number]
        states = [r["state"] for r in mine if r["type"] == "origin"]
        end = ["complete"] if part.complete else []
        if "merged" not in part.attrs:
            differences += compare("origin", ["begins"] + end, [s for s in states if s not in ("cut", "damaged")])
            attrs = [[k, v] for k, values in part.attrs.items() for v in (values if isinstance(values, list) else [values])]
            got = [[r["name"].removesuffix("[]"), r["value"]] for r in mine if r["type"] == "origin_attribute"]
            differences += compare("attribute", sorted(attrs), sorted(got))
    print(f"{len(written)} records, {len(late)} late, {len(parts)} sections, {differences} differences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
