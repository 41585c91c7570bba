#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""ctpread.py [FILE] - print the sections and records of a raw stream as JSON lines, as ctp-tojsonl -a does.

A second reader, made from doc/ctp-stream.5 alone, in another language and without haste: where it and the library differ, or
it needs something that the page does not say, one of the three is wrong. t/pipe/spec.t compares them. The names are
the page's.

Standard error gets a line of totals. The status is 3 if anything was damaged, missing or cut short.
"""
import heapq
import json
import struct
import sys
from collections import defaultdict, namedtuple

MAGIC = b"\x8ecTP\r\n\x1a\n"
HEADER = struct.Struct("<8sIIIIQQQQBB3s3s")
Header = namedtuple("Header", "magic crc payload_crc length records section number earliest latest version flags heads keys")
MAX_PAYLOAD, MAX_FIELDS, MAX_LABELS, MAX_NAME = 4194304, 128, 256, 255
MAX_CLASSES, MAX_WORDS, MAX_MASKED, MAX_TEXT, MAX_STRINGS, MAX_SITE_TEXT = 512, 15, 56, 1048576, 65536, 1000
MAX_ATTRS, MAX_SECTION = 256, 131072
NONE, TIME, KEY, PREV, SAME, STATE, STEP, TOGGLE = range(8)  # predictors
I8, I64, BOOL, ENUM, F32, F64, STRING, BYTES = 5, 8, 9, 10, 11, 12, 13, 14  # types
U8, U64_TYPE = 1, 4
BITS = [0, 8, 16, 32, 64, 8, 16, 32, 64, 64, 64, 32, 64]  # of a type
ROLE_TIME, ROLE_ADDRESS, ROLE_STATE, ROLE_NAME, ROLE_SITE = 1, 4, 7, 11, 12
KIND_SITE = 12
SECTION, CLASS, MARK = 0, 1, 2  # control items
LAST, HEX = 1, 1  # flags: of a packet, of a field
U64 = 2**64 - 1
CRC_TABLE = list(range(256))
for _ in range(8):
    CRC_TABLE = [crc >> 1 ^ (crc & 1) * 0x82F63B78 for crc in CRC_TABLE]  # 1edc6f41, reflected


class Malformed(Exception):
    """Something that the page does not allow."""


def need(true, what):
    if not true:
        raise Malformed(what)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def unfold(number):
    return number >> 1 ^ -(number & 1)


def fit(type_, number):
    """The number modulo 2 to the power of the type's width."""
    number &= (1 << BITS[type_]) - 1
    if type_ == BOOL:
        return int(number != 0)
    return number - (1 << BITS[type_]) if I8 <= type_ <= I64 and number >> BITS[type_] - 1 else number


class Cursor:
    def __init__(self, data):
        self.data, self.pos = data, 0

    def more(self):
        return self.pos < len(self.data)

    def take(self, count):
        need(count <= len(self.data) - self.pos, "it ends too early")
        self.pos += count
        return self.data[self.pos - count : self.pos]

    def varint(self):
        first = self.take(1)[0]
        if first == 0:
            return int.from_bytes(self.take(8), "little")
        length = (first & -first).bit_length()
        return int.from_bytes(bytes([first]) + self.take(length - 1), "little") >> length

    def text(self, limit):
        length = self.varint()
        need(length <= limit, "a text is too long")
        return self.take(length)

    def name(self, may_be_empty=False):
        text = self.text(MAX_NAME)
        need(b"\0" not in text and (text or may_be_empty), "a name is empty or has a zero byte")
        return text.decode("utf-8", "surrogateescape")


Field = namedtuple("Field", "index name type role pred flags unit labels")


