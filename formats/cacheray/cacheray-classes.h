/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cacheray-classes.h - the classes of a Cacheray trace, declared once.
 *
 * Those who read a stream find the fields by their names; the order below is for those who write one. Sections of such a trace have
 * clock=ordinal: ts is the number of a record, from 0, over all records of the trace. Their attributes say how the trace is
 * spelled: CTP_CACHERAY_ORDER is "little" or "big", CTP_CACHERAY_ADDRESS is "8" or "4".
 */
#ifndef CTP_CACHERAY_CLASSES_H
#define CTP_CACHERAY_CLASSES_H

#include "stream/schema.h"

#define CTP_CACHERAY_ORDER "cacheray.byte_order"
#define CTP_CACHERAY_ADDRESS "cacheray.address_bytes"

enum ctp_cacheray_event {
	CTP_CACHERAY_ACCESS, /* cacheray_access */
	CTP_CACHERAY_ADD,    /* cacheray_add: a region of memory has a type from now on */
	CTP_CACHERAY_REMOVE, /* cacheray_remove: and no more */
	CTP_CACHERAY_DAMAGE, /* cacheray_damage: of kind loss; what stood there is no record */
	CTP_CACHERAY_EVENTS
};

enum { CTP_ACCESS_TS, CTP_ACCESS_ADDRESS, CTP_ACCESS_SIZE, CTP_ACCESS_THREAD, CTP_ACCESS_OP, CTP_ACCESS_ATOMIC,
       CTP_ACCESS_UNALIGNED, CTP_ACCESS_FIELDS };
enum ctp_access_op { CTP_ACCESS_READ, CTP_ACCESS_WRITE };

/* The region is [address, address + element_size * count). */
enum { CTP_ADD_TS, CTP_ADD_ADDRESS, CTP_ADD_THREAD, CTP_ADD_ELEMENT, CTP_ADD_COUNT, CTP_ADD_TYPE, CTP_ADD_FIELDS };
enum { CTP_REMOVE_TS, CTP_REMOVE_ADDRESS, CTP_REMOVE_THREAD, CTP_REMOVE_FIELDS };

/* So many bytes of the trace from this offset on. How many records they were is not known: no field says a count. */
enum { CTP_DAMAGE_TS, CTP_DAMAGE_OFFSET, CTP_DAMAGE_BYTES, CTP_DAMAGE_FIELDS };

/* What the classes are made of. The first field of each is ts. */
extern const struct ctp_cacheray_sort {
	const char *name;
	enum ctp_kind kind;
	const struct ctp_field *fields;
	uint32_t nfields;
} ctp_cacheray_sorts[CTP_CACHERAY_EVENTS];

/* A new class of this sort, the caller's to free. Null: out of memory. */
struct ctp_class *ctp_cacheray_class(enum ctp_cacheray_event event);

#endif
