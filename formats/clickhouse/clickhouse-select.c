/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-select.c - see clickhouse-select.h.
 *
 * 18.16 has no window functions, no subquery that refers to the row it is for, one JOIN for each SELECT, and its conditions are equalities
 * of columns. What follows each row is found in arrays: the rows of one coroutine, sorted. A lambda must not refer to another array, which
 * would be copied for each element. ARRAY JOIN of an expression copies the arrays in it for each row, so each has a name first. A server
 * stores a view as it prints it, and cannot read `x.2.1` or `x.2[1]` when it starts again, so an element is only taken of a column with a
 * name. A JOIN gives 0 for what it does not find, so each brings a column that is 1 if it does.
 *
 * Only coroutines whose transitions are numbered have steps and intervals. Conditions are those of sql/sql-views.h.
 */
#include "clickhouse/clickhouse-select.h"

/* Transitions of each coroutine, by index and time; `again`: some have the same index, which a conflict can give. */
#define SORTED \
	"SELECT section, c, arraySort(groupArray(tuple(i, ts, p, tid, addr, seq, is_active, place_number))) AS rows," \
	" arrayMap(x -> tuple(x.1, x.2, x.3), rows) AS heads, length(rows) AS n, arrayUniq(arrayMap(x -> x.1, rows)) < n AS again FROM (" \
	"SELECT section, assumeNotNull(coro) AS c, assumeNotNull(index) AS i, ts, assumeNotNull(probe_id) AS p, tid, addr, seq, is_active," \
	" ifNull(site, 0) AS place_number FROM {coro_trace_events} WHERE coro <> 0 AND index IS NOT NULL) GROUP BY section, c"

/* The same of those with `again`: by index, those with one index together. It takes five times as long. */
#define TOGETHER \
	"SELECT section, c, arraySort(groupArray(tuple(i, first_t, first_p, same))) AS groups, length(groups) AS n FROM (" \
	"SELECT section, c, r.1 AS i, arraySort(groupArray(r)) AS same, min(r.2) AS first_t, argMin(r.3, r.2) AS first_p" \
	" FROM (SELECT section, c, rows FROM (" SORTED ") WHERE again) ARRAY JOIN rows AS r GROUP BY section, c, i) GROUP BY section, c"

/* Each transition with the first one of the next index, if has_next. */
#define WITH_NEXT \
	"SELECT section, c, r.1 AS i, r.2 AS t, r.3 AS p, r.4 AS thread, r.5 AS address, r.6 AS s, r.7 AS active, r.8 AS place_number," \
	" next.1 AS next_i, next.2 AS next_t, next.3 AS next_p, at < n AS has_next FROM "
#define NEIGHBOURS \
	WITH_NEXT "(SELECT section, c, n, rows, arrayPushBack(arrayPopFront(heads), heads[1]) AS nexts, arrayEnumerate(rows) AS ats" \
	" FROM (" SORTED ") WHERE NOT again) ARRAY JOIN rows AS r, nexts AS next, ats AS at" \
	" UNION ALL " WITH_NEXT "(SELECT section, c, n, g.4 AS same, next, at FROM (SELECT section, c, n, groups," \
	" arrayPushBack(arrayPopFront(groups), groups[1]) AS nexts, arrayEnumerate(groups) AS ats FROM (" TOGETHER "))" \
	" ARRAY JOIN groups AS g, nexts AS next, ats AS at) ARRAY JOIN same AS r"

/* Of each coroutine of a merged section whose number has its origin: when that ended, and whether all of it is there. */
#define ORIGIN_ENDS \
	"SELECT section, c, max(e) AS origin_ns, max(w) AS origin_complete" \
	" FROM (SELECT section, c, stride, c % stride AS origin FROM (" \
	"SELECT DISTINCT section, assumeNotNull(coro) AS c FROM {coro_trace_events} WHERE coro <> 0" \
	" AND section IN (SELECT section_id FROM {delivered_origins_at_end})) AS coros_of" \
	" ALL INNER JOIN (SELECT DISTINCT section_id AS section, stride FROM {delivered_origins_at_end}) AS strides USING section) AS digits" \
	" ALL INNER JOIN (SELECT section_id AS section, stride, origin, end_ns AS e, complete AS w FROM {delivered_origins_at_end}) AS origins_of" \
	" USING section, stride, origin GROUP BY section, c"

