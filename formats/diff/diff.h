/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff.h - compares runs of a program from before and after a change.
 *
 * A run is a section of a stream: what an analysis (analysis.h) finds in it, and how long the coroutines waited and ran, by group.
 * Coroutines are in one group if their suspend site, their spawn site and their name are the same. A site is FILE:FUNCTION here,
 * because lines move, or FILE:LINE:FUNCTION where a function has several that can be matched; a group of digits in a name is *,
 * because coroutines are numbered.
 *
 * A quantity is one number of each run, the median of the waits of a group for instance. The numbers before and after are compared
 * by ranks (diff-ranks.h), and the p of all comparisons are corrected together. Where events were lost, a run says nothing about
 * the quantities that they may belong to, and is left out there.
 */
#ifndef CTP_DIFF_H
#define CTP_DIFF_H

#include "analyse/analysis.h"
#include "base/text-table.h"
#include "diff/diff-hist.h"
#include "diff/diff-ranks.h"
#include "stream/sink.h"

#define CTP_DIFF_ALPHA 0.05

enum ctp_diff_side { CTP_DIFF_BEFORE, CTP_DIFF_AFTER, CTP_DIFF_SIDES };

enum {
	CTP_DIFF_RUNS = CTP_RANKS_MAX, /* of both sides together */
	CTP_DIFF_GROUPS = 4096,        /* of a run; further ones are one group together */
	CTP_DIFF_NAMES = 32,           /* names at one suspend and spawn site; if there are more, names do not count there */
	CTP_DIFF_P99_SPANS = 100,      /* spans of a run that have a 99th percentile */
};

/* What a group is about. */
enum ctp_diff_kind { CTP_DIFF_OTHERS, CTP_DIFF_ALL, CTP_DIFF_PLACE, CTP_DIFF_SPAWN, CTP_DIFF_LOSS };

/* The parts of a key are numbers of texts, 0: not known. During a run, place and spawn are numbers of follow.h. */
struct ctp_diff_key {
	uint32_t kind, place, spawn, name;
};

enum { CTP_DIFF_RUN, CTP_DIFF_WAIT, CTP_DIFF_READY, CTP_DIFF_STATES };

/* What a run has of a group. */
struct ctp_diff_group {
	struct ctp_diff_key key;
	uint32_t run;     /* number of the run */
	uint32_t names;   /* of a group without a name: how many groups differ from it in the name alone */
	bool crowded;     /* there were more names than CTP_DIFF_NAMES */
	bool touched;     /* events of its coroutines may be lost */
	bool ignored;     /* by an option; it may still have units of --per */
	uint64_t count;   /* resumes at the place; births; of CTP_DIFF_LOSS gaps */
	uint64_t still;   /* coroutines that still wait at the place at the end */
	struct ctp_diff_hist spans[CTP_DIFF_STATES];
};

struct ctp_diff_run {
	enum ctp_diff_side side;
	char *file, *command; /* command: as people read it */
	uint64_t lost, missed, untraced, conflicts;
	uint64_t events, resumes, wakes, coroutines, running_ns;
	uint64_t units;    /* resumes at the sites that --per asks for */
	bool units_touched;
	bool damaged;      /* events of any coroutine may be lost */
	bool cut;          /* the end is missing: what is counted may be too little */
	bool ordinal;      /* no clock */
	bool crowded;      /* some groups are one, because there are too many */
};

enum ctp_diff_what {
	CTP_DIFF_STILL, CTP_DIFF_RESUMES, CTP_DIFF_WAKES, CTP_DIFF_COROUTINES, CTP_DIFF_RUN_TOTAL, CTP_DIFF_RUN_P50, CTP_DIFF_RUN_P99,
	CTP_DIFF_WAIT_P50, CTP_DIFF_WAIT_P99, CTP_DIFF_READY_P50, CTP_DIFF_READY_P99, CTP_DIFF_WHATS
};

enum ctp_diff_verdict {
	CTP_DIFF_UNTOLD,  /* too few runs have the quantity, or it is too small a part of all */
	CTP_DIFF_SAME,    /* no difference is shown, which is no proof that there is none */
	CTP_DIFF_SLIGHT,  /* there is a difference, and it is less than the option min_change */
	CTP_DIFF_LESS, CTP_DIFF_MORE
};

struct ctp_diff_sample {
	double *values; /* sorted */
	uint32_t n, left_out; /* left_out: runs in which it is touched by losses */
	double median, low, high;
};

