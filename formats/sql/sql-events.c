/* sql-events.c - the name of the events' table, if it is not coroTracer's. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sql/sql.h"

enum { NAME_MAX_BYTES = 48 }; /* with idx_ and _probe_seq it is still a name anywhere */

static bool is_ours(const struct ctp_sql_views *v, const char *name)
{
	static const char *const tables[] = {"sections", "classes", "fields", "symbols", "coroutines_now"};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		if (!strcasecmp(name, tables[i]))
			return true;
	for (size_t i = 0; i < v->nkinds; i++)
		if (!strcasecmp(name, v->kinds[i].view))
			return true;
	for (size_t i = 0; i < v->nviews; i++)
		if (!strcasecmp(name, v->views[i].name))
			return true;
	return false;
}

enum ctp_status ctp_sql_events_check(const struct ctp_sql *db, struct ctp_err *err)
{
	size_t len = strlen(db->events);
	if (!len || len > NAME_MAX_BYTES)
		return ctp_err_set(err, "--table: a name has 1 to %d bytes", NAME_MAX_BYTES);
	if (is_ours(db->words->views, db->events))
		return ctp_err_set(err, "--table %s: another table or view beside the events has this name", db->events);
	char *possible = ctp_sql_name(db->words->naming, db->events, 1);
	enum ctp_status status = !possible ? ctp_err_set(err, "%s: out of memory", db->name) :
	                         strcmp(possible, db->events) ? ctp_err_set(err, "--table: no table can have this name") : CTP_OK;
	free(possible);
	return status;
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
