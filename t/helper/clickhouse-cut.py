#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""clickhouse-cut.py PORT N ROWS STREAM... - delivers streams through connections that break after random numbers of bytes.

PORT is that of the server for the client QUICK (an environment variable, with %d in place of the port), and LOAD is the loader. Prints
what is wrong: a loader that succeeds without its rows, says nothing or more than a line, or a reader that sees a part of a section.
"""
import os
import random
import shlex
import socket
import subprocess
import sys
import threading

load, quick = os.environ['LOAD'], os.environ['QUICK']


class Breaking:
    """Passes connections on, and breaks all once `left` bytes went through them."""

    def __init__(self, port):
        self.port, self.left = port, 0
        self.listener = socket.create_server(('127.0.0.1', 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            one = self.listener.accept()[0]
            try:
                other = socket.create_connection(('127.0.0.1', self.port))
            except OSError:
                one.close()
                continue
            for a, b in ((one, other), (other, one)):
                threading.Thread(target=self.copy, args=(a, b), daemon=True).start()

    def copy(self, a, b):
        try:
            while data := a.recv(65536):
                part = data[:max(self.left, 0)]
                self.left -= len(data)
                b.sendall(part)
                if self.left < 0:
                    break
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR if self.left < 0 else socket.SHUT_WR if s is b else socket.SHUT_RD)
            except OSError:
                pass


def main():
    port, number, rows, streams = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    random.seed(2)
    proxy = Breaking(port)
    through = quick % proxy.listener.getsockname()[1]
    count = [*shlex.split(quick % port), '--query', 'SELECT count() FROM coro_trace_events']
    there = int(subprocess.run(count, capture_output=True, check=True).stdout)
    proxy.left = whole = 1 << 40
    subprocess.run([load, '-q', '--load', through, streams.pop()], check=True)
    whole -= proxy.left
    there += rows
    failed = 0
    for _ in range(number):
        proxy.left = cut = random.randrange(whole + whole // 10)
        said = subprocess.run([load, '-q', '--load', through, streams[-1]], capture_output=True, text=True, check=False)
        seen = int(subprocess.run(count, capture_output=True, check=True).stdout) - there
        if said.returncode not in (0, 1) or said.stderr.count('\n') != said.returncode or len(said.stderr) > 600:
            print(f'cut after {cut} of {whole} bytes: status {said.returncode}, {said.stderr!r}')
        if seen not in (0, rows) or (said.returncode == 0 and not seen):
            print(f'cut after {cut} of {whole} bytes: status {said.returncode}, a reader sees {seen} of {rows} rows')
        failed += said.returncode
        if seen and len(streams) > 1:
            streams.pop()
            there += rows
    print(f'{failed} of {number} loads failed', file=sys.stderr)
    if not 0 < failed:
        print('not one load failed')


main()
