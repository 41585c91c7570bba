/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-twin.c - see sql-twin.h. */
#include "sql/sql-twin.h"

#include <stdlib.h>

static bool has_number(const struct ctp_class *cls, enum ctp_role role) { return ctp_sql_by_role(cls, "", role) >= 0; }

bool ctp_sql_has_twin(const struct ctp_class *cls)
{
	return cls->kind == CTP_KIND_TRANSITION && !ctp_sql_is_event(cls) && cls->time_field >= 0 &&
	       has_number(cls, CTP_ROLE_STATE) && (has_number(cls, CTP_ROLE_COROUTINE) || has_number(cls, CTP_ROLE_PROBE));
}

/* Fills t->from, and makes the class of these fields. A class without a coroutine has the probe's id as its key. */
static struct ctp_class *make_class(struct ctp_sql_twin *t, const struct ctp_class *cls, struct ctp_err *err)
{
	struct ctp_field kept[CTP_TRANSITION_FIELDS];
	uint32_t n = 0;
	struct ctp_class *whole = ctp_event_class(CTP_TRANSITION), *made = NULL;
	for (uint32_t i = 0; whole && i < whole->nfields; i++) {
		const struct ctp_field *f = &whole->fields[i];
		int from = ctp_sql_by_role(cls, f->name, f->role);
		if (from >= 0 && (ctp_type_is_text(cls->fields[from].type) || ctp_type_is_float(cls->fields[from].type)))
			from = -1;
		if (from < 0 && f->flags & CTP_FIELD_EXTRA)
			continue;
		kept[n] = *f;
		t->from[n++] = from;
	}
	if (!has_number(cls, CTP_ROLE_COROUTINE))
		kept[CTP_TRANSITION_PROBE].pred = CTP_PRED_KEY;
	if (whole)
		made = ctp_class_new(whole->name, CTP_KIND_TRANSITION, kept, n, err);
	else
		ctp_err_as(err, CTP_ERR_MEMORY, "class %.100s: out of memory", cls->name);
	ctp_class_free(whole);
	return made;
}

struct ctp_sql_twin *ctp_sql_twin_new(struct ctp_sql *db, const struct ctp_class *cls, struct ctp_err *err)
{
	struct ctp_sql_twin *t = calloc(1, sizeof *t);
	if (!t)
		return ctp_sql_no_memory(db, err), NULL;
	t->cls = make_class(t, cls, err);
	int64_t id = t->cls ? ctp_sql_class(db, t->cls, err) : -1;
	if (id > 0 && (t->rows = db->ops->rows(db, t->cls, id, err)))
		return t;
	ctp_sql_twin_free(db, t);
	return NULL;
}

void ctp_sql_twin_free(const struct ctp_sql *db, struct ctp_sql_twin *t)
{
	if (!t)
		return;
	db->ops->drop(t->rows);
	ctp_class_free(t->cls);
	free(t);
}

void ctp_sql_twin_values(const struct ctp_sql_twin *t, const uint64_t *val, uint64_t twin[CTP_TRANSITION_FIELDS])
{
	for (uint32_t i = 0; i < t->cls->nfields; i++)
		twin[i] = t->from[i] < 0 ? 0 : val[t->from[i]];
	twin[CTP_TRANSITION_ACTIVE] = twin[CTP_TRANSITION_ACTIVE] != 0;
}
