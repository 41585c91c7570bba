/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * merge-origin.h - the records that say which sections were merged: the class origin, at the begin and at the end of each, and the
 * class origin_attribute, for each attribute of it. ctp-stream.5 has their fields.
 */
#ifndef CTP_MERGE_ORIGIN_H
#define CTP_MERGE_ORIGIN_H

#include "merge/merge-clock.h"
#include "stream/events.h"
#include "stream/writer.h"

struct ctp_merge_origins {
	struct ctp_class *origin, *attribute;
};

/* One of them. Texts may be null. */
struct ctp_merge_origin {
	uint64_t number, pid, start_ns; /* of the merged section */
	const char *name, *host, *command, *input;
	uint64_t section;     /* its number in the input, from 1 */
	uint64_t section_id;
	bool by_wall;         /* times go by the wall clock */
	uint64_t error_ns;    /* how far they may be off */
	bool error_known;
	enum ctp_origin_state state;
	uint64_t stride;      /* of all numbers */
	uint64_t missing_ns;  /* packets with records before this time are missing; 0: none, or at the end */
};

bool ctp_merge_origins_init(struct ctp_merge_origins *o, struct ctp_err *err);
void ctp_merge_origins_fini(struct ctp_merge_origins *o);
void ctp_merge_origins_put(const struct ctp_merge_origins *o, struct ctp_writer *w, uint64_t ts_ns,
                           const struct ctp_merge_origin *of);
void ctp_merge_origins_attribute(const struct ctp_merge_origins *o, struct ctp_writer *w, uint64_t ts_ns, uint64_t number,
                                 const char *name, const char *value);

#endif
