/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html-gaps.h - when transitions of threads are missing, for the page.
 *
 * The number of gaps is limited. After that, the newest gap of a thread is extended to the end of the next one: the page then shows
 * too much as unknown, never too little.
 */
#ifndef CTP_HTML_GAPS_H
#define CTP_HTML_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CTP_HTML_GAPS_MAX = 1 << 18 }; /* and one more for each thread */

struct ctp_html_gap {
	uint64_t after_ns, ts_ns, transitions;
	uint32_t thread; /* the caller's number */
};

struct ctp_html_gaps {
	struct ctp_html_gap *list;
	uint32_t count;
	size_t room;
	uint32_t *newest; /* of each thread: its number in the list, plus 1 */
	size_t nthreads; /* room for these */
	bool failed; /* out of memory at some point */
};

void ctp_html_gaps_init(struct ctp_html_gaps *g);
void ctp_html_gaps_fini(struct ctp_html_gaps *g);
void ctp_html_gaps_add(struct ctp_html_gaps *g, uint32_t thread, uint64_t after_ns, uint64_t ts_ns, uint64_t transitions);

static inline bool ctp_html_gaps_has(const struct ctp_html_gaps *g, uint32_t thread)
{
	return thread < g->nthreads && g->newest[thread];
}

/* Sorts the gaps by thread and time. No gap can be added after that. */
void ctp_html_gaps_sort(struct ctp_html_gaps *g);

#endif
