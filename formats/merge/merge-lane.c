/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* merge-lane.c - reads a part. */
#include "merge/merge-lane.h"

#include <assert.h>
#include <stdlib.h>

#include "base/compare.h"
#include "io/input-seek.h"

/* The next record is at hand. */
static void look(struct ctp_merge_lane *l)
{
	const struct ctp_record *rec = ctp_merge_lane_record(l);
	bool has_time = rec->cls->time_field >= 0;
	l->own_ns = has_time ? ctp_merge_lane_time(l, rec->val[rec->cls->time_field]) : l->key;
	l->key = ctp_most(l->key, l->own_ns);
}

/* A mark of a pipe that has no more for now: what comes next is not earlier, so the other lanes need not wait for it. */
static bool waits(struct ctp_merge_lane *l, uint64_t mark_ns)
{
	if (!ctp_input_would_wait(&l->pipe->in))
		return false;
	l->key = ctp_most(l->key, ctp_merge_lane_time(l, mark_ns));
	return l->waits = true;
}

/* Reads on, up to a batch with a record, the end of the section, or a mark that others can go on to. */
static enum ctp_status read_on(struct ctp_merge_lane *l, struct ctp_err *err)
{
	struct ctp_item item;
	enum ctp_status status;
	l->waits = false;
	while (!(status = ctp_order_next(l->pipe->order, &item, err))) {
		if (item.kind == CTP_ITEM_END) {
			l->over = true;
			l->end = item.end;
			return CTP_OK;
		}
		if (item.kind == CTP_ITEM_RECORDS && item.batch.n) {
			l->batch = item.batch;
			l->at = 0;
			look(l);
			return CTP_OK;
		}
		if (item.kind == CTP_ITEM_MARK && waits(l, item.mark_ns))
			return CTP_OK;
	}
	if (status == CTP_EOF) { /* the file has changed since it was looked at */
		l->over = true;
		l->end = (struct ctp_section_end){.complete = false};
	}
	return status == CTP_EOF ? CTP_OK : status;
}

enum ctp_status ctp_merge_lane_next(struct ctp_merge_lane *l, struct ctp_err *err)
{
	assert(!l->over);
	if (!l->waits && ++l->at < l->batch.n) {
		look(l);
		return CTP_OK;
	}
	return read_on(l, err);
}

static enum ctp_status first_section(struct ctp_merge_lane *l, struct ctp_err *err)
{
	struct ctp_item item;
	enum ctp_status status = ctp_order_next(l->pipe->order, &item, err);
	if (status || item.kind != CTP_ITEM_SECTION)
		return status == CTP_FAILED ? status : ctp_err_set(err, "%s: has changed while it was read", l->pipe->name);
	l->pipe->section = item.section;
	return CTP_OK;
}

enum ctp_status ctp_merge_lane_open(struct ctp_merge_lane *l, const struct ctp_merge_plan *plan, struct ctp_merge_part *part,
                                    struct ctp_err *err)
{
	*l = (struct ctp_merge_lane){.part = part, .pipe = part->pipe, .by_wall = plan->by_wall};
	part->pipe = NULL; /* the lane's now */
	if (!l->pipe) {
		l->pipe = ctp_merge_pipe_open(part->path, plan->out, plan->say, err);
		if (!l->pipe || ctp_input_seek(&l->pipe->in, part->offset, err) || first_section(l, err))
			return CTP_FAILED;
	}
	return read_on(l, err);
}

enum ctp_status ctp_merge_lane_again(struct ctp_merge_lane *l, struct ctp_merge_part *part, const struct ctp_section *sec,
                                     uint64_t now_ns, struct ctp_err *err)
{
	struct ctp_merge_pipe *pipe = l->pipe;
	*l = (struct ctp_merge_lane){.part = part, .pipe = pipe, .by_wall = l->by_wall, .key = now_ns};
	pipe->section = sec;
	return read_on(l, err);
}

enum ctp_status ctp_merge_lane_open_temp(struct ctp_merge_lane *l, int fd, struct ctp_err *err)
{
	*l = (struct ctp_merge_lane){.pipe = ctp_merge_pipe_temp(fd, err), .begun = true};
	if (!l->pipe || first_section(l, err))
		return CTP_FAILED;
	return read_on(l, err);
}

void ctp_merge_lane_close(struct ctp_merge_lane *l)
{
	ctp_merge_pipe_close(l->pipe);
	l->pipe = NULL;
}
