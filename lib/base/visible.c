/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* visible.c - see visible.h. */
#include "base/visible.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* By the ranges of Unicode's list. */
bool ctp_visible_not(unsigned c)
{
	static const struct {
		unsigned first, last;
	} ranges[] = {{0, 0x1f}, {0x7f, 0x9f}, {0xad, 0xad}, {0x61c, 0x61c}, {0x180e, 0x180e}, {0x200b, 0x200f},
	              {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}};
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

unsigned ctp_visible_spell(char to[CTP_VISIBLE_MAX], unsigned c, bool is_byte)
{
	const char *fmt = c == '\\' ? "\\\\" : is_byte || c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
	return (unsigned)snprintf(to, CTP_VISIBLE_MAX, fmt, c);
}

unsigned ctp_visible_char(char to[CTP_VISIBLE_MAX], const char **text, unsigned *columns)
{
	const char *s = *text;
	*columns = 0;
	if (!*s)
		return 0;
	unsigned bytes = ctp_utf8_bytes(s, s + strnlen(s, 4)), c = bytes ? ctp_utf8_point(s, bytes) : (unsigned char)*s;
	*text += bytes ? bytes : 1;
	if (bytes && c != '\\' && !ctp_visible_not(c)) {
		memcpy(to, s, bytes);
		*columns = 1;
		return bytes;
	}
	return *columns = ctp_visible_spell(to, c, !bytes);
}

size_t ctp_visible(char *to, size_t room, const char *text)
{
	char c[CTP_VISIBLE_MAX];
	unsigned n, columns;
	size_t len = 0;
	for (;;) {
		bool backslash = *text == '\\';
		n = ctp_visible_char(c, &text, &columns) - backslash;
		if (!n || n >= room - len)
			break;
		memcpy(to + len, c, n);
		len += n;
	}
	to[len] = '\0';
	return len;
}
