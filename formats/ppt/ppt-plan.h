/*
 * ppt-plan.h - what ppt-frames.c and ppt-back.c share: the steps from the bytes of a frame to the fields of a record.
 */
#ifndef CTP_PPT_PLAN_H
#define CTP_PPT_PLAN_H

#include "ppt/ppt-frames.h"

enum ctp_ppt_op {
	CTP_PPT_OP_U8, CTP_PPT_OP_I8, CTP_PPT_OP_I16, CTP_PPT_OP_I32, CTP_PPT_OP_I64, CTP_PPT_OP_U64, CTP_PPT_OP_F32, CTP_PPT_OP_F64,
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

struct ctp_ppt_frames {
	const struct ctp_ppt_layout *layout;
	struct ctp_ppt_plan *plans; /* layout->nframes */
	struct ctp_class *header, *lost;
	char *strings; /* of a record, on its way to the writer */
	struct ctp_str *part; /* of a header, on its way to the writer */
	int32_t type_at; /* offset of the type; -1: none */
	bool has_time;
	int64_t place; /* of the next frame */
	uint64_t last_ns, cut;
};

#endif
