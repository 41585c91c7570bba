/*
 * spool.h - what a sink was given, set aside to be gone through once more: for a format whose beginning is known at the end.
 *
 * It waits as a raw stream, some 6 bytes a record, in a file without a name in $TMPDIR or /tmp: whatever ends the program,
 * nothing is left behind.
 */
#ifndef CTP_SPOOL_H
#define CTP_SPOOL_H

#include "stream/sink.h"

struct ctp_spool;
struct ctp_spool *ctp_spool_new(struct ctp_err *err);
void ctp_spool_free(struct ctp_spool *spool);

/* As in struct ctp_sink_ops. */
enum ctp_status ctp_spool_section(struct ctp_spool *spool, const struct ctp_section *sec, struct ctp_err *err);
enum ctp_status ctp_spool_records(struct ctp_spool *spool, const struct ctp_batch *batch, struct ctp_err *err);
enum ctp_status ctp_spool_end(struct ctp_spool *spool, const struct ctp_section_end *end, struct ctp_err *err);

/* All of it, in the same order, to section, records and end of `to`, which are called with sink. Once. */
enum ctp_status ctp_spool_replay(struct ctp_spool *spool, const struct ctp_sink_ops *to, struct ctp_sink *sink,
                                 struct ctp_err *err);

#endif