class Class:
    """A declaration, and the order in which the parts of a record stand."""

    def __init__(self, cursor, number):
        self.kind = cursor.varint()
        self.number, self.name, count = number, cursor.name(), cursor.varint()
        need(count <= MAX_FIELDS, "a class has too many fields")
        self.fields = [self.field(cursor, index) for index in range(count)]
        need(not cursor.more() and len({f.name for f in self.fields}) == count, "a declaration makes no sense")
        self.last = defaultdict(int)  # by field: its word in the last record
        self.time = next((f for f in self.fields if f.role == ROLE_TIME), None)
        self.state = next((f for f in self.fields if f.role == ROLE_STATE and f.type < STRING), None)
        keys, times = ([f for f in self.fields if f.pred == pred] for pred in (KEY, TIME))
        need(len(keys) <= 1 and all(f is self.time for f in times), "a class has two keys, or predicts two times")
        self.key, self.predicts_time = (keys + [None])[0], bool(times)
        self.plain = [f for f in self.fields if f.pred == NONE]
        self.masked = self.in_order((SAME, STATE), (PREV,), (STEP,), (TOGGLE,))
        self.words, used = {}, 0  # by field: the first of its words in a context
        for f in self.in_order((SAME, STATE), (STEP,), (TOGGLE,)):
            self.words[f.index] = used
            used += 2 if f.pred in (STATE, STEP) else 1
        need(used <= MAX_WORDS and len(self.masked) <= MAX_MASKED, "a class predicts too much")
        need(self.key or not used, "a class has no key")

    @staticmethod
    def field(cursor, index):
        name = cursor.name()
        type_, role, pred, flags = cursor.take(4)
        need(1 <= type_ <= BYTES and pred <= TOGGLE, "a type or predictor is not known")
        unit, count = cursor.name(may_be_empty=True), cursor.varint()
        need(count <= MAX_LABELS, "a field has too many labels")
        return Field(index, name, type_, role, pred, flags, unit, [(cursor.varint(), cursor.name()) for _ in range(count)])

    def in_order(self, *groups):
        """The state's field, then the others group by group, each as declared."""
        fields = [f for preds in groups for f in self.fields if f.pred in preds]
        return sorted(fields, key=lambda f: f is not self.state)


