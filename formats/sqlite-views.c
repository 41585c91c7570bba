/*
 * sqlite-views.c - the views that answer what people ask first.
 *
 * Loss makes no fact: what a view says of a time in which events of the coroutine are missing has certain = 0. A coroutine is
 * told by section and coro, and where a stream has no coro by section and probe_id. Its events are in the order of index, else of
 * ts. Partitions begin with probe_id, which changes nothing (a coroutine has one), because there is an index on it: what is
 * sorted is the events of one probe_id at a time, and a condition on it reads no others.
 */
#include "sqlite-db.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static enum ctp_status make_view(const struct ctp_sqlite *s, const char *name, const char *select, bool again,
                                 struct ctp_err *err)
{
	if (again && ctp_sqlite_exec(s, err, "DROP VIEW IF EXISTS %s", name))
		return CTP_FAILED;
	return ctp_sqlite_exec(s, err, "CREATE VIEW %s AS %s", name, select);
}

/* --- by kind ------------------------------------------------------------------------------------------------------------- */

#define CORO {"coro", "role = 'coroutine'"}
#define PROBE {"probe_id", "role = 'probe'"}
#define TIME {"ts", "role = 'time'"}
#define THREAD {"tid", "role = 'thread'"}
#define NAME {"name", "role = 'name'"}
#define SITE {"site", "role = 'site'"}
#define AFTER {"after", "role = 'time' AND name = 'after'"}
#define COUNT_OF {"count", "role = 'count'"}

/* A loss that is about a thread and no coroutine: wakes, names and the like are missing, and no transitions. */
#define OF_THREAD \
	"(EXISTS (SELECT 1 FROM fields f WHERE f.class = classes.id AND f.role = 'thread')" \
	" AND NOT EXISTS (SELECT 1 FROM fields f WHERE f.class = classes.id AND f.role IN ('coroutine', 'probe')))"

/* The classes of a kind may be several, each with its table: a view is all of them, with columns by role. */
static const struct kind_view {
	const char *view, *classes; /* which, by the table classes */
	struct {
		const char *column, *field; /* of the view; what to look for in the table fields */
	} columns[6];
} kind_views[] = {
	{"births", "kind = 'birth'", {CORO, PROBE, TIME, {"parent", "name = 'parent'"}, SITE, {"pid", "role = 'process'"}}},
	{"deaths", "kind = 'death'", {CORO, PROBE, AFTER, TIME}},
	{"conflicts", "kind = 'conflict'", {CORO, PROBE, TIME}},
	{"threads", "kind = 'thread'", {THREAD, NAME, TIME}},
	{"losses", "kind = 'loss' AND NOT " OF_THREAD, {CORO, PROBE, {"index", "role = 'sequence'"}, COUNT_OF, AFTER, TIME}},
	{"thread_losses", "kind = 'loss' AND " OF_THREAD, {THREAD, COUNT_OF, AFTER, TIME}},
	{"wakes", "kind = 'wake'", {CORO, PROBE, TIME, THREAD, {"by", "name = 'by'"}}},
	{"names", "kind = 'name'", {CORO, PROBE, TIME, NAME}},
	{"sites", "kind = 'site'", {SITE, {"file", "name = 'file'"}, {"line", "name = 'line'"},
	                            {"function", "role = 'name'"}, TIME}},
	{"functions", "kind = 'function'", {CORO, PROBE, TIME, {"addr", "role = 'address'"}, {"code", "name = 'code'"}}},
};

/* For the first column of a view, by which it is searched. It is for speed alone: if its name is taken, there is none. */
static enum ctp_status make_index(const struct ctp_sqlite *s, const char *table, const char *column, struct ctp_err *err)
{
	char *name = sqlite3_mprintf("idx_%s_%s", table, column);
	int64_t taken = name ? ctp_sqlite_is_taken(s, name, err) : ctp_err_set(err, "%s: out of memory", s->name);
	enum ctp_status status = taken < 0 ? CTP_FAILED : CTP_OK;
	if (!taken)
		status = ctp_sqlite_exec(s, err, "CREATE INDEX \"%w\" ON \"%w\" (section, \"%w\")", name, table, column);
	sqlite3_free(name);
	return status;
}

