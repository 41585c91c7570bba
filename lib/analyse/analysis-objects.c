/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* analysis-objects.c - the objects of a section, for its report. */
#include "analyse/analysis-objects.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/objects.h"

static void fill_holders(struct ctp_analysis *a, uint64_t start_ns, const struct ctp_object *ob, struct ctp_report_object *to)
{
	to->holders_known = ob->holders_known;
	to->has_holds = ob->hold_ns;
	to->held_by_others = ob->others;
	for (uint32_t i = CTP_REPORT_HOLDERS; i < ob->nholders; i++)
		to->held_by_others += (uint64_t)ob->holders[i].count;
	for (uint32_t i = 0; i < ob->nholders && i < CTP_REPORT_HOLDERS; i++) {
		const struct ctp_coroutine *co = ctp_follow_find(&a->follow, ob->holders[i].coro);
		struct ctp_report_holder *h = &to->holders[to->nholders++];
		*h = (struct ctp_report_holder){.id = ob->holders[i].coro, .count = ob->holders[i].count,
		                                .since_ns = ctp_span_ns(start_ns, ob->holders[i].since_ns), .alive = co && co->state != CTP_DEAD};
		h->name = ctp_report_copy(co ? co->name : NULL, &a->report.failed);
		h->taken = ctp_report_copy(ctp_follow_text(&a->follow, ob->holders[i].site), &a->report.failed);
	}
}

/* Those with waiters first, and of these the one with the longest wait; then those that are held. */
static int by_wait(const void *x, const void *y)
{
	const struct ctp_report_object *a = x, *b = y;
	return ctp_most_first(a->longest_ns, b->longest_ns) ?: ctp_most_first(a->waiters, b->waiters) ?:
	       ctp_most_first(a->nholders, b->nholders) ?: ctp_most_first(b->at, a->at);
}

/* It is there, or was destroyed while coroutines waited for it that still do. */
static bool is_shown(const struct ctp_object *ob) { return ob->is_there || (ob->gone_ns && ob->waiters); }

void ctp_analysis_objects(struct ctp_analysis *a, struct ctp_report_section *s)
{
	struct ctp_objects *o = a->follow.objects;
	uint32_t n = 0;
	for (uint32_t i = 1; i <= o->count; i++)
		n += is_shown(&o->list[i]);
	s->nobjects_seen = n;
	s->objects = n ? calloc(n, sizeof *s->objects) : NULL;
	a->report.failed |= n && !s->objects;
	for (uint32_t i = 1; s->objects && i <= o->count; i++) {
		const struct ctp_object *ob = is_shown(&o->list[i]) ? &o->list[i] : NULL;
		if (ob && ob->is_there)
			ob = ctp_objects_find(o, ob->pid, ob->at); /* forgets what may have changed */
		if (!ob)
			continue;
		struct ctp_report_object *to = &s->objects[s->nobjects++];
		bool exact = false;
		uint64_t left = ctp_object_available(ob, &ob->stock, &exact);
		*to = (struct ctp_report_object){
			.what = ob->what, .pid = ob->pid, .at = ob->at, .owned = ob->owned, .closed = ob->closed_ns,
			.known = ob->stock.known, .available = ob->stock.available, .room_known = ob->room.known, .room = ob->room.available,
			.exact = ob->stock.exact || !ob->stock.available, .room_exact = ob->room.exact || !ob->room.available,
			.counted = exact, .left = left, .total = ob->total, .waiters = ob->waiters, .longest_ns = ob->longest_ns,
			.is_gone = ob->gone_ns, .gone_ns = ctp_span_ns(s->start_ns, ob->gone_ns),
		};
		to->name = ctp_report_copy(ob->name, &a->report.failed);
		to->made = ctp_report_copy(ctp_follow_text(&a->follow, ob->site), &a->report.failed);
		fill_holders(a, s->start_ns, ob, to);
	}
	if (s->nobjects)
		qsort(s->objects, s->nobjects, sizeof *s->objects, by_wait);
	for (uint32_t i = CTP_REPORT_OBJECTS; i < s->nobjects; i++)
		ctp_report_object_fini(&s->objects[i]);
	s->nobjects = s->nobjects < CTP_REPORT_OBJECTS ? s->nobjects : CTP_REPORT_OBJECTS;
}