/* What is known of a coroutine's end: its death, what was lost, conflicts, and its origin. A time of 0 with has_... 0 is none. */
#define ENDS \
	"SELECT section, c, max(d) AS died, argMax(a, d) AS alive, max(hd) AS has_death, max(li) AS lost_i, max(hli) AS has_lost_i, max(lt) AS lost_t," \
	" max(hlt) AS has_lost_t, max(hc) AS has_conflict, min(ct) AS conflict_t, max(oe) AS origin_ns, max(ow) AS origin_complete, max(ho) AS has_origin FROM (" \
	"SELECT section, assumeNotNull(coro) AS c, assumeNotNull(ts) AS d, assumeNotNull(ifNull(after, ts)) AS a, 1 AS hd, toUInt64(0) AS li, 0 AS hli," \
	" toUInt64(0) AS lt, 0 AS hlt, 0 AS hc, 18446744073709551615 AS ct, toUInt64(0) AS oe, 0 AS ow, 0 AS ho FROM {deaths} WHERE coro <> 0" \
	" UNION ALL SELECT section, assumeNotNull(coro) AS c, toUInt64(0) AS d, toUInt64(0) AS a, 0 AS hd, ifNull(index, 0) AS li, index IS NOT NULL AS hli," \
	" if(index IS NULL, ifNull(ts, 0), 0) AS lt, index IS NULL AND ts IS NOT NULL AS hlt, 0 AS hc, 18446744073709551615 AS ct," \
	" toUInt64(0) AS oe, 0 AS ow, 0 AS ho FROM {losses} WHERE coro <> 0" \
	" UNION ALL SELECT section, assumeNotNull(coro) AS c, toUInt64(0) AS d, toUInt64(0) AS a, 0 AS hd, toUInt64(0) AS li, 0 AS hli, toUInt64(0) AS lt," \
	" 0 AS hlt, 1 AS hc, ifNull(ts, 0) AS ct, toUInt64(0) AS oe, 0 AS ow, 0 AS ho FROM {conflicts} WHERE coro <> 0" \
	" UNION ALL SELECT section, c, toUInt64(0) AS d, toUInt64(0) AS a, 0 AS hd, toUInt64(0) AS li, 0 AS hli, toUInt64(0) AS lt, 0 AS hlt, 0 AS hc," \
	" 18446744073709551615 AS ct, origin_ns AS oe, origin_complete AS ow, 1 AS ho FROM (" ORIGIN_ENDS ")) GROUP BY section, c"

/* Of each section: when it ended, whether it is whole, and the last time at which an event of nobody was lost. */
#define SECTION_ENDS \
	"SELECT section, max(e) AS end_ns, max(he) AS has_end, max(w) AS complete, max(o) AS ordinal, max(nt) AS nobody_t, max(hn) AS has_nobody," \
	" max(m) AS has_origins FROM (" \
	"SELECT section_id AS section, end_ns AS e, has_end AS he, complete AS w, clock = 'ordinal' AS o, toUInt64(0) AS nt, 0 AS hn, 0 AS m FROM {delivered_sections}" \
	" UNION ALL SELECT section_id AS section, toUInt64(0) AS e, 0 AS he, 0 AS w, 0 AS o, toUInt64(0) AS nt, 0 AS hn, 1 AS m FROM {delivered_origins_at_end}" \
	" UNION ALL SELECT section, toUInt64(0) AS e, 0 AS he, 0 AS w, 0 AS o, ifNull(ts, 18446744073709551615) AS nt, 1 AS hn, 0 AS m" \
	" FROM {losses} WHERE ifNull(coro, 0) = 0 AND ifNull(probe_id, 0) = 0) GROUP BY section"

/* Names of places, threads and coroutines: the last that each had. */
#define PLACES \
	"SELECT section, assumeNotNull(site) AS s, argMax(concat(ifNull(file, ''), if(line <> 0, concat(':', toString(line)), '')," \
	" if(function <> '', concat(':', function), '')), ts) AS place FROM {sites} WHERE site <> 0 GROUP BY section, s"
