/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * holes.pml - one coroutine whose events are in the rings of two threads, and when harvest.c may say that one is lost.
 *
 * The events 1 .. EVENTS happen one after the other, each on any thread, and each finds room in the thread's ring or does not.
 * The collector makes passes: it looks at both heads, ring 0 first, and takes all that is before them, or less (a pass is
 * bounded). So it may find event k + 1 in ring 1 and not k, which is in ring 0 since it looked there. A number that is missing
 * where a later one was found is a suspicion. It is a loss when it is still missing at the end of a complete pass that began
 * after it was suspected. No event that is in a ring may be called lost, and at the end each that is not must be, if a later
 * one was found. Each switch takes something away, and then the verifier finds a false loss:
 *	AT_ONCE     the second pass
 *	PARTIAL     that it is complete
 *	NO_ACQUIRE  the acquire of the looks at the heads: one of the next pass may come before one of this
 * REACH asserts that nothing is ever suspected wrongly, which must fail.
 */
#define CPUS 2
#define EVENTS 4
#define HEAD(t) (t)
#define TURN 2
#define PLACES 3
#include "weak.h"

typedef numbers { byte at[EVENTS] };
numbers ring[2]; /* what an entry looks like in memory is proved in t/proof/ring.v */
bool begun[EVENTS + 1], kept[EVENTS + 1];
byte ended = 0;

proctype thread(byte me)
{
	byte k, head = 0;
	do
	:: atomic {
		mem[TURN] < EVENTS && !begun[mem[TURN] + 1] ->
		k = mem[TURN] + 1;
		begun[k] = true
	   };
		if
		:: atomic { ring[me].at[head] = k; head++; kept[k] = true };
			store_release(me, HEAD(me), head)
		:: skip /* no room */
		fi;
		/* The coroutine is handed over, as the program does that: the next to have it has seen all that came before. */
		store_release(me, TURN, k)
	:: mem[TURN] == EVENTS -> break
	od;
	fence_full(me);
	ended++
}

#define COMPLETE (tail[0] == head[0] && tail[1] == head[1])
#if defined AT_ONCE
#define SETTLES(k) true
#elif defined PARTIAL
#define SETTLES(k) suspect[k]
#else
#define SETTLES(k) (suspect[k] && COMPLETE)
#endif

inline drain(t)
{
	do
	:: tail[t] < head[t] -> k = ring[t].at[tail[t]]; seen[k] = true; last = (k > last -> k : last); tail[t]++
	:: tail[t] == head[t] || tail[t] > began[t] -> break /* at least one, if there is one */
	od
}

/* All numbers below the last that was found: missing, or not any more. */
inline judge()
{
	k = 1;
	do
	:: k < last && !seen[k] && !lost[k] && SETTLES(k) -> lost[k] = true; assert(!kept[k])
	:: k < last && !seen[k] && !lost[k] && !(SETTLES(k)) -> suspect[k] = true; k++
#ifdef REACH
	:: k < last && seen[k] -> assert(!suspect[k]); k++
#else
	:: k < last && seen[k] -> k++
#endif
	:: k < last && lost[k] -> k++
	:: k >= last -> break
	od
}

proctype collector()
{
	byte k, last = 0, over = 0, head[2], tail[2], began[2];
	bool ending, seen[EVENTS + 1], lost[EVENTS + 1], suspect[EVENTS + 1];
#ifdef NO_ACQUIRE
	byte ahead = 0;
#endif
	do
	:: over < 3 ->
		ending = ended == 2;
		if
		:: head[0] = mem[HEAD(0)]
#ifdef NO_ACQUIRE
		:: head[0] = ahead
#endif
		fi;
#ifdef NO_ACQUIRE
		ahead = mem[HEAD(0)];
#endif
		head[1] = mem[HEAD(1)];
		atomic {
			began[0] = tail[0];
			began[1] = tail[1];
			drain(0);
			drain(1);
			judge();
			over = over + (ending && COMPLETE);
			k = 0;
			began[0] = 0;
			began[1] = 0
		}
	:: else -> break
	od;
	atomic {
		k = 1;
		do
		:: k < last -> assert(seen[k] || lost[k]); k++
		:: else -> break
		od
	}
}

init { atomic { run memory(0); run memory(1); run thread(0); run thread(1); run collector() } }
