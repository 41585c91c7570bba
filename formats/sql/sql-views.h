/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-views.h - the views for the first questions of users, in what SQLite, PostgreSQL and MySQL have in common.
 *
 * A file that includes it, for sql_views, defines before that how its engine spells the rest:
 *
 *	SQL_NUMBER, SQL_PROBE, SQL_TEXT  the types of numbers, of a probe's id, and of text, in a CAST
 *	SQL_COLUMN(x), SQL_ADDRESS(x)    in a UNION with transitions: x as a number of theirs, and as an address, so that the types stay
 *	SQL_UP, SQL_DOWN                 after what is ordered by: NULL is less than all else
 *	SQL_LEAST, SQL_GREATEST          functions of two numbers that are known
 *	SQL_PICK(what, from)             an expression: what, of the first row
 *	SQL_ALL_OF(what, from)           an expression: what, an aggregate, of all rows
 *	SQL_MATERIALIZED                 after AS, in a WITH
 *	SQL_WHOLE                        after the SELECT of a WITH: makes a server without MATERIALIZED work it out once
 *	SQL_APART(name)                  after a SELECT's columns: those are worked out once, where they are used more than once
 *	SQL_SECOND(number)               a text: the date and the time of that second
 *	SQL_ONCE                         if a subquery in a FROM is worked out once, and an index is made for what is looked up in it
 *	SQL_FIELDS                       the table fields while rows come, if that has another name
 *
 * Loss makes no fact. A coroutine that misses events has a gap, from the last transition before them (or its birth) to the next
 * transition: no state and no duration is known in a gap, and a wake in it says nothing. Other facts that are not proved are not
 * certain. Section and coro identify a coroutine, or section and probe_id in a stream without coro; a coro of 0 is nobody.
 *
 * A row looks up rows of other tables by an index: so a view of one coroutine is cheap, and a view of all costs a few seeks a row.
 */
#ifndef CTP_SQL_VIEWS_H
#define CTP_SQL_VIEWS_H

#include "sql/sql.h"

#ifndef SQL_FIELDS
#define SQL_FIELDS "fields"
#endif

/* --- by kind ------------------------------------------------------------------------------------------------------------- */

#define NUMBER(column, field) {column, field, SQL_NUMBER}
#define TEXT(column, field) {column, field, SQL_TEXT}
#define CORO NUMBER("coro", "role = 'coroutine'")
#define PROBE {"probe_id", "role = 'probe'", SQL_PROBE}
#define TIME NUMBER("ts", "role = 'time'")
#define THREAD NUMBER("tid", "role = 'thread'")
#define NAME TEXT("name", "role = 'name'")
#define SITE NUMBER("site", "role = 'site'")
#define AFTER NUMBER("after", "role = 'time' AND name = 'after'")
#define COUNT_OF NUMBER("count", "role = 'count'")
#define ORIGIN NUMBER("origin", "role = 'origin'")

/* A loss that is about a thread and no coroutine: wakes, names and the like are missing, and no transitions. */
#define OF_THREAD \
	"(EXISTS (SELECT 1 FROM " SQL_FIELDS " f WHERE f.class = classes.id AND f.role = 'thread')" \
	" AND NOT EXISTS (SELECT 1 FROM " SQL_FIELDS " f WHERE f.class = classes.id AND f.role IN ('coroutine', 'probe')))"

static const struct ctp_sql_kind_view kind_views[] = {
	{"births", "kind = 'birth'", {CORO, PROBE, TIME, NUMBER("parent", "name = 'parent'"), SITE, NUMBER("pid", "role = 'process'"),
	                               ORIGIN}},
	{"origin_records", "kind = 'origin'", {ORIGIN, NAME, TIME, TEXT("host", "name = 'host'"), NUMBER("pid", "role = 'process'"),
	                                        TEXT("input", "name = 'input'"), NUMBER("error_ns", "name = 'error_ns'"),
	                                        NUMBER("stride", "name = 'stride'")}},
	{"deaths", "kind = 'death'", {CORO, PROBE, AFTER, TIME}},
	{"conflicts", "kind = 'conflict'", {CORO, PROBE, TIME}},
	{"threads", "kind = 'thread'", {THREAD, NAME, TIME}},
	/* Also what a filter left out, whose count is null: in both, the state of the coroutine is unknown from then on. */
	{"losses", "(kind = 'loss' AND NOT " OF_THREAD " OR kind = 'left_out')", {CORO, PROBE, NUMBER("index", "role = 'sequence'"), COUNT_OF, AFTER, TIME}},
	{"thread_losses", "kind = 'loss' AND " OF_THREAD,
	 {THREAD, COUNT_OF, NUMBER("transitions", "name = 'transitions' AND role = 'count'"), AFTER, TIME}},
	{"wakes", "kind = 'wake'", {CORO, PROBE, TIME, THREAD, NUMBER("by", "name = 'by'")}},
	{"awaits", "kind = 'await'", {CORO, PROBE, TIME, NUMBER("target", "name = 'target'")}},
	{"names", "kind = 'name'", {CORO, PROBE, TIME, NAME}},
	{"sites", "kind = 'site'", {SITE, TEXT("file", "name = 'file'"), NUMBER("line", "name = 'line'"),
	                            TEXT("function", "role = 'name'"), TIME}},
	{"functions", "kind = 'function'", {CORO, PROBE, TIME, TEXT("addr", "role = 'address'"),
	                                    TEXT("code", "name = 'code'")}},
};

/* --- expressions --------------------------------------------------------------------------------------------------------- */

#define FLAG(condition) "CASE WHEN " condition " THEN 1 ELSE 0 END"
#define COUNT_IF(condition) "sum(" FLAG(condition) ")"

/* Of two times, the second of which may be null: then so is the result. */
#define LATER(a, b) "CASE WHEN " a " > " b " THEN " a " ELSE " b " END"
#define EARLIER(a, b) "CASE WHEN " a " < " b " THEN " a " ELSE " b " END"
#define LENGTH(from, to) "CASE WHEN " from " > " to " THEN 0 ELSE " to " - " from " END"

#define BEFORE_ALL "(-9223372036854775807 - 1)" /* also before a time of 2^63 or more, which is negative where integers have 63 bits */

#ifndef SQL_WALL_NS
#define SQL_WALL_NS "(e.ts + s.wall_offset_ns)"
#endif
#ifndef SQL_WALL_SECOND
#define SQL_WALL_FRACTION "((" SQL_WALL_NS " % 1000000000 + 1000000000) % 1000000000)" /* of a second, also before 1970 */
#define SQL_WALL_SECOND "((" SQL_WALL_NS " - " SQL_WALL_FRACTION ") / 1000000000)"
#endif

/* --- times --------------------------------------------------------------------------------------------------------------- */

/* A span of time, which is null in a section without a clock. The list of these is made once for a query, and is mostly empty. */
#define SPAN(section, span) "CASE WHEN " section " IN (SELECT id FROM sections WHERE clock = 'ordinal') THEN NULL ELSE " span " END"

/* Sections of which a filter has left out records: there, only losses says which numbers are lost. Names in attrs are JSON. */
#define FILTERED "SELECT id FROM sections WHERE attrs LIKE '%\"filtered\":%'"

/*
 * When x's coroutine, or what else has the number, was last known, and whether all of that is there: in a merged section, up to the end of
 * its origin, which the number has as its last digits (ctp-merge(1)). Where these digits are no origin's, the times are not certain. s is
 * the section.
 */
