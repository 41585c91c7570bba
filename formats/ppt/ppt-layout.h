/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-layout.h - the frames of a ppt buffer and their members, as its `_json` describes them.
 *
 * The text is hostile: it comes from a process or a file. A layout has been checked: members lie within their frame and do not
 * overlap, and each frame has its two sequence numbers, and a type if there is more than one frame. Front and type are at the same
 * offsets in all.
 */
#ifndef CTP_PPT_LAYOUT_H
#define CTP_PPT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	CTP_PPT_JSON_MAX = 1 << 20,    /* bytes of `_json` */
	CTP_PPT_HEADER_MAX = CTP_PPT_JSON_MAX + (16 << 10), /* of the header of a file, which has it inside */
	CTP_PPT_FRAME_MAX = 1 << 20,   /* bytes of a frame */
	CTP_PPT_FRAMES_MAX = 256,      /* of a buffer */
	CTP_PPT_MEMBERS_MAX = 1 << 12, /* of a frame */
	CTP_PPT_NAME_MAX = 100,        /* bytes */
	CTP_PPT_COUNTERS_MAX = 16,
};

enum ctp_ppt_type {
	CTP_PPT_INT,     /* signed, of 1, 2, 4 or 8 bytes */
	CTP_PPT_BYTE,    /* one unsigned byte, or several as they are */
	CTP_PPT_FLOAT, CTP_PPT_DOUBLE,
	CTP_PPT_TIME,    /* two i64: seconds, and nanoseconds or microseconds */
	CTP_PPT_COUNTER, /* u64 */
	CTP_PPT_TYPE_COUNT
};

enum ctp_ppt_kind { CTP_PPT_MEMBER, CTP_PPT_FRONT, CTP_PPT_BACK, CTP_PPT_FRAME_TYPE, CTP_PPT_PADDING, CTP_PPT_KIND_COUNT };
enum ctp_ppt_end { CTP_PPT_ALONE, CTP_PPT_BEGIN, CTP_PPT_END };

struct ctp_ppt_member {
	const char *name;
	const char *base; /* the name in the specification: "d" of d_start and d_end */
	uint32_t offset, size;
	enum ctp_ppt_type type;
	enum ctp_ppt_kind kind;
	enum ctp_ppt_end end; /* of an interval */
	int32_t other;        /* index of the interval's other end; -1: none */
	int32_t counter;      /* index of the counter; -1: none */
};

struct ctp_ppt_frame {
	const char *name;
	uint32_t size;   /* as the JSON has it: in a file */
	uint32_t stride; /* sizeof in C: in a ring */
	uint32_t align;  /* in C */
	uint32_t nmembers;
	struct ctp_ppt_member *members; /* by offset */
	uint32_t front, back; /* indexes of the two numbers */
	int32_t type;         /* of the frame's type; -1: none */
};

enum ctp_ppt_rep { CTP_PPT_TIMESPEC, CTP_PPT_TIMEVAL };

struct ctp_ppt_layout {
	const char *abi, *buffer;
	uint64_t min_elements;
	enum ctp_ppt_rep rep;
	const char *clock; /* "realtime", "monotonic", "monotonic_raw", "boottime" ...; "" where it is not said */
	int32_t clock_id;  /* of clock_gettime(2); -1: not known, or not one that this process can read */
	bool multithread;
	bool resizable;    /* its ring has a segment of its own, and changes its size: it cannot be attached to */
	bool by_header;    /* of the header in sdk/ppt, which names a language that no generator has */
	const char *tags;  /* JSON text; "" for none */
	size_t tags_len;
	uint32_t size;     /* of the largest frame: what one takes in a file */
	uint32_t stride;   /* of the first frame, and never less than size: what one takes in a ring */
	uint32_t nframes;
	struct ctp_ppt_frame *frames;
	uint32_t ncounters; /* of the header of a file: frCounters */
	const char *counters[CTP_PPT_COUNTERS_MAX];
	char *texts; /* the memory of all these */
};

/*
 * json: `_json`, or the header of a file, which has it as frJson. It need not end in a NUL, and is not needed afterwards. Null:
 * err.
 */
struct ctp_ppt_layout *ctp_ppt_layout_parse(const char *json, size_t len, struct ctp_err *err);
void ctp_ppt_layout_free(struct ctp_ppt_layout *layout); /* null: nothing */

/* Names for people: "int", "padding" ... */
const char *ctp_ppt_type_name(enum ctp_ppt_type type);
const char *ctp_ppt_kind_name(enum ctp_ppt_kind kind);

/* Makes the header of a file from `_json` and the names of the counters; malloced, len bytes. Null: out of memory. */
char *ctp_ppt_header(const char *json, size_t json_len, const char *const *counters, uint32_t ncounters, size_t *len);

#endif
