/*
 * ppt-room.h - how many slots each ring has, so that all of them together stay below a limit.
 *
 * The process chooses the size of a frame, the number of buffers and the length of their descriptions.
 */
#ifndef CTP_PPT_ROOM_H
#define CTP_PPT_ROOM_H

#include "ppt/ppt-live.h"
#include "ppt/ppt-trace.h"

enum { CTP_PPT_SLOTS_MAX = 1 << 18 }; /* of a ring, by default */

/* Sets the slots of all traces. They have no rings yet. */
enum ctp_status ctp_ppt_room_share(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *traces, size_t n, struct ctp_err *err);

/* Fails if there is no room for the description of the last one. */
enum ctp_status ctp_ppt_room_describe(const struct ctp_ppt_live_conf *conf, const struct ctp_ppt_trace *traces, size_t n,
                                      struct ctp_err *err);

#endif
