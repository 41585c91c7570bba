/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * lock-order.h - which locks were taken while others were held. Two locks that were taken in both orders can be the two halves of a
 * deadlock, whether there was one in this run or not.
 */
#ifndef CTP_LOCK_ORDER_H
#define CTP_LOCK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

enum {
	CTP_LOCK_HELD = 8,       /* locks of one coroutine at once; no more are followed */
	CTP_LOCK_HOLDERS = 4096, /* coroutines that hold one at once, likewise */
	CTP_LOCK_ORDERS = 4096,  /* pairs of locks, likewise */
};

/* A lock by its process, its address, and when it was made: an address may become another lock's. */
struct ctp_lock {
	uint64_t pid, at, made_ns;
};

struct ctp_lock_taken {
	struct ctp_lock lock;
	uint64_t ts_ns;
	uint32_t place; /* where that was; or else where the coroutine suspended last: it may have waited for the lock there */
	bool exact;     /* place is the first of these */
};

/* The first time that one was taken while the other was held. */
struct ctp_lock_order {
	struct ctp_lock_taken held, taken;
	uint64_t coro;
	uint32_t spawn;
	uint32_t nothers;
	struct ctp_lock others[CTP_LOCK_HELD]; /* that the coroutine held, too */
};

struct ctp_lock_holder {
	uint64_t coro; /* 0: the entry is free */
	uint32_t n;
	struct ctp_lock_taken list[CTP_LOCK_HELD];
};

struct ctp_lock_orders {
	struct ctp_lock_holder *holders; /* a hash table; null: there was no lock yet */
	struct ctp_lock_order *list;     /* numbers from 1 on */
	uint32_t count;
	struct ctp_map map;
	uint32_t gaps; /* how often records were missing before the last one */
};

void ctp_lock_orders_fini(struct ctp_lock_orders *o);
void ctp_lock_orders_clear(struct ctp_lock_orders *o);

/* A coroutine has taken a lock, or given it back. */
void ctp_lock_orders_take(struct ctp_lock_orders *o, uint64_t coro, uint32_t spawn, const struct ctp_lock_taken *taken);
void ctp_lock_orders_give(struct ctp_lock_orders *o, uint64_t coro, const struct ctp_lock *lock);

/* Records are missing, for this many times so far: what is held is not known any more. */
void ctp_lock_orders_gaps(struct ctp_lock_orders *o, uint32_t gaps);

/* The same two locks in the other order, taken so by another coroutine, if no third lock kept the two apart; or null. */
const struct ctp_lock_order *ctp_lock_orders_reverse(const struct ctp_lock_orders *o, const struct ctp_lock_order *order);

#endif
