/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * view-parts.h - between view-memory.c, which has histories and views, and view-threads.c, which has threads and choices.
 */
#ifndef CTP_VIEW_PARTS_H
#define CTP_VIEW_PARTS_H

#include "view-machine.h"

/* n: the timestamps that are kept; those of further locations are 0. */
struct view {
	uint32_t n;
	uint32_t clock[VIEW_THREADS]; /* of happens-before */
	uint32_t at[VIEW_LOCATIONS];
};

/* The views of a thread. rel is never changed but replaced, as the view of a message is: they can be shared. */
struct view_three {
	struct view cur, acq;
	const struct view *rel; /* null: nothing */
};

enum { VIEW_LOCKS = 8 };

/* --- of the memory -------------------------------------------------------------------------------------------------------- */

void view_memory_share(const char *name, void *at, size_t bytes);
void view_memory_begin(void); /* of a run */
void view_memory_end(void);   /* all bytes are as they were at its beginning */
void view_memory_settle(struct view_three *v); /* takes in a plain store that the thread has done since its last step */
void view_clear(struct view *v);
void view_join(struct view *to, const struct view *from);
const struct view *view_copy(const struct view *v); /* lives as long as the run */

/* The number of a location, and how many messages it has. Their timestamps are multiples of VIEW_SPACING, if none came early. */
enum { VIEW_SPACING = 256 };
uint32_t view_location(const volatile void *at, unsigned bytes);
uint32_t view_messages(uint32_t location);

/* Of view-locks.c: no mutex is locked. */
void view_locks_begin(void);

/* A seq_cst fence of a thread. */
void view_fence_full(struct view_three *v);

/* --- of the threads ------------------------------------------------------------------------------------------------------- */

/* Before each step: takes in what the thread has done, and lets any thread go on. Returns the views of the one that calls. */
struct view_three *view_step(void);
uint32_t view_turn(void);      /* of the thread that calls: the number of its step, for happens-before */
unsigned view_pick(unsigned n); /* one of n messages, 0: the newest */
bool view_early(void); /* whether a store may come before one that is there, in the order of modification */
void view_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* if there is a trace */
void view_all_fences(bool all); /* asks for a fence in each thread, and waits for them */

#endif
