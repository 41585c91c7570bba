/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-plan.h - the plan of a frame: its class, and a step for each field of the class, in that order. Frames to records and records
 * to frames go through the same plan.
 */
#ifndef CTP_PPT_PLAN_H
#define CTP_PPT_PLAN_H

#include "ppt/ppt-layout.h"
#include "stream/schema.h"

enum ctp_ppt_op {
	CTP_PPT_OP_SIGNED, CTP_PPT_OP_UNSIGNED, CTP_PPT_OP_FLOAT, /* of 1, 2, 4 or 8 bytes */
	CTP_PPT_OP_OWN_TIME, CTP_PPT_OP_TIME,
	CTP_PPT_OP_DURATION,   /* from the time at other to that at offset */
	CTP_PPT_OP_START,      /* of a counter, at offset; its end is at other */
	CTP_PPT_OP_DIFFERENCE, /* of a counter, from other to offset */
	CTP_PPT_OP_BYTES,      /* other: where its string is among those of a record; also of the last two */
	CTP_PPT_OP_PLACE, CTP_PPT_OP_PADDING, CTP_PPT_OP_RAW,
};

struct ctp_ppt_step {
	enum ctp_ppt_op op;
	uint32_t offset, size, other;
};

struct ctp_ppt_plan {
	struct ctp_class *cls;
	uint32_t nsteps; /* as many as the class has fields */
	struct ctp_ppt_step steps[CTP_FIELDS_MAX];
	struct ctp_ppt_gap {
		uint32_t offset, size;
	} *gaps; /* bytes of no member */
	uint32_t ngaps, padding; /* padding: bytes of all gaps */
	uint32_t front, back;    /* offsets */
	uint32_t time;           /* the same, if has_time */
	bool has_time, has_raw;
	bool always_raw; /* the class has no room for some of the members */
};

struct ctp_ppt_plan_conf {
	const struct ctp_ppt_layout *layout;
	const char *const *counters; /* names */
	uint32_t ncounters;
	bool plain; /* without the extra fields */
};

/* plan is all zero. *room: the bytes that the strings of a record take. After a failure the plan needs its fini, too. */
enum ctp_status ctp_ppt_plan_init(struct ctp_ppt_plan *plan, const struct ctp_ppt_plan_conf *conf, const struct ctp_ppt_frame *of,
                                  size_t *room, struct ctp_err *err);
void ctp_ppt_plan_fini(struct ctp_ppt_plan *plan);

#endif
