/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * record.h - records in memory, one and many, and the section that they belong to.
 *
 * A record is an array of 64-bit words, one for each field of its class: unsigned as they are, signed sign-extended, bool 0 or
 * 1, floats by their bits (f32 in the low half), and for strings and bytes the address of a struct ctp_str. Readers give one for
 * each, also where it is empty; a writer takes 0 for an empty one.
 */
#ifndef CTP_RECORD_H
#define CTP_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/linkage.h"
#include "stream/schema.h"

CTP_C_BEGIN

enum {
	CTP_STRING_MAX = 1 << 20, /* bytes */
	CTP_ATTRS_MAX = 256,      /* of a section */
	CTP_SECTION_BYTES_MAX = 128 << 10, /* of all attributes of a section together; writers cut argv to fit */
};

struct ctp_str {
	uint32_t len;
	char data[]; /* len bytes, then a NUL that is not counted */
};

struct ctp_record {
	const struct ctp_class *cls;
	const uint64_t *val; /* cls->nfields words */
	uint64_t ts_ns;      /* the time of the record; without one, the time of the record before */
};

enum { CTP_BATCH_MAX = 4096 }; /* records */

/* Records of any classes, as they follow each other in a section. */
struct ctp_batch {
	const struct ctp_record *rec;
	uint32_t n;
	bool late; /* all come after records with a later time, because they were not known earlier */
};

static inline uint64_t ctp_val_str(const struct ctp_str *s) { return (uint64_t)(uintptr_t)s; }
static inline const struct ctp_str *ctp_str_val(uint64_t v) { return (const struct ctp_str *)(uintptr_t)v; }

/* A field by its number, as ctp_class_role and ctp_class_field give it: -1 and a field of another type are 0 and null. */
static inline uint64_t ctp_record_number(const struct ctp_record *rec, int field)
{
	return field >= 0 && rec->cls->fields[field].type <= CTP_U64 ? rec->val[field] : 0;
}

static inline const struct ctp_str *ctp_record_str(const struct ctp_record *rec, int field, unsigned type)
{
	return field >= 0 && rec->cls->fields[field].type == type ? ctp_str_val(rec->val[field]) : NULL;
}

double ctp_val_double(unsigned type, uint64_t v); /* of an f32 or f64 */
uint64_t ctp_double_val(unsigned type, double d);

/*
 * The program that a section is of: an ordered list of name and text. A name that ends in "[]" is one element of a list, and may
 * follow on itself; no other comes twice, with or without "[]". The names in use are in ctp-stream.5: host, pid, argv[], clock,
 * wall_offset_ns, start_ns, tool, machine, page_size, filtered ...
 */
struct ctp_section {
	uint64_t id; /* random, the same in each packet of the section */
	uint32_t nattrs;
	struct ctp_attr {
		char *name, *value;
	} attrs[CTP_ATTRS_MAX];
	size_t bytes;           /* of all names and values */
	int64_t wall_offset_ns; /* add to a time of the section's clock; 0 where that clock has none */
	bool has_wall;          /* never of an ordinal section */
	bool filtered;          /* records were left out on purpose: ctp-filter.1 */
	bool ordinal;           /* its times are numbers of records: an order, and no time. No span of them has a length */
};

/* How a section ended. */
struct ctp_section_end {
	bool complete; /* the writer has closed the section, and no packet is missing */
	bool missing;  /* packets are missing */
	uint64_t missing_ns; /* records from before this time may be among those; 0: only at the end */
};

void ctp_section_init(struct ctp_section *sec); /* a new random id, no attributes */
void ctp_section_fini(struct ctp_section *sec);

/*
 * False where it would exceed a limit or repeat a name, or there is no memory: then nothing was added. wall_offset_ns, clock and
 * filtered also set the fields. addf cuts the value to 511 bytes.
 */
bool ctp_section_add(struct ctp_section *sec, const char *name, const char *value);
bool ctp_section_addf(struct ctp_section *sec, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool ctp_section_repeats(const struct ctp_section *sec, const char *name); /* such a name may not be added */
const char *ctp_section_get(const struct ctp_section *sec, const char *name); /* the first with this name, or null */

/* Adds host, machine, system and page_size, which any source knows; and tool, the name and version that are given. */
void ctp_section_add_host(struct ctp_section *sec, const char *tool);

CTP_C_END

#endif
