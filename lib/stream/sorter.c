/*
 * sorter.c - a bounded sort in front of a writer.
 */
#include "stream/sorter.h"

#include <stdlib.h>

#include "stream/runs.h"

/* Marks are true after any row, since those are sorted; made often, they let a reader hold back less than its cache holds. */
enum { MARK_ROWS = 1024 };

struct ctp_sorter {
	struct ctp_runs *held;
	const struct ctp_sorter_ops *ops;
	void *arg; /* for ops */
	uint64_t last_ts; /* of the row that came last */
	uint64_t mark_ns;
	uint64_t late;
};

static void to_writer(void *arg, struct ctp_writer *w, const struct ctp_record *rec)
{
	(void)arg;
	ctp_writer_record(w, rec->cls, rec->val);
}

static void mark_writer(void *arg, struct ctp_writer *w, uint64_t ts_ns)
{
	(void)arg;
	ctp_writer_mark(w, ts_ns);
}

void ctp_sorter_divert(struct ctp_sorter *win, const struct ctp_sorter_ops *ops, void *arg)
{
	static const struct ctp_sorter_ops straight = {.record = to_writer, .mark = mark_writer};
	win->ops = ops ? ops : &straight;
	win->arg = arg;
}

struct ctp_sorter *ctp_sorter_new(struct ctp_err *err)
{
	struct ctp_sorter *win = calloc(1, sizeof *win);
	if (win && (win->held = ctp_runs_new(CTP_SORTER_BYTES, err))) {
		ctp_sorter_divert(win, NULL, NULL);
		return win;
	}
	if (!win)
		ctp_err_set(err, "out of memory");
	free(win);
	return NULL;
}

void ctp_sorter_free(struct ctp_sorter *win)
{
	if (!win)
		return;
	ctp_runs_free(win->held);
	free(win);
}

uint64_t ctp_sorter_late(const struct ctp_sorter *win) { return win->late; }

/* Writes what may go, in order, with a mark now and then. */
static void write_released(struct ctp_sorter *win, struct ctp_writer *w)
{
	struct ctp_record rec;
	uint64_t ts;
	for (unsigned n = 1; ctp_runs_next(win->held, &rec, &ts); n++) {
		win->late += ts < win->mark_ns;
		win->ops->record(win->arg, w, &rec);
		if (n % MARK_ROWS == 0)
			win->ops->mark(win->arg, w, ts);
	}
}

bool ctp_sorter_put(struct ctp_sorter *win, struct ctp_writer *w, const struct ctp_class *cls, const uint64_t *val)
{
	if (cls->time_field >= 0)
		win->last_ts = val[cls->time_field];
	enum ctp_status status = ctp_runs_put(win->held, win->last_ts, cls, val);
	if (status == CTP_EOF) {
		uint64_t newest = ctp_runs_release_half(win->held);
		write_released(win, w);
		if (newest > win->mark_ns)
			win->ops->mark(win->arg, w, win->mark_ns = newest);
	}
	return status != CTP_FAILED;
}

void ctp_sorter_flush(struct ctp_sorter *win, struct ctp_writer *w)
{
	ctp_runs_release_all(win->held);
	write_released(win, w);
	win->last_ts = win->mark_ns = 0;
}
