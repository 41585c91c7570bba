/*
 * ppt-shared.h - which frames of a ring a child of the process may have saved.
 *
 * When a client of ppt's generator forks, its child has the ring too, and saves to the same slots by the same numbers. So a frame that was
 * taken while a child was there is the process's own only if the process was the last to write it. Phases:
 *
 *	alone	  no other process has the ring, or had it since the last look
 *	now	  a child has it, or had it: frames since the look before may be the child's
 *	left	  the child has gone, and frames of it may still be in the ring
 *	awaited   all frames of the child were taken. A later frame shows that the process has written all numbers before it
 *
 * Then those frames are compared with the ring. If all are the same, they are verified. If one differs, none is verified, because the child
 * can have overwritten others before they were taken. A child that has only done that is not noticed.
 */
#ifndef CTP_PPT_SHARED_H
#define CTP_PPT_SHARED_H

#include "ppt/ppt-ring.h"

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
