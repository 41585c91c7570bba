/* sequence.c - what the numbers of a probe's rows say. */
#include "sequence.h"

enum { SLOTS = CTP_SEQUENCE_SLOTS };

/* How many have the numbers between two, of which so many rows have the first; from is 0 at a beginning. */
static uint64_t missing(const struct ctp_dialect *d, uint64_t from, uint64_t rows, uint64_t to)
{
	if (d->odd)
		return to - from - 1;
	if (!d->repeated)
		return from || to > 2 ? to - from - 1 : 0;
	uint64_t rounds = (to - from) / 2, last = from ? rows : SLOTS; /* before the first round nothing can be missing */
	return rounds > UINT64_MAX / SLOTS ? UINT64_MAX : rounds * SLOTS - last;
}

enum ctp_step ctp_sequence_step(struct ctp_sequence *q, struct ctp_dialect *d, uint64_t seq, uint64_t was_ns, uint64_t ts_ns,
                                uint64_t *lost)
{
	uint64_t last = q->last, beginning = d->odd || seq % 2 ? 1 : 2;
	if (!seq)
		return CTP_STEP_NEXT;
	bool again = last && ts_ns >= was_ns && seq == beginning && (last > seq || d->odd);
	if (seq < last && !again && ts_ns <= was_ns)
		return CTP_STEP_OLD;
	d->odd |= seq % 2;
	d->repeated |= seq == last && seq % 2 == 0;
	if (again || !last) {
		uint64_t before = missing(d, 0, 0, seq);
		*q = (struct ctp_sequence){.last = seq, .rows = 1};
		*lost = ctp_add_capped(*lost, before);
		return again ? CTP_STEP_AGAIN : before ? CTP_STEP_GAP : CTP_STEP_NEXT;
	}
	bool full = q->rows == SLOTS, counts = d->odd;
	q->last = seq;
	if (q->rows == CTP_SEQUENCE_MIXED || seq < last || (seq == last && (counts || full))) {
		q->rows = CTP_SEQUENCE_MIXED;
		return CTP_STEP_MIXED;
	}
	if (seq == last) {
		q->rows++;
		return CTP_STEP_NEXT;
	}
	uint64_t between = missing(d, last, q->rows, seq);
	q->rows = 1;
	*lost = ctp_add_capped(*lost, between);
	return between ? CTP_STEP_GAP : CTP_STEP_NEXT;
}
