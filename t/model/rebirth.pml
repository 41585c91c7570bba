/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rebirth.pml - the header of a station that is reused by one coroutine after the other, and a reader at any time.
 *
 * That is the collector without an entry of a ring that says which coroutine it will find: when a collector attaches, and after a
 * loss. The station begins
 * as zeros. A birth of ctp.h counts generation up, writes the header (here one word), and opens the station: announce for the
 * first one, is_dead = 0 for those after it. A death writes events and sets is_dead to 1, and freeing the station sets it to 2.
 * The next to have it may be on another thread: of the stack in between (reuse.pml) this model counts on nothing. The reader
 * looks at generation, announce and is_dead, copies, and looks at generation again. What it accepts must be the header of that
 * generation, and if it is dead so must be events. All is written on one processor: if a coroutine ends on another one than it was
 * born on, C11 needs the release of events too, which ctp.h has and this memory does not need (t/proof/world-moved.c). Each switch takes something away, and then the verifier finds one that is
 * not:
 *	NO_FENCE               the release fence between generation and the header
 *	NO_GENERATION_RELEASE  the release of generation: it may be visible before the death of the one before
 *	NO_OPEN                the release of is_dead = 0
 *	NO_ANNOUNCE            the release of announce
 *	NO_SHUT                the release of is_dead = 1
 *	NO_ACQUIRE             the acquire of the reader's look at generation
 *	NO_ANNOUNCE_ACQUIRE    that of its look at announce
 *	NO_DEAD_ACQUIRE        that of its look at is_dead
 *	NO_READ_FENCE          the acquire fence before its last look
 *	DEAD_FIRST             the order: is_dead before generation is not enough
 *	NO_ANNOUNCE_LOOK       the look at announce: is_dead says nothing about the first generation
 *	FREED_TOO              that a station whose is_dead is 2 has no owner: the next one may be taking it
 * REACH asserts that nothing is accepted that lives but the first, which must fail.
 */
#define CPUS 1
#define PLACES 5
#define GENERATION 0
#define ANNOUNCE 1
#define DEAD 2
#define HEADER 3
#define EVENTS 4
#define GENERATIONS 3
#include "weak.h"

proctype writer()
{
	byte g = 1;
	do
	:: g <= GENERATIONS ->
#ifdef NO_GENERATION_RELEASE
		store(0, GENERATION, g);
#else
		store_release(0, GENERATION, g);
#endif
#ifndef NO_FENCE
		fence_release(0);
#endif
		store(0, HEADER, g);
#ifdef NO_ANNOUNCE
		store(0, ANNOUNCE, 1);
#else
		store_release(0, ANNOUNCE, 1);
#endif
#ifdef NO_OPEN
		store(0, DEAD, 0);
#else
		store_release(0, DEAD, 0);
#endif
		store(0, EVENTS, g);
#ifdef NO_SHUT
		store(0, DEAD, 1);
#else
		store_release(0, DEAD, 1);
#endif
		store(0, DEAD, 2);
		g++
	:: else -> break
	od
}

#ifdef NO_ACQUIRE
#define AFTER_GENERATION true
#else
#define AFTER_GENERATION (done & 1)
#endif
#ifdef NO_ANNOUNCE_ACQUIRE
#define AFTER_ANNOUNCE true
#else
#define AFTER_ANNOUNCE (done & 2)
#endif
#ifdef NO_DEAD_ACQUIRE
#define AFTER_DEAD true
#else
#define AFTER_DEAD (done & 4)
#endif
#ifdef DEAD_FIRST
#define FIRST ((done & 6) == 6)
#define SECOND true
#else
#define FIRST true
#define SECOND AFTER_GENERATION
#endif
#define BEFORE_COPY (AFTER_GENERATION && AFTER_ANNOUNCE && AFTER_DEAD)
#ifdef NO_READ_FENCE
#define AFTER_COPY true
#else
#define AFTER_COPY ((done & 24) == 24)
#endif
#ifdef NO_ANNOUNCE_LOOK
#define ANNOUNCED true
#else
#define ANNOUNCED announce
#endif
#ifdef FREED_TOO
#define SOMEBODYS true
#else
#define SOMEBODYS (dead < 2)
#endif

proctype reader()
{
	byte first, announce, dead, header, events, second, done = 0;
	do
	:: !(done & 1) && FIRST -> atomic { first = mem[GENERATION]; done = done | 1 }
	:: !(done & 2) && SECOND -> atomic { announce = mem[ANNOUNCE]; done = done | 2 }
	:: !(done & 4) && SECOND -> atomic { dead = mem[DEAD]; done = done | 4 }
	:: !(done & 8) && BEFORE_COPY -> atomic { header = mem[HEADER]; done = done | 8 }
	:: !(done & 16) && BEFORE_COPY -> atomic { events = mem[EVENTS]; done = done | 16 }
	:: !(done & 32) && (done & 1) && AFTER_COPY -> atomic { second = mem[GENERATION]; done = done | 32 }
	:: done == 63 -> break
	od;
	if
	:: first == second && first > 0 && ANNOUNCED && SOMEBODYS ->
#ifdef REACH
		assert(first == 1 || dead);
#endif
		assert(header == first && (!dead || events == first))
	:: else
	fi
}

init { atomic { run memory(0); run writer(); run reader() } }
