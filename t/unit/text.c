/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* Numbers and times to text and back: every width, the edges, and random ones against printf. */
#include <float.h>
#include <math.h>

#include "base/text.h"
#include "tap.h"

#include <time.h>

static uint64_t next_random(void)
{
	static uint64_t x = 88172645463325252;
	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static bool same(const char *got, const char *end, const char *want)
{
	bool pass = (size_t)(end - got) == strlen(want) && !memcmp(got, want, strlen(want));
	if (!pass)
		diag("  got \"%.*s\", expected \"%s\"", (int)(end - got), got, want);
	return pass;
}

static bool u64_right(uint64_t v)
{
	char got[CTP_TEXT_MAX], want[CTP_TEXT_MAX];
	uint64_t back = ~v;
	char *end = ctp_text_u64(got, v);
	snprintf(want, sizeof want, "%" PRIu64, v);
	if (!same(got, end, want) || !ctp_parse_u64(got, end, &back) || back != v)
		return false;
	static struct ctp_text_near near;
	if (!same(got, ctp_text_u64_near(got, v, &near), want) || !same(got, ctp_text_u64_near(got, v, &near), want))
		return false;
	end = ctp_text_hex16(got, v);
	snprintf(want, sizeof want, "0x%016" PRIx64, v);
	if (!same(got, end, want) || !ctp_parse_hex(got, end, &back) || back != v)
		return false;
	back = ~v;
	if (!ctp_parse_hex16(got, &back) || back != v)
		return false;
	int64_t signed_back = 0;
	end = ctp_text_i64(got, (int64_t)v);
	snprintf(want, sizeof want, "%" PRId64, (int64_t)v);
	return same(got, end, want) && ctp_parse_i64(got, end, &signed_back) && signed_back == (int64_t)v;
}

static bool double_right(double d)
{
	char got[CTP_TEXT_MAX + 1];
	char *end = ctp_text_double(got, d);
	*end = '\0';
	double back = strtod(got, NULL);
	if (end - got > CTP_TEXT_MAX || memcmp(&back, &d, sizeof d))
		return diag("  %a became %s", d, got), false;
	/* With one digit less it must differ: else this was not the shortest. */
	int digits = 0;
	for (const char *p = got; *p && *p != 'e'; p++)
		digits += *p >= '0' && *p <= '9';
	char shorter[400];
	snprintf(shorter, sizeof shorter, "%.*g", digits - 1, d);
	return digits < 2 || strchr(got, 'e') == NULL || strtod(shorter, NULL) != d;
}

static void integers(void)
{
	bool pass = true;
	for (uint64_t p = 1, i = 0; i < 20; i++, p *= 10)
		for (uint64_t v = p - 3; v != p + 3; v++)
			pass &= u64_right(v) && u64_right(0 - v);
	ok(pass, "whole numbers around each power of ten are right");
	pass = true;
	for (int i = 0; i < 300000; i++)
		pass &= u64_right(next_random() >> (i % 64));
	ok(pass, "random whole numbers of every width are right");
	ok(u64_right(0) && u64_right(UINT64_MAX) && u64_right(INT64_MAX) && u64_right((uint64_t)INT64_MIN),
	   "the smallest and largest numbers are right");
}

static void floats(void)
{
	static const double edges[] = {0, -0.0, 1, -1, 0.1, 1e21, 1e22, 123456789012345680, DBL_MAX, DBL_MIN, DBL_TRUE_MIN, M_PI};
	bool pass = true;
	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
		pass &= double_right(edges[i]);
	ok(pass, "doubles at the edges are reproduced");
	pass = true;
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = next_random();
		double d;
		memcpy(&d, &bits, sizeof d);
		pass &= !isfinite(d) || double_right(d);
	}
	ok(pass, "random doubles are reproduced bit by bit");
	pass = true;
	for (int i = 0; i < 20000; i++) {
		uint32_t bits = (uint32_t)next_random();
		float f, back;
		memcpy(&f, &bits, sizeof f);
		char got[CTP_TEXT_MAX + 1];
		*ctp_text_float(got, f) = '\0';
		back = strtof(got, NULL);
		pass &= !isfinite(f) || (!memcmp(&back, &f, sizeof f) && strlen(got) <= 15);
	}
	ok(pass, "random floats are reproduced from nine digits or fewer");
	char got[CTP_TEXT_MAX];
	ok(same(got, ctp_text_double(got, DBL_TRUE_MIN), "5e-324"), "the smallest double is short");
	ok(same(got, ctp_text_double(got, 0.3), "0.3"), "0.3 is 0.3");
	ok(same(got, ctp_text_float(got, 0.3f), "0.3"), "a short float is short");
	ok(same(got, ctp_text_double(got, NAN), "NaN") && same(got, ctp_text_double(got, INFINITY), "Infinity") &&
	   same(got, ctp_text_float(got, -INFINITY), "-Infinity"), "infinities and NaN have names");
}

