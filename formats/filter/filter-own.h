/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter-own.h - what the files of filter.h share. */
#ifndef CTP_FILTER_OWN_H
#define CTP_FILTER_OWN_H

#include "analyse/findings-kept.h"
#include "analyse/roles.h"
#include "filter/filter-anon.h"
#include "filter/filter-held.h"
#include "filter/filter-places.h"
#include "filter/filter-table.h"
#include "filter/filter.h"

/* Slots of records that are held for a coroutine, and for an object. */
enum { CTP_FILTER_BIRTH, CTP_FILTER_NAME, CTP_FILTER_FUNCTION, CTP_FILTER_CONFLICT, CTP_FILTER_LOSS, CTP_FILTER_TRANSITION,
       CTP_FILTER_WAKE, CTP_FILTER_CAUSE, CTP_FILTER_AWAIT, CTP_FILTER_REASON, CTP_FILTER_GAP };
enum { CTP_FILTER_MADE, CTP_FILTER_STOCK, CTP_FILTER_ROOM, CTP_FILTER_CLOSED, CTP_FILTER_LABEL };

enum {
	CTP_FILTER_ORIGINS_MAX = 1 << 16, /* further ones are counted as one */
	CTP_FILTER_COROS_MAX = 1 << 23, /* at once; records of others are left out */
	CTP_FILTER_SITES_MAX = 1 << 20, /* and objects */
	CTP_FILTER_HELD_BYTES = 1 << 30, /* of all records that are held; more are not */
	CTP_FILTER_PREAMBLE = 4096,     /* records that wait for the first event */
	CTP_FILTER_REASONS = 8,         /* of one wait that are held */
	CTP_FILTER_SITE_FIELDS = 4,     /* of one class */
};

struct ctp_filter_coro {
	struct ctp_filter_entry entry; /* key: its number, 0 */
	struct ctp_filter_list held;   /* written when it is shown; empty from then on */
	const struct ctp_filter_origin *origin; /* null: since_ns is not asked for */
	uint64_t left_ns; /* the first transition that was left out since the last that was written; if left is set */
	uint64_t next;    /* the number that its next transition has, if none is lost */
	uint64_t last_ns; /* its last transition, or its birth; UINT64_MAX: it has ended */
	bool chosen;      /* by the options that select coroutines */
	bool fits;        /* chosen, but for its name */
	bool shown;       /* its birth has been written, if there was any */
	bool left;
	bool orphan;      /* counted as one whose parent is not known */
	bool told;        /* a left_out record has been written since then */
	bool at_place;    /* it waits at a place that is asked for */
	uint8_t reasons;  /* held */
};

struct ctp_filter_object {
	struct ctp_filter_entry entry; /* key: its process and its address */
	struct ctp_filter_list held;
	bool wanted; /* a record that was written refers to it */
};

/* What was written of an origin. Of a section that was not merged there is one. */
struct ctp_filter_origin {
	struct ctp_filter_entry entry; /* key: its number, 0 */
	uint64_t first_ns; /* its first event; UINT64_MAX: none yet */
	uint64_t stride;   /* of its numbers; 0: not known */
	uint64_t unsure_ns; /* the last loss of events of unknown coroutines before since_ns; 0: none */
	uint64_t events, lost, unverified, births, deaths;
};

struct ctp_filter_site {
	struct ctp_filter_entry entry; /* key: its number, 0 */
	struct ctp_filter_list held; /* its last record */
	bool written;
};

/* What is known of a class, by its id. */
struct ctp_filter_class {
	struct ctp_roles roles;
	bool wanted; /* by the option that selects classes */
	int16_t origin; /* the field */
	uint32_t nsites;
	uint8_t sites[CTP_FILTER_SITE_FIELDS]; /* unsigned fields that refer to sites */
};

struct ctp_filter {
	struct ctp_sink sink; /* first */
	const struct ctp_filter_options *options;
	struct ctp_filter_stats *stats;
	struct ctp_output *out;
	struct ctp_writer *writer;
	struct ctp_class *left_out, *attribute;
	struct ctp_kept_writer kept; /* of findings */
	struct ctp_filter_places *places; /* null: no option is about places */
	struct ctp_filter_anon *anon;     /* null: texts stay as they are */
	struct ctp_filter_table coros, sites, objects;
	struct ctp_filter_class classes[CTP_CLASSES_MAX];
	struct ctp_filter_list end; /* the end record: it comes last */
	struct ctp_filter_list jump; /* a transition before which others are lost: the record of their loss goes first */
	struct ctp_section to;      /* the section that is written, until it is begun */
	struct ctp_filter_list preamble; /* records before its first event, whose time is an attribute of it */
	uint32_t npreamble;
	size_t held_bytes;
	bool begun;

