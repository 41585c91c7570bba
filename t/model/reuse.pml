/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * reuse.pml - the stack of free stations: two probes of ctp.h take from it, and the collector puts stations of ended coroutines
 * back.
 *
 * The top of the stack is changed by compare and swap alone, and has a tag that changes with it. A station is known by its life,
 * which is the header that each owner finds, reads (the number of the first event, the generation) and counts up; its death is
 * written with release (in a ring, for which see t/proof/ring.v). No station may have two owners; each owner finds the life as the
 * one before left it, and so does the collector. t/proof/reuse.v has all of this without bounds but the last: there no load of the
 * collector comes after its later push.
 * Each switch takes something away, and then the verifier finds a case where that is not so:
 *	NO_TAG        the tag: the top may be the same station again, and the one below it another (ABA)
 *	NO_RELEASE    the release of putting: the link, and the collector's look at the life, may come after it
 *	NO_ACQUIRE    the acquire of taking: the link, and the life, may be read before it
 * REACH asserts that no swap ever fails, which must fail.
 */
#define CPUS 3
#define COLLECTOR 2
#define STATIONS 2
#define BIRTHS 3 /* for each probe */
#define FREE 0
#define LINK(i) (i)
#define LIFE(i) (STATIONS + (i))
#define DEATH(i) (2 * STATIONS + (i))
#define PLACES (3 * STATIONS + 1)
#include "weak.h"

bool owned[STATIONS + 1]; /* the truth, which no processor reads */
byte lives[STATIONS + 1];

#define INDEX(top) ((top) % 4)
#ifdef NO_TAG
#define TOP(old, index) (index)
#else
#define TOP(old, index) ((old) - INDEX(old) + 4 + (index))
#endif

/* A processor sees its own stores before the others do. */
inline load(c, where, into)
{
	d_step {
		into = mem[where];
		i = 0;
		do
		:: i < q[c].n && q[c].loc[i] == where -> into = q[c].val[i]; i++
		:: i < q[c].n && q[c].loc[i] != where -> i++
		:: else -> break
		od;
		i = 0
	}
}

inline take()
{
	do
	:: INDEX(mem[FREE]) != 0 ->
#ifdef NO_ACQUIRE
		select(x : 1 .. STATIONS);
		load(me, LINK(x), below);
		load(me, LIFE(x), life);
		top = mem[FREE];
#else
		top = mem[FREE];
		x = INDEX(top);
		load(me, LINK(x), below);
#endif
		atomic {
			if
			:: x > 0 && x == INDEX(top) && mem[FREE] == top ->
				mem[FREE] = TOP(top, below);
				assert(!owned[x]);
				owned[x] = true;
				break
			:: else ->
#ifdef REACH
				assert(x != INDEX(top));
#endif
				skip
			fi
		}
	od;
#ifndef NO_ACQUIRE
	load(me, LIFE(x), life);
#endif
	assert(life == lives[x])
}

inline put(c)
{
	do
	:: top = mem[FREE];
		store(c, LINK(x), INDEX(top));
#ifndef NO_RELEASE
		fence_full(c);
#endif
		atomic {
			if
			:: mem[FREE] == top -> mem[FREE] = TOP(top, x); break
			:: else
			fi
		}
	od
}

proctype probe(byte me)
{
	byte i, x, top, below, life, births = 0;
	bool mine[STATIONS + 1];
	do
	:: births < BIRTHS && INDEX(mem[FREE]) ->
		take();
		atomic {
			mine[x] = true;
			births++;
			lives[x]++;
			store(me, LIFE(x), life + 1);
			x = 0; top = 0; below = 0; life = 0
		}
	:: mine[1] || mine[2] ->
		atomic {
			if
			:: mine[1] -> x = 1
			:: mine[2] -> x = 2
			fi;
			mine[x] = false;
			owned[x] = false
		};
		store_release(me, DEATH(x), lives[x])
	:: births == BIRTHS && !mine[1] && !mine[2] -> break
	od
}

proctype collector()
{
	byte x, top, life, freed[STATIONS + 1];
	bool late;
end:	do
	:: atomic {
		if
		:: mem[DEATH(1)] > freed[1] -> x = 1
		:: mem[DEATH(2)] > freed[2] -> x = 2
		fi;
		freed[x] = mem[DEATH(x)];
		late = false
	   };
		if
		:: life = mem[LIFE(x)]
#ifdef NO_RELEASE
		:: late = true
#endif
		fi;
		put(COLLECTOR);
		if
		:: late -> life = mem[LIFE(x)]
		:: else
		fi;
		assert(life == freed[x])
	od
}

init {
	atomic {
		mem[LINK(2)] = 1;
		mem[FREE] = 2;
		run memory(0); run memory(1); run memory(COLLECTOR);
		run probe(0); run probe(1); run collector()
	}
}
