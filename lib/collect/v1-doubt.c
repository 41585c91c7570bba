/*
 * v1-doubt.c - two sorts of rows that need a second look before they are facts; v1-station.c has the reasons.
 *
 * Of a plain writer on a machine that reorders stores: these are in the batch already when they are asked about again. They wait
 * in two groups, so that the wait costs nothing while there is more to harvest; the end of a scan waits for what is left. Where
 * one turns out to be spoilt, a record of the loss takes its place.
 *
 * Of a seqlock that was found full: eight rows, the first in doubt. They wait beside the batch, because the others may not come
 * before it, and hold back the mark. A writer that has just lapped us will do so again: there the first is given up at once,
 * which saves the copying. Nothing more is done about a station that shows something new at the next scan: the first
 * is lost, and the others are taken. For all that do not, one barrier is asked for (barrier.h), at most one in a scan, and
 * when it has been passed, some scans later, they are looked at once more.
 */
#include "collect/v1-doubt.h"

#include <string.h>

#include "base/capped.h"
#include "base/clock.h"

#define HOLD_NS UINT64_C(1000000000) /* a mark is not held back for longer */
#define LAST_NS UINT64_C(1000000000) /* the last barrier is not waited for any longer */
#define FRESH_NS UINT64_C(1000000)   /* a station that was written and overwritten within that is written still */

/* --- in the batch --------------------------------------------------------------------------------------------------------- */

static void recheck(struct ctp_v1_scan *h, const struct ctp_v1_doubt_run *run)
{
	struct ctp_v1_station *st = &h->st[run->station];
	struct ctp_row_sort *b = &h->rows->batch;
	unsigned unverified, bad = ctp_v1_station_recheck(st, &h->shm[run->station], run->base, run->n, &unverified);
	if (!bad)
		return;
	h->rows->stats.events -= bad;
	ctp_add_capped(&h->rows->stats.lost, bad);
	h->rows->stats.overwritten += bad;
	h->rows->stats.unverified += unverified;
	memset(&b->event[run->row], CTP_ROWS_SPOILT, bad);
	if (bad == run->n && st->next == run->base + bad) {
		st->gap += bad; /* the record stands before the next row, as always */
		st->gap_unverified += unverified;
		st->last_ns = run->after_ns;
		return;
	}
	uint32_t at = run->row + bad - 1;
	uint64_t ts_ns = bad < run->n ? b->ts_ns[at + 1] : h->rows->now_ns;
	b->event[at] = CTP_LOST;
	b->ts_ns[at] = ts_ns;
	struct ctp_loss loss = {.probe_id = st->probe_id, .coro = st->coro, .index = run->base, .count = bad,
	                        .unverified = unverified, .after_ns = run->after_ns, .ts_ns = ts_ns};
	ctp_loss_fill(b->rows[at].val, &loss);
}

static void resolve(struct ctp_v1_scan *h, struct ctp_v1_doubt *d)
{
	while (d->count && ctp_clock_ns() - d->full_ns < CTP_STATION_DRAIN_NS)
		;
	for (uint32_t k = 0; k < d->count; k++)
		recheck(h, &d->runs[k]);
	d->count = 0;
}

void ctp_v1_doubt_drain(void *scan)
{
	struct ctp_v1_scan *h = scan;
	if (h->doubt[1].count)
		h->doubt[1].full_ns = ctp_clock_ns();
	resolve(h, &h->doubt[0]);
	resolve(h, &h->doubt[1]);
}

void ctp_v1_doubt_rows(struct ctp_v1_scan *h, const struct ctp_v1_doubt_run *run)
{
	struct ctp_v1_doubt *d = &h->doubt[1];
	if (d->count == CTP_V1_SCAN_DOUBTS) {
		d->full_ns = ctp_clock_ns();
		resolve(h, &h->doubt[0]);
		h->doubt[0] = *d;
		d->count = 0;
	}
	d->runs[d->count++] = *run;
}

/* --- beside it ------------------------------------------------------------------------------------------------------------ */

static void give_up(struct ctp_v1_scan *h, struct ctp_v1_station *st)
{
	st->doubt = false;
	st->gap++;
	st->gap_unverified++;
	h->rows->stats.lost++;
	h->rows->stats.overwritten++;
	h->rows->stats.unverified++;
}

