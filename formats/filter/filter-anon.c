/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* filter-anon.c - a table of texts and their numbers. */
#include "filter/filter-anon.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/report.h"
#include "base/array.h"
#include "base/map.h"
#include "base/spread.h"

enum { PREFIX_MAX = 24, SPELLED_MAX = 72 };
_Static_assert(offsetof(struct ctp_str, data) == sizeof(uint32_t), "a length, and then the bytes");

struct text {
	char *data;
	size_t len;
};

struct ctp_filter_anon {
	struct ctp_map map;
	uint64_t salt;
	struct text *texts; /* number 1 is the first */
	size_t room, bytes;
	uint32_t count;
	uint64_t val[CTP_FIELDS_MAX];
	struct spelled { /* a struct ctp_str with its bytes */
		uint32_t len;
		char data[SPELLED_MAX];
	} spelled[CTP_FIELDS_MAX];
	char attr[SPELLED_MAX], attr_name[SPELLED_MAX + 2];
};

struct ctp_filter_anon *ctp_filter_anon_new(struct ctp_err *err)
{
	struct ctp_filter_anon *a = ctp_err_calloc(err, sizeof *a);
	if (a && ctp_map_init(&a->map, 1024)) {
		a->salt = ctp_spread_salt();
		return a;
	}
	free(a);
	ctp_err_memory(err);
	return NULL;
}

void ctp_filter_anon_free(struct ctp_filter_anon *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->count; i++)
		free(a->texts[i].data);
	free(a->texts);
	ctp_map_fini(&a->map);
	free(a);
}

static bool is_text(const void *items, uint32_t number, const void *key)
{
	const struct text *t = &((const struct ctp_filter_anon *)items)->texts[number - 1], *k = key;
	return t->len == k->len && !memcmp(t->data, k->data, k->len);
}

static uint64_t hash_text(const void *items, uint32_t number)
{
	const struct ctp_filter_anon *a = items;
	return ctp_map_bytes(a->salt, a->texts[number - 1].data, a->texts[number - 1].len);
}

/* 0: err says why. */
static uint32_t number_of(struct ctp_filter_anon *a, const char *data, size_t len, struct ctp_err *err)
{
	struct text key = {(char *)(uintptr_t)data, len};
	uint64_t hash = ctp_map_bytes(a->salt, data, len);
	uint32_t *slot = ctp_map_slot(&a->map, hash, is_text, a, &key);
	if (*slot)
		return *slot;
	if (a->count == CTP_FILTER_TEXTS_MAX || len > CTP_FILTER_TEXT_BYTES - a->bytes) {
		ctp_err_as(err, CTP_ERR_REFUSED,
		           "--anonymise: there are more than %d different texts, or %d MiB of them: filter the trace first",
		           CTP_FILTER_TEXTS_MAX, CTP_FILTER_TEXT_BYTES >> 20);
		return 0;
	}
	char *copy = malloc(len + 1);
	if (!copy || !CTP_ARRAY_RESERVE(a->texts, a->room, a->count + 1, CTP_FILTER_TEXTS_MAX) ||
	    !ctp_map_reserve(&a->map, a->count, hash_text, a)) {
		free(copy);
		ctp_err_memory(err);
		return 0;
	}
	memcpy(copy, data, len);
	slot = ctp_map_slot(&a->map, hash, is_text, a, &key); /* the map may have been built again */
	a->texts[a->count] = (struct text){copy, len};
	a->bytes += len;
	return *slot = ++a->count;
}

/* "path3" of a field that is called path; "text3" if its name is no word. */
static size_t spell(char to[SPELLED_MAX], const char *name, uint32_t number)
{
	size_t len = strlen(name);
	if (len > 2 && !strcmp(name + len - 2, "[]"))
		len -= 2;
	bool word = len && len < PREFIX_MAX;
	for (size_t i = 0; i < len && word; i++)
		word = isalpha((unsigned char)name[i]) || name[i] == '_';
	return (size_t)snprintf(to, SPELLED_MAX, "%.*s%u", word ? (int)len : 4, word ? name : "text", number);
}

