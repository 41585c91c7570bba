/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-sink.h - a stream becomes a report, which is printed when all of it was read. */
#ifndef CTP_REPORT_SINK_H
#define CTP_REPORT_SINK_H

#include "analyse/analysis.h"
#include "report/report-write.h"
#include "stream/sink.h"

/*
 * Writes to out, which it takes over: finish closes it, free abandons it. It does the same with the files, which the caller has
 * opened; files null: there are none. a and files stay the caller's, to be looked at afterwards.
 */
struct ctp_sink *ctp_report_sink(struct ctp_analysis *a, struct ctp_output *out, const struct ctp_report_style *style,
                                 struct ctp_report_files *files, struct ctp_err *err);

#endif
