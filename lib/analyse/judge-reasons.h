/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-reasons.h - what a wait is for, as far as the program said so: the layer below judge-why and judge-object. */
#ifndef CTP_JUDGE_REASONS_H
#define CTP_JUDGE_REASONS_H

#include "analyse/judge-groups.h"
#include "analyse/objects.h"

enum { CTP_JUDGE_LATE_NS = 500000000 }; /* a wake that is due comes within this time, also on a busy machine */

/* The reasons of a coroutine's wait; null: it does not wait, or not all reasons are known. */
const struct ctp_reasons *ctp_wait_reasons(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* Whether a wait is in order, however long it is: one of its reasons is a timer that is not due, or a declared rest. */
bool ctp_wait_is_quiet(const struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * Whether a coroutine waits for things of the program alone, and not for a timer or a descriptor: so nothing from outside ends the
 * wait by itself.
 */
bool ctp_wait_is_for_objects(const struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * Whether a coroutine waits for a lock, for permits that coroutines hold, or for room, as the program says, and not for anything else:
 * it cannot be idle there, also if it waits there first of all and most often. If the program says that it rests all the same, it is quiet.
 */
bool ctp_wait_is_for_turn(const struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * The reason of a wait that is for one thing, and may have a time-out beside it; i is its number. Null: there is no such reason, or there
 * are several. *timed: the wait ends at some time, come what may.
 */
const struct ctp_reason_of *ctp_reason_only(const struct ctp_reasons *r, uint32_t *i, bool *timed);

/* Of an object: how much the reason wants; whether that is there, or for certain less. How long a wait is overdue: since due_ns, or since it began. */
uint64_t ctp_reason_wanted(const struct ctp_reason_of *r);
bool ctp_reason_is_enough(const struct ctp_object *ob, const struct ctp_reason_of *r);
bool ctp_reason_is_short(const struct ctp_object *ob, const struct ctp_reason_of *r);
uint64_t ctp_wait_since_due(const struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t due_ns);

#endif
