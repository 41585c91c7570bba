/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * remember.pml - the header of an ended coroutine, read while its station is free and may be reused at any time.
 *
 * That is snapshot.c when a collector attaches to a program that has freed its stations itself. Whoever takes a station from the
 * stack of the free (ctp.h) changes the top, with its tag; then comes the generation, the header (here one word), and is_dead =
 * 0. A death writes events and makes is_dead 1, freeing sets that to 2 and puts the station back. Here the stack holds one station,
 * and one processor does all of this: that several may is reuse.pml's. The reader looks at the top, at the generation of the
 * station that it finds there, and at the top again; and if that is the same, copies the header between two looks at the
 * generation. What it accepts must be the header of that generation. Each switch takes something away, and then it is
 * not:
 *	NO_TAG                 the tag: the same station may be there again
 *	NO_SECOND_TOP          the second look at the top
 *	NO_PUT_RELEASE         the release of putting it back
 *	NO_TOP_ACQUIRE         the acquire of the first look at the top
 *	NO_GENERATION_RELEASE  the release of generation: it may be visible before the station is taken
 *	NO_WALK_ACQUIRE        the acquire of the look at the generation in between
 *	NO_FENCE               the release fence between generation and the header
 *	NO_READ_FENCE          the acquire fence between the copy and the last look at the generation
 *	NO_LAST_LOOK           that look
 * REACH asserts that nothing is accepted but the first, which must fail.
 */
#define CPUS 1
#define PLACES 5
#define FREE 0
#define GENERATION 1
#define DEAD 2
#define HEADER 3
#define EVENTS 4
#define GENERATIONS 3
#include "weak.h"

#ifdef NO_TAG
#define TAKEN(g) 0
#define PUT(g) 1
#else
#define TAKEN(g) (4 * (g))
#define PUT(g) (4 * (g) + 1)
#endif

proctype writer()
{
	byte g = 2;
	do
	:: g <= GENERATIONS ->
		store(0, FREE, TAKEN(g));
#ifdef NO_GENERATION_RELEASE
		store(0, GENERATION, g);
#else
		store_release(0, GENERATION, g);
#endif
#ifndef NO_FENCE
		fence_release(0);
#endif
		store(0, HEADER, g);
		store_release(0, DEAD, 0);
		store(0, EVENTS, g);
		store_release(0, DEAD, 1);
		store(0, DEAD, 2);
#ifdef NO_PUT_RELEASE
		store(0, FREE, PUT(g));
#else
		store_release(0, FREE, PUT(g));
#endif
		g++
	:: else -> break
	od
}

#ifdef NO_TOP_ACQUIRE
#define AFTER_TOP true
#else
#define AFTER_TOP (done & 1)
#endif
#ifdef NO_WALK_ACQUIRE
#define AFTER_WALK AFTER_TOP
#else
#define AFTER_WALK (done & 2)
#endif
#define AFTER_FIRST (done & 8)
#define AFTER_DEAD (done & 16)
#ifdef NO_READ_FENCE
#define AFTER_COPY AFTER_DEAD
#else
#define AFTER_COPY ((done & 96) == 96)
#endif
#ifdef NO_SECOND_TOP
#define SAME_TOP true
#else
#define SAME_TOP (second == top)
#endif
#ifdef NO_LAST_LOOK
#define SAME true
#else
#define SAME (last == first)
#endif

proctype reader()
{
	byte top, walked, second, first, dead, header, events, last, done = 0;
	do
	:: !(done & 1) -> atomic { top = mem[FREE]; done = done | 1 }
	:: !(done & 2) && AFTER_TOP -> atomic { walked = mem[GENERATION]; done = done | 2 }
	:: !(done & 4) && (done & 1) && AFTER_WALK -> atomic { second = mem[FREE]; done = done | 4 }
	:: !(done & 8) && (done & 2) && AFTER_WALK -> atomic { first = mem[GENERATION]; done = done | 8 }
	:: !(done & 16) && AFTER_FIRST -> atomic { dead = mem[DEAD]; done = done | 16 }
	:: !(done & 32) && AFTER_DEAD -> atomic { header = mem[HEADER]; done = done | 32 }
	:: !(done & 64) && AFTER_DEAD -> atomic { events = mem[EVENTS]; done = done | 64 }
	:: !(done & 128) && AFTER_COPY -> atomic { last = mem[GENERATION]; done = done | 128 }
	:: done == 255 -> break
	od;
	if
	:: top % 4 && SAME_TOP && first == walked && SAME && dead == 2 ->
#ifdef REACH
		assert(first == 1);
#endif
		assert(header == first && events == first)
	:: else
	fi
}

init {
	atomic {
		mem[FREE] = PUT(1);
		mem[GENERATION] = 1;
		mem[DEAD] = 2;
		mem[HEADER] = 1;
		mem[EVENTS] = 1;
		run memory(0); run writer(); run reader()
	}
}
