#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 the ctptools authors
"""ppt-soak.py - attaches to a busy client of two threads again and again, in every way, and ends each attachment in every way.

usage: ppt-soak.py ROUNDS SEED, with O and BIN as the tests have them. Prints a line for each fault.

Rounds end by time, by a signal, by a reader that goes away, or by kill -9 at any moment. After each the client is unchanged, or the next
agent makes it so; every number is a frame or lost; across rounds no number is missing. Then clients are killed in their turn.
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import pptjudge

O, BIN = os.environ.get('O', 'build'), os.environ.get('BIN', 'build/bin')
PPT = BIN + '/ctp-ppt'
rounds, seed = int(sys.argv[1]), int(sys.argv[2])
rand = random.Random(seed)
agents = set()
wrong = kills = 0


def complain(*what):
    global wrong
    wrong += 1
    print(f'seed {seed}:', *what, flush=True)


class Client:
    def __init__(self, *args):
        self.err = tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen([O + '/t/helper/ppt-client', '-t', '2', '-r', os.environ.get('RATE', '5000'), *args], stdout=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL, stderr=self.err)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == 'ready\n'
        self.descriptors = self.count()

    def count(self):
        return len(os.listdir(f'/proc/{self.pid}/fd'))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        said = self.process.communicate()[0]
        self.err.seek(0)
        errors = self.err.read().splitlines()
        # The segment of an agent that is killed goes with it, also under the eyes of a client that has just read its number.
        gone = [line for line in errors if line.startswith('failed ppt attach of Foo: shm')]
        if len(gone) != len(errors) or len(gone) > kills:
            complain('the client says', errors)
        return said


def segments():
    """Segments that our agents created."""
    with open('/proc/sysvipc/shm') as f:
        next(f)
        return [line.split()[1] for line in f if int(line.split()[4]) in agents]


def state(client):
    head, *lines = subprocess.run([PPT, 'list', str(client.pid)], capture_output=True, text=True).stdout.splitlines() or ['']
    return next((line[head.index('STATE'):head.index('FRAMES')].strip() for line in lines if line.startswith('Foo ')), 'none')


class Agent:
    def __init__(self, client, path, *args, end=None):
        self.path = path
        with open(path, 'wb') as out, open(path + '.err', 'wb') as err:
            self.process = subprocess.Popen([PPT, 'attach', *args, str(client.pid), 'Foo'], stdout=out if end != 'pipe' else subprocess.PIPE,
                                            stderr=err)
        agents.add(self.process.pid)

    def said(self):
        with open(self.path + '.err') as f:
            return f.read().strip()


def judged(path):
    with subprocess.Popen([BIN + '/ctp-tojsonl', '-a', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as json:
        return list(pptjudge.sections(json.stdout))


def look(n, agent, cut):
    """Its first number, if that is known, and the last one; None for no frames. Says what is wrong."""
    if not os.path.getsize(agent.path):
        return None
    found = judged(agent.path)
    for s in found:
        ended = s.end is not None
        first, last, _ = s.judge()
        if cut and not ended:
            s.bad -= 1  # there is no end to agree with
        if s.bad or (not cut and not s.complete):
            complain('round', n, s.buffer, first, last, s.frames, 'frames', s.lost, 'lost', s.bad, 'bad', agent.said())
        # It begins with the oldest that was there. One that was killed may not have come to say so, where the client is quick.
        late = s.end['begun_late'] if ended else os.environ.get('RATE') == '0'
        return (None if late else first, last) if s.numbers else None
    return None


signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell starts what is in its background with it ignored, and children inherit that


def one_round(n, client, path, before):
    end = rand.choice(['time', 'time', 'TERM', 'INT', 'KILL', 'pipe'])
    counters = rand.choice([[], [], ['-c', 'page-faults'], ['-c', 'task-clock,page-faults,cpu-clock']])
    slots = rand.choice([[], ['-n', '16'], ['-n', '1000']])
    moment = rand.random() * 0.1
    limit = ['-t', f'{0.02 + moment:.3f}'] if end == 'time' else []
    agent = Agent(client, path, *counters, *slots, *limit, end=end)
    if end in ('TERM', 'INT', 'KILL'):
        global kills
        kills += end == 'KILL'
        time.sleep(moment)
        agent.process.send_signal(getattr(signal, 'SIG' + end))
    elif end == 'pipe':
        agent.process.stdout.read(1)
        agent.process.stdout.close()
    status = agent.process.wait()
    seen = None if end == 'pipe' else look(n, agent, end == 'KILL')
    if end == 'time' and status not in (0, 3) and 'has not saved' not in agent.said():
        complain('round', n, 'status', status, agent.said())
    is_now = state(client)
    # One that a signal ends before it has begun leaves what another has left.
    if end != 'KILL' and is_now != 'free' and not (is_now.startswith('left') and str(agent.process.pid) not in is_now):
        complain('round', n, end, 'the buffer is', is_now, agent.said())
    exact = seen and not counters and end in ('time', 'TERM', 'INT')
    if before and seen and seen[0] and not counters and seen[0] != before + 1:
        complain('round', n, 'begins with', seen[0], 'and the one before has ended with', before, agent.said())
    return seen[1] if exact else None


def soak(folder):
    client, last = Client(), None
    for n in range(rounds):
        last = one_round(n, client, folder + '/out', last)
    look(rounds, Agent_once(client, folder + '/out'), False)
    if client.count() != client.descriptors:
        complain('the client has', client.count(), 'descriptors, and had', client.descriptors)
    said = client.end()
    words = said.split()
    if 'fd 0: open' not in said or words[3] != words[5]:
        complain('the client says', said)
    if segments():
        complain('segments are left:', segments())


def Agent_once(client, path):
    agent = Agent(client, path, '-t', '0.1')
    agent.process.wait()
    return agent


def kill_clients(folder):
    for n in range(max(rounds // 5, 5)):
        client = Client()
        agent = Agent(client, folder + '/out')
        time.sleep(rand.random() * 0.1)
        client.process.kill()
        status = agent.process.wait()
        client.process.communicate()
        look(n, agent, False)
        if status not in (0, 1, 3):
            complain('a client was killed: status', status, agent.said())
        if segments():
            complain('a client was killed: segments are left:', segments())


with tempfile.TemporaryDirectory() as folder:
    soak(folder)
    kill_clients(folder)
sys.exit(wrong != 0)
