/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-which.h - names the sections of a report: by their numbers in the stream, and by those of the origins of a merged one. */
#ifndef CTP_REPORT_WHICH_H
#define CTP_REPORT_WHICH_H

#include "report/report-print.h"

/* "Section 2 of 3", "Origin 1 of 2", or "Section 2 of 3, origin 1 of 2"; "" if there is one. i: of r->sections. */
const char *ctp_which_title(char to[CTP_PRINT_LINE_MAX], const struct ctp_report *r, uint32_t i);

/* "3 sections" or "2 origins"; and "in section 2", or "in origins 1, 3", where there are findings; or "". */
const char *ctp_which_all(char to[CTP_PRINT_LINE_MAX], const struct ctp_report *r);
const char *ctp_which_found(char to[CTP_PRINT_LINE_MAX], const struct ctp_report *r);

#endif
