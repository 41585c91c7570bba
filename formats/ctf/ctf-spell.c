/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ctf-spell.c - names as Trace Compass takes them.
 *
 * It reads strings as Latin-1. One with a control character, of which UTF-8 has many when it is read so, or with more than 32,767
 * bytes ends its analyses; one that is not ASCII ends those with segments; and "*" has another name when the trace is opened again.
 * So such a name is also written as C spells it: Stra\u00dfe. A backslash is doubled: no name looks like the spelling of another.
 */
#include "ctf/ctf.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "base/visible.h"

enum { TAIL_BYTES = sizeof "\\...0123456789abcdef" - 1 };

static const char EMPTY[] = "\\(empty)"; /* babeltrace2 2.0 would show an empty string as what was there before */

static bool is_star(const struct ctp_str *str) { return str->len == 1 && str->data[0] == '*'; }

static bool is_plain(unsigned char c) { return c >= ' ' && c <= '~' && c != '\\'; }

bool ctp_ctf_is_spelling(const struct ctp_str *str)
{
	bool plain = str->len && str->len <= CTP_CTF_SPELLING_MAX && !is_star(str);
	for (uint32_t i = 0; plain && i < str->len; i++)
		plain = is_plain((unsigned char)str->data[i]);
	return plain;
}

size_t ctp_ctf_spelling_room(const struct ctp_str *str)
{
	size_t room = (size_t)CTP_CTF_SPELLING_GROWTH * str->len + sizeof EMPTY;
	return room < CTP_CTF_SPELLING_MAX ? room : CTP_CTF_SPELLING_MAX;
}

char *ctp_ctf_spell(char *p, const struct ctp_str *str)
{
	const char *s = str->data, *end = s + str->len, *most = p + CTP_CTF_SPELLING_MAX - TAIL_BYTES;
	if (s == end || ctp_ctf_is_spelling(str)) {
		size_t len = s == end ? sizeof EMPTY - 1 : str->len;
		memcpy(p, s == end ? EMPTY : s, len);
		return p + len;
	}
	while (s < end) {
		char spelled[CTP_VISIBLE_MAX] = {*s};
		unsigned bytes = ctp_utf8_bytes(s, end), n = 1;
		if (!is_plain((unsigned char)*s) || is_star(str))
			n = ctp_visible_spell(spelled, bytes ? ctp_utf8_point(s, bytes) : (unsigned char)*s, !bytes);
		if (most - p < (ptrdiff_t)n)
			return p + sprintf(p, "\\...%016llx",
			                   (unsigned long long)ctp_map_bytes(UINT64_C(0xcbf29ce484222325), str->data, str->len));
		memcpy(p, spelled, n);
		p += n;
		s += bytes ? bytes : 1;
	}
	return p;
}
