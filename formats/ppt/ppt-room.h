/*
 * ppt-room.h - how many slots the rings of a process's buffers have, so that all of them stay below a limit.
 *
 * How large a frame is, how many buffers there are and how long their descriptions, only the process says.
 */
#ifndef CTP_PPT_ROOM_H
#define CTP_PPT_ROOM_H

#include "ppt/ppt-live.h"
#include "ppt/ppt-trace.h"

enum { CTP_PPT_SLOTS_MAX = 1 << 18 }; /* of a ring, if nobody says how many */

/* Sets the slots of all traces, none of which has a ring yet. */
enum ctp_status ctp_ppt_room_share(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_trace *traces, size_t n, struct ctp_err *err);

/* Fails if there is no room for the description of the last one. */
enum ctp_status ctp_ppt_room_describe(const struct ctp_ppt_live_conf *conf, const struct ctp_ppt_trace *traces, size_t n,
                                      struct ctp_err *err);

#endif
