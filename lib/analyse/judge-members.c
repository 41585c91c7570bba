/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-members.c - the coroutines of a group, as a report lists them. */
#include "analyse/judge-members.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/judge-reasons.h"
#include "stream/events.h"

char *ctp_judge_copy(struct ctp_judge *j, const char *text) { return ctp_report_copy(text, &j->failed); }

char *ctp_judge_in(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	enum { ANCESTORS = 32 };
	const struct ctp_coroutine *up = co;
	for (int i = 0; i < ANCESTORS && up && !up->name; i++)
		up = up->parent && up->parent != up->id ? ctp_follow_find(j->follow, up->parent) : NULL;
	return co->name || !up ? NULL : ctp_judge_copy(j, up->name);
}

/* Room for a member in the list, which has the longest first; null: the member is only counted. */
static struct ctp_report_member *member_put(struct ctp_judge *j, struct ctp_group *g, uint64_t ns)
{
	if (!g->who && !(g->who = calloc(CTP_REPORT_MEMBERS, sizeof *g->who))) {
		j->failed = true;
		return NULL;
	}
	uint32_t at = g->nwho;
	if (at == CTP_REPORT_MEMBERS) {
		if (g->who[at - 1].for_ns >= ns)
			return NULL;
		ctp_report_member_fini(&g->who[--at]);
	} else {
		g->nwho++;
	}
	assert(at < CTP_REPORT_MEMBERS && g->nwho <= CTP_REPORT_MEMBERS);
	for (; at > 0 && g->who[at - 1].for_ns < ns; at--)
		g->who[at] = g->who[at - 1];
	return &g->who[at];
}

static void group_count(struct ctp_group *g, uint64_t from_ns, uint64_t ns)
{
	g->longest_ns = ns > g->longest_ns ? ns : g->longest_ns;
	g->shortest_ns = ns < g->shortest_ns ? ns : g->shortest_ns;
	g->from_ns = from_ns < g->from_ns ? from_ns : g->from_ns;
	g->to_ns = from_ns + ns > g->to_ns ? from_ns + ns : g->to_ns;
}

static void fill_reasons(const struct ctp_judge *j, const struct ctp_coroutine *co, struct ctp_report_member *m)
{
	const struct ctp_reasons *from = ctp_wait_reasons(j, co);
	_Static_assert((int)CTP_REPORT_REASONS >= (int)CTP_REASONS_MAX, "each reason has room");
	for (uint32_t i = 0; from && i < from->n; i++) {
		const struct ctp_reason_of *r = &from->list[i];
		bool is_timer = r->what == CTP_WAITS_TIMER;
		m->reasons[m->nreasons++] = (struct ctp_report_reason){
			.what = r->what,
			.pid = from->pid,
			.at = is_timer ? 0 : r->value,
			.count = r->count,
			.due_ns = is_timer ? ctp_span_ns(j->start_ns, r->value) : 0,
		};
	}
}

struct ctp_report_member ctp_judge_member(struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t from_ns, uint64_t ns)
{
	const struct ctp_thread *thread = &j->follow->threads->list[co->thread];
	struct ctp_report_member m = {
		.id = co->id,
		.probe = co->probe,
		.since_ns = ctp_span_ns(j->start_ns, from_ns),
		.for_ns = ns,
		.tid = thread->tid,
		.pid = thread->pid,
		.name = ctp_judge_copy(j, co->name),
		.in = ctp_judge_in(j, co),
		.place = ctp_judge_copy(j, ctp_follow_text(j->follow, ctp_follow_place(j->follow, co))),
		.spawn = ctp_judge_copy(j, ctp_follow_text(j->follow, co->spawn)),
		.waits_for = ctp_wait_is(co) ? co->awaits : 0,
		.awaits = ctp_wait_is(co) && co->awaits,
		.state = co->state,
	};
	fill_reasons(j, co, &m);
	return m;
}

void ctp_group_add(struct ctp_judge *j, struct ctp_group *g, const struct ctp_coroutine *co, enum ctp_certainty certainty,
                   uint64_t from_ns, uint64_t ns)
{
	struct ctp_report_member *m = member_put(j, g, ns);
	g->by_certainty[certainty]++;
	group_count(g, from_ns, ns);
	if (!m)
		return;
	*m = ctp_judge_member(j, co, from_ns, ns);
	m->waker = co->waker ? co->waker : co->before;
	m->certainty = certainty;
	if (co->flags & CTP_CO_TAIL) /* in a gap the state is not known */
		m->state = CTP_UNBORN;
}

void ctp_judge_add(struct ctp_judge *j, struct ctp_group *g, struct ctp_coroutine *co, enum ctp_certainty certainty,
                   uint64_t from_ns, uint64_t ns)
{
	if (!g)
		return;
	assert(g >= j->groups && g < j->groups + j->ngroups);
	ctp_group_add(j, g, co, certainty, from_ns, ns);
	co->flags |= CTP_CO_FOUND;
	ctp_judged(co)->group = (uint32_t)(g - j->groups) + 1;
}

/*
 * Removes the member of an earlier, shorter case of the same coroutine. False: the earlier case is as long, and its member stays.
 */
static bool member_again(struct ctp_group *g, const struct ctp_tally_case *c, enum ctp_certainty *certainty)
{
	uint32_t i = 0;
	while (i < g->nwho && g->who[i].id != c->id)
		i++;
	if (i == g->nwho)
		return true;
	struct ctp_report_member *m = &g->who[i];
	assert(g->by_certainty[m->certainty] > 0);
	g->by_certainty[m->certainty]--;
	m->certainty = *certainty = m->certainty > *certainty ? m->certainty : *certainty;
	if (m->for_ns >= c->ns) {
		g->by_certainty[m->certainty]++;
		return false;
	}
	ctp_report_member_fini(m);
	memmove(m, m + 1, (--g->nwho - i) * sizeof *m);
	return true;
}

void ctp_judge_add_case(struct ctp_judge *j, struct ctp_group *g, const struct ctp_tally_case *c, enum ctp_certainty certainty)
{
	if (!g)
		return;
	g->cases++;
	group_count(g, c->from_ns, c->ns);
	if (!member_again(g, c, &certainty))
		return;
	g->by_certainty[certainty]++;
	struct ctp_threads *threads = j->follow->threads;
	struct ctp_report_member *m = member_put(j, g, c->ns);
	if (m)
		*m = (struct ctp_report_member){
			.id = c->id,
			.probe = c->probe,
			.since_ns = ctp_span_ns(j->start_ns, c->from_ns),
			.for_ns = c->ns,
			.waker = c->waker,
			.tid = c->tid,
			.pid = ctp_threads_has(threads, c->tid) ? threads->list[ctp_threads_number(threads, c->tid)].pid : 0,
			.name = ctp_judge_copy(j, c->name),
			.place = ctp_judge_copy(j, ctp_follow_text(j->follow, c->place)),
			.spawn = ctp_judge_copy(j, ctp_follow_text(j->follow, c->spawn)),
			.state = g->dead ? CTP_DEAD : CTP_RUNNING,
			.certainty = certainty,
		};
}
