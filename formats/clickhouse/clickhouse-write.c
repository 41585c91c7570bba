/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * clickhouse-write.c - a sink that writes rows for ClickHouse: to a pipe, to a folder, or to a server (clickhouse-load.h).
 *
 * A pipe or a file gets a block as soon as its rows are there. Those of a folder appear when all is written, that of the sections last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clickhouse/clickhouse-load.h"
#include "common/files.h"
#include "io/folder.h"

struct file { /* of a table */
	struct file *next;
	struct ctp_output out;
	char *path;
	const char *table;
};

struct clickhouse_sink {
	struct ctp_sink sink;
	struct ctp_clickhouse_options o;
	struct ctp_clickhouse_batch batch;
	struct ctp_clickhouse_load *load; /* null: there is no client */
	struct ctp_bytes block;
	struct file *files;
	int dir; /* -1: there is none */
	bool made_dir, any;
};

/* --- blocks --------------------------------------------------------------------------------------------------------------- */

static struct file *open_file(struct clickhouse_sink *s, const char *table, struct ctp_err *err)
{
	char name[CTP_FILE_NAME_MAX + 32];
	for (struct file *f = s->files; f; f = f->next)
		if (!strcmp(f->table, table))
			return f;
	ctp_file_name(name, table, false);
	struct file *f = ctp_err_calloc(err, sizeof *f);
	if (!f || asprintf(&f->path, "%s/%s.native", s->o.dir, name) < 0) {
		free(f);
		return ctp_err_memory(err), NULL;
	}
	if (ctp_output_create_in(&f->out, s->dir, f->path, true, err)) {
		free(f->path);
		free(f);
		return NULL;
	}
	f->table = table;
	f->next = s->files;
	return s->files = f;
}

/* Writes the rows that a table has. */
static enum ctp_status write_table(struct clickhouse_sink *s, struct ctp_clickhouse_table *t, struct ctp_err *err)
{
	struct file *f = s->o.dir && t->nrows ? open_file(s, t->name, err) : NULL;
	struct ctp_output *out = s->o.dir ? f ? &f->out : NULL : s->o.out;
	if (!t->nrows)
		return CTP_OK;
	if (!out)
		return CTP_FAILED;
	for (uint32_t at = 0; s->block.len = 0, ctp_clickhouse_table_block(t, &at, &s->block);)
		ctp_output_pass(out, s->block.data, s->block.len);
	s->any = true;
	ctp_clickhouse_table_clear(t, true);
	return s->block.failed ? ctp_err_memory(err) : ctp_output_status(out, err);
}

static bool writes_sections(const struct clickhouse_sink *s) { return !s->o.class_name || !strcmp(s->o.class_name, "sections"); }

static enum ctp_status write_tables(struct clickhouse_sink *s, uint32_t min_rows, struct ctp_err *err)
{
	for (uint32_t i = 0; i < s->batch.ntables; i++)
		if (s->batch.tables[i]->nrows >= min_rows && write_table(s, s->batch.tables[i], err))
			return CTP_FAILED;
	if (!writes_sections(s))
		ctp_clickhouse_table_clear(s->batch.sections, true);
	return s->batch.sections->nrows >= min_rows ? write_table(s, s->batch.sections, err) : CTP_OK;
}

/* --- the stream ----------------------------------------------------------------------------------------------------------- */

static enum ctp_status write_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct clickhouse_sink *s = (struct clickhouse_sink *)sink;
	if (s->load && ctp_clickhouse_load_section(s->load, err))
		return CTP_FAILED;
	ctp_clickhouse_batch_section(&s->batch, sec, sink->input);
	return CTP_OK;
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct clickhouse_sink *s = (struct clickhouse_sink *)sink;
	if (ctp_clickhouse_batch_records(&s->batch, batch, err))
		return CTP_FAILED;
	return s->load ? ctp_clickhouse_load_more(s->load, err) : write_tables(s, CTP_CLICKHOUSE_BLOCK_ROWS, err);
}

