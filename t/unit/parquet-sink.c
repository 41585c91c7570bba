/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Parts of the Parquet sink that ctp-toparquet's command line cannot reach: a smaller memory limit, at which the largest file ends
 * its row group; sections with the same id in one tree; and truncated copies of one, before, after and beside the complete one.
 */
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parquet-folder.h"
#include "parquet/parquet.h"
#include "tap.h"

enum { WIDE = 40, CLASSES = 6, ROWS = 30000, MEMORY = 8 << 20 };

static char folder[] = "/tmp/ctp-parquet.XXXXXX";
static uint64_t val[WIDE], most;

/* A time and numbers, all of one width. */
static struct ctp_class *new_class(const char *name, uint32_t n, uint32_t id)
{
	struct ctp_field fields[WIDE];
	char names[WIDE][8];
	struct ctp_err err;
	for (uint32_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof names[i], "n%u", i);
		fields[i] = (struct ctp_field){.name = names[i], .type = CTP_U64};
	}
	fields[0].role = CTP_ROLE_TIME;
	fields[0].pred = CTP_PRED_TIME;
	struct ctp_class *cls = ctp_class_new(name, CTP_KIND_OTHER, fields, n, &err);
	must(cls, err.text);
	cls->id = id;
	return cls;
}

/* Memory in use; 0 if unknown (under sanitizers). */
static size_t in_use(void)
{
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 33)
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
#endif
#endif
	return 0;
}

static void put(struct ctp_sink *sink, const struct ctp_class *cls, uint64_t row)
{
	struct ctp_err err;
	uint64_t x = row * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (uint32_t i = 1; i < cls->nfields; i++)
		val[i] = x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9); /* incompressible */
	val[0] = row;
	struct ctp_record rec = {.cls = cls, .val = val, .ts_ns = row};
	must(!sink->ops->records(sink, &(struct ctp_batch){.rec = &rec, .n = 1}, &err), err.text);
	size_t now = row % 64 ? 0 : in_use();
	most = now > most ? now : most;
}

static void begin(struct ctp_sink *sink, struct ctp_section *sec, uint64_t id, const char *pid)
{
	struct ctp_err err;
	ctp_section_init(sec);
	sec->id = id;
	ctp_section_add(sec, "host", "h");
	ctp_section_add(sec, "pid", pid);
	must(!sink->ops->section(sink, sec, &err), err.text);
}

static void end(struct ctp_sink *sink, struct ctp_section *sec, bool complete)
{
	struct ctp_err err;
	must(!sink->ops->end(sink, &(struct ctp_section_end){.complete = complete}, &err), err.text);
	must(!sink->ops->finish(sink, &err), err.text);
	sink->ops->free(sink);
	ctp_section_fini(sec);
}

static struct ctp_sink *new_sink(const struct ctp_parquet_options *o)
{
	struct ctp_err err;
	struct ctp_sink *sink = ctp_parquet_sink(o, &err);
	must(sink, err.text);
	return sink;
}

static void test_memory(void)
{
	char dir[sizeof folder + 8];
	snprintf(dir, sizeof dir, "%s/memory", folder);
	struct ctp_section sec;
	struct ctp_class *wide[CLASSES], *narrow = new_class("narrow", 2, CLASSES);
	size_t before = in_use();
	struct ctp_sink *sink = new_sink(&(struct ctp_parquet_options){.dir = dir, .group_rows = CTP_PARQUET_GROUP_ROWS, .memory = MEMORY});
	begin(sink, &sec, 1, "1");
	for (uint32_t i = 0; i < CLASSES; i++) {
		char name[8];
		snprintf(name, sizeof name, "wide%u", i);
		wide[i] = new_class(name, WIDE, i);
	}
	most = 0;
	for (uint64_t row = 0; row < ROWS; row++) {
		for (uint32_t i = 0; i < CLASSES; i++)
			put(sink, wide[i], row);
		put(sink, narrow, row);
	}
	end(sink, &sec, true);
	note("%.1f MiB at most", (double)(most - before) / (1 << 20));
	if (before)
		ok(most - before < MEMORY + (4 << 20), "the memory limit holds, except for what all files share");
	struct parquet_folder seen = parquet_folder(dir, "wide");
	is_u64(seen.rows, CLASSES * ROWS, "every row is written");
	ok(seen.groups >= (uint64_t)CLASSES * ROWS * WIDE * 8 / MEMORY, "wide classes have many row groups");
	seen = parquet_folder(dir, "narrow");
	is_u64(seen.rows, ROWS, "every row of a narrow class is written");
	is_u64(seen.groups, 1, "the narrow class, never the largest, has one row group");
	for (uint32_t i = 0; i < CLASSES; i++)
		ctp_class_free(wide[i]);
	ctp_class_free(narrow);
}

