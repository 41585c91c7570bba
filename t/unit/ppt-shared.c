/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ppt-shared.c - which frames of a ring a child may have saved: scripts in which both write to the same slots. */
#include "ppt/ppt-ring.h"

#include "tap.h"

enum { WORDS = 4, SLOTS = 16 };

static uint32_t slots[SLOTS][WORDS];
static struct ctp_ppt_ring ring;
static struct ctp_ppt_shared shared;

static void begin(void)
{
	memset(slots, 0, sizeof slots);
	ring = (struct ctp_ppt_ring){.data = slots, .slots = SLOTS, .stride = sizeof slots[0], .size = sizeof slots[0],
	                             .back = (WORDS - 1) * sizeof(uint32_t)};
	if (!ctp_ppt_shared_begin(&shared, &ring))
		abort();
}

/* Numbers begin with 1. */
static void save(uint32_t first, uint32_t last, bool by_child)
{
	for (uint32_t n = first; n <= last; n++) {
		uint32_t *slot = slots[(n - 1) % SLOTS];
		slot[0] = slot[WORDS - 1] = n;
		slot[1] = n * 10 + by_child;
	}
}

/* Reads the frames, then checks whether another process has the ring. Returns the unverified frames as "FROM+COUNT", or "". */
static const char *look(bool others)
{
	static char text[64];
	uint32_t frame[WORDS];
	struct ctp_ppt_missing missing;
	struct ctp_ppt_doubt doubt;
	for (enum ctp_ppt_found found; (found = ctp_ppt_ring_next(&ring, frame, &missing, 1));)
		if (found == CTP_PPT_FRAME)
			ctp_ppt_shared_took(&shared, &ring, frame);
	text[0] = '\0';
	if (ctp_ppt_shared_look(&shared, &ring, others, true, &doubt))
		snprintf(text, sizeof text, "%u+%" PRIu64, doubt.number, doubt.count);
	return text;
}

static const char *end(void)
{
	static char text[64];
	struct ctp_ppt_doubt doubt;
	text[0] = '\0';
	if (ctp_ppt_shared_end(&shared, &ring, &doubt))
		snprintf(text, sizeof text, "%u+%" PRIu64, doubt.number, doubt.count);
	return text;
}

/*
 * Runs a script and returns its last result. "p4-8": the process saves these numbers; "c4-8": the child does. "+": a look
 * while a child has the ring; "-": a look while none has. ".": the end.
 */
static const char *play(const char *script)
{
	const char *said = "";
	begin();
	for (int len; sscanf(script, " %*s%n", &len) != EOF; script += len) {
		char step;
		unsigned first, last;
		int n = sscanf(script, " %c%u-%u", &step, &first, &last);
		if (step == 'p' || step == 'c')
			save(first, n > 2 ? last : first, step == 'c');
		else
			said = step == '.' ? end() : look(step == '+');
	}
	return said;
}

static void test_round(void)
{
	play("p1-2 -");
	for (uint32_t n = 3; n < 43; n++) {
		save(n, n, false);
		look(true);
	}
	look(false);
	look(false);
	save(43, 43, false);
	is(look(false), "3+40", "frames that were overwritten cannot be verified");
}

int main(void)
{
	is(play("p1-3 -"), "", "frames of a process alone are verified");
	is(play("p1-3 - c4-8 +"), "", "while a child has the ring, its frames are undecided");
	is(play("p1-3 - c4-8 + -"), "", "they are undecided when the child has gone");
	is(play("p1-3 - c4-8 + - -"), "", "they are undecided when all of them were read");
	is(play("p1-3 - c4-8 + - - p4-8 -"), "", "they are undecided when the process saves the same numbers");
	is(play("p1-3 - c4-8 + - - p4-8 - p9 -"), "4+5", "when it saves one more, the frames before are reported as unverified");
	is(play("p1-3 - c4-8 + - - p4-8 - p9 - p10-12 -"), "", "the next frames are verified");
	is(play("p1-3 - c4-8 + - - p4-8 - p9 - p10-12 - ."), "", "the end adds none");
	is(play("p1-3 - p4-6 + - - p7-8 -"), "", "with a child that saves nothing, all frames are verified");
	is(play("p1-3 - p4-6 + - - p7-8 - ."), "", "the end adds none here, too");
	is(play("p1-2 - c3-5 + - c6-7 - p3-7 -"), "", "a last frame of the child, which no look has found yet, is waited for");
	is(play("p1-2 - c3-5 + - c6-7 - p3-7 - p8 -"), "3+5", "that frame is among the unverified ones");
	is(play("p1-2 - c3-5 + - - ."), "3+3", "if the process saves no more, the frames are unverified at the end");
	is(play("p1-2 - + ."), "", "without frames since the child came, there is nothing to verify");
	is(play("p1-2 - c3-4 + - - + p3-5 - - p6 -"), "3+3",
	   "with two successive children, frames since the first came are unverified");
	test_round();
	ctp_ppt_shared_fini(&shared);
	return done_testing();
}
