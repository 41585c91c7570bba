/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * filter-finding.h - the coroutines of a finding of ctp-report, and when it was.
 *
 * The numbers are those of ctp-report: waits that stand out come after the findings, and each origin of a merged section has
 * numbers of its own.
 */
#ifndef CTP_FILTER_FINDING_H
#define CTP_FILTER_FINDING_H

#include "analyse/analysis.h"
#include "filter/filter-anon.h"
#include "stream/sink.h"

struct ctp_filter_finding {
	uint64_t section, origin; /* their numbers, from 1 on; origin 0: the section was not merged */
	uint64_t from_ns, to_ns;  /* of the section's clock */
	uint64_t *coros;          /* its members, what waits because of them, and what these need, as far as the report lists them */
	size_t ncoros;
	uint64_t members;         /* the members of the finding, and the coroutines that wait because of them */
	uint64_t listed;          /* how many of these the report lists */
	const struct ctp_finding *finding; /* null: anonymised, they would be another finding */
};

/* Makes a report of what it is fed; with anon, another one of the anonymised records. Null: err says why. */
struct ctp_filter_report;
struct ctp_filter_report *ctp_filter_report_new(const struct ctp_analysis_options *options, struct ctp_filter_anon *anon,
                                                struct ctp_err *err);
void ctp_filter_report_free(struct ctp_filter_report *r); /* null: nothing */
struct ctp_sink *ctp_filter_report_sink(struct ctp_filter_report *r); /* its own */
const struct ctp_report *ctp_filter_report_of(const struct ctp_filter_report *r);

/*
 * The finding with this number, from 1 on; section and origin 0: in the only one that has any. To be freed by
 * ctp_filter_finding_fini, before the report.
 */
enum ctp_status ctp_filter_finding_get(struct ctp_filter_finding *to, const struct ctp_filter_report *r, uint64_t number,
                                       uint64_t section, uint64_t origin, struct ctp_err *err);
void ctp_filter_finding_fini(struct ctp_filter_finding *f);

#endif
