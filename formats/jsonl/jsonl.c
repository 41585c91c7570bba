/* jsonl.c - what the writer and the reader of JSONL must agree on: how the rows of a class look. */
#include "jsonl/jsonl.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/json.h"
#include "symbols/sites.h"

bool ctp_jsonl_class_reserved(const char *name) { return name[0] == '@'; }

bool ctp_jsonl_field_reserved(const char *name) { return name[0] == '@' || !strcmp(name, "type") || !strcmp(name, "late"); }

/* A name in quotes, with the @ that it may need. */
static char *put_name(char *p, const char *name, bool reserved)
{
	char full[CTP_NAME_MAX + 2];
	size_t len = strlen(name);
	full[0] = '@';
	memcpy(full + 1, name, len);
	return ctp_json_quote(p, full + !reserved, len + reserved);
}

/* The key of a place's text. */
static char *put_site(char *p, const char *field)
{
	char name[CTP_NAME_MAX + 1];
	snprintf(name, sizeof name, "%s" CTP_SITE_SUFFIX, field);
	*p++ = ',';
	p = put_name(p, name, ctp_jsonl_field_reserved(name));
	*p++ = ':';
	return p;
}

struct ctp_jsonl_layout *ctp_jsonl_layout_new(const struct ctp_class *cls, bool all, bool symbols)
{
	enum { FIXED = 16 + CTP_JSON_GROWTH };
	size_t text_bytes = 2 * (CTP_JSON_GROWTH * strlen(cls->name) + FIXED) + CTP_JSONL_SHORT;
	for (uint32_t i = 0; i < cls->nfields; i++)
		text_bytes += (CTP_JSON_GROWTH * strlen(cls->fields[i].name) + FIXED) * (ctp_site_shown(cls, i) ? 2 : 1);
	struct ctp_jsonl_layout *layout = calloc(1, sizeof *layout + cls->nfields * sizeof layout->keys[0] + text_bytes);
	if (!layout)
		return NULL;
	char *p = (char *)(layout->keys + cls->nfields);
	layout->bounded = true;
	layout->head = p;
	*p++ = '{';
	if (all) {
		memcpy(p, "\"type\":", 7);
		p = put_name(p + 7, cls->name, ctp_jsonl_class_reserved(cls->name));
	}
	layout->head_bytes = (size_t)(p - layout->head);
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_field *f = &cls->fields[i];
		if (!all && f->flags & CTP_FIELD_EXTRA)
			continue;
		struct ctp_jsonl_key *key = &layout->keys[layout->nkeys++];
		*key = (struct ctp_jsonl_key){.text = p, .form = (uint8_t)ctp_form_of(f), .index = i, .field = f};
		if (layout->nkeys == 1) {
			memcpy(p, layout->head, layout->head_bytes);
			p += layout->head_bytes;
		}
		if (layout->nkeys > 1 || all)
			*p++ = ',';
		p = put_name(p, f->name, ctp_jsonl_field_reserved(f->name));
		*p++ = ':';
		key->len = (uint32_t)(p - key->text);
		layout->room += key->len + CTP_JSONL_SHORT + CTP_JSONL_VALUE;
		layout->bounded &= key->form < CTP_FORM_ENUM;
		if (all && ctp_site_shown(cls, i) && (symbols || f->role == CTP_ROLE_SITE)) {
			key->site_text = p;
			p = put_site(p, f->name);
			key->site_len = (uint32_t)(p - key->site_text);
			layout->room += key->site_len + CTP_SITE_SPELLED_MAX;
		}
	}
	layout->bounded &= layout->room <= CTP_OUTPUT_ROOM - CTP_JSONL_SPARE;
	return layout;
}