#define MERGED(x) x ".section IN (SELECT section FROM origins_at_end)"
#define ORIGIN_END(x, number, what) \
	"(SELECT max(" what ") FROM origins_at_end o WHERE o.section = " x ".section AND " number " % nullif(o.stride, 0) = o.origin)"
#define OWN_NUMBER(x) "coalesce(" x ".coro, " x ".probe_id)"
#define END_OF(x, number, section_end) \
	"CASE WHEN " MERGED(x) " THEN coalesce(" ORIGIN_END(x, number, "o.end_ns") ", " section_end ") ELSE " section_end " END"
#define IS_COMPLETE(x, number, complete) \
	"CASE WHEN " MERGED(x) " THEN coalesce(" ORIGIN_END(x, number, FLAG("o.complete")) " > 0, FALSE) ELSE coalesce(" complete ", FALSE) END"

/* --- what is looked up ----------------------------------------------------------------------------------------------------- */

/* Whether x's coroutine shared its station with another: its indexes then say nothing. */
#define CONFLICT(x) "EXISTS (SELECT 1 FROM conflicts r WHERE r.section = " x ".section AND r.coro = " x ".coro)"

/* A transition y of x's coroutine, by its index. */
#define STEP(x, what, which) \
	"(SELECT " what " FROM coro_trace_events y WHERE y.coro = " x ".coro AND y.section = " x ".section " which " LIMIT 1)"
#define NEXT(x) STEP(x, "y.id", "AND y.\"index\" > " x ".\"index\" ORDER BY y.\"index\"" SQL_UP)
#define PREVIOUS(x) STEP(x, "y.id", "AND y.\"index\" < " x ".\"index\" ORDER BY y.\"index\"" SQL_DOWN)
#define LAST(x) STEP(x, "y.id", "ORDER BY y.\"index\"" SQL_DOWN ", y.id DESC")
/* By the index on probe_id: MariaDB would take the one on coro, and read all that have none. */
#define LAST_PLAIN(x) \
	"(SELECT y.id FROM coro_trace_events y WHERE y.probe_id = " x ".probe_id AND y.section = " x ".section AND coalesce(y.coro, -1) = -1" \
	" ORDER BY y.ts DESC, y.id DESC LIMIT 1)"

/* The record r of the view `records` of x's coroutine; which: more conditions, and the order. */
#define MINE(x) "r.section = " x ".section AND r.coro = " x ".coro"
#define MINE_PLAIN(x) x ".coro IS NULL AND r.section = " x ".section AND r.coro IS NULL AND r.probe_id = " x ".probe_id"
#define PICK(what, records, mine, which) SQL_PICK(what, records " r WHERE " mine " " which)
#define RECORD(x, what, records, which) PICK(what, records, MINE(x), which)
#define RECORD_PLAIN(x, what, records, which) PICK(what, records, MINE_PLAIN(x), which)
#define HAS(x, records, which) \
	"(EXISTS (SELECT 1 FROM " records " r WHERE " MINE(x) " " which ")" \
	" OR EXISTS (SELECT 1 FROM " records " r WHERE " MINE_PLAIN(x) " " which "))"

#define BIRTH(x, what) "coalesce(" RECORD(x, what, "births", "") ", " RECORD_PLAIN(x, what, "births", "") ")"
/* Joins, as n, the name that a coroutine had last: for views in which many rows have the same coroutine. */
#define NAMED_IN(n, in, number) \
	" LEFT JOIN (SELECT section, coro, max(name) AS last" \
	" FROM (SELECT section, coro, first_value(name) OVER (PARTITION BY coro, section ORDER BY ts" SQL_DOWN ") AS name FROM names WHERE coro <> 0) q" \
	" GROUP BY section, coro) " n " ON " n ".section = " in " AND " n ".coro = " number
#define NAMED(n, x, number) NAMED_IN(n, x ".section", x "." number)
#define NAME_OF(x) RECORD(x, "r.name", "names", "ORDER BY r.ts" SQL_DOWN)

/* A column of the death of x's coroutine, if it died: mostly r.ts, when the death was known. */
#define DEATH(x, what) \
	"coalesce(" RECORD(x, what, "deaths", "ORDER BY r.ts" SQL_DOWN) "," \
	" " RECORD_PLAIN(x, what, "deaths", "AND r.ts >= " x ".ts ORDER BY r.ts" SQL_DOWN) ")"
#define ALIVE "coalesce(r.after, r.ts)" /* a death that was only observed lies between after and ts */

/* The first time at which x's coroutine is known: of its birth or else its first loss, or of an earlier first transition. */
#define FIRST_LOSS(x) RECORD(x, "coalesce(nullif(r.after, 0), r.ts)", "losses", "ORDER BY r.ts" SQL_UP)
#define FIRST(x) STEP(x, "y.ts", "ORDER BY y.\"index\"" SQL_UP ", y.id")
#define KNOWN(x) "coalesce(" BIRTH(x, "r.ts") ", " FIRST_LOSS(x) ")"
#define BEGIN(x) \
	"coalesce(" SQL_LEAST "(" KNOWN(x) ", " FIRST(x) "), " FIRST(x) ", " KNOWN(x) ", " RECORD(x, "r.ts", "deaths", "ORDER BY r.ts" SQL_UP) ")"

/* The record r of e's coroutine is not after the end of e: the next transition, if that has a time, or the death. */
#define BY_NOW(next) "AND coalesce(r.ts <= coalesce(" next ", " DEATH("e", "r.ts") "), TRUE)"

/* Whether events of x's coroutine are missing after the transition x. */
#define LOST_BEHIND(x) HAS(x, "losses", "AND coalesce(r.\"index\" > " x ".\"index\", r.ts > " x ".ts)")

/* The number of lost events, and of those later than e, the last transition of a coroutine whose events have no numbers. */
#define LOST_SUM(mine, which) SQL_ALL_OF("sum(r.count)", "losses r WHERE " mine " " which)
#define LOST_BEHIND_SUM(mine) LOST_SUM(mine, "AND r.ts > e.ts")

/* Whether events of unknown coroutines are missing after x.ts. */
#ifdef SQL_ONCE
#define LOST_OF_NOBODY(x) \
	"coalesce((SELECT n.last_ns FROM (SELECT section, max(coalesce(ts, 99999999999999999999)) AS last_ns FROM losses" \
	" WHERE nullif(coro, 0) IS NULL AND coalesce(probe_id, 0) = 0 GROUP BY section) n WHERE n.section = " x ".section) > coalesce(" x ".ts, " BEFORE_ALL "), FALSE)"
#else
#define NOBODY_BEHIND(x, nobody) \
	"EXISTS (SELECT 1 FROM losses r WHERE r.section = " x ".section AND " nobody " AND r.ts > coalesce(" x ".ts, " BEFORE_ALL "))" \
	" OR EXISTS (SELECT 1 FROM losses r WHERE r.section = " x ".section AND " nobody " AND r.ts IS NULL)"
#define LOST_OF_NOBODY(x) \
	"(" NOBODY_BEHIND(x, "r.coro = 0") " OR " NOBODY_BEHIND(x, "r.coro IS NULL AND r.probe_id = '0'") \
	" OR " NOBODY_BEHIND(x, "r.coro IS NULL AND r.probe_id IS NULL") ")"
#endif

/* The record x came after its coroutine's death: coro is known, but not the probe_id. */
#define STALE(x) "(" x ".probe_id = '0' AND coalesce(" x ".ts > " DEATH(x, "r.ts") ", FALSE))"