/* Rows of a section stay those of it after its end: what they have in common is freed when all tables were written. */
static enum ctp_status write_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct clickhouse_sink *s = (struct clickhouse_sink *)sink;
	if (ctp_clickhouse_batch_end(&s->batch, end, err))
		return CTP_FAILED;
	if (s->load || s->batch.ndeliveries < CTP_CLICKHOUSE_BLOCK_ROWS / 64)
		return CTP_OK;
	enum ctp_status status = write_tables(s, 1, err);
	ctp_clickhouse_batch_clear(&s->batch);
	return status;
}

static enum ctp_status flush(struct ctp_sink *sink, struct ctp_err *err)
{
	return ctp_clickhouse_load_flush(((struct clickhouse_sink *)sink)->load, err);
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct clickhouse_sink *s = (struct clickhouse_sink *)sink;
	if (s->load) {
		enum ctp_status status = ctp_clickhouse_load_finish(s->load, err);
		s->sink.left_out = ctp_clickhouse_load_refused(s->load);
		return status;
	}
	if (write_tables(s, 1, err))
		return CTP_FAILED;
	if (!s->any && s->o.class_name)
		return ctp_err_set(err, "class %.100s: the input has no record of it; ctp-stat shows the classes", s->o.class_name);
	if (!s->o.dir)
		return ctp_output_close(s->o.out, err);
	struct file *sections = NULL;
	for (struct file *f = s->files; f; f = f->next)
		if (!strcmp(f->table, "sections"))
			sections = f;
		else if (ctp_output_close(&f->out, err))
			return CTP_FAILED;
	return sections ? ctp_output_close(&sections->out, err) : CTP_OK;
}

static void free_sink(struct ctp_sink *sink)
{
	struct clickhouse_sink *s = (struct clickhouse_sink *)sink;
	for (struct file *f; (f = s->files);) {
		s->files = f->next;
		ctp_output_abandon(&f->out);
		free(f->path);
		free(f);
	}
	if (s->o.out)
		ctp_output_abandon(s->o.out);
	if (s->dir >= 0)
		close(s->dir);
	if (s->made_dir)
		rmdir(s->o.dir); /* stays if there is a file in it */
	ctp_clickhouse_load_free(s->load);
	ctp_clickhouse_batch_fini(&s->batch);
	ctp_bytes_fini(&s->block);
	free(s);
}

#define OPS .section = write_section, .records = write_records, .end = write_end, .finish = finish, .free = free_sink
static const struct ctp_sink_ops ops = {OPS}, live_ops = {OPS, .flush = flush};

static enum ctp_status prepare(struct clickhouse_sink *s, struct ctp_err *err)
{
	s->dir = -1;
	if (ctp_clickhouse_batch_init(&s->batch, s->o.class_name, s->o.server >= CTP_CLICKHOUSE_NEW, err))
		return CTP_FAILED;
	if (s->o.client)
		return (s->load = ctp_clickhouse_load_new(&s->o, &s->batch, err)) ? CTP_OK : CTP_FAILED;
	if (!s->o.dir)
		return CTP_OK;
	s->made_dir = access(s->o.dir, F_OK) != 0;
	s->dir = ctp_folder_open(s->o.dir, true, err);
	if (s->dir < 0)
		return CTP_FAILED;
	return s->o.force ? CTP_OK : ctp_files_none(s->dir, s->o.dir, "remove it, or use -f", err);
}

struct ctp_sink *ctp_clickhouse_sink(const struct ctp_clickhouse_options *options, struct ctp_err *err)
{
	struct clickhouse_sink *s = ctp_err_calloc(err, sizeof *s);
	if (!s) {
		if (options->out)
			ctp_output_abandon(options->out);
		return NULL;
	}
	s->o = *options;
	s->sink.ops = options->client && options->every_ns ? &live_ops : &ops;
	s->sink.idle_again_ms = (int)(options->every_ns / 1000000);
	s->sink.apart = options->client != NULL;
	if (prepare(s, err)) {
		free_sink(&s->sink);
		return NULL;
	}
	return &s->sink;
}
