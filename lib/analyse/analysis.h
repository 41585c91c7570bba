/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * analysis.h - makes a report of a stream, in one pass: follow.h follows the coroutines, what they do is counted, and the rules
 * judge that at the end of a section. Memory grows with the coroutines that are alive, not with events.
 */
#ifndef CTP_ANALYSIS_H
#define CTP_ANALYSIS_H

#include "analyse/report.h"
#include "base/linkage.h"

CTP_C_BEGIN

struct ctp_analysis_options {
	const char *const *ignore; /* patterns of fnmatch(3) for a rule, a site or "rule site"; what matches is only counted */
	size_t nignore;
	uint64_t since_ns, until_ns; /* from the start of the section; until_ns 0: to its end */
	const char *const *debug_dirs;
	size_t ndebug_dirs;
	bool no_symbols; /* no file is opened: addresses are shown as module+offset */
	enum ctp_state sites_by; /* CTP_RUNNING, CTP_RUNNABLE or CTP_SUSPENDED; 0: CTP_SUSPENDED */
};

/* For the caller to read. A section is in the report once it has ended, and stays there until the analysis is freed. */
struct ctp_analysis {
	struct ctp_report report;
	struct ctp_follow follow;
	const char *input; /* the caller's: the input of the sections that begin; null: it has no name */
	struct ctp_analysis_priv *priv;
};

/* options may be null. Null: *err says why. What options point to is needed until the analysis is freed. */
struct ctp_analysis *ctp_analysis_new(const struct ctp_analysis_options *options, struct ctp_err *err);
void ctp_analysis_free(struct ctp_analysis *a); /* and its report; null: nothing */

/*
 * What a sink is given, in this order; where memory runs out, report.failed says so. A second listener, also, gets each change
 * before it is counted, and the end when the section of the report is filled. sec must be there until the end of the section.
 */
void ctp_analysis_listen(struct ctp_analysis *a, const struct ctp_follow_ops *also, void *arg);
void ctp_analysis_section(struct ctp_analysis *a, const struct ctp_section *sec);
void ctp_analysis_records(struct ctp_analysis *a, const struct ctp_batch *batch);
void ctp_analysis_end(struct ctp_analysis *a, const struct ctp_section_end *end);

CTP_C_END

#endif
