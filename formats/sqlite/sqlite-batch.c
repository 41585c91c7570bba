/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sqlite-batch.c - records in memory as a virtual table, c0 to c127, whose rows are those of the batch at hand.
 *
 * A batch has a limit in rows and one in bytes of text. A record's texts are good until the next record, so they are copied; if
 * they are beyond the limit, the batch has room for them until it is written.
 */
#include "sqlite/sqlite-db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/sql-rows.h"

enum { VALUES_BYTES = 64 << 10, TEXTS_BYTES = 64 << 10, ALIGN = _Alignof(struct ctp_str) };

struct ctp_sqlite_batch {
	const struct ctp_class *cls;
	sqlite3_stmt *insert;
	int64_t section;
	uint32_t rows, rows_max;
	uint64_t *val; /* rows of cls->nfields */
	char *texts;
	size_t texts_used, texts_room;
	enum ctp_sql_form form[CTP_FIELDS_MAX];
};

/* --- the virtual table --------------------------------------------------------------------------------------------------- */

struct vtab {
	sqlite3_vtab base;
	const struct ctp_sqlite *sqlite;
};

struct cursor {
	sqlite3_vtab_cursor base;
	const struct ctp_sqlite_batch *batch;
	const uint64_t *row;
	uint32_t number; /* of the row: a class without fields has rows of no bytes */
};

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **vtab, char **why)
{
	char sql[16 + 6 * CTP_FIELDS_MAX], *p = sql;
	(void)argc, (void)argv, (void)why;
	for (int i = 0; i < CTP_FIELDS_MAX; i++)
		p += sprintf(p, i ? ",c%d" : "CREATE TABLE x(c%d", i);
	strcpy(p, ")");
	struct vtab *v = sqlite3_malloc(sizeof *v);
	if (!v)
		return SQLITE_NOMEM;
	*v = (struct vtab){.sqlite = aux};
	*vtab = &v->base;
	return sqlite3_declare_vtab(db, sql);
}

static int disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	(void)vtab, (void)info;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	(void)vtab;
	struct cursor *c = sqlite3_malloc(sizeof *c);
	if (!c)
		return SQLITE_NOMEM;
	*c = (struct cursor){0};
	*cursor = &c->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)cursor;
	(void)plan, (void)text, (void)argc, (void)argv;
	c->batch = ((struct vtab *)cursor->pVtab)->sqlite->at_hand;
	c->row = c->batch->val;
	c->number = 0;
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;
	c->row += c->batch->cls->nfields;
	c->number++;
	return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
	struct cursor *c = (struct cursor *)cursor;
	return c->number >= c->batch->rows;
}

static int column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int i)
{
	struct cursor *c = (struct cursor *)cursor;
	ctp_sqlite_result(to, &c->batch->cls->fields[i], c->batch->form[i], c->row[i]);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
	*id = ((struct cursor *)cursor)->number;
	return SQLITE_OK;
}

/* No xCreate: the table exists by its name alone, and the file has nothing of it. */
static const sqlite3_module vtab_module = {
	.xConnect = connect,
	.xDisconnect = disconnect,
	.xBestIndex = best_index,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = at_end,
	.xColumn = column,
	.xRowid = rowid,
};

enum ctp_status ctp_sqlite_module(struct ctp_sqlite *s, struct ctp_err *err)
{
	return sqlite3_create_module(s->db, "ctp_batch", &vtab_module, s) ? ctp_sqlite_error(s, err) : CTP_OK;
}

/* --- batches ------------------------------------------------------------------------------------------------------------- */

/* An INSERT into the class's table from c0, c1 ... of the batch; ?1 is the section. Null: err. */
static sqlite3_stmt *prepare_insert(struct ctp_sqlite *s, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err)
{
	struct ctp_sql_columns to = {.cls = cls};
	struct ctp_bytes from = {0};
	sqlite3_stmt *insert = NULL;
	for (uint32_t i = 0; i < cls->nfields; i++)
		ctp_sql_put(&s->sql, &from, ", c%d", (int64_t)i);
	if (!ctp_sql_columns_find(&s->sql, &to, class_id, err))
		insert = ctp_sqlite_prepare(s, err, "INSERT INTO %I (%s) SELECT ?1%s FROM ctp_batch", to.table, to.names.data,
		                            ctp_bytes_str(&from));
	ctp_sql_columns_fini(&to);
	ctp_bytes_fini(&from);
	return insert;
}

