/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* parquet-file.c - see parquet-file.h. */
#include "parquet/parquet-file.h"

#include <stdio.h>
#include <strings.h>

#include "common/escape.h"
#include "common/meta.h"

enum { SECTION, SECTION_ID, BEFORE_FIELDS, PIECE = 512, ZSTD_CODEC = 6, NOTES_BYTES_MAX = 512 << 10 };
static const char MAGIC[] = "PAR1";

/* --- columns -------------------------------------------------------------------------------------------------------------- */

static bool is_taken(const struct ctp_parquet_file *f, const char *name)
{
	static const char *const ours[] = {"section", "section_id", "wall", "host", "date"};
	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		if (!strcasecmp(name, ours[i]))
			return true;
	for (uint32_t i = 0; i < f->ncolumns; i++)
		if (!strcasecmp(name, f->columns[i].name))
			return true;
	return false;
}

/* The field's name with \x and digits for what is no UTF-8, and a number where engines would take it for that of another. */
static bool add_field(struct ctp_parquet_file *f, const struct ctp_field *field)
{
	char name[CTP_ESCAPE_GROWTH * CTP_NAME_MAX + 16], *p = ctp_escape(name, field->name, strlen(field->name), false);
	*p = '\0';
	for (unsigned nth = 2; is_taken(f, name); nth++)
		sprintf(p, "_%u", nth);
	return ctp_parquet_column_init(&f->columns[f->ncolumns++], name, field);
}

static bool add_columns(struct ctp_parquet_file *f)
{
	f->columns = calloc(f->cls->nfields + 3, sizeof *f->columns);
	if (!f->columns || !ctp_parquet_column_init(&f->columns[f->ncolumns++], "section", NULL) ||
	    !ctp_parquet_column_init(&f->columns[f->ncolumns++], "section_id", NULL))
		return false;
	f->columns[SECTION].runs = f->columns[SECTION_ID].runs = true;
	f->columns[SECTION].physical = CTP_PARQUET_INT32;
	f->columns[SECTION].bits = 32;
	if (f->cls->time_field >= 0) {
		struct ctp_parquet_column *wall = &f->columns[f->wall = f->ncolumns];
		if (!ctp_parquet_column_init(&f->columns[f->ncolumns++], "wall", NULL))
			return false;
		wall->optional = wall->is_signed = wall->differs = true;
		wall->meaning = CTP_PARQUET_MICROS;
	}
	for (uint32_t i = 0; i < f->cls->nfields; i++)
		if (!add_field(f, &f->cls->fields[i]))
			return false;
	return true;
}

/* --- begin and end -------------------------------------------------------------------------------------------------------- */

/* What does not fit is passed on: a buffer that fills would get a thread, and that a ring, for each of the files. */
static void put(struct ctp_parquet_file *f, const void *data, size_t len)
{
	if (len < (size_t)(f->out->end - f->out->ptr))
		ctp_output_put(f->out, data, len);
	else
		ctp_output_pass(f->out, data, len);
	f->offset += len;
}

static enum ctp_status no_memory(const struct ctp_parquet_file *f, struct ctp_err *err)
{
	return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", f->path ? f->path : "parquet");
}

struct ctp_parquet_file *ctp_parquet_file_new(int folder, const char *path, const struct ctp_class *cls, uint32_t rows_max,
                                              struct ctp_output *out, struct ctp_err *err)
{
	struct ctp_parquet_file *f = calloc(1, sizeof *f);
	if (!f)
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", path), NULL;
	f->rows_max = rows_max;
	f->folder = folder;
	f->path = strdup(path);
	f->cls = ctp_class_parse(cls->decl, cls->decl_bytes, err);
	char *declaration = f->cls ? ctp_meta_class(f->cls, NULL) : NULL;
	if (!f->cls)
		goto failed;
	if (!f->path || !declaration || !add_columns(f)) {
		no_memory(f, err);
		goto failed;
	}
	ctp_parquet_file_note(f, "ctp.class", declaration);
	f->out = out ? out : &f->own;
	if (!out && ctp_output_create_in(f->out, folder, f->path, true, err))
		goto failed;
	f->open = true;
	put(f, MAGIC, 4);
	free(declaration);
	return f;
failed:
	free(declaration);
	ctp_parquet_file_free(f);
	return NULL;
}

