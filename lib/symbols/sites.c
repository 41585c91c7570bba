/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* sites.c - a list of the sites, a map from their numbers, and one block with all texts. */
#include "symbols/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/pages.h"
#include "symbols/symbols.h"

struct site {
	struct ctp_sites_text text;
	uint64_t code; /* not 0: the line is not looked up yet; the text is not spelled, and has no line */
	uint32_t file_bytes;
};

struct ctp_sites {
	ctp_sites_spell *spell;
	struct ctp_symbols *symbols; /* null: none */
	struct ctp_map map;
	uint32_t count;
	size_t used; /* of bytes */
	char *bytes; /* pages are taken as they are used */
	struct site list[CTP_SITES_MAX];
};

struct ctp_sites *ctp_sites_new(ctp_sites_spell *spell)
{
	struct ctp_sites *sites = ctp_pages_new(sizeof *sites);
	char *bytes = ctp_pages_new(CTP_SITES_BYTES);
	if (!sites || !bytes || !ctp_map_init(&sites->map, CTP_SITES_MAX)) {
		ctp_pages_free(sites, sizeof *sites);
		ctp_pages_free(bytes, CTP_SITES_BYTES);
		return NULL;
	}
	sites->spell = spell;
	sites->bytes = bytes;
	return sites;
}

void ctp_sites_free(struct ctp_sites *sites)
{
	if (!sites)
		return;
	ctp_map_fini(&sites->map);
	ctp_pages_free(sites->bytes, CTP_SITES_BYTES);
	ctp_pages_free(sites, sizeof *sites);
}

void ctp_sites_use(struct ctp_sites *sites, struct ctp_symbols *symbols) { sites->symbols = symbols; }

void ctp_sites_forget(struct ctp_sites *sites)
{
	if (sites->count)
		ctp_map_clear(&sites->map);
	sites->count = 0;
	sites->used = 0;
}

static bool is_site(const void *list, uint32_t number, const void *id)
{
	return ((const struct site *)list)[number - 1].text.id == *(const uint64_t *)id;
}

static uint32_t *slot_of(const struct ctp_sites *sites, uint64_t id)
{
	return ctp_map_slot(&sites->map, id, is_site, sites->list, &id);
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

static const struct ctp_str *text_at(const struct ctp_record *rec, int field)
{
	static const struct ctp_str none;
	const struct ctp_str *s = ctp_record_str(rec, field, CTP_STRING);
	return s ? s : &none;
}

struct parts {
	const char *file, *function;
	size_t file_bytes, function_bytes;
	uint64_t line;
};

/* file:line:function, without the parts that are empty. 0: nothing, or too long. */
static size_t join(const struct parts *p, char text[CTP_SITE_TEXT_MAX + 1])
{
	char number[24] = "";
	if (p->line)
		snprintf(number, sizeof number, ":%llu", (unsigned long long)p->line);
	size_t number_bytes = strlen(number), len = p->file_bytes + number_bytes + (p->function_bytes > 0) + p->function_bytes;
	if (len > CTP_SITE_TEXT_MAX)
		return 0;
	memcpy(text, p->file, p->file_bytes);
	memcpy(text + p->file_bytes, number, number_bytes);
	text[p->file_bytes + number_bytes] = ':';
	memcpy(text + len - p->function_bytes, p->function, p->function_bytes);
	return len;
}

static void put_text(struct ctp_sites *sites, struct ctp_sites_text *text, const char *data, size_t len)
{
	if (len && text->len == len && !memcmp(text->data, data, len))
		return;
	text->len = 0; /* the old text is void, even if there is no room for the new one */
	if (!len || len > CTP_SITES_BYTES - sites->used)
		return;
	text->data = memcpy(sites->bytes + sites->used, data, len);
	text->len = (uint32_t)len;
	sites->used += len;
}

static void put_spelled(struct ctp_sites *sites, struct ctp_sites_text *text, const char *plain, size_t len)
{
	char spelled[CTP_SITE_SPELLED_MAX];
	put_text(sites, text, spelled, len ? (size_t)(sites->spell(spelled, plain, len) - spelled) : 0);
}

void ctp_sites_learn(struct ctp_sites *sites, const struct ctp_record *rec)
{
	uint64_t id = ctp_record_number(rec, ctp_class_role(rec->cls, CTP_ROLE_SITE));
	uint32_t *slot = slot_of(sites, id);
	char text[CTP_SITE_TEXT_MAX + 1];
	if (!id || (!*slot && sites->count == CTP_SITES_MAX))
		return;
	if (!*slot)
		sites->list[sites->count++] = (struct site){.text.id = id};
	*slot = *slot ? *slot : sites->count;
	struct site *site = &sites->list[*slot - 1];
	const struct ctp_str *file = text_at(rec, ctp_class_field(rec->cls, "file"));
	const struct ctp_str *function = text_at(rec, ctp_class_role(rec->cls, CTP_ROLE_NAME));
	struct parts p = {file->data, function->data, file->len, function->len, 0};
	p.line = ctp_record_number(rec, ctp_class_field(rec->cls, "line"));
	size_t len = join(&p, text);
	site->code = p.line || !sites->symbols ? 0 : ctp_record_number(rec, ctp_class_field(rec->cls, "code"));
	site->file_bytes = file->len;
	if (site->code)
		put_text(sites, &site->text, text, len);
	else
		put_spelled(sites, &site->text, text, len);
}

static void put_line(struct ctp_sites *sites, struct site *site)
{
	const struct ctp_sites_text plain = site->text;
	size_t function_at = site->file_bytes + (site->file_bytes < plain.len);
	struct parts p = {plain.data, plain.data + function_at, site->file_bytes, plain.len - function_at, 0};
	char text[CTP_SITE_TEXT_MAX + 1];
	p.line = ctp_symbols_begins(sites->symbols, site->code, p.file, p.file_bytes);
	site->code = 0;
	put_spelled(sites, &site->text, text, join(&p, text));
}

const struct ctp_sites_text *ctp_sites_find(struct ctp_sites *sites, uint64_t id)
{
	uint32_t number = *slot_of(sites, id);
	struct site *site = number ? &sites->list[number - 1] : NULL;
	if (site && site->code && site->text.len)
		put_line(sites, site);
	return site && site->text.len ? &site->text : NULL;
}

/* --- where the texts are shown ------------------------------------------------------------------------------------------- */

static bool names_text(const char *name, const char *field)
{
	size_t len = strlen(field);
	return !strncmp(name, field, len) && !strcmp(name + len, CTP_SITE_SUFFIX);
}

static bool refers_to_place(const struct ctp_class *cls, const struct ctp_field *f)
{
	return (f->role == CTP_ROLE_SITE && cls->kind != CTP_KIND_SITE) ||
	       (f->role == CTP_ROLE_ADDRESS && cls->kind != CTP_KIND_MAPPING);
}

bool ctp_site_shown(const struct ctp_class *cls, uint32_t field)
{
	const struct ctp_field *f = &cls->fields[field];
	if (!refers_to_place(cls, f) || f->type > CTP_U64 ||
	    strlen(f->name) + strlen(CTP_SITE_SUFFIX) > CTP_NAME_MAX)
		return false;
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (names_text(cls->fields[i].name, f->name))
			return false;
	return true;
}

bool ctp_site_is_text(const struct ctp_class *cls, const char *name)
{
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (names_text(name, cls->fields[i].name))
			return ctp_site_shown(cls, i);
	return false;
}
