/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * frame-queue.h - coroutines of which no place in the source is known, and which say instead where their frame is.
 *
 * In the ABI that gcc and clang share, the frame of a C++20 coroutine begins with the address of its code, its resume pointer,
 * which identifies its function. It must be read while the coroutine lives. The harvest asks about each such coroutine once, at its
 * first suspension; targets.c, which knows the processes, answers for some of them after each look.
 */
#ifndef CTP_FRAME_QUEUE_H
#define CTP_FRAME_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTP_LAYOUT_ONLY
#include "base/err.h"
#include "ctp.h"

enum { CTP_FRAME_QUEUE_AT_ONCE = 64 };

struct ctp_frame {
	const struct ctp_shm_station *station;
	uint32_t generation; /* of the coroutine in it; 0: version 1, whose stations have one coroutine each */
	uint64_t coro, probe_id;
	uint64_t tid, addr; /* of a suspension: the target's word */
};

/* First in, first out. One of zeros has no room. */
struct ctp_frame_queue {
	struct ctp_frame *asked;
	uint64_t head, tail; /* asked about, answered; ever */
	uint32_t room;
};

enum ctp_status ctp_frame_queue_init(struct ctp_frame_queue *f, uint32_t room, struct ctp_err *err);
void ctp_frame_queue_fini(struct ctp_frame_queue *f);

/* False: there is no room. */
static inline bool ctp_frame_queue_ask(struct ctp_frame_queue *f, const struct ctp_frame *frame)
{
	if (f->head - f->tail >= f->room)
		return false;
	f->asked[f->head++ % f->room] = *frame;
	return true;
}

/* The next of them, at most CTP_FRAME_QUEUE_AT_ONCE, in a row. Returns how many; after the answer f->tail is to be moved. */
size_t ctp_frame_queue_next(const struct ctp_frame_queue *f, const struct ctp_frame **frames);

/*
 * Whether the coroutine that was asked about is still there. If it is, what was read from its frame CTP_STATION_DRAIN_NS before
 * (v1-station.h), or earlier, was its own: its death is stored before its frame is freed and used again, if only by a plain store.
 */
bool ctp_frame_lives(const struct ctp_frame *frame);

#endif
