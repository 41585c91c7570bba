/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-rest.c - see judge-rest.h. */
#include "analyse/judge-rest.h"

#include <poll.h>

const struct ctp_descriptor *ctp_wait_look(const struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t pid,
                                           const struct ctp_reason_of *r)
{
	if (r->what != CTP_WAITS_DESCRIPTOR)
		return NULL;
	const struct ctp_descriptor *d = ctp_objects_descriptor(j->follow->objects, pid, (int32_t)r->value);
	return d && d->ts_ns >= co->suspended_ns ? d : NULL;
}

const struct ctp_descriptor *ctp_wait_empty(const struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t pid,
                                            const struct ctp_reason_of *r)
{
	const struct ctp_descriptor *d = ctp_wait_look(j, co, pid, r);
	return d && r->count == POLLIN && !d->unread && !d->ended ? d : NULL;
}

/* The descriptor, if it is the only reason of the wait, and had nothing to read; or null. */
static const struct ctp_descriptor *silent(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_reasons *r = ctp_wait_reasons(j, co);
	return r && r->n == 1 ? ctp_wait_empty(j, co, r->pid, &r->list[0]) : NULL;
}

bool ctp_wait_is_for_silence(const struct ctp_judge *j, const struct ctp_coroutine *co) { return silent(j, co) != NULL; }

bool ctp_wait_may_rest(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_descriptor *d = silent(j, co);
	if (!d)
		return false;
	bool listens = d->type == CTP_FD_TCP_LISTENS || d->type == CTP_FD_UNIX_LISTENS;
	return listens || d->side == CTP_SIDE_ACCEPTED || (d->side == CTP_SIDE_CONNECTED && d->last == CTP_LAST_RECEIVED);
}

bool ctp_wait_is_unanswered(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_descriptor *d = silent(j, co);
	return d && d->side == CTP_SIDE_CONNECTED && d->last == CTP_LAST_SENT;
}

bool ctp_wait_may_be_idle(const struct ctp_judge *j, const struct ctp_coroutine *co, struct ctp_judge_place history)
{
	const struct ctp_reasons *r = ctp_wait_reasons(j, co);
	bool inside = history.woken && 10 * history.inside >= 9 * history.woken, descriptor = false;
	if (!j->follow->attached_ns || co->state != CTP_SUSPENDED)
		return false;
	for (uint32_t i = 0; r && i < r->n; i++)
		descriptor |= r->list[i].what == CTP_WAITS_DESCRIPTOR;
	return (descriptor || (!r && !inside)) && !ctp_wait_is_unanswered(j, co);
}
