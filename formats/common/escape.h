/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* escape.h - texts that may hold any bytes, for readers that take valid UTF-8 alone. */
#ifndef CTP_ESCAPE_H
#define CTP_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* The first byte that is a NUL or no part of valid UTF-8; end: there is none. */
const char *ctp_escape_find(const char *text, const char *end);

static inline bool ctp_escape_is_plain(const char *text, size_t len) { return ctp_escape_find(text, text + len) == text + len; }

/*
 * Spells a text so that it is valid: a NUL, and a byte that is no part of valid UTF-8, becomes \x and two digits; with ascii so does
 * all that is not ASCII. to has room for CTP_ESCAPE_GROWTH times len. Returns the end.
 */
char *ctp_escape(char *to, const char *text, size_t len, bool ascii);
enum { CTP_ESCAPE_GROWTH = 4 };

char *ctp_escape_byte(char *to, char byte);
char *ctp_escape_hex(char *to, const char *data, size_t len); /* two digits for each byte; returns the end */

#endif
