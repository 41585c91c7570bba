/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * habits.h - a habit is what the coroutines of one spawn place do at one suspend place: how long they wait there, how a wait ends,
 * and which coroutines end it.
 *
 * A program may have one suspend place for everything, a park() say. The spawn place tells its sorts of coroutines apart.
 */
#ifndef CTP_HABITS_H
#define CTP_HABITS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

enum {
	CTP_HABITS_MAX = 8192,   /* the others count as number 0, from which nothing is concluded */
	CTP_HABIT_WAKERS = 8,    /* wakers that a habit keeps */
	CTP_HABIT_BACK = 16,     /* the last waits that ended */
	CTP_HABIT_DIFFERENT = 3, /* coroutines that make a history */
};

struct ctp_habit {
	uint32_t spawn, place;
	uint64_t waits, total_ns; /* waits that ended */
	uint64_t max_ns, gross_ns; /* the longest, without those that count as late; and max_ns without the machine's part */
	uint64_t woken;  /* waits that a recorded wake ended */
	uint64_t inside; /* waits that another coroutine ended */
	uint64_t self;   /* waits that the waiting coroutine ended itself, in none of the other numbers: it only gave way */
	uint64_t yields; /* suspensions that were no wait at all: the coroutine had woken itself before */
	uint64_t nested; /* waits that ended with no wake, by a resume from within a running coroutine, as a generator is called */
	uint64_t who[CTP_HABIT_DIFFERENT]; /* coroutines that came back */
	uint64_t wakers[CTP_HABIT_WAKERS]; /* coroutines that woke them, */
	uint64_t ended[CTP_HABIT_WAKERS];  /* how many waits each of these ended, as long as more_wakers is not set, */
	uint32_t from[CTP_HABIT_WAKERS];   /* and the habits that these wakers came from */
	uint8_t different, nwakers, nfrom;
	uint32_t asked, children;          /* wakes whose waker was looked at; of these, wakes by a child of the woken coroutine */
	bool more_wakers, more_from;       /* the arrays above had no room for some */
	struct {
		uint64_t id, from_ns;      /* the coroutine, and when its wait began */
	} back[CTP_HABIT_BACK];
	uint32_t nback; /* where the next goes, modulo CTP_HABIT_BACK; the array is full from that number on */
	/* The judge's, at the end of the section: */
	uint32_t here, stuck;              /* living coroutines that suspended there last; the stuck ones among them */
	uint64_t longest_ns;
};

struct ctp_habits {
	struct ctp_habit *list; /* by number; number 0 stands for all that have none */
	uint32_t count;
	struct ctp_map map;
};

bool ctp_habits_init(struct ctp_habits *h); /* false: out of memory */
void ctp_habits_fini(struct ctp_habits *h);
void ctp_habits_clear(struct ctp_habits *h);
uint32_t ctp_habits_number(struct ctp_habits *h, uint32_t spawn, uint32_t place); /* 0: the table is full */

static inline bool ctp_habits_is(const struct ctp_habits *h, uint32_t number, uint32_t spawn, uint32_t place)
{
	return number && h->list[number].spawn == spawn && h->list[number].place == place;
}

/* Keeps a coroutine that came back, or a waker, unless the habit has it already. */
void ctp_habit_came_back(struct ctp_habit *habit, uint64_t id);
void ctp_habit_woken_by(struct ctp_habit *habit, uint64_t waker);

/* A wait that began at from_ns has ended, after ns; max_ns is the caller's. waker 0: not known. */
static inline void ctp_habit_waited(struct ctp_habit *habit, uint64_t id, uint64_t from_ns, uint64_t ns, bool woken, uint64_t waker)
{
	assert(woken || !waker);
	habit->waits++;
	habit->total_ns += ns;
	habit->gross_ns = ns > habit->gross_ns ? ns : habit->gross_ns;
	habit->woken += woken;
	if (waker) {
		habit->inside++;
		if (!habit->more_wakers)
			ctp_habit_woken_by(habit, waker);
	}
	if (__builtin_expect(habit->different < CTP_HABIT_DIFFERENT, 0))
		ctp_habit_came_back(habit, id);
	bool same = habit->nback && habit->back[(habit->nback - 1) % CTP_HABIT_BACK].id == id;
	uint32_t n = same ? habit->nback - 1 : habit->nback;
	habit->back[n % CTP_HABIT_BACK].id = id;
	habit->back[n % CTP_HABIT_BACK].from_ns = from_ns;
	habit->nback = n + 1 < 2 * CTP_HABIT_BACK ? n + 1 : n + 1 - CTP_HABIT_BACK;
}

void ctp_habit_woken_from(struct ctp_habit *habit, uint32_t from);

/*
 * Whether the last CTP_HABIT_BACK waits that ended all began after from_ns, and are of CTP_HABIT_DIFFERENT coroutines. partial:
 * fewer than CTP_HABIT_BACK waits may be known, and those that began earlier do not count.
 */
bool ctp_habit_overtook(const struct ctp_habit *habit, uint64_t from_ns, bool partial);

#endif
