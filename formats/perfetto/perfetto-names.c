/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* perfetto-names.c - an array of all names, and a map of them. */
#include "perfetto/perfetto-names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "common/escape.h"

enum { NAMES_MIN = 128 };

_Static_assert(CTP_PERFETTO_TEXT_MAX > CTP_ESCAPE_GROWTH * CTP_PERFETTO_CUT, "an escaped text has room");

char *ctp_perfetto_text(char to[CTP_PERFETTO_TEXT_MAX], const char *text)
{
	*ctp_escape(to, text, strnlen(text, CTP_PERFETTO_CUT), false) = '\0';
	return to;
}

void ctp_perfetto_names_init(struct ctp_perfetto_names *n) { *n = (struct ctp_perfetto_names){.count = 1}; }

void ctp_perfetto_names_fini(struct ctp_perfetto_names *n)
{
	for (uint32_t i = 1; i < n->count; i++) {
		free(n->list[i]->text);
		free(n->list[i]);
	}
	free(n->list);
	ctp_map_fini(&n->map);
}

static bool is_text(const void *names, uint32_t number, const void *text)
{
	return !strcmp(((const struct ctp_perfetto_names *)names)->list[number]->text, text);
}

static uint64_t hash(const struct ctp_perfetto_names *n, const char *text)
{
	return ctp_map_bytes(n->map.salt, text, strlen(text));
}

static uint64_t hash_name(const void *names, uint32_t number)
{
	const struct ctp_perfetto_names *n = names;
	return hash(n, n->list[number]->text);
}

static bool has_room(struct ctp_perfetto_names *n)
{
	return CTP_ARRAY_RESERVE(n->list, n->room, n->count + 1, CTP_PERFETTO_NAMES_MAX) &&
	       (n->map.slots ? ctp_map_reserve(&n->map, n->count - 1, hash_name, n) : ctp_map_init(&n->map, NAMES_MIN));
}

struct ctp_perfetto_name *ctp_perfetto_names_get(struct ctp_perfetto_names *n, const char *text)
{
	char valid[CTP_PERFETTO_TEXT_MAX];
	ctp_perfetto_text(valid, text);
	if (!has_room(n)) {
		n->failed |= n->count < CTP_PERFETTO_NAMES_MAX;
		return NULL;
	}
	uint32_t *slot = ctp_map_slot(&n->map, hash(n, valid), is_text, n, valid);
	if (*slot)
		return n->list[*slot];
	struct ctp_perfetto_name *name = calloc(1, sizeof *name);
	char *copy = strdup(valid);
	if (!name || !copy) {
		free(name);
		free(copy);
		n->failed = true;
		return NULL;
	}
	name->text = copy;
	n->list[n->count] = name;
	*slot = n->count++;
	return name;
}
