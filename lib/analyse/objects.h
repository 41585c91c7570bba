/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * objects.h - what coroutines wait for: the reasons of each wait, and for each object how much is available and which coroutines
 * hold it.
 *
 * An object is known by its process and its address, from its first record to the one of its end. What it was then is kept for
 * coroutines that still wait for it, until another object has its address, or its room is needed. After missing records, its state
 * is unknown until a record says it again. What is available is known from the next count on. The holders are known again when all
 * of it is available, for then there are none: all of a lock is 1, all of another object is its first count, if the trace has the
 * record of its making. If a coroutine gives back more than it holds, the program does not record all that is held, and the holders
 * are unknown.
 */
#ifndef CTP_OBJECTS_H
#define CTP_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/gives.h"
#include "analyse/lock-order.h"
#include "analyse/queue-ends.h"
#include "base/map.h"
#include "stream/events.h"

enum {
	CTP_OBJECTS_MAX = 1 << 16,    /* objects at once; others are not followed */
	CTP_OBJECT_HOLDERS = 1024,    /* of one object, that have an entry; the others are counted */
	CTP_HOLDERS_MAX = 1 << 20,    /* of all objects; holders beyond are counted, too */
	CTP_OBJECT_MAKERS = 4,        /* coroutines that ended waits for one object */
	CTP_REASONS_MAX = 4,          /* of one wait */
	CTP_OBJECT_NAME_MAX = 200,    /* bytes */
};

/* One reason of a wait. what is enum ctp_waits_for, marks are CTP_REASON_... of events.h. */
struct ctp_reason_of {
	uint64_t value; /* the deadline, the descriptor, or the address of the object */
	uint64_t count; /* how much of it; of a descriptor, the events of poll(2) */
	uint8_t what, marks;
	uint32_t end;   /* where the wait is counted, a number of ctp_gives; 0: it is not, or no more */
};

struct ctp_reasons {
	uint64_t coro;
	uint64_t event; /* the number of the suspension */
	uint64_t pid, ts_ns; /* ts_ns: of the first */
	uint32_t n;
	bool more;      /* there are further reasons, which are not known */
	struct ctp_reason_of list[CTP_REASONS_MAX];
	/* Of an earlier wait, the last for a lock, for permits or for room; what 0: there was none. */
	struct ctp_wanted {
		struct ctp_reason_of of;
		uint64_t pid, ts_ns;
		uint32_t place; /* where it waited; 0: not known */
	} earlier;
};

struct ctp_holder {
	uint64_t coro;
	int64_t count;
	uint64_t since_ns; /* since when it has held something of the object */
	uint64_t got_ns;   /* when it got the last of it */
	uint32_t site;     /* and where, a number of places.h; 0: not known */
	bool elsewhere;    /* it got a part of it at another site */
};

/* How much of an object is available, of one sort: a queue has items and room. */
struct ctp_stock {
	bool known;
	uint64_t available;
	uint64_t since_ns; /* when that became 0, or was no longer 0 */
	bool exact;        /* it was recorded also when it was above 0 and changed: else only whether it is 0 is certain */
};

struct ctp_object {
	uint64_t pid, at;
	uint32_t site;   /* the place where it was made: a number of places.h; 0: not known */
	uint32_t gap;    /* ctp_objects.gaps at its last record */
	uint8_t what;    /* enum ctp_waits_for, of its first count; 0: not known */
	bool owned, is_there; /* is_there: false after the record of its end */
	uint64_t made_ns;     /* when it was made; 0: not known */
	uint64_t gone_ns;     /* when it was destroyed. Then the object is as it was before; 0 and not is_there: nothing is known of it */
	uint64_t closed_ns;   /* 0: it is open */
	struct ctp_stock stock, room;
	uint64_t total;  /* the most that was ever available, or held */
	uint64_t all;    /* what it had when it was new; 0: not known, or it has had more since */
	bool grew;       /* at some record of what is available, that and what was held were more than all */
	char *name;      /* null: none */
	bool holders_known;
	uint64_t hold_ns;      /* the last hold of it that was recorded since it was new; 0: none */
	uint32_t nholders;     /* with an entry */
	uint64_t others;       /* how much the other holders hold */
	struct ctp_holder *holders; /* the object's own: a copy of the struct needs a copy of these */
	size_t holders_room;
	uint32_t nmakers;
	bool more_makers;
	uint64_t makers[CTP_OBJECT_MAKERS];
	uint64_t woken, woken_ns; /* the last coroutine that was woken while it waited for this */
	uint64_t strayed, strayed_ns; /* a coroutine that was woken for this, and waited for something else; 0: none */

