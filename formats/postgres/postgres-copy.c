/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * postgres-copy.c - rows in the binary form of COPY.
 *
 * A row is the number of its columns, and for each of them its length and its bytes, the most significant first. One COPY is open at
 * a time. Rows of other tables wait in their buffers meanwhile: tables have no order among each other.
 */
#include <endian.h>
#include <stdio.h>

#include "base/text.h"
#include "postgres/postgres-db.h"
#include "postgres/postgres-now.h"
#include "sql/sql-rows.h"

enum { BUFFER = 256 << 10, NUMBER_MAX = 4 + 8 + 2 * 5, OWN_COLUMNS = 2 }; /* the key and section */

enum form { BIGINT, NUMERIC, BOOLEAN, HEX, LABEL, DOUBLE, STRING, BYTES };

struct ctp_sql_rows {
	struct ctp_sql_rows *next, **link; /* link: what points here, of the list p->rows */
	const struct ctp_class *cls;
	struct ctp_sql_table *table;
	char *copy; /* the statement */
	struct column {
		uint8_t form;
		bool is_signed;
	} column[CTP_FIELDS_MAX]; /* by field */
	struct ctp_postgres_state_fields state_fields;
	uint64_t nrows; /* in the buffer */
	char *buf;
	size_t used, room;
};

/* --- which columns ------------------------------------------------------------------------------------------------------- */

/* How a value is sent follows from the type that the column has, for the table may have been there before. */
static enum form form_of(const struct ctp_field *f, const char *type)
{
	static const uint8_t forms[] = {[CTP_SQL_HEX] = HEX, [CTP_SQL_REAL] = DOUBLE, [CTP_SQL_BYTES] = BYTES,
	                                [CTP_SQL_STRING] = STRING, [CTP_SQL_ENUM] = LABEL};
	enum ctp_sql_form form = ctp_sql_form(f);
	if (form != CTP_SQL_INTEGER && form != CTP_SQL_DECIMAL)
		return (enum form)forms[form];
	return !strncmp(type, "numeric", 7) ? NUMERIC : strcmp(type, "boolean") ? BIGINT : BOOLEAN;
}

static void set_form(void *arg, uint32_t field, const char *type)
{
	struct ctp_sql_rows *r = arg;
	assert(field < r->cls->nfields);
	const struct ctp_field *f = &r->cls->fields[field];
	r->column[field] = (struct column){.form = (uint8_t)form_of(f, type), .is_signed = ctp_type_is_signed(f->type)};
}

/* The table by its name, with the id of its next row. */
static struct ctp_sql_table *find_table(struct ctp_sql *db, const char *name, struct ctp_err *err)
{
	struct ctp_sql_table *t = ctp_sql_table_find(db, name);
	if (t)
		return t;
	enum ctp_status status;
	char *key = ctp_sql_find(db, &status, err,
	                         "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(%L)) AND attnum = 1", name);
	if (!key && !status)
		ctp_sql_no_table(db, name, err);
	return ctp_sql_table_add(db, name, key, key && !status ? ctp_sql_next_row(db, key, name, err) : -1, err);
}

