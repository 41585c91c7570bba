/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-end.h - when a section ends: as for ctp-report (follow.h), when its program was last seen executing.
 *
 * An event is a transition, wake, birth or death. What the collector wrote after the last one says how long the program went on: the
 * record of the end, or where there is none the looks at the process. A section without any of these ends with its latest record.
 */
#ifndef CTP_SQL_END_H
#define CTP_SQL_END_H

#include "analyse/proc-seen.h"
#include "stream/sink.h"

struct ctp_sql_end {
	uint64_t pid, event_ns, reported_ns, latest_ns;
	bool has_event, has_reported, has_latest;
	struct ctp_proc_seen seen;
};

/* Begins a section. The memory is zero before the first. */
void ctp_sql_end_begin(struct ctp_sql_end *e, const struct ctp_section *sec);
void ctp_sql_end_fini(struct ctp_sql_end *e);

static inline void ctp_sql_end_event(struct ctp_sql_end *e, uint64_t ts)
{
	if (ts >= e->event_ns) {
		e->event_ns = ts;
		e->has_event = true;
	}
}

/* A record of any class with a time. */
void ctp_sql_end_record(struct ctp_sql_end *e, const struct ctp_record *rec);

bool ctp_sql_end_ns(const struct ctp_sql_end *e, uint64_t *ns); /* false: no record has a time */

#endif
