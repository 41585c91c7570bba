/*
 * mysql-rows.c - rows, as LOAD DATA reads them or as an INSERT has them.
 *
 * Rows of a table wait in its buffer, and go in one statement when that is full: LOAD DATA LOCAL INFILE, whose file is the buffer, or
 * an INSERT where the server takes no files. LOCAL makes warnings of values that do not fit, and alters them: a warning is a failure.
 */
#include <math.h>
#include <mysqld_error.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "mysql/mysql-db.h"

enum { BUFFER_MIN = 16 << 10, BUFFER_MAX = 4 << 20, BUFFERS_MAX = 64 << 20, PACKET_SPARE = 4096 };

struct ctp_sql_rows {
	struct ctp_mysql *m;
	const struct ctp_class *cls;
	struct ctp_mysql_table *table;
	char *load, *insert; /* how the statements begin */
	uint32_t ncolumns;
	uint64_t nrows;      /* in the buffer */
	char *buf;
	size_t used, room;
};

/* --- which columns ------------------------------------------------------------------------------------------------------- */

/* What has a role is looked up by, and compared: so it has one type, however few bits a class may have for it. */
static bool is_wide(const struct ctp_field *f)
{
	return f->role != CTP_ROLE_NONE || f->type == CTP_U64 || f->type == CTP_ENUM;
}

const char *ctp_mysql_type(const struct ctp_sql *db, const struct ctp_field *f)
{
	(void)db;
	switch (ctp_sql_form(f)) {
	case CTP_SQL_HEX:
		return "VARCHAR(18)";
	case CTP_SQL_REAL:
		return "DOUBLE";
	case CTP_SQL_BYTES:
		return "LONGBLOB";
	case CTP_SQL_STRING:
	case CTP_SQL_ENUM:
		return "LONGTEXT";
	default:
		if (f->type == CTP_BOOL)
			return "TINYINT(1)"; /* as the server calls a BOOLEAN */
		return is_wide(f) ? "DECIMAL(20,0)" : "BIGINT";
	}
}

struct filling {
	struct ctp_sql_rows *rows;
	char *table, *columns;
};

/* table, column */
static void add_column(void *arg, const char *const *text)
{
	struct filling *f = arg;
	if (!f->table)
		f->table = strdup(text[0]);
	if (!text[1])
		return;
	char *more = f->columns ? ctp_sql_text(&f->rows->m->sql, "%s, %I", f->columns, text[1]) : NULL;
	free(f->columns);
	f->columns = more;
	f->rows->ncolumns++;
}

static int64_t count_tables(struct ctp_mysql *m, const char *begin, const char *name, struct ctp_err *err)
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
		ctp_err_set(err, "%s: the table classes names %.100s, and there is no such table", m->name, name);
	return key;
}

/* A table that was there before has none for its rows yet. */
static enum ctp_status stage_table(struct ctp_mysql *m, const char *name, const char *key, struct ctp_err *err)
{
	int64_t staged = count_tables(m, CTP_MYSQL_STAGING, name, err);
	if (staged)
		return staged < 0 ? CTP_FAILED : CTP_OK;
	return ctp_sql_exec(&m->sql, err, "CREATE TABLE %T (PRIMARY KEY (%I)) AS SELECT * FROM %I LIMIT 0", name, key, name);
}

/* The table by its name, with the id of its next row. Those of events are the server's to give when they are added to others. */
static struct ctp_mysql_table *find_table(struct ctp_mysql *m, const char *name, struct ctp_err *err)
{
	for (struct ctp_mysql_table *t = m->tables; t; t = t->next)
		if (!strcmp(t->name, name))
			return t;
	int64_t there = count_tables(m, "", name, err), next_id = 1;
	char *key = there < 0 ? NULL : find_key(m, name, err);
	if (!key || stage_table(m, name, key, err))
		next_id = -1;
	else if (there && strcmp(name, m->sql.events))
		next_id = ctp_sql_look_up(&m->sql, err, "SELECT coalesce(max(%I), 0) + 1 FROM %I", key, name);
	if (next_id > 0)
		next_id = ctp_sql_counted(&m->sql, next_id, err);
	struct ctp_mysql_table *t = next_id > 0 ? calloc(1, sizeof *t) : NULL;
	if (!t || !(t->name = strdup(name))) {
		if (next_id > 0)
			ctp_err_set(err, "%s: out of memory", m->name);
		free(key);
		free(t);
		return NULL;
	}
	t->key = key;
	t->next_id = next_id;
	t->next = m->tables;
	m->tables = t;
	return t;
}

