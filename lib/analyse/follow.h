/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * follow.h - follows each coroutine from state to state: records go in, and a listener is called for each change.
 *
 * Fields are found by kinds and roles, so the records may be ctp-collect's, coroTracer's own rows, or of any class that says what
 * it is. Where a class names only a probe, a probe whose sequence begins again is another coroutine. A file may hold rows of
 * several runs of a program with no mark between them: new threads and new coroutines alone, after a pause, are another run.
 *
 * A coroutine has a gap where the numbers of its events jump, or where a record says that events were lost. The gap reaches from
 * its last transition before the loss to the next one. In a gap the coroutine is neither running nor ready nor suspended, and a
 * wake means nothing. A gap is known only at its end. So a wake ends no span: the next transition shows whether something is
 * missing, and only then the listener gets the spans before and after the wake.
 *
 * Memory grows with the coroutines that are alive. Dead ones are forgotten a little later.
 *
 * The struct is the caller's. What it points to is the follower's, to be looked at from the listener's functions and between the
 * calls; threads, places and living coroutines stay until the next section begins. A listener may set those fields of a coroutine
 * that are called the listener's, and symbols, since_ns and until_ns of the struct. An analysis (analysis.h) has a listener that
 * uses them all.
 */
#ifndef CTP_FOLLOW_H
#define CTP_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/ended.h"
#include "analyse/proc-seen.h"
#include "base/linkage.h"
#include "stream/record.h"
#include "symbols/sites.h"

CTP_C_BEGIN

enum {
	CTP_FOLLOW_MAX = 1 << 23,       /* coroutines at once; records of others are only counted */
	CTP_FOLLOW_NAME_MAX = 200,      /* bytes */
};

enum ctp_state { CTP_UNBORN, CTP_BORN, CTP_RUNNING, CTP_SUSPENDED, CTP_RUNNABLE, CTP_DEAD, CTP_STATES };

enum {
	CTP_CO_BIRTH = 1,     /* its birth is in the stream */
	CTP_CO_OURS = 2,      /* its probe tells suspensions and resumptions strictly in turn */
	CTP_CO_GAP = 4,       /* the coroutine has, or had, a gap */
	CTP_CO_TAIL = 8,      /* a gap began at since_ns and goes on; state is the one before the gap */
	CTP_CO_CONFLICT = 16, /* its station has two writers */
	CTP_CO_PENDING = 32,  /* a wake came while the coroutine ran: its next suspension makes it runnable */
	CTP_CO_RAN = 64,      /* the coroutine was resumed at least once */
	CTP_CO_BEFORE = 128,  /* the coroutine is older than the trace: what it did before is not known */
	CTP_CO_AWAITS = 256,  /* awaits is for the suspension that comes next */
	CTP_CO_WOKEN = 512,   /* a wake came before the last resume */
	CTP_CO_JOINS = 2048,  /* only the end of the awaited coroutine lets this one go on */
	CTP_CO_FIRST = 32768, /* first_at is known; the bits that are not here are the library's own */
};

/* A transition with no wake touches the first two cache lines. */
struct ctp_coroutine {
	uint64_t id __attribute__((aligned(64))); /* its number in the section; where there are none, the id of its probe */
	uint64_t since_ns;     /* when this state began */
	uint64_t next;         /* number or sequence of the event that is due */
	uint64_t suspended_ns; /* the last suspension; of a runnable coroutine, since_ns is later */
	uint64_t where;        /* the place of that as the stream has it: ~number of a site, or an address */
	uint32_t place;        /* the same as a number, as ctp_follow_place has it */
	uint32_t thread;       /* of the last run */
	uint32_t resumes, migrations;
	uint8_t state;
	uint8_t repeats;       /* of one sequence number, in rows without an index: see ctp_sequence */
	uint16_t flags;
	uint32_t habit;        /* the listener's: what the coroutine does at place; an analysis has the number of a habit there */

	uint64_t run_ns, ready_ns, wait_ns; /* whole spans, within the time that is asked for */
	uint64_t unknown_ns;   /* gaps */
	uint64_t resumed_ns;   /* the last resume */
	uint64_t waker;        /* of the wait at place; 0: not known */
	uint64_t awaits;       /* the coroutine that this one waits for, alive when the wait began; 0: not known */
	uint32_t spawn;        /* the place where the coroutine was made */
	uint32_t habit_was;    /* the listener's; an analysis has the habit before the last run there */

	uint64_t before;       /* the last waker, at the place before_at */
	uint64_t born_ns, probe, parent; /* parent 0: not known */
	uint64_t code;         /* its function, 0: not known */
	char *name;            /* null: none */
	uint32_t before_at;
	uint32_t first_at;     /* the place of the first suspension after a run, once CTP_CO_FIRST is set */
	uint32_t handle;       /* the listener's */
	uint32_t streak;       /* of wakes by itself */
};

