/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* plain.h - coroTracer's own rows in any format: their six fields, the rows that are garbage, and the classes of known names. */
#ifndef CTP_PLAIN_H
#define CTP_PLAIN_H

#include <stdbool.h>

#include "stream/schema.h"

/* The order of the fields in every row, and in a record of the class. */
enum { CTP_PLAIN_PROBE, CTP_PLAIN_TID, CTP_PLAIN_ADDR, CTP_PLAIN_SEQ, CTP_PLAIN_ACTIVE, CTP_PLAIN_TS, CTP_PLAIN_FIELDS };

extern const struct ctp_field ctp_plain_fields[CTP_PLAIN_FIELDS];

struct ctp_class *ctp_plain_class(struct ctp_err *err); /* the caller frees it */

/*
 * The class of coroTracer or ctp-collect with this name (null: any) and just these fields. Where a name is given, the rows may lack
 * fields that earlier versions did not write: any but the time, the key and the counts. Texts of sites (sites.h) are skipped.
 * Null: there is no such class.
 */
struct ctp_class *ctp_plain_known(const char *name, const struct ctp_field *fields, uint32_t n);

/*
 * False for garbage of coroTracer's early engine, which read stations before they were written: probe_id is 0, and ts is 0 or tid
 * is none that a system gives (0, or 2^32 and more). A probe_id of 0 alone says that the station had no header yet; the event may
 * be sound, and ts and tid tell whether it is.
 */
static inline bool ctp_plain_believable(const uint64_t *val)
{
	return val[CTP_PLAIN_PROBE] || (val[CTP_PLAIN_TS] && val[CTP_PLAIN_TID] && val[CTP_PLAIN_TID] <= UINT32_MAX);
}

#endif