static char said[256];

static void hear(void *arg, const char *text)
{
	(void)arg;
	snprintf(said, sizeof said, "%s", text);
}

/* Writes rows from `row` up to `upto` of a section; every seventh row is of a second class. */
static void add_part(const char *dir, uint64_t id, const char *pid, uint64_t row, uint64_t upto, bool complete)
{
	static const struct ctp_notice notice = {.say = hear};
	struct ctp_parquet_options o = {.dir = dir, .group_rows = CTP_PARQUET_GROUP_ROWS, .notice = &notice};
	must(ctp_parquet_parse_keys(&o, "host,date"), "keys");
	struct ctp_class *cls[] = {new_class("c", 2, 0), new_class("sections", 2, 1)};
	struct ctp_section sec;
	struct ctp_sink *sink = new_sink(&o);
	said[0] = '\0';
	begin(sink, &sec, id, pid);
	for (; row < upto; row++)
		put(sink, cls[row % 7 == 6], row);
	end(sink, &sec, complete);
	for (size_t i = 0; i < 2; i++)
		ctp_class_free(cls[i]);
}

static void add(const char *dir, uint64_t id, const char *pid, uint64_t rows) { add_part(dir, id, pid, 0, rows, true); }

static void test_tree(void)
{
	char dir[sizeof folder + 8];
	snprintf(dir, sizeof dir, "%s/tree", folder);
	add(dir, 1, "1", 5);
	add(dir, 1, "2", 3);
	struct parquet_folder seen = parquet_folder(dir, NULL);
	is_u64(seen.files, 2, "two sections with one id and different attributes are two files");
	is_u64(seen.sections, 2, "they have two files of sections");
	is_u64(seen.rows, 8, "the files have all rows");
	add(dir, 1, "2", 4);
	seen = parquet_folder(dir, NULL);
	is_u64(seen.files, 2, "writing a section again replaces its file");
	is_u64(seen.sections, 2, "its file of sections is replaced too");
	is_u64(seen.rows, 9, "the new file has the new rows");
	add(dir, 2, "2", 1);
	is_u64(parquet_folder(dir, NULL).files, 3, "another id gives another file");
}

static bool is_tree(const char *dir, uint64_t files, uint64_t sections, uint64_t rows)
{
	struct parquet_folder seen = parquet_folder(dir, NULL);
	note("%u files with %u rows, %u sections", (unsigned)seen.files, (unsigned)seen.rows, (unsigned)seen.sections);
	return seen.files == files && seen.sections == sections && seen.section_files == sections && seen.rows == rows;
}

static void test_cut(void)
{
	char dir[sizeof folder + 8];
	snprintf(dir, sizeof dir, "%s/cut", folder);
	add_part(dir, 1, "1", 0, 8, false);
	ok(is_tree(dir, 2, 1, 8) && !said[0], "a truncated copy is written");
	add_part(dir, 1, "1", 0, 5, false);
	ok(is_tree(dir, 2, 1, 8), "a copy that has less does not replace it");
	ok(strstr(said, "has more of the section, and stays"), "a notice says so: %s", said);
	add_part(dir, 1, "1", 0, 20, false);
	ok(is_tree(dir, 2, 1, 20) && !said[0], "a copy that has more replaces it");
	add_part(dir, 1, "1", 25, 40, false);
	ok(is_tree(dir, 4, 1, 35) && !said[0], "a different part is written beside it, and both are of one section");
	add_part(dir, 1, "1", 0, 0, false);
	ok(is_tree(dir, 4, 1, 35), "a part without records changes nothing");
	add_part(dir, 2, "1", 0, 3, false);
	ok(is_tree(dir, 5, 2, 38), "another section has files of its own");
	add(dir, 1, "1", 40);
	ok(is_tree(dir, 3, 2, 43) && !said[0], "the complete copy replaces all parts, and no other section");
	for (unsigned i = 0; i < 3; i++) {
		add_part(dir, 1, "1", i == 1 ? 25 : 0, i == 2 ? 0 : 30, false);
		ok(is_tree(dir, 3, 2, 43), "the complete copy stays when a part is written after it");
		ok(strstr(said, "/host=h/date=__HIVE_DEFAULT_PARTITION__ has the whole section, and stays"), "%s", said);
	}
	add(dir, 1, "1", 40);
	ok(is_tree(dir, 3, 2, 43) && !said[0], "the complete copy written again changes nothing");
}

