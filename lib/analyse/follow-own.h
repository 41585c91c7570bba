/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * follow-own.h - what the files of follow.h share; and tally.c, for its loop.
 */
#ifndef CTP_FOLLOW_OWN_H
#define CTP_FOLLOW_OWN_H

#include "analyse/coro-table.h"
#include "analyse/follow.h"
#include "analyse/objects.h"
#include "analyse/places.h"
#include "analyse/roles.h"
#include "analyse/threads.h"
#include "stream/sequence.h"

enum { CTP_FOLLOW_RUNS = 1000 }; /* of a section; later runs are part of the last */

struct ctp_follow_priv {
	const struct ctp_class *standard; /* the class that ctp_roles_standard is for; null: no record of it yet */
	struct ctp_coro_table table;
	struct ctp_threads threads;
	struct ctp_places places;
	struct ctp_objects objects;
	struct {
		uint64_t coro, ts_ns;
	} woken; /* the last wake */
	struct ctp_roles shapes[CTP_CLASSES_MAX];
	struct ctp_dialect dialect;
	uint64_t facts_at;      /* events plus births so far, at the last record of an object, a hold or a wake */
	bool destroys;          /* and since then the program may be destroying what it has */
	struct ctp_kept_rows *kept; /* rows that may be of another run; null: there are none */
	uint32_t runs;          /* of the section so far, if it has a clock and no pid */
	uint64_t early_ns;      /* a wake that is later than a resume by this or less may be its cause */
	bool end_seen;          /* the end record was read, which has the next three: */
	struct ctp_ended ended;
	struct ctp_signalled signalled;
	uint64_t end_ns, gone_ns; /* as in ctp_follow_end */
	struct ctp_change *held; /* deaths that are not final yet, in their order */
	uint32_t nheld;
	size_t room;
};

static inline void ctp_follow_tell(struct ctp_follow *f, const struct ctp_change *ch)
{
	if (f->ops->change)
		f->ops->change(f->arg, ch);
}

/* The deaths that are held are final: a coroutine is resumed or born. */
void ctp_follow_commit(struct ctp_follow *f);

/* ctp_follow_place, inline: it is asked for each event. */
static inline uint32_t ctp_follow_place_of(const struct ctp_follow *f, const struct ctp_coroutine *co)
{
	return f->places->place[co->place].shared ? co->place : 0;
}

/* Makes a coroutine; null: the table is full. */
struct ctp_coroutine *ctp_follow_newcomer(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts);

/* The coroutine of a record; made if it is new. Null: the record has none, or the table is full. */
static inline struct ctp_coroutine *ctp_follow_whose(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val,
                                                     uint64_t ts)
{
	uint64_t id = ctp_roles_value(val, roles->id);
	struct ctp_coroutine *co = id ? ctp_coro_table_find(&f->priv->table, id) : NULL;
	return co || !id ? co : ctp_follow_newcomer(f, roles, val, ts);
}

/* The part of a span that is asked for. */
static inline uint64_t ctp_asked_from(const struct ctp_follow *f, uint64_t ns) { return ns > f->since_ns ? ns : f->since_ns; }
static inline uint64_t ctp_asked_to(const struct ctp_follow *f, uint64_t ns) { return ns < f->until_ns ? ns : f->until_ns; }

/*
 * ALL: all of the time is asked for, the trace begins with the program, and the process was never stopped. Transitions do not
 * change that. Callers pass a constant, so that the compiler leaves out what ALL does not need.
 */
enum ctp_follow_time { CTP_FOLLOW_ASKED, CTP_FOLLOW_ALL };

static inline enum ctp_follow_time ctp_follow_time(const struct ctp_follow *f)
{
	bool all = !f->since_ns && f->until_ns == UINT64_MAX && !f->seen.nstops && !f->seen.stopped_ns && !f->known_ns;
	return all ? CTP_FOLLOW_ALL : CTP_FOLLOW_ASKED;
}

static inline uint64_t ctp_asked_ns(const struct ctp_follow *f, uint64_t from_ns, uint64_t to_ns, enum ctp_follow_time time)
{
	if (time == CTP_FOLLOW_ALL)
		return ctp_span_ns(from_ns, to_ns);
	return ctp_follow_ns(f, ctp_asked_from(f, from_ns), ctp_asked_to(f, to_ns));
}