/* Whether the coroutine ever ran. Of one that is older than the trace, more events than its first suspension say so. */
static inline bool ctp_has_run(const struct ctp_coroutine *co)
{
	return co->flags & CTP_CO_RAN || (co->flags & CTP_CO_BEFORE && co->next != 1);
}

enum ctp_change_kind { CTP_CHANGE_BORN, CTP_CHANGE_SUSPEND, CTP_CHANGE_RESUME, CTP_CHANGE_WAKE, CTP_CHANGE_AWAIT, CTP_CHANGE_LOST,
                       CTP_CHANGE_DIED, CTP_CHANGE_BROKEN };

/* What must not happen. */
enum ctp_broken { CTP_BROKEN_DOUBLE_RESUME, CTP_BROKEN_AFTER_DEATH };

struct ctp_change {
	enum ctp_change_kind kind;
	uint64_t ts_ns;
	struct ctp_coroutine *co; /* in its new state */
	enum ctp_state was;       /* the state before, from was_ns on; whole: with nothing missing in between */
	bool whole, gap;          /* gap: from was_ns on nothing is known of the coroutine */
	uint64_t was_ns;
	/* LOST: the start of the gap, which reaches to ts_ns at least; gap: since when more is lost. DIED: when it was alive, for certain. */
	uint64_t gap_ns;
	uint32_t thread;          /* of a suspend, resume or wake */
	uint32_t from;            /* RESUME: the thread of the run before; SUSPEND: the place of the suspension before */
	/*
	 * BORN: the process; 0: not known. WAKE: the waker. RESUME: the coroutine that ran on the thread, and runs on when this one
	 * suspends. AWAIT: the awaited coroutine. LOST: how many events. BROKEN: enum ctp_broken. DIED: 1 if only the next coroutine
	 * with the same probe tells of the death.
	 */
	uint64_t by;
};

struct ctp_follow_counts {
	uint64_t events, wakes, births, deaths, coroutines, missed, untraced, late, unfollowed;
	uint64_t stayed;           /* wakes after a suspension that was no wait, because it ended by itself at once */
	uint64_t lost, lost_apart; /* events; lost_apart: those of no known coroutine */
	uint64_t gaps, ring_lost;  /* gaps: of coroutines; ring_lost: transitions that are missing in the rings of threads */
	uint64_t conflicts;        /* coroutines with CTP_CO_CONFLICT */
	uint64_t first_ns, last_ns; /* of all events; first_ns > last_ns: there are none */
};

/* Whether the stream has wakes. Wakes of coroutines that only stayed do not count: every probe in C++ writes them. */
static inline bool ctp_follow_has_wakes(const struct ctp_follow_counts *c) { return c->wakes > c->stayed; }

/* The end of a section, or of a run in rows without sections. */
struct ctp_follow_end {
	bool complete;       /* the writer closed the section, and nothing is missing */
	bool missing;        /* packets are missing */
	bool cut;            /* there is no end record: the trace may end before the program */
	struct ctp_ended ended;
	struct ctp_signalled signalled;
	uint64_t end_ns;     /* when the program was last seen executing; time after that does not count */
	uint64_t gone_ns;    /* when its end was seen, or end_ns if that is not known */
	/*
	 * A program that ends in order destroys its coroutines first. destroyed: those that were, after the last resume and the
	 * last birth, if they were many; else 0. They are dead, but not gone; ctp_follow_revive gives them the state that they had.
	 * judged_ns: the first of these deaths, or of the wakes that came with them; else end_ns.
	 */
	uint64_t destroyed, judged_ns;
};

/* Any may be null. */
struct ctp_follow_ops {
	void (*section)(void *arg, const struct ctp_section *sec); /* a section begins; null: another run of the same does */
	void (*change)(void *arg, const struct ctp_change *ch);
	void (*end)(void *arg, const struct ctp_follow_end *end); /* all coroutines are still there */
	/*
	 * A death that was reported as a change is final. A coroutine that dies while it runs is gone at once. One that is
	 * destroyed while it waits is gone when any coroutine is resumed or born after that: until then, its death may be part of
	 * the end of the program, which ctp_follow_end tells.
	 */
	void (*gone)(void *arg, const struct ctp_change *died);
	/* Transitions of a thread are missing between after_ns and ts_ns. */
	void (*thread_gap)(void *arg, uint32_t thread, uint64_t after_ns, uint64_t ts_ns, uint64_t transitions);
	/*
	 * An event that changes no state, so that a listener can show or count all events. kind is SUSPEND, RESUME or WAKE; co is
	 * null if the record has no coroutine, or there was no room for it. A transition is one of no coroutine, or one that another
	 * has overtaken, or one after a death. A wake is one of no coroutine, or came after a death, or when the coroutine was ready
	 * already; or the coroutine has been resumed since, maybe because of it.
	 */
	void (*unchanged)(void *arg, const struct ctp_change *ch);
};

