# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""pptfile.py - PPT1 files for tests, with their contents known independently of the tools.

make KIND FILE TRUTH    writes a file of that kind, and what its records have to be, as JSON
judge TRUTH <JSONL      compares the output of ctp-tojsonl -a with the truth: prints what differs
csv FILE... <JSONL      the same against the tables that ppt itself made; FILE.NAME.csv has the frames of class ppt_*_NAME
order <JSONL            prints frames without a time that are not after the frame that they followed
frames FILE             cuts a file into FILE.head and FILE.0, FILE.1 ... : its header and its frames
"""
import json
import math
import random
import struct
import sys

SIZES = {"int": 4, "byte": 1, "double": 8, "float": 4, "time": 16, "counter": 8}
ALIGN = dict(SIZES, time=8)
FORMAT = {"int": "<i", "byte": "<B", "double": "<d", "float": "<f", "counter": "<Q"}
INT = {"tag": "PIntegral", "contents": ["PPInt", None]}
BYTE = {"tag": "PIntegral", "contents": ["PPByte", None]}


def json_type(kind, counter=None):
    return {"int": INT, "byte": BYTE, "double": {"tag": "PRational", "contents": ["PPDouble", None]},
            "float": {"tag": "PRational", "contents": ["PPFloat", None]}, "time": {"tag": "PTime", "contents": None},
            "counter": {"tag": "PCounter", "contents": [{"tag": "Expanded", "contents": counter or 0}, None]}}[kind]


class Frame:
    """Members: (name, kind, end, base, counter); end is None, Begin or End. A name that is repeated n times is bytes."""

    def __init__(self, name, specs, typed, counters=3):
        self.name, self.members, self.typed = name, [], typed
        for spec in specs:
            kind, base, *rest = spec.split()
            bytes_ = int(rest[0]) if rest and rest[0].isdigit() else None
            interval = "interval" in rest
            for i in range(counters if kind == "counter" else 1):
                stem = f"{base}_{i}" if kind == "counter" else base
                for end in ("Begin", "End") if interval else (None,):
                    suffix = {"Begin": "_start", "End": "_end", None: ""}[end]
                    self.members.append(dict(name=stem + suffix, kind=kind, end=end, base=base, stem=stem,
                                             counter=i if kind == "counter" else None, size=bytes_ or SIZES[kind]))
        at = 8 if typed else 4
        for m in self.members:
            align = ALIGN[m["kind"]]
            at = (at + align - 1) // align * align
            m["offset"], at = at, at + m["size"]
        self.end = (at + 3) // 4 * 4
        self.pad = 0

    def size(self):
        return self.end + self.pad + 4

    def layout(self):
        def element(name, offset, size, type_, kind):
            return {"_lName": name, "_lOffset": offset, "_lSize": size, "_lAlignment": 4, "_lType": type_, "_lKind": kind}
        out = [element("__ppt_seqno", 0, 4, INT, {"tag": "LKSeqno", "contents": "FrontSeq"})]
        if self.typed:
            out.append(element("__ppt_type", 4, 4, INT, {"tag": "LKTypeDescrim", "contents": 2}))
        for m in self.members:
            end = m["end"] and {"tag": "Int" + m["end"], "contents": [0, 1]}
            out.append(element(m["name"], m["offset"], m["size"], json_type(m["kind"], m["counter"]),
                               {"tag": "LKMember", "contents": [{"fmName": m["base"]}, end]}))
        if self.pad:
            out.append(element(f"__ppt_endpad_{self.pad}", self.end, self.pad, BYTE, {"tag": "LKPadding", "contents": self.pad}))
        out.append(element("__ppt_seqno_back", self.end + self.pad, 4, INT, {"tag": "LKSeqno", "contents": "BackSeq"}))
        return {"_flName": self.name, "_flFrame": {}, "_flLayout": out}


class Buffer:
    def __init__(self, name, frames, rep="ETimeSpec", clock="ETimeClockMonotonic", counters=("PAGE-FAULTS", "CPU-CLOCK")):
        self.name, self.rep, self.counters = name, rep, list(counters)
        self.frames = [Frame(n, specs, len(frames) > 1) for n, specs in frames]
        self.size = max(f.size() for f in self.frames)
        for f in self.frames:
            f.pad = self.size - f.size()
        emit = {"_eBuffer": {"ebName": name, "ebMinElements": 64}, "_eTimeRep": {"tag": rep, "contents": clock},
                "_eRuntime": {"erMultithread": True}, "_eOptions": [], "_eTags": []}
        self.json = {"abi": "1.0.0", "emit": emit, "frames": [f.layout() for f in self.frames], "metadata": [], "tags": []}
        self.unit = 1000 if rep == "ETimeVal" else 1
        self.bytes, self.truth, self.comment = [], [], ""

    def column(self, m):
        names = [c.lower().replace("-", "_") for c in self.counters]
        return f"{m['base']}_{names[m['counter']]}" if m["counter"] < len(names) else f"{m['base']}_{m['counter']}"

    def add(self, seqno, frame, values, padding=None):
        """A frame with these values: a time is (seconds, parts). None of them: zero."""
        f = self.frames[frame]
        raw = bytearray(padding[i % len(padding)] if padding else 0 for i in range(self.size))
        struct.pack_into("<i", raw, 0, seqno)
        struct.pack_into("<i", raw, self.size - 4, seqno)
        if f.typed:
            struct.pack_into("<i", raw, 4, frame + 1)
        for m in f.members:
            v = values.get(m["name"], (0, 0) if m["kind"] == "time" else b"" if m["size"] != SIZES[m["kind"]] else 0)
            if m["kind"] == "time":
                struct.pack_into("<qq", raw, m["offset"], *v)
            elif isinstance(v, bytes):
                raw[m["offset"]:m["offset"] + m["size"]] = v.ljust(m["size"], b"\0")
            else:
                struct.pack_into(FORMAT[m["kind"]], raw, m["offset"], v)
        self.bytes.append(bytes(raw))
        self.truth.append(self.record(seqno, f, values))

    def ns(self, time):
        return time[0] * 10**9 + time[1] * self.unit

    def record(self, seqno, f, values):
        out, own = {"type": f"ppt_{self.name}_{f.name}", "ppt_seqno": seqno}, True
        for m in f.members:
            kind, name = m["kind"], m["name"]
            v = values.get(name, (0, 0) if kind == "time" else 0)
            if kind == "time":
                v = self.ns(v)
                out[name] = max(v, 0) if own else v
                own = False
                if m["end"] == "End":
                    out[m["base"] + "_duration"] = v - self.ns(values.get(m["base"] + "_start", (0, 0)))
            elif kind == "counter" and m["end"] == "Begin":
                difference = (values.get(m["stem"] + "_end", 0) - v) % 2**64
                out[self.column(m)] = difference - 2**64 if difference >= 2**63 else difference
                out[name] = v
            elif kind == "counter":
                if not m["end"]:
                    out[self.column(m)] = v
            elif m["size"] != SIZES[kind]:
                out[name] = (v or b"").ljust(m["size"], b"\0").hex()
            elif kind in ("double", "float"):
                v = struct.unpack(FORMAT[kind], struct.pack(FORMAT[kind], v))[0]
                out[name] = v if math.isfinite(v) else "NaN" if v != v else "Infinity" if v > 0 else "-Infinity"
            else:
                out[name if name not in out else name + "_2"] = v
        return out

    def header(self):
        return json.dumps({"frFormat": "1.0.0", "frDate": "now", "frComment": self.comment, "frDeltaTime": 0,
                           "frCounters": self.counters, "frJson": self.json}, ensure_ascii=False).encode()

    def write(self, path, truth):
        header = self.header()
        with open(path, "wb") as f:
            f.write(b"PPT1" + struct.pack(">I", len(header)) + header + b"".join(self.bytes))
        with open(truth, "w") as f:
            json.dump(self.truth, f)


ALL = ["time d interval", "counter ev interval", "int n", "double x", "float y", "byte b", "byte text 5", "time t", "int ppt_seqno"]


def all_types(rng, count, **how):
    b = Buffer("Mix", [("all", ALL), ("small", ["int n", "counter c"])], **how)
    second = 10**9 // b.unit
    for i in range(count):
        if i % 3 == 2:
            b.add(i + 1, 1, {"n": -i, "c_0": 2**64 - 1 - i, "c_1": i, "c_2": 7})
            continue
        start, c = 5000 + i, rng.getrandbits(64)
        b.add(i + 1, 0, {"d_start": (start, rng.randrange(second)), "d_end": (start + 1, rng.randrange(second)), "t": (-i, second - 1),
                         "ev_0_start": 100 * i, "ev_0_end": 130 * i, "ev_1_start": c, "ev_1_end": (c + 5) % 2**64, "ev_2_start": 9,
                         "n": (-1)**i * rng.getrandbits(31), "x": rng.uniform(-1e9, 1e9), "y": rng.uniform(-1, 1), "b": i % 256,
                         "text": bytes([i % 256, 0, 255]), "ppt_seqno": i})
    return b


def kind_mixed(rng):
    return all_types(rng, 300)


def kind_timeval(rng):
    return all_types(rng, 100, rep="ETimeVal", clock="ETimeClockRealtime")


def kind_one(rng):
    b = Buffer("One", [("only", ["int n", "time t"])], clock="ETimeClockRealtime", counters=())
    for i in range(50):
        b.add(i + 1000, 0, {"n": rng.getrandbits(31) - 2**30, "t": (1700000000 + i, i)})
    return b


def kind_timeless(rng):
    b = Buffer("Bare", [("only", ["int n", "double x"])], counters=())
    for i in range(50):
        b.add(i + 1, 0, {"n": -i, "x": [0.1, -0.0, math.inf, -math.inf, 5e-324][i % 5]})
    return b


def kind_wrap(rng):
    """Numbers that pass 2^31, and, further on, 0."""
    b = Buffer("Wrap", [("only", ["int n", "time t"])], counters=())
    for i in range(20):
        b.add(2**31 - 10 + i if i < 10 else -2**31 + i - 10, 0, {"n": i, "t": (100 + i, 0)})
    return b


def kind_zero(rng):
    b = Buffer("Zero", [("only", ["int n", "time t"])], counters=())
    for i in range(20):
        b.add(i - 10, 0, {"n": i, "t": (100 + i, 0)})
    return b


def kind_odd(rng):
    """Invalid times, and NaNs with a payload. The truth has what is known of them."""
    b = Buffer("Odd", [("odd", ["time d interval", "double x", "float y", "byte b"]), ("pad", ["byte b"])], counters=())
    nan = [struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in (0x7ff8000000000000, 0xfff8000000001234, 0x7ff4000000000001)]
    times = [(5, 10**9), (5, -1), (-3, 0), (-3, 999999999), (7, 2 * 10**9 + 1), (9, 0)]
    for i in range(60):
        b.add(i + 1, i % 2, {"d_start": times[i % 6], "d_end": times[i // 6 % 6], "x": nan[i % 3], "y": math.nan, "b": i},
              padding=bytes([i, 0, 255 - i]) if i % 4 else None)
    return b


def kind_unordered(rng):
    """Times in any order."""
    b = Buffer("Any", [("timed", ["int n", "time t"]), ("not", ["int n"])], counters=())
    for i in range(2000):
        b.add(i + 1, i % 5 == 4, {"n": i, "t": (rng.randrange(1000000), rng.randrange(10**9))})
    return b


def kind_header(rng):
    """A header of several parts, with what JSON has to escape."""
    b = kind_one(rng)
    b.comment = 'ä"\\\n\u0001€' * 40000
    return b


def kind_wide(rng):
    """More members than a class has fields; the time is the last of them."""
    b = Buffer("Wide", [("wide", [f"int m{i}" for i in range(300)] + ["time t"])], counters=())
    for i in range(10):
        b.add(i + 1, 0, dict({f"m{k}": 1000 * i - k for k in range(300)}, t=(i, 7)))
    for row in b.truth:
        for k in range(123, 300):
            del row[f"m{k}"]
    return b


def kind_spelled(rng):
    """The same layout with no contents where they can be missed, keys in another order, and below "buffer" as in ppt's document."""
    b = Buffer("Spelt", [("only", ["int n", "time t", "double x"])], counters=())
    for i in range(10):
        b.add(i + 1, 0, {"n": i, "t": (i, 5), "x": i / 7})
    for element in b.json["frames"][0]["_flLayout"]:
        kind = element["_lKind"]["tag"]
        element["_lKind"] = kind if kind == "LKSeqno" else {"contents": element["_lKind"]["contents"], "tag": kind}
        element["_lType"] = {"tag": element["_lType"]["tag"]}
    emit = b.json["emit"]
    b.json = {"unknown": [[{}]], "buffer": {"frames": b.json["frames"], "emit": emit}, "abi": "1.0.0"}
    emit["_eTimeRep"] = {"tag": "ETimeSpec"}
    return b