/* What one table gives to the view. */
static enum ctp_status append_select(sqlite3_str *sql, const struct ctp_sqlite *s, const struct kind_view *v, int64_t class,
                                     const char *table, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	for (size_t i = 0; i < COUNT(v->columns) && v->columns[i].column && !status; i++) {
		sqlite3_stmt *field = ctp_sqlite_prepare(s, err, "SELECT column_name FROM fields WHERE class = %lld AND %s"
		                                                 " ORDER BY position LIMIT 1", class, v->columns[i].field);
		if (!field)
			return CTP_FAILED;
		const char *column = sqlite3_step(field) == SQLITE_ROW ? (const char *)sqlite3_column_text(field, 0) : NULL;
		if (column)
			sqlite3_str_appendf(sql, ", \"%w\" AS \"%w\"", column, v->columns[i].column);
		else
			sqlite3_str_appendf(sql, ", NULL AS \"%w\"", v->columns[i].column);
		if (i == 0 && column)
			status = make_index(s, table, column, err);
		sqlite3_finalize(field);
	}
	sqlite3_str_appendf(sql, " FROM \"%w\"", table);
	return status;
}

static enum ctp_status make_kind_view(const struct ctp_sqlite *s, const struct kind_view *v, bool again, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	sqlite3_stmt *class = ctp_sqlite_prepare(s, err, "SELECT id, table_name FROM classes WHERE %s ORDER BY id",
	                                         v->classes);
	if (!class)
		return CTP_FAILED;
	sqlite3_str *sql = sqlite3_str_new(s->db);
	for (int i = 0; !status && sqlite3_step(class) == SQLITE_ROW; i++) {
		const char *table = (const char *)sqlite3_column_text(class, 1);
		sqlite3_str_appendall(sql, i ? " UNION ALL SELECT section" : "SELECT section");
		status = append_select(sql, s, v, sqlite3_column_int64(class, 0), table, err);
	}
	char *select = sqlite3_str_finish(sql);
	if (sqlite3_finalize(class) && !status)
		status = ctp_sqlite_error(s, err);
	if (!status)
		status = make_view(s, v->view, select, again, err);
	sqlite3_free(select);
	return status;
}

/* --- the views ----------------------------------------------------------------------------------------------------------- */

/* Whether two wrote to the station of x's coroutine: its indexes say nothing. */
#define CONFLICT(x) "EXISTS (SELECT 1 FROM conflicts c WHERE c.section IS " x ".section AND c.coro = " x ".coro)"

/* Whether events of x's coroutine may be missing: a loss for which `when` holds, or a conflict. */
#define LOST(x, when) \
	"(EXISTS (SELECT 1 FROM losses l WHERE l.section IS " x ".section AND l.coro = " x ".coro AND " when ")" \
	" OR EXISTS (SELECT 1 FROM losses l WHERE l.section IS " x ".section AND nullif(l.coro, 0) IS NULL" \
	"            AND coalesce(l.probe_id IN (0, '0', " x ".probe_id), 1) AND " when ")" \
	" OR " x ".coro IS NULL AND EXISTS (SELECT 1 FROM losses l WHERE l.section IS " x ".section" \
	"                                   AND l.probe_id = " x ".probe_id AND " when ")" \
	" OR " CONFLICT(x) ")"

/* A loss l behind the event e, and before the next of its coroutine that is known. */
#define BEHIND_E \
	"CASE WHEN l.\"index\" IS NOT NULL AND nullif(l.coro, 0) IS NOT NULL THEN l.\"index\" > e.\"index\"" \
	" ELSE coalesce(l.ts > e.ts AND (e.next_ts IS NULL OR coalesce(l.after, e.ts) < e.next_ts), 1) END"

/* When x's coroutine died, if it did: the latest d.ts, which is when that was known, or what else of d is asked for. */
#define DEATH(x, what) \
	"coalesce((SELECT max(" what ") FROM deaths d WHERE d.section IS " x ".section AND d.coro = " x ".coro)," \
	" (SELECT max(" what ") FROM deaths d WHERE " x ".coro IS NULL AND d.section IS " x ".section" \
	"  AND d.probe_id = " x ".probe_id AND d.ts >= " x ".ts))"

/* What the number of a place in the source stands for, as the other tools spell it. */
#define SITE_TEXT(x, number) \
	"(SELECT nullif(coalesce(p.file, '') || iif(p.line <> 0, ':' || p.line, '')" \
	"               || iif(p.function <> '', ':' || p.function, ''), '')" \
	" FROM sites p WHERE p.section IS " x ".section AND p.site = " number " AND p.site <> 0 ORDER BY p.ts DESC LIMIT 1)"

/*
 * The same of where x's coroutine is suspended: else what the address is, or which function the coroutine is, if its transitions
 * have the address of its frame.
 */
