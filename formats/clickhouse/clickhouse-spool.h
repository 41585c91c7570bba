/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-spool.h - delivers a live stream from a file to which it is copied, from its start again after each failure.
 *
 *	do deliver to ctp_clickhouse_spool_sink; while it failed, and ctp_clickhouse_spool_again
 *
 * A delivery that failed is never continued (clickhouse-load.h), so each attempt is a delivery of its own. The first pause is as long
 * as the interval of the live delivery, but FIRST_NS at most; each is twice as long as the one before, up to LAST_NS. After an attempt
 * that went on for longer than that, they begin anew. While the stream goes on there is always another attempt. The last one begins
 * at the latest when the client's timeout has passed since the end of the stream.
 *
 * A server whose tables are not made for the stream does not get another attempt, because a person has to change something; nor does
 * a stream that cannot be read.
 */
#ifndef CTP_CLICKHOUSE_SPOOL_H
#define CTP_CLICKHOUSE_SPOOL_H

#include "clickhouse/clickhouse.h"
#include "io/input-copy.h"

struct ctp_clickhouse_spool {
	struct ctp_clickhouse_options o;
	const char *path;
	struct ctp_input_copy *copy;
	struct ctp_notice sent;
	struct ctp_err said; /* why the attempts since the last batch failed; no text: none did */
	uint64_t began_ns, pause_ns;
};

/* What options and path point to must be there until the last call. The interval and the timeout are set. The caller sets copy. */
void ctp_clickhouse_spool_init(struct ctp_clickhouse_spool *s, const struct ctp_clickhouse_options *options, const char *path);

/* The sink of the next attempt; null: err. The spool must stay where it is. */
struct ctp_sink *ctp_clickhouse_spool_sink(struct ctp_clickhouse_spool *s, struct ctp_err *err);

/* After an attempt that failed: waits until it is time for another. False: there is none. */
bool ctp_clickhouse_spool_again(struct ctp_clickhouse_spool *s, const struct ctp_err *why);

/* Says what delivers the file later. Any thread may call it, at any time after the init. */
void ctp_clickhouse_spool_remedy(const struct ctp_clickhouse_spool *s, const struct ctp_notice *to);

#endif
