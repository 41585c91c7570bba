/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rules.h - the rules of a report, the most serious first: one row for each, from which its number, its name and its functions are
 * derived.
 *
 *	RULE(NAME, "name", most, effect, rests, phase, judge, words)
 *
 * NAME     CTP_RULE_NAME is its number
 * "name"   as reports and ctp-report.1 have it
 * most     PROVED, LIKELY or POSSIBLE: the certainty that a finding of the rule can have at most
 * effect   STOPS: the members of a finding do not work any more; GOES_ON: they may
 * rests    the rule needs ORDER alone: the records of its members prove it. Or TIME: it compares spans with those of the rest of
 *          the program, so it is not applied to a section without a clock, or one that is filtered
 * phase    RUNS, WAITS, PROGRAM: rules of a phase may look at the groups of those before
 * judge    ctp_judge_<judge>() adds the members; rules with the same judge are judged together
 * words    ctp_say_<words>() puts a finding into words
 */
#ifndef CTP_RULES_H
#define CTP_RULES_H

#include <stdbool.h>

#include "base/linkage.h"

CTP_C_BEGIN

#define CTP_RULE_TABLE(RULE)                                                                        \
	RULE(CRASH, "crash", PROVED, GOES_ON, ORDER, RUNS, crash, crash)                                \
	RULE(AFTER_DEATH, "use-after-death", PROVED, GOES_ON, ORDER, RUNS, broken, broken)              \
	RULE(DOUBLE_RESUME, "double-resume", PROVED, GOES_ON, ORDER, RUNS, broken, broken)              \
	RULE(WAIT_CYCLE, "wait-cycle", PROVED, STOPS, ORDER, WAITS, waits, cycle)                       \
	RULE(STANDSTILL, "standstill", LIKELY, STOPS, TIME, WAITS, waits, standstill)                   \
	RULE(AWAITS_DEAD, "awaits-dead", LIKELY, STOPS, TIME, WAITS, waits, awaits_dead)                \
	RULE(HELD_BY_DEAD, "held-by-dead", LIKELY, STOPS, TIME, WAITS, waits, held_by_dead)             \
	RULE(HELD_BY_NONE, "held-by-none", LIKELY, STOPS, TIME, WAITS, waits, held_by_none)             \
	RULE(PEER_ENDED, "peer-ended", LIKELY, STOPS, TIME, WAITS, waits, peer_ended)                   \
	RULE(OWN, "waits-for-own", LIKELY, STOPS, TIME, WAITS, waits, own)                              \
	RULE(CLOSED, "closed-not-woken", LIKELY, STOPS, TIME, WAITS, waits, closed)                     \
	RULE(STRAYED, "wake-strayed", LIKELY, STOPS, TIME, WAITS, waits, strayed)                       \
	RULE(UNSERVED, "available-not-woken", LIKELY, STOPS, TIME, WAITS, waits, unserved)              \
	RULE(OVERDUE, "timer-overdue", LIKELY, STOPS, TIME, WAITS, waits, overdue)                      \
	RULE(UNREAD, "unread-data", LIKELY, STOPS, TIME, WAITS, waits, unread)                          \
	RULE(NOT_RESUMED, "woken-not-resumed", LIKELY, STOPS, TIME, WAITS, waits, not_resumed)          \
	RULE(NEVER_WOKEN, "never-woken", LIKELY, STOPS, TIME, WAITS, waits, waiting)                    \
	RULE(SUSPENDED, "suspended", LIKELY, STOPS, TIME, WAITS, waits, waiting)                        \
	RULE(WORK_STOPPED, "work-stopped", LIKELY, STOPS, TIME, PROGRAM, stopped, stopped)              \
	RULE(DESTROYED, "destroyed-waiting", LIKELY, GOES_ON, TIME, PROGRAM, destroyed, destroyed)      \
	RULE(STALLED_THREAD, "stalled-thread", LIKELY, STOPS, TIME, RUNS, held_threads, stalled_thread) \
	RULE(BLOCKED, "blocking-call", LIKELY, STOPS, TIME, RUNS, held_threads, long_run)               \
	RULE(LATE, "woken-late", LIKELY, GOES_ON, TIME, PROGRAM, late, late)                            \
	RULE(LEAKED, "leaked", LIKELY, GOES_ON, TIME, WAITS, waits, leaked)                             \
	RULE(NEVER_STARTED, "never-started", LIKELY, GOES_ON, TIME, WAITS, waits, never_started)        \
	RULE(GROWTH, "growth", LIKELY, GOES_ON, TIME, PROGRAM, growth, growth)                          \
	RULE(NEVER_RAN, "never-ran", POSSIBLE, GOES_ON, TIME, PROGRAM, never_ran, never_ran)            \
	RULE(MASKED, "masked-by-time-out", LIKELY, GOES_ON, TIME, PROGRAM, masked, masked)              \
	RULE(LOCK_ORDER, "lock-order", POSSIBLE, GOES_ON, ORDER, PROGRAM, lock_order, lock_order)       \
	RULE(LONG_RUN, "long-run", PROVED, GOES_ON, TIME, RUNS, held_threads, long_run)                 \
	RULE(SELF_WAKE, "self-wake-storm", LIKELY, GOES_ON, TIME, RUNS, storms, storm)                  \
	RULE(POLLS, "polls", POSSIBLE, GOES_ON, TIME, PROGRAM, polls, polls)                            \
	RULE(PING_PONG, "ping-pong", POSSIBLE, GOES_ON, TIME, PROGRAM, ping_pong, ping_pong)            \
	RULE(MIGRATION, "migration-storm", LIKELY, GOES_ON, TIME, PROGRAM, migration, migration)        \
	RULE(UNTRACED, "untraced", PROVED, GOES_ON, ORDER, PROGRAM, untraced, untraced)

#define CTP_RULE_NUMBER(NAME, name, most, effect, rests, phase, judge, words) CTP_RULE_##NAME,
enum ctp_rule { CTP_RULE_TABLE(CTP_RULE_NUMBER) CTP_RULES, CTP_RULE_NONE = CTP_RULES };
#undef CTP_RULE_NUMBER

enum ctp_rule_phase { CTP_RULE_RUNS, CTP_RULE_WAITS, CTP_RULE_PROGRAM, CTP_RULE_PHASES };
enum ctp_certainty { CTP_CERTAIN_UNKNOWN, CTP_CERTAIN_POSSIBLE, CTP_CERTAIN_LIKELY, CTP_CERTAIN_PROVED };

const char *ctp_rule_name(enum ctp_rule rule);         /* "never-woken"; of CTP_RULE_NONE "possible" */
enum ctp_certainty ctp_rule_most(enum ctp_rule rule);
bool ctp_rule_stops(enum ctp_rule rule);
bool ctp_rule_needs_clock(enum ctp_rule rule);
enum ctp_rule_phase ctp_rule_phase(enum ctp_rule rule);

const char *ctp_certainty_name(enum ctp_certainty certain); /* "proved" */

CTP_C_END

#endif
