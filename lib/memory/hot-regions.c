/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* hot-regions.c - a heap: what is cooler than the coolest that is kept never comes in. */
#include "memory/hot-regions.h"

#include <stdlib.h>

static bool cooler(const struct ctp_hot_region *a, const struct ctp_hot_region *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->region.born > b->region.born;
}

static void swap(struct ctp_hot_region *a, struct ctp_hot_region *b)
{
	struct ctp_hot_region was = *a;
	*a = *b;
	*b = was;
}

static void sink_down(struct ctp_hot_regions *h, uint32_t i)
{
	for (uint32_t least = i;; i = least) {
		for (uint32_t child = 2 * i + 1; child < h->n && child <= 2 * i + 2; child++)
			if (cooler(&h->hot[child], &h->hot[least]))
				least = child;
		if (least == i)
			return;
		swap(&h->hot[i], &h->hot[least]);
	}
}

void ctp_hot_regions_note(struct ctp_hot_regions *h, const struct ctp_region *region, uint64_t cost, bool alive)
{
	struct ctp_hot_region one = {.region = *region, .cost = cost, .alive = alive};
	if (!cost)
		return;
	if (h->n == CTP_HOT_REGIONS) {
		if (cooler(&one, &h->hot[0]))
			return;
		h->hot[0] = one;
		sink_down(h, 0);
		return;
	}
	uint32_t i = h->n++;
	h->hot[i] = one;
	for (; i && cooler(&h->hot[i], &h->hot[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&h->hot[i], &h->hot[(i - 1) / 2]);
}

static int compare(const void *a, const void *b) { return cooler(a, b) ? 1 : -1; }

void ctp_hot_regions_sort(struct ctp_hot_regions *h)
{
	if (h->n)
		qsort(h->hot, h->n, sizeof *h->hot, compare);
}
