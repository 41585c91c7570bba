/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ring.pml - the ring of one thread: the probe of ctp.h, which puts entries in, against rings.c, which takes them out.
 *
 * The writer puts the events 1 .. EVENTS into a ring of SIZE entries, of one word each: where a longer one would be torn, one
 * of its words is wrong. An event without room is counted, and a gap entry is written before the next that has room. The writer
 * looks at
 * tail only when the tail that it knows leaves no room. The reader makes passes: head, the entries and the count of losses,
 * tail. It must get every event, or a gap in its place, in order; the count never lags behind the gaps, and at the end it has
 * the rest. Each switch takes something away, and then the verifier finds a case where that is not so:
 *	NO_PUBLISH       the release of head
 *	NO_ACQUIRE       the acquire of the reader's look at head
 *	NO_DONE          the release of tail: it may be visible before all is copied
 *	NO_ROOM_ACQUIRE  the acquire of the writer's look at tail: the entry may be visible before it
 *	FULL_LATE        the room: one entry too many
 *	GAP_LATE         the gap's place: it is written after the entry
 *	COUNT_LATE       the count's place: it is written after the gap
 * REACH asserts that no gap is ever between two events, which must fail.
 *
 * (A signal handler that interrupts the writer has another ring.)
 */
#define CPUS 2
#define WRITER 0
#define READER 1
#define SIZE 2
#define EVENTS 4
#define HEAD 0
#define TAIL 1
#define LOST 2
#define ENTRY(i) (3 + (i) % SIZE)
#define PLACES (3 + SIZE)
#define GAP 100 /* and how many */
#include "weak.h"

bool over = false; /* the writer has ended, and all its stores are visible */
bool unreal = false; /* it foresaw a value that it did not find: none of this has happened */

#ifdef FULL_LATE
#define ROOM (head + 1 + (gap > 0) - tail <= SIZE + 1)
#else
#define ROOM (head + 1 + (gap > 0) - tail <= SIZE)
#endif

inline publish()
{
	head++;
#ifdef NO_PUBLISH
	store(WRITER, HEAD, head)
#else
	store_release(WRITER, HEAD, head)
#endif
}

inline put_gap()
{
	if
	:: gap > 0 ->
		store(WRITER, ENTRY(head), GAP + gap);
		publish();
		gap = 0;
#ifdef COUNT_LATE
		store(WRITER, LOST, lost)
#endif
	:: else
	fi
}

proctype writer()
{
	byte head = 0, tail = 0, k = 1, lost = 0, gap = 0;
	bool ahead;
	do
	:: k <= EVENTS ->
		ahead = false;
		if
		:: ROOM
		:: !ROOM -> tail = mem[TAIL]
#ifdef NO_ROOM_ACQUIRE
		:: !ROOM && gap == 0 -> ahead = true; store(WRITER, ENTRY(head), k); tail = mem[TAIL]
#endif
		fi;
		if
		:: ahead && ROOM -> publish()
		:: ahead && !ROOM -> unreal = true; break
		:: !ahead && ROOM ->
#ifndef GAP_LATE
			put_gap();
#endif
			store(WRITER, ENTRY(head), k);
			publish();
#ifdef GAP_LATE
			put_gap()
#endif
		:: !ahead && !ROOM ->
			gap++;
			lost++;
#ifndef COUNT_LATE
			store(WRITER, LOST, lost)
#endif
		fi;
		k++
	:: else -> break
	od;
	fence_full(WRITER);
	over = true
}

#ifdef NO_ACQUIRE
#define AFTER_HEAD true
#else
#define AFTER_HEAD (done & 1)
#endif
#ifdef NO_DONE
#define AFTER_COPY true
#else
#define AFTER_COPY ((done & 6) == 6)
#endif

inline take(entry)
{
	if
	:: tail < head && entry > GAP ->
		next = next + entry - GAP;
		told = told + entry - GAP;
		tail++
	:: tail < head && entry <= GAP ->
#ifdef REACH
		assert(told == 0 || next == told + 1);
#endif
		wrong = wrong || entry != next;
		next++;
		tail++
	:: else
	fi
}

proctype reader()
{
	byte head, tail = 0, next = 1, told = 0, lost, first, second, done = 0;
	bool last, wrong = false;
	do
	:: !wrong ->
		last = over;
		do
		:: !(done & 1) -> atomic { head = mem[HEAD]; done = done | 1 }
		:: !(done & 2) && AFTER_HEAD -> atomic { first = mem[ENTRY(tail)]; done = done | 2 }
		:: !(done & 4) && AFTER_HEAD -> atomic { second = mem[ENTRY(tail + 1)]; done = done | 4 }
		:: !(done & 8) && AFTER_HEAD -> atomic { lost = mem[LOST]; done = done | 8 }
		/* The release is in the guard: what must come before are loads. */
		:: !(done & 16) && (done & 1) && AFTER_COPY -> store(READER, TAIL, head); done = done | 16
		:: done == 31 -> break
		od;
		atomic {
			wrong = head - tail > SIZE;
			take(first);
			take(second);
			wrong = wrong || lost < told;
			head = 0; first = 0; second = 0; done = 0
		};
		if
		:: last -> break
		:: else
		fi
	:: else -> break
	od;
	over;
	assert(unreal || !wrong && next + lost - told == EVENTS + 1)
}

init { atomic { run memory(WRITER); run memory(READER); run writer(); run reader() } }
