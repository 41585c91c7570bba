/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ended.h - how the program of a section ended, as its end record says.
 *
 * An outcome is kept by its label, because another writer may have other labels than events.c.
 */
#ifndef CTP_ENDED_H
#define CTP_ENDED_H

#include "base/linkage.h"
#include "stream/events.h"
#include "stream/record.h"

CTP_C_BEGIN

enum { CTP_ENDED_TEXT_MAX = 80 };

struct ctp_ended {
	char outcome[16]; /* "exited", "killed", "running", "ended", or another writer's; "": not known */
	int64_t status;   /* of the exit, or the number of the signal */
};

/* The last signal that was passed on to it. */
struct ctp_signalled {
	char name[16]; /* "": there was none */
	uint64_t ts_ns;
};

struct ctp_signalled ctp_signalled_read(const struct ctp_record *signal, uint64_t ts); /* of CTP_KIND_SIGNAL */
struct ctp_ended ctp_ended_read(const struct ctp_record *end); /* of CTP_KIND_END */
uint64_t ctp_ended_ns(const struct ctp_record *end, uint64_t ts); /* when; ts: of the record */
bool ctp_ended_is(const struct ctp_ended *e, enum ctp_outcome outcome);

/* "exited with status 3", "killed by SIGSEGV" ... Null: the outcome is not known, or is another writer's. */
const char *ctp_ended_text(char to[CTP_ENDED_TEXT_MAX], const struct ctp_ended *e);

CTP_C_END

#endif
