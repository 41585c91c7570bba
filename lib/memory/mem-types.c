/* mem-types.c - see mem-types.h. */
#include "memory/mem-types.h"

#include <stdlib.h>
#include <string.h>

#include "memory/room.h"

struct key {
	const char *name;
	uint32_t len, element_size;
};

bool ctp_mem_types_init(struct ctp_mem_types *t)
{
	*t = (struct ctp_mem_types){.type = NULL};
	if (!ctp_map_init(&t->names, CTP_MEM_TYPES_MAX) || !ctp_room_more(&t->type, &t->type_room, 0, CTP_MEM_TYPES_MAX, sizeof *t->type))
		return false;
	t->type[CTP_MEM_NONE] = t->type[CTP_MEM_OTHERS] = (struct ctp_mem_type){.name = NULL};
	t->ntypes = 2;
	return true;
}

void ctp_mem_types_fini(struct ctp_mem_types *t)
{
	for (uint32_t i = 0; i < t->ntypes; i++)
		free(t->type[i].name);
	for (uint32_t i = 0; i < t->nmembers; i++)
		free(t->member[i].name);
	free(t->type);
	free(t->member);
	ctp_map_fini(&t->names);
	ctp_addrs_fini(&t->members);
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
	    !ctp_room_more(&t->type, &t->type_room, t->ntypes, CTP_MEM_TYPES_MAX + CTP_MEM_OTHERS + 1, sizeof *t->type)) {
		free(copy);
		t->types_refused++;
		return CTP_MEM_OTHERS;
	}
	t->name_bytes += k.len;
	t->type[t->ntypes] = (struct ctp_mem_type){.name = copy, .name_len = k.len, .element_size = element_size};
	return *slot = t->ntypes++;
}

static struct ctp_mem_member *new_member(struct ctp_mem_types *t, uint32_t type, uint32_t offset, uint64_t key)
{
	if (!ctp_room_more(&t->member, &t->member_room, t->nmembers, CTP_MEM_MEMBERS_MAX, sizeof *t->member) ||
	    !ctp_addrs_add(&t->members, key, t->nmembers + 1))
		return NULL;
	t->member[t->nmembers] = (struct ctp_mem_member){.type = type, .offset = offset};
	return &t->member[t->nmembers++];
}

void ctp_mem_types_count(struct ctp_mem_types *t, uint32_t type, uint32_t offset, const struct ctp_mem_access *a)
{
	uint64_t key = (uint64_t)type << 32 | offset;
	if (type <= CTP_MEM_OTHERS) {
		ctp_mem_count(&t->type[type].counts, a);
		return;
	}
	uint32_t number = ctp_addrs_get(&t->members, key);
	struct ctp_mem_member *m = number ? &t->member[number - 1] : new_member(t, type, offset, key);
	if (!m) {
		t->type[type].unplaced++;
		ctp_mem_count(&t->type[type].counts, a);
		return;
	}
	m->size = a->size > m->size ? a->size : m->size;
	ctp_mem_count(&m->counts, a);
}

static int compare(const void *a, const void *b)
{
	const struct ctp_mem_member *x = a, *y = b;
	return x->type != y->type ? (x->type < y->type ? -1 : 1) : (x->offset > y->offset) - (x->offset < y->offset);
}

void ctp_mem_types_end(struct ctp_mem_types *t)
{
	ctp_addrs_fini(&t->members);
	if (t->nmembers)
		qsort(t->member, t->nmembers, sizeof *t->member, compare);
	for (uint32_t i = t->nmembers; i-- > 0;) {
		struct ctp_mem_type *type = &t->type[t->member[i].type];
		type->first = i;
		type->nmembers++;
		ctp_mem_counts_add(&type->counts, &t->member[i].counts);
	}
}

bool ctp_mem_types_has_parts(const struct ctp_mem_types *t, uint32_t type)
{
	const struct ctp_mem_type *of = &t->type[type];
	const struct ctp_mem_member *first = &t->member[of->first];
	return of->nmembers > 1 || (of->nmembers && (first->offset || first->size < of->element_size));
}

const struct ctp_mem_member *ctp_mem_types_member(const struct ctp_mem_types *t, uint32_t type, uint32_t offset)
{
	uint32_t from = t->type[type].first, end = from + t->type[type].nmembers, upto = end;
	while (from < upto) {
		uint32_t middle = from + (upto - from) / 2;
		if (t->member[middle].offset < offset)
			from = middle + 1;
		else
			upto = middle;
	}
	return from < end && t->member[from].offset == offset ? &t->member[from] : NULL;
}
