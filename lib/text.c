/*
 * text.c - numbers to text and back.
 *
 * Integers are cut into groups of eight digits, which do not depend on one another, and a table gives the digits in fours:
 * measured in whole rows, a third quicker than a table of pairs or than arithmetic on eight digits in a word. Floating point
 * goes through printf and strtod, which are exact and rarely needed here; neither sees a locale, since nothing in this project
 * sets one.
 */
#include "text.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
 * Up to eight digits without leading zeros. Their number is found by branches and not from the digits: a processor guesses it
 * well, and goes on with what comes behind the number before the digits are known.
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

/* Eight hexadecimal digits at once: one nibble to a byte, then '0' or 'a' - 10 added to each. */
static inline uint64_t hex_8(uint32_t v)
{
	uint64_t x = v;
	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fULL;
	uint64_t letter = (x + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL;
	return htobe64(x + 0x3030303030303030ULL + letter * ('a' - 10 - '0'));
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
 * A normal number with at most `least` significant decimal digits is told apart from its neighbours by them, and %g drops the
 * zeros behind: so the search may start there. Only denormals can do with fewer.
 */
static char *put_shortest(char *p, double d, int least, int most, bool is_float)
{
	if (isnan(d))
		return memcpy(p, "NaN", 3), p + 3;
	if (isinf(d))
		return d < 0 ? (memcpy(p, "-Infinity", 9), p + 9) : (memcpy(p, "Infinity", 8), p + 8);
	bool normal = is_float ? isnormal((float)d) : isnormal(d);
	for (int digits = normal ? least : 1;; digits++) {
		int len = snprintf(p, CTP_TEXT_MAX, "%.*g", digits, d);
		if (digits >= most || (is_float ? strtof(p, NULL) == (float)d : strtod(p, NULL) == d))
			return p + len;
	}
}

char *ctp_text_double(char *p, double d) { return put_shortest(p, d, 15, 17, false); }
char *ctp_text_float(char *p, float f) { return put_shortest(p, f, 6, 9, true); }

bool ctp_parse_u64(const char *p, const char *end, uint64_t *v)
{
	uint64_t n = 0;
	if (p == end)
		return false;
	for (; p < end; p++) {
		unsigned digit = (unsigned char)*p - (unsigned)'0';
		if (digit > 9 || __builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digit, &n))
			return false;
	}
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

bool ctp_parse_hex(const char *p, const char *end, uint64_t *v)
{
	uint64_t n = 0;
	if (end - p < 3 || p[0] != '0' || (p[1] | 0x20) != 'x')
		return false;
	for (p += 2; p < end; p++) {
		unsigned c = (unsigned char)*p, digit = c - '0';
		if (digit > 9)
			digit = (c | 0x20) - 'a' < 6 ? (c | 0x20) - 'a' + 10 : 16;
		if (digit > 15 || n >> 60)
			return false;
		n = n << 4 | digit;
	}
	*v = n;
	return true;
}
