/* sqlite-twin.c - see sqlite-twin.h. */
#include "sqlite/sqlite-twin.h"

#include <stdlib.h>

static bool has_number(const struct ctp_class *cls, enum ctp_role role) { return ctp_sqlite_by_role(cls, "", role) >= 0; }

bool ctp_sqlite_has_twin(const struct ctp_class *cls)
{
	return cls->kind == CTP_KIND_TRANSITION && !ctp_sqlite_is_event(cls) && cls->time_field >= 0 &&
	       has_number(cls, CTP_ROLE_STATE) && (has_number(cls, CTP_ROLE_COROUTINE) || has_number(cls, CTP_ROLE_PROBE));
}

/* Fills t->from, and makes the class of these fields. A class without a coroutine has the probe's id as its key. */
static struct ctp_class *make_class(struct ctp_sqlite_twin *t, const struct ctp_class *cls, struct ctp_err *err)
{
	struct ctp_field kept[CTP_TRANSITION_FIELDS];
	uint32_t n = 0;
	struct ctp_class *whole = ctp_event_class(CTP_TRANSITION), *made = NULL;
	for (uint32_t i = 0; whole && i < whole->nfields; i++) {
		const struct ctp_field *f = &whole->fields[i];
		int from = ctp_sqlite_by_role(cls, f->name, f->role);
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
		ctp_err_set(err, "class %.100s: out of memory", cls->name);
	ctp_class_free(whole);
	return made;
}

struct ctp_sqlite_twin *ctp_sqlite_twin_new(const struct ctp_sqlite *s, const struct ctp_sqlite_events *events, int64_t section,
                                            const struct ctp_class *cls, struct ctp_err *err)
{
	struct ctp_sqlite_twin *t = calloc(1, sizeof *t);
	if (!t) {
		ctp_err_set(err, "%s: out of memory", s->name);
		return NULL;
	}
	t->cls = make_class(t, cls, err);
	sqlite3_stmt *insert = t->cls && !events ? ctp_sqlite_insert(s, t->cls, err) : NULL;
	if (t->cls && events)
		t->columns = ctp_sqlite_columns(s, t->cls, err);
	else if (insert && !(t->batch = ctp_sqlite_batch_new(t->cls, insert, section)))
		ctp_err_set(err, "%s: out of memory", s->name);
	if (t->columns || t->batch)
		return t;
	ctp_sqlite_twin_free(t);
	return NULL;
}

void ctp_sqlite_twin_free(struct ctp_sqlite_twin *t)
{
	if (!t)
		return;
	ctp_sqlite_batch_free(t->batch);
	free(t->columns);
	ctp_class_free(t->cls);
	free(t);
}

void ctp_sqlite_twin_values(const struct ctp_sqlite_twin *t, const uint64_t *val, uint64_t twin[CTP_TRANSITION_FIELDS])
{
	for (uint32_t i = 0; i < t->cls->nfields; i++)
		twin[i] = t->from[i] < 0 ? 0 : val[t->from[i]];
	twin[CTP_TRANSITION_ACTIVE] = twin[CTP_TRANSITION_ACTIVE] != 0;
}