void ctp_parquet_file_free(struct ctp_parquet_file *f)
{
	if (!f)
		return;
	if (f->open)
		ctp_output_abandon(f->out);
	for (uint32_t i = 0; i < f->ncolumns; i++)
		ctp_parquet_column_fini(&f->columns[i]);
	free(f->columns);
	ctp_class_free(f->cls);
	ctp_bytes_fini(&f->groups);
	ctp_bytes_fini(&f->notes);
	free(f->path);
	free(f);
}

enum ctp_status ctp_parquet_file_rename(struct ctp_parquet_file *f, const char *path, struct ctp_err *err)
{
	char *before = f->path;
	f->path = strdup(path);
	if (!f->path) {
		f->path = before;
		return no_memory(f, err);
	}
	ctp_output_rename(f->out, f->path);
	free(before);
	return CTP_OK;
}

void ctp_parquet_file_note(struct ctp_parquet_file *f, const char *key, const char *value)
{
	int last = 0;
	if (f->nnotes && f->notes.len + strlen(value) > NOTES_BYTES_MAX) /* the class always has its place */
		return;
	ctp_thrift_binary(&f->notes, &last, 1, key, strlen(key));
	ctp_thrift_binary(&f->notes, &last, 2, value, strlen(value));
	ctp_thrift_stop(&f->notes);
	f->nnotes++;
}

/* --- rows ----------------------------------------------------------------------------------------------------------------- */

/* Microseconds since 1970, rounded down; the sum of any time and any offset fits. */
static void put_walls(struct ctp_parquet_file *f, struct ctp_parquet_work *w, const struct ctp_parquet_section *sec,
                      const struct ctp_record *rec, uint32_t n)
{
	uint64_t us[PIECE] = {0};
	for (uint32_t i = 0; sec->has_wall && i < n; i++) {
		__int128 ns = (__int128)rec[i].val[f->cls->time_field] + sec->wall_offset_ns;
		us[i] = (uint64_t)(int64_t)(ns >= 0 ? ns / 1000 : -((-ns + 999) / 1000));
	}
	ctp_parquet_column_numbers(&f->columns[f->wall], w, us, n, !sec->has_wall);
}

static void put_piece(struct ctp_parquet_file *f, struct ctp_parquet_work *w, const struct ctp_parquet_section *sec,
                      const struct ctp_record *rec, uint32_t n)
{
	ctp_parquet_column_run(&f->columns[SECTION], w, sec->number, n);
	ctp_parquet_column_run(&f->columns[SECTION_ID], w, sec->id, n);
	if (f->wall)
		put_walls(f, w, sec, rec, n);
	uint32_t first = f->ncolumns - f->cls->nfields;
	for (uint32_t i = 0; i < f->cls->nfields; i++)
		ctp_parquet_column_put(&f->columns[first + i], w, rec, n, i);
	f->group_rows += n;
}

static size_t memory_of(const struct ctp_parquet_file *f)
{
	size_t sum = 0;
	for (uint32_t i = 0; i < f->ncolumns; i++)
		sum += ctp_parquet_column_bytes(&f->columns[i]);
	return sum;
}

enum ctp_status ctp_parquet_file_put(struct ctp_parquet_file *f, struct ctp_parquet_work *w, const struct ctp_parquet_section *sec,
                                     const struct ctp_record *rec, uint32_t n, struct ctp_err *err)
{
	while (n) {
		uint32_t piece = n < PIECE ? n : PIECE, left = f->rows_max - f->group_rows;
		piece = piece < left ? piece : left;
		put_piece(f, w, sec, rec, piece);
		if (w->failed)
			return no_memory(f, err);
		if (f->group_rows == f->rows_max && ctp_parquet_file_group(f, w, true, err))
			return CTP_FAILED;
		rec += piece;
		n -= piece;
	}
	f->bytes = memory_of(f);
	return CTP_OK;
}

/* --- the footer ----------------------------------------------------------------------------------------------------------- */

static void put_statistics(struct ctp_bytes *b, int *last, const struct ctp_parquet_column *c)
{
	uint8_t min[CTP_PARQUET_STAT_MAX], max[CTP_PARQUET_STAT_MAX];
	int field = 0, min_len = ctp_parquet_stat_get(c, false, min), max_len = ctp_parquet_stat_get(c, true, max);
	ctp_thrift_field(b, last, 12, CTP_THRIFT_STRUCT);
	ctp_thrift_int(b, &field, 3, CTP_THRIFT_I64, (int64_t)c->nulls);
	if (min_len >= 0 && max_len >= 0) {
		ctp_thrift_binary(b, &field, 5, max, (size_t)max_len);
		ctp_thrift_binary(b, &field, 6, min, (size_t)min_len);
	}
	ctp_thrift_stop(b);
}

