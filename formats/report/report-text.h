/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-text.h - a report for a person at a terminal: the answer comes first, and all of it fits on about one screen. */
#ifndef CTP_REPORT_TEXT_H
#define CTP_REPORT_TEXT_H

#include "report/report-print.h"

void ctp_report_text(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style);

#endif
