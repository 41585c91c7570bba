/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * text.c - numbers and times to text and back.
 *
 * Integers are cut into groups of eight digits, which do not depend on one another, and a table gives the digits in fours:
 * measured in whole rows, a third quicker than a table of pairs or than arithmetic on eight digits in a word. Floating point
 * goes through printf and strtod, which are exact and rarely needed here.
 */
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/plain-locale.h"

/* Four digits as they lie in memory, the first in the lowest byte, for each number below 10000. */
#define D4(a, b, c, d) (0x30303030u + (a) + ((b) << 8) + ((c) << 16) + ((unsigned)(d) << 24))
#define D3(a, b, c) D4(a, b, c, 0), D4(a, b, c, 1), D4(a, b, c, 2), D4(a, b, c, 3), D4(a, b, c, 4), \
	            D4(a, b, c, 5), D4(a, b, c, 6), D4(a, b, c, 7), D4(a, b, c, 8), D4(a, b, c, 9)
#define D2(a, b) D3(a, b, 0), D3(a, b, 1), D3(a, b, 2), D3(a, b, 3), D3(a, b, 4), \
	         D3(a, b, 5), D3(a, b, 6), D3(a, b, 7), D3(a, b, 8), D3(a, b, 9)
#define D1(a) D2(a, 0), D2(a, 1), D2(a, 2), D2(a, 3), D2(a, 4), D2(a, 5), D2(a, 6), D2(a, 7), D2(a, 8), D2(a, 9)
static const uint32_t fours[10000] = {D1(0), D1(1), D1(2), D1(3), D1(4), D1(5), D1(6), D1(7), D1(8), D1(9)};

/* The eight digits of v < 10^8. */
static inline uint64_t digits_8(uint32_t v) { return fours[v / 10000] | (uint64_t)fours[v % 10000] << 32; }

static inline char *put_8(char *p, uint64_t digits, unsigned skip)
{
	uint64_t text = htole64(digits >> (8 * skip));
	memcpy(p, &text, 8);
	return p + 8 - skip;
}

/*
 * Up to eight digits without leading zeros. Branches find the number of digits: a processor predicts it well, and goes on with the
 * text after the number before the digits are known.
 */
static inline char *put_head(char *p, uint32_t v)
{
	if (v < 10000) {
		uint32_t four = fours[v], text = htole32(four);
		if (v >= 1000)
			return memcpy(p, &text, 4), p + 4;
		return v >= 100 ? put_8(p, four, 1) - 4 : v >= 10 ? put_8(p, four, 2) - 4 : put_8(p, four, 3) - 4;
	}
	uint64_t digits = digits_8(v);
	return v >= 1000000 ? (v >= 10000000 ? put_8(p, digits, 0) : put_8(p, digits, 1)) :
	                      (v >= 100000 ? put_8(p, digits, 2) : put_8(p, digits, 3));
}

static const uint64_t e8 = 100000000;

char *ctp_text_u64_near(char *p, uint64_t v, struct ctp_text_near *near)
{
	if (v < e8)
		return put_head(p, (uint32_t)v);
	if (v - near->base >= e8) { /* also at first, when base is 0 */
		uint64_t hi = v / e8;
		near->base = hi * e8;
		near->len = (unsigned)(ctp_text_u64(p, hi) - p);
		memcpy(near->head, p, sizeof near->head);
	}
	memcpy(p, near->head, sizeof near->head);
	return put_8(p + near->len, digits_8((uint32_t)(v - near->base)), 0);
}

char *ctp_text_u64(char *p, uint64_t v)
{
	if (v < e8)
		return put_head(p, (uint32_t)v);
	uint64_t hi = v / e8, lo = v % e8;
	if (hi < e8)
		return put_8(put_head(p, (uint32_t)hi), digits_8((uint32_t)lo), 0);
	p = put_head(p, (uint32_t)(hi / e8));
	p = put_8(p, digits_8((uint32_t)(hi % e8)), 0);
	return put_8(p, digits_8((uint32_t)lo), 0);
}

char *ctp_text_i64(char *p, int64_t v)
{
	uint64_t u = (uint64_t)v;
	if (v < 0) {
		*p++ = '-';
		u = 0 - u;
	}
	return ctp_text_u64(p, u);
}

/* Eight hexadecimal digits at once, one nibble to a byte. */
static inline uint64_t hex_8(uint32_t v)
{
	uint64_t x = v;
	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fULL;
	return htobe64(ctp_digits_spell_hex(x));
}

char *ctp_text_hex16(char *p, uint64_t v)
{
	uint64_t digits[2] = {hex_8((uint32_t)(v >> 32)), hex_8((uint32_t)v)};
	p[0] = '0';
	p[1] = 'x';
	memcpy(p + 2, digits, 16);
	return p + 18;
}

/*
 * `least` significant digits distinguish a normal number that has no more from its neighbours, and %g drops zeros at the end: so
 * the search starts with `least`. Only denormals may need fewer.
 */
