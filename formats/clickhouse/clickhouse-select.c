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

#include "clickhouse/clickhouse.h"

/* Transitions of each coroutine, by index and time; `again`: some have the same index, which a conflict can give. */
#define SORTED \
	"SELECT section, c, arraySort(groupArray(tuple(i, ts, p, tid, addr, seq, is_active, place_number))) AS rows," \
	" arrayMap(x -> tuple(x.1, x.2, x.3), rows) AS heads, length(rows) AS n, arrayUniq(arrayMap(x -> x.1, rows)) < n AS again FROM (" \
	"SELECT section, assumeNotNull(coro) AS c, assumeNotNull(index) AS i, ts, assumeNotNull(probe_id) AS p, tid, addr, seq, is_active," \
	" ifNull(site, 0) AS place_number FROM {coro_trace_events} WHERE coro <> 0 AND index IS NOT NULL) GROUP BY section, c"

/* The same of those with `again`: by index, those with one index together. It takes five times as long. */
#define TOGETHER \
	"SELECT section, c, arraySort(groupArray(tuple(i, first_t, first_p, same, last_t))) AS groups, length(groups) AS n FROM (" \
	"SELECT section, c, r.1 AS i, arraySort(groupArray(r)) AS same, min(r.2) AS first_t, argMin(r.3, r.2) AS first_p, max(r.2) AS last_t" \
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

/* Of each coroutine, or thread, of a merged section whose number c has its origin: when that ended, and whether all of it is there. */
#define ORIGIN_ENDS(numbers) \
	"SELECT section, c, max(e) AS origin_ns, max(w) AS origin_complete, 1 AS has_origin" \
	" FROM (SELECT section, c, stride, c % stride AS origin FROM (SELECT DISTINCT section, c FROM (" numbers ")) AS numbers_of" \
	" ALL INNER JOIN (SELECT DISTINCT section_id AS section, stride FROM {delivered_origins_at_end}) AS strides USING section) AS digits" \
	" ALL INNER JOIN (SELECT section_id AS section, stride, origin, end_ns AS e, complete AS w FROM {delivered_origins_at_end}) AS origins_of" \
	" USING section, stride, origin GROUP BY section, c"
#define IN_MERGED " <> 0 AND section IN (SELECT section_id FROM {delivered_origins_at_end})"
#define COROUTINES_IN(view) "SELECT section, assumeNotNull(coro) AS c FROM {" view "} WHERE coro" IN_MERGED
#define THREADS_IN(view) "SELECT section, assumeNotNull(tid) AS c FROM {" view "} WHERE tid" IN_MERGED

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
	" 18446744073709551615 AS ct, origin_ns AS oe, origin_complete AS ow, 1 AS ho FROM (" \
	ORIGIN_ENDS(COROUTINES_IN("coro_trace_events") " UNION ALL " COROUTINES_IN("births") " UNION ALL " COROUTINES_IN("losses")) ")) GROUP BY section, c"

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

/* The columns of both, for each row of from. The right one has no *, of which 18.16 mixes up the columns there. */
#define JOINED(from, with, by) "SELECT * FROM (" from ") AS left_of ANY LEFT JOIN (" with ") AS right_of USING " by

/* Each coroutine that a record names which is no wake; when it is first known, at begin_t; and its end. */
#define FIRST_KNOWN \
	"multiIf(has_steps AND (has_birth OR has_loss), least(first_t, if(has_birth, birth_t, loss_t)), has_steps, first_t, has_birth, birth_t," \
	" has_loss, loss_t, first_death)"
#define PROBE "ifNull(probe_id, 0) AS p, probe_id IS NOT NULL AS hp"
#define BOUNDS \
	"SELECT section, c, has_birth, birth_t, born_by, spawn_number, has_loss, own_probe, has_probe, " FIRST_KNOWN " AS begin_t, died, has_death," \
	" lost_i, has_lost_i, lost_t, has_lost_t, has_conflict, origin_ns, origin_complete, has_origin FROM (" \
	"SELECT section, c, max(k = 0) AS has_steps, maxIf(t, k = 0) AS first_t, max(k = 1) AS has_birth, maxIf(t, k = 1) AS birth_t," \
	" maxIf(x, k = 1) AS born_by, maxIf(y, k = 1) AS spawn_number, max(k = 2) AS has_loss, argMinIf(x, t, k = 2) AS loss_t," \
	" minIf(t, k = 3) AS first_death, argMin(p, if(hp, k, 9)) AS own_probe, max(hp) AS has_probe FROM (" \
	"SELECT section, c, toUInt8(0) AS k, argMin(ts, tuple(i, ts)) AS t, toUInt64(0) AS x, toUInt64(0) AS y, toUInt64(0) AS p, 0 AS hp FROM (" \
	"SELECT section, assumeNotNull(coro) AS c, assumeNotNull(index) AS i, ts FROM {coro_trace_events} WHERE coro <> 0 AND index IS NOT NULL)" \
	" GROUP BY section, c" \
	" UNION ALL SELECT section, assumeNotNull(coro) AS c, toUInt8(1) AS k, ifNull(ts, 0) AS t, ifNull(parent, 0) AS x, ifNull(site, 0) AS y, " PROBE \
	" FROM {births} WHERE coro <> 0" \
	" UNION ALL SELECT section, assumeNotNull(coro) AS c, toUInt8(2) AS k, ifNull(ts, 0) AS t," \
	" if(ifNull(after, 0) = 0, ifNull(ts, 0), ifNull(after, 0)) AS x, toUInt64(0) AS y, " PROBE " FROM {losses} WHERE coro <> 0" \
	" UNION ALL SELECT section, assumeNotNull(coro) AS c, toUInt8(3) AS k, ifNull(ts, 0) AS t, toUInt64(0) AS x, toUInt64(0) AS y, " PROBE \
	" FROM {deaths} WHERE coro <> 0) GROUP BY section, c) AS known ANY LEFT JOIN (" ENDS ") AS ends USING section, c"

