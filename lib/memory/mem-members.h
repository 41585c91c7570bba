/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mem-members.h - the members of types, made of the spans that were accessed.
 *
 * A member begins where accesses do, or where debug information has a part (mem-layout.h) that accesses touch, and ends where the next
 * begins or where no access is. So members do not overlap, and an access that touches several is counted in each of them.
 */
#ifndef CTP_MEM_MEMBERS_H
#define CTP_MEM_MEMBERS_H

#include "memory/mem-types.h"

/* Where a part begins by debug information: a member, or padding. */
struct ctp_mem_start {
	uint32_t type, offset;
	uint32_t bits; /* bytes of bit fields, in which no other begins; else 0 */
};

/* Makes the members of all types anew, without names; starts are in the order of types and offsets. False: out of memory. */
bool ctp_mem_members_make(struct ctp_mem_types *t, const struct ctp_mem_start *start, uint32_t nstarts);

/* Whether accesses tell parts of an element apart, be it one part and the rest; a number has none. */
bool ctp_mem_members_are_parts(const struct ctp_mem_types *t, uint32_t type);

/* The member that begins at an offset of a type, or whose bits are there; null: none. */
const struct ctp_mem_member *ctp_mem_members_at(const struct ctp_mem_types *t, uint32_t type, uint32_t offset);

#endif
