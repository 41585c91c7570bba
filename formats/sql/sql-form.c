/* sql-form.c - see sql-form.h. */
#include "sql/sql-form.h"

#include <string.h>

#include "base/text.h"

enum ctp_sql_form ctp_sql_form(const struct ctp_field *f)
{
	if (ctp_type_is_text(f->type))
		return f->type == CTP_STRING ? CTP_SQL_STRING : CTP_SQL_BYTES;
	if (ctp_type_is_float(f->type))
		return CTP_SQL_REAL;
	if (f->type == CTP_BOOL || f->type == CTP_ENUM)
		return f->type == CTP_BOOL || !f->nlabels ? CTP_SQL_INTEGER : CTP_SQL_ENUM;
	if (f->role == CTP_ROLE_TIME)
		return CTP_SQL_INTEGER;
	if (f->role == CTP_ROLE_ADDRESS || f->flags & CTP_FIELD_HEX)
		return CTP_SQL_HEX;
	return f->role == CTP_ROLE_PROBE ? CTP_SQL_DECIMAL : CTP_SQL_INTEGER;
}

const char *ctp_sql_label(const struct ctp_field *f, uint64_t value)
{
	const char *label = ctp_field_label(f, value);
	for (uint32_t i = 0; label && i < f->nlabels; i++)
		if (f->labels[i].value != value && !strcmp(f->labels[i].name, label))
			return NULL;
	return label;
}

int ctp_sql_by_role(const struct ctp_class *cls, const char *name, enum ctp_role role)
{
	int named = ctp_class_field(cls, name);
	if (role == CTP_ROLE_SEQUENCE && (named >= 0 || !strcmp(name, "index")))
		return named;
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (cls->fields[i].role == role && !ctp_type_is_text(cls->fields[i].type) && !ctp_type_is_float(cls->fields[i].type))
			return (int)i;
	return named;
}

bool ctp_sql_is_text(const char *data, size_t len)
{
	const char *end = data + len;
	for (unsigned n; data < end; data += n)
		if (!*data || !(n = ctp_utf8_bytes(data, end)))
			return false;
	return true;
}

char *ctp_sql_escape(char *to, const char *text, size_t len, bool ascii)
{
	static const char digits[] = "0123456789abcdef";
	const char *end = text + len;
	while (text < end) {
		unsigned n = *text ? ctp_utf8_bytes(text, end) : 0;
		if (n == 1 || (n && !ascii)) {
			memcpy(to, text, n);
			to += n;
			text += n;
			continue;
		}
		for (n = n ? n : 1; n; n--, text++) {
			*to++ = '\\';
			*to++ = 'x';
			*to++ = digits[(uint8_t)*text >> 4];
			*to++ = digits[(uint8_t)*text & 15];
		}
	}
	return to;
}