void ctp_mysql_tables_free(struct ctp_mysql *m)
{
	for (struct ctp_mysql_table *t; (t = m->tables);) {
		m->tables = t->next;
		free(t->name);
		free(t->key);
		free(t);
	}
}

#define LOAD \
	"LOAD DATA LOCAL INFILE '" CTP_MYSQL_FILE "' INTO TABLE %T CHARACTER SET binary FIELDS TERMINATED BY x'09' ESCAPED BY x'5c'" \
	" LINES TERMINATED BY x'0a' (%I, %s)"

static enum ctp_status fill(struct ctp_mysql *m, struct ctp_sql_rows *r, int64_t class_id, struct ctp_err *err)
{
	struct filling f = {.rows = r, .columns = ctp_sql_text(&m->sql, "section")};
	char *sql = ctp_sql_text(&m->sql, "SELECT k.table_name, f.column_name FROM %T k LEFT JOIN %T f ON f.class = k.id WHERE k.id = %d"
	                                  " ORDER BY f.position", "classes", "fields", class_id);
	enum ctp_status status = sql && f.columns ? ctp_mysql_ask(&m->sql, sql, "t?", add_column, &f, err) : CTP_FAILED;
	bool ok = sql && f.columns;
	if (ok && !status && !f.table)
		status = ctp_err_set(err, "%s: the table classes has no class %jd", m->name, (intmax_t)class_id);
	if (ok && !status && r->ncolumns != r->cls->nfields)
		status = ctp_err_set(err, "%s: table %.100s has not the columns that the table fields names", m->name, f.table);
	if (ok && !status && !(r->table = find_table(m, f.table, err)))
		status = CTP_FAILED;
	if (ok && !status) {
		r->load = ctp_sql_text(&m->sql, LOAD, f.table, r->table->key, f.columns);
		r->insert = ctp_sql_text(&m->sql, "INSERT INTO %T (%I, %s) VALUES ", f.table, r->table->key, f.columns);
		ok = r->load && r->insert;
	}
	free(sql);
	free(f.table);
	free(f.columns);
	return ok ? status : ctp_err_set(err, "%s: out of memory", m->name);
}

