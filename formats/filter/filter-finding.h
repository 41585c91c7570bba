/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter-finding.h - the coroutines of a finding of ctp-report, and when it was. */
#ifndef CTP_FILTER_FINDING_H
#define CTP_FILTER_FINDING_H

#include "analyse/analysis.h"
#include "stream/sink.h"

struct ctp_filter_finding {
	uint64_t section;         /* its number, from 1 on */
	uint64_t from_ns, to_ns;  /* of the section's clock */
	uint64_t *coros;          /* its members and what waits because of them, as far as the report lists them */
	size_t ncoros;
	uint64_t members;         /* all of both */
};

/* Makes a report of what it is fed. The analysis is the caller's. Null: err says why. */
struct ctp_sink *ctp_filter_report_sink(struct ctp_analysis *a, struct ctp_err *err);

/*
 * The finding with this number, from 1 on, in a section, or if that is 0, in the only one that has findings. To be freed by
 * ctp_filter_finding_fini.
 */
enum ctp_status ctp_filter_finding_get(struct ctp_filter_finding *to, const struct ctp_report *r, uint64_t number, uint64_t section,
                                       struct ctp_err *err);
void ctp_filter_finding_fini(struct ctp_filter_finding *f);

#endif
