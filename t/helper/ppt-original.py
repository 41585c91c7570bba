#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""ppt-original.py PROGRAM BUFFER FILE ROUNDS FRAMES [COUNTERS] - the rules of ppt's own agent and decoder, applied to sdk/ppt.

The agent makes a segment of roundup(control block, slot) and 128 slots, and reads slots at roundup(392, slot), whatever the program says.
The decoder takes the sum of _lSize for the size of a frame. Starts PROGRAM BUFFER, which saves as many frames as each line of its input
says. Frame i has n = i and d = i / 2. Writes what was read to FILE, a PPT1 file, and prints: BUFFER SLOT FRAMES WRONG.
"""
import ctypes
import json
import os
import struct
import subprocess
import sys

SLOTS, PLACE, ATTR = 128, 392, 128
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = ctypes.c_int, ctypes.c_void_p, ctypes.c_int


def roundup(n, unit):
    return (n + unit - 1) // unit * unit


class Process:
    def __init__(self, program, buffer):
        self.pipe = subprocess.Popen([program, buffer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.save(0)  # it runs
        symbols = subprocess.run(['nm', program], capture_output=True, text=True, check=True).stdout
        self.at = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines() if '_ppt_' in line}
        with open(f'/proc/{self.pipe.pid}/maps') as maps:
            self.base = int(maps.readline().split('-')[0], 16)
        with open(program, 'rb') as elf:
            self.base *= struct.unpack('<H', elf.read(18)[16:])[0] == 3  # ET_DYN
        self.mem = os.open(f'/proc/{self.pipe.pid}/mem', os.O_RDWR)

    def save(self, frames):
        print(frames, file=self.pipe.stdin, flush=True)
        return self.pipe.stdout.readline()

    def text(self, symbol):
        at, got = struct.unpack('<Q', os.pread(self.mem, 8, self.base + self.at[symbol]))[0], b''
        while b'\0' not in got:
            got += os.pread(self.mem, 4096 - (at + len(got)) % 4096, at + len(got))
        return got.split(b'\0')[0].decode()

    def put(self, symbol, value):
        os.pwrite(self.mem, struct.pack('<i', value), self.base + self.at[symbol])


class Agent:
    def __init__(self, process, buffer, counters):
        self.process, self.buffer = process, buffer
        self.layout = json.loads(process.text('_ppt_json_' + buffer))
        last = self.layout['frames'][-1]['_flLayout'][-1]
        self.slot = last['_lOffset'] + last['_lSize']
        control = 56 + counters * (8 + ATTR)
        size = roundup(control, self.slot) + SLOTS * self.slot
        taken = []
        while not taken or taken[-1] == 0:  # which stands for none
            taken.append(libc.shmget(0, size, 0o1600))
        self.at = libc.shmat(taken[-1], None, 0)
        for one in taken:
            libc.shmctl(one, 0, None)  # with its last user it is gone
        ctypes.memmove(self.at, struct.pack('<6QI', control, 0, 0, 0, 0, 0, 0), 52)
        self.cursor, self.last = 0, 1
        process.put('_ppt_stat_' + buffer, os.getpid())
        process.put('_ppt_hmem_' + buffer, taken[-1])

    def leave(self):
        self.process.put('_ppt_hmem_' + self.buffer, 0)
        self.process.put('_ppt_stat_' + self.buffer, 0)
        self.process.save(1)

    def bytes_at(self, index):
        return ctypes.string_at(self.at + roundup(PLACE, self.slot) + index * self.slot, self.slot)

    def read(self):
        got, last = [], self.last
        floor = 1 if SLOTS >= last else last - SLOTS
        while len(got) < SLOTS:
            frame = self.bytes_at(self.cursor)
            number = struct.unpack_from('<I', frame)[0]
            if not number or not (number > last or number <= floor or (not got and number != last)):
                break
            got.append(frame)
            last = number
            self.cursor = (self.cursor + 1) % SLOTS
        self.last = last
        return got


def decode(layout, frame):
    """A number and the members, or None: what the decoder would leave out."""
    first = layout['frames'][0]['_flLayout']
    size = sum(m['_lSize'] for m in first)
    kinds = {json.dumps(m['_lKind'].get('contents')) if m['_lKind']['tag'] == 'LKSeqno' else m['_lKind']['tag']: m for m in first}
    back = kinds['"BackSeq"']['_lOffset']
    if size != len(frame) or back != size - 4 or kinds['"FrontSeq"']['_lOffset'] != 0:
        return None
    number, other = struct.unpack_from('<I', frame)[0], struct.unpack_from('<I', frame, back)[0]
    of = 1
    if 'LKTypeDescrim' in kinds:
        of = struct.unpack_from('<i', frame, kinds['LKTypeDescrim']['_lOffset'])[0]
    if number != other or not 1 <= of <= len(layout['frames']):
        return None
    members = {}
    for m in layout['frames'][of - 1]['_flLayout']:
        if m['_lKind']['tag'] == 'LKMember' and m['_lName'] in ('n', 'd'):
            members[m['_lName']] = struct.unpack_from('<i' if m['_lName'] == 'n' else '<d', frame, m['_lOffset'])[0]
    return number, members


def main():
    program, buffer, path, rounds, frames = sys.argv[1:6]
    process = Process(program, buffer)
    agent = Agent(process, buffer, int(sys.argv[6]) if len(sys.argv) > 6 else 0)
    header = json.dumps({'frFormat': '1.0.0', 'frDate': 'now', 'frComment': '', 'frDeltaTime': 0, 'frCounters': [], 'frJson': agent.layout})
    good, wrong = set(), 0
    with open(path, 'wb') as file:
        file.write(struct.pack('>II', 0x50505431, len(header)) + header.encode())
        for _ in range(int(rounds)):
            process.save(int(frames))
            for frame in agent.read():
                file.write(frame)
                got = decode(agent.layout, frame)
                if got is None or got[1].get('n') != got[0] or got[1].get('d', got[0] / 2) != got[0] / 2:
                    wrong += 1
                else:
                    good.add(got[0])
    agent.leave()
    print(buffer, agent.slot, len(good), wrong)
    process.pipe.stdin.close()
    return process.pipe.wait()


if __name__ == '__main__':
    sys.exit(main())
