/* ctp-cacheray-text.h - what environment variables say: names of traces, and a limit. A part of ctp-cacheray.c, which has the log. */
#ifndef CTP_CACHERAY_TEXT_H
#define CTP_CACHERAY_TEXT_H

/* Digits up to there, and where they begin. */
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

/* Of a number of bytes, with k, M or G behind it. False: it is none. */
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