void ctp_v1_doubt_station(struct ctp_v1_scan *h, uint32_t i, bool lapped)
{
	struct ctp_full *full = &h->full[i];
	struct ctp_row *rows = &h->rows->batch.rows[h->rows->batch.count];
	if (lapped && rows[CTP_STATION_ROWS - 1].val[CTP_TRANSITION_TS] + FRESH_NS > h->rows->now_ns) {
		give_up(h, &h->st[i]);
		memmove(rows, rows + 1, (CTP_STATION_ROWS - 1) * sizeof *rows);
		ctp_v1_scan_take(h, i, CTP_STATION_ROWS - 1);
		return;
	}
	if (!full->listed)
		h->doubted[h->ndoubted++] = i;
	memcpy(full->rows, rows, sizeof full->rows);
	full->listed = true;
	full->barrier = full->died_ns = 0;
	full->look_ns = h->rows->now_ns;
	full->promise_ns = h->rows->promise_ns; /* this look may have found what is as old as that */
	h->doubt_ns = full->promise_ns < h->doubt_ns ? full->promise_ns : h->doubt_ns;
}

void ctp_v1_doubt_death(struct ctp_v1_scan *h, uint32_t i, uint64_t after_ns, uint64_t before_ns)
{
	struct ctp_full *full = &h->full[i];
	if (full->died_ns)
		return;
	full->lived_ns = after_ns;
	full->died_ns = before_ns;
}

void ctp_v1_doubt_end(struct ctp_v1_scan *h, uint32_t i, bool proved)
{
	struct ctp_full *full = &h->full[i];
	struct ctp_row_sort *b = &h->rows->batch;
	unsigned bad = !proved;
	if (b->count > CTP_ROW_SORT_ROWS - CTP_ROWS_SPARE)
		ctp_rows_settle(h->rows);
	h->st[i].doubt = false;
	if (bad)
		give_up(h, &h->st[i]);
	memcpy(&b->rows[b->count], full->rows + bad, (CTP_STATION_ROWS - bad) * sizeof *full->rows);
	ctp_v1_scan_take(h, i, CTP_STATION_ROWS - bad);
	if (full->died_ns)
		ctp_v1_scan_bury(h, i, full->lived_ns, full->died_ns);
}

/* What is loaded for the second look, in ctp_v1_station_quiet, is loaded after the barrier. */
static void end_all(struct ctp_v1_scan *h, uint64_t passed)
{
	uint64_t now_ns = h->rows->now_ns, barrier = 0;
	uint32_t kept = 0;
	h->doubt_ns = UINT64_MAX;
	for (uint32_t k = 0; k < h->ndoubted; k++) {
		uint32_t i = h->doubted[k];
		struct ctp_full *full = &h->full[i];
		struct ctp_v1_station *st = &h->st[i];
		if (st->doubt && (h->proof != CTP_PROOF_LATER || (full->barrier && full->barrier <= passed)))
			ctp_v1_doubt_end(h, i, h->proof != CTP_PROOF_NOW && ctp_v1_station_quiet(st, &h->shm[i]));
		full->listed = st->doubt;
		if (!st->doubt)
			continue;
		if (!full->barrier && full->look_ns != now_ns)
			full->barrier = barrier = barrier ? barrier : ctp_barrier_ask(&h->barrier);
		if (full->promise_ns < h->doubt_ns)
			h->doubt_ns = full->promise_ns;
		h->doubted[kept++] = i;
	}
	h->ndoubted = kept;
	if (now_ns > HOLD_NS && h->doubt_ns < now_ns - HOLD_NS)
		h->doubt_ns = now_ns - HOLD_NS;
}

/* What the kernel refuses once is not asked for again. */
static void see_refusal(struct ctp_v1_scan *h)
{
	if (!h->barrier.usable && h->proof == CTP_PROOF_LATER)
		h->proof = CTP_PROOF_NOW;
}

void ctp_v1_doubt_pass(struct ctp_v1_scan *h)
{
	ctp_v1_doubt_drain(h);
	if (!h->ndoubted)
		return;
	uint64_t passed = ctp_barrier_passed(&h->barrier);
	see_refusal(h);
	end_all(h, passed);
}

void ctp_v1_doubt_finish(struct ctp_v1_scan *h)
{
	uint64_t last = 0;
	if (h->ndoubted && h->proof == CTP_PROOF_LATER) {
		last = ctp_barrier_ask(&h->barrier);
		for (uint32_t k = 0; k < h->ndoubted; k++)
			h->full[h->doubted[k]].barrier = last;
		if (ctp_barrier_wait(&h->barrier, last, LAST_NS) < last)
			h->proof = CTP_PROOF_NOW;
		see_refusal(h);
	}
	end_all(h, last);
	if (h->proof == CTP_PROOF_LATER)
		h->proof = CTP_PROOF_NOW;
}
