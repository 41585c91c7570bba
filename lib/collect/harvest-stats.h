/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* harvest-stats.h - what a harvest has counted. */
#ifndef CTP_HARVEST_STATS_H
#define CTP_HARVEST_STATS_H

#include <stdint.h>

struct ctp_harvest_stats {
	uint64_t events, lost, unverified; /* unverified are among the lost */
	uint64_t overwritten; /* of the lost: in stations that have no ring, and room for 8 */
	uint64_t ringless;    /* of the lost, and some that slots had: by threads that found no ring */
	uint64_t unread;      /* of the lost: what the last look did not come to */
	uint64_t births, deaths, conflicts, wakes;
	uint64_t missed;   /* births, deaths, wakes, names and awaits that a thread could not write down */
	uint64_t untraced; /* coroutines that found no station */
	uint64_t refused;  /* of those: there was no memory for it */
	uint64_t stations; /* in use, or used before */
	uint64_t rings;    /* threads that write, or wrote */
};

#endif
