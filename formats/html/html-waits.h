/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * html-waits.h - what coroutines wait for, as texts of a page.
 */
#ifndef CTP_HTML_WAITS_H
#define CTP_HTML_WAITS_H

#include "analyse/follow.h"
#include "html/html-texts.h"

/* The reasons that a page can tell apart; all others are not known. */
enum { CTP_HTML_REASONS_MAX = UINT16_MAX };

/* What a suspended coroutine waits for: a number of texts; 0: not known. */
uint32_t ctp_html_wait_reason(struct ctp_text_table *texts, struct ctp_follow *f, const struct ctp_coroutine *co);

#endif
