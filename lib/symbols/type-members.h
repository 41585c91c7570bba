/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* type-members.h - the members of a type, and of the structures, bases and arrays in it, one by one. */
#ifndef CTP_TYPE_MEMBERS_H
#define CTP_TYPE_MEMBERS_H

#include <elfutils/libdw.h>

#include "symbols/members.h"

enum { CTP_DIES_MAX = 1 << 24 }; /* that are looked at */

/* All zeros but emit and big is the beginning. */
struct ctp_type_members {
	bool (*emit)(const struct ctp_member *m); /* takes a member; false: no more */
	bool big;                         /* the most significant byte is the first */
	uint32_t dies, members, elements; /* so far; elements: members of structures in arrays */
	uint32_t want, size;              /* of the type at hand */
	struct ctp_member group; /* bit fields that share bytes, so far; size 0: there are none */
	const char *group_last;  /* the name of the last, where there are several */
};

/* Emits the members of a structure, all with this number of what is wanted. False: there are too many, or there is no more. */
bool ctp_type_members_put(struct ctp_type_members *t, Dwarf_Die *structure, uint32_t want, uint32_t size);

#endif
