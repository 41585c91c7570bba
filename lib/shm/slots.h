/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * slots.h - the last 8 events of a station that has rings: what its slots remember when the rings do not.
 */
#ifndef CTP_SLOTS_H
#define CTP_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/rings.h"

/* A slot, and the event that it should have; once copied: whether it had it, and what it held. */
struct ctp_pick {
	const struct ctp_shm_slot *slot;
	uint64_t number;
	uint32_t flags; /* what the station announces */
	bool whole, newer; /* newer: than the look at the rings, which have it too */
	uint64_t ts_ns, tid, addr, what;
};

/* seq of a slot that has this event. */
static inline uint64_t ctp_slot_seq(uint64_t number) { return (number / CTP_SHM_SLOTS + 1) * 2; }

/* Number of the newest event in the slots of a station, plus 1; 0: none. One that is being written does not count. */
uint64_t ctp_slots_next(const struct ctp_shm_station *shm);

/*
 * Copies those slots that have the event, and can be proved to have had nothing else meanwhile. The events of a station stand in
 * the order of their numbers, and of those the last ones are copied.
 */
void ctp_slots_copy(const struct ctp_rings *r, struct ctp_pick *picks, unsigned n);

#endif
