/*
 * follow-own.h - between follow.c, which follows what is told, and follow-gap.c, which knows what a loss takes away.
 */
#ifndef CTP_FOLLOW_OWN_H
#define CTP_FOLLOW_OWN_H

#include "analyse/coro-table.h"
#include "analyse/follow.h"
#include "analyse/roles.h"
#include "stream/sequence.h"

struct ctp_follow_priv {
	const struct ctp_class *standard; /* the one that nearly all records are of; null: none yet */
	struct ctp_coro_table table;
	struct ctp_roles shapes[CTP_CLASSES_MAX];
	struct ctp_dialect dialect;
	uint32_t runs;          /* that the section had so far, if it does not say of what process it is */
	bool end_seen;          /* its end record, which says this: */
	struct ctp_ended ended;
	uint64_t end_ns;
};

static inline void ctp_follow_tell(struct ctp_follow *f, const struct ctp_change *ch)
{
	if (f->ops->change)
		f->ops->change(f->arg, ch);
}

/* A coroutine that is new; null: there are too many. */
struct ctp_coroutine *ctp_follow_newcomer(struct ctp_follow *f, const struct ctp_roles *s, const uint64_t *val, uint64_t ts);

/* The one that a record is about; made if it is new. Null: it is about none, or there are too many. */
static inline struct ctp_coroutine *ctp_follow_whose(struct ctp_follow *f, const struct ctp_roles *s, const uint64_t *val, uint64_t ts)
{
	uint64_t id = ctp_roles_value(val, s->id);
	struct ctp_coroutine *co = id ? ctp_coro_table_find(&f->priv->table, id) : NULL;
	return co || !id ? co : ctp_follow_newcomer(f, s, val, ts);
}

/* How much of a span is in the time that is asked for. */
static inline uint64_t ctp_asked_from(const struct ctp_follow *f, uint64_t ns) { return ns > f->since_ns ? ns : f->since_ns; }
static inline uint64_t ctp_asked_to(const struct ctp_follow *f, uint64_t ns) { return ns < f->until_ns ? ns : f->until_ns; }

/*
 * Whether all of the time is asked for, and the process was never stopped: a constant where this is inline, so that nothing is looked up
 * then. It stays so as long as there are only transitions.
 */
enum ctp_follow_time { CTP_FOLLOW_ASKED, CTP_FOLLOW_ALL };

static inline enum ctp_follow_time ctp_follow_time(const struct ctp_follow *f)
{
	bool all = !f->since_ns && f->until_ns == UINT64_MAX && !f->seen.nstops && !f->seen.stopped_ns && !f->attached_ns;
	return all ? CTP_FOLLOW_ALL : CTP_FOLLOW_ASKED;
}

static inline uint64_t ctp_asked_ns(const struct ctp_follow *f, uint64_t from_ns, uint64_t to_ns, enum ctp_follow_time time)
{
	if (time == CTP_FOLLOW_ALL)
		return ctp_span_ns(from_ns, to_ns);
	return ctp_follow_ns(f, ctp_asked_from(f, from_ns), ctp_asked_to(f, to_ns));
}

/* Adds the span that ends now to the coroutine's own times. One that was woken was suspended before. */
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

/* All fields are named, so that those which get another value at once are not cleared before. */
static inline struct ctp_change ctp_change_of(struct ctp_coroutine *co, enum ctp_change_kind kind, uint64_t ts)
{
	return (struct ctp_change){.kind = kind, .ts_ns = ts, .co = co, .was = co->state, .was_ns = co->since_ns,
	                           .whole = !(co->flags & (CTP_CO_TAIL | CTP_CO_CONFLICT)), .gap = co->flags & CTP_CO_TAIL,
	                           .gap_ns = 0, .thread = 0, .from = 0, .by = 0};
}

/* The thread where it ran, if it is not known to have left it. */
static inline struct ctp_thread *ctp_follow_thread(struct ctp_follow *f, const struct ctp_coroutine *co)
{
	struct ctp_thread *th = &f->threads.list[co->thread];
	return co->state == CTP_RUNNING && th->current == co->id ? th : NULL;
}

/*
 * A gap: nothing is known of the coroutine from after_ns on, or from its last transition on if that is later, until the next. count 0:
 * nothing is lost for certain, as of what it did before a collector came.
 */
void ctp_follow_lose(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t after_ns, uint64_t ts, uint64_t count);

/* A record of a loss: of a coroutine's events, of a thread's, or of nobody knows whose. */
void ctp_follow_loss(struct ctp_follow *f, const struct ctp_roles *s, const struct ctp_record *rec, uint64_t ts);

#endif