#define PLACE_TEXT(x) \
	"coalesce(" SITE_TEXT(x, x ".site") "," \
	" (SELECT y.text FROM symbols y WHERE y.section IS " x ".section AND y.addr = " x ".addr)," \
	" (SELECT y.text FROM functions f JOIN symbols y ON y.section IS f.section AND y.addr = f.code" \
	"  WHERE f.section IS " x ".section AND f.coro = " x ".coro ORDER BY f.ts DESC LIMIT 1))"

#define BIRTH(x, what) "(SELECT b." what " FROM births b WHERE b.section IS " x ".section AND b.coro = " x ".coro LIMIT 1)"

/* Of a coroutine x that is suspended since x.since_ns: the last wake w. */
#define WAKE(x, what) \
	"iif(" x ".state = 'suspended', (SELECT " what " FROM wakes w WHERE w.section IS " x ".section" \
	" AND w.coro = " x ".coro AND w.ts >= " x ".since_ns ORDER BY w.ts DESC LIMIT 1), NULL)"

/* Whether such a one could have been woken without a record of it: some are missing, or the program writes none. */
#define WAKE_UNKNOWN(x) \
	"(NOT " x ".certain" \
	" OR EXISTS (SELECT 1 FROM thread_losses l WHERE l.section IS " x ".section AND l.ts >= " x ".since_ns)" \
	" OR NOT EXISTS (SELECT 1 FROM wakes w WHERE w.section IS " x ".section))"

/* A death that was only observed lies between d.after and d.ts: an interval lasted to the first at least. */
#define STOP "coalesce(next_ts, max(ts, alive_ns), end_ns)"

