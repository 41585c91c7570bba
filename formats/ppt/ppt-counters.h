/*
 * ppt-counters.h - performance counters by their names, as perf_event_attr for a client to open.
 */
#ifndef CTP_PPT_COUNTERS_H
#define CTP_PPT_COUNTERS_H

#include <stdint.h>

#include "base/err.h"
#include "ppt/ppt-control.h"

enum { CTP_PPT_ATTR_BYTES = 112 }; /* what any client has room for */

struct ctp_ppt_counters {
	uint32_t n;
	const char *names[CTP_PPT_CONTROL_COUNTERS];
	uint8_t attr[CTP_PPT_CONTROL_COUNTERS][CTP_PPT_ATTR_BYTES];
};

/* "cycles,page-faults". The list is changed. Fails at a name that is not known, or there before, and at a fourth. */
enum ctp_status ctp_ppt_counters_parse(struct ctp_ppt_counters *counters, char *list, struct ctp_err *err);

/* Fails at one that this machine has not, or that may not be opened. */
enum ctp_status ctp_ppt_counters_try(const struct ctp_ppt_counters *counters, struct ctp_err *err);

/* A name; null: beyond the last. */
const char *ctp_ppt_counters_name(unsigned i);

#endif
