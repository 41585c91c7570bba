/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-waits.c - see sql-waits.h. */
#include "sql/sql-waits.h"

#include <stdlib.h>

#include "base/array.h"

static bool is_for_object(const struct ctp_reasons *r)
{
	uint32_t i = 0;
	while (i < r->n && !ctp_reason_is_object(&r->list[i]))
		i++;
	return i < r->n;
}

bool ctp_sql_waits_begin(struct ctp_sql_waits *w, const struct ctp_follow *follow, struct ctp_coroutine *co)
{
	const struct ctp_reasons *r = co->next ? ctp_objects_reasons(follow->objects, co->id, co->next - 1) : NULL;
	if (!r || !is_for_object(r))
		return true;
	if (!w->free) {
		if (!CTP_ARRAY_RESERVE(w->list, w->room, w->count + 2, CTP_FOLLOW_MAX + 1))
			return false;
		w->list[w->free = ++w->count].next_free = 0;
	}
	struct ctp_sql_wait *entry = &w->list[w->free];
	co->handle = w->free;
	w->free = entry->next_free;
	*entry = (struct ctp_sql_wait){.reasons = *r, .start_ns = co->suspended_ns, .index = co->next - 1, .where = co->where};
	return true;
}

struct ctp_sql_wait *ctp_sql_waits_of(const struct ctp_sql_waits *w, const struct ctp_coroutine *co)
{
	return co->handle ? &w->list[co->handle] : NULL;
}

void ctp_sql_waits_end(struct ctp_sql_waits *w, struct ctp_coroutine *co)
{
	w->list[co->handle] = (struct ctp_sql_wait){.next_free = w->free};
	w->free = co->handle;
	co->handle = 0;
}

void ctp_sql_waits_clear(struct ctp_sql_waits *w) { w->count = w->free = 0; }
void ctp_sql_waits_fini(struct ctp_sql_waits *w) { free(w->list); }
