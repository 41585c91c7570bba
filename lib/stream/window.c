/*
 * window.c - a bounded sort in front of a writer.
 */
#include "stream/window.h"

#include <stdlib.h>

#include "stream/held.h"

/* Marks are true after any row, since those are sorted; made often, they let a reader hold back less than its cache holds. */
enum { MARK_ROWS = 1024 };

struct ctp_window {
	struct ctp_held *held;
	const struct ctp_window_ops *ops;
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

void ctp_window_divert(struct ctp_window *win, const struct ctp_window_ops *ops, void *arg)
{
	static const struct ctp_window_ops straight = {.record = to_writer, .mark = mark_writer};
	win->ops = ops ? ops : &straight;
	win->arg = arg;
}

struct ctp_window *ctp_window_new(struct ctp_err *err)
{
	struct ctp_window *win = calloc(1, sizeof *win);
	if (win && (win->held = ctp_held_new(CTP_WINDOW_BYTES, err))) {
		ctp_window_divert(win, NULL, NULL);
		return win;
	}
	if (!win)
		ctp_err_set(err, "out of memory");
	free(win);
	return NULL;
}

void ctp_window_free(struct ctp_window *win)
{
	if (!win)
		return;
	ctp_held_free(win->held);
	free(win);
}

uint64_t ctp_window_late(const struct ctp_window *win) { return win->late; }

/* Writes what may go, in order, with a mark now and then. */
static void write_released(struct ctp_window *win, struct ctp_writer *w)
{
	struct ctp_record rec;
	uint64_t ts;
	for (unsigned n = 1; ctp_held_next(win->held, &rec, &ts); n++) {
		win->late += ts < win->mark_ns;
		win->ops->record(win->arg, w, &rec);
		if (n % MARK_ROWS == 0)
			win->ops->mark(win->arg, w, ts);
	}
}

bool ctp_window_put(struct ctp_window *win, struct ctp_writer *w, const struct ctp_class *cls, const uint64_t *val)
{
	if (cls->time_field >= 0)
		win->last_ts = val[cls->time_field];
	enum ctp_status status = ctp_held_put(win->held, win->last_ts, cls, val);
	if (status == CTP_EOF) {
		uint64_t newest = ctp_held_release_half(win->held);
		write_released(win, w);
		if (newest > win->mark_ns)
			win->ops->mark(win->arg, w, win->mark_ns = newest);
	}
	return status != CTP_FAILED;
}

void ctp_window_flush(struct ctp_window *win, struct ctp_writer *w)
{
	ctp_held_release_all(win->held);
	write_released(win, w);
	win->last_ts = win->mark_ns = 0;
}
