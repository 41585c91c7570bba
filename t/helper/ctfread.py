#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""ctfread.py [--bt2] DIR JSONL - compare a trace of ctp-toctf with what ctp-tojsonl -a prints for the same stream.

A second reader, made from doc/ctp-toctf.1 alone: it reads the packets bit for bit as that page says, and checks what readers rely
on (sizes, times, order, no empty packet). With --bt2 the events come from babeltrace2's Python binding instead. Either way every
section, class, record and value must be there, and nothing else but the spellings of names, each its own. Prints the totals of what
it read.
"""
import json
import os
import re
import struct
import sys
from collections import Counter
from itertools import accumulate

PACKET = struct.Struct("<I16sIQQQQQQ")
SMALL_PACKET = 256 << 10
SPELLED = 2048  # the first id of a class with spellings
SPELLING_MAX = 32767
FLOATS = {"f32": "f", "f64": "d"}


def need(true, what):
    if not true:
        sys.exit(f"ctfread: {what}")


# --- what both sides are brought to: (class, values), integers as they are, texts and bytes as bytes, floats as their bits ---


def pairs(text):
    """JSON with objects as pairs, for a key may be there twice, and with the sign of -0."""
    return json.loads(text, object_pairs_hook=tuple, parse_int=lambda t: -0.0 if t == "-0" else int(t))


def freeze(value):
    return tuple(freeze(v) for v in value) if isinstance(value, (list, tuple)) else value


class Class:
    def __init__(self, declaration):
        self.json = freeze(declaration)
        keys = dict(declaration)
        self.name, self.kind = keys["name"], keys["kind"]
        self.fields = [dict(f) for f in keys["fields"]]
        times = [i for i, f in enumerate(self.fields) if f.get("role") == "time"]
        self.time = times[0] if times else None
        names = [f["name"] for f in self.fields]
        strings = [i for i, f in enumerate(self.fields) if f["type"] == "string"]
        self.texts = strings if any(self.fields[i].get("role") == "name" for i in strings) else []
        self.keys = {"@" + n if n[0] == "@" or n in ("type", "late") else n for n in names}

    def lost(self, values):
        counts = [i for i, f in enumerate(self.fields) if f.get("role") == "count"]
        number = counts and self.fields[counts[0]]["type"] in ("u8", "u16", "u32", "u64")
        return 0 if self.kind != "loss" else values[counts[0]] if number else 1


def float_bits(type_, number):
    return "nan" if number != number else struct.pack("<" + FLOATS[type_], number)


def from_json(field, value):
    type_ = field["type"]
    if type_ in FLOATS:
        return float_bits(type_, float(str(value).replace("Infinity", "inf")))
    if type_ == "string":
        return value.encode("utf-8", "surrogateescape")
    if type_ == "bytes":
        return bytes.fromhex(value)
    if type_ == "enum" and isinstance(value, str):
        return next(v for name, v in field["labels"] if name == value)
    if isinstance(value, str):
        number = int(value, 16)
        return number - (1 << 64) if type_[0] == "i" and number >> 63 else number
    return int(value)


def spell(text, spelled={}):  # pylint: disable=dangerous-default-value
    """How a name is spelled for Trace Compass, as bytes; no two the same."""

    def one(c):
        n = ord(c)
        if 0xDC80 <= n < 0xDD00 or n < 32 or n == 127 or text == b"*":
            return "\\x%02x" % (n & 255)
        return "\\\\" if c == "\\" else c if n < 127 else "\\u%04x" % n if n < 65536 else "\\U%08x" % n

    parts = [one(c) for c in text.decode("utf-8", "surrogateescape")]
    result = "".join(parts).encode("ascii") or b"\\(empty)"
    if len(result) > (SPELLING_MAX if result == text else SPELLING_MAX - 20):
        number = 0xCBF29CE484222325
        for byte in text:
            number = (number ^ byte) * 0x100000001B3 % (1 << 64)
        length = max(n for n in accumulate(map(len, parts)) if n <= SPELLING_MAX - 20)
        result = result[:length] + b"\\...%016x" % number
    need(spelled.setdefault(result, text) == text, f"{text} and {spelled[result]} are spelled alike")
    return result


# --- one side: JSONL ---------------------------------------------------------------------------------------------------------


class Section:
    def __init__(self, attrs):
        self.attrs, self.complete, self.records, self.lost = freeze(attrs), None, Counter(), 0

    def add(self, cls, values):
        self.records[cls.json, tuple(values)] += 1
        self.lost = min(self.lost + cls.lost(values), 2**63 - 1)


def read_jsonl(path):
    sections, classes = [], {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = pairs(line)
            type_ = row[0][1]
            if type_ == "@section":
                sections.append(Section(row[1][1]))
                classes = {}
            elif type_ == "@schema":
                cls = Class(row[1:])
                classes[cls.name] = cls
            elif type_ == "@end":
                sections[-1].complete = row[1][1]
            else:
                cls = classes[type_[1:] if type_[0] == "@" else type_]
                values = [v for key, v in row[1:] if key in cls.keys]  # and not what JSONL has for people
                sections[-1].add(cls, [from_json(f, v) for f, v in zip(cls.fields, values)])
    return sections


# --- the other: CTF ------------------------------------------------------------------------------------------------------------


def literal(text):
    """A string of TSDL, as bytes that are UTF-8."""
    return re.sub(r"\\([0-7]{3}|.)", lambda m: chr(int(m[1], 8)) if len(m[1]) == 3 else m[1], text).encode("latin-1").decode()


class Trace:
    """What the metadata says."""

    def __init__(self, folder):
        with open(os.path.join(folder, "metadata"), encoding="ascii") as file:
            text = file.read()
        need(text.startswith("/* CTF 1.8 */\n"), "the first line")
        env = re.search(r"^env \{\n(.*?)^\};", text, re.M | re.S)[1]
        self.env = {m[1]: m[2] for m in re.finditer(r"^\t(\w+) = (.*);$", env, re.M)}
        need(self.env["tracer_name"] == '"ctptools"' and "domain" not in self.env, "env")
        self.uuid = bytes.fromhex(re.search(r'uuid = "([0-9a-f-]+)"', text)[1].replace("-", ""))
        self.offset = [int(re.search(rf"\t{n} = (\d+);", text)[1]) for n in ("offset_s", "offset")]
        self.classes = [Class(pairs(self.text(n))) for n in self.env if n.startswith("ctp_class_")]
        self.events = {}
        event = r'^event \{\n\tname = (.*);\n\tid = (\d+);\n\tstream_id = 0;\n\tfields := struct \{\n((?:\t\t.*\n)*)\t\};\n\};$'
        for m in re.finditer(event, text, re.M):
            id_ = int(m[2])
            need(id_ not in self.events, "an event id twice")
            need(self.classes[id_ % SPELLED // 4].name == json.loads('"' + literal(m[1][1:-1]) + '"'), "an event's name")
            self.events[id_] = [self.field(line) for line in m[3].splitlines()]
        need(len(self.events) == text.count("\nevent {"), "an event that is not of the known form")
        self.section = Section(pairs(self.text("ctp_section")))
        self.section.complete = self.env["ctp_complete"] == "1"

    def text(self, name):
        return literal(self.env[name][1:-1])

    @staticmethod
    def field(line):
        """(kind, size in bits, signed) of a declaration; the count of a sequence has its own."""
        m = re.fullmatch(r"\t\t(.*?) (_\w+)(\[\w+\])?;", line)
        need(m, f"a field: {line}")
        if m[1] == "string":
            return ("string", 0, False)
        if m[1] == "uint32_t":
            return ("count", 32, False)
        if m[1].startswith("floating_point"):
            return ("float", 32 if "mant_dig = 24" in m[1] else 64, False)
        size, align = map(int, re.search(r"size = (\d+); align = (\d);", m[1]).groups())
        need(align == (1 if size == 1 else 8), "an alignment")
        labels = re.findall(r'"((?:[^"\\]|\\.)*)" = (\d+)', m[1])
        need(all(int(v) < min(1 << size, 1 << 63) for _, v in labels), "a label that Trace Compass does not take")
        need(len({n for n, _ in labels}) == len({v for _, v in labels}) == len(labels), "a label twice")
        return ("bytes" if m[3] else "int", size, "signed = true" in m[1])


def payload(fields, data, at):
    values, count, bit = [], 0, 0
    for kind, size, signed in fields:
        need(bit == 0 or size == 1, "a field within a byte")
        if kind == "string":
            end = data.index(0, at)
            values.append(data[at:end])
            at = end + 1
        elif kind == "bytes":
            values.append(data[at : at + count])
            at += count
        elif kind == "float":
            number = struct.unpack_from("<f" if size == 32 else "<d", data, at)[0]
            values.append(float_bits("f32" if size == 32 else "f64", number))
            at += size // 8
        else:
            number = int.from_bytes(data[at : at + (bit + size + 7) // 8], "little", signed=signed) >> bit
            number = number if signed else number & (1 << size) - 1
            if kind == "count":
                count = number
            else:
                values.append(number)
            at, bit = at + (bit + size) // 8, (bit + size) % 8
    need(bit == 0, "an event ends within a byte")
    return values, at


def read_packet(trace, data, at, end, now):
    """Yields (id, time, values) of each event in [at, end)."""
    while at < end:
        word = int.from_bytes(data[at : at + 4], "little")
        if word & 31 < 31:
            id_, at = word & 31, at + 4
            now += (word >> 5) - now & (1 << 27) - 1
        else:
            id_, now = struct.unpack_from("<IQ", data, at + 1)
            at += 13
        values, at = payload(trace.events[id_], data, at)
        yield id_, now, values
    need(at == end, "content_size ends within an event")


def read_stream(trace, number, data, totals):
    at = last = discarded = 0
    while at < len(data):
        magic, uuid, class_, instance, begin, end, content, size, lost = PACKET.unpack_from(data, at)
        need(magic == 0xC1FC1FC1 and uuid == trace.uuid and class_ == 0 and instance == number, "a packet's header")
        need(content == size and content % 8 == 0 and at + size // 8 <= len(data), "a packet's sizes")
        events = list(read_packet(trace, data, at + PACKET.size, at + size // 8, begin))
        need(events, "an empty packet")
        need(size // 8 <= SMALL_PACKET or len(events) == 1, "a packet is too large")
        times = [time for _, time, _ in events]
        need(begin == times[0] and end == times[-1] and begin >= last, "a packet's times")
        need(times == sorted(times), "a stream goes back in time")
        need(end + trace.offset[0] * 10**9 + trace.offset[1] < (1 << 63) - 1, "a time that readers cannot hold")
        need(lost >= discarded, "events_discarded")
        yield from events
        at, last, discarded = at + size // 8, end, lost
        totals["packets"] += 1
    need(at and at == len(data), "a stream file without a packet")
    totals["discarded"] += discarded
    totals["streams"] += 1


def read_raw(folder, trace, totals):
    for name in sorted(set(os.listdir(folder)) - {"metadata"}):
        need(re.fullmatch("stream_[0-3]", name), f"a strange file: {name}")
        with open(os.path.join(folder, name), "rb") as file:
            yield from read_stream(trace, int(name[-1]), file.read(), totals)


def read_bt2(folder, trace, totals):
    import bt2  # pylint: disable=import-error,import-outside-toplevel

    def plain(field):
        if isinstance(field, bt2._ArrayFieldConst):
            return bytes(int(v) for v in field)
        if isinstance(field, bt2._RealFieldConst):
            return float(field)
        return str(field).encode() if isinstance(field, bt2._StringFieldConst) else int(field)

    for message in bt2.TraceCollectionMessageIterator(folder):
        if isinstance(message, bt2._DiscardedEventsMessageConst):
            need(message.count is not None, "babeltrace2 does not know how many events are missing")
            totals["discarded"] += message.count
        if not isinstance(message, bt2._EventMessageConst):
            continue
        event = message.event
        need(event.stream.trace.environment["ctp_section"] == trace.text("ctp_section"), "env")
        kinds, values = trace.events[event.id], []
        for (kind, size, _), field in zip(kinds, event.payload_field.values()):
            value = plain(field)
            if kind == "float":
                value = float_bits("f32" if size == 32 else "f64", value)
            if kind != "count":
                values.append(value)
        yield event.id, message.default_clock_snapshot.value, values


def main():
    read = read_raw
    if sys.argv[1] == "--bt2":
        read = read_bt2
        del sys.argv[1]
    top, want = sys.argv[1], read_jsonl(sys.argv[2])
    folders = [top] if "metadata" in os.listdir(top) else [os.path.join(top, n) for n in sorted(os.listdir(top))]
    totals = Counter(events=0, timed=0, wide=0, spelled=0, discarded=0, streams=0, packets=0)
    need(len(folders) == max(len(want), 1), f"{len(folders)} traces for {len(want)} sections")
    for folder, section in zip(folders, want):
        trace, before = Trace(folder), totals["discarded"]
        used = set()
        for id_, time, values in read(folder, trace, totals):
            cls = trace.classes[id_ % SPELLED // 4]
            spellings = []
            if cls.texts and (id_ >= SPELLED or id_ & 1):
                values, spellings = values[: -len(cls.texts)], values[-len(cls.texts) :]
            if cls.time is not None and not id_ & 2:
                values.insert(cls.time, time)
            trace.section.add(cls, values)
            own = [values[i] for i in cls.texts]
            spelled = [spell(text) for text in own]
            need((spellings or own) == spelled, f"{own} is spelled {spellings}, and not {spelled}")
            need(id_ < SPELLED or own != spelled, f"{own} need not be spelled")
            totals["spelled"] += bool(spellings)
            used.add(id_)
            totals["events"] += 1
            totals["wide"] += id_ & 1
            totals["timed"] += id_ >> 1 & 1
        got = trace.section
        need(used == set(trace.events), "an event is declared and does not occur")
        need((got.attrs, got.complete) == (section.attrs, section.complete), f"{folder}: the section: {got.attrs} {got.complete}")
        for more, less, what in (got.records, section.records, "has"), (section.records, got.records, "lacks"):
            for (cls, values), count in (more - less).items():
                need(False, f"{folder}: the trace {what} {count} of {cls[0][1]} {values}")
        need(min(totals["discarded"] - before, 2**63 - 1) == section.lost, f"{folder}: lost {section.lost}")
    print(" ".join(f"{name} {count}" for name, count in totals.items()))


main()
