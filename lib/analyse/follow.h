/*
 * follow.h - follows each coroutine from state to state, from the records of a stream: whoever wants to know what coroutines
 * do, and not what the records say, listens here.
 *
 * Works from kinds and roles, so it follows what ctp-collect writes, coroTracer's own rows, and any class that says what it is.
 * Where a class names no coroutine but only a probe, a probe whose sequence begins again is another coroutine; and rows of
 * several runs in one file, which nothing else tells apart, are taken apart by a long silence with other threads behind it.
 *
 * What is missing is known: a coroutine whose numbers jump, or of which a loss is told, has a gap from the last transition in front
 * of it to the next. Nothing in a gap is running, ready or suspended, and a wake in it tells nothing. A gap is known only when it is
 * over; so a wake ends no span, and what was before and behind it is told when the next transition shows that nothing is missing.
 *
 * Memory is bounded by the coroutines that are alive: the dead are forgotten a little later.
 */
#ifndef CTP_FOLLOW_H
#define CTP_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/ended.h"
#include "analyse/places.h"
#include "analyse/proc-seen.h"
#include "analyse/threads.h"
#include "stream/record.h"
#include "symbols/sites.h"

enum {
	CTP_FOLLOW_MAX = 1 << 23,       /* coroutines at once; what is beyond is not followed, but counted */
	CTP_FOLLOW_NAME_MAX = 200,      /* bytes */
};

enum ctp_state { CTP_UNBORN, CTP_BORN, CTP_RUNNING, CTP_SUSPENDED, CTP_RUNNABLE, CTP_DEAD, CTP_STATES };

enum {
	CTP_CO_BIRTH = 1,     /* its birth is in the stream */
	CTP_CO_OURS = 2,      /* it is told of by a probe that suspends and resumes strictly in turn */
	CTP_CO_GAP = 4,       /* it has, or had, a gap */
	CTP_CO_TAIL = 8,      /* it is in one since since_ns: its state is not known, and is what it was before */
	CTP_CO_CONFLICT = 16, /* two wrote to its station */
	CTP_CO_PENDING = 32,  /* woken while it runs: once it suspends it is runnable */
	CTP_CO_RAN = 64,      /* was resumed at least once */
	CTP_CO_BEFORE = 128,  /* it was there before the trace began: what it did then is not known */
	CTP_CO_AWAITS = 256,  /* whom it will wait for was told, for the suspension that comes next */
	CTP_CO_WOKEN = 512,   /* before it was resumed the last time */
	CTP_CO_FOUND = 1024,  /* the listener's: it is in a finding */
	CTP_CO_JOINS = 2048,  /* nothing but the end of whom it awaits lets it go on */
	CTP_CO_STUCK = 4096,  /* the listener's: it waits for those who wait for it */
	CTP_CO_PARENT = 8192, /* the listener's: one that it has made is alive */
	CTP_CO_NEEDED = 16384, /* the listener's: another one waits that it used to wake */
	CTP_CO_FIRST = 32768, /* first_at is known */
};

/* Three cache lines: a transition with no wake needs the first two, and what is rare is in the third. */
struct ctp_coroutine {
	_Alignas(64) uint64_t id; /* its number in the section; where there are none, the id of its probe */
	uint64_t since_ns;     /* in this state */
	uint64_t next;         /* number or sequence of its event that is due */
	uint64_t suspended_ns; /* when it suspended last: a runnable one is that since later */
	uint64_t where;        /* as the stream gave the place of that: ~number of a site, or an address; place is the same, dense */
	uint32_t place;
	uint32_t thread;       /* where it ran last */
	uint32_t resumes, migrations;
	uint8_t state;
	uint8_t repeats;       /* of one sequence number, in rows without an index: see ctp_sequence */
	uint16_t flags;
	uint32_t habit;        /* the listener's: what it does there (habits.h) */

	union {
		struct {
			uint64_t run_ns, ready_ns, wait_ns; /* of spans that are whole, within the time that is asked for */
			uint64_t unknown_ns;                /* of gaps */
		};
		struct { /* the judge's, when the tally has those */
			struct ctp_coroutine *goal;
			uint32_t depth, visit;
			uint32_t group, why;
			struct ctp_coroutine *blames;
		};
	};
	uint64_t resumed_ns;   /* the last time */
	uint64_t waker;        /* who has woken it from where it is, 0: nobody that is known */
	uint64_t awaits;       /* the coroutine that it waits for, which was there when it began to; 0: not known */
	uint32_t spawn;        /* the place where it was made */
	uint32_t habit_was;    /* the listener's: before it ran the last time */

	uint64_t before;       /* who woke it the last time, at the place before_at */
	uint64_t born_ns, probe, parent; /* parent 0: not known */
	uint64_t code;         /* its function, 0: not known */
	char *name;            /* null: none */
	uint32_t before_at;    /* a place */
	uint32_t first_at;     /* the place where it suspended first after it had run, once CTP_CO_FIRST is set */
	uint32_t handle;       /* the listener's */
	uint32_t streak;       /* of wakes by itself */
};

/* It ran, or did so before a collector came: then there is more of it than that it was suspended when it was made. */
static inline bool ctp_has_run(const struct ctp_coroutine *co)
{
	return co->flags & CTP_CO_RAN || (co->flags & CTP_CO_BEFORE && co->next != 1);
}

enum ctp_change_kind { CTP_CHANGE_BORN, CTP_CHANGE_SUSPEND, CTP_CHANGE_RESUME, CTP_CHANGE_WAKE, CTP_CHANGE_AWAIT, CTP_CHANGE_LOST,
                       CTP_CHANGE_DIED, CTP_CHANGE_BROKEN };

