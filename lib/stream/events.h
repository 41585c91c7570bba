/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * events.h - the classes that ctp-collect, ctp-merge and ctp-filter write, declared once.
 *
 * Nothing that reads a stream needs this: it learns the classes from the stream. It is for programs that write such records.
 */
#ifndef CTP_EVENTS_H
#define CTP_EVENTS_H

#include "base/linkage.h"
#include "stream/schema.h"

CTP_C_BEGIN

enum ctp_event {
	CTP_TRANSITION,
	CTP_BIRTH,
	CTP_DEATH,
	CTP_LOST,
	CTP_THREAD,
	CTP_MAPPING,
	CTP_UNTRACED,
	CTP_CONFLICT,
	CTP_END,
	CTP_WAKE,
	CTP_NAME,
	CTP_PLACE,
	CTP_MISSED,
	CTP_AWAIT,
	CTP_FUNCTION,
	CTP_PROCESS,
	CTP_SAMPLE,
	CTP_SIGNAL,
	CTP_REASON_TOLD,
	CTP_OBJECT,
	CTP_OBJECT_NAME,
	CTP_HOLD,
	CTP_WAKE_FOR,
	CTP_DESCRIPTOR,
	CTP_LEFT_OUT,
	CTP_CLOCK,
	CTP_ORIGIN,
	CTP_ORIGIN_ATTRIBUTE,
	CTP_FOUND,
	CTP_FOUND_LINE,
	CTP_FOUND_CORO,
	CTP_EVENT_COUNT
};

/* The order of values in a record is that of the fields. */
enum { CTP_TRANSITION_PROBE, CTP_TRANSITION_TID, CTP_TRANSITION_ADDR, CTP_TRANSITION_SEQ, CTP_TRANSITION_ACTIVE,
       CTP_TRANSITION_TS, CTP_TRANSITION_CORO, CTP_TRANSITION_INDEX, CTP_TRANSITION_SITE, CTP_TRANSITION_FIELDS };
/*
 * after and before are the bounds of ts where a birth or death was only observed; else all three are the same. parent, site, pid:
 * 0 where not known. hand: a probe by hand, which tells no end.
 */
enum { CTP_BIRTH_TS, CTP_BIRTH_PROBE, CTP_BIRTH_CORO, CTP_BIRTH_STATION, CTP_BIRTH_AFTER, CTP_BIRTH_BEFORE, CTP_BIRTH_PARENT,
       CTP_BIRTH_SITE, CTP_BIRTH_PID, CTP_BIRTH_HAND, CTP_BIRTH_FIELDS };
enum { CTP_DEATH_TS, CTP_DEATH_PROBE, CTP_DEATH_CORO, CTP_DEATH_AFTER, CTP_DEATH_BEFORE, CTP_DEATH_FIELDS };
/* count events are missing from index on, between the times after and ts; unverified of them were seen but not proved whole. */
enum { CTP_LOST_TS, CTP_LOST_PROBE, CTP_LOST_CORO, CTP_LOST_INDEX, CTP_LOST_COUNT, CTP_LOST_UNVERIFIED, CTP_LOST_AFTER,
       CTP_LOST_FIELDS };
enum { CTP_THREAD_TS, CTP_THREAD_TID, CTP_THREAD_PID, CTP_THREAD_NAME, CTP_THREAD_FIELDS };
enum { CTP_MAPPING_TS, CTP_MAPPING_PID, CTP_MAPPING_START, CTP_MAPPING_STOP, CTP_MAPPING_OFFSET, CTP_MAPPING_PATH,
       CTP_MAPPING_BUILD_ID, CTP_MAPPING_FIELDS };
enum { CTP_UNTRACED_TS, CTP_UNTRACED_COUNT, CTP_UNTRACED_FIELDS }; /* coroutines beyond the stations, so far */
enum { CTP_CONFLICT_TS, CTP_CONFLICT_PROBE, CTP_CONFLICT_CORO, CTP_CONFLICT_FIELDS };
/* after: when the target was last seen executing; before: when it was known to be over. ts is when this was written. */
enum { CTP_END_TS, CTP_END_EVENTS, CTP_END_LOST, CTP_END_UNVERIFIED, CTP_END_UNTRACED, CTP_END_BIRTHS, CTP_END_DEATHS,
       CTP_END_OUTCOME, CTP_END_STATUS, CTP_END_AFTER, CTP_END_BEFORE, CTP_END_FIELDS };
