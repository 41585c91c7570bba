/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * cacheray-classes.c - the tables of cacheray-classes.h.
 *
 * The key is the thread: there are few, and what a thread does next is near what it did last.
 */
#include "cacheray/cacheray-classes.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#define TS {.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME}
#define ADDRESS {.name = "address", .type = CTP_U64, .role = CTP_ROLE_ADDRESS, .pred = CTP_PRED_SAME, .flags = CTP_FIELD_HEX}
#define THREAD {.name = "thread", .type = CTP_U64, .role = CTP_ROLE_THREAD, .pred = CTP_PRED_KEY}

static const struct ctp_label ops[] = {
	{CTP_ACCESS_READ, "read"},
	{CTP_ACCESS_WRITE, "write"},
};

static const struct ctp_field access_fields[] = {
	[CTP_ACCESS_TS] = TS,
	[CTP_ACCESS_ADDRESS] = ADDRESS,
	[CTP_ACCESS_SIZE] = {.name = "size", .type = CTP_U8, .unit = "bytes", .pred = CTP_PRED_SAME},
	[CTP_ACCESS_THREAD] = THREAD,
	[CTP_ACCESS_OP] = {.name = "op", .type = CTP_ENUM, .pred = CTP_PRED_SAME, .labels = ops, .nlabels = COUNT(ops)},
	[CTP_ACCESS_ATOMIC] = {.name = "atomic", .type = CTP_BOOL, .pred = CTP_PRED_SAME},
	[CTP_ACCESS_UNALIGNED] = {.name = "unaligned", .type = CTP_BOOL, .pred = CTP_PRED_SAME},
};

static const struct ctp_field add_fields[] = {
	[CTP_ADD_TS] = TS,
	[CTP_ADD_ADDRESS] = ADDRESS,
	[CTP_ADD_THREAD] = THREAD,
	[CTP_ADD_ELEMENT] = {.name = "element_size", .type = CTP_U32, .unit = "bytes", .pred = CTP_PRED_SAME},
	[CTP_ADD_COUNT] = {.name = "count", .type = CTP_U32, .pred = CTP_PRED_SAME},
	[CTP_ADD_TYPE] = {.name = "type", .type = CTP_STRING, .pred = CTP_PRED_SAME},
};

static const struct ctp_field remove_fields[] = {
	[CTP_REMOVE_TS] = TS,
	[CTP_REMOVE_ADDRESS] = ADDRESS,
	[CTP_REMOVE_THREAD] = THREAD,
};

static const struct ctp_field damage_fields[] = {
	[CTP_DAMAGE_TS] = TS,
	[CTP_DAMAGE_OFFSET] = {.name = "offset", .type = CTP_U64, .unit = "bytes", .pred = CTP_PRED_NONE},
	[CTP_DAMAGE_BYTES] = {.name = "bytes", .type = CTP_U64, .unit = "bytes", .pred = CTP_PRED_NONE},
};

_Static_assert(COUNT(access_fields) == CTP_ACCESS_FIELDS && COUNT(add_fields) == CTP_ADD_FIELDS &&
               COUNT(remove_fields) == CTP_REMOVE_FIELDS && COUNT(damage_fields) == CTP_DAMAGE_FIELDS,
               "a field for each name of cacheray-classes.h");

const struct ctp_cacheray_sort ctp_cacheray_sorts[CTP_CACHERAY_EVENTS] = {
	[CTP_CACHERAY_ACCESS] = {"cacheray_access", CTP_KIND_OTHER, access_fields, COUNT(access_fields)},
	[CTP_CACHERAY_ADD] = {"cacheray_add", CTP_KIND_OTHER, add_fields, COUNT(add_fields)},
	[CTP_CACHERAY_REMOVE] = {"cacheray_remove", CTP_KIND_OTHER, remove_fields, COUNT(remove_fields)},
	[CTP_CACHERAY_DAMAGE] = {"cacheray_damage", CTP_KIND_LOSS, damage_fields, COUNT(damage_fields)},
};

struct ctp_class *ctp_cacheray_class(enum ctp_cacheray_event event)
{
	const struct ctp_cacheray_sort *of = &ctp_cacheray_sorts[event];
	struct ctp_err err;
	return ctp_class_new(of->name, of->kind, of->fields, of->nfields, &err);
}
