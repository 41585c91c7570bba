/*
 * ppt-shared.h - frames of a ring that a child of the process may have saved.
 *
 * A child that a client of ppt's generator forks has the ring, too, and saves to the same slots by the same numbers. So a frame that was
 * taken while a child was there is the process's own only if the process was the last to write it:
 *
 *	alone	  no other process has, or had, the ring since the last look
 *	shared	  one has, or had: frames since the look before may be its
 *	left	  it has gone, and what it has saved may still be in the ring
 *	awaited   what it saved was taken. A later frame of the process shows that the process has written all numbers before
 *
 * Then those frames are compared with what the ring has. If all are the same, they are verified; else none is, for the child can have
 * overwritten others before they were taken. A child that has done only that is not seen.
 */
#ifndef CTP_PPT_SHARED_H
#define CTP_PPT_SHARED_H

#include "ppt/ppt-ring.h"

struct ctp_ppt_shared {
	enum { CTP_PPT_SHARED_ALONE, CTP_PPT_SHARED_NOW, CTP_PPT_SHARED_LEFT, CTP_PPT_SHARED_AWAITED } phase;
	uint32_t *sums; /* of the frame that was last taken from each slot */
	struct ctp_ppt_shared_mark {
		uint64_t index, frames; /* of the ring */
	} from, upto; /* frames that may be a child's; alone: both are the last look */
};

/* Frames that are not verified: count of them, the first has this number. */
struct ctp_ppt_doubt {
	uint32_t number;
	uint64_t count;
};

/* All zeros, and this: a ring from which nothing was taken. False: out of memory. */
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
