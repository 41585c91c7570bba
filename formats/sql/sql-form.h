/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sql-form.h - what a field is to an engine of SQL, and what it is called there.
 *
 * A probe's id is DECIMAL, an address or what is shown in hexadecimal is HEX: "0x" and 16 digits; not where the role is time.
 */
#ifndef CTP_SQL_FORM_H
#define CTP_SQL_FORM_H

#include "common/escape.h"
#include "stream/record.h"

enum ctp_sql_form {
	CTP_SQL_INTEGER, CTP_SQL_DECIMAL, CTP_SQL_HEX, CTP_SQL_ENUM, CTP_SQL_REAL, CTP_SQL_STRING, CTP_SQL_BYTES,
};

enum ctp_sql_form ctp_sql_form(const struct ctp_field *f);

/* The types that an engine has names for: one for each form, and those of whole numbers that may have another. */
enum { CTP_SQL_TYPE_BOOL = CTP_SQL_BYTES + 1, CTP_SQL_TYPE_WIDE, CTP_SQL_TYPES };

/* The field's type by these names. A name that is null for BOOL or WIDE is that of its form. */
const char *ctp_sql_type(const char *const types[CTP_SQL_TYPES], const struct ctp_field *f);

/* The label of an enumeration's value, if it is of this value alone; else null. */
const char *ctp_sql_label(const struct ctp_field *f, uint64_t value);

/*
 * The field of a transition, of whatever class, for a field of ctp-collect's: the first whole number with its role, or else the
 * field of its name. A number of events has no role of its own, so there the name goes first. -1: none.
 */
int ctp_sql_by_role(const struct ctp_class *cls, const char *name, enum ctp_role role);

struct ctp_sql_naming {
	const char *const *reserved; /* how no name begins, up to null; null: as it likes */
	const char *const *columns; /* which no column has, up to null; null: none */
	size_t max_bytes;     /* 0: any number */
	size_t max_odd;       /* characters of ASCII that are no letter, digit or _, which are longer in a file's name; 0: any number */
	bool ascii;           /* other characters are not for names, nor for texts in statements */
	bool bmp;             /* characters beyond U+FFFF, and blanks at the end, are not for names */
};

/*
 * The name as the engine may have it, and if nth is not 1 with _2, _3 ... after it. What cannot be in a name becomes \x and two
 * digits for each byte, a name that is reserved gets a _ before it, and one that is too long is cut,
 * with _ and eight digits at its end that are a hash of the whole name. For free(); null: out of memory.
 */
char *ctp_sql_name(const struct ctp_sql_naming *naming, const char *name, unsigned nth);

/* For a column: the first that is not among those that are taken; case does not count. */
bool ctp_sql_name_is_free(const struct ctp_sql_naming *naming, const char *name, char *const *taken, size_t ntaken);
char *ctp_sql_name_beside(const struct ctp_sql_naming *naming, const char *name, char *const *taken, size_t ntaken);

#endif
