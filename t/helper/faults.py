#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""Runs each tool with one call that fails, the n-th malloc, write, close, fsync, rename or mmap, and looks for silent faults.

	faults.py [-n SAMPLES] [-c CALL] [-v] [-r RESET] [-d DUMP] FOLDER [NAME...]

FOLDER has the inputs, which t/pipe/faults.t makes; NAME is that of a command below. Of the calls that a command makes, SAMPLES of each
kind fail, one a run; 0: all of them. RESET and DUMP are for a database: commands that empty it and print what is in it. A line for
each command and kind: its name, then the number of faults, of those that the tool coped with, of those that it reported, and of
silent ones; after a colon the first few of those, as n and what was wrong.

A fault is silent unless the tool coped (status and output are as without a fault) or reported it (the status is
another one, stderr has a line of the tool, and each file that has its name is as it was before or as it is without a fault; after
a close that failed, not all have theirs). What is live has its name from the beginning, and as much as could be written;
ctp-collect has the status of the program that it runs, and says what it lost.
"""
import argparse
import collections
import json
import os
import shutil
import struct
import subprocess
import sys

KINDS = ("malloc", "write", "close", "fsync", "rename", "mmap")
BIN = os.path.abspath(os.environ.get("BIN", "build/bin"))
O = os.path.abspath(os.environ.get("O", "build"))
LIBRARY = os.path.join(O, "t/helper/faults.so")
SECONDS = 60  # after which a tool hangs

# The inputs are in ../in, as seen from where a command runs; @ is the folder of what was built. A name after a command is that of a
# file which is there before.
COMMANDS = {
    "jsonl": ("ctp-tojsonl ../in/real.ctp",),
    "jsonl-file": ("ctp-tojsonl -qa -o out ../in/random.ctp", "out"),
    "jsonl-zst": ("ctp-tojsonl -o out.zst ../in/real.ctp.zst",),
    "csv": ("ctp-tocsv -o out ../in/real.ctp", "out"),
    "csv-all": ("ctp-tocsv -qa ../in/random.ctp",),
    "ctf": ("ctp-toctf -o out ../in/real.ctp",),
    "ctf-many": ("ctp-toctf -q -o out ../in/random.ctp",),
    "html": ("ctp-tohtml -o out ../in/real.ctp", "out"),
    "html-baseline": ("ctp-tohtml --baseline ../in/real.ctp -o out ../in/real.ctp", "out"),
    "perfetto": ("ctp-toperfetto -o out ../in/real.ctp", "out"),
    "perfetto-chrome": ("ctp-toperfetto -q --chrome ../in/random.ctp",),
    "stat": ("ctp-stat ../in/real.ctp ../in/random.ctp",),
    "stat-json": ("ctp-stat -j ../in/real.ctp",),
    "filter": ("ctp-filter --coro 2 --since 1us ../in/real.ctp",),
    "filter-all": ("ctp-filter -q --anonymise --state suspended -o out ../in/random.ctp", "out"),
    "report": ("ctp-report ../in/real.ctp",),
    "report-json": ("ctp-report -j ../in/real.ctp",),
    "report-markdown": ("ctp-report -m --no-symbols ../in/real.ctp",),
    "report-folded": ("ctp-report --folded ../in/real.ctp",),
    "diff": ("ctp-diff ../in/real.ctp -- ../in/random.ctp",),
    "diff-json": ("ctp-diff -j ../in/real.ctp -- ../in/real.ctp ../in/random.ctp",),
    "diff-folded": ("ctp-diff --folded ../in/real.ctp -- ../in/random.ctp",),
    "sqlite": ("ctp-sqlite -q -o out.db ../in/real.ctp ../in/random.ctp",),
    "sqlite-append": ("ctp-sqlite -q --append -o old.db ../in/random.ctp", "old.db"),
    "parquet": ("ctp-toparquet -q -o out ../in/real.ctp ../in/random.ctp",),
    "parquet-tree": ("ctp-toparquet -q --partition host,date -o out ../in/random.ctp",),
    "parquet-pipe": ("ctp-toparquet -q --class transition -o - ../in/real.ctp",),
    "fromjsonl": ("ctp-fromjsonl ../in/real.jsonl",),
    "fromjsonl-all": ("ctp-fromjsonl -q -o out ../in/random.jsonl", "out"),
    "fromcsv": ("ctp-fromcsv -o out ../in/real.csv",),
    "fromctf": ("ctp-fromctf -o out ../in/real.ctf",),
    "fromcacheray": ("ctp-fromcacheray -o out ../in/trace",),
    "tocacheray": ("ctp-tocacheray -o out ../in/accesses.ctp", "out"),
    "mem": ("ctp-mem --svg out.svg ../in/accesses.ctp", "out.svg"),
    "mem-json": ("ctp-mem -j ../in/accesses.ctp",),
    "ppt-decode": ("ctp-ppt decode -o out ../in/frames.ppt",),
    "ppt-encode": ("ctp-ppt encode -o out ../in/frames.ctp",),
    "ppt-attach": ("ctp-ppt attach -o %b.ctp Foo -- @/t/helper/ppt-client -n 60000 -s 200",),
    "collect": ("ctp-collect -q -o out @/examples/primes",),
    "collect-pipe": ("ctp-collect -q @/examples/primes",),
}
SERVERS = {
    "mysql": ("ctp-mysql -q -S {socket} -u root -D faults ../in/real.ctp",),
    "postgres": ("ctp-postgres -q -d faults ../in/real.ctp",),
}


class Run:
    """One run of a command, with its n-th call of a kind failing; kind None: without a fault."""

    def __init__(self, args, name, kind=None, n=0):
        folder = args.folder
        line, *old = (COMMANDS | SERVERS)[name]
        if args.r:
            subprocess.run(args.r, shell=True, check=True, stdout=subprocess.DEVNULL)
        at = os.path.join(folder, "run")
        log = os.path.join(folder, "fault-log")
        shutil.rmtree(at, ignore_errors=True)
        os.mkdir(at)
        for path in old:
            shutil.copy(os.path.join(folder, "in", path if path.endswith(".db") else "old"), os.path.join(at, path))
        self.before = files_in(at)
        with open(log, "wb") as f:
            f.write(bytes(64))
        tool, *rest = line.replace("@", O).format(**os.environ).split()
        env = dict(os.environ, LD_PRELOAD=LIBRARY, FAULT_LOG=log, FAULT_CALL=kind or "", FAULT_N=str(n), TMPDIR=at)
        with open(os.path.join(folder, "stdout"), "wb") as out, open(os.path.join(folder, "stderr"), "wb") as err:
            try:
                self.status = subprocess.run([os.path.join(BIN, tool), *rest], cwd=at, env=env, stdin=subprocess.DEVNULL,
                                             stdout=out, stderr=err, timeout=SECONDS, check=False).returncode
            except subprocess.TimeoutExpired:
                self.status = "hangs"
        self.out = read(os.path.join(folder, "stdout"))
        self.err = read(os.path.join(folder, "stderr")).decode(errors="replace").strip()
        self.tool = tool
        self.files = files_in(at)
        if args.d:
            self.before["the database"] = b""
            self.files["the database"] = subprocess.run(args.d, shell=True, check=False, stdout=subprocess.PIPE).stdout
        self.live = name.startswith("collect") or name == "ppt-attach"
        if self.live:
            self.out, self.files = counted(self.out), {path: counted(data) for path, data in self.files.items()}
        numbers = struct.unpack("16I", read(log))
        self.count, self.failed = numbers[:len(KINDS)], bool(numbers[len(KINDS)])


def read(path):
    with open(path, "rb") as f:
        return f.read()


def first(text):
    return text.split("\n")[0][:160]


def plain(data):
    """A raw stream as text, since its sections have random numbers."""
    if not isinstance(data, bytes) or not data.startswith(b"\x8ecTP"):
        return data
    done = subprocess.run([os.path.join(BIN, "ctp-tojsonl"), "-qa"], input=data, stdout=subprocess.PIPE, check=False)
    return done.stdout, done.returncode


def counted(data):
    """How many records of each class are in a raw stream of a program that runs; their times are others in each run."""
    if not isinstance(data, bytes) or not data.startswith(b"\x8ecTP"):
        return b"" if isinstance(data, bytes) else data
    text, status = plain(data)
    counts = collections.Counter(json.loads(line)["type"] for line in text.splitlines())
    few = ("@schema", "mapping", "thread", "sample", "process", "site", "ppt_drops", "ppt_pause")
    return status, {name: n for name, n in counts.items() if name not in few}


def same(a, b):
    return a == b or plain(a) == plain(b)


def files_in(folder):
    found = {}
    for at, folders, names in os.walk(folder):
        for name in names:
            found[os.path.relpath(os.path.join(at, name), folder)] = read(os.path.join(at, name))
        for name in folders:
            found[os.path.relpath(os.path.join(at, name), folder)] = None
    return found


def judge(good, run, kind):
    """What was wrong, or '' with whether the tool coped."""
    if run.status == good.status and same(run.out, good.out) and run.files.keys() == good.files.keys() and all(
            same(run.files[path], data) for path, data in good.files.items()):
        return "", True
    if run.status == "hangs":
        return "it hangs", False
    said = any(line.startswith(run.tool + ": ") for line in run.err.splitlines())
    if run.tool == "ctp-collect" and said:
        return "", False
    if run.status == 0 or run.status == good.status:
        what = sorted(p for p in set(run.files) | set(good.files) if run.files.get(p, 0) != good.files.get(p, 0))
        return f"status {run.status}, another output ({', '.join(what[:2]) or 'stdout'}) {first(run.err)}", False
    if run.status < 0:
        return f"ended by signal {-run.status} {first(run.err)}", False
    if not said:
        return f"status {run.status} without a word", False
    if kind == "close" and good.files and run.files == good.files and not good.out and not run.live:
        return "the file has its name, though a close failed", False
    if run.live:
        return "", False
    for path, data in run.files.items():
        if path not in good.files and path not in run.before:
            return f"{path} is left", False
        if data not in (good.files.get(path, 0), run.before.get(path, 0)):
            return f"half of {path} has its name", False
    for path in run.before:
        if path not in run.files:
            return f"{path} is gone", False
    return "", False


def chosen(count, samples):
    """The first, the last, and some between, the same in each run."""
    if not samples or count <= samples:
        return range(1, count + 1)
    if samples == 1:
        return [(count + 1) // 2]
    return sorted({1 + i * (count - 1) // (samples - 1) for i in range(samples)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=0)
    parser.add_argument("-c", choices=KINDS)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("-r", default="")
    parser.add_argument("-d", default="")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    bad = 0
    for name in args.names or COMMANDS:
        tool, *rest = (COMMANDS | SERVERS)[name][0].replace("@", O).split()
        if not all(os.path.exists(path) for path in [os.path.join(BIN, tool), *(word for word in rest if word.startswith(O))]):
            continue
        good = Run(args, name)
        if good.status not in (0, 3):
            print(f"{name}: fails without a fault: {first(good.err)}", file=sys.stderr)
            continue
        for kind in [args.c] if args.c else KINDS:
            faults = coped = 0
            wrong = []
            for n in chosen(good.count[KINDS.index(kind)], args.n):
                run = Run(args, name, kind, n)
                if not run.failed:
                    continue
                what, did = judge(good, run, kind)
                faults += 1
                coped += did
                if what:
                    wrong.append(f"{n} {what}")
                elif args.v:
                    print(f"# {name} {kind} {n}: {'coped' if did else first(run.err)}")
            bad += len(wrong)
            tail = ": " + "; ".join(wrong if args.v else wrong[:3]) if wrong else ""
            said = faults - coped - len(wrong)
            print(f"{name} {kind} {faults} faults {coped} coped {said} said {len(wrong)} silent{tail}", flush=True)
    return 1 if bad else 0


sys.exit(main())
