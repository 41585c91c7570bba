/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sequence.h - what the numbers of a probe's rows say, where rows have no index of their own: whether one is missing before a
 * row, and how many; whether the row is another coroutine's, because the id of a probe is reused.
 *
 * Probes number in two ways. They count events (1, 2, 3 ...); or each of a station's eight slots counts by two, so that eight
 * events have the number 2, eight have 4, and so on. An odd number shows the first way, an even one that comes twice in a row the
 * second. As long as neither has been seen, the smaller of the two counts is given. Rows come in the order of their time.
 *
 * Numbers that no single coroutine can have had (the same too often, smaller ones that are no beginning, or absurdly large ones)
 * are those of several whose rows cannot be told apart: nothing is counted from there on, up to a row that is a beginning.
 */
#ifndef CTP_SEQUENCE_H
#define CTP_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CTP_SEQUENCE_SLOTS = 8,
	CTP_SEQUENCE_SILENCE_S = 60, /* then, with threads that were never seen, another run begins in rows that do not mark it */
};

/* What the numbers of all probes together have shown; all zero at first. */
struct ctp_dialect {
	bool odd, repeated;
};

/* Of one probe; all zero at first. */
struct ctp_sequence {
	uint64_t last; /* number of the row before; 0: none */
	uint8_t rows;  /* that have it, up to CTP_SEQUENCE_SLOTS; CTP_SEQUENCE_MIXED if they cannot be told apart */
};
enum { CTP_SEQUENCE_MIXED = UINT8_MAX };

enum ctp_step {
	CTP_STEP_NEXT,  /* nothing is missing before it */
	CTP_STEP_GAP,   /* events are */
	CTP_STEP_OLD,   /* it should have come earlier */
	CTP_STEP_AGAIN, /* another coroutine begins */
	CTP_STEP_MIXED,
};

/* The row with that number, at ts_ns; the row before was at was_ns. A number of 0 is none. */
enum ctp_step ctp_sequence_step(struct ctp_sequence *q, struct ctp_dialect *d, uint64_t seq, uint64_t was_ns, uint64_t ts_ns);

/*
 * How many are missing in the gap before a row, from what q was before that row; the later it is asked for, the more is known of
 * the dialect. Where slots count, they may be missing anywhere between the rows that have the number before.
 */
uint64_t ctp_sequence_missing(const struct ctp_sequence *q, const struct ctp_dialect *d, uint64_t seq);

/* Whether nothing happened for so long that it may be another run. */
static inline bool ctp_sequence_silence(uint64_t last_ns, uint64_t ts_ns)
{
	return ts_ns > last_ns && (ts_ns - last_ns) / 1000000000 >= CTP_SEQUENCE_SILENCE_S;
}

#endif
