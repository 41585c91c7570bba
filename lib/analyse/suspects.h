/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* suspects.h - waits that stand out although no rule calls them a finding, so that no report hides them. */
#ifndef CTP_SUSPECTS_H
#define CTP_SUSPECTS_H

#include "analyse/judge-groups.h"

/*
 * Fills s->suspects with those that r does not ignore. To be called after the rules, when all members of findings and their waiters
 * have CTP_CO_FOUND. False: out of memory.
 */
bool ctp_suspects_find(struct ctp_judge *j, struct ctp_report *r, struct ctp_report_section *s);

#endif
