/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-waits.h - the waits for objects that go on, each with what was recorded before it. */
#ifndef CTP_SQL_WAITS_H
#define CTP_SQL_WAITS_H

#include "analyse/follow.h"
#include "analyse/objects.h"

struct ctp_sql_wait {
	struct ctp_reasons reasons; /* n is 0 in an entry that is free */
	uint64_t start_ns, index;   /* of the suspension */
	uint64_t where;             /* as in struct ctp_coroutine */
	bool lost;                  /* then events of the coroutine are missing */
	uint32_t next_free;
};

/* Zeros at first. A coroutine has the number of its entry in handle. */
struct ctp_sql_waits {
	struct ctp_sql_wait *list; /* from 1 on */
	uint32_t count, free;      /* free: the first free entry, or 0 */
	size_t room;
};

/* The wait of a coroutine that has just been suspended, if it is for an object. False: out of memory. */
bool ctp_sql_waits_begin(struct ctp_sql_waits *w, const struct ctp_follow *follow, struct ctp_coroutine *co);

struct ctp_sql_wait *ctp_sql_waits_of(const struct ctp_sql_waits *w, const struct ctp_coroutine *co); /* null: none */
void ctp_sql_waits_end(struct ctp_sql_waits *w, struct ctp_coroutine *co);

void ctp_sql_waits_clear(struct ctp_sql_waits *w);
void ctp_sql_waits_fini(struct ctp_sql_waits *w);

#endif
