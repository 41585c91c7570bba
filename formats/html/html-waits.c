/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-waits.c - what coroutines wait for, as numbers of texts. */
#include "html/html-waits.h"

#include "analyse/wait-texts.h"

uint32_t ctp_html_wait_reason(struct ctp_text_table *texts, struct ctp_follow *f, const struct ctp_coroutine *co)
{
	char text[CTP_WAIT_TEXT_MAX];
	if (!ctp_wait_reasons_of(f, co) || texts->count >= CTP_HTML_REASONS_MAX)
		return 0;
	return ctp_text_table_number(texts, ctp_wait_text(f, co, text));
}
