/*
 * judge-groups.h - what the rules share: the judge, who knows the time and the history, and the groups that a rule adds members to.
 *
 * A group is of a rule, a spawn place and a suspend place, and is one finding in the end. Above this stand judge-circle.h (circles),
 * judge-hope.h (who could end a wait), judge-why.h (what is not in order with a wait) and judge-words.h (how a finding is put into words);
 * above those the rules (judge-run.c, judge-wait.c, judge-over.c, judge-program.c), and at the top judge.h, who calls them.
 */
#ifndef CTP_JUDGE_GROUPS_H
#define CTP_JUDGE_GROUPS_H

#include <signal.h>
#include <string.h>

#include "analyse/report.h"
#include "analyse/tally.h"

/*
 * What "long" means. A wait, a run or a life is compared with the longest of its own kind that came to an end, and only if
 * there were enough of them; what is shorter than the floors is noise of the machine.
 */
enum {
	CTP_JUDGE_HISTORY = 20,          /* so many must have come to an end */
	CTP_JUDGE_FACTOR = 10,           /* and it must be so many times the longest of them */
	CTP_JUDGE_FLOOR_NS = 100000000,  /* and at least this: for less, a busy system keeps threads from running */
	CTP_JUDGE_RUN_NS = 100000000,    /* a run, if other threads went on meanwhile; else five times that */
	CTP_JUDGE_QUIET_NS = 1000000000, /* a silence of the whole program */
	CTP_JUDGE_PROCESSES = 64,        /* beside the section's own, of which something is judged */
	CTP_JUDGE_VISITS = 5,            /* to one place, of one coroutine in the mean, from which on it lives on */
};

/* Why a wait is not in order. Its like: who were made at the same place, and wait at the same place. */
enum {
	CTP_WHY_AWAY = 1,        /* nearly all waits there are ended by coroutines, and its like rest elsewhere */
	CTP_WHY_PASSING = 2,     /* most of its like have ended, so this one was meant to */
	CTP_WHY_CIRCLE = 4,      /* all who could wake it wait for far too long themselves */
	CTP_WHY_CHILDREN = 8,    /* such waits are ended by coroutines that the waiting one has made, and it has none any more */
	CTP_WHY_OVERTAKEN = 16,  /* others that went to wait there later have come back, and it has itself come back before */
	CTP_WHY_RHYTHM = 32,     /* the same where something from outside ends waits, a hundred times as fast */
	CTP_WHY_FORGOTTEN = 64,  /* all of the program sleeps, it rests elsewhere, and such waits take a thousandth of the time */
	CTP_WHY_FRESH = 128,     /* hardly any of its like ever came back from there, and others need it */
	CTP_WHY_QUIET = 256,     /* no wakes are told, and the whole program fell silent while it worked */
	CTP_WHY_NEEDED = 1024,   /* who made it is not in order, and waits for what it has made */
	CTP_WHY_STANDSTILL = 512, /* rows that name no places, and nearly all are suspended */
};

struct ctp_group {
	enum ctp_rule rule;
	uint32_t spawn, place;
	uint64_t first; /* of a wait cycle: the member that came first; else 0 */
	uint64_t by_certainty[CTP_CERTAIN_PROVED + 1]; /* members */
	uint64_t cases; /* what members did, where one can do it several times */
	uint64_t longest_ns, shortest_ns, from_ns, to_ns;
	struct ctp_report_member *who;
	uint32_t nwho;
	struct ctp_report_member *waiters;
	uint32_t nwaiters;
	uint64_t dependents; /* that wait because of a member */
	uint64_t count, most_ns, late; /* as the rule has it: others that waited, wakes ... */
	uint64_t seen_ns, cpu_ns; /* of a run: between two samples, and on a processor in that time */
	struct ctp_ended ended; /* of a crash */
	const struct ctp_coroutine *last; /* that ran, if none did when it crashed; null: not known */
	bool still; /* it has not ended */
	bool proved; /* the finding is, whoever its members are */
	bool dead; /* members that are cases are */
	uint32_t why; /* its members were judged: CTP_WHY */
	char *extra; /* a line of evidence */
};

