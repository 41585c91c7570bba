/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* virtual-bases.c - see virtual-bases.h. What is not certain is taken for as little room and as low an alignment as can be. */
#ifdef HAVE_LIBDW
#include "symbols/virtual-bases.h"

#include <dwarf.h>
#include <string.h>

#include "symbols/die.h"
#include "symbols/type-members.h"

enum { NESTED_MAX = 32, ALIGN_MAX = 8 };

/* A structure without its virtual bases. */
struct extent {
	uint64_t first, end, align; /* first: that has a member */
	uint64_t most;     /* another may not begin before, where end is not the same */
	bool is_alignment; /* it is not more than align */
	bool is_class;     /* it has bases or a table: room after its last member may be used */
	bool has_data;     /* more than pointers to tables */
};

struct finder {
	struct ctp_virtual_bases *to;
	bool big;
	uint32_t *dies;
};

static uint64_t number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Word n;
	return ctp_die_number(die, name, &n) ? n : 0;
}

static struct extent measure(struct finder *f, Dwarf_Die *structure, int nested);

static uint64_t address_bytes(Dwarf_Die *die)
{
	uint8_t bytes = 4;
	Dwarf_Die unit;
	dwarf_diecu(die, &unit, &bytes, NULL);
	return bytes;
}

/* The alignment that a number or pointer of this size has at least, on any machine. */
static uint64_t scalar_align(Dwarf_Die *type, uint64_t size)
{
	uint64_t align = size & -size, most = dwarf_tag(type) != DW_TAG_base_type ? ALIGN_MAX :
	                 number(type, DW_AT_encoding) == DW_ATE_complex_float ? ALIGN_MAX / 2 : ALIGN_MAX;
	uint64_t address = address_bytes(type);
	most = address < most ? address : most;
	return align && align < most ? align : most;
}

static struct extent measure_type(struct finder *f, Dwarf_Die *type, uint64_t size, bool is_base, int nested)
{
	Dwarf_Die element = *type;
	Dwarf_Word stride = size;
	while (dwarf_tag(&element) == DW_TAG_array_type)
		if (++*f->dies > CTP_DIES_MAX || !ctp_die_type(&element, &element) || dwarf_aggregate_size(&element, &stride))
			return (struct extent){.end = size, .most = size, .align = 1, .has_data = true};
	if (!ctp_die_is_structure(&element)) {
		uint64_t align = scalar_align(&element, stride);
		return (struct extent){.end = size, .most = size, .align = align, .is_alignment = align == stride, .has_data = true};
	}
	struct extent e = measure(f, &element, nested + 1);
	e.end = dwarf_tag(type) == DW_TAG_array_type && size >= stride ? size - stride + e.end : e.end;
	if (!is_base || !e.is_class)
		e.most = size;
	return e;
}

/* A member, or a base that is not virtual. False: it has no place of its own. */
static bool measure_member(struct finder *f, Dwarf_Die *die, int nested, struct extent *e, uint64_t *offset)
{
	Dwarf_Die type;
	Dwarf_Word size = 0;
	uint64_t first, bits;
	if (!ctp_die_offset(die, offset) || !ctp_die_type(die, &type) || dwarf_aggregate_size(&type, &size))
		return false;
	*e = (struct extent){.align = 1, .has_data = true};
	bool is_base = dwarf_tag(die) == DW_TAG_inheritance;
	if (ctp_die_bits(die, f->big, size, &first, &bits)) {
		*offset = first / 8;
		e->most = e->end = (first % 8 + bits + 7) / 8;
		return true;
	}
	*e = measure_type(f, &type, size, is_base, nested);
	e->is_alignment &= !dwarf_hasattr(die, DW_AT_alignment);
	if (!is_base)
		e->has_data = !dwarf_hasattr(die, DW_AT_artificial);
	return true;
}

/* A virtual base begins a structure with a pointer to a table. If it has no data it may be at the front, and its alignment counts. */
static void add_virtual(struct finder *f, struct extent *e, Dwarf_Die *inheritance, int nested)
{
	Dwarf_Die type;
	uint64_t bytes = address_bytes(inheritance);
	struct extent base = {.align = UINT64_MAX};
	if (ctp_die_type(inheritance, &type) && !dwarf_hasattr(&type, DW_AT_declaration))
		base = measure(f, &type, nested + 1);
	e->end = e->end > bytes ? e->end : bytes;
	e->most = e->most > bytes ? e->most : bytes;
	e->align = e->align > bytes ? e->align : bytes;
	e->is_alignment &= base.is_alignment && base.align <= bytes;
}

