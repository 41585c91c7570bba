/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sqlite-events.c - see sqlite-events.h. A row is a record of SQLite's format: the types of its columns, then their values. */
#include "sqlite/sqlite-events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "sqlite/sqlite-sort.h"
#include "sqlite/sqlite-tree.h"

enum { NOTHING = -1, SECTION = -2 }; /* in place of a field */
enum { BY_PROBE, BY_TID, BY_TS, BY_CORO, INDEXES }; /* in the order of index_names */
enum { LEAD_MAX = 2 * 9, DIGITS = 19, COPY_PAGES = 64, COUNT_AT = 28 };

static const char *const index_names[] = {"idx_coro_trace_events_probe_seq", "idx_coro_trace_events_tid_ts",
                                          "idx_coro_trace_events_ts", "idx_coro_trace_events_coro"};
static const unsigned index_words[] = {4, 3, 2, 4};

struct ctp_sqlite_columns {
	const struct ctp_class *cls;
	int probe, tid, seq, ts;  /* fields */
	int coro, number;         /* fields or NOTHING; number: that of the column index */
	int count;
	struct {
		int16_t field;
		uint8_t form;
	} column[];
};

struct ctp_sqlite_events {
	const char *name;
	uint64_t rows;
	struct ctp_sqlite_page leaf;
	struct ctp_output leaves; /* a file without a name */
	int leaves_fd;
	struct ctp_sqlite_sort *sort[INDEXES];
	uint32_t table_root, root[INDEXES];
};

/* --- columns ------------------------------------------------------------------------------------------------------------- */

static void set_column(struct ctp_sqlite_columns *c, sqlite3_stmt *stmt)
{
	int i = c->count++;
	const char *name = (const char *)sqlite3_column_text(stmt, 1);
	c->column[i].field = NOTHING;
	if (sqlite3_column_type(stmt, 0) != SQLITE_NULL) {
		c->column[i].field = (int16_t)sqlite3_column_int(stmt, 0);
		c->column[i].form = (uint8_t)ctp_sql_form(&c->cls->fields[c->column[i].field]);
	} else if (!sqlite3_stricmp(name, "section")) {
		c->column[i].field = SECTION;
	}
	if (!sqlite3_stricmp(name, "coro"))
		c->coro = c->column[i].field;
	else if (!sqlite3_stricmp(name, "index"))
		c->number = c->column[i].field;
}

struct ctp_sqlite_columns *ctp_sqlite_columns(const struct ctp_sqlite *s, const struct ctp_class *cls, int64_t class_id,
                                              struct ctp_err *err)
{
	sqlite3_stmt *stmt = ctp_sqlite_prepare(s, err,
		"SELECT f.position, t.name FROM pragma_table_info('coro_trace_events') t"
		" LEFT JOIN fields f ON f.class = %d AND f.column_name = t.name COLLATE NOCASE ORDER BY t.cid", class_id);
	if (!stmt)
		return NULL;
	struct ctp_sqlite_columns *c = calloc(1, sizeof *c + CTP_SQLITE_COLUMNS_MAX * sizeof *c->column);
	if (!c) {
		ctp_sql_no_memory(&s->sql, err);
	} else {
		c->cls = cls;
		c->probe = ctp_class_field(cls, "probe_id");
		c->tid = ctp_class_field(cls, "tid");
		c->seq = ctp_class_field(cls, "seq");
		c->ts = ctp_class_field(cls, "ts");
		c->coro = c->number = NOTHING;
		while (c->count < CTP_SQLITE_COLUMNS_MAX && sqlite3_step(stmt) == SQLITE_ROW)
			set_column(c, stmt);
	}
	if (sqlite3_finalize(stmt) && c) {
		ctp_sqlite_error(s, err);
		free(c);
		c = NULL;
	}
	return c;
}

/* --- values -------------------------------------------------------------------------------------------------------------- */

static inline uint8_t *put_big(uint8_t *p, uint64_t v, int bytes)
{
	for (int i = bytes; i-- > 0; v >>= 8)
		p[i] = (uint8_t)v;
	return p + bytes;
}

static inline uint8_t *put_int(uint8_t *type, uint8_t *p, int64_t v)
{
	static const uint8_t types[9] = {0, 1, 2, 3, 4, 5, 5, 6, 6}, bytes[9] = {0, 1, 2, 3, 4, 6, 6, 8, 8};
	if (v == 0 || v == 1) {
		*type = (uint8_t)(8 + v);
		return p;
	}
	unsigned bits = 65 - (unsigned)__builtin_clzll((uint64_t)(v < 0 ? ~v : v) | 1); /* including the sign */
	unsigned n = (bits + 7) / 8;
	*type = types[n];
	return put_big(p, (uint64_t)v, bytes[n]);
}

