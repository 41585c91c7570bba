/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff-hist.h - a histogram of durations for comparisons: 256 buckets for each power of two, so that a quantile is off by at most
 * 0.2 %. base/hist.h has eight, which are too few to see a difference of a few percent.
 *
 * Durations of one place have few powers of two between them, and only these have memory.
 */
#ifndef CTP_DIFF_HIST_H
#define CTP_DIFF_HIST_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CTP_DIFF_HIST_BITS = 8,
	CTP_DIFF_HIST_STEPS = 1 << CTP_DIFF_HIST_BITS,
	CTP_DIFF_HIST_OCTAVES = 64 - CTP_DIFF_HIST_BITS + 1,
};

/* All zeros: empty. */
struct ctp_diff_hist {
	uint64_t count, total_ns;
	uint32_t *octave[CTP_DIFF_HIST_OCTAVES]; /* CTP_DIFF_HIST_STEPS counts each; null: all are 0 */
};

bool ctp_diff_hist_add(struct ctp_diff_hist *h, uint64_t ns); /* false: out of memory */
bool ctp_diff_hist_merge(struct ctp_diff_hist *sum, const struct ctp_diff_hist *h);
void ctp_diff_hist_fini(struct ctp_diff_hist *h);

/*
 * The duration with this share of all before it, in their order: the middle of its bucket, so that durations which are all the same
 * have the same quantiles, however many they are. The share is from 0 to 1, and the histogram is not empty.
 */
double ctp_diff_hist_quantile(const struct ctp_diff_hist *h, double share);

#endif
