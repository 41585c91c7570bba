# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""parquet-judge.py JSONL... < DUMP - do Parquet files, as parquet-dump.js shows them, hold what ctp-tojsonl -a printed of the same streams?

Every record in its order, every value and type by the rules of ctp-toparquet(1). Says what differs and ends with status 1.
"""
import json
import struct
import sys

from jsonlread import fail, parse

TYPES = {"u8": "UTINYINT", "u16": "USMALLINT", "u32": "UINTEGER", "u64": "UBIGINT", "i8": "TINYINT", "i16": "SMALLINT",
         "i32": "INTEGER", "i64": "BIGINT", "bool": "BOOLEAN", "f32": "FLOAT", "f64": "DOUBLE", "string": "VARCHAR",
         "bytes": "BLOB", "enum": "VARCHAR"}


def plain(row):
    return json.dumps(row, sort_keys=False)


def escaped(text):
    """UTF-8, with \\x and digits for other bytes and for a backslash before an x."""
    out = text.replace("\\x", "\\x5cx")
    return "".join("\\x%02x" % (ord(c) - 0xdc00) if 0xdc80 <= ord(c) <= 0xdcff else c for c in out).encode()


def number(want):
    return int(want, 16) if isinstance(want, str) else int(want)


def same_float(kind, want, got):
    got, want = float(got), float(want)
    if kind == "f32" and want - want == 0:
        want = struct.unpack("f", struct.pack("f", want))[0]
        got = struct.unpack("f", struct.pack("f", got))[0]
    return struct.pack("d", got) == struct.pack("d", want) or (got != got and want != want)


def same(field, want, got):
    kind = field["type"]
    if kind == "string":
        return bytes.fromhex(got) == escaped(want)
    if kind == "bytes":
        return bytes.fromhex(got) == bytes.fromhex(want)
    if kind == "enum":
        return bytes.fromhex(got) == (escaped(want) if isinstance(want, str) else str(want).encode())
    if kind == "bool":
        return got == ("true" if want else "false")
    if kind in ("f32", "f64"):
        return same_float(kind, want, got)
    return (int(got) - number(want)) % 2**64 == 0 and (int(got) < 0) <= (kind[0] == "i")


files = {}  # declaration: columns, rows
sections = None
for line in sys.stdin:
    row = json.loads(line)
    if isinstance(row, dict):
        declaration = parse(bytes.fromhex(row["notes"]["ctp.class"]).decode("utf-8"))
        rows = []
        key = plain(declaration)
        if declaration["name"] == "sections" and declaration["fields"][1]["name"] == "has_start":
            sections = rows
        elif key in files:
            fail("two files of", key)
        else:
            files[key] = row["columns"], rows
    else:
        rows.append(row)

done = {key: 0 for key in files}
section, attrs, current, seen = 0, {}, {}, []


def declare(row):
    del row["type"]
    key = plain(row)
    current[row["name"]] = row["fields"], key
    if key in files:
        columns = files[key][0]
        first = len(columns) - len(row["fields"])
        for field, (name, kind) in zip(row["fields"], columns[first:]):
            if kind != TYPES[field["type"]]:
                fail("column", name, "is", kind, "of", field)
        wanted = [["section", "UINTEGER"], ["section_id", "UBIGINT"], ["wall", "TIMESTAMP WITH TIME ZONE"]][:first]
        if columns[:first] != wanted or len({name.lower() for name, _ in columns}) != len(columns):
            fail("columns", columns)


def wall_us(fields, row, got):
    offset = attrs.get("wall_offset_ns")
    if attrs.get("clock") == "ordinal" or offset is None:
        return got is None
    ts = next(number(row[member(f["name"])]) for f in fields if f.get("role") == "time")
    return got is not None and int(got) == (ts + int(offset)) // 1000


def member(name):
    return "@" + name if name.startswith("@") or name in ("type", "late") else name


def record(name, row):
    fields, key = current[name]
    columns, rows = files.get(key) or fail("no file of", key)
    if done[key] == len(rows):
        fail("section", section, name, "lacks", row)
    got = rows[done[key]]
    done[key] += 1
    first = len(columns) - len(fields)
    if int(got[0]) != section:
        fail(name, "row", done[key], "is of section", got[0], "and should be of", section)
    if first > 2 and not wall_us(fields, row, got[2]):
        fail(name, "row", done[key], "section", attrs, "wall", got[2], row)
    for field, value in zip(fields, got[first:]):
        want = row[member(field["name"])]
        if value is None or not same(field, want, value):
            fail("section", section, name, "row", done[key], field, "is", repr(value), "and should be", repr(want))


count = 0
for path in sys.argv[1:]:
    for line in open(path, encoding="utf-8"):
        row = parse(line)
        name = row["type"]
        if name == "@section":
            section, attrs, current = section + 1, row["attrs"], {}
            seen.append(attrs)
        elif name == "@schema":
            declare(row)
        elif name != "@end":
            record(name[1:] if name.startswith("@") else name, row)
            count += 1
for key, n in done.items():
    if n != len(files[key][1]):
        fail("more rows of", key)
if sections is None or len(sections) != section:
    fail("sections", sections)
for got, attrs in zip(sections, seen):
    if plain(parse(bytes.fromhex(got[-1]).decode().replace("\\x5cx", "\\x"))) != plain(attrs):
        fail("attributes", bytes.fromhex(got[-1]), attrs)
if not count:
    fail("no records")
