/*
 * ppt-trace.h - one buffer of a process, as a section of a stream: its frames, what is missing, and how it ended.
 */
#ifndef CTP_PPT_TRACE_H
#define CTP_PPT_TRACE_H

#include <time.h>

#include "ppt/ppt-attach.h"
#include "ppt/ppt-frames.h"
#include "ppt/ppt-shared.h"
#include "stream/events.h"

/* Of a section: how its process, or its buffer, ended; further ones than the stream has. */
enum { CTP_PPT_OUTCOME_CLOSED = CTP_OUTCOME_ENDED + 1, CTP_PPT_OUTCOME_REPLACED };
struct ctp_ppt_outcome {
	unsigned how;
	int status; /* of a process that has exited, or the signal that has killed it; else 0 */
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
	bool closed; /* by its program, which saves no more */
	bool late;   /* it was said that the ring was */
	bool discards; /* what comes is counted, for it cannot be kept */

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
	int32_t begins;       /* the number of the first frame, once it is; without one, the first that was looked for */
	struct ctp_ppt_missing missing; /* not yet written */
	uint64_t after_ns, newest_ns; /* time of the last frame, or of before the first; of the latest */
	uint64_t lag_ns;      /* how long a frame's own time was over, at most, when it came */
	uint64_t marked_ns;
	uint64_t taken, lost, torn; /* frames */
	uint64_t unkept;  /* of those that are lost: taken, but not written */
	uint64_t unverified; /* of those that are taken: a child of the process may have saved them */
	uint64_t unknown; /* of those that are torn: of a type that is none */
};

/* Reads the description. counters must be there until the fini; a buffer without members for them has none. Fails with one line that has the buffer's name. */
enum ctp_status ctp_ppt_trace_init(struct ctp_ppt_trace *t, const struct ctp_ppt_memory *m, const struct ctp_ppt_buffer *b,
                                   const struct ctp_ppt_counters *counters, bool exact, struct ctp_err *err);
void ctp_ppt_trace_fini(struct ctp_ppt_trace *t);

/* Opens the section. The writer stays the caller's, and must be there until the end. */
void ctp_ppt_trace_begin(struct ctp_ppt_trace *t, struct ctp_writer *w, const char *tool);

/* Frames that are in the ring, at most max; how many there were, missing ones included. last: nobody writes any more. */
uint32_t ctp_ppt_trace_take(struct ctp_ppt_trace *t, uint32_t max, bool last);

/* Behind the last take: frames in the ring whose numbers are none that were to come. */
void ctp_ppt_trace_strays(struct ctp_ppt_trace *t);

/* What is known so far goes to live readers. */
void ctp_ppt_trace_publish(struct ctp_ppt_trace *t);

/* The output has failed: of what was taken, so many frames are kept, and none from now on. */
void ctp_ppt_trace_discard(struct ctp_ppt_trace *t, uint64_t kept);

struct ctp_ppt_counts ctp_ppt_trace_counts(const struct ctp_ppt_trace *t);

void ctp_ppt_trace_end(struct ctp_ppt_trace *t, struct ctp_ppt_outcome outcome);

#endif
