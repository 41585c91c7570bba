# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""
ctrl-c.py SHELL SCENE - for t/pipe/ctrl-c.t: types a pipeline with ctp-collect into an interactive shell,
and then what the scene says. ctrl-c.py --list: the scenes. Status 0: all was as it should be; 77: the
scene needs something that is not there.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

from terminal import Failed, PROMPT, Terminal, stat_of, state_of

BIN = os.path.abspath(os.environ.get("BIN", os.environ.get("O", "build") + "/bin"))
COLLECT = BIN + "/ctp-collect"
SHELLS = {"bash": ["bash", "--norc", "-i"], "dash": ["dash", "-i"], "zsh": ["zsh", "-f", "-i"]}
CTRL_C, CTRL_Z, CTRL_BACKSLASH = "\x03", "\x1a", "\x1c"
# The word that a program prints is in two halves, so that the line that is typed does not have it.
PLAIN = "sh -c 'echo rea''dy; exec sleep 1000'"


def need(true, *what):
    if not true:
        raise Failed(" ".join(map(str, what)))


def output_of(tool, *args):
    argv = [f"{BIN}/{tool}", *args]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


class Scene:
    def __init__(self, shell, folder):
        self.name, self.folder = shell, folder
        self.t = Terminal(*SHELLS[shell]).prompted()
        self.shell = self.t.pid
        self.trace = folder + "/t.ctp.zst"

    def line(self, text):
        self.t.type(text + "\n")

    def run(self, program, reader="zstd -q >t.ctp.zst", name="zstd", options="-q"):
        """Types the pipeline. Returns when all of it runs, and the program has the terminal."""
        self.line(f"cd {self.folder}; {COLLECT} {options} {program} | {reader}")
        self.t.expect("ready")
        self.reader = self.t.wait_for(name)
        self.collector = self.t.wait_for("ctp-collect")
        self.own = stat_of(self.collector)[3]
        self.guard = self.t.wait_for("ctp-guard")
        self.t.wait_foreground(self.guard)

    def run_in_background(self):
        self.line(f"cd {self.folder}; {COLLECT} -q {PLAIN} | zstd -q >t.ctp.zst &")
        self.usable()
        self.t.until("the program runs", lambda: "ready" in self.t.text)
        return self.t.wait_for("sleep", "1000")

    def has_written(self):
        try:
            return os.readlink(f"/proc/{self.collector}/fd/1") == "/dev/null"
        except OSError:  # it has ended
            return True

    def halt(self, program):
        """Returns when the collector knows that the program is stopped, and has looked at the terminal since."""
        self.t.wait_state("T", program)
        self.t.wait_slept(self.collector, 3)
        self.t.wait_state("T", program)

    def opened(self, fifo):
        try:
            return os.open(f"{self.folder}/{fifo}", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads it yet
            return None

    def go(self, fifo):
        """What reads a line from FIFO goes on."""
        fd = self.t.until(f"a reader of {fifo}", lambda: self.opened(fifo))
        os.write(fd, b"\n")
        os.close(fd)

    def prompt(self):
        """The pipeline has ended, and the terminal is the shell's."""
        self.usable()
        for name in ("ctp-collect", "ctp-ppt", "ctp-guard", "zstd"):
            self.t.wait_none(name)

    def usable(self):
        self.t.expect(PROMPT)
        self.t.type("echo us''able\n")
        self.t.expect("usable")
        self.t.wait_foreground(self.shell)

    def stop_and_continue(self, *pids):
        """Ctrl-Z and fg, of a job in the foreground with these processes."""
        self.t.type(CTRL_Z)
        self.t.wait_state("T", *pids)
        self.usable()
        self.line("fg")
        self.t.wait_foreground(self.guard)
        self.t.wait_state("SR", *pids)

    def complete(self, end, path=None):
        """The trace has its end; what the program's end was."""
        path = path or self.trace
        stat = output_of("ctp-stat", path)
        need("sections:    1, complete" in stat, "the trace is not complete:", stat)
        json = output_of("ctp-tojsonl", "-aq", path)
        need(end in json, f"the trace does not have {end}:", json)


def interrupt(s):
    s.run(PLAIN)
    s.t.type(CTRL_C)
    s.prompt()
    s.complete('"outcome":"killed","status":2')


def quit_key(s):
    s.run("sh -c 'ulimit -c 0; echo rea''dy; exec sleep 1000'")
    s.t.type(CTRL_BACKSLASH)
    s.prompt()
    s.complete('"outcome":"killed","status":3')


def program_handles_it(s):
    trap = "trap \"n=\\$((n+1)); echo cau''ght \\$n; [ \\$n -lt 2 ] || exit 5\" INT"
    s.run(f"sh -c 'n=0; {trap}; echo rea''dy; while :; do sleep 0.1; done'")
    s.t.type(CTRL_C)
    s.t.expect("caught 1")
    s.t.type(CTRL_C)
    s.t.expect("caught 2")
    s.prompt()
    s.complete('"outcome":"exited","status":5')


def program_ignores_it(s):
    s.run("sh -c 'ulimit -c 0; trap \"\" INT; echo rea''dy; read -r a; echo re''ad; sleep 1000'")
    s.t.type(CTRL_C)
    s.t.type("x\n")
    s.t.expect("read")
    s.t.type(CTRL_C + CTRL_BACKSLASH)
    s.prompt()
    s.complete('"outcome":"killed","status":3')


def program_reads(s):
    s.run("sh -c 'echo rea''dy; read -r a; echo got-$a; exit 4'")
    s.t.type("x17\n")
    s.t.expect("got-x17")
    s.prompt()
    s.complete('"outcome":"exited","status":4')


def second_interrupt(s):
    """Typed when the program has ended, it must not end the reader, which may still write."""
    os.mkfifo(s.folder + "/go")
    s.run(PLAIN, reader="sh -c 'read -r a <go; exec zstd -q >t.ctp.zst'", name="sh")
    program = s.t.wait_for("sleep", "1000")
    s.t.type(CTRL_C)
    s.t.wait_gone(program)
    s.t.until("all is in the pipe", s.has_written)
    s.t.type(CTRL_C)
    s.t.expect("interrupt again to end all")
    s.go("go")
    s.prompt()
    s.complete('"outcome":"killed","status":2')


def third_interrupt(s):
    """It ends the reader."""
    s.run(PLAIN, reader="sh -c 'cat >t.ctp; echo al''l; exec sleep 1000'", name="sh")
    s.t.type(CTRL_C)
    s.t.expect("all")
    s.t.type(CTRL_C)
    s.t.expect("interrupt again to end all")
    reader = s.t.wait_for("sleep", "1000")
    s.t.until("end", lambda: state_of(reader) in "ZX" or s.t.type(CTRL_C))
    s.prompt()
    s.complete('"outcome":"killed","status":2', s.folder + "/t.ctp")


def stop(s):
    s.run(PLAIN)
    program = s.t.wait_for("sleep", "1000")
    s.t.type(CTRL_Z)
    s.t.wait_state("T", program, s.collector, s.reader)
    s.usable()
    s.t.type("bg\n")
    s.t.wait_state("S", program, s.collector, s.reader)
    s.usable()
    s.t.type("fg\n")
    s.t.wait_foreground(s.guard)
    s.t.wait_state("S", program, s.collector, s.reader)
    s.stop_and_continue(program, s.collector, s.reader)
    s.t.type(CTRL_C)
    s.prompt()
    s.complete('"outcome":"killed","status":2')


def stop_by_program(s):
    """A program stops its whole process group by SIGSTOP, as some editors do for Ctrl-Z."""
    s.run("sh -c 'echo rea''dy; read -r a; kill -STOP 0; echo we''nt-on; exec sleep 1000'")
    s.t.type("\n")
    s.t.wait_state("T", s.collector, s.reader)
    s.usable()
    s.line("fg")
    s.t.expect("went-on")
    s.t.wait_foreground(s.guard)
    s.t.type(CTRL_C)
    s.prompt()
    s.complete('"outcome":"killed","status":2')


def halted(s):
    """Another process stops the program by SIGSTOP. The trace goes on; Ctrl-Z and fg do as ever."""
    s.run(PLAIN)
    program = s.t.wait_for("sleep", "1000")
    os.kill(program, signal.SIGSTOP)
    s.halt(program)
    s.t.wait_state("S", s.collector, s.reader)
    s.stop_and_continue(program, s.collector, s.reader)
    os.kill(program, signal.SIGSTOP)
    s.halt(program)
    os.kill(program, signal.SIGCONT)
    s.t.wait_state("S", program, s.collector, s.reader)
    s.t.type(CTRL_C)
    s.prompt()
    s.complete('"outcome":"killed","status":2')


def halted_and_interrupted(s):
    """A program that is stopped does not end by Ctrl-C; but the terminal must not be dead."""
    s.run(PLAIN)
    program = s.t.wait_for("sleep", "1000")
    os.kill(program, signal.SIGSTOP)
    s.halt(program)
    s.t.type(CTRL_C)
    s.t.wait_state("T", s.collector, s.reader)
    s.usable()
    s.line("fg")
    s.prompt()
    s.complete('"outcome":"killed","status":2')


def background_reads(s):
    """The program reads from the terminal in the background: the job stops, as others would."""
    os.mkfifo(s.folder + "/go")
    s.run("sh -c 'echo rea''dy; read -r a <go; read -r a; echo got-$a; exec sleep 1000'")
    program = s.t.wait_for("sh", "-c")
    s.t.type(CTRL_Z)
    s.t.wait_state("T", program, s.collector, s.reader)
    s.usable()
    s.t.type("bg\n")
    s.t.wait_state("S", program, s.collector, s.reader)
    s.usable()
    s.go("go")
    s.t.wait_state("T", program, s.collector, s.reader)
    s.usable()
    s.line("fg")
    s.t.wait_foreground(s.guard)
    s.t.type("x18\n")
    s.t.expect("got-x18")
    s.t.type(CTRL_C)
    s.prompt()
    s.complete('"outcome":"killed","status":2')


def in_background(s):
    """Started with &, it leaves the terminal alone."""
    program = s.run_in_background()
    s.t.wait_foreground(s.shell)
    os.kill(program, signal.SIGINT)
    s.line("wait")
    s.prompt()
    s.complete('"outcome":"killed","status":2')


def from_the_background(s):
    """Started with &, it gets the terminal with fg, and then all is as if it had been there from the start."""
    program = s.run_in_background()
    s.line("fg")
    s.t.wait_foreground(s.t.wait_for("ctp-guard"))
    s.t.type(CTRL_Z)
    s.t.wait_state("T", program, s.t.wait_for("ctp-collect"), s.t.wait_for("zstd"))
    s.usable()
    s.line("fg")
    s.t.wait_foreground(s.t.wait_for("ctp-guard"))
    s.t.type(CTRL_C)
    s.prompt()
    s.complete('"outcome":"killed","status":2')


def timeout_of_it_all(s):
    """The signal of timeout(1) must be for the collector alone: without --foreground zstd gets it, too."""
    s.line(f"cd {s.folder}; timeout --foreground 1 {COLLECT} -q {PLAIN} | zstd -q >t.ctp.zst")
    s.t.expect("ready")
    s.prompt()
    s.complete('"outcome":"killed","status":15')


def collector_killed(s):
    s.run(PLAIN)
    program = s.t.wait_for("sleep", "1000")
    os.kill(s.collector, signal.SIGKILL)
    s.prompt()
    need(stat_of(program), "the program has ended")
    os.kill(program, signal.SIGKILL)


def killed_as_job(s):
    """A signal that the shell sends to the job reaches the program's children, too."""
    reader = "sh -c 'trap \"\" TERM; exec zstd -q >t.ctp.zst'"
    s.run("sh -c 'echo rea''dy; sleep 1000; exit 5'", reader)
    s.t.type(CTRL_Z)
    s.t.wait_state("T", s.collector, s.reader)
    s.usable()
    s.line("kill %1; fg")
    s.prompt()
    s.t.wait_none("sleep", "1000")
    s.complete('"outcome":"killed","status":15')


def pager(s):
    """A process of the pipeline reads from the terminal, then the program, then the first again."""
    for n in range(4):
        os.mkfifo(f"{s.folder}/go{n}")
    program = "echo rea''dy; read -r a <go1; read -r a; echo pro''gram-$a; read -r a <go3; exit 6"
    reads = "read -r a </dev/tty; echo pag''er-$a"
    reader = f"read -r a <go0; {reads}; read -r a <go2; {reads}; exec cat >t.ctp"
    s.run(f"sh -c '{program}'", f"sh -c '{reader}'", "sh")
    for n, name in enumerate(("pager", "program", "pager")):
        s.go(f"go{n}")
        s.t.wait_foreground(s.guard if name == "program" else s.own)
        s.t.type(f"x{n}\n")
        s.t.expect(f"{name}-x{n}")
    with open(f"{s.folder}/go3", "w", encoding="ascii") as go:
        go.write("\n")
    s.prompt()
    s.complete('"outcome":"exited","status":6', s.folder + "/t.ctp")


def interactive_program(s):
    """The program is itself an interactive shell, with jobs of its own."""
    s.line(f"cd {s.folder}; {COLLECT} -q env PS1=in''ner- bash --norc -i | zstd -q >t.ctp.zst")
    s.t.expect("inner-")
    s.t.type("sleep 1000\n")
    sleep = s.t.wait_for("sleep", "1000")
    s.t.wait_foreground(sleep)
    s.t.type(CTRL_Z)
    s.t.wait_state("T", sleep)
    s.t.expect("inner-")
    s.t.type("fg\n")
    s.t.wait_foreground(sleep)
    s.t.wait_state("S", sleep)
    s.t.type(CTRL_C)
    s.t.expect("inner-")
    s.t.type("exit 7\n")
    s.prompt()
    s.complete('"outcome":"exited","status":7')


def own_session(s):
    """A program that makes a session of its own can do so, although it has forked nothing."""
    setsid = "import os; os.setsid(); print(\\\"ses\\\" + \\\"sion\\\")"
    s.run(f"sh -c 'echo rea''dy; read -r a; exec python3 -c \"{setsid}\"'")
    s.t.type("\n")
    s.t.expect("session")
    s.prompt()
    s.complete('"outcome":"exited","status":0')


def own_group(s):
    """timeout(1) leaves the process group, so no key reaches it. The collector passes them on."""
    s.run("sh -c 'echo rea''dy; exec timeout 5000 sleep 1000'")
    program = s.t.wait_for("sleep", "1000")
    s.t.wait_for("timeout")

    def type_until(key, true):  # the collector notices within a second that timeout has left
        typed = []

        def type_again():
            if not typed or time.monotonic() > typed[-1] + 5:
                s.t.type(key)
                typed.append(time.monotonic())

        s.t.until(f"what {key!r} does", lambda: true() or type_again())

    type_until(CTRL_Z, lambda: state_of(s.collector) == state_of(s.reader) == "T")
    s.usable()
    s.line("fg")
    s.t.wait_foreground(s.guard)
    s.t.wait_state("S", s.collector, s.reader)
    type_until(CTRL_C, lambda: state_of(program) in "ZX")
    s.prompt()
    s.complete('"outcome":"', s.trace)


def not_started(s):
    s.line(f"cd {s.folder}; {COLLECT} {s.folder}/none | cat >t.ctp")
    s.t.expect("No such file")
    s.prompt()


def attach(s):
    """Types the pipeline with -p. Returns the process that the collector is attached to."""
    if "TARGET" not in os.environ:
        sys.exit(77)
    pipe, env = subprocess.PIPE, {**os.environ, "CTP_RECORD": "1"}
    target = subprocess.Popen([os.environ["TARGET"]], env=env, stdin=pipe, stdout=pipe)
    target.stdin.write(b"n 3\n")
    target.stdin.flush()
    target.stdout.readline()
    s.line(f"cd {s.folder}; {COLLECT} -p {target.pid} | zstd -q >t.ctp.zst")
    s.t.expect(f"attached to process {target.pid}")
    s.reader = s.t.wait_for("zstd")
    s.collector = s.t.wait_for("ctp-collect")
    s.guard = s.t.wait_for("ctp-guard")
    s.t.wait_foreground(s.guard)
    return target


def attached(s):
    """Ctrl-C ends the trace and not the process; Ctrl-Z stops the collector alone."""
    target = attach(s)
    s.stop_and_continue(s.collector, s.reader)
    s.t.type(CTRL_C)
    s.t.expect("0 lost")
    s.prompt()
    s.complete('"outcome":"running"')
    need(target.poll() is None and stat_of(target.pid)[1] == "S", "the process does not run on")
    target.kill()
    target.wait()


def attached_to_the_end(s):
    """The process ends by itself, and so does the trace."""
    target = attach(s)
    target.stdin.close()
    target.wait()
    s.prompt()
    s.complete('"outcome":"ended"')


def attached_and_killed(s):
    target = attach(s)
    os.kill(s.collector, signal.SIGKILL)
    s.prompt()
    target.kill()
    target.wait()


def ppt_client(*options):
    client = os.path.abspath(os.environ.get("O", "build") + "/t/helper/ppt-client")
    if not os.path.exists(client):
        sys.exit(77)
    return [client, "-r", "100", *options]


def ppt_run(s, operands):
    """Types the pipeline with ctp-ppt. Returns when it is attached, and has the terminal."""
    s.line(f"cd {s.folder}; {BIN}/ctp-ppt attach {operands} | zstd -q >t.ctp.zst")
    s.t.expect("attached, with")
    s.reader = s.t.wait_for("zstd")
    s.guard = s.t.wait_for("ctp-guard")
    s.collector = stat_of(s.guard)[2]
    s.t.wait_foreground(s.guard)


def ppt_ends(s, *processes):
    s.stop_and_continue(s.collector, s.reader, *processes)
    s.t.type(CTRL_C)
    s.prompt()


def ppt_attached(s):
    """As attached, with ctp-ppt."""
    client = subprocess.Popen(ppt_client(), stdout=subprocess.PIPE)
    client.stdout.readline()
    ppt_run(s, f"{client.pid} Foo")
    ppt_ends(s)
    s.complete('"outcome":"running"')
    need(client.poll() is None, "the process does not run on")
    client.kill()
    client.wait()


def ppt_command(s):
    """ctp-ppt starts the program, and Ctrl-C ends it."""
    ppt_run(s, f"Foo -- {' '.join(ppt_client())}")
    ppt_ends(s, s.t.wait_for("ppt-client"))
    s.complete('"outcome":"killed","status":2')


def ppt_second_interrupt(s):
    client = subprocess.Popen(ppt_client(), stdout=subprocess.PIPE)
    client.stdout.readline()
    s.line(f"cd {s.folder}; {BIN}/ctp-ppt attach {client.pid} Foo | sh -c 'cat >t.ctp; echo al''l; exec sleep 1000'")
    s.t.expect("attached, with")
    s.t.wait_foreground(s.t.wait_for("ctp-guard"))
    s.t.type(CTRL_C)
    s.t.expect("all")
    s.complete('"outcome":"running"', s.folder + "/t.ctp")
    reader = s.t.wait_for("sleep", "1000")
    s.t.until("end", lambda: state_of(reader) in "ZX" or s.t.type(CTRL_C))
    s.prompt()
    client.kill()
    client.wait()


def script(s):
    """A script has no job control: it is in the process group of the pipeline, and goes on."""
    with open(s.folder + "/run", "w", encoding="ascii") as run:
        run.write(f"{COLLECT} -q {PLAIN} | zstd -q >t.ctp.zst\necho af''ter\n")
    s.line(f"cd {s.folder}; {s.name} run")
    s.t.expect("ready")
    program = s.t.wait_for("sleep", "1000")
    s.guard, s.reader = s.t.wait_for("ctp-guard"), s.t.wait_for("zstd")
    s.t.wait_foreground(s.guard)
    s.stop_and_continue(program, s.reader)
    s.t.type(CTRL_C)
    s.t.expect("after")
    s.prompt()
    s.complete('"outcome":"killed","status":2')


def collector_of_script_killed(s):
    """No shell with job control takes the terminal back for a script; the guard does."""
    os.mkfifo(s.folder + "/go")
    with open(s.folder + "/run", "w", encoding="ascii") as run:
        run.write(f"{COLLECT} -q {PLAIN} | zstd -q >t.ctp.zst\nread -r a <go; read -r a; echo got-$a\n")
    s.line(f"cd {s.folder}; {s.name} run")
    s.t.expect("ready")
    program, guard = s.t.wait_for("sleep", "1000"), s.t.wait_for("ctp-guard")
    s.t.wait_for("zstd")
    s.t.wait_foreground(guard)
    os.kill(s.t.wait_for("ctp-collect"), signal.SIGKILL)
    s.t.wait_gone(guard)
    s.go("go")
    s.t.type("x20\n")
    s.t.expect("got-x20")
    s.prompt()
    os.kill(program, signal.SIGKILL)


def background_of_script(s):
    """There SIGINT is ignored, so nobody has to be kept from it: the script keeps the terminal."""
    program = PLAIN.replace("exec", "echo $$ >pid; exec")
    with open(s.folder + "/run", "w", encoding="ascii") as run:
        run.write(f"{COLLECT} -q {program} | zstd -q >t.ctp.zst &\n")
        run.write("read -r a; echo got-$a; kill $(cat pid); wait\n")
    s.line(f"cd {s.folder}; {s.name} run")
    s.t.expect("ready")
    s.t.wait_for("sleep", "1000")
    s.t.type("x19\n")
    s.t.expect("got-x19")
    s.prompt()
    s.complete('"outcome":"killed","status":15')


def without_job_control(s):
    """The shell leads the session and the pipeline's process group, as for `ssh -t HOST COMMAND`."""
    pipeline = f"{COLLECT} -q {PLAIN} | zstd -q >t.ctp.zst"
    t = Terminal(s.name, "-c", f"cd {s.folder}; {pipeline}; echo sta''tus=$?")
    try:
        t.expect("ready")
        program = t.wait_for("sleep", "1000")
        t.wait_for("zstd")
        t.wait_foreground(t.wait_for("ctp-guard"))
        t.type(CTRL_Z)  # nobody could continue the pipeline, so it goes on
        t.wait_state("S", program)
        t.type(CTRL_C)
        t.expect("status=0")
        t.wait_gone(t.pid)
    except Failed:
        s.t.text += t.text
        raise
    finally:
        t.end()
    s.complete('"outcome":"killed","status":2')


def own_reader(s):
    """A tool of ours reads on after the first Ctrl-C, and ends with the second."""
    os.mkfifo(s.folder + "/go")
    subprocess.run([COLLECT, "-q", "-o", s.folder + "/t.ctp", "true"], check=True)
    begins, ends = "head -c 100 t.ctp; echo rea''dy >&2", "tail -c +101 t.ctp"
    writer = f"sh -c 'trap \"\" INT; {begins}; read -r a <go; {ends}'"
    for again in (False, True):
        s.line(f"cd {s.folder}; {writer} | {BIN}/ctp-tojsonl -a >t.jsonl")
        s.t.expect("ready")
        s.t.wait_all_read(s.t.wait_for("ctp-tojsonl"))
        s.t.type(CTRL_C)
        s.t.expect("ctp-tojsonl: interrupted: reads on until its input ends; interrupt again")
        if again:
            s.t.type(CTRL_C)
            s.t.wait_none("ctp-tojsonl")
        s.go("go")
        s.prompt()
        with open(s.folder + "/t.jsonl", encoding="utf-8") as json:
            need(('"type":"end"' in json.read()) != again, "the output is wrong; again:", again)


def hung_up(s):
    s.run(PLAIN)
    program = s.t.wait_for("sleep", "1000")
    fd = os.dup(s.t.fd)
    os.close(s.t.fd)
    s.t.fd = os.open("/dev/null", os.O_RDWR)
    os.close(fd)
    for pid in (program, s.collector, s.guard, s.shell):
        s.t.wait_gone(pid)


def main():
    others = ("need", "output_of", "attach", "main", "Scene", "ppt_client", "ppt_run", "ppt_ends")
    ours = {name: fn for name, fn in globals().items() if name not in others}
    scenes = {
        name.replace("_", "-"): fn
        for name, fn in ours.items()
        if callable(fn) and fn.__module__ == "__main__"
    }
    if sys.argv[1] == "--list":
        print(*scenes)
        return
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(sys.argv[1], folder)
        try:
            scenes[sys.argv[2]](scene)
        except Failed as failed:
            sys.exit(f"{failed}\n--- the screen:\n{scene.t.text}")
        finally:
            scene.t.end()


main()
