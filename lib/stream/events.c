/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * events.c - the tables of events.h.
 *
 * The transition's first six fields are coroTracer's, in its order; what came later is marked as extra. Where a class tells of
 * one coroutine, that is its key, so that what is known of the coroutine predicts the rest.
 */
#include "stream/events.h"

#include <signal.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* name, role, unit, pred, flags: most fields are plain numbers of 64 bits. */
#define U64(n, r, u, p, f) {.name = (n), .type = CTP_U64, .role = CTP_ROLE_##r, .unit = (u), .pred = CTP_PRED_##p, .flags = (f)}
#define TS U64("ts", TIME, "ns", TIME, 0)
#define AFTER U64("after", TIME, "ns", NONE, 0)
#define BEFORE U64("before", TIME, "ns", NONE, 0)
#define PROBE U64("probe_id", PROBE, "", SAME, 0)
#define CORO U64("coro", COROUTINE, "", KEY, 0)
#define TOTAL(n) U64(n, COUNT, "", NONE, 0)

static const struct ctp_field transition[] = {
	[CTP_TRANSITION_PROBE] = PROBE,
	[CTP_TRANSITION_TID] = U64("tid", THREAD, "", SAME, 0),
	[CTP_TRANSITION_ADDR] = U64("addr", ADDRESS, "", STATE, CTP_FIELD_HEX),
	[CTP_TRANSITION_SEQ] = U64("seq", SEQUENCE, "", STEP, 0),
	[CTP_TRANSITION_ACTIVE] = {.name = "is_active", .type = CTP_BOOL, .role = CTP_ROLE_STATE, .pred = CTP_PRED_TOGGLE},
	[CTP_TRANSITION_TS] = TS,
	[CTP_TRANSITION_CORO] = U64("coro", COROUTINE, "", KEY, CTP_FIELD_EXTRA),
	[CTP_TRANSITION_INDEX] = U64("index", SEQUENCE, "", STEP, CTP_FIELD_EXTRA),
	[CTP_TRANSITION_SITE] = U64("site", SITE, "", STATE, CTP_FIELD_EXTRA),
};

static const struct ctp_field birth[] = {
	[CTP_BIRTH_TS] = TS,
	[CTP_BIRTH_PROBE] = PROBE,
	[CTP_BIRTH_CORO] = CORO,
	[CTP_BIRTH_STATION] = U64("station", NONE, "", NONE, 0),
	[CTP_BIRTH_AFTER] = AFTER,
	[CTP_BIRTH_BEFORE] = BEFORE,
	[CTP_BIRTH_PARENT] = U64("parent", NONE, "", PREV, 0),
	[CTP_BIRTH_SITE] = U64("site", SITE, "", PREV, 0),
	[CTP_BIRTH_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_BIRTH_HAND] = {.name = "by_hand", .type = CTP_BOOL, .pred = CTP_PRED_PREV},
};

static const struct ctp_field death[] = {
	[CTP_DEATH_TS] = TS,
	[CTP_DEATH_PROBE] = PROBE,
	[CTP_DEATH_CORO] = CORO,
	[CTP_DEATH_AFTER] = AFTER,
	[CTP_DEATH_BEFORE] = BEFORE,
};

static const struct ctp_field lost[] = {
	[CTP_LOST_TS] = TS,
	[CTP_LOST_PROBE] = PROBE,
	[CTP_LOST_CORO] = CORO,
	[CTP_LOST_INDEX] = U64("index", SEQUENCE, "", NONE, 0),
	[CTP_LOST_COUNT] = TOTAL("count"),
	[CTP_LOST_UNVERIFIED] = U64("unverified", UNVERIFIED, "", PREV, 0),
	[CTP_LOST_AFTER] = AFTER,
};

static const struct ctp_field thread[] = {
	[CTP_THREAD_TS] = TS,
	[CTP_THREAD_TID] = U64("tid", THREAD, "", NONE, 0),
	[CTP_THREAD_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_THREAD_NAME] = {.name = "name", .type = CTP_STRING, .role = CTP_ROLE_NAME, .pred = CTP_PRED_NONE},
};

