/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-events.c - the name of the events' table, if it is not coroTracer's. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sql/sql.h"

enum { NAME_MAX_BYTES = 48 }; /* with idx_ and _probe_seq it is still a name anywhere */

const char *ctp_sql_view_name(const struct ctp_sql_views *v, size_t i)
{
	if (i < v->nkinds)
		return v->kinds[i].view;
	return i - v->nkinds < v->nviews ? v->views[i - v->nkinds].name : NULL;
}

/* The names that are ours beside the events', one after another; null: these were all. */
static const char *own_name(const struct ctp_sql_views *v, size_t i)
{
	static const char *const tables[] = {"sections", "classes", "fields", "symbols", "coroutines_now", "ctp_changes"};
	enum { TABLES = sizeof tables / sizeof *tables };
	if (i < TABLES)
		return tables[i];
	return ctp_sql_view_name(v, i - TABLES);
}

bool ctp_sql_is_own(const struct ctp_sql *db, const char *name)
{
	const char *own;
	for (size_t i = 0; (own = own_name(db->words->views, i)); i++)
		if (!strcasecmp(name, own))
			return true;
	return false;
}

enum ctp_status ctp_sql_events_check(const struct ctp_sql *db, struct ctp_err *err)
{
	size_t len = strlen(db->events);
	if (!len || len > NAME_MAX_BYTES)
		return ctp_err_set(err, "--table: a name has 1 to %d bytes", NAME_MAX_BYTES);
	if (ctp_sql_is_own(db, db->events))
		return ctp_err_set(err, "--table %s: another table or view beside the events has this name", db->events);
	char *possible = ctp_sql_name(db->words->naming, db->events, 1);
	bool is_possible = possible && !strcmp(possible, db->events);
	free(possible);
	if (!possible)
		return ctp_sql_no_memory(db, err);
	return is_possible ? CTP_OK : ctp_err_set(err, "--table: no table can have this name");
}

/* The first class of all is that of ctp-collect's events. */
enum ctp_status ctp_sql_events_alone(struct ctp_sql *db, const char *instead, struct ctp_err *err)
{
	enum ctp_status status;
	char *other = ctp_sql_find(db, &status, err, "SELECT table_name FROM classes ORDER BY id LIMIT 1");
	if (other && *other && !status && strcmp(other, db->events))
		status = ctp_err_set(err, "%s: its tables belong to the events of %.100s, not of %s; %s", db->name, other, db->events, instead);
	free(other);
	return status;
}

enum ctp_status ctp_sql_others(struct ctp_sql *db, const char *instead, struct ctp_err *err)
{
	const char *own;
	for (size_t i = 0; (own = own_name(db->words->views, i)); i++) {
		int64_t taken = ctp_sql_look_up(db, err, db->words->taken, own);
		if (taken)
			return taken < 0 ? CTP_FAILED : ctp_err_set(err, "%s: has a table or view %s that is no trace's; %s", db->name, own, instead);
	}
	return CTP_OK;
}
