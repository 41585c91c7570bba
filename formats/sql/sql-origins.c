/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-origins.c - see sql-origins.h. */
#include "sql/sql-origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void ctp_sql_origins_fini(struct ctp_sql_origins *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		ctp_sql_end_fini(&o->list[i].end);
	free(o->list);
	ctp_map_fini(&o->map);
	*o = (struct ctp_sql_origins){0};
}

void ctp_sql_origins_begin(struct ctp_sql_origins *o, const struct ctp_section *sec)
{
	ctp_sql_origins_fini(o);
	o->merged = ctp_section_get(sec, "merged");
	o->failed = o->merged && !ctp_map_init(&o->map, 1);
}

static uint64_t hash_of(const void *list, uint32_t number) { return ((const struct ctp_sql_origin *)list)[number - 1].number; }

static bool is_it(const void *list, uint32_t number, const void *key) { return hash_of(list, number) == *(const uint64_t *)key; }

/* Null: there are too many, or no memory. */
static struct ctp_sql_origin *find(struct ctp_sql_origins *o, uint64_t number)
{
	uint32_t *slot = ctp_map_slot(&o->map, number, is_it, o->list, &number);
	if (*slot)
		return &o->list[*slot - 1];
	if (o->n == CTP_SQL_ORIGINS_MAX)
		return NULL;
	if (!CTP_ARRAY_RESERVE(o->list, o->room, o->n + 1, CTP_SQL_ORIGINS_MAX) || !ctp_map_reserve(&o->map, o->n, hash_of, o->list)) {
		o->failed = true;
		return NULL;
	}
	*ctp_map_slot(&o->map, number, is_it, o->list, &number) = o->n + 1;
	o->list[o->n] = (struct ctp_sql_origin){.number = number};
	return &o->list[o->n++];
}

static uint64_t named(const struct ctp_record *rec, const char *name)
{
	int i = ctp_class_field(rec->cls, name);
	return i < 0 || ctp_type_is_text(rec->cls->fields[i].type) ? 0 : rec->val[i];
}

static void take(struct ctp_sql_origins *o, const struct ctp_record *rec)
{
	const struct ctp_class *cls = rec->cls;
	int16_t *field = &o->field[cls->id];
	if (!*field) {
		int i = ctp_class_role(cls, CTP_ROLE_ORIGIN);
		*field = (int16_t)(i < 0 ? -1 : i + 1);
	}
	uint64_t number = ctp_record_number(rec, *field < 0 ? -1 : *field - 1);
	struct ctp_sql_origin *origin = number && cls->kind != CTP_KIND_ATTRIBUTE ? find(o, number) : NULL;
	if (!origin)
		return;
	if (cls->kind == CTP_KIND_ORIGIN) {
		origin->stride = named(rec, "stride");
		origin->state = named(rec, "state");
		origin->end.pid = ctp_record_number(rec, ctp_class_role(cls, CTP_ROLE_PROCESS));
	} else if (cls->time_field >= 0) {
		ctp_sql_end_record(&origin->end, rec);
	}
}

void ctp_sql_origins_records(struct ctp_sql_origins *o, const struct ctp_batch *batch)
{
	for (uint32_t i = 0; o->merged && i < batch->n && !o->failed; i++)
		take(o, &batch->rec[i]);
}

const struct ctp_sql_origin *ctp_sql_origins_of(const struct ctp_sql_origins *o, uint64_t number)
{
	for (uint64_t stride = 10; o->n && stride <= number; stride *= 10) {
		uint64_t origin = number % stride;
		uint32_t found = *ctp_map_slot(&o->map, origin, is_it, o->list, &origin);
		if (found && o->list[found - 1].stride == stride)
			return &o->list[found - 1];
		if (stride > UINT64_MAX / 10)
			break;
	}
	return NULL;
}
