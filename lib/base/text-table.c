/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* text-table.c - an array of all texts, one after the other, and a map of them. */
#include "base/text-table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { TEXTS_MIN = 128 };

void ctp_text_table_init(struct ctp_text_table *t) { *t = (struct ctp_text_table){.count = 1}; }

void ctp_text_table_fini(struct ctp_text_table *t)
{
	free(t->bytes);
	free(t->starts);
	ctp_map_fini(&t->map);
}

const char *ctp_text_table_at(const struct ctp_text_table *t, uint32_t number)
{
	assert(number < t->count && (!number || t->starts[number] < t->used));
	return number ? t->bytes + t->starts[number] : "";
}

static bool is_text(const void *texts, uint32_t number, const void *text) { return !strcmp(ctp_text_table_at(texts, number), text); }

static uint64_t hash(const struct ctp_text_table *t, const char *text) { return ctp_map_bytes(t->map.salt, text, strlen(text)); }

static uint64_t hash_text(const void *texts, uint32_t number) { return hash(texts, ctp_text_table_at(texts, number)); }

static bool has_room(struct ctp_text_table *t, size_t len)
{
	return CTP_ARRAY_RESERVE(t->starts, t->starts_room, t->count + 1, UINT32_MAX) &&
	       CTP_ARRAY_RESERVE(t->bytes, t->room, t->used + len, SIZE_MAX) &&
	       (t->map.slots ? ctp_map_reserve(&t->map, t->count - 1, hash_text, t) : ctp_map_init(&t->map, TEXTS_MIN));
}

uint32_t ctp_text_table_find(const struct ctp_text_table *t, const char *text)
{
	return t->map.slots && text && *text ? *ctp_map_slot(&t->map, hash(t, text), is_text, t, text) : 0;
}

uint32_t ctp_text_table_number(struct ctp_text_table *t, const char *text)
{
	if (!text || !*text)
		return 0;
	size_t len = strlen(text) + 1;
	if (!has_room(t, len)) {
		t->failed = true;
		return 0;
	}
	uint32_t *slot = ctp_map_slot(&t->map, hash(t, text), is_text, t, text);
	if (!*slot) {
		memcpy(t->bytes + t->used, text, len);
		t->starts[t->count] = t->used;
		t->used += len;
		*slot = t->count++;
	}
	return *slot;
}
