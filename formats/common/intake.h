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
	void *layout; /* the source's: how its rows look. For free() */
	bool current; /* what its name means in this section */
};

struct ctp_intake {
	struct ctp_source *source;
	const char *tool;
	struct ctp_sorter *sorter;
	struct ctp_plain_gaps *gaps; /* between the sorter and the writer, in a section of ours */
	uint32_t nclasses;
	struct ctp_intake_class classes[CTP_CLASSES_MAX]; /* all there ever were: the writer may still need them */

	/* of the input at hand */
	struct ctp_input *in;
	struct ctp_writer *writer;
	const struct ctp_notice *notice;
	enum { CTP_SECTION_NONE, CTP_SECTION_OURS, CTP_SECTION_THEIRS } section; /* theirs: the input told, and tells its end */
	bool had_section;
};

/* source and tool stay the caller's; tool is what sections say that the input does not tell of. */
enum ctp_status ctp_intake_init(struct ctp_intake *it, struct ctp_source *source, const char *tool, struct ctp_err *err);
void ctp_intake_fini(struct ctp_intake *it);

/* Around the rows of one input. The second ends what is open and says what is wrong with the input as a whole. */
void ctp_intake_begin(struct ctp_intake *it, struct ctp_input *in, struct ctp_writer *w, const struct ctp_notice *notice);
enum ctp_status ctp_intake_finish(struct ctp_intake *it, struct ctp_err *err);

/* A section of the input, which begins at that line and is copied; and its end. */
void ctp_intake_section(struct ctp_intake *it, const struct ctp_section *sec, uint64_t line);
void ctp_intake_end(struct ctp_intake *it, bool complete);

/* At that line something else begins: a section that is open ends here. */
void ctp_intake_break(struct ctp_intake *it, uint64_t line);

/* A section for rows that come without one. wall: their times are nanoseconds since 1970. */
void ctp_intake_own_section(struct ctp_intake *it, bool wall);

/* What a name means in this section, or null; and from here on: cls is taken over. Null: why. */
struct ctp_intake_class *ctp_intake_find(struct ctp_intake *it, const char *name);
struct ctp_intake_class *ctp_intake_adopt(struct ctp_intake *it, struct ctp_class *cls, struct ctp_err *why);

/* A row, in a section. */
void ctp_intake_put(struct ctp_intake *it, const struct ctp_class *cls, const uint64_t *val, uint64_t line);
void ctp_intake_reject(struct ctp_intake *it, uint64_t line, const struct ctp_err *why);

#endif
