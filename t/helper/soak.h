/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * soak.h - the account that t/helper/soak-target.c keeps of itself, in a file that can be read after a kill -9: t/helper/soak-count.c compares it
 * with a stream, t/helper/soakprogram.py has the same layout.
 *
 * A slot has many coroutines ("lives") in succession. Its position is a word: the number of the life, and of the next event of
 * that life. `began` is stored before a probe is called, `done` when it has returned. The id of a life says how many events it
 * will have, so that the account of a whole life needs no record.
 */
#ifndef CTP_T_SOAK_H
#define CTP_T_SOAK_H

#include <stdbool.h>
#include <stdint.h>

#define SOAK_MAGIC UINT64_C(0x31304b414f53)

enum { SOAK_BLOCKS = 9, SOAK_SLOTS = 32, SOAK_CHILD = SOAK_BLOCKS - 1 }; /* the last block is that of the children of forks */
enum { SOAK_RUN, SOAK_PAUSE, SOAK_END }; /* requests of the driver */
enum { SOAK_BIRTHS, SOAK_DEATHS, SOAK_WAKES, SOAK_AWAITS, SOAK_NAMES, SOAK_KINDS };

struct soak_slot {
	uint64_t began, done; /* life << 32 | event */
	uint64_t unrecorded;  /* events of lives that had no station */
};

struct soak_block {
	uint64_t rests; /* 1: its thread has seen the request to pause, or there is none */
	uint64_t began[SOAK_KINDS], done[SOAK_KINDS];
	struct soak_slot slots[SOAK_SLOTS];
};

struct soak_account {
	uint64_t magic, want, driver, pid; /* the first three are the driver's; driver: its pid */
	uint64_t threads, forks;           /* ended so far */
	struct soak_block blocks[SOAK_BLOCKS];
};

/* Where a life is: the block is counted from 1, so that no id is 0. */
static inline uint64_t soak_id(unsigned block, unsigned slot, uint64_t life)
{
	return (uint64_t)(block + 1) << 48 | (uint64_t)slot << 40 | (life & 0xffffffff);
}

static inline uint64_t soak_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Events of that life: an even number of them, a suspension first. Some lives end at once. */
static inline uint64_t soak_events(uint64_t id)
{
	uint64_t dice = soak_mix(id);
	return dice % 16 ? 2 * (1 + dice / 16 % 300) : 0;
}

static inline uint64_t soak_word(uint64_t life, uint64_t event) { return life << 32 | event; }
static inline uint64_t soak_life(uint64_t word) { return word >> 32; }
static inline uint64_t soak_event(uint64_t word) { return word & 0xffffffff; }

#endif
