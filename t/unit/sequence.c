/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sequence: which rows are missing, by their numbers: hand-made sequences, and random stations that are written and read. */
#include "stream/sequence.h"

#include "tap.h"

enum { SLOTS = CTP_SEQUENCE_SLOTS };

static uint64_t seed = 1;

static uint64_t chance(uint64_t n)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed % n;
}

/* A step, and what is missing before it. */
static enum ctp_step step_lost(struct ctp_sequence *q, struct ctp_dialect *d, uint64_t seq, uint64_t was_ns, uint64_t ts_ns,
                               uint64_t *lost)
{
	struct ctp_sequence before = *q;
	enum ctp_step step = ctp_sequence_step(q, d, seq, was_ns, ts_ns);
	*lost += step == CTP_STEP_GAP ? ctp_sequence_missing(&before, d, seq) : 0;
	return step;
}

/* --- by hand -------------------------------------------------------------------------------------------------------------- */

/* The steps of one probe's numbers, a row each nanosecond: "." next, "g" gap, "o" old, "a" again, "m" mixed; and the sum. */
static void steps(const char *what, const uint64_t *seq, size_t n, const char *want, uint64_t lost_want)
{
	struct ctp_sequence q = {0};
	struct ctp_dialect d = {0};
	char got[64] = "";
	uint64_t lost = 0;
	for (size_t i = 0; i < n; i++)
		got[i] = ".goam"[step_lost(&q, &d, seq[i], i, i + 1, &lost)];
	is(got, want, what);
	is_u64(lost, lost_want, "  the number of missing rows is right");
}
#define STEPS(what, want, lost, ...) \
	steps(what, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), want, lost)

static void by_hand(void)
{
	STEPS("numbers that count events", "....", 0, 1, 2, 3, 4);
	STEPS("numbers that count rounds", "..........", 0, 2, 2, 2, 2, 2, 2, 2, 2, 4, 4);
	STEPS("a hole where events are counted", "..g.", 3, 1, 2, 6, 7);
	STEPS("events of a round and all of the next are missing", "..g", 6 + 8, 2, 2, 6);
	STEPS("the first events are missing", "g.", 4, 5, 6);
	STEPS("missing first events, then a smaller number", "g.gm", 3 + 6, 4, 4, 6, 4);
	STEPS("one number alone may count events or rounds", ".", 0, 2);
	STEPS("so the smaller loss is counted", ".gg", 2, 2, 4, 6);
	STEPS("a loss at the first number is counted the same way", "g", 3, 4);
	STEPS("a probe that begins again", "....a.", 0, 1, 2, 3, 4, 1, 2);
	STEPS("after one event only", ".a.", 0, 1, 1, 2);
	STEPS("where rounds are counted", "........." "a.", 0, 2, 2, 2, 2, 2, 2, 2, 2, 4, 2, 2);
	STEPS("nine rows of a round are of several coroutines", "........m", 0, 2, 2, 2, 2, 2, 2, 2, 2, 2);
	STEPS("nothing is counted after them", "........mmm", 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 8);
	STEPS("until a coroutine begins", "........mma.g", 6, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 2, 2, 4);
	STEPS("a smaller number that is no beginning", "...mm", 0, 1, 2, 3, 2, 3);
	STEPS("the same number again where events are counted", "...m", 0, 1, 2, 3, 3);
	STEPS("no number at all", "....", 0, 0, 0, 0, 0);
	uint64_t most = (uint64_t)1 << 48;
	STEPS("numbers from outside may be anything", "..mma", 0, 1, 2, UINT64_MAX, UINT64_MAX - 1, 1);
	STEPS("up to the largest that can be", "g", most - 2, most - 1);
	STEPS("in rounds too", "..g", most / 2 * 8 - 10, 2, 2, most);
}

static void late(void)
{
	struct ctp_sequence q = {0};
	struct ctp_dialect d = {0};
	ctp_sequence_step(&q, &d, 1, 0, 10);
	ctp_sequence_step(&q, &d, 3, 10, 30);
	is_u64(ctp_sequence_step(&q, &d, 2, 30, 20), CTP_STEP_OLD, "a late row is not taken for another coroutine's");
	is_u64(ctp_sequence_step(&q, &d, 1, 30, 10), CTP_STEP_OLD, "not even a late row with the first number");
	is_u64(ctp_sequence_step(&q, &d, 4, 30, 40), CTP_STEP_NEXT, "a late row changes nothing");
}

/* --- stations ------------------------------------------------------------------------------------------------------------- */

enum { EVENTS = 4000 };

/*
 * A writer that is ahead by any number of events when a slot is looked at, as coroTracer's engine does: slot by slot, what has
 * another number than the last time is a row. At the end nothing is written any more, and all is looked at once more.
 */
static uint64_t harvest(bool counts, uint64_t hurry, uint64_t seqs[EVENTS])
{
	uint64_t seen[SLOTS] = {0}, slot_seq[SLOTS] = {0}, slot_event[SLOTS] = {0}, written = 0, rows = 0;
	memset(seqs, 0, EVENTS * sizeof(*seqs));
	for (int last = 0; last < 2; last += written == EVENTS) {
		for (int i = 0; i < SLOTS; i++) {
			for (uint64_t n = chance(hurry); n && written < EVENTS; n--, written++) {
				uint64_t slot = (written + counts) % SLOTS;
				slot_seq[slot] = counts ? written + 1 : 2 * (written / SLOTS + 1);
				slot_event[slot] = written;
			}
			if (slot_seq[i] <= seen[i])
				continue;
			seqs[slot_event[i]] = seen[i] = slot_seq[i];
			rows++;
		}
	}
	return rows;
}

static void stations(bool counts)
{
	static uint64_t seqs[EVENTS];
	uint64_t wrong = 0, lost_in_all = 0;
	for (int run = 0; run < 300; run++) {
		struct ctp_sequence q = {0};
		struct ctp_dialect d = {.odd = counts, .repeated = !counts};
		uint64_t rows = harvest(counts, 2 + (uint64_t)run % 12, seqs), lost = 0, was = 0;
		for (uint64_t e = 0; e < EVENTS; e++) {
			if (!seqs[e])
				continue;
			uint64_t before = lost;
			enum ctp_step step = step_lost(&q, &d, seqs[e], was, e + 1, &lost);
			was = e + 1;
			wrong += step != (lost > before ? CTP_STEP_GAP : CTP_STEP_NEXT);
		}
		wrong += lost != EVENTS - rows;
		lost_in_all += lost;
	}
	is_u64(wrong, 0, counts ? "missing rows of stations that count events are counted" :
	                        "missing rows of stations that count rounds are counted");
	ok(lost_in_all > 10000, "much was missing (%" PRIu64 ")", lost_in_all);
}

int main(void)
{
	by_hand();
	late();
	stations(true);
	stations(false);
	done_testing();
}
