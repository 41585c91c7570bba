/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* perfetto-findings.h - the findings of a section, and what the drawing leaves out, as instants. */
#ifndef CTP_PERFETTO_FINDINGS_H
#define CTP_PERFETTO_FINDINGS_H

#include "analyse/report.h"
#include "perfetto/perfetto-draw.h"

/* Findings on a track of their own, at the time when they begin. base_ns: of sec->start_ns, in the drawing. */
void ctp_perfetto_findings(struct ctp_perfetto_draw *d, const struct ctp_report_section *sec, uint64_t base_ns);

/* For each row that coroutines share, an instant at its end with what it does not show. */
void ctp_perfetto_left_out(struct ctp_perfetto_draw *d, uint64_t end_ns);

/*
 * What is to be known of the section as a whole, on a track of its own: at start_ns what was traced where, and whether the trace
 * was filtered; at end_ns which events are not drawn, and text, so that what is open is seen up to there. sec: null: there are too
 * many sections.
 */
void ctp_perfetto_about(struct ctp_perfetto_draw *d, const struct ctp_report_section *sec, uint64_t start_ns, uint64_t end_ns,
                        const char *text);

#endif
