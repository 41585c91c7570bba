/*
 * judge-why.h - between judge-wait.c, which finds who waits, and judge-why.c, which knows what is not in order with that.
 */
#ifndef CTP_JUDGE_WHY_H
#define CTP_JUDGE_WHY_H

#include "analyse/judge-groups.h"

static inline bool ctp_wait_is(const struct ctp_coroutine *co) { return co && co->state == CTP_SUSPENDED; }

static inline uint64_t ctp_wait_ns(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return ctp_follow_ns(j->follow, co->suspended_ns, ctp_judge_end_ns(j, co));
}

/* Far longer than its like, or anybody, has ever waited there. */
bool ctp_wait_is_too_long(const struct ctp_judge *j, const struct ctp_coroutine *co);

/* Why it is not in order, as CTP_WHY bits; 0: it may be. */
uint32_t ctp_wait_why(struct ctp_judge *j, const struct ctp_coroutine *co);

/*
 * Whether it is the one to look at when another waits that it used to wake: for as long as that one it has been where hardly anybody
 * ever was.
 */
bool ctp_wait_is_suspect(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_coroutine *other);

/* --- of places and habits ------------------------------------------------------------------------------------------------- */

static inline const struct ctp_habit *ctp_habit_of(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return &j->tally->habits.list[co->habit];
}

/* Nothing but coroutines has ever woken anybody there; nearly so. */
static inline bool ctp_place_is_closed(struct ctp_judge_place p) { return p.woken && p.inside == p.woken; }
static inline bool ctp_place_is_inside(struct ctp_judge_place p) { return p.woken && 10 * p.inside >= 9 * p.woken; }

/* Run from within others, as a generator is: whoever drops it has done with it. */
static inline bool ctp_habit_is_called(const struct ctp_habit *h) { return h->nested && 2 * h->nested >= h->waits; }

/* Those who woke anybody there were made by the one that they woke, nearly always. */
bool ctp_habit_is_for_children(const struct ctp_habit *h);

/* Half of those that were made there, and several, have ended by themselves. */
bool ctp_spawn_has_siblings(const struct ctp_tally_spawn *s);

/* Where one that lives on waits when there is nothing to be done: it began there, as its like did. Or it may, as often as it is there. */
bool ctp_spawn_is_at_rest(const struct ctp_judge *j, uint32_t spawn, uint32_t place);

/* Its like rest elsewhere: where others than coroutines wake them, or where they began. */
bool ctp_habit_is_away(const struct ctp_judge *j, uint32_t habit);

/*
 * Most of its like have ended, so it was meant to. If they came to one place again and again, as those of a pool do that shrinks, nearly
 * all of them must be gone, or others must have come back from there that began to wait later, or none may have lived for a tenth of the
 * time that it waits.
 */
bool ctp_habit_is_passing(const struct ctp_judge *j, uint32_t habit, uint64_t from_ns, uint64_t ns);

/* All threads slept, at two times with no time on a processor in between, and that is the last that is known of the program. */
bool ctp_judge_stands_still(const struct ctp_judge *j);

#endif
