/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * wakeup.pml - a probe that publishes against a collector that goes to sleep.
 *
 * PROBES threads publish EVENTS events each. The collector looks; when there is nothing new it raises the flag, looks again,
 * and blocks until a byte comes. It ends when it has seen all. A lost wake-up is a collector that waits for ever, which spin
 * reports as an invalid end state.
 *
 * With MEMBARRIER the collector has membarrier(2) for its fence, and probe 0 is registered for that: it has no fence, only the
 * compiler's promise not to move its look before its publish. Probe 1 could not register, and has its fence.
 *
 * With each of these taken away the verifier finds a lost wake-up:
 *	NO_PROBE_FENCE      the full fence between a probe's publish and its look at the flag; or the compiler's promise
 *	NO_COLLECTOR_FENCE  the full fence between the collector's flag and its second look; or its membarrier(2)
 *	NO_SECOND_LOOK      the second look
 *	TAKE_EARLY          the byte: a probe that takes the flag and has no socket must not
 * REACH asserts that the collector never blocks, which must fail.
 */
#define PROBES 2
#define EVENTS 2
#define COLLECTOR PROBES
#define CPUS 3
#define PLACES 3 /* the number of events that probe 0, 1 published, and the flag */
#define FLAG PROBES
#include "weak.h"

byte bytes = 0;

#ifdef MEMBARRIER
#define FENCED (me == 1)
#else
#define FENCED true
#endif

inline publish()
{
	store_release(me, me, k);
	if
#ifndef NO_PROBE_FENCE
	:: FENCED -> fence_full(me)
#endif
	:: else
	fi
}

proctype probe(byte me)
{
	byte k = 0, flag;
	do
	:: k < EVENTS ->
		k++;
#if defined MEMBARRIER && defined NO_PROBE_FENCE
		flag = mem[FLAG];
		publish();
#else
		publish();
		flag = mem[FLAG];
#endif
		if
		:: flag == 1 ->
			atomic { flag = mem[FLAG]; mem[FLAG] = 0 }; /* the exchange */
			if
#ifdef TAKE_EARLY
			:: flag == 1 && me == 0
#endif
			:: flag == 1 -> bytes++
			:: else
			fi
		:: else
		fi
	:: else -> break
	od
}

#define FOUND (mem[0] + mem[1])

proctype collector()
{
	byte seen = 0, now;
	do
	:: now = mem[0]; now = now + mem[1];
		if
		:: now > seen -> seen = now
		:: else ->
			if
			:: seen == PROBES * EVENTS -> break
			:: else
			fi;
			store(COLLECTOR, FLAG, 1);
#ifndef NO_COLLECTOR_FENCE
			fence_full(COLLECTOR);
#ifdef MEMBARRIER
			membarrier(0);
#endif
#endif
#ifndef NO_SECOND_LOOK
			now = mem[0]; now = now + mem[1];
#endif
			if
			:: now > seen -> seen = now; store(COLLECTOR, FLAG, 0)
			:: else ->
#ifdef REACH
				assert(false);
#endif
				atomic { bytes > 0 -> bytes = 0 };
				store(COLLECTOR, FLAG, 0)
			fi
		fi
	od
}

init { atomic { run memory(0); run memory(1); run memory(2); run probe(0); run probe(1); run collector() } }
