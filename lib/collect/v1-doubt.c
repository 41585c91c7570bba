/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * v1-doubt.c - two sorts of rows that need a second look before they are facts; v1-station.c has the reasons.
 *
 * Of a plain writer on a machine that reorders stores: these are among the rows already when they are asked about again. They wait
 * in two groups, so that the wait costs nothing while there is more to harvest; the end of a scan waits for what is left. Where
 * one turns out to be spoilt, a record of the loss takes its place.
 *
 * Of a seqlock that was found full: eight rows, the first in doubt. They wait beside the rows, because the others may not come
 * before it, and hold back the mark. A writer that has just lapped us will do so again: there the first is given up at once,
 * which saves the copying. Nothing more is done about a station that shows something new at the next scan: the first
 * is lost, and the others are taken. For all that do not, one barrier is asked for (barrier.h), at most one in a scan, and
 * when it has been passed, some scans later, they are looked at once more.
 */
#include "collect/v1-doubt.h"

#include <assert.h>
#include <string.h>

#include "base/capped.h"
#include "base/clock.h"

#define HOLD_NS UINT64_C(1000000000) /* a mark is not held back for longer */
#define LAST_NS UINT64_C(1000000000) /* the last barrier is not waited for any longer */
#define FRESH_NS UINT64_C(1000000)   /* a station that was written and overwritten within that is written still */

/* --- among the rows ------------------------------------------------------------------------------------------------------- */

static void recheck(struct ctp_v1_scan *scan, const struct ctp_v1_doubt_run *run)
{
	struct ctp_v1_station *st = &scan->st[run->station];
	struct ctp_row_sort *sort = &scan->rows->sort;
	unsigned unverified, bad = ctp_v1_station_recheck(st, &scan->shm[run->station], run->base, run->n, &unverified);
	if (!bad)
		return;
	scan->rows->stats.events -= bad;
	ctp_add_capped(&scan->rows->stats.lost, bad);
	scan->rows->stats.overwritten += bad;
	scan->rows->stats.unverified += unverified;
	memset(&sort->event[run->row], CTP_ROWS_SPOILT, bad);
	if (bad == run->n && st->next == run->base + bad) {
		st->gap += bad; /* the record stands before the next row, as always */
		st->gap_unverified += unverified;
		st->last_ns = run->after_ns;
		return;
	}
	uint32_t at = run->row + bad - 1;
	uint64_t ts_ns = bad < run->n ? sort->ts_ns[at + 1] : scan->rows->now_ns;
	sort->event[at] = CTP_LOST;
	sort->ts_ns[at] = ts_ns;
	struct ctp_loss loss = {.probe_id = st->probe_id, .coro = st->coro, .index = run->base, .count = bad,
	                        .unverified = unverified, .after_ns = run->after_ns, .ts_ns = ts_ns};
	ctp_loss_fill(sort->rows[at].val, &loss);
}

static void resolve(struct ctp_v1_scan *scan, struct ctp_v1_doubt *d)
{
	while (d->count && ctp_clock_ns() - d->full_ns < CTP_STATION_DRAIN_NS)
		;
	for (uint32_t k = 0; k < d->count; k++)
		recheck(scan, &d->runs[k]);
	d->count = 0;
}

void ctp_v1_doubt_drain(void *arg)
{
	struct ctp_v1_scan *scan = arg;
	if (scan->doubt[1].count)
		scan->doubt[1].full_ns = ctp_clock_ns();
	resolve(scan, &scan->doubt[0]);
	resolve(scan, &scan->doubt[1]);
}

void ctp_v1_doubt_rows(struct ctp_v1_scan *scan, const struct ctp_v1_doubt_run *run)
{
	struct ctp_v1_doubt *d = &scan->doubt[1];
	if (d->count == CTP_V1_SCAN_DOUBTS) {
		d->full_ns = ctp_clock_ns();
		resolve(scan, &scan->doubt[0]);
		scan->doubt[0] = *d;
		d->count = 0;
	}
	d->runs[d->count++] = *run;
}

/* --- beside it ------------------------------------------------------------------------------------------------------------ */

static void give_up(struct ctp_v1_scan *scan, struct ctp_v1_station *st)
{
	st->doubt = false;
	st->gap++;
	st->gap_unverified++;
	scan->rows->stats.lost++;
	scan->rows->stats.overwritten++;
	scan->rows->stats.unverified++;
}

