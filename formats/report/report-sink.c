/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-sink.c - makes a report of a stream, and prints it at the end. */
#include "report/report-sink.h"

#include <stdlib.h>

#include "report/report-feed.h"
#include "report/report-folded.h"

struct report_sink {
	struct ctp_report_feed feed;
	struct ctp_report_style style;
	struct ctp_output *out; /* null: closed */
	struct ctp_report_files *files;
	struct ctp_folded *folded;
	struct ctp_folded_lines lines; /* of that */
};

static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	struct report_sink *s = (struct report_sink *)sink;
	ctp_analysis_end(s->feed.analysis, how);
	return s->feed.analysis->report.failed ? ctp_err_memory(err) : CTP_OK;
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct report_sink *s = (struct report_sink *)sink;
	if (s->files) /* first: the reader of the output may have gone, which ends the program */
		ctp_report_files_write(s->files, &s->feed.analysis->report, &s->style);
	ctp_report_write(s->out, &s->feed.analysis->report, &s->style);
	struct ctp_output *out = s->out;
	s->out = NULL;
	return ctp_output_close(out, err);
}

static void release(struct ctp_sink *sink)
{
	struct report_sink *s = (struct report_sink *)sink;
	if (s->out)
		ctp_output_abandon(s->out);
	if (s->files)
		ctp_report_files_abandon(s->files);
	ctp_folded_free(s->folded);
	free(s);
}

struct ctp_sink *ctp_report_sink(struct ctp_analysis *a, struct ctp_output *out, const struct ctp_report_style *style,
                                 struct ctp_report_files *files, struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {
		.section = ctp_report_feed_section, .records = ctp_report_feed_records, .end = end, .finish = finish,
		.free = release,
	};
	struct report_sink *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_output_abandon(out);
		if (files)
			ctp_report_files_abandon(files);
		ctp_err_memory(err);
		return NULL;
	}
	*s = (struct report_sink){.feed.sink.ops = &ops, .feed.analysis = a, .style = *style, .out = out, .files = files};
	if (style->format != CTP_REPORT_AS_FOLDED)
		return &s->feed.sink;
	s->lines = (struct ctp_folded_lines){.out = out, .unit_ns = style->unit_ns};
	struct ctp_folded_options folded = {.states = 1u << style->state, .take = ctp_folded_print, .arg = &s->lines};
	s->folded = ctp_folded_new(a, &folded, err);
	if (s->folded)
		return &s->feed.sink;
	release(&s->feed.sink);
	return NULL;
}
