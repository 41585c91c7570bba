/* sites.c - a hash table of numbers with open addressing, at most half full; the texts stand behind each other. */
#include "sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spread.h"

enum { SLOTS = 2 * CTP_SITES_MAX };

struct ctp_sites {
	ctp_sites_spell *spell;
	uint64_t salt;
	uint32_t count;
	size_t used; /* of bytes */
	char *bytes; /* pages are taken as they are used */
	struct ctp_sites_text slots[SLOTS];
};

struct ctp_sites *ctp_sites_new(ctp_sites_spell *spell)
{
	struct ctp_sites *sites = calloc(1, sizeof *sites);
	char *bytes = malloc(CTP_SITES_BYTES);
	if (!sites || !bytes) {
		free(sites);
		free(bytes);
		return NULL;
	}
	sites->spell = spell;
	sites->salt = ctp_spread_salt();
	sites->bytes = bytes;
	return sites;
}

void ctp_sites_free(struct ctp_sites *sites)
{
	if (sites)
		free(sites->bytes);
	free(sites);
}

void ctp_sites_forget(struct ctp_sites *sites)
{
	if (sites->count)
		memset(sites->slots, 0, sizeof sites->slots);
	sites->count = 0;
	sites->used = 0;
}

/* Where the number is, or where it would go. */
static uint32_t slot_of(const struct ctp_sites *sites, uint64_t id)
{
	uint32_t i = ctp_spread(id, sites->salt, SLOTS);
	while (sites->slots[i].id && sites->slots[i].id != id)
		i = (i + 1) % SLOTS;
	return i;
}

const struct ctp_sites_text *ctp_sites_find(const struct ctp_sites *sites, uint64_t id)
{
	const struct ctp_sites_text *text = &sites->slots[slot_of(sites, id)];
	return id && text->len ? text : NULL;
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

static const struct ctp_str *text_at(const struct ctp_record *rec, int field)
{
	static const struct ctp_str none;
	bool is_text = field >= 0 && rec->cls->fields[field].type == CTP_STRING;
	const struct ctp_str *s = is_text ? ctp_str_val(rec->val[field]) : NULL;
	return s ? s : &none;
}

static uint64_t number_at(const struct ctp_record *rec, int field)
{
	return field >= 0 && rec->cls->fields[field].type <= CTP_U64 ? rec->val[field] : 0;
}

/* file:line:function, as much of it as there is. 0: nothing, or too much. */
static size_t join(const struct ctp_record *rec, char text[CTP_SITE_TEXT_MAX + 1])
{
	const struct ctp_str *file = text_at(rec, ctp_class_field(rec->cls, "file"));
	const struct ctp_str *function = text_at(rec, ctp_class_role(rec->cls, CTP_ROLE_NAME));
	uint64_t line = number_at(rec, ctp_class_field(rec->cls, "line"));
	char number[24] = "";
	if (line)
		snprintf(number, sizeof number, ":%llu", (unsigned long long)line);
	size_t number_bytes = strlen(number), len = (size_t)file->len + number_bytes + (function->len > 0) + function->len;
	if (len > CTP_SITE_TEXT_MAX)
		return 0;
	memcpy(text, file->data, file->len);
	memcpy(text + file->len, number, number_bytes);
	text[file->len + number_bytes] = ':';
	memcpy(text + len - function->len, function->data, function->len);
	return len;
}

void ctp_sites_learn(struct ctp_sites *sites, const struct ctp_record *rec)
{
	uint64_t id = number_at(rec, ctp_class_role(rec->cls, CTP_ROLE_SITE));
	struct ctp_sites_text *slot = &sites->slots[slot_of(sites, id)];
	char text[CTP_SITE_TEXT_MAX + 1], spelled[CTP_SITE_SPELLED_MAX];
	if (!id || (!slot->id && sites->count == CTP_SITES_MAX))
		return;
	sites->count += !slot->id;
	slot->id = id;
	size_t len = join(rec, text);
	len = len ? (size_t)(sites->spell(spelled, text, len) - spelled) : 0;
	if (len && slot->len == len && !memcmp(slot->data, spelled, len))
		return;
	slot->len = 0; /* what it meant before, it means no longer, even if there is no room for the new */
	if (!len || len > CTP_SITES_BYTES - sites->used)
		return;
	slot->data = memcpy(sites->bytes + sites->used, spelled, len);
	slot->len = (uint32_t)len;
	sites->used += len;
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