struct ctp_sqlite_batch *ctp_sqlite_batch_new(struct ctp_sqlite *s, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err)
{
	struct ctp_sqlite_batch *b = calloc(1, sizeof *b);
	if (!b || !(b->val = malloc(VALUES_BYTES))) {
		free(b);
		ctp_sql_no_memory(&s->sql, err);
		return NULL;
	}
	b->cls = cls;
	b->rows_max = VALUES_BYTES / sizeof *b->val / (cls->nfields ? cls->nfields : 1);
	for (uint32_t i = 0; i < cls->nfields; i++)
		b->form[i] = ctp_sql_form(&cls->fields[i]);
	if ((b->insert = prepare_insert(s, cls, class_id, err)))
		return b;
	ctp_sqlite_batch_free(b);
	return NULL;
}

void ctp_sqlite_batch_free(struct ctp_sqlite_batch *b)
{
	if (!b)
		return;
	sqlite3_finalize(b->insert);
	free(b->texts);
	free(b->val);
	free(b);
}

static size_t str_bytes(const struct ctp_str *str) { return (sizeof *str + str->len + 1 + ALIGN - 1) / ALIGN * ALIGN; }

static size_t text_bytes(const struct ctp_class *cls, const uint64_t *val)
{
	size_t bytes = 0;
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (ctp_type_is_text(cls->fields[i].type) && val[i])
			bytes += str_bytes(ctp_str_val(val[i]));
	return bytes;
}

static void copy_texts(struct ctp_sqlite_batch *b, uint64_t *row)
{
	for (uint32_t i = 0; i < b->cls->nfields; i++)
		if (ctp_type_is_text(b->cls->fields[i].type) && row[i]) {
			const struct ctp_str *str = ctp_str_val(row[i]);
			struct ctp_str *copy = (struct ctp_str *)(b->texts + b->texts_used);
			memcpy(copy, str, sizeof *str + str->len + 1);
			row[i] = ctp_val_str(copy);
			b->texts_used += str_bytes(str);
			assert(b->texts_used <= b->texts_room); /* make_room was given text_bytes */
		}
}

/* Makes room for that many bytes of text, in an empty batch. */
static bool make_room(struct ctp_sqlite_batch *b, size_t bytes)
{
	size_t room = bytes > TEXTS_BYTES ? bytes : TEXTS_BYTES;
	if (b->texts_room == room)
		return true;
	free(b->texts);
	b->texts = malloc(room);
	b->texts_room = b->texts ? room : 0;
	return b->texts;
}

enum ctp_status ctp_sqlite_batch_add(struct ctp_sqlite_batch *b, struct ctp_sqlite *s, int64_t section, const uint64_t *val,
                                     struct ctp_err *err)
{
	const struct ctp_class *cls = b->cls;
	size_t bytes = cls->has_text ? text_bytes(cls, val) : 0;
	if ((b->rows == b->rows_max || bytes > b->texts_room - b->texts_used) && ctp_sqlite_batch_flush(b, s, err))
		return CTP_FAILED;
	if (bytes && !b->rows && !make_room(b, bytes))
		return ctp_sql_no_memory(&s->sql, err);
	uint64_t *row = b->val + (size_t)b->rows++ * cls->nfields;
	b->section = section;
	memcpy(row, val, cls->nfields * sizeof *row);
	if (bytes)
		copy_texts(b, row);
	return CTP_OK;
}

enum ctp_status ctp_sqlite_batch_flush(struct ctp_sqlite_batch *b, struct ctp_sqlite *s, struct ctp_err *err)
{
	s->at_hand = b;
	sqlite3_bind_int64(b->insert, 1, b->section);
	enum ctp_status status = b->rows ? ctp_sqlite_step(s, b->insert, err) : CTP_OK;
	b->rows = 0;
	b->texts_used = 0;
	return status;
}