static const struct ctp_field mapping[] = {
	[CTP_MAPPING_TS] = TS,
	[CTP_MAPPING_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_MAPPING_START] = U64("start", ADDRESS, "", NONE, CTP_FIELD_HEX),
	[CTP_MAPPING_STOP] = U64("stop", ADDRESS, "", NONE, CTP_FIELD_HEX),
	[CTP_MAPPING_OFFSET] = U64("offset", NONE, "bytes", NONE, CTP_FIELD_HEX),
	[CTP_MAPPING_PATH] = {.name = "path", .type = CTP_STRING, .role = CTP_ROLE_NAME, .pred = CTP_PRED_PREV},
	[CTP_MAPPING_BUILD_ID] = {.name = "build_id", .type = CTP_BYTES, .pred = CTP_PRED_PREV},
};

static const struct ctp_field untraced[] = {
	[CTP_UNTRACED_TS] = TS,
	[CTP_UNTRACED_COUNT] = TOTAL("count"),
};

static const struct ctp_field conflict[] = {
	[CTP_CONFLICT_TS] = TS,
	[CTP_CONFLICT_PROBE] = PROBE,
	[CTP_CONFLICT_CORO] = CORO,
};

static const struct ctp_label hows[] = {
	{CTP_WAKE_CALL, "call"},
	{CTP_WAKE_LEAVING, "leaving"},
	{CTP_WAKE_YIELD, "yield"},
	{CTP_WAKE_STAYED, "stayed"},
};

static const struct ctp_field wake[] = {
	[CTP_WAKE_TS] = TS,
	[CTP_WAKE_PROBE] = PROBE,
	[CTP_WAKE_CORO] = CORO,
	[CTP_WAKE_TID] = U64("tid", THREAD, "", SAME, 0),
	[CTP_WAKE_BY] = U64("by", NONE, "", SAME, 0),
	[CTP_WAKE_HOW] = {.name = "how", .type = CTP_ENUM, .pred = CTP_PRED_SAME, .labels = hows, .nlabels = COUNT(hows)},
};

static const struct ctp_field name[] = {
	[CTP_NAME_TS] = TS,
	[CTP_NAME_PROBE] = PROBE,
	[CTP_NAME_CORO] = CORO,
	[CTP_NAME_TEXT] = {.name = "name", .type = CTP_STRING, .role = CTP_ROLE_NAME, .pred = CTP_PRED_PREV},
};

static const struct ctp_field site[] = {
	[CTP_SITE_TS] = TS,
	[CTP_SITE_ID] = U64("site", SITE, "", NONE, 0),
	[CTP_SITE_FILE] = {.name = "file", .type = CTP_STRING, .pred = CTP_PRED_PREV},
	[CTP_SITE_LINE] = U64("line", NONE, "", NONE, 0),
	[CTP_SITE_FUNCTION] = {.name = "function", .type = CTP_STRING, .role = CTP_ROLE_NAME, .pred = CTP_PRED_PREV},
	[CTP_SITE_CODE] = U64("code", NONE, "", PREV, CTP_FIELD_HEX),
};

static const struct ctp_field missed[] = {
	[CTP_MISSED_TS] = TS,
	[CTP_MISSED_TID] = U64("tid", THREAD, "", PREV, 0),
	[CTP_MISSED_COUNT] = TOTAL("count"),
	[CTP_MISSED_AFTER] = AFTER,
	[CTP_MISSED_TRANSITIONS] = TOTAL("transitions"),
};

static const struct ctp_field await[] = {
	[CTP_AWAIT_TS] = TS,
	[CTP_AWAIT_PROBE] = PROBE,
	[CTP_AWAIT_CORO] = CORO,
	[CTP_AWAIT_TARGET] = U64("target", NONE, "", SAME, 0),
	[CTP_AWAIT_JOINS] = {.name = "joins", .type = CTP_BOOL, .pred = CTP_PRED_PREV},
};

