/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-groups.h - what the rules share: the judge, with times and histories, and the groups that rules add members to.
 *
 * A group has a rule, a spawn place and a suspend place, and becomes one finding. The files of the judge are layers, each of which
 * uses those before it: this one; judge-reasons (what a wait is for), judge-rest (waits for descriptors), judge-members (the
 * coroutines of a group), judge-circle (circles), judge-wakers (wakers that may still come), judge-why (reasons against a wait),
 * judge-own (what a coroutine did before), judge-words (texts); the rules in judge-run, judge-object, judge-wait, judge-over and
 * judge-program; suspects; judge-roots (which finding is because of which); judge, which calls them.
 */
#ifndef CTP_JUDGE_GROUPS_H
#define CTP_JUDGE_GROUPS_H

#include <signal.h>
#include <string.h>

#include "analyse/coro-own.h"
#include "analyse/objects.h"
#include "analyse/report.h"
#include "analyse/tally.h"
#include "base/compare.h"
#include "base/map.h"

/*
 * What "far too long" means: a wait, a run or a life is compared with the longest of its kind that ended, if enough have ended.
 * Spans that are shorter than the floors are noise of the machine.
 */
enum {
	CTP_GROUP_KEPT = 2,              /* places of coroutines that a long run keeps waiting; a finding names no more */
	CTP_JUDGE_HISTORY = 20,          /* spans that must have ended */
	CTP_JUDGE_FACTOR = 10,           /* times the longest of these */
	CTP_JUDGE_FLOOR_NS = 100000000,  /* the least: a busy system keeps threads from running for less */
	CTP_JUDGE_RUN_NS = 100000000,    /* the least for a run, if other threads went on meanwhile; else five times that */
	CTP_JUDGE_QUIET_NS = 1000000000, /* the least for a silence of the whole program */
	CTP_JUDGE_PROCESSES = 64,        /* beside the section's own; coroutines of further ones are not judged */
	CTP_JUDGE_VISITS = 5,            /* waits at one place, for each coroutine of a spawn place: such coroutines live on */
};

/* Why a wait is not in order. Siblings are coroutines with the same spawn place. */
enum {
	CTP_WHY_AWAY = 1,        /* coroutines end nearly all waits there, and its siblings rest elsewhere */
	CTP_WHY_PASSING = 2,     /* most siblings have ended, so this coroutine was meant to */
	CTP_WHY_CIRCLE = 4,      /* all coroutines that could wake it wait for far too long themselves */
	CTP_WHY_CHILDREN = 8,    /* children end such waits, and the waiting coroutine has none alive */
	CTP_WHY_OVERTAKEN = 16,  /* later waits there have ended, and this coroutine has returned from there before */
	CTP_WHY_RHYTHM = 32,     /* the same where something from outside ends waits, and the other waits took a hundredth of the time */
	CTP_WHY_FORGOTTEN = 64,  /* the program sleeps; the coroutine rests elsewhere, and earlier waits here took a thousandth of the time */
	CTP_WHY_FRESH = 128,     /* hardly a wait of its siblings ended there, and another coroutine needs this one */
	CTP_WHY_QUIET = 256,     /* the stream has no wakes, and the whole program fell silent */
	CTP_WHY_NEEDED = 1024,   /* its parent is not in order, and waits for its children */
	CTP_WHY_AWAITED = 2048,  /* a coroutine that is not in order awaits it, itself or through others */
	CTP_WHY_STANDSTILL = 512, /* the stream has no places, and nearly all coroutines are suspended */
};

