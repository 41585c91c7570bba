/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* follow-text.c - the text of a place. */
#include "analyse/follow-own.h"

#include <stdio.h>

#include "symbols/symbols.h"

const char *ctp_follow_text(struct ctp_follow *f, uint32_t place)
{
	const struct ctp_place *p = &f->places->place[place];
	if (!place || !p->shared)
		return NULL;
	const struct ctp_spot *at = &p->spot;
	const struct ctp_sites_text *site = at->site ? ctp_sites_find(f->sites, at->site) : NULL;
	const struct ctp_str *symbol = NULL;
	if (!at->site && f->symbols)
		symbol = at->file ? ctp_symbols_text(f->symbols, at->file, at->addr) :
		                    ctp_symbols_find(f->symbols, p->pid, at->addr); /* it was mapped later */
	if (site) /* it is not terminated in the table */
		snprintf(f->text, sizeof f->text, "%.*s", (int)site->len, site->data);
	else if (symbol)
		return symbol->data;
	else
		snprintf(f->text, sizeof f->text, at->site ? "site %ju" : at->file ? "+0x%jx" : "0x%016jx",
		         (uintmax_t)(at->site ? at->site : at->addr));
	return f->text;
}
