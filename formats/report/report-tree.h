/*
 * report-tree.h - who waits because of a finding, as a tree: below each member those who wait for it, and below these who wait for them.
 */
#ifndef CTP_REPORT_TREE_H
#define CTP_REPORT_TREE_H

#include "analyse/report.h"

enum { CTP_TREE_MAX = 3 * CTP_REPORT_MEMBERS };

struct ctp_branch {
	const struct ctp_report_member *who; /* null: it is not listed, and only its number is known */
	uint64_t id;
	unsigned depth;
};

/* Each behind whom it waits for; of those that wait for the same one, the longest first. Returns how many. */
unsigned ctp_report_tree(struct ctp_branch to[CTP_TREE_MAX], const struct ctp_finding *f);

/* Whether the members that are listed are at several places. */
bool ctp_report_is_spread(const struct ctp_finding *f);

#endif
