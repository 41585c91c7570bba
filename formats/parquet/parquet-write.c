/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * parquet-write.c - a sink that makes Parquet files.
 *
 * Without a partition a file has the rows of all sections, and all files are closed at the end, that of the sections last. With one,
 * each section has files of its own. Their names have its id and a hash of its attributes and its first record, so that runs do not
 * meet, one that is repeated replaces its files, and parts of a stream that was divided stay apart (see parquet-copies.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/about.h"
#include "common/files.h"
#include "common/meta.h"
#include "io/folder.h"
#include "parquet/parquet-copies.h"
#include "parquet/parquet-path.h"

struct parquet_sink {
	struct ctp_sink sink;
	struct ctp_parquet_options o;
	struct ctp_parquet_work *work;
	struct ctp_parquet_file **files; /* of the folder at hand */
	uint32_t nfiles;
	size_t files_room;
	size_t bytes; /* of memory, in all of them */
	struct ctp_class *about; /* the class of sections */
	struct ctp_parquet_file *sections;
	int dir; /* -1: there is none */
	bool made_dir;

	const struct ctp_section *sec;
	struct ctp_parquet_section now;
	char folder[PATH_MAX]; /* "": not known yet */
	int at; /* the folder; -1: it is not open */
	char *attrs;
	bool cut; /* it is over, and not complete, with a partition */
	uint32_t mark; /* a hash of the section's attributes and its first record, with a partition */
	struct ctp_parquet_file *of[CTP_CLASSES_MAX]; /* by the class's id */
};

/* --- the class of sections ------------------------------------------------------------------------------------------------- */

static enum ctp_status put_about(struct parquet_sink *s, bool complete, struct ctp_err *err)
{
	uint64_t val[CTP_ABOUT_FIELDS];
	bool filled = ctp_about_fill(val, s->sec, s->attrs, s->sink.input, complete);
	struct ctp_parquet_section now = s->now;
	now.has_wall &= val[CTP_ABOUT_HAS_START];
	struct ctp_record rec = {.cls = s->about, .val = val};
	enum ctp_status status = !filled ? ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", s->o.dir) :
	                         ctp_parquet_file_put(s->sections, s->work, &now, &rec, 1, err);
	ctp_about_fini(val);
	return status;
}

/* --- files ---------------------------------------------------------------------------------------------------------------- */

static void free_files(struct parquet_sink *s)
{
	for (uint32_t i = 0; i < s->nfiles; i++)
		ctp_parquet_file_free(s->files[i]);
	ctp_parquet_file_free(s->sections);
	s->sections = NULL;
	s->nfiles = 0;
	s->bytes = 0;
	memset(s->of, 0, sizeof s->of);
}

static enum ctp_status close_files(struct parquet_sink *s, struct ctp_err *err)
{
	for (uint32_t i = 0; i < s->nfiles; i++)
		if ((s->o.nkeys ? ctp_parquet_close_complete : ctp_parquet_file_close)(s->files[i], s->work, err))
			return CTP_FAILED;
	if (s->sections && ctp_parquet_file_close(s->sections, s->work, err))
		return CTP_FAILED;
	if (s->o.nkeys && ctp_parquet_has_cut(s->at, s->now.id))
		ctp_parquet_remove_cut(s->at, s->now.id);
	free_files(s);
	return CTP_OK;
}

static enum ctp_status close_cut_files(struct parquet_sink *s, struct ctp_err *err)
{
	bool stays = false;
	if (ctp_parquet_file_close(s->sections, s->work, err))
		return CTP_FAILED;
	for (uint32_t i = 0; i < s->nfiles; i++)
		if (ctp_parquet_close_cut(s->files[i], s->work, &stays, err))
			return CTP_FAILED;
	if (ctp_parquet_has_complete(s->at, s->now.id))
		ctp_parquet_remove_cut(s->at, s->now.id);
	else if (stays)
		ctp_notice_say(s->o.notice, "a copy in %s has more of the section, and stays", s->folder);
	free_files(s);
	return CTP_OK;
}

static enum ctp_status find_folder(struct parquet_sink *s, const struct ctp_record *first, struct ctp_err *err)
{
	int64_t wall_s;
	bool shown = ctp_about_began(s->sec, first, &wall_s);
	uint64_t mark = ctp_meta_mark(s->attrs, first);
	s->mark = (uint32_t)(mark ^ mark >> 32);
	if (!ctp_parquet_folder(s->folder, &s->o, s->sec, shown, shown ? wall_s : 0))
		return ctp_err_set(err, "%.40s...: the name is too long", s->o.dir);
	s->at = ctp_folder_below(s->dir, s->o.dir, s->folder + strlen(s->o.dir) + 1, true, err);
	return s->at < 0 ? CTP_FAILED : CTP_OK;
}

/* With a partition each section has its own. */
static void leave_folder(struct parquet_sink *s)
{
	s->folder[0] = '\0';
	if (s->at >= 0)
		close(s->at);
	s->at = -1;
}

/* FOLDER/NAME.parquet, and with a partition FOLDER/NAME-ID-HASH.parquet or -ID.cut.parquet. nth: of declarations of one name. */
static bool name_file(const struct parquet_sink *s, char to[PATH_MAX], const char *name, uint32_t nth)
{
	char also[16] = "", id[32] = "";
	if (nth > 1)
		snprintf(also, sizeof also, "~%u", nth);
	if (s->cut)
		snprintf(id, sizeof id, "-%016llx.cut", (unsigned long long)s->now.id);
	else if (s->o.nkeys)
		snprintf(id, sizeof id, "-%016llx-%08x", (unsigned long long)s->now.id, s->mark);
	return snprintf(to, PATH_MAX, "%s/%s%s%s.parquet", s->folder, name, also, id) < PATH_MAX;
}

static struct ctp_parquet_file *open_file(struct parquet_sink *s, const struct ctp_class *cls, uint32_t nth, struct ctp_err *err)
{
	char name[CTP_FILE_NAME_MAX + 32], path[PATH_MAX] = "stdout";
	ctp_file_name(name, cls->name, false);
	if (cls != s->about && !strcasecmp(name, "sections"))
		nth++;
	if (s->o.dir && !name_file(s, path, name, nth))
		return ctp_err_set(err, "%.40s...: the name is too long", s->folder), NULL;
	return ctp_parquet_file_new(s->at, path, cls, s->o.group_rows, s->o.dir ? NULL : s->o.out, err);
}

static struct ctp_parquet_file *add_file(struct parquet_sink *s, const struct ctp_class *cls, struct ctp_err *err)
{
	uint32_t nth = 1;
	for (uint32_t i = 0; i < s->nfiles; i++) {
		const struct ctp_class *had = s->files[i]->cls;
		if (had->decl_bytes == cls->decl_bytes && !memcmp(had->decl, cls->decl, cls->decl_bytes))
			return s->files[i];
		nth += !strcasecmp(had->name, cls->name); /* there are file systems where case does not count */
	}
	if (nth > 1 && !s->o.dir) {
		ctp_err_set(err, "class %.100s: is declared in two ways, and a pipe has room for one; name a folder with -o", cls->name);
		return NULL;
	}
	if (!CTP_ARRAY_RESERVE(s->files, s->files_room, s->nfiles + 1, UINT32_MAX))
		return ctp_err_memory(err), NULL;
	struct ctp_parquet_file *f = open_file(s, cls, nth, err);
	if (f)
		s->files[s->nfiles++] = f;
	return f;
}

static struct ctp_parquet_file *file_of_class(struct parquet_sink *s, const struct ctp_record *rec, struct ctp_err *err)
{
	struct ctp_parquet_file *f = add_file(s, rec->cls, err);
	char key[32];
	snprintf(key, sizeof key, "ctp.section.%u", s->now.number);
	if (f)
		ctp_parquet_file_note(f, key, s->attrs);
	return s->of[rec->cls->id] = f;
}

/* The file that takes most memory ends its row group, until all take less. */
static enum ctp_status make_room(struct parquet_sink *s, struct ctp_err *err)
{
	while (s->bytes > s->o.memory) {
		struct ctp_parquet_file *most = s->files[0];
		for (uint32_t i = 1; i < s->nfiles; i++)
			most = s->files[i]->bytes > most->bytes ? s->files[i] : most;
		size_t before = most->bytes;
		if (ctp_parquet_file_group(most, s->work, false, err))
			return CTP_FAILED;
		s->bytes -= before - most->bytes;
		if (before == most->bytes)
			break;
	}
	return CTP_OK;
}

/* --- the stream ------------------------------------------------------------------------------------------------------------ */

static enum ctp_status write_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct parquet_sink *s = (struct parquet_sink *)sink;
	free(s->attrs);
	s->attrs = ctp_meta_attrs(sec, NULL);
	if (!s->attrs)
		return ctp_err_memory(err);
	s->sec = sec;
	s->now = (struct ctp_parquet_section){.number = s->now.number + 1, .id = sec->id, .has_wall = sec->has_wall,
	                                      .wall_offset_ns = sec->wall_offset_ns};
	if (s->o.nkeys) {
		free_files(s); /* of a section whose input failed */
		leave_folder(s);
	}
	s->cut = false;
	memset(s->of, 0, sizeof s->of);
	return CTP_OK;
}

