/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * barrier.pml - one slot of a "barrier" station: ctp.h writes it without a fence, and its reader calls membarrier(2) instead.
 *
 * As seqlock.pml, but the writer's stores are relaxed, ordered only by the program. The reader
 * looks at seq, calls membarrier, copies, calls membarrier, and looks again. Each switch takes something away, and then the
 * verifier finds a torn event. Where a membarrier is gone there still is what seqlock.pml shows to be enough for a reader of a
 * writer with fences:
 *	NO_FIRST           the membarrier before the copy
 *	NO_SECOND          the one after it
 *	NO_MARK            the odd mark
 *	NO_COMPILER_ORDER  the compiler barriers: between the mark, the payload and the even seq
 * REACH asserts that nothing is ever accepted, which must fail.
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
	byte k = 0, done = 0;
	do
	:: k < EVENTS ->
#ifdef NO_COMPILER_ORDER
		do
		:: !(done & 1) -> store(0, SEQ, 2 * k + 1); done = done | 1
		:: !(done & 2) -> store(0, A, k + 1); done = done | 2
		:: !(done & 4) -> store(0, B, k + 1); done = done | 4
		:: !(done & 8) && (done & 1) -> store(0, SEQ, 2 * k + 2); done = done | 8
		:: done == 15 -> break
		od;
		done = 0;
#else
#ifndef NO_MARK
		store(0, SEQ, 2 * k + 1);
#endif
		store(0, A, k + 1);
		store(0, B, k + 1);
		store(0, SEQ, 2 * k + 2);
#endif
		k++
	:: else -> break
	od
}

inline copy()
{
	do
	:: !(done & 1) -> atomic { a = mem[A]; done = done | 1 }
	:: !(done & 2) -> atomic { b = mem[B]; done = done | 2 }
	:: done == 3 -> break
	od
}

proctype reader()
{
	byte first, a, b, second, done = 0;
	first = mem[SEQ];
#ifndef NO_FIRST
	membarrier(0);
#endif
	copy();
#ifndef NO_SECOND
	membarrier(0);
#endif
	second = mem[SEQ];
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
