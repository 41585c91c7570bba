/*
 * report.h - what went wrong in a trace, with the evidence; and the numbers that people ask for.
 *
 * A report is plain data: a printer needs nothing else. analysis.h makes one from a stream. The rules are in rules.h, and what each
 * proves and cannot know is in ctp-report.1.
 *
 * Nothing rests on a gap. Proved: the trace has the fact itself, with nothing missing that could contradict it. Likely: the facts
 * are whole, and a comparison says that they are no accident. Unknown: it would be one of the two, but events were lost that
 * could say otherwise.
 */
#ifndef CTP_REPORT_H
#define CTP_REPORT_H

#include "analyse/follow.h"
#include "analyse/rules.h"

enum {
	CTP_REPORT_MEMBERS = 100, /* of a finding that are listed; all are counted */
	CTP_REPORT_LINES = 12,    /* of evidence, and of what to look at next */
	CTP_REPORT_TOP = 20,
	CTP_REPORT_SECTIONS = 256,
	CTP_REPORT_FINDINGS = 1000, /* of a section */
};

/* Texts are the report's; null: not known. Times are nanoseconds since the section's start. */
struct ctp_report_member {
	uint64_t id, probe, since_ns, for_ns, waker, tid, pid; /* waker, tid, pid 0: not known */
	char *name, *in;      /* in: the name of the nearest ancestor that has one, for who has none */
	char *place, *spawn;  /* where it suspended last, and was made */
	uint64_t waits_for;   /* of those who wait because of a finding: whom */
	bool awaits;          /* and that was told; else it is inferred from who has woken it before */
	enum ctp_state state;
	enum ctp_certainty certainty;
};

struct ctp_finding {
	enum ctp_rule rule;
	enum ctp_certainty certainty;
	char *title;
	char *evidence[CTP_REPORT_LINES], *next[CTP_REPORT_LINES]; /* up to the first null */
	char *spawn, *place;
	uint64_t members;
	uint64_t from_ns, to_ns;
	struct ctp_report_member *who;
	uint32_t nwho;
	struct ctp_report_member *waiters; /* who wait because of a member, or of one of these: a tree by waits_for */
	uint32_t nwaiters;
	uint64_t waiting;                  /* all of them; the first are listed */
};

/* Coroutines that are still waiting at the end, or still running, judged or not. */
struct ctp_report_still {
	char *spawn, *place;
	uint64_t coroutines, runnable, longest_ns, shortest_ns;
	uint64_t found;   /* so many of them are in a finding */
	uint64_t longest, tid; /* who does longest, where it ran last, and its name */
	char *name;
	bool certain;     /* of all of them it is known */
};

struct ctp_report_times {
	uint64_t count, total_ns, p50_ns, p99_ns, max_ns;
};

struct ctp_report_site {
	char *place;
	struct ctp_report_times suspended, runnable, running; /* running: from there on */
	uint64_t waiting; /* at the end */
};

struct ctp_report_thread {
	uint64_t tid, busy_ns, unknown_ns, resumes, last_ns;
	uint64_t known_ns; /* of the time that is looked at, what is in no gap of its: busy_ns is a share of this */
	char *name;
};

struct ctp_report_heavy {
	uint64_t id, ns;
	char *name, *spawn;
};

enum { CTP_HEAVY_RUNNING, CTP_HEAVY_RUNNABLE, CTP_HEAVY_SUSPENDED, CTP_HEAVY_UNKNOWN, CTP_HEAVY_KINDS };

struct ctp_report_section {
	char *command; /* elements of argv, each with its NUL; null: not known */
	size_t command_bytes;
	char *file; /* that it was read from, as it was given */
	char *host, *pid, *source, *tool;
	bool has_wall;
	int64_t start_wall_ns;
	uint64_t start_ns, duration_ns;
	struct ctp_ended ended;
	bool complete, cut, until; /* until: it ends where it was asked to */
	bool outside; /* it ends before what was asked for begins, and is not judged */
	bool remnant; /* the collector came late, and there is what the memory remembered of before */
	struct ctp_follow_counts counts;
	uint64_t looked_ns; /* of duration_ns, what was asked for */
	uint64_t total_ns[CTP_HEAVY_KINDS]; /* that each coroutine was so, of all of them */
	uint64_t in_gap;    /* coroutines that are alive at the end, and nothing else is known of them */
	uint64_t alive, nthreads_seen;

	struct ctp_finding *findings; /* by gravity: certainty first, then rule, then members */
	uint32_t nfindings;
	uint64_t ignored; /* and those that are left out */
	struct ctp_report_still *waiting, *running; /* by number */
	uint32_t nwaiting, nrunning;
	struct ctp_report_site *sites; /* by the time in all that coroutines were in that state */
	enum ctp_state sites_by;
	uint32_t nsites;
	struct ctp_report_thread *threads; /* by time busy */
	uint32_t nthreads;
	struct ctp_report_heavy heavy[CTP_HEAVY_KINDS][CTP_REPORT_TOP];
	uint32_t nheavy[CTP_HEAVY_KINDS];
};

struct ctp_report {
	struct ctp_report_section *sections; /* the first CTP_REPORT_SECTIONS */
	uint32_t nsections, room;
	uint64_t sections_seen, ignored;
	const char *const *ignore; /* as it was asked for: patterns, */
	size_t nignore;
	uint64_t *matched;            /* the findings that each of them is for (null: there are no patterns), */
	uint64_t since_ns, until_ns;  /* and the time that is looked at */
	uint64_t outside, longest_ns; /* sections that end before that begins; the longest there is */
	bool failed; /* out of memory at some point: the report is not whole */
};

void ctp_report_fini(struct ctp_report *r);
void ctp_finding_fini(struct ctp_finding *f);
void ctp_report_member_fini(struct ctp_report_member *m);

/* The next of the patterns to ignore that no finding was like, *at being 0 at first; null: no more, or nothing was judged. */
const char *ctp_report_unmatched(const struct ctp_report *r, size_t *at);

#endif
