# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""bt2-plugin.py ROWS.jsonl STREAM.ctp - compares what babeltrace2's Python binding reads of a stream with ctp-tojsonl's rows.

Sections are matched by the number in the trace's UUID, records by their order, fields by the order in the schema. Prints how
many events there were, for how many of them the time was raised, and how many were discarded; ends with status 1 at the first
that differs.
"""
import json
import math
import re
import struct
import sys

import bt2


def rows(path):
    """Of each section: its records, each with its class's schema. Of two labels with one name the first counts."""
    sections, schemas = [], {}
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            pairs = json.loads(line, object_pairs_hook=list)
            kind = pairs[0][1]
            if kind == "@section":
                sections.append([])
                schemas = {}
            elif kind == "@schema":
                schema = json.loads(line, object_pairs_hook=lambda object: dict(reversed(object)))
                name = schema["name"]
                schemas[("@" if name.startswith("@") else "") + name] = schema
            elif kind != "@end":
                schema = schemas[kind]
                names = [field["name"] for field in schema["fields"]]
                keys = {"@" + name if name[0] == "@" or name in ("type", "late") else name for name in names}
                sections[-1].append((schema, [value for key, value in pairs[1:] if key in keys]))
    return sections


def text(s):
    """A text as the plugin gives it: of each byte that is not UTF-8, and of NUL, \\x and two digits."""
    return "".join("\\x%02x" % (ord(c) & 0xff) if 0xdc80 <= ord(c) <= 0xdcff or c == "\0" else c for c in s)


def number(field, value):
    if isinstance(value, bool):
        return int(value)
    if field["type"] == "enum" and isinstance(value, str):
        return field["labels"][value]
    return int(value, 16) if isinstance(value, str) else value


def real(field, value):
    value = float(value)
    return struct.unpack("f", struct.pack("f", value))[0] if field["type"] == "f32" else value


def same(field, want, got):
    if field["type"] in ("f32", "f64"):
        want, got = real(field, want), float(got)
        return want == got or (math.isnan(want) and math.isnan(got))
    if field["type"] == "string":
        return text(want) == str(got)
    if field["type"] == "bytes":
        return bytes.fromhex(want) == bytes(int(b) for b in got)
    return (number(field, want) - int(got)) % 2**64 == 0


def is_timed(event, schema):
    """The record's time is a field, because it is not the event's."""
    nbytes = sum(f["type"] == "bytes" for f in schema["fields"])
    has_time = any(f.get("role") == "time" for f in schema["fields"])
    return has_time and len(event.payload_field) == len(schema["fields"]) + nbytes


def check(event, clock, schema, values):
    """None, or a description of the difference."""
    times = [i for i, f in enumerate(schema["fields"]) if f.get("role") == "time"]
    got = list(event.payload_field.items())
    timed = is_timed(event, schema)
    if event.name != text(schema["name"]):
        return "name %s" % event.name
    if times and not timed and clock.value != number(schema["fields"][times[0]], values[times[0]]):
        return "time %d" % clock.value
    for i, field in enumerate(schema["fields"]):
        if times and i == times[0] and not timed:
            continue
        name, value = got.pop(0)
        if field["type"] == "bytes":
            if int(value) != len(values[i]) // 2:
                return "%s = %s" % (name, value)
            name, value = got.pop(0)
        if name.rstrip("_") != re.sub("[^A-Za-z0-9_]", "_", field["name"].encode("utf-8", "surrogateescape").decode("latin1")):
            return "field %s for %s" % (name, field["name"])
        if not same(field, values[i], value):
            return "%s = %s, not %s" % (name, value, values[i])
    return "fields beyond the schema: %s" % got if got else None


def main():
    sections = rows(sys.argv[1])
    done, last = [0] * len(sections), [0] * len(sections)
    timed = discarded = 0
    for msg in bt2.TraceCollectionMessageIterator(sys.argv[2]):
        if type(msg) is bt2._DiscardedEventsMessageConst:
            discarded += msg.count
        if type(msg) is not bt2._EventMessageConst:
            continue
        n = msg.event.stream.trace.uuid.bytes[15] - 1
        schema, values = sections[n][done[n]]
        clock = msg.default_clock_snapshot
        wrong = "goes back in time" if clock.value < last[n] else check(msg.event, clock, schema, values)
        if wrong:
            sys.exit("section %d, record %d (%s): %s" % (n, done[n], schema["name"], wrong))
        timed += is_timed(msg.event, schema)
        last[n] = clock.value
        done[n] += 1
    if done != [len(s) for s in sections]:
        sys.exit("events in each section: %s, not %s" % (done, [len(s) for s in sections]))
    print(sum(done), timed, discarded)


main()
