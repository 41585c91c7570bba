/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * thread-runs.c - goes back in a ring to the last resume that no suspension or death has closed: a coroutine may run another within
 * itself.
 */
#include "collect/thread-runs.h"

#define CTP_LAYOUT_ONLY
#include "ctp.h"

enum { BACK = 64 }; /* entries to go back */

bool ctp_thread_runs_find(const struct ctp_rings *r, uint32_t i, struct ctp_thread_run *run)
{
	const struct ctp_ring *ring = &r->rings[i];
	uint64_t mask = (UINT64_C(1) << r->arena.geo.ring_bits) - 1, left[BACK];
	unsigned nleft = 0;
	if (!ring->known || !ring->last_ns || ring->tail != ring->head)
		return false;
	for (uint64_t back = 1; back <= BACK && back <= ring->tail; back++) {
		const struct ctp_shm_entry *entry =
			&r->arena.entries[((uint64_t)i << r->arena.geo.ring_bits) + (ctp_ring_back(ring, back) & mask)];
		unsigned kind = CTP_ENTRY_KIND(__atomic_load_n(&entry->what, __ATOMIC_RELAXED));
		uint64_t ref = __atomic_load_n(&entry->ref, __ATOMIC_RELAXED);
		if (kind == CTP_ENTRY_THREAD || kind == CTP_ENTRY_GAP)
			return false;
		if (kind == CTP_ENTRY_SUSPEND || kind == CTP_ENTRY_DEATH)
			left[nleft++] = ref;
		if (kind != CTP_ENTRY_RESUME)
			continue;
		unsigned k = 0;
		while (k < nleft && left[k] != ref)
			k++;
		if (k < nleft)
			continue; /* it has left the thread since */
		run->since_ns = ctp_rings_ns(r, __atomic_load_n(&entry->ts, __ATOMIC_RELAXED), ring->raw);
		run->tid = (uint32_t)ring->owner;
		return true;
	}
	return false;
}
