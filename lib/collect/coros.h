/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * coros.h - the coroutines whose stations have rings (CTP_ANNOUNCE_ANNEX): one after another in the same station,
 * told apart by its generation.
 *
 * A coroutine costs what it does: all that is known of it comes from entries in the rings, and its station is looked at when it is
 * born, when it dies, and when something is missing. The events of a station are numbered over all of its coroutines, so the number
 * that is due tells what is missing. Each number is accounted for once: as a row, or as lost.
 *
 * A hole in the numbers is not a loss yet. Another thread's ring may have the event, and that ring may have been looked at too
 * early; after two more rounds (rings.h) it cannot come any more. Then it is looked for in the station's slots, which hold the
 * last 8 events; what is not there either is lost.
 *
 * A station is freed when its coroutine's death is known, which tells how many events there were, and all of these have been
 * accounted for. What comes later is for a coroutine that is remembered for one more generation; older ones leave a conflict.
 */
#ifndef CTP_COROS_H
#define CTP_COROS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/budget.h"
#include "collect/coro-objects.h"
#include "collect/ring-gaps.h"
#include "collect/rows.h"
#include "collect/shm-texts.h"
#include "collect/waited-fds.h"
#include "shm/rings.h"

enum {
	CTP_LIFE_DEAD = 1,
	CTP_LIFE_PENDING = 2, /* its death is written when its gaps are settled */
	CTP_LIFE_QUEUED = 4,  /* its station is queued for release */
	CTP_LIFE_UNSURE = 8, /* how many events it has had is not known: the next one tells */
	CTP_LIFE_ASKED = 16, /* about its frame */
	CTP_LIFE_CONFLICT = 32, /* a coroutine of an older generation wrote to its station */
	CTP_LIFE_UNKNOWN = 64, /* of the one that ended, only the generation is known: events_before */
};

/* What is known of a station, and of the coroutine that has it now or had it last. */
struct ctp_life {
	uint64_t next;     /* number of the event expected next */
	uint64_t first;    /* and of this coroutine's first */
	uint64_t probe_id;
	uint64_t last_ns;  /* time of its last row; of its death */
	uint64_t coro;     /* its number in the stream */
	uint32_t back;     /* to that of the one before; 0: not known */
	uint32_t events_before; /* that one's */
	uint32_t generation; /* 0: it has had no coroutine yet */
	uint32_t hole;       /* name of its newest */
	uint32_t link;       /* of those to be freed: index + 1 */
	uint16_t name;       /* low bits of the name_seq that was written last */
	uint8_t flags;
	uint8_t held;        /* how much it holds of objects; UINT8_MAX: or more */
};
_Static_assert(sizeof(struct ctp_life) == 64, "a station costs one cache line");

struct ctp_coros {
	struct ctp_rings *rings;
	struct ctp_rows *rows;
	struct ctp_life *life; /* max_stations of them */
	struct ctp_shm_texts texts;
	struct ctp_ring_gaps gaps;
	struct ctp_waited_fds fds;
	struct ctp_coro_objects objects;
	struct ctp_budget *budget; /* for a snapshot; null: no limit */
	uint32_t dead, pending; /* lists by link: stations to be freed; those whose death is to be written before that */
	uint32_t ndead;        /* in both */
	bool left;             /* the probes do without us already */
	uint64_t doubt_ns;     /* of what happened before this, nothing is in doubt */
	uint64_t accounted;    /* events that were in no ring: lost, or found in a slot */
	uint64_t lost;         /* what the rings had lost at the last audit */
	uint64_t notes;        /* that threads without a ring had lost then */
	uint64_t events;       /* that they had lost before we came */
};

enum ctp_status ctp_coros_init(struct ctp_coros *coros, struct ctp_rings *rings, struct ctp_rows *rows, struct ctp_err *err);
void ctp_coros_fini(struct ctp_coros *coros);

/* Puts what these entries tell into the rows. Their times are made to fit. */
void ctp_coros_take(struct ctp_coros *coros, struct ctp_ring *ring, struct ctp_ring_entry *entries, unsigned n);

/* After each slice of the rings: frees the stations of ended coroutines whose events are all accounted for. */
void ctp_coros_release_dead(struct ctp_coros *coros);

/*
 * After each look: settles the gaps for which it is time, and what waited for that. all: all gaps, for it was the last look.
 */
void ctp_coros_settle(struct ctp_coros *coros, bool all);

/* Whether a thread found no room for an entry since the last audit. */
bool ctp_coros_audit_due(const struct ctp_coros *coros);

