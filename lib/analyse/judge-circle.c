/*
 * judge-circle.c - circles among coroutines of which each leads to one other at most.
 *
 * A walk goes from coroutine to coroutine until there is no next, or the next was visited. If this walk visited it, the walk has
 * closed a circle; if an earlier walk did, that one's goal is the goal. So each coroutine is passed a few times, however long the
 * ways are.
 */
#include "analyse/judge-circle.h"

/* Makes the members of the circle of co their own goals, if all of them count. Null: one does not. */
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
