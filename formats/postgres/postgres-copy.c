/*
 * postgres-copy.c - rows in the binary form of COPY.
 *
 * A row is the number of its columns, and for each of them its length and its bytes, the most significant first. One COPY is open at
 * a time: rows of other tables wait in their buffer meanwhile, and what is behind them in the stream waits for nobody, because the
 * tables have no order among each other.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "postgres/postgres-db.h"

enum { BUFFER = 256 << 10, NUMBER_MAX = 4 + 8 + 2 * 5, PART = 64 << 10, OWN_COLUMNS = 2 }; /* the key and section */

enum form { BIGINT, NUMERIC, BOOLEAN, HEX, LABEL, DOUBLE, STRING, BYTES };

struct ctp_sql_rows {
	struct ctp_sql_rows *next, **link; /* link: what points here, of the list p->rows */
	const struct ctp_class *cls;
	struct ctp_postgres_table *table;
	char *copy; /* the statement */
	uint16_t ncolumns;
	struct column {
		uint8_t form;
		bool is_signed;
	} column[CTP_FIELDS_MAX]; /* by field */
	struct ctp_postgres_said said;
	uint64_t nrows; /* in the buffer */
	char *buf;
	size_t used, room;
};

/* --- which columns ------------------------------------------------------------------------------------------------------- */

/* What has a role is looked up by, and compared: so it has one type, however few bits a class may have for it. */
static bool is_wide(const struct ctp_field *f)
{
	return f->role != CTP_ROLE_NONE || f->type == CTP_U64 || f->type == CTP_ENUM;
}

const char *ctp_postgres_type(const struct ctp_sql *db, const struct ctp_field *f)
{
	const struct ctp_postgres *p = (const struct ctp_postgres *)db;
	switch (ctp_sql_form(f)) {
	case CTP_SQL_HEX:
		return "VARCHAR(18)";
	case CTP_SQL_REAL:
		return "DOUBLE PRECISION";
	case CTP_SQL_BYTES:
		return "BYTEA";
	case CTP_SQL_STRING:
	case CTP_SQL_ENUM:
		return "TEXT";
	default:
		if (f->type == CTP_BOOL)
			return "BOOLEAN";
		return !p->options.bigint && is_wide(f) ? "NUMERIC(20,0)" : "BIGINT";
	}
}

/* How a value is sent follows from the type that the column has, for the table may have been there before. */
static enum form form_of(const struct ctp_field *f, const char *type)
{
	switch (ctp_sql_form(f)) {
	case CTP_SQL_HEX:
		return HEX;
	case CTP_SQL_REAL:
		return DOUBLE;
	case CTP_SQL_BYTES:
		return BYTES;
	case CTP_SQL_STRING:
		return STRING;
	case CTP_SQL_ENUM:
		return LABEL;
	default:
		return !strncmp(type, "numeric", 7) ? NUMERIC : !strcmp(type, "boolean") ? BOOLEAN : BIGINT;
	}
}

struct filling {
	struct ctp_postgres *p;
	struct ctp_sql_rows *rows;
	char *table, *columns;
	bool failed;
};

/* position, table, column, type */
static void add_column(void *arg, const char *const *text)
{
	struct filling *f = arg;
	struct ctp_sql_rows *r = f->rows;
	if (!f->table)
		f->table = strdup(text[1]);
	if (!text[0])
		return;
	uint32_t at = (uint32_t)strtoul(text[0], NULL, 10);
	if (at != r->ncolumns || at >= r->cls->nfields || !text[2] || !text[3]) {
		f->failed = true;
		return;
	}
	char *more = f->columns ? ctp_sql_text(&f->p->sql, "%s, %I", f->columns, text[2]) : NULL;
	free(f->columns);
	f->columns = more;
	r->column[r->ncolumns++] = (struct column){.form = (uint8_t)form_of(&r->cls->fields[at], text[3]),
	                                           .is_signed = ctp_type_is_signed(r->cls->fields[at].type)};
}

/* The table by its name, with the id of its next row. */
static struct ctp_postgres_table *find_table(struct ctp_postgres *p, const char *name, struct ctp_err *err)
{
	for (struct ctp_postgres_table *t = p->tables; t; t = t->next)
		if (!strcmp(t->name, name))
			return t;
	struct ctp_postgres_table *t = calloc(1, sizeof *t);
	if (!t || !(t->name = strdup(name))) {
		free(t);
		ctp_err_set(err, "%s: out of memory", p->name);
		return NULL;
	}
	t->next = p->tables;
	p->tables = t;
	enum ctp_status status;
	t->key = ctp_sql_find(&p->sql, &status, err,
	                      "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(%L)) AND attnum = 1", name);
	if (!t->key && !status)
		status = ctp_err_set(err, "%s: the table classes names %.100s, and there is no such table", p->name, name);
	if (!status)
		t->next_id = ctp_sql_look_up(&p->sql, err, "SELECT coalesce(max(%I), 0) + 1 FROM %I", t->key, name);
	if (!status)
		t->next_id = ctp_sql_counted(&p->sql, t->next_id, err);
	return t->next_id > 0 ? t : NULL;
}