/* Adds the span that a change ends to the times of its coroutine. A runnable coroutine was suspended before. */
static inline void ctp_follow_spend(const struct ctp_follow *f, struct ctp_coroutine *co, const struct ctp_change *ch,
                                    enum ctp_follow_time time)
{
	uint64_t ns = ctp_asked_ns(f, ch->was_ns, ch->ts_ns, time);
	if (!ch->whole) {
		co->unknown_ns += ch->gap ? ns : 0;
	} else if (ch->was == CTP_RUNNING) {
		co->run_ns += ns;
	} else if (ch->was == CTP_SUSPENDED) {
		co->wait_ns += ns;
	} else if (ch->was == CTP_RUNNABLE) {
		co->ready_ns += ns;
		co->wait_ns += co->suspended_ns ? ctp_asked_ns(f, co->suspended_ns, ch->was_ns, time) : 0;
	}
}

/* All fields are named, so that the compiler need not clear fields that get another value at once. */
static inline struct ctp_change ctp_change_of(struct ctp_coroutine *co, enum ctp_change_kind kind, uint64_t ts)
{
	return (struct ctp_change){.kind = kind, .ts_ns = ts, .co = co, .was = co->state, .was_ns = co->since_ns,
	                           .whole = !(co->flags & (CTP_CO_TAIL | CTP_CO_CONFLICT)), .gap = co->flags & CTP_CO_TAIL,
	                           .gap_ns = 0, .thread = 0, .from = 0, .by = 0};
}

/* The thread on which a coroutine runs; null: it does not run, or another runs there. */
static inline struct ctp_thread *ctp_follow_running_on(struct ctp_follow *f, const struct ctp_coroutine *co)
{
	struct ctp_thread *th = &f->threads->list[co->thread];
	return co->state == CTP_RUNNING && th->current == co->id ? th : NULL;
}

/*
 * A gap of a coroutine: from after_ns on, or from its last transition on if that is later, up to the next. count 0: it is not
 * certain that events were lost, as for the time before the collector came.
 */
void ctp_follow_lose(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t after_ns, uint64_t ts, uint64_t count);

/* Follows a record. */
void ctp_follow_take(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec);

/* Forgets all that was followed. */
void ctp_follow_clear(struct ctp_follow *f);

/*
 * Rows of another run in the same section (follow-runs.c). keeps: the record is kept, to be followed later; it may end
 * a run first. decide: whether the rows that are kept are another run; they are followed.
 */
bool ctp_follow_keeps(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec);
void ctp_follow_decide(struct ctp_follow *f);
struct ctp_kept_rows;
void ctp_follow_kept_free(struct ctp_kept_rows *kept); /* or null */

/* A record of a loss: of events of a coroutine, of a thread, or of no known coroutine. */
void ctp_follow_loss(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec, uint64_t ts);

/* A record about reasons, objects and holders; and a wake, which may be because of an object (follow-facts.c). */
void ctp_follow_fact(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts);
void ctp_follow_woken(struct ctp_follow *f, const struct ctp_coroutine *co, const struct ctp_change *ch);

/*
 * A coroutine gives some of an object, or has got some; and closes the gives whose givers have been suspended since (follow-gives.c).
 * what: enum ctp_waits_for, of what it gave. room: what it got is room in a queue. ob may be null; and so may co of what was got, by
 * a thread without a coroutine.
 */
void ctp_follow_give(struct ctp_follow *f, const struct ctp_coroutine *co, const struct ctp_object *ob, uint8_t what, uint64_t count,
                     uint64_t ts);
void ctp_follow_got(struct ctp_follow *f, const struct ctp_coroutine *co, uint64_t pid, uint64_t at, bool room, uint64_t ts);
void ctp_follow_judge_open(struct ctp_follow *f);
static inline void ctp_follow_judge_gives(struct ctp_follow *f)
{
	if (f->objects->gives.nopen)
		ctp_follow_judge_open(f);
}

/* A record of what the collector saw from outside: threads, processes, samples, signals, the end (follow-seen.c). */
void ctp_follow_seen(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec, uint64_t ts);

#endif
