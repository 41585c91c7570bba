/*
 * mem-types.h - the types of regions, and the members of each: the offsets in an element at which accesses begin.
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
	CTP_MEM_MEMBERS_MAX = 1 << 20,  /* of all types, in about 150 MiB */
	CTP_MEM_NONE = 0,   /* the type of what is in no region */
	CTP_MEM_OTHERS = 1, /* of all types for which there was no room */
};

struct ctp_mem_type {
	char *name; /* null: none, or others */
	uint32_t name_len, element_size;
	uint64_t regions; /* that were added */
	struct ctp_mem_counts counts; /* before the end: of what has no member here */
	uint64_t unplaced; /* accesses at offsets for which there was no room */
	uint32_t first, nmembers; /* from the end on, in the order of offsets */
	enum ctp_mem_layout_found {
		CTP_LAYOUT_UNASKED,
		CTP_LAYOUT_FOUND,
		CTP_LAYOUT_ABSENT,
		CTP_LAYOUT_OTHER, /* its element has another size there */
	} layout; /* in debug information */
	uint32_t other_size;
};

struct ctp_mem_member {
	uint32_t type, offset;
	uint32_t size; /* of the largest access */
	char *name;    /* null: not known */
	struct ctp_mem_counts counts;
};

struct ctp_mem_types {
	struct ctp_mem_type *type;
	struct ctp_mem_member *member;
	uint32_t ntypes, type_room, nmembers, member_room;
	struct ctp_map names;
	struct ctp_addrs members; /* by type and offset: number of the member, from 1 on */
	uint64_t name_bytes;
	uint64_t types_refused; /* regions whose type found no room */
};

bool ctp_mem_types_init(struct ctp_mem_types *t); /* false: out of memory; may be finished */
void ctp_mem_types_fini(struct ctp_mem_types *t);

/* The number of a type, which may be CTP_MEM_OTHERS. */
uint32_t ctp_mem_types_get(struct ctp_mem_types *t, const char *name, size_t len, uint32_t element_size);

/* Counts an access at an offset of a type. */
void ctp_mem_types_count(struct ctp_mem_types *t, uint32_t type, uint32_t offset, const struct ctp_mem_access *a);

/* All is counted: members are sorted, and the counts of a type are those of all its members. */
void ctp_mem_types_end(struct ctp_mem_types *t);

/* After that: whether accesses tell parts of an element apart, be it one part and the rest; a number is none. */
bool ctp_mem_types_has_parts(const struct ctp_mem_types *t, uint32_t type);

/* The member at an offset of a type; null: none. */
const struct ctp_mem_member *ctp_mem_types_member(const struct ctp_mem_types *t, uint32_t type, uint32_t offset);

#endif
