/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* spans: the union of many random spans, compared with a bitmap of nanoseconds; and which sections share a time line. */
#include "analyse/spans.h"

#include <string.h>

#include "tap.h"

enum { LINES = 3, LENGTH = 200, ROUNDS = 2000, EACH = 30 };

static uint64_t seed = 1;

static uint64_t chance(uint64_t n)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed % n;
}

static uint64_t count(bool board[LINES][LENGTH])
{
	uint64_t n = 0;
	for (int i = 0; i < LINES; i++)
		for (int k = 0; k < LENGTH; k++)
			n += board[i][k];
	return n;
}

static void test_chance(void)
{
	static struct ctp_spans s;
	uint64_t wrong = 0;
	for (int round = 0; round < ROUNDS; round++) {
		bool board[LINES][LENGTH] = {{0}};
		memset(&s, 0, sizeof s);
		for (uint64_t n = chance(EACH); n; n--) {
			uint32_t line = (uint32_t)chance(LINES);
			uint64_t first = chance(LENGTH), last = first + chance(LENGTH - first < 40 ? LENGTH - first : 40);
			ctp_spans_add(&s, (struct ctp_line){.id = line}, first, last);
			memset(&board[line][first], 1, last - first);
			wrong += ctp_spans_ns(&s) != count(board);
		}
	}
	is_u64(wrong, 0, "random spans in any order have the right sum");
}

static void test_many(void)
{
	static struct ctp_spans s;
	struct ctp_line line = {0};
	for (uint64_t i = 0; i < CTP_SPANS_MAX; i++)
		ctp_spans_add(&s, line, 10 * i, 10 * i + 5);
	ctp_spans_add(&s, line, 1000000, 1000007);
	is_u64(ctp_spans_ns(&s), 5 * CTP_SPANS_MAX + 7, "more spans than are kept have the right sum");
	ctp_spans_add(&s, line, 0, 10 * CTP_SPANS_MAX);
	is_u64(ctp_spans_ns(&s), 10 * CTP_SPANS_MAX + 7, "a span over all kept ones has the right sum");
	ctp_spans_add(&s, line, 0, UINT64_MAX);
	is_u64(ctp_spans_ns(&s), UINT64_MAX, "the longest span has the right sum");
}

/* Spans 0 to 10 and 5 to 15 of two sections, with the attributes "name=value ...". */
static uint64_t together(const char *a, const char *b)
{
	static struct ctp_spans s;
	memset(&s, 0, sizeof s);
	const char *attrs[2] = {a, b};
	for (int i = 0; i < 2; i++) {
		static struct ctp_section sec;
		char text[200], *at = text, *word;
		snprintf(text, sizeof text, "%s", attrs[i]);
		ctp_section_init(&sec);
		while ((word = strsep(&at, " ")))
			ctp_section_add(&sec, word, strsep(&at, " "));
		ctp_spans_add(&s, ctp_line_of(&sec), i ? 5 : 0, i ? 15 : 10);
		ctp_section_fini(&sec);
	}
	return ctp_spans_ns(&s);
}

int main(void)
{
	test_chance();
	test_many();
	is_u64(together("clock monotonic", "clock monotonic"), 15, "sections of one clock share a line");
	is_u64(together("clock monotonic", "clock boottime"), 20, "sections of two clocks do not");
	is_u64(together("clock monotonic host a", "clock monotonic host b"), 20, "sections of two machines do not");
	is_u64(together("clock monotonic host a wall_offset_ns 7", "clock realtime host b wall_offset_ns 7"), 15,
	       "sections with wall-clock times share a line");
	is_u64(together("clock monotonic wall_offset_ns 7", "clock monotonic wall_offset_ns -3"), 15,
	       "their offsets may be in either order");
	is_u64(together("clock monotonic wall_offset_ns 5", "clock monotonic wall_offset_ns 0"), 10,
	       "their offsets may make them equal");
	is_u64(together("clock monotonic wall_offset_ns 5", "clock monotonic"), 20,
	       "a section with a wall-clock time and one without do not share a line");
	is_u64(together("clock process_cputime pid 1", "clock process_cputime pid 1"), 15, "CPU times of one process share a line");
	is_u64(together("clock process_cputime pid 1", "clock process_cputime pid 2"), 20, "CPU times of two processes do not");
	is_u64(together("wall_offset_ns 9223372036854775807", "wall_offset_ns -9223372036854775808"), 20,
	       "the largest offsets do not overflow");
	done_testing();
}
