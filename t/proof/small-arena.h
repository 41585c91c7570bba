/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * small-arena.h - shared memory with few of everything, and the probe of ctp.h attached to it, for the worlds that need more than a
 * station.
 */
#ifndef CTP_SMALL_ARENA_H
#define CTP_SMALL_ARENA_H

#include "shm/arena.h"

enum { SMALL_ARENA_BYTES = 22 << 16, SMALL_STATIONS = 4, SMALL_RINGS = 3, SMALL_RING_BITS = 4 };

/* Once: its bytes are shared, and so is what the probe's threads share. */
void small_arena_share(void);

/* Anew, for a run: rings of 2^ring_bits entries, so many stations and rings; opened by a collector with this mode. */
void small_arena_open(struct ctp_arena *a, uint32_t stations, uint32_t rings, uint32_t ring_bits, uint32_t mode);

extern unsigned char small_arena[SMALL_ARENA_BYTES];
size_t small_arena_bytes(void);

#endif
