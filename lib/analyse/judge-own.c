/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-own.c - see judge-own.h. */
#include "analyse/judge-own.h"

enum {
	FAR_LONGER = 10, /* times */
	OFTEN = 3,       /* a third as often as here */
	LAST_PART = 10,  /* a tenth */
};

const struct ctp_visits *ctp_own_visits(const struct ctp_coroutine *co, uint32_t place)
{
	static const struct ctp_visits none;
	for (const struct ctp_visits *v = ctp_coro_visits(co); v < ctp_coro_visits(co) + CTP_CO_VISITS; v++)
		if (v->place == place && place)
			return v;
	return &none;
}

static uint64_t median_ns(const struct ctp_judge *j, uint32_t place)
{
	return ctp_hist_quantile(&ctp_tally_place(j->tally, place)->wait, 0.5);
}

/* Something other than a coroutine ended nearly all of these waits. */
static bool is_outside(const struct ctp_visits *v) { return 10 * (uint32_t)v->outside >= 9 * (uint32_t)v->back; }

bool ctp_own_rests_elsewhere(const struct ctp_judge *j, const struct ctp_coroutine *co, uint32_t place)
{
	const struct ctp_visits *here = ctp_own_visits(co, place);
	uint64_t here_ns = median_ns(j, place);
	const struct ctp_visits *v = ctp_coro_visits(co), *end = v + CTP_CO_VISITS;
	for (; here->back >= j->visits && v < end; v++) {
		bool often = v->place && v->place != place && OFTEN * (uint32_t)v->back >= here->back;
		if (often && (median_ns(j, v->place) / FAR_LONGER >= here_ns || (is_outside(v) && !is_outside(here))))
			return true;
	}
	return false;
}

uint64_t ctp_own_dead_waker(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_visits *v = ctp_own_visits(co, ctp_follow_place(j->follow, co));
	bool always = v->back >= j->visits && !v->several && v->waker != co->id;
	return always && !ctp_judge_living(j, v->waker) ? v->waker : 0;
}

bool ctp_judge_is_recent(const struct ctp_judge *j, uint64_t resumed_ns, uint64_t from_ns, uint64_t to_ns)
{
	return ctp_follow_ns(j->follow, resumed_ns, to_ns) <= ctp_follow_ns(j->follow, from_ns, to_ns) / LAST_PART;
}

const struct ctp_coroutine *ctp_own_active_waker(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint64_t id = ctp_own_visits(co, ctp_follow_place(j->follow, co))->waker;
	const struct ctp_coroutine *waker = id != co->id ? ctp_judge_living(j, id) : NULL;
	if (!waker)
		return NULL;
	bool active = waker->state == CTP_RUNNING ||
	              ctp_judge_is_recent(j, waker->resumed_ns, co->suspended_ns, ctp_judge_end_ns(j, co));
	return active ? waker : NULL;
}

struct ctp_coroutine *ctp_own_parent(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return co->parent != co->id ? ctp_judge_living(j, co->parent) : NULL;
}

bool ctp_own_is_for(const struct ctp_coroutine *parent, const struct ctp_coroutine *child)
{
	return parent->state == CTP_SUSPENDED && child->flags & CTP_CO_BIRTH && child->born_ns >= parent->resumed_ns;
}