static void put_encodings(struct ctp_bytes *b, int *last, uint32_t encodings)
{
	ctp_thrift_list(b, last, 2, CTP_THRIFT_I32, (size_t)__builtin_popcount(encodings));
	for (unsigned i = 0; i < 32; i++)
		if (encodings >> i & 1)
			ctp_thrift_varint(b, ctp_fold(i));
}

static void put_chunk(struct ctp_bytes *b, const struct ctp_parquet_column *c, uint64_t from, uint64_t data, uint64_t end)
{
	int chunk = 0, meta = 0;
	ctp_thrift_int(b, &chunk, 2, CTP_THRIFT_I64, (int64_t)from);
	ctp_thrift_field(b, &chunk, 3, CTP_THRIFT_STRUCT);
	ctp_thrift_int(b, &meta, 1, CTP_THRIFT_I32, c->physical);
	put_encodings(b, &meta, c->encodings | 1U << CTP_PARQUET_RLE);
	ctp_thrift_list(b, &meta, 3, CTP_THRIFT_BINARY, 1);
	ctp_thrift_bytes(b, c->name, strlen(c->name));
	ctp_thrift_int(b, &meta, 4, CTP_THRIFT_I32, ZSTD_CODEC);
	ctp_thrift_int(b, &meta, 5, CTP_THRIFT_I64, (int64_t)c->rows);
	ctp_thrift_int(b, &meta, 6, CTP_THRIFT_I64, (int64_t)c->raw_bytes);
	ctp_thrift_int(b, &meta, 7, CTP_THRIFT_I64, (int64_t)(end - from));
	ctp_thrift_int(b, &meta, 9, CTP_THRIFT_I64, (int64_t)data);
	if (data > from)
		ctp_thrift_int(b, &meta, 11, CTP_THRIFT_I64, (int64_t)from);
	put_statistics(b, &meta, c);
	ctp_thrift_stop(b);
	ctp_thrift_stop(b);
}

enum ctp_status ctp_parquet_file_group(struct ctp_parquet_file *f, struct ctp_parquet_work *w, bool keep_memory, struct ctp_err *err)
{
	struct ctp_bytes *b = &f->groups;
	struct ctp_bytes dict = {0};
	int group = 0;
	uint64_t start = f->offset, raw_bytes = 0;
	if (!f->group_rows)
		return CTP_OK;
	ctp_thrift_list(b, &group, 1, CTP_THRIFT_STRUCT, f->ncolumns);
	for (uint32_t i = 0; i < f->ncolumns; i++) {
		struct ctp_parquet_column *c = &f->columns[i];
		uint64_t from = f->offset;
		dict.len = 0;
		ctp_parquet_column_end_page(c, w);
		ctp_parquet_column_dictionary(c, w, &dict);
		put(f, dict.data, dict.len);
		uint64_t data = f->offset;
		put(f, c->pages.data, c->pages.len);
		put_chunk(b, c, from, data, f->offset);
		raw_bytes += c->raw_bytes;
		ctp_parquet_column_clear(c, keep_memory);
	}
	ctp_thrift_int(b, &group, 2, CTP_THRIFT_I64, (int64_t)raw_bytes);
	ctp_thrift_int(b, &group, 3, CTP_THRIFT_I64, f->group_rows);
	ctp_thrift_int(b, &group, 5, CTP_THRIFT_I64, (int64_t)start);
	ctp_thrift_int(b, &group, 6, CTP_THRIFT_I64, (int64_t)(f->offset - start));
	ctp_thrift_stop(b);
	ctp_bytes_fini(&dict);
	f->rows += f->group_rows;
	f->group_rows = 0;
	f->ngroups++;
	f->bytes = memory_of(f);
	if (w->failed || b->failed)
		return no_memory(f, err);
	return ctp_output_status(f->out, err);
}

static void put_integer(struct ctp_bytes *b, const struct ctp_parquet_column *c)
{
	int last = 0;
	ctp_thrift_field(b, &last, 1, CTP_THRIFT_I8);
	ctp_bytes_byte(b, c->bits);
	ctp_thrift_field(b, &last, 2, c->is_signed ? CTP_THRIFT_TRUE : CTP_THRIFT_FALSE);
	ctp_thrift_stop(b);
}

static void put_micros(struct ctp_bytes *b)
{
	int last = 0, unit = 0;
	ctp_thrift_field(b, &last, 1, CTP_THRIFT_TRUE); /* of UTC */
	ctp_thrift_field(b, &last, 2, CTP_THRIFT_STRUCT);
	ctp_thrift_field(b, &unit, 2, CTP_THRIFT_STRUCT); /* microseconds */
	ctp_thrift_stop(b);
	ctp_thrift_stop(b);
	ctp_thrift_stop(b);
}

