/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html-baseline.h - the folded stacks of another trace, for the flame view of a page to compare with.
 *
 * The definition of a stack is that of ctp-report --folded (report-folded.h). Only the largest stacks are kept; what is left out is
 * counted. Of several sections, the last that has stacks counts.
 */
#ifndef CTP_HTML_BASELINE_H
#define CTP_HTML_BASELINE_H

#include "analyse/analysis.h"
#include "html/html-texts.h"
#include "io/output.h"
#include "report/report-folded.h"
#include "report/report-print.h"
#include "stream/sink.h"

enum { CTP_HTML_STACKS_MAX = 10000, CTP_HTML_STATES = 4 }; /* suspended, runnable, running, unknown */

struct ctp_html_stack {
	uint64_t ns;
	uint32_t depth, state;
	uint32_t frames[CTP_FOLDED_DEPTH]; /* numbers of texts, the root first; 0: not known */
};

struct ctp_html_baseline {
	const char *source; /* the caller's */
	char title[CTP_PRINT_COMMAND_MAX];
	uint64_t section;
	bool ordinal; /* ns are numbers of times */
	struct ctp_text_table texts;
	struct ctp_html_stack *stacks;
	uint32_t count;
	uint64_t total_ns[CTP_HTML_STATES], left_out, left_out_ns[CTP_HTML_STATES];
	bool failed; /* out of memory at some point */
};

void ctp_html_baseline_init(struct ctp_html_baseline *b, const char *source);
void ctp_html_baseline_fini(struct ctp_html_baseline *b);

/* A sink that fills b, which must last as long as the sink and is complete when that has finished. */
struct ctp_sink *ctp_html_baseline_sink(struct ctp_html_baseline *b, const struct ctp_analysis_options *options,
                                        struct ctp_err *err);

/* As an object of JSON, fit for a script element. */
void ctp_html_baseline_put(struct ctp_output *out, const struct ctp_html_baseline *b);

#endif
