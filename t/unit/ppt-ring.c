/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-ring.c - the reader of a ring of frames: step by step, through every state of a slot; and in a race with writers that
 * overtake it all the time. Each word of a frame follows from its number, so that a torn one is seen.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "ppt/ppt-ring.h"
#include "tap.h"

enum { WORDS = 16, SLOTS = 64, WRITERS = 2 };

static _Atomic uint32_t ring[SLOTS][WORDS];

static void put(uint32_t slot, uint32_t word, uint32_t value)
{
	atomic_store_explicit(&ring[slot][word], value, memory_order_relaxed);
}

static uint32_t payload(uint32_t number, uint32_t word) { return number * 2654435761u + word; }

/* As the generated code does it. */
static void write_frame(uint32_t slot, uint32_t number)
{
	put(slot, 0, 0);
	put(slot, WORDS - 1, 0);
	atomic_thread_fence(memory_order_seq_cst);
	put(slot, 0, number);
	atomic_thread_fence(memory_order_seq_cst); /* pairs with the reader's fence after its copy */
	for (uint32_t i = 1; i < WORDS - 1; i++)
		put(slot, i, payload(number, i));
	atomic_thread_fence(memory_order_seq_cst); /* pairs with the reader's load of the back */
	put(slot, WORDS - 1, number);
}

static bool is_whole(const uint32_t *frame, uint32_t number)
{
	bool whole = frame[0] == number && frame[WORDS - 1] == number;
	for (uint32_t i = 1; i < WORDS - 1; i++)
		whole &= frame[i] == payload(number, i);
	return whole;
}

static void clear(void)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		for (uint32_t k = 0; k < WORDS; k++)
			put(i, k, 0);
}

/* Of an empty ring. */
static struct ctp_ppt_ring reader(uint32_t slots)
{
	clear();
	return (struct ctp_ppt_ring){.data = ring, .slots = slots, .stride = sizeof ring[0], .size = sizeof ring[0],
	                             .back = (WORDS - 1) * sizeof(uint32_t)};
}

/* Frames from a number on, up to another, of which the first was in slot 0. */
static void write_frames(uint32_t slots, uint32_t first, uint32_t from, uint32_t upto)
{
	for (uint32_t i = from; i != upto; i++)
		write_frame((i - first) % slots, i);
}

/* --- by hand --------------------------------------------------------------------------------------------------------------- */

static uint64_t now;
static struct ctp_ppt_missing gap;

/* "12" for a frame, "+3" for three missing frames, "t1" for a torn one, up to the last. */
static const char *read_all(struct ctp_ppt_ring *r)
{
	static char text[4096];
	uint32_t frame[WORDS];
	char *p = text;
	*p = '\0';
	for (enum ctp_ppt_found found; p < text + sizeof text - 32 && (found = ctp_ppt_ring_next(r, frame, &gap, now));) {
		if (found == CTP_PPT_GAP)
			p += sprintf(p, "%s%s%" PRIu64, p > text ? " " : "", gap.torn ? "t" : "+", gap.count);
		else
			p += sprintf(p, "%s%s%u", p > text ? " " : "", is_whole(frame, frame[0]) ? "" : "!", frame[0]);
	}
	return text;
}

static void test_order(void)
{
	struct ctp_ppt_ring r = reader(4);
	is(read_all(&r), "", "an empty ring has no frames");
	write_frames(4, 7, 7, 9);
	is(read_all(&r), "7 8", "the first frame is read from slot 0, whatever its number");
	is(read_all(&r), "", "no frame is read twice");
	write_frames(4, 7, 9, 12);
	is(read_all(&r), "9 10 11", "reading goes round the ring");
	write_frames(4, 7, 12, 19);
	is(read_all(&r), "+3 15 16 17 18", "overwritten frames are counted, and the rest is read");
	write_frames(4, 7, 19, 19 + 4001);
	is(read_all(&r), "+3997 4016 4017 4018 4019", "overwritten frames are counted, however often the ring went round");
	is_u64(r.frames + r.lost, 4019 - 6, "every number is a frame or lost");
}

