/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* threads.c - when a thread was busy, or unknown: runs and gaps in any order, compared with a bitmap of nanoseconds. */
#include "analyse/threads.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { TIME = 3000, ROUNDS = 2000 };

static uint64_t state = 88172645463325252;
static unsigned chance(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % n);
}

static char painted[TIME];

static void paint(uint64_t from, uint64_t to, char as)
{
	for (; from < to; from++)
		painted[from] = painted[from] == '?' ? '?' : as;
}

static uint64_t count(char as, uint64_t from, uint64_t to)
{
	uint64_t n = 0;
	for (; from < to; from++)
		n += painted[from] == as;
	return n;
}

/* Up to this number of runs and gaps, some of them late. True if the sums are those of the bitmap, also within a range of times. */
static bool is_right(unsigned most)
{
	struct ctp_thread th = {.tid = 1};
	uint64_t now = 0;
	memset(painted, ' ', sizeof painted);
	for (unsigned i = chance(most); i; i--) {
		uint64_t from = chance(4) ? now + chance(30) : chance(TIME), to = from + chance(60);
		bool gap = !chance(5);
		to = to < TIME ? to : TIME;
		if (gap)
			ctp_thread_gap(&th, from, to);
		else
			ctp_thread_ran(&th, from, to);
		paint(from, to, gap ? '?' : 'b');
		now = to > now ? to : now;
		now = now < TIME ? now : 0;
	}
	uint64_t at = chance(TIME);
	bool right = th.busy_ns == count('b', 0, TIME) && th.unknown_ns == count('?', 0, TIME) &&
	             ctp_thread_busy_ns(&th, 0) == th.busy_ns;
	ctp_thread_end(&th, at);
	right &= th.busy_ns == count('b', 0, at) && th.unknown_ns == count('?', 0, at);
	free(th.spans);
	return right;
}

/* More runs than there is room for: the oldest are only a sum, so the result is approximate, but never too large. */
static void test_many(void)
{
	struct ctp_thread th = {.tid = 1};
	bool bounded = true;
	for (uint64_t t = 0; t < 1000000; t += 10) {
		ctp_thread_ran(&th, t, t + 4);
		if (!chance(50))
			ctp_thread_gap(&th, t > 900 ? t - chance(900) : t, t + 8);
		if (!chance(50))
			ctp_thread_ran(&th, t > 5000 ? t - chance(5000) : t, t);
		bounded &= th.busy_ns + th.unknown_ns <= t + 10;
	}
	ok(bounded, "busy and unknown time never exceed the time of the trace");
	free(th.spans);
	th = (struct ctp_thread){.tid = 1};
	for (uint64_t t = 0; t < 1000000; t += 10) {
		ctp_thread_ran(&th, t + 1, t + 3);
		ctp_thread_ran(&th, t, t + 4);
	}
	is_u64(th.busy_ns, 400000, "nested runs count once, however many");
	ctp_thread_end(&th, 999990);
	is_u64(th.busy_ns, 399996, "a run does not count beyond the end");
	free(th.spans);
}

int main(void)
{
	unsigned right = 0;
	for (unsigned i = 0; i < ROUNDS; i++)
		right += is_right(300);
	is_u64(right, ROUNDS, "runs and gaps in any order have the sums of the bitmap");
	test_many();
	return done_testing();
}