static const struct ctp_field function[] = {
	[CTP_FUNCTION_TS] = TS,
	[CTP_FUNCTION_PROBE] = PROBE,
	[CTP_FUNCTION_CORO] = CORO,
	[CTP_FUNCTION_ADDR] = U64("addr", ADDRESS, "", NONE, CTP_FIELD_HEX),
	[CTP_FUNCTION_CODE] = U64("code", ADDRESS, "", PREV, CTP_FIELD_HEX),
};

static const struct ctp_label outcomes[] = {
	[CTP_OUTCOME_EXITED] = {CTP_OUTCOME_EXITED, "exited"},
	[CTP_OUTCOME_KILLED] = {CTP_OUTCOME_KILLED, "killed"},
	[CTP_OUTCOME_RUNNING] = {CTP_OUTCOME_RUNNING, "running"},
	[CTP_OUTCOME_ENDED] = {CTP_OUTCOME_ENDED, "ended"},
};

const char *ctp_outcome_name(enum ctp_outcome outcome) { return outcomes[outcome].name; }

static const struct ctp_field end[] = {
	[CTP_END_TS] = TS,
	[CTP_END_EVENTS] = TOTAL("events"),
	[CTP_END_LOST] = TOTAL("lost"),
	[CTP_END_UNVERIFIED] = TOTAL("unverified"),
	[CTP_END_UNTRACED] = TOTAL("untraced"),
	[CTP_END_BIRTHS] = TOTAL("births"),
	[CTP_END_DEATHS] = TOTAL("deaths"),
	[CTP_END_OUTCOME] = {.name = "outcome", .type = CTP_ENUM, .labels = outcomes, .nlabels = COUNT(outcomes)},
	[CTP_END_STATUS] = {.name = "status", .type = CTP_I32, .pred = CTP_PRED_NONE},
	[CTP_END_AFTER] = AFTER,
	[CTP_END_BEFORE] = BEFORE,
};

static const struct ctp_label process_states[] = {
	{CTP_PROCESS_EXECUTING, "executing"},
	{CTP_PROCESS_STOPPED, "stopped"},
	{CTP_PROCESS_EXITING, "exiting"},
	{CTP_PROCESS_DUMPING, "dumping"},
};

static const struct ctp_field process[] = {
	[CTP_PROCESS_TS] = TS,
	[CTP_PROCESS_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_PROCESS_AFTER] = AFTER,
	[CTP_PROCESS_STATE] = {.name = "state", .type = CTP_ENUM, .labels = process_states, .nlabels = COUNT(process_states)},
	[CTP_PROCESS_THREADS] = TOTAL("threads"),
	[CTP_PROCESS_CPU] = U64("cpu_ns", NONE, "ns", NONE, 0),
};

static const struct ctp_label thread_states[] = {
	{CTP_SAMPLE_RUNNING, "running"},
	{CTP_SAMPLE_SLEEPING, "sleeping"},
	{CTP_SAMPLE_BLOCKED, "blocked"},
	{CTP_SAMPLE_STOPPED, "stopped"},
	{CTP_SAMPLE_OTHER, "other"},
};

static const struct ctp_field sample[] = {
	[CTP_SAMPLE_TS] = TS,
	[CTP_SAMPLE_TID] = U64("tid", THREAD, "", KEY, 0),
	[CTP_SAMPLE_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_SAMPLE_CPU] = U64("cpu_ns", NONE, "ns", SAME, 0),
	[CTP_SAMPLE_DELAY] = U64("delay_ns", NONE, "ns", SAME, 0),
	[CTP_SAMPLE_STATE] = {.name = "state", .type = CTP_ENUM, .pred = CTP_PRED_SAME, .labels = thread_states,
	                      .nlabels = COUNT(thread_states)},
};

static const struct ctp_label signals[] = {
	{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},   {SIGTERM, "SIGTERM"},
	{SIGALRM, "SIGALRM"}, {SIGUSR2, "SIGUSR2"}, {SIGWINCH, "SIGWINCH"},
};

