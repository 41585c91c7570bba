/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * row-sort.c - a stable sort by time for a few thousand records, most of them from the same millisecond.
 *
 * Rows of one ring come in the order of time: a few rings are a few runs. What is sorted is one word for each row: time since the
 * earliest in the high bits, the row's number in the low ones. The number makes all words different, which keeps the merge of
 * the runs stable; the radix sort, where there are many runs, looks at the time alone, and only at as many of its digits as differ.
 */
#include "collect/row-sort.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/pages.h"

enum {
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
	KEY_BITS = 64 - CTP_ROW_SORT_BITS,
	PASSES = (KEY_BITS + DIGIT_BITS - 1) / DIGIT_BITS,
	RUNS = 8, /* above this the radix sort is faster */
};

enum ctp_status ctp_row_sort_init(struct ctp_row_sort *sort, struct ctp_err *err)
{
	*sort = (struct ctp_row_sort){
		.rows = ctp_pages_new(CTP_ROW_SORT_ROWS * sizeof *sort->rows),
		.event = ctp_pages_new(CTP_ROW_SORT_ROWS * sizeof *sort->event),
		.ts_ns = ctp_pages_new(CTP_ROW_SORT_ROWS * sizeof *sort->ts_ns),
		.order = ctp_pages_new(CTP_ROW_SORT_ROWS * sizeof *sort->order),
		.scratch = ctp_pages_new(CTP_ROW_SORT_ROWS * sizeof *sort->scratch),
		.digits = ctp_pages_new(PASSES * sizeof *sort->digits),
	};
	if (sort->rows && sort->event && sort->ts_ns && sort->order && sort->scratch && sort->digits)
		return CTP_OK;
	ctp_row_sort_fini(sort);
	return ctp_err_memory(err);
}

void ctp_row_sort_fini(struct ctp_row_sort *sort)
{
	ctp_pages_free(sort->digits, PASSES * sizeof *sort->digits);
	ctp_pages_free(sort->scratch, CTP_ROW_SORT_ROWS * sizeof *sort->scratch);
	ctp_pages_free(sort->order, CTP_ROW_SORT_ROWS * sizeof *sort->order);
	ctp_pages_free(sort->ts_ns, CTP_ROW_SORT_ROWS * sizeof *sort->ts_ns);
	ctp_pages_free(sort->event, CTP_ROW_SORT_ROWS * sizeof *sort->event);
	ctp_pages_free(sort->rows, CTP_ROW_SORT_ROWS * sizeof *sort->rows);
}

static void radix_sort(struct ctp_row_sort *sort, unsigned passes)
{
	assert(passes <= PASSES); /* make_words makes no longer times */
	memset(sort->digits, 0, passes * sizeof *sort->digits);
	for (uint32_t i = 0; i < sort->count; i++) {
		uint64_t key = sort->order[i] >> CTP_ROW_SORT_BITS;
		for (unsigned p = 0; p < passes; p++, key >>= DIGIT_BITS)
			sort->digits[p][key % DIGITS]++;
	}
	for (unsigned p = 0; p < passes; p++) {
		uint32_t *start = sort->digits[p], sum = 0;
		for (unsigned d = 0; d < DIGITS; d++) {
			uint32_t many = start[d];
			start[d] = sum;
			sum += many;
		}
		unsigned shift = CTP_ROW_SORT_BITS + p * DIGIT_BITS;
		for (uint32_t i = 0; i < sort->count; i++)
			sort->scratch[start[(sort->order[i] >> shift) % DIGITS]++] = sort->order[i];
		uint64_t *sorted = sort->scratch;
		sort->scratch = sort->order;
		sort->order = sorted;
	}
}

static uint64_t *merge(uint64_t *to, const uint64_t *a, const uint64_t *a_end, const uint64_t *b, const uint64_t *b_end)
{
	while (a != a_end && b != b_end) {
		bool first = *a < *b;
		*to++ = first ? *a : *b;
		a += first;
		b += !first;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
	to += a_end - a;
	memcpy(to, b, (size_t)(b_end - b) * sizeof *b);
	return to + (b_end - b);
}

/* start: of each of the n runs, and the end. */
static void merge_runs(struct ctp_row_sort *sort, uint32_t *start, unsigned n)
{
	assert(n <= RUNS && start[0] == 0 && start[n] == sort->count); /* as find_runs has them */
	while (n > 1) {
		unsigned left = 0;
		uint64_t *to = sort->scratch;
		for (unsigned k = 0; k < n; k += 2) {
			const uint64_t *middle = sort->order + start[k + 1], *end = k + 1 < n ? sort->order + start[k + 2] : middle;
			to = merge(to, sort->order + start[k], middle, middle, end);
			start[left++] = start[k];
		}
		start[left] = sort->count;
		n = left;
		uint64_t *sorted = sort->scratch;
		sort->scratch = sort->order;
		sort->order = sorted;
	}
}

/* Where each run begins, and the end. Returns how many there are; 0: more than RUNS. */
static unsigned find_runs(const struct ctp_row_sort *sort, uint32_t start[RUNS + 1])
{
	unsigned n = 1;
	start[0] = 0;
	for (uint32_t i = 1; i < sort->count; i++) {
		if (__builtin_expect(sort->ts_ns[i] >= sort->ts_ns[i - 1], 1))
			continue;
		if (n == RUNS)
			return 0;
		start[n++] = i;
	}
	start[n] = sort->count;
	return n;
}

/* The words to be sorted. Returns the largest time in them. */
static uint64_t make_words(struct ctp_row_sort *sort, uint64_t now_ns)
{
	const uint64_t key_max = (UINT64_C(1) << KEY_BITS) - 1;
	uint64_t base = UINT64_MAX, last = 0, floor_ns = now_ns > key_max / 2 ? now_ns - key_max / 2 : 0;
	for (uint32_t i = 0; i < sort->count; i++) {
		base = sort->ts_ns[i] < base ? sort->ts_ns[i] : base;
		last = sort->ts_ns[i] > last ? sort->ts_ns[i] : last;
	}
	base = base > floor_ns ? base : floor_ns;
	for (uint32_t i = 0; i < sort->count; i++) {
		uint64_t key = sort->ts_ns[i] > base ? sort->ts_ns[i] - base : 0;
		sort->order[i] = (key < key_max ? key : key_max) << CTP_ROW_SORT_BITS | i;
	}
	uint64_t range = last > base ? last - base : 0;
	return range < key_max ? range : key_max;
}

void ctp_row_sort_sort(struct ctp_row_sort *sort, uint64_t now_ns)
{
	assert(sort->count <= CTP_ROW_SORT_ROWS); /* a row's number has CTP_ROW_SORT_BITS bits */
	uint32_t start[RUNS + 1];
	unsigned runs = find_runs(sort, start), passes = 0;
	sort->sorted = runs == 1; /* as is usual where they come from one ring */
	if (sort->sorted)
		return;
	uint64_t range = make_words(sort, now_ns);
	for (; range; range >>= DIGIT_BITS)
		passes++;
	if (runs)
		merge_runs(sort, start, runs);
	else
		radix_sort(sort, passes);
}
