# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""
cacheray-model.py - damages Cacheray traces of many kinds, and counts what ctp-fromcacheray makes of them: records that were kept and are
none (garbage), and whole records that were lost.

usage: cacheray-model.py BIN FIRST COUNT
Each number from FIRST on is a trace and its damage: bytes that are inserted, deleted or overwritten, or two records that are mixed.
A record that was hit itself may be kept: its place alone may not tell.
"""
import collections, json, random, struct, subprocess, sys

RECORDS = 3000

def access(o, w, tag, address, size, thread): return struct.pack(o + 'B' + w + 'BQ', tag, address, size, thread)
def add(o, w, address, thread, size, count, name):
    return struct.pack(o + 'B' + w + 'QIII', 2, address, thread, size, count, len(name)) + name
def remove(o, w, address, thread): return struct.pack(o + 'B' + w + 'Q', 3, address, thread)

def record_bytes(data, o, w, at):
    sort, address_bytes = data[at] & 63, 8 if w == 'Q' else 4
    if sort == 2:
        return address_bytes + 21 + struct.unpack_from(o + 'I', data, at + address_bytes + 17)[0]
    return address_bytes + (10 if sort < 2 else 9)

def make_trace(g, o, w):
    bases = [0x404000, 0x8041000, 0x20000100, 0x56001000, 0x56011000] if w == 'I' else \
        [0x404000, 0x4c1000, 0x8041000, 0x20000100, 0x560000001000, 0x7f0000001000, 0xffffa0001000]
    threads = [[0], [1], [4000], [g.randrange(1000, 60000)], [31415, 31416, 31417], [g.randrange(300, 4000000) for _ in range(20)],
               [0x7f12deadb740, 0x7f12deadc740]]
    base, threads, pattern = g.choice(bases), g.choice(threads), g.choice(('scan', 'random', 'mixed', 'typed'))
    out, live = [], []
    for i in range(RECORDS):
        thread = g.choice(threads)
        if pattern == 'typed' and g.random() < .03:
            live.append(base + 16 * g.randrange(5000))
            name = g.choice((b'struct.node', b'struct.item_type'))
            out.append(add(o, w, live[-1], thread, g.choice((8, 24, 64)), g.choice((1, 10)), name))
        elif pattern == 'typed' and live and g.random() < .02:
            out.append(remove(o, w, live.pop(), thread))
        else:
            size = 8 if pattern in ('scan', 'random') else g.choice((1, 2, 4, 8, 8, 8, 16))
            address = base + (8 * (i % 500) if pattern == 'scan' else size * g.randrange(80000 // size))
            out.append(access(o, w, (i % 3 == 0) | (64 if pattern == 'typed' and g.random() < .05 else 0), address, size, thread))
    return out

def damage_bytes(g, kind):
    n = g.choice((g.randrange(1, 20), g.randrange(1, 20), g.randrange(20, 300), g.randrange(300, 3000)))
    if kind == 'junk':
        return bytes(g.randrange(256) for _ in range(n))
    return {'zeros': bytes(n), 'ones': b'\xff' * n, 'text': (b'hello, world\n' * 300)[:n]}.get(kind, bytes(n))

# Pieces are (bytes, whether it is a whole record). Piece k is damaged.
def damage(g, pieces, k, how, kind):
    stuff = damage_bytes(g, kind)
    at = g.choice((0, g.randrange(len(pieces[k][0]))))
    rec = pieces[k][0]
    if how == 'insert':
        pieces[k:k + 1] = [(rec[:at] + stuff + rec[at:], False)] if at else [(stuff, False), (rec, True)]
    elif how == 'mix':
        other = pieces[k + 1][0]
        a, b = g.randrange(1, len(rec)), g.randrange(1, len(other))
        pieces[k:k + 2] = [(rec[:a] + other[:b] + rec[a:] + other[b:], False)]
    else:
        end, hit = k, b''
        while end < len(pieces) and len(hit) < at + len(stuff):
            hit += pieces[end][0]
            end += 1
        rest = hit[at + len(stuff):]
        new = hit[:at] + rest if how == 'delete' else hit[:at] + stuff[:len(hit) - at] + rest
        pieces[k:end] = [(new, False)] if new else []

def measure(bin, number):
    g = random.Random(number)
    o, w = g.choice('<>'), g.choice('QI')
    pieces = [(rec, True) for rec in make_trace(g, o, w)]
    how, kind = g.choice((('insert', 'zeros'), ('insert', 'junk'), ('insert', 'ones'), ('insert', 'text'), ('delete', ''),
                          ('overwrite', 'zeros'), ('overwrite', 'junk'), ('mix', '')))
    for k in sorted(g.sample(range(50, RECORDS - 100), g.choice((1, 1, 3))), reverse=True):
        damage(g, pieces, k, how, kind)
    data = b''.join(p for p, _ in pieces)
    stream = subprocess.run([bin + '/ctp-fromcacheray', '-q', '-a', '8' if w == 'Q' else '4', '-b', 'little' if o == '<' else 'big'],
                            input=data, stdout=subprocess.PIPE).stdout
    lines = subprocess.run([bin + '/ctp-tojsonl', '-a', '-q'], input=stream, stdout=subprocess.PIPE).stdout.splitlines()
    found = [json.loads(l) for l in lines if l.startswith(b'{"type":"cacheray_damage"')]
    kept, at = set(), 0
    for offset, n in [(d['offset'], d['bytes']) for d in found] + [(len(data), 0)]:
        while at < offset:
            kept.add(at)
            at += record_bytes(data, o, w, at)
        assert at == offset, 'what was kept are no records'
        at += n
    whole, may, at = set(), set(), 0
    for piece, is_whole in pieces:
        (whole if is_whole else may).add(at)
        i = at
        while how == 'overwrite' and not is_whole and i < at + len(piece) and i in kept:
            may.add(i)
            i += record_bytes(data, o, w, i)
        at += len(piece)
    return how + ' ' + kind, len(kept - whole - may), len(whole - kept)

def main():
    bin, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    garbage, lost = collections.Counter(), collections.Counter()
    for number in range(first, first + count):
        what, g, l = measure(bin, number)
        garbage[what] += g
        lost[what] += l
        if g > 5 or l > 10:
            print('#', number, what, g, l)
    for what in garbage:
        print('#', what, garbage[what], lost[what])
    print(sum(garbage.values()), sum(lost.values()))

main()
