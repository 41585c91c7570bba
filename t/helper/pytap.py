# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""pytap.py - TAP for tests in Python: ok(), equal() and skip() print a line each, done() the plan. Why a check failed goes to stderr."""
import sys

RUN, FAILED = [0], [0]


def ok(true, name, *why):
    RUN[0] += 1
    FAILED[0] += not true
    print("ok" if true else "not ok", RUN[0], "-", name, flush=True)
    for line in (f"failed: {name}", *why) if not true else ():
        print("#", line, file=sys.stderr)


def equal(got, want, name):
    ok(got == want, name, f"     got: {got!r}", f"expected: {want!r}")


def skip(why):
    ok(True, "# SKIP " + why)


def done():
    """Returns the status of the script."""
    print(f"1..{RUN[0]}")
    return int(FAILED[0] > 0)
