#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""perfetto-fields.py TRACE... - are the messages of files of ctp-toperfetto those of Perfetto's protos, by their numbers?

The table below was written from the protos, not from our code. Each field of a file must be in it, with its type, and each field of
it must be in one of the files. An arrow begins, comes by, and ends once, at last. Names and keys have been declared. Prints what
differs, and ends with status 1.
"""
import sys
from collections import Counter, defaultdict

VARINT, FIXED64, TEXT = "varint", "fixed64", "text"
MESSAGES = {
    "Trace": {1: ("packet", "TracePacket")},
    "TracePacket": {6: ("clock_snapshot", "ClockSnapshot"), 8: ("timestamp", VARINT), 10: ("trusted_packet_sequence_id", VARINT),
                    11: ("track_event", "TrackEvent"), 12: ("interned_data", "InternedData"), 13: ("sequence_flags", VARINT),
                    58: ("timestamp_clock_id", VARINT), 59: ("trace_packet_defaults", "TracePacketDefaults"),
                    60: ("track_descriptor", "TrackDescriptor")},
    "TracePacketDefaults": {11: ("track_event_defaults", "TrackEventDefaults"), 58: ("timestamp_clock_id", VARINT)},
    "TrackEventDefaults": {31: ("extra_counter_track_uuids", VARINT)},
    "ClockSnapshot": {1: ("clocks", "Clock")},
    "Clock": {1: ("clock_id", VARINT), 2: ("timestamp", VARINT), 3: ("is_incremental", VARINT)},
    "InternedData": {2: ("event_names", "InternedText"), 3: ("debug_annotation_names", "InternedText"),
                     29: ("debug_annotation_string_values", "InternedText")},
    "InternedText": {1: ("iid", VARINT), 2: ("str", TEXT)},
    "TrackEvent": {4: ("debug_annotations", "DebugAnnotation"), 9: ("type", VARINT), 10: ("name_iid", VARINT), 11: ("track_uuid", VARINT),
                   12: ("extra_counter_values", VARINT), 30: ("counter_value", VARINT), 47: ("flow_ids", FIXED64),
                   48: ("terminating_flow_ids", FIXED64), 52: ("correlation_id", VARINT)},
    "DebugAnnotation": {1: ("name_iid", VARINT), 3: ("uint_value", VARINT), 6: ("string_value", TEXT), 17: ("string_value_iid", VARINT)},
    "TrackDescriptor": {1: ("uuid", VARINT), 2: ("name", TEXT), 3: ("process", "ProcessDescriptor"), 4: ("thread", "ThreadDescriptor"),
                        5: ("parent_uuid", VARINT), 8: ("counter", "CounterDescriptor"), 11: ("child_ordering", VARINT),
                        12: ("sibling_order_rank", VARINT), 15: ("sibling_merge_behavior", VARINT)},
    "ProcessDescriptor": {1: ("pid", VARINT), 6: ("process_name", TEXT)},
    "ThreadDescriptor": {1: ("pid", VARINT), 2: ("tid", VARINT), 5: ("thread_name", TEXT)},
    "CounterDescriptor": {},
}
VALUES = { # of enums and flags: those that have a meaning which we want
    "sequence_flags": {1, 2},               # INCREMENTAL_STATE_CLEARED, NEEDS_INCREMENTAL_STATE
    "type": {1, 2, 3, 4},                   # SLICE_BEGIN, SLICE_END, INSTANT, COUNTER
    "child_ordering": {3},                  # EXPLICIT
    "sibling_merge_behavior": {2},          # SIBLING_MERGE_BEHAVIOR_NONE
    "clock_id": {1, 3, 6, 64, 65, 66},      # REALTIME, MONOTONIC, BOOTTIME, and our own
    "is_incremental": {1},
}
failures = Counter()
seen, values = set(), defaultdict(set)


def wrong(what):
    failures[what] += 1
    if failures[what] == 1:
        print(what)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 0x7f) << shift, shift + 7
        if byte < 0x80:
            return value, at


def fields(message, data):
    """Names and values of a message; a value is a number, a text or another message."""
    at, out = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = MESSAGES[message].get(tag >> 3, (None, None))
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        if name is None or (tag & 7) != {VARINT: 0, FIXED64: 1}.get(kind, 2):
            wrong(f"{message} has field {tag >> 3} of type {tag & 7}")
            continue
        seen.add((message, name))
        if kind == TEXT:
            value = value.decode("utf-8")
        elif kind not in (VARINT, FIXED64):
            value = fields(kind, value)
        if name in VALUES:
            values[name].add(value)
        out.append((name, value))
    return out


def judge(path):
    arrows, declared, opened = defaultdict(list), defaultdict(set), Counter()
    for _, packet in fields("Trace", open(path, "rb").read()):
        packet = dict(packet)
        sequence = packet["trusted_packet_sequence_id"]
        for kind, entry in packet.get("interned_data", []):
            declared[sequence, kind].add(dict(entry)["iid"])
        event = packet.get("track_event", [])
        for name, value in event:
            if name in ("flow_ids", "terminating_flow_ids"):
                arrows[value].append(name)
            elif name == "name_iid" and value not in declared[sequence, "event_names"]:
                wrong("a name was not declared")
            elif name == "debug_annotations":
                arg = dict(value)
                if arg["name_iid"] not in declared[sequence, "debug_annotation_names"]:
                    wrong("a key was not declared")
                if arg.get("string_value_iid", 0) not in declared[sequence, "debug_annotation_string_values"] | {0}:
                    wrong("a value was not declared")
        kind, track = dict(event).get("type"), dict(event).get("track_uuid")
        opened[track] += {1: 1, 2: -1}.get(kind, 0)
        if opened[track] < 0:
            wrong("a slice ends that has not begun")
    ends = 0
    for steps in arrows.values():
        ends += steps[-1] == "terminating_flow_ids"
        if steps[0] != "flow_ids" or "terminating_flow_ids" in steps[:-1]:
            wrong(f"an arrow is {', '.join(steps[:6])}")
    if arrows and not ends:
        wrong("no arrow ends")


for name in sys.argv[1:]:
    judge(name)
for message, table in MESSAGES.items():
    for name, _ in table.values():
        if (message, name) not in seen:
            wrong(f"no {message} has a {name}")
for name, want in VALUES.items():
    if values[name] != want:
        wrong(f"{name} is {sorted(values[name])}, not {sorted(want)}")
sys.exit(bool(failures))
