/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mysql-rows.c - rows, as LOAD DATA reads them or as an INSERT has them.
 *
 * Rows of a table wait in its buffer, and go in one statement when that is full: LOAD DATA LOCAL INFILE, whose file is the buffer, or
 * an INSERT where the server takes no files. LOCAL makes warnings of values that do not fit, and alters them: a warning is a failure.
 */
#include <math.h>
#include <mysqld_error.h>

#include "base/text.h"
#include "mysql/mysql-db.h"
#include "sql/sql-rows.h"

enum { BUFFER_MIN = 16 << 10, BUFFER_MAX = 4 << 20, BUFFERS_MAX = 64 << 20, PACKET_SPARE = 4096 };

struct ctp_sql_rows {
	struct ctp_mysql *m;
	const struct ctp_class *cls;
	struct ctp_sql_table *table;
	char *load, *insert; /* how the statements begin */
	uint64_t nrows;      /* in the buffer */
	char *buf;
	size_t used, room;
};

/* --- which columns ------------------------------------------------------------------------------------------------------- */

int64_t ctp_mysql_is_table(struct ctp_mysql *m, const char *begin, const char *name, struct ctp_err *err)
{
	return ctp_sql_look_up(&m->sql, err, "SELECT count(*) FROM information_schema.tables WHERE table_schema = database()"
	                                     " AND table_type = 'BASE TABLE' AND table_name = concat(%L, %L)", begin, name);
}

/* The key of a table, which is there or waits, for free(). */
static char *find_key(struct ctp_mysql *m, const char *name, struct ctp_err *err)
{
	enum ctp_status status;
	char *key = ctp_sql_find(&m->sql, &status, err, "SELECT column_name FROM information_schema.columns WHERE table_schema = database()"
	                         " AND table_name IN (%L, concat('" CTP_MYSQL_STAGING "', %L)) AND ordinal_position = 1 LIMIT 1", name, name);
	if (!key && !status)
		ctp_sql_no_table(&m->sql, name, err);
	return key;
}

/* A table that was there before has none for its rows yet. */
static enum ctp_status stage_table(struct ctp_mysql *m, const char *name, const char *key, struct ctp_err *err)
{
	int64_t staged = ctp_mysql_is_table(m, CTP_MYSQL_STAGING, name, err);
	if (staged)
		return staged < 0 ? CTP_FAILED : CTP_OK;
	return ctp_sql_exec(&m->sql, err, "CREATE TABLE %T (PRIMARY KEY (%I)) AS SELECT * FROM %I LIMIT 0", name, key, name);
}

/* The table by its name, with the id of its next row. Those of events are the server's to give when they are added to others. */
static struct ctp_sql_table *find_table(struct ctp_mysql *m, const char *name, struct ctp_err *err)
{
	struct ctp_sql_table *t = ctp_sql_table_find(&m->sql, name);
	if (t)
		return t;
	int64_t there = ctp_mysql_is_table(m, "", name, err), next_id = 1;
	char *key = there < 0 ? NULL : find_key(m, name, err);
	if (!key || stage_table(m, name, key, err))
		next_id = -1;
	else if (there && strcmp(name, m->sql.events))
		next_id = ctp_sql_next_row(&m->sql, key, name, err);
	return ctp_sql_table_add(&m->sql, name, key, next_id, err);
}

#define LOAD \
	"LOAD DATA LOCAL INFILE '" CTP_MYSQL_FILE "' INTO TABLE %T CHARACTER SET binary FIELDS TERMINATED BY x'09' ESCAPED BY x'5c'" \
	" LINES TERMINATED BY x'0a' (%I, %s)"

static enum ctp_status fill(struct ctp_mysql *m, struct ctp_sql_rows *r, int64_t class_id, struct ctp_err *err)
{
	struct ctp_sql_columns columns = {.cls = r->cls};
	enum ctp_status status = ctp_sql_columns_find(&m->sql, &columns, class_id, err);
	if (!status && !(r->table = find_table(m, columns.table, err)))
		status = CTP_FAILED;
	if (!status) {
		r->load = ctp_sql_text(&m->sql, LOAD, columns.table, r->table->key, columns.names.data);
		r->insert = ctp_sql_text(&m->sql, "INSERT INTO %T (%I, %s) VALUES ", columns.table, r->table->key, columns.names.data);
		if (!r->load || !r->insert)
			status = ctp_sql_no_memory(&m->sql, err);
	}
	ctp_sql_columns_fini(&columns);
	return status;
}