#define THREADS "SELECT section, tid, argMax(name, ts) AS thread_name FROM {threads} GROUP BY section, tid"
#define NAMES "SELECT section, assumeNotNull(coro) AS c, argMax(name, ts) AS called FROM {names} WHERE coro <> 0 GROUP BY section, c"

#define STEPS \
	"SELECT section, c, i, t, p, thread, address, s, active, place_number, next_i, next_t," \
	" has_death AND p = 0 AND t > died AS stale, has_next AND NOT (next_p = 0 AND p <> 0 AND has_death AND next_t > died) AS followed," \
	" died, alive, has_death, lost_i, has_lost_i, lost_t, has_lost_t, has_conflict, conflict_t, origin_ns, origin_complete, has_origin" \
	" FROM (" NEIGHBOURS ") AS steps_of ANY LEFT JOIN (" ENDS ") AS ends USING section, c"

/* Whether another had written in its place by the next transition or the death. */
#define IN_CONFLICT "has_conflict AND if(followed, conflict_t <= next_t, if(has_death, conflict_t <= died, 1))"
#define BEHIND "(has_lost_i AND lost_i > i OR has_lost_t AND lost_t > t)"

#define WAIT_COUNTS \
	"count() AS waits, sum(duration_ns) AS total_ns, max(duration_ns) AS max_ns, countIf(open) AS still_waiting, countIf(NOT certain) AS uncertain," \
	" countIf(duration_ns IS NULL) AS unknown"

