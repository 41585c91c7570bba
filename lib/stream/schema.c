/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* schema.c - the names of types, roles, predictors and kinds; searches in a class. */
#include "stream/schema.h"

#include <string.h>

static const char *const type_names[] = {NULL, "u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "bool", "enum", "f32", "f64",
                                         "string", "bytes"};
static const char *const role_names[] = {"none", "time", "thread", "process", "address", "coroutine", "probe", "state",
                                         "sequence", "count", "unverified", "name", "site", "origin"};
static const char *const pred_names[] = {"none", "time", "key", "prev", "same", "state", "step", "toggle"};
static const char *const kind_names[] = {"other", "transition", "birth", "death", "loss", "end", "thread", "mapping",
                                         "untraced", "conflict", "wake", "name", "site", "await", "function", "process",
                                         "sample", "signal", "reason", "object", "label", "hold", "cause",
                                         "descriptor", "left_out", "clock", "origin", "attribute", "finding"};

#define COUNT(a) (sizeof(a) / sizeof *(a))
_Static_assert(COUNT(type_names) == CTP_TYPE_COUNT, "a type has no name");
_Static_assert(COUNT(role_names) == CTP_ROLE_COUNT_, "a role has no name");
_Static_assert(COUNT(pred_names) == CTP_PRED_COUNT, "a predictor has no name");
_Static_assert(COUNT(kind_names) == CTP_KIND_COUNT, "a kind has no name");

const char *ctp_type_name(unsigned type) { return type < COUNT(type_names) ? type_names[type] : NULL; }
const char *ctp_role_name(unsigned role) { return role < COUNT(role_names) ? role_names[role] : NULL; }
const char *ctp_pred_name(unsigned pred) { return pred < COUNT(pred_names) ? pred_names[pred] : NULL; }
const char *ctp_kind_name(unsigned kind) { return kind < COUNT(kind_names) ? kind_names[kind] : NULL; }

int ctp_class_field(const struct ctp_class *cls, const char *name)
{
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (!strcmp(cls->fields[i].name, name))
			return (int)i;
	return -1;
}

int ctp_class_role(const struct ctp_class *cls, enum ctp_role role)
{
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (cls->fields[i].role == role)
			return (int)i;
	return -1;
}

const char *ctp_field_label(const struct ctp_field *field, uint64_t value)
{
	for (uint32_t i = 0; i < field->nlabels; i++)
		if (field->labels[i].value == value)
			return field->labels[i].name;
	return NULL;
}