struct ctp_sql_rows *ctp_mysql_rows(struct ctp_sql *db, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err)
{
	struct ctp_sql_rows *r = calloc(1, sizeof *r);
	if (!r)
		return ctp_sql_no_memory(db, err), NULL;
	r->cls = cls;
	r->m = (struct ctp_mysql *)db;
	if (!fill(r->m, r, class_id, err))
		return r;
	ctp_mysql_drop(r);
	return NULL;
}

void ctp_mysql_drop(struct ctp_sql_rows *r)
{
	if (!r)
		return;
	r->m->buffered -= r->room;
	free(r->load);
	free(r->insert);
	free(r->buf);
	free(r);
}

/* --- sending ------------------------------------------------------------------------------------------------------------- */

enum ctp_status ctp_mysql_try_local(struct ctp_sql *db, struct ctp_err *err)
{
	enum { LOCAL_DISABLED = 4166, CLIENT_LOCAL_DISABLED = 3948 };
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	char *sql = ctp_sql_text(db, LOAD, "symbols", "section", "addr, text");
	if (!sql)
		return ctp_sql_no_memory(db, err);
	m->local = !ctp_mysql_load(m, sql, "", 0);
	free(sql);
	unsigned why = m->local ? 0 : mysql_errno(m->conn);
	bool refused = why == LOCAL_DISABLED || why == CLIENT_LOCAL_DISABLED || why == ER_NOT_ALLOWED_COMMAND;
	return m->local || refused ? CTP_OK : ctp_mysql_error(m, err);
}

static void keep_warning(void *arg, const char *const *columns)
{
	char *to = arg;
	if (!*to && columns[2])
		strncat(to, columns[2], 199);
}

static enum ctp_status refuse_altered(struct ctp_mysql *m, const struct ctp_sql_rows *r, uintmax_t taken, struct ctp_err *err)
{
	char warning[200] = "";
	ctp_mysql_query(&m->sql, "SHOW WARNINGS LIMIT 1", "tnt", keep_warning, warning, err);
	return ctp_err_set(err, "%s: table %.64s: the server altered or refused rows, and took %ju of %ju%s%s;"
	                        " %ju rows were sent, and none is kept", m->name, r->table->name, taken, (uintmax_t)r->nrows, *warning ? ": " : "", warning, (uintmax_t)m->delivered);
}

/* An INSERT is in the buffer as it is; its last comma is not sent. */
enum ctp_status ctp_mysql_end(struct ctp_sql *db, struct ctp_sql_rows *r, struct ctp_err *err)
{
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	if (!r->nrows)
		return CTP_OK;
	if (m->local ? ctp_mysql_load(m, r->load, r->buf, r->used) : mysql_real_query(m->conn, r->buf, r->used - 1))
		return ctp_mysql_error(m, err);
	uint64_t taken = mysql_affected_rows(m->conn);
	if (mysql_warning_count(m->conn) || taken != r->nrows)
		return refuse_altered(m, r, taken, err);
	if (mysql_commit(m->conn))
		return ctp_mysql_error(m, err);
	m->delivered += r->nrows;
	r->nrows = 0;
	r->used = 0;
	return CTP_OK;
}

/* --- values -------------------------------------------------------------------------------------------------------------- */

static char *put(char *to, const char *text, size_t len) { return (char *)memcpy(to, text, len) + len; }

/* For LOAD DATA a backslash stands before what has a meaning there. */
static char *put_loaded(char *to, const char *text, size_t len)
{
	for (const char *end = text + len; text < end; text++) {
		if (*text == '\t' || *text == '\n' || *text == '\\' || !*text)
			*to++ = '\\';
		*to++ = (char)(*text ? *text : '0');
	}
	return to;
}

static char *put_literal(char *to, const char *text, size_t len)
{
	*to++ = '\'';
	for (const char *end = text + len; text < end; *to++ = *text++)
		if (*text == '\'')
			*to++ = '\'';
	*to++ = '\'';
	return to;
}

static char *put_string(struct ctp_mysql *m, char *to, const char *text, size_t len)
{
	if (!ctp_escape_is_plain(text, len)) {
		len = (size_t)(ctp_escape(m->scratch, text, len, false) - m->scratch);
		text = m->scratch;
	}
	return m->local ? put_loaded(to, text, len) : put_literal(to, text, len);
}

static char *put_real(struct ctp_mysql *m, char *to, double d)
{
	if (isfinite(d))
		return ctp_text_double(to, d);
	m->unreal++;
	return m->local ? put(to, "\\N", 2) : put(to, "NULL", 4);
}

static char *put_label(struct ctp_mysql *m, char *to, const struct ctp_field *f, uint64_t v)
{
	char number[CTP_TEXT_MAX];
	const char *label = ctp_sql_label(f, v);
	return label ? put_string(m, to, label, strlen(label)) : put_string(m, to, number, (size_t)(ctp_text_u64(number, v) - number));
}

