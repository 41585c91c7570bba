/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * intake.h - what sources of rows share: sections that begin and end, classes that are known by name, rows that are kept or
 * rejected, and the sorter that sorts them on their way to the writer.
 */
#ifndef CTP_INTAKE_H
#define CTP_INTAKE_H

#include "common/plain-gaps.h"
#include "stream/sink.h"
#include "stream/sorter.h"

struct ctp_intake_class {
	struct ctp_class *cls;
	void *layout; /* the source's own: how rows of the class look; freed with free() */
	bool current; /* its name means this class in this section */
};

struct ctp_intake {
	struct ctp_source *source;
	const char *tool;
	struct ctp_sorter *sorter;
	struct ctp_plain_gaps *gaps; /* stands between the sorter and the writer in a section of ours */
	uint32_t nclasses;
	struct ctp_intake_class classes[CTP_CLASSES_MAX]; /* of all sections: the writer may still need them */

	/* of the input at hand */
	struct ctp_input *in;
	struct ctp_writer *writer;
	const struct ctp_notice *notice;
	enum { CTP_SECTION_NONE, CTP_SECTION_OURS, CTP_SECTION_THEIRS } section; /* theirs: the input has its begin and end */
	bool had_section;
	bool has_wall; /* of a section of theirs */
	int64_t wall_offset_ns;
	bool no_memory; /* for a row, which errno says: it is not rejected, and the input fails */
};

/* source and tool stay the caller's; tool is the attribute of sections of ours. */
enum ctp_status ctp_intake_init(struct ctp_intake *intake, struct ctp_source *source, const char *tool, struct ctp_err *err);
void ctp_intake_fini(struct ctp_intake *intake);

/* Around the rows of one input. The second ends an open section and says what is wrong with the input as a whole. */
void ctp_intake_begin(struct ctp_intake *intake, struct ctp_input *in, struct ctp_writer *w, const struct ctp_notice *notice);
enum ctp_status ctp_intake_finish(struct ctp_intake *intake, struct ctp_err *err);

/*
 * A section of the input begins at that line, even if its attributes, [p, end) as meta.h has them, cannot be read: then why says it.
 * scratch has room for end - p bytes. The second ends the section.
 */
enum ctp_status ctp_intake_read_section(struct ctp_intake *intake, const char *p, const char *end, char *scratch, uint64_t line,
                                        struct ctp_err *why);
void ctp_intake_end(struct ctp_intake *intake, bool complete);

/* Ends a section that is still open at that line. */
void ctp_intake_break(struct ctp_intake *intake, uint64_t line);

/* A section for rows that come without one. wall: their times are nanoseconds since 1970. */
void ctp_intake_own_section(struct ctp_intake *intake, bool wall);

/* The class that a name means in this section; null: none. The second makes cls, which it takes over, that class; null: why. */
struct ctp_intake_class *ctp_intake_find(struct ctp_intake *intake, const char *name);
struct ctp_intake_class *ctp_intake_adopt(struct ctp_intake *intake, struct ctp_class *cls, struct ctp_err *why);

/* A row of the section: kept, or rejected with a notice that says why. */
void ctp_intake_put(struct ctp_intake *intake, const struct ctp_class *cls, const uint64_t *val, uint64_t line);
void ctp_intake_reject(struct ctp_intake *intake, uint64_t line, const struct ctp_err *why);

#endif