/* The old way to say what a column holds, and the new one. */
static void put_meaning(struct ctp_bytes *b, int *last, const struct ctp_parquet_column *c)
{
	static const uint8_t log2_bytes[] = {[8] = 0, [16] = 1, [32] = 2, [64] = 3};
	int of = 0;
	int converted = c->meaning == CTP_PARQUET_STRING ? 0 : c->meaning == CTP_PARQUET_MICROS ? 10 :
	                (c->is_signed ? 15 : 11) + log2_bytes[c->bits];
	if (c->meaning == CTP_PARQUET_NOTHING)
		return;
	ctp_thrift_int(b, last, 6, CTP_THRIFT_I32, converted);
	ctp_thrift_field(b, last, 10, CTP_THRIFT_STRUCT);
	ctp_thrift_field(b, &of, c->meaning == CTP_PARQUET_STRING ? 1 : c->meaning == CTP_PARQUET_MICROS ? 8 : 10, CTP_THRIFT_STRUCT);
	if (c->meaning == CTP_PARQUET_STRING)
		ctp_thrift_stop(b);
	else if (c->meaning == CTP_PARQUET_MICROS)
		put_micros(b);
	else
		put_integer(b, c);
	ctp_thrift_stop(b);
}

static void put_schema(struct ctp_bytes *b, int *footer, const struct ctp_parquet_file *f)
{
	int root = 0;
	ctp_thrift_list(b, footer, 2, CTP_THRIFT_STRUCT, f->ncolumns + 1);
	ctp_thrift_binary(b, &root, 4, "schema", 6);
	ctp_thrift_int(b, &root, 5, CTP_THRIFT_I32, f->ncolumns);
	ctp_thrift_stop(b);
	for (uint32_t i = 0; i < f->ncolumns; i++) {
		const struct ctp_parquet_column *c = &f->columns[i];
		int last = 0;
		ctp_thrift_int(b, &last, 1, CTP_THRIFT_I32, c->physical);
		ctp_thrift_int(b, &last, 3, CTP_THRIFT_I32, c->optional);
		ctp_thrift_binary(b, &last, 4, c->name, strlen(c->name));
		put_meaning(b, &last, c);
		ctp_thrift_stop(b);
	}
}

static void put_footer(struct ctp_bytes *b, const struct ctp_parquet_file *f)
{
	static const char by[] = "ctptools version " CTP_VERSION " (build 0)";
	int last = 0;
	ctp_thrift_int(b, &last, 1, CTP_THRIFT_I32, 1);
	put_schema(b, &last, f);
	ctp_thrift_int(b, &last, 3, CTP_THRIFT_I64, (int64_t)f->rows);
	ctp_thrift_list(b, &last, 4, CTP_THRIFT_STRUCT, f->ngroups);
	ctp_bytes_put(b, f->groups.data, f->groups.len);
	ctp_thrift_list(b, &last, 5, CTP_THRIFT_STRUCT, f->nnotes);
	ctp_bytes_put(b, f->notes.data, f->notes.len);
	ctp_thrift_binary(b, &last, 6, by, sizeof by - 1);
	ctp_thrift_list(b, &last, 7, CTP_THRIFT_STRUCT, f->ncolumns); /* statistics have the order of the type */
	for (uint32_t i = 0; i < f->ncolumns; i++) {
		int order = 0;
		ctp_thrift_field(b, &order, 1, CTP_THRIFT_STRUCT);
		ctp_thrift_stop(b);
		ctp_thrift_stop(b);
	}
	ctp_thrift_stop(b);
}

enum ctp_status ctp_parquet_file_close(struct ctp_parquet_file *f, struct ctp_parquet_work *w, struct ctp_err *err)
{
	struct ctp_bytes footer = {0};
	uint8_t len[4];
	if (ctp_parquet_file_group(f, w, false, err))
		return CTP_FAILED;
	put_footer(&footer, f);
	bool failed = footer.failed || f->notes.failed || f->groups.failed || footer.len > INT32_MAX;
	put(f, footer.data, footer.len);
	ctp_parquet_le(len, footer.len, 4);
	put(f, len, 4);
	put(f, MAGIC, 4);
	ctp_bytes_fini(&footer);
	if (failed)
		return no_memory(f, err);
	f->open = false;
	return ctp_output_close(f->out, err);
}
