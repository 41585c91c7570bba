/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * spool.h - the input of a sink, kept for a second pass: for a format whose first bytes are known only at the end.
 *
 * A spool is a raw stream, some 6 bytes a record, in a file without a name in $TMPDIR or /tmp: however the program ends, no file
 * remains.
 */
#ifndef CTP_SPOOL_H
#define CTP_SPOOL_H

#include "stream/sink.h"

/* A file without a name, and an output to it, which closes and leaves it open; -1: err. */
int ctp_spool_file(struct ctp_output *out, struct ctp_err *err);

struct ctp_spool;
struct ctp_spool *ctp_spool_new(struct ctp_err *err);
void ctp_spool_free(struct ctp_spool *spool);

/* Called as those of struct ctp_sink_ops are. */
enum ctp_status ctp_spool_section(struct ctp_spool *spool, const struct ctp_section *sec, struct ctp_err *err);
enum ctp_status ctp_spool_records(struct ctp_spool *spool, const struct ctp_batch *batch, struct ctp_err *err);
enum ctp_status ctp_spool_end(struct ctp_spool *spool, const struct ctp_section_end *end, struct ctp_err *err);

/* Calls section, records and end of `to`, with sink, for all of the spool, in the same order. To be called once. */
enum ctp_status ctp_spool_replay(struct ctp_spool *spool, const struct ctp_sink_ops *to, struct ctp_sink *sink,
                                 struct ctp_err *err);

#endif
