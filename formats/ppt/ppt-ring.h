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
 * The ring is hostile, and the target can write to it at any time. Whatever it holds, no call reads outside of it, or looks at more than a
 * few thousand slots.
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

/* Reads the frame of an index once more. False: it is not there any more, or not whole. */
bool ctp_ppt_ring_again(const struct ctp_ppt_ring *r, uint64_t index, void *frame);

/* The number of the frame that is expected next, if begun. */
static inline uint32_t ctp_ppt_ring_number(const struct ctp_ppt_ring *r) { return r->first + (uint32_t)r->index; }

/* The same when the process writes no more: a frame that was begun will not become whole. */
enum ctp_ppt_found ctp_ppt_ring_last(struct ctp_ppt_ring *r, void *frame, struct ctp_ppt_missing *missing, uint64_t now_ns);

/* After the last frame: one gap for all frames that are whole, and whose numbers do not belong to their slots. */
enum ctp_ppt_found ctp_ppt_ring_strays(struct ctp_ppt_ring *r, struct ctp_ppt_missing *missing);

#endif
