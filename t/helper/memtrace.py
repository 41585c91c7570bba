# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""memtrace.py - streams of memory's records for the tests of ctp-mem, as JSONL that ctp-fromjsonl takes.

A trace is a list of tuples: ("read" or "write", address, size, thread, atomic, unaligned), ("add", address, thread, element size,
count, type), ("remove", address, thread), ("loss", count), ("section",).
"""
import json

TIME = {"name": "ts", "type": "u64", "role": "time", "pred": "time"}
ADDRESS = {"name": "address", "type": "u64", "role": "address", "pred": "none"}
THREAD = {"name": "thread", "type": "u64", "role": "thread", "pred": "none"}
SCHEMAS = [
    {"type": "@schema", "name": "cacheray_access", "kind": "other", "fields": [
        TIME, ADDRESS, {"name": "size", "type": "u8", "unit": "bytes"}, THREAD,
        {"name": "op", "type": "enum", "labels": {"read": 0, "write": 1}},
        {"name": "atomic", "type": "bool"}, {"name": "unaligned", "type": "bool"}]},
    {"type": "@schema", "name": "cacheray_add", "kind": "other", "fields": [
        TIME, ADDRESS, THREAD, {"name": "element_size", "type": "u32", "unit": "bytes"}, {"name": "count", "type": "u32"},
        {"name": "type", "type": "string"}]},
    {"type": "@schema", "name": "cacheray_remove", "kind": "other", "fields": [TIME, ADDRESS, THREAD]},
    {"type": "@schema", "name": "cacheray_lost", "kind": "loss", "fields": [
        TIME, {"name": "count", "type": "u64", "role": "count"}]},
]
BEGIN = {"type": "@section", "attrs": {"clock": "ordinal", "cacheray.byte_order": "little", "cacheray.address_bytes": "8"}}


def row(ts, op):
    """One tuple as a row."""
    if op[0] in ("read", "write"):
        return {"type": "cacheray_access", "ts": ts, "address": f"0x{op[1]:016x}", "size": op[2], "thread": op[3], "op": op[0],
                "atomic": op[4], "unaligned": op[5]}
    if op[0] == "add":
        return {"type": "cacheray_add", "ts": ts, "address": f"0x{op[1]:016x}", "thread": op[2], "element_size": op[3],
                "count": op[4], "@type": op[5]}
    if op[0] == "remove":
        return {"type": "cacheray_remove", "ts": ts, "address": f"0x{op[1]:016x}", "thread": op[2]}
    return {"type": "cacheray_lost", "ts": ts, "count": op[1]}


def begin(out):
    """A section and its classes."""
    for line in [BEGIN] + SCHEMAS:
        out.write(json.dumps(line) + "\n")


def write(trace, out):
    """A trace as JSONL."""
    begin(out)
    for ts, op in enumerate(trace):
        if op[0] == "section":
            out.write(json.dumps({"type": "@end", "complete": True}) + "\n")
            begin(out)
        else:
            out.write(json.dumps(row(ts, op)) + "\n")
    out.write(json.dumps({"type": "@end", "complete": True}) + "\n")
