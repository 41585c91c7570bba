/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * perfetto-form.h - the contract of the two forms: the walk (perfetto-walk.c) says which tracks there are and what happens on them,
 * and a form writes it.
 *
 * A slice begins and ends on its track, and slices of a track nest. A form that ends what is open gets, with an end, all that the
 * begin had, so that it may write a slice when it ends; the other gets only arguments that the begin did not have. What is still
 * open at the end of a section is ended only if the form asks for that. Times are on one line for all sections. They mostly grow,
 * but a slice may be known late.
 *
 * Texts have been made valid UTF-8 (escape.h).
 */
#ifndef CTP_PERFETTO_FORM_H
#define CTP_PERFETTO_FORM_H

#include "io/output.h"
#include "perfetto/perfetto-names.h"

enum ctp_perfetto_kind {
	CTP_PERFETTO_PROCESS,
	CTP_PERFETTO_THREAD,
	CTP_PERFETTO_GROUP,   /* has only tracks, which are ordered by rank */
	CTP_PERFETTO_LANE,    /* coroutines, one after the other */
	CTP_PERFETTO_ROW,     /* anything else with slices */
	CTP_PERFETTO_COUNTER,
};

struct ctp_perfetto_track {
	enum ctp_perfetto_kind kind;
	uint32_t uuid;    /* 0: none; the same for all sections never */
	uint32_t parent;  /* uuid; 0: none */
	uint32_t rank;    /* in a group */
	int32_t pid, tid; /* as shown: different sections have different ones */
};

/* The keys of arguments. */
enum ctp_perfetto_key {
	CTP_PERFETTO_CORO, CTP_PERFETTO_PARENT, CTP_PERFETTO_SPAWNED_AT, CTP_PERFETTO_BORN_BEFORE, CTP_PERFETTO_WAITS_FOR,
	CTP_PERFETTO_HELD_BY, CTP_PERFETTO_AWAITS, CTP_PERFETTO_WAKES_LOST, CTP_PERFETTO_LOST, CTP_PERFETTO_TRANSITIONS_LOST,
	CTP_PERFETTO_RULE, CTP_PERFETTO_CERTAINTY, CTP_PERFETTO_COROUTINES, CTP_PERFETTO_SUSPENDED_AT, CTP_PERFETTO_EVIDENCE,
	CTP_PERFETTO_NEXT, CTP_PERFETTO_DESTROYED, CTP_PERFETTO_COMMAND, CTP_PERFETTO_HOST, CTP_PERFETTO_PID, CTP_PERFETTO_ORIGIN,
	CTP_PERFETTO_ORIGIN_ERROR, CTP_PERFETTO_FILTERED,
	CTP_PERFETTO_KEYS,
};
extern const char *const ctp_perfetto_keys[CTP_PERFETTO_KEYS];

struct ctp_perfetto_arg {
	enum ctp_perfetto_key key;
	struct ctp_perfetto_name *name; /* a text that may come again; or */
	const char *text;               /* one that does not; both null: */
	uint64_t number;
};

enum { CTP_PERFETTO_ARGS = 40 }; /* of one event, at most */

enum ctp_perfetto_type { CTP_PERFETTO_BEGIN = 1, CTP_PERFETTO_END, CTP_PERFETTO_INSTANT }; /* as in TrackEvent */

struct ctp_perfetto_event {
	enum ctp_perfetto_type type;
	const struct ctp_perfetto_track *track;
	uint64_t ts_ns, from_ns;        /* from_ns: of an end, the begin */
	struct ctp_perfetto_name *name;
	const char *more;               /* added to the name, by forms that end what is open; null: nothing */
	uint64_t coro;                  /* of a run: chooses the colour; 0: none */
	uint64_t flow;                  /* an arrow; 0: none */
	bool flow_ends;                 /* it ends here; else it begins, or comes by */
	bool wake;                      /* an instant that is a wake: */
	bool apart;                     /* in no slice of its track */
	const struct ctp_perfetto_name *waiter; /* of the end of a wait that goes on: its coroutine; else null */
	const struct ctp_perfetto_arg *args;
	uint32_t nargs;
};

struct ctp_perfetto_clock {
	uint32_t section;    /* its number, from 1 on */
	uint64_t base_ns;    /* its first time */
	uint64_t first_ns;   /* that of the first section */
	bool has_wall;
	int64_t wall_ns;     /* at base_ns */
	const struct ctp_perfetto_track *runnable, *alive; /* counters; null: there are none */
};

struct ctp_perfetto_form {
	const struct ctp_perfetto_ops *ops;
	struct ctp_output *out;
	bool closes;           /* open slices must be ended */
	bool arrows_of_threads; /* arrows go from thread to thread, and are told when both ends are known; lanes have no runs */
};

struct ctp_perfetto_ops {
	/* A section begins. Names and tracks of the one before are not used any more. */
	void (*section)(struct ctp_perfetto_form *form, const struct ctp_perfetto_clock *clock);

	/* A track, before its first event; or a better name of one. */
	void (*track)(struct ctp_perfetto_form *form, const struct ctp_perfetto_track *track, const char *name);

	void (*event)(struct ctp_perfetto_form *form, const struct ctp_perfetto_event *event);

	/* The end of a slice that has no further arguments. Null in a form that closes. */
	void (*end)(struct ctp_perfetto_form *form, const struct ctp_perfetto_track *track, uint64_t ts_ns);

	/* New values of the counters, before the event that changes them. */
	void (*count)(struct ctp_perfetto_form *form, uint64_t ts_ns, uint64_t runnable, uint64_t alive);

	void (*finish)(struct ctp_perfetto_form *form); /* all is written */
	void (*free)(struct ctp_perfetto_form *form);
};

/* Null: out of memory. out stays the caller's. */
struct ctp_perfetto_form *ctp_perfetto_packets(struct ctp_output *out);
struct ctp_perfetto_form *ctp_perfetto_chrome(struct ctp_output *out);

#endif
