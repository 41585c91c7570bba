/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter-places.c - looks up the text of a place, and compares it with patterns. */
#include "filter/filter-places.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/place-texts.h"

struct ctp_filter_places {
	struct ctp_place_texts *texts;
	struct known { /* the last answers; of a site its number is the key */
		const struct ctp_filter_patterns *patterns; /* null: none */
		uint64_t site;
		bool match;
	} known[256];
};

static char *as_it_is(char *to, const char *text, size_t len) { return (char *)memcpy(to, text, len) + len; }

struct ctp_filter_places *ctp_filter_places_new(const struct ctp_filter_options *options, struct ctp_err *err)
{
	struct ctp_filter_places *p = ctp_err_calloc(err, sizeof *p);
	struct ctp_symbols *symbols = p ? ctp_symbols_new(options->debug_dirs, options->ndebug_dirs, err) : NULL;
	if (symbols && options->no_symbols)
		ctp_symbols_without_files(symbols);
	if (symbols && !(p->texts = ctp_place_texts_new(as_it_is, symbols)))
		ctp_err_memory(err);
	if (p && p->texts)
		return p;
	free(p);
	return NULL;
}

void ctp_filter_places_free(struct ctp_filter_places *p)
{
	if (p)
		ctp_place_texts_free(p->texts);
	free(p);
}

void ctp_filter_places_forget(struct ctp_filter_places *p)
{
	memset(p->known, 0, sizeof p->known);
	ctp_place_texts_forget(p->texts);
}

void ctp_filter_places_learn(struct ctp_filter_places *p, const struct ctp_record *rec)
{
	if (rec->cls->kind == CTP_KIND_SITE || rec->cls->kind == CTP_KIND_MAPPING)
		memset(p->known, 0, sizeof p->known);
	ctp_place_texts_learn(p->texts, rec);
}

/* The pattern as it is, and also after a colon or a slash, and before a colon. */
static bool matches_part(const char *pattern, const char *text)
{
	static const char *const before[] = {"", "*[:/]"}, *const after[] = {"", ":*"};
	char whole[CTP_SITE_TEXT_MAX + 16];
	for (int i = 0; i < 4; i++) {
		int len = snprintf(whole, sizeof whole, "%s%s%s", before[i / 2], pattern, after[i % 2]);
		if (len > 0 && (size_t)len < sizeof whole && !fnmatch(whole, text, 0))
			return true;
	}
	return false;
}

bool ctp_filter_matches(const struct ctp_filter_patterns *patterns, const char *text, bool exact)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (exact ? !fnmatch(patterns->list[i], text, 0) : matches_part(patterns->list[i], text))
			return true;
	return false;
}

static bool match_text(struct ctp_filter_places *p, const struct ctp_filter_patterns *patterns, const struct ctp_field *field,
                       uint64_t v)
{
	char text[CTP_SITE_TEXT_MAX + 1];
	const struct ctp_sites_text *found = ctp_place_texts_find(p->texts, field, v);
	if (!found || found->len > CTP_SITE_TEXT_MAX)
		return false;
	memcpy(text, found->data, found->len);
	text[found->len] = '\0';
	return ctp_filter_matches(patterns, text, false);
}

bool ctp_filter_places_match(struct ctp_filter_places *p, const struct ctp_filter_patterns *patterns, const struct ctp_record *rec)
{
	int at = ctp_class_role(rec->cls, CTP_ROLE_SITE), addr = ctp_class_role(rec->cls, CTP_ROLE_ADDRESS);
	uint64_t site = ctp_record_number(rec, at);
	if (!site) {
		uint64_t v = ctp_record_number(rec, addr);
		return v && ctp_place_texts_shows(p->texts, rec->cls, (uint32_t)addr) &&
		       match_text(p, patterns, &rec->cls->fields[addr], v);
	}
	struct known *k = &p->known[site % 256];
	if (k->patterns != patterns || k->site != site)
		*k = (struct known){patterns, site, match_text(p, patterns, &rec->cls->fields[at], site)};
	return k->match;
}
