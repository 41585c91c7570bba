/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * merge-lane.h - the records of one part, one after the other, with the times that they have in the merged section.
 */
#ifndef CTP_MERGE_LANE_H
#define CTP_MERGE_LANE_H

#include "merge/merge-class.h"
#include "merge/merge-ids.h"
#include "merge/merge-plan.h"

struct ctp_merge_lane {
	struct ctp_merge_part *part; /* null: a file of an earlier round, which has all that the output needs */
	struct ctp_merge_pipe *pipe; /* how it is read */
	const struct ctp_merge_class *classes[CTP_CLASSES_MAX]; /* by the id of the input's class */
	struct ctp_batch batch;
	uint32_t at;         /* the next record of the batch */
	uint64_t key;        /* when it comes: its time, but not before that of the last one, or before a mark */
	uint64_t own_ns;     /* its time */
	bool by_wall, begun, over;
	bool waits;          /* there is no record yet, but a mark: none comes before the key */
	struct ctp_section_end end;
};

/* Up to the first record, or until it waits. A lane is to be closed even if this fails. */
enum ctp_status ctp_merge_lane_open(struct ctp_merge_lane *l, const struct ctp_merge_plan *plan, struct ctp_merge_part *part,
                                    struct ctp_err *err);
enum ctp_status ctp_merge_lane_open_temp(struct ctp_merge_lane *l, int fd, struct ctp_err *err);
/* The same with the next section of the same pipe, which follows as another part. No record comes before now_ns. */
enum ctp_status ctp_merge_lane_again(struct ctp_merge_lane *l, struct ctp_merge_part *part, const struct ctp_section *sec,
                                     uint64_t now_ns, struct ctp_err *err);
void ctp_merge_lane_close(struct ctp_merge_lane *l);

/* Goes to the next record, or waits, or is over. A lane that waits reads on. */
enum ctp_status ctp_merge_lane_next(struct ctp_merge_lane *l, struct ctp_err *err);

static inline const struct ctp_record *ctp_merge_lane_record(const struct ctp_merge_lane *l) { return &l->batch.rec[l->at]; }
static inline uint64_t ctp_merge_lane_time(const struct ctp_merge_lane *l, uint64_t ts_ns)
{
	return l->by_wall ? ctp_merge_clock_wall(l->part->clock, ts_ns) : ts_ns;
}

#endif
