/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * world.h - a world: some threads that run the real code against each other, and what must hold whatever they do.
 */
#ifndef CTP_WORLD_H
#define CTP_WORLD_H

#include <stdint.h>

struct world {
	const char *name;
	const char *const *dialects; /* to null: each is a world of its own */
	void (*init)(void);          /* once */
	void (*begin)(unsigned dialect); /* of each run: spawns its threads */
	void (*after)(void);         /* may be null */
	uint64_t (*found)(void);     /* how often there was something to judge: a world that never judges proves nothing */
};

extern const struct world world_slots, world_arena, world_rings, world_station, world_scan, world_wakeup, world_reuse, world_moved,
	world_attach, world_objects;

/* The words of event k, so that a mixed payload is noticed. */
static inline uint64_t world_word(uint64_t k, unsigned which) { return (k * 8 + which + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 1; }

#endif