static enum ctp_status write_run(struct parquet_sink *s, const struct ctp_record *rec, uint32_t n, struct ctp_err *err)
{
	const struct ctp_class *cls = rec->cls;
	struct ctp_parquet_file *f = s->of[cls->id];
	if (s->o.dir && !s->folder[0] && find_folder(s, rec, err))
		return CTP_FAILED;
	if (!f && s->o.class_name && strcmp(cls->name, s->o.class_name))
		return CTP_OK;
	if (!f && !(f = file_of_class(s, rec, err)))
		return CTP_FAILED;
	size_t before = f->bytes;
	if (ctp_parquet_file_put(f, s->work, &s->now, rec, n, err))
		return CTP_FAILED;
	s->bytes += f->bytes - before;
	return make_room(s, err);
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	for (uint32_t i = 0, end; i < batch->n; i = end) {
		for (end = i + 1; end < batch->n && batch->rec[end].cls == batch->rec[i].cls; end++)
			;
		if (write_run((struct parquet_sink *)sink, batch->rec + i, end - i, err))
			return CTP_FAILED;
	}
	return CTP_OK;
}

static enum ctp_status write_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct parquet_sink *s = (struct parquet_sink *)sink;
	if (!s->o.dir)
		return CTP_OK;
	if (!s->folder[0] && find_folder(s, NULL, err))
		return CTP_FAILED;
	s->cut = s->o.nkeys && !end->complete;
	if (s->cut && ctp_parquet_has_complete(s->at, s->now.id)) {
		ctp_notice_say(s->o.notice, "a copy in %s has the whole section, and stays", s->folder);
		free_files(s);
		return CTP_OK;
	}
	if (!s->sections && !(s->sections = open_file(s, s->about, 1, err)))
		return CTP_FAILED;
	if (put_about(s, end->complete, err))
		return CTP_FAILED;
	if (s->cut)
		return close_cut_files(s, err);
	return s->o.nkeys ? close_files(s, err) : CTP_OK;
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct parquet_sink *s = (struct parquet_sink *)sink;
	if (!s->o.dir && !s->nfiles)
		return ctp_err_set(err, "class %.100s: the input has no record of it; ctp-stat shows the classes", s->o.class_name);
	if (s->o.nkeys)
		return CTP_OK; /* each section had its end */
	if (s->o.dir && !s->sections && !(s->sections = open_file(s, s->about, 1, err)))
		return CTP_FAILED;
	return close_files(s, err);
}

