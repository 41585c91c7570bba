/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * rings.h - the entries that the threads of the target have written to their rings, taken in slices of time.
 *
 * A slice is the entries of all rings up to a moment: an entry that another one caused comes in no earlier slice than that. A
 * slice has at most about CTP_RINGS_SLICE entries, however many there are.
 *
 *	ctp_rings_look(r);
 *	while (ctp_rings_slice(r))
 *		while ((n = ctp_rings_take(r, &ring, entries)))
 *			...
 *	ctp_rings_finish(r);
 */
#ifndef CTP_RINGS_H
#define CTP_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/arena.h"
#include "shm/rawclock.h"

enum { CTP_RINGS_CHUNK = 64, CTP_RINGS_SLICE = 4096 };

/* An entry of a ring, by value, its time made into ns: not before the one before it, and not in the future. */
struct ctp_ring_entry {
	uint64_t ts_ns, value, ref, what;
};

/* Numbers of a ring that no entry has: from, and all after it that are before to. */
struct ctp_skip {
	uint64_t from, to;
};

/* What the collector remembers of a ring. */
struct ctp_ring {
	uint64_t owner;   /* pid << 32 | tid of the thread that wrote the entry which was taken last */
	uint64_t former;  /* the owner before, until the first entry of this one is taken; 0: none, or that is over */
	uint64_t tail;    /* the next to be taken */
	uint64_t told;    /* tail as the writer sees it */
	uint64_t head;    /* as seen by this look */
	uint64_t due;     /* head as seen by the look before: entries up to here are taken whatever their times are */
	uint64_t round;   /* head when the round began */
	uint64_t last_ns; /* time of the last that was taken */
	uint64_t lost_events, lost_notes; /* the writer's counts, as seen by this look */
	uint64_t events_before, notes_before; /* lost before we came, which a CTP_ENTRY_GAP will still report */
	uint64_t told_events, told_notes;     /* told by CTP_ENTRY_GAP */
	uint64_t gap_events, gap_notes, gap_ns, gap_tid; /* of the last of these, until the entry after it is taken */
	uint64_t lost_before;                 /* of the events: before we came */
	struct ctp_skip skips[2]; /* that are still to come, as seen by this look; from and to are equal: none */
	struct ctp_skip skipped;  /* the last that was passed */
	bool known, raw;
	uint16_t share;   /* entries that this slice may still take of it */
};

struct ctp_rings {
	struct ctp_arena arena;
	struct ctp_rawclock clock;
	struct ctp_ring *rings; /* max_rings of them, of which used are in use */
	uint32_t used;
	uint64_t now_ns;     /* when this look began */
	uint64_t horizon_ns; /* the slice has what happened up to here */
	uint64_t rounds;     /* over so far: in a round, all entries are taken that were there when it began */
	uint64_t left;       /* entries that a look has left in the rings */
	uint64_t lost;       /* sum of both counts of all rings */
	unsigned fill;       /* of the fullest, of 256 */
	uint32_t busy;       /* rings that the slice may have entries of */

	/* rings.c's own */
	uint64_t now_raw;    /* now_ns, as the counter has it */
	const struct ctp_rawline *line; /* that the entry which was taken last is on, or one near it */
	uint32_t at;         /* the ring that is taken from */
	bool all, took, in_round;
};

/* Finds the annex in the memory; CTP_EOF: there is none. */
enum ctp_status ctp_rings_init(struct ctp_rings *r, void *shm, size_t bytes, struct ctp_err *err);
void ctp_rings_fini(struct ctp_rings *r);

/*
 * Loads the head of each ring. all: entries that are newer than the look are taken too, for it is the last one. Returns how
 * many there are.
 */
uint64_t ctp_rings_look(struct ctp_rings *r, bool all);

/* The next slice; false: there is no more in this look. A look may end before. */
bool ctp_rings_slice(struct ctp_rings *r);

/*
 * Up to CTP_RINGS_CHUNK entries of one ring and one owner, oldest first; CTP_ENTRY_THREAD is not among them. 0: the slice is
 * over.
 */
unsigned ctp_rings_take(struct ctp_rings *r, struct ctp_ring **ring, struct ctp_ring_entry *out);

/* Entries that the look has seen, and that are not taken yet. */
static inline uint64_t ctp_ring_count(const struct ctp_ring *ring)
{
	return ring->head - ring->tail - (ring->skips[0].to - ring->skips[0].from) - (ring->skips[1].to - ring->skips[1].from);
}

/* The number of the entry that came so many before the next to be taken. */
static inline uint64_t ctp_ring_back(const struct ctp_ring *ring, uint64_t back)
{
	uint64_t number = ring->tail - back;
	return (int64_t)(number - ring->skipped.to) < 0 ? number - (ring->skipped.to - ring->skipped.from) : number;
}

/* The look is over: says what it has left, and whether that was a round. */
void ctp_rings_finish(struct ctp_rings *r);

/*
 * The ns of a station's time, which is the counter's where raw is true; never later than the look. And whether the time was
 * later.
 */
uint64_t ctp_rings_ns(const struct ctp_rings *r, uint64_t ts, bool raw);
static inline bool ctp_rings_newer(const struct ctp_rings *r, uint64_t ts, bool raw)
{
	return raw && r->arena.clock == CTP_CLOCK_RAW ? (int64_t)(ts - r->now_raw) > 0 : ts > r->now_ns;
}

#endif
