/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff-ranks.c - ranks, and how often each sum of ranks occurs.
 *
 * Ranks are doubled: values that are equal share the mean of their ranks, which may end in a half.
 */
#include "diff/diff-ranks.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct value {
	double value;
	bool of_a;
};

static int by_value(const void *a, const void *b)
{
	double p = ((const struct value *)a)->value, q = ((const struct value *)b)->value;
	return (p > q) - (p < q);
}

void ctp_ranks_fini(struct ctp_ranks *r)
{
	free(r->ways);
	*r = (struct ctp_ranks){0};
}

/* Counts, by sum, the ways to take k of n ranks. ways[j] has those to take j of the ranks so far. */
static bool count_ways(struct ctp_ranks *r, const uint32_t *ranks, uint32_t n, uint32_t k)
{
	size_t sums = (size_t)n * (n + 1) + 1;
	if (r->ways && r->n == n && r->k == k && !memcmp(r->ranks, ranks, n * sizeof *ranks))
		return true;
	double *ways = calloc((k + 1) * sums, sizeof *ways);
	ctp_ranks_fini(r);
	if (!ways)
		return false;
	ways[0] = 1;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i < k ? i + 1 : k; j > 0; j--)
			for (size_t s = ranks[i]; s < sums; s++)
				ways[j * sums + s] += ways[(j - 1) * sums + s - ranks[i]];
	memmove(ways, ways + k * sums, sums * sizeof *ways);
	memcpy(r->ranks, ranks, n * sizeof *ranks);
	r->n = n;
	r->k = k;
	r->ways = ways;
	return true;
}

static double exact(struct ctp_ranks *r, const uint32_t *ranks, uint32_t n, uint32_t k, uint64_t sum)
{
	double below = 0, above = 0, all = 0;
	if (!count_ways(r, ranks, n, k))
		return -1;
	for (size_t s = 0; s <= (size_t)n * (n + 1); s++) {
		all += r->ways[s];
		below += s <= sum ? r->ways[s] : 0;
		above += s >= sum ? r->ways[s] : 0;
	}
	assert(all > 0 && below + above > all);
	return fmin(1, 2 * fmin(below, above) / all);
}

/* ties: the sum of t^3 - t over all groups of t equal values. */
static double nearly(uint32_t n, uint32_t k, uint64_t sum, double ties)
{
	double mean = (double)k * (n + 1) / 2, of = (double)n * (n - 1);
	double variance = (double)k * (n - k) / 12 * (n + 1 - ties / of);
	double off = fabs((double)sum / 2 - mean) - 0.5;
	return variance > 0 && off > 0 ? erfc(off / sqrt(2 * variance)) : 1;
}

double ctp_ranks_p(struct ctp_ranks *r, const double *a, uint32_t na, const double *b, uint32_t nb)
{
	struct value all[CTP_RANKS_MAX];
	uint32_t ranks[CTP_RANKS_MAX], n = na + nb;
	uint64_t sum = 0;
	double ties = 0;
	assert(na <= CTP_RANKS_MAX && nb <= CTP_RANKS_MAX - na);
	if (!na || !nb)
		return 1;
	for (uint32_t i = 0; i < n; i++)
		all[i] = (struct value){i < na ? a[i] : b[i - na], i < na};
	qsort(all, n, sizeof *all, by_value);
	for (uint32_t i = 0, upto; i < n; i = upto) {
		for (upto = i + 1; upto < n && all[upto].value <= all[i].value;)
			upto++;
		double equal = upto - i;
		ties += equal * equal * equal - equal;
		for (uint32_t k = i; k < upto; k++) {
			ranks[k] = i + 1 + upto; /* twice the mean of i + 1 to upto */
			sum += all[k].of_a ? ranks[k] : 0;
		}
	}
	return n <= CTP_RANKS_EXACT ? exact(r, ranks, n, na, sum) : nearly(n, na, sum, ties);
}

double ctp_ranks_least_p(uint32_t na, uint32_t nb)
{
	double ways = 1, less = na < nb ? na : nb, more = na < nb ? nb : na;
	for (double i = 1; i <= less; i++)
		ways *= (more + i) / i;
	return ways > 2 ? 2 / ways : 1;
}

struct test {
	double p;
	size_t number;
};

static int largest_first(const void *a, const void *b)
{
	double p = ((const struct test *)a)->p, q = ((const struct test *)b)->p;
	return (p < q) - (p > q);
}

bool ctp_ranks_adjust(double *p, const double *weights, size_t n)
{
	struct test *tests = malloc((n + 1) * sizeof *tests);
	double least = 1;
	if (!tests)
		return false;
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct test){p[i] / weights[i], i};
	qsort(tests, n, sizeof *tests, largest_first);
	for (size_t i = 0; i < n; i++) {
		least = fmin(least, tests[i].p * (double)n / (double)(n - i));
		p[tests[i].number] = least;
	}
	free(tests);
	return true;
}