/* Whether there are transitions without a twin in coro_trace_events (sqlite-twin.h). */
#define UNFOLLOWED \
	"EXISTS (SELECT 1 FROM classes k WHERE kind = 'transition' AND table_name <> 'coro_trace_events'" \
	" AND 3 > (SELECT count(DISTINCT CASE WHEN role = 'probe' THEN 'coroutine' ELSE role END) FROM fields WHERE class = k.id" \
	"          AND role IN ('time', 'state', 'coroutine', 'probe') AND type NOT IN ('f32', 'f64', 'string', 'bytes')))"

/* The text of a place in the source, as other tools spell it. */
#define SITE_TEXT(x, number) \
	PICK("nullif(coalesce(r.file, '') || CASE WHEN r.line <> 0 THEN ':' || r.line ELSE '' END" \
	     " || CASE WHEN r.function <> '' THEN ':' || r.function ELSE '' END, '')", \
	     "sites", "r.section = " x ".section AND r.site = " number " AND r.site <> 0", "ORDER BY r.ts" SQL_DOWN)

/*
 * The text of the place where x's coroutine is suspended; else the symbol of the address, or of the coroutine's function, for
 * transitions that have the address of the frame.
 */
#define SYMBOL(x, address) "(SELECT a.text FROM symbols a WHERE a.section = " x ".section AND a.addr = " address ")"
#define PLACE_TEXT(x) \
	"coalesce(" SITE_TEXT(x, x ".site") ", " SYMBOL(x, x ".addr") "," \
	" " SYMBOL(x, RECORD(x, "r.code", "functions", "ORDER BY r.ts" SQL_DOWN)) ")"

#define THREAD_NAME(x) \
	PICK("r.name", "threads", "r.section = " x ".section AND r.tid = " x ".tid AND r.name IS NOT NULL", "ORDER BY r.ts" SQL_DOWN)

/* Sums for each section. */
#define LOSSES "(SELECT section, sum(count) AS lost, sum(CASE WHEN nullif(coro, 0) IS NULL AND coalesce(probe_id, '0') = '0' THEN count ELSE 0 END)" \
	" AS nobodys FROM losses GROUP BY section)"
#define THREAD_LOSSES \
	"(SELECT section, sum(transitions) AS of_threads, sum(count) AS missed, max(CASE WHEN coalesce(count, 1) > 0 THEN ts END) AS missed_ns" \
	" FROM thread_losses GROUP BY section)"

/* A record of the coroutine that i waits for. */
#define TARGET "r.section = i.section AND r.coro = i.target"
#define TARGET_HAS(records, which) "EXISTS (SELECT 1 FROM " records " r WHERE " TARGET " " which ")"

/*
 * The last wake of a suspended coroutine c since the transition before the suspension. The wake counts if it came since the
 * suspension, or while the coroutine ran; but a wake from another thread soon after the resumption may have caused that resumption
 * (follow.c). A wake in a gap does not count.
 */
#define WAKE(what) RECORD("c", what, "wakes", "AND r.ts > c.before_ns ORDER BY r.ts" SQL_DOWN)
#define WAKE_COUNTS \
	"coalesce(c.state = 'suspended' AND " WAKE("r.ts >= c.ts OR coalesce(c.ran_on = r.tid" \
	                                           " OR c.ran_on IS NOT NULL AND r.ts > c.before_ns + CASE WHEN c.ordinal THEN 0 ELSE 1000 END, FALSE)") ", FALSE)"

/* --- the views ----------------------------------------------------------------------------------------------------------- */

/*
 * Transitions without an index, or without a coro, in the order of time. In a database without loss records, as coroTracer makes
 * it, seq shows gaps as sequence.h says: it counts events, or by two for each round through the eight slots. Where seq begins
 * again, the probe_id is another coroutine's from there on: another life. Where no single coroutine can have had such numbers,
 * lives are mixed, and nothing is known up to the next life.
 */
#define BEGINS(seq, next) "coalesce(coro IS NULL AND (" next " = 1 AND " seq " > 0 OR " next " = 2 AND " seq " > 2 AND odd = 0), FALSE)"
#define MIXES \
	"coalesce(coro IS NULL AND NOT begins AND (next_seq > 0 AND next_seq < seq AND next_ts > ts" \
	" OR next_seq = seq AND (seq % 2 = 1 OR seq > 0 AND (odd > 0 OR round)) OR next_seq NOT BETWEEN 0 AND 281474976710656), FALSE)"
/* Transitions, and what was lost of their coroutines and is in conflict there. By the sections SQLite finds those of one coroutine. */
#define IN_SECTIONS "section IN (SELECT id FROM sections)"
#define NO_STEP(ts) \
	SQL_COLUMN("coro") ", " SQL_COLUMN("probe_id") ", " SQL_COLUMN("NULL") ", " SQL_ADDRESS("NULL") ", " SQL_COLUMN("NULL") ", NULL, " SQL_COLUMN(ts) \
	", " SQL_COLUMN("NULL") ", " SQL_COLUMN("NULL")
#define STREAM(steps, of) \
	"SELECT id, section, coro, probe_id, tid, addr, seq, is_active, ts, \"index\", site, 0 AS losses, 0 AS counts, 0 AS lost, 0 AS conflicts" \
	" FROM coro_trace_events WHERE " steps \
	" UNION ALL SELECT NULL, section, " NO_STEP("ts") ", 1, " FLAG("count IS NOT NULL") ", coalesce(count, 0), 0" \
	" FROM losses WHERE " of " AND ts IS NOT NULL AND " IN_SECTIONS \
	" UNION ALL SELECT NULL, section, " NO_STEP("coalesce(ts, -1)") ", 0, 0, 0, 1 FROM conflicts WHERE " of " AND " IN_SECTIONS
#define BETWEEN_STEPS(sum) "lead(" sum ") OVER w - " sum " AS " sum
#define UNNUMBERED_STEPS(steps, of, key) \
	"SELECT id, section, coro, probe_id, tid, addr, seq, is_active, ts, \"index\", site, next_ts, CAST(NULL AS " SQL_NUMBER ") AS next_index," \
	" CASE WHEN next_ts IS NULL THEN NULL WHEN begins THEN 2 WHEN mixes > 0 THEN 1" \
	" WHEN coro IS NULL AND seq > 0 AND next_seq > seq + 1 AND NOT (seq % 2 = 0 AND next_seq = seq + 2 AND round) THEN 1" \
	" WHEN losses > 0 THEN 1 ELSE 0 END AS gap," \
	" CASE WHEN mixes > 0 THEN TRUE WHEN next_ts IS NOT NULL THEN next_conflicts > CASE WHEN life = 0 THEN 0 ELSE earlier END" \
	" ELSE " HAS("e", "conflicts", BY_NOW("NULL") " AND (e.life = 0 OR r.ts >= e.life_ns)") " END AS conflict," \
	" CASE WHEN counts > 0 THEN lost END AS lost" \
	" FROM (SELECT b.*, sum(" FLAG(MIXES) ") OVER l AS mixes, first_value(ts) OVER l AS life_ns, first_value(conflicts) OVER l AS earlier" \
	" FROM (SELECT a.*, sum(" FLAG(BEGINS("last_seq", "seq")) ") OVER w AS life, " BEGINS("seq", "next_seq") " AS begins" \
	" FROM (SELECT id, section, coro, probe_id, tid, addr, seq, is_active, ts, \"index\", site," \
	"       lag(seq) OVER w AS last_seq, lead(ts) OVER w AS next_ts, lead(seq) OVER w AS next_seq, sum(" FLAG("seq % 2 = 1") ") OVER w AS odd," \
	"       " BETWEEN_STEPS("losses") ", " BETWEEN_STEPS("counts") ", " BETWEEN_STEPS("lost") ", lead(by_now) OVER w AS next_conflicts, conflicts," \
	"       count(*) OVER eight = 8 AND min(seq) OVER eight = seq AND max(seq) OVER eight = seq AS round" \
	" FROM (SELECT id, section, coro, probe_id, tid, addr, seq, is_active, ts, \"index\", site," \
	"       sum(losses) OVER c AS losses, sum(counts) OVER c AS counts, sum(lost) OVER c AS lost, sum(conflicts) OVER c AS by_now," \
	"       coalesce(sum(conflicts) OVER (c RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS conflicts" \
	"       FROM (" STREAM(steps, of) ") s WINDOW c AS (PARTITION BY " key " ORDER BY ts)) s WHERE id IS NOT NULL" \
	"       WINDOW w AS (PARTITION BY coro, section, probe_id ORDER BY ts, id), eight AS (w ROWS 7 PRECEDING)) a" \
	" WINDOW w AS (PARTITION BY coro, section, probe_id ORDER BY ts, id)) b" \
	" WINDOW l AS (PARTITION BY coro, section, probe_id, life ORDER BY ts, id)) e"
