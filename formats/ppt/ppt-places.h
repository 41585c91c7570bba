/*
 * ppt-places.h - frames back into the order of their places: each waits until all before it have gone.
 *
 * A stream that was ordered by time, or went through text, has them nearly in that order. The memory is bounded: where it is full, a
 * place that is missing is given up.
 */
#ifndef CTP_PPT_PLACES_H
#define CTP_PPT_PLACES_H

#include "io/output.h"

enum { CTP_PPT_PLACES_BYTES = 64 << 20 };

struct ctp_ppt_places {
	struct ctp_output *out;
	uint32_t size;  /* bytes of a frame */
	int64_t next;   /* place */
	uint32_t held, limit;
	size_t room, slot_bytes;
	struct ctp_ppt_held {
		int64_t place;
		uint32_t slot;
	} *heap; /* [held, room) have the slots that are free */
	uint8_t *slots;
};

void ctp_ppt_places_init(struct ctp_ppt_places *p, struct ctp_output *out, uint32_t size);
void ctp_ppt_places_fini(struct ctp_ppt_places *p);

/* The frame is written now or later. CTP_FAILED: its place is over, or out of memory. */
enum ctp_status ctp_ppt_places_put(struct ctp_ppt_places *p, int64_t place, const uint8_t *bytes, struct ctp_err *err);
void ctp_ppt_places_flush(struct ctp_ppt_places *p); /* all that are held; the next place is 0 again */

#endif