/* by: the coroutine that woke it; 0: none, or not known. tid: on which thread. */
enum { CTP_WAKE_TS, CTP_WAKE_PROBE, CTP_WAKE_CORO, CTP_WAKE_TID, CTP_WAKE_BY, CTP_WAKE_HOW, CTP_WAKE_FIELDS };
/*
 * LEAVING: by is suspended already, and what its suspension has to do still runs on the thread. YIELD: it only gives way, and by is
 * itself. STAYED: so it is, and has not even given way: its suspension was none.
 */
enum ctp_wake_how { CTP_WAKE_CALL, CTP_WAKE_LEAVING, CTP_WAKE_YIELD, CTP_WAKE_STAYED };
enum { CTP_NAME_TS, CTP_NAME_PROBE, CTP_NAME_CORO, CTP_NAME_TEXT, CTP_NAME_FIELDS };
enum { CTP_SITE_TS, CTP_SITE_ID, CTP_SITE_FILE, CTP_SITE_LINE, CTP_SITE_FUNCTION, CTP_SITE_CODE, CTP_SITE_FIELDS };
/*
 * What a thread could not write down between the times after and ts. count: births, deaths, wakes, names, awaits. transitions are
 * those that its ring has not: CTP_LOST has them too, for each coroutine, except for those that a slot still had.
 */
enum { CTP_MISSED_TS, CTP_MISSED_TID, CTP_MISSED_COUNT, CTP_MISSED_AFTER, CTP_MISSED_TRANSITIONS, CTP_MISSED_FIELDS };
/*
 * The coroutine's next suspension waits for the coroutine target; 0: it is not known which. joins: nothing but the end of target
 * lets it go on; else it may be that only for a time, or another one by now.
 */
enum { CTP_AWAIT_TS, CTP_AWAIT_PROBE, CTP_AWAIT_CORO, CTP_AWAIT_TARGET, CTP_AWAIT_JOINS, CTP_AWAIT_FIELDS };
/* The address of the coroutine's frame, which its transitions have, and that of its code which stood there at ts. */
enum { CTP_FUNCTION_TS, CTP_FUNCTION_PROBE, CTP_FUNCTION_CORO, CTP_FUNCTION_ADDR, CTP_FUNCTION_CODE, CTP_FUNCTION_FIELDS };
/*
 * What a process was seen to do, and after: when it was last seen to do something else. threads: how many samples with the same ts
 * stand in front, one of each of its threads; 0: none. cpu_ns: CPU time of the whole process so far, 0: not known.
 */
enum { CTP_PROCESS_TS, CTP_PROCESS_PID, CTP_PROCESS_AFTER, CTP_PROCESS_STATE, CTP_PROCESS_THREADS, CTP_PROCESS_CPU,
       CTP_PROCESS_FIELDS };
enum ctp_process_state { CTP_PROCESS_EXECUTING, CTP_PROCESS_STOPPED, CTP_PROCESS_EXITING, CTP_PROCESS_DUMPING };
/* A thread: how long it has run on a processor so far, how long it was ready to and did not, and what it is doing. */
enum { CTP_SAMPLE_TS, CTP_SAMPLE_TID, CTP_SAMPLE_PID, CTP_SAMPLE_CPU, CTP_SAMPLE_DELAY, CTP_SAMPLE_STATE, CTP_SAMPLE_FIELDS };
enum ctp_sample_state { CTP_SAMPLE_RUNNING, CTP_SAMPLE_SLEEPING, CTP_SAMPLE_BLOCKED, CTP_SAMPLE_STOPPED, CTP_SAMPLE_OTHER };
/* A signal that was passed on to the process. */
enum { CTP_SIGNAL_TS, CTP_SIGNAL_PID, CTP_SIGNAL_NUMBER, CTP_SIGNAL_FIELDS };
/*
 * What the coroutine's next suspension waits for; several come one after the other. Of what is not a time, a descriptor or an object,
 * deadline is 0, fd -1, and object 0. count: how much of the object. marks: bits of these.
 */
enum { CTP_REASON_TS, CTP_REASON_PROBE, CTP_REASON_CORO, CTP_REASON_PID, CTP_REASON_FOR, CTP_REASON_DEADLINE, CTP_REASON_FD,
       CTP_REASON_OBJECT, CTP_REASON_N, CTP_REASON_SAID, CTP_REASON_FIELDS };
