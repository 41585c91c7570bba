/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-end.c - see sql-end.h. */
#include "sql/sql-end.h"

#include <stdlib.h>

#include "analyse/ended.h"

void ctp_sql_end_begin(struct ctp_sql_end *e, const struct ctp_section *sec)
{
	const char *pid = ctp_section_get(sec, "pid");
	ctp_sql_end_fini(e);
	*e = (struct ctp_sql_end){.pid = pid ? strtoull(pid, NULL, 10) : 0};
}

void ctp_sql_end_fini(struct ctp_sql_end *e) { ctp_proc_seen_fini(&e->seen); }

void ctp_sql_end_record(struct ctp_sql_end *e, const struct ctp_record *rec)
{
	uint64_t ts = rec->val[rec->cls->time_field];
	e->latest_ns = ts > e->latest_ns ? ts : e->latest_ns;
	e->has_latest = true;
	switch (rec->cls->kind) {
	case CTP_KIND_TRANSITION:
	case CTP_KIND_WAKE:
	case CTP_KIND_BIRTH:
	case CTP_KIND_DEATH:
		ctp_sql_end_event(e, ts);
		break;
	case CTP_KIND_END:
		e->reported_ns = ctp_ended_ns(rec, ts);
		e->has_reported = true;
		break;
	case CTP_KIND_PROCESS: {
		int pid = ctp_class_role(rec->cls, CTP_ROLE_PROCESS);
		if ((pid < 0 ? 0 : rec->val[pid]) == e->pid)
			ctp_proc_seen_process(&e->seen, rec, ts, e->event_ns);
		break;
	}
	case CTP_KIND_SAMPLE:
		ctp_proc_seen_sample(&e->seen, rec, ts, NULL, NULL);
		break;
	default:
		break;
	}
}

bool ctp_sql_end_ns(const struct ctp_sql_end *e, uint64_t *ns)
{
	uint64_t reported_ns = e->has_reported ? e->reported_ns : ctp_proc_seen_all_ns(&e->seen);
	*ns = reported_ns > e->event_ns ? reported_ns : e->event_ns;
	if (e->has_event || e->has_reported || reported_ns)
		return true;
	*ns = e->latest_ns;
	return e->has_latest;
}
