/*
 * row-sort.c - a stable sort by time for a few thousand records, most of them from the same millisecond.
 *
 * What is sorted is one word for each row: time since the earliest in the high bits, the row's number in the low ones. The
 * number makes all words different, which keeps the insertion sort of the few stable; the radix sort of the many looks at the
 * time alone, and only at as many of its digits as differ.
 */
#include "collect/row-sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
	KEY_BITS = 64 - CTP_ROW_SORT_BITS,
	PASSES = (KEY_BITS + DIGIT_BITS - 1) / DIGIT_BITS,
	FEW = 48, /* below this an insertion sort is faster */
};

enum ctp_status ctp_row_sort_init(struct ctp_row_sort *b, struct ctp_err *err)
{
	*b = (struct ctp_row_sort){
		.rows = aligned_alloc(64, CTP_ROW_SORT_ROWS * sizeof(*b->rows)),
		.event = malloc(CTP_ROW_SORT_ROWS * sizeof(*b->event)),
		.ts_ns = malloc(CTP_ROW_SORT_ROWS * sizeof(*b->ts_ns)),
		.order = malloc(CTP_ROW_SORT_ROWS * sizeof(*b->order)),
		.scratch = malloc(CTP_ROW_SORT_ROWS * sizeof(*b->scratch)),
		.digits = malloc(PASSES * sizeof(*b->digits)),
	};
	if (b->rows && b->event && b->ts_ns && b->order && b->scratch && b->digits)
		return CTP_OK;
	ctp_row_sort_fini(b);
	return ctp_err_set(err, "out of memory");
}

void ctp_row_sort_fini(struct ctp_row_sort *b)
{
	free(b->digits);
	free(b->scratch);
	free(b->order);
	free(b->ts_ns);
	free(b->event);
	free(b->rows);
}

static void insertion_sort(uint64_t *v, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint64_t x = v[i];
		uint32_t j = i;
		for (; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

static void radix_sort(struct ctp_row_sort *b, unsigned passes)
{
	memset(b->digits, 0, passes * sizeof(*b->digits));
	for (uint32_t i = 0; i < b->count; i++) {
		uint64_t key = b->order[i] >> CTP_ROW_SORT_BITS;
		for (unsigned p = 0; p < passes; p++, key >>= DIGIT_BITS)
			b->digits[p][key % DIGITS]++;
	}
	for (unsigned p = 0; p < passes; p++) {
		uint32_t *start = b->digits[p], sum = 0;
		for (unsigned d = 0; d < DIGITS; d++) {
			uint32_t many = start[d];
			start[d] = sum;
			sum += many;
		}
		unsigned shift = CTP_ROW_SORT_BITS + p * DIGIT_BITS;
		for (uint32_t i = 0; i < b->count; i++)
			b->scratch[start[(b->order[i] >> shift) % DIGITS]++] = b->order[i];
		uint64_t *sorted = b->scratch;
		b->scratch = b->order;
		b->order = sorted;
	}
}

void ctp_row_sort_sort(struct ctp_row_sort *b, uint64_t now_ns)
{
	const uint64_t key_max = (UINT64_C(1) << KEY_BITS) - 1;
	uint64_t base = UINT64_MAX, last = 0, floor_ns = now_ns > key_max / 2 ? now_ns - key_max / 2 : 0;
	bool sorted = true;
	for (uint32_t i = 0; i < b->count; i++) {
		sorted &= b->ts_ns[i] >= last;
		base = b->ts_ns[i] < base ? b->ts_ns[i] : base;
		last = b->ts_ns[i] > last ? b->ts_ns[i] : last;
		b->order[i] = i;
	}
	if (sorted) /* as is usual where they come from one ring */
		return;
	base = base > floor_ns ? base : floor_ns;
	for (uint32_t i = 0; i < b->count; i++) {
		uint64_t key = b->ts_ns[i] > base ? b->ts_ns[i] - base : 0;
		b->order[i] = (key < key_max ? key : key_max) << CTP_ROW_SORT_BITS | i;
	}
	if (b->count < FEW) {
		insertion_sort(b->order, b->count);
		return;
	}
	uint64_t range = last > base ? last - base : 0;
	range = range < key_max ? range : key_max;
	unsigned passes = 0;
	for (; range; range >>= DIGIT_BITS)
		passes++;
	radix_sort(b, passes);
}
