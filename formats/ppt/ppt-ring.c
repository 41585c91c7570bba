/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-ring.c - one slot at a time, by the number that is expected there.
 */
#include "ppt/ppt-ring.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/crc32c.h"

enum {
	AHEAD_MAX = 4096, /* slots that are looked at for a later frame */
	LAST_SLOTS = 4,   /* they show if the ring was full already; one may look empty because it is being written */
	MARGIN = 64,      /* one part in 64 of the ring is given up at an overrun, or the writer would overtake again */
	JUMP_FREE = 1 << 24, JUMP_NS = 2, /* frames that a program can have saved at most: these, and one more for each 2 ns */
};
#define PATIENCE_NS UINT64_C(100000000) /* for a frame that is half-written while later ones are whole */

static const _Atomic uint32_t *word(const struct ctp_ppt_ring *r, uint64_t index, uint32_t offset)
{
	return (const _Atomic uint32_t *)((const char *)r->data + index % r->slots * r->stride + offset);
}

static uint32_t front_of(const struct ctp_ppt_ring *r, uint64_t index)
{
	return atomic_load_explicit(word(r, index, r->front), memory_order_relaxed);
}

/* Pairs with the writer's fence between the payload and the back (ppt-ring.h). */
static uint32_t back_of(const struct ctp_ppt_ring *r, uint64_t index)
{
	return atomic_load_explicit(word(r, index, r->back), memory_order_acquire);
}