static char *put_field(struct ctp_mysql *m, char *to, const struct ctp_field *f, uint64_t v)
{
	static const struct ctp_str empty;
	const struct ctp_str *str = ctp_type_is_text(f->type) && v ? ctp_str_val(v) : &empty;
	switch (ctp_sql_form(f)) {
	case CTP_SQL_HEX:
		return m->local ? ctp_text_hex16(to, v) : put(ctp_text_hex16(put(to, "'", 1), v), "'", 1);
	case CTP_SQL_REAL:
		return put_real(m, to, ctp_val_double(f->type, v));
	case CTP_SQL_BYTES:
		if (m->local)
			return put_loaded(to, str->data, str->len);
		return put(ctp_escape_hex(put(to, "x'", 2), str->data, str->len), "'", 1);
	case CTP_SQL_STRING:
		return put_string(m, to, str->data, str->len);
	case CTP_SQL_ENUM:
		return put_label(m, to, f, v);
	default:
		if (f->type == CTP_BOOL)
			v = v != 0;
		return ctp_type_is_signed(f->type) ? ctp_text_i64(to, (int64_t)v) : ctp_text_u64(to, v);
	}
}

/* Bytes that the row may take, at most; *text: its longest text, with what escaping makes of that. */
static size_t row_bytes(const struct ctp_class *cls, const uint64_t *val, size_t *text)
{
	size_t bytes = 4 + (cls->nfields + 2) * (size_t)(CTP_TEXT_MAX + 4);
	*text = CTP_ESCAPE_GROWTH * CTP_NAME_MAX;
	for (uint32_t i = 0; i < cls->nfields; i++) {
		bool is_text = ctp_type_is_text(cls->fields[i].type);
		size_t len = is_text ? (val[i] ? CTP_ESCAPE_GROWTH * (size_t)ctp_str_val(val[i])->len : 0) : CTP_ESCAPE_GROWTH * CTP_NAME_MAX;
		if (is_text || cls->fields[i].type == CTP_ENUM)
			bytes += 2 * len;
		*text = *text < len ? len : *text;
	}
	return bytes;
}

/* Buffers grow while rows come, up to a limit for all of them and the server's limit for an INSERT. From there on they are emptied. */
static enum ctp_status make_room(struct ctp_mysql *m, struct ctp_sql_rows *r, size_t bytes, struct ctp_err *err)
{
	size_t head = m->local ? 0 : strlen(r->insert), most = BUFFER_MAX, want = r->room < BUFFER_MIN ? BUFFER_MIN : 2 * r->room;
	if (!m->local && m->packet > 2 * PACKET_SPARE && m->packet - PACKET_SPARE < most)
		most = m->packet - PACKET_SPARE;
	if (want > most || m->buffered + want - r->room > BUFFERS_MAX || want < r->used + bytes) {
		if (ctp_mysql_end(&m->sql, r, err))
			return CTP_FAILED;
		want = r->room;
	}
	if (want < r->used + head + bytes)
		want = r->used + head + bytes;
	size_t before = r->room;
	if (!CTP_ARRAY_RESERVE(r->buf, r->room, want, want))
		return ctp_sql_no_memory(&m->sql, err);
	m->buffered += r->room - before;
	return CTP_OK;
}

enum ctp_status ctp_mysql_add(struct ctp_sql *db, struct ctp_sql_rows *r, int64_t section, const uint64_t *val, struct ctp_err *err)
{
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	size_t text, bytes = row_bytes(r->cls, val, &text);
	if (r->room - r->used < bytes + (r->used || m->local ? 0 : strlen(r->insert)) && make_room(m, r, bytes, err))
		return CTP_FAILED;
	if (!CTP_ARRAY_RESERVE(m->scratch, m->scratch_room, text, SIZE_MAX))
		return ctp_sql_no_memory(&m->sql, err);
	const char between = m->local ? '\t' : ',';
	char *to = r->buf + r->used;
	if (!m->local) {
		if (!r->used)
			to = put(to, r->insert, strlen(r->insert));
		*to++ = '(';
	}
	to = ctp_text_u64(to, (uint64_t)r->table->next_id++);
	*to++ = between;
	to = ctp_text_i64(to, section);
	for (uint32_t i = 0; i < r->cls->nfields; i++) {
		*to++ = between;
		to = put_field(m, to, &r->cls->fields[i], val[i]);
	}
	to = m->local ? put(to, "\n", 1) : put(to, "),", 2);
	r->used = (size_t)(to - r->buf);
	assert(r->used <= r->room); /* row_bytes said so */
	r->nrows++;
	return CTP_OK;
}
