/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-ring.h - reads frames from the ring that a process writes: in the order of their numbers, none of them torn.
 *
 * The protocol, as the clients speak it. A frame has its number twice, in front and at the back. A writer takes the next number and
 *
 *	front = 0, back = 0, fence, front = number, fence, the rest of the frame, fence, back = number
 *
 * and a reader that expects a number loads the back, copies, and loads the front: the frame is whole if both were that number. The
 * first frame after an attach is in slot 0, so that a number has one slot, and a slot tells how many frames were overwritten.
 *
 * The ring is hostile, and the target can write to it at any time. Whatever it holds, no call reads outside of it, or looks at more
 * than a few thousand slots.
 */
#ifndef CTP_PPT_RING_H
#define CTP_PPT_RING_H

#include <stdbool.h>
#include <stdint.h>

struct ctp_ppt_ring {
	/* Set by the caller. */
	const void *data;    /* slots x stride bytes, at an address that four divides */
	uint32_t slots;      /* not 0 */
	uint32_t stride, size; /* of a slot; of the frame in it: four divides both */
	uint32_t front, back;  /* where the numbers are in a frame: four divides both */

	/* The ring's own, zeros at first. */
	bool begun;          /* the number of the first frame is known */
	uint32_t first;      /* that of slot 0, when index was 0 */
	uint64_t index;      /* of the frame that is expected next, from the first on */
	uint64_t begun_ns, most; /* most: frames that can have been saved since then */
	uint64_t stuck_ns;   /* when the expected frame was first missing; 0: not known */
	uint64_t frames, lost;   /* given; not given */
	uint64_t torn, wrong;    /* of those lost: seen but never whole; of these: with a number that cannot be there */
	uint64_t overrun;        /* of those lost: overwritten */
	bool late;           /* the ring was full before the first look: earlier frames may be missing */
	uint32_t begins;     /* the first number that was looked for */
};

enum ctp_ppt_found {
	CTP_PPT_NOTHING, /* the next frame is not there yet */
	CTP_PPT_FRAME,
	CTP_PPT_GAP,     /* frames are missing before the next one */
};

struct ctp_ppt_missing {
	uint32_t number; /* of the first that is missing */
	uint64_t count;
	uint64_t torn;   /* of these: seen but never whole */
};

/* frame has room for size bytes. now_ns is of CLOCK_MONOTONIC, and limits the wait for a frame that stays half-written. */
enum ctp_ppt_found ctp_ppt_ring_next(struct ctp_ppt_ring *r, void *frame, struct ctp_ppt_missing *missing, uint64_t now_ns);

/* The number of the frame that is expected next, if begun. */
static inline uint32_t ctp_ppt_ring_number(const struct ctp_ppt_ring *r) { return r->first + (uint32_t)r->index; }

/* The same when the process writes no more: a frame that was begun will not become whole. */
enum ctp_ppt_found ctp_ppt_ring_last(struct ctp_ppt_ring *r, void *frame, struct ctp_ppt_missing *missing, uint64_t now_ns);

/* After the last frame: one gap for all frames that are whole, and whose numbers do not belong to their slots. */
enum ctp_ppt_found ctp_ppt_ring_strays(struct ctp_ppt_ring *r, struct ctp_ppt_missing *missing);

/* --- frames that a child of the process may have saved ------------------------------------------------------------------------ */

/*
 * When a client of ppt's generator forks, its child has the ring too, and saves to the same slots by the same numbers. So a frame
 * that was taken while a child was there is the process's own only if the process was the last to write it. Phases:
 *
 *	alone	  no other process has the ring, or had it since the last look
 *	now	  a child has it, or had it: frames since the look before may be the child's
 *	left	  the child has gone, and frames of it may still be in the ring
 *	awaited   all frames of the child were taken. A later frame shows that the process has written all numbers before it
 *
 * Then those frames are compared with the ring. If all are the same, they are verified. If one differs, none is verified, because
 * the child can have overwritten others before they were taken. A child that has only done that is not noticed.
 */
struct ctp_ppt_shared {
	enum { CTP_PPT_SHARED_ALONE, CTP_PPT_SHARED_NOW, CTP_PPT_SHARED_LEFT, CTP_PPT_SHARED_AWAITED } phase;
	uint32_t *sums; /* checksum of the last frame that was taken from each slot */
	struct ctp_ppt_shared_mark {
		uint64_t index, frames; /* of the ring */
	} from, upto; /* the frames that may be a child's; alone: both are the last look */
};

/* Frames that are not verified: count of them, the first has this number. */
struct ctp_ppt_doubt {
	uint32_t number;
	uint64_t count;
};

/* For a ring from which nothing was taken yet; it begins as zeros. False: out of memory. */
bool ctp_ppt_shared_begin(struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r);
void ctp_ppt_shared_fini(struct ctp_ppt_shared *s);

/* The ring has just given this frame. */
void ctp_ppt_shared_took(struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r, const void *frame);

/*
 * others: another process has the ring, or had since the last call. drained: the ring had no more, before that was seen.
 * True: there is a doubt.
 */
bool ctp_ppt_shared_look(struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r, bool others, bool drained, struct ctp_ppt_doubt *doubt);

/* Nothing more is taken from the ring. True: there is a doubt. */
bool ctp_ppt_shared_end(struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r, struct ctp_ppt_doubt *doubt);

#endif
