/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-circle.c - circles among coroutines of which each leads to one other at most.
 *
 * A walk goes from coroutine to coroutine until there is no next, or the next was visited. If this walk visited it, the walk has
 * closed a circle. If an earlier walk did, both walks lead to the same coroutine. So each coroutine is passed a few times, however
 * long the ways are.
 */
#include "analyse/judge-circle.h"

/* Makes each member of the circle of co lead to itself, if all of them count. Null: one does not. */
static struct ctp_coroutine *close_circle(struct ctp_judge *j, const struct ctp_judge_ways *ways, struct ctp_coroutine *co)
{
	struct ctp_coroutine *member = co;
	do {
		if (ways->counts && !ways->counts(j, member))
			return NULL;
		member = ways->next(j, member);
	} while (member != co);
	do {
		ctp_judged(member)->leads_to = member;
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
	for (; co && !ctp_judged(co)->visit; steps++) {
		ctp_judged(co)->visit = number;
		last = co;
		co = ways->next(j, co);
	}
	struct ctp_coroutine *end;
	if (!co)
		end = ways->ends ? last : NULL;
	else
		end = ctp_judged(co)->visit == number ? close_circle(j, ways, co) : ctp_judged(co)->leads_to;
	for (co = start; end && steps; steps--) {
		ctp_judged(co)->leads_to = ctp_judged(co)->leads_to ? ctp_judged(co)->leads_to : end;
		co = ways->next(j, co);
	}
}

void ctp_judge_circles(struct ctp_judge *j, const struct ctp_judge_ways *ways)
{
	struct ctp_coroutine *co;
	uint32_t walks = 0;
	CTP_EACH_COROUTINE(j, co) {
		ctp_judged(co)->visit = 0;
		ctp_judged(co)->leads_to = NULL;
	}
	CTP_EACH_COROUTINE(j, co)
		if (!ctp_judged(co)->visit)
			walk(j, ways, co, ++walks);
}