struct ctp_diff_row {
	struct ctp_diff_key key;
	enum ctp_diff_what what;
	struct ctp_diff_sample side[CTP_DIFF_SIDES];
	double p, adjusted;
	double share;  /* of the correction: 1 if it has as much as the mean of those that are compared */
	double weight; /* for the order: of a time, how much time of all runs it stands for; else the count */
	bool small;    /* it is not compared, because it is a tiny part */
	enum ctp_diff_verdict verdict;
};

struct ctp_diff_finding {
	enum ctp_rule rule;
	enum ctp_certainty certainty; /* the highest */
	uint32_t place, spawn;        /* texts */
	uint32_t last;                /* the last run that has it */
	uint32_t runs[CTP_DIFF_SIDES];
	char *title;                  /* of the first */
};

struct ctp_diff_options {
	struct ctp_analysis_options report;
	const char *per;   /* a pattern of fnmatch(3) for a site; null: a unit is a run */
	double min_change; /* a difference is at least this part of the median before: 0.02 is 2 % */
};

struct ctp_diff {
	struct ctp_diff_options options;
	struct ctp_text_table texts;
	struct ctp_diff_run *runs;
	uint32_t nruns, sides[CTP_DIFF_SIDES]; /* how many of each side */
	size_t runs_room;
	struct ctp_diff_group *groups; /* of all runs */
	size_t ngroups, groups_room;
	struct ctp_diff_finding *findings; /* the most serious rule first */
	uint32_t nfindings;
	size_t findings_room;
	uint64_t *matched; /* findings and groups that each pattern of ignore matches */
	uint64_t ignored;
	bool failed;       /* out of memory */

	/* Filled by ctp_diff_judge: */
	struct ctp_diff_row *rows; /* by table; shown differences first, then by weight */
	size_t nrows, rows_room;
	/*
	 * Quantities: worth a comparison, because they vary; of these, with enough runs for one; with a difference; with one that is
	 * less than min_change; not compared, because they are tiny parts; touched by losses in some run.
	 */
	uint32_t candidates, compared, shown, slight, small, touched;
	uint32_t needed;    /* runs on each side with which a difference of any single quantity can be shown */
	uint32_t alone;     /* of how many quantities the given runs can show a difference if it is the only one */
	uint32_t together;  /* how many quantities must differ so that the given runs can show it; 0: they can never show it */
};

void ctp_diff_init(struct ctp_diff *d, const struct ctp_diff_options *options);
void ctp_diff_fini(struct ctp_diff *d);

/* A sink that adds the runs of one input. d lasts longer. Null: err says why. */
struct ctp_sink *ctp_diff_sink(struct ctp_diff *d, enum ctp_diff_side side, struct ctp_err *err);

/* When all runs are there: joins them. Fails if a side has none, or a run has no unit of per. */
enum ctp_status ctp_diff_check(struct ctp_diff *d, struct ctp_err *err);

/* In place of the check: compares them, too. */
enum ctp_status ctp_diff_judge(struct ctp_diff *d, struct ctp_err *err);

static inline const char *ctp_diff_text(const struct ctp_diff *d, uint32_t number)
{
	return number ? ctp_text_table_at(&d->texts, number) : NULL;
}

static inline bool ctp_diff_is_time(enum ctp_diff_what what) { return what >= CTP_DIFF_RUN_TOTAL; }
static inline bool ctp_diff_is_p99(enum ctp_diff_what what)
{
	return what == CTP_DIFF_RUN_P99 || what == CTP_DIFF_WAIT_P99 || what == CTP_DIFF_READY_P99;
}

/*
 * Whether a finding is of one side alone. A long run or a late wake is found now and then because the machine was busy; so such a
 * finding is new only if more than half of the runs after have it. That a coroutine is stuck, or was resumed after its death, has
 * no such excuse. A finding is gone only if more than half of the runs before have it. All others may be chance.
 */
enum ctp_diff_change { CTP_DIFF_NEW, CTP_DIFF_GONE, CTP_DIFF_CHANCE, CTP_DIFF_BOTH, CTP_DIFF_CHANGES };
enum ctp_diff_change ctp_diff_change_of(const struct ctp_diff *d, const struct ctp_diff_finding *f);
bool ctp_diff_has_new(const struct ctp_diff *d);   /* a new finding that is proved or likely */
bool ctp_diff_has_worse(const struct ctp_diff *d); /* the same, or a quantity that is shown to be more */

#endif
