/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff-folded.h - folded stacks of before and after, as difffolded.pl writes them and flamegraph.pl reads them:
 *
 *	server.c:serve;queue.c:pop 1730 2241
 *
 * A stack is what ctp-report --folded has (report-folded.h), with sites without lines, which move. The numbers are means of the
 * runs of each side, or of the units of --per, in units of a time; 0: no run has the stack.
 */
#ifndef CTP_DIFF_FOLDED_H
#define CTP_DIFF_FOLDED_H

#include "diff/diff.h"
#include "io/output.h"

struct ctp_diff_folded;

/*
 * state: CTP_RUNNING, CTP_RUNNABLE or CTP_SUSPENDED. What options point to is needed until the free. counts, which gets the runs
 * and lasts longer, has the units of its option per; null: there are none. Null: out of memory.
 */
struct ctp_diff_folded *ctp_diff_folded_new(const struct ctp_analysis_options *options, enum ctp_state state,
                                            struct ctp_diff *counts);
void ctp_diff_folded_free(struct ctp_diff_folded *f); /* null: nothing */

/* A sink that adds the runs of one input. */
struct ctp_sink *ctp_diff_folded_sink(struct ctp_diff_folded *f, enum ctp_diff_side side, struct ctp_err *err);

enum ctp_status ctp_diff_folded_print(struct ctp_diff_folded *f, struct ctp_output *out, uint64_t unit_ns, struct ctp_err *err);

#endif
