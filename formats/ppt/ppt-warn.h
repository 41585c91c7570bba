/*
 * ppt-warn.h - what a user should know of a trace while it runs. Each is said once.
 */
#ifndef CTP_PPT_WARN_H
#define CTP_PPT_WARN_H

#include "ppt/ppt-live.h"
#include "ppt/ppt-trace.h"

/* Of buffers that have no members for counters, those that were named; all, where no buffer has any. */
void ctp_ppt_warn_uncounted(const struct ctp_ppt_live_conf *conf, const struct ctp_ppt_trace *traces, size_t n);

void ctp_ppt_warn_late(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *t);

void ctp_ppt_warn_counters(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *t);

/* Of one that is attached. False: frames may be lost unseen. */
bool ctp_ppt_warn(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *t);

#endif
