/* judge-circle.h - circles among coroutines of which each leads to one other at most. */
#ifndef CTP_JUDGE_CIRCLE_H
#define CTP_JUDGE_CIRCLE_H

#include "analyse/judge-groups.h"

/*
 * Ways: next is the coroutine that another leads to, or null. ctp_judge_circles sets the goal of each coroutine. In a circle whose
 * members all count, a member is its own goal, and a coroutine that leads into the circle has a member as goal. Where there is no
 * such circle, the goal is the last coroutine of the way if ends is set, else null. closed, if not null, is called with a member of
 * each circle.
 */
struct ctp_judge_ways {
	struct ctp_coroutine *(*next)(struct ctp_judge *j, const struct ctp_coroutine *co);
	bool (*counts)(struct ctp_judge *j, const struct ctp_coroutine *co); /* null: all coroutines count */
	void (*closed)(struct ctp_judge *j, struct ctp_coroutine *co);
	bool ends;
};
void ctp_judge_circles(struct ctp_judge *j, const struct ctp_judge_ways *ways);

#endif