static void free_sink(struct ctp_sink *sink)
{
	struct parquet_sink *s = (struct parquet_sink *)sink;
	if (!s->o.dir && !s->nfiles && s->o.out->priv)
		ctp_output_abandon(s->o.out);
	free_files(s);
	if (s->at != s->dir)
		leave_folder(s);
	if (s->dir >= 0)
		close(s->dir);
	if (s->made_dir)
		rmdir(s->o.dir); /* stays if there is a file in it */
	ctp_class_free(s->about);
	ctp_parquet_work_free(s->work);
	free(s->files);
	free(s->attrs);
	free(s);
}

static const struct ctp_sink_ops ops = {
	.section = write_section,
	.records = write_records,
	.end = write_end,
	.finish = finish,
	.free = free_sink,
};

static enum ctp_status prepare(struct parquet_sink *s, struct ctp_err *err)
{
	if (!(s->about = ctp_class_new("sections", CTP_KIND_OTHER, ctp_about_fields, CTP_ABOUT_FIELDS, err)))
		return CTP_FAILED;
	if (!(s->work = ctp_parquet_work_new()))
		return ctp_err_memory(err);
	if (!s->o.dir)
		return CTP_OK;
	s->made_dir = access(s->o.dir, F_OK) != 0;
	s->dir = ctp_folder_open(s->o.dir, true, err);
	if (s->dir < 0)
		return CTP_FAILED;
	if (s->o.nkeys)
		return CTP_OK;
	s->at = s->dir;
	snprintf(s->folder, sizeof s->folder, "%s", s->o.dir);
	return s->o.force ? CTP_OK : ctp_files_none(s->dir, s->o.dir, "remove it, use --partition to add to a tree, or -f", err);
}

struct ctp_sink *ctp_parquet_sink(const struct ctp_parquet_options *options, struct ctp_err *err)
{
	struct parquet_sink *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_err_memory(err);
		if (options->out)
			ctp_output_abandon(options->out);
		return NULL;
	}
	s->sink.ops = &ops;
	s->dir = s->at = -1;
	s->sink.apart = options->nkeys > 0;
	s->o = *options;
	s->o.memory = s->o.memory ? s->o.memory : CTP_PARQUET_MEMORY;
	if (prepare(s, err)) {
		free_sink(&s->sink);
		return NULL;
	}
	return &s->sink;
}
