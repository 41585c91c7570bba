/* judge-circle.h - circles among coroutines of which each leads to one other at most. */
#ifndef CTP_JUDGE_CIRCLE_H
#define CTP_JUDGE_CIRCLE_H

#include "analyse/judge-groups.h"

/*
 * Ways among those of whom each leads to at most one other, next, or null. Then a coroutine's goal is itself for one that is
 * in a circle of such that all count, and one of its members for who leads into it; where there is no circle, it is the last
 * one if ends is set, and else null. closed, if it is not null, is called with a member of each circle.
 */
struct ctp_judge_ways {
	struct ctp_coroutine *(*next)(struct ctp_judge *j, const struct ctp_coroutine *co);
	bool (*counts)(struct ctp_judge *j, const struct ctp_coroutine *co); /* null: all do */
	void (*closed)(struct ctp_judge *j, struct ctp_coroutine *co);
	bool ends;
};
void ctp_judge_circles(struct ctp_judge *j, const struct ctp_judge_ways *ways);

#endif
