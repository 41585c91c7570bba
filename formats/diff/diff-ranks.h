/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff-ranks.h - whether two samples differ: the rank test of Mann and Whitney, and the correction for many tests at once.
 *
 * The test asks how likely it is that the values of one sample are so much larger as they are, if all of them are equally likely in
 * each order. It assumes nothing about how the values are spread. Up to CTP_RANKS_EXACT values all orders are counted, with ties as
 * they are; beyond that, the usual approximation by a normal distribution is close.
 */
#ifndef CTP_DIFF_RANKS_H
#define CTP_DIFF_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CTP_RANKS_EXACT = 30, CTP_RANKS_MAX = 4096 };

/* The distribution for the ranks of the last test, which most tests share. All zeros at first. */
struct ctp_ranks {
	uint32_t ranks[CTP_RANKS_EXACT], n, k;
	double *ways; /* by sum of ranks: in how many ways k of them have it */
};
void ctp_ranks_fini(struct ctp_ranks *r);

/*
 * The two-sided p of the difference of two samples that have CTP_RANKS_MAX values at most together; 1 if one of them is empty. Less
 * than 0: out of memory.
 */
double ctp_ranks_p(struct ctp_ranks *r, const double *a, uint32_t na, const double *b, uint32_t nb);

/* The smallest p that samples of these sizes can have: that of two that do not overlap. */
double ctp_ranks_least_p(uint32_t na, uint32_t nb);

/*
 * Benjamini and Hochberg: p of n tests becomes the share of false alarms that are to be expected among all tests with a p as small
 * or smaller. If nothing differs at all, it is at most the probability of any alarm. With weights, as Genovese, Roeder and
 * Wasserman have them: each p is divided by its weight first. The mean of the weights is 1, and they must not depend on which
 * sample is which. False: out of memory.
 */
bool ctp_ranks_adjust(double *p, const double *weights, size_t n);

#endif