struct ctp_judge {
	struct ctp_follow *follow;
	struct ctp_tally *tally;
	const struct ctp_follow_end *end;
	uint64_t start_ns, end_ns; /* of what is judged, on the section's clock */
	struct ctp_group *groups;
	uint32_t ngroups, room;
	uint32_t *slots; /* numbers + 1 of groups, by hash */
	uint64_t waiting, running; /* coroutines at the end */
	uint64_t nowhere, nowhere_ns; /* those that wait at no place that is known, and how long one of them has at most */
	uint64_t busy; /* that run then, as far as a probe of ours tells */
	struct ctp_judge_process {
		uint64_t pid, did_ns, seen_ns; /* the last that it did, and when it was last seen */
	} others[CTP_JUDGE_PROCESSES];
	uint32_t nothers;
	/* Of places where coroutines suspend; and of those where they are made: where they rest, and where they mostly wait. */
	struct ctp_judge_place {
		uint64_t waits, woken, inside, max_ns;
		uint32_t different;
	} *places;
	struct ctp_judge_spawn {
		uint64_t waits, home_waits, max_ns;
		uint32_t home, main; /* habits; 0: none */
	} *spawns;
	uint32_t nplaces;        /* places where anybody ever waited */
	uint64_t *middle_ns, any_middle_ns; /* of each habit, and of all: since when somebody is in the middle of something */
	uint64_t history, visits; /* CTP_JUDGE_HISTORY and CTP_JUDGE_VISITS; of what was before a collector came, the last waits are known at most */
	bool silent; /* the program is, for far longer than ever before, and did not end by itself */
	bool still; /* the whole program stands still, and a finding says so */
	bool adrift; /* one that ran is in a gap, and may hold its thread */
	bool failed;
};

bool ctp_judge_init(struct ctp_judge *j); /* follow and tally are there. False: out of memory */
void ctp_judge_fini(struct ctp_judge *j);

/* The group, made if it is new; null: out of memory, or there are too many. */
struct ctp_group *ctp_judge_group(struct ctp_judge *j, enum ctp_rule rule, uint32_t spawn, uint32_t place);
struct ctp_group *ctp_judge_circle(struct ctp_judge *j, enum ctp_rule rule, const struct ctp_coroutine *first); /* one for each circle */

/* Adds a coroutine that is so since from_ns, for that long. */
void ctp_judge_add(struct ctp_judge *j, struct ctp_group *g, struct ctp_coroutine *co, enum ctp_certainty certainty,
                   uint64_t from_ns, uint64_t ns);
void ctp_judge_add_case(struct ctp_judge *j, struct ctp_group *g, const struct ctp_tally_case *c, enum ctp_certainty certainty);

/*
 * Up to when it is known what a coroutine did not do: the end, but for one of another process the last that this one did or was
 * seen, for nobody tells when it ended.
 */
uint64_t ctp_judge_known_ns(const struct ctp_judge *j, const struct ctp_coroutine *co);

static inline uint64_t ctp_judge_end_ns(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return j->nothers ? ctp_judge_known_ns(j, co) : j->end_ns;
}

/* Whether something may have happened to it that the trace does not tell. Without a birth, where others have one, it may be dead. */
static inline bool ctp_judge_in_doubt(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	if (!(co->flags & CTP_CO_BIRTH) && j->follow->counts.births && !j->follow->attached_ns)
		return true;
	return co->flags & (CTP_CO_TAIL | CTP_CO_CONFLICT) || co->since_ns < j->follow->unsure_ns;
}

/*
 * How sure it is that a coroutine did nothing since: nothing of it is missing, and neither are the wakes of others where
 * these could say otherwise. Of a stream that was cut short it is not known what came just before the cut.
 */
static inline enum ctp_certainty ctp_judge_sure(const struct ctp_judge *j, const struct ctp_coroutine *co, bool wakes)
{
	if (ctp_judge_in_doubt(j, co) || (wakes && j->follow->missed_ns > co->suspended_ns))
		return CTP_CERTAIN_UNKNOWN;
	return j->end->complete ? CTP_CERTAIN_PROVED : CTP_CERTAIN_LIKELY;
}

/* Signals that nobody sends to end a program. */
static inline bool ctp_judge_is_crash(int64_t signal)
{
	return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGFPE || signal == SIGILL || signal == SIGTRAP ||
	       signal == SIGSYS;
}

/* The program ended by itself. */
static inline bool ctp_judge_exited(const struct ctp_judge *j) { return !j->end->cut && ctp_ended_is(&j->end->ended, CTP_OUTCOME_EXITED); }

/* Far longer than anything of its kind. */
static inline bool ctp_judge_too_long(const struct ctp_hist *history, uint64_t ns)
{
	return history->count >= CTP_JUDGE_HISTORY && ns >= CTP_JUDGE_FLOOR_NS && ns / CTP_JUDGE_FACTOR >= history->max_ns;
}

/* A copy of a text, or null; and one of the name of the nearest ancestor, for a coroutine that has none. */
char *ctp_judge_copy(struct ctp_judge *j, const char *text);
char *ctp_judge_in(struct ctp_judge *j, const struct ctp_coroutine *co);

/* Whether it runs, for as long as the whole program has stood still: then it is its thread that sleeps. */
static inline bool ctp_judge_blocks(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return co->state == CTP_RUNNING && co->flags & CTP_CO_OURS && co->since_ns <= j->follow->seen.still_from_ns;
}

#endif
