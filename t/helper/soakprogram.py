# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""soakprogram.py - for soak.py: the program of the soak, the page with its account, and how to wait for what must happen."""

import mmap
import os
import struct
import subprocess
import time

O = os.environ.get("O", "build")
TARGET = O + "/t/helper/soak-target"
MAGIC, BLOCKS, SLOTS, KINDS, HEAD = 0x31304B414F53, 9, 32, 5, 6  # as soak.h has them, in words
BLOCK = 1 + 2 * KINDS + 3 * SLOTS
BYTES = 8 * (HEAD + BLOCKS * BLOCK)
WANT, PID = 1, 3
RUN, PAUSE, END = range(3)
PATIENCE_S = 120  # for what must happen; only a failure takes so long


class Failed(Exception):
    pass


def need(true, *what):
    if not true:
        raise Failed(" ".join(map(str, what)))


def until(what, true):
    """Waits for it. It can take long on a busy machine, so that the limit is far away."""
    end = time.monotonic() + PATIENCE_S
    while not true():
        need(time.monotonic() < end, "waited in vain:", what)
        time.sleep(0.002)


def children():
    return [int(pid) for tid in os.listdir("/proc/self/task") for pid in open(f"/proc/self/task/{tid}/children").read().split()]


def state_of(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


class Account:
    """The page of a program: what is wanted of it, and what it has done."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.write(struct.pack("<6Q", MAGIC, RUN, os.getpid(), 0, 0, 0) + bytes(BYTES - 8 * HEAD))
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), BYTES)
        self.words = memoryview(self.page).cast("Q")

    def close(self):
        self.words.release()
        self.page.close()

    def want(self, what):
        self.words[WANT] = what

    def started(self):
        return self.words[PID] != 0

    def rests(self):
        return all(self.words[HEAD + BLOCK * i] for i in range(BLOCKS))

    def pause(self):
        self.want(PAUSE)
        until("a pause of the program", self.rests)
        time.sleep(0.002)  # who looked before it was wanted has seen it by now
        until("a pause of the program", self.rests)

    def copy(self, path):
        with open(path + ".new", "wb") as file:
            file.write(self.page[:])
        os.rename(path + ".new", path)

    def places(self):
        return self.words[HEAD : HEAD + BLOCK * BLOCKS].tolist()

    def goes_on(self):
        before = self.places()
        until("progress of the program", lambda: self.places() != before)


class Program:
    """One that runs without a collector, for visits."""

    def __init__(self, soak, name, threads, rate, record):
        self.soak, self.name, self.record = soak, name, record
        self.account = Account(f"{soak.dir}/{name}.account")
        env = dict(soak.env, CTP_RECORD="1") if record else soak.env
        command = [TARGET, self.account.path, str(threads), str(rate), "1"]
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL)
        soak.known.add(self.process.pid)
        until(f"the start of {name}", self.account.started)

    def end(self, status=0):
        if self.process.poll() is None:
            self.account.want(END)
        got = self.process.wait(PATIENCE_S)
        self.soak.known.discard(self.process.pid)
        self.account.close()
        need(got == status, self.name, "ended with", got)