	bool merged;  /* the section has origins */
	bool filters_events; /* of threads that are kept, events may be left out */
	bool whole;   /* of each origin that is asked for, nothing is left out */
	bool copies;  /* and all are asked for */
	bool picks;   /* options select coroutines */
	bool lazy;    /* options select records: a coroutine is shown with the first of its own */
	bool skipped; /* the section is not asked for */
	bool started; /* since_ns has come */
	bool ended;   /* an end record was read */
	bool samples_left;
	uint64_t asked_ns; /* the section's part of starts, or since_ns, as the options have it */
	uint64_t left_ns; /* an earlier filter left out what was before that; 0: none did */
	uint64_t first_ns, since_ns, until_ns; /* on the section's clock; first_ns UINT64_MAX: no event yet */
	uint64_t now_ns, mark_ns, number;
	uint32_t unmarked; /* records since the last mark */
	uint32_t depth;    /* of coroutines that are shown because another one refers to them */
	uint64_t pid;      /* of the section */
	uint64_t kept_before; /* stats->kept, when the section began */
	struct ctp_filter_table origins; /* of a merged section, or the one of another section */
	struct ctp_filter_origin *last;  /* the last that was found; null: none */
	struct ctp_filter_origin nowhere; /* in place of one for which there was no memory */
	bool failed;       /* out of memory, or out of numbers for texts: why says so */
	struct ctp_err why;
};

/* --- filter-put.c: what is written --------------------------------------------------------------------------------------- */

/* Writes a record, and before it what it refers to. */
void ctp_filter_put(struct ctp_filter *f, const struct ctp_record *rec);
void ctp_filter_put_process(struct ctp_filter *f, const struct ctp_record *rec);
void ctp_filter_put_origin(struct ctp_filter *f, const struct ctp_record *rec);
void ctp_filter_put_left_out(struct ctp_filter *f, struct ctp_filter_coro *co, uint64_t ts_ns, uint64_t after_ns);
void ctp_filter_add_times(struct ctp_filter *f); /* the attributes of the section that are times */
void ctp_filter_put_end(struct ctp_filter *f); /* the end record, if one is held, with the totals of what was written */
void ctp_filter_hold_site(struct ctp_filter *f, const struct ctp_record *rec);
void ctp_filter_take_object(struct ctp_filter *f, const struct ctp_filter_class *cls, const struct ctp_record *rec);
void ctp_filter_take_descriptor(struct ctp_filter *f, const struct ctp_filter_class *cls, const struct ctp_record *rec);
void ctp_filter_release_site(struct ctp_filter_entry *e);
void ctp_filter_release_object(struct ctp_filter_entry *e);

/* The origin of a record. */
struct ctp_filter_origin *ctp_filter_origin_of(struct ctp_filter *f, const struct ctp_record *rec);

/* Holds a copy. False: there is no room, or no memory, which is noted. */
bool ctp_filter_keep(struct ctp_filter *f, struct ctp_filter_list *l, const struct ctp_record *rec, uint8_t slot, bool again);

/* --- filter-coros.c: which coroutines, and what of them ------------------------------------------------------------------ */

void ctp_filter_take_coro(struct ctp_filter *f, const struct ctp_filter_class *cls, const struct ctp_record *rec, uint64_t id);
void ctp_filter_show(struct ctp_filter *f, struct ctp_filter_coro *co, uint64_t ts_ns); /* writes what is held of it */
void ctp_filter_show_other(struct ctp_filter *f, uint64_t id, uint64_t ts_ns); /* of a coroutine that a record refers to */
void ctp_filter_start(struct ctp_filter *f); /* since_ns has come */
void ctp_filter_release_jump(struct ctp_filter *f); /* writes what is held there */
void ctp_filter_tell_left(struct ctp_filter *f); /* of all coroutines whose last transitions are left out */
void ctp_filter_release_coro(struct ctp_filter_entry *e);

/* The same for a thread or a process of a record, by the number that it has on its host. */
bool ctp_filter_has_own(struct ctp_filter *f, const struct ctp_filter_numbers *numbers, const struct ctp_record *rec, uint64_t v);

/* Whether a record is of a thread that is asked for. It has a field of that role. */
static inline bool ctp_filter_on_thread(struct ctp_filter *f, const struct ctp_roles *roles, const struct ctp_record *rec)
{
	bool on = ctp_filter_has_own(f, &f->options->threads, rec, rec->val[roles->tid]);
	f->stats->of_thread |= on;
	return on;
}

/* An attribute that an anonymised stream still has, once. */
void ctp_filter_note_attr(struct ctp_filter_stats *stats, const char *name);

/* Whether a loss ended before since_ns: it is left out. */
static inline bool ctp_filter_is_before(const struct ctp_filter *f, const struct ctp_filter_class *c, const struct ctp_record *rec)
{
	return c->roles.kind == CTP_KIND_LOSS && f->asked_ns && (!f->started || rec->ts_ns < f->since_ns);
}

/* Whether a number was asked for. */
static inline bool ctp_filter_has(const struct ctp_filter_numbers *numbers, uint64_t v)
{
	for (size_t i = 0; i < numbers->n; i++)
		if (numbers->list[i] == v)
			return true;
	return !numbers->n;
}

#endif
