/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-members.h - the coroutines of a group, as a report lists them. */
#ifndef CTP_JUDGE_MEMBERS_H
#define CTP_JUDGE_MEMBERS_H

#include "analyse/judge-groups.h"

/*
 * Adds a member: a coroutine whose wait, run or life began at from_ns and has lasted for ns; or the coroutine of a case.
 * ctp_group_add leaves the coroutine as it is: its group is no finding.
 */
void ctp_group_add(struct ctp_judge *j, struct ctp_group *g, const struct ctp_coroutine *co, enum ctp_certainty certainty,
                   uint64_t from_ns, uint64_t ns);
void ctp_judge_add(struct ctp_judge *j, struct ctp_group *g, struct ctp_coroutine *co, enum ctp_certainty certainty,
                   uint64_t from_ns, uint64_t ns);
void ctp_judge_add_case(struct ctp_judge *j, struct ctp_group *g, const struct ctp_tally_case *c, enum ctp_certainty certainty);

/* A coroutine as a report lists it. Its texts belong to the caller. */
struct ctp_report_member ctp_judge_member(struct ctp_judge *j, const struct ctp_coroutine *co, uint64_t from_ns, uint64_t ns);

/* A copy of a text, or null. For a coroutine without a name, a copy of that of the nearest ancestor that has one, or null. */
char *ctp_judge_copy(struct ctp_judge *j, const char *text);
char *ctp_judge_in(struct ctp_judge *j, const struct ctp_coroutine *co);

#endif
