/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sorter.c - a bounded sort in front of a writer.
 */
#include "stream/sorter.h"

#include <assert.h>
#include <stdlib.h>

#include "stream/runs.h"

/* Rows are sorted, so a mark is true after any row. With a mark every MARK_ROWS, what a reader holds back fits its cache. */
enum { MARK_ROWS = 1024 };

struct ctp_sorter {
	struct ctp_runs *runs;
	const struct ctp_sorter_ops *ops;
	void *arg; /* for ops */
	uint64_t last_ts; /* of the row that came last */
	uint64_t mark_ns;
	uint64_t late;
};

static void to_writer(void *arg, struct ctp_writer *w, const struct ctp_batch *batch)
{
	(void)arg;
	ctp_writer_records(w, batch);
}

static void mark_writer(void *arg, struct ctp_writer *w, uint64_t ts_ns)
{
	(void)arg;
	ctp_writer_mark(w, ts_ns);
}

void ctp_sorter_divert(struct ctp_sorter *sorter, const struct ctp_sorter_ops *ops, void *arg)
{
	static const struct ctp_sorter_ops straight = {.records = to_writer, .mark = mark_writer};
	sorter->ops = ops ? ops : &straight;
	sorter->arg = arg;
}

struct ctp_sorter *ctp_sorter_new(struct ctp_err *err)
{
	struct ctp_sorter *sorter = ctp_err_calloc(err, sizeof *sorter);
	if (sorter && (sorter->runs = ctp_runs_new(CTP_SORTER_BYTES, err))) {
		ctp_sorter_divert(sorter, NULL, NULL);
		return sorter;
	}
	free(sorter);
	return NULL;
}

void ctp_sorter_free(struct ctp_sorter *sorter)
{
	if (!sorter)
		return;
	ctp_runs_free(sorter->runs);
	free(sorter);
}

uint64_t ctp_sorter_late(const struct ctp_sorter *sorter) { return sorter->late; }

/* Writes the released rows, in order, with a mark after each MARK_ROWS. */
static void write_released(struct ctp_sorter *sorter, struct ctp_writer *w)
{
	struct ctp_batch all;
	uint64_t last_ns = 0;
	(void)last_ns; /* of the assertion */
	while (ctp_runs_next(sorter->runs, &all)) {
		assert(all.rec->ts_ns >= last_ns); /* else the marks would be false */
		last_ns = all.rec[all.n - 1].ts_ns;
		for (uint32_t at = 0, n; at < all.n; at += n) {
			n = all.n - at < MARK_ROWS ? all.n - at : MARK_ROWS;
			const struct ctp_batch some = {.rec = all.rec + at, .n = n};
			for (uint32_t i = 0; i < n && some.rec[i].ts_ns < sorter->mark_ns; i++)
				sorter->late++;
			sorter->ops->records(sorter->arg, w, &some);
			if (n == MARK_ROWS)
				sorter->ops->mark(sorter->arg, w, some.rec[n - 1].ts_ns);
		}
	}
}

bool ctp_sorter_put(struct ctp_sorter *sorter, struct ctp_writer *w, const struct ctp_class *cls, const uint64_t *val)
{
	if (cls->time_field >= 0)
		sorter->last_ts = val[cls->time_field];
	enum ctp_status status = ctp_runs_put(sorter->runs, sorter->last_ts, cls, val);
	if (status == CTP_EOF) {
		uint64_t newest = ctp_runs_release_half(sorter->runs);
		write_released(sorter, w);
		if (newest > sorter->mark_ns)
			sorter->ops->mark(sorter->arg, w, sorter->mark_ns = newest);
	}
	return status != CTP_FAILED;
}

void ctp_sorter_flush(struct ctp_sorter *sorter, struct ctp_writer *w)
{
	ctp_runs_release_all(sorter->runs);
	write_released(sorter, w);
	assert(!ctp_runs_released(sorter->runs));
	sorter->last_ts = sorter->mark_ns = 0;
}