const uint64_t *ctp_filter_anon_record(struct ctp_filter_anon *a, const struct ctp_record *rec, struct ctp_err *err)
{
	if (!rec->cls->has_text)
		return rec->val;
	for (uint32_t i = 0; i < rec->cls->nfields; i++) {
		const struct ctp_str *s = ctp_type_is_text(rec->cls->fields[i].type) ? ctp_str_val(rec->val[i]) : NULL;
		a->val[i] = rec->val[i];
		if (!s || !s->len)
			continue;
		uint32_t number = number_of(a, s->data, s->len, err);
		if (!number)
			return NULL;
		a->spelled[i].len = (uint32_t)spell(a->spelled[i].data, rec->cls->fields[i].name, number);
		a->val[i] = ctp_val_str((const struct ctp_str *)(const void *)&a->spelled[i]);
	}
	return a->val;
}

/* --- findings ------------------------------------------------------------------------------------------------------------- */

bool ctp_filter_anon_is_sentence(const struct ctp_class *cls)
{
	return ctp_class_field(cls, "rule") < 0 && ctp_class_role(cls, CTP_ROLE_COROUTINE) < 0;
}

/* "file3:12:function4", with the numbers that the site has; 0: err says why not. */
static size_t spell_place(struct ctp_filter_anon *a, char to[SPELLED_MAX], const char *place, struct ctp_err *err)
{
	size_t file_bytes = 0, len;
	uint64_t line = ctp_report_line(place, &file_bytes);
	const char *function = line ? strchr(place + file_bytes + 1, ':') : NULL;
	uint32_t number = number_of(a, place, line ? file_bytes : strlen(place), err);
	if (!number)
		return 0;
	len = spell(to, line ? "file" : "place", number);
	if (line)
		len += (size_t)snprintf(to + len, SPELLED_MAX - len, ":%ju", (uintmax_t)line);
	if (!function || !function[1])
		return len;
	number = number_of(a, function + 1, strlen(function + 1), err);
	to[len++] = ':';
	return number ? len + spell(to + len, "function", number) : 0;
}

static bool is_rule(const char *text)
{
	bool is_it = false;
	for (enum ctp_rule rule = 0; rule <= CTP_RULE_NONE; rule++)
		is_it |= !strcmp(text, ctp_rule_name(rule));
	return is_it;
}

const uint64_t *ctp_filter_anon_finding(struct ctp_filter_anon *a, const struct ctp_record *rec, struct ctp_err *err)
{
	for (uint32_t i = 0; i < rec->cls->nfields; i++) {
		const struct ctp_field *field = &rec->cls->fields[i];
		const struct ctp_str *s = ctp_type_is_text(field->type) ? ctp_str_val(rec->val[i]) : NULL;
		a->val[i] = rec->val[i];
		if (!s || !s->len || (!strcmp(field->name, "rule") && is_rule(s->data)))
			continue;
		bool place = !strcmp(field->name, "place") || !strcmp(field->name, "spawned_at");
		bool name = strstr(field->name, "name") || !strcmp(field->name, "in");
		uint32_t number = name ? number_of(a, s->data, s->len, err) : 0;
		a->val[i] = 0;
		if (name && number)
			a->spelled[i].len = (uint32_t)spell(a->spelled[i].data, "name", number);
		else if (name || (place && !(a->spelled[i].len = (uint32_t)spell_place(a, a->spelled[i].data, s->data, err))))
			return NULL;
		if (name || place)
			a->val[i] = ctp_val_str((const struct ctp_str *)(const void *)&a->spelled[i]);
	}
	return a->val;
}

/* --- attributes ----------------------------------------------------------------------------------------------------------- */

/* Whether the tools have an attribute of this name. Others are of the user, and so are their names. */
static bool is_known(const char *name)
{
	static const char *const known[] = {
		"anonymised", "argv[]", "attached", "big", "boot_id", "cacheray.address_bytes", "cacheray.byte_order", "clock", "dialect",
		"filtered", "filtered_events", "filtered_since_ns", "first_event_ns", "host", "inputs_filtered", "machine", "max_stations",
		"merged", "merged_first_ns", "origin", "origin_error_ns", "origin_number", "origin_pid", "origin_section", "page_size",
		"pid", "ppt.buffer", "ppt.file", "recorded", "source", "start_ns", "stride", "system", "time_namespace", "tool",
		"wall_offset_ns",
	};
	size_t i = 0, n = sizeof known / sizeof *known;
	while (i < n && strcmp(known[i], name))
		i++;
	return i < n;
}

