/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * objects-scene.h - a scene for the rules about what coroutines wait for: four resting coroutines, to which a test adds more.
 */
#ifndef CTP_T_OBJECTS_SCENE_H
#define CTP_T_OBJECTS_SCENE_H

#include "judged.h"

enum { A = 0x1000, B = 0x2000, C = 0x3000, FD = 7, AT = 300 * MS, END = 3000 };

/* Coroutines 1 to 4 have run once and are suspended where they may rest for ever. */
static inline void scene_with(const char *const *attrs)
{
	begin_with(NULL, attrs);
	for (uint64_t co = 1; co <= 4; co++) {
		is_born(&h, 1, co, MAKER + co);
		resumes(&h, 2, co, 5);
		waits_so(&h, 3, co, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		suspends(&h, 4, co, 5, 30 + co);
	}
}

static inline void scene(void) { scene_with(one_process); }

/* The coroutine runs from ts on, and suspends a microsecond later; its reasons are recorded in between. */
static inline void runs(uint64_t ts, uint64_t co)
{
	is_woken(&h, ts - 1, co, 6, 0);
	resumes(&h, ts, co, 5);
}

static inline void stops(uint64_t ts, uint64_t co) { suspends(&h, ts, co, 5, 30 + co); }

/* It waits for one thing alone, from AT on. */
static inline void waits_alone(uint64_t co, enum ctp_waits_for what, uint64_t value, uint64_t n, uint64_t marks)
{
	runs(AT - 10, co);
	waits_so(&h, AT - 5, co, what, value, n, marks);
	stops(AT, co);
}

static inline const char *over_at(uint64_t ms)
{
	is_over(&h, ms * MS, CTP_OUTCOME_RUNNING);
	return end();
}

static inline const char *over(void) { return over_at(END); }

#endif
