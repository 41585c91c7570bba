/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report.h - what went wrong in a trace, with the evidence; and the numbers beside it.
 *
 * A report is plain data: a printer needs nothing else. analysis.h makes one from a stream. The rules are in rules.h, and what each
 * proves and cannot know is in ctp-report.1.
 *
 * Nothing rests on a gap. A finding is proved if the trace has the fact itself, and nothing is missing that could contradict it;
 * likely if the facts are whole, and a comparison says that they are no accident; unknown if events were lost that could say
 * otherwise. A finding with an excuse may be harmless, and so is not likely: it is possible, or unknown.
 */
#ifndef CTP_REPORT_H
#define CTP_REPORT_H

#include "analyse/follow.h"
#include "analyse/rules.h"
#include "base/linkage.h"

CTP_C_BEGIN

enum {
	CTP_REPORT_MEMBERS = 100, /* listed in a finding; further ones are only counted */
	CTP_REPORT_LINES = 12,    /* of evidence; and of what to look at next */
	CTP_REPORT_TOP = 20,
	CTP_REPORT_SECTIONS = 256,
	CTP_REPORT_FINDINGS = 1000, /* of a section */
	CTP_REPORT_SUSPECTS = 3,    /* waits of a section that stand out: those that do so most */
	CTP_REPORT_OBJECTS = 1000,  /* of a section: those that were waited for longest */
	CTP_REPORT_HOLDERS = 4,     /* of an object; the others are counted */
	CTP_REPORT_REASONS = 4,     /* of a wait */
};

/* What a coroutine waits for; any one of several reasons ends the wait. */
struct ctp_report_reason {
	uint8_t what;         /* enum ctp_waits_for of events.h */
	uint64_t pid, at;     /* of an object: its process and its address; of a descriptor at is its number */
	uint64_t count, due_ns; /* count: of permits, how many; due_ns: of a timer, from the start of the section */
};

/*
 * A coroutine in a finding. Texts belong to the report, and have any bytes but NUL, newlines too; null: not known. Times are
 * nanoseconds from the start of the section.
 */
struct ctp_report_member {
	uint64_t id, probe, since_ns, for_ns, waker, tid, pid; /* waker, tid, pid 0: not known */
	char *name, *in;      /* in: without a name, that of the nearest ancestor that has one */
	char *place, *spawn;  /* where the coroutine suspended last, and where it was made */
	uint64_t waits_for;   /* the coroutine that it waits for; 0: not known, or it waits for none */
	char *waits_for_name; /* of a waiter of a finding: the name of that coroutine, which may not be listed */
	bool awaits;          /* the stream tells waits_for; else it is inferred from earlier wakes */
	struct ctp_report_reason reasons[CTP_REPORT_REASONS];
	uint32_t nreasons;    /* 0 also if not all reasons are known */
	enum ctp_state state;
	enum ctp_certainty certainty;
};

/* What is wrong, or may be. A wait that only stands out beside others has no rule, and has an excuse. */
struct ctp_finding {
	enum ctp_rule rule; /* CTP_RULE_NONE: a wait that stands out */
	enum ctp_certainty certainty;
	char *title;
	char *excuse;       /* why it may be harmless, completes "not reported as likely because"; null: nothing speaks for that */
	char *evidence[CTP_REPORT_LINES], *next[CTP_REPORT_LINES]; /* each up to the first null */
	char *spawn, *place;
	uint64_t members;
	uint64_t from_ns, to_ns;
	struct ctp_report_member *who;
	uint32_t nwho;
	struct ctp_report_member *waiters; /* coroutines that wait because of a member or of another waiter: a tree by waits_for */
	uint32_t nwaiters;
	uint64_t waiting;                  /* the number of all waiters, of which some are listed */

	uint32_t number; /* from 1 on, in the order of all outputs: findings without an excuse come first */
	uint32_t root;   /* the number of the finding that has the coroutines which these wait for; 0: there is none */

	/* Only of a wait that stands out, whose waiters are not listed: */
	uint64_t dependents;          /* coroutines that wait where only members have ended waits, for longer than any such wait took */
	uint64_t open;                /* all coroutines that wait there at the end, members too */
	uint64_t ended, longest_ns, p99_ns; /* waits there that ended */
};

