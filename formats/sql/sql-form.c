/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sql-form.c - see sql-form.h. */
#include "sql/sql-form.h"

#include <string.h>

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

const char *ctp_sql_type(const char *const types[CTP_SQL_TYPES], const struct ctp_field *f)
{
	enum ctp_sql_form form = ctp_sql_form(f);
	if (form > CTP_SQL_DECIMAL)
		return types[form];
	/* What has a role is looked up by, and compared: so it has one type, however few bits a class may have for it. */
	bool wide = f->role != CTP_ROLE_NONE || f->type == CTP_U64 || f->type == CTP_ENUM;
	const char *own = f->type == CTP_BOOL ? types[CTP_SQL_TYPE_BOOL] : wide ? types[CTP_SQL_TYPE_WIDE] : NULL;
	return own ? own : types[form];
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
