/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-feed.h - what sinks that make a report of a stream have in common: they give its sections and records to an analysis.
 *
 * The struct of such a sink begins with a ctp_report_feed. These functions are members of its ctp_sink_ops.
 */
#ifndef CTP_REPORT_FEED_H
#define CTP_REPORT_FEED_H

#include "analyse/analysis.h"
#include "stream/sink.h"

struct ctp_report_feed {
	struct ctp_sink sink;
	struct ctp_analysis *analysis;
};

/* CTP_FAILED: a part of the time is asked for, but the section has no clock. */
enum ctp_status ctp_report_feed_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err);
enum ctp_status ctp_report_feed_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err);

#endif
