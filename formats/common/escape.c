/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* escape.c - see escape.h. */
#include "common/escape.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

const char *ctp_escape_find(const char *text, const char *end)
{
	unsigned n;
	while (text < end && *text && (n = ctp_utf8_bytes(text, end)))
		text += n;
	return text;
}

char *ctp_escape_hex(char *to, const char *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	for (const char *end = data + len; data < end; data++) {
		*to++ = digits[(uint8_t)*data >> 4];
		*to++ = digits[(uint8_t)*data & 15];
	}
	return to;
}

char *ctp_escape_byte(char *to, char byte)
{
	*to++ = '\\';
	*to++ = 'x';
	return ctp_escape_hex(to, &byte, 1);
}

char *ctp_escape(char *to, const char *text, size_t len, bool ascii)
{
	for (const char *end = text + len; text < end;) {
		unsigned n = *text ? ctp_utf8_bytes(text, end) : 0;
		if (n == 1 || (n && !ascii)) {
			to = (char *)memcpy(to, text, n) + n;
			text += n;
		} else {
			to = ctp_escape_byte(to, *text++); /* what is left of a character is no valid UTF-8, and follows */
		}
	}
	return to;
}
