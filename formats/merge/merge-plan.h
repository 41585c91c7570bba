/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * merge-plan.h - which sections the inputs have, their clocks and their numbers, before the first record is merged.
 *
 * A file is read up to two times: headers of packets show its sections, and records those of a section that was merged; and all of
 * it is read for the readings of its clocks if times go by the wall clock. Of a pipe only the first section is known, and what its
 * attributes say.
 */
#ifndef CTP_MERGE_PLAN_H
#define CTP_MERGE_PLAN_H

#include "base/map.h"
#include "merge/merge-clock.h"
#include "io/output.h"
#include "stream/order.h"

struct ctp_merge_part {
	const char *path;     /* of the input; null: standard input */
	uint32_t number;      /* of the section, in its input, from 1 */
	uint32_t origin;      /* its number in the output, from 1 */
	uint64_t id, offset;  /* offset: of its first packet, in the decompressed file */
	struct ctp_merge_clock *clock;
	bool merged;          /* it has origins of its own */
	bool is_cut;          /* and is a piece of what was merged, as ctp-filter cuts it */
	bool sole_clock;      /* no relation to another clock: its times are numbers, or nothing says what they are */
	char *host, *pid, *name; /* null: not known */
	char *filtered;       /* by which options records were left out; null: none were */
	bool filtered_events; /* of a merged part: and not only by time */
	struct ctp_merge_pipe *pipe; /* null: a file */
};

/* An input that can be read once. The section is that of its order, at its begin. */
struct ctp_merge_pipe {
	struct ctp_input in;
	struct ctp_reader *reader;
	struct ctp_order *order;
	const struct ctp_section *section;
	struct ctp_notice notice;
	const struct ctp_notice *say;
	const struct ctp_output *out;
	const char *name;
	uint64_t said;
};

/* A section that was read, or was merged into one that was read. */
struct ctp_merge_section {
	uint64_t id;
	const char *path; /* of the input that has it; null: standard input */
};

struct ctp_merge_plan {
	struct ctp_merge_part *parts;
	size_t n, room, most; /* most: for which there are numbers */
	struct ctp_merge_clock **clocks;
	size_t nclocks, clocks_room;
	struct ctp_merge_section *sections;
	size_t nsections, sections_room;
	struct ctp_map by_id;      /* of sections; an id is there once */
	struct ctp_section common; /* attributes that all parts have with the same value */
	bool has_common;
	bool by_wall;              /* the parts have several clocks */
	bool one_boot;             /* which are of one machine, and so have one wall clock */
	bool harmed;               /* what is between sections is no packet */
	const struct ctp_notice *say;
	const struct ctp_output *out; /* a pipe is read no further when the reader of this has gone */
};

enum { CTP_MERGE_ORDER_BYTES = 3 << 20 }; /* of an input: with what else a reader has, less than 8 MiB */

/* Fails if an input cannot be read, is no stream, or has no clock that fits the others. */
enum ctp_status ctp_merge_plan(struct ctp_merge_plan *plan, char *const *files, const struct ctp_output *out,
                               const struct ctp_notice *say, struct ctp_err *err);
void ctp_merge_plan_fini(struct ctp_merge_plan *plan);

/*
 * ctp_merge_plan_reserve makes room for `parts` parts in all, so that no part moves when another is added. False: out of memory.
 * ctp_merge_plan_more adds a part, for a section that follows another one in a pipe. Null: err says why that section cannot be merged.
 */
bool ctp_merge_plan_reserve(struct ctp_merge_plan *plan, size_t parts);
struct ctp_merge_part *ctp_merge_plan_more(struct ctp_merge_plan *plan, const struct ctp_merge_part *before,
                                           const struct ctp_section *sec, struct ctp_err *err);

/* Notes the section that an origin record of a part is about. Fails if it was noted before, for it would be merged twice. */
enum ctp_status ctp_merge_plan_note(struct ctp_merge_plan *plan, const struct ctp_merge_part *p, const struct ctp_record *rec,
                                    struct ctp_err *err);

/* out may be null, and say, too. */
struct ctp_merge_pipe *ctp_merge_pipe_open(const char *path, const struct ctp_output *out, const struct ctp_notice *say,
                                           struct ctp_err *err);
/* Of a file without a name, which stays open. */
struct ctp_merge_pipe *ctp_merge_pipe_temp(int fd, struct ctp_err *err);
void ctp_merge_pipe_close(struct ctp_merge_pipe *pipe);

#endif
