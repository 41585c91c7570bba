/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * slots.c - copies slots, against a writer that never waits.
 *
 * Where the writer announces CTP_ANNOUNCE_BARRIER it has no fences, and its order is the compiler's alone. Then the
 * reader puts barriers into it, by membarrier(2):
 *
 *	writer                          reader
 *	seq = odd                       load seq: the even one that is wanted
 *	payload                         membarrier     what stands before the even seq is visible from here on
 *	seq = even                      copy
 *	                                membarrier     if the copy saw anything of the next event, its odd seq is visible now
 *	                                load seq: still the same, so it did not
 *
 * Where it announces CTP_ANNOUNCE_ORDERED the fences are its own: its release fence after the odd seq pairs with the acquire
 * fence after the copy, its release store of the even seq with the first load. Both are done for all, many slots at a time.
 */
#include "shm/slots.h"

#if defined __SANITIZE_THREAD__ && !defined __clang__
#pragma GCC diagnostic ignored "-Wtsan"
#endif

#define NUMBER_MAX (UINT64_C(1) << 56) /* no writer counts as far as this */

uint64_t ctp_slots_next(const struct ctp_shm_station *shm)
{
	uint64_t next = 0;
	for (unsigned slot = 0; slot < CTP_SHM_SLOTS; slot++) {
		uint64_t laps = __atomic_load_n(&shm->slots[slot].seq, __ATOMIC_ACQUIRE) / 2;
		if (!laps || laps > NUMBER_MAX / CTP_SHM_SLOTS)
			continue;
		uint64_t number = (laps - 1) * CTP_SHM_SLOTS + slot;
		next = number >= next ? number + 1 : next;
	}
	return next;
}

/* What the two looks and what stands between them accept is one event, whole. Proved in t/proof: accepted_is_written, barrier_accepted. */
static bool shows(const struct ctp_pick *pick)
{
	return __atomic_load_n(&pick->slot->seq, __ATOMIC_ACQUIRE) == ctp_slot_seq(pick->number);
}

void ctp_slots_copy(const struct ctp_rings *r, struct ctp_pick *picks, unsigned n)
{
	bool any = false;
	for (unsigned k = 0; k < n; k++)
		any |= picks[k].whole = shows(&picks[k]);
	if (!any)
		return;
	bool barrier = ctp_membarrier();
	for (unsigned k = 0; k < n; k++) {
		struct ctp_pick *pick = &picks[k];
		if (!pick->whole)
			continue;
		uint64_t ts = __atomic_load_n(&pick->slot->timestamp, __ATOMIC_RELAXED);
		pick->ts_ns = ctp_rings_ns(r, ts, pick->flags & CTP_ANNOUNCE_RAW);
		pick->newer = ctp_rings_newer(r, ts, pick->flags & CTP_ANNOUNCE_RAW);
		pick->tid = __atomic_load_n(&pick->slot->tid, __ATOMIC_RELAXED);
		pick->addr = __atomic_load_n(&pick->slot->addr, __ATOMIC_RELAXED);
		pick->what = __atomic_load_n(&pick->slot->what, __ATOMIC_RELAXED);
	}
	barrier &= ctp_membarrier();
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* pairs with the fence of a writer that announces ORDERED */
	/* The newest first: a writer that goes on meanwhile overwrites the oldest first, and so none is missing between two others. */
	for (unsigned k = n; k-- > 0;)
		picks[k].whole &= shows(&picks[k]) && (barrier || picks[k].flags & CTP_ANNOUNCE_ORDERED);
}