static char *put_shortest(char *p, double d, int least, int most, bool is_float)
{
	if (isnan(d))
		return memcpy(p, "NaN", 3), p + 3;
	if (isinf(d))
		return d < 0 ? (memcpy(p, "-Infinity", 9), p + 9) : (memcpy(p, "Infinity", 8), p + 8);
	bool normal = is_float ? isnormal((float)d) : isnormal(d), same = false;
	locale_t before = ctp_plain_locale_begin();
	int len = 0;
	for (int digits = normal ? least : 1; !same; digits++) {
		len = snprintf(p, CTP_TEXT_MAX, "%.*g", digits, d);
		same = digits >= most || (is_float ? strtof(p, NULL) == (float)d : strtod(p, NULL) == d);
	}
	ctp_plain_locale_end(before);
	return p + len;
}

char *ctp_text_double(char *p, double d) { return put_shortest(p, d, 15, 17, false); }
char *ctp_text_float(char *p, float f) { return put_shortest(p, f, 6, 9, true); }

/* --- wall-clock time ----------------------------------------------------------------------------------------------------- */

/*
 * Days are counted in years that begin in March, so that a leap day is the last of its year; 400 of them have 146097 days, and
 * the months from March on have 30.6 days, rounded the same way each time.
 */
enum { ERA_DAYS = 146097, MARCH_0000 = 719468 }; /* days from then to 1970 */

char *ctp_text_wall(char *p, int64_t s, uint32_t ns)
{
	int64_t days = s / 86400 - (s % 86400 < 0);
	uint32_t second = (uint32_t)(s - days * 86400);
	int64_t era = (days + MARCH_0000) / ERA_DAYS - (days + MARCH_0000 < 0);
	uint32_t day = (uint32_t)(days + MARCH_0000 - era * ERA_DAYS);
	uint32_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	day -= 365 * year + year / 4 - year / 100;
	uint32_t month = (5 * day + 2) / 153;
	day -= (153 * month + 2) / 5;
	month = month < 10 ? month + 3 : month - 9;
	put_8(p, digits_8((uint32_t)(era * 400 + year + (month <= 2)) * 10000), 0);
	put_8(p + 5, digits_8((month * 1000 + day + 1) * 1000), 0);
	put_8(p + 11, digits_8((second / 3600 * 1000 + second / 60 % 60) * 1000), 0);
	put_8(p + 17, digits_8(second % 60 * 1000000), 0);
	put_8(p + 20, digits_8(ns / 10), 0);
	p[4] = p[7] = '-';
	p[10] = 'T';
	p[13] = p[16] = ':';
	p[19] = '.';
	p[28] = (char)('0' + ns % 10);
	p[29] = 'Z';
	return p + 30;
}

/* n digits as a number below a limit. */
static bool parse_part(const char *p, unsigned n, uint32_t limit, uint32_t *v)
{
	uint64_t number;
	if (!ctp_parse_u64(p, p + n, &number) || number >= limit)
		return false;
	*v = (uint32_t)number;
	return true;
}

bool ctp_parse_wall(const char *p, const char *end, int64_t *s, uint32_t *ns)
{
	static const uint8_t days_of[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	uint32_t year, month, day, hour, minute, second;
	if (end - p < 19 || p[4] != '-' || p[7] != '-' || (p[10] != 'T' && p[10] != ' ') || p[13] != ':' || p[16] != ':' ||
	    !parse_part(p, 4, 10000, &year) || !parse_part(p + 5, 2, 13, &month) || !parse_part(p + 8, 2, 32, &day) ||
	    !parse_part(p + 11, 2, 24, &hour) || !parse_part(p + 14, 2, 60, &minute) || !parse_part(p + 17, 2, 60, &second))
		return false;
	bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);
	if (!month || !day || day > days_of[month - 1] || (month == 2 && day == 29 && !leap))
		return false;
	*ns = 0;
	p += 19;
	if (p < end && *p == '.') {
		uint32_t unit = 100000000;
		for (p++; p < end && *p >= '0' && *p <= '9' && unit; p++, unit /= 10)
			*ns += unit * (uint32_t)(*p - '0');
		if (unit == 100000000)
			return false;
	}
	if (end - p != 0 && !(end - p == 1 && *p == 'Z') && !(end - p == 6 && !memcmp(p, "+00:00", 6)))
		return false;
	int64_t march_year = (int64_t)year - (month <= 2), era = (march_year + 400) / 400 - 1;
	uint32_t of_era = (uint32_t)(march_year - era * 400);
	uint32_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
	int64_t days = era * ERA_DAYS + 365 * of_era + of_era / 4 - of_era / 100 + of_year - MARCH_0000;
	*s = days * 86400 + hour * 3600 + minute * 60 + second;
	return true;
}

/* --- from text ------------------------------------------------------------------------------------------------------------ */

static inline bool join_8(uint64_t word, uint32_t *v)
{
	*v = ctp_digits_join(word ^ CTP_DIGITS_ZEROS);
	return !ctp_digits_others(word ^ CTP_DIGITS_ZEROS);
}

