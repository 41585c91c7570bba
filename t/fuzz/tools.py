#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""tools.py [-s SECONDS] [-r SEED] [--one FILE] - run every tool on mutated traces, for SECONDS or on one FILE.

The targets of libFuzzer test parts. This runs whole tools, with their options and their own main, built with sanitizers in $O/asan. A
trace is mutated in the payload of its packets, and its checksums are then made right again, so that the tools see the values and
not only the damage. A find is a signal, a sanitizer's report, a status that no manual has, a time-out, or an error without a
line that says why. Its input is kept in $O/fuzz/tools, and the command that shows it again is printed.
"""
import argparse
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "helper"))
import ctpread  # noqa: E402

O = Path(os.environ.get("O", "build"))
BIN, KEPT = O / "asan" / "bin", O / "fuzz" / "tools"
TIMEOUT_S, SEED_BYTES = 120, 60000
EDGES = [b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff" * 8, b"\x00" + b"\xff" * 8, b"\x00" * 9]

# The word IN stands for the input, OTHER for an input that was not mutated, OUT for a path that does not exist yet.
TOOLS = """
ctp-stat IN
ctp-stat -j IN
ctp-report -v IN
ctp-report -j IN
ctp-report --brief --sarif OUT --no-symbols IN
ctp-report --annotations --junit OUT --no-symbols IN
ctp-report --folded --no-symbols IN
ctp-report --folded=running --since 1ms --until 10s --no-symbols IN
ctp-tojsonl IN
ctp-tojsonl -a IN
ctp-tocsv IN
ctp-tocsv -a --guard IN
ctp-tocsv --class transition --wall IN
ctp-toctf -o OUT IN
ctp-sqlite -o OUT IN
ctp-tohtml -o OUT IN
ctp-tohtml -o OUT --baseline OTHER IN
ctp-toparquet -o OUT IN
ctp-toparquet -o OUT --partition host,date IN
ctp-toperfetto -o OUT IN
ctp-toperfetto --chrome --threads-only -o OUT IN
ctp-toclickhouse -o OUT IN
ctp-toclickhouse --schema IN
ctp-filter --coro 1,2,3 --descendants --no-symbols -o OUT IN
ctp-filter --finding 1 --around 1s --no-symbols -o OUT IN
ctp-filter --last 1s --no-symbols -o OUT IN
ctp-filter --origin 1 --no-symbols -o OUT IN
ctp-filter --anonymise --no-symbols -o OUT IN
ctp-merge -o OUT IN OTHER
ctp-merge -o OUT IN IN
ctp-diff --no-symbols OTHER -- IN
ctp-diff -j --no-symbols IN OTHER -- IN
ctp-diff --per * --folded --no-symbols IN -- OTHER
ctp-mem IN
ctp-mem -j --private IN
ctp-tocacheray -o OUT IN
ctp-ppt encode -o OUT IN
"""
READERS = {
    "jsonl": ["ctp-fromjsonl -o OUT IN"],
    "csv": ["ctp-fromcsv -o OUT IN", "ctp-fromcsv --class x -o OUT IN"],
    "cacheray": ["ctp-fromcacheray -o OUT IN"],
    "ppt": ["ctp-ppt decode -o OUT IN", "ctp-ppt decode --exact -o OUT IN"],
}
SAY_IT_ON_STDOUT = "ctp-stat", "ctp-report"  # that a trace is not whole
NO_SUCH_THING = re.compile(rb"ERROR: \w+Sanitizer|runtime error:|LeakSanitizer|Assertion")


# --- mutation -----------------------------------------------------------------------------------------------------------------


class Packet:
    def __init__(self, header, payload):
        self.header, self.payload = header, bytearray(payload)

    def bytes(self):
        """With right lengths and checksums."""
        payload, head = bytes(self.payload), self.header
        heads, keys = (int.from_bytes(lane, "little") for lane in (head.heads, head.keys))
        heads = min(heads, len(payload))
        keys = min(keys, len(payload) - heads)
        head = head._replace(payload_crc=ctpread.crc32c(payload), length=len(payload),
                             heads=heads.to_bytes(3, "little"), keys=keys.to_bytes(3, "little"))
        packed = ctpread.HEADER.pack(*head)
        return packed[:8] + struct.pack("<I", ctpread.crc32c(packed[12:])) + packed[12:] + payload


def packets(stream):
    found, pos = [], 0
    while stream[pos : pos + 8] == ctpread.MAGIC and pos + ctpread.HEADER.size <= len(stream):
        header = ctpread.Header._make(ctpread.HEADER.unpack_from(stream, pos))
        pos += ctpread.HEADER.size
        found.append(Packet(header, stream[pos : pos + header.length]))
        pos += header.length
    return found


def mutate_bytes(data, rnd, keep_length=False):
    at = rnd.randrange(len(data)) if data else 0
    way = rnd.randrange(5 if keep_length else 9)
    if way < 2 and data:
        data[at] ^= 1 << rnd.randrange(8)
    elif way == 2 and data:
        data[at] = rnd.randrange(256)
    elif way == 3:
        edge = rnd.choice(EDGES)[: len(data) - at]
        data[at : at + len(edge)] = edge
    elif way == 4 and data:
        count = min(rnd.randrange(1, 65), len(data) - at)
        start = rnd.randrange(len(data) - count + 1)
        data[at : at + count] = data[start : start + count]
    elif way == 5:
        del data[at : at + rnd.randrange(1, 17)]
    elif way == 6:
        data[at:at] = rnd.choice(EDGES)
    elif way == 7:
        start = rnd.randrange(len(data) + 1)
        data[at:at] = data[start : start + rnd.randrange(1, 65)]
    elif way == 8 and rnd.random() < 0.2:
        del data[at:]


def mutate_header(packet, rnd):
    field = rnd.choice(["records", "section", "number", "earliest", "latest", "flags"])
    value = rnd.choice([0, 1, getattr(packet.header, field) ^ 1, 2**63, 2**64 - 1, rnd.getrandbits(64)])
    value &= {"records": 2**32 - 1, "flags": 255}.get(field, 2**64 - 1)
    packet.header = packet.header._replace(**{field: value})


def mutate_stream(stream, others, rnd):
    list_ = packets(stream)
    for _ in range(rnd.choice([1, 1, 2, 4, 16])):
        if not list_:
            break
        at, way = rnd.randrange(len(list_)), rnd.randrange(20)
        if way == 0:
            del list_[at]
        elif way == 1:
            list_.insert(rnd.randrange(len(list_) + 1), list_[at])
        elif way == 2:
            list_.insert(at, rnd.choice(packets(rnd.choice(others))))
        elif way == 3:
            mutate_header(list_[at], rnd)
        else:
            mutate_bytes(list_[at].payload, rnd, keep_length=rnd.random() < 0.7)
    mutated = b"".join(packet.bytes() for packet in list_)
    return mutated[: rnd.randrange(len(mutated) + 1)] if rnd.random() < 0.05 else mutated


def mutate_plain(data, rnd):
    data = bytearray(data)
    for _ in range(rnd.choice([1, 1, 2, 4, 16])):
        mutate_bytes(data, rnd)
    return bytes(data)


# --- seeds --------------------------------------------------------------------------------------------------------------------


def output(*command, given=None):
    done = subprocess.run([str(word) for word in command], input=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=600)
    return done.stdout


def example(name, folder):
    """A trace of an example, as long as a seed may be."""
    trace = folder / name
    output(BIN / "ctp-collect", "-q", "-o", trace, "timeout", "5", O / "examples" / name)
    data = trace.read_bytes() if trace.exists() else b""
    whole, seed = packets(data), b""
    while whole and (not seed or len(seed) + len(whole[0].payload) < SEED_BYTES):
        seed += whole.pop(0).bytes()
    return seed


def seeds(folder):
    """By kind: at least one input of each."""
    streams = [output(O / "asan/t/helper/randstream", n, *boot) for n in range(1, 7) for boot in ([], ["boot"])]
    streams += [example(name, folder) for name in ("lostwake", "pool", "primes") if (O / "examples" / name).exists()]
    streams = [s for s in streams if packets(s)]
    parts = folder / "a", folder / "b"
    for path, stream in zip(parts, streams[-2:]):
        path.write_bytes(stream)
    streams.append(output(BIN / "ctp-merge", *parts))
    streams.append(output(BIN / "ctp-filter", "--no-symbols", "--last", "1s", parts[1]))
    for corpus in ("cacheray", "pptfile"):
        reader = ["ctp-fromcacheray"] if corpus == "cacheray" else ["ctp-ppt", "decode", "--exact"]
        made = (output(BIN / reader[0], *reader[1:], path) for path in sorted((HERE / f"corpus-{corpus}").iterdir()))
        streams += [stream for stream in made if packets(stream)][:20]
    kinds = {"stream": [s for s in streams if packets(s)]}
    kinds["jsonl"] = [output(BIN / "ctp-tojsonl", *a, given=s)[:SEED_BYTES] for s in streams[:8] for a in (["-a"], [])]
    kinds["csv"] = [output(BIN / "ctp-tocsv", *a, given=s)[:SEED_BYTES] for s in streams[:8] for a in (["-a"], [])]
    kinds["cacheray"] = [p.read_bytes() for p in sorted((HERE / "corpus-cacheray").iterdir())]
    kinds["ppt"] = [p.read_bytes() for p in sorted((HERE / "corpus-pptfile").iterdir())]
    return {kind: [s for s in list_ if s] for kind, list_ in kinds.items()}


# --- one run ------------------------------------------------------------------------------------------------------------------


def why_bad(tool, status, stderr):
    if status < 0:
        return "time-out" if status == -signal.SIGALRM else f"signal {-status}"
    report = NO_SUCH_THING.search(stderr)
    if report:
        return report.group(0).decode()
    if status not in (0, 1, 3):
        return f"status {status}"
    if status and not stderr.strip() and tool not in SAY_IT_ON_STDOUT:
        return f"status {status} without a line"
    return None


def run(command, input_, other, folder):
    """Why it is a find, or None; and what the tool said."""
    out = folder / "out"
    words = {"IN": str(input_), "OTHER": str(other), "OUT": str(out)}
    argv = [words.get(word, word) for word in command.split()]
    argv[0] = str(BIN / argv[0])
    limits = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1:abort_on_error=0", TMPDIR=str(folder))
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=limits)
    try:
        stderr = process.communicate(timeout=TIMEOUT_S)[1]
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        stderr, status = process.communicate()[1], -signal.SIGALRM
    if out.is_dir():
        shutil.rmtree(out)
    out.unlink(missing_ok=True)
    return why_bad(command.split()[0], status, stderr), stderr


def keep(data, command, why, stderr, known):
    """Each place once: by the tool, the reason, and the innermost function of our own."""
    frame = re.search(rb"#\d+ 0x[0-9a-f]+ in (ctp_\w+|\w+) \S*/(?:lib|formats|tools)/", stderr)
    place = command.split()[0], why, frame.group(1) if frame else re.sub(rb"0x[0-9a-f]+|\d+", b"", stderr[:120])
    if place in known:
        return
    known.add(place)
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"find-{len(known)}"
    path.write_bytes(data)
    path.with_suffix(".stderr").write_bytes(stderr)
    print(f"{why}: {command.replace('IN', str(path))}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", "--seconds", type=float, default=60)
    parser.add_argument("-r", "--seed", type=int, default=int(time.time()))
    parser.add_argument("--one", type=Path, help="run every tool on this trace, as it is")
    args = parser.parse_args()
    rnd, known, runs, end = random.Random(args.seed), set(), 0, time.monotonic() + args.seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kinds, other, input_ = seeds(folder), folder / "other", folder / "in"
        empty = [kind for kind, list_ in kinds.items() if not list_]
        if empty:
            sys.exit(f"tools.py: no seed for: {' '.join(empty)}; are the tools in {BIN}?")
        if args.one:
            end, data = 0, args.one.read_bytes()
        other.write_bytes(kinds["stream"][-1])
        jobs = [("stream", c) for c in TOOLS.strip().splitlines()] + [(kind, c) for kind in READERS for c in READERS[kind]]
        while True:
            for kind, command in jobs if args.one else rnd.sample(jobs, len(jobs)):
                if not args.one:
                    seed = rnd.choice(kinds[kind])
                    data = mutate_stream(seed, kinds["stream"], rnd) if kind == "stream" else mutate_plain(seed, rnd)
                input_.write_bytes(data)
                why, stderr = run(command, input_, other, folder)
                runs += 1
                if why:
                    keep(data, command, why, stderr, known)
            if time.monotonic() > end:
                break
    print(f"{runs} runs of {len(jobs)} commands, {len(known)} finds, seed {args.seed}")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())
