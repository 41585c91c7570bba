/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-markdown.h - a report for a ticket: CommonMark, with the tables of GitHub and GitLab. */
#ifndef CTP_REPORT_MARKDOWN_H
#define CTP_REPORT_MARKDOWN_H

#include "report/report-print.h"

void ctp_report_markdown(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style);

#endif
