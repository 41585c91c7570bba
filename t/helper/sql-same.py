#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""sql-same.py [--once] SQLITE COMMAND... - compares a database of another engine with the SQLite file, row by row.

COMMAND is psql with its options, and prints CSV, with `\\N` for NULL. With --once it is any other command: it gets the queries on
standard input, each followed by a NUL, and prints a NUL after each answer. Values are compared in ctp-tocsv's spelling.
Prints what differs; nothing if all is the same. EVENTS in the environment names the other engine's table of events. With LATE the times of
one of the two are 2^63 larger (times.py late): that is left out, and so are texts of a section which say so.
"""
import csv
import io
import os
import sqlite3
import subprocess
import sys

NULL = r'\N'
LATE = os.environ.get('LATE')
EVENTS = os.environ.get('EVENTS') or 'coro_trace_events'
AFTER = '(after an answer)'
BOOLEANS = {'is_active', 'complete', 'open', 'certain', 'exact', 'woken', 'conflict', 'joins', 'by_hand', 'closed', 'owned', 'alive',
            'available_known', 'room_known', 'holders_known', 'shared', 'timed', 'cancellable', 'rests', 'more', 'ended',
            'synced', 'by_wall', 'error_known', 'stopped', 'resumed', 'sure'}


def spell(column, value):
    if value is None:
        return NULL
    if column == 'table_name' and value == 'coro_trace_events':
        return EVENTS
    if column in BOOLEANS and value in (0, 1, '0', '1', 't', 'f', 'true', 'false'):
        return 'true' if value in (1, '1', 't', 'true') else 'false'
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, bytes):
        return r'\x' + value.hex()
    if LATE and (column in ('attrs', 'stream') or str(value).lstrip('-').isdigit()):
        return str(int(value) % 2**63) if column not in ('attrs', 'stream') else ''
    return str(value)


def number_first(row):
    return [(len(v), v) if v.lstrip('-').isdigit() else (0, v) for v in row]


def query(name):
    name = EVENTS.replace('"', '""') if name == 'coro_trace_events' else name
    return f'SELECT * FROM "{name}"'


def run(command, text=None):
    said = subprocess.run(command, input=text, capture_output=True, check=False)
    if said.returncode:
        print(f'{command}: status {said.returncode}: {said.stderr.decode(errors="replace").strip()}')
        sys.exit(1)
    return said.stdout.decode(errors='surrogateescape')


def ask(command, once, names):
    if not once:
        queries = [part for name in names for part in ('-c', query(name), '-c', r'\echo ' + AFTER)]
        return run([*command, '-v', 'ON_ERROR_STOP=1', *queries]).split(AFTER + '\n')
    return run(command, b''.join(query(name).encode(errors='surrogateescape') + b'\0' for name in names)).split('\0')


def read(answer):
    rows = list(csv.reader(io.StringIO(answer)))
    return [c.lower() for c in rows[0]] if rows else None, rows[1:]


def main():
    once = sys.argv[1] == '--once'
    path, *command = sys.argv[2 if once else 1:]
    db = sqlite3.connect(path)
    db.text_factory = lambda b: b.decode(errors='surrogateescape')
    names = [n for n, in db.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'")]
    compared = 0
    for name, answer in zip(names, ask(command, once, names)):
        cursor = db.execute(f'SELECT * FROM "{name}"')
        columns = [d[0].lower() for d in cursor.description]
        mine = sorted(([spell(c, v) for c, v in zip(columns, row)] for row in cursor), key=number_first)
        theirs_columns, theirs = read(answer)
        if theirs_columns != columns:
            print(f'{name}: columns {theirs_columns}, not {columns}')
            continue
        theirs = sorted(([spell(c, v) for c, v in zip(columns, row)] for row in theirs), key=number_first)
        compared += len(mine)
        if mine != theirs:
            print(f'{name}: {len(theirs)} rows, not {len(mine)}')
            for a, b in zip(mine, theirs):
                if a != b:
                    print('  has', b, 'not', a)
                    break
    if not compared:
        print('nothing was compared')


main()
