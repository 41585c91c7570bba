/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter-held.c - copies of records in a linked list. */
#include "filter/filter-held.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static size_t aligned(size_t bytes) { return (bytes + 7) & ~(size_t)7; }

static size_t text_bytes(const struct ctp_str *s) { return aligned(sizeof *s + s->len + 1); }

static size_t bytes_of(const struct ctp_record *rec)
{
	size_t sum = rec->cls->nfields * sizeof(uint64_t);
	for (uint32_t i = 0; rec->cls->has_text && i < rec->cls->nfields; i++)
		if (ctp_type_is_text(rec->cls->fields[i].type) && rec->val[i])
			sum += text_bytes(ctp_str_val(rec->val[i]));
	return sum;
}

/* The struct has room for the record. */
static void fill(struct ctp_filter_held *h, const struct ctp_record *rec)
{
	char *text = (char *)(h->val + rec->cls->nfields);
	h->rec = (struct ctp_record){.cls = rec->cls, .val = h->val, .ts_ns = rec->ts_ns};
	if (rec->cls->nfields)
		memcpy(h->val, rec->val, rec->cls->nfields * sizeof *h->val);
	for (uint32_t i = 0; rec->cls->has_text && i < rec->cls->nfields; i++) {
		if (!ctp_type_is_text(rec->cls->fields[i].type) || !rec->val[i])
			continue;
		const struct ctp_str *s = ctp_str_val(rec->val[i]);
		h->val[i] = ctp_val_str(memcpy(text, s, sizeof *s + s->len + 1));
		text += text_bytes(s);
	}
	assert((size_t)(text - (char *)h->val) <= h->room);
}

static struct ctp_filter_held *take_out(struct ctp_filter_list *l, uint8_t slot)
{
	for (struct ctp_filter_held **at = &l->first, *h; (h = *at); at = &h->next)
		if (h->slot == slot) {
			*at = h->next;
			return h;
		}
	return NULL;
}

static void release(struct ctp_filter_held *h)
{
	if (h)
		*h->used -= sizeof *h + h->room;
	free(h);
}

bool ctp_filter_hold(struct ctp_filter_list *l, const struct ctp_record *rec, uint8_t slot, bool again, uint64_t number,
                     size_t *used)
{
	size_t room = bytes_of(rec);
	struct ctp_filter_held *h = again ? take_out(l, slot) : NULL, **end = &l->first;
	if (!h || h->room < room) {
		release(h);
		h = room <= UINT32_MAX ? malloc(sizeof *h + room) : NULL;
		if (!h)
			return false;
		h->room = (uint32_t)room;
		h->used = used;
		*used += sizeof *h + room;
	}
	h->next = NULL;
	h->slot = slot;
	h->number = number;
	fill(h, rec);
	while (*end)
		end = &(*end)->next;
	*end = h;
	return true;
}

struct ctp_filter_held *ctp_filter_held_in(const struct ctp_filter_list *l, uint8_t slot)
{
	struct ctp_filter_held *h = l->first;
	while (h && h->slot != slot)
		h = h->next;
	return h;
}

void ctp_filter_drop(struct ctp_filter_list *l, uint32_t slots)
{
	for (struct ctp_filter_held **at = &l->first, *h; (h = *at);) {
		if (!(slots >> h->slot & 1)) {
			at = &h->next;
			continue;
		}
		*at = h->next;
		release(h);
	}
}

void ctp_filter_drop_all(struct ctp_filter_list *l) { ctp_filter_drop(l, UINT32_MAX); }
