/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html.h - a stream as one HTML page that needs nothing else: the report, and what each coroutine did.
 *
 * make joins the HTML, CSS and JavaScript files of formats/html/ to one page. ctp-tohtml.1 describes the data in it: the report and
 * the texts as JSON, and the events of each section, packed (html-pack.h), compressed and in base64.
 */
#ifndef CTP_HTML_H
#define CTP_HTML_H

#include "analyse/analysis.h"
#include "io/output.h"
#include "stream/sink.h"

enum { CTP_HTML_EVENTS_MAX = 20000000 }; /* more are too many for a browser */

/* What a page leaves out, for a notice. */
struct ctp_html_left {
	uint64_t coroutines, events;
};
struct ctp_html_baseline; /* html-baseline.h */

struct ctp_html_options {
	struct ctp_analysis_options report;
	const char *title;   /* null: the command that was traced */
	const char *source;  /* where the stream comes from */
	uint64_t section;    /* the only section to show, from 1 on; 0: all, at first the last with findings, or else with coroutines */
	uint64_t finding;    /* show only the coroutines of this finding, from 1 on; 0: all */
	const struct ctp_html_baseline *baseline; /* to compare with; null: nothing */
	uint64_t max_events; /* of the page; further ones are left out, and the page says so */
	struct ctp_html_left *left; /* null: not wanted */
};

/* Owns out, also if it fails. What options point to is the caller's, and must last as long as the sink. */
struct ctp_sink *ctp_html_sink(struct ctp_output *out, const struct ctp_html_options *options, struct ctp_err *err);

/* The page. The data replaces CTP_HTML_DATA, which is in it once. */
extern const char ctp_html_page[];
#define CTP_HTML_DATA "<!-- data -->\n"

#endif
