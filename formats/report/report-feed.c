/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-feed.c - gives a stream to an analysis. */
#include "report/report-feed.h"

#include "report/report-args.h"

enum ctp_status ctp_report_feed_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct ctp_analysis *a = ((struct ctp_report_feed *)sink)->analysis;
	if (ctp_report_window(&a->report, sec, err))
		return CTP_FAILED;
	a->input = sink->input;
	ctp_analysis_section(a, sec);
	return CTP_OK;
}

enum ctp_status ctp_report_feed_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	(void)err;
	ctp_analysis_records(((struct ctp_report_feed *)sink)->analysis, batch);
	return CTP_OK;
}