struct ctp_group {
	enum ctp_rule rule;
	uint32_t spawn, place;
	uint64_t key; /* wait cycle: the same for circles that look alike; of an object: its address and process; else 0 */
	uint64_t circles; /* wait cycle: how many there are */
	uint64_t pid;   /* of an object: its process, */
	struct ctp_reason_of object; /* and the reason for it of the first member; what 0: the group is about waits */
	uint32_t wanted_at; /* of an object: where a member waited for it, or waits; 0: not known */
	uint64_t by_certainty[CTP_CERTAIN_PROVED + 1]; /* the number of members */
	uint64_t cases; /* what members did, where a member can do it several times */
	uint64_t longest_ns, shortest_ns, from_ns, to_ns;
	struct ctp_report_member *who;
	uint32_t nwho;
	struct ctp_report_member *waiters;
	uint32_t nwaiters;
	uint64_t dependents; /* coroutines that wait because of a member */
	uint64_t count, most_ns, late; /* the rule's own: waiting coroutines, wakes ... */
	uint64_t there; /* growth: members that wait at place */
	uint32_t kept_at[CTP_GROUP_KEPT]; /* long run: the first places of coroutines that wait for it; 0: no more */
	uint64_t seen_ns, cpu_ns; /* the longest run: from the first sample to the last, and on a processor in that time */
	struct ctp_ended ended; /* crash: how the program ended */
	const struct ctp_coroutine *last; /* crash: the last that ran, if none ran then; null: not known */
	const struct ctp_lock_order *order, *reverse; /* lock order: the first two */
	bool still; /* long run: it has not ended */
	bool proved; /* the finding is proved, whatever its members are */
	bool dead; /* members that came as cases are dead */
	uint32_t why; /* CTP_WHY bits of the members */
};

struct ctp_judge {
	struct ctp_follow *follow;
	struct ctp_tally *tally;
	const struct ctp_follow_end *end;
	uint64_t start_ns, end_ns; /* of the section, on its clock */
	bool ordinal; /* the section has no clock: no span is long or short */
	bool filtered; /* coroutines and records may be left out: what is not there says nothing */
	bool facts_only; /* one of these: rules that compare with other waits and runs are not applied */
	const char *origin; /* of a section that was merged with others; else null */
	struct ctp_group *groups;
	uint32_t ngroups;
	size_t room;
	struct ctp_map map; /* of the groups */
	uint64_t waiting, running; /* suspended coroutines at the end; those that run or are ready */
	uint64_t nowhere, nowhere_ns; /* suspended coroutines without a place; their longest wait */
	uint64_t busy; /* running coroutines with CTP_CO_OURS */
	struct ctp_judge_process {
		uint64_t pid, did_ns, seen_ns; /* its last event; when the collector saw it last */
	} others[CTP_JUDGE_PROCESSES];
	uint32_t nothers;
	/*
	 * By number of a suspend place; and by number of a spawn place, with two of its habits: the one in which something from
	 * outside has ended most waits, and the one with the most waits.
	 */
	struct ctp_judge_place {
		uint64_t waits, woken, inside, max_ns, gross_ns; /* the longest wait without the machine's part, and with it */
		uint64_t self; /* times that a coroutine only yielded there: none of the waits */
		uint32_t different;
	} *places;
	struct ctp_judge_spawn {
		uint64_t waits, outside_waits, max_ns; /* outside_waits: waits of the habit outside that ended from outside */
		uint32_t outside, main; /* 0: none */
	} *spawns;
	uint32_t nplaces;        /* places where a wait ended */
	uint64_t *active_ns, any_active_ns; /* by habit, and of all: the earliest since_ns of an active one (judge-wakers.h) */
	uint64_t history, visits; /* CTP_JUDGE_HISTORY and CTP_JUDGE_VISITS; fewer in a program that was attached to */
	bool silent; /* no resume for far longer than ever before, and the program did not end by itself */
	bool still; /* a finding says that the whole program stands still */
	bool objects_found; /* one that rests on reasons and objects is likely: it says more than a standstill */
	bool in_gap; /* a coroutine that ran is in a gap, and may hold its thread */
	bool failed;
};

static inline bool ctp_wait_is(const struct ctp_coroutine *co) { return co && co->state == CTP_SUSPENDED; }

bool ctp_judge_init(struct ctp_judge *j); /* follow, tally, end and times are set. False: out of memory */
void ctp_judge_fini(struct ctp_judge *j);

/* The group, made if it is new; null: out of memory, or the section has too many. */
struct ctp_group *ctp_judge_group(struct ctp_judge *j, enum ctp_rule rule, uint32_t spawn, uint32_t place);

/* The group of all circles with a key, which is not 0. If it is new, it has the sites of first. */
struct ctp_group *ctp_judge_circle(struct ctp_judge *j, enum ctp_rule rule, const struct ctp_coroutine *first, uint64_t key);

/* The group of an object that breaks a rule as a whole. */
struct ctp_group *ctp_judge_object_group(struct ctp_judge *j, enum ctp_rule rule, uint64_t pid, const struct ctp_reason_of *reason);

/*
 * The time up to which all events of a coroutine are known: the end of the section; for a coroutine of another process, the last
 * event or look at that process, because no record tells its end.
 */
