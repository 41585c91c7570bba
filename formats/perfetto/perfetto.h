/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * perfetto.h - a stream as a timeline: for Perfetto as TracePackets of protobuf, or as Chrome's JSON, which other viewers read too.
 *
 * Both are written in one pass, as the stream is read. Memory grows with the coroutines that are alive, not with events.
 */
#ifndef CTP_PERFETTO_H
#define CTP_PERFETTO_H

#include "analyse/analysis.h"
#include "io/output.h"
#include "stream/sink.h"

enum {
	CTP_PERFETTO_LANES = 1000,          /* the viewer needs a time for these that grows with their square */
	CTP_PERFETTO_LANES_MAX = 100000,
	CTP_PERFETTO_TRANSITIONS = 5000000, /* more are too many for a browser */
};

/*
 * What is not drawn, in events of the stream. strange: they have no coroutine, or there was no room for it; passed: they came after
 * a later one of the same coroutine, or after its death. Runs and wakes without a thread have no track.
 */
struct ctp_perfetto_undrawn {
	uint64_t strange_runs, strange_suspensions, passed_runs, passed_suspensions;
	uint64_t runs, wakes;
};

/* Says that, without a newline; false: all is drawn. */
enum { CTP_PERFETTO_UNDRAWN_MAX = 400 };
bool ctp_perfetto_undrawn_text(char to[CTP_PERFETTO_UNDRAWN_MAX], const struct ctp_perfetto_undrawn *u);

/* For notices. */
struct ctp_perfetto_left {
	struct ctp_perfetto_undrawn undrawn;
	uint64_t transitions;              /* that are drawn */
	uint64_t coroutines, waits, runs;  /* coroutines without a lane of their own, and what is not drawn of them */
	uint64_t sections, moved;          /* moved: their clock has nothing in common with that of the first */
};

struct ctp_perfetto_options {
	struct ctp_analysis_options report;
	bool chrome;       /* Chrome's JSON */
	bool threads_only; /* no lanes, wakes and counters */
	uint32_t lanes;    /* the most that are drawn; further coroutines share rows */
	struct ctp_perfetto_left *left;
};

/* Owns out, also if it fails. What options point to is the caller's, and must last as long as the sink. */
struct ctp_sink *ctp_perfetto_sink(struct ctp_output *out, const struct ctp_perfetto_options *options, struct ctp_err *err);

#endif
