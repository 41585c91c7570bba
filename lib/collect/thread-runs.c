/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * thread-runs.c - goes back in a ring to the last resume that no suspension or death has closed: a coroutine may run another within
 * itself. And goes back in all rings to the last wakes.
 */
#include "collect/thread-runs.h"

#include "base/compare.h"
#define CTP_LAYOUT_ONLY
#include "ctp.h"

enum {
	BACK = 64,       /* entries to go back */
	READY_RINGS = 32, READY_BACK = 32, /* the same to look for wakes */
};

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

/* --- ready coroutines ------------------------------------------------------------------------------------------------------- */

/* A wake of a coroutine; or a resume or its death, after which it is not ready. */
struct step {
	uint64_t ref, ts_ns;
	bool woken;
};

/* from_ns is raised to the time from which on all steps of the ring are known. */
static unsigned last_steps(const struct ctp_rings *r, uint32_t i, struct step *steps, uint64_t *from_ns)
{
	const struct ctp_ring *ring = &r->rings[i];
	uint64_t mask = (UINT64_C(1) << r->arena.geo.ring_bits) - 1;
	unsigned n = 0;
	uint64_t back = 1, ts_ns = 0;
	for (; ring->known && back <= READY_BACK && back <= ring->tail; back++) {
		const struct ctp_shm_entry *entry =
			&r->arena.entries[((uint64_t)i << r->arena.geo.ring_bits) + (ctp_ring_back(ring, back) & mask)];
		unsigned kind = CTP_ENTRY_KIND(__atomic_load_n(&entry->what, __ATOMIC_RELAXED));
		if (kind == CTP_ENTRY_THREAD || kind == CTP_ENTRY_GAP)
			break;
		ts_ns = ctp_rings_ns(r, __atomic_load_n(&entry->ts, __ATOMIC_RELAXED), ring->raw);
		if (kind != CTP_ENTRY_WAKE && kind != CTP_ENTRY_RESUME && kind != CTP_ENTRY_DEATH)
			continue;
		steps[n++] = (struct step){__atomic_load_n(&entry->ref, __ATOMIC_RELAXED), ts_ns, kind == CTP_ENTRY_WAKE};
	}
	if (back <= ring->tail)
		*from_ns = ctp_most(*from_ns, ts_ns);
	return n;
}

static bool is_ready(const struct step *steps, unsigned n, const struct step *wake)
{
	for (unsigned i = 0; i < n; i++)
		if (!steps[i].woken && steps[i].ref == wake->ref && steps[i].ts_ns >= wake->ts_ns)
			return false;
	return true;
}

bool ctp_thread_runs_ready(const struct ctp_rings *r)
{
	struct step steps[READY_RINGS * READY_BACK];
	unsigned n = 0;
	uint64_t from_ns = 0;
	for (uint32_t i = 0; i < r->used && i < READY_RINGS; i++)
		n += last_steps(r, i, steps + n, &from_ns);
	for (unsigned i = 0; i < n; i++)
		if (steps[i].woken && steps[i].ts_ns >= from_ns && is_ready(steps, n, &steps[i]))
			return true;
	return false;
}

bool ctp_thread_runs_wrote(const struct ctp_rings *r, uint32_t i, struct ctp_thread_wrote *wrote)
{
	const struct ctp_ring *ring = &r->rings[i];
	*wrote = (struct ctp_thread_wrote){(uint32_t)ring->owner, ring->last_ns};
	return ring->known && ring->last_ns;
}