	uint32_t saved;  /* the value of ctp_objects.moment when it was saved last */

	/* The listener's: */
	uint32_t nholds;
	bool holds_known;

	/* The judge's, at the end of the section: */
	uint64_t waiters, longest_ns;
	uint64_t first_since_ns, first_count; /* the one that has waited longest */
	uint32_t looked;      /* the pass in which all_closed was found; 0: none yet */
	bool all_closed;
	uint8_t spent;        /* judge-pool.c: whether it can never serve again, once that is known */
};

/* The last look of the collector at a descriptor. */
struct ctp_descriptor {
	uint64_t pid, ts_ns, unread, unsent;
	uint64_t unread_ns; /* since when every look found something unread, or the end of the stream */
	int32_t fd;
	bool ended; /* there is nothing to read but the end */
	uint8_t type; /* enum ctp_descriptor_type */
	uint8_t side; /* enum ctp_descriptor_side */
	uint8_t last; /* enum ctp_descriptor_last */
};

enum { CTP_DESCRIPTORS_MAX = 4096 };

/* Waits for a timer that ended after its time. */
struct ctp_timers {
	uint64_t count;
	uint64_t asked_ns; /* the longest time from the suspension to the deadline */
	uint64_t late_ns;  /* the longest time from the deadline to the wake */
};

struct ctp_objects {
	struct ctp_object *list; /* numbers from 1 on */
	uint32_t count;
	size_t room;
	struct ctp_map map;
	struct ctp_reasons *reasons; /* likewise */
	uint32_t nreasons;
	size_t reasons_room;
	struct ctp_map reasons_map;
	struct ctp_descriptor *descriptors; /* the first CTP_DESCRIPTORS_MAX that were looked at */
	uint32_t ndescriptors;
	struct ctp_timers *timers; /* by place */
	size_t ntimers;
	struct ctp_queues queues;
	struct ctp_gives gives;
	struct ctp_lock_orders orders;
	struct ctp_object_saved {
		uint32_t number;
		struct ctp_object was; /* its holders stay, with their room, for the next one that is saved here */
	} *saved;            /* objects as they were at the moment to which ctp_objects_undo returns */
	uint32_t nsaved, nsaved_most, moment;
	size_t saved_room;
	size_t holders_room; /* of all objects, also of those that are saved */
	uint32_t gaps;       /* how often records were missing */
	uint64_t attached_ns; /* when the collector came; 0: the trace begins with the program */
	bool filtered;       /* other coroutines may hold objects: the holders are never known. Stays until it is set again */
	bool failed;         /* out of memory: records were left out */
	uint64_t unfollowed; /* objects for which there was no room */
};

bool ctp_objects_init(struct ctp_objects *o); /* false: out of memory */
void ctp_objects_fini(struct ctp_objects *o);
void ctp_objects_clear(struct ctp_objects *o);

/* Records are missing. */
static inline void ctp_objects_gap(struct ctp_objects *o) { o->gaps++; }

/*
 * A program that ends in order destroys what coroutines hold and wait for, before it destroys the coroutines. ctp_objects_undo
 * takes back all that was recorded since the last ctp_objects_keep.
 */
uint64_t ctp_objects_first_close(const struct ctp_objects *o, uint64_t from_ns); /* at from_ns or later; UINT64_MAX: none */
void ctp_objects_reopen(struct ctp_objects *o, uint64_t from_ns); /* those that were closed at from_ns or later */
void ctp_objects_keep(struct ctp_objects *o);
void ctp_objects_undo(struct ctp_objects *o);

/* Whether there was any record of objects or reasons. */
static inline bool ctp_objects_any(const struct ctp_objects *o) { return o->count || o->nreasons; }

