/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-texts.c - writes the texts of a page. */
#include "html/html-texts.h"

#include <string.h>

#include "common/json.h"

void ctp_html_texts_put(struct ctp_output *out, const struct ctp_text_table *t)
{
	ctp_output_put(out, "[\"\"", 3);
	for (uint32_t i = 1; i < t->count; i++) {
		const char *text = ctp_text_table_at(t, i);
		ctp_output_put(out, ",", 1);
		ctp_json_put_in_page(out, text, strlen(text));
	}
	ctp_output_put(out, "]", 1);
}
