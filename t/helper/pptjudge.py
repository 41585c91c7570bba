#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""pptjudge.py - reads what ctp-tojsonl -a makes of a stream of ctp-ppt attach, and judges it by what t/helper/ppt-client and similar programs save.

Prints for each section: BUFFER FIRST-LAST FRAMES LOST TORN BAD OUTCOME. BAD counts frames whose members do not go together, numbers
that are neither a frame nor lost, and losses that end before they begin. With -q only the sum of BAD, and sections that are not complete.
"""
import json
import sys


def whole(rec):
    n = rec.get('n')
    good = n is not None
    good &= 'x' not in rec or rec['x'] == n / 2
    good &= 'f' not in rec or rec['f'] == n % 1000
    good &= 'b' not in rec or rec['b'] == n % 256
    good &= 'y' not in rec or (rec['y'] == n / 4 and rec['z'] == -n and rec['w'] == n + 0.25)
    good &= 'd_start' not in rec or rec['d_end'] - rec['d_start'] == rec['d_duration'] >= 0
    return good


class Section:
    def __init__(self, attrs):
        self.buffer = attrs.get('ppt.buffer')
        self.numbers, self.frames, self.lost, self.torn, self.bad, self.end = [], 0, 0, 0, 0, None
        self.complete = False

    def take(self, rec):
        kind = rec['type']
        if kind == 'ppt_lost':
            self.numbers.append((rec['ppt_seqno'] & 0xffffffff, rec['count']))
            self.lost += rec['count']
            self.torn += rec['unverified']
            self.bad += rec.get('after', 0) > rec.get('ts', 0)
        elif kind == 'ppt_end':
            self.end = rec
        elif kind.startswith('ppt_') and kind not in ('ppt_late', 'ppt_unverified') and 'ppt_seqno' in rec:
            self.numbers.append((rec['ppt_seqno'] & 0xffffffff, 1))
            self.frames += 1
            self.bad += not whole(rec)

    def judge(self):
        start = self.numbers[0][0] if self.numbers else 0
        self.numbers.sort(key=lambda at: (at[0] - start + 0x80000000) & 0xffffffff)
        for (number, count), (following, _) in zip(self.numbers, self.numbers[1:]):
            self.bad += (number + count) & 0xffffffff != following
        end = self.end or {}
        self.bad += end.get('frames') != self.frames or end.get('lost') != self.lost
        first = self.numbers[0][0] if self.numbers else 0
        last = (self.numbers[-1][0] + self.numbers[-1][1] - 1) & 0xffffffff if self.numbers else 0
        return first, last, end.get('outcome', 'cut')


def sections(lines):
    section = None
    for line in lines:
        rec = json.loads(line)
        if rec['type'] == '@section':
            section = Section(rec['attrs'])
        elif rec['type'] == '@end':
            section.complete = rec['complete']
            yield section
            section = None
        elif section and not rec['type'].startswith('@'):
            section.take(rec)
    if section:
        yield section


if __name__ == '__main__':
    total = 0
    for s in sections(sys.stdin):
        first, last, outcome = s.judge()
        total += s.bad + (not s.complete)
        if '-q' not in sys.argv:
            print(s.buffer, f'{first}-{last}', s.frames, s.lost, s.torn, s.bad, outcome if s.complete else 'incomplete')
    if '-q' in sys.argv:
        print(total)
