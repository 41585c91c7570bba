/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-origins.h - when each origin of a merged section ends, and whether it is complete. Without it, a coroutine that still waits would
 * seem to wait until the last origin ends.
 */
#ifndef CTP_SQL_ORIGINS_H
#define CTP_SQL_ORIGINS_H

#include "base/map.h"
#include "sql/sql-end.h"
#include "stream/sink.h"

enum { CTP_SQL_ORIGINS_MAX = 1 << 16 };

struct ctp_sql_origins {
	bool merged, failed; /* failed: out of memory */
	struct ctp_sql_origin {
		uint64_t number, stride, state;
		struct ctp_sql_end end;
	} *list;
	uint32_t n;
	size_t room;
	struct ctp_map map;                /* by number */
	int16_t field[CTP_CLASSES_MAX];    /* of the origin, by the class's id: 0 not looked up, -1 none, else the number of the field and 1 */
};

/* Begins a section. The memory is zero before the first. */
void ctp_sql_origins_begin(struct ctp_sql_origins *o, const struct ctp_section *sec);
void ctp_sql_origins_fini(struct ctp_sql_origins *o);
void ctp_sql_origins_records(struct ctp_sql_origins *o, const struct ctp_batch *batch);

/* The origin of a process, or of what else has a number; null: not known. A stride is a power of ten (merge-ids.h). */
const struct ctp_sql_origin *ctp_sql_origins_of(const struct ctp_sql_origins *o, uint64_t number);

#endif
