/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* diff-print.h - a comparison for people, as text or Markdown, and for programs, as one JSON object on one line. */
#ifndef CTP_DIFF_PRINT_H
#define CTP_DIFF_PRINT_H

#include "diff/diff.h"
#include "io/output.h"
#include "report/report-print.h"

/* style->format is not CTP_REPORT_AS_FOLDED. */
void ctp_diff_print(struct ctp_output *out, const struct ctp_diff *d, const struct ctp_report_style *style);
void ctp_diff_print_json(struct ctp_output *out, const struct ctp_diff *d);

#endif
