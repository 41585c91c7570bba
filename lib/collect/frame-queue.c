/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* frame-queue.c - the queue of those to be asked about. */
#include "collect/frame-queue.h"

#include <assert.h>
#include <sys/mman.h>

enum ctp_status ctp_frame_queue_init(struct ctp_frame_queue *f, uint32_t room, struct ctp_err *err)
{
	size_t bytes = room * sizeof *f->asked; /* pages come as they are used */
	void *asked = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (asked == MAP_FAILED)
		return ctp_err_sys(err, "memory for the frames of %u coroutines", room);
	*f = (struct ctp_frame_queue){.asked = asked, .room = room};
	return CTP_OK;
}

void ctp_frame_queue_fini(struct ctp_frame_queue *f)
{
	if (f->asked)
		munmap(f->asked, f->room * sizeof *f->asked);
	*f = (struct ctp_frame_queue){.room = 0};
}

size_t ctp_frame_queue_next(const struct ctp_frame_queue *f, const struct ctp_frame **frames)
{
	*frames = f->asked;
	if (!f->room)
		return 0;
	assert(f->head - f->tail <= f->room);
	size_t n = f->head - f->tail, at = f->tail % f->room;
	*frames += at;
	n = n < f->room - at ? n : f->room - at;
	return n < CTP_FRAME_QUEUE_AT_ONCE ? n : CTP_FRAME_QUEUE_AT_ONCE;
}

bool ctp_frame_lives(const struct ctp_frame *frame)
{
	/* Pairs with the release store at the next birth in the station: a reader that sees it alive sees its generation. */
	return !__atomic_load_n(&frame->station->is_dead, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&frame->station->generation, __ATOMIC_RELAXED) == frame->generation;
}