struct ctp_threads;
struct ctp_places;
struct ctp_objects;

struct ctp_follow {
	const struct ctp_follow_ops *ops;
	void *arg;
	struct ctp_sites *sites;
	struct ctp_symbols *symbols; /* the caller's, who forgets and learns with them; null: no address has a file */
	struct ctp_follow_counts counts;
	uint64_t since_ns, until_ns; /* the caller's, on the section's clock: times count only between these */
	struct ctp_threads *threads; /* the library's own, and places too: ctp_follow_thread and ctp_follow_place show them */
	struct ctp_places *places;
	struct ctp_objects *objects; /* the library's own: what coroutines wait for */
	struct ctp_proc_seen seen;
	uint64_t unsure_ns;  /* the latest loss of events of no known coroutine; 0: none */
	uint64_t other_run_ns; /* from then on, rows may be of another run of the program; 0: they are not */
	uint64_t missed_ns;  /* the latest loss of wakes and such; 0: none */
	uint64_t pid;         /* of the section; 0: not known */
	bool filtered;        /* a number that is missing was left out, not lost: only records of losses say what was lost */
	uint64_t attached_ns; /* when the collector attached to a running program; 0: the trace begins with the program */
	uint64_t known_ns;    /* before that, only remnants of runs are known: attached_ns, or when what a filter has left begins */
	uint64_t forgotten_ns; /* the latest death of a coroutine that is forgotten by now */
	struct ctp_follow_priv *priv;
	char text[CTP_SITE_TEXT_MAX + 1]; /* of ctp_follow_text */
};

/* ops and arg are the caller's, and must be there until fini. Where init fails there is nothing for fini to do. */
enum ctp_status ctp_follow_init(struct ctp_follow *f, const struct ctp_follow_ops *ops, void *arg, struct ctp_err *err);
void ctp_follow_fini(struct ctp_follow *f);

/* What a sink (sink.h) is given, in this order; a batch is not needed afterwards. */
void ctp_follow_section(struct ctp_follow *f, const struct ctp_section *sec);
void ctp_follow_records(struct ctp_follow *f, const struct ctp_batch *batch);
void ctp_follow_finish(struct ctp_follow *f, const struct ctp_section_end *how);

/* The next coroutine, in no order, dead ones too until they are forgotten. *at is 0 at first. Null: no more. */
struct ctp_coroutine *ctp_follow_each(struct ctp_follow *f, uint32_t *at);
struct ctp_coroutine *ctp_follow_find(struct ctp_follow *f, uint64_t id); /* or null */

/*
 * For the listener's end function: gives the coroutines that end.destroyed counts the state that they were destroyed in; or back.
 */
void ctp_follow_revive(struct ctp_follow *f, bool alive);

/* Adds the span that ends with the section to the times of a coroutine, and of its thread. To be called once. */
void ctp_follow_account(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t end_ns);

/* The length of a span; 0 where the clocks of two threads disagree, and the end is before the start. */
static inline uint64_t ctp_span_ns(uint64_t from_ns, uint64_t to_ns) { return to_ns > from_ns ? to_ns - from_ns : 0; }

/* The length of a span, without the time in which the process was stopped. */
static inline uint64_t ctp_follow_ns(const struct ctp_follow *f, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = ctp_span_ns(from_ns, to_ns);
	return __builtin_expect(f->seen.nstops > 0, 0) ? ns - ctp_proc_seen_stopped_ns(&f->seen, from_ns, to_ns) : ns;
}

/* Since when a coroutine waits that is suspended or runnable: its last suspension; it may have been woken before it ever ran. */
static inline uint64_t ctp_coroutine_waits_since(const struct ctp_coroutine *co)
{
	return co->suspended_ns ? co->suspended_ns : co->since_ns;
}

/* How many numbers threads have, and one of them. Number 0 is for records without a thread. */
struct ctp_follow_thread {
	uint64_t tid, pid, resumes;
	char name[32]; /* "": not known */
};
uint32_t ctp_follow_threads(const struct ctp_follow *f);
struct ctp_follow_thread ctp_follow_thread(const struct ctp_follow *f, uint32_t thread);

/* The place of the last suspension, as a number below ctp_follow_places; 0: not known, or no place in the source. */
uint32_t ctp_follow_place(const struct ctp_follow *f, const struct ctp_coroutine *co);
uint32_t ctp_follow_places(const struct ctp_follow *f);

/*
 * The text of such a place, "server.cpp:212:handle", good until the next call; "site 31" or an address if the text is not known.
 * Null: place 0, or one that stands for all places beyond a limit. To be called before the section is over.
 */
const char *ctp_follow_text(struct ctp_follow *f, uint32_t place);

CTP_C_END

#endif