void ctp_v1_doubt_station(struct ctp_v1_scan *scan, uint32_t i, bool lapped)
{
	struct ctp_full *full = &scan->full[i];
	struct ctp_row *rows = &scan->rows->sort.rows[scan->rows->sort.count];
	if (lapped && rows[CTP_STATION_ROWS - 1].val[CTP_TRANSITION_TS] + FRESH_NS > scan->rows->now_ns) {
		give_up(scan, &scan->st[i]);
		memmove(rows, rows + 1, (CTP_STATION_ROWS - 1) * sizeof *rows);
		ctp_v1_scan_take(scan, i, CTP_STATION_ROWS - 1);
		return;
	}
	assert(full->listed || scan->ndoubted < scan->count);
	if (!full->listed)
		scan->doubted[scan->ndoubted++] = i;
	memcpy(full->rows, rows, sizeof full->rows);
	full->listed = true;
	full->barrier = full->died_ns = 0;
	full->look_ns = scan->rows->now_ns;
	full->promise_ns = scan->rows->promise_ns; /* this look may have found what is as old as that */
	scan->doubt_ns = full->promise_ns < scan->doubt_ns ? full->promise_ns : scan->doubt_ns;
}

void ctp_v1_doubt_death(struct ctp_v1_scan *scan, uint32_t i, uint64_t after_ns, uint64_t before_ns)
{
	struct ctp_full *full = &scan->full[i];
	if (full->died_ns)
		return;
	full->lived_ns = after_ns;
	full->died_ns = before_ns;
}

void ctp_v1_doubt_end(struct ctp_v1_scan *scan, uint32_t i, bool proved)
{
	struct ctp_full *full = &scan->full[i];
	struct ctp_row_sort *sort = &scan->rows->sort;
	unsigned bad = !proved;
	assert(scan->st[i].doubt && full->listed); /* full has its rows */
	if (sort->count > CTP_ROW_SORT_ROWS - CTP_ROWS_SPARE)
		ctp_rows_settle(scan->rows);
	scan->st[i].doubt = false;
	if (bad)
		give_up(scan, &scan->st[i]);
	memcpy(&sort->rows[sort->count], full->rows + bad, (CTP_STATION_ROWS - bad) * sizeof *full->rows);
	ctp_v1_scan_take(scan, i, CTP_STATION_ROWS - bad);
	if (full->died_ns)
		ctp_v1_scan_release(scan, i, full->lived_ns, full->died_ns);
}

/* What is loaded for the second look, in ctp_v1_station_quiet, is loaded after the barrier. */
static void end_all(struct ctp_v1_scan *scan, uint64_t passed)
{
	uint64_t now_ns = scan->rows->now_ns, barrier = 0;
	uint32_t kept = 0;
	scan->doubt_ns = UINT64_MAX;
	for (uint32_t k = 0; k < scan->ndoubted; k++) {
		uint32_t i = scan->doubted[k];
		struct ctp_full *full = &scan->full[i];
		struct ctp_v1_station *st = &scan->st[i];
		if (st->doubt && (scan->proof != CTP_PROOF_LATER || (full->barrier && full->barrier <= passed)))
			ctp_v1_doubt_end(scan, i, scan->proof != CTP_PROOF_NOW && ctp_v1_station_quiet(st, &scan->shm[i]));
		full->listed = st->doubt;
		if (!st->doubt)
			continue;
		if (!full->barrier && full->look_ns != now_ns)
			full->barrier = barrier = barrier ? barrier : ctp_barrier_ask(&scan->barrier);
		if (full->promise_ns < scan->doubt_ns)
			scan->doubt_ns = full->promise_ns;
		scan->doubted[kept++] = i;
	}
	scan->ndoubted = kept;
	if (now_ns > HOLD_NS && scan->doubt_ns < now_ns - HOLD_NS)
		scan->doubt_ns = now_ns - HOLD_NS;
}

/* What the kernel refuses once is not asked for again. */
static void see_refusal(struct ctp_v1_scan *scan)
{
	if (!scan->barrier.usable && scan->proof == CTP_PROOF_LATER)
		scan->proof = CTP_PROOF_NOW;
}

void ctp_v1_doubt_pass(struct ctp_v1_scan *scan)
{
	ctp_v1_doubt_drain(scan);
	if (!scan->ndoubted)
		return;
	uint64_t passed = ctp_barrier_passed(&scan->barrier);
	see_refusal(scan);
	end_all(scan, passed);
}

void ctp_v1_doubt_finish(struct ctp_v1_scan *scan)
{
	uint64_t last = 0;
	if (scan->ndoubted && scan->proof == CTP_PROOF_LATER) {
		last = ctp_barrier_ask(&scan->barrier);
		for (uint32_t k = 0; k < scan->ndoubted; k++)
			scan->full[scan->doubted[k]].barrier = last;
		if (ctp_barrier_wait(&scan->barrier, last, LAST_NS) < last)
			scan->proof = CTP_PROOF_NOW;
		see_refusal(scan);
	}
	end_all(scan, last);
	if (scan->proof == CTP_PROOF_LATER)
		scan->proof = CTP_PROOF_NOW;
}
