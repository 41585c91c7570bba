/* ppt-shared.c - see ppt-shared.h. */
#include "ppt/ppt-shared.h"

#include <stdlib.h>

#include "base/crc32c.h"

bool ctp_ppt_shared_begin(struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r)
{
	uint32_t *sums = calloc(r->slots, sizeof *sums);
	free(s->sums);
	*s = (struct ctp_ppt_shared){.sums = sums, .from = {r->index, r->frames}, .upto = {r->index, r->frames}};
	return sums;
}

void ctp_ppt_shared_fini(struct ctp_ppt_shared *s)
{
	free(s->sums);
	*s = (struct ctp_ppt_shared){0};
}

void ctp_ppt_shared_took(struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r, const void *frame)
{
	if (s->sums)
		s->sums[(r->index - 1) % r->slots] = ctp_crc32c(0, frame, r->size);
}

/* The frames that the ring still has as they were taken. A checksum covers the number, so that a frame of an earlier turn differs. */
static uint64_t count_same(const struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r)
{
	uint64_t same = 0, first = r->index > r->slots ? r->index - r->slots : 0;
	uint32_t *frame = malloc(r->size);
	for (uint64_t i = first > s->from.index ? first : s->from.index; frame && i < s->upto.index; i++)
		same += ctp_ppt_ring_again(r, i, frame) && ctp_crc32c(0, frame, r->size) == s->sums[i % r->slots];
	free(frame);
	return same;
}

/* count frames are not verified. The next frames are the process's own. */
static bool settle(struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r, uint64_t count, struct ctp_ppt_doubt *doubt)
{
	*doubt = (struct ctp_ppt_doubt){.number = r->first + (uint32_t)s->from.index, .count = count};
	s->phase = CTP_PPT_SHARED_ALONE;
	s->from = s->upto = (struct ctp_ppt_shared_mark){r->index, r->frames};
	return count;
}

bool ctp_ppt_shared_look(struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r, bool others, bool drained, struct ctp_ppt_doubt *doubt)
{
	struct ctp_ppt_shared_mark here = {r->index, r->frames};
	if (!s->sums)
		return false;
	if (others) {
		s->phase = CTP_PPT_SHARED_NOW;
	} else if (s->phase == CTP_PPT_SHARED_ALONE) {
		s->from = here;
	} else if (s->phase == CTP_PPT_SHARED_NOW) {
		s->phase = CTP_PPT_SHARED_LEFT;
	} else if (s->phase == CTP_PPT_SHARED_LEFT && drained) {
		s->phase = CTP_PPT_SHARED_AWAITED;
		s->upto = here;
	} else if (s->phase == CTP_PPT_SHARED_AWAITED && here.frames > s->upto.frames) {
		/* If one differs, the child has saved frames, and can have overwritten others before they were taken. */
		uint64_t count = s->upto.frames - s->from.frames;
		return settle(s, r, count_same(s, r) < count ? count : 0, doubt);
	}
	return false;
}

bool ctp_ppt_shared_end(struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r, struct ctp_ppt_doubt *doubt)
{
	return s->sums && s->phase != CTP_PPT_SHARED_ALONE && settle(s, r, r->frames - s->from.frames, doubt);
}
