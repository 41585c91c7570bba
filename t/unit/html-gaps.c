/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-gaps.c - gaps of threads: those that touch are merged; beyond the limit, gaps grow to cover more time, never less. */
#include "html/html-gaps.h"

#include "html/html-pack.h"
#include "tap.h"

static bool is_gap(const struct ctp_html_gap *gap, uint32_t thread, uint64_t after, uint64_t ts, uint64_t transitions)
{
	return gap->thread == thread && gap->after_ns == after && gap->ts_ns == ts && gap->transitions == transitions;
}

static void test_few(void)
{
	struct ctp_html_gaps g;
	ctp_html_gaps_init(&g);
	ctp_html_gaps_add(&g, 70, 50, 60, 2);
	ctp_html_gaps_add(&g, 3, 10, 20, 5);
	ctp_html_gaps_add(&g, 3, 20, 30, 1);
	ctp_html_gaps_add(&g, 3, 25, 28, 1);
	ctp_html_gaps_add(&g, 3, 40, 45, 1);
	ctp_html_gaps_add(&g, 3, 50, 50, 1);
	ctp_html_gaps_add(&g, 4, 9, 8, 1);
	ok(ctp_html_gaps_has(&g, 3) && ctp_html_gaps_has(&g, 70), "threads with gaps are found");
	ok(!ctp_html_gaps_has(&g, 4) && !ctp_html_gaps_has(&g, 1000000), "threads without gaps, or with an empty one, are not");
	ctp_html_gaps_sort(&g);
	ok(g.count == 3 && is_gap(&g.list[0], 3, 10, 30, 7) && is_gap(&g.list[1], 3, 40, 45, 1) && is_gap(&g.list[2], 70, 50, 60, 2),
	   "gaps are sorted by thread and time, and those that touch are merged");
	ctp_html_gaps_fini(&g);
}

static void test_many(void)
{
	struct ctp_html_gaps g;
	ctp_html_gaps_init(&g);
	for (uint64_t i = 0; i < CTP_HTML_GAPS_MAX + 1000; i++)
		ctp_html_gaps_add(&g, 1, 10 * i, 10 * i + 5, 1);
	ctp_html_gaps_add(&g, 2, 7, 9, 1);
	ctp_html_gaps_sort(&g);
	ok(g.count == CTP_HTML_GAPS_MAX + 1 && !g.failed, "the limit holds, and another thread still gets its first gap");
	const struct ctp_html_gap *last = &g.list[CTP_HTML_GAPS_MAX - 1];
	ok(is_gap(last, 1, 10 * (CTP_HTML_GAPS_MAX - 1), 10 * (CTP_HTML_GAPS_MAX + 999ull) + 5, 1001),
	   "the last gap grows to cover the rest");
	ok(is_gap(last + 1, 2, 7, 9, 1), "the other thread's gap is kept");
	ctp_html_gaps_fini(&g);
}

static uint8_t out[200];
static size_t nout;

static void put(void *arg, const void *data, size_t len)
{
	(void)arg;
	memcpy(out + nout, data, len);
	nout += len;
}

/* Times before the page's start become the start; where two gaps of a thread overlap, the overlap is written once. */
static void test_written(void)
{
	struct ctp_html_gaps g;
	struct ctp_html_pack pack;
	const uint32_t numbers[] = {0, 0, 1};
	ctp_html_gaps_init(&g);
	ctp_html_pack_init(&pack, 10);
	ctp_html_gaps_add(&g, 2, 150, 170, 4);
	ctp_html_gaps_add(&g, 2, 90, 120, 3);
	ctp_html_gaps_add(&g, 2, 60, 115, 9);
	ctp_html_gaps_sort(&g);
	struct ctp_html_view view = {.t0_ns = 100, .threads = numbers, .nthreads = 3, .gaps = &g, .nshown = 2};
	ok(ctp_html_pack_write(&pack, &view, put, NULL), "a page without coroutines is written");
	/* thread 0: none; thread 1: 0 to 15 with 9, 15 to 20 with 3, 50 to 70 with 4 */
	const uint8_t want[] = {0, 3, 0, 15, 9, 0, 5, 3, 30, 20, 4};
	ok(nout == sizeof(want) && !memcmp(out, want, nout), "the page has the gaps of its threads");
	ctp_html_pack_fini(&pack);
	ctp_html_gaps_fini(&g);
}

int main(void)
{
	test_few();
	test_many();
	test_written();
	done_testing();
}
