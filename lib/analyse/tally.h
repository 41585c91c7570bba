/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tally.h - counts while coroutines are followed: how long they wait, are ready and run, by suspend place; how many are born, live
 * and die, by spawn place; how many resumes there are, by time; and the worst cases of each sort, for the rules to look at.
 */
#ifndef CTP_TALLY_H
#define CTP_TALLY_H

#include "analyse/follow.h"
#include "analyse/habits.h"
#include "analyse/machine.h"
#include "analyse/places.h"
#include "analyse/report.h"
#include "analyse/threads.h"
#include "base/hist.h"

enum {
	CTP_TALLY_PLACES = 8192,  /* places with counts of their own; the others count as number 0 */
	CTP_TALLY_WORST = 100,    /* cases of each sort that are kept */
	CTP_TALLY_SLICES = 1024,  /* parts of the time, for the number of resumes */
	CTP_TALLY_LEVELS = 64,    /* parts of the time, for the number of living coroutines */
	CTP_TALLY_STORM = 1000,   /* wakes of a coroutine by itself in a row that make a storm, */
	CTP_TALLY_STORMS = 5000,  /* and a storm that may be in a finding */
	CTP_TALLY_HISTORY = 20,   /* waits that make a history */
	CTP_TALLY_LISTS = 7,      /* sorts of cases */
	CTP_TALLY_PAIRS = 1024,   /* coroutines whose last waker is kept */
};

/* A suspend place. */
struct ctp_tally_place {
	struct ctp_hist wait, ready, run; /* suspension to wake, or else to resume; wake to resume; resume to suspension */
	uint64_t run_ns; /* the longest run, without the machine's part */
};

/* A spawn place. */
struct ctp_tally_spawn {
	uint64_t born, died, destroyed, alive; /* destroyed: died while suspended; died has these too */
	struct ctp_hist life, start; /* birth to death, without the destroyed; birth to the first resume */
	uint64_t life_ns, start_ns; /* the longest of these, without the machine's part */
	uint64_t longest_ns; /* birth to death, of all that died */
	uint64_t unstarted; /* coroutines that died and had never run */
	uint64_t low[CTP_TALLY_LEVELS]; /* the fewest alive in each level, up to level */
	uint32_t level;
	uint32_t rest, rest_votes; /* the place where most coroutines suspend first: those that live on come back there when idle */
	uint64_t movers, moves, move_resumes; /* coroutines that hardly run twice on one thread; their migrations and resumes */
};

/* A case for a rule: a long run, a wait until destruction, a late wait, a storm, a broken coroutine. */
struct ctp_tally_case {
	uint64_t id, probe, from_ns, ns, tid, waker;
	uint64_t count;   /* long run: coroutines that had to wait for it; storm: wakes */
	uint64_t late;    /* long run: coroutines that something from outside woke only after it */
	uint64_t others;  /* storm: how often other coroutines ran on its thread */
	uint64_t since_ns, others_now, others_then; /* the last storm, if not the longest; others_then: runs of others in all */
	uint64_t most_ns; /* long run: the longest that a coroutine had to wait; late wait: the longest wait that was in time */
	uint32_t spawn, place, habit;
	struct ctp_proc_seen_run seen; /* long run: samples of it */
	bool whole;
	bool elsewhere; /* long run: other threads went on meanwhile; late wait: other coroutines came back from there */
	char *name;
};

struct ctp_tally_list {
	struct ctp_tally_case *cases; /* the worst, in no order */
	uint32_t count;
};

/* A coroutine, and the one that has woken it again and again, and no other one. */
struct ctp_tally_pair {
	uint64_t coro, partner, streak, from_ns;
};

/*
 * A span that was counted: of a coroutine in the state CTP_SUSPENDED, CTP_RUNNABLE or CTP_RUNNING, at a suspend place. A run counts
 * for the place of the suspension before it.
 */
typedef void ctp_tally_span(void *arg, struct ctp_coroutine *co, enum ctp_state state, uint32_t place, uint64_t ns);

struct ctp_tally {
	struct ctp_follow *follow;
	ctp_tally_span *span; /* is told of each span in ctp_tally_change, ctp_tally_gone and ctp_tally_finish; null: nothing is */
	void *span_arg;
	uint32_t nplaces, nspawns;
	struct ctp_hist ready, run; /* of all places; filled by the finish */
	uint64_t last_resume_ns, longest_pause_ns; /* of any coroutine; between two resumes */
	uint64_t pause_ns, ready_ns, run_ns; /* the longest, without the machine's part */
	struct ctp_machine machine;
	struct ctp_tally_pair pairs[CTP_TALLY_PAIRS]; /* by coroutine; a later one may take the place of an earlier one */
	uint64_t start_ns;    /* slices and levels begin there */
	unsigned slice_bits, level_bits; /* nanoseconds of a slice and of a level, as powers of 2 */
	uint64_t slices[CTP_TALLY_SLICES];
	uint32_t nslices;     /* up to the last with a resume; filled by the finish */
	struct ctp_habits habits;
	union {
		struct {
			struct ctp_tally_list runs, destroyed, late, storms, masked, broken[2];
		};
		struct ctp_tally_list lists[CTP_TALLY_LISTS]; /* all of these */
	};
	uint64_t total_ns[CTP_HEAVY_KINDS]; /* of all coroutines; filled by the finish */
	struct ctp_report_heavy heavy[CTP_HEAVY_KINDS][CTP_REPORT_TOP];
	uint32_t nheavy[CTP_HEAVY_KINDS], heavy_spawn[CTP_HEAVY_KINDS][CTP_REPORT_TOP];
	uint32_t *last_long;  /* of each thread: number + 1 of its last run in runs; 0: none */
	bool failed;          /* out of memory */
	struct ctp_tally_place *places[CTP_PLACES_MAX]; /* by number; null: none yet; 0: of all that have none of their own */
	struct ctp_tally_spawn *spawns[CTP_PLACES_MAX];
};

struct ctp_tally *ctp_tally_new(struct ctp_follow *follow);
void ctp_tally_free(struct ctp_tally *t);
void ctp_tally_clear(struct ctp_tally *t);
void ctp_tally_change(struct ctp_tally *t, const struct ctp_change *ch);
void ctp_tally_gone(struct ctp_tally *t, const struct ctp_change *ch);
void ctp_tally_sampled(struct ctp_tally *t); /* the follower has taken a sample of a thread */

/*
 * Follows and counts the leading transitions of the standard class, with the same effect as ctp_follow_records and a listener that
 * calls ctp_tally_change. Returns how many; 0: the first record is another, or not all of the time is asked for (CTP_FOLLOW_ALL).
 */
uint32_t ctp_tally_transitions(struct ctp_tally *t, const struct ctp_record *rec, uint32_t n);

/* The end of the section: fills the levels up to the moment that is judged, and sums up the coroutines that were alive then. */
void ctp_tally_finish(struct ctp_tally *t, const struct ctp_follow_end *end);

static inline const struct ctp_tally_pair *ctp_tally_pair_of(const struct ctp_tally *t, uint64_t coro)
{
	const struct ctp_tally_pair *pair = &t->pairs[coro % CTP_TALLY_PAIRS];
	return pair->coro == coro ? pair : NULL;
}

static inline struct ctp_tally_place *ctp_tally_place(const struct ctp_tally *t, uint32_t place)
{
	return t->places[place] ? t->places[place] : t->places[0];
}

static inline struct ctp_tally_spawn *ctp_tally_spawn(const struct ctp_tally *t, uint32_t place)
{
	return t->spawns[place] ? t->spawns[place] : t->spawns[0];
}

#endif