def kind_holes(rng):
    """Every second frame is missing: more gaps than are kept."""
    b = Buffer("Holes", [("only", ["int n", "time t"])], counters=())
    for i in range(10000):
        b.add(2 * i + 1, 0, {"n": i, "t": (100 + i, 0)})
    return b


def kind_gaps(rng):
    """Frames without a time between others, and more gaps than are kept: in front of either; then without a time for long."""
    b = Buffer("Gaps", [("timed", ["int n", "time t"]), ("not", ["int n"])], counters=())
    seqno = 0
    for i in range(9000):
        seqno += 2 if i % 3 == 0 else 1
        b.add(seqno, i % 2 or i > 5000, {"n": i, "t": (100 + i, 0)})
    return b


def kind_bench(rng):
    """150,000 frames as those of ppt's own fixture."""
    specs = ["int n2", "int n3", "time d interval", "counter ev interval"] + ["double " + c for c in "abcefghijklmopqs"] + ["int n"]
    b = Buffer("F232", [("big", specs), ("tiny", ["double x", "counter z interval", "int n"])], clock="ETimeClockRealtime")
    for i in range(100):
        b.add(i, i % 2, {"d_start": (1794702315, i * 8000000), "d_end": (1794702315, i * 8000000 + 3000 + i % 17), "n": i, "s": i / 3, "a": 1.0,
                         "x": i / 2, "ev_0_start": 4222464, "ev_0_end": 4222464 + i % 3, "z_0_start": 10 * i, "z_0_end": 10 * i + 3})
    first, b.bytes = b.bytes, []
    start, second = [m["offset"] for m in b.frames[0].members if m["kind"] == "time"]
    for i in range(150000):
        raw = bytearray(first[i % 100])
        struct.pack_into("<i", raw, 0, i + 1)
        struct.pack_into("<i", raw, b.size - 4, i + 1)
        if i % 2 == 0:
            struct.pack_into("<q", raw, start, 1794702315 + i // 100)
            struct.pack_into("<q", raw, second, 1794702315 + i // 100)
        else: # the slot still has its old contents
            struct.pack_into("<di", raw, b.size - 16, i / 3, i)
        b.bytes.append(bytes(raw))
    b.truth = []
    return b


def rows(stream):
    return [row for row in map(json.loads, stream) if row["type"].startswith("ppt_") and row["type"] != "ppt_header"]


def as_float(v):
    """A float is printed with as few digits as tell it from other floats."""
    return v if isinstance(v, str) else struct.unpack("<f", struct.pack("<f", v))[0]


def judge(path):
    """Frames in the order of their places, each with just the fields that it should have, and those that are extra."""
    want = json.load(open(path))
    got = [row for row in rows(sys.stdin) if row["type"] != "ppt_lost"]
    got.sort(key=lambda row: row["ppt_seqno"] + row["ppt_place"])
    if len(got) != len(want):
        print(f"{len(got)} frames and not {len(want)}")
    for g, w in zip(got, want):
        extra = {k: g.pop(k) for k in ("ppt_place", "ppt_padding", "ppt_raw") if k in g}
        if "ppt_place" not in extra:
            print("no place")
        g = {k: as_float(v) if k == "y" else v for k, v in g.items()}
        if list(g.items()) != list(w.items()):
            print(f"got {g}\nand not {w}")
            return


def order():
    before = -1
    for row in rows(sys.stdin):
        if row["type"] == "ppt_lost":
            continue
        place = row["ppt_seqno"] + row["ppt_place"]
        if "t" not in row and place != before + 1:
            print(f"frame {place} is after {before}")
        before = place


def csv(paths):
    """ppt's own tables: integers that are not negative, doubles and times it has right."""
    got = rows(sys.stdin)
    for path in paths:
        name = path.rsplit(".", 2)[-2]
        mine = iter([row for row in got if row["type"].endswith("_" + name)])
        with open(path) as f:
            head = f.readline().strip().split(", ")
            for line in f:
                row = next(mine)
                for column, text in zip(head, line.strip().split(", ")):
                    value = row.get(column)
                    if column.endswith("_end") and column not in row:
                        stem, i, _ = column.rsplit("_", 2)
                        counter = ("page_faults", "context_switches", "cpu_clock")[int(i)]
                        value = row[f"{stem}_{i}_start"] + row[f"{stem}_{counter}"]
                    if float(value) != float(text) or ("." not in text and value != int(text)):
                        print(f"{name}: {column} is {value} and not {text}")
                        return
        if next(mine, None):
            print(f"{name}: more than ppt has")


def frames(path):
    data = open(path, "rb").read()
    length = struct.unpack(">I", data[4:8])[0]
    layout = json.loads(data[8:8 + length])["frJson"]
    size = max(e["_lOffset"] + e["_lSize"] for f in layout["frames"] for e in f["_flLayout"])
    open(path + ".head", "wb").write(data[:8 + length])
    for i in range((len(data) - 8 - length) // size):
        open(f"{path}.{i}", "wb").write(data[8 + length + i * size:][:size])


def main():
    command, *args = sys.argv[1:]
    if command == "make":
        b = globals()["kind_" + args[0]](random.Random(args[0]))
        b.write(args[1], args[2])
    elif command == "judge":
        judge(args[0])
    elif command == "order":
        order()
    elif command == "csv":
        csv(args)
    else:
        frames(args[0])


main()
