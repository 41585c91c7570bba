/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * hist.h - a histogram of durations: eight buckets for each power of two, so that a quantile is off by at most an eighth.
 */
#ifndef CTP_HIST_H
#define CTP_HIST_H

#include <stdint.h>

enum {
	CTP_HIST_FINE_BITS = 3,
	CTP_HIST_FINE = 1 << CTP_HIST_FINE_BITS,
	CTP_HIST_BUCKETS = (64 - CTP_HIST_FINE_BITS + 1) * CTP_HIST_FINE,
};

struct ctp_hist {
	uint64_t count, total_ns, max_ns;
	uint32_t bucket[CTP_HIST_BUCKETS];
};

static inline unsigned ctp_hist_bucket(uint64_t ns)
{
	if (ns < CTP_HIST_FINE)
		return (unsigned)ns;
	unsigned shift = 63 - (unsigned)__builtin_clzll(ns) - CTP_HIST_FINE_BITS;
	return (shift << CTP_HIST_FINE_BITS) + (unsigned)(ns >> shift);
}

static inline void ctp_hist_add(struct ctp_hist *h, uint64_t ns)
{
	h->count++;
	h->total_ns += ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	uint32_t *bucket = &h->bucket[ctp_hist_bucket(ns)];
	*bucket += *bucket < UINT32_MAX;
}

void ctp_hist_merge(struct ctp_hist *sum, const struct ctp_hist *h);

/* The duration that a share of all, from 0 to 1, does not exceed; 0 of an empty histogram. */
uint64_t ctp_hist_quantile(const struct ctp_hist *h, double share);

#endif
