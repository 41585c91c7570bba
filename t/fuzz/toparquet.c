/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * toparquet.c - whatever records come, in whatever classes, with any size of row groups and any bound of memory, each file has the
 * structure of Parquet, and the files have as many rows as there were records and sections, also when a tree gets them once more.
 * Covers: formats/parquet
 */
#include "parquet-folder.h"
#include "textmem.h"
#include "parquet/parquet.h"
#include "steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/dev/shm/ctp-fuzz-XXXXXX";
static uint64_t records;

static void empty_folder(void) { parquet_remove(folder); }

static void ended(struct steps *s) { records += s->records; }

/* One class to a pipe; it may be declared in two ways, or not occur. */
static void to_pipe(struct steps *s, struct ctp_parquet_options *o)
{
	static struct textmem text;
	char name[CTP_NAME_MAX + 1];
	struct ctp_output out;
	o->class_name = steps_name(s, name);
	o->out = &out;
	textmem_open(&out);
	struct ctp_sink *sink = ctp_parquet_sink(o, &s->err);
	must(sink, s->err.text);
	steps_run(s, sink);
	if (steps_finish(s)) {
		textmem_take(&text);
		must(valid_parquet(text.data, text.len).rows <= records, "more records");
	} else {
		must(strstr(s->err.text, "is declared in two ways") || strstr(s->err.text, "no record of it"), s->err.text);
	}
}

static void to_folder(struct steps *s, struct ctp_parquet_options *o)
{
	o->dir = folder;
	struct ctp_sink *sink = ctp_parquet_sink(o, &s->err);
	must(sink, s->err.text);
	steps_run(s, sink);
	must(steps_finish(s), s->err.text);
	struct parquet_folder seen = parquet_folder(folder, NULL);
	must(seen.rows == records, "more or fewer records");
	must(seen.sections == s->sections, "more or fewer sections");
	must(seen.section_files == (o->nkeys ? s->sections : 1), "more or fewer files of sections");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = {"", "host", "date", "host,date"};
	static bool made;
	struct steps s;
	if (!made)
		must(mkdtemp(folder) && !atexit(empty_folder), "no folder");
	made = true;
	empty_folder();
	records = 0;
	steps_start(&s, data, size);
	s.ended = ended;
	uint8_t how = steps_byte(&s);
	struct ctp_parquet_options o = {.group_rows = how & 4 ? 1 + steps_byte(&s) % 9 : CTP_PARQUET_GROUP_ROWS, .memory = how & 8 ? 4096 : 0};
	if (how & 3)
		must(ctp_parquet_parse_keys(&o, keys[how & 3]), "no keys");
	const uint8_t *begin = s.p;
	if (how & 16 && !o.nkeys)
		to_pipe(&s, &o);
	else
		to_folder(&s, &o);
	steps_fini(&s);
	if (o.nkeys) {
		records = 0;
		steps_start(&s, data, size);
		s.ended = ended;
		s.p = begin;
		to_folder(&s, &o);
		steps_fini(&s);
	}
	return 0;
}
