/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-types.c - see mem-types.h. */
#include "memory/mem-types.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"

struct key {
	const char *name;
	uint32_t len, element_size;
};

uint32_t ctp_mem_pass_element(const char *name, size_t len)
{
	static const struct { const char *name; uint32_t bytes; } elements[] = {
		{"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8}, {"i128", 16}, {"half", 2}, {"float", 4}, {"double", 8},
	};
	if (len < 2 || name[--len] != '*')
		return 0;
	if (name[len - 1] == '*')
		return CTP_MEM_POINTER;
	for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
		if (len == strlen(elements[i].name) && !memcmp(name, elements[i].name, len))
			return elements[i].bytes;
	return 0;
}

bool ctp_mem_types_init(struct ctp_mem_types *t)
{
	*t = (struct ctp_mem_types){.type = NULL};
	if (!ctp_map_init(&t->names, CTP_MEM_TYPES_MAX) || !CTP_ARRAY_RESERVE(t->type, t->type_room, 2, CTP_MEM_TYPES_MAX))
		return false;
	t->type[CTP_MEM_NONE] = t->type[CTP_MEM_OTHERS] = (struct ctp_mem_type){.name = NULL};
	t->ntypes = 2;
	return true;
}

void ctp_mem_types_clear_members(struct ctp_mem_types *t)
{
	for (uint32_t i = 0; i < t->nmembers; i++)
		free(t->member[i].name);
	for (uint32_t i = 0; i < t->ntypes; i++)
		t->type[i].first = t->type[i].nmembers = 0;
	t->nmembers = 0;
}

void ctp_mem_types_fini(struct ctp_mem_types *t)
{
	for (uint32_t i = 0; i < t->ntypes; i++) {
		free(t->type[i].name);
		free(t->type[i].near);
	}
	ctp_mem_types_clear_members(t);
	free(t->type);
	free(t->span);
	free(t->member);
	ctp_map_fini(&t->names);
	ctp_addrs_fini(&t->spans);
}

static bool is_type(const void *types, uint32_t number, const void *key)
{
	const struct ctp_mem_type *t = &((const struct ctp_mem_type *)types)[number];
	const struct key *k = key;
	return t->element_size == k->element_size && t->name_len == k->len && !memcmp(t->name, k->name, k->len);
}

static char *copy_name(const struct key *k)
{
	char *name = malloc(k->len + 1);
	if (name) {
		memcpy(name, k->name, k->len);
		name[k->len] = '\0';
	}
	return name;
}

uint32_t ctp_mem_types_get(struct ctp_mem_types *t, const char *name, size_t len, uint32_t element_size)
{
	struct key k = {name, len < CTP_MEM_NAME_MAX ? (uint32_t)len : CTP_MEM_NAME_MAX, element_size};
	uint64_t hash = ctp_map_bytes(t->names.salt ^ element_size, k.name, k.len);
	uint32_t *slot = ctp_map_slot(&t->names, hash, is_type, t->type, &k);
	if (*slot)
		return *slot;
	char *copy = NULL;
	if (t->name_bytes + k.len > CTP_MEM_NAMES_BYTES || !(copy = copy_name(&k)) ||
	    !CTP_ARRAY_RESERVE(t->type, t->type_room, t->ntypes + 1, CTP_MEM_TYPES_MAX + CTP_MEM_OTHERS + 1)) {
		free(copy);
		t->types_refused++;
		return CTP_MEM_OTHERS;
	}
	t->name_bytes += k.len;
	t->type[t->ntypes] = (struct ctp_mem_type){.name = copy, .name_len = k.len, .element_size = element_size,
	                                              .unknown = !strcmp(copy, "void*") || !strcmp(copy, "void *")};
	return *slot = t->ntypes++;
}

static struct ctp_mem_span *new_span(struct ctp_mem_types *t, uint32_t type, uint32_t offset, uint32_t size, uint64_t key)
{
	if (!CTP_ARRAY_RESERVE(t->span, t->span_room, t->nspans + 1, CTP_MEM_SPANS_MAX) ||
	    !ctp_addrs_add(&t->spans, key, t->nspans + 1))
		return NULL;
	t->span[t->nspans] = (struct ctp_mem_span){.type = type, .offset = offset, .size = size};
	return &t->span[t->nspans++];
}

void ctp_mem_types_count(struct ctp_mem_types *t, uint32_t type, uint32_t offset, const struct ctp_mem_access *a)
{
	_Static_assert(CTP_MEM_TYPES_MAX + CTP_MEM_OTHERS + 1 <= 1 << 24, "a type and a size are 32 bits");
	uint64_t key = (uint64_t)(type << 8 | a->size) << 32 | offset;
	if (type <= CTP_MEM_OTHERS) {
		ctp_mem_count(&t->type[type].counts, a);
		return;
	}
	uint32_t number = ctp_addrs_get(&t->spans, key);
	struct ctp_mem_span *s = number ? &t->span[number - 1] : new_span(t, type, offset, a->size, key);
	if (!s) {
		t->type[type].unplaced++;
		ctp_mem_count(&t->type[type].counts, a);
		return;
	}
	ctp_mem_count(&s->counts, a);
}

static int compare(const void *a, const void *b)
{
	const struct ctp_mem_span *x = a, *y = b;
	return ctp_compare(x->type, y->type) ?: ctp_compare(x->offset, y->offset) ?: ctp_compare(x->size, y->size);
}

void ctp_mem_types_group(struct ctp_mem_types *t)
{
	uint32_t n = 0;
	if (t->nspans)
		qsort(t->span, t->nspans, sizeof *t->span, compare);
	for (uint32_t i = 0; i < t->nspans; i++) {
		if (n && !compare(&t->span[n - 1], &t->span[i]))
			ctp_mem_counts_add(&t->span[n - 1].counts, &t->span[i].counts);
		else
			t->span[n++] = t->span[i];
	}
	assert(n <= t->nspans);
	t->nspans = n;
	for (uint32_t i = 0; i < t->ntypes; i++)
		t->type[i].first_span = t->type[i].nspans = 0;
	for (uint32_t i = n; i-- > 0;) {
		t->type[t->span[i].type].first_span = i;
		t->type[t->span[i].type].nspans++;
	}
}

void ctp_mem_types_end(struct ctp_mem_types *t)
{
	ctp_addrs_fini(&t->spans);
	ctp_mem_types_group(t);
	for (uint32_t i = 0; i < t->nspans; i++)
		ctp_mem_counts_add(&t->type[t->span[i].type].counts, &t->span[i].counts);
}

struct ctp_mem_counts ctp_mem_types_between(const struct ctp_mem_types *t, uint32_t type, uint32_t from, uint32_t upto)
{
	assert(type < t->ntypes);
	const struct ctp_mem_type *of = &t->type[type];
	const struct ctp_mem_span *span = t->span + of->first_span;
	struct ctp_mem_counts sum = {.atomics = 0};
	uint32_t before = from < UINT8_MAX ? 0 : from - UINT8_MAX; /* no span that begins earlier reaches it */
	size_t i;
	CTP_ARRAY_FIRST(i, of->nspans, span[i].offset >= before);
	for (; i < of->nspans && span[i].offset < upto; i++)
		if (span[i].offset >= from || from - span[i].offset < span[i].size)
			ctp_mem_counts_add(&sum, &span[i].counts);
	return sum;
}
