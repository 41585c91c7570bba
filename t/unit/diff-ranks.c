/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* diff-ranks.c - p of the rank test is that of all orders counted one by one; corrections; quantiles of the histogram. */
#include "diff/diff-ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "diff/diff-hist.h"
#include "tap.h"

static uint64_t state = 88172645463325252;
static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static double rank2(const double *v, uint32_t n, double x)
{
	double below = 0, equal = 0;
	for (uint32_t i = 0; i < n; i++) {
		below += v[i] < x;
		equal += v[i] <= x && v[i] >= x;
	}
	return 2 * below + equal + 1;
}

/* Each way to choose the first sample, as the bits of a number. */
static double brute_p(const double *v, uint32_t na, uint32_t n)
{
	double ranks[24], mine = 0, all = 0, below = 0, above = 0;
	for (uint32_t i = 0; i < n; i++)
		ranks[i] = rank2(v, n, v[i]);
	for (uint32_t i = 0; i < na; i++)
		mine += ranks[i];
	for (uint32_t set = 0; set < UINT32_C(1) << n; set++) {
		double sum = 0;
		if (__builtin_popcount(set) != (int)na)
			continue;
		for (uint32_t i = 0; i < n; i++)
			sum += set >> i & 1 ? ranks[i] : 0;
		all++;
		below += sum <= mine;
		above += sum >= mine;
	}
	return fmin(1, 2 * fmin(below, above) / all);
}

static void test_exact(void)
{
	struct ctp_ranks r = {0};
	double worst = 0, v[24];
	for (int i = 0; i < 400; i++) {
		uint32_t na = 1 + random64() % 6, nb = 1 + random64() % 6, ties = 1 + random64() % 40;
		for (uint32_t k = 0; k < na + nb; k++)
			v[k] = (double)(random64() % ties);
		double off = fabs(ctp_ranks_p(&r, v, na, v + na, nb) - brute_p(v, na, na + nb));
		worst = fmax(worst, off);
	}
	ok(worst < 1e-12, "p is that of all orders, with and without ties");
	ctp_ranks_fini(&r);
}

static void test_known(void)
{
	struct ctp_ranks r = {0};
	double v[200];
	for (int i = 0; i < 200; i++)
		v[i] = i;
	ok(fabs(ctp_ranks_p(&r, v, 5, v + 5, 5) - 2.0 / 252) < 1e-12, "five before five: 2 of 252 orders");
	ok(fabs(ctp_ranks_p(&r, v, 3, v + 3, 3) - 0.1) < 1e-12, "three before three show nothing");
	ok(ctp_ranks_p(&r, v, 0, v, 5) >= 1, "an empty sample shows nothing");
	ok(ctp_ranks_p(&r, v, 1, v + 1, 1) >= 1, "nor does one of each");
	for (uint32_t n = 1; n < 12; n++)
		if (fabs(ctp_ranks_least_p(n, n + 2) - ctp_ranks_p(&r, v, n, v + n, n + 2)) > 1e-12)
			ok(false, "the least p of %u and %u", n, n + 2);
	/* The same samples, once counted and once, with others far away that make them too many, by the normal distribution. */
	double a[40], b[40];
	for (int i = 0; i < 40; i++) {
		a[i] = 3 * i;
		b[i] = 3 * i + 14;
	}
	double counted = ctp_ranks_p(&r, a, 15, b, 15), nearly = ctp_ranks_p(&r, a, 16, b, 16);
	ok(counted > 0.01 && counted < 0.2 && nearly > 0.01 && nearly < 0.2 && fabs(counted - nearly) < 0.05,
	   "the approximation is close to what is counted: %f, %f", counted, nearly);
	ctp_ranks_fini(&r);
}

static void test_adjust(void)
{
	double p[] = {0.01, 0.04, 0.03, 0.5, 0.02};
	const double want[] = {0.05, 0.05, 0.05, 0.5, 0.05};
	const double even[] = {1, 1, 1, 1, 1};
	ok(ctp_ranks_adjust(p, even, 5), "there is memory");
	bool right = true;
	for (int i = 0; i < 5; i++)
		right &= fabs(p[i] - want[i]) < 1e-12;
	ok(right, "Benjamini and Hochberg: the share of false alarms");
	double one[] = {0.03};
	ok(ctp_ranks_adjust(one, even, 1) && fabs(one[0] - 0.03) < 1e-12, "a single test is not corrected");
	ok(ctp_ranks_adjust(one, even, 0), "nor are none");
	double q[] = {0.01, 0.01, 0.9};
	const double shares[] = {2, 0.5, 0.5}, corrected[] = {0.015, 0.03, 1};
	ok(ctp_ranks_adjust(q, shares, 3), "there is memory");
	for (int i = 0; i < 3; i++)
		ok(fabs(q[i] - corrected[i]) < 1e-12, "with weights, p %d", i);
}

static int by_value(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
	return (p > q) - (p < q);
}

static void test_hist(void)
{
	enum { N = 2001 };
	static uint64_t v[N];
	double worst = 0;
	for (int round = 0; round < 60; round++) {
		struct ctp_diff_hist h = {0}, parts[2] = {{0}, {0}};
		for (int i = 0; i < N; i++) {
			v[i] = random64() >> (random64() % 20 + (unsigned)round % 44);
			bool added = ctp_diff_hist_add(&h, v[i]) && ctp_diff_hist_add(&parts[i % 3 == 0], v[i]);
			if (!added)
				ok(false, "there is memory");
		}
		qsort(v, N, sizeof *v, by_value);
		bool merged = ctp_diff_hist_merge(&parts[0], &parts[1]);
		for (double share = 0; share <= 1; share += 0.01) {
			double got = ctp_diff_hist_quantile(&h, share);
			size_t at = (size_t)(share * N) < N ? (size_t)(share * N) : N - 1;
			worst = fmax(worst, fabs(got - (double)v[at]) / fmax(1, (double)v[at]));
			merged &= got <= ctp_diff_hist_quantile(&parts[0], share) && got >= ctp_diff_hist_quantile(&parts[0], share);
		}
		if (!merged || parts[0].count != N)
			ok(false, "two parts are the whole");
		ctp_diff_hist_fini(&h);
		ctp_diff_hist_fini(&parts[0]);
		ctp_diff_hist_fini(&parts[1]);
	}
	ok(worst <= 0.002, "a quantile is off by at most 0.2 %%: %f", worst);
	struct ctp_diff_hist one = {0};
	ok(ctp_diff_hist_add(&one, UINT64_MAX) && ctp_diff_hist_add(&one, 0), "the longest and the shortest have a bucket");
	ok(ctp_diff_hist_quantile(&one, 0) <= 0 && ctp_diff_hist_quantile(&one, 1) > 1.8e19, "and are its quantiles");
	ctp_diff_hist_fini(&one);
}

int main(void)
{
	test_exact();
	test_known();
	test_adjust();
	test_hist();
	return done_testing();
}
