/*
 * tally.h - what is counted while coroutines are followed: how long they wait, are ready and run, by place; how many are made,
 * live and die, by where they are made; how much happens, by time; and the worst of each sort, for judge.c to look at.
 */
#ifndef CTP_TALLY_H
#define CTP_TALLY_H

#include "analyse/follow.h"
#include "analyse/habits.h"
#include "analyse/report.h"
#include "base/hist.h"

enum {
	CTP_TALLY_PLACES = 8192,  /* with times of their own; the others count as not known */
	CTP_TALLY_WORST = 100,    /* of each sort that are kept */
	CTP_TALLY_SLICES = 1024,  /* of time, for what happens */
	CTP_TALLY_LEVELS = 64,    /* of time, for how many are alive */
	CTP_TALLY_STORM = 1000,   /* wakes by itself in a row, from which on they are looked at, */
	CTP_TALLY_STORMS = 5000,  /* and from which on they may be told of */
	CTP_TALLY_HISTORY = 20,   /* waits that make a history */
};

/* Of a place where coroutines suspend. */
struct ctp_tally_place {
	struct ctp_hist wait, ready, run; /* until woken, or else resumed; until resumed; from there on until they suspend */
};

/* Of a place where coroutines are made. */
struct ctp_tally_spawn {
	uint64_t born, died, destroyed, alive; /* destroyed: died while suspended; they are in died too */
	struct ctp_hist life, start; /* from birth to death, of those that ended by themselves; to the first resume */
	uint64_t longest_ns; /* from birth to death, of whoever died */
	uint64_t unstarted; /* that died and had never run */
	uint64_t low[CTP_TALLY_LEVELS]; /* fewest alive in each level of time up to the last that was looked at */
	uint32_t level;
	uint32_t rest, rest_votes; /* where most of them suspend first: those that live on come back there when nothing is to be done */
	uint64_t movers, moves, move_resumes; /* those that hardly ever run twice on the same thread */
};

/* One that may have to be told of: a long run, a wait until destruction or that ended far too late, a storm, a broken one. */
struct ctp_tally_case {
	uint64_t id, probe, from_ns, ns, tid, waker;
	uint64_t count;   /* others that had to wait for it; wakes by itself */
	uint64_t late;    /* others that something from outside woke only when it was over */
	uint64_t others;  /* of a storm: how often others ran on its thread */
	uint64_t since_ns, others_now, others_then; /* of the last storm, which need not be the longest: others_then is how often in all */
	uint64_t most_ns; /* the longest that one of them had to; of a late wait: the longest that was in time */
	uint32_t spawn, place, habit;
	struct ctp_proc_seen_run seen; /* of a run: what samples told */
	bool whole, elsewhere; /* elsewhere: other threads went on meanwhile; of a late wait: others came back from there */
	char *name;
};

struct ctp_tally_list {
	struct ctp_tally_case *cases; /* the worst, in no order */
	uint32_t count;
};

struct ctp_tally {
	struct ctp_follow *follow;
	uint32_t nplaces, nspawns;
	struct ctp_hist ready, run; /* of all places, from the finish on */
	uint64_t last_resume_ns, longest_pause_ns; /* of all; between two of them */
	uint64_t start_ns;    /* of what happens; slices and levels begin there */
	unsigned slice_bits, level_bits; /* nanoseconds of a slice and of a level, as powers of 2 */
	uint64_t slices[CTP_TALLY_SLICES];
	uint32_t nslices;     /* up to the last in which something happened, from the finish on */
	struct ctp_habits habits;
	struct ctp_tally_list runs, destroyed, late, storms, broken[2];
	uint64_t total_ns[CTP_HEAVY_KINDS]; /* of all coroutines, from the finish on */
	struct ctp_report_heavy heavy[CTP_HEAVY_KINDS][CTP_REPORT_TOP];
	uint32_t nheavy[CTP_HEAVY_KINDS], heavy_spawn[CTP_HEAVY_KINDS][CTP_REPORT_TOP];
	uint32_t *last_long;  /* of each thread: number + 1 of the run in runs that ended there last */
	bool failed;          /* out of memory */
	struct ctp_tally_place *places[CTP_PLACES_MAX]; /* null: none yet; 0 is for all that have none of their own */
	struct ctp_tally_spawn *spawns[CTP_PLACES_MAX];
};

struct ctp_tally *ctp_tally_new(struct ctp_follow *follow);
void ctp_tally_free(struct ctp_tally *t);
void ctp_tally_clear(struct ctp_tally *t);
void ctp_tally_change(struct ctp_tally *t, const struct ctp_change *ch);

/*
 * Follows and counts usual transitions at once, as ctp_follow_records would with a listener that calls ctp_tally_change. Returns how many
 * of the n records these are, up to the first that is another; 0 if the first is, or if it matters what part of the time is asked for. The
 * records are in time order.
 */
uint32_t ctp_tally_transitions(struct ctp_tally *t, const struct ctp_record *rec, uint32_t n);

/* At the end: levels are filled up to there, and the living are among the heavy. */
void ctp_tally_finish(struct ctp_tally *t, uint64_t end_ns);

static inline struct ctp_tally_place *ctp_tally_place(const struct ctp_tally *t, uint32_t place)
{
	return t->places[place] ? t->places[place] : t->places[0];
}

static inline struct ctp_tally_spawn *ctp_tally_spawn(const struct ctp_tally *t, uint32_t place)
{
	return t->spawns[place] ? t->spawns[place] : t->spawns[0];
}

#endif