uint64_t ctp_judge_known_ns(const struct ctp_judge *j, const struct ctp_coroutine *co);

static inline uint64_t ctp_judge_end_ns(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return j->nothers ? ctp_judge_known_ns(j, co) : j->end_ns;
}

/*
 * Whether events of a coroutine may be missing after its last one. Where others have a birth, a coroutine without one may be dead.
 */
static inline bool ctp_judge_in_doubt(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	if (!(co->flags & CTP_CO_BIRTH) && j->follow->counts.births && !j->follow->attached_ns)
		return true;
	return co->flags & (CTP_CO_TAIL | CTP_CO_CONFLICT) || co->since_ns < j->follow->unsure_ns;
}

/* The most that can be said of a coroutine whose run of the program may have ended when another one began. */
static inline enum ctp_certainty ctp_judge_at_most(const struct ctp_judge *j, const struct ctp_coroutine *co, enum ctp_certainty sure)
{
	bool older = sure > CTP_CERTAIN_POSSIBLE && co->since_ns < j->follow->other_run_ns;
	return older ? CTP_CERTAIN_POSSIBLE : sure;
}

/*
 * The certainty that a coroutine did nothing since its last event. wakes: lost wakes could say otherwise. A stream that was cut
 * short may lack events just before the cut.
 */
static inline enum ctp_certainty ctp_judge_sure(const struct ctp_judge *j, const struct ctp_coroutine *co, bool wakes)
{
	if (ctp_judge_in_doubt(j, co) || (wakes && j->follow->missed_ns > co->suspended_ns))
		return CTP_CERTAIN_UNKNOWN;
	return ctp_judge_at_most(j, co, j->end->complete ? CTP_CERTAIN_PROVED : CTP_CERTAIN_LIKELY);
}

/* Signals that nobody sends to end a program. */
static inline bool ctp_judge_is_crash(int64_t signal)
{
	return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
	       signal == SIGTRAP || signal == SIGSYS;
}

/* The program ended by itself. */
static inline bool ctp_judge_exited(const struct ctp_judge *j) 
{
	return !j->end->cut && ctp_ended_is(&j->end->ended, CTP_OUTCOME_EXITED);
}

/* The length of a span, without stops of the process and pauses that were the machine's. */
static inline uint64_t ctp_judge_own_ns(const struct ctp_judge *j, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = ctp_follow_ns(j->follow, from_ns, to_ns);
	return ns - ctp_least(ns, ctp_machine_ns(&j->tally->machine, from_ns, to_ns));
}

/* Far too long, beside a history; longest_ns: the longest of it, without the machine's part. */
static inline bool ctp_judge_too_long(const struct ctp_hist *history, uint64_t longest_ns, uint64_t ns)
{
	return history->count >= CTP_JUDGE_HISTORY && ns >= CTP_JUDGE_FLOOR_NS && ns / CTP_JUDGE_FACTOR >= longest_ns;
}

/* A coroutine that is alive; null: it is dead or forgotten, or id is 0. */
static inline struct ctp_coroutine *ctp_judge_living(const struct ctp_judge *j, uint64_t id)
{
	struct ctp_coroutine *co = ctp_follow_find(j->follow, id);
	return co && co->state != CTP_DEAD ? co : NULL;
}

/* The coroutine that has run on the thread of co's last run since since_ns, or earlier; or null. */
static inline struct ctp_coroutine *ctp_judge_holds_thread(const struct ctp_judge *j, const struct ctp_coroutine *co,
                                                           uint64_t since_ns)
{
	struct ctp_coroutine *other = co->thread ? ctp_follow_find(j->follow, j->follow->threads->list[co->thread].current) : NULL;
	return other && other != co && other->state == CTP_RUNNING && other->since_ns <= since_ns ? other : NULL;
}

/* The statement is for each coroutine, also for dead ones that are not forgotten yet. */
#define CTP_EACH_COROUTINE(j, co) for (uint32_t at_ = 0; ((co) = ctp_follow_each((j)->follow, &at_));)

/* Whether a coroutine has run for as long as the whole program stands still: then its thread sleeps. */
static inline bool ctp_judge_blocks(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return co->state == CTP_RUNNING && co->flags & CTP_CO_OURS && co->since_ns <= j->follow->seen.still_from_ns;
}

#endif
