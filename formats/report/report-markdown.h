/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-markdown.h - a report for a ticket, or in brief for a comment: CommonMark, with the tables of GitHub and GitLab. */
#ifndef CTP_REPORT_MARKDOWN_H
#define CTP_REPORT_MARKDOWN_H

#include "report/report-print.h"

void ctp_report_markdown(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style);

/* The findings, a line for each and one for what to do, and what the report could not see: CTP_BRIEF_LINES at most. */
enum { CTP_BRIEF_LINES = 20 };
void ctp_report_brief(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style);

#endif