class Packet:
    """A payload, and what is remembered while it is read. A field has a value, to print, and a word, which predictors use."""

    def __init__(self, payload, heads, keys):
        lanes = payload[:heads], payload[heads : heads + keys], payload[heads + keys :]
        self.heads, self.keys, self.rest = (Cursor(lane) for lane in lanes)
        self.classes, self.strings, self.last_time = [], [], 0
        self.length, self.said = len(payload), 0
        self.contexts = {}  # by number: the class that it belongs to and its words

    def items(self):
        """Gives (class, values) for a record, (None, time) for a mark."""
        heads = self.heads
        while heads.more():
            head = heads.varint()
            kind, rest = head & 3, head >> 2
            if kind < 3:
                number = heads.varint() if kind == 2 else kind
                need(number < len(self.classes), "a class is not declared")
                yield self.classes[number], self.record(self.classes[number], rest)
                continue
            body = Cursor(heads.take(heads.varint()))
            if rest == CLASS:
                need(len(self.classes) < MAX_CLASSES, "there are too many classes")
                self.classes.append(Class(body, len(self.classes)))
            elif rest == MARK:
                yield None, body.varint()
        need(not self.keys.more() and not self.rest.more(), "a lane has more than its records")

    def attributes(self):
        """What the section item says, as ctp-tojsonl(1) prints it; what makes no sense is left out."""
        heads, attrs, last = Cursor(self.heads.data), {}, None
        try:
            need(heads.varint() == SECTION << 2 | 3, "a section item is missing")
            body = Cursor(heads.take(heads.varint()))
            count = body.varint()
            need(count <= MAX_ATTRS, "a section has too many attributes")
            for _ in range(count):
                name, value = (body.text(MAX_SECTION).decode("utf-8", "surrogateescape") for _ in range(2))
                stem = name.removesuffix("[]")
                if stem != name and name == last:
                    attrs[stem].append(value)
                elif stem not in attrs:
                    attrs[stem], last = [value] if stem != name else value, name
        except Malformed:
            pass
        return attrs

    def context(self, cls, key):
        i = key if key < 2**32 else (key * 0x9E3779B97F4A7C15 & U64) >> 50
        at = (i + 1021 * cls.number) % 16384
        if self.contexts.get(at, (None,))[0] is not cls:
            self.contexts[at] = cls, [0] * MAX_WORDS
        return self.contexts[at][1]

    def record(self, cls, mask):
        keys, rest, values, words, context = self.keys, self.rest, {}, {}, None
        need(mask >> len(cls.masked) == 0, "a mask has too many bits")

        def put(f, value, word):
            values[f.index], words[f.index] = value, word & U64

        def put_number(f, number):
            number = fit(f.type, number)
            put(f, self.float(f.type, number) if f.type >= F32 else number, number)

        if cls.key:
            put_number(cls.key, cls.last[cls.key.index] + unfold(keys.varint()))
            context = self.context(cls, words[cls.key.index])
        if cls.predicts_time:
            self.last_time = self.last_time + unfold(keys.varint()) & U64
            put(cls.time, self.last_time, self.last_time)
        for f in cls.plain:
            if f.type >= F32:
                put(f, *self.literal(f))
            else:
                put_number(f, unfold(rest.varint()) if I8 <= f.type <= I64 else rest.varint())
        for bit, f in enumerate(cls.masked):
            at = cls.words.get(f.index)
            if f.pred == STATE:
                at += words[cls.state.index] != 0
            before = cls.last[f.index] if f.pred == PREV else context[at]
            expected = before + context[at + 1] if f.pred == STEP else before ^ 1 if f.pred == TOGGLE else before
            if not mask >> bit & 1:
                if f.type >= STRING:
                    put(f, self.strings[expected - 1] if expected else b"", expected)
                else:
                    put_number(f, expected)
            elif f.type >= F32:
                put(f, *self.literal(f))
            else:
                put_number(f, expected ^ 1 if f.type == BOOL else expected + unfold(rest.varint()))
            if at is not None:
                context[at] = words[f.index]
            if f.pred == STEP:
                context[at + 1] = words[f.index] - before
        cls.last.update(words)
        said = sum(len(values[f.index]) for f in cls.fields if f.type >= STRING)
        self.said += said
        need(said <= MAX_PAYLOAD and self.said <= MAX_FIELDS * self.length, "the strings are too long")
        return [values[f.index] for f in cls.fields]

    def literal(self, f):
        """The value and the word of a float, string or bytes that stands in the rest."""
        if f.type < STRING:
            bits = int.from_bytes(self.rest.take(BITS[f.type] // 8), "little")
            return self.float(f.type, bits), bits
        how = self.rest.varint()
        if how > 2:
            need(how - 3 < len(self.strings), "a string is not there")
        if how >= 2:
            return (self.strings[how - 3] if how > 2 else b""), how - 2
        text = self.rest.text(MAX_TEXT)
        if how == 1 or not text:
            return text, 0
        need(len(self.strings) < MAX_STRINGS, "there are too many strings")
        self.strings.append(text)
        return text, len(self.strings)

    @staticmethod
    def float(type_, bits):
        return struct.unpack("<f" if type_ == F32 else "<d", bits.to_bytes(BITS[type_] // 8, "little"))[0]


class Order:
    """Holds records of a section back until a mark lets them go."""

    def __init__(self):
        self.heap, self.count, self.mark, self.last_time = [], 0, 0, 0
        self.sites = {}  # by number: the text that ctp-tojsonl.1 shows

    def add(self, cls, values):
        """Gives the record at once if it is late."""
        self.last_time = time = values[cls.time.index] if cls.time else max(self.last_time, self.mark)
        if time < self.mark:
            yield self.as_json(cls, values, {"late": True})
        else:
            self.count += 1
            heapq.heappush(self.heap, (time, self.count, cls, values))

    def let_go(self, mark):
        self.mark = max(self.mark, mark)
        while self.heap and self.heap[0][0] < self.mark:
            _, _, cls, values = heapq.heappop(self.heap)
            yield self.as_json(cls, values, {})

    def as_json(self, cls, values, more):
        def escaped(name, *others):
            return "@" + name if name.startswith("@") or name in others else name

        if cls.kind == KIND_SITE:
            self.learn(cls.fields, values)
        keys = {}
        for f, value in zip(cls.fields, values):
            keys[escaped(f.name, "type", "late")] = json_value(f, value)
            text = f.name + "_text"
            refers = f.role == ROLE_SITE and is_unsigned(f) and cls.kind != KIND_SITE
            if refers and self.sites.get(value) and all(other.name != text for other in cls.fields):
                keys[escaped(text)] = self.sites[value].decode("utf-8", "surrogateescape")
        return json.dumps({"type": escaped(cls.name), **keys, **more}, separators=(",", ":"))

    def learn(self, fields, values):
        """What a record says of a place in the source."""
        record = [(f, value) for f, value in zip(fields, values)]
        site = next((value if is_unsigned(f) else 0 for f, value in record if f.role == ROLE_SITE), 0)
        file = next((value for f, value in record if f.name == "file" and f.type == STRING), b"")
        line = next((value for f, value in record if f.name == "line" and is_unsigned(f)), 0)
        function = next((value if f.type == STRING else b"" for f, value in record if f.role == ROLE_NAME), b"")
        text = file + (b":%d" % line if line else b"") + (b":" + function if function else b"")
        if site:
            self.sites[site] = text if len(text) <= MAX_SITE_TEXT else b""


class Stream:
    def __init__(self, data):
        self.data, self.records, self.packets = data, 0, 0
        self.missing_packets = self.skipped_bytes = self.cut_short = self.malformed = 0

    def valid_packets(self):
        pos = 0
        while pos < len(self.data):
            head = self.data[pos : pos + HEADER.size]
            if len(head) == HEADER.size and head.startswith(MAGIC):
                header = Header._make(HEADER.unpack(head))
                heads, keys = (int.from_bytes(length, "little") for length in (header.heads, header.keys))
                allowed = heads + keys <= header.length <= MAX_PAYLOAD
                if header.crc == crc32c(head[12:]) and header.version == 2 and allowed:
                    payload = self.data[pos + HEADER.size : pos + HEADER.size + header.length]
                    if len(payload) == header.length and crc32c(payload) == header.payload_crc:
                        yield header, Packet(payload, heads, keys)
                        pos += HEADER.size + header.length
                        continue
            further = self.data.find(MAGIC, pos + 1)
            further = len(self.data) if further < 0 else further
            self.skipped_bytes += further - pos
            pos = further

    def lines(self):
        before, held = None, Order()
        for header, packet in self.valid_packets():
            if before and (header.section != before.section or header.number <= before.number):
                yield from held.let_go(U64 + 1)
                self.cut_short += 1
                before, held = None, Order()
            self.packets += 1
            if not before:
                yield json.dumps({"type": "@section", "attrs": packet.attributes()}, separators=(",", ":"))
            self.missing_packets += header.number - (before.number + 1 if before else 0)
            before = header
            count = 0
            try:
                for cls, what in packet.items():
                    need(not cls or count < header.records, "there are more records than the header says")
                    count += bool(cls)
                    yield from held.add(cls, what) if cls else held.let_go(what)
                need(count == header.records, "there are fewer records than the header says")
            except Malformed:
                self.malformed += 1
            self.records += count
            if header.flags & LAST:
                yield from held.let_go(U64 + 1)
                before, held = None, Order()
        yield from held.let_go(U64 + 1)
        self.cut_short += bool(before) or self.packets == 0


def is_unsigned(f):
    return U8 <= f.type <= U64_TYPE


def json_value(f, value):
    if f.type == BOOL:
        return bool(value)
    if f.type == STRING:
        return value.decode("utf-8", "surrogateescape")
    if f.type == BYTES:
        return value.hex()
    if f.type == ENUM:
        label = next((label for number, label in f.labels if number == value), None)
        return label if label and next(number for number, name in f.labels if name == label) == value else value
    if f.type in (F32, F64):
        text = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value))
        return text or (shortest_f32(value) if f.type == F32 else value)
    return f"0x{value & U64:016x}" if f.role == ROLE_ADDRESS or f.flags & HEX else value


def shortest_f32(value):
    numbers = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    return next(n for n in numbers if abs(n) < 3.4028236e38 and struct.pack("<f", n) == struct.pack("<f", value))


def main():
    with open(sys.argv[1] if len(sys.argv) > 1 else 0, "rb") as file:
        stream = Stream(file.read())
    for line in stream.lines():
        print(line)
    totals = ("records", "packets", "missing_packets", "skipped_bytes", "cut_short")
    print("ctpread:", ", ".join(f"{name} {getattr(stream, name)}" for name in totals), file=sys.stderr)
    return 3 if stream.skipped_bytes or stream.malformed or stream.missing_packets or stream.cut_short else 0


if __name__ == "__main__":
    sys.exit(main())
