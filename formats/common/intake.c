/* intake.c - what sources of rows share. */
#include "common/intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/meta.h"

enum ctp_status ctp_intake_init(struct ctp_intake *it, struct ctp_source *source, const char *tool, struct ctp_err *err)
{
	it->source = source;
	it->tool = tool;
	it->sorter = ctp_sorter_new(err);
	it->gaps = it->sorter ? ctp_plain_gaps_new(err) : NULL;
	return it->gaps ? CTP_OK : CTP_FAILED;
}

void ctp_intake_fini(struct ctp_intake *it)
{
	for (uint32_t i = 0; i < it->nclasses; i++) {
		free(it->classes[i].layout);
		ctp_class_free(it->classes[i].cls);
	}
	ctp_sorter_free(it->sorter);
	ctp_plain_gaps_free(it->gaps);
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

void ctp_intake_end(struct ctp_intake *it, bool complete)
{
	ctp_sorter_flush(it->sorter, it->writer);
	if (it->section == CTP_SECTION_OURS)
		ctp_plain_gaps_end(it->gaps, it->sorter, it->writer, &it->source->stats, it->notice);
	ctp_writer_end(it->writer, complete);
	for (uint32_t i = 0; i < it->nclasses; i++)
		it->classes[i].current = false;
	it->section = CTP_SECTION_NONE;
	it->source->stats.harmed |= !complete;
}

static void open_section(struct ctp_intake *it, const struct ctp_section *sec)
{
	ctp_writer_begin(it->writer, sec);
	/* The mark makes the section exist even if no row follows. */
	ctp_writer_mark(it->writer, 0);
	it->had_section = true;
}

void ctp_intake_break(struct ctp_intake *it, uint64_t line)
{
	if (it->section == CTP_SECTION_THEIRS)
		ctp_notice_say(it->notice, "line %llu: the section before has no end: it was cut short",
		               (unsigned long long)line);
	if (it->section)
		ctp_intake_end(it, it->section == CTP_SECTION_OURS);
}

enum ctp_status ctp_intake_read_section(struct ctp_intake *it, const char *p, const char *end, char *scratch, uint64_t line, struct ctp_err *why)
{
	struct ctp_section *sec = malloc(sizeof *sec);
	if (!sec)
		return ctp_err_set(why, "out of memory");
	ctp_section_init(sec);
	enum ctp_status status = p < end ? ctp_meta_read_attrs(p, end, scratch, sec, why) : CTP_OK;
	ctp_intake_break(it, line);
	open_section(it, sec);
	it->section = CTP_SECTION_THEIRS;
	it->has_wall = sec->has_wall;
	it->wall_offset_ns = sec->wall_offset_ns;
	ctp_section_fini(sec);
	free(sec);
	return status;
}

void ctp_intake_own_section(struct ctp_intake *it, bool wall)
{
	struct ctp_section *sec = malloc(sizeof *sec);
	if (!sec)
		return;
	ctp_section_init(sec);
	ctp_section_add(sec, "tool", it->tool);
	ctp_section_add(sec, "source", it->in->name);
	if (wall)
		ctp_section_add(sec, "wall_offset_ns", "0");
	open_section(it, sec);
	ctp_plain_gaps_begin(it->gaps, it->sorter);
	it->section = CTP_SECTION_OURS;
	ctp_section_fini(sec);
	free(sec);
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

struct ctp_intake_class *ctp_intake_find(struct ctp_intake *it, const char *name)
{
	for (uint32_t i = 0; i < it->nclasses; i++)
		if (it->classes[i].current && !strcmp(it->classes[i].cls->name, name))
			return &it->classes[i];
	return NULL;
}

struct ctp_intake_class *ctp_intake_adopt(struct ctp_intake *it, struct ctp_class *cls, struct ctp_err *why)
{
	struct ctp_intake_class *before = ctp_intake_find(it, cls->name), *c = it->classes, *end = c + it->nclasses;
	if (before)
		before->current = false;
	while (c < end && (c->cls->decl_bytes != cls->decl_bytes || memcmp(c->cls->decl, cls->decl, cls->decl_bytes)))
		c++;
	if (c < end) {
		ctp_class_free(cls);
	} else if (it->nclasses < CTP_CLASSES_MAX) {
		*c = (struct ctp_intake_class){.cls = cls};
		it->nclasses++;
	} else {
		ctp_class_free(cls);
		return ctp_err_set(why, "more than %d classes", CTP_CLASSES_MAX), NULL;
	}
	c->current = true;
	return c;
}

/* --- rows ---------------------------------------------------------------------------------------------------------------- */

void ctp_intake_reject(struct ctp_intake *it, uint64_t line, const struct ctp_err *why)
{
	it->no_memory |= errno == ENOMEM;
	if (it->no_memory)
		return;
	it->source->stats.rejected++;
	ctp_notice_say(it->notice, "line %llu: %.300s; rejected", (unsigned long long)line, why->text);
}

void ctp_intake_put(struct ctp_intake *it, const struct ctp_class *cls, const uint64_t *val, uint64_t line)
{
	static const struct ctp_err memory = {"out of memory"};
	struct ctp_record rec = {.cls = cls, .val = val};
	if (cls->kind != CTP_KIND_TRANSITION)
		it->source->stats.harmed |= cls->kind == CTP_KIND_LOSS || cls->kind == CTP_KIND_CONFLICT ||
		                            ctp_record_untraced(&rec);
	if (ctp_sorter_put(it->sorter, it->writer, cls, val))
		it->source->stats.accepted++;
	else
		ctp_intake_reject(it, line, &memory);
}

/* --- an input ------------------------------------------------------------------------------------------------------------ */

void ctp_intake_begin(struct ctp_intake *it, struct ctp_input *in, struct ctp_writer *w, const struct ctp_notice *notice)
{
	it->in = in;
	it->writer = w;
	it->notice = notice;
	it->had_section = false;
}

enum ctp_status ctp_intake_finish(struct ctp_intake *it, struct ctp_err *err)
{
	struct ctp_input *in = it->in;
	struct ctp_source_stats *stats = &it->source->stats;
	if (in->failed) {
		*err = in->err;
		return CTP_FAILED;
	}
	if (it->no_memory)
		return ctp_err_set(err, "%s: out of memory", in->name);
	if (in->harmed)
		ctp_notice_say(it->notice, "%s", in->err.text);
	bool empty = !in->offset && !in->harmed;
	if (empty)
		ctp_notice_say(it->notice, "the input is empty");
	if (it->section == CTP_SECTION_THEIRS)
		ctp_notice_say(it->notice, "the section has no end: it was cut short");
	/* An empty input gives a section too: a stream without one is no stream. */
	if (!it->had_section)
		ctp_intake_own_section(it, false);
	if (it->section)
		ctp_intake_end(it, it->section == CTP_SECTION_OURS && !in->harmed);
	stats->late = ctp_sorter_late(it->sorter);
	stats->harmed |= in->harmed || empty || stats->rejected;
	if (ctp_writer_failed(it->writer))
		return ctp_err_set(err, "%s: what was made of it could not be written", in->name);
	return CTP_OK;
}
