/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* findings.h - the findings of a section while its report is made. */
#ifndef CTP_FINDINGS_H
#define CTP_FINDINGS_H

#include "analyse/report.h"

/* Moves a finding to a section, which has nothing of it if a pattern ignores it, or if the section has enough. False: it is gone. */
bool ctp_findings_add(struct ctp_report *r, struct ctp_report_section *s, struct ctp_finding *f);

/*
 * Brings findings of rules into their order: each root, the gravest first, then those that are because of it. All get their numbers,
 * and root becomes such a number: before, it is a number that another finding has.
 */
void ctp_findings_sort(struct ctp_report *r, struct ctp_report_section *s);

/* The number of waits that stand out. */
uint32_t ctp_findings_without_rule(const struct ctp_report_section *s);

#endif
