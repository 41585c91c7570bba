/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sqlite-value.c - see sqlite-value.h. */
#include "sqlite/sqlite-value.h"

SQLITE_EXTENSION_INIT3

#include <math.h>
#include <string.h>

#include "base/text.h"

static const char *const reserved[] = {"sqlite_", NULL};
const struct ctp_sql_naming ctp_sqlite_naming = {.reserved = reserved};

const char *const ctp_sqlite_types[CTP_SQL_TYPES] = {CTP_SQLITE_TYPES};

/* --- values -------------------------------------------------------------------------------------------------------------- */

/*
 * Texts are copied, though the record stays until the next row: in max() and keys of groups SQLite keeps a static text for longer
 * than that.
 */
void ctp_sqlite_result_text(sqlite3_context *to, const char *data, size_t len)
{
	if (ctp_escape_is_plain(data, len))
		sqlite3_result_text(to, data, (int)len, SQLITE_TRANSIENT);
	else
		sqlite3_result_blob(to, data, (int)len, SQLITE_TRANSIENT);
}

static void result_enum(sqlite3_context *to, const struct ctp_field *f, uint64_t v)
{
	const char *label = ctp_sql_label(f, v);
	if (label)
		ctp_sqlite_result_text(to, label, strlen(label));
	else
		sqlite3_result_int64(to, (sqlite3_int64)v);
}

static void result_real(sqlite3_context *to, const struct ctp_field *f, uint64_t v)
{
	double d = ctp_val_double(f->type, v);
	if (isnan(d))
		sqlite3_result_text(to, "NaN", 3, SQLITE_STATIC);
	else
		sqlite3_result_double(to, d);
}

static void result_number(sqlite3_context *to, const struct ctp_field *f, enum ctp_sql_form form, uint64_t v)
{
	char text[CTP_TEXT_MAX], *end;
	if (form == CTP_SQL_HEX)
		end = ctp_text_hex16(text, v);
	else
		end = ctp_type_is_signed(f->type) ? ctp_text_i64(text, (int64_t)v) : ctp_text_u64(text, v);
	sqlite3_result_text(to, text, (int)(end - text), SQLITE_TRANSIENT);
}

void ctp_sqlite_result(sqlite3_context *to, const struct ctp_field *f, enum ctp_sql_form form, uint64_t v)
{
	static const struct ctp_str empty;
	const struct ctp_str *s = ctp_type_is_text(f->type) && v ? ctp_str_val(v) : &empty;
	switch (form) {
	case CTP_SQL_INTEGER:
		sqlite3_result_int64(to, (sqlite3_int64)v);
		break;
	case CTP_SQL_DECIMAL:
	case CTP_SQL_HEX:
		result_number(to, f, form, v);
		break;
	case CTP_SQL_ENUM:
		result_enum(to, f, v);
		break;
	case CTP_SQL_REAL:
		result_real(to, f, v);
		break;
	case CTP_SQL_STRING:
		ctp_sqlite_result_text(to, s->data, s->len);
		break;
	case CTP_SQL_BYTES:
		sqlite3_result_blob(to, s->data, (int)s->len, SQLITE_TRANSIENT);
		break;
	}
}
