/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-texts.h - the texts that a page refers to by number. */
#ifndef CTP_HTML_TEXTS_H
#define CTP_HTML_TEXTS_H

#include "base/text-table.h"
#include "io/output.h"

/* As an array of JSON, in the order of the numbers, fit for a script element. */
void ctp_html_texts_put(struct ctp_output *out, const struct ctp_text_table *t);

#endif