enum ctp_waits_for { CTP_WAITS_TIMER = 1, CTP_WAITS_DESCRIPTOR, CTP_WAITS_LOCK, CTP_WAITS_PERMITS, CTP_WAITS_ITEM, CTP_WAITS_ROOM,
                     CTP_WAITS_EVENT, CTP_WAITS_BARRIER, CTP_WAITS_OTHER, CTP_WAITS_COUNT };
/* MORE: there are others, which are not known. */
enum { CTP_REASON_SHARED = 1, CTP_REASON_TIMED = 2, CTP_REASON_CANCELLABLE = 4, CTP_REASON_RESTS = 8, CTP_REASON_MORE = 16,
       CTP_REASON_MARK_BITS = 31 };
/*
 * An object, by its process and its address. kind: 0 where the record is not about what is available. tid: the thread that recorded
 * it; 0: not known.
 */
enum { CTP_OBJECT_TS, CTP_OBJECT_PID, CTP_OBJECT_AT, CTP_OBJECT_KIND, CTP_OBJECT_AVAILABLE, CTP_OBJECT_SITE, CTP_OBJECT_MARKS,
       CTP_OBJECT_TID, CTP_OBJECT_FIELDS };
enum { CTP_OBJECT_OWNED = 1, CTP_OBJECT_CLOSED = 2, CTP_OBJECT_GONE = 4, CTP_OBJECT_MADE = 8 };
enum { CTP_OBJECT_NAME_TS, CTP_OBJECT_NAME_PID, CTP_OBJECT_NAME_AT, CTP_OBJECT_NAME_TEXT, CTP_OBJECT_NAME_FIELDS };
/* count: so much more it holds, or less. site: where it got that; 0: not known. */
enum { CTP_HOLD_TS, CTP_HOLD_PROBE, CTP_HOLD_CORO, CTP_HOLD_PID, CTP_HOLD_OBJECT, CTP_HOLD_COUNT, CTP_HOLD_SITE, CTP_HOLD_FIELDS };
/* Of the wake of the coroutine that has the same time. */
enum { CTP_WAKE_FOR_TS, CTP_WAKE_FOR_PROBE, CTP_WAKE_FOR_CORO, CTP_WAKE_FOR_PID, CTP_WAKE_FOR_OBJECT, CTP_WAKE_FOR_FIELDS };
/* unread: bytes, or of a socket that listens, connections; of a timer, how often it has expired; of an eventfd, its count. */
enum { CTP_DESCRIPTOR_TS, CTP_DESCRIPTOR_PID, CTP_DESCRIPTOR_FD, CTP_DESCRIPTOR_TYPE, CTP_DESCRIPTOR_UNREAD, CTP_DESCRIPTOR_UNSENT,
       CTP_DESCRIPTOR_ENDED, CTP_DESCRIPTOR_SIDE, CTP_DESCRIPTOR_LAST, CTP_DESCRIPTOR_FIELDS };
/* Which side began a TCP connection: the peer, or this program. */
enum ctp_descriptor_side { CTP_SIDE_UNKNOWN, CTP_SIDE_ACCEPTED, CTP_SIDE_CONNECTED };
/* Of one that this program began, what came last: data of the peer, or data for it, so that an answer may be due. */
enum ctp_descriptor_last { CTP_LAST_UNKNOWN, CTP_LAST_RECEIVED, CTP_LAST_SENT };
enum ctp_descriptor_type { CTP_FD_OTHER, CTP_FD_TCP, CTP_FD_TCP_LISTENS, CTP_FD_UDP, CTP_FD_UNIX, CTP_FD_UNIX_LISTENS, CTP_FD_PIPE,
                           CTP_FD_EVENTFD, CTP_FD_TIMERFD };
/* From the time after on, ctp-filter has left out records of the coroutine, up to its next transition. */
enum { CTP_LEFT_OUT_TS, CTP_LEFT_OUT_CORO, CTP_LEFT_OUT_AFTER, CTP_LEFT_OUT_FIELDS };
/*
 * wall_ns: the wall clock at ts, read_ns: how far the two readings may be apart, error_ns: how far the wall clock may be from UTC,
 * 0 if that is not known.
 */
