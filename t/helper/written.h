/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * written.h - what was written to an output in memory (textmem.h), as a string, and what is in it.
 */
#ifndef CTP_T_WRITTEN_H
#define CTP_T_WRITTEN_H

#include "tap.h"
#include "textmem.h"

static struct textmem in_output; /* its length is without the null */

/* Closes the output. The string is good until the next call. */
static inline const char *written(struct ctp_output *out)
{
	struct ctp_err err;
	must(!ctp_output_close(out, &err), "no output");
	textmem_take(&in_output);
	textmem_append(&in_output, "", 1);
	in_output.len--;
	return (const char *)in_output.data;
}

static inline bool has(const char *text, const char *part)
{
	bool found = strstr(text, part);
	if (!found)
		diag("no \"%s\" in:\n%.9000s", part, text);
	return found;
}

static inline unsigned count(const char *text, const char *part)
{
	unsigned n = 0;
	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

#endif