void ctp_postgres_tables_free(struct ctp_postgres *p)
{
	for (struct ctp_postgres_table *t; (t = p->tables);) {
		p->tables = t->next;
		free(t->name);
		free(t->key);
		free(t);
	}
}

static enum ctp_status fill(struct ctp_postgres *p, struct ctp_sql_rows *r, int64_t class_id, struct ctp_err *err)
{
	struct filling f = {.p = p, .rows = r, .columns = ctp_sql_text(&p->sql, "section")};
	char *sql = ctp_sql_text(&p->sql,
		"SELECT f.position, k.table_name, f.column_name, format_type(a.atttypid, a.atttypmod)"
		" FROM classes k LEFT JOIN fields f ON f.class = k.id LEFT JOIN pg_attribute a"
		" ON a.attrelid = to_regclass(quote_ident(k.table_name)) AND a.attname = f.column_name AND NOT a.attisdropped"
		" WHERE k.id = %d ORDER BY f.position", class_id);
	enum ctp_status status = sql && f.columns ? ctp_postgres_query(&p->sql, sql, "?t??", add_column, &f, err) : ctp_err_set(err, "%s: out of memory", p->name);
	if (!status && !f.columns)
		status = ctp_err_set(err, "%s: out of memory", p->name);
	if (!status && !f.table)
		status = ctp_err_set(err, "%s: the table classes has no class %jd", p->name, (intmax_t)class_id);
	if (!status && (f.failed || r->ncolumns != r->cls->nfields))
		status = ctp_err_set(err, "%s: table %.100s has not the columns that the table fields names", p->name, f.table);
	if (!status && !(r->table = find_table(p, f.table, err)))
		status = CTP_FAILED;
	if (!status && !(r->copy = ctp_sql_text(&p->sql, "COPY %I (%I, %s) FROM STDIN (FORMAT binary%s)", f.table, r->table->key, f.columns,
	                                        p->fresh ? ", FREEZE" : "")))
		status = ctp_err_set(err, "%s: out of memory", p->name);
	free(sql);
	free(f.table);
	free(f.columns);
	return status;
}

static void list(struct ctp_postgres *p, struct ctp_sql_rows *r)
{
	r->next = p->rows;
	r->link = &p->rows;
	if (r->next)
		r->next->link = &r->next;
	p->rows = r;
}

struct ctp_sql_rows *ctp_postgres_rows(struct ctp_sql *db, const struct ctp_class *cls, int64_t class_id, struct ctp_err *err)
{
	struct ctp_sql_rows *r = calloc(1, sizeof *r);
	if (!r) {
		ctp_err_set(err, "%s: out of memory", db->name);
		return NULL;
	}
	r->cls = cls;
	list((struct ctp_postgres *)db, r);
	if (!fill((struct ctp_postgres *)db, r, class_id, err)) {
		r->said = ctp_postgres_said(cls);
		return r;
	}
	ctp_postgres_drop(r);
	return NULL;
}

void ctp_postgres_drop(struct ctp_sql_rows *r)
{
	if (!r)
		return;
	*r->link = r->next;
	if (r->next)
		r->next->link = r->link;
	free(r->copy);
	free(r->buf);
	free(r);
}

/* --- sending ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status finish_copy(struct ctp_postgres *p, struct ctp_err *err)
{
	enum ctp_status status = PQputCopyEnd(p->conn, NULL) < 0 ? ctp_postgres_error(p, NULL, err) : CTP_OK;
	for (PGresult *result; (result = PQgetResult(p->conn)); PQclear(result)) {
		ExecStatusType kind = PQresultStatus(result);
		if (kind != PGRES_COMMAND_OK)
			status = ctp_postgres_error(p, result, err);
		if (kind == PGRES_COPY_IN || kind == PGRES_COPY_OUT || kind == PGRES_COPY_BOTH) { /* which would come for ever */
			PQclear(result);
			break;
		}
	}
	return status;
}

enum ctp_status ctp_postgres_end_copy(struct ctp_postgres *p, struct ctp_err *err)
{
	static const char trailer[] = {'\xff', '\xff'};
	if (!p->copying)
		return CTP_OK;
	p->copying = NULL;
	return PQputCopyData(p->conn, trailer, sizeof trailer) < 0 ? ctp_postgres_error(p, NULL, err) : finish_copy(p, err);
}