const struct ctp_sql_view ctp_clickhouse_selects[] = {
	{"delivered_sections",
	 "SELECT * FROM {sections} WHERE (section_id, delivery) IN (SELECT section_id, delivery FROM {deliveries})"
	 " ORDER BY section_id, delivery, state DESC, rows DESC LIMIT 1 BY section_id, delivery"},

	{"steps",
	 "SELECT section, c AS coro, p AS probe_id, thread AS tid, address AS addr, s AS seq, active AS is_active, t AS ts, i AS index, place_number AS site,"
	 " if(followed, next_t, NULL) AS next_ts, if(followed, next_i, NULL) AS next_index, if(followed, next_i <> i + 1, NULL) AS gap,"
	 " " IN_CONFLICT " AS conflict FROM (" STEPS ") WHERE NOT stale"},

	{"intervals",
	 "SELECT section, c AS coro, p AS probe_id, active AS is_active, thread AS tid, address AS addr, place_number AS site, i AS index, t AS start_ns,"
	 " multiIf(in_conflict, NULL, followed, if(next_i <> i + 1, NULL, greatest(t, next_t)), behind, NULL, has_death, greatest(t, alive),"
	 "         has_origin, origin_ns, has_end, end_ns, NULL) AS stop_ns, if(ordinal, NULL, stop_ns - t) AS duration_ns,"
	 " multiIf(followed OR has_death, 0, in_conflict OR behind, NULL, 1) AS open, if(NOT followed AND has_death, died, NULL) AS death_ns,"
	 " followed OR NOT has_death OR alive >= died AS exact,"
	 " multiIf(followed AND next_i <> i + 1 OR has_conflict, 0, followed, 1,"
	 "         if(has_origins, origin_complete, complete) AND NOT behind AND NOT (has_nobody AND nobody_t > t)) AS certain"
	 " FROM (SELECT *, " IN_CONFLICT " AS in_conflict, " BEHIND " AS behind FROM (" STEPS ") WHERE NOT stale) AS followed_steps"
	 " ANY LEFT JOIN (" SECTION_ENDS ") AS section_ends USING section"},

	{"run_intervals",
	 "SELECT section, coro, probe_id, tid, addr, start_ns, stop_ns, duration_ns, open, certain AND exact AS certain FROM {intervals} WHERE is_active"},

	{"wait_intervals",
	 "SELECT section, coro, probe_id, addr, tid, start_ns, stop_ns, duration_ns, open, sure AS certain, s AS site, if(place = '', NULL, place) AS site_text"
	 " FROM (SELECT section, coro, probe_id, addr, tid, start_ns, stop_ns, duration_ns, open, certain AND exact AS sure, site AS s"
	 "       FROM {intervals} WHERE NOT is_active) AS waits_of ANY LEFT JOIN (" PLACES ") AS places USING section, s"},

	{"longest_waits", "SELECT * FROM {wait_intervals} ORDER BY duration_ns DESC"},

	{"suspend_addresses",
	 "SELECT section, addr, " WAIT_COUNTS ", CAST(NULL AS Nullable(String)) AS addr_text FROM {wait_intervals} GROUP BY section, addr ORDER BY total_ns DESC"},

	{"suspend_sites",
	 "SELECT section, site, any(site_text) AS site_text, " WAIT_COUNTS " FROM {wait_intervals} GROUP BY section, site ORDER BY total_ns DESC"},

	{"thread_runs",
	 "SELECT section, tid, if(thread_name = '', NULL, thread_name) AS thread, coro, probe_id, start_ns, stop_ns, duration_ns, open, certain"
	 " FROM {run_intervals} ANY LEFT JOIN (" THREADS ") AS threads_of USING section, tid"},

	/*
	 * ClickHouse's own: from the first wake of a suspended coroutine until it runs. Nothing is lost in between if the transitions on both
	 * sides have numbers that follow each other; what comes after a conflict, or after the death, says nothing. A tuple sorts wakes first
	 * at one time.
	 */
	{"wake_latencies",
	 "SELECT section, coro, before.3 AS site, x.1 AS woken_ns, next.1 AS resumed_ns,"
	 " if(section IN (SELECT section_id FROM {delivered_sections} WHERE clock = 'ordinal'), NULL, resumed_ns - woken_ns) AS latency_ns"
	 " FROM (SELECT section, coro, conflict_t, died,"
	 " arrayFilter((r, last) -> r.2 <> 0 OR last.2 <> 0, rows, arrayPushFront(arrayPopBack(rows), rows[1])) AS a"
	 " FROM (SELECT section, coro, arraySort(groupArray(tuple(t, rank, s, i, p))) AS rows, min(c) AS conflict_t, max(d) AS died FROM ("
	 "SELECT section, assumeNotNull(coro) AS coro, ts AS t, toUInt8(if(is_active, 1, 2)) AS rank, ifNull(site, 0) AS s, assumeNotNull(index) AS i,"
	 " assumeNotNull(probe_id) AS p, 18446744073709551615 AS c, toUInt64(0) AS d FROM {coro_trace_events} WHERE coro <> 0 AND index IS NOT NULL"
	 " UNION ALL SELECT section, assumeNotNull(coro) AS coro, assumeNotNull(ts) AS t, toUInt8(0) AS rank, toUInt64(0) AS s, toUInt64(0) AS i,"
	 " toUInt64(0) AS p, 18446744073709551615 AS c, toUInt64(0) AS d FROM {wakes} WHERE coro <> 0"
	 " UNION ALL SELECT section, assumeNotNull(coro) AS coro, toUInt64(0) AS t, toUInt8(3) AS rank, toUInt64(0) AS s, toUInt64(0) AS i,"
	 " toUInt64(0) AS p, ifNull(ts, 0) AS c, toUInt64(0) AS d FROM {conflicts} WHERE coro <> 0"
	 " UNION ALL SELECT section, assumeNotNull(coro) AS coro, toUInt64(0) AS t, toUInt8(3) AS rank, toUInt64(0) AS s, toUInt64(0) AS i,"
	 " toUInt64(0) AS p, 18446744073709551615 AS c, assumeNotNull(ts) AS d FROM {deaths} WHERE coro <> 0)"
	 " GROUP BY section, coro) WHERE length(a) > 2) ARRAY JOIN a AS x, arrayPushBack(arrayPopFront(a), a[1]) AS next, arrayPushFront(arrayPopBack(a), a[1]) AS before,"
	 " arrayEnumerate(a) AS at WHERE at > 1 AND at < length(a) AND before.2 = 2 AND x.2 = 0 AND next.2 = 1 AND next.4 = before.4 + 1"
	 " AND next.1 < conflict_t AND NOT (died > 0 AND (next.5 = 0 AND next.1 > died OR before.5 = 0 AND before.1 > died))"},

	{"coroutines",
	 "SELECT DISTINCT section, c AS coro, p AS probe_id FROM ("
	 "SELECT section, toNullable(coro) AS c, CAST(NULL AS Nullable(UInt64)) AS p FROM {coro_trace_events} WHERE coro <> 0"
	 " UNION ALL SELECT section, toNullable(coro) AS c, CAST(NULL AS Nullable(UInt64)) AS p FROM {births} WHERE coro <> 0"
	 " UNION ALL SELECT section, toNullable(coro) AS c, CAST(NULL AS Nullable(UInt64)) AS p FROM {deaths} WHERE coro <> 0"
	 " UNION ALL SELECT section, toNullable(coro) AS c, CAST(NULL AS Nullable(UInt64)) AS p FROM {losses} WHERE coro <> 0"
	 " UNION ALL SELECT section, CAST(NULL AS Nullable(UInt64)) AS c, toNullable(probe_id) AS p FROM {births} WHERE coro IS NULL AND probe_id IS NOT NULL"
	 " UNION ALL SELECT section, CAST(NULL AS Nullable(UInt64)) AS c, toNullable(probe_id) AS p FROM {coro_trace_events} WHERE coro IS NULL)"},

	{"objects",
	 "SELECT section, pid, object, name, kind, made_site, available, room, total, closed, owned, holders, held, if(ordinal, NULL, waiters) AS waiters,"
	 " if(ordinal, NULL, longest_ns) AS longest_ns, complete AS certain"
	 " FROM (SELECT section_id AS section, pid, lower(concat('0x', substring(concat('000000000000000', hex(object)), -16))) AS object,"
	 "       if(name = '', NULL, name) AS name, kind, if(made_site = '', NULL, made_site) AS made_site, if(available_known, available, NULL) AS available,"
	 "       if(room_known, room, NULL) AS room, if(total = 0, NULL, total) AS total, closed, owned, if(holders_known, holders, NULL) AS holders,"
	 "       if(holders_known, held, NULL) AS held, waiters, longest_ns FROM {delivered_objects_at_end}) AS objects_of"
	 " ANY LEFT JOIN (" SECTION_ENDS ") AS section_ends USING section"},

	{"holders",
	 "SELECT section, pid, object, object_name, c AS coro, probe_id, name, count, alive, complete AS certain FROM ("
	 "SELECT section, pid, object, object_name, c, probe_id, if(called = '', NULL, called) AS name, count, alive"
	 " FROM (SELECT section_id AS section, pid, lower(concat('0x', substring(concat('000000000000000', hex(object)), -16))) AS object,"
	 "       if(object_name = '', NULL, object_name) AS object_name, coro AS c, probe_id, count, alive FROM {delivered_holders_at_end}) AS holders_of"
	 " ANY LEFT JOIN (" NAMES ") AS names_of USING section, c) AS named ANY LEFT JOIN (" SECTION_ENDS ") AS section_ends USING section"},

	{"origins",
	 "SELECT section, origin, max(name) AS name, max(host) AS host, max(pid) AS pid, max(input) AS input, max(error_ns) AS error_ns, max(stride) AS stride,"
	 " min(ts) AS first_ns, max(ts) AS last_ns FROM {origin_records} GROUP BY section, origin"},

	{"coroutine_origins",
	 "SELECT section, coro, o AS origin, origin_name, host, if(called = '', NULL, called) AS name"
	 " FROM (SELECT section, coro, ifNull(coro, 0) AS c, o, origin_name, host"
	 "       FROM (SELECT section, coro, assumeNotNull(origin) AS o FROM {births} WHERE origin IS NOT NULL) AS born"
	 "       ALL INNER JOIN (SELECT section, assumeNotNull(origin) AS o, name AS origin_name, host FROM {origins}) AS origins_of USING section, o) AS of"
	 " ANY LEFT JOIN (" NAMES ") AS names_of USING section, c"},
};
const size_t ctp_clickhouse_nselects = sizeof ctp_clickhouse_selects / sizeof *ctp_clickhouse_selects;
