/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* spans.c - how much time several spans cover together. */
#include "analyse/spans.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/capped.h"
#include "base/compare.h"
#include "base/crc32c.h"

/* Whether a ends before b begins. */
static bool is_before(const struct ctp_span *a, const struct ctp_span *b)
{
	return a->line < b->line || (a->line == b->line && a->last < b->first);
}

static void add_span(struct ctp_spans *s, struct ctp_span add)
{
	uint32_t from = 0, upto;
	while (from < s->n && is_before(&s->at[from], &add))
		from++;
	for (upto = from; upto < s->n && !is_before(&add, &s->at[upto]); upto++) {
		add.first = ctp_least(add.first, s->at[upto].first);
		add.last = ctp_most(add.last, s->at[upto].last);
	}
	if (upto == from && s->n == CTP_SPANS_MAX) {
		ctp_add_capped(&s->beyond_ns, add.last - add.first);
		return;
	}
	memmove(&s->at[from + 1], &s->at[upto], (s->n - upto) * sizeof *s->at);
	s->at[from] = add;
	s->n += 1 + from - upto;
	assert(s->n <= CTP_SPANS_MAX && add.first <= add.last);
	assert(!from || is_before(&s->at[from - 1], &add));
	assert(from + 1 == s->n || is_before(&add, &s->at[from + 1]));
}

void ctp_spans_add(struct ctp_spans *s, struct ctp_line line, uint64_t first_ns, uint64_t last_ns)
{
	assert(first_ns <= last_ns);
	uint64_t first = first_ns + line.offset_ns, last = last_ns + line.offset_ns;
	if (first <= last)
		add_span(s, (struct ctp_span){line.id, first, last});
	else
		ctp_add_capped(&s->beyond_ns, last_ns - first_ns); /* beyond any calendar */
}

uint64_t ctp_spans_ns(const struct ctp_spans *s)
{
	uint64_t ns = s->beyond_ns;
	for (uint32_t i = 0; i < s->n; i++)
		ctp_add_capped(&ns, s->at[i].last - s->at[i].first);
	return ns;
}

static uint32_t sum_of(uint32_t sum, const char *text) { return text ? ctp_crc32c(sum, text, strlen(text) + 1) : sum; }

/*
 * All wall-clock times are on one line, whose middle is 1970. Any other clock has a line of its own: one for each host, or for each
 * process if the clock is a process's own.
 */
struct ctp_line ctp_line_of(const struct ctp_section *sec)
{
	if (sec->has_wall)
		return (struct ctp_line){.offset_ns = (uint64_t)sec->wall_offset_ns + (UINT64_C(1) << 63)};
	const char *clock = ctp_section_get(sec, "clock");
	uint32_t sum = sum_of(sum_of(0, clock), ctp_section_get(sec, "host"));
	return (struct ctp_line){.id = (clock && strstr(clock, "cputime") ? sum_of(sum, ctp_section_get(sec, "pid")) : sum) | 1};
}
