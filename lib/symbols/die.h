/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* die.h - what debug information (a DIE of libdw) says of one type or one member. */
#ifndef CTP_DIE_H
#define CTP_DIE_H

#include <elfutils/libdw.h>

#include "symbols/members.h"

bool ctp_die_is_structure(Dwarf_Die *die);

/* The type of a DIE, without typedefs and qualifiers. */
bool ctp_die_type(Dwarf_Die *die, Dwarf_Die *type);

/* An attribute that is a number, also of the DIE that this one is an instance or a definition of. False: there is none. */
bool ctp_die_number(Dwarf_Die *die, unsigned name, Dwarf_Word *n);

/* Whether an inheritance is of a virtual base. */
bool ctp_die_is_virtual(Dwarf_Die *inheritance);

/* Where a member or base is in its structure, in bytes; false: it is a static member, or that is not a number. */
bool ctp_die_offset(Dwarf_Die *member, uint64_t *offset);

/* Where the bits of a member are, from its structure's first on; false: it is no bit field. big: the first byte is the most significant. */
bool ctp_die_bits(Dwarf_Die *member, bool big, uint64_t unit, uint64_t *first, uint64_t *n);

/*
 * The stride and dimensions of an array, whose size m has. An array of arrays is one with more dimensions. If they do not make up
 * its size, it is a long one. False: it has no elements.
 */
bool ctp_die_array(struct ctp_member *m, Dwarf_Die *array, Dwarf_Die *element);

#endif
