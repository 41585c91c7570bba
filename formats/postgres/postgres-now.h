/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* postgres-now.h - see postgres-now.c. */
#ifndef CTP_POSTGRES_NOW_H
#define CTP_POSTGRES_NOW_H

#include "stream/record.h"

struct ctp_postgres;
struct ctp_postgres_now;

/* The fields of a class that say what a coroutine does; -1: there is none. */
struct ctp_postgres_state_fields {
	bool counts; /* false: records of the class say nothing of it */
	int coro, probe, index, state, tid, addr, site, name, after;
};

struct ctp_postgres_state_fields ctp_postgres_state_fields(const struct ctp_class *cls);

enum ctp_status ctp_postgres_now_begin(struct ctp_postgres *p, struct ctp_err *err); /* makes the table, or empties it */
bool ctp_postgres_now_is_full(const struct ctp_postgres_now *now); /* it is to be put into the table before the next note */
enum ctp_status ctp_postgres_now_note(struct ctp_postgres *p, const struct ctp_postgres_state_fields *f, int64_t section,
                                      const struct ctp_record *rec, struct ctp_err *err);
enum ctp_status ctp_postgres_now_put(struct ctp_postgres *p, struct ctp_err *err); /* changes are in the table */
void ctp_postgres_now_free(struct ctp_postgres_now *now); /* null: nothing */

#endif
