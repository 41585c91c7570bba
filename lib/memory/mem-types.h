/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mem-types.h - the types of regions, and where accesses to each are: spans, an offset in an element and a size. Members are made of
 * them at the end (mem-members.h).
 *
 * A type is a name and the size of an element: the same name with another size is another type.
 */
#ifndef CTP_MEM_TYPES_H
#define CTP_MEM_TYPES_H

#include "base/map.h"
#include "memory/addrs.h"
#include "memory/mem-counts.h"

enum {
	CTP_MEM_TYPES_MAX = 1 << 16,
	CTP_MEM_NAME_MAX = 4096,        /* bytes of a type's name; a longer one is cut */
	CTP_MEM_NAMES_BYTES = 64 << 20, /* of all names */
	CTP_MEM_SPANS_MAX = 1 << 20,    /* of all types, in about 150 MiB; members take as much */
	CTP_MEM_POINTER = 8,            /* bytes */
	CTP_MEM_NONE = 0,   /* the type of what is in no region */
	CTP_MEM_OTHERS = 1, /* of all types for which there was no room */
};

struct ctp_mem_type {
	char *name; /* null: none, or others */
	uint32_t name_len, element_size;
	uint64_t regions; /* that were added */
	struct ctp_mem_counts counts; /* before the end: of what has no span here */
	uint64_t unplaced; /* accesses in spans for which there was no room */
	uint64_t repeats;  /* of accesses that touch several members: how often they are counted in another than the first */
	uint32_t first_span, nspans; /* from the end on, in the order of offsets, then sizes */
	uint32_t first, nmembers;    /* the same */
	enum ctp_mem_layout_found {
		CTP_LAYOUT_UNASKED,
		CTP_LAYOUT_FOUND,
		CTP_LAYOUT_ABSENT,
		CTP_LAYOUT_OTHER, /* its element has another size there */
	} layout; /* in debug information */
	uint32_t other_size;
	char *near; /* types there that may be meant; null: none */
	bool unknown; /* void*: whatever is in its regions, offsets mean nothing */
};

struct ctp_mem_span {
	uint32_t type, offset, size;
	struct ctp_mem_counts counts;
};

struct ctp_mem_member {
	uint32_t type, offset;
	uint32_t size;   /* to the next, or as far as accesses go */
	uint32_t access; /* size of the largest access that begins with it; 0: none does */
	bool bits;       /* bit fields: what begins in it is the same */
	bool padding;    /* by debug information: it has no name */
	char *name;      /* null: not known */
	struct ctp_mem_counts counts; /* of all accesses that touch it */
};

struct ctp_mem_types {
	struct ctp_mem_type *type;
	struct ctp_mem_span *span;
	struct ctp_mem_member *member;
	uint32_t ntypes, nspans, nmembers;
	size_t type_room, span_room, member_room;
	struct ctp_map names;
	struct ctp_addrs spans; /* by type, size and offset: number of the span, from 1 on */
	uint64_t name_bytes;
	uint64_t types_refused; /* regions whose type found no room */
};

bool ctp_mem_types_init(struct ctp_mem_types *t); /* false: out of memory; may be finished */
void ctp_mem_types_fini(struct ctp_mem_types *t);
void ctp_mem_types_clear_members(struct ctp_mem_types *t);

/* The number of a type, which may be CTP_MEM_OTHERS. */
uint32_t ctp_mem_types_get(struct ctp_mem_types *t, const char *name, size_t len, uint32_t element_size);

/*
 * The size of an element, by the name that Cacheray's pass gives to memory without a structure, which is the type of the pointer to it: 4 of i32*,
 * and 8 of struct.foo**. 0: not known, as of void*.
 */
uint32_t ctp_mem_pass_element(const char *name, size_t len);

/* Counts an access at an offset of a type. */
void ctp_mem_types_count(struct ctp_mem_types *t, uint32_t type, uint32_t offset, const struct ctp_mem_access *a);

/* All is counted: spans are sorted, and the counts of a type are those of all its spans. */
void ctp_mem_types_end(struct ctp_mem_types *t);

/* After spans have changed: they are sorted again, and those at the same place are one. */
void ctp_mem_types_group(struct ctp_mem_types *t);

/* After that: the accesses to a type that touch bytes [from, upto) of an element. */
struct ctp_mem_counts ctp_mem_types_between(const struct ctp_mem_types *t, uint32_t type, uint32_t from, uint32_t upto);

#endif
