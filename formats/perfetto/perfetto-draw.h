/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * perfetto-draw.h - what is drawn of each coroutine: its life on a lane, in it one slice after another for what it does, its runs
 * on threads, and its wakes.
 *
 * A wake is known to end a wait only when the next transition shows that nothing is missing (follow.h). So the slice of the wait
 * ends in the drawing with that transition, at the time of the wake.
 */
#ifndef CTP_PERFETTO_DRAW_H
#define CTP_PERFETTO_DRAW_H

#include "perfetto/perfetto-tracks.h"
#include "perfetto/perfetto.h"

/* The slice inside of a life; and other events with a name of their own. */
enum ctp_perfetto_inner { CTP_PERFETTO_NOTHING, CTP_PERFETTO_RUN, CTP_PERFETTO_READY, CTP_PERFETTO_WAIT, CTP_PERFETTO_GAP,
                          CTP_PERFETTO_WAKE, CTP_PERFETTO_LEFT_OUT, CTP_PERFETTO_WORDS };

struct ctp_perfetto_coro {
	uint64_t id, born_ns;
	uint64_t at_ns;    /* the last time that is drawn */
	uint64_t from_ns;  /* the begin of the inner slice */
	uint64_t wake_ns;  /* if woken */
	uint64_t flow;     /* of wakes that no run has followed; 0: none */
	uint64_t flow_ns;  /* of the first of them */
	uint64_t holder, awaits, lost; /* arguments of the inner slice; 0: none */
	struct ctp_perfetto_name *place, *reason;
	struct ctp_perfetto_name own; /* its name */
	uint32_t lane, shared; /* 0: none; without both it is not drawn at all */
	uint32_t thread;       /* of the run */
	uint32_t wake_thread;  /* of the wake at flow_ns */
	uint32_t next_free;
	uint32_t spawn;
	uint64_t parent;
	uint8_t inner;
	bool used, woken, named, before, conflict, wake_apart;
	bool begun;  /* the life is drawn */
	bool ready;  /* it counts as runnable */
	bool left_out; /* what is in the gap, by a filter; else it is lost */
	bool missed; /* a lost wake may have ended the wait */
	bool destroyed; /* while it waited */
	bool ours;   /* CTP_CO_OURS: the end of each run is recorded */
};

struct ctp_perfetto_draw {
	struct ctp_perfetto_form *form;
	struct ctp_follow *follow;
	struct ctp_perfetto_tracks tracks;
	struct ctp_perfetto_names names;
	struct ctp_perfetto_name *words[CTP_PERFETTO_WORDS]; /* null: not asked for yet */
	struct ctp_perfetto_name **places; /* by number; null: not asked for yet */
	size_t places_room;
	uint32_t nplaces;
	struct ctp_perfetto_coro *coros;   /* number 1 is the first */
	uint32_t ncoros, free_coro;
	size_t coros_room;
	bool threads_only;
	uint64_t flows, runnable, alive;
	uint64_t last_ns; /* the latest time so far, of all sections */
	struct ctp_perfetto_undrawn undrawn; /* of the section */
	bool failed; /* out of memory at some point */
};

bool ctp_perfetto_draw_init(struct ctp_perfetto_draw *d, struct ctp_perfetto_form *form, struct ctp_follow *f, uint32_t max_lanes,
                            bool threads_only);
void ctp_perfetto_draw_fini(struct ctp_perfetto_draw *d);
void ctp_perfetto_draw_section(struct ctp_perfetto_draw *d, uint32_t section, const struct ctp_section *sec);

static inline struct ctp_perfetto_coro *ctp_perfetto_draw_at(struct ctp_perfetto_draw *d, uint32_t number)
{
	return number ? &d->coros[number] : NULL;
}

/* Adds a coroutine, and returns its number; 0: out of memory. */
uint32_t ctp_perfetto_draw_add(struct ctp_perfetto_draw *d, const struct ctp_coroutine *co, uint64_t born_ns, uint64_t pid);

/* The coroutine has ended, or is over at the end of the section: then more is not null. Its number may be given again. */
void ctp_perfetto_draw_remove(struct ctp_perfetto_draw *d, uint32_t number, uint64_t ts_ns, const char *more);

/* The slice of its life begins, if it has not, or has another name or birth now. */
void ctp_perfetto_draw_new_life(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, const struct ctp_coroutine *co);
static inline void ctp_perfetto_draw_life(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, const struct ctp_coroutine *co)
{
	if (!c->begun || c->spawn != co->spawn || c->parent != co->parent || (co->name && !c->named))
		ctp_perfetto_draw_new_life(d, c, co);
}

/* The inner slice ends at ts_ns; more: see ctp_perfetto_event. To begin another, set what it has, and begin it. */
void ctp_perfetto_draw_stop(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, uint64_t ts_ns, const char *more);
void ctp_perfetto_draw_start(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, enum ctp_perfetto_inner inner,
                             uint64_t ts_ns);

/* If the coroutine was woken, its wait ends then; what it is since then is shown. */
void ctp_perfetto_draw_settle(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c);

/* A run on a thread begins; by: the coroutine that goes on when it ends, or 0. Returns whether it is drawn there. */
bool ctp_perfetto_draw_run(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, uint64_t by, uint64_t ts_ns);

/* The run ends; gap: at a time that may be long ago. */
void ctp_perfetto_draw_ran(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, uint64_t ts_ns, bool gap, const char *more);

struct ctp_perfetto_wake {
	uint64_t ts_ns, coro;                  /* coro: that is woken; 0: not known */
	const struct ctp_perfetto_coro *waker; /* null: not known */
	uint32_t thread;                       /* 0: not known */
	bool arrow;                            /* it leads to the next run */
};

/* c: the woken coroutine; null: it is not drawn. */
void ctp_perfetto_draw_wake(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, const struct ctp_perfetto_wake *wake);

/* A run begins at ts_ns: the number of the arrow that ends there; 0: none. */
uint64_t ctp_perfetto_draw_arrow(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, uint64_t ts_ns);

/* The arrow of the wakes so far has ended, or never will. */
void ctp_perfetto_draw_no_run(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c);

/* An instant on the lane of a coroutine. */
void ctp_perfetto_draw_note(struct ctp_perfetto_draw *d, const struct ctp_perfetto_coro *c, const char *text, uint64_t lost,
                            uint64_t ts_ns);

void ctp_perfetto_draw_thread_gap(struct ctp_perfetto_draw *d, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
                                  uint64_t transitions);

/* The name of a suspend or spawn place; null: it has no text. */
struct ctp_perfetto_name *ctp_perfetto_draw_place(struct ctp_perfetto_draw *d, uint32_t place);

/* Gives an event to the form. */
void ctp_perfetto_draw_tell(struct ctp_perfetto_draw *d, const struct ctp_perfetto_event *e);

/* The name of what is not named after a coroutine or a place. */
struct ctp_perfetto_name *ctp_perfetto_draw_word(struct ctp_perfetto_draw *d, enum ctp_perfetto_inner inner);

/* The counters have new values. */
static inline void ctp_perfetto_draw_count(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, bool ready, uint64_t ts_ns)
{
	if (c->ready == ready)
		return;
	c->ready = ready;
	d->runnable += ready ? 1u : UINT64_MAX;
	if (!d->threads_only)
		d->form->ops->count(d->form, ts_ns, d->runnable, d->alive);
}

#endif