static void copy(const struct ctp_ppt_ring *r, uint64_t index, uint32_t *to)
{
	const _Atomic uint32_t *from = word(r, index, 0);
	for (uint32_t i = 0; i < r->size / sizeof *to; i++)
		to[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
}

/* True: the slot holds the whole frame of this index. */
static bool read_again(const struct ctp_ppt_ring *r, uint64_t index, void *frame)
{
	uint32_t number = r->first + (uint32_t)index;
	if (back_of(r, index) != number)
		return false;
	copy(r, index, frame);
	/*
	 * Pairs with the writer's fence between the front and the payload: if a part of a later frame was copied, the front is its
	 * number, or 0.
	 */
	atomic_thread_fence(memory_order_acquire);
	return front_of(r, index) == number;
}

/* How far a number is ahead of another; numbers begin again after 2^32. */
static int32_t ahead(uint32_t number, uint32_t of) { return (int32_t)(number - of); }

/* A number that a correct writer may put into the slot of another one: 0, or of a turn before or after. */
static bool is_possible(const struct ctp_ppt_ring *r, uint32_t value, uint32_t number)
{
	return !value || (ahead(value, number) % (int64_t)r->slots == 0 &&
	                  (ahead(value, number) <= 0 || r->index + (uint32_t)ahead(value, number) <= r->slots + r->most));
}

/* Whether the slot of the expected frame holds a number that no correct writer puts there: then it holds no frame. */
static bool is_wrong(const struct ctp_ppt_ring *r, uint32_t number)
{
	return !is_possible(r, back_of(r, r->index), number) || !is_possible(r, front_of(r, r->index), number);
}

/* Frames that were overwritten for certain, from the expected one on. 0: the frame may still come, or its slot is wrong. */
static uint64_t overrun(const struct ctp_ppt_ring *r, uint32_t number)
{
	uint32_t back = back_of(r, r->index), front = front_of(r, r->index);
	uint32_t newest = ahead(front, number) > 0 && front ? front : back;
	int32_t by = ahead(newest, number);
	if (!newest || by <= 0 || !is_possible(r, newest, number))
		return 0;
	return (uint64_t)by - r->slots + 1 + r->slots / MARGIN;
}

/* The same including the next slots, if they were overwritten too: one gap is better than many. */
static uint64_t overrun_all(const struct ctp_ppt_ring *r)
{
	struct ctp_ppt_ring at = *r;
	for (uint32_t i = 0; i < AHEAD_MAX; i++) {
		uint64_t gone = overrun(&at, ctp_ppt_ring_number(&at));
		if (!gone)
			break;
		at.index += gone;
	}
	return at.index - r->index;
}

static bool is_whole(const struct ctp_ppt_ring *r, uint64_t index)
{
	uint32_t number = r->first + (uint32_t)index;
	return back_of(r, index) == number && front_of(r, index) == number;
}

/* Whether a frame after the expected one is whole: then the expected one is being written, or its writer has died. */
static bool is_passed(const struct ctp_ppt_ring *r)
{
	uint32_t upto = r->slots < AHEAD_MAX ? r->slots : AHEAD_MAX;
	for (uint32_t i = 1; i < upto; i++)
		if (is_whole(r, r->index + i))
			return true;
	return is_whole(r, r->index + r->slots / 4) || is_whole(r, r->index + r->slots / 2);
}

static bool is_stuck(struct ctp_ppt_ring *r, uint64_t now_ns)
{
	if (!r->stuck_ns)
		r->stuck_ns = now_ns;
	if (now_ns - r->stuck_ns < PATIENCE_NS)
		return false;
	r->stuck_ns = now_ns;
	return true;
}

/* A frame that is not whole is given up when the writers are a quarter of the ring ahead, or after PATIENCE_NS. */
static bool is_given_up(struct ctp_ppt_ring *r, uint64_t now_ns)
{
	if (r->slots >= 4 && is_whole(r, r->index + r->slots / 4))
		return true;
	if (!is_stuck(r, now_ns))
		return false;
	return is_passed(r);
}

/* The number of the frame in slot 0; 0: not known. */
static uint32_t number_of_first(const struct ctp_ppt_ring *r)
{
	uint32_t number = back_of(r, 0);
	return front_of(r, 0) == number ? number : 0;
}

/* The same if slot 0 stays half-written or holds no frame: by the next frame that is whole. last: or by what the slot holds. */
static uint32_t number_of_broken(const struct ctp_ppt_ring *r, bool last)
{
	uint32_t front = front_of(r, 0), back = back_of(r, 0), upto = r->slots < AHEAD_MAX ? r->slots : AHEAD_MAX;
	for (uint32_t i = 1; (front || back) && i < upto; i++) {
		uint32_t number = back_of(r, i);
		if (number && number != i && front_of(r, i) == number)
			return number - i;
	}
	return !last ? 0 : front ? front : back;
}

/*
 * The first frame stays in slot 0 until the ring is full: if the last slots are unused after slot 0 was read, it was the first.
 * Else it may have been overwritten. Then the trace begins with the oldest frame in the ring, and nobody knows how many there were
 * before.
 */
static bool begin(struct ctp_ppt_ring *r, uint32_t number, uint64_t now_ns)
{
	bool older = false;
	if (!number)
		return false;
	for (uint32_t i = 1; i <= LAST_SLOTS && i < r->slots; i++) {
		uint32_t back = back_of(r, r->slots - i), other = back ? back : front_of(r, r->slots - i);
		r->late |= other != 0;
		older |= other && ahead(number, other) > 0;
	}
	r->begun = true;
	r->begun_ns = now_ns;
	r->stuck_ns = 0;
	r->first = older ? number - r->slots : number;
	if (older)
		r->index = 1 + r->slots / MARGIN;
	r->begins = ctp_ppt_ring_number(r);
	return true;
}

static bool begin_now(struct ctp_ppt_ring *r, uint64_t now_ns)
{
	if (begin(r, number_of_first(r), now_ns))
		return true;
	if (!front_of(r, 0) && !back_of(r, 0))
		r->stuck_ns = 0;
	else if (is_stuck(r, now_ns) && begin(r, number_of_broken(r, false), now_ns))
		r->stuck_ns = now_ns - PATIENCE_NS; /* the wait is over */
	return r->begun;
}

static enum ctp_ppt_found pass_over(struct ctp_ppt_ring *r, struct ctp_ppt_missing *missing, uint64_t count, uint64_t torn)
{
	*missing = (struct ctp_ppt_missing){.number = ctp_ppt_ring_number(r), .count = count, .torn = torn};
	r->index += count;
	r->lost += count;
	r->torn += torn;
	r->stuck_ns = 0;
	return CTP_PPT_GAP;
}

/*
 * A frame that is given up was begun (half), or overwritten if the slot before it was, or is lost for a reason that is not known.
 */
static enum ctp_ppt_found pass_over_one(struct ctp_ppt_ring *r, struct ctp_ppt_missing *missing, bool half)
{
	r->overrun += !half && is_whole(r, r->index + r->slots - 1);
	return pass_over(r, missing, 1, half);
}

static bool give(struct ctp_ppt_ring *r, void *frame)
{
	if (!ctp_ppt_ring_number(r) || !read_again(r, r->index, frame)) /* a slot that is being written has 0 */
		return false;
	r->index++;
	r->frames++;
	r->stuck_ns = 0;
	return true;
}

/* Whether the expected frame was begun. */
static bool is_half(const struct ctp_ppt_ring *r) { return ctp_ppt_ring_number(r) && front_of(r, r->index) == ctp_ppt_ring_number(r); }

static enum ctp_ppt_found look(struct ctp_ppt_ring *r, void *frame, struct ctp_ppt_missing *missing, uint64_t now_ns)
{
	if (give(r, frame))
		return CTP_PPT_FRAME;
	r->most = JUMP_FREE + (now_ns - r->begun_ns) / JUMP_NS;
	uint64_t gone = overrun_all(r);
	r->overrun += gone;
	if (gone)
		return pass_over(r, missing, gone, 0);
	if (!is_wrong(r, ctp_ppt_ring_number(r)))
		return CTP_PPT_NOTHING;
	r->wrong++;
	return pass_over(r, missing, 1, 1);
}

enum ctp_ppt_found ctp_ppt_ring_next(struct ctp_ppt_ring *r, void *frame, struct ctp_ppt_missing *missing, uint64_t now_ns)
{
	assert(r->slots && r->size <= r->stride);
	if (!r->begun && !begin_now(r, now_ns))
		return CTP_PPT_NOTHING;
	enum ctp_ppt_found found = look(r, frame, missing, now_ns);
	if (found || !is_given_up(r, now_ns))
		return found;
	/* It may have become whole before the later ones, whose backs were acquired: look again. */
	found = look(r, frame, missing, now_ns);
	return found ? found : pass_over_one(r, missing, is_half(r));
}

enum ctp_ppt_found ctp_ppt_ring_last(struct ctp_ppt_ring *r, void *frame, struct ctp_ppt_missing *missing, uint64_t now_ns)
{
	assert(r->slots && r->size <= r->stride);
	if (!r->begun && !begin(r, number_of_first(r), now_ns) && !begin(r, number_of_broken(r, true), now_ns))
		return CTP_PPT_NOTHING;
	enum ctp_ppt_found found = look(r, frame, missing, now_ns);
	bool half = is_half(r);
	return found || !(half || is_passed(r)) ? found : pass_over_one(r, missing, half);
}

/*
 * Whether a slot holds a whole frame that is neither of a turn that was taken nor of the next turn. `at` is the last index that was
 * expected in this slot; it is negative if there was none.
 */
static bool is_stray(const struct ctp_ppt_ring *r, int64_t at)
{
	uint64_t slot = (uint64_t)(at + r->slots);
	uint32_t number = back_of(r, slot), latest = r->first + (uint32_t)at;
	if (!number || front_of(r, slot) != number)
		return false;
	int64_t by = ahead(number, latest);
	return by % r->slots || by > r->slots || at + by < 0;
}

/* Of a ring that began late the numbers of earlier turns are not known. */
enum ctp_ppt_found ctp_ppt_ring_strays(struct ctp_ppt_ring *r, struct ctp_ppt_missing *missing)
{
	uint64_t n = 0;
	if (!r->begun || r->late)
		return CTP_PPT_NOTHING;
	for (uint32_t i = 1; i <= r->slots; i++)
		n += is_stray(r, (int64_t)r->index - i);
	if (!n)
		return CTP_PPT_NOTHING;
	r->wrong += n;
	return pass_over(r, missing, n, n);
}

/* --- frames that a child may have saved ------------------------------------------------------------------------------------ */

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

/*
 * The frames that the ring still has as they were taken. A checksum covers the number, so that a frame of an earlier turn differs.
 */
static uint64_t count_same(const struct ctp_ppt_shared *s, const struct ctp_ppt_ring *r)
{
	uint64_t same = 0, first = r->index > r->slots ? r->index - r->slots : 0;
	uint32_t *frame = malloc(r->size);
	for (uint64_t i = first > s->from.index ? first : s->from.index; frame && i < s->upto.index; i++)
		same += read_again(r, i, frame) && ctp_crc32c(0, frame, r->size) == s->sums[i % r->slots];
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
