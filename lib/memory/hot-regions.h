/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* hot-regions.h - of all regions that ever were, those that cost most. */
#ifndef CTP_HOT_REGIONS_H
#define CTP_HOT_REGIONS_H

#include "memory/regions.h"

enum { CTP_HOT_REGIONS = 256 };

struct ctp_hot_regions {
	struct ctp_hot_region {
		struct ctp_region region; /* born is another one for each */
		uint64_t cost;
		bool alive; /* at the end of its section */
	} hot[CTP_HOT_REGIONS]; /* a heap, the least first; from the sort on, the most first */
	uint32_t n;
};

/* A region is over. One without an access is not hot. */
void ctp_hot_regions_note(struct ctp_hot_regions *h, const struct ctp_region *region, uint64_t cost, bool alive);

/* The most first; of those that cost the same, the oldest. */
void ctp_hot_regions_sort(struct ctp_hot_regions *h);

#endif
