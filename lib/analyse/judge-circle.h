/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-circle.h - circles among coroutines of which each leads to one other at most. */
#ifndef CTP_JUDGE_CIRCLE_H
#define CTP_JUDGE_CIRCLE_H

#include "analyse/judge-groups.h"

/*
 * Ways: next is the coroutine that comes after another, or null. ctp_judge_circles sets leads_to of each coroutine. In a circle
 * whose members all count, a member leads to itself, and a coroutine outside whose way enters the circle leads to a member. Where
 * there is no such circle, it is the last coroutine of the way if ends is set, else null. closed, if not null, is called with a
 * member of each circle.
 */
struct ctp_judge_ways {
	struct ctp_coroutine *(*next)(struct ctp_judge *j, const struct ctp_coroutine *co);
	bool (*counts)(struct ctp_judge *j, const struct ctp_coroutine *co); /* null: all coroutines count */
	void (*closed)(struct ctp_judge *j, struct ctp_coroutine *co);
	bool ends;
};
void ctp_judge_circles(struct ctp_judge *j, const struct ctp_judge_ways *ways);

#endif
