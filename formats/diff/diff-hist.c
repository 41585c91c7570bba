/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* diff-hist.c - the buckets of a histogram, and quantiles. */
#include "diff/diff-hist.h"

#include <assert.h>
#include <stdlib.h>

#include "base/capped.h"

/* Octave 0 has the durations below CTP_DIFF_HIST_STEPS, each alone. Octave n has those of a further bit, in steps of 2^(n - 1). */
static unsigned octave_of(uint64_t ns)
{
	return ns < CTP_DIFF_HIST_STEPS ? 0 : 64 - (unsigned)__builtin_clzll(ns) - CTP_DIFF_HIST_BITS;
}

static unsigned step_of(uint64_t ns, unsigned octave)
{
	return octave ? (unsigned)(ns >> (octave - 1)) - CTP_DIFF_HIST_STEPS : (unsigned)ns;
}

static uint32_t *steps(struct ctp_diff_hist *h, unsigned octave)
{
	assert(octave < CTP_DIFF_HIST_OCTAVES);
	if (!h->octave[octave])
		h->octave[octave] = calloc(CTP_DIFF_HIST_STEPS, sizeof *h->octave[octave]);
	return h->octave[octave];
}

bool ctp_diff_hist_add(struct ctp_diff_hist *h, uint64_t ns)
{
	unsigned octave = octave_of(ns), step = step_of(ns, octave);
	uint32_t *counts = steps(h, octave);
	assert(step < CTP_DIFF_HIST_STEPS);
	if (!counts)
		return false;
	counts[step] += counts[step] < UINT32_MAX;
	h->count++;
	ctp_add_capped(&h->total_ns, ns);
	return true;
}

bool ctp_diff_hist_merge(struct ctp_diff_hist *sum, const struct ctp_diff_hist *h)
{
	for (unsigned octave = 0; octave < CTP_DIFF_HIST_OCTAVES; octave++) {
		uint32_t *counts = h->octave[octave] ? steps(sum, octave) : NULL;
		if (h->octave[octave] && !counts)
			return false;
		for (unsigned i = 0; counts && i < CTP_DIFF_HIST_STEPS; i++)
			counts[i] = h->octave[octave][i] > UINT32_MAX - counts[i] ? UINT32_MAX : counts[i] + h->octave[octave][i];
	}
	sum->count += h->count;
	ctp_add_capped(&sum->total_ns, h->total_ns);
	return true;
}

void ctp_diff_hist_fini(struct ctp_diff_hist *h)
{
	for (unsigned octave = 0; octave < CTP_DIFF_HIST_OCTAVES; octave++)
		free(h->octave[octave]);
	*h = (struct ctp_diff_hist){0};
}

static double middle(unsigned octave, unsigned step)
{
	double width = octave ? (double)(UINT64_C(1) << (octave - 1)) : 1;
	return octave ? (CTP_DIFF_HIST_STEPS + step) * width + (width - 1) / 2 : step;
}

double ctp_diff_hist_quantile(const struct ctp_diff_hist *h, double share)
{
	assert(share >= 0 && share <= 1 && h->count);
	uint64_t wanted = (uint64_t)(share * (double)h->count), before = 0;
	double last = 0;
	for (unsigned octave = 0; octave < CTP_DIFF_HIST_OCTAVES; octave++)
		for (unsigned i = 0; h->octave[octave] && i < CTP_DIFF_HIST_STEPS; i++) {
			if (!h->octave[octave][i])
				continue;
			last = middle(octave, i);
			before += h->octave[octave][i];
			if (before > wanted)
				return last;
		}
	return last; /* share is 1, or a bucket is full */
}
