/* html-texts.c - a table of open addressing over texts that stand one behind the other. */
#include "html/html-texts.h"

#include <stdlib.h>
#include <string.h>

#include "common/json.h"

enum { SLOTS_MIN = 256, BYTES_MIN = 4096 };

void ctp_html_texts_init(struct ctp_html_texts *t) { *t = (struct ctp_html_texts){.count = 1}; }

void ctp_html_texts_fini(struct ctp_html_texts *t)
{
	free(t->bytes);
	free(t->starts);
	free(t->slots);
}

/* FNV-1a, its upper half folded in, for the lower bits are what is used. */
static uint32_t hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

static const char *text_at(const struct ctp_html_texts *t, uint32_t number) { return t->bytes + t->starts[number]; }

/* The slot of the text, or the free one where it belongs. */
static uint32_t *slot_of(const struct ctp_html_texts *t, const char *text)
{
	uint32_t i = hash(text) & (t->nslots - 1);
	while (t->slots[i] && strcmp(text_at(t, t->slots[i]), text))
		i = (i + 1) & (t->nslots - 1);
	return &t->slots[i];
}

static bool grow_table(struct ctp_html_texts *t)
{
	uint32_t n = t->nslots ? 2 * t->nslots : SLOTS_MIN;
	uint32_t *slots = calloc(n, sizeof *slots);
	size_t *starts = realloc(t->starts, n / 2 * sizeof *starts);
	if (starts)
		t->starts = starts;
	if (!slots || !starts) {
		free(slots);
		return false;
	}
	free(t->slots);
	t->slots = slots;
	t->nslots = n;
	t->starts_room = n / 2;
	for (uint32_t i = 1; i < t->count; i++)
		*slot_of(t, text_at(t, i)) = i;
	return true;
}

static bool grow_bytes(struct ctp_html_texts *t, size_t len)
{
	size_t room = t->room ? t->room : BYTES_MIN;
	while (room - t->used < len)
		room *= 2;
	char *bytes = realloc(t->bytes, room);
	if (!bytes)
		return false;
	t->bytes = bytes;
	t->room = room;
	return true;
}

uint32_t ctp_html_texts_number(struct ctp_html_texts *t, const char *text)
{
	if (!text || !*text)
		return 0;
	size_t len = strlen(text) + 1;
	if ((t->count >= t->starts_room && !grow_table(t)) || (t->room - t->used < len && !grow_bytes(t, len))) {
		t->failed = true;
		return 0;
	}
	uint32_t *slot = slot_of(t, text);
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
