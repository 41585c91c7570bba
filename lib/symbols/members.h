/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * members.h - what debug information says of the members of structures: names, offsets and sizes.
 *
 * Debug information may be anybody's, so it is read in a child process (confine.h). A build without libdw knows nothing.
 */
#ifndef CTP_MEMBERS_H
#define CTP_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum {
	CTP_MEMBER_NAME_MAX = 200, /* bytes, with the NUL; the beginning of a longer name is shown */
	CTP_MEMBERS_MAX = 1 << 18, /* of all types */
	CTP_MEMBER_DIMS = 4,       /* dimensions of an array; one with more is a long one */
	CTP_MEMBERS_OF_ARRAY = 4096, /* that an array of structures has, of all its elements; one with more is a single member */
	CTP_MEMBERS_NEAR = 2,      /* names that are near one that is not there */
	CTP_MEMBERS_NEAR_BYTES = 96, /* of each, with the NUL */
	CTP_MEMBERS_CPU_S = 20,
	CTP_MEMBERS_BYTES = 1 << 30, /* memory of the child */
};

/*
 * A type by its name and size: `Foo`, `struct Foo`, `const Foo`, and `struct.Foo`, `class.ns::Foo` and `struct.Foo.12`, as LLVM names
 * them; spelling.h says which spellings are the same. Foo may be a typedef, also of a structure without a name; after struct, class or union only of such. A type of that name with
 * another size is not the one.
 */
struct ctp_members_want {
	const char *type;
	uint32_t size;

	/* What came of it. */
	bool found;
	uint32_t other_size; /* of a type with that name that is not the one; 0: there is none */
	char near[CTP_MEMBERS_NEAR][CTP_MEMBERS_NEAR_BYTES]; /* else types that may be meant, of the same size, and of another; "": none */
};

/*
 * A member that has no members of its own, or is an array of them. Members of a union begin at the same offset. Bit fields that share
 * bytes are one.
 */
struct ctp_member {
	uint32_t want; /* which of the types */
	uint32_t offset, size;
	uint32_t stride; /* of an array: the size of an element, which is no array; else 0 */
	uint32_t dim[CTP_MEMBER_DIMS]; /* of an array: how many elements, the outermost first; 0 after the last */
	bool bits; /* bit fields: its bytes are not told apart */
	char name[CTP_MEMBER_NAME_MAX]; /* "next", "head.next", "slot[1].next"; of several bit fields the first and the last: "up..down" */
};

/* The place of an element in an array, as in "[3]" and "[7][2]". */
enum { CTP_MEMBER_INDEX_MAX = CTP_MEMBER_DIMS * 12 + 1 };
const char *ctp_member_index(char to[CTP_MEMBER_INDEX_MAX], const struct ctp_member *array, uint32_t element);

/* Calls found for the members of each type that the file knows. CTP_FAILED: nothing is known of it, and err says why. */
enum ctp_status ctp_members_find(const char *path, struct ctp_members_want *want, uint32_t nwant,
                                 void (*found)(void *arg, const struct ctp_member *member), void *arg, struct ctp_err *err);

#endif
