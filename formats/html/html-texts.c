/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-texts.c - an array of all texts, one after the other, and a map of them. */
#include "html/html-texts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "common/json.h"

enum { TEXTS_MIN = 128 };

void ctp_html_texts_init(struct ctp_html_texts *t) { *t = (struct ctp_html_texts){.count = 1}; }

void ctp_html_texts_fini(struct ctp_html_texts *t)
{
	free(t->bytes);
	free(t->starts);
	ctp_map_fini(&t->map);
}

static const char *text_at(const struct ctp_html_texts *t, uint32_t number)
{
	assert(number && number < t->count && t->starts[number] < t->used);
	return t->bytes + t->starts[number];
}

static bool is_text(const void *texts, uint32_t number, const void *text) { return !strcmp(text_at(texts, number), text); }

static uint64_t hash(const struct ctp_html_texts *t, const char *text) { return ctp_map_bytes(t->map.salt, text, strlen(text)); }

static uint64_t hash_text(const void *texts, uint32_t number) { return hash(texts, text_at(texts, number)); }

static bool has_room(struct ctp_html_texts *t, size_t len)
{
	return CTP_ARRAY_RESERVE(t->starts, t->starts_room, t->count + 1, UINT32_MAX) &&
	       CTP_ARRAY_RESERVE(t->bytes, t->room, t->used + len, SIZE_MAX) &&
	       (t->map.slots ? ctp_map_reserve(&t->map, t->count - 1, hash_text, t) : ctp_map_init(&t->map, TEXTS_MIN));
}

uint32_t ctp_html_texts_number(struct ctp_html_texts *t, const char *text)
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

void ctp_html_texts_put(struct ctp_output *out, const struct ctp_html_texts *t)
{
	ctp_output_put(out, "[\"\"", 3);
	for (uint32_t i = 1; i < t->count; i++) {
		const char *text = text_at(t, i);
		ctp_output_put(out, ",", 1);
		ctp_json_put_in_page(out, text, strlen(text));
	}
	ctp_output_put(out, "]", 1);
}
