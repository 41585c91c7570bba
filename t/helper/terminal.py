# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""terminal.py - a pseudo-terminal with a shell, and what its processes do: for tests of job control."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

# For what must happen; only a failure takes so long.
PATIENCE_S = int(os.environ.get("PATIENCE_S", "120"))
PROMPT = "@@ "


class Failed(Exception):
    pass


def stat_of(pid):
    """(name, state, parent, process group, session) of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    name = text[text.index("(") + 1 : text.rindex(")")]
    state, parent, group, session = text[text.rindex(")") + 2 :].split()[:4]
    return name, state, int(parent), int(group), int(session)


def state_of(pid):
    """X: there is no such process."""
    stat = stat_of(pid)
    return stat[1] if stat else "X"


def argv_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


class Terminal:
    def __init__(self, *argv):
        self.text, self.read = "", 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # What was started in the background of a script ignores SIGINT.
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            for name in ("INT", "QUIT", "TSTP", "TTIN", "TTOU"):
                signal.signal(getattr(signal, "SIG" + name), signal.SIG_DFL)
            env = {"TERM": "dumb", "HISTFILE": "", "ENV": "", "PS1": "", "PS2": ""}
            os.execvpe(argv[0], argv, {**os.environ, **env})

    def prompted(self):
        self.type("PS1='@''@ '\n")
        self.expect(PROMPT)
        return self

    def pump(self):
        if select.select([self.fd], [], [], 0.01)[0]:
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:  # the last process has closed it
                time.sleep(0.01)

    def until(self, what, true):
        end = time.monotonic() + PATIENCE_S
        while not (got := true()):
            if time.monotonic() > end:
                raise Failed(f"waited in vain: {what}\n{self.text}\n{self.processes()}")
            self.pump()
        return got

    def expect(self, text):
        self.until(f"the text {text!r}", lambda: text in self.text[self.read :])
        self.read = self.text.index(text, self.read) + len(text)

    def type(self, text):
        os.write(self.fd, text.encode())

    def foreground(self):
        return struct.unpack("i", fcntl.ioctl(self.fd, termios.TIOCGPGRP, b"\0\0\0\0"))[0]

    def processes(self):
        """Those of the session: stat_of each."""
        all_of = ((int(name), stat_of(name)) for name in os.listdir("/proc") if name.isdigit())
        ours = ((pid, stat) for pid, stat in all_of if stat and stat[4] == self.pid)
        return {pid: stat for pid, stat in ours if stat[1] not in "ZX"}

    def find(self, *names):
        """The process with this name, which has executed its program, with the others as arguments."""
        for pid, stat in self.processes().items():
            argv = argv_of(pid)
            if stat[0] == names[0] and set(names[1:]) <= set(argv):
                return pid
        return None

    def wait_for(self, *names):
        return self.until(f"process {names}", lambda: self.find(*names))

    def wait_none(self, *names):
        self.until(f"the end of each {names}", lambda: not self.find(*names))

    def wait_all_read(self, pid):
        """The process has read all that is in the pipe at its standard input."""
        fd = os.open(f"/proc/{pid}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
        empty = b"\0\0\0\0"
        try:
            self.until("an empty pipe", lambda: fcntl.ioctl(fd, termios.FIONREAD, empty) == empty)
        finally:
            os.close(fd)

    def wait_slept(self, pid, times):
        """The process has waited for something so many times."""

        def waits():
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                return int(file.read().split("voluntary_ctxt_switches:")[1].split()[0])

        first = waits()
        self.until("rest", lambda: waits() - first >= times)

    def wait_gone(self, pid):
        self.until(f"the end of process {pid}", lambda: state_of(pid) in "ZX")

    def wait_state(self, states, *pids):
        what = f"state {states} of {pids}"
        self.until(what, lambda: all(state_of(pid) in states for pid in pids))

    def wait_foreground(self, group):
        what = f"foreground group {group}, not {self.foreground()}"
        self.until(what, lambda: self.foreground() == group)

    def end(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        os.close(self.fd)
        os.waitpid(self.pid, 0)
