#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""manrun.py PAGE [MARK] - run the examples of a manual page and compare what they print with what the page says.

An example is a display after a line `.\\" run`:

	.\\" run
	.Bd -literal -offset indent
	$ ctp-collect -qo t.ctp lostwake
	$ ctp-tojsonl t.ctp | head -n 1
	{"probe_id":1,"tid":456, ...
	.Ed

A line that begins with `$ ` is a command of the shell; the lines after it belong to it as long as it is not finished, and are
its output from there on. Text after `.\\" run` is a command that prepares the example and is not shown. All examples of a page
run in one folder, which is empty at first, with the tools and the examples of the SDK in $PATH, and print standard output and
standard error.

Digits, the unit of a time or size, and the width of columns are not compared. `...` stands for any text on a line, and on a line
of its own for any lines. An example is skipped, with all after it, if it needs a program that is not here (jq, a tool that was not
built ...); it is skipped alone if the command that prepares it exits with 77. A display after a line `.\\" file NAME` is a file of that name for the examples after it;
compilers find the headers of the SDK.

MARK is the word of another mark than `run`: run-postgres and run-mysql are for tests that have such a server.
Prints what differs, a line `# skip: ...` for each example that is skipped, and at last `commands N`, how many commands ran.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ESCAPES = {r"\(aq": "'", r"\(dq": '"', r"\(ga": "`", r"\(ha": "^", r"\(ti": "~", r"\e": "\\", r"\-": "-", r"\&": "", r"\ ": " "}
SKIP = 77
FOREIGN = "jq sqlite3 babeltrace2 duckdb psql mysql zstd zstdcat python3 xxd hexdump cc c++ g++".split()


def plain(line):
    return re.sub(r"\\(\(..|.)", lambda m: ESCAPES.get(m.group(), m.group()), line)


def examples(path, mark):
    """Yields (line number, command that prepares, lines, None) of each example, and (line number, None, lines, name) of each file."""
    prepare, found, lines, name = None, None, [], None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if found and line == ".Ed":
            yield found, prepare, lines, name
            prepare, found, lines, name = None, None, [], None
        elif found:
            lines.append(plain(line))
        elif (run := re.match(rf'^\.\\" {mark}(?: (.*))?$', line)):
            prepare = (prepare or "") + (run.group(1) or "") + "\n"
        elif (file := re.match(r'^\.\\" file (\S+)$', line)):
            name = file.group(1)
        elif (prepare is not None or name) and line.startswith(".Bd -literal"):
            found = number


def unfinished(command):
    if command.endswith("\\"):
        return True
    return subprocess.run(["sh", "-n", "-c", command], stderr=subprocess.DEVNULL, check=False).returncode != 0


def commands(lines):
    """Yields (command, lines of its output)."""
    command, output = None, []
    for line in lines:
        if command is not None and not output and unfinished(command):
            command += "\n" + line
        elif line.startswith("$ "):
            if command is not None:
                yield command, output
            command, output = line[2:], []
        elif command is not None:
            output.append(line)
    if command is not None:
        yield command, output


def uniform(text):
    text = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID", text)  # of the boot
    text = re.sub(r"0x[0-9A-Fa-f]+", "0xN", text)
    text = re.sub(r"\d+(?:[.,]\d+)*", "N", text)
    text = re.sub(r"--+", "--", text)  # rulers of tables
    text = re.sub(r"N (?:ns|us|µs|ms|s|min|h|B|KiB|MiB|bytes)\b", "N unit", text)
    return re.sub(r"[ \t]+", " ", text).strip()


def matches(want, got):
    whole = ""
    for line in want:
        if line.strip() == "...":
            whole += r"(?:[^\n]*\n)*"
        else:
            whole += "[^\\n]*".join(r"\ *" + re.escape(uniform(part)) + r"\ *" for part in line.split("...")) + r"\n"
    return re.fullmatch(whole, "".join(uniform(line) + "\n" for line in got)) is not None


def is_tool(word):
    return word.startswith("ctp-") and os.path.exists(f"doc/{word}.1")


def run_page(path, mark):
    count, missing = 0, []  # what comes after an example that is skipped may use its files
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    folder = tempfile.mkdtemp()
    shell = lambda command: subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    try:
        for number, prepare, lines, name in examples(path, mark):
            if name:
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")
                continue
            shown = prepare + "\n".join(line for line in lines if line.startswith("$ "))
            words = re.findall(r"(?<![\w./+-])[a-z][\w+-]*(?![\w./-])", shown)
            missing = missing or [word for word in words if (word in FOREIGN or is_tool(word)) and not shutil.which(word)]
            prepared = None if missing else shell(prepare)
            if missing or prepared.returncode == SKIP:
                print(f"# skip: {path}:{number}: there is no {missing[0] if missing else 'part that it needs'}")
                continue
            if prepared.returncode:
                print(f"{path}:{number}: {prepare.strip()}: {prepared.stdout.decode(errors='replace')}")
            status = 0
            for command, want in commands(lines):
                count += 1
                ran = shell(f"(exit {status})\n{command}")  # so that $? is that of the command before
                status, got = ran.returncode & 255, ran.stdout.decode(errors="surrogateescape").splitlines()
                for text in want, got:
                    while text and not text[-1].strip():
                        text.pop()
                if not matches(want, got):
                    print(f"{path}:{number}: $ {command}", *got, sep="\n  ")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return count


if __name__ == "__main__":
    build = os.environ.get("O", "build")
    tools = [os.path.abspath(folder) for folder in (os.environ.get("BIN", f"{build}/bin"), f"{build}/examples")]
    os.environ["PATH"] = ":".join(tools + [os.environ["PATH"]])
    os.environ["BUILD"] = os.path.abspath(build)  # for commands that prepare
    os.environ["BABELTRACE_PLUGIN_PATH"] = os.path.abspath(f"{build}/plugins")
    os.environ["LD_LIBRARY_PATH"] = os.path.abspath(f"{build}/lib")
    os.environ["TOP"] = os.getcwd()  # the tree, for commands that prepare
    os.environ["CPATH"] = ":".join(os.path.abspath(folder) for folder in ("sdk/c", "sdk/c++", "sdk/ppt", "sdk/cacheray"))
    print("commands", run_page(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "run"))
