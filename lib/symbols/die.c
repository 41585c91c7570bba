/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* die.c - see die.h. */
#ifdef HAVE_LIBDW
#include "symbols/die.h"

#include <dwarf.h>
#include <string.h>

bool ctp_die_is_structure(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool ctp_die_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Die first;
	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, &first) && !dwarf_peel_type(&first, type);
}

bool ctp_die_number(Dwarf_Die *die, unsigned name, Dwarf_Word *n)
{
	Dwarf_Attribute attr;
	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formudata(&attr, n);
}

bool ctp_die_is_virtual(Dwarf_Die *inheritance)
{
	Dwarf_Word n;
	return ctp_die_number(inheritance, DW_AT_virtuality, &n) && n;
}

/* A number, or, before DWARF 3, the operation that adds it. */
static bool location_of(Dwarf_Attribute *attr, Dwarf_Word *n)
{
	Dwarf_Op *op;
	size_t nops;
	if (!dwarf_formudata(attr, n))
		return true;
	if (dwarf_getlocation(attr, &op, &nops) || nops != 1 || op->atom != DW_OP_plus_uconst)
		return false;
	*n = op->number;
	return true;
}

bool ctp_die_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Word n;
	if (dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_declaration))
		return false; /* a static member */
	*offset = 0;
	if (dwarf_attr(member, DW_AT_data_member_location, &attr)) {
		if (!location_of(&attr, &n))
			return false;
		*offset = n;
	} else if (dwarf_attr(member, DW_AT_data_bit_offset, &attr)) {
		if (dwarf_formudata(&attr, &n))
			return false;
		*offset = n / 8;
	}
	return true;
}

bool ctp_die_bits(Dwarf_Die *member, bool big, uint64_t unit, uint64_t *first, uint64_t *n)
{
	Dwarf_Word bits, at, bytes;
	if (!ctp_die_number(member, DW_AT_bit_size, &bits) || !bits || bits > 8 * unit)
		return false;
	*n = bits;
	if (ctp_die_number(member, DW_AT_data_bit_offset, first))
		return true;
	/* Before DWARF 4: from the most significant bit of the unit that the member is in. */
	if (!ctp_die_offset(member, first) || !ctp_die_number(member, DW_AT_bit_offset, &at))
		return false;
	if (!ctp_die_number(member, DW_AT_byte_size, &bytes) || bytes > unit)
		bytes = unit;
	*first = *first * 8 + (big ? at : 8 * bytes - at - bits);
	return at <= 8 * bytes - bits;
}

/* How many elements a dimension has; 0: that is not known. */
static Dwarf_Word elements_of(Dwarf_Die *subrange)
{
	Dwarf_Word n;
	if (ctp_die_number(subrange, DW_AT_count, &n))
		return n;
	return ctp_die_number(subrange, DW_AT_upper_bound, &n) ? n + 1 : 0;
}

/* The dimensions of an array, after the first n; how many there are then. */
static unsigned add_dims(struct ctp_member *m, unsigned n, Dwarf_Die *array)
{
	Dwarf_Die child;
	if (dwarf_child(array, &child))
		return n;
	do {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		Dwarf_Word elements = elements_of(&child);
		if (n < CTP_MEMBER_DIMS)
			m->dim[n] = elements < UINT32_MAX ? (uint32_t)elements : 0;
		n++;
	} while (n <= CTP_MEMBER_DIMS && !dwarf_siblingof(&child, &child));
	return n;
}

bool ctp_die_array(struct ctp_member *m, Dwarf_Die *array, Dwarf_Die *element)
{
	Dwarf_Word stride = 0;
	unsigned n = add_dims(m, 0, array);
	if (!ctp_die_type(array, element))
		return false;
	for (unsigned i = 0; dwarf_tag(element) == DW_TAG_array_type && i < CTP_MEMBER_DIMS; i++) {
		n = add_dims(m, n, element);
		if (!ctp_die_type(element, element))
			return false;
	}
	if (dwarf_aggregate_size(element, &stride) || !stride || stride > m->size)
		return false;
	m->stride = (uint32_t)stride;
	uint64_t bytes = stride;
	for (unsigned i = 0; i < n && i < CTP_MEMBER_DIMS && bytes <= m->size; i++)
		bytes *= m->dim[i];
	if (n > CTP_MEMBER_DIMS || bytes != m->size)
		memset(m->dim, 0, sizeof m->dim);
	if (!m->dim[0])
		m->dim[0] = m->size / m->stride;
	return true;
}
#endif
