/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* hist.c - quantiles of a histogram. */
#include "base/hist.h"

#include <assert.h>

/* The largest duration of the bucket. */
static uint64_t bucket_top(unsigned bucket)
{
	if (bucket < 2 * CTP_HIST_FINE)
		return bucket;
	unsigned shift = bucket / CTP_HIST_FINE - 1;
	uint64_t base = bucket % CTP_HIST_FINE + CTP_HIST_FINE;
	return ((base + 1) << shift) - 1;
}

uint64_t ctp_hist_quantile(const struct ctp_hist *h, double share)
{
	assert(share >= 0 && share <= 1);
	uint64_t below = 0, wanted = (uint64_t)(share * (double)h->count);
	if (!h->count)
		return 0;
	for (unsigned i = 0; i < CTP_HIST_BUCKETS; i++) {
		below += h->bucket[i];
		if (below > wanted || below >= h->count)
			return bucket_top(i) < h->max_ns ? bucket_top(i) : h->max_ns;
	}
	return h->max_ns;
}

void ctp_hist_merge(struct ctp_hist *sum, const struct ctp_hist *h)
{
	sum->count += h->count;
	sum->total_ns += h->total_ns;
	sum->max_ns = h->max_ns > sum->max_ns ? h->max_ns : sum->max_ns;
	for (unsigned i = 0; i < CTP_HIST_BUCKETS; i++)
		sum->bucket[i] = h->bucket[i] > UINT32_MAX - sum->bucket[i] ? UINT32_MAX : sum->bucket[i] + h->bucket[i];
}