/* The last transition of each coroutine, and the one before, which has a smaller index. */
#define LAST_STEPS \
	"SELECT section, c, last_i, of_last.2 AS last_t, of_last.3 AS last_p, of_last.4 AS last_tid, of_last.5 AS last_addr, of_last.7 AS last_active," \
	" of_last.8 AS s, m > 0 AS has_before, of_before.1 AS before_i, of_before.2 AS before_t, of_before.4 AS before_tid," \
	" of_before.7 AS before_active, 1 AS has_last FROM (SELECT section, c, of_last, last_i, m, rows[greatest(m, 1)] AS of_before FROM (" \
	"SELECT section, c, rows, of_last, last_i, arrayCount(x -> x.1 < last_i, heads) AS m FROM (" \
	"SELECT section, c, rows, heads, of_last, of_last.1 AS last_i FROM (SELECT section, c, rows, heads, rows[n] AS of_last FROM (" SORTED ")))))"
#define BEHIND_LAST "(has_lost_i AND lost_i > last_i OR has_lost_t AND lost_t > last_t)"

/* Each transition before which indexes are missing, from the expected one on, and the time of the one before. */
#define AFTER_GAPS \
	"SELECT section, c, r.1 AS i, r.2 AS t, r.3 AS p, if(at > 1, q.1 + 1, 0) AS expected, q.2 AS before_t, at > 1 AS has_before" \
	" FROM (SELECT section, c, heads, arrayPushFront(arrayPopBack(heads), heads[1]) AS befores, arrayEnumerate(heads) AS ats" \
	"       FROM (" SORTED ") WHERE NOT again) ARRAY JOIN heads AS r, befores AS q, ats AS at WHERE i > expected" \
	" UNION ALL SELECT section, c, r.1 AS i, r.2 AS t, r.3 AS p, expected, before_t, has_before" \
	" FROM (SELECT section, c, g.4 AS same, if(at > 1, q.1 + 1, 0) AS expected, q.2 AS before_t, at > 1 AS has_before" \
	"       FROM (SELECT section, c, groups, arrayMap(x -> tuple(x.1, x.5), groups) AS ends, arrayPushFront(arrayPopBack(ends), ends[1]) AS befores," \
	"             arrayEnumerate(groups) AS ats FROM (" TOGETHER ")) ARRAY JOIN groups AS g, befores AS q, ats AS at WHERE g.1 > expected)" \
	" ARRAY JOIN same AS r"
#define GAPS_BETWEEN \
	"SELECT section, c, i, t, p, expected, if(has_before, before_t, begin_t) AS begin_ns FROM (" JOINED(AFTER_GAPS, BOUNDS, "section, c") ")" \
	" WHERE NOT (has_death AND p = 0 AND t > died)"

/* What was lost behind the last transition of each coroutine, or of one without any. */
#define LOST_AT_END \
	"SELECT section, c, max(p) AS lost_probe, max(hp) AS has_lost_probe, sum(n) AS lost_n, max(hn) AS is_counted, max(has_last) AS has_steps," \
	" max(last_t) AS lost_since FROM (" \
	JOINED("SELECT section, assumeNotNull(coro) AS c, " PROBE ", ifNull(index, 0) AS i, index IS NOT NULL AS hi, ifNull(ts, 0) AS t, ifNull(count, 0) AS n," \
	       " count IS NOT NULL AS hn FROM {losses} WHERE coro <> 0", LAST_STEPS, "section, c") \
	") WHERE multiIf(NOT has_last, 1, hi, i > last_i, t > last_t) GROUP BY section, c"

/* In sections of which a filter has left out records: the losses of each coroutine, which alone say what is lost. */
#define FILTERED "SELECT section_id FROM {delivered_sections} WHERE attrs LIKE '%\"filtered\":%'"
#define LOST_IN_FILTERED \
	"SELECT section, assumeNotNull(coro) AS c, groupArray(tuple(assumeNotNull(index), ifNull(count, 0), count IS NOT NULL)) AS left_out FROM {losses}" \
	" WHERE coro <> 0 AND index IS NOT NULL AND section IN (" FILTERED ") GROUP BY section, c"