enum { CTP_CLOCK_TS, CTP_CLOCK_WALL, CTP_CLOCK_READ, CTP_CLOCK_ERROR, CTP_CLOCK_SYNCED, CTP_CLOCK_FIELDS };
/*
 * Of ctp-merge: a section that became a part of this one begins or ends; and an attribute of it. ERROR: how far times may be off.
 * STRIDE: the number x of that section, such as that of a thread, is x * stride + origin here; 0: not known.
 * SECTION_ID: of the section before any merge; 0: not known, as in streams of older versions, whose class has no such field.
 */
enum { CTP_ORIGIN_TS, CTP_ORIGIN_NUMBER, CTP_ORIGIN_NAME, CTP_ORIGIN_HOST, CTP_ORIGIN_PID, CTP_ORIGIN_START, CTP_ORIGIN_COMMAND,
       CTP_ORIGIN_INPUT, CTP_ORIGIN_SECTION, CTP_ORIGIN_BY_WALL, CTP_ORIGIN_ERROR, CTP_ORIGIN_ERROR_KNOWN, CTP_ORIGIN_STATE,
       CTP_ORIGIN_MISSING, CTP_ORIGIN_STRIDE, CTP_ORIGIN_SECTION_ID, CTP_ORIGIN_FIELDS };
enum ctp_origin_state { CTP_ORIGIN_BEGINS, CTP_ORIGIN_COMPLETE, CTP_ORIGIN_CUT, CTP_ORIGIN_DAMAGED };
enum { CTP_ATTRIBUTE_TS, CTP_ATTRIBUTE_ORIGIN, CTP_ATTRIBUTE_NAME, CTP_ATTRIBUTE_VALUE, CTP_ATTRIBUTE_FIELDS };
/*
 * Of ctp-filter: a finding of the whole trace, by its number, or a wait that stands out, which has the rule "possible"; its lines; and
 * coroutines that it lists. Times are nanoseconds from the start of the section.
 */
enum { CTP_FOUND_TS, CTP_FOUND_NUMBER, CTP_FOUND_RULE, CTP_FOUND_CERTAINTY, CTP_FOUND_TITLE, CTP_FOUND_SPAWN, CTP_FOUND_PLACE,
       CTP_FOUND_MEMBERS, CTP_FOUND_WAITING, CTP_FOUND_FROM, CTP_FOUND_TO, CTP_FOUND_DEPENDENTS, CTP_FOUND_OPEN, CTP_FOUND_ENDED,
       CTP_FOUND_LONGEST, CTP_FOUND_P99, CTP_FOUND_FIELDS };
enum { CTP_FOUND_LINE_TS, CTP_FOUND_LINE_NUMBER, CTP_FOUND_LINE_PART, CTP_FOUND_LINE_TEXT, CTP_FOUND_LINE_FIELDS };
enum ctp_found_part { CTP_FOUND_EVIDENCE, CTP_FOUND_NEXT, CTP_FOUND_EXCUSE, CTP_FOUND_ALSO, CTP_FOUND_PARTS };
enum { CTP_FOUND_CORO_TS, CTP_FOUND_CORO_NUMBER, CTP_FOUND_CORO_ID, CTP_FOUND_CORO_PROBE, CTP_FOUND_CORO_WAITER, CTP_FOUND_CORO_NAME,
       CTP_FOUND_CORO_IN, CTP_FOUND_CORO_PLACE, CTP_FOUND_CORO_SPAWN, CTP_FOUND_CORO_SINCE, CTP_FOUND_CORO_FOR, CTP_FOUND_CORO_WAKER,
       CTP_FOUND_CORO_TID, CTP_FOUND_CORO_PID, CTP_FOUND_CORO_WAITS_FOR, CTP_FOUND_CORO_WAITS_FOR_NAME, CTP_FOUND_CORO_AWAITS,
       CTP_FOUND_CORO_STATE, CTP_FOUND_CORO_CERTAINTY, CTP_FOUND_CORO_FIELDS };
/* Of the target; STATUS: exit code or signal. ENDED: one or the other, but it was not our child. */
enum ctp_outcome { CTP_OUTCOME_EXITED, CTP_OUTCOME_KILLED, CTP_OUTCOME_RUNNING, CTP_OUTCOME_ENDED };
const char *ctp_outcome_name(enum ctp_outcome outcome); /* its label: "exited" */

/* A new class of this sort, the caller's to free. Null: out of memory. */
struct ctp_class *ctp_event_class(enum ctp_event event);

CTP_C_END

#endif
