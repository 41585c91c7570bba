/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-holds.h - which coroutine held which object, from when to when.
 *
 * A hold begins with the record by which the coroutine has something of the object, and ends with that by
 * which it has nothing. When records are missing, the end of each hold that goes on is unknown. The record of
 * a loss comes at its end, but records are missing since its begin, and other threads may have recorded in
 * between. So the last holds that have ended are kept for a while. If a loss reaches back beyond these, the
 * doubt says up to when no hold is certain.
 */
#ifndef CTP_SQL_HOLDS_H
#define CTP_SQL_HOLDS_H

#include "analyse/follow.h"
#include "analyse/roles.h"
#include "base/map.h"

enum { CTP_SQL_HOLDS_MAX = 1 << 22, CTP_SQL_HOLDS_KEPT = 1 << 16 };

struct ctp_sql_hold {
	uint64_t pid, at, coro, probe, start_ns, stop_ns;
	int64_t count, most; /* most: the highest count so far */
	uint64_t site;       /* where it began to hold some; 0: not known */
	char *name;          /* of the object; null: none */
	bool sure;           /* when it began, all holders of the object were known, and since then no record is missing */
	bool stopped, open;  /* stopped: stop_ns is known; open: it goes on when the section ends */
};

/* Zeros at first, but for put, arg and follow. */
struct ctp_sql_holds {
	void (*put)(void *arg, const struct ctp_sql_hold *hold);
	void *arg;
	struct ctp_follow *follow;
	struct ctp_map map;        /* by object and coroutine */
	struct ctp_sql_hold *list; /* from 1 on; those whose count is 0 have ended */
	uint32_t count;
	size_t room;
	struct ctp_sql_hold *kept; /* a ring of those that have ended */
	uint64_t nkept, nput;      /* so far */
	uint64_t put_ns;           /* the latest end of those that were put */
	uint64_t doubt_ns;         /* no hold that began by then is certain */
	const struct ctp_class *known[3]; /* classes whose roles are known, by their sort */
	struct ctp_roles roles[3];
	bool failed;
};

bool ctp_sql_holds_init(struct ctp_sql_holds *h); /* false: out of memory */
void ctp_sql_holds_fini(struct ctp_sql_holds *h);
void ctp_sql_holds_clear(struct ctp_sql_holds *h);

/* Whether records of the class matter. */
bool ctp_sql_holds_wants(const struct ctp_class *cls);

/* A record: before and after ctp_follow_records has it. */
void ctp_sql_holds_before(struct ctp_sql_holds *h, const struct ctp_record *rec);
void ctp_sql_holds_after(struct ctp_sql_holds *h, const struct ctp_record *rec);

/* The section is over: puts what is left, and if there is a doubt, a hold of no coroutine from doubt_ns on. */
void ctp_sql_holds_finish(struct ctp_sql_holds *h, const struct ctp_follow_end *end);

#endif