static inline uint8_t *put_text(uint8_t *type, uint8_t *p, const uint8_t *end)
{
	*type = (uint8_t)(13 + 2 * (end - p));
	return p + (end - p);
}

static uint8_t *put_real(uint8_t *type, uint8_t *p, double d)
{
	if (isnan(d))
		return put_text(type, p, (uint8_t *)memcpy(p, "NaN", 3) + 3);
	*type = 7;
	return put_big(p, ctp_double_val(CTP_F64, d), 8);
}

static inline uint8_t *put_value(uint8_t *type, uint8_t *p, const struct ctp_field *f, unsigned form, uint64_t v)
{
	switch (form) {
	case CTP_SQL_HEX:
		return put_text(type, p, (uint8_t *)ctp_text_hex16((char *)p, v));
	case CTP_SQL_DECIMAL:
		return put_text(type, p, (uint8_t *)(ctp_type_is_signed(f->type) ? ctp_text_i64((char *)p, (int64_t)v) :
		                                                                   ctp_text_u64((char *)p, v)));
	case CTP_SQL_REAL:
		return put_real(type, p, ctp_val_double(f->type, v));
	default:
		return put_int(type, p, (int64_t)v);
	}
}

/* Each type takes one byte: the texts are short. */
static bool put_row(struct ctp_sqlite_events *e, const struct ctp_sqlite_columns *c, int64_t section, const uint64_t *val)
{
	uint8_t row[CTP_SQLITE_CELL_MAX + CTP_TEXT_MAX], lead[LEAD_MAX], *payload = row + LEAD_MAX;
	uint8_t *type = ctp_sqlite_varint(payload, (uint64_t)c->count + (c->count < 127 ? 1 : 2)), *p = type + c->count;
	for (int i = 0; i < c->count; i++, type++) {
		int field = c->column[i].field;
		if (field >= 0)
			p = put_value(type, p, &c->cls->fields[field], c->column[i].form, val[field]);
		else if (field == SECTION)
			p = put_int(type, p, section);
		else
			*type = 0;
	}
	size_t n = (size_t)(ctp_sqlite_varint(ctp_sqlite_varint(lead, (uint64_t)(p - payload)), ++e->rows) - lead);
	memcpy(payload - n, lead, n);
	if (ctp_sqlite_page_add(&e->leaf, payload - n, (size_t)(p - payload) + n))
		return true;
	ctp_output_put(&e->leaves, e->leaf.bytes, CTP_SQLITE_PAGE);
	ctp_sqlite_page_init(&e->leaf, CTP_SQLITE_TABLE_LEAF);
	ctp_sqlite_page_add(&e->leaf, payload - n, (size_t)(p - payload) + n);
	return !e->leaves.failed;
}

/* --- keys ---------------------------------------------------------------------------------------------------------------- */

static const uint64_t SIGN = (uint64_t)1 << 63; /* flipped, so that words compared as unsigned are in the order of signed numbers */

static const uint64_t powers[DIGITS + 1] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
	10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
	10000000000000000000u,
};

/*
 * A number as two words whose order is that of its decimal text: the first 19 digits, padded with zeros; then the number of digits
 * and the twentieth digit.
 */
static void put_decimal_key(uint64_t *key, uint64_t v)
{
	unsigned digits = 1;
	while (digits <= DIGITS && v >= powers[digits])
		digits++;
	key[0] = digits > DIGITS ? v / 10 : v * powers[DIGITS - digits];
	key[1] = digits << 4 | (digits > DIGITS ? v % 10 : 0);
}

/* NULL comes before all numbers: key[1] has a bit for a coro before the section, and a bit for a number after it. */
static void put_coro_key(uint64_t *key, const struct ctp_sqlite_columns *c, int64_t section, const uint64_t *val)
{
	key[0] = c->coro == NOTHING ? 0 : val[c->coro] ^ SIGN;
	key[1] = (c->coro == NOTHING ? 0 : SIGN) | (uint64_t)section << 1 | (c->number != NOTHING);
	key[2] = c->number == NOTHING ? 0 : val[c->number] ^ SIGN;
}

