/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* demangle-text.c - what the kinds of names share: taking from the symbol, putting to the name. */
#include "symbols/demangle.h"

#include <string.h>

bool ctp_demangle_part(struct ctp_demangle *d, bool (*take)(struct ctp_demangle *))
{
	d->failed |= ++d->depth > CTP_DEMANGLE_DEPTH || ++d->steps > CTP_DEMANGLE_STEPS;
	bool ok = !d->failed && take(d);
	d->depth--;
	return ok;
}

bool ctp_demangle_quietly(struct ctp_demangle *d, bool (*take)(struct ctp_demangle *))
{
	d->quiet++;
	bool ok = take(d);
	d->quiet--;
	return ok;
}

bool ctp_demangle_take(struct ctp_demangle *d, const char *text)
{
	size_t len = strlen(text);
	if (d->failed || (size_t)(d->end - d->p) < len || memcmp(d->p, text, len))
		return false;
	d->p += len;
	return true;
}

bool ctp_demangle_number(struct ctp_demangle *d, size_t *n)
{
	enum { DIGITS_MAX = 9 };
	const char *from = d->p;
	*n = 0;
	if (ctp_demangle_take(d, "0")) /* another may follow */
		return true;
	while (ctp_demangle_peek(d) >= '0' && *d->p <= '9' && d->p - from < DIGITS_MAX)
		*n = *n * 10 + (size_t)(*d->p++ - '0');
	return d->p > from || ctp_demangle_fail(d);
}

void ctp_demangle_put(struct ctp_demangle *d, const char *text, size_t len)
{
	if (d->failed || d->quiet)
		return;
	if (len >= CTP_DEMANGLED_MAX - d->len) {
		d->failed = true;
		return;
	}
	memcpy(d->to + d->len, text, len);
	d->len += len;
	d->to[d->len] = '\0';
}

void ctp_demangle_puts(struct ctp_demangle *d, const char *text) { ctp_demangle_put(d, text, strlen(text)); }

void ctp_demangle_put_number(struct ctp_demangle *d, uint64_t n)
{
	char digits[20], *p = digits + sizeof digits;
	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	ctp_demangle_put(d, p, (size_t)(digits + sizeof digits - p));
}

void ctp_demangle_join(struct ctp_demangle *d)
{
	if (d->len)
		ctp_demangle_puts(d, "::");
}
