/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-gaps.c - when transitions of threads are missing. */
#include "html/html-gaps.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void ctp_html_gaps_init(struct ctp_html_gaps *g) { *g = (struct ctp_html_gaps){0}; }

void ctp_html_gaps_fini(struct ctp_html_gaps *g)
{
	free(g->list);
	free(g->newest);
}

/* Room for one more gap of this thread. */
static bool make_room(struct ctp_html_gaps *g, uint32_t thread)
{
	size_t before = g->nthreads;
	if (!CTP_ARRAY_RESERVE(g->newest, g->nthreads, (size_t)thread + 1, UINT32_MAX))
		return false;
	if (g->nthreads > before)
		memset(g->newest + before, 0, (g->nthreads - before) * sizeof *g->newest);
	return CTP_ARRAY_RESERVE(g->list, g->room, g->count + 1, UINT32_MAX);
}

void ctp_html_gaps_add(struct ctp_html_gaps *g, uint32_t thread, uint64_t after_ns, uint64_t ts_ns, uint64_t transitions)
{
	if (ts_ns <= after_ns)
		return;
	if (!make_room(g, thread)) {
		g->failed = true;
		return;
	}
	struct ctp_html_gap *last = g->newest[thread] ? &g->list[g->newest[thread] - 1] : NULL;
	bool touches = last && after_ns <= last->ts_ns && after_ns >= last->after_ns;
	if (touches || (last && g->count >= CTP_HTML_GAPS_MAX)) {
		last->after_ns = after_ns < last->after_ns ? after_ns : last->after_ns;
		last->ts_ns = ts_ns > last->ts_ns ? ts_ns : last->ts_ns;
		last->transitions += transitions;
		return;
	}
	g->list[g->count] = (struct ctp_html_gap){after_ns, ts_ns, transitions, thread};
	g->newest[thread] = ++g->count;
}

static int by_thread(const void *a, const void *b)
{
	const struct ctp_html_gap *p = a, *q = b;
	if (p->thread != q->thread)
		return (p->thread > q->thread) - (p->thread < q->thread);
	return (p->after_ns > q->after_ns) - (p->after_ns < q->after_ns);
}

void ctp_html_gaps_sort(struct ctp_html_gaps *g)
{
	if (g->count)
		qsort(g->list, g->count, sizeof *g->list, by_thread);
}
