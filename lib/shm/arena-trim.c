/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * arena-trim.c - gives the pages of the rings back, when no collector reads them any more.
 *
 * The mode says so already, and a barrier has passed in all threads: each call of a probe that begins now writes to no ring. But a
 * thread may be in the middle of one, for as long as it is not scheduled, even until the next collector is there: that reads
 * what the call has stored, half before the page was given back and half after it. So the places where such a call can write are
 * left alone:
 *
 *	head            the next entry; head is loaded after the barrier, and the thread itself moves it by what that call writes
 *	0               it may go back to the beginning of the ring first
 *	back_from       where it went back from: it may find there that it has to go over what was not taken
 *
 * A call writes three entries at most: CTP_ENTRY_THREAD, CTP_ENTRY_GAP and its own; handlers that interrupt it have rings of their
 * own. A ring that it takes now is as much one of these as its own was, or nobody's yet, and not looked at here.
 *
 * All other pages are zeros from now on. No collector reads them as they are: it begins at head, and an entry after that is
 * written before head is.
 */
#include "shm/arena.h"

#include <fcntl.h>
#include <unistd.h>

enum { LEFT = 3, CALL_ENTRIES = 8 }; /* places that are left alone; entries there, and some to spare */

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

/* Whole pages of a file, from one byte to the one before another. */
static void punch(int fd, uint64_t from, uint64_t to)
{
	if (from < to)
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
}

static void sort(uint64_t *at, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		for (unsigned k = i; k && at[k - 1] > at[k]; k--) {
			uint64_t larger = at[k - 1];
			at[k - 1] = at[k];
			at[k] = larger;
		}
}

static void trim_ring(const struct ctp_arena *a, uint32_t i, int fd, uint64_t page)
{
	const uint64_t size = UINT64_C(1) << a->geo.ring_bits, bytes = size * sizeof *a->entries;
	uint64_t left[LEFT] = {0, LOAD(a->rings[i].head) & (size - 1), LOAD(a->rings[i].back_from) & (size - 1)};
	uint64_t start = (uint64_t)((const char *)a->entries - (const char *)a->header) + i * bytes, from = 0;
	sort(left, LEFT);
	for (unsigned k = 0; k < LEFT; k++) { /* what goes over the end is at the beginning, which is left */
		punch(fd, start + from, start + left[k] * sizeof *a->entries / page * page);
		from = ((left[k] + CALL_ENTRIES) * sizeof *a->entries + page - 1) / page * page;
	}
	punch(fd, start + from, start + bytes);
}

void ctp_arena_trim(const struct ctp_arena *a, int fd)
{
	uint32_t used = LOAD(a->header->rings_used);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (!ctp_membarrier())
		return; /* when each thread has seen the mode is not to be known */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < used && i < a->geo.max_rings; i++)
		trim_ring(a, i, fd, page);
}
