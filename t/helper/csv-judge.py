#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""csv-judge.py plain|all CSV JSONL - does Python's csv module find in ctp-tocsv's output what ctp-tojsonl says of the same stream?"""
import csv
import io
import json
import sys

form, csv_path, jsonl_path = sys.argv[1:]
as_text = {"parse_int": str, "parse_float": str, "object_pairs_hook": lambda pairs: pairs}
csv.field_size_limit(1 << 24)


def fail(row, what, got, want):
    sys.exit(f"row {row}: {what}: got {got!r}, expected {want!r}")


def cell(value):
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else value


with open(jsonl_path, encoding="utf-8") as f:
    want = [json.loads(line, **as_text) for line in f]
with open(csv_path, encoding="utf-8", errors="surrogateescape", newline="") as f:
    raw = f.read()
got = list(csv.reader(io.StringIO(raw, newline="")))
header, got = got[0], got[1:]

if form == "plain":
    if header != "probe_id,tid,addr,seq,is_active,ts".split(","):
        fail(0, "header", header, "coroTracer's")
    # Written by Python it must be the same, byte for byte.
    again = io.StringIO(newline="")
    out = csv.writer(again, lineterminator="\n")
    out.writerow(header)
    out.writerows([cell(value) for _, value in row] for row in want)
    if again.getvalue() != raw:
        sys.exit("not what Python writes")
    sys.exit()

if header[0] != "type" or header[-2:] != ["late", "@meta"] or len(set(header)) != len(header):
    fail(0, "header", header, "type, ..., late, @meta")
if len(got) != len(want):
    fail(0, "rows", len(got), len(want))
for n, (cells, row) in enumerate(zip(got, want), 1):
    if len(cells) != len(header):
        fail(n, "columns", len(cells), len(header))
    fields = dict(row)
    kind = fields.pop("type")
    if kind == "@section":
        meta = fields.pop("attrs")
    elif kind == "@schema":
        meta = row[1:]
        fields = {}
    elif kind == "@end":
        meta = fields.pop("complete")
    else:
        meta = None
    if meta is None:
        if cells[-1]:
            fail(n, "@meta", cells[-1], "")
    elif json.loads(cells[-1], **as_text) != meta:
        fail(n, "@meta", cells[-1], meta)
    for name, text in zip(header[1:-1], cells[1:-1]):
        value = cell(fields.pop(name, ""))
        if text != value:
            fail(n, name, text, value)
    if cells[0] != kind or fields:
        fail(n, "type and fields", (cells[0], fields), kind)
