#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""clickhouse-same.py SQLITE COMMAND... - compares a database of ClickHouse with a SQLite file of the same traces.

COMMAND is a client, which gets each query on standard input. Compared are the rows of every class, of the sections and of the views that
both have, without the numbers that SQLite gives to rows. In ClickHouse the views of STEPS have coroutines with numbered transitions only:
these are compared in sections that have no others. Prints what differs; nothing if all is the same.
"""
import sqlite3
import struct
import subprocess
import sys
from collections import Counter

TEXTS = ('string', 'bytes', 'enum')
NULL = '\\N'
OWN = ('day', 'section_id', 'delivery', 'host', 'wall')
FACTS = ('objects_at_end', 'holders_at_end', 'reasons_at_end', 'origins_at_end')
ORDERED = ('wake_latencies', 'await_intervals', 'coroutine_states', 'wait_for')  # of two transitions with one number, either may be the last of them
EXTRA = (('coro_trace_events', 'origin'), ('wall_times', 'origin'))  # in ClickHouse delivered_transition alone has it
STEPS = ('steps', 'intervals', 'run_intervals', 'wait_intervals', 'longest_waits', 'suspend_addresses', 'suspend_sites', 'thread_runs', 'gaps',
         'coroutine_times', 'thread_times', 'loss_totals')
# ClickHouse's own view, of which SQLite has the parts: a suspension of which nothing is lost, its first wake, and the resumption.
LATENCIES = '''SELECT i.section, i.coro, i.site, min(w.ts) AS woken_ns, i.stop_ns AS resumed_ns,
  CASE WHEN i.section NOT IN (SELECT id FROM sections WHERE clock = 'ordinal') THEN i.stop_ns - min(w.ts) END AS latency_ns
  FROM intervals i JOIN wakes w ON w.section = i.section AND w.coro = i.coro AND w.ts > i.start_ns AND w.ts <= i.stop_ns
  JOIN coro_trace_events n ON n.section = i.section AND n.coro = i.coro AND n."index" = i."index" + 1 AND n.is_active
 WHERE NOT i.is_active AND NOT i.open AND i.death_ns IS NULL GROUP BY i.id'''
SECTION = ('host', 'pid', 'argv', 'tool', 'clock', 'wall_offset_ns', 'start_ns', 'end_ns', 'complete', 'attrs')


def ask(command, query):
    said = subprocess.run(command, input=query.encode(errors='surrogateescape'), capture_output=True, check=False)
    if said.returncode:
        print(f'{query}: status {said.returncode}: {said.stderr.decode(errors="replace").strip()}')
        sys.exit(1)
    return [line.split('\t') for line in said.stdout.decode(errors='surrogateescape').split('\n')[:-1]]


def name(text):
    return '`' + text.replace('\\', '\\\\').replace('`', '\\`') + '`'


def spell_theirs(kind, value):
    """A value as ClickHouse prints it; texts are in hexadecimal digits."""
    if value == NULL:
        return None
    if kind in TEXTS:
        return bytes.fromhex(value)
    if kind == 'f32':
        return repr(struct.unpack('f', struct.pack('f', float(value)))[0])
    return repr(float(value)) if kind == 'f64' else int(value)


def spell_mine(kind, value):
    """The same value as SQLite has it."""
    if value is None:
        return None
    if kind in TEXTS:
        return value if isinstance(value, bytes) else str(value).encode(errors='surrogateescape')
    if kind in ('f32', 'f64'):
        return repr(float('nan') if value in ('NaN', None) else float(value))
    if isinstance(value, str):
        return int(value, 16 if value.startswith('0x') else 10)
    return value % 2**64 if kind == 'u64' else value


class Compared:
    def __init__(self, path, command):
        self.db = sqlite3.connect(path)
        self.db.text_factory = lambda b: b.decode(errors='surrogateescape')
        self.command = command
        self.rows = 0
        self.unnumbered = {n for n, in self.db.execute('SELECT DISTINCT section FROM coro_trace_events WHERE coro IS NULL OR "index" IS NULL')}
        self.ids = {n: int(stream.split('-')[0], 16) for n, stream in self.db.execute('SELECT id, stream FROM sections') if stream}
        self.doubled = {(self.ids[n], str(coro)) for n, coro in self.db.execute(
            'SELECT section, coro FROM coro_trace_events WHERE coro <> 0 GROUP BY section, coro, "index" HAVING count(*) > 1')}

    def differ(self, what, mine, theirs):
        self.rows += len(mine)
        mine, theirs = Counter(mine), Counter(theirs)
        for row in list((mine - theirs).elements())[:3]:
            print(f'{what}: only SQLite has {row}')
        for row in list((theirs - mine).elements())[:3]:
            print(f'{what}: only ClickHouse has {row}')

    def theirs(self, table, columns):
        """columns: the name there, as an expression, and the type"""
        cells = ''.join(', ' + (f'hex({there})' if kind in TEXTS else there) for there, kind in columns)
        return [tuple(spell_theirs(kind, v) for (_, kind), v in zip((('', 'u64'), *columns), row))
                for row in ask(self.command, f'SELECT section_id{cells} FROM {name("delivered_" + table)} FORMAT TabSeparated')]

    def mine(self, number, table, there):
        """The rows of one declaration, with what a column has that it lacks."""
        had = {}
        for field, column, kind in self.db.execute('SELECT name, column_name, type FROM fields WHERE class = ? ORDER BY position', (number,)):
            new, nth = field, 2
            while new.lower() in OWN or new.lower() in map(str.lower, had):
                new, nth = f'{field}_{nth}', nth + 1
            had[new] = column.replace('"', '""'), kind
            there[new] = kind
        cells = ''.join(f', "{column}"' for column, _ in had.values())
        rows = self.db.execute(f'SELECT section{cells} FROM "{table}"')
        return [(self.ids[row[0]], dict(zip(had, (spell_mine(kind, v) for (_, kind), v in zip(had.values(), row[1:]))))) for row in rows]

    def classes(self):
        """Of a class that was declared in several ways, SQLite has a table for each; here they share one."""
        names = dict.fromkeys(n for n, in self.db.execute("SELECT name FROM classes WHERE table_name <> 'coro_trace_events' ORDER BY id"))
        for cls in names:
            there, rows = {}, []
            for number, table in self.db.execute('SELECT id, table_name FROM classes WHERE name = ?', (cls,)).fetchall():
                if table == 'coro_trace_events': # this table shows them by the view of that name alone
                    break
                rows += self.mine(number, table.replace('"', '""'), there)
            else:
                default = {column: b'' if kind in TEXTS else repr(0.0) if kind in ('f32', 'f64') else 0 for column, kind in there.items()}
                self.differ(cls, [(number, *({**default, **row}).values()) for number, row in rows],
                            self.theirs(cls, [(name(column), kind) for column, kind in there.items()]))

    def sections(self):
        mine = [(self.ids[r[0]], *(str(v if v is not None else '').encode(errors='surrogateescape') for v in r[1:]))
                for r in self.db.execute(f'SELECT id, {", ".join(SECTION)} FROM sections') if r[0] in self.ids]
        there = ["hostname", "if(pid = 0, '', toString(pid))", 'argv', 'tool', 'clock', "if(has_wall, toString(wall_offset_ns), '')",
                 "if(has_start, toString(start_ns), '')", "if(has_end, toString(end_ns), '')", 'toString(complete)', 'attrs']
        theirs = [(int(r[0]), *map(bytes.fromhex, r[1:])) for r in ask(
            self.command, f'SELECT section_id, {", ".join(f"hex({t})" for t in there)} FROM delivered_sections FORMAT TabSeparated')]
        self.differ('sections', mine, theirs)

    def view(self, view):
        mine_of = f'({LATENCIES})' if view == 'wake_latencies' else f'"{view}"'
        here = [d[0] for d in self.db.execute(f'SELECT * FROM {mine_of} LIMIT 0').description]
        there = ask(self.command, f"SELECT name FROM system.columns WHERE database = currentDatabase() AND table = '{view}' FORMAT TabSeparated")
        here = [c for c in here if c not in ('id', 'section') and (view, c) not in EXTRA]
        there = [c for c, in there if c not in ('id', 'section')]
        if set(there) - set(here) or set(here) - set(there):
            print(f'{view}: SQLite has {sorted(set(here) - set(there))}, ClickHouse has {sorted(set(there) - set(here))} alone')
        both = [c for c in here if c in there]
        mine = [(self.ids.get(row[0]), *(NULL if v is None else v if isinstance(v, bytes) else str(v) for v in row[1:]))
                for row in self.db.execute(f'SELECT section, {", ".join(name(c) for c in both)} FROM {mine_of}')]
        cells = ', '.join(f"hex(ifNull(toString({name(c)}), '\\\\N'))" for c in both)
        theirs = [(int(row[0]), *(bytes.fromhex(v).decode(errors='surrogateescape') for v in row[1:])) for row in ask(
            self.command, f'SELECT section, {cells} FROM {view} FORMAT TabSeparated')]
        left_out = {self.ids[n] for n in self.unnumbered} if view in (*STEPS, *ORDERED) else set()
        coro = both.index('coro') + 1 if view in ORDERED else 0
        self.differ(view, *([row for row in rows if row[0] not in left_out and (view not in ORDERED or (row[0], row[coro]) not in self.doubled)]
                            for rows in (mine, theirs)))


def main():
    path, *command = sys.argv[1:]
    both = Compared(path, command)
    mine = {n for n, in both.db.execute("SELECT name FROM sqlite_schema WHERE type = 'view' OR name = 'coro_trace_events'")}
    theirs = {n for n, in ask(command, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine IN ('View', 'Distributed')"
                                       ' FORMAT TabSeparated')}
    both.classes()
    both.sections()
    for view in sorted(mine & theirs | {'wake_latencies'}):
        both.view(view)
    old = int(ask(command, 'SELECT version() FORMAT TabSeparated')[0][0].split('.')[0]) < 25
    for view in sorted(mine - theirs - ({'wait_for'} if old else set())):
        print(f'there is no view {view}')
    if not both.rows:
        print('there is not one row')


main()
