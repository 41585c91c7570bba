/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * quiet.pml - one slot of a station as the SDKs of the field write it, found full: how doubt.c proves the oldest event.
 *
 * The odd mark is a release store, with nothing between it and the payload. The reader looks at seq, copies, calls membarrier(2)
 * (MEMBARRIER_CMD_GLOBAL: the writer needs no part in it), and looks again. The rule of overrun.pml has nothing to say here: the
 * newest event that it asks for is published. Each switch takes something away, and then the verifier finds a torn event. Where
 * the membarrier is gone there is an acquire fence, which is enough for a writer as in seqlock.pml:
 *	NO_MEMBARRIER      the membarrier
 *	EARLY_MEMBARRIER   its place: it is called before the copy
 *	EARLY_LOOK         the order of the second look: it does not wait for the return
 *	NO_MARK            the odd mark, as in the plain dialect
 *	NO_COMPILER_ORDER  the order of mark and payload in the program
 *	NO_PUBLISH         the release of the even seq
 *	NO_ACQUIRE         the acquire of the reader's first look
 * REACH asserts that nothing is ever accepted, which must fail.
 */
#define CPUS 1
#define PLACES 3
#define SEQ 0
#define A 1
#define B 2
#define EVENTS 3
#include "weak.h"

inline mark()
{
#ifndef NO_MARK
	store_release(0, SEQ, 2 * k + 1)
#else
	skip
#endif
}

proctype writer()
{
	byte k = 0;
	do
	:: k < EVENTS ->
#ifdef NO_COMPILER_ORDER
		store(0, A, k + 1);
		mark();
#else
		mark();
		store(0, A, k + 1);
#endif
		store(0, B, k + 1);
#ifdef NO_PUBLISH
		store(0, SEQ, 2 * k + 2);
#else
		store_release(0, SEQ, 2 * k + 2);
#endif
		fence_full(0); /* the wake-up's; it does nothing here, and it is there */
		k++
	:: else -> break
	od
}

#ifdef NO_ACQUIRE
#define AFTER_FIRST_LOOK true
#else
#define AFTER_FIRST_LOOK (done & 1)
#endif
#ifdef EARLY_MEMBARRIER
#define BEFORE_COPY (done & 8)
#define AFTER_COPY true
#else
#define BEFORE_COPY true
#define AFTER_COPY ((done & 6) == 6)
#endif
#ifdef EARLY_LOOK
#define LAST (done & 1)
#else
#define LAST ((done & 15) == 15)
#endif

proctype reader()
{
	byte first, a, b, second, done = 0;
	do
	:: !(done & 1) -> atomic { first = mem[SEQ]; done = done | 1 }
	:: !(done & 2) && AFTER_FIRST_LOOK && BEFORE_COPY -> atomic { a = mem[A]; done = done | 2 }
	:: !(done & 4) && AFTER_FIRST_LOOK && BEFORE_COPY -> atomic { b = mem[B]; done = done | 4 }
#ifdef NO_MEMBARRIER
	:: !(done & 8) && AFTER_COPY -> done = done | 8
#else
	:: !(done & 8) && AFTER_COPY -> atomic { membarrier(0); done = done | 8 }
#endif
	:: !(done & 16) && LAST -> atomic { second = mem[SEQ]; done = done | 16 }
	:: done == 31 -> break
	od;
	if
	:: first == second && first > 0 && first % 2 == 0 ->
#ifdef REACH
		assert(false);
#endif
		assert(a == first / 2 && b == first / 2)
	:: else
	fi
}

init { atomic { run memory(0); run writer(); run reader() } }
