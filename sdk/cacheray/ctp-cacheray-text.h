/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* ctp-cacheray-text.h - reads environment variables: names of traces, and a limit. A part of ctp-cacheray.c, which has the log. */
#ifndef CTP_CACHERAY_TEXT_H
#define CTP_CACHERAY_TEXT_H

/* Writes digits that end there; returns where they begin. */
static char *put_number(char *end, unsigned long n)
{
	do
		*--end = (char)('0' + n % 10);
	while (n /= 10);
	return end;
}

/* The path, with the process id for each %p. */
static bool make_path(char *path, size_t room, const char *pattern)
{
	char digits[24], *d;
	size_t n = 0;
	for (; *pattern; pattern++) {
		if (pattern[0] != '%' || pattern[1] != 'p') {
			if (n + 1 < room)
				path[n++] = *pattern;
			continue;
		}
		pattern++;
		d = put_number(digits + sizeof digits, (unsigned long)getpid());
		for (; d < digits + sizeof digits && n + 1 < room; d++)
			path[n++] = *d;
	}
	path[n] = '\0';
	return n + 1 < room;
}

/* The value of the variable that requests a trace. Null: there is none. */
static const char *asked_by(void)
{
	const char *out = getenv("CACHERAY_OUT"), *options = getenv("CACHERAY_OPTIONS");
	return out && *out ? "CACHERAY_OUT" : options && *options ? "CACHERAY_OPTIONS" : NULL;
}

static void say_unknown(const char *option, size_t len)
{
	char text[80];
	size_t n = len < sizeof text ? len : sizeof text - 1;
	copy(text, option, n);
	text[n] = '\0';
	tell("CACHERAY_OPTIONS", text, 0, " is neither tracefile=FILE nor enabled=0 or 1: it is ignored");
}

/*
 * Sets out_pattern, the name of the trace. Cacheray's own runtime reads CACHERAY_OPTIONS, KEY=VALUE:KEY=VALUE. False: it is too
 * long.
 */
static bool read_name(bool *wanted)
{
	const char *out = getenv("CACHERAY_OUT"), *option = getenv("CACHERAY_OPTIONS"), *name = NULL;
	size_t len = 0;
	*wanted = true;
	for (size_t n; option && *option; option += n + (option[n] == ':')) {
		n = strcspn(option, ":");
		if (!strncmp(option, "tracefile=", 10))
			name = option + 10, len = n - 10;
		else if (!strncmp(option, "enabled=", 8))
			*wanted = n != 9 || option[8] != '0';
		else if (n)
			say_unknown(option, n);
	}
	if (out && *out && name)
		tell("CACHERAY_OUT", "names the trace", 0, ": tracefile= of CACHERAY_OPTIONS is ignored");
	if ((out && *out) || !name) {
		name = out && *out ? out : "cacheray.trace";
		len = strlen(name);
	}
	if (len >= sizeof out_pattern)
		return false;
	copy(out_pattern, name, len);
	return true;
}

/* The caller of a set-uid program must not choose a file that it writes to, unless its author allows it. */
static bool gains_privileges(void)
{
#ifdef CACHERAY_SETUID
	return false;
#else
	return getauxval(AT_SECURE);
#endif
}

/* Parses a number of bytes, with k, M or G after it. False: it is invalid. */
static bool read_limit(const char *text)
{
	static const char units[] = "kMG";
	uint64_t n = 0;
	const char *unit = "";
	log_.limit = CLOSED;
	if (!text || !*text)
		return true;
	for (; *text >= '0' && *text <= '9'; text++)
		n = n < CLOSED / 10 ? n * 10 + (uint64_t)(*text - '0') : CLOSED;
	if (*text)
		unit = strchr(units, *text);
	for (long i = *text && unit ? unit - units : -1; i >= 0; i--)
		n = n < CLOSED >> 10 ? n << 10 : CLOSED;
	log_.limit = n > CUT_BYTES ? n - CUT_BYTES : 0;
	return unit && (!*text || !text[1]) && log_.limit;
}

#endif
