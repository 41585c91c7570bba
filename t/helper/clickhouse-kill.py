#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""clickhouse-kill.py N ROWS STREAM... - starts N loaders, kills each at random, and looks at what a reader sees meanwhile.

Each stream has ROWS transitions. It is loaded until it is there, then one loader is started for it in vain, then comes the next stream.
LOAD and QUICK in the environment are the loader and the client. Prints what is wrong; nothing if a reader always sees none or all of a
section's rows, and what was there once stays. How many loaders ended by themselves goes to standard error.
"""
import os
import random
import shlex
import signal
import subprocess
import sys
import time

load, quick = os.environ['LOAD'], os.environ['QUICK']


def ask(query):
    return subprocess.run([*shlex.split(quick), '--query', query], capture_output=True, text=True, check=True).stdout.strip()


def main():
    number, rows, streams = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    random.seed(1)
    began = time.monotonic()
    subprocess.run([load, '-q', '--load', quick, streams.pop()], check=True)
    longest = 1.2 * (time.monotonic() - began)
    there, again, ended = rows, False, 0
    for _ in range(number):
        stream = streams[-1]
        child = subprocess.Popen([load, '-q', '--load', quick, stream], stderr=subprocess.DEVNULL)
        time.sleep(random.random() * longest)
        child.send_signal(signal.SIGKILL)
        done = child.wait() == 0
        ended += done
        longest *= 0.97 if done else 1.015 # about a third of them end
        seen = int(ask('SELECT count() FROM coro_trace_events')) - there
        if seen not in (0, rows):
            print(f'a reader sees {seen} rows more than {there}')
        if again and not seen:
            print('what was there is gone')
        if again and len(streams) > 1:
            streams.pop()
            there += seen
        again = seen > 0 and not again
    print(f'{ended} of {number} loaders ended, {len(streams)} streams are left', file=sys.stderr)
    if not 0 < ended < number:
        print(f'{ended} of {number} loaders ended')


main()
