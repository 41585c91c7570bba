/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * v1-station.h - one station: what was published in it since the last visit, whole, in order, and what was missed, counted.
 *
 * The events of a station are numbered from 0. All that is kept of a station is the number of the event expected next; each
 * number below it has been counted exactly once, as a row or in a gap, so rows + gaps == published, whatever the writer's
 * speed.
 */
#ifndef CTP_V1_STATION_H
#define CTP_V1_STATION_H

#include <stdbool.h>
#include <stdint.h>

#define CTP_LAYOUT_ONLY
#include "collect/harvest.h"
#include "collect/row-sort.h"
#include "ctp.h"

enum {
	CTP_STATION_ROWS = 8, /* the most that one visit returns */

	/* flags of a station */
	CTP_STATION_KNOWN = 1,    /* an event was seen: the dialect, the header and what the writer announces are known */
	CTP_STATION_ORDERED = 2,  /* by the writer's word or the machine's nature: an unchanged seq proves an unchanged payload */
	CTP_STATION_CONFLICT = 4, /* it has two writers, or one that keeps no rule */
	CTP_STATION_BORN = 8,     /* these are kept by the harvest */
	CTP_STATION_DEAD = 16,
	CTP_STATION_HOT = 32,
	CTP_STATION_FLAGGED = 64,
	CTP_STATION_RINGS = 128, /* it is not one of these, but has a ring */
};

/* What the collector remembers of a station; one of zeros but for the dialect is new. */
struct ctp_v1_station {
	uint64_t next;      /* number of the event expected next */
	uint64_t probe_id;  /* once known */
	uint64_t birth_ns;  /* once known: as the target says */
	uint64_t last_ns;   /* time of the last row */
	uint64_t gap;       /* events missing just before the next row */
	uint64_t coro;
	uint32_t gap_unverified; /* of those: seen, but not proved whole */
	uint8_t dialect, flags;
	bool asked; /* about its frame */
	bool doubt; /* the first of eight rows is not proved, but can be: see CTP_PROOF_LATER */
};
_Static_assert(sizeof(struct ctp_v1_station) <= 64, "a station costs one cache line");

/* Last seen seq of each slot, for a station in conflict. */
struct ctp_v1_station_seen {
	uint64_t seq[CTP_SHM_SLOTS];
};

/* What a visit may rest its proofs on. */
enum ctp_proof {
	CTP_PROOF_NOW,   /* what the memory shows now */
	CTP_PROOF_LATER, /* that too; and the caller can have a barrier passed by every thread, and look again */
	CTP_PROOF_GONE,  /* every writer is gone, as in ctp_harvest_last */
};

/*
 * Takes what is new: fills up to CTP_STATION_ROWS rows and returns how many. What was missed before the first of them is added
 * to st->gap; the caller writes that down and sets it to 0. No row and no larger gap: nothing is new. What comes after an
 * overrun may be left for the next visit, and a writer that is fast enough can make any visit end with a larger gap alone.
 *
 * With CTP_PROOF_LATER, st->doubt may be set, never before: the rows are eight, and the first is proved if ctp_v1_station_quiet
 * still holds when a barrier (barrier.h) that was asked for after the visit has been passed. The caller clears it.
 */
unsigned ctp_v1_station_visit(struct ctp_v1_station *st, const struct ctp_shm_station *shm, struct ctp_v1_station_seen *seen,
                              enum ctp_proof proof, struct ctp_row *rows);

/* True where the stores of a thread become visible in the order of its program, as on x86. t/proof has a machine where they do not. */
#if defined CTP_STORES_IN_ORDER
#elif defined __x86_64__ || defined __i386__
enum { CTP_STORES_IN_ORDER = true };
#else
enum { CTP_STORES_IN_ORDER = false };
#endif

/*
 * True where rows of this station are to be held for CTP_STATION_DRAIN_NS and then asked about again: a plain writer may have
 * no fence, and this machine reorders stores (see v1-station.c). Not after the writers are gone.
 */
enum { CTP_STATION_DRAIN_NS = 2000 };
static inline bool ctp_v1_station_doubtful(const struct ctp_v1_station *st)
{
	return !CTP_STORES_IN_ORDER && st->dialect == CTP_DIALECT_PLAIN;
}

/*
 * Of n events from number base on that a visit returned, how many at the front turn out not to be whole; unverified of them
 * look so.
 */
unsigned ctp_v1_station_recheck(const struct ctp_v1_station *st, const struct ctp_shm_station *shm, uint64_t base, unsigned n,
                                unsigned *unverified);

/*
 * Looks at all slots for an event that one writer could not have published yet, and if there is one sets CTP_STATION_CONFLICT,
 * so that the next visit finds it. A visit looks only where the next event is due and notices other writers when they come
 * there.
 */
void ctp_v1_station_audit(struct ctp_v1_station *st, const struct ctp_shm_station *shm, struct ctp_v1_station_seen *seen);

/* Where event number i is to be found, the seq that says it is complete, and the seq that the slot has until then. */
static inline unsigned ctp_v1_station_slot(const struct ctp_v1_station *st, uint64_t i)
{
	return (i + (st->dialect == CTP_DIALECT_PLAIN)) % CTP_SHM_SLOTS;
}

static inline uint64_t ctp_v1_station_want(const struct ctp_v1_station *st, uint64_t i)
{
	return st->dialect == CTP_DIALECT_PLAIN ? i + 1 : (i / CTP_SHM_SLOTS + 1) * 2;
}

static inline uint64_t ctp_v1_station_idle(const struct ctp_v1_station *st, uint64_t i)
{
	return i < CTP_SHM_SLOTS ? 0 : ctp_v1_station_want(st, i - CTP_SHM_SLOTS);
}

/* True if the one line where the next event is due (two while the dialect is unknown) shows nothing new. */
static inline bool ctp_v1_station_quiet(const struct ctp_v1_station *st, const struct ctp_shm_station *shm)
{
	if ((st->flags & (CTP_STATION_KNOWN | CTP_STATION_CONFLICT)) == CTP_STATION_KNOWN)
		return __atomic_load_n(&shm->slots[ctp_v1_station_slot(st, st->next)].seq, __ATOMIC_RELAXED) ==
		       ctp_v1_station_idle(st, st->next);
	return !(st->flags & CTP_STATION_KNOWN) && !__atomic_load_n(&shm->slots[0].seq, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&shm->slots[1].seq, __ATOMIC_RELAXED);
}

#endif