static void test_flight(void)
{
	now = 1000;
	struct ctp_ppt_ring r = reader(8);
	write_frame(0, 1);
	is(read_all(&r), "1", "a frame");
	put(1, 0, 2);
	is(read_all(&r), "", "a frame that is being written is not read");
	write_frame(2, 3);
	is(read_all(&r), "", "the reader waits for it, though a later one is whole");
	write_frame(1, 2);
	is(read_all(&r), "2 3", "both are read once it is whole");
	put(3, 0, 4);
	write_frame(4, 5);
	is(read_all(&r), "", "a frame that is never finished is waited for");
	now += 200000000;
	is(read_all(&r), "t1 5", "it is given up after a while");
	is_u64(r.torn, 1, "it is counted as torn");
	put(5, 0, 6);
	now += 200000000;
	is(read_all(&r), "", "it is not given up if no frame follows it");
	now += 200000000;
	is(read_all(&r), "", "it is not given up even after a long time");
	write_frame(6, 7);
	write_frame(7, 8);
	is(read_all(&r), "t1 7 8", "it is given up at once if the writers are far ahead");
	write_frame(0, 9);
	put(1, 0, 10);
	write_frame(2, 11);
	uint32_t frame[WORDS];
	is_u64(ctp_ppt_ring_last(&r, frame, &gap, now), CTP_PPT_FRAME, "when the process has ended, a whole frame is read");
	is_u64(ctp_ppt_ring_last(&r, frame, &gap, now), CTP_PPT_GAP, "an unfinished frame is skipped");
	is_u64(ctp_ppt_ring_last(&r, frame, &gap, now), CTP_PPT_FRAME, "the next frame is read");
	is_u64(ctp_ppt_ring_last(&r, frame, &gap, now), CTP_PPT_NOTHING, "then nothing is left");
	put(3, 0, 12);
	is_u64(ctp_ppt_ring_last(&r, frame, &gap, now), CTP_PPT_GAP, "a last unfinished frame is a gap");
	is_u64(gap.torn, 1, "it is counted as torn");
}

/* A writer that comes round while the reader copies: the back is still the old one, or was when the reader checked it. */
static void test_overtaken(void)
{
	struct ctp_ppt_ring r = reader(4);
	write_frame(0, 1);
	put(0, 0, 0);
	r.begun = true;
	r.first = 1;
	is(read_all(&r), "", "a frame without a front is not read");
	put(0, 0, 5);
	put(0, 3, payload(5, 3));
	is(read_all(&r), "+1", "a frame with a newer front is not read, and the old one is lost");
	write_frame(1, 2);
	put(1, WORDS - 1, 0);
	is(read_all(&r), "", "a frame without a back is not read");
	write_frame(1, 2);
	is(read_all(&r), "2", "it is not lost for that");
}

static void test_late(void)
{
	struct ctp_ppt_ring r = reader(4);
	write_frames(4, 1, 1, 7);
	is(read_all(&r), "+1 3 4 5 6", "if the ring overran before the first look, reading begins with the oldest frame left");
	ok(r.late, "the reader says that it came late");
	r = reader(4);
	write_frames(8, 11, 11, 15);
	is(read_all(&r), "11 12 13 14", "a ring that is just full loses nothing");
	ok(r.late, "it may have overrun before, so the reader says that it came late");
	r = reader(8);
	write_frames(8, 11, 11, 15);
	is(read_all(&r), "11 12 13 14", "a ring that is not full is read from its beginning");
	ok(!r.late, "the reader did not come late");
}

static void test_wrap(void)
{
	now = 1000;
	struct ctp_ppt_ring r = reader(4);
	uint32_t from = 0x7ffffffe;
	write_frames(4, from, from, from + 4);
	is(read_all(&r), "2147483646 2147483647 2147483648 2147483649", "numbers continue below zero");
	write_frames(4, from, from + 4, from + 10);
	is(read_all(&r), "+2 2147483652 2147483653 2147483654 2147483655", "losses are counted across that");
	r = reader(4);
	from = 0xfffffffe;
	write_frames(4, from, from, from + 2);
	is(read_all(&r), "4294967294 4294967295", "frames up to the last number are read");
	write_frame(2, 0);
	is(read_all(&r), "", "0 is no frame's number");
	write_frame(3, 1);
	is(read_all(&r), "+1 1", "the number 0 counts as lost");
}

