#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""soak.py [-s SEED] [-t HOURS | -n ROUNDS] [-r ROUND] - collects for hours, with all that can go wrong, and checks every account.

A round is one run of ctp-collect: of a program that it starts, of one that runs on, or of a writer of version 1. In most of them
something goes wrong at a random moment: the program or the collector is killed, stopped or gets a signal, the reader stalls or
dies, the disk is full. The program (soak-target.c) keeps an account of its own, which outlives it, and soak-count.c compares the
stream with that: delivered and lost events add up exactly. Two programs live from the first round to the
last and are visited; a third is collected all the time. None may grow, and a round may leave nothing behind.

Round n of a seed is always the same, as far as the system allows: -r n repeats it alone."""

import argparse
import contextlib
import ctypes
import glob
import json
import os
import random
import resource
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from soakprogram import END, PATIENCE_S, PID, RUN, TARGET, Account, Failed, Program, children, need, state_of, until

O = os.environ.get("O", "build")
BIN = os.environ.get("BIN", O + "/bin")
COLLECT, STAT = BIN + "/ctp-collect", BIN + "/ctp-stat"
COUNT, TRACEE = O + "/t/helper/soak-count", O + "/t/helper/tracee"
HERE = os.path.dirname(os.path.abspath(__file__))
SMALL = 200_000  # bytes of a stream that the reader in Python is given too
FULL_KIB = 512
ENOUGH = 40  # rounds to see what grows
# Allowed growth from the second quarter of the rounds to the last: a tenth, plus this.
SLACK = {"kib": 4096, "descriptors": 1, "mappings": 8}


def quarters(values):
    """In the middle of the second quarter, when all is warm, and of the last: a visit that was killed leaves its pages to the next."""
    n = len(values)
    return int(statistics.median(values[n // 4 : n // 2] or values)), int(statistics.median(values[3 * n // 4 :]))


def descriptors(pid):
    """What each stands for, of those that are still open when they are asked for: a collector opens files of /proc all the time."""
    names = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            names[fd] = os.readlink(f"/proc/{pid}/fd/{fd}")
    return names


def coroutines_kib(path):
    """What the coroutines take that there have been at a time: their pages stay."""
    with open(path, "rb") as memory:
        most, allocated = struct.unpack_from("<2I", memory.read(20), 12)
    return min(most, allocated)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * FULL_KIB,) * 2)


class Sums:
    def __init__(self):
        self.kinds, self.events, self.lost, self.unaccounted, self.untraced = {}, 0, 0, 0, 0

    def add(self, kind, counted):
        row = self.kinds.setdefault(kind, [0, 0, 0])
        row[0] += 1
        row[1] += counted[0]
        row[2] += counted[1]
        self.events += counted[0]
        self.lost += counted[1]
        self.unaccounted += counted[2]
        self.untraced += counted[4]


class Round:
    """One collector, and its result."""

    WRONG = ["nothing", "kill program", "kill collector", "signal", "stop collector", "stall reader", "kill reader", "full disk"]

    def __init__(self, soak, number):
        self.soak, self.number, self.env = soak, number, soak.env
        self.dice = random.Random(f"{soak.seed}/{number}")
        self.dir = f"{soak.dir}/{number}"
        self.wrong = self.dice.choice(self.WRONG)
        self.source = self.dice.choices(["start", "visit", "version 1"], [5, 6, 1])[0]
        self.collector = self.reader = self.program = None
        self.cut, self.counted = False, [0] * 5
        if self.source == "version 1":
            self.wrong = self.dice.choice(["nothing", "kill program"])
        self.kind = f"{self.source}: {self.wrong}"

    def nap(self, most_s):
        time.sleep(self.dice.uniform(0, most_s))

    # --- the collector and its reader ---

    def sink(self):
        """Where the stream goes: options for the collector, and its standard output."""
        where = self.dice.choice(["file", "zstd", "stdout", "pipe"])
        if self.wrong in ("stall reader", "kill reader"):
            where = "pipe"
        if self.wrong == "full disk":
            return self.full()
        self.stream = f"{self.dir}/a.ctp" + (".zst" if where == "zstd" else "")
        if where == "pipe":
            self.stream = None
            return [], subprocess.PIPE
        if where == "stdout":
            return [], open(self.stream, "wb")
        return ["-o", self.stream], subprocess.DEVNULL

    def full(self):
        limit = "limit" if self.source == "visit" else "/dev/full"  # a memory would not fit, and that is said at the beginning
        where = self.dice.choice(["/dev/full", limit] + ["disk"] * 2 * bool(self.soak.full))
        if where == "/dev/full":
            self.stream = None
            return [], open(where, "wb")
        self.limited = where == "limit"
        self.stream = f"{self.soak.full if where == 'disk' else self.dir}/a.ctp"
        return ["-o", self.stream], subprocess.DEVNULL

    def start(self, options, command):
        self.limited = False
        more, out = self.sink()
        self.command = [COLLECT] + options + more + command
        limit = limit_files if self.limited else None
        with open(self.dir + "/err", "wb") as err:
            self.collector = subprocess.Popen(
                self.command, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=limit
            )
        if out == subprocess.PIPE:
            self.reader = self.count("-", stdin=self.collector.stdout)
            self.collector.stdout.close()
        elif out != subprocess.DEVNULL:
            out.close()

    def count(self, stream, **more):
        flags = ["-" + flag for flag, on in (("c", self.cut), ("p", self.source == "visit")) if on]
        with open(self.dir + "/count", "wb") as err:
            return subprocess.Popen([COUNT] + flags + [self.dir, stream], stdout=subprocess.PIPE, stderr=err, **more)

    def said(self):
        return open(self.dir + "/err", errors="replace").read()

    def ended(self, *status):
        got = self.collector.wait(PATIENCE_S)
        need(got in status, "the collector ended with", got, "and not", status)

    # --- what goes wrong ---

    def disturb(self, pid, account):
        """Something happens to the collector, its reader, or the program, which is pid. The rest goes on."""
        self.nap(0.4)
        if self.wrong == "kill program":
            os.kill(pid, signal.SIGKILL)
        elif self.wrong == "kill collector":
            self.collector.kill()
            self.ended(-signal.SIGKILL)
            account.goes_on()
        elif self.wrong == "kill reader":
            self.reader.kill()
            self.reader.wait()
        elif self.wrong in ("stop collector", "stall reader"):
            who = self.collector if self.wrong == "stop collector" else self.reader
            who.send_signal(signal.SIGSTOP)
            self.nap(1.5)
            account.goes_on()
            who.send_signal(signal.SIGCONT)
        self.nap(0.2)

    def hold(self, account):
        """Checks the account at the end."""
        self.soak.leave_nothing()
        account.copy(self.dir + "/D")
        if self.wrong == "kill reader" or (self.wrong == "full disk" and not self.stream):
            return
        reader = self.reader or self.count(self.stream)
        out = reader.communicate(timeout=PATIENCE_S)[0].split()
        need(len(out) == 5, "no count:", open(self.dir + "/count").read())
        self.counted = [int(n) for n in out]
        need(reader.returncode == 0, "the account:", open(self.dir + "/count").read())
        if self.stream and os.path.getsize(self.stream) < SMALL and not self.stream.endswith(".zst"):
            self.read_by_the_book()

    def read_by_the_book(self):
        """The reader that was made from the manual page alone has as many events as ctp-stat."""
        stat = subprocess.run([STAT, "-j", "-q", self.stream], capture_output=True)
        book = subprocess.run([sys.executable, HERE + "/ctpread.py", self.stream], capture_output=True)
        need(stat.returncode in (0, 3) and book.returncode in (0, 3), "the readers ended with", stat.returncode, book.returncode)
        if stat.stdout:
            events = json.loads(stat.stdout)["events"]
            need(book.stdout.count(b'"type":"transition"') == events, "by the book there are not", events, "events")

    # --- the sorts of rounds ---

    def run(self):
        os.mkdir(self.dir)
        {"start": self.run_start, "visit": self.run_visit, "version 1": self.run_v1}[self.source]()

    def options(self):
        options = []
        if self.dice.random() < 0.3:
            options.append("--lossless")
        if self.dice.random() < 0.2:
            options.append("--bare")
        if self.source == "start":
            options += self.dice.choice([[], ["--ring", "2048"], ["--ring", "65536"], ["-n", "128"]])
            if self.dice.random() < 0.25:
                options += ["--shm", self.dir + "/shm", "--sock", self.dir + "/sock"]
        return options

    def load(self):
        """Threads, their events in a second (0: no limit), and whether there are forks."""
        rate = self.dice.choice([20_000, 200_000, 0 if self.soak.hard else 50_000])
        return [str(self.dice.choice([1, 2, 4, 8])), str(rate), str(self.dice.randrange(2))]

    def run_start(self):
        account = Account(self.dir + "/account")
        account.copy(self.dir + "/A")
        account.copy(self.dir + "/B")
        self.cut = self.wrong in ("kill collector", "full disk")
        self.start(self.options(), ["--", TARGET, account.path] + self.load())
        until("the start of the program", lambda: account.started() or self.collector.poll() is not None)
        need(account.started(), "the program did not start:", self.said())
        pid = account.words[PID]
        self.disturb(pid, account)
        if self.wrong == "signal":
            number = self.dice.choice([signal.SIGTERM, signal.SIGINT])
            self.collector.send_signal(number)
            self.ended(-number)
        elif self.wrong == "kill program":
            self.ended(-signal.SIGKILL)
        else:
            account.goes_on()
            account.want(END)
        if self.wrong in ("kill reader", "full disk"):
            self.ended(0, 125)
            self.says_why()
        elif self.wrong == "kill collector":
            until("the end of the program", lambda: state_of(pid) in "Z gone")
            need(self.soak.reap(pid) == 0, "the program ended with a failure when its collector was killed")
        elif self.wrong not in ("signal", "kill program"):
            self.ended(0)
        self.no_path_left()
        self.soak.leave_nothing()
        account.copy(self.dir + "/C")
        self.hold(account)
        account.close()

    def no_path_left(self):
        for name in ("shm", "sock"):
            path = f"{self.dir}/{name}"
            if self.wrong == "kill collector" and os.path.exists(path):
                os.unlink(path)  # a file with a name outlives its creator, if that is killed
            need(not os.path.exists(path), path, "is left")

    def says_why(self):
        self.cut = self.collector.returncode != 0
        need(not self.cut or "ctp-collect: " in self.said(), "the collector failed and did not say why")

    def run_visit(self):
        own = self.wrong == "kill program"
        if own:
            self.program = Program(self.soak, f"{self.number}/own", 2, 100_000, self.dice.randrange(2))
        else:
            self.program = self.dice.choice(self.soak.visited)
        account, rests = self.program.account, self.dice.randrange(3) > 0
        once = self.wrong == "nothing" and self.dice.random() < 0.2
        self.cut = self.wrong in ("kill collector", "full disk")
        account.want(RUN)
        self.nap(0.05)
        if rests:
            account.pause()
        account.copy(self.dir + "/A")
        self.start(self.options() + ["-p", str(self.program.process.pid)] + ["--once"] * once, [])
        if not once:
            there = lambda: "attached to process" in self.said() or self.collector.poll() is not None
            until("a collector that is attached", there)
        account.copy(self.dir + "/B")
        account.want(RUN)
        if not once:
            self.disturb(self.program.process.pid, account)
        self.leave(account, rests, once)
        self.hold(account)
        if own:
            self.program.end(-signal.SIGKILL)
        else:
            self.program.account.want(RUN)
            self.program.account.goes_on()
            self.program.account.pause()

    def leave(self, account, rests, once):
        if once:
            shutil.copy(self.dir + "/B", self.dir + "/C")
            self.ended(0)
        elif self.wrong == "kill program":
            self.program.process.wait(PATIENCE_S)
            account.copy(self.dir + "/C")
            self.ended(0)
        elif self.wrong == "kill collector":
            account.copy(self.dir + "/C")
        elif self.wrong in ("kill reader", "full disk"):
            account.copy(self.dir + "/C")
            account.goes_on()
            number = self.dice.choice([signal.SIGTERM, signal.SIGHUP])
            if self.collector.poll() is None:
                self.collector.send_signal(number)
            self.ended(0, 125, -number)  # the last where it had left already when the signal came
            self.says_why()
        else:
            if rests:
                account.pause()
            account.copy(self.dir + "/C")
            self.collector.send_signal(self.dice.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT]))
            self.ended(0)

    def run_v1(self):
        """Writers of version 1 lose much, and each loss is counted; a killed writer has announced its number of events."""
        coroutines, events = self.dice.choice([1, 16, 300]), self.dice.choice([10, 100, 1000])
        total, half = coroutines * events, self.dice.randrange(2)
        command = [TRACEE, "-d", self.dice.choice(["plain", "seqlock"]), "-c", str(coroutines), "-e", str(events)]
        command += ["-r", self.dice.choice(["0", "100000"])]
        status = 0
        if self.wrong == "kill program":
            last = self.dice.randrange(1, total + 1)
            command += ["-k", str(last)] + ["-h"] * half
            total, status = last - half, -signal.SIGKILL
        self.stream = self.dir + "/a.ctp"
        self.sink = lambda: (["-o", self.stream], subprocess.DEVNULL)
        self.start([], ["--"] + command)
        self.ended(status)
        self.soak.leave_nothing()
        stat = json.loads(subprocess.run([STAT, "-j", "-q", self.stream], capture_output=True).stdout)
        self.counted = [stat["events"], stat["lost"], abs(total - stat["events"] - stat["lost"]), 0, 0]
        need(self.counted[2] == 0, "version 1:", stat["events"], "events and", stat["lost"], "lost are not", total)
        if os.path.getsize(self.stream) < SMALL:
            self.read_by_the_book()

    def clean(self):
        for process in (self.reader, self.collector, self.program and self.program.name.endswith("/own") and self.program.process):
            if process and process.poll() is None:
                process.kill()
                process.send_signal(signal.SIGCONT)
                process.wait()
        if self.soak.full:
            for path in glob.glob(self.soak.full + "/*"):
                os.unlink(path)


class Soak:
    def __init__(self, options):
        self.seed, self.options, self.hard = options.seed, options, options.rounds is None or options.rounds > ENOUGH
        self.dir = tempfile.mkdtemp(prefix="soak-")
        self.kept, self.measured = O + "/soak", False
        self.known, self.sums, self.series, self.failures, self.visited = set(), Sums(), {}, [], []
        self.tmp = self.dir + "/tmp"
        os.mkdir(self.tmp)
        self.env = dict(os.environ, TMPDIR=self.tmp)
        self.env.pop("CTP_RECORD", None)
        self.full = self.small_disk()
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans become our children

    def small_disk(self):
        """One of ours, in a namespace that ends with us; None: we may not."""
        path = self.dir + "/full"
        os.mkdir(path)
        libc = ctypes.CDLL(None, use_errno=True)
        newns, private = 0x20000, 0x44000  # CLONE_NEWNS, MS_REC | MS_PRIVATE
        if os.geteuid() or libc.unshare(newns) or libc.mount(b"none", b"/", None, private, None):
            return None
        return None if libc.mount(b"soak", path.encode(), b"tmpfs", 0, b"size=%dk" % FULL_KIB) else path

    # --- what may not be left, or grow ---

    def reap(self, pid):
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def strangers(self):
        this, left = self.round, []
        mine = [this.collector, this.reader, this.program and this.program.process] if this else []
        mine = self.known.union(process.pid for process in mine if process)
        for pid in children():
            if pid in mine:
                continue
            if state_of(pid) == "Z":
                os.waitpid(pid, 0)
            else:
                left.append(pid)
        return left

    def leave_nothing(self):
        until("the end of processes that are left", lambda: not self.strangers())
        left = os.listdir(self.tmp)
        need(not left, "left behind:", *left)

    def measure(self):
        for name, pid in self.lasting():
            status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
            names = descriptors(pid)
            self.note(name, "descriptors", "descriptors", len(names))
            self.note(name, "mappings", "mappings", sum(1 for _ in open(f"/proc/{pid}/maps")))
            shared = [f"/proc/{pid}/fd/{fd}" for fd, to in names.items() if to == "/memfd:ctp (deleted)"]
            coroutines = sum(map(coroutines_kib, shared))
            self.note(name, "kib", "memory", int(status["VmRSS"].split()[0]) - coroutines)
            if shared:
                self.note(name, "kib", "shared memory", sum(os.stat(path).st_blocks // 2 for path in shared) - coroutines)

    def lasting(self):
        steady = [("collector", self.steady.collector.pid), ("collected", self.steady_account.words[PID])]
        return [(p.name, p.process.pid) for p in self.visited] + steady

    def note(self, name, unit, what, value):
        self.series.setdefault((name, what, unit), []).append(value)

    def growth(self):
        if len(self.series["collector", "memory", "kib"]) < ENOUGH:
            return
        self.measured = True
        for (name, what, unit), values in self.series.items():
            before, after = quarters(values)
            if after > before * 1.1 + SLACK[unit]:
                self.failures.append(f"{name}: {what}: {before} became {after}" + " KiB" * (unit == "kib"))

    # --- from the first round to the last ---

    def begin(self):
        self.round = None
        self.visited = [Program(self, "idle", 2, 100_000, False), Program(self, "recording", 2, 100_000, True)]
        for program in self.visited:
            program.account.pause()
        self.begin_steady()

    def begin_steady(self):
        """A collector whose reader holds the account as it goes, and a program that is never at rest. It does not fork: the rings
        of processes that are gone are used again only when there are no others left, and until then memory grows."""
        steady = self.steady = Round(self, "steady")
        os.mkdir(steady.dir)
        os.mkdir(steady.dir + "/tmp")
        steady.source, steady.wrong, steady.env = "start", "nothing", dict(self.env, TMPDIR=steady.dir + "/tmp")
        account = self.steady_account = Account(steady.dir + "/account")
        account.copy(steady.dir + "/A")
        account.copy(steady.dir + "/B")
        steady.stream = None
        steady.sink = lambda: ([], subprocess.PIPE)
        steady.start(["--ring", "65536"], ["--", TARGET, account.path, "2", "50000", "0"])
        until("the start of the program", account.started)
        self.known.update((steady.collector.pid, steady.reader.pid))

    def end(self):
        account, steady = self.steady_account, self.steady
        account.goes_on()
        account.want(END)
        steady.ended(0)
        account.copy(steady.dir + "/C")
        steady.hold(account)
        self.sums.add("all the time", steady.counted)
        for program in self.visited:
            program.end()

    def attempt(self, what, act):
        try:
            act()
        except (Failed, OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            self.failures.append(f"{what}: {type(error).__name__}: {error}".replace("Failed: ", "", 1))
            return False
        return True

    def one(self, number):
        this = self.round = Round(self, number)
        good = self.attempt(f"round {number}, {this.kind}", this.run)
        self.sums.add(this.kind, this.counted)
        this.clean()
        good = self.attempt(f"after round {number}, {this.kind}", self.leave_nothing) and good
        good = self.attempt(f"after round {number}, {this.kind}", self.measure) and good
        if not good:
            self.keep(this)
        shutil.rmtree(this.dir, ignore_errors=True)
        return good

    def keep(self, this):
        """The evidence, and how to have it again."""
        to = f"{self.kept}/{self.seed}-{this.number}"
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(this.dir, to, ignore=shutil.ignore_patterns("shm", "sock"))
        with open(to + "/command", "w") as file:
            print(*getattr(this, "command", []), file=file)
        again = f"make soak SEED={self.seed}" + (f" ROUND={this.number}" if this.number != "steady" else "")
        print(f"soak: {self.failures[-1]}\nsoak: kept in {to}; again: {again}", file=sys.stderr, flush=True)

    def go(self):
        over = time.monotonic() + 3600 * self.options.hours
        number = self.options.round or 1
        self.attempt("the beginning", self.begin)
        while not self.failures:
            self.one(number)
            number += 1
            if self.options.round or (number > self.options.rounds if self.options.rounds else time.monotonic() > over):
                break
        self.round = None
        if not self.failures:
            if not self.attempt("the end", self.end):
                self.keep(self.steady)
            self.growth()
        self.table()
        return 1 if self.failures else 0

    def table(self):
        s = self.sums
        print(f"{'rounds':>8} {'delivered':>14} {'lost, counted':>14}  kind")
        for kind, row in sorted(s.kinds.items()):
            print(f"{row[0]:8} {row[1]:14} {row[2]:14}  {kind}")
        rounds = sum(row[0] for row in s.kinds.values())
        print(f"{rounds:8} {s.events:14} {s.lost:14}  in all; {s.untraced} coroutines were untraced")
        print(f"{'unaccounted':>23} {s.unaccounted:14}")
        print(f"{'first':>8} {'second quarter':>14} {'last quarter':>14} {'at most':>8}")
        for (name, what, unit), values in self.series.items():
            early, late = quarters(values)
            print(f"{values[0]:8} {early:14} {late:14} {max(values):8}  {name}: {what}"
                  + (", KiB beyond its coroutines'" if unit == "kib" else ""))
        for failure in self.failures:
            print("FAILED:", failure)
        grown = ", and nothing has grown" if self.measured else "; too few rounds to see what grows"
        print(f"seed {self.seed}: {'FAILED' if self.failures else 'every account is exact' + grown}")

    def close(self):
        for program in self.visited:
            program.process.kill()
        for pid in list(self.known) + self.strangers_at_the_end():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.full:
            ctypes.CDLL(None).umount2(self.full.encode(), 2)  # MNT_DETACH, or its folder could not be removed
        shutil.rmtree(self.dir, ignore_errors=True)

    def strangers_at_the_end(self):
        return [pid for pid in children() if pid not in self.known]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-s", dest="seed", type=int, default=int(time.time()))
    parser.add_argument("-t", dest="hours", type=float, default=0.1)
    parser.add_argument("-n", dest="rounds", type=int)
    parser.add_argument("-r", dest="round", type=int)
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what is ignored stays so in those whom we start
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"soak: seed {options.seed}", flush=True)
    soak = Soak(options)
    try:
        return soak.go()
    finally:
        soak.close()


if __name__ == "__main__":
    sys.exit(main())