static const struct ctp_field passed_on[] = {
	[CTP_SIGNAL_TS] = TS,
	[CTP_SIGNAL_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_SIGNAL_NUMBER] = {.name = "signal", .type = CTP_ENUM, .labels = signals, .nlabels = COUNT(signals)},
};

static const struct ctp_label waits_for[] = {
	{0, "none"},
	{CTP_WAITS_TIMER, "timer"}, {CTP_WAITS_DESCRIPTOR, "descriptor"}, {CTP_WAITS_LOCK, "lock"},
	{CTP_WAITS_PERMITS, "permits"}, {CTP_WAITS_ITEM, "item"}, {CTP_WAITS_ROOM, "room"},
	{CTP_WAITS_EVENT, "event"}, {CTP_WAITS_BARRIER, "barrier"}, {CTP_WAITS_OTHER, "other"},
};

/* Sets of marks: the name of one has those of all its marks. */
#define EIGHT(at, first, rest)                                                                                   \
	{(at), first}, {(at) + 1, "shared" rest}, {(at) + 2, "timed" rest}, {(at) + 3, "shared timed" rest},        \
	{(at) + 4, "cancellable" rest}, {(at) + 5, "shared cancellable" rest}, {(at) + 6, "timed cancellable" rest}, \
	{(at) + 7, "shared timed cancellable" rest}
static const struct ctp_label reason_marks[] = {
	EIGHT(0, "none", ""), EIGHT(8, "rests", " rests"), EIGHT(16, "more", " more"), EIGHT(24, "rests more", " rests more"),
};

static const struct ctp_field reason[] = {
	[CTP_REASON_TS] = TS,
	[CTP_REASON_PROBE] = PROBE,
	[CTP_REASON_CORO] = CORO,
	[CTP_REASON_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_REASON_FOR] = {.name = "for", .type = CTP_ENUM, .pred = CTP_PRED_SAME, .labels = waits_for, .nlabels = COUNT(waits_for)},
	[CTP_REASON_DEADLINE] = U64("deadline", TIME, "ns", SAME, 0),
	[CTP_REASON_FD] = {.name = "fd", .type = CTP_I32, .pred = CTP_PRED_SAME},
	[CTP_REASON_OBJECT] = U64("object", ADDRESS, "", SAME, CTP_FIELD_HEX),
	[CTP_REASON_N] = U64("count", COUNT, "", PREV, 0),
	[CTP_REASON_SAID] = {.name = "marks", .type = CTP_ENUM, .pred = CTP_PRED_PREV, .labels = reason_marks,
	                      .nlabels = COUNT(reason_marks)},
};

static const struct ctp_label object_marks[] = {
	{0, "none"}, {1, "owned"}, {2, "closed"}, {3, "owned closed"}, {4, "gone"}, {8, "made"}, {9, "owned made"},
};

static const struct ctp_field object[] = {
	[CTP_OBJECT_TS] = TS,
	[CTP_OBJECT_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_OBJECT_AT] = U64("object", ADDRESS, "", KEY, CTP_FIELD_HEX),
	[CTP_OBJECT_KIND] = {.name = "for", .type = CTP_ENUM, .pred = CTP_PRED_SAME, .labels = waits_for, .nlabels = COUNT(waits_for)},
	[CTP_OBJECT_AVAILABLE] = U64("available", COUNT, "", SAME, 0),
	[CTP_OBJECT_SITE] = U64("site", SITE, "", SAME, 0),
	[CTP_OBJECT_MARKS] = {.name = "marks", .type = CTP_ENUM, .pred = CTP_PRED_SAME, .labels = object_marks,
	                      .nlabels = COUNT(object_marks)},
	[CTP_OBJECT_TID] = U64("tid", THREAD, "", SAME, 0),
};

static const struct ctp_field object_name[] = {
	[CTP_OBJECT_NAME_TS] = TS,
	[CTP_OBJECT_NAME_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_OBJECT_NAME_AT] = U64("object", ADDRESS, "", KEY, CTP_FIELD_HEX),
	[CTP_OBJECT_NAME_TEXT] = {.name = "name", .type = CTP_STRING, .role = CTP_ROLE_NAME, .pred = CTP_PRED_PREV},
};

