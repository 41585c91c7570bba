/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * text.h - numbers and times to text and back, fast and exact. Writers of text return the address after the last character.
 */
#ifndef CTP_TEXT_H
#define CTP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/linkage.h"

CTP_C_BEGIN

enum { CTP_TEXT_MAX = 32 }; /* bytes that a writer may overwrite, for any number; the caller has room for them */

char *ctp_text_u64(char *p, uint64_t v);

/*
 * The same, quicker if a number differs from the one before in its last eight digits only, as times and addresses do. near is the
 * caller's, one for each series of numbers; all zeros at first.
 */
struct ctp_text_near {
	uint64_t base;  /* the number before, its last eight digits 0 */
	unsigned len;   /* of the digits before those */
	char head[16];
};
char *ctp_text_u64_near(char *p, uint64_t v, struct ctp_text_near *near);

char *ctp_text_i64(char *p, int64_t v);
char *ctp_text_hex16(char *p, uint64_t v); /* "0x" and 16 digits */
char *ctp_text_double(char *p, double d);  /* shortest that reads back the same; "NaN", "Infinity", "-Infinity" */
char *ctp_text_float(char *p, float f);

/* A wall-clock time, UTC, from seconds since 1970 and nanoseconds: 2026-11-15T04:53:48.123456789Z. Of the years 0 to 9999. */
char *ctp_text_wall(char *p, int64_t s, uint32_t ns);

/* For people: 1.73 s, 412 us, 8 ns; 1,234,567. */
char *ctp_text_duration(char *p, uint64_t ns);
char *ctp_text_count(char *p, uint64_t n);

/* Read the whole text [p, end) as a number; false: it is none, or does not fit. Hexadecimal begins with 0x. */
bool ctp_parse_u64(const char *p, const char *end, uint64_t *v);
bool ctp_parse_i64(const char *p, const char *end, int64_t *v);
bool ctp_parse_hex(const char *p, const char *end, uint64_t *v);
bool ctp_parse_hex16(const char *p, uint64_t *v); /* 18 bytes, just as ctp_text_hex16 writes them */

/*
 * Reads the digits at *at, in base 10 or 16 without capitals; *at moves to the first character that is none. False: there are none,
 * or the number does not fit.
 */
bool ctp_take_number(const char **at, const char *end, unsigned base, uint64_t *v);

/* Reads a wall-clock time; also with a space for the T, fewer digits of the second or none, and +00:00 or nothing for the Z. */
bool ctp_parse_wall(const char *p, const char *end, int64_t *s, uint32_t *ns);

/* Bytes of the UTF-8 character at p < end, which may be NUL; 0: it is invalid. */
unsigned ctp_utf8_bytes(const char *p, const char *end);
unsigned ctp_utf8_point(const char *p, unsigned bytes); /* its number; bytes: as that said */

CTP_C_END

#endif