static enum ctp_status fill(struct ctp_postgres *p, struct ctp_sql_rows *r, int64_t class_id, struct ctp_err *err)
{
	struct ctp_sql_columns columns = {.cls = r->cls, .typed = set_form, .arg = r};
	enum ctp_status status = ctp_sql_columns_find(&p->sql, &columns, class_id, err);
	if (!status && !(r->table = find_table(&p->sql, columns.table, err)))
		status = CTP_FAILED;
	if (!status && !(r->copy = ctp_sql_text(&p->sql, "COPY %I (%I, %s) FROM STDIN (FORMAT binary%s)", columns.table, r->table->key,
	                                        columns.names.data, p->fresh ? ", FREEZE" : "")))
		status = ctp_sql_no_memory(&p->sql, err);
	ctp_sql_columns_fini(&columns);
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
	if (!r)
		return ctp_sql_no_memory(db, err), NULL;
	r->cls = cls;
	list((struct ctp_postgres *)db, r);
	if (!fill((struct ctp_postgres *)db, r, class_id, err)) {
		r->state_fields = ctp_postgres_state_fields(cls);
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

static enum ctp_status begin_copy(struct ctp_postgres *p, struct ctp_sql_rows *r, struct ctp_err *err)
{
	static const char header[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0"; /* and the NUL after it */
	if (ctp_postgres_begin_copy(p, r->copy, err))
		return CTP_FAILED;
	p->copying = r;
	return PQputCopyData(p->conn, header, sizeof header) < 0 ? ctp_postgres_error(p, NULL, err) : CTP_OK;
}

static enum ctp_status send_rows(struct ctp_postgres *p, struct ctp_sql_rows *r, struct ctp_err *err)
{
	if (r->used && p->copying != r && begin_copy(p, r, err))
		return CTP_FAILED;
	if (ctp_postgres_put_copy(p, r->buf, r->used, err)) {
		p->copying = NULL;
		return CTP_FAILED;
	}
	p->delivered += r->nrows;
	r->nrows = 0;
	r->used = 0;
	return CTP_OK;
}

static enum ctp_status send_all(struct ctp_postgres *p, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	for (struct ctp_sql_rows *r = p->rows; r && !status; r = r->next)
		status = send_rows(p, r, err);
	return status;
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
static char *put_numeric(char *to, uint64_t v, bool is_signed)
{
	uint16_t digit[5];
	int n = 0, first = 0;
	bool negative = is_signed && (int64_t)v < 0;
	for (v = negative ? -v : v; v; v /= 10000)
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

static char *put_text(char *to, const char *text, size_t len) { return (char *)memcpy(put32(to, (uint32_t)len), text, len) + len; }

/* Its length is known afterwards. */
static char *put_string(char *to, const char *text, size_t len, bool ascii)
{
	char *end = ctp_escape(to + 4, text, len, ascii);
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
	const struct ctp_str *str = ctp_type_is_text(f->type) && v ? ctp_str_val(v) : &empty;
	char hex[CTP_TEXT_MAX];
	switch (r->column[i].form) {
	case BIGINT:
		if (v > INT64_MAX && !r->column[i].is_signed)
			return refuse(p, r->cls, f, v, err);
		*to = put_bigint(*to, v);
		break;
	case NUMERIC:
		*to = put_numeric(*to, v, r->column[i].is_signed);
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
		*to = put_bigint(*to, ctp_double_val(CTP_F64, ctp_val_double(f->type, v)));
		break;
	case STRING:
		*to = put_string(*to, str->data, str->len, p->escapes);
		break;
	case BYTES:
		*to = put_text(*to, str->data, str->len);
		break;
	}
	return CTP_OK;
}

enum ctp_status ctp_postgres_add(struct ctp_sql *db, struct ctp_sql_rows *r, int64_t section, const uint64_t *val, struct ctp_err *err)
{
	struct ctp_postgres *p = (struct ctp_postgres *)db;
	size_t bytes = row_bytes(r, val);
	if (r->room - r->used < bytes) {
		if (send_rows(p, r, err))
			return CTP_FAILED;
		size_t room = bytes > BUFFER ? bytes : BUFFER;
		if (!CTP_ARRAY_RESERVE(r->buf, r->room, room, room))
			return ctp_sql_no_memory(db, err);
	}
	char *to = put16(r->buf + r->used, (uint16_t)(OWN_COLUMNS + r->cls->nfields));
	to = put_bigint(to, (uint64_t)r->table->next_id++);
	to = put_bigint(to, (uint64_t)section);
	for (uint32_t i = 0; i < r->cls->nfields; i++)
		if (put_field(p, r, i, &to, val[i], err))
			return CTP_FAILED;
	r->used = (size_t)(to - r->buf);
	assert(r->used <= r->room); /* row_bytes said so */
	r->nrows++;
	if (!p->now)
		return CTP_OK;
	if (ctp_postgres_now_is_full(p->now) && (send_all(p, err) || ctp_postgres_now_put(p, err)))
		return CTP_FAILED;
	struct ctp_record rec = {.cls = r->cls, .val = val};
	return ctp_postgres_now_note(p, &r->state_fields, section, &rec, err);
}
