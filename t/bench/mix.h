/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mix.h - the workload `mix`, the same wherever it is measured: coroutines chosen at random, resumed and suspended in turn.
 *
 * A resume picks one of the threads at random; the suspend that follows runs on the same thread, as it must. The gaps between
 * events are exponential. The numbers depend on nothing but the seed.
 */
#ifndef CTP_BENCH_MIX_H
#define CTP_BENCH_MIX_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { MIX_COROS = 1000, MIX_THREADS = 4, MIX_GAP_NS = 1000, MIX_EVENTS = 10000000 };

struct mix_event {
	uint32_t coro;  /* from 0 */
	uint32_t index; /* of the event among those of its coroutine, from 0 */
	uint64_t ts, tid, addr;
	bool active;
};

struct mix {
	uint64_t rng, ts;
	struct {
		uint32_t events;
		uint64_t tid;
	} coro[MIX_COROS];
};

/* xorshift64*: good enough to be incompressible, and a nanosecond. */
static inline uint64_t mix_random(struct mix *m)
{
	m->rng ^= m->rng >> 12;
	m->rng ^= m->rng << 25;
	m->rng ^= m->rng >> 27;
	return m->rng * UINT64_C(2685821657736338717);
}

static inline void mix_init(struct mix *m)
{
	*m = (struct mix){ .rng = UINT64_C(0x9e3779b97f4a7c15), .ts = UINT64_C(3600) * 1000000000 };
}

static inline uint64_t mix_addr(uint32_t coro) { return UINT64_C(0x0000ffff8c000b60) + (uint64_t)coro * 1264; }

/* All but the time, for a writer that has a clock. */
static inline struct mix_event mix_step(struct mix *m)
{
	uint64_t r = mix_random(m);
	uint32_t coro = (uint32_t)((r >> 32) * MIX_COROS >> 32);
	uint32_t index = m->coro[coro].events++;
	bool active = index % 2 == 0;
	if (active)
		m->coro[coro].tid = 41200 + r % MIX_THREADS;
	return (struct mix_event){ .coro = coro, .index = index, .tid = m->coro[coro].tid, .addr = mix_addr(coro),
	                           .active = active };
}

static inline struct mix_event mix_next(struct mix *m)
{
	struct mix_event e = mix_step(m);
	double u = (double)((mix_random(m) >> 11) + 1) * 0x1p-53;
	m->ts += (uint64_t)(-log(u) * MIX_GAP_NS);
	e.ts = m->ts;
	return e;
}

#endif
