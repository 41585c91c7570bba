/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* type-members.c - see type-members.h. */
#ifdef HAVE_LIBDW
#include "symbols/type-members.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "symbols/die.h"
#include "symbols/virtual-bases.h"

enum { NESTED_MAX = 8, PATH_BYTES = 1024 };

static bool emit(struct ctp_type_members *t, const struct ctp_member *m)
{
	return t->members++ < CTP_MEMBERS_MAX && t->emit(m);
}

/* The bit fields so far are a member. */
static bool end_group(struct ctp_type_members *t)
{
	struct ctp_member m = t->group;
	size_t len = strlen(m.name);
	t->group.size = 0;
	if (!m.size)
		return true;
	if (t->group_last)
		snprintf(m.name + len, sizeof m.name - len, "..%s", t->group_last);
	t->group_last = NULL;
	return emit(t, &m);
}

/* A bit field, in the order of bits. In a union each is one of its own. */
static bool put_bits(struct ctp_type_members *t, const struct ctp_member *m, const char *own, bool alone)
{
	struct ctp_member *g = &t->group;
	if (g->size && !alone && m->offset >= g->offset && m->offset - g->offset < g->size) {
		uint32_t end = m->offset - g->offset + m->size;
		g->size = end > g->size ? end : g->size;
		t->group_last = own ? own : t->group_last;
		return true;
	}
	if (!end_group(t))
		return false;
	*g = *m;
	return true;
}

/* How many members there are in a structure and in those in it; CTP_MEMBERS_OF_ARRAY + 1: too many. */
static uint32_t count_members(struct ctp_type_members *t, Dwarf_Die *structure, int nested)
{
	Dwarf_Die child, type;
	uint32_t n = 0;
	if (dwarf_child(structure, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);
		if (++t->dies > CTP_DIES_MAX || n > CTP_MEMBERS_OF_ARRAY)
			return CTP_MEMBERS_OF_ARRAY + 1;
		if (tag == DW_TAG_member || tag == DW_TAG_inheritance)
			n += nested < NESTED_MAX && ctp_die_type(&child, &type) && ctp_die_is_structure(&type) ? count_members(t, &type, nested + 1) : 1;
	} while (!dwarf_siblingof(&child, &child));
	return n;
}

/* Whether the elements of an array are structures, and not too many to have members of their own. */
static bool has_parts(struct ctp_type_members *t, const struct ctp_member *array, Dwarf_Die *element, int nested)
{
	if (!ctp_die_is_structure(element) || nested >= NESTED_MAX || array->size / array->stride > CTP_MEMBERS_OF_ARRAY)
		return false;
	uint64_t n = (uint64_t)count_members(t, element, nested) * (array->size / array->stride);
	if (!n || n > CTP_MEMBERS_OF_ARRAY || n > CTP_MEMBERS_MAX / 4 - t->elements)
		return false;
	t->elements += (uint32_t)n;
	return true;
}

static bool put_object(struct ctp_type_members *t, Dwarf_Die *structure, uint64_t base, const char *prefix, int nested);
static bool put_members(struct ctp_type_members *t, Dwarf_Die *structure, uint64_t base, const char *prefix, int nested);

static bool put_elements(struct ctp_type_members *t, const struct ctp_member *array, Dwarf_Die *element,
                         const char *name, int nested)
{
	char index[CTP_MEMBER_INDEX_MAX], prefix[PATH_BYTES];
	for (uint32_t i = 0; i < array->size / array->stride; i++) {
		if (snprintf(prefix, sizeof prefix, "%s%s.", name, ctp_member_index(index, array, i)) >= (int)sizeof prefix)
			return true;
		if (!put_object(t, element, array->offset + (uint64_t)i * array->stride, prefix, nested + 1))
			return false;
	}
	return true;
}