/* A member that is not where it would be aligned is in a packed structure. */
static struct extent measure(struct finder *f, Dwarf_Die *structure, int nested)
{
	struct extent all = {.first = UINT64_MAX, .align = 1, .is_alignment = !dwarf_hasattr(structure, DW_AT_alignment)}, e;
	Dwarf_Die child;
	uint64_t offset, asked = number(structure, DW_AT_alignment);
	bool packed = false, derived = false;
	if (nested > NESTED_MAX || dwarf_child(structure, &child))
		return all;
	do {
		int tag = dwarf_tag(&child);
		if (++*f->dies > CTP_DIES_MAX)
			break;
		if (tag == DW_TAG_inheritance && ctp_die_is_virtual(&child))
			add_virtual(f, &all, &child, nested);
		derived |= tag == DW_TAG_inheritance;
		all.is_class |= derived || (tag == DW_TAG_member && dwarf_hasattr(&child, DW_AT_artificial));
		if ((tag != DW_TAG_member && (tag != DW_TAG_inheritance || ctp_die_is_virtual(&child))) ||
		    !measure_member(f, &child, nested, &e, &offset) || offset > UINT32_MAX || e.end > UINT32_MAX)
			continue;
		packed |= offset % e.align != 0;
		all.align = e.align > all.align ? e.align : all.align;
		all.end = offset + e.end > all.end ? offset + e.end : all.end;
		all.most = offset + e.most > all.most ? offset + e.most : all.most;
		all.is_alignment &= e.is_alignment;
		all.first = e.end && offset + e.first < all.first ? offset + e.first : all.first;
		all.has_data |= e.has_data;
	} while (!dwarf_siblingof(&child, &child));
	if (packed)
		all.align = all.is_alignment = 1;
	/* With virtual bases in it, what was asked for may be theirs. */
	if (!derived && asked > all.align && asked <= 4096 && !(asked & (asked - 1)))
		all.align = asked;
	return all;
}

static bool is_known(const struct ctp_virtual_bases *to, const Dwarf_Die *type)
{
	for (unsigned i = 0; i < to->n; i++)
		if (to->base[i].type.addr == type->addr)
			return true;
	return false;
}

static void add(struct finder *f, Dwarf_Die *type)
{
	struct ctp_virtual_bases *to = f->to;
	if (to->n == CTP_VIRTUAL_BASES_MAX) {
		to->more = true;
		return;
	}
	struct extent e = measure(f, type, 0);
	Dwarf_Word size;
	if (!e.is_class && !dwarf_aggregate_size(type, &size))
		e.most = size;
	to->base[to->n++] = (struct ctp_virtual_base){
		.type = *type, .bytes = e.has_data ? e.end : 0, .align = e.align,
		.is_bytes = e.most == e.end, .is_alignment = e.is_alignment,
		.least = dwarf_hasattr(type, DW_AT_declaration) ? 1 : e.end,
	};
}

static void collect(struct finder *f, Dwarf_Die *structure, int nested)
{
	Dwarf_Die child, type;
	if (nested > NESTED_MAX || dwarf_child(structure, &child))
		return;
	do {
		if (++*f->dies > CTP_DIES_MAX || f->to->more)
			return;
		if (dwarf_tag(&child) != DW_TAG_inheritance || !ctp_die_type(&child, &type) || (ctp_die_is_virtual(&child) && is_known(f->to, &type)))
			continue;
		if (ctp_die_is_virtual(&child))
			add(f, &type);
		collect(f, &type, nested + 1);
	} while (!dwarf_siblingof(&child, &child));
}

/* From the front, then from the end. exact: what is from the front on is the place, as far as it is known how long all is. */
static void place(struct ctp_virtual_bases *to, bool exact)
{
	uint64_t at = to->from, end = to->upto;
	for (unsigned i = 0; i < to->n; i++) {
		struct ctp_virtual_base *b = &to->base[i];
		exact &= b->bytes && b->is_alignment;
		if (!b->bytes)
			continue;
		b->offset = (at + b->align - 1) & -b->align;
		b->certain = exact && !to->more && b->offset + b->bytes <= to->upto;
		at = b->offset + b->bytes;
		exact &= b->is_bytes;
	}
	for (unsigned i = to->n; i--;) {
		struct ctp_virtual_base *b = &to->base[i];
		if (!b->bytes)
			continue;
		if (end < b->bytes)
			return;
		end = (end - b->bytes) & -b->align;
		b->certain |= !to->more && b->offset == end;
	}
}

void ctp_virtual_bases_find(struct ctp_virtual_bases *to, Dwarf_Die *structure, bool big, uint32_t *dies)
{
	struct finder f = {to, big, dies};
	Dwarf_Word size = 0;
	to->n = 0;
	to->more = false;
	collect(&f, structure, 0);
	if (!to->n)
		return;
	struct extent own = measure(&f, structure, 0);
	uint64_t address = address_bytes(structure);
	to->from = own.end;
	to->unnamed = own.first >= address ? (uint32_t)address : 0;
	to->upto = dwarf_aggregate_size(structure, &size) ? 0 : size;
	place(to, own.end == own.most);
}
#endif
