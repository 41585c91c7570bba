/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-why.h - why a wait is not in order; and what is known of habits and spawn places for that.
 */
#ifndef CTP_JUDGE_WHY_H
#define CTP_JUDGE_WHY_H

#include "analyse/judge-reasons.h"

static inline uint64_t ctp_wait_ns(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return ctp_follow_ns(j->follow, ctp_coroutine_waits_since(co), ctp_judge_end_ns(j, co));
}

/* The same without the machine's part, to be compared with other waits. */
static inline uint64_t ctp_wait_own_ns(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return ctp_judge_own_ns(j, ctp_coroutine_waits_since(co), ctp_judge_end_ns(j, co));
}

/* Whether the wait of a coroutine is far longer than any that ended there, of its siblings or of all. */
bool ctp_wait_is_too_long(const struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * Whether the coroutine and its siblings returned from there in a hundredth of the time, and some still do; and the coroutine rests
 * elsewhere.
 */
bool ctp_wait_is_out_of_rhythm(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* Why the wait of a coroutine is not in order, as CTP_WHY bits; 0: it may be in order. */
uint32_t ctp_wait_why(struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * Whether co explains the wait of other, which it used to wake: for as long as other, co has waited where hardly any wait ever
 * ended.
 */
bool ctp_wait_is_suspect(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_coroutine *other);

/* --- of places and habits ------------------------------------------------------------------------------------------------- */

static inline const struct ctp_habit *ctp_habit_of(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return &j->tally->habits.list[co->habit];
}

/* Only coroutines have ever ended waits there; inside: nearly only. */
static inline bool ctp_place_is_closed(struct ctp_judge_place p) { return p.woken && p.inside == p.woken; }
static inline bool ctp_place_is_inside(struct ctp_judge_place p) { return p.woken && 10 * p.inside >= 9 * p.woken; }

/* Coroutines there are resumed from within others, as generators are: a caller that drops one has done with it. */
static inline bool ctp_habit_is_called(const struct ctp_habit *h) { return h->nested && 2 * h->nested >= h->waits; }

/* Nearly all wakers there are children of the woken coroutine. */
bool ctp_habit_is_for_children(const struct ctp_habit *h);

/* Half of the coroutines of a spawn place, and several, have ended by themselves. */
bool ctp_spawn_has_siblings(const struct ctp_tally_spawn *s);

/* Whether coroutines that live on wait at place when idle: most of them suspended there first; or, if that is not known, often. */
bool ctp_spawn_is_at_rest(const struct ctp_judge *j, uint32_t spawn, uint32_t place);

/* The coroutines of the habit rest elsewhere: where something from outside wakes them, or where they suspended first. */
bool ctp_habit_is_away(const struct ctp_judge *j, uint32_t habit);

/*
 * Most coroutines of the spawn place have ended, so a waiting one was meant to. Where they live on, as in a pool that shrinks, one
 * of three must hold too: nearly all have ended; later waits of the habit have ended; none lived for a tenth of ns, the length of
 * this wait.
 */
bool ctp_habit_is_passing(const struct ctp_judge *j, uint32_t habit, uint64_t from_ns, uint64_t ns);

/* All threads slept at two times, with no CPU time in between, and the program did nothing after that. */
bool ctp_judge_stands_still(const struct ctp_judge *j);

#endif
