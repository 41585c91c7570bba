/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * skips.pml - a ring whose writer leaves numbers out (CTP_MODE_SKIPS): ctp_end_ of ctp.h against see_skips of rings.c.
 *
 * The writer puts the events 1 .. EVENTS into a ring of SIZE entries and waits where there is no room. At each multiple of TURN
 * it goes back to the beginning of the ring, if the tail is NEAR; where it meets entries not yet read, it skips them. It
 * stores a skip's two words before the head that is past them, and not again before the tail is past them. The reader makes passes:
 * head, the four words, the entries except those that were skipped, tail. It must get every event, in order. Each switch
 * takes something away, and then the verifier finds a case where that is not so:
 *	NO_PUBLISH  the release of head: it may be visible before the words
 *	NO_ACQUIRE  the acquire of the reader's look at head: the words may be older
 *	WORDS_LATE  the words' place: they are stored after the head
 *	NO_NEAR     that the tail is near: a pair is written again although the reader is in front of it
 *	NO_OVER     the second skip: what was not yet taken is overwritten
 *	OVER_FAR    its cost: the room after it is as large as the ring
 *	NO_END      the reader's look at where a pair ends: one that no head has passed yet is used
 * REACH asserts that the reader never meets two skips in one pass, which must fail.
 *
 * (What an entry and the tail rest on is proved in t/proof/ring.v.)
 */
#define CPUS 2
#define WRITER 0
#define READER 1
#define SIZE 4
#define TURN 2
#define EVENTS 7
#define HEAD 0
#define TAIL 1
#define BACK_FROM 2
#define BACK_TO 3
#define OVER_FROM 4
#define OVER_TO 5
#define ENTRY(i) (6 + (i) % SIZE)
#define PLACES (6 + SIZE)
#include "weak.h"

bool over = false; /* the writer has ended, and all that it did is visible */

#ifdef NO_NEAR
#define NEAR true
#else
#define NEAR (head - tail <= TURN / 2)
#endif
#ifdef NO_OVER
#define MEETS false
#else
#define MEETS (head + 1 > tail + SIZE)
#endif

#ifdef OVER_FAR
#define OVER_END (over_to + SIZE)
#else
#define OVER_END (back_to + SIZE)
#endif

inline put_words()
{
	if
	:: back_new -> store(WRITER, BACK_FROM, back_from); store(WRITER, BACK_TO, back_to); back_new = false
	:: else
	fi;
	if
	:: over_new -> store(WRITER, OVER_FROM, over_from); store(WRITER, OVER_TO, over_to); over_new = false
	:: else
	fi
}

/* ctp_end_ and what ctp_room_ makes of it. */
inline find_room()
{
	atomic {
		tail = mem[TAIL];
		if
		:: head % SIZE && !(head % TURN) && NEAR ->
			back_from = head;
			head = head - head % SIZE + SIZE;
			back_to = head;
			back_new = true
		:: else
		fi;
		if
		:: tail >= back_to || over_to < back_to && !MEETS -> end = tail + SIZE
		:: tail < back_to && over_to < back_to && MEETS ->
			over_from = head;
			head = back_to + back_from % SIZE;
			over_to = head;
			over_new = true;
			end = OVER_END
		:: else -> end = OVER_END
		fi;
#ifdef NO_OVER
		end = (tail < back_to -> back_to + SIZE : end);
#endif
		turn = head - head % TURN + TURN;
		limit = (head >= end -> head : (turn < end -> turn : end));
		turn = 0;
		end = 0
	}
}

proctype writer()
{
	byte head = 0, limit = 0, tail = 0, end = 0, turn = 0, k = 1;
	byte back_from = 0, back_to = 0, over_from = 0, over_to = 0;
	bool back_new = false, over_new = false;
	do
	:: k <= EVENTS ->
		do
		:: head < limit -> break
		:: head >= limit ->
			find_room();
#ifndef WORDS_LATE
			put_words();
#endif
			head < limit || mem[TAIL] != tail
		od;
		store(WRITER, ENTRY(head), k);
		head++;
#ifdef NO_PUBLISH
		store(WRITER, HEAD, head);
#else
		store_release(WRITER, HEAD, head);
#endif
#ifdef WORDS_LATE
		put_words();
#endif
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
#ifdef NO_END
#define ENDS(to) true
#else
#define ENDS(to) (to <= head)
#endif
#define IS_SKIP(from, to, first) (from >= first && from < to && ENDS(to))

inline see_skips()
{
	if
	:: IS_SKIP(back_from, back_to, tail) -> skip
	:: else -> back_from = tail; back_to = tail
	fi;
	if
	:: IS_SKIP(over_from, over_to, back_to) -> skip
	:: else -> over_from = back_to; over_to = back_to
	fi;
#ifdef REACH
	assert(back_from == back_to || over_from == over_to)
#endif
}

proctype reader()
{
	byte head, tail = 0, next = 1, done = 0, back_from, back_to, over_from, over_to;
	bool last, wrong = false;
	do
	:: !wrong ->
		last = over;
		do
		:: !(done & 1) -> atomic { head = mem[HEAD]; done = done | 1 }
		:: !(done & 2) && AFTER_HEAD -> atomic { back_from = mem[BACK_FROM]; done = done | 2 }
		:: !(done & 4) && AFTER_HEAD -> atomic { back_to = mem[BACK_TO]; done = done | 4 }
		:: !(done & 8) && AFTER_HEAD -> atomic { over_from = mem[OVER_FROM]; done = done | 8 }
		:: !(done & 16) && AFTER_HEAD -> atomic { over_to = mem[OVER_TO]; done = done | 16 }
		:: done == 31 -> break
		od;
		atomic { see_skips(); done = 0 };
		do
		:: tail == back_from && back_from < back_to -> tail = back_to
		:: tail == over_from && over_from < over_to -> tail = over_to
		:: tail < head && !(tail == back_from && back_from < back_to) && !(tail == over_from && over_from < over_to) ->
			atomic { wrong = wrong || mem[ENTRY(tail)] != next; next++; tail++ }
		:: else -> break
		od;
		atomic { wrong = wrong || tail > head; head = 0; back_from = 0; back_to = 0; over_from = 0; over_to = 0 };
		/* The release is its place: what must come before are loads. */
		if
		:: mem[TAIL] != tail -> store(READER, TAIL, tail); fence_full(READER)
		:: else
		fi;
		if
		:: last || wrong -> break
		:: else
		fi
	:: else -> break
	od;
	assert(!wrong && next == EVENTS + 1)
}

init { atomic { run memory(WRITER); run memory(READER); run writer(); run reader() } }