/* What a broken one did. */
enum ctp_broken { CTP_BROKEN_DOUBLE_RESUME, CTP_BROKEN_AFTER_DEATH };

struct ctp_change {
	enum ctp_change_kind kind;
	uint64_t ts_ns;
	struct ctp_coroutine *co; /* as it is from here on */
	enum ctp_state was;       /* and what it was before, since was_ns, with nothing missing in between if whole */
	bool whole, gap;          /* gap: since was_ns nothing is known of it */
	uint64_t was_ns;
	uint64_t gap_ns;          /* LOST: the gap begins here, and reaches to ts_ns at least */
	uint32_t thread;          /* of a suspend, resume or wake */
	uint32_t from;            /* of a resume: the thread where it ran before; of a suspend: the place where it did so before */
	uint64_t by;              /* WAKE: who; RESUME: who ran on the thread, and runs on when this one is suspended; AWAIT: for whom; LOST: how many; BROKEN: enum ctp_broken; DIED: 1 if only another
	                             coroutine with its probe tells of that */
};

struct ctp_follow_counts {
	uint64_t events, wakes, births, deaths, coroutines, missed, untraced, late, unfollowed;
	uint64_t lost, lost_apart; /* events; those of which it is not known whose they were */
	uint64_t gaps, ring_lost;  /* of coroutines; transitions that the threads' rings have not */
	uint64_t conflicts;        /* coroutines that more than one wrote as */
	uint64_t first_ns, last_ns; /* first > last: none */
};

/* An end of what is followed: a section's, or a run's in rows without one. */
struct ctp_follow_end {
	bool complete;       /* closed by its writer, nothing missing */
	bool cut;            /* no end is in the stream: the trace ends before the program, perhaps */
	struct ctp_ended ended;
	uint64_t end_ns;     /* when the program was last seen executing; what is behind that is no time of its */
};

struct ctp_follow_ops {
	void (*section)(void *arg, const struct ctp_section *sec); /* one begins */
	void (*change)(void *arg, const struct ctp_change *ch);
	void (*end)(void *arg, const struct ctp_follow_end *end); /* all coroutines are still there to be looked at */
	/* What a thread did in that time is not known: so many transitions are missing. */
	void (*thread_gap)(void *arg, uint32_t thread, uint64_t after_ns, uint64_t ts_ns, uint64_t transitions);
};

struct ctp_follow {
	const struct ctp_follow_ops *ops;
	void *arg;
	struct ctp_sites *sites;
	struct ctp_symbols *symbols; /* the owner's, who has it learn; null: no address is known to be code */
	struct ctp_follow_counts counts;
	uint64_t since_ns, until_ns; /* the listener's, on the section's clock: only what is between counts for times */
	struct ctp_threads threads;
	struct ctp_places places;
	struct ctp_proc_seen seen;
	uint64_t unsure_ns;  /* the latest time at which something of nobody knows whom was lost; 0: never */
	uint64_t missed_ns;  /* and at which wakes and such were */
	uint64_t pid;         /* of the section; 0: it does not say */
	uint64_t attached_ns; /* the program ran already, and the trace begins here; 0: it begins with the program */
	uint64_t forgotten_ns; /* the dead that are not there any more had died by then */
	struct ctp_follow_priv *priv;
	char text[CTP_SITE_TEXT_MAX + 1]; /* of ctp_follow_text */
};

enum ctp_status ctp_follow_init(struct ctp_follow *f, const struct ctp_follow_ops *ops, void *arg, struct ctp_err *err);
void ctp_follow_fini(struct ctp_follow *f);

/* What a sink (sink.h) is given. missing: packets of the section are. */
void ctp_follow_section(struct ctp_follow *f, const struct ctp_section *sec);
void ctp_follow_records(struct ctp_follow *f, const struct ctp_batch *batch);
void ctp_follow_finish(struct ctp_follow *f, bool complete, bool missing);

/* Those that are there, also the dead that are not yet forgotten: each once, in no order; *at is 0 at first. Null: no more. */
struct ctp_coroutine *ctp_follow_each(struct ctp_follow *f, uint32_t *at);
struct ctp_coroutine *ctp_follow_find(struct ctp_follow *f, uint64_t id); /* or null */

/* At the end, adds the span that a coroutine is in to its times, and to those of its thread. To be called once. */
void ctp_follow_account(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t end_ns);

/* How long; 0 where clocks of two threads disagree and the end is before the start. */
static inline uint64_t ctp_span_ns(uint64_t from_ns, uint64_t to_ns) { return to_ns > from_ns ? to_ns - from_ns : 0; }

/* How long the program could do something in that time: it was not stopped. */
static inline uint64_t ctp_follow_ns(const struct ctp_follow *f, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = ctp_span_ns(from_ns, to_ns);
	return __builtin_expect(f->seen.nstops > 0, 0) ? ns - ctp_proc_seen_stopped_ns(&f->seen, from_ns, to_ns) : ns;
}

/* The place where it suspended last, as numbers in f->places; 0 for one that is not known, or nobody else's. */
static inline uint32_t ctp_follow_place(const struct ctp_follow *f, const struct ctp_coroutine *co)
{
	return f->places.place[co->place].shared ? co->place : 0;
}

/* Text of such a place while its section is at hand: "server.cpp:212:handle", until the next call; null: not known. */
const char *ctp_follow_text(struct ctp_follow *f, uint32_t place);

#endif
