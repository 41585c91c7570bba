/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mixrecord.h - an event of `mix` as a record of the class that ctp-collect writes. */
#ifndef CTP_BENCH_MIXRECORD_H
#define CTP_BENCH_MIXRECORD_H

#include "mix.h"
#include "stream/events.h"

enum { MIX_SITES = 16 }; /* places where coroutines are suspended, from 1 on */

static inline void mix_record(const struct mix_event *e, uint64_t val[static CTP_TRANSITION_FIELDS])
{
	val[CTP_TRANSITION_PROBE] = e->addr - 32;
	val[CTP_TRANSITION_TID] = e->tid;
	val[CTP_TRANSITION_ADDR] = e->addr;
	val[CTP_TRANSITION_SEQ] = 2 * (uint64_t)(e->index / 8 + 1);
	val[CTP_TRANSITION_ACTIVE] = e->active;
	val[CTP_TRANSITION_TS] = e->ts;
	val[CTP_TRANSITION_CORO] = e->coro + 1;
	val[CTP_TRANSITION_INDEX] = e->index;
	val[CTP_TRANSITION_SITE] = e->active ? 0 : 1 + e->coro % MIX_SITES;
}

#endif
