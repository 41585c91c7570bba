/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * merge.h - makes one section of the sections of all inputs, in time order.
 *
 * Each section is an origin, with a number that its records have in a field of their own. Numbers of coroutines, threads,
 * processes, probes and sites become unique (merge-ids.h); times become those of one clock (merge-clock.h). Records of equal times
 * come in the order of the inputs, and those of one section keep their order.
 *
 * At most CTP_MERGE_LANES sections are read at a time. If there are more, each CTP_MERGE_LANES of them are merged into a file
 * without a name in $TMPDIR, and then these files are merged.
 */
#ifndef CTP_MERGE_H
#define CTP_MERGE_H

#include "stream/sink.h"

enum { CTP_MERGE_LANES = 64 };

struct ctp_merge_stats {
	uint64_t records, late;
	uint32_t sections;
	bool harmed; /* an input was damaged or cut short, or has records of losses */
};

/*
 * files: up to null; none: standard input. say may be null. It also gets how times relate, if the sections have several clocks.
 * The output is the caller's. CTP_FAILED: out may have a part of the stream.
 */
enum ctp_status ctp_merge(char *const *files, struct ctp_output *out, const struct ctp_notice *say, const struct ctp_tick *tick,
                          struct ctp_merge_stats *stats, struct ctp_err *err);

#endif