static const struct {
	const char *name, *select;
} views[] = {
	/* Each transition, with when its coroutine had the next. */
	{"steps",
	 "SELECT id, section, coro, probe_id, tid, addr, seq, is_active, ts, \"index\", site,"
	 " lead(ts) OVER w AS next_ts, lead(\"index\") OVER w AS next_index FROM coro_trace_events"
	 " WINDOW w AS (PARTITION BY probe_id, section, coro ORDER BY \"index\", ts, id)"},

	/* The time from one to the next, or to the coroutine's death, or to the end of the section. exact: it is known when it ended. */
	{"intervals",
	 "SELECT id, section, coro, probe_id, is_active, tid, addr, site, ts AS start_ns, " STOP " AS stop_ns,"
	 " " STOP " - ts AS duration_ns, next_ts IS NULL AND death_ns IS NULL AS open, death_ns,"
	 " coalesce(alive_ns >= death_ns, 1) AS exact,"
	 " CASE WHEN \"index\" IS NULL THEN 0 WHEN next_index = \"index\" + 1 THEN NOT " CONFLICT("e")
	 " WHEN next_index IS NOT NULL THEN 0"
	 " WHEN complete IS NOT 1 THEN 0"
	 " ELSE NOT " LOST("e", BEHIND_E) " END AS certain"
	 " FROM (SELECT e.*, s.end_ns, s.complete, CASE WHEN e.next_ts IS NULL THEN " DEATH("e", "d.ts") " END AS death_ns,"
	 "       CASE WHEN e.next_ts IS NULL THEN " DEATH("e", "coalesce(d.after, d.ts)") " END AS alive_ns"
	 "       FROM steps e LEFT JOIN sections s ON s.id = e.section) e"},

	{"run_intervals",
	 "SELECT id, section, coro, probe_id, tid, addr, start_ns, stop_ns, duration_ns, open, certain AND exact AS certain"
	 " FROM intervals WHERE is_active = 1"},

	{"wait_intervals",
	 "SELECT id, section, coro, probe_id, addr, tid, start_ns, stop_ns, duration_ns, open, certain AND exact AS certain,"
	 " site, " PLACE_TEXT("i") " AS site_text FROM intervals i WHERE is_active = 0"},

	{"longest_waits", "SELECT * FROM wait_intervals ORDER BY duration_ns DESC"},

	{"suspend_addresses",
	 "SELECT section, addr, count(*) AS waits, sum(duration_ns) AS total_ns, max(duration_ns) AS max_ns,"
	 " sum(open) AS still_waiting, sum(NOT certain) AS uncertain,"
	 " (SELECT y.text FROM symbols y WHERE y.section IS w.section AND y.addr = w.addr) AS addr_text"
	 " FROM wait_intervals w GROUP BY section, addr ORDER BY total_ns DESC"},

	{"suspend_sites",
	 "SELECT section, site, " SITE_TEXT("w", "w.site") " AS site_text, waits, total_ns, max_ns, still_waiting, uncertain"
	 " FROM (SELECT section, site, count(*) AS waits, sum(duration_ns) AS total_ns, max(duration_ns) AS max_ns,"
	 "       sum(open) AS still_waiting, sum(NOT certain) AS uncertain FROM wait_intervals GROUP BY section, site) w"
	 " ORDER BY total_ns DESC"},

	{"thread_runs",
	 "SELECT section, tid, (SELECT t.name FROM threads t WHERE t.section IS r.section AND t.tid = r.tid"
	 "                      AND t.name IS NOT NULL ORDER BY t.ts DESC LIMIT 1) AS thread,"
	 " coro, probe_id, start_ns, stop_ns, duration_ns, open, certain FROM run_intervals r"},

	/* By the last interval of each, and the birth of those without, uncertain where another table may have some. */
	{"coroutine_states",
	 "SELECT section, coro, probe_id, state, since_ns, for_ns, tid, addr, certain,"
	 " (SELECT n.name FROM names n WHERE n.section IS c.section AND n.coro = c.coro ORDER BY n.ts DESC LIMIT 1) AS name,"
	 " iif(state = 'suspended', " PLACE_TEXT("c") ", NULL) AS site_text,"
	 " CASE WHEN state <> 'suspended' THEN NULL WHEN " WAKE("c", "1") " THEN 1"
	 " WHEN " WAKE_UNKNOWN("c") " THEN NULL ELSE 0 END AS woken,"
	 " " WAKE("c", "w.ts") " AS woken_ns, nullif(" WAKE("c", "w.\"by\"") ", 0) AS woken_by,"
	 " nullif(" BIRTH("c", "parent") ", 0) AS parent, " SITE_TEXT("c", BIRTH("c", "site")) " AS spawn_site_text,"
	 " " BIRTH("c", "ts") " AS born_ns"
	 " FROM (SELECT section, coro, probe_id,"
	 " CASE WHEN death_ns IS NOT NULL THEN 'dead' WHEN is_active THEN 'running' ELSE 'suspended' END AS state,"
	 " coalesce(death_ns, start_ns) AS since_ns,"
	 " CASE WHEN death_ns IS NULL THEN duration_ns ELSE end_ns - death_ns END AS for_ns, tid, addr, certain, site"
	 " FROM (SELECT i.*, s.end_ns FROM intervals i LEFT JOIN sections s ON s.id = i.section"
	 "       WHERE open OR death_ns IS NOT NULL)"
	 " UNION ALL SELECT b.section, b.coro, b.probe_id, CASE WHEN death_ns IS NULL THEN 'born' ELSE 'dead' END,"
	 " coalesce(death_ns, b.ts), s.end_ns - coalesce(death_ns, b.ts), NULL, NULL,"
	 " coalesce(s.complete OR death_ns IS NOT NULL, 0) AND NOT " LOST("b", "1")
	 " AND (death_ns IS NOT NULL OR b.probe_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM classes"
	 "      WHERE kind = 'transition' AND table_name <> 'coro_trace_events')), NULL"
	 " FROM (SELECT births.*, " DEATH("births", "d.ts") " AS death_ns FROM births) b"
	 " LEFT JOIN sections s ON s.id = b.section"
	 " WHERE NOT EXISTS (SELECT 1 FROM coro_trace_events t WHERE t.probe_id = b.probe_id"
	 "                   AND t.section IS b.section AND coalesce(t.coro = b.coro, 1))) c"},

	{"wall_times",
	 "SELECT strftime('%Y-%m-%dT%H:%M:%S', (wall_ns - (wall_ns < 0) * 999999999) / 1000000000, 'unixepoch')"
	 " || printf('.%09dZ', (wall_ns % 1000000000 + 1000000000) % 1000000000) AS wall, *"
	 " FROM (SELECT e.ts + s.wall_offset_ns AS wall_ns, e.*"
	 "       FROM coro_trace_events e LEFT JOIN sections s ON s.id = e.section)"},
};

enum ctp_status ctp_sqlite_views(const struct ctp_sqlite *s, bool again, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	for (size_t i = 0; i < COUNT(kind_views) && !status; i++)
		status = make_kind_view(s, &kind_views[i], again, err);
	for (size_t i = 0; i < COUNT(views) && !status; i++)
		status = make_view(s, views[i].name, views[i].select, again, err);
	return status;
}