static const struct ctp_field held[] = {
	[CTP_HOLD_TS] = TS,
	[CTP_HOLD_PROBE] = PROBE,
	[CTP_HOLD_CORO] = CORO,
	[CTP_HOLD_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_HOLD_OBJECT] = U64("object", ADDRESS, "", SAME, CTP_FIELD_HEX),
	[CTP_HOLD_COUNT] = {.name = "count", .type = CTP_I32, .role = CTP_ROLE_COUNT, .pred = CTP_PRED_NONE},
	[CTP_HOLD_SITE] = U64("site", SITE, "", PREV, 0),
};

static const struct ctp_field wake_for[] = {
	[CTP_WAKE_FOR_TS] = TS,
	[CTP_WAKE_FOR_PROBE] = PROBE,
	[CTP_WAKE_FOR_CORO] = CORO,
	[CTP_WAKE_FOR_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_WAKE_FOR_OBJECT] = U64("object", ADDRESS, "", SAME, CTP_FIELD_HEX),
};

static const struct ctp_label descriptor_types[] = {
	{CTP_FD_OTHER, "other"}, {CTP_FD_TCP, "tcp"}, {CTP_FD_TCP_LISTENS, "tcp listens"}, {CTP_FD_UDP, "udp"}, {CTP_FD_UNIX, "unix"},
	{CTP_FD_UNIX_LISTENS, "unix listens"}, {CTP_FD_PIPE, "pipe"}, {CTP_FD_EVENTFD, "eventfd"}, {CTP_FD_TIMERFD, "timerfd"},
};

static const struct ctp_label descriptor_sides[] = {
	{CTP_SIDE_UNKNOWN, "unknown"}, {CTP_SIDE_ACCEPTED, "accepted"}, {CTP_SIDE_CONNECTED, "connected"},
};
static const struct ctp_label descriptor_lasts[] = {
	{CTP_LAST_UNKNOWN, "unknown"}, {CTP_LAST_RECEIVED, "received"}, {CTP_LAST_SENT, "sent"},
};

static const struct ctp_field descriptor[] = {
	[CTP_DESCRIPTOR_TS] = TS,
	[CTP_DESCRIPTOR_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_DESCRIPTOR_FD] = {.name = "fd", .type = CTP_I32, .pred = CTP_PRED_KEY},
	[CTP_DESCRIPTOR_TYPE] = {.name = "type", .type = CTP_ENUM, .pred = CTP_PRED_SAME, .labels = descriptor_types,
	                         .nlabels = COUNT(descriptor_types)},
	[CTP_DESCRIPTOR_UNREAD] = U64("unread", NONE, "", SAME, 0),
	[CTP_DESCRIPTOR_UNSENT] = U64("unsent", NONE, "", SAME, 0),
	[CTP_DESCRIPTOR_ENDED] = {.name = "ended", .type = CTP_BOOL, .pred = CTP_PRED_SAME},
	[CTP_DESCRIPTOR_SIDE] = {.name = "side", .type = CTP_ENUM, .pred = CTP_PRED_SAME, .labels = descriptor_sides,
	                         .nlabels = COUNT(descriptor_sides)},
	[CTP_DESCRIPTOR_LAST] = {.name = "last", .type = CTP_ENUM, .pred = CTP_PRED_SAME, .labels = descriptor_lasts,
	                         .nlabels = COUNT(descriptor_lasts)},
};

static const struct ctp_field left_out[] = {
	[CTP_LEFT_OUT_TS] = TS,
	[CTP_LEFT_OUT_CORO] = CORO,
	[CTP_LEFT_OUT_AFTER] = AFTER,
};

static const struct ctp_field clock_pair[] = {
	[CTP_CLOCK_TS] = TS,
	[CTP_CLOCK_WALL] = U64("wall_ns", NONE, "ns", NONE, 0),
	[CTP_CLOCK_READ] = U64("read_ns", NONE, "ns", NONE, 0),
	[CTP_CLOCK_ERROR] = U64("error_ns", NONE, "ns", PREV, 0),
	[CTP_CLOCK_SYNCED] = {.name = "synced", .type = CTP_BOOL, .pred = CTP_PRED_PREV},
};