/* A record of an object. marks are CTP_OBJECT_... of events.h; what 0: the record does not say how much is available. */
struct ctp_object_record {
	uint64_t pid, at, available, ts_ns;
	uint32_t site;
	uint8_t what, marks;
};
void ctp_objects_take(struct ctp_objects *o, const struct ctp_object_record *record);
struct ctp_objects_held {
	uint64_t pid, at, coro, ts_ns;
	int64_t count;
	uint32_t spawn, site, place; /* where the coroutine was spawned, where it took this (0: not known), and where it suspended last */
};
void ctp_objects_name(struct ctp_objects *o, uint64_t pid, uint64_t at, const char *name, uint32_t len);
/* What a coroutine holds has changed: the same for the order of locks. */
void ctp_objects_order(struct ctp_objects *o, const struct ctp_objects_held *held);
void ctp_objects_hold(struct ctp_objects *o, uint64_t pid, uint64_t at, const struct ctp_holder *by, uint64_t ts_ns);

/* A reason of the suspension with that number, which is to come. */
struct ctp_reason_record {
	uint64_t coro, event, pid, ts_ns;
	uint32_t place; /* of the suspension before */
	struct ctp_reason_of of;
};
void ctp_objects_reason(struct ctp_objects *o, const struct ctp_reason_record *record);

/* The coroutine has died: its reasons are not needed any more. */
void ctp_objects_died(struct ctp_objects *o, uint64_t coro, uint64_t ts_ns);

/* The reasons of the last suspension that had any, of a coroutine that is alive; null: none had. */
const struct ctp_reasons *ctp_objects_last_reasons(const struct ctp_objects *o, uint64_t coro);

/* The reasons of a suspension; null: it has none. */
const struct ctp_reasons *ctp_objects_reasons(const struct ctp_objects *o, uint64_t coro, uint64_t event);

/* A coroutine that waits for these reasons was woken; by 0: by no coroutine. until: as in ctp_gives_woken. */
void ctp_objects_woken(struct ctp_objects *o, const struct ctp_reasons *r, uint64_t until, uint64_t by, uint64_t ts_ns);

/* A coroutine was woken for an object. r: the reasons of its wait; null: not known. */
void ctp_objects_woken_for(struct ctp_objects *o, const struct ctp_reasons *r, uint64_t pid, uint64_t at, uint64_t coro,
                           uint64_t ts_ns);

/* The object that is at an address now, and the collector's last look at a descriptor; or null. */
struct ctp_object *ctp_objects_find(const struct ctp_objects *o, uint64_t pid, uint64_t at);
void ctp_objects_look(struct ctp_objects *o, const struct ctp_descriptor *seen);
struct ctp_descriptor *ctp_objects_descriptor(const struct ctp_objects *o, uint64_t pid, int32_t fd);

/* The object that a reason is for, if that is there now; null also if the reason is for a timer or a descriptor. */
static inline bool ctp_reason_is_object(const struct ctp_reason_of *r) { return r->what > CTP_WAITS_DESCRIPTOR; }
static inline struct ctp_object *ctp_objects_wanted(const struct ctp_objects *o, const struct ctp_reasons *r, uint32_t i)
{
	return ctp_reason_is_object(&r->list[i]) ? ctp_objects_find(o, r->pid, r->list[i].value) : NULL;
}

/*
 * The object that a reason is for, of a wait that began at since_ns: the one that is there now, or that was destroyed during the
 * wait. Null: neither, as if its address has another object by now, or the reason is for a timer or a descriptor.
 */
struct ctp_object *ctp_objects_waited(const struct ctp_objects *o, const struct ctp_reasons *r, uint32_t i, uint64_t since_ns);

/* How much is available at least, by the last record: a program need not record each change above 0. */
static inline uint64_t ctp_stock_recorded(const struct ctp_stock *stock)
{
	return !stock->known || stock->exact ? stock->available : stock->available > 0;
}

/* How much coroutines of the trace hold. */
uint64_t ctp_object_held(const struct ctp_object *ob);

/* How much is available for certain, by that record and by what is held. *exact: it is not more, either. */
uint64_t ctp_object_available(const struct ctp_object *ob, const struct ctp_stock *stock, bool *exact);

/* A wait for a timer has ended at a place, after its time; and what is known of all such waits at the place. */
void ctp_objects_rang(struct ctp_objects *o, uint32_t place, uint64_t asked_ns, uint64_t late_ns);
struct ctp_timers ctp_objects_timers(const struct ctp_objects *o, uint32_t place);

/* How much is available of what a reason wants. */
static inline const struct ctp_stock *ctp_object_stock(const struct ctp_object *ob, const struct ctp_reason_of *r)
{
	return r->what == CTP_WAITS_ROOM ? &ob->room : &ob->stock;
}

#endif
