/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * seqlock.pml - one slot of an "ordered" station: ctp_slot_write_ in ctp.h against the reader of station.c.
 *
 * The writer publishes events 1 .. EVENTS in the same slot, lap after lap; the reader makes one attempt, at any time. What it
 * accepts must be one event, whole. Each switch takes one barrier away, and with any of them the verifier finds a torn event:
 *	NO_MARK_FENCE   the release fence between the odd mark and the payload
 *	RELEASE_MARK    the same, but the mark is a release store, as in the SDKs of the field: that does not help
 *	NO_PUBLISH      the release of the even seq
 *	NO_ACQUIRE      the acquire of the reader's first look
 *	NO_READ_FENCE   the acquire fence before its second look
 * REACH asserts that nothing is ever accepted, which must fail too: else the model would prove nothing.
 */
#define CPUS 1
#define PLACES 3
#define SEQ 0
#define A 1
#define B 2
#define EVENTS 3
#include "weak.h"

proctype writer()
{
	byte k = 0;
	do
	:: k < EVENTS ->
#ifdef RELEASE_MARK
		store_release(0, SEQ, 2 * k + 1);
#else
		store(0, SEQ, 2 * k + 1);
#ifndef NO_MARK_FENCE
		fence_release(0);
#endif
#endif
		store(0, A, k + 1);
		store(0, B, k + 1);
#ifdef NO_PUBLISH
		store(0, SEQ, 2 * k + 2);
#else
		store_release(0, SEQ, 2 * k + 2);
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

proctype reader()
{
	byte first, a, b, second, done = 0;
	do
	:: !(done & 1) -> atomic { first = mem[SEQ]; done = done | 1 }
	:: !(done & 2) && AFTER_FIRST_LOOK -> atomic { a = mem[A]; done = done | 2 }
	:: !(done & 4) && AFTER_FIRST_LOOK -> atomic { b = mem[B]; done = done | 4 }
	/* The same place is never read backwards, hence the first look before the second. */
	:: !(done & 8) && (done & 1) && AFTER_COPY -> atomic { second = mem[SEQ]; done = done | 8 }
	:: done == 15 -> break
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
