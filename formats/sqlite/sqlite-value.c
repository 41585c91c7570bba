/* sqlite-value.c - see sqlite-value.h. */
#include "sqlite/sqlite-value.h"

SQLITE_EXTENSION_INIT3

#include <math.h>
#include <string.h>

#include "base/text.h"

enum ctp_sqlite_form ctp_sqlite_form(const struct ctp_field *f)
{
	if (ctp_type_is_text(f->type))
		return f->type == CTP_STRING ? CTP_SQLITE_TEXT : CTP_SQLITE_BLOB;
	if (ctp_type_is_float(f->type))
		return CTP_SQLITE_REAL;
	if (f->type == CTP_BOOL || f->type == CTP_ENUM)
		return f->type == CTP_BOOL || !f->nlabels ? CTP_SQLITE_INTEGER : CTP_SQLITE_ENUM;
	if (f->role == CTP_ROLE_TIME)
		return CTP_SQLITE_INTEGER;
	if (f->role == CTP_ROLE_ADDRESS || f->flags & CTP_FIELD_HEX)
		return CTP_SQLITE_HEX;
	return f->role == CTP_ROLE_PROBE ? CTP_SQLITE_DECIMAL : CTP_SQLITE_INTEGER;
}

const char *ctp_sqlite_type(const struct ctp_field *f)
{
	switch (ctp_sqlite_form(f)) {
	case CTP_SQLITE_INTEGER:
		return "INTEGER";
	case CTP_SQLITE_REAL:
		return "REAL";
	case CTP_SQLITE_BLOB:
		return "BLOB";
	case CTP_SQLITE_ENUM:
		return "";
	default:
		return "TEXT";
	}
}

static bool is_taken(const char *name, char *const *taken, size_t ntaken)
{
	for (size_t i = 0; i < ntaken; i++)
		if (!sqlite3_stricmp(name, taken[i]))
			return true;
	return false;
}

/* The name with \x and two digits for bytes that are no UTF-8, and with a _ before it if SQLite reserves it. */
static char *plain_name(const char *name)
{
	static const char reserved[] = "sqlite_";
	sqlite3_str *plain = sqlite3_str_new(NULL);
	if (!sqlite3_strnicmp(name, reserved, sizeof reserved - 1))
		sqlite3_str_appendchar(plain, 1, '_');
	const char *end = name + strlen(name);
	for (unsigned n; name < end; name += n ? n : 1)
		if ((n = ctp_utf8_bytes(name, end)))
			sqlite3_str_append(plain, name, (int)n);
		else
			sqlite3_str_appendf(plain, "\\x%02x", (uint8_t)*name);
	return sqlite3_str_finish(plain);
}

char *ctp_sqlite_name(const char *name, char *const *taken, size_t ntaken)
{
	char *plain = plain_name(name), *mine = plain;
	for (int n = 2; mine && is_taken(mine, taken, ntaken); n++) {
		if (mine != plain)
			sqlite3_free(mine);
		mine = sqlite3_mprintf("%s_%d", plain, n);
	}
	if (mine != plain)
		sqlite3_free(plain);
	return mine;
}

int ctp_sqlite_by_role(const struct ctp_class *cls, const char *name, enum ctp_role role)
{
	int named = ctp_class_field(cls, name);
	if (role == CTP_ROLE_SEQUENCE && (named >= 0 || !strcmp(name, "index")))
		return named;
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (cls->fields[i].role == role && !ctp_type_is_text(cls->fields[i].type) && !ctp_type_is_float(cls->fields[i].type))
			return (int)i;
	return named;
}

/* --- values -------------------------------------------------------------------------------------------------------------- */

bool ctp_sqlite_is_text(const char *data, size_t len)
{
	const char *end = data + len;
	for (unsigned n; data < end; data += n)
		if (!*data || !(n = ctp_utf8_bytes(data, end)))
			return false;
	return true;
}

/*
 * Texts are copied, though the record stays until the next row: in max() and keys of groups SQLite keeps a static text for longer
 * than that.
 */
void ctp_sqlite_result_text(sqlite3_context *to, const char *data, size_t len)
{
	if (ctp_sqlite_is_text(data, len))
		sqlite3_result_text(to, data, (int)len, SQLITE_TRANSIENT);
	else
		sqlite3_result_blob(to, data, (int)len, SQLITE_TRANSIENT);
}

static void result_enum(sqlite3_context *to, const struct ctp_field *f, uint64_t v)
{
	const char *label = ctp_field_label(f, v);
	for (uint32_t i = 0; label && i < f->nlabels; i++)
		if (f->labels[i].value != v && !strcmp(f->labels[i].name, label))
			label = NULL;
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

static void result_number(sqlite3_context *to, const struct ctp_field *f, enum ctp_sqlite_form form, uint64_t v)
{
	char text[CTP_TEXT_MAX], *end;
	if (form == CTP_SQLITE_HEX)
		end = ctp_text_hex16(text, v);
	else
		end = ctp_type_is_signed(f->type) ? ctp_text_i64(text, (int64_t)v) : ctp_text_u64(text, v);
	sqlite3_result_text(to, text, (int)(end - text), SQLITE_TRANSIENT);
}

void ctp_sqlite_result(sqlite3_context *to, const struct ctp_field *f, enum ctp_sqlite_form form, uint64_t v)
{
	static const struct ctp_str empty;
	const struct ctp_str *s;
	switch (form) {
	case CTP_SQLITE_INTEGER:
		sqlite3_result_int64(to, (sqlite3_int64)v);
		break;
	case CTP_SQLITE_DECIMAL:
	case CTP_SQLITE_HEX:
		result_number(to, f, form, v);
		break;
	case CTP_SQLITE_ENUM:
		result_enum(to, f, v);
		break;
	case CTP_SQLITE_REAL:
		result_real(to, f, v);
		break;
	case CTP_SQLITE_TEXT:
		s = v ? ctp_str_val(v) : &empty;
		ctp_sqlite_result_text(to, s->data, s->len);
		break;
	case CTP_SQLITE_BLOB:
		s = v ? ctp_str_val(v) : &empty;
		sqlite3_result_blob(to, s->data, (int)s->len, SQLITE_TRANSIENT);
		break;
	}
}
