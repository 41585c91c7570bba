/*
 * judge-circle.c - circles among coroutines of which each leads to one other at most.
 *
 * A walk goes on from one to the next until there is none, or one that was visited. If that was on this walk, it has gone
 * round in a circle; if on an earlier one, that walk knows where it ends. So each is passed a few times, however long the
 * ways are.
 */
#include "analyse/judge-circle.h"

/* All of the circle that has co in it are members, if each is one that counts. Null: they are not. */
static struct ctp_coroutine *close_circle(struct ctp_judge *j, const struct ctp_judge_ways *ways, struct ctp_coroutine *co)
{
	struct ctp_coroutine *member = co;
	do {
		if (ways->counts && !ways->counts(j, member))
			return NULL;
		member = ways->next(j, member);
	} while (member != co);
	do {
		member->goal = member;
		member = ways->next(j, member);
	} while (member != co);
	if (ways->closed)
		ways->closed(j, co);
	return co;
}

static void walk(struct ctp_judge *j, const struct ctp_judge_ways *ways, struct ctp_coroutine *start, uint32_t number)
{
	struct ctp_coroutine *co = start, *last = start;
	uint32_t steps = 0;
	for (; co && !co->visit; steps++) {
		co->visit = number;
		last = co;
		co = ways->next(j, co);
	}
	struct ctp_coroutine *goal = !co                   ? (ways->ends ? last : NULL) :
	                             co->visit == number ? close_circle(j, ways, co) : co->goal;
	for (co = start; goal && steps; steps--) {
		co->goal = co->goal ? co->goal : goal;
		co = ways->next(j, co);
	}
}

void ctp_judge_circles(struct ctp_judge *j, const struct ctp_judge_ways *ways)
{
	struct ctp_coroutine *co;
	uint32_t walks = 0;
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));) {
		co->visit = 0;
		co->goal = NULL;
	}
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));)
		if (!co->visit)
			walk(j, ways, co, ++walks);
}
