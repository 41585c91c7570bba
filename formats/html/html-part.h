/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html-part.h - what a page has of one section: its events, the texts that they refer to, and its threads.
 */
#ifndef CTP_HTML_PART_H
#define CTP_HTML_PART_H

#include "analyse/report.h"
#include "html/html-gaps.h"
#include "html/html-pack.h"
#include "html/html-texts.h"

/* The page opens on the section with the highest rank, and drops those with the lowest. */
enum ctp_html_rank { CTP_HTML_RANK_NONE, CTP_HTML_RANK_EMPTY, CTP_HTML_RANK_CALM, CTP_HTML_RANK_SUSPECTS, CTP_HTML_RANK_FINDINGS };

struct ctp_html_part {
	enum ctp_html_rank rank;
	uint32_t section; /* its number in the report */
	struct ctp_html_pack pack;
	struct ctp_text_table places, names, reasons;
	struct ctp_html_gaps gaps;
	uint32_t *place_numbers, *thread_numbers; /* from numbers of follow.h to those of the page */
	uint32_t nplace_numbers, nthread_numbers;
	struct ctp_follow_thread *threads; /* threads that ran coroutines, or may have */
	uint32_t nthreads;
	uint64_t t0_ns, span_ns;
};

void ctp_html_part_init(struct ctp_html_part *part, uint64_t max_events);
void ctp_html_part_fini(struct ctp_html_part *part);

/* At the end of the section, when all rows are in the pack. False: out of memory. */
bool ctp_html_part_settle(struct ctp_html_part *part, struct ctp_follow *f, const struct ctp_report_section *sec);

/* The object of JSON about the part. */
void ctp_html_part_put(struct ctp_output *out, const struct ctp_html_part *part, const struct ctp_report_section *sec,
                       const char *title);

/* "key":"text" of JSON, fit for a script element. */
void ctp_html_put_text(struct ctp_output *out, const char *key, const char *text);

#endif