/*
 * Looks at the first used stations for births, names and deaths that are in no entry. last: also for events, in the slots.
 * Where the writers are not gone by then, they have stopped writing for us already: a new coroutine is not part of the trace.
 */
void ctp_coros_audit(struct ctp_coros *coros, uint32_t used, bool last, bool gone);

/*
 * For memory that was in use before we came (coros-snapshot.c). Of each living coroutine: its birth, name, last wakes, up to 8
 * last events, and what its last suspension waits for; and the objects that the memory knows of (coro-objects.h); all in the order
 * of time. What was before those does not count as lost. Where the slots were not kept for a time since its newest event: birth
 * and name alone. The snapshot also includes, with their deaths, ended coroutines whose station has not been reused. Returns how
 * many items were left out because the look had to end.
 */
uint64_t ctp_coros_snapshot(struct ctp_coros *coros, uint32_t used);

/* Frees those of the first used stations whose coroutines are dead. */
void ctp_coros_release(struct ctp_coros *coros, uint32_t used);

/* --- between coros.c, coros-due.c, coro-gaps.c and coros-snapshot.c ------------------------------------------------------- */

/* A station's header, whole: of one generation. */
struct ctp_life_header {
	uint32_t generation, flags, pid, site;
	uint64_t probe_id, birth_ns; /* birth_ns 0: not known */
	uint64_t parent, first, events, death_ns;
	uint8_t is_dead;
	bool newborn, just_dead; /* since the look at the rings, which have that too */
};
bool ctp_life_header(const struct ctp_coros *coros, uint32_t i, struct ctp_life_header *head);

/* The same for a free station: the header of the coroutine of this generation, if the station has not been reused. */
bool ctp_life_header_of(const struct ctp_coros *coros, uint32_t i, uint32_t generation, struct ctp_life_header *head);

/* The coroutine of this header is the one that has the station now. */
void ctp_life_begin(struct ctp_coros *coros, uint32_t i, const struct ctp_life_header *head);

/* The coroutine of this header has ended, and its death is not written here. Frees its station, if that is not done. */
void ctp_life_skip(struct ctp_coros *coros, uint32_t i, const struct ctp_life_header *head);

/*
 * Records: its birth, where seen_ns says that it was there by then; its present name, if that was not written yet; a wake; the
 * target that its next suspension waits for.
 */
void ctp_life_birth(struct ctp_coros *coros, uint32_t i, const struct ctp_life_header *head, uint64_t seen_ns);
void ctp_life_name(struct ctp_coros *coros, uint32_t i, uint64_t ts_ns);
struct ctp_wake {
	uint64_t ref, by, tid, ts_ns;
	uint32_t marks; /* CTP_MARK_... */
};
void ctp_life_wake(struct ctp_coros *coros, const struct ctp_wake *wake);
void ctp_life_await(struct ctp_coros *coros, uint64_t ref, uint64_t target, uint32_t marks, uint64_t ts_ns);

/* The number of a coroutine in the stream, and the id of its probe as far as that is known. 0: it is not known. */
uint64_t ctp_life_number(struct ctp_coros *coros, uint64_t ref, uint64_t ts_ns, uint64_t *probe_id);

/* A record: what its next suspension waits for. */
struct ctp_reason {
	uint64_t ref, value, pid, ts_ns;
	uint32_t number; /* CTP_REASON */
	bool more;       /* there are others */
};
void ctp_life_reason(struct ctp_coros *coros, const struct ctp_reason *r);

/*
 * A record of an entry about reasons, objects and their holders. owner: the process and the thread that wrote it, as in a ring; 0 as
 * the thread: not known. False: it is about something else.
 */
bool ctp_coros_fact(struct ctp_coros *coros, uint64_t owner, const struct ctp_ring_entry *e);

/* A record: a coroutine holds so much more of an object, or less. */
struct ctp_hold_of {
	uint64_t coro, probe_id, pid, object, ts_ns;
	uint64_t site; /* a number in the stream, where it got that; 0: not known */
	int32_t count;
};
void ctp_life_hold(struct ctp_coros *coros, const struct ctp_hold_of *hold);

/* A row: number of the event, and the rest as in an entry. */
struct ctp_who {
	uint64_t probe_id, coro, first; /* of a coroutine */
};
void ctp_coros_row(struct ctp_coros *coros, const struct ctp_who *who, uint64_t number, const struct ctp_ring_entry *e,
                   uint64_t tid);

/* A record: what a thread (tid 0: not known) had no room for between two times. */
struct ctp_missed {
	uint64_t tid, notes, transitions, after_ns, ts_ns;
};
void ctp_coros_missed(struct ctp_coros *coros, const struct ctp_missed *missed);