static const struct ctp_label origin_states[] = {
	{CTP_ORIGIN_BEGINS, "begins"}, {CTP_ORIGIN_COMPLETE, "complete"}, {CTP_ORIGIN_CUT, "cut"}, {CTP_ORIGIN_DAMAGED, "damaged"},
};

#define TEXT(n, r, p) {.name = (n), .type = CTP_STRING, .role = CTP_ROLE_##r, .pred = CTP_PRED_##p}
static const struct ctp_field origin[] = {
	[CTP_ORIGIN_TS] = TS,
	[CTP_ORIGIN_NUMBER] = U64("origin", ORIGIN, "", KEY, 0),
	[CTP_ORIGIN_NAME] = TEXT("name", NAME, SAME),
	[CTP_ORIGIN_HOST] = TEXT("host", NONE, SAME),
	[CTP_ORIGIN_PID] = U64("pid", PROCESS, "", SAME, 0),
	[CTP_ORIGIN_START] = U64("start", TIME, "ns", SAME, 0),
	[CTP_ORIGIN_COMMAND] = TEXT("command", NONE, SAME),
	[CTP_ORIGIN_INPUT] = TEXT("input", NONE, SAME),
	[CTP_ORIGIN_SECTION] = U64("section", NONE, "", SAME, 0),
	[CTP_ORIGIN_BY_WALL] = {.name = "by_wall", .type = CTP_BOOL, .pred = CTP_PRED_SAME},
	[CTP_ORIGIN_ERROR] = U64("error_ns", NONE, "ns", SAME, 0),
	[CTP_ORIGIN_ERROR_KNOWN] = {.name = "error_known", .type = CTP_BOOL, .pred = CTP_PRED_SAME},
	[CTP_ORIGIN_STATE] = {.name = "state", .type = CTP_ENUM, .labels = origin_states, .nlabels = COUNT(origin_states)},
	[CTP_ORIGIN_MISSING] = U64("missing_before", TIME, "ns", NONE, 0),
	[CTP_ORIGIN_STRIDE] = U64("stride", NONE, "", SAME, 0),
	[CTP_ORIGIN_SECTION_ID] = U64("section_id", NONE, "", SAME, CTP_FIELD_HEX),
};

static const struct ctp_field origin_attribute[] = {
	[CTP_ATTRIBUTE_TS] = TS,
	[CTP_ATTRIBUTE_ORIGIN] = U64("origin", ORIGIN, "", KEY, 0),
	[CTP_ATTRIBUTE_NAME] = TEXT("name", NAME, NONE),
	[CTP_ATTRIBUTE_VALUE] = TEXT("value", NONE, NONE),
};

static const struct ctp_label certainties[] = {{0, "unknown"}, {1, "possible"}, {2, "likely"}, {3, "proved"}};
static const struct ctp_label found_parts[] = {
	{CTP_FOUND_EVIDENCE, "evidence"}, {CTP_FOUND_NEXT, "next"}, {CTP_FOUND_EXCUSE, "excuse"}, {CTP_FOUND_ALSO, "also"},
};
static const struct ctp_label found_states[] = {
	{0, "unknown"}, {1, "born"}, {2, "running"}, {3, "suspended"}, {4, "runnable"}, {5, "dead"},
};

