/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* follow-gives.c - opens and closes gives (gives.h) by what coroutines do. */
#include "analyse/follow-own.h"

#include "base/compare.h"
#include "stream/events.h"

/* The giver has been suspended since, or has ended. */
static bool is_over(const struct ctp_follow *f, const struct ctp_give *give)
{
	const struct ctp_coroutine *co = ctp_coro_table_find(&f->priv->table, give->coro);
	return !co || co->state == CTP_DEAD || co->next != give->next;
}

/* A coroutine that was woken for this has neither taken any nor waited again: it may take what is there, or wake another. */
static bool is_somebody_coming(const struct ctp_follow *f, const struct ctp_give_end *end, const struct ctp_coroutine *giver)
{
	uint32_t n = (uint32_t)ctp_least(end->ncoming, CTP_GIVES_COMING);
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t id = end->coming[i].coro;
		const struct ctp_coroutine *co = id ? ctp_coro_table_find(&f->priv->table, id) : NULL;
		if (co && co != giver && co->state != CTP_DEAD && co->next < end->coming[i].until)
			return true;
	}
	return false;
}

/* What the holders leave; 0: not known. */
static uint64_t unheld(const struct ctp_object *ob)
{
	uint64_t held = ctp_object_held(ob);
	return ob->holders_known && ob->all > held ? ob->all - held : 0;
}

/* As much as a waiter wants is still there. The program may count a permit that it hands to a waiter as taken. */
static bool is_left(const struct ctp_object *ob, const struct ctp_give_end *end, const struct ctp_give *give)
{
	const struct ctp_stock *stock = end->room ? &ob->room : &ob->stock;
	bool exact, held_back = give->what == CTP_WAITS_LOCK || give->what == CTP_WAITS_PERMITS;
	bool taken = stock->known && !stock->available && stock->since_ns > give->ts_ns;
	if (give->what == CTP_WAITS_LOCK && ob->holders_known && ob->nholders)
		return false;
	if (held_back && !taken && unheld(ob) >= end->most)
		return true;
	return stock->known && ctp_object_available(ob, stock, &exact) >= end->most;
}

static bool is_missed(const struct ctp_follow *f, const struct ctp_give *give)
{
	const struct ctp_give_end *end = &f->objects->gives.ends[give->end];
	const struct ctp_object *ob = ctp_objects_find(f->objects, end->pid, end->at);
	if (!ob || ob->closed_ns || !end->waiters || give->gap != f->objects->gaps)
		return false;
	return is_left(ob, end, give);
}

void ctp_follow_judge_open(struct ctp_follow *f)
{
	struct ctp_gives *g = &f->objects->gives;
	for (uint32_t i = g->nopen; i-- > 0;)
		if (is_over(f, &g->open[i]))
			ctp_gives_close(g, i, is_missed(f, &g->open[i]));
}

static uint32_t end_of(const struct ctp_follow *f, const struct ctp_object *ob, uint8_t what)
{
	return ob && !f->filtered ? ctp_gives_find(&f->objects->gives, ob->pid, ob->at, what == CTP_WAITS_ROOM) : 0;
}

void ctp_follow_give(struct ctp_follow *f, const struct ctp_coroutine *co, const struct ctp_object *ob, uint8_t what, uint64_t count,
                     uint64_t ts)
{
	struct ctp_gives *g = &f->objects->gives;
	uint32_t end = end_of(f, ob, what);
	if (!end || !g->ends[end].waiters || co->state != CTP_RUNNING || is_somebody_coming(f, &g->ends[end], co))
		return;
	ctp_gives_give(g, &(struct ctp_give){.coro = co->id, .ts_ns = ts, .count = count, .next = co->next, .end = end, .what = what,
	                                     .waiters = g->ends[end].waiters, .gap = f->objects->gaps});
}

void ctp_follow_got(struct ctp_follow *f, const struct ctp_coroutine *co, uint64_t pid, uint64_t at, bool room, uint64_t ts)
{
	struct ctp_gives *g = &f->objects->gives;
	uint32_t end = g->ncoming || g->nmissed ? ctp_gives_find(g, pid, at, room) : 0;
	if (end && co)
		ctp_gives_came(g, end, co->id);
	else if (end)
		ctp_gives_taken(g, end, ts);
}
