/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sequence.c - what the numbers of a probe's rows say. */
#include "stream/sequence.h"

enum { SLOTS = CTP_SEQUENCE_SLOTS };
static const uint64_t NUMBER_MAX = (uint64_t)1 << 48; /* three days of events, one each nanosecond */

uint64_t ctp_sequence_missing(const struct ctp_sequence *q, const struct ctp_dialect *d, uint64_t seq)
{
	if (d->odd)
		return seq - q->last - 1;
	if (!d->repeated)
		return q->last || seq > 2 ? seq - q->last - 1 : 0;
	return (seq - q->last) / 2 * SLOTS - (q->last ? q->rows : SLOTS); /* before the first round nothing can be missing */
}

enum ctp_step ctp_sequence_step(struct ctp_sequence *q, struct ctp_dialect *d, uint64_t seq, uint64_t was_ns, uint64_t ts_ns)
{
	const struct ctp_sequence before = *q;
	uint64_t beginning = d->odd || seq % 2 ? 1 : 2;
	if (!seq)
		return CTP_STEP_NEXT;
	bool again = before.last && ts_ns >= was_ns && seq == beginning && (before.last > seq || d->odd);
	if (seq < before.last && !again && ts_ns <= was_ns)
		return CTP_STEP_OLD;
	*q = (struct ctp_sequence){.last = seq, .rows = CTP_SEQUENCE_MIXED};
	if (seq > NUMBER_MAX)
		return CTP_STEP_MIXED;
	d->odd |= seq % 2;
	d->repeated |= seq == before.last && seq % 2 == 0;
	bool mixed = before.rows == CTP_SEQUENCE_MIXED || seq < before.last;
	if (!again && (mixed || (seq == before.last && (d->odd || before.rows == SLOTS))))
		return CTP_STEP_MIXED;
	q->rows = seq == before.last && !again ? (uint8_t)(before.rows + 1) : 1;
	if (again || q->rows > 1)
		return again ? CTP_STEP_AGAIN : CTP_STEP_NEXT;
	return ctp_sequence_missing(&before, d, seq) ? CTP_STEP_GAP : CTP_STEP_NEXT;
}
