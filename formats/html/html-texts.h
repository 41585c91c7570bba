/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html-texts.h - the texts that a page refers to by number, each once, in the order of their first use. Number 0 is the empty
 * text.
 */
#ifndef CTP_HTML_TEXTS_H
#define CTP_HTML_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "io/output.h"

struct ctp_html_texts {
	char *bytes; /* each text with its NUL, one after the other */
	size_t used, room;
	size_t *starts; /* where each text starts */
	uint32_t count;
	size_t starts_room;
	struct ctp_map map;
	bool failed; /* out of memory at some point */
};

void ctp_html_texts_init(struct ctp_html_texts *t);
void ctp_html_texts_fini(struct ctp_html_texts *t);

/* The number of a text; null is the empty one. */
uint32_t ctp_html_texts_number(struct ctp_html_texts *t, const char *text);

/* As an array of JSON, in the order of the numbers, fit for a script element. */
void ctp_html_texts_put(struct ctp_output *out, const struct ctp_html_texts *t);

#endif