#define PLAIN_STEPS \
	UNNUMBERED_STEPS("coro IS NULL", "coro IS NULL", "coro, section, probe_id") " UNION ALL " \
	UNNUMBERED_STEPS("coro <> 0 AND \"index\" IS NULL", "coro <> 0", "coro, section")

/* The transition after e is none of the coroutine's: it came after the death. */
#define BEHIND_DEATH "next_probe = '0' AND probe_id <> '0' AND coalesce(next_ts > " DEATH("e", "r.ts") ", FALSE)"

/*
 * Transitions with an index, and those before and after each: of several with one index, which a conflict can give, the first. Window
 * functions, because MariaDB and MySQL read all of a coroutine's rows to find the one with the next index; and none that is a maximum so
 * far, for which MariaDB reads all rows before.
 */
#define NUMBERED_STEPS \
	"(SELECT a.*, last_value(following_ts) OVER g AS next_ts, last_value(following_index) OVER g AS next_index," \
	" last_value(following_probe) OVER g AS next_probe, first_value(preceding_ts) OVER g AS last_ts, first_value(preceding_index) OVER g AS last_index" \
	" FROM (SELECT y.*, lead(ts) OVER w AS following_ts, lead(\"index\") OVER w AS following_index, lead(probe_id) OVER w AS following_probe," \
	"       lag(ts) OVER w AS preceding_ts, lag(\"index\") OVER w AS preceding_index" \
	"       FROM coro_trace_events y WHERE coro <> 0 AND \"index\" IS NOT NULL" \
	"       WINDOW w AS (PARTITION BY coro, section ORDER BY \"index\", id)) a" \
	" WINDOW g AS (PARTITION BY coro, section, \"index\" ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))"

/*
 * The last await by each transition: the nth of the coroutine, and the transitions up to the next one, are ordered by time. This is joined
 * from the left, or MariaDB begins with it.
 */
#define AWAITS_BY_STEP \
	"(SELECT id, section, coro, await_ns, awaited FROM (SELECT id, section, coro, nth, first_value(ts) OVER n AS await_ns, first_value(target) OVER n AS awaited" \
	" FROM (SELECT s.*, count(await) OVER (PARTITION BY coro, section ORDER BY ts, step, target, id) AS nth" \
	" FROM (SELECT id, section, coro, ts, 1 AS step, CAST(NULL AS " SQL_NUMBER ") AS target, CAST(NULL AS " SQL_NUMBER ") AS await" \
	"       FROM coro_trace_events WHERE coro <> 0 AND \"index\" IS NOT NULL" \
	"       UNION ALL SELECT NULL, section, coro, ts, 0, target, 1 FROM awaits WHERE coro <> 0 AND ts IS NOT NULL) s) s" \
	" WINDOW n AS (PARTITION BY coro, section, nth ORDER BY ts, step, target, id)) s WHERE id IS NOT NULL AND nth > 0)"

/* The sum of the gaps before transitions of x's coroutine, which has indexes. */
#define GAP_BEFORE(from) "sum(" SQL_GREATEST "(0, e.ts - coalesce(" from ", " BEGIN("e") ")))"
#ifdef SQL_ONCE
#define GAPS_OF(x) \
	"(SELECT g.ns FROM (SELECT section, coro, " GAP_BEFORE("e.last_ts") " AS ns FROM " NUMBERED_STEPS " e" \
	" WHERE e.\"index\" > coalesce(e.last_index, -1) + 1 AND NOT " STALE("e") " GROUP BY section, coro) g" \
	" WHERE g.coro = " x ".coro AND g.section = " x ".section)"
#else
#define GAPS_OF(x) \
	"(SELECT " GAP_BEFORE(STEP("e", "y.ts", "AND y.\"index\" < e.\"index\" ORDER BY y.\"index\"" SQL_DOWN)) \
	" FROM coro_trace_events e WHERE e.coro = " x ".coro AND e.section = " x ".section" \
	" AND e.\"index\" > 0 AND " STEP("e", "1", "AND y.\"index\" = e.\"index\" - 1") " IS NULL AND NOT " STALE("e") ")"
#endif

/* When a wait for an object, or a hold, ended (sql-facts.c). A row of no coroutine has the doubt of a section (sql-holds.h). */
#define WAIT_STOP \
	"CASE WHEN stopped THEN w.stop_ns WHEN open THEN " END_OF("w", "w.coro", "s.end_ns") " END"
#define HOLD_DOUBT "coalesce(w.ts <= d.doubt_ns, FALSE)"
#define HOLD_STOP "CASE WHEN NOT " HOLD_DOUBT " THEN " WAIT_STOP " END"

