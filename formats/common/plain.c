/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* plain.c - coroTracer's own rows. */
#include "common/plain.h"

#include <string.h>

#include "stream/events.h"
#include "symbols/sites.h"

const struct ctp_field ctp_plain_fields[CTP_PLAIN_FIELDS] = {
	[CTP_PLAIN_PROBE] = {.name = "probe_id", .type = CTP_U64, .role = CTP_ROLE_PROBE, .pred = CTP_PRED_KEY},
	[CTP_PLAIN_TID] = {.name = "tid", .type = CTP_U64, .role = CTP_ROLE_THREAD, .pred = CTP_PRED_SAME},
	[CTP_PLAIN_ADDR] = {.name = "addr", .type = CTP_U64, .role = CTP_ROLE_ADDRESS, .pred = CTP_PRED_STATE,
	                    .flags = CTP_FIELD_HEX},
	[CTP_PLAIN_SEQ] = {.name = "seq", .type = CTP_U64, .role = CTP_ROLE_SEQUENCE, .pred = CTP_PRED_STEP},
	[CTP_PLAIN_ACTIVE] = {.name = "is_active", .type = CTP_BOOL, .role = CTP_ROLE_STATE, .pred = CTP_PRED_TOGGLE},
	[CTP_PLAIN_TS] = {.name = "ts", .type = CTP_U64, .role = CTP_ROLE_TIME, .pred = CTP_PRED_TIME, .unit = "ns"},
};

struct ctp_class *ctp_plain_class(struct ctp_err *err)
{
	return ctp_class_new("transition", CTP_KIND_TRANSITION, ctp_plain_fields, CTP_PLAIN_FIELDS, err);
}

/* How many of these fields the class has, texts of sites not counted; 0: one of them is none of the class's. */
static uint32_t count_these(const struct ctp_class *cls, const struct ctp_field *fields, uint32_t n)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < n; i++)
		if (ctp_class_field(cls, fields[i].name) >= 0)
			count++;
		else if (!ctp_site_is_text(cls, fields[i].name))
			return 0;
	return count;
}

/* The class with these of its fields alone. Null: the class cannot be without one of the others. */
static struct ctp_class *narrowed(const struct ctp_class *cls, const struct ctp_field *fields, uint32_t n)
{
	struct ctp_field kept[CTP_FIELDS_MAX];
	struct ctp_err ignored;
	uint32_t count = 0;
	for (uint32_t i = 0; i < cls->nfields; i++) {
		uint32_t j = 0;
		while (j < n && strcmp(fields[j].name, cls->fields[i].name))
			j++;
		if (j < n)
			kept[count++] = cls->fields[i];
		else if ((int)i == cls->time_field || (int)i == cls->key_field || cls->fields[i].role == CTP_ROLE_COUNT)
			return NULL;
	}
	return ctp_class_new(cls->name, cls->kind, kept, count, &ignored);
}

struct ctp_class *ctp_plain_known(const char *name, const struct ctp_field *fields, uint32_t n)
{
	struct ctp_err ignored;
	struct ctp_class *found = NULL;
	for (int event = -1; event < CTP_EVENT_COUNT && !found; event++) {
		struct ctp_class *cls = event < 0 ? ctp_plain_class(&ignored) : ctp_event_class((enum ctp_event)event);
		uint32_t count = cls && (!name || !strcmp(cls->name, name)) ? count_these(cls, fields, n) : 0;
		if (count && (count == cls->nfields || (name && event >= 0)))
			found = narrowed(cls, fields, n);
		ctp_class_free(cls);
	}
	return found;
}