static bool put_member(struct ctp_type_members *t, Dwarf_Die *die, uint64_t base, const char *prefix, int nested,
                       bool is_union)
{
	struct ctp_member m = {.want = t->want};
	char name[PATH_BYTES];
	Dwarf_Die type, element;
	Dwarf_Word size = 0;
	uint64_t offset, first, n;
	bool is_base = dwarf_tag(die) == DW_TAG_inheritance;
	const char *own = is_base ? NULL : dwarf_diename(die);
	own = own && *own ? own : NULL;
	if (!ctp_die_offset(die, &offset) || !ctp_die_type(die, &type))
		return true;
	/* An array without a length has no bytes of the structure. */
	if (dwarf_aggregate_size(&type, &size) && dwarf_tag(&type) != DW_TAG_array_type)
		return true;
	if ((m.bits = ctp_die_bits(die, t->big, size, &first, &n))) {
		offset = first / 8;
		size = (first % 8 + n + 7) / 8;
	}
	if (!m.bits && !end_group(t))
		return false;
	bool has_members = ctp_die_is_structure(&type) && size && nested < NESTED_MAX;
	/* The size of a base has its virtual bases in it, which are elsewhere. */
	if (offset > t->size || (!(is_base && has_members) && (size > t->size || base + offset + size > t->size)))
		return true;
	if (has_members) {
		if (snprintf(name, sizeof name, own ? "%s%s." : "%s", prefix, own) >= (int)sizeof name)
			return true;
		return (is_base ? put_members : put_object)(t, &type, base + offset, name, nested + 1);
	}
	m.offset = (uint32_t)(base + offset);
	m.size = (uint32_t)size;
	snprintf(name, sizeof name, "%s%s", prefix, own ? own : "(no name)");
	memcpy(m.name, name, strnlen(name, sizeof m.name - 1));
	if (m.bits)
		return put_bits(t, &m, own, is_union);
	if (dwarf_tag(&type) == DW_TAG_array_type && ctp_die_array(&m, &type, &element) && has_parts(t, &m, &element, nested))
		return put_elements(t, &m, &element, name, nested);
	return emit(t, &m);
}

/* Members, and bases that are not virtual. False: there are too many. */
static bool put_members(struct ctp_type_members *t, Dwarf_Die *structure, uint64_t base, const char *prefix, int nested)
{
	Dwarf_Die child;
	bool is_union = dwarf_tag(structure) == DW_TAG_union_type;
	if (dwarf_child(structure, &child))
		return true;
	do {
		int tag = dwarf_tag(&child);
		if (++t->dies > CTP_DIES_MAX)
			return false;
		if ((tag == DW_TAG_member || (tag == DW_TAG_inheritance && !ctp_die_is_virtual(&child))) &&
		    !put_member(t, &child, base, prefix, nested, is_union))
			return false;
	} while (!dwarf_siblingof(&child, &child));
	return end_group(t);
}

/* The pointer to the table that an object shares with a virtual base. */
static bool put_pointer(struct ctp_type_members *t, uint64_t base, uint32_t bytes, const char *prefix)
{
	struct ctp_member m = {.want = t->want, .offset = (uint32_t)base, .size = bytes};
	return snprintf(m.name, sizeof m.name, "%s_vptr", prefix) >= (int)sizeof m.name || base + bytes > t->size || emit(t, &m);
}

/* Bytes that may be of virtual bases whose place is not known: "(virtual base B?)". */
static bool put_doubt(struct ctp_type_members *t, const struct ctp_virtual_bases *v, uint64_t base, uint64_t from, uint64_t upto)
{
	struct ctp_member m = {.want = t->want, .offset = (uint32_t)(base + from), .size = (uint32_t)(upto - from)};
	size_t len = 0;
	for (unsigned i = 0; i < v->n && len < sizeof m.name; i++) {
		const struct ctp_virtual_base *b = &v->base[i];
		const char *name = dwarf_diename((Dwarf_Die *)&b->type);
		if (!b->certain && b->least && b->least <= upto - from)
			len += (size_t)snprintf(m.name + len, sizeof m.name - len, "%s%s", len ? ", " : "(virtual base ", name ? name : "(no name)");
	}
	if (len && len < sizeof m.name - 1)
		snprintf(m.name + len, sizeof m.name - len, "?)");
	return !len || upto <= from || base + upto > t->size || emit(t, &m);
}

static bool put_virtual_bases(struct ctp_type_members *t, Dwarf_Die *structure, uint64_t base, const char *prefix, int nested)
{
	struct ctp_virtual_bases v;
	ctp_virtual_bases_find(&v, structure, t->big, &t->dies);
	if (v.n && v.unnamed && !put_pointer(t, base, v.unnamed, prefix))
		return false;
	for (unsigned i = 0; i < v.n; i++) {
		struct ctp_virtual_base *b = &v.base[i];
		if (!b->certain)
			continue;
		if (!put_doubt(t, &v, base, v.from, b->offset) || !put_members(t, &b->type, base + b->offset, prefix, nested + 1))
			return false;
		v.from = b->offset + b->bytes;
	}
	return !v.n || put_doubt(t, &v, base, v.from, v.upto);
}

/* A complete object: what is no base of another has its virtual bases. */
static bool put_object(struct ctp_type_members *t, Dwarf_Die *structure, uint64_t base, const char *prefix, int nested)
{
	return put_members(t, structure, base, prefix, nested) && put_virtual_bases(t, structure, base, prefix, nested);
}

bool ctp_type_members_put(struct ctp_type_members *t, Dwarf_Die *structure, uint32_t want, uint32_t size)
{
	t->want = want;
	t->size = size;
	return put_object(t, structure, 0, "", 0);
}
#endif