static uint8_t *put_coro_values(uint8_t *type, uint8_t *p, const uint64_t *key)
{
	type[0] = type[2] = 0;
	if (key[1] & SIGN)
		p = put_int(&type[0], p, (int64_t)(key[0] ^ SIGN));
	p = put_int(&type[1], p, (int64_t)(key[1] << 1 >> 2));
	return key[1] & 1 ? put_int(&type[2], p, (int64_t)(key[2] ^ SIGN)) : p;
}

static bool add_keys(struct ctp_sqlite_events *e, const struct ctp_sqlite_columns *c, int64_t section, const uint64_t *val)
{
	uint64_t tid = val[c->tid] ^ SIGN, ts = val[c->ts] ^ SIGN, probe[4] = {[2] = val[c->seq] ^ SIGN, [3] = e->rows};
	uint64_t coro[4] = {[3] = e->rows};
	put_decimal_key(probe, val[c->probe]);
	put_coro_key(coro, c, section, val);
	return ctp_sqlite_sort_add(e->sort[BY_PROBE], probe) &&
	       ctp_sqlite_sort_add(e->sort[BY_TID], (uint64_t[]){tid, ts, e->rows}) &&
	       ctp_sqlite_sort_add(e->sort[BY_TS], (uint64_t[]){ts, e->rows}) &&
	       ctp_sqlite_sort_add(e->sort[BY_CORO], coro);
}

/* Writes the cell of an entry; returns its length. */
static size_t put_entry(uint8_t *cell, int which, const uint64_t *key)
{
	unsigned words = index_words[which], columns = which == BY_PROBE ? 3 : words;
	uint8_t *type = cell + 2, *p = type + columns;
	if (which == BY_PROBE) {
		unsigned digits = (unsigned)(key[1] >> 4);
		uint64_t probe = digits > DIGITS ? key[0] * 10 + (key[1] & 15) : key[0] / powers[DIGITS - digits];
		p = put_text(type++, p, (uint8_t *)ctp_text_u64((char *)p, probe));
		key += 2;
		words -= 2;
	} else if (which == BY_CORO) {
		p = put_coro_values(type, p, key);
		type += 3;
		key += 3;
		words -= 3;
	}
	for (unsigned i = 0; i < words; i++)
		p = put_int(type++, p, (int64_t)(i + 1 < words ? key[i] ^ SIGN : key[i]));
	cell[0] = (uint8_t)(p - cell - 1);
	cell[1] = (uint8_t)(columns + 1);
	return (size_t)(p - cell);
}

/* --- adding -------------------------------------------------------------------------------------------------------------- */

struct ctp_sqlite_events *ctp_sqlite_events_new(const char *beside, struct ctp_err *err)
{
	struct ctp_sqlite_events *e = calloc(1, sizeof *e);
	if (!e)
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", beside), NULL;
	e->name = beside;
	ctp_sqlite_page_init(&e->leaf, CTP_SQLITE_TABLE_LEAF);
	e->leaves_fd = ctp_sqlite_scratch(beside);
	bool ok = e->leaves_fd >= 0;
	for (int i = 0; i < INDEXES && ok; i++) {
		e->sort[i] = ctp_sqlite_sort_new(index_words[i], beside);
		ok = e->sort[i];
	}
	if (!ok)
		ctp_err_sys(err, "%s: a temporary file beside it", beside);
	if (!ok || ctp_output_fd(&e->leaves, e->leaves_fd, beside, err)) {
		ctp_sqlite_events_free(e);
		return NULL;
	}
	return e;
}

void ctp_sqlite_events_free(struct ctp_sqlite_events *e)
{
	if (!e)
		return;
	for (int i = 0; i < INDEXES; i++)
		ctp_sqlite_sort_free(e->sort[i]);
	ctp_output_abandon(&e->leaves);
	if (e->leaves_fd >= 0)
		close(e->leaves_fd);
	free(e);
}

enum ctp_status ctp_sqlite_events_add(struct ctp_sqlite_events *e, const struct ctp_sqlite_columns *columns, int64_t section,
                                      const uint64_t *val, struct ctp_err *err)
{
	if (!put_row(e, columns, section, val)) {
		*err = e->leaves.err;
		return CTP_FAILED;
	}
	return add_keys(e, columns, section, val) ? CTP_OK : ctp_err_sys(err, "%s: a temporary file beside it", e->name);
}

/* --- finishing ----------------------------------------------------------------------------------------------------------- */

