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

#include "io/output.h"
#include "stream/record.h"

/* A value of the forms from CTP_FORM_ENUM on may have any length. */
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

/* Reads [p, end) as a value of a field that is neither string nor bytes; also other spellings: True, 7.0, 0x7b. */
bool ctp_value_parse(const struct ctp_field *f, enum ctp_form form, const char *p, const char *end, uint64_t *v);

/* Writes bytes as hexadecimal digits. */
void ctp_value_put_hex(struct ctp_output *out, const char *data, size_t len);

/* Turns the hexadecimal digits in s->data into bytes, in place. */
bool ctp_value_unhex(struct ctp_str *s);

/* A time of a section's clock as a wall-clock time, and back; offset_ns is the section's. False: no u64 is such a time. */
char *ctp_value_put_wall(char *p, uint64_t ts_ns, int64_t offset_ns);
bool ctp_value_parse_wall(const char *p, const char *end, int64_t offset_ns, uint64_t *ts_ns);

#endif
