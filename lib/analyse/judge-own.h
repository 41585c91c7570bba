/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-own.h - what a coroutine's own earlier waits say of the present one: where it rests, and which coroutine has ended such
 * waits.
 */
#ifndef CTP_JUDGE_OWN_H
#define CTP_JUDGE_OWN_H

#include "analyse/judge-groups.h"

/* The coroutine's own waits at a place; all zeros: none is known. */
const struct ctp_visits *ctp_own_visits(const struct ctp_coroutine *co, uint32_t place);

/*
 * Whether the coroutine rests at another place: it waits there often, and either waits there usually take far longer, or something
 * from outside ends them, while coroutines end some of its waits here.
 */
bool ctp_own_rests_elsewhere(const struct ctp_judge *j, const struct ctp_coroutine *co, uint32_t place);

/* The coroutine that ended its last wait at its place, if that runs, or ran in the last tenth of this wait; or null. */
const struct ctp_coroutine *ctp_own_active_waker(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* The coroutine that has ended all of its waits at its place, and is dead; 0: there is none. */
uint64_t ctp_own_dead_waker(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* Whether a resume came in the last tenth of the time between from_ns and to_ns. */
bool ctp_judge_is_recent(const struct ctp_judge *j, uint64_t resumed_ns, uint64_t from_ns, uint64_t to_ns);

/* The living parent of a coroutine; or null. */
struct ctp_coroutine *ctp_own_parent(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* Whether a parent seems to wait for that child: it spawned the child just before it began to wait. */
bool ctp_own_is_for(const struct ctp_coroutine *parent, const struct ctp_coroutine *child);

#endif