static enum ctp_status find_root(const struct ctp_sqlite *s, const char *name, uint32_t *root, struct ctp_err *err)
{
	sqlite3_stmt *stmt = ctp_sqlite_prepare(s, err, "SELECT rootpage FROM sqlite_schema WHERE name = %L", name);
	if (!stmt)
		return CTP_FAILED;
	*root = sqlite3_step(stmt) == SQLITE_ROW ? (uint32_t)sqlite3_column_int64(stmt, 0) : 0;
	return sqlite3_finalize(stmt) ? ctp_sqlite_error(s, err) : CTP_OK;
}

enum ctp_status ctp_sqlite_events_announce(struct ctp_sqlite_events *e, struct ctp_sqlite *s, struct ctp_err *err)
{
	enum ctp_status status = find_root(s, "coro_trace_events", &e->table_root, err);
	for (int i = 0; i < INDEXES && !status; i++)
		status = find_root(s, index_names[i], &e->root[i], err);
	if (!status && e->rows)
		status = ctp_sql_exec(&s->sql, err, "INSERT INTO sqlite_sequence (name, seq) VALUES ('coro_trace_events', %d)",
		                      (int64_t)e->rows);
	return status;
}

/* Copies the leaves into the database. Ids are dense, so the count of rows so far is the last row's id. */
static bool build_table(struct ctp_sqlite_events *e, struct ctp_sqlite_pages *pages)
{
	static uint8_t buffer[COPY_PAGES * CTP_SQLITE_PAGE];
	struct ctp_sqlite_tree *t = ctp_sqlite_tree_new(pages, e->table_root, false);
	uint64_t id = 0;
	ssize_t n = 0;
	ctp_output_put(&e->leaves, e->leaf.bytes, CTP_SQLITE_PAGE);
	bool ok = t && ctp_output_flush(&e->leaves) && !lseek(e->leaves_fd, 0, SEEK_SET);
	while (ok && (n = read(e->leaves_fd, buffer, sizeof buffer)) > 0 && n % CTP_SQLITE_PAGE == 0)
		for (const uint8_t *page = buffer; page < buffer + n; page += CTP_SQLITE_PAGE) {
			id += (uint64_t)page[3] << 8 | page[4];
			ctp_sqlite_tree_leaf(t, page, id);
		}
	return t && ctp_sqlite_tree_finish(t) && ok && n == 0 && !ftruncate(e->leaves_fd, 0);
}

static bool build_index(struct ctp_sqlite_events *e, int which, struct ctp_sqlite_pages *pages, const struct ctp_tick *tick)
{
	enum { TICK_ENTRIES = 4096 };
	uint64_t n = 0;
	struct ctp_sqlite_tree *t = ctp_sqlite_tree_new(pages, e->root[which], true);
	uint64_t key[CTP_SQLITE_WORDS_MAX];
	uint8_t cell[CTP_SQLITE_KEY_MAX + CTP_TEXT_MAX];
	int more = t && ctp_sqlite_sort_begin(e->sort[which]) ? 1 : -1;
	while (more > 0 && (more = ctp_sqlite_sort_next(e->sort[which], key)) > 0) {
		ctp_sqlite_tree_entry(t, cell, put_entry(cell, which, key));
		if (++n % TICK_ENTRIES == 0 && tick->tick)
			tick->tick(tick->arg, NULL, e->rows * (uint64_t)which + n);
	}
	ctp_sqlite_sort_free(e->sort[which]);
	e->sort[which] = NULL;
	return t && more == 0 && ctp_sqlite_tree_finish(t);
}

enum ctp_status ctp_sqlite_events_finish(struct ctp_sqlite_events *e, struct ctp_output *out, const struct ctp_tick *tick,
                                         struct ctp_err *err)
{
	if (!e->rows)
		return CTP_OK;
	off_t size = lseek(out->fd, 0, SEEK_END);
	struct ctp_sqlite_pages pages = {.out = out, .count = (uint32_t)(size / CTP_SQLITE_PAGE)};
	bool ok = size > 0 && build_table(e, &pages);
	for (int i = 0; i < INDEXES && ok; i++)
		ok = build_index(e, i, &pages, tick);
	int why = errno;
	if (!ctp_output_flush(out) || e->leaves.failed) {
		*err = out->failed ? out->err : e->leaves.err;
		return CTP_FAILED;
	}
	errno = why;
	uint8_t count[4]; /* of pages, in the database's header */
	put_big(count, pages.count, sizeof count);
	return ok && pwrite(out->fd, count, sizeof count, COUNT_AT) == sizeof count ? CTP_OK : ctp_err_sys(err, "%s", e->name);
}
