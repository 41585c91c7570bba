/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* place-texts.c - see place-texts.h. */
#include "symbols/place-texts.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 64, KEPT_BYTES = 500 }; /* spelled texts: spelling takes longer than finding; most texts have far fewer bytes */

struct ctp_place_texts {
	struct ctp_sites *sites;
	struct ctp_symbols *symbols;
	ctp_sites_spell *spell;
	uint64_t pid; /* of the record at hand */
	struct ctp_sites_text text;         /* the last one, if too long for kept */
	char spelled[CTP_SITE_SPELLED_MAX]; /* text's bytes */
	struct kept {
		const struct ctp_str *of; /* null: none */
		struct ctp_sites_text text;
		char spelled[KEPT_BYTES];
	} kept[KEPT];
};

struct ctp_place_texts *ctp_place_texts_new(ctp_sites_spell *spell, struct ctp_symbols *symbols)
{
	struct ctp_place_texts *texts = calloc(1, sizeof *texts);
	struct ctp_sites *sites = ctp_sites_new(spell);
	if (!texts || !sites) {
		free(texts);
		ctp_sites_free(sites);
		ctp_symbols_free(symbols);
		return NULL;
	}
	texts->sites = sites;
	ctp_sites_use(sites, symbols);
	texts->symbols = symbols;
	texts->spell = spell;
	return texts;
}

void ctp_place_texts_free(struct ctp_place_texts *texts)
{
	if (!texts)
		return;
	ctp_sites_free(texts->sites);
	ctp_symbols_free(texts->symbols);
	free(texts);
}

void ctp_place_texts_forget(struct ctp_place_texts *texts)
{
	ctp_sites_forget(texts->sites);
	if (!texts->symbols)
		return;
	ctp_symbols_forget(texts->symbols);
	for (size_t i = 0; i < KEPT; i++)
		texts->kept[i].of = NULL;
}

void ctp_place_texts_learn(struct ctp_place_texts *texts, const struct ctp_record *rec)
{
	if (rec->cls->kind == CTP_KIND_SITE)
		ctp_sites_learn(texts->sites, rec);
	if (!texts->symbols)
		return;
	ctp_symbols_learn(texts->symbols, rec);
	texts->pid = ctp_symbols_pid(texts->symbols, rec);
}

bool ctp_place_texts_shows(const struct ctp_place_texts *texts, const struct ctp_class *cls, uint32_t field)
{
	return ctp_site_shown(cls, field) && (texts->symbols || cls->fields[field].role == CTP_ROLE_SITE);
}

static const struct ctp_sites_text *spelled(struct ctp_place_texts *texts, const struct ctp_str *str)
{
	struct kept *k = &texts->kept[(uintptr_t)str * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (KEPT - 1)];
	if (k->of == str)
		return &k->text;
	size_t len = (size_t)(texts->spell(texts->spelled, str->data, str->len) - texts->spelled);
	texts->text = (struct ctp_sites_text){.data = texts->spelled, .len = (uint32_t)len};
	if (len > KEPT_BYTES)
		return &texts->text;
	k->of = str;
	k->text = (struct ctp_sites_text){.data = memcpy(k->spelled, texts->spelled, len), .len = (uint32_t)len};
	return &k->text;
}

const struct ctp_sites_text *ctp_place_texts_find(struct ctp_place_texts *texts, const struct ctp_field *field, uint64_t v)
{
	if (field->role == CTP_ROLE_SITE)
		return ctp_sites_find(texts->sites, v);
	const struct ctp_str *str = ctp_symbols_find(texts->symbols, texts->pid, v);
	return str ? spelled(texts, str) : NULL;
}
