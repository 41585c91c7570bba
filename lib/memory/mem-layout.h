/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mem-layout.h - how debug information lays out types: their members, and the parts that these make of an element.
 *
 * Parts do not overlap and leave nothing out: each is a member, what of it is after the one before, where they overlap as in a union,
 * or the padding between two. All that is said of a member is said of such parts.
 */
#ifndef CTP_MEM_LAYOUT_H
#define CTP_MEM_LAYOUT_H

#include <stddef.h>

#include "symbols/members.h"

/* The types that debug information knows. All zeros is empty. */
struct ctp_mem_layouts {
	struct ctp_member *member; /* `want` is the type; by type and offset, the larger first */
	uint32_t n;
	size_t room;
	bool full; /* there are more */
};

void ctp_mem_layouts_fini(struct ctp_mem_layouts *l);
void ctp_mem_layouts_take(void *layouts, const struct ctp_member *member); /* for ctp_members_find */

/* The members of a type; *n is 0 where the type is not known. */
const struct ctp_member *ctp_mem_layout(const struct ctp_mem_layouts *l, uint32_t type, uint32_t *n);

struct ctp_mem_part {
	uint32_t offset, size;
	const struct ctp_member *member; /* null: padding */
};

/* The parts of the first bytes of a type, one by one; of a type that is not known there are none. */
struct ctp_mem_parts {
	const struct ctp_member *next;
	uint32_t left, at, bytes;
};
void ctp_mem_parts_of(struct ctp_mem_parts *p, const struct ctp_mem_layouts *l, uint32_t type, uint32_t bytes);
bool ctp_mem_parts_next(struct ctp_mem_parts *p, struct ctp_mem_part *part);

/* The name of a part, or of some of one, that is no padding: "next", "slot[3]", "slot[3]+4", "slot[3]..[6]", "flags+1"; for free(). */
char *ctp_mem_part_name(const struct ctp_mem_part *part);

#endif
