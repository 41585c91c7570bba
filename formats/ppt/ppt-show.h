/*
 * ppt-show.h - the ppt buffers of a process, for people: a line for each, or all of one.
 */
#ifndef CTP_PPT_SHOW_H
#define CTP_PPT_SHOW_H

#include <sys/types.h>

#include "base/err.h"
#include "io/output.h"

/* Each buffer with its state, its frames and its file. CTP_EOF: the process has none. */
enum ctp_status ctp_ppt_show_list(struct ctp_output *out, pid_t pid, const struct ctp_notice *notice, struct ctp_err *err);

/*
 * Each buffer of each process, with its state. denied: the number of processes that may not be read, without those of the kernel. CTP_EOF:
 * there are no buffers.
 */
enum ctp_status ctp_ppt_show_all(struct ctp_output *out, uint64_t *denied, const struct ctp_notice *notice, struct ctp_err *err);

/* What its description says: clock, tags, frames and their members; and the classes and columns of its records. */
enum ctp_status ctp_ppt_show_buffer(struct ctp_output *out, pid_t pid, char *name, const struct ctp_notice *notice,
                                    struct ctp_err *err);

#endif