bool ctp_parse_u64(const char *p, const char *end, uint64_t *v)
{
	uint64_t n = 0;
	uint32_t part;
	if (end - p < 8) {
		for (const char *at = p; at < end; at++) {
			unsigned digit = (unsigned char)*at - (unsigned)'0';
			if (digit > 9)
				return false;
			n = n * 10 + digit;
		}
		*v = n;
		return p < end;
	}
	unsigned head = (unsigned)(end - p) % 8;
	if (head) {
		/* Leading zeros make it eight digits. */
		if (!join_8(ctp_digits_load(p) << (64 - 8 * head) | CTP_DIGITS_ZEROS >> 8 * head, &part))
			return false;
		n = part;
	}
	for (p += head; p < end; p += 8)
		if (!join_8(ctp_digits_load(p), &part) || __builtin_mul_overflow(n, e8, &n) || __builtin_add_overflow(n, part, &n))
			return false;
	*v = n;
	return true;
}

bool ctp_parse_i64(const char *p, const char *end, int64_t *v)
{
	bool negative = p < end && *p == '-';
	uint64_t n;
	if (!ctp_parse_u64(p + negative, end, &n) || n > (uint64_t)INT64_MAX + negative)
		return false;
	*v = (int64_t)(negative ? 0 - n : n);
	return true;
}

bool ctp_parse_hex16(const char *p, uint64_t *v)
{
	uint32_t high, low;
	bool digits = ctp_digits_join_hex(ctp_digits_load(p + 2), &high);
	digits &= ctp_digits_join_hex(ctp_digits_load(p + 10), &low);
	*v = (uint64_t)high << 32 | low;
	return digits && p[0] == '0' && p[1] == 'x';
}

bool ctp_parse_hex(const char *p, const char *end, uint64_t *v)
{
	static const uint8_t nibble[256] = {
		['0'] = 0x10, ['1'] = 0x11, ['2'] = 0x12, ['3'] = 0x13, ['4'] = 0x14, ['5'] = 0x15, ['6'] = 0x16, ['7'] = 0x17,
		['8'] = 0x18, ['9'] = 0x19, ['a'] = 0x1a, ['b'] = 0x1b, ['c'] = 0x1c, ['d'] = 0x1d, ['e'] = 0x1e, ['f'] = 0x1f,
		['A'] = 0x1a, ['B'] = 0x1b, ['C'] = 0x1c, ['D'] = 0x1d, ['E'] = 0x1e, ['F'] = 0x1f,
	};
	uint64_t n = 0;
	if (end - p < 3 || p[0] != '0' || (p[1] | 0x20) != 'x')
		return false;
	for (p += 2; p < end; p++) {
		unsigned digit = nibble[(uint8_t)*p];
		if (!digit || n >> 60)
			return false;
		n = n << 4 | (digit & 15);
	}
	*v = n;
	return true;
}

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

bool ctp_take_number(const char **at, const char *end, unsigned base, uint64_t *v)
{
	const char *from = *at;
	*v = 0;
	for (; *at < end && digit_of(**at) < base; ++*at)
		if (__builtin_mul_overflow(*v, base, v) || __builtin_add_overflow(*v, digit_of(**at), v))
			return false;
	return *at > from;
}

unsigned ctp_utf8_bytes(const char *p, const char *end)
{
	const unsigned char *s = (const unsigned char *)p;
	unsigned c = s[0], n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
	if (n < 2 || end - p < n)
		return n < 2 ? n : 0;
	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	bool overlong = (c == 0xe0 && s[1] < 0xa0) || (c == 0xf0 && s[1] < 0x90);
	bool beyond = (c == 0xed && s[1] >= 0xa0) || (c == 0xf4 && s[1] >= 0x90); /* a surrogate, or above U+10FFFF */
	return overlong || beyond ? 0 : n;
}

char *ctp_text_count(char *p, uint64_t n)
{
	char digits[CTP_TEXT_MAX];
	const char *end = ctp_text_u64(digits, n);
	for (const char *d = digits; d < end; d++) {
		if (d > digits && (end - d) % 3 == 0)
			*p++ = ',';
		*p++ = *d;
	}
	return p;
}

char *ctp_text_duration(char *p, uint64_t ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"d", 86400e9}, {"h", 3600e9}, {"min", 60e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		double v = (double)ns / units[i].ns;
		if (v < 0.9995) /* rounding would show 1000 of the unit below */
			continue;
		locale_t before = ctp_plain_locale_begin();
		p += snprintf(p, CTP_TEXT_MAX, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[i].unit);
		ctp_plain_locale_end(before);
		return p;
	}
	return p + snprintf(p, CTP_TEXT_MAX, "%u ns", (unsigned)ns);
}

unsigned ctp_utf8_point(const char *p, unsigned bytes)
{
	unsigned c = (unsigned char)p[0];
	if (bytes > 1)
		c &= 0x7fu >> bytes;
	for (unsigned i = 1; i < bytes; i++)
		c = c << 6 | ((unsigned char)p[i] & 63);
	return c;
}
