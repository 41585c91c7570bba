/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* str-new.h - texts as a record has them. */
#ifndef CTP_STR_NEW_H
#define CTP_STR_NEW_H

#include <stdlib.h>
#include <string.h>

#include "stream/record.h"

/* A copy, for free(); null is an empty text, and so is one for which there is no memory: errno tells. */
static inline struct ctp_str *ctp_str_new(const char *text)
{
	size_t len = text ? strlen(text) : 0;
	struct ctp_str *s = len && len <= CTP_STRING_MAX ? malloc(sizeof *s + len + 1) : NULL;
	if (!s)
		return NULL;
	s->len = (uint32_t)len;
	memcpy(s->data, text, len + 1);
	return s;
}

#endif