static enum ctp_status open_copy(struct ctp_postgres *p, const char *copy, struct ctp_err *err)
{
	if (ctp_postgres_end_copy(p, err) || ctp_postgres_open(p, err))
		return CTP_FAILED;
	return ctp_postgres_run_copy(p, copy, err);
}

static enum ctp_status begin_copy(struct ctp_postgres *p, struct ctp_sql_rows *r, struct ctp_err *err)
{
	static const char header[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0"; /* and the NUL behind it */
	if (open_copy(p, r->copy, err))
		return CTP_FAILED;
	p->copying = r;
	return PQputCopyData(p->conn, header, sizeof header) < 0 ? ctp_postgres_error(p, NULL, err) : CTP_OK;
}

static enum ctp_status send_rows(struct ctp_postgres *p, struct ctp_sql_rows *r, struct ctp_err *err)
{
	if (r->used && p->copying != r && begin_copy(p, r, err))
		return CTP_FAILED;
	for (size_t at = 0, part; at < r->used; at += part) {
		part = r->used - at < PART ? r->used - at : PART;
		if (PQputCopyData(p->conn, r->buf + at, (int)part) < 0) {
			p->copying = NULL;
			return ctp_postgres_error(p, NULL, err);
		}
	}
	p->delivered += r->nrows;
	r->nrows = 0;
	r->used = 0;
	return CTP_OK;
}

enum ctp_status ctp_postgres_send(struct ctp_postgres *p, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	for (struct ctp_sql_rows *r = p->rows; r && !status; r = r->next)
		status = send_rows(p, r, err);
	return status;
}

enum ctp_status ctp_postgres_copy_text(struct ctp_postgres *p, const char *copy, const char *text, size_t len, struct ctp_err *err)
{
	if (open_copy(p, copy, err))
		return CTP_FAILED;
	enum ctp_status status = CTP_OK;
	for (size_t at = 0, part; at < len && !status; at += part) {
		part = len - at < PART ? len - at : PART;
		if (PQputCopyData(p->conn, text + at, (int)part) < 0)
			status = ctp_postgres_error(p, NULL, err);
	}
	return status ? status : finish_copy(p, err);
}

/* A COPY ends with its rows, for these are freed. */
enum ctp_status ctp_postgres_end(struct ctp_sql *db, struct ctp_sql_rows *r, struct ctp_err *err)
{
	struct ctp_postgres *p = (struct ctp_postgres *)db;
	enum ctp_status status = send_rows(p, r, err);
	return !status && p->copying == r ? ctp_postgres_end_copy(p, err) : status;
}

/* --- values -------------------------------------------------------------------------------------------------------------- */

static inline char *put16(char *to, uint16_t v)
{
	v = htobe16(v);
	return (char *)memcpy(to, &v, sizeof v) + sizeof v;
}

static inline char *put32(char *to, uint32_t v)
{
	v = htobe32(v);
	return (char *)memcpy(to, &v, sizeof v) + sizeof v;
}

static inline char *put64(char *to, uint64_t v)
{
	v = htobe64(v);
	return (char *)memcpy(to, &v, sizeof v) + sizeof v;
}

static inline char *put_bigint(char *to, uint64_t v) { return put64(put32(to, 8), v); }

/* Digits of base 10,000: their number, the weight of the first, a sign, and no fraction. Zeros at the end are left out. */
static char *put_numeric(char *to, uint64_t v, bool negative)
{
	uint16_t digit[5];
	int n = 0, first = 0;
	for (; v; v /= 10000)
		digit[n++] = (uint16_t)(v % 10000);
	while (first < n && !digit[first])
		first++;
	to = put32(to, (uint32_t)(8 + 2 * (n - first)));
	to = put16(to, (uint16_t)(n - first));
	to = put16(to, (uint16_t)(n ? n - 1 : 0));
	to = put16(to, negative ? 0x4000 : 0);
	to = put16(to, 0);
	for (int i = n; i-- > first;)
		to = put16(to, digit[i]);
	return to;
}

static char *put_number(char *to, uint64_t v, bool is_signed)
{
	bool negative = is_signed && (int64_t)v < 0;
	return put_numeric(to, negative ? -v : v, negative);
}

static char *put_double(char *to, double d)
{
	uint64_t bits;
	memcpy(&bits, &d, sizeof bits);
	return put_bigint(to, bits);
}

static char *put_text(char *to, const char *text, size_t len) { return (char *)memcpy(put32(to, (uint32_t)len), text, len) + len; }

/* Its length is known afterwards. */
static char *put_string(char *to, const char *text, size_t len, bool ascii)
{
	char *end = ctp_sql_escape(to + 4, text, len, ascii);
	put32(to, (uint32_t)(end - to - 4));
	return end;
}

static char *put_label(char *to, const struct ctp_field *f, uint64_t v, bool ascii)
{
	char number[CTP_TEXT_MAX];
	const char *label = ctp_sql_label(f, v);
	return label ? put_string(to, label, strlen(label), ascii) : put_text(to, number, (size_t)(ctp_text_u64(number, v) - number));
}

/* Bytes that the row may take, at most. */
static size_t row_bytes(const struct ctp_sql_rows *r, const uint64_t *val)
{
	size_t bytes = 2 + 2 * NUMBER_MAX + r->cls->nfields * (size_t)CTP_TEXT_MAX;
	for (uint32_t i = 0; i < r->cls->nfields; i++)
		if (ctp_type_is_text(r->cls->fields[i].type))
			bytes += val[i] ? 4 * (size_t)ctp_str_val(val[i])->len : 0;
		else if (r->column[i].form == LABEL)
			bytes += 4 * CTP_NAME_MAX;
	return bytes;
}

static enum ctp_status refuse(const struct ctp_postgres *p, const struct ctp_class *cls, const struct ctp_field *f, uint64_t v, struct ctp_err *err)
{
	char kept[64] = "";
	if (p->options.live)
		snprintf(kept, sizeof kept, "; %ju rows are committed", (uintmax_t)p->committed);
	return ctp_err_set(err, "%s: %.100s of %.100s is %ju, beyond a BIGINT; load it without --bigint, into a new database%s", p->name, f->name,
	                   cls->name, (uintmax_t)v, kept);
}

static enum ctp_status put_field(struct ctp_postgres *p, const struct ctp_sql_rows *r, uint32_t i, char **to, uint64_t v,
                                 struct ctp_err *err)
{
	static const struct ctp_str empty;
	const struct ctp_field *f = &r->cls->fields[i];
	const struct ctp_str *str;
	char hex[CTP_TEXT_MAX];
	switch (r->column[i].form) {
	case BIGINT:
		if (v > INT64_MAX && !r->column[i].is_signed)
			return refuse(p, r->cls, f, v, err);
		*to = put_bigint(*to, v);
		break;
	case NUMERIC:
		*to = put_number(*to, v, r->column[i].is_signed);
		break;
	case BOOLEAN:
		*to = put32(*to, 1);
		*(*to)++ = v != 0;
		break;
	case HEX:
		*to = put_text(*to, hex, (size_t)(ctp_text_hex16(hex, v) - hex));
		break;
	case LABEL:
		*to = put_label(*to, f, v, p->escapes);
		break;
	case DOUBLE:
		*to = put_double(*to, ctp_val_double(f->type, v));
		break;
	case STRING:
		str = v ? ctp_str_val(v) : &empty;
		*to = put_string(*to, str->data, str->len, p->escapes);
		break;
	case BYTES:
		str = v ? ctp_str_val(v) : &empty;
		*to = put_text(*to, str->data, str->len);
		break;
	}
	return CTP_OK;
}

static bool make_room(struct ctp_sql_rows *r, size_t bytes)
{
	size_t room = bytes > BUFFER ? bytes : BUFFER;
	char *buf = r->room < room ? realloc(r->buf, room) : r->buf;
	if (!buf)
		return false;
	r->buf = buf;
	r->room = r->room < room ? room : r->room;
	return true;
}

enum ctp_status ctp_postgres_add(struct ctp_sql *db, struct ctp_sql_rows *r, int64_t section, const uint64_t *val, struct ctp_err *err)
{
	struct ctp_postgres *p = (struct ctp_postgres *)db;
	size_t bytes = row_bytes(r, val);
	if (r->room - r->used < bytes) {
		if (send_rows(p, r, err))
			return CTP_FAILED;
		if (!make_room(r, bytes))
			return ctp_err_set(err, "%s: out of memory", p->name);
	}
	char *to = put16(r->buf + r->used, (uint16_t)(OWN_COLUMNS + r->ncolumns));
	to = put_bigint(to, (uint64_t)r->table->next_id++);
	to = put_bigint(to, (uint64_t)section);
	for (uint32_t i = 0; i < r->cls->nfields; i++)
		if (put_field(p, r, i, &to, val[i], err))
			return CTP_FAILED;
	r->used = (size_t)(to - r->buf);
	r->nrows++;
	if (!p->now)
		return CTP_OK;
	struct ctp_record rec = {.cls = r->cls, .val = val};
	return ctp_postgres_now_note(p, &r->said, section, &rec, err);
}
