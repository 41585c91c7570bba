/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * overrun.pml - a station whose writer does not announce order: how station.c proves a copy all the same.
 *
 * The rule for a ring of SLOTS slots: event k was copied whole if, after the copy and an acquire fence, event k + SLOTS - 1 is
 * not published. It rests on the full fence that the writers of the field have after each publish (for the wake-up), which
 * stands before they touch the slot of k again. The dialect is plain, or with FIELD the seqlock of the field, whose odd mark is
 * a release store: it does not order later stores, and is not used. Each switch takes something away, and then the verifier finds
 * a torn event:
 *	OWN_SLOT         the rule: look again at the seq of k itself instead, as coroTracer's engine might
 *	LATER_SLOT       the rule: be content if k + SLOTS is not published
 *	NO_WRITER_FENCE  the writer's fence
 *	NO_PUBLISH       the release of its seq
 *	NO_ACQUIRE       the acquire of the reader's first look
 *	NO_READ_FENCE    its fence before the last look
 * REACH asserts that nothing is ever accepted, which must fail.
 */
#define CPUS 1
#define SLOTS 3
#define EVENTS 6
#define PLACES 9
#define SEQ(k) ((k) % SLOTS)
#define A(k) (SLOTS + (k) % SLOTS)
#define B(k) (2 * SLOTS + (k) % SLOTS)
#include "weak.h"

/* The seq that says that event k, from 1, is complete; in plain it sits in slot k % SLOTS, and so it does here for both. */
#ifdef FIELD
#define WANT(k) (2 * ((k) / SLOTS + 1))
#else
#define WANT(k) (k)
#endif

proctype writer()
{
	byte k = 1;
	do
	:: k <= EVENTS ->
#ifdef FIELD
		store_release(0, SEQ(k), WANT(k) - 1);
#endif
		store(0, A(k), k);
		store(0, B(k), k);
#ifdef NO_PUBLISH
		store(0, SEQ(k), WANT(k));
#else
		store_release(0, SEQ(k), WANT(k));
#endif
#ifndef NO_WRITER_FENCE
		fence_full(0);
#endif
		k++
	:: else -> break
	od
}

#ifdef NO_ACQUIRE
#define AFTER_FIRST_LOOK true
#else
#define AFTER_FIRST_LOOK (done & 1)
#endif
#ifdef NO_READ_FENCE
#define AFTER_COPY true
#else
#define AFTER_COPY ((done & 6) == 6)
#endif

#if defined OWN_SLOT
#define LAST k
#define FRESH (last == WANT(k))
#elif defined LATER_SLOT
#define LAST (k + SLOTS)
#define FRESH (last < WANT(k + SLOTS))
#else
#define LAST (k + SLOTS - 1)
#define FRESH (last < WANT(k + SLOTS - 1))
#endif

proctype reader()
{
	byte k, first, a, b, last, done = 0;
	select(k : 1 .. EVENTS);
	do
	:: !(done & 1) -> atomic { first = mem[SEQ(k)]; done = done | 1 }
	:: !(done & 2) && AFTER_FIRST_LOOK -> atomic { a = mem[A(k)]; done = done | 2 }
	:: !(done & 4) && AFTER_FIRST_LOOK -> atomic { b = mem[B(k)]; done = done | 4 }
	:: !(done & 8) && (done & 1) && AFTER_COPY -> atomic { last = mem[SEQ(LAST)]; done = done | 8 }
	:: done == 15 -> break
	od;
	if
	:: first == WANT(k) && FRESH ->
#ifdef REACH
		assert(false);
#endif
		assert(a == k && b == k)
	:: else
	fi
}

init { atomic { run memory(0); run writer(); run reader() } }
