/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter-last.h - when each section ends, as the last time in it: what is asked for from the end on needs a pass to find that. */
#ifndef CTP_FILTER_LAST_H
#define CTP_FILTER_LAST_H

#include "filter/filter.h"

enum { CTP_FILTER_LAST_SECTIONS = 1 << 24 };

struct ctp_filter_last {
	struct ctp_sink sink; /* for the pass; needs no free */
	uint64_t *ns; /* by section: its last time */
	size_t n, room;
};

void ctp_filter_last_init(struct ctp_filter_last *l);
void ctp_filter_last_fini(struct ctp_filter_last *l);

/* After the pass, once: the times so much earlier, for ctp_filter_options. They are l's. */
struct ctp_filter_numbers ctp_filter_last_starts(struct ctp_filter_last *l, uint64_t before_ns);

#endif