const char *ctp_filter_anon_attr_name(struct ctp_filter_anon *a, const char *name, struct ctp_err *err)
{
	size_t len = strlen(name);
	if (is_known(name))
		return name;
	uint32_t number = number_of(a, name, len, err);
	if (!number)
		return NULL;
	spell(a->attr_name, "attribute", number);
	if (len > 2 && !strcmp(name + len - 2, "[]")) /* the values of a list */
		strcat(a->attr_name, "[]");
	return a->attr_name;
}

/* Attributes of the recording itself, such as its clock. They name no person, host, program or file. */
static bool is_harmless(const struct ctp_attr *attr)
{
	static const char *const known[] = {
		"clock", "wall_offset_ns", "start_ns", "max_stations", "pid", "machine", "page_size", "attached", "recorded",
		"first_event_ns", "filtered_since_ns", "filtered_events", "anonymised", "merged", "stride",
		"cacheray.byte_order", "cacheray.address_bytes",
	};
	bool plain = true; /* nobody can hide a name in it */
	for (const char *c = attr->value; *c; c++)
		plain &= isdigit((unsigned char)*c) || *c == '-';
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(attr->name, known[i]))
			return plain || strlen(attr->value) < 16;
	return !strcmp(attr->name, "tool") && !strncmp(attr->value, "ctp-", 4) && strlen(attr->value) < 32;
}

/*
 * timeout(1) as the command: a report needs its name, to say that the program hung. Where it is stays unknown. An argument that is
 * the same word tells nothing, either.
 */
static const char timeout[] = "timeout";

static bool is_timeout(const struct ctp_attr *attr)
{
	const char *slash = strrchr(attr->value, '/');
	return !strcmp(attr->name, "argv[]") && !strcmp(slash ? slash + 1 : attr->value, timeout);
}

const char *ctp_filter_anon_attr(struct ctp_filter_anon *a, const struct ctp_attr *attr, bool *stays, struct ctp_err *err)
{
	*stays = is_harmless(attr);
	if (*stays)
		return attr->value;
	if (is_timeout(attr))
		return timeout;
	uint32_t number = number_of(a, attr->value, strlen(attr->value), err);
	if (!number)
		return NULL;
	spell(a->attr, is_known(attr->name) ? attr->name : "value", number);
	return a->attr;
}

const uint64_t *ctp_filter_anon_attribute(struct ctp_filter_anon *a, const struct ctp_record *rec, bool *stays,
                                          struct ctp_err *err)
{
	int name = ctp_class_field(rec->cls, "name"), value = ctp_class_field(rec->cls, "value");
	const struct ctp_str *named = ctp_record_str(rec, name, CTP_STRING), *is = ctp_record_str(rec, value, CTP_STRING);
	uint64_t kept = named ? rec->val[name] : 0;
	const char *shown = named ? ctp_filter_anon_attr_name(a, named->data, err) : NULL;
	bool times_out = false;
	*stays = false;
	if (named && !shown)
		return NULL;
	if (named && is && is->len) {
		const struct ctp_attr attr = {(char *)(uintptr_t)named->data, (char *)(uintptr_t)is->data};
		if (!ctp_filter_anon_attr(a, &attr, stays, err))
			return NULL;
		times_out = is_timeout(&attr);
	}
	uint64_t as_is = *stays ? rec->val[value] : 0;
	const uint64_t *val = ctp_filter_anon_record(a, rec, err);
	if (!val)
		return NULL;
	if (val != a->val)
		memcpy(a->val, val, rec->cls->nfields * sizeof *a->val);
	if (kept && is_known(named->data))
		a->val[name] = kept;
	else if (kept)
		a->spelled[name].len = (uint32_t)strlen(strcpy(a->spelled[name].data, shown));
	if (as_is)
		a->val[value] = as_is;
	if (times_out)
		a->spelled[value].len = (uint32_t)strlen(strcpy(a->spelled[value].data, timeout));
	return a->val;
}
