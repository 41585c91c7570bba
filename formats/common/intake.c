/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* intake.c - what sources of rows share. */
#include "common/intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/meta.h"

enum ctp_status ctp_intake_init(struct ctp_intake *intake, struct ctp_source *source, const char *tool, struct ctp_err *err)
{
	intake->source = source;
	intake->tool = tool;
	intake->sorter = ctp_sorter_new(err);
	intake->gaps = intake->sorter ? ctp_plain_gaps_new(err) : NULL;
	return intake->gaps ? CTP_OK : CTP_FAILED;
}

void ctp_intake_fini(struct ctp_intake *intake)
{
	for (uint32_t i = 0; i < intake->nclasses; i++) {
		free(intake->classes[i].layout);
		ctp_class_free(intake->classes[i].cls);
	}
	ctp_sorter_free(intake->sorter);
	ctp_plain_gaps_free(intake->gaps);
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

void ctp_intake_end(struct ctp_intake *intake, bool complete)
{
	ctp_sorter_flush(intake->sorter, intake->writer);
	if (intake->section == CTP_SECTION_OURS)
		ctp_plain_gaps_end(intake->gaps, intake->sorter, intake->writer, &intake->source->stats, intake->notice);
	ctp_writer_end(intake->writer, complete);
	for (uint32_t i = 0; i < intake->nclasses; i++)
		intake->classes[i].current = false;
	intake->section = CTP_SECTION_NONE;
	intake->source->stats.harmed |= !complete;
}

static void open_section(struct ctp_intake *intake, const struct ctp_section *sec)
{
	ctp_writer_begin(intake->writer, sec);
	/* The mark makes the section exist even if no row follows. */
	ctp_writer_mark(intake->writer, 0);
	intake->had_section = true;
}

void ctp_intake_break(struct ctp_intake *intake, uint64_t line)
{
	if (intake->section == CTP_SECTION_THEIRS)
		ctp_notice_say(intake->notice, "line %llu: the section before has no end: it was cut short",
		               (unsigned long long)line);
	if (intake->section)
		ctp_intake_end(intake, intake->section == CTP_SECTION_OURS);
}

enum ctp_status ctp_intake_read_section(struct ctp_intake *intake, const char *p, const char *end, char *scratch, uint64_t line,
                                        struct ctp_err *why)
{
	struct ctp_section sec;
	ctp_section_init(&sec);
	enum ctp_status status = p < end ? ctp_meta_read_attrs(p, end, scratch, &sec, why) : CTP_OK;
	ctp_intake_break(intake, line);
	open_section(intake, &sec);
	intake->section = CTP_SECTION_THEIRS;
	intake->has_wall = sec.has_wall;
	intake->wall_offset_ns = sec.wall_offset_ns;
	ctp_section_fini(&sec);
	return status;
}

void ctp_intake_own_section(struct ctp_intake *intake, bool wall)
{
	struct ctp_section sec;
	ctp_section_init(&sec);
	ctp_section_add(&sec, "tool", intake->tool);
	ctp_section_add(&sec, "source", intake->in->name);
	if (wall)
		ctp_section_add(&sec, "wall_offset_ns", "0");
	open_section(intake, &sec);
	ctp_plain_gaps_begin(intake->gaps, intake->sorter);
	intake->section = CTP_SECTION_OURS;
	ctp_section_fini(&sec);
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

struct ctp_intake_class *ctp_intake_find(struct ctp_intake *intake, const char *name)
{
	for (uint32_t i = 0; i < intake->nclasses; i++)
		if (intake->classes[i].current && !strcmp(intake->classes[i].cls->name, name))
			return &intake->classes[i];
	return NULL;
}

struct ctp_intake_class *ctp_intake_adopt(struct ctp_intake *intake, struct ctp_class *cls, struct ctp_err *why)
{
	struct ctp_intake_class *before = ctp_intake_find(intake, cls->name), *c = intake->classes, *end = c + intake->nclasses;
	if (before)
		before->current = false;
	while (c < end && (c->cls->decl_bytes != cls->decl_bytes || memcmp(c->cls->decl, cls->decl, cls->decl_bytes)))
		c++;
	if (c < end) {
		ctp_class_free(cls);
	} else if (intake->nclasses < CTP_CLASSES_MAX) {
		*c = (struct ctp_intake_class){.cls = cls};
		intake->nclasses++;
	} else {
		ctp_class_free(cls);
		return ctp_err_set(why, "more than %d classes", CTP_CLASSES_MAX), NULL;
	}
	c->current = true;
	return c;
}

/* --- rows ---------------------------------------------------------------------------------------------------------------- */

void ctp_intake_reject(struct ctp_intake *intake, uint64_t line, const struct ctp_err *why)
{
	intake->no_memory |= errno == ENOMEM;
	if (intake->no_memory)
		return;
	intake->source->stats.rejected++;
	ctp_notice_say(intake->notice, "line %llu: %.300s; rejected", (unsigned long long)line, why->text);
}

void ctp_intake_put(struct ctp_intake *intake, const struct ctp_class *cls, const uint64_t *val, uint64_t line)
{
	static const struct ctp_err memory = {"out of memory", CTP_ERR_MEMORY, 0};
	struct ctp_record rec = {.cls = cls, .val = val};
	if (cls->kind != CTP_KIND_TRANSITION)
		intake->source->stats.harmed |= cls->kind == CTP_KIND_LOSS || cls->kind == CTP_KIND_CONFLICT ||
		                            ctp_record_untraced(&rec);
	if (ctp_sorter_put(intake->sorter, intake->writer, cls, val))
		intake->source->stats.accepted++;
	else
		ctp_intake_reject(intake, line, &memory);
}

/* --- an input ------------------------------------------------------------------------------------------------------------ */

void ctp_intake_begin(struct ctp_intake *intake, struct ctp_input *in, struct ctp_writer *w, const struct ctp_notice *notice)
{
	intake->in = in;
	intake->writer = w;
	intake->notice = notice;
	intake->had_section = false;
}

enum ctp_status ctp_intake_finish(struct ctp_intake *intake, struct ctp_err *err)
{
	struct ctp_input *in = intake->in;
	struct ctp_source_stats *stats = &intake->source->stats;
	if (in->failed) {
		*err = in->err;
		return CTP_FAILED;
	}
	if (intake->no_memory)
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", in->name);
	if (in->harmed)
		ctp_notice_say(intake->notice, "%s", in->err.text);
	bool empty = !in->offset && !in->harmed;
	if (empty)
		ctp_notice_say(intake->notice, "the input is empty");
	if (intake->section == CTP_SECTION_THEIRS)
		ctp_notice_say(intake->notice, "the section has no end: it was cut short");
	/* An empty input gives a section too: a stream without one is no stream. */
	if (!intake->had_section)
		ctp_intake_own_section(intake, false);
	if (intake->section)
		ctp_intake_end(intake, intake->section == CTP_SECTION_OURS && !in->harmed);
	stats->late = ctp_sorter_late(intake->sorter);
	stats->harmed |= in->harmed || empty || stats->rejected;
	if (ctp_writer_failed(intake->writer))
		return ctp_err_set(err, "%s: the stream made from it could not be written", in->name);
	return CTP_OK;
}