#define PLAIN(n) U64(n, NONE, "", PREV, 0)
#define LENGTH(n) U64(n, NONE, "ns", PREV, 0)
#define CERTAINTY {.name = "certainty", .type = CTP_ENUM, .pred = CTP_PRED_PREV, .labels = certainties, .nlabels = COUNT(certainties)}
static const struct ctp_field found[] = {
	[CTP_FOUND_TS] = TS,
	[CTP_FOUND_NUMBER] = PLAIN("number"),
	[CTP_FOUND_RULE] = TEXT("rule", NONE, PREV),
	[CTP_FOUND_CERTAINTY] = CERTAINTY,
	[CTP_FOUND_TITLE] = TEXT("title", NONE, NONE),
	[CTP_FOUND_SPAWN] = TEXT("spawned_at", NONE, PREV),
	[CTP_FOUND_PLACE] = TEXT("place", NONE, PREV),
	[CTP_FOUND_MEMBERS] = PLAIN("members"),
	[CTP_FOUND_WAITING] = PLAIN("waiting"),
	[CTP_FOUND_FROM] = LENGTH("from_ns"),
	[CTP_FOUND_TO] = LENGTH("to_ns"),
	[CTP_FOUND_DEPENDENTS] = PLAIN("dependents"),
	[CTP_FOUND_OPEN] = PLAIN("open"),
	[CTP_FOUND_ENDED] = PLAIN("ended"),
	[CTP_FOUND_LONGEST] = LENGTH("longest_ns"),
	[CTP_FOUND_P99] = LENGTH("p99_ns"),
};

static const struct ctp_field found_line[] = {
	[CTP_FOUND_LINE_TS] = TS,
	[CTP_FOUND_LINE_NUMBER] = PLAIN("number"),
	[CTP_FOUND_LINE_PART] = {.name = "part", .type = CTP_ENUM, .pred = CTP_PRED_PREV, .labels = found_parts,
	                         .nlabels = COUNT(found_parts)},
	[CTP_FOUND_LINE_TEXT] = TEXT("text", NONE, NONE),
};

static const struct ctp_field found_coro[] = {
	[CTP_FOUND_CORO_TS] = TS,
	[CTP_FOUND_CORO_NUMBER] = PLAIN("number"),
	[CTP_FOUND_CORO_ID] = CORO,
	[CTP_FOUND_CORO_PROBE] = PROBE,
	[CTP_FOUND_CORO_WAITER] = {.name = "waiter", .type = CTP_BOOL, .pred = CTP_PRED_PREV},
	[CTP_FOUND_CORO_NAME] = TEXT("name", NAME, PREV),
	[CTP_FOUND_CORO_IN] = TEXT("in", NONE, PREV),
	[CTP_FOUND_CORO_PLACE] = TEXT("place", NONE, PREV),
	[CTP_FOUND_CORO_SPAWN] = TEXT("spawned_at", NONE, PREV),
	[CTP_FOUND_CORO_SINCE] = LENGTH("since_ns"),
	[CTP_FOUND_CORO_FOR] = LENGTH("for_ns"),
	[CTP_FOUND_CORO_WAKER] = PLAIN("waker"),
	[CTP_FOUND_CORO_TID] = U64("tid", THREAD, "", PREV, 0),
	[CTP_FOUND_CORO_PID] = U64("pid", PROCESS, "", PREV, 0),
	[CTP_FOUND_CORO_WAITS_FOR] = PLAIN("waits_for"),
	[CTP_FOUND_CORO_WAITS_FOR_NAME] = TEXT("waits_for_name", NONE, PREV),
	[CTP_FOUND_CORO_AWAITS] = {.name = "awaits", .type = CTP_BOOL, .pred = CTP_PRED_PREV},
	[CTP_FOUND_CORO_STATE] = {.name = "state", .type = CTP_ENUM, .pred = CTP_PRED_PREV, .labels = found_states,
	                          .nlabels = COUNT(found_states)},
	[CTP_FOUND_CORO_CERTAINTY] = CERTAINTY,
};

