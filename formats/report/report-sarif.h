/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-sarif.h - a report as SARIF 2.1.0, the form of static analysers: GitHub code scanning, editors and other viewers show each
 * result at its line.
 *
 * All sections are one run, because GitHub refuses a file with several runs of one tool. What the report could not see is in
 * notifications of the run, so that a viewer can tell an incomplete trace from a healthy program.
 */
#ifndef CTP_REPORT_SARIF_H
#define CTP_REPORT_SARIF_H

#include "report/report-print.h"

/* One object, on several lines, the last of which ends. */
void ctp_report_sarif(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style);

#endif
