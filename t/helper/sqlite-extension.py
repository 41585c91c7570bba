#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""sqlite-extension.py EXTENSION CTP-TOJSONL TRACE: the trace as the SQLite extension shows it is the trace as JSONL has it.

Every class is a virtual table, with every value by the rule of ctp-vtable(5); and what a range of times selects is what the
same range selects from a copy of the table, in which nothing can be passed over.
"""
import json, random, struct, subprocess, sys

COLUMN, ROW, PART = '<|>', '<row>', '<part>'


def text(value):
    """A string of JSON, as text or, where it is none, as a blob."""
    data = value.encode('utf-8', 'surrogateescape')
    try:
        return data if b'\0' in data else data.decode()
    except UnicodeDecodeError:
        return data


def enum(field, value):
    labels = field.get('labels', [])
    if isinstance(value, str):
        value = next(number for name, number in labels if name == value)
    label = next((name for name, number in labels if number == value), None)
    alone = all(number == value for name, number in labels if name == label)
    return text(label) if label is not None and alone else signed(value)


def signed(value):
    return value - (1 << 64) if value >> 63 == 1 else value


def sql(field, value):
    """What the table must have for a value of JSONL."""
    kind = field['type']
    if kind == 'string':
        return text(value)
    if kind == 'bytes':
        return bytes.fromhex(value)
    if kind == 'enum':
        return enum(field, value)
    if kind in ('f32', 'f64'):
        value = value if value == 'NaN' else float(value)
        return struct.unpack('f', struct.pack('f', value))[0] if kind == 'f32' and value != 'NaN' else value
    if field.get('role') == 'time':
        return signed(int(str(value), 0))
    if isinstance(value, (str, bool)):
        return value if isinstance(value, str) else int(value)
    return str(value) if field.get('role') == 'probe' else signed(value)


class Class:
    def __init__(self, name, fields):
        self.name, self.fields, self.rows = name, fields, []
        plain = [i for i, f in enumerate(fields) if not f.get('extra')]
        self.order = plain + [None] + [i for i in range(len(fields)) if i not in plain]
        time = next((i for i, f in enumerate(fields) if f.get('role') == 'time'), None)
        self.time = None if time is None else self.order.index(time)

    def add(self, section, pairs):
        keys = {'@' + n if n[0] == '@' or n in ('type', 'late') else n for n in (f['name'] for f in self.fields)}
        values = [v for key, v in pairs if key in keys]  # and not what JSONL has for people
        self.rows.append([section if i is None else sql(self.fields[i], values[i]) for i in self.order])


def read_jsonl(lines):
    classes, section = {}, 0
    for line in lines:
        pairs = json.loads(line, object_pairs_hook=list)
        kind = pairs[0][1]
        if kind == '@section':
            section += 1
        elif kind == '@schema':
            schema = dict(pairs)
            classes.setdefault(schema['name'], Class(schema['name'], [dict(f) for f in schema['fields']]))
        elif kind != '@end':
            classes[kind[1:] if kind[0] == '@' else kind].add(section, pairs[1:])
    return list(classes.values())


def literal(token):
    if token[:2] == "X'":
        return bytes.fromhex(token[2:-1])
    if token[:1] == "'":
        return token[1:-1].replace("''", "'")
    return float(token) if set(token) & set('.eInf') else int(token)


def questions(cls):
    """Ranges, each asked of the virtual table v and of its copy m; the columns are c0, c1 ..."""
    ts, times = f'c{cls.time}', sorted({row[cls.time] for row in cls.rows})
    for _ in range(6):
        a, b = sorted(random.choice(times) + random.choice((-1, 0, 0, 1)) for _ in 'ab')
        a, b = max(a, -1 << 63), min(b, (1 << 63) - 1)
        yield f'{ts} between {a} and {b}'
        yield f'{ts} > {a}'
        yield f'{ts} <= {b}'
        yield f'{ts} = {a} or {ts} >= {b}'
        yield f'{ts} < {a} or {ts} between {a} and {b}'
        yield f'{ts} >= {float(a)!r} and {ts} < {float(b)!r}'


def script(classes, trace):
    trace = trace.replace("'", "''")
    for n, cls in enumerate(classes):
        columns = ', '.join(f'c{i}' for i in range(len(cls.order)))
        yield f"create virtual table v{n} using ctp('{trace}', '{cls.name}'); select * from v{n};"
        yield f'.print {PART}'
        yield f'create table m{n} as select *, position from v{n};'
        for where in questions(cls) if cls.time is not None else ():
            ask = f'with t({columns}, p) as (select * from m{n}) select count(*), total(p) from t where {where};'
            yield ask + ask.replace(f'select * from m{n}', f'select *, position from v{n}')
        yield f'.print {PART}'


def ordered(rows):
    return sorted(map(repr, rows))


def main(extension, tojsonl, trace):
    random.seed(trace)
    lines = subprocess.run([tojsonl, '-qa', trace], stdout=subprocess.PIPE).stdout.decode().splitlines()
    classes = read_jsonl(lines)
    setup = [f'.load {extension}', '.mode quote', f'.separator "{COLUMN}" "{ROW}"']
    asked = list(script(classes, trace))
    out = subprocess.run(['sqlite3', '-bail', ':memory:'], input='\n'.join(setup + asked) + '\n', stdout=subprocess.PIPE,
                         check=True, encoding='utf-8').stdout.split(PART + '\n')
    assert len(out) == 2 * len(classes) + 1, out[-1]
    for n, cls in enumerate(classes):
        values, answers = ([list(map(literal, row.split(COLUMN))) for row in part.split(ROW)[:-1]]
                           for part in out[2 * n:2 * n + 2])
        if ordered(values) != ordered(cls.rows):
            odd = next((pair for pair in zip(ordered(values), ordered(cls.rows)) if pair[0] != pair[1]), 'count')
            sys.exit(f'{cls.name}: {len(values)} rows of {len(cls.rows)}: {odd}')
        for i in range(0, len(answers), 2):
            if answers[i] != answers[i + 1]:
                sys.exit(f'{cls.name}: range {i // 2}: {answers[i + 1]}, not {answers[i]}')
    assert classes


main(*sys.argv[1:])
