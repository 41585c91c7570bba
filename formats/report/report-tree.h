/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-tree.h - the coroutines that wait because of a finding, as a tree: below each member its waiters, below these theirs.
 */
#ifndef CTP_REPORT_TREE_H
#define CTP_REPORT_TREE_H

#include "analyse/report.h"

enum { CTP_TREE_MAX = 3 * CTP_REPORT_MEMBERS };

struct ctp_branch {
	const struct ctp_report_member *who; /* null: the finding does not list it */
	const char *name; /* or null */
	uint64_t id;
	unsigned depth;
	uint32_t alike;  /* the number of others like the branch before, for which this stands; 0: for none */
	uint32_t hidden; /* the number of their waiters */
};

/* Each waiter comes after the coroutine that it waits for; of several, the longest wait first. Returns how many. */
unsigned ctp_report_tree(struct ctp_branch to[CTP_TREE_MAX], const struct ctp_finding *f);

/*
 * Leaves out what looks like the one before: of chains that differ only in numbers, all but the first; and of coroutines for which
 * none waits, all but the first few. Returns how many branches there are then.
 */
unsigned ctp_report_fold(struct ctp_branch branches[CTP_TREE_MAX], unsigned n);

/* Whether the members that are listed are at several places. */
bool ctp_report_is_spread(const struct ctp_finding *f);

#endif
