/*
 * html-gaps.h - when transitions of threads are missing, for the page.
 *
 * There is room for so many gaps. Beyond that a thread's newest gap reaches on to the end of the next one: the page then shows more
 * as unknown than is, and never less.
 */
#ifndef CTP_HTML_GAPS_H
#define CTP_HTML_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CTP_HTML_GAPS_MAX = 1 << 18 }; /* and one for each thread besides */

struct ctp_html_gap {
	uint64_t after_ns, ts_ns, transitions;
	uint32_t thread; /* the caller's number */
};

struct ctp_html_gaps {
	struct ctp_html_gap *list;
	uint32_t count;
	size_t room;
	uint32_t *newest; /* of each thread: its place in the list, plus 1 */
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

/* Puts them in the order of threads and of times. Nothing can be added any more. */
void ctp_html_gaps_sort(struct ctp_html_gaps *g);

#endif
