/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * virtual-bases.h - where the virtual bases of a complete object are.
 *
 * Debug information has no offsets of them: these are in the table that an object points to. But compilers place them after all other
 * members, in the order of a walk through the bases from the first on, each before its own. So each has a first place that it may have,
 * after what comes before, and a last, before what follows. Where these are the same, or it is known how long and how aligned all that
 * comes before is, that is its place; else it is not known.
 */
#ifndef CTP_VIRTUAL_BASES_H
#define CTP_VIRTUAL_BASES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum { CTP_VIRTUAL_BASES_MAX = 16 };

struct ctp_virtual_base {
	Dwarf_Die type;
	uint64_t bytes, align; /* at least; bytes 0: it has no data, or is not known, and may have no room of its own */
	bool is_bytes, is_alignment; /* not more than these */
	uint64_t least;        /* bytes that it takes if it has room of its own; 0: it is empty */
	uint64_t offset;
	bool certain; /* it is there */
};

struct ctp_virtual_bases {
	struct ctp_virtual_base base[CTP_VIRTUAL_BASES_MAX]; /* as they lie one after the other */
	unsigned n;
	bool more;           /* than there is room for: no place is known */
	uint32_t unnamed;    /* bytes of a pointer to the table at the front that no member is; 0: one is */
	uint64_t from, upto; /* where they are: after the last other member, up to the end */
};

/* Those of a structure, and of its bases. dies: how many were looked at, so far. */
void ctp_virtual_bases_find(struct ctp_virtual_bases *to, Dwarf_Die *structure, bool big, uint32_t *dies);

#endif
