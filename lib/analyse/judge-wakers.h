/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-wakers.h - whether a waker of a waiting coroutine may still come. */
#ifndef CTP_JUDGE_WAKERS_H
#define CTP_JUDGE_WAKERS_H

#include "analyse/judge-groups.h"

/* Fills places and spawns of the judge from the habits. False: out of memory. */
bool ctp_judge_places(struct ctp_judge *j);

/* Counts living coroutines by habit, and fills active_ns. An active coroutine runs, or something from outside may wake it. */
void ctp_judge_look(struct ctp_judge *j);

/* How waits end at the place of a coroutine: those of its habit, or where these are too few, all. */
struct ctp_judge_place ctp_judge_history(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* Whether a possible waker has been active for at least half of the wait of co. */
bool ctp_judge_waker_may_come(struct ctp_judge *j, const struct ctp_coroutine *co);

/* Takes CTP_CO_STUCK from coroutines that another one could wake, until all that keep it need one another. */
void ctp_judge_close(struct ctp_judge *j);

/*
 * Whether a living waker of a stuck coroutine is stuck as well. If all its wakers are dead, the coroutine may only rest. At rest,
 * one dead waker is enough for that, for this may have been the one that gave it work; unless all wakers are its siblings.
 */
bool ctp_judge_needs_others(struct ctp_judge *j, const struct ctp_coroutine *co, bool at_rest);

/* Whether the threads that run coroutines were mostly busy since then: there may be no time for all. */
bool ctp_judge_is_crowded(const struct ctp_judge *j, uint64_t since_ns);

/* How long a woken coroutine has been ready; if another one held its thread for long meanwhile, only the time after that run. */
uint64_t ctp_judge_ready_ns(const struct ctp_judge *j, const struct ctp_coroutine *co);

#endif
