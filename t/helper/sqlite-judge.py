# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""sqlite-judge.py DATABASE JSONL... - does a database that ctp-sqlite made hold what ctp-tojsonl -a printed of the same streams?

Every record in its order, every value by the rules of ctp-sqlite(1), every section and declaration. Says what differs and ends
with status 1.
"""
import json
import sqlite3
import struct
import sys

from jsonlread import fail, parse

db = sqlite3.connect(sys.argv[1])


def signed(n):
    return n - 2**64 if n >= 2**63 else n


def text(s):
    raw = s.encode("utf-8", "surrogateescape")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw
    return raw if b"\0" in raw else s


def same(field, want, got):
    """want is JSON's, got is SQLite's."""
    kind, role = field["type"], field.get("role")
    if kind == "string":
        return got == text(want)
    if kind == "bytes":
        return got == bytes.fromhex(want)
    if kind in ("f32", "f64"):
        if want == "NaN":
            return got == "NaN"
        want = float(want)
        return got == (struct.unpack("f", struct.pack("f", want))[0] if kind == "f32" and want - want == 0 else want)
    if kind == "bool":
        return got == int(want)
    if kind == "enum":
        if not isinstance(want, str):
            return got == signed(want)
        return got == text(want) or got in [signed(v) for label, v in field["labels"].pairs if label == want]
    if role == "time":
        return got == signed(int(want, 16) if isinstance(want, str) else want)
    if isinstance(want, str):
        return got == want
    return got == (str(want) if role == "probe" else signed(want))


def escaped(name):
    return name[1:] if name.startswith("@") else name


def key(name):
    return "@" + name if name.startswith("@") or name in ("type", "late") else name


classes = {}  # of the section, by name: fields as declared, and an iterator over the rows
section = 0
seen = {}


def declare(row):
    del row["type"]
    wanted = json.dumps(row)
    for number, table, declaration in db.execute("SELECT id, table_name, declaration FROM classes"):
        if json.dumps(json.loads(declaration)) == wanted:
            break
    else:
        fail("no such class:", wanted)
    columns = [c for c, in db.execute("SELECT column_name FROM fields WHERE class = ? ORDER BY position", (number,))]
    if (section, number) not in seen:
        names = ", ".join('"%s"' % c.replace('"', '""') for c in ["rowid"] + columns)
        seen[section, number] = db.execute('SELECT %s FROM "%s" WHERE section = ? ORDER BY rowid'
                                           % (names, table.replace('"', '""')), (section,))
    classes[row["name"]] = row["fields"], seen[section, number]


def record(name, row):
    fields, rows = classes[name]
    got = next(rows, None)
    if got is None:
        fail("section", section, name, "lacks", row)
    for field, value in zip(fields, got[1:]):
        want = row[key(field["name"])]
        if not same(field, want, value):
            fail("section", section, name, "row", got[0], field, "is", repr(value), "and should be", repr(want))


for path in sys.argv[2:]:
    for line in open(path, encoding="utf-8"):
        row = parse(line)
        name = row["type"]
        if name == "@section":
            section += 1
            classes = {}
            attrs, = db.execute("SELECT attrs FROM sections WHERE id = ?", (section,)).fetchone() or fail("no section", section)
            if json.loads(attrs) != row["attrs"]:
                fail("section", section, attrs)
        elif name == "@schema":
            declare(row)
        elif name == "@end":
            complete, = db.execute("SELECT complete FROM sections WHERE id = ?", (section,)).fetchone()
            if complete != row["complete"]:
                fail("section", section, "complete", complete)
        else:
            record(escaped(name), row)
for (number, class_id), rows in seen.items():
    if next(rows, None):
        fail("section", number, "class", class_id, "has more rows")
check, = db.execute("PRAGMA integrity_check").fetchone()
if check != "ok":
    fail(check)