/* The table f has as many fields as events.h has numbers for. */
#define CLASS(n, k, f, count) \
	{.name = (n), .kind = CTP_KIND_##k, .fields = (f), .nfields = COUNT(f) * sizeof(char[COUNT(f) == (count) ? 1 : -1])}
static const struct {
	const char *name;
	enum ctp_kind kind;
	const struct ctp_field *fields;
	uint32_t nfields;
} classes[] = {
	[CTP_TRANSITION] = CLASS("transition", TRANSITION, transition, CTP_TRANSITION_FIELDS),
	[CTP_BIRTH] = CLASS("birth", BIRTH, birth, CTP_BIRTH_FIELDS),
	[CTP_DEATH] = CLASS("death", DEATH, death, CTP_DEATH_FIELDS),
	[CTP_LOST] = CLASS("lost", LOSS, lost, CTP_LOST_FIELDS),
	[CTP_THREAD] = CLASS("thread", THREAD, thread, CTP_THREAD_FIELDS),
	[CTP_MAPPING] = CLASS("mapping", MAPPING, mapping, CTP_MAPPING_FIELDS),
	[CTP_UNTRACED] = CLASS("untraced", UNTRACED, untraced, CTP_UNTRACED_FIELDS),
	[CTP_CONFLICT] = CLASS("conflict", CONFLICT, conflict, CTP_CONFLICT_FIELDS),
	[CTP_END] = CLASS("end", END, end, CTP_END_FIELDS),
	[CTP_WAKE] = CLASS("wake", WAKE, wake, CTP_WAKE_FIELDS),
	[CTP_NAME] = CLASS("name", NAME, name, CTP_NAME_FIELDS),
	[CTP_PLACE] = CLASS("site", SITE, site, CTP_SITE_FIELDS),
	[CTP_MISSED] = CLASS("missed", LOSS, missed, CTP_MISSED_FIELDS),
	[CTP_AWAIT] = CLASS("await", AWAIT, await, CTP_AWAIT_FIELDS),
	[CTP_FUNCTION] = CLASS("function", FUNCTION, function, CTP_FUNCTION_FIELDS),
	[CTP_PROCESS] = CLASS("process", PROCESS, process, CTP_PROCESS_FIELDS),
	[CTP_SAMPLE] = CLASS("sample", SAMPLE, sample, CTP_SAMPLE_FIELDS),
	[CTP_SIGNAL] = CLASS("signal", SIGNAL, passed_on, CTP_SIGNAL_FIELDS),
	[CTP_REASON_TOLD] = CLASS("reason", REASON, reason, CTP_REASON_FIELDS),
	[CTP_OBJECT] = CLASS("object", OBJECT, object, CTP_OBJECT_FIELDS),
	[CTP_OBJECT_NAME] = CLASS("object_name", LABEL, object_name, CTP_OBJECT_NAME_FIELDS),
	[CTP_HOLD] = CLASS("hold", HOLD, held, CTP_HOLD_FIELDS),
	[CTP_WAKE_FOR] = CLASS("wake_for", CAUSE, wake_for, CTP_WAKE_FOR_FIELDS),
	[CTP_DESCRIPTOR] = CLASS("descriptor", DESCRIPTOR, descriptor, CTP_DESCRIPTOR_FIELDS),
	[CTP_LEFT_OUT] = CLASS("left_out", LEFT_OUT, left_out, CTP_LEFT_OUT_FIELDS),
	[CTP_CLOCK] = CLASS("clock", CLOCK, clock_pair, CTP_CLOCK_FIELDS),
	[CTP_ORIGIN] = CLASS("origin", ORIGIN, origin, CTP_ORIGIN_FIELDS),
	[CTP_ORIGIN_ATTRIBUTE] = CLASS("origin_attribute", ATTRIBUTE, origin_attribute, CTP_ATTRIBUTE_FIELDS),
	[CTP_FOUND] = CLASS("finding", FINDING, found, CTP_FOUND_FIELDS),
	[CTP_FOUND_LINE] = CLASS("finding_line", FINDING, found_line, CTP_FOUND_LINE_FIELDS),
	[CTP_FOUND_CORO] = CLASS("finding_coro", FINDING, found_coro, CTP_FOUND_CORO_FIELDS),
};
_Static_assert(COUNT(classes) == CTP_EVENT_COUNT, "each event has its class");

struct ctp_class *ctp_event_class(enum ctp_event event)
{
	struct ctp_err err; /* the tables are right, so this can only be for want of memory */
	return ctp_class_new(classes[event].name, classes[event].kind, classes[event].fields, classes[event].nfields, &err);
}