/*
 * A ring's entry about a gap. The transitions of a gap are known by their numbers. Its thread and its times are recorded with the
 * entry after it.
 */
void ctp_coros_gap_begin(struct ctp_ring *ring, const struct ctp_ring_entry *e);

/* The gap in a ring, if there is one, has come to its end. */
void ctp_coros_gap(struct ctp_coros *coros, struct ctp_ring *ring, uint64_t ts_ns);

/* Adopts the coroutine of this generation, unless that is done. False: the station has another one. */
bool ctp_life_adopt(struct ctp_coros *coros, uint32_t i, uint32_t generation);

/* It is dead, since ts_ns; events: number of the event after its last. */
void ctp_life_die(struct ctp_coros *coros, uint32_t i, uint64_t events, uint64_t ts_ns);

/*
 * Its events up to number to, before ts_ns, are missing. There is always room for a hole; for one more, after ctp_coros_room.
 */
#define CTP_LIFE_AHEAD_MAX (UINT64_C(1) << 32) /* events that one can be ahead of what we know; more is not a count */
void ctp_coros_hole(struct ctp_coros *coros, uint32_t i, uint64_t to, uint64_t ts_ns);
void ctp_coros_room(struct ctp_coros *coros);

/*
 * The first transition that is taken of a coroutine which may have had events before the collector came. Those before this one may be
 * in another ring still: they are missing, but not lost if they do not come.
 */
void ctp_coros_begin(struct ctp_coros *coros, uint32_t i, struct ctp_ring_entry *e);

/* Holes for which it is time, or all: what the slots have becomes rows, the rest is lost. */
void ctp_coros_close(struct ctp_coros *coros, bool all);

/*
 * A processor may read its counter while it still waits for what comes from another one: a thread that goes on with a coroutine
 * can have an earlier time than the thread that left it, by as long as that takes. The numbers know better: of one coroutine no
 * event is earlier than the one before it, or than its birth.
 */
static inline uint64_t ctp_not_before(uint64_t ts_ns, uint64_t before_ns) { return ts_ns > before_ns ? ts_ns : before_ns; }

/* A suspension without a site: its code may be found by the frame. */
static inline bool ctp_entry_is_unknown(const struct ctp_ring_entry *e) { return e->value && !(e->what >> 32); }

/* The values of a transition, by its entry, at a time and a site that are made to fit. */
static inline void ctp_transition_fill(uint64_t *val, const struct ctp_who *who, uint64_t number, const struct ctp_ring_entry *e,
                                       uint64_t tid, uint64_t ts_ns, uint64_t site)
{
	val[CTP_TRANSITION_PROBE] = who->probe_id;
	val[CTP_TRANSITION_TID] = tid;
	val[CTP_TRANSITION_ADDR] = e->value;
	val[CTP_TRANSITION_SEQ] = number - who->first + 1;
	val[CTP_TRANSITION_ACTIVE] = CTP_ENTRY_KIND(e->what) == CTP_ENTRY_RESUME;
	val[CTP_TRANSITION_TS] = ts_ns;
	val[CTP_TRANSITION_CORO] = who->coro;
	val[CTP_TRANSITION_INDEX] = number - who->first;
	val[CTP_TRANSITION_SITE] = site;
}

/* A coroutine that wakes itself yields, whether the wake or its suspension comes first. */
static inline enum ctp_wake_how ctp_wake_how(const struct ctp_wake *wake)
{
	if (wake->marks & CTP_MARK_STAYED)
		return CTP_WAKE_STAYED;
	if (wake->marks & CTP_MARK_YIELD || wake->by == wake->ref)
		return CTP_WAKE_YIELD;
	return wake->marks & CTP_MARK_LEAVING ? CTP_WAKE_LEAVING : CTP_WAKE_CALL;
}

/* The values of a wake, by the numbers that its two coroutines have in the stream. */
static inline void ctp_wake_fill(uint64_t *val, const struct ctp_wake *wake, uint64_t probe_id, uint64_t coro, uint64_t by_coro)
{
	val[CTP_WAKE_TS] = wake->ts_ns;
	val[CTP_WAKE_PROBE] = probe_id;
	val[CTP_WAKE_CORO] = coro;
	val[CTP_WAKE_TID] = wake->tid;
	val[CTP_WAKE_BY] = by_coro;
	val[CTP_WAKE_HOW] = ctp_wake_how(wake);
}

/* Takes the transitions and wakes that the entries begin with, as long as each is due. Returns how many. */
unsigned ctp_coros_due(struct ctp_coros *coros, const struct ctp_ring *ring, const struct ctp_ring_entry *e, unsigned n);

#endif
