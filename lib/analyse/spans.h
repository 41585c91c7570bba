/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * spans.h - how much time several spans cover together: time that two of them share counts once, time between them does not count.
 *
 * A span is on a line: the times of one clock, or all wall-clock times. Spans of different lines are never compared. At most
 * CTP_SPANS_MAX are kept. A further span that touches none of these counts in full.
 */
#ifndef CTP_SPANS_H
#define CTP_SPANS_H

#include <stdint.h>

#include "stream/record.h"

enum { CTP_SPANS_MAX = 1024 };

/* All zeros: none. */
struct ctp_spans {
	uint64_t beyond_ns; /* the sum of the spans that are not kept */
	uint32_t n;
	struct ctp_span {
		uint32_t line;
		uint64_t first, last;
	} at[CTP_SPANS_MAX]; /* in order, and apart from each other */
};

/* Where the times of a section are. */
struct ctp_line {
	uint32_t id;
	uint64_t offset_ns; /* to add to them */
};
struct ctp_line ctp_line_of(const struct ctp_section *sec);

void ctp_spans_add(struct ctp_spans *s, struct ctp_line line, uint64_t first_ns, uint64_t last_ns); /* first_ns <= last_ns */
uint64_t ctp_spans_ns(const struct ctp_spans *s);

#endif
