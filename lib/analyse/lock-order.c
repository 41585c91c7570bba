/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* lock-order.c - a table of what coroutines hold, and one of pairs. */
#include "analyse/lock-order.h"

#include <stdlib.h>
#include <string.h>

enum { PROBES = 8 }; /* entries of the table that a coroutine may have */

struct pair {
	struct ctp_lock held, taken;
};

static bool is_same(const struct ctp_lock *a, const struct ctp_lock *b)
{
	return a->at == b->at && a->pid == b->pid && a->made_ns == b->made_ns;
}

static bool is_pair(const void *list, uint32_t number, const void *key)
{
	const struct ctp_lock_order *order = &((const struct ctp_lock_order *)list)[number];
	const struct pair *pair = key;
	return is_same(&order->held.lock, &pair->held) && is_same(&order->taken.lock, &pair->taken);
}

static uint32_t *slot_of(const struct ctp_lock_orders *o, const struct ctp_lock *held, const struct ctp_lock *taken)
{
	const struct pair pair = {*held, *taken};
	return ctp_map_slot(&o->map, held->at * 31 + taken->at, is_pair, o->list, &pair);
}

static bool init(struct ctp_lock_orders *o)
{
	if (o->holders)
		return true;
	struct ctp_lock_holder *holders = calloc(CTP_LOCK_HOLDERS, sizeof *holders);
	struct ctp_lock_order *list = calloc(CTP_LOCK_ORDERS + 1, sizeof *list);
	if (holders && list && ctp_map_init(&o->map, CTP_LOCK_ORDERS)) {
		o->holders = holders;
		o->list = list;
		return true;
	}
	free(holders);
	free(list);
	return false;
}

void ctp_lock_orders_fini(struct ctp_lock_orders *o)
{
	if (!o->holders)
		return;
	free(o->holders);
	free(o->list);
	ctp_map_fini(&o->map);
	*o = (struct ctp_lock_orders){0};
}

void ctp_lock_orders_clear(struct ctp_lock_orders *o)
{
	if (!o->holders)
		return;
	memset(o->holders, 0, CTP_LOCK_HOLDERS * sizeof *o->holders);
	ctp_map_clear(&o->map);
	o->count = o->gaps = 0;
}

void ctp_lock_orders_gaps(struct ctp_lock_orders *o, uint32_t gaps)
{
	if (o->holders && o->gaps != gaps)
		memset(o->holders, 0, CTP_LOCK_HOLDERS * sizeof *o->holders);
	o->gaps = gaps;
}

/* The entry of a coroutine; add: or a free one; null: there is none. */
static struct ctp_lock_holder *holder_of(struct ctp_lock_orders *o, uint64_t coro, bool add)
{
	struct ctp_lock_holder *is_free = NULL;
	for (uint32_t i = 0; i < PROBES; i++) {
		struct ctp_lock_holder *h = &o->holders[(coro + i) % CTP_LOCK_HOLDERS];
		if (h->coro == coro)
			return h;
		is_free = h->coro || is_free ? is_free : h;
	}
	if (!add || !is_free)
		return NULL;
	*is_free = (struct ctp_lock_holder){.coro = coro};
	return is_free;
}

static void put_order(struct ctp_lock_orders *o, const struct ctp_lock_holder *h, uint32_t held, uint32_t spawn,
                      const struct ctp_lock_taken *taken)
{
	if (is_same(&h->list[held].lock, &taken->lock))
		return;
	uint32_t *slot = slot_of(o, &h->list[held].lock, &taken->lock);
	if (*slot || o->count == CTP_LOCK_ORDERS)
		return;
	*slot = ++o->count;
	struct ctp_lock_order *order = &o->list[*slot];
	*order = (struct ctp_lock_order){.held = h->list[held], .taken = *taken, .coro = h->coro, .spawn = spawn};
	for (uint32_t i = 0; i < h->n; i++)
		if (i != held)
			order->others[order->nothers++] = h->list[i].lock;
}

void ctp_lock_orders_take(struct ctp_lock_orders *o, uint64_t coro, uint32_t spawn, const struct ctp_lock_taken *taken)
{
	struct ctp_lock_holder *h = init(o) ? holder_of(o, coro, true) : NULL;
	if (!h)
		return;
	for (uint32_t i = 0; i < h->n; i++)
		put_order(o, h, i, spawn, taken);
	if (h->n < CTP_LOCK_HELD)
		h->list[h->n++] = *taken;
}

void ctp_lock_orders_give(struct ctp_lock_orders *o, uint64_t coro, const struct ctp_lock *lock)
{
	struct ctp_lock_holder *h = o->holders ? holder_of(o, coro, false) : NULL;
	uint32_t at = 0;
	while (h && at < h->n && !is_same(&h->list[at].lock, lock))
		at++;
	if (!h || at == h->n)
		return;
	h->n--;
	memmove(&h->list[at], &h->list[at + 1], (h->n - at) * sizeof *h->list);
	h->coro = h->n ? h->coro : 0;
}

/* Both coroutines held a third lock meanwhile, so they could not meet. */
static bool is_guarded(const struct ctp_lock_order *a, const struct ctp_lock_order *b)
{
	for (uint32_t i = 0; i < a->nothers; i++)
		for (uint32_t k = 0; k < b->nothers; k++)
			if (is_same(&a->others[i], &b->others[k]))
				return true;
	return false;
}

const struct ctp_lock_order *ctp_lock_orders_reverse(const struct ctp_lock_orders *o, const struct ctp_lock_order *order)
{
	uint32_t number = *slot_of(o, &order->taken.lock, &order->held.lock);
	const struct ctp_lock_order *other = number ? &o->list[number] : NULL;
	return other && other->coro != order->coro && !is_guarded(order, other) ? other : NULL;
}
