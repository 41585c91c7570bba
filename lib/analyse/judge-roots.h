/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-roots.h - one incident, one root: which finding is there because of which other one.
 *
 * A finding is because of another one if its coroutines wait for what members of that do. Findings that are because of one another
 * are one incident, and so is all that is because of it. The root of an incident is a finding that is because of no other.
 */
#ifndef CTP_JUDGE_ROOTS_H
#define CTP_JUDGE_ROOTS_H

#include "analyse/judge-members.h"

/*
 * Sets root of each finding of a section to the number of another one, or to 0. number is that which the members have as their group;
 * 0: the finding was kept in the trace. A wait that stands out becomes likely if a likely finding is because of it.
 */
void ctp_judge_roots(struct ctp_judge *j, struct ctp_report *report, struct ctp_report_section *s);

#endif
