/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * gives.h - coroutines that gave something back while others waited for it, and woke none of these.
 *
 * A coroutine that releases a lock, gives a permit back or puts an item into a queue should wake a waiter, unless one that was woken
 * before is still on its way. Whether it did is known when it is suspended next, or ends: until then the give is open. It is in
 * order if a waiter was woken meanwhile, or another coroutine has taken what was given. Else it is missed. A later wake that
 * belongs to no open give mends the oldest missed one: in some programs an event loop wakes the waiters. When nobody waits any more,
 * all are mended, and also when a plain thread takes some: it may have waited, too, and been woken. The last ones that were are kept,
 * because a program that ends in order may wake all that wait.
 *
 * An end of an object is what its waiters want: a queue has one for items and one for room.
 */
#ifndef CTP_GIVES_H
#define CTP_GIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

enum {
	CTP_GIVES_ENDS = 1 << 16, /* ends at once; gives at others are not judged */
	CTP_GIVES_OPEN = 64,      /* further gives are not judged */
	CTP_GIVES_MISSED = 256,   /* further missed ones are not kept */
	CTP_GIVES_MENDED = 64,    /* the last that are no longer missed */
	CTP_GIVES_COMING = 4,     /* coroutines that were woken last, of one end */
};

struct ctp_give {
	uint64_t coro;
	uint64_t ts_ns;
	uint64_t count;  /* how much; 0: not known */
	uint64_t next;   /* the giver's next event at that time */
	uint32_t end;    /* a number of ctp_gives.ends */
	uint32_t waiters; /* how many waited then */
	uint32_t gap;    /* ctp_objects.gaps at that time */
	uint8_t what;    /* enum ctp_waits_for */
	uint64_t mended_ns; /* when a wake came all the same; 0: none has */
};

struct ctp_give_end {
	uint64_t pid, at;
	bool room;        /* it is that of a queue's room */
	uint32_t waiters; /* not yet woken; if there are none, the number may be given to another end */
	uint32_t nmissed; /* gives in ctp_gives.missed */
	uint64_t most;    /* the most that one of them wants, or of those before since there were none */
	struct ctp_give_coming {
		uint64_t coro, until; /* it is on its way as long as its next event is before this one */
	} coming[CTP_GIVES_COMING];
	uint32_t ncoming; /* so far */
	uint32_t next_free;
};

struct ctp_gives {
	struct ctp_give_end *ends; /* numbers from 1 on */
	uint32_t count, free; /* free: the first of a list, through next_free; 0: none */
	size_t room;
	struct ctp_map map;
	struct ctp_give open[CTP_GIVES_OPEN], missed[CTP_GIVES_MISSED], mended[CTP_GIVES_MENDED]; /* by time, but for the last */
	uint32_t nopen, nmissed, nmended; /* nmended: in all; it is a ring */
	uint64_t ncoming; /* coroutines that were woken, in all */
};

bool ctp_gives_init(struct ctp_gives *g); /* false: out of memory */
void ctp_gives_fini(struct ctp_gives *g);
void ctp_gives_clear(struct ctp_gives *g);

/* A coroutine begins to wait for that much. Returns the number of the end; 0: there is no room, and it is not counted. */
uint32_t ctp_gives_wait(struct ctp_gives *g, uint64_t pid, uint64_t at, bool room, uint64_t wants);
void ctp_gives_leave(struct ctp_gives *g, uint32_t end, uint64_t ts_ns); /* that wait is over */

/* The number of an end for which coroutines have waited; 0: not known. */
uint32_t ctp_gives_find(const struct ctp_gives *g, uint64_t pid, uint64_t at, bool room);

/* A waiter was woken, by that coroutine or by none (0). until: as in ctp_give_coming. */
void ctp_gives_woken(struct ctp_gives *g, uint32_t end, uint64_t coro, uint64_t until, uint64_t by, bool by_timer, uint64_t ts_ns);

/* A coroutine has taken some: if it was on its way, it has come. */
void ctp_gives_came(struct ctp_gives *g, uint32_t end, uint64_t coro);

/* A thread without a coroutine has taken some. */
void ctp_gives_taken(struct ctp_gives *g, uint32_t end, uint64_t ts_ns);

/* Something was given. A second give of the same coroutine since its last event is a part of the first. */
void ctp_gives_give(struct ctp_gives *g, const struct ctp_give *give);

/* Removes open give number i, as missed or not. */
void ctp_gives_close(struct ctp_gives *g, uint32_t i, bool missed);

#endif