/* Coroutines of one spawn and suspend place that still wait at the end, or still run, in findings or not. */
struct ctp_report_still {
	char *spawn, *place;
	uint64_t coroutines, runnable, longest_ns, shortest_ns;
	uint64_t ended, ended_max_ns; /* waits that ended at this place, and the longest of them */
	uint64_t found;   /* coroutines that are in a finding */
	uint64_t longest, tid; /* the coroutine that has done so longest, and the thread of its last run */
	char *name;       /* of that coroutine */
	bool certain;     /* nothing is missing of any of them */
};

struct ctp_report_times {
	uint64_t count, total_ns, p50_ns, p99_ns, max_ns;
};

struct ctp_report_site {
	char *place;
	struct ctp_report_times suspended, runnable, running; /* running: runs after a suspension there */
	uint64_t waiting; /* at the end */
};

struct ctp_report_thread {
	uint64_t tid, busy_ns, unknown_ns, resumes, last_ns;
	uint64_t known_ns; /* looked_ns without the gaps of the thread: busy_ns is a share of this */
	char *name;
};

struct ctp_report_holder {
	uint64_t id;
	int64_t count;
	uint64_t since_ns; /* after the start of the section */
	char *name;
	char *taken;       /* the place where it got the last of it; null: not known */
	bool alive;
};

/* Something that coroutines wait for, and its last state. what is enum ctp_waits_for of events.h; 0: not known. */
struct ctp_report_object {
	char *name, *made;    /* made: the place; null: not known */
	uint64_t pid, at;     /* its process and its address */
	uint8_t what;
	bool owned, closed;
	bool is_gone;         /* it was destroyed, gone_ns after the start of the section, while coroutines waited for it: the rest is */
	uint64_t gone_ns;     /* as it was then */
	bool known, room_known;   /* whether these two are known: */
	uint64_t available, room; /* the last counts; room: of a queue with a limit */
	bool exact, room_exact;   /* and whether they are certain; else only that they are above 0 is */
	bool counted;             /* available is known by what the holders have: */
	uint64_t left;
	uint64_t total;       /* the most that was ever available, or held */
	bool holders_known;
	bool has_holds;       /* the trace says what coroutines hold of it */
	struct ctp_report_holder holders[CTP_REPORT_HOLDERS];
	uint32_t nholders;
	uint64_t held_by_others; /* how much the holders that are not listed hold */
	uint64_t waiters, longest_ns;
};

struct ctp_report_heavy {
	uint64_t id, ns;
	char *name, *spawn;
};

enum { CTP_HEAVY_RUNNING, CTP_HEAVY_RUNNABLE, CTP_HEAVY_SUSPENDED, CTP_HEAVY_UNKNOWN, CTP_HEAVY_KINDS };

struct ctp_report_section {
	char *command; /* the elements of argv, each with its NUL; null: not known */
	size_t command_bytes;
	char *file; /* the input, as it was given */
	char *host, *pid, *source, *tool;
	char *filtered; /* the options of ctp-filter by which records were left out; null: none were */
	bool filtered_events; /* not only by time: threads may have been busy for longer, and known_ns says nothing */
	char *origin;  /* its name, if the section was merged with others; else null */
	char *origin_error_ns; /* how far times may be off from those of other origins, or "unknown"; null: they have one clock */
	uint64_t origin_number;  /* and its number; 0: the section was not merged */
	uint64_t origin_section; /* which of the merged sections it is from */
	bool has_wall, ordinal; /* ordinal: times are numbers of records, and no span has a length; heavy and total_ns are empty */
	int64_t start_wall_ns;
	uint64_t start_ns, duration_ns; /* duration_ns: until the program was last seen executing, or until_ns */
	uint64_t ended_ns; /* when its end was seen; or duration_ns */
	struct ctp_ended ended;
	char signal[16]; /* the last that was passed on to the program; "": none was */
	uint64_t signal_ns;
	bool complete, missing, cut, until; /* complete, missing, cut: as in ctp_follow_end; until: the section ends at until_ns */
	bool outside; /* the section ends before since_ns, and is not judged */
	bool remnant; /* the collector came late, and the section has remnants of the time before */
	bool unrecorded; /* the collector came late, and the program had not recorded before */
	struct ctp_follow_counts counts;
	uint64_t looked_ns; /* the part of duration_ns that was asked for */
	uint64_t quiet_ns, pause_ns; /* from the last resume until judged_ns; and the longest time between two resumes before */
	uint64_t judged_ns; /* the moment that findings, suspects and waiting are of: duration_ns, or before coroutines were destroyed */
	uint64_t destroyed; /* coroutines that the program destroyed at its end, after that moment; 0: judged at the end */
	uint64_t total_ns[CTP_HEAVY_KINDS]; /* sums over all coroutines */
	uint64_t in_gap;    /* living coroutines whose gap reaches to the end */
	uint64_t alive, nthreads_seen;

