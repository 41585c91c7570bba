/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-trace.h - one buffer of a process, as a section of a stream: its frames, what is missing, and how it ended.
 */
#ifndef CTP_PPT_TRACE_H
#define CTP_PPT_TRACE_H

#include <time.h>

#include "ppt/ppt-attach.h"
#include "ppt/ppt-frames.h"
#include "stream/events.h"

/* How the process or the buffer of a section ended, in addition to the outcomes of the stream. */
enum { CTP_PPT_OUTCOME_CLOSED = CTP_OUTCOME_ENDED + 1, CTP_PPT_OUTCOME_REPLACED };
struct ctp_ppt_outcome {
	unsigned how;
	int status; /* exit status, or the signal that killed the process; else 0 */
};

struct ctp_ppt_counts {
	uint64_t frames, lost;
	uint64_t overrun, torn, wrong; /* of those lost: overwritten; half-written; with a number or a type that cannot be */
	uint64_t unkept; /* of those lost: there was no room to write them */
	uint64_t unverified; /* of the frames: a child of the process may have saved them */
	bool late;       /* it is not known what was saved before the first look */
};

struct ctp_ppt_trace {
	/* Set by ctp_ppt_trace_init. */
	const struct ctp_ppt_buffer *buffer;
	struct ctp_ppt_layout *layout;
	struct ctp_ppt_attach at;
	bool closed; /* its program has closed it */
	bool late;   /* the user was told that the ring was full before the first look */
	bool discards; /* there is no output: frames are only counted */

	/* The rest is ppt-trace.c's, to be read. */
	char *json;
	size_t json_len;
	struct ctp_ppt_frames *frames;
	struct ctp_class *end_class, *late_class, *doubt_class;
	struct ctp_ppt_shared shared;
	struct ctp_writer *writer; /* null: the section has not begun, or is over */
	uint8_t *frame;
	clockid_t clock;      /* of the frames; negative: we cannot read it, and make no marks */
	bool has_header;      /* it is written */
	int32_t begins;       /* if has_header: the number of the first frame, or of the first that was expected */
	struct ctp_ppt_missing missing; /* not yet written */
	uint64_t after_ns, newest_ns; /* time of the last frame, or of the beginning; the latest time of a frame */
	uint64_t lag_ns;      /* longest delay between the time of a frame and its arrival */
	uint64_t marked_ns;
	uint64_t taken, lost, torn; /* frames */
	uint64_t unkept;  /* of those lost: taken, but not written */
	uint64_t unverified; /* of those taken: a child of the process may have saved them */
	uint64_t unknown; /* of those torn: of an unknown type */
};

/*
 * Reads the description. counters must be there until the fini; a buffer without members for them gets none. Fails with a line that
 * names the buffer.
 */
enum ctp_status ctp_ppt_trace_init(struct ctp_ppt_trace *t, const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b,
                                   const struct ctp_ppt_counters *counters, bool exact, struct ctp_err *err);
void ctp_ppt_trace_fini(struct ctp_ppt_trace *t);

/* Opens the section. The writer stays the caller's, and must be there until the end. */
void ctp_ppt_trace_begin(struct ctp_ppt_trace *t, struct ctp_writer *w, const char *tool);

/* Takes at most max frames from the ring. Their number, with missing ones. last: the process writes no more. */
uint32_t ctp_ppt_trace_take(struct ctp_ppt_trace *t, uint32_t max, bool last);

/* After the last take: counts frames in the ring whose numbers do not belong there. */
void ctp_ppt_trace_strays(struct ctp_ppt_trace *t);

/* Makes everything so far visible to live readers. */
void ctp_ppt_trace_publish(struct ctp_ppt_trace *t);

/* The output has failed: it has kept this many of the frames that were taken. From now on frames are only counted. */
void ctp_ppt_trace_discard(struct ctp_ppt_trace *t, uint64_t kept);

struct ctp_ppt_counts ctp_ppt_trace_counts(const struct ctp_ppt_trace *t);

void ctp_ppt_trace_end(struct ctp_ppt_trace *t, struct ctp_ppt_outcome outcome);

#endif