#define IN_GAP "x.1 >= expected AND x.1 < i"

/* Of each section: lost events, those of nobody, those of known threads, and records that threads missed. */
#define LOST_IN_SECTIONS \
	"SELECT section, sum(n) AS lost_events, sum(of_nobody) AS nobodys_events, sum(h) AS thread_events, sum(m) AS missed_records, max(t) AS missed_t," \
	" max(ht) AS has_missed FROM (" \
	"SELECT section, ifNull(count, 0) AS n, if(ifNull(coro, 0) = 0 AND ifNull(probe_id, 0) = 0, ifNull(count, 0), 0) AS of_nobody, toUInt64(0) AS h," \
	" toUInt64(0) AS m, toUInt64(0) AS t, 0 AS ht FROM {losses}" \
	" UNION ALL SELECT section, toUInt64(0) AS n, toUInt64(0) AS of_nobody, ifNull(transitions, 0) AS h, ifNull(count, 0) AS m," \
	" if(ifNull(count, 1) > 0, ifNull(ts, 0), 0) AS t, ifNull(count, 1) > 0 AND ts IS NOT NULL AS ht FROM {thread_losses}) GROUP BY section"

#define LAST_WAKES \
	"SELECT section, assumeNotNull(coro) AS c, max(ts) AS wake_t, argMax(ifNull(tid, 18446744073709551615), ts) AS wake_tid," \
	" argMax(ifNull(by, 0), ts) AS wake_by, 1 AS has_wake FROM {wakes} WHERE coro <> 0 AND ts IS NOT NULL GROUP BY section, c"

/*
 * 18.16 analyses the left side of a JOIN twice, so that each further JOIN doubles the time in which a view is made, and that of each query.
 * So what is known of a last transition, and of a section, is joined beside the others, and what takes longest to analyse comes last.
 */
#define LAST_SEEN \
	"SELECT section, c, last_i, last_t, last_p, last_tid, last_addr, last_active, has_before, before_i, before_t, before_tid, before_active," \
	" has_last, wake_t, wake_tid, wake_by, has_wake, place" \
	" FROM (" JOINED(JOINED(LAST_STEPS, LAST_WAKES, "section, c"), PLACES, "section, s") ")"
#define WHOLE_SECTIONS \
	"SELECT section, end_ns, has_end, complete, ordinal, nobody_t, has_nobody, has_origins, missed_t, has_missed" \
	" FROM (" JOINED(SECTION_ENDS, LOST_IN_SECTIONS, "section") ")"

/*
 * Transitions of coroutines that await, with the target of the last await before each, in the order of time, unless events are missing
 * since the transition before: that has ended at x.7. The target and the time of an await are sums of what each adds to the one before,
 * so that no array is looked at for each element of another.
 */
#define STEPS_OF_AWAITS \
	"arrayMap((s, q) -> tuple(s.2, toUInt8(1), toUInt64(0), s.1, toInt64(0), toInt64(0)," \
	" multiIf(s.1 = 0 OR s.1 = q.1, toUInt64(0), q.1 = s.1 - 1, q.2, 18446744073709551615))," \
	" steps_of, arraySlice(arrayPushFront(steps_of, tuple(18446744073709551615, toUInt64(0))), 1, length(steps_of)))"
#define ADDED_BY_AWAITS \
	"arrayMap((a, q) -> tuple(a.1, toUInt8(0), a.2, toUInt64(0), toInt64(a.2) - toInt64(q.2), toInt64(a.1) - toInt64(q.1), toUInt64(0))," \
	" awaits_of, arraySlice(arrayPushFront(awaits_of, tuple(toUInt64(0), toUInt64(0))), 1, length(awaits_of)))"
#define AWAITED \
	"SELECT section, c, x.4 AS i, x.1 AS t, toUInt64(sum_of_targets) AS target FROM (" \
	"SELECT section, c, both, arrayCumSum(arrayMap(x -> x.5, both)) AS targets, arrayCumSum(arrayMap(x -> x.6, both)) AS times FROM (" \
	"SELECT section, c, arraySort(arrayConcat(" STEPS_OF_AWAITS ", " ADDED_BY_AWAITS ")) AS both FROM (" \
	"SELECT section, c, arraySort(groupArrayIf(tuple(i, t), NOT is_await)) AS steps_of, arraySort(groupArrayIf(tuple(t, i), is_await)) AS awaits_of" \
	" FROM (SELECT section, assumeNotNull(coro) AS c, assumeNotNull(index) AS i, ts AS t, toUInt8(0) AS is_await FROM {coro_trace_events}" \
	" WHERE coro <> 0 AND index IS NOT NULL AND (section, coro) IN (SELECT section, coro FROM {awaits})" \
	" UNION ALL SELECT section, assumeNotNull(coro) AS c, assumeNotNull(target) AS i, assumeNotNull(ts) AS t, toUInt8(1) AS is_await FROM {awaits}" \
	" WHERE coro <> 0 AND ts IS NOT NULL AND target IS NOT NULL) GROUP BY section, c))" \
	") ARRAY JOIN both AS x, targets AS sum_of_targets, times AS awaited_at WHERE x.2 = 1 AND awaited_at <> 0 AND toUInt64(awaited_at) >= x.7"