	struct ctp_finding *findings; /* the most certain first; then in the order of rules.h; then the most members first */
	uint32_t nfindings;
	struct ctp_finding *suspects; /* those with an excuse: of rules, in the same order; then the waits that stand out most first */
	uint32_t nsuspects;
	uint64_t ignored; /* findings, with or without an excuse, that are left out */
	char *one_site; /* nearly all suspensions have this place, and coroutines wait there for various things; null: there is none */
	struct ctp_report_still *waiting, *running; /* the most coroutines first */
	uint32_t nwaiting, nrunning;
	struct ctp_report_site *sites; /* the most time in the state sites_by first; of an ordinal section the most waits */
	enum ctp_state sites_by;
	uint32_t nsites;
	struct ctp_report_thread *threads; /* the busiest first; of an ordinal section the one with the most resumes */
	uint32_t nthreads;
	struct ctp_report_heavy heavy[CTP_HEAVY_KINDS][CTP_REPORT_TOP];
	uint32_t nheavy[CTP_HEAVY_KINDS];
	struct ctp_report_object *objects; /* the longest wait first */
	uint32_t nobjects, nobjects_seen;
};

struct ctp_report {
	struct ctp_report_section *sections; /* the first CTP_REPORT_SECTIONS */
	uint32_t nsections;
	size_t room;
	uint64_t sections_seen, ignored; /* ignored: findings, of all sections */
	const char *const *ignore; /* patterns of findings to leave out */
	size_t nignore;
	uint64_t *matched;            /* the number of findings that each pattern matches; null: there are no patterns */
	uint64_t since_ns, until_ns;  /* the time that is asked for, from the start of each section; until_ns 0: to its end */
	uint64_t outside, longest_ns; /* sections that end before since_ns; the longest section */
	bool failed; /* memory ran out: the report is not whole */
};

/* For code that makes reports itself: the report of an analysis is freed with the analysis. */
void ctp_report_fini(struct ctp_report *r);
void ctp_finding_fini(struct ctp_finding *f);
void ctp_report_member_fini(struct ctp_report_member *m);
void ctp_report_object_fini(struct ctp_report_object *o);

/* The finding with this number, from 0 on: those with an excuse come last, as in all outputs. Null: there are fewer. */
static inline const struct ctp_finding *ctp_report_finding(const struct ctp_report_section *s, uint64_t number)
{
	if (number < s->nfindings)
		return &s->findings[number];
	return number - s->nfindings < s->nsuspects ? &s->suspects[number - s->nfindings] : NULL;
}

/* For qsort: the larger of two numbers comes first. */
static inline int ctp_most_first(uint64_t a, uint64_t b) { return (a < b) - (a > b); }

/* A copy of a text, or null. *failed becomes true if there is no memory for it. */
char *ctp_report_copy(const char *text, bool *failed);

/*
 * The line in the text of a place, FILE:LINE:FUNCTION, and how many bytes FILE has; 0: there is no line in it. place may be null.
 */
uint64_t ctp_report_line(const char *place, size_t *file_bytes);

/*
 * Whether a pattern of ignore matches a finding: its rule; one of its sites; or both, with a space in between. For code that makes
 * reports.
 */
bool ctp_report_ignores(struct ctp_report *r, const char *what, const char *place, const char *spawn);

/* The next pattern of ignore that matched nothing; *at is 0 at first. Null: no more, or no section was judged. */
const char *ctp_report_unmatched(const struct ctp_report *r, size_t *at);

CTP_C_END

#endif