struct ctp_sql_rows *ctp_mysql_rows(struct ctp_sql *db, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err)
{
	struct ctp_sql_rows *r = calloc(1, sizeof *r);
	if (!r) {
		ctp_err_set(err, "%s: out of memory", db->name);
		return NULL;
	}
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

static bool is_refusal(unsigned number)
{
	enum { LOCAL_DISABLED = 4166, CLIENT_LOCAL_DISABLED = 3948 };
	return number == LOCAL_DISABLED || number == CLIENT_LOCAL_DISABLED || number == ER_NOT_ALLOWED_COMMAND;
}

enum ctp_status ctp_mysql_try_local(struct ctp_mysql *m, struct ctp_err *err)
{
	char *sql = ctp_sql_text(&m->sql, LOAD, "symbols", "section", "addr, text");
	if (!sql)
		return ctp_err_set(err, "%s: out of memory", m->name);
	m->local = !ctp_mysql_load(m, sql, "", 0);
	free(sql);
	return m->local || is_refusal(mysql_errno(m->conn)) ? CTP_OK : ctp_mysql_error(m, err);
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
	ctp_mysql_ask(&m->sql, "SHOW WARNINGS LIMIT 1", "tnt", keep_warning, warning, err);
	return ctp_err_set(err, "%s: table %.64s: of %ju rows %ju came as they are%s%s; %ju rows were sent, and none is kept", m->name,
	                   r->table->name, (uintmax_t)r->nrows, taken, *warning ? ": " : "", warning, (uintmax_t)m->delivered);
}

/* An INSERT is in the buffer as it is; its last comma is not sent. */
static enum ctp_status send_rows(struct ctp_mysql *m, struct ctp_sql_rows *r, struct ctp_err *err)
{
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

enum ctp_status ctp_mysql_end(struct ctp_sql *db, struct ctp_sql_rows *r, struct ctp_err *err)
{
	return send_rows((struct ctp_mysql *)db, r, err);
}

/* --- values -------------------------------------------------------------------------------------------------------------- */

static char *put(char *to, const char *text, size_t len) { return (char *)memcpy(to, text, len) + len; }

static char *put_null(const struct ctp_mysql *m, char *to) { return m->local ? put(to, "\\N", 2) : put(to, "NULL", 4); }

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
	if (!ctp_sql_is_text(text, len)) {
		len = (size_t)(ctp_sql_escape(m->scratch, text, len, false) - m->scratch);
		text = m->scratch;
	}
	return m->local ? put_loaded(to, text, len) : put_literal(to, text, len);
}

static char *put_bytes(const struct ctp_mysql *m, char *to, const char *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	if (m->local)
		return put_loaded(to, data, len);
	to = put(to, "x'", 2);
	for (const char *end = data + len; data < end; data++) {
		*to++ = digits[(uint8_t)*data >> 4];
		*to++ = digits[(uint8_t)*data & 15];
	}
	*to++ = '\'';
	return to;
}

static char *put_real(struct ctp_mysql *m, char *to, double d)
{
	if (isfinite(d))
		return ctp_text_double(to, d);
	m->unreal++;
	return put_null(m, to);
}

static char *put_hex(const struct ctp_mysql *m, char *to, uint64_t v)
{
	if (m->local)
		return ctp_text_hex16(to, v);
	*to++ = '\'';
	to = ctp_text_hex16(to, v);
	*to++ = '\'';
	return to;
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
		return put_hex(m, to, v);
	case CTP_SQL_REAL:
		return put_real(m, to, ctp_val_double(f->type, v));
	case CTP_SQL_BYTES:
		return put_bytes(m, to, str->data, str->len);
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
	*text = CTP_SQL_GROWTH * CTP_NAME_MAX;
	for (uint32_t i = 0; i < cls->nfields; i++) {
		bool is_text = ctp_type_is_text(cls->fields[i].type);
		size_t len = is_text ? (val[i] ? CTP_SQL_GROWTH * (size_t)ctp_str_val(val[i])->len : 0) : CTP_SQL_GROWTH * CTP_NAME_MAX;
		if (is_text || cls->fields[i].type == CTP_ENUM)
			bytes += 2 * len;
		*text = *text < len ? len : *text;
	}
	return bytes;
}

static bool grow(char **buf, size_t *room, size_t bytes)
{
	char *more = *room < bytes ? realloc(*buf, bytes) : *buf;
	if (!more)
		return false;
	*buf = more;
	*room = *room < bytes ? bytes : *room;
	return true;
}

/* Buffers grow while rows come, up to a limit for all of them; behind it, and behind the server's for an INSERT, they are emptied. */
static enum ctp_status make_room(struct ctp_mysql *m, struct ctp_sql_rows *r, size_t bytes, struct ctp_err *err)
{
	size_t head = m->local ? 0 : strlen(r->insert), most = BUFFER_MAX, want = r->room < BUFFER_MIN ? BUFFER_MIN : 2 * r->room;
	if (!m->local && m->packet > 2 * PACKET_SPARE && m->packet - PACKET_SPARE < most)
		most = m->packet - PACKET_SPARE;
	if (want > most || m->buffered + want - r->room > BUFFERS_MAX || want < r->used + bytes) {
		if (send_rows(m, r, err))
			return CTP_FAILED;
		want = r->room;
	}
	if (want < r->used + head + bytes)
		want = r->used + head + bytes;
	size_t before = r->room;
	if (!grow(&r->buf, &r->room, want))
		return ctp_err_set(err, "%s: out of memory", m->name);
	m->buffered += r->room - before;
	return CTP_OK;
}

enum ctp_status ctp_mysql_add(struct ctp_sql *db, struct ctp_sql_rows *r, int64_t section, const uint64_t *val, struct ctp_err *err)
{
	struct ctp_mysql *m = (struct ctp_mysql *)db;
	size_t text, bytes = row_bytes(r->cls, val, &text);
	if (r->room - r->used < bytes + (r->used || m->local ? 0 : strlen(r->insert)) && make_room(m, r, bytes, err))
		return CTP_FAILED;
	if (!grow(&m->scratch, &m->scratch_room, text))
		return ctp_err_set(err, "%s: out of memory", m->name);
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
	r->nrows++;
	return CTP_OK;
}