static void nonsense(void)
{
	static const char *const no_u64[] = {"", "-1", "+1", " 1", "1 ", "1x", "18446744073709551616", "99999999999999999999", "0x1"};
	static const char *const no_i64[] = {"", "-", "--1", "9223372036854775808", "-9223372036854775809", "1-"};
	static const char *const no_hex[] = {"", "0x", "x1", "1f", "0x1g", "0x10000000000000000", "0x 1"};
	bool pass = true;
	uint64_t v;
	int64_t s;
	for (size_t i = 0; i < sizeof no_u64 / sizeof *no_u64; i++)
		pass &= !ctp_parse_u64(no_u64[i], no_u64[i] + strlen(no_u64[i]), &v);
	ok(pass, "a text that is no u64 is refused");
	pass = true;
	for (size_t i = 0; i < sizeof no_i64 / sizeof *no_i64; i++)
		pass &= !ctp_parse_i64(no_i64[i], no_i64[i] + strlen(no_i64[i]), &s);
	ok(pass, "a text that is no i64 is refused");
	pass = true;
	for (size_t i = 0; i < sizeof no_hex / sizeof *no_hex; i++)
		pass &= !ctp_parse_hex(no_hex[i], no_hex[i] + strlen(no_hex[i]), &v);
	ok(pass, "a text that is no hexadecimal number is refused");
	pass = true;
	for (int at = 0; at < 18; at++)
		for (int c = 0; c < 256; c++) {
			char text[] = "0x00c0ffee00123456";
			bool right = at < 2 ? c == text[at] : strchr("0123456789abcdef", c) && c;
			text[at] = (char)c;
			pass &= ctp_parse_hex16(text, &v) == right;
		}
	ok(pass, "an address with a byte that is no hexadecimal digit is refused");
}

static bool wall_right(int64_t s, uint32_t ns)
{
	char got[CTP_TEXT_MAX], want[80];
	time_t t = (time_t)s;
	struct tm tm;
	int64_t back_s = ~s;
	uint32_t back_ns = ~ns;
	gmtime_r(&t, &tm);
	snprintf(want, sizeof want, "%04d-%02d-%02dT%02d:%02d:%02d.%09" PRIu32 "Z", tm.tm_year + 1900, tm.tm_mon + 1,
	         tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ns);
	char *end = ctp_text_wall(got, s, ns);
	return same(got, end, want) && ctp_parse_wall(got, end, &back_s, &back_ns) && back_s == s && back_ns == ns;
}

static void wall_clock(void)
{
	const int64_t day = 86400, first = -62167219200, last = 253402300799; /* the years 0 to 9999 */
	bool pass = true;
	for (int64_t s = first; s <= last; s += day * tap_stride(7)) /* each day there is, at its first and last second */
		pass &= wall_right(s, 0) && wall_right(s + day - 1, 999999999);
	ok(pass, "each day of the years 0 to 9999 is converted and back");
	pass = true;
	for (int i = 0; i < 100000; i++)
		pass &= wall_right((int64_t)(next_random() % (uint64_t)(last - first)) + first, next_random() % 1000000000);
	ok(pass, "random times of these years are converted and back");
	ok(wall_right(-1, 1) && wall_right(0, 0) && wall_right(INT32_MAX, 0) && wall_right(951782400, 0),
	   "times at the edges are converted and back");

	static const char *const yes[] = {
		"2026-11-15T04:53:48.120000000Z", "2026-11-15 04:53:48.12+00:00", "2026-11-15T04:53:48.12",
		"2026-11-15T04:53:48.120Z",
	};
	static const char *const no[] = {
		"", "2026-11-15", "2026-11-15T04:53:4", "2026-11-15T04:53:48.Z", "2026-11-15T04:53:48.1234567890Z",
		"2026-13-15T04:53:48Z", "2026-02-29T04:53:48Z", "1900-02-29T04:53:48Z", "2026-04-31T04:53:48Z",
		"2026-00-15T04:53:48Z", "2026-11-00T04:53:48Z", "2026-11-15T24:53:48Z", "2026-11-15T04:60:48Z",
		"2026-11-15T04:53:60Z", "2026-11-15T04:53:48+01:00", "2026-11-15T04:53:48ZZ", "2026-11-15x04:53:48Z",
		 "-026-11-15T04:53:48Z", "2026-11-15T04:53: 8Z",
	};
	int64_t s;
	uint32_t ns;
	pass = true;
	for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
		pass &= ctp_parse_wall(yes[i], yes[i] + strlen(yes[i]), &s, &ns) && s == 1794718428 && ns == 120000000;
	ok(pass, "other spellings of a time are understood");
	for (size_t i = 0; i < sizeof no / sizeof *no; i++)
		ok(!ctp_parse_wall(no[i], no[i] + strlen(no[i]), &s, &ns), "\"%s\" is no time", no[i]);
}

int main(void)
{
	integers();
	floats();
	nonsense();
	wall_clock();
	return done_testing();
}
