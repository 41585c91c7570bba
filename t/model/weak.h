/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * weak.h - a weak memory for the models: stores become visible late and in any order that nothing forbids.
 *
 * Each processor has a queue of stores that are issued but not visible. Any of them may become visible next, but
 *	- not before an older one to the same place (coherence),
 *	- not before one that was issued before a fence, if it was issued after it,
 *	- and a release store not before any older one.
 * What is visible is visible to all, as on ARMv8 and x86. (The arguments in ctp.h and v1-station.c are C11's, and need less.)
 *
 * Loads are satisfied in any order too: a model gives each a step of its own, whose guard says what must have been done before.
 */
#define PENDING 6 /* a processor with so many waits, as real ones do */

typedef queue {
	byte n, epoch;
	byte loc[PENDING], val[PENDING], since[PENDING];
	bool release[PENDING]
};

byte mem[PLACES];
queue q[CPUS];

inline store_(c, where, what, is_release)
{
	atomic {
		q[c].n < PENDING;
		q[c].loc[q[c].n] = where;
		q[c].val[q[c].n] = what;
		q[c].since[q[c].n] = q[c].epoch;
		q[c].release[q[c].n] = is_release;
		q[c].n++
	}
}

#define store(c, where, what) store_(c, where, what, false)
#define store_release(c, where, what) store_(c, where, what, true)
#define fence_release(c) q[c].epoch = q[c].epoch + (q[c].n > 0)
#define fence_full(c) (q[c].n == 0) /* waits until all is visible */
#define membarrier(c) fence_full(c) /* by another: puts a full fence where processor c happens to be */

#define may_pass(c, i, j) \
	(q[c].loc[j] != q[c].loc[i] && q[c].since[j] == q[c].since[i] && !q[c].release[i])

/* Picks any store, makes it visible if it may be, and closes the gap that it leaves in the queue. */
proctype memory(byte c)
{
	byte i, j;
end:	do
	:: atomic {
		q[c].n > 0;
		i = 0;
		do
		:: i + 1 < q[c].n -> i++
		:: break
		od;
		j = 0;
		do
		:: j < i && may_pass(c, i, j) -> j++
		:: else -> break
		od;
		if
		:: j < i
		:: else ->
			mem[q[c].loc[i]] = q[c].val[i];
			q[c].n--;
			do
			:: i < q[c].n ->
				q[c].loc[i] = q[c].loc[i + 1];
				q[c].val[i] = q[c].val[i + 1];
				q[c].since[i] = q[c].since[i + 1];
				q[c].release[i] = q[c].release[i + 1];
				i++
			:: else -> break
			od;
			q[c].loc[i] = 0;
			q[c].val[i] = 0;
			q[c].since[i] = 0;
			q[c].release[i] = false;
			if
			:: q[c].n == 0 -> q[c].epoch = 0
			:: else
			fi
		fi;
		i = 0;
		j = 0
	   }
	od
}
