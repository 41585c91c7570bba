/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * value.h - the value of a field as plain text, and back.
 *
 *	whole numbers        as they are
 *	addresses, flag HEX  "0x" and 16 digits
 *	bool                 true, false
 *	f32, f64             the shortest that reads back the same, or NaN, Infinity, -Infinity; of a NaN's bits nothing is kept
 *	enum                 its label, where reading that gives the value back; else the number
 *	bytes                hexadecimal digits, two for each
 *	string               its bytes
 */
#ifndef CTP_VALUE_H
#define CTP_VALUE_H

#include "base/linkage.h"
#include "io/output.h"
#include "stream/record.h"

CTP_C_BEGIN

/*
 * Writes a text as a format has it, and returns the end: names and strings hold bytes that it may have to spell otherwise. At most
 * CTP_SPELLED_MAX bytes for each of the text. Of a long text it is called for one part after the other.
 */
typedef char *ctp_value_spell(char *to, const char *text, size_t len);
enum { CTP_SPELLED_MAX = 6 };

/* A value as above: labels and strings go through spell (null: as they are), all else has only printable ASCII and no space. */
void ctp_value_put(struct ctp_output *out, const struct ctp_field *f, uint64_t v, ctp_value_spell *spell);

/* Any other text in the same way, such as the name of a field. */
void ctp_value_put_text(struct ctp_output *out, const char *text, size_t len, ctp_value_spell *spell);

/* --- the parts, for code that writes or reads many values ---------------------------------------------------------------- */

/* From CTP_FORM_ENUM on, a value may be of any length. */
enum ctp_form {
	CTP_FORM_UNSIGNED, CTP_FORM_SIGNED, CTP_FORM_HEX, CTP_FORM_BOOL, CTP_FORM_F32, CTP_FORM_F64,
	CTP_FORM_WALL,  /* a time, where wall-clock times are wanted */
	CTP_FORM_PLACE, /* not the number of a place but its text; at most CTP_SITE_SPELLED_MAX bytes */
	CTP_FORM_ENUM, CTP_FORM_TEXT, CTP_FORM_BYTES,
};

enum ctp_form ctp_form_of(const struct ctp_field *f); /* never CTP_FORM_WALL or CTP_FORM_PLACE */

/*
 * The label that is written for a value; null: the value is written as a number. A label that looks like a number is written only
 * where it is quoted.
 */
const char *ctp_value_label(const struct ctp_field *f, uint64_t v, bool quoted);

/*
 * The text [p, end) as a value of a field that is neither string nor bytes; form is the field's. Other spellings are understood:
 * True, 7.0, 0x7b. False: it is none, or does not fit the type, and *v is anything.
 */
bool ctp_value_parse(const struct ctp_field *f, enum ctp_form form, const char *p, const char *end, uint64_t *v);

/* Writes bytes as hexadecimal digits. */
void ctp_value_put_hex(struct ctp_output *out, const char *data, size_t len);

/* Hexadecimal digits in s->data to the bytes that they stand for, in place. False: they are none, and s->data is anything. */
bool ctp_value_unhex(struct ctp_str *s);

/*
 * A time of a section's clock as a wall-clock time, in CTP_TEXT_MAX bytes at most (text.h), and back; offset_ns is the section's
 * wall_offset_ns, and has a meaning only where has_wall is set. False: no u64 is such a time.
 */
char *ctp_value_put_wall(char *p, uint64_t ts_ns, int64_t offset_ns);
bool ctp_value_parse_wall(const char *p, const char *end, int64_t offset_ns, uint64_t *ts_ns);

CTP_C_END

#endif