#define AT_END "multiIf(has_origin, origin_ns, has_end, end_ns, NULL)" /* of a section, or an origin */
#define IS_WHOLE "if(has_origins, origin_complete, complete)"
#define TEXT_OR_NULL(x) "if(" x " = '', NULL, " x ")"
#define ADDRESS(x) "lower(concat('0x', substring(concat('000000000000000', hex(" x ")), -16)))"

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

	/* With the first object that each waited for. */
	{"longest_waits",
	 "SELECT section, c AS coro, probe_id, addr, tid, t AS start_ns, stop_ns, duration_ns, open, sure AS certain, s AS site,"
	 " " TEXT_OR_NULL("place") " AS site_text, " TEXT_OR_NULL("called") " AS name, if(is_for, what_for, NULL) AS what,"
	 " if(is_for, " ADDRESS("of_object") ", NULL) AS object, " TEXT_OR_NULL("known_as") " AS object_name FROM ("
	 JOINED(JOINED(JOINED(
		"SELECT section, coro AS c, index AS i, start_ns AS t, probe_id, addr, tid, stop_ns, duration_ns, open,"
		" certain AND exact AS sure, site AS s FROM {intervals} WHERE NOT is_active",
		"SELECT section_id AS section, coro AS c, index AS i, ts AS t, what AS what_for, object AS of_object,"
		" object_name AS known_as, 1 AS is_for FROM {delivered_object_wait} WHERE nth = 0", "section, c, i, t"),
		NAMES, "section, c"),
		PLACES, "section, s") ") ORDER BY duration_ns DESC"},

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
	 " FROM (SELECT section_id AS section, pid, " ADDRESS("object") " AS object,"
	 "       if(name = '', NULL, name) AS name, kind, if(made_site = '', NULL, made_site) AS made_site, if(available_known, available, NULL) AS available,"
	 "       if(room_known, room, NULL) AS room, if(total = 0, NULL, total) AS total, closed, owned, if(holders_known, holders, NULL) AS holders,"
	 "       if(holders_known, held, NULL) AS held, waiters, longest_ns FROM {delivered_objects_at_end}) AS objects_of"
	 " ANY LEFT JOIN (" SECTION_ENDS ") AS section_ends USING section"},

	{"holders",
	 "SELECT section, pid, object, object_name, c AS coro, probe_id, name, count, alive, complete AS certain, taken_site FROM ("
	 "SELECT section, pid, object, object_name, c, probe_id, if(called = '', NULL, called) AS name, count, alive, taken_site"
	 " FROM (SELECT section_id AS section, pid, " ADDRESS("object") " AS object,"
	 "       if(object_name = '', NULL, object_name) AS object_name, coro AS c, probe_id, count, alive,"
	 "       if(taken_site = '', NULL, taken_site) AS taken_site FROM {delivered_holders_at_end}) AS holders_of"
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

	{"thread_gaps",
	 "SELECT section, c AS tid, if(stop < begin_ns, stop, begin_ns) AS start_ns, stop AS stop_ns, if(ordinal, NULL, stop - start_ns) AS duration_ns,"
	 " transitions AS lost FROM (SELECT section, c, transitions, ordinal, multiIf(ifNull(after, 0) <> 0, after, has_first, first_t, ts) AS begin_ns,"
	 " if(has_origin OR has_end, least(ts, assumeNotNull(" AT_END ")), ts) AS stop FROM ("
	 JOINED(JOINED(JOINED(
		"SELECT section, assumeNotNull(tid) AS c, transitions, ts, after FROM {thread_losses} WHERE transitions > 0 AND tid <> 0",
		"SELECT section, assumeNotNull(tid) AS c, min(ts) AS first_t, 1 AS has_first FROM {coro_trace_events} GROUP BY section, c", "section, c"),
		ORIGIN_ENDS(THREADS_IN("thread_losses")), "section, c"),
		SECTION_ENDS, "section") "))"},

	{"gaps",
	 "SELECT section, coro, probe_id, begin_ns AS start_ns, if(begin_ns > stop, begin_ns, stop) AS stop_ns,"
	 " if(ordinal, NULL, stop_ns - begin_ns) AS duration_ns, lost FROM ("
	 JOINED(
		"SELECT section, c AS coro, toNullable(p) AS probe_id, begin_ns, toNullable(t) AS stop, if(section IN (" FILTERED "),"
		" if(arrayCount(x -> x.3 AND " IN_GAP ", left_out) = 0, NULL, arraySum(x -> if(" IN_GAP ", x.2, 0), left_out)),"
		" toNullable(toUInt64(i - expected))) AS lost FROM (" JOINED(GAPS_BETWEEN, LOST_IN_FILTERED, "section, c") ")"
		" UNION ALL SELECT section, c AS coro, if(has_lost_probe, lost_probe, NULL) AS probe_id, if(has_steps, lost_since, begin_t) AS begin_ns,"
		" if(has_death, died, " AT_END ") AS stop, if(is_counted, lost_n, NULL) AS lost FROM ("
		JOINED(JOINED(LOST_AT_END, BOUNDS, "section, c"), SECTION_ENDS, "section") ")",
		"SELECT section, ordinal FROM (" SECTION_ENDS ")", "section") ")"},

	{"await_intervals",
	 "SELECT section, c AS coro, probe_id, " TEXT_OR_NULL("called") " AS name, target, " TEXT_OR_NULL("target_called") " AS target_name, start_ns,"
	 " stop_ns, duration_ns, open, sure AS certain, s AS site, " TEXT_OR_NULL("place") " AS site_text,"
	 " multiIf(target = 0, NULL, target_died, 'dead',"
	 "         NOT target_moved, multiIf(target_lost, 'unknown', target_born, if({?unfollowed}, 'unknown', 'born'), NULL),"
	 "         target_behind, 'unknown', target_active, 'running', 'suspended') AS target_state FROM ("
	 JOINED(JOINED(JOINED(JOINED(
		"SELECT section, c, i, t, target, probe_id, start_ns, stop_ns, duration_ns, open, sure, s FROM (" AWAITED ") AS awaited"
		" ALL INNER JOIN (SELECT section, coro AS c, index AS i, start_ns AS t, start_ns, probe_id, stop_ns, duration_ns, open,"
		" certain AND exact AS sure, site AS s FROM {intervals} WHERE NOT is_active) AS waits_of USING section, c, i, t",
		"SELECT section, c AS target, has_death AS target_died, has_last AS target_moved, has_loss AS target_lost, has_birth AS target_born,"
		" " BEHIND_LAST " AS target_behind, last_active AS target_active FROM (" JOINED(BOUNDS, LAST_STEPS, "section, c") ")", "section, target"),
		NAMES, "section, c"),
		"SELECT section, c AS target, called AS target_called FROM (" NAMES ")", "section, target"),
		PLACES, "section, s") ")"},

	/* Runs may be nested, and gaps may overlap: between two neighbouring begins or ends, a run or a gap is open or not. */
	{"thread_times",
	 "SELECT section, c AS tid, " TEXT_OR_NULL("thread_name") " AS thread, first_ns, last_ns, runs, if(ordinal, NULL, busy) AS busy_ns,"
	 " if(ordinal, NULL, unknown) AS unknown_ns, gaps, lost, " IS_WHOLE " AND lost_events <= thread_events AS certain, uncertain FROM ("
	 JOINED(JOINED(JOINED(JOINED(
		"SELECT section, c, first_ns, last_ns, runs, gaps, lost, uncertain,"
		" arraySum((t, next, r, g) -> if(r > 0 AND g = 0, next - t, 0), times, nexts, run_of, gap_of) AS busy,"
		" arraySum((t, next, g) -> if(g > 0, next - t, 0), times, nexts, gap_of) AS unknown FROM ("
		"SELECT section, c, first_ns, last_ns, runs, gaps, lost, uncertain, arrayMap(x -> x.1, edges) AS times,"
		" arrayPushBack(arrayPopFront(times), last_ns) AS nexts, arrayCumSum(arrayMap(x -> x.2, edges)) AS run_of,"
		" arrayCumSum(arrayMap(x -> x.3, edges)) AS gap_of FROM ("
		"SELECT section, c, min(t) AS first_ns, max(t) AS last_ns, sum(is_run) AS runs, sum(is_gap) AS gaps, sum(n) AS lost, sum(unsure) AS uncertain,"
		" arraySort(groupArray(tuple(t, r, g))) AS edges FROM ("
		"SELECT section, tid AS c, if(d > 0, start_ns, ifNull(stop_ns, 0)) AS t, toInt64(if(whole, d, 0)) AS r, toInt64(0) AS g, d > 0 AS is_run,"
		" 0 AS is_gap, toUInt64(0) AS n, d > 0 AND NOT certain AS unsure"
		" FROM (SELECT *, stop_ns IS NOT NULL AND (certain OR ifNull(open, 1) = 0) AS whole FROM {run_intervals}) ARRAY JOIN [1, -1] AS d"
		" WHERE whole OR d > 0"
		" UNION ALL SELECT section, tid AS c, if(d > 0, ifNull(start_ns, 0), ifNull(stop_ns, 0)) AS t, toInt64(0) AS r, toInt64(d) AS g, 0 AS is_run,"
		" d > 0 AS is_gap, if(d > 0, ifNull(lost, 0), 0) AS n, 0 AS unsure FROM {thread_gaps} ARRAY JOIN [1, -1] AS d) GROUP BY section, c))",
		"SELECT section, tid AS c, thread_name FROM (" THREADS ")", "section, c"),
		ORIGIN_ENDS(THREADS_IN("coro_trace_events") " UNION ALL " THREADS_IN("thread_losses")), "section, c"),
		SECTION_ENDS, "section"),
		LOST_IN_SECTIONS, "section") ")"},

	{"coroutine_times",
	 "SELECT section, c AS coro, if(has_p, top_p, NULL) AS probe_id, " TEXT_OR_NULL("called") " AS name, begin_t AS begin_ns,"
	 " if(has_death, died, at_end) AS end_ns, runs, if(ordinal, NULL, running) AS running_ns, waits, if(ordinal, NULL, suspended) AS suspended_ns, gaps,"
	 " if(ordinal, NULL, unknown) AS unknown_ns, lost, uncertain FROM (SELECT *, " AT_END " AS at_end FROM ("
	 JOINED(JOINED(JOINED(
		BOUNDS,
		"SELECT section, c, max(p) AS top_p, max(hp) AS has_p, countIf(k = 1) AS runs, sumIf(d, k = 1) AS running, countIf(k = 0) AS waits,"
		" sumIf(d, k = 0) AS suspended, countIf(k = 2) AS gaps, sumIf(d, k = 2) AS unknown, sum(n) AS lost, sum(unsure) AS uncertain FROM ("
		"SELECT section, coro AS c, probe_id AS p, 1 AS hp, toUInt8(is_active) AS k, toInt64(ifNull(duration_ns, 0)) AS d, toUInt64(0) AS n,"
		" NOT (certain AND exact) AS unsure FROM {intervals}"
		" UNION ALL SELECT section, coro AS c, " PROBE ", toUInt8(2) AS k, toInt64(ifNull(duration_ns, 0)) AS d, toUInt64(ifNull(lost, 0)) AS n,"
		" 0 AS unsure FROM {gaps}) GROUP BY section, c", "section, c"),
		NAMES, "section, c"),
		SECTION_ENDS, "section") "))"},

	/* The state of a coroutine is that of its last transition, or of its birth; not known if that may have missed transitions. */
	{"coroutine_states",
	 "SELECT section, c AS coro, probe_id, state, since_ns, if(ordinal, NULL, if(since_ns > at_end, 0, at_end - since_ns)) AS for_ns,"
	 " if(has_last, last_tid, NULL) AS tid, if(has_last, last_addr, NULL) AS addr, certain, " TEXT_OR_NULL("called") " AS name,"
	 " if(state = 'suspended' AND place <> '', place, NULL) AS site_text,"
	 " multiIf(state <> 'suspended', NULL, counts, 1,"
	 "         NOT certain OR has_missed AND missed_t >= since_ns OR woken_since OR section NOT IN (SELECT section FROM {wakes}), NULL, 0) AS woken,"
	 " if(counts, wake_t, NULL) AS woken_ns, if(counts AND wake_by <> 0, wake_by, NULL) AS woken_by, if(born_by <> 0, born_by, NULL) AS parent,"
	 " " TEXT_OR_NULL("spawn_place") " AS spawn_site_text, if(has_birth, birth_t, NULL) AS born_ns,"
	 " if(ordinal, NULL, gap_ns + if(is_lost, if(known_t > until, 0, until - known_t), 0)) AS unknown_ns FROM ("
	 "SELECT *, state = 'suspended' AND woken_since AND (wake_t >= last_t OR has_before AND before_active AND before_i = last_i - 1"
	 " AND (before_tid = wake_tid OR wake_t > before_t + if(ordinal, 0, 1000))) AS counts,"
	 " NOT has_conflict AND multiIf(has_death, 1, is_lost OR NOT " IS_WHOLE " OR has_nobody AND nobody_t > known_t, 0, has_last, 1,"
	 " NOT ({?unfollowed} OR probe_id IS NULL AND section IN (SELECT section FROM {coro_trace_events} WHERE coro IS NULL))) AS certain FROM ("
	 "SELECT *, " AT_END " AS at_end, if(has_last, " BEHIND_LAST ", has_loss) AS is_lost, if(has_last, last_t, begin_t) AS known_t,"
	 " multiIf(has_last, last_p, has_probe, own_probe, NULL) AS probe_id, if(has_death, died, at_end) AS until,"
	 " if(has_death, died, known_t) AS since_ns,"
	 " has_wake AND has_last AND if(has_before, wake_t > before_t, last_i > 0 OR wake_t >= last_t) AS woken_since,"
	 " multiIf(has_death, 'dead', is_lost, 'unknown', NOT has_last, if({?unfollowed}, 'unknown', 'born'), last_active, 'running', 'suspended') AS state"
	 " FROM ("
	 JOINED(JOINED(JOINED(JOINED(JOINED(
		BOUNDS,
		"SELECT section, s AS spawn_number, place AS spawn_place FROM (" PLACES ")", "section, spawn_number"),
		NAMES, "section, c"),
		WHOLE_SECTIONS, "section"),
		LAST_SEEN, "section, c"),
		"SELECT section, c, sum(if(t > begin_ns, t - begin_ns, 0)) AS gap_ns FROM (" GAPS_BETWEEN ") GROUP BY section, c", "section, c") ")))"},

	{"reasons",
	 "SELECT section, c AS coro, probe_id, " TEXT_OR_NULL("called") " AS name, since_ns, " TEXT_OR_NULL("place") " AS site_text, pid, what,"
	 " if(what = 'timer', due_ns, NULL) AS deadline_ns, if(what = 'descriptor', of_fd, NULL) AS fd, if(what = 'descriptor', n, NULL) AS poll_events,"
	 " if(what IN ('timer', 'descriptor'), NULL, " ADDRESS("of_object") ") AS object, " TEXT_OR_NULL("known_as") " AS object_name,"
	 " if(what IN ('timer', 'descriptor'), NULL, n) AS count, shared, timed, cancellable, rests, more, sure AND complete AS certain FROM ("
	 JOINED(JOINED(JOINED(JOINED(
		"SELECT section_id AS section, coro AS c, probe_id, since_ns, pid, what, deadline_ns AS due_ns, fd AS of_fd, object AS of_object,"
		" object_name AS known_as, count AS n, shared, timed, cancellable, rests, more, certain AS sure FROM {delivered_reasons_at_end}",
		"SELECT section, c, s FROM (" LAST_STEPS ")", "section, c"),
		NAMES, "section, c"),
		PLACES, "section, s"),
		SECTION_ENDS, "section") ")"},

	/* What coroutines waited for, and what they held, from when to when. The end of a row that is open is looked up. */
	{"object_waits",
	 "SELECT section, c AS coro, probe_id, " TEXT_OR_NULL("called") " AS name, pid, what, " ADDRESS("of_object") " AS object,"
	 " " TEXT_OR_NULL("known_as") " AS object_name, n AS count, t AS start_ns,"
	 " multiIf(is_stopped, stopped_ns, is_open, " AT_END ", NULL) AS stop_ns, if(ordinal, NULL, stop_ns - t) AS duration_ns,"
	 " multiIf(is_ended, 0, is_open, 1, NULL) AS open,"
	 " multiIf(NOT is_sure OR has_conflict, 0, is_resumed, 1, " IS_WHOLE " AND NOT (has_nobody AND nobody_t > t)) AS certain,"
	 " s AS site, " TEXT_OR_NULL("place") " AS site_text, shared, timed, cancellable, rests, more, reasons FROM ("
	 JOINED(JOINED(JOINED(JOINED(
		"SELECT section_id AS section, coro AS c, probe_id, pid, what, object AS of_object, object_name AS known_as, count AS n,"
		" ts AS t, stop_ns AS stopped_ns, stopped AS is_stopped, ended AS is_ended, resumed AS is_resumed, open AS is_open,"
		" sure AS is_sure, site AS s, shared, timed, cancellable, rests, more, reasons FROM {delivered_object_wait}",
		NAMES, "section, c"),
		PLACES, "section, s"),
		ENDS, "section, c"),
		SECTION_ENDS, "section") ")"},

	{"hold_intervals",
	 "SELECT section, pid, " ADDRESS("of_object") " AS object, " TEXT_OR_NULL("known_as") " AS object_name, c AS coro, probe_id,"
	 " " TEXT_OR_NULL("called") " AS name, n AS count, t AS start_ns,"
	 " multiIf(t <= doubt_ns, NULL, is_stopped, stopped_ns, is_open, " AT_END ", NULL) AS stop_ns,"
	 " if(ordinal, NULL, stop_ns - t) AS duration_ns, multiIf(t <= doubt_ns, NULL, is_stopped, 0, is_open, 1, NULL) AS open,"
	 " multiIf(NOT is_sure OR t <= doubt_ns OR has_conflict, 0, is_stopped, 1, " IS_WHOLE ") AS certain,"
	 " s AS site, " TEXT_OR_NULL("place") " AS site_text FROM ("
	 JOINED(JOINED(JOINED(JOINED(JOINED(
		"SELECT section_id AS section, coro AS c, probe_id, pid, object AS of_object, object_name AS known_as, count AS n, ts AS t,"
		" stop_ns AS stopped_ns, stopped AS is_stopped, open AS is_open, sure AS is_sure, site AS s FROM {delivered_hold_interval}"
		" WHERE coro <> 0",
		"SELECT section_id AS section, max(ts) AS doubt_ns FROM {delivered_hold_interval} WHERE coro = 0 GROUP BY section", "section"),
		NAMES, "section, c"),
		PLACES, "section, s"),
		ENDS, "section, c"),
		SECTION_ENDS, "section") ")"},

	{"loss_totals",
	 "SELECT section, whole AS complete, lost_events AS lost, nobodys_events AS nobodys, ngaps AS gaps, if(ordinal, NULL, ifNull(unknown, 0)) AS unknown_ns,"
	 " thread_events AS of_threads, missed_records AS missed FROM ("
	 JOINED(JOINED(
		"SELECT section_id AS section, complete AS whole, clock = 'ordinal' AS ordinal FROM {delivered_sections}",
		LOST_IN_SECTIONS, "section"),
		"SELECT section, countIf(ifNull(lost, 0) > 0) AS ngaps, sum(ifNull(duration_ns, 0)) AS unknown FROM {gaps} GROUP BY section", "section") ")"},

	{"wall_times",
	 "SELECT if(wall_s BETWEEN 0 AND 4294967295, concat(formatDateTime(toDateTime(toUInt32(wall_s)), '%FT%T', 'UTC'), '.',"
	 " substring(toString(1000000000 + fraction), 2), 'Z'), NULL) AS wall,"
	 " if(has_offset AND wall_s BETWEEN -9223372036 AND 9223372035, wall_s * 1000000000 + fraction, NULL) AS wall_ns,"
	 " section, probe_id, tid, addr, seq, is_active, ts, coro, index, site"
	 " FROM (SELECT section, probe_id, tid, addr, seq, is_active, ts, coro, index, site, has_offset,"
	 "       toInt64(ts % 1000000000) + offset_ns % 1000000000 AS sum_ns, (sum_ns + 1000000000) % 1000000000 AS fraction,"
	 "       if(has_offset, toInt64(intDiv(ts, 1000000000)) + intDiv(offset_ns, 1000000000) + (sum_ns >= 1000000000) - (sum_ns < 0), NULL) AS wall_s"
	 "       FROM {coro_trace_events} ANY LEFT JOIN (SELECT section_id AS section, has_wall AS has_offset, wall_offset_ns AS offset_ns"
	 "       FROM {delivered_sections}) AS sections_of USING section)"},

	/*
	 * The last, because only new servers have recursion: the coroutines that wait at the end, the target of each, and the root of its
	 * chain of targets. Chains are built from the roots, coroutines that wait for none, so that a circle has no root.
	 */
	{"wait_for",
	 "WITH RECURSIVE waits AS (SELECT section, c, last_p, target, last_t, if(ordinal, NULL, " AT_END " - last_t) AS for_ns,"
	 " " IS_WHOLE " AND NOT (has_nobody AND nobody_t > last_t) AS certain, s, spawn_number, 1 AS is_there FROM ("
	 JOINED(JOINED(JOINED(
		"SELECT section, c, last_i, last_t, last_p, s, target FROM (" LAST_STEPS ") AS last_of"
		" ALL INNER JOIN (SELECT section, c, i AS last_i, t AS last_t, target FROM (" AWAITED ")) AS awaited USING section, c, last_i, last_t"
		" WHERE NOT last_active AND target <> 0",
		BOUNDS, "section, c"),
		LAST_WAKES, "section, c"),
		SECTION_ENDS, "section")
	 ") WHERE NOT has_death AND NOT has_conflict AND NOT " BEHIND_LAST " AND NOT (has_wake AND wake_t >= last_t)),"
	 " tree AS (SELECT w.section AS section, w.c AS c, w.target AS root, 1 AS depth FROM waits AS w"
	 "          LEFT JOIN waits AS o ON o.section = w.section AND o.c = w.target WHERE NOT o.is_there"
	 " UNION ALL SELECT w.section AS section, w.c AS c, t.root AS root, t.depth + 1 AS depth FROM tree AS t"
	 "           INNER JOIN waits AS w ON w.section = t.section AND w.target = t.c)"
	 " SELECT w.section AS section, w.c AS coro, w.last_p AS probe_id, " TEXT_OR_NULL("n.called") " AS name, w.target AS awaits,"
	 " " TEXT_OR_NULL("a.called") " AS awaits_name, if(t.depth > 0, t.root, NULL) AS root, if(t.depth > 0, " TEXT_OR_NULL("r.called") ", NULL) AS root_name,"
	 " if(t.depth > 0, t.depth, NULL) AS depth, w.last_t AS since_ns, w.for_ns AS for_ns, w.certain AS certain, " TEXT_OR_NULL("p.place") " AS site_text,"
	 " " TEXT_OR_NULL("b.place") " AS spawn_site_text"
	 " FROM waits AS w LEFT JOIN tree AS t ON t.section = w.section AND t.c = w.c LEFT JOIN (" NAMES ") AS n ON n.section = w.section AND n.c = w.c"
	 " LEFT JOIN (" NAMES ") AS a ON a.section = w.section AND a.c = w.target LEFT JOIN (" NAMES ") AS r ON r.section = w.section AND r.c = t.root"
	 " LEFT JOIN (" PLACES ") AS p ON p.section = w.section AND p.s = w.s"
	 " LEFT JOIN (" PLACES ") AS b ON b.section = w.section AND b.s = w.spawn_number"},
};

size_t ctp_clickhouse_nselects(unsigned server)
{
	size_t n = sizeof ctp_clickhouse_selects / sizeof *ctp_clickhouse_selects;
	return server < CTP_CLICKHOUSE_RECURSIVE ? n - 1 : n;
}