static const struct ctp_sql_view views[] = {
	/* All coroutines that any record but a wake names; probe_id is set only where it identifies the coroutine. */
	{"coroutines",
	 "SELECT DISTINCT section, coro, CAST(NULL AS " SQL_PROBE ") AS probe_id FROM coro_trace_events WHERE coro <> 0"
	 " UNION SELECT section, coro, CAST(NULL AS " SQL_PROBE ") FROM births WHERE coro <> 0"
	 " UNION SELECT section, coro, CAST(NULL AS " SQL_PROBE ") FROM deaths WHERE coro <> 0"
	 " UNION SELECT section, coro, CAST(NULL AS " SQL_PROBE ") FROM losses WHERE coro <> 0"
	 " UNION SELECT section, CAST(NULL AS " SQL_NUMBER "), probe_id FROM births WHERE coro IS NULL AND probe_id IS NOT NULL"
	 " UNION SELECT section, CAST(NULL AS " SQL_NUMBER "), probe_id FROM coro_trace_events WHERE coro IS NULL"},

	/* Each transition, and the time of the coroutine's next known one; conflict: by then another had written in its place. */
	{"steps",
	 "SELECT id, e.section, e.coro, probe_id, tid, addr, seq, is_active, ts, \"index\", site, next_ts, next_index,"
	 " CASE next_index <> \"index\" + 1 WHEN TRUE THEN 1 WHEN FALSE THEN 0 END AS gap,"
	 " c.first_ns IS NOT NULL AND coalesce(c.first_ns <= coalesce(next_ts, " DEATH("e", "r.ts") "), TRUE) AS conflict"
	 " FROM (SELECT id, section, coro, probe_id, tid, addr, seq, is_active, ts, \"index\", site,"
	 "       CASE WHEN " BEHIND_DEATH " THEN NULL ELSE next_ts END AS next_ts, CASE WHEN " BEHIND_DEATH " THEN NULL ELSE next_index END AS next_index"
	 "       FROM " NUMBERED_STEPS " e WHERE NOT " STALE("e") ") e"
	 " LEFT JOIN (SELECT section, coro, min(coalesce(ts, -1)) AS first_ns FROM conflicts WHERE coro <> 0 GROUP BY section, coro) c"
	 "      ON c.section = e.section AND c.coro = e.coro"
	 " UNION ALL SELECT id, section, coro, probe_id, tid, addr, seq, is_active, ts, \"index\", site, next_ts, next_index, gap, conflict"
	 " FROM (" PLAIN_STEPS ") e"},

	/*
	 * The time from a transition to the next, or to the coroutine's death, or to the end of the section; not known before a gap,
	 * or in a conflict. exact: the end of the interval is known.
	 */
	{"intervals",
	 "SELECT id, section, coro, probe_id, is_active, tid, addr, site, \"index\", start_ns, stop_ns,"
	 " " SPAN("section", "stop_ns - start_ns") " AS duration_ns, open, death_ns, exact, certain"
	 " FROM (SELECT e.*, e.ts AS start_ns,"
	 " CASE WHEN e.conflict THEN NULL WHEN next_ts IS NOT NULL THEN CASE WHEN gap <> 0 THEN NULL ELSE " LATER("e.ts", "next_ts") " END"
	 " WHEN " LOST_BEHIND("e") " THEN NULL"
	 " ELSE coalesce(" DEATH("e", LATER("e.ts", ALIVE)) ", " END_OF("e", OWN_NUMBER("e"), "s.end_ns") ") END AS stop_ns,"
	 " CASE WHEN next_ts IS NOT NULL OR " DEATH("e", "r.ts") " IS NOT NULL THEN FALSE"
	 " WHEN e.conflict OR " LOST_BEHIND("e") " THEN NULL ELSE TRUE END AS open,"
	 " CASE WHEN next_ts IS NULL THEN " DEATH("e", "r.ts") " END AS death_ns,"
	 " CASE WHEN next_ts IS NULL THEN coalesce(" DEATH("e", ALIVE " >= r.ts") ", TRUE) ELSE TRUE END AS exact,"
	 " CASE WHEN e.\"index\" IS NULL OR gap <> 0 OR " CONFLICT("e") " THEN FALSE WHEN next_ts IS NOT NULL THEN TRUE"
	 " ELSE " IS_COMPLETE("e", OWN_NUMBER("e"), "s.complete") " AND NOT " LOST_BEHIND("e") " AND NOT " LOST_OF_NOBODY("e") " END AS certain" SQL_APART("a")
	 " FROM steps e LEFT JOIN sections s ON s.id = CASE WHEN next_ts IS NULL THEN e.section END) i"},

	/* A gap is a missing index; else a loss record after the last transition, or of a coroutine without transitions. */
	{"gaps",
	 "SELECT section, coro, probe_id, start_ns, " LATER("start_ns", "stop_ns") " AS stop_ns,"
	 " " SPAN("section", LATER("start_ns", "stop_ns") " - start_ns") " AS duration_ns, lost FROM ("
	 "SELECT e.section, e.coro, e.probe_id, coalesce(e.last_ts, " BEGIN("e") ") AS start_ns, e.ts AS stop_ns,"
	 " CASE WHEN e.section IN (" FILTERED ") THEN " LOST_SUM(MINE("e"), "AND r.\"index\" > coalesce(e.last_index, -1) AND r.\"index\" < e.\"index\"")
	 " ELSE e.\"index\" - coalesce(e.last_index, -1) - 1 END AS lost"
	 " FROM " NUMBERED_STEPS " e WHERE e.\"index\" > coalesce(e.last_index, -1) + 1 AND NOT " STALE("e")
	 " UNION ALL SELECT l.section, l.coro, l.probe_id, coalesce(l.last_ns, " BEGIN("l") "), coalesce(" DEATH("l", "r.ts") ","
	 " " END_OF("l", "l.coro", "s.end_ns") "), lost FROM (SELECT l.section, l.coro, max(l.probe_id) AS probe_id, min(l.ts) AS ts, max(p.ts) AS last_ns, sum(l.count) AS lost"
	 "       FROM losses l LEFT JOIN coro_trace_events p ON p.id = " LAST("l")
	 "       WHERE l.coro <> 0 AND CASE WHEN p.id IS NULL THEN TRUE WHEN p.\"index\" IS NULL THEN FALSE"
	 "             ELSE coalesce(l.\"index\" > p.\"index\", l.ts > p.ts) END"
	 "       GROUP BY l.section, l.coro) l LEFT JOIN sections s ON s.id = l.section"
	 " UNION ALL SELECT e.section, e.coro, e.probe_id, " BEGIN("e") ", e.ts,"
	 " " LOST_SUM(MINE("e"), "AND r.ts <= e.ts")
	 " FROM coro_trace_events e WHERE e.coro <> 0 AND e.\"index\" IS NULL AND e.id = " STEP("e", "y.id", "ORDER BY y.\"index\"" SQL_UP ", y.id")
	 " AND " HAS("e", "losses", "AND r.ts <= e.ts")
	 " UNION ALL SELECT e.section, e.coro, e.probe_id, e.ts, coalesce(e.next_ts, " DEATH("e", "r.ts") ", " END_OF("e", OWN_NUMBER("e"), "s.end_ns") "),"
	 " CASE WHEN next_ts IS NOT NULL THEN lost ELSE coalesce(" LOST_BEHIND_SUM(MINE("e")) ", " LOST_BEHIND_SUM(MINE_PLAIN("e")) ") END"
	 " FROM (" PLAIN_STEPS ") e LEFT JOIN sections s ON s.id = e.section"
	 " WHERE gap = 1 OR next_ts IS NULL AND " LOST_BEHIND("e") ") g"},

	{"run_intervals",
	 "SELECT id, section, coro, probe_id, tid, addr, start_ns, stop_ns, duration_ns, open, certain AND exact AS certain"
	 " FROM intervals WHERE is_active"},

	{"wait_intervals",
	 "SELECT id, section, coro, probe_id, addr, tid, start_ns, stop_ns, duration_ns, open, certain AND exact AS certain,"
	 " site, " PLACE_TEXT("i") " AS site_text FROM intervals i WHERE NOT is_active"},

	/* With the first object that each waited for. */
	{"longest_waits",
	 "SELECT i.id, i.section, i.coro, i.probe_id, i.addr, i.tid, start_ns, i.stop_ns, duration_ns,"
	 " i.open, certain AND exact AS certain, i.site, " PLACE_TEXT("i") " AS site_text,"
	 " " NAME_OF("i") " AS name, o.what, o.object, nullif(o.object_name, '') AS object_name"
	 " FROM intervals i LEFT JOIN object_wait o ON o.section = i.section AND o.coro = i.coro"
	 "      AND o.ts = i.start_ns AND o.\"index\" = i.\"index\" AND o.nth = 0"
	 " WHERE NOT is_active ORDER BY duration_ns" SQL_DOWN},

	{"suspend_addresses",
	 "SELECT section, addr, count(*) AS waits, sum(duration_ns) AS total_ns, max(duration_ns) AS max_ns,"
	 " " COUNT_IF("open") " AS still_waiting, " COUNT_IF("NOT certain") " AS uncertain, " COUNT_IF("duration_ns IS NULL") " AS unknown,"
	 " " SYMBOL("w", "w.addr") " AS addr_text FROM wait_intervals w GROUP BY section, addr ORDER BY total_ns" SQL_DOWN},

	{"suspend_sites",
	 "SELECT section, site, " SITE_TEXT("w", "w.site") " AS site_text, waits, total_ns, max_ns, still_waiting, uncertain, unknown"
	 " FROM (SELECT section, site, count(*) AS waits, sum(duration_ns) AS total_ns, max(duration_ns) AS max_ns,"
	 "       " COUNT_IF("open") " AS still_waiting, " COUNT_IF("NOT certain") " AS uncertain, " COUNT_IF("duration_ns IS NULL") " AS unknown"
	 "       FROM wait_intervals GROUP BY section, site) w ORDER BY total_ns" SQL_DOWN},

	/* An await belongs to the suspension after it, unless events are missing between that and the transition before. */
	{"await_intervals",
	 "SELECT i.id, i.section, i.coro, i.probe_id, m.last AS name, i.target, o.last AS target_name, start_ns, stop_ns, duration_ns, open, certain, site, site_text,"
	 " CASE WHEN target = 0 THEN NULL WHEN " TARGET_HAS("deaths", "") " THEN 'dead' WHEN i.last IS NULL THEN"
	 " CASE WHEN " TARGET_HAS("losses", "") " THEN 'unknown' WHEN " TARGET_HAS("births", "") " THEN CASE WHEN " UNFOLLOWED " THEN 'unknown' ELSE 'born' END END"
	 " WHEN " TARGET_HAS("losses", "AND coalesce(r.\"index\" > i.last, r.ts > i.last_ns)") " THEN 'unknown'"
	 " WHEN last_active THEN 'running' ELSE 'suspended' END AS target_state"
	 " FROM (SELECT w.*, t.\"index\" AS last, t.ts AS last_ns, t.is_active AS last_active" SQL_APART("b")
	 " FROM (SELECT i.id, i.section, i.coro, i.probe_id, i.start_ns, i.stop_ns, i.duration_ns, i.open,"
	 "       i.certain AND i.exact AS certain, i.site, " PLACE_TEXT("i") " AS site_text,"
	 "       CASE WHEN i.\"index\" = 0 OR a.await_ns >= " STEP("i", "y.ts", "AND y.\"index\" = i.\"index\" - 1")
	 "       THEN a.awaited END AS target" SQL_APART("a")
	 "       FROM intervals i LEFT JOIN " AWAITS_BY_STEP " a ON a.id = i.id AND a.coro = i.coro AND a.section = i.section"
	 "       WHERE NOT i.is_active) w"
	 " LEFT JOIN coro_trace_events t ON t.id = (SELECT y.id FROM coro_trace_events y WHERE y.coro = w.target"
	 "      AND y.section = w.section ORDER BY y.\"index\"" SQL_DOWN ", y.id DESC LIMIT 1)"
	 " WHERE target IS NOT NULL) i" NAMED("m", "i", "coro") NAMED("o", "i", "target")},

	/*
	 * The coroutines that wait at the end, the target of each, and the root of its chain of targets. Chains are built from the roots,
	 * coroutines that wait for none, so that a circle has no root. An await counts if it belongs to the last suspension of a
	 * coroutine that is alive and was not woken since, and no event is missing after it. Only coroutines that ever awaited are
	 * looked at.
	 */
	{"wait_for",
	 "WITH RECURSIVE waits AS " SQL_MATERIALIZED " (SELECT * FROM (SELECT t.section, t.coro, t.probe_id, t.ts, t.addr, t.site, t.ts AS since_ns,"
	 " CASE WHEN s.clock = 'ordinal' THEN NULL ELSE " END_OF("t", "t.coro", "s.end_ns") " - t.ts END AS for_ns,"
	 " " IS_COMPLETE("t", "t.coro", "s.complete") " AND NOT " LOST_OF_NOBODY("t") " AS certain,"
	 " " RECORD("t", "r.target", "awaits", "AND r.ts <= t.ts AND r.ts >= CASE WHEN t.\"index\" = 0 THEN " BEFORE_ALL " ELSE "
	 "         " STEP("t", "y.ts", "AND y.\"index\" = t.\"index\" - 1") " END ORDER BY r.ts" SQL_DOWN) " AS awaits"
	 " FROM (SELECT DISTINCT section, coro FROM awaits WHERE coro <> 0) c JOIN coro_trace_events t ON t.id = " LAST("c")
	 " LEFT JOIN sections s ON s.id = t.section"
	 " WHERE NOT t.is_active AND NOT " HAS("t", "deaths", "AND r.ts IS NOT NULL") " AND NOT " CONFLICT("t") " AND NOT " LOST_BEHIND("t")
	 " AND NOT " HAS("t", "wakes", "AND r.ts >= t.ts") ") q WHERE awaits <> 0" SQL_WHOLE "),"
	 " tree(section, coro, root, depth) AS (SELECT w.section, w.coro, w.awaits, 1 FROM waits w"
	 "      LEFT JOIN waits o ON o.section = w.section AND o.coro = w.awaits WHERE o.coro IS NULL"
	 " UNION ALL SELECT w.section, w.coro, t.root, t.depth + 1 FROM tree t JOIN waits w ON w.section = t.section AND w.awaits = t.coro)"
	 " SELECT w.section, w.coro, w.probe_id, m.last AS name, w.awaits, a.last AS awaits_name, t.root, o.last AS root_name, t.depth,"
	 " w.since_ns, w.for_ns, w.certain, " PLACE_TEXT("w") " AS site_text, " SITE_TEXT("w", BIRTH("w", "r.site")) " AS spawn_site_text"
	 " FROM waits w LEFT JOIN tree t ON t.section = w.section AND t.coro = w.coro"
	 NAMED("m", "w", "coro") NAMED("a", "w", "awaits") NAMED_IN("o", "w.section", "t.root")},

	{"thread_runs",
	 "SELECT section, tid, " THREAD_NAME("i") " AS thread, coro, probe_id, start_ns, stop_ns, duration_ns, open, certain"
	 " FROM run_intervals i"},

	{"thread_gaps",
	 "SELECT section, tid, " EARLIER("start_ns", "stop_ns") " AS start_ns, stop_ns,"
	 " " SPAN("section", "stop_ns - " EARLIER("start_ns", "stop_ns")) " AS duration_ns, transitions AS lost"
	 " FROM (SELECT l.*, coalesce(nullif(after, 0), (SELECT e.ts FROM coro_trace_events e WHERE e.tid = l.tid"
	 "       AND e.section = l.section ORDER BY e.ts LIMIT 1), ts) AS start_ns,"
	 "       " SQL_LEAST "(ts, coalesce(" END_OF("l", "l.tid", "(SELECT s.end_ns FROM sections s WHERE s.id = l.section)") ", ts)) AS stop_ns"
	 "       FROM thread_losses l WHERE transitions > 0 AND tid <> 0) l"},

	/* Runs may be nested, and gaps may overlap: between two neighbouring begins or ends, a run or a gap is open or not. */
	{"thread_times",
	 "SELECT i.section, i.tid, " THREAD_NAME("i") " AS thread, first_ns, last_ns, runs,"
	 " CASE WHEN s.clock = 'ordinal' THEN NULL ELSE busy_ns END AS busy_ns, CASE WHEN s.clock = 'ordinal' THEN NULL ELSE unknown_ns END AS unknown_ns, gaps, i.lost,"
	 " " IS_COMPLETE("i", "i.tid", "s.complete") " AND coalesce(l.lost, 0) <= coalesce(m.of_threads, 0) AS certain, uncertain"
	 " FROM (SELECT section, tid, min(t) AS first_ns, max(t) AS last_ns, " COUNT_IF("kind = 'run'") " AS runs, " COUNT_IF("kind = 'gap'") " AS gaps,"
	 "       sum(lost) AS lost, sum(unsure) AS uncertain, sum(CASE WHEN run > 0 AND gap = 0 THEN next - t ELSE 0 END) AS busy_ns,"
	 "       sum(CASE WHEN gap > 0 THEN next - t ELSE 0 END) AS unknown_ns"
	 " FROM (SELECT section, tid, t, kind, lost, unsure, sum(run) OVER w AS run, sum(gap) OVER w AS gap,"
	 "       coalesce(lead(t) OVER w, t) AS next"
	 " FROM (SELECT section, tid, CASE WHEN d > 0 THEN start_ns ELSE stop_ns END AS t, CASE WHEN d > 0 THEN 'run' END AS kind, CASE WHEN whole THEN d ELSE 0 END AS run, 0 AS gap,"
	 "       0 AS lost, " FLAG("d > 0 AND NOT certain") " AS unsure"
	 "       FROM (SELECT i.*, stop_ns IS NOT NULL AND (certain OR NOT open) AS whole FROM run_intervals i) i"
	 "       CROSS JOIN (SELECT 1 AS d UNION ALL SELECT -1) x WHERE whole OR d > 0"
	 " UNION ALL SELECT section, tid, CASE WHEN d > 0 THEN start_ns ELSE stop_ns END, CASE WHEN d > 0 THEN 'gap' END, 0, d, CASE WHEN d > 0 THEN lost ELSE 0 END, 0"
	 "       FROM thread_gaps CROSS JOIN (SELECT 1 AS d UNION ALL SELECT -1) x) i"
	 " WINDOW w AS (PARTITION BY section, tid ORDER BY t)) i GROUP BY section, tid) i LEFT JOIN sections s ON s.id = i.section"
	 " LEFT JOIN " LOSSES " l ON l.section = i.section LEFT JOIN " THREAD_LOSSES " m ON m.section = i.section"},

	{"coroutine_times",
	 "SELECT section, coro, probe_id, " NAME_OF("i") " AS name, coalesce(" BEGIN("i") ", first_ns) AS begin_ns,"
	 " coalesce(" DEATH("i", "r.ts") ", " END_OF("i", OWN_NUMBER("i"), "(SELECT s.end_ns FROM sections s WHERE s.id = i.section)") ") AS end_ns,"
	 " runs, " SPAN("section", "running_ns") " AS running_ns, waits, " SPAN("section", "suspended_ns") " AS suspended_ns, gaps,"
	 " " SPAN("section", "unknown_ns") " AS unknown_ns, lost, uncertain"
	 " FROM (SELECT section, coro, max(probe_id) AS probe_id, min(start_ns) AS first_ns, min(start_ns) AS ts,"
	 "       " COUNT_IF("state = 1") " AS runs, sum(CASE WHEN state = 1 THEN duration_ns ELSE 0 END) AS running_ns,"
	 "       " COUNT_IF("state = 0") " AS waits, sum(CASE WHEN state = 0 THEN duration_ns ELSE 0 END) AS suspended_ns,"
	 "       " COUNT_IF("state = 2") " AS gaps, sum(CASE WHEN state = 2 THEN duration_ns ELSE 0 END) AS unknown_ns, sum(lost) AS lost,"
	 "       sum(unsure) AS uncertain"
	 "       FROM (SELECT section, coro, probe_id, " FLAG("is_active") " AS state, start_ns, duration_ns, 0 AS lost,"
	 "             " FLAG("NOT (certain AND exact)") " AS unsure"
	 "             FROM intervals"
	 "             UNION ALL SELECT section, coro, probe_id, 2, start_ns, duration_ns, lost, 0 FROM gaps"
	 "             UNION ALL SELECT section, coro, probe_id, NULL, NULL, NULL, 0, 0 FROM coroutines) i"
	 "       GROUP BY section, coro, CASE WHEN coro IS NULL THEN probe_id END) i"},

	/* The state of a coroutine is that of its last transition, or of its birth; not known if that may have missed transitions. */
	{"coroutine_states",
	 "SELECT section, coro, probe_id, state, since_ns, CASE WHEN ordinal THEN NULL ELSE " LENGTH("since_ns", "end_ns") " END AS for_ns, tid, addr, certain, " NAME_OF("c") " AS name,"
	 " CASE WHEN state = 'suspended' THEN " PLACE_TEXT("c") " END AS site_text,"
	 " CASE WHEN state <> 'suspended' THEN NULL WHEN " WAKE_COUNTS " THEN TRUE"
	 " WHEN NOT certain OR missed_ns >= since_ns OR " WAKE("TRUE") " OR NOT EXISTS (SELECT 1 FROM wakes w WHERE w.section = c.section)"
	 " THEN NULL ELSE FALSE END AS woken, CASE WHEN " WAKE_COUNTS " THEN " WAKE("r.ts") " END AS woken_ns,"
	 " CASE WHEN " WAKE_COUNTS " THEN nullif(" WAKE("r.\"by\"") ", 0) END AS woken_by,"
	 " nullif(" BIRTH("c", "r.parent") ", 0) AS parent, " SITE_TEXT("c", BIRTH("c", "r.site")) " AS spawn_site_text,"
	 " " BIRTH("c", "r.ts") " AS born_ns,"
	 " CASE WHEN ordinal THEN NULL WHEN coro IS NOT NULL AND (last IS NULL OR \"index\" IS NOT NULL) THEN"
	 " coalesce(" GAPS_OF("c") ", 0)"
	 " + CASE WHEN lost THEN " LENGTH("ts", "coalesce(death_ns, end_ns)") " ELSE 0 END END AS unknown_ns"
	 " FROM (SELECT c.*, CASE WHEN death_ns IS NOT NULL THEN 'dead' WHEN lost THEN 'unknown' WHEN last IS NULL THEN CASE WHEN " UNFOLLOWED " THEN 'unknown' ELSE 'born' END"
	 "       WHEN is_active THEN 'running' ELSE 'suspended' END AS state, coalesce(death_ns, ts) AS since_ns,"
	 " NOT " CONFLICT("c") " AND CASE WHEN death_ns IS NOT NULL THEN TRUE"
	 " WHEN lost OR NOT complete OR " LOST_OF_NOBODY("c") " THEN FALSE WHEN last IS NOT NULL THEN \"index\" IS NOT NULL"
	 " ELSE NOT (" UNFOLLOWED " OR probe_id IS NULL"
	 "      AND EXISTS (SELECT 1 FROM coro_trace_events y WHERE y.coro IS NULL AND y.section = c.section)) END AS certain" SQL_APART("a")
	 " FROM (SELECT c.*, " DEATH("c", "r.ts") " AS death_ns,"
	 " CASE WHEN last IS NULL THEN " HAS("c", "losses", "") " ELSE " LOST_BEHIND("c") " END AS lost" SQL_APART("b")
	 " FROM (SELECT c.section, c.coro, coalesce(c.probe_id, t.probe_id, " BIRTH("c", "r.probe_id") ", "
	 RECORD("c", "r.probe_id", "losses", "") ", " RECORD("c", "r.probe_id", "deaths", "") ") AS probe_id, t.id AS last, t.is_active,"
	 " t.tid, t.addr, t.site, t.\"index\", coalesce(t.ts, " BEGIN("c") ") AS ts, " END_OF("c", OWN_NUMBER("c"), "s.end_ns") " AS end_ns,"
	 " " IS_COMPLETE("c", OWN_NUMBER("c"), "s.complete") " AS complete, s.clock = 'ordinal' AS ordinal, m.missed_ns,"
	 " coalesce(p.ts, CASE WHEN t.\"index\" > 0 THEN -1 ELSE t.ts - 1 END) AS before_ns,"
	 " CASE WHEN p.is_active AND p.\"index\" = t.\"index\" - 1 THEN p.tid END AS ran_on" SQL_APART("c")
	 " FROM coroutines c LEFT JOIN coro_trace_events t ON t.id = CASE WHEN c.coro IS NULL THEN " LAST_PLAIN("c") " ELSE " LAST("c") " END"
	 " LEFT JOIN coro_trace_events p ON p.id = " PREVIOUS("t")
	 " LEFT JOIN sections s ON s.id = c.section"
	 " LEFT JOIN " THREAD_LOSSES " m ON m.section = c.section) c) c) c"},

	/*
	 * What coroutines wait for at the end of a section, and which of them hold it: the rows that the sink has put into tables of
	 * their own (sql-facts.h).
	 */
	{"objects",
	 "SELECT section, o.pid, object, nullif(o.name, '') AS name, kind, nullif(made_site, '') AS made_site,"
	 " CASE WHEN available_known THEN available END AS available, CASE WHEN room_known THEN room END AS room, nullif(total, 0) AS total,"
	 " closed, owned, CASE WHEN holders_known THEN holders END AS holders, CASE WHEN holders_known THEN held END AS held,"
	 " " SPAN("section", "waiters") " AS waiters, " SPAN("section", "longest_ns") " AS longest_ns, coalesce(s.complete, FALSE) AS certain"
	 " FROM objects_at_end o LEFT JOIN sections s ON s.id = o.section"},

	{"holders",
	 "SELECT section, h.pid, object, nullif(object_name, '') AS object_name, coro, probe_id, " NAME_OF("h") " AS name, count, alive,"
	 " coalesce(s.complete, FALSE) AS certain, nullif(taken_site, '') AS taken_site FROM holders_at_end h LEFT JOIN sections s ON s.id = h.section"},

	{"reasons",
	 "SELECT w.section, w.coro, w.probe_id, " NAME_OF("w") " AS name, w.since_ns, " PLACE_TEXT("t") " AS site_text, w.pid, w.what,"
	 " CASE WHEN what = 'timer' THEN deadline_ns END AS deadline_ns, CASE WHEN what = 'descriptor' THEN fd END AS fd,"
	 " CASE WHEN what = 'descriptor' THEN count END AS poll_events,"
	 " CASE WHEN what NOT IN ('timer', 'descriptor') THEN object END AS object, nullif(object_name, '') AS object_name,"
	 " CASE WHEN what NOT IN ('timer', 'descriptor') THEN count END AS count, shared, timed, cancellable, rests, more,"
	 " w.certain AND coalesce(s.complete, FALSE) AS certain"
	 " FROM reasons_at_end w LEFT JOIN coro_trace_events t ON t.id = " LAST("w") " LEFT JOIN sections s ON s.id = w.section"},

	/* What coroutines waited for, and what they held, from when to when. The end of a row that is open is looked up. */
	{"object_waits",
	 "SELECT w.section, w.coro, w.probe_id, " NAME_OF("w") " AS name, w.pid, what, object,"
	 " nullif(object_name, '') AS object_name, count, w.ts AS start_ns, " WAIT_STOP " AS stop_ns,"
	 " " SPAN("w.section", WAIT_STOP " - w.ts") " AS duration_ns,"
	 " CASE WHEN ended THEN FALSE WHEN open THEN TRUE END AS open,"
	 " CASE WHEN NOT sure OR " CONFLICT("w") " THEN FALSE WHEN resumed THEN TRUE"
	 " ELSE " IS_COMPLETE("w", "w.coro", "s.complete") " AND NOT " LOST_OF_NOBODY("w") " END AS certain,"
	 " w.site, " PLACE_TEXT("w") " AS site_text, shared, timed, cancellable, rests, more, reasons"
	 " FROM object_wait w LEFT JOIN sections s ON s.id = w.section"},

	{"hold_intervals",
	 "SELECT w.section, w.pid, object, nullif(object_name, '') AS object_name, w.coro, w.probe_id,"
	 " " NAME_OF("w") " AS name, count, w.ts AS start_ns, " HOLD_STOP " AS stop_ns,"
	 " " SPAN("w.section", HOLD_STOP " - w.ts") " AS duration_ns,"
	 " CASE WHEN " HOLD_DOUBT " THEN NULL WHEN stopped THEN FALSE WHEN open THEN TRUE END AS open,"
	 " CASE WHEN NOT sure OR " HOLD_DOUBT " OR " CONFLICT("w") " THEN FALSE WHEN stopped THEN TRUE"
	 " ELSE " IS_COMPLETE("w", "w.coro", "s.complete") " END AS certain,"
	 " w.site, " SITE_TEXT("w", "w.site") " AS site_text"
	 " FROM hold_interval w LEFT JOIN sections s ON s.id = w.section"
	 " LEFT JOIN (SELECT section, max(ts) AS doubt_ns FROM hold_interval"
	 "      WHERE " IN_SECTIONS " AND coro = 0 GROUP BY section) d ON d.section = w.section"
	 " WHERE w.coro <> 0"},

	/* Events that are missing in each section, as ctp-report counts them; nobodys: those of unknown coroutines. */
	{"loss_totals",
	 "SELECT id AS section, complete, coalesce(lost, 0) AS lost, coalesce(nobodys, 0) AS nobodys, coalesce(gaps, 0) AS gaps,"
	 " CASE WHEN s.clock = 'ordinal' THEN NULL ELSE coalesce(unknown_ns, 0) END AS unknown_ns, coalesce(of_threads, 0) AS of_threads, coalesce(missed, 0) AS missed"
	 " FROM sections s LEFT JOIN " LOSSES " l ON l.section = s.id LEFT JOIN " THREAD_LOSSES " m ON m.section = s.id"
	 " LEFT JOIN (SELECT section, " COUNT_IF("lost > 0") " AS gaps, sum(duration_ns) AS unknown_ns FROM gaps GROUP BY section) g"
	 " ON g.section = s.id"},

	/* Of a merged section: its origins, and those of the coroutines that have a birth. */
	{"origins",
	 "SELECT section, origin, max(name) AS name, max(host) AS host, max(pid) AS pid, max(input) AS input, max(error_ns) AS error_ns,"
	 " max(stride) AS stride,"
	 " min(ts) AS first_ns, max(ts) AS last_ns FROM origin_records GROUP BY section, origin"},

	{"coroutine_origins",
	 "SELECT b.section, b.coro, b.origin, o.name AS origin_name, o.host, " NAME_OF("b") " AS name"
	 " FROM births b JOIN origins o ON o.section = b.section AND o.origin = b.origin"},

	{"wall_times",
	 "SELECT " SQL_SECOND(SQL_WALL_SECOND) " || '.' || substr(CAST(1000000000 + " SQL_WALL_FRACTION " AS " SQL_TEXT "), 2)"
	 " || 'Z' AS wall, " SQL_WALL_NS " AS wall_ns, e.* FROM coro_trace_events e LEFT JOIN sections s ON s.id = e.section"},
};

static const struct ctp_sql_views sql_views = {kind_views, views, sizeof kind_views / sizeof *kind_views, sizeof views / sizeof *views};

#endif