/* A run that was killed may leave files of both. */
static void test_killed(void)
{
	char dir[sizeof folder + 8], from[PATH_MAX], to[PATH_MAX + 8];
	snprintf(dir, sizeof dir, "%s/killed", folder);
	add_part(dir, 1, "1", 0, 8, false);
	snprintf(from, sizeof from, "%s/host=h/date=__HIVE_DEFAULT_PARTITION__/sections-0000000000000001.cut.parquet", dir);
	snprintf(to, sizeof to, "%s.kept", from);
	must(!rename(from, to), "no sections of a copy that is cut");
	add(dir, 1, "1", 9);
	ok(!rename(to, from) && is_tree(dir, 2, 2, 9), "files of one class are replaced one by one");
	add(dir, 1, "1", 9);
	ok(is_tree(dir, 2, 1, 9), "the rest is replaced when it is run again");
}

/* A section whose input failed is left out; the sections before and after it are written. */
static void test_failed(void)
{
	char dir[sizeof folder + 8];
	snprintf(dir, sizeof dir, "%s/failed", folder);
	struct ctp_parquet_options o = {.dir = dir, .group_rows = CTP_PARQUET_GROUP_ROWS};
	must(ctp_parquet_parse_keys(&o, "host"), "keys");
	struct ctp_class *cls = new_class("c", 2, 0);
	struct ctp_section sec[3];
	struct ctp_sink *sink = new_sink(&o);
	struct ctp_err err;
	for (uint64_t i = 0; i < 3; i++) {
		begin(sink, &sec[i], i, "1");
		put(sink, cls, i);
		if (i == 0)
			must(!sink->ops->end(sink, &(struct ctp_section_end){.complete = true}, &err), err.text);
	}
	end(sink, &sec[2], true);
	ok(is_tree(dir, 2, 2, 2), "a section without an end is left out");
	for (uint64_t i = 0; i < 2; i++)
		ctp_section_fini(&sec[i]);
	sink = new_sink(&o);
	begin(sink, &sec[0], 3, "1");
	put(sink, cls, 3);
	must(!sink->ops->finish(sink, &err), err.text);
	sink->ops->free(sink);
	ctp_section_fini(&sec[0]);
	ok(is_tree(dir, 2, 2, 2), "a last section without an end is left out");
	ctp_class_free(cls);
}

static void test_both(void)
{
	char dir[sizeof folder + 8];
	snprintf(dir, sizeof dir, "%s/both", folder);
	uint64_t wrong = 0;
	for (uint64_t id = 1; id <= 60; id++) {
		pid_t other = fork();
		must(other >= 0, "no process");
		if (!other) {
			add_part(dir, id, "1", id % 2, 20, false);
			_exit(0);
		}
		add(dir, id, "1", 21);
		must(waitpid(other, NULL, 0) == other, "no other");
		struct parquet_folder seen = parquet_folder(dir, NULL);
		wrong += seen.files != 2 * id || seen.sections != id || seen.rows != 21 * id;
	}
	is_u64(wrong, 0, "a part written at the same time as the complete copy is never left beside it");
}

int main(void)
{
	must(mkdtemp(folder), "no folder");
	test_memory();
	test_tree();
	test_cut();
	test_killed();
	test_failed();
	test_both();
	parquet_remove(folder);
	return done_testing();
}
