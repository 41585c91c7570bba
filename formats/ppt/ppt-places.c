/* ppt-places.c - frames back into the order of their places, through a heap. */
#include "ppt/ppt-places.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"

void ctp_ppt_places_init(struct ctp_ppt_places *p, struct ctp_output *out, uint32_t size)
{
	*p = (struct ctp_ppt_places){.out = out, .size = size, .limit = CTP_PPT_PLACES_BYTES / (size + (uint32_t)sizeof *p->heap)};
}

void ctp_ppt_places_fini(struct ctp_ppt_places *p)
{
	free(p->heap);
	free(p->slots);
	p->heap = NULL;
	p->slots = NULL;
}

static void swap(struct ctp_ppt_held *a, struct ctp_ppt_held *b)
{
	struct ctp_ppt_held was = *a;
	*a = *b;
	*b = was;
}

static void sift_up(struct ctp_ppt_places *p, uint32_t i)
{
	for (; i && p->heap[i].place < p->heap[(i - 1) / 2].place; i = (i - 1) / 2)
		swap(&p->heap[i], &p->heap[(i - 1) / 2]);
}

static void sift_down(struct ctp_ppt_places *p)
{
	for (uint32_t i = 0, least;; i = least) {
		uint32_t left = 2 * i + 1;
		least = i;
		for (uint32_t k = left; k < left + 2 && k < p->held; k++)
			if (p->heap[k].place < p->heap[least].place)
				least = k;
		if (least == i)
			return;
		swap(&p->heap[i], &p->heap[least]);
	}
}

static int64_t place_after(int64_t place) { return place < INT64_MAX ? place + 1 : place; }

/* Writes the first of those that are held; its slot is free then. */
static void release(struct ctp_ppt_places *p)
{
	ctp_output_put(p->out, p->slots + (size_t)p->heap[0].slot * p->size, p->size);
	p->next = place_after(p->heap[0].place);
	swap(&p->heap[0], &p->heap[--p->held]);
	sift_down(p);
}

static bool grow(struct ctp_ppt_places *p)
{
	size_t had = p->room;
	if (!CTP_ARRAY_RESERVE(p->heap, p->room, had + 1, p->limit))
		return false;
	for (size_t i = had; i < p->room; i++)
		p->heap[i].slot = (uint32_t)i;
	return CTP_ARRAY_RESERVE(p->slots, p->slot_bytes, p->room * p->size, SIZE_MAX);
}

enum ctp_status ctp_ppt_places_put(struct ctp_ppt_places *p, int64_t place, const uint8_t *bytes, struct ctp_err *err)
{
	assert(p->size && p->limit && p->held <= p->limit);
	if (p->held == p->limit)
		release(p);
	if (place < p->next)
		return ctp_err_set(err, "frame %lld of the section comes twice, or too late for its place", (long long)place);
	if (place == p->next) {
		ctp_output_put(p->out, bytes, p->size);
		p->next = place_after(place);
	} else {
		if (p->held == p->room && !grow(p))
			return ctp_err_set(err, "out of memory");
		memcpy(p->slots + (size_t)p->heap[p->held].slot * p->size, bytes, p->size);
		p->heap[p->held].place = place;
		sift_up(p, p->held++);
	}
	while (p->held && p->heap[0].place <= p->next)
		release(p);
	return CTP_OK;
}

void ctp_ppt_places_flush(struct ctp_ppt_places *p)
{
	while (p->held)
		release(p);
	p->next = 0;
}