static void test_nonsense(void)
{
	struct ctp_ppt_ring r = reader(4);
	write_frame(0, 1);
	is(read_all(&r), "1", "a frame");
	write_frame(1, 77);
	write_frame(2, 3);
	is(read_all(&r), "t1 3", "a number that does not belong in its slot loses one frame, counted as torn");
	write_frame(3, 1);
	is(read_all(&r), "t1", "so does a smaller number");
	put(0, 0, 5);
	put(0, WORDS - 1, 2);
	put(1, 0, 0);
	put(1, WORDS - 1, 0);
	is(read_all(&r), "t1", "so does a wrong number in front only, or at the back only");
	write_frame(1, 6 + 0x40000000);
	is(read_all(&r), "t1", "so does a number that is larger than possible");
	is_u64(r.wrong, 4, "wrong numbers are counted");
	is_u64(r.overrun, 0, "they do not count as overwritten");
	r = reader(8);
	now = 1;
	put(0, 0, 1);
	write_frame(1, 2);
	is(read_all(&r), "", "a half-written first frame is waited for");
	now += 200000000;
	is(read_all(&r), "t1 2", "it is given up after a while");
	r = reader(8);
	for (uint32_t i = 0; i < 3; i++)
		put(i, 0, 1000 + 78 * i);
	is(read_all(&r), "", "a ring without a whole frame gives nothing");
	uint32_t frame[WORDS];
	for (uint32_t i = 0; i < 3; i++)
		is_u64(ctp_ppt_ring_last(&r, frame, &gap, now), CTP_PPT_GAP, "at the end its unfinished frames are a gap");
	is_u64(ctp_ppt_ring_last(&r, frame, &gap, now), CTP_PPT_NOTHING, "after them nothing is left");
	is_u64(r.torn, 3, "they are counted as torn");
	r = reader(1);
	write_frame(0, 5);
	is(read_all(&r), "5", "a ring of one slot is read");
	write_frame(0, 9);
	is(read_all(&r), "+3 9", "a ring of one slot counts losses");
}

/* --- in a race ------------------------------------------------------------------------------------------------------------- */

static _Atomic uint32_t numbers, written;
static uint32_t many;

/* A number is taken, then written: two writers a ring apart would use the same slot, which no client does. */
static void *write_many(void *arg)
{
	(void)arg;
	for (uint32_t n; (n = atomic_fetch_add(&numbers, 1) + 1) <= many;) {
		while (atomic_load(&written) + SLOTS / 2 < n)
			sched_yield();
		write_frame((n - 1) % SLOTS, n);
		atomic_fetch_add(&written, 1);
		if (n % 32 == 0)
			sched_yield();
	}
	return NULL;
}

static void test_race(uint32_t frames)
{
	struct ctp_ppt_ring r = reader(SLOTS);
	pthread_t threads[WRITERS];
	uint32_t frame[WORDS], bad = 0, disorder = 0, last = 0, begun = 0;
	uint64_t clock_ns = 1;
	many = frames;
	for (int i = 0; i < WRITERS; i++)
		if (pthread_create(&threads[i], NULL, write_many, NULL))
			abort();
	while (ctp_ppt_ring_number(&r) <= frames) {
		bool over = atomic_load(&written) == frames;
		enum ctp_ppt_found found = ctp_ppt_ring_next(&r, frame, &gap, clock_ns);
		if (found == CTP_PPT_NOTHING) {
			if (over)
				break;
			sched_yield();
		} else if (found == CTP_PPT_GAP) {
			begun = begun ? begun : gap.number;
		} else {
			begun = begun ? begun : frame[0];
			bad += !is_whole(frame, frame[0]);
			disorder += frame[0] <= last;
			last = frame[0];
			if (frame[0] % 512 == 0)
				for (int i = 0; i < 8; i++) /* so that the writers overtake the reader */
					sched_yield();
		}
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	is_u64(bad, 0, "no frame is torn");
	is_u64(disorder, 0, "no frame is read twice or out of order");
	is_u64(last, frames, "the last frame is read");
	is_u64(r.frames + r.lost, frames - begun + 1, "every number from the first on is a frame or lost");
	is_u64(r.wrong, 0, "no frame has an impossible number");
	note("%" PRIu64 " frames, %" PRIu64 " lost, %" PRIu64 " of them torn", r.frames, r.lost, r.torn);
}

int main(int argc, char **argv)
{
	test_order();
	test_flight();
	test_overtaken();
	test_late();
	test_wrap();
	test_nonsense();
	test_race(argc > 1 ? (uint32_t)atoi(argv[1]) : 300000);
	return done_testing();
}
