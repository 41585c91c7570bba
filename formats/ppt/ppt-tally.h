/*
 * ppt-tally.h - what came of the buffers that were traced, of each and of all.
 */
#ifndef CTP_PPT_TALLY_H
#define CTP_PPT_TALLY_H

#include "ppt/ppt-live.h"
#include "ppt/ppt-trace.h"

/* Fills all, part and nparts. Out of memory: no parts. */
void ctp_ppt_tally(struct ctp_ppt_live_result *result, const struct ctp_ppt_trace *traces, size_t n);

/* So far: frames and lost alone. */
struct ctp_ppt_live_counts ctp_ppt_tally_by_now(const struct ctp_ppt_trace *traces, size_t n);

#endif
