/* plain.h - coroTracer's own rows, of whatever format: six fields, which rows are not to be believed, and what is known besides. */
#ifndef CTP_PLAIN_H
#define CTP_PLAIN_H

#include <stdbool.h>

#include "stream/schema.h"

/* In this order in every row, and in a record of the class. */
enum { CTP_PLAIN_PROBE, CTP_PLAIN_TID, CTP_PLAIN_ADDR, CTP_PLAIN_SEQ, CTP_PLAIN_ACTIVE, CTP_PLAIN_TS, CTP_PLAIN_FIELDS };

extern const struct ctp_field ctp_plain_fields[CTP_PLAIN_FIELDS];

struct ctp_class *ctp_plain_class(struct ctp_err *err); /* the caller frees it */

/*
 * A class that is known here, coroTracer's or one of ctp-collect's, with this name (null: any) and just these fields; of one with a
 * name, fields that earlier versions did not write may be missing: all but its time, its key and its counts. The texts of sites
 * (sites.h) are passed over. Null: none.
 */
struct ctp_class *ctp_plain_known(const char *name, const struct ctp_field *fields, uint32_t n);

/*
 * False for garbage of coroTracer's early engine, which read stations before they were written: probe_id is 0, and ts is 0 or
 * tid none that a system gives (0, or 2^32 and more). With a probe_id of 0 the row stems from a station without a header; its
 * event may be sound nevertheless, which the other two tell.
 */
bool ctp_plain_believable(const uint64_t *val);

#endif
