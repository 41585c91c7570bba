/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * class.c - makes classes, from fields or from the bytes of a declaration. Each is checked, whoever declares it, and kept in one
 * block of memory.
 *
 * The declaration in a packet is, as varints unless said otherwise: kind, name, count of fields; then for each field its name,
 * one byte each for type, role, predictor and flags, its unit, count of labels, and for each label value and name. A text is
 * its length and its bytes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cursor.h"
#include "stream/codec-plan.h"
#include "stream/schema.h"

/* What a class owns, after the struct that others see. */
struct class_mem {
	struct ctp_class cls;
	struct ctp_field *fields;
	char *names, *names_end; /* room for every text, NUL-terminated */
};

/* A text that is not a usable name is an error of the declarer: sinks make identifiers and keys of them. */
static bool name_ok(const char *s, size_t len, bool may_be_empty)
{
	return len <= CTP_NAME_MAX && (len || may_be_empty) && !memchr(s, 0, len);
}

static const char *keep(struct class_mem *m, const char *s, size_t len)
{
	char *at = m->names;
	assert((size_t)(m->names_end - at) > len);
	if (len)
		memcpy(at, s, len);
	at[len] = 0;
	m->names += len + 1;
	return at;
}

static size_t text_bytes(const char *s) { return s ? strlen(s) : 0; }

/* Writes the declaration of a checked class; with p null only counts (an upper bound). */
static size_t declare(const struct ctp_class *cls, uint8_t *p)
{
	size_t bound = 3 * CTP_VARINT_MAX + strlen(cls->name);
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_field *f = &cls->fields[i];
		bound += 3 * CTP_VARINT_MAX + 4 + strlen(f->name) + text_bytes(f->unit);
		for (uint32_t j = 0; j < f->nlabels; j++)
			bound += 2 * CTP_VARINT_MAX + strlen(f->labels[j].name);
	}
	if (!p)
		return bound;
	uint8_t *start = p;
	p = ctp_varint_put(p, cls->kind);
	p = ctp_put_text(p, cls->name);
	p = ctp_varint_put(p, cls->nfields);
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_field *f = &cls->fields[i];
		p = ctp_put_text(p, f->name);
		*p++ = f->type;
		*p++ = f->role;
		*p++ = f->pred;
		*p++ = f->flags;
		p = ctp_put_text(p, f->unit);
		p = ctp_varint_put(p, f->nlabels);
		for (uint32_t j = 0; j < f->nlabels; j++) {
			p = ctp_varint_put(p, f->labels[j].value);
			p = ctp_put_text(p, f->labels[j].name);
		}
	}
	assert((size_t)(p - start) <= bound);
	return (size_t)(p - start);
}

/* What a class cannot be. Its name comes first. */
#define WRONG(err, fmt, ...) ctp_err_as(err, CTP_ERR_USAGE, "class %.40s: " fmt, __VA_ARGS__)

/* The rules that hold for one field by itself. */
static enum ctp_status check_field(const struct ctp_field *f, const char *cls, struct ctp_err *err)
{
	if (!f->name || !name_ok(f->name, strlen(f->name), false))
		return WRONG(err, "a field has no usable name", cls);
	if (!ctp_type_name(f->type))
		return WRONG(err, "field %.40s has the unknown type %u", cls, f->name, f->type);
	if (f->pred >= CTP_PRED_COUNT)
		return WRONG(err, "field %.40s has the unknown predictor %u", cls, f->name, f->pred);
	if (text_bytes(f->unit) > CTP_NAME_MAX || f->nlabels > CTP_LABELS_MAX || (f->nlabels && f->type != CTP_ENUM))
		return WRONG(err, "field %.40s: unit or labels exceed a limit", cls, f->name);
	for (uint32_t i = 0; i < f->nlabels; i++)
		if (!f->labels[i].name || !name_ok(f->labels[i].name, strlen(f->labels[i].name), false))
			return WRONG(err, "field %.40s: a label has no usable name", cls, f->name);
	bool number = !ctp_type_is_text(f->type) && !ctp_type_is_float(f->type);
	if (!number && f->pred != CTP_PRED_NONE && f->pred != CTP_PRED_PREV && f->pred != CTP_PRED_SAME &&
	    f->pred != CTP_PRED_STATE)
		return WRONG(err, "field %.40s: this predictor is for whole numbers", cls, f->name);
	if (f->pred == CTP_PRED_TOGGLE && f->type != CTP_BOOL)
		return WRONG(err, "field %.40s: toggle is for a bool", cls, f->name);
	if (f->pred == CTP_PRED_STEP && f->type == CTP_BOOL)
		return WRONG(err, "field %.40s: step is not for a bool", cls, f->name);
	if ((f->pred == CTP_PRED_TIME || f->role == CTP_ROLE_TIME) && f->type != CTP_U64)
		return WRONG(err, "field %.40s: a time is a u64", cls, f->name);
	return CTP_OK;
}

/* The rules that hold between fields; fills in the class's time, key and state. */
static enum ctp_status check_class(struct ctp_class *cls, struct ctp_err *err)
{
	cls->time_field = cls->key_field = cls->state_field = -1;
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_field *f = &cls->fields[i];
		for (uint32_t j = 0; j < i; j++)
			if (!strcmp(cls->fields[j].name, f->name))
				return WRONG(err, "two fields are called %.40s", cls->name, f->name);
		if (f->role == CTP_ROLE_TIME && cls->time_field < 0)
			cls->time_field = (int)i;
		if (f->role == CTP_ROLE_STATE && cls->state_field < 0 && !ctp_type_is_text(f->type))
			cls->state_field = (int)i;
		if (f->pred == CTP_PRED_KEY) {
			if (cls->key_field >= 0)
				return WRONG(err, "two keys", cls->name);
			cls->key_field = (int)i;
		}
	}
	for (uint32_t i = 0; i < cls->nfields; i++) {
		const struct ctp_field *f = &cls->fields[i];
		if (f->pred == CTP_PRED_TIME && (int)i != cls->time_field)
			return WRONG(err, "field %.40s is predicted as the time and is not the first time", cls->name, f->name);
		if (f->pred >= CTP_PRED_SAME && cls->key_field < 0)
			return WRONG(err, "field %.40s needs a key", cls->name, f->name);
		if (f->pred == CTP_PRED_STATE && (cls->state_field < 0 || cls->state_field == (int)i ||
		                                  cls->state_field == cls->key_field))
			return WRONG(err, "field %.40s needs another field as the state", cls->name, f->name);
	}
	return CTP_OK;
}

struct ctp_class *ctp_class_new(const char *name, enum ctp_kind kind, const struct ctp_field *fields, uint32_t nfields,
                                struct ctp_err *err)
{
	size_t text = strlen(name) + 1, nlabels = 0;
	if (!name_ok(name, strlen(name), false) || nfields > CTP_FIELDS_MAX) {
		WRONG(err, "no usable name, or more than %d fields", name, CTP_FIELDS_MAX);
		return NULL;
	}
	for (uint32_t i = 0; i < nfields; i++) {
		if (check_field(&fields[i], name, err))
			return NULL;
		text += strlen(fields[i].name) + 1 + text_bytes(fields[i].unit) + 1;
		nlabels += fields[i].nlabels;
		for (uint32_t j = 0; j < fields[i].nlabels; j++)
			text += strlen(fields[i].labels[j].name) + 1;
	}
	struct class_mem *m = calloc(1, sizeof *m + nfields * sizeof *fields + nlabels * sizeof(struct ctp_label) + text);
	if (!m) {
		ctp_err_as(err, CTP_ERR_MEMORY, "class %.40s: out of memory", name);
		return NULL;
	}
	m->fields = (struct ctp_field *)(m + 1);
	struct ctp_label *labels = (struct ctp_label *)(m->fields + nfields);
	m->names = (char *)(labels + nlabels);
	m->names_end = m->names + text;
	m->cls = (struct ctp_class){.name = keep(m, name, strlen(name)), .nfields = nfields, .fields = m->fields,
	                            .kind = kind < CTP_KIND_COUNT ? (uint8_t)kind : (uint8_t)CTP_KIND_OTHER};
	for (uint32_t i = 0; i < nfields; i++) {
		struct ctp_field *f = &m->fields[i];
		*f = fields[i];
		m->cls.has_text |= ctp_type_is_text(f->type);
		f->role = f->role < CTP_ROLE_COUNT_ ? f->role : CTP_ROLE_NONE;
		f->name = keep(m, fields[i].name, strlen(fields[i].name));
		f->unit = keep(m, fields[i].unit, text_bytes(fields[i].unit));
		f->labels = labels;
		for (uint32_t j = 0; j < f->nlabels; j++, labels++)
			*labels = (struct ctp_label){fields[i].labels[j].value,
			                             keep(m, fields[i].labels[j].name, strlen(fields[i].labels[j].name))};
	}
	assert(m->names == m->names_end); /* every text was counted, and is kept */
	if (check_class(&m->cls, err) || !(m->cls.plan = ctp_codec_plan_new(&m->cls, err)))
		goto fail;
	uint8_t *decl = malloc(declare(&m->cls, NULL));
	if (!decl) {
		ctp_err_as(err, CTP_ERR_MEMORY, "class %.40s: out of memory", name);
		goto fail;
	}
	m->cls.decl = decl;
	m->cls.decl_bytes = declare(&m->cls, decl);
	return &m->cls;
fail:
	ctp_class_free(&m->cls);
	return NULL;
}

void ctp_class_free(struct ctp_class *cls)
{
	if (!cls)
		return;
	free(cls->plan);
	free((void *)cls->decl);
	free(cls);
}

/* A text of the declaration as a C string in *room, which moves on; null if it cannot be a name. */
static const char *take_text(struct ctp_cursor *c, char **room)
{
	uint64_t len = ctp_cursor_varint(c);
	const uint8_t *p = ctp_cursor_bytes(c, len);
	if (!p || !name_ok((const char *)p, len, true))
		return NULL;
	char *s = memcpy(*room, p, len);
	s[len] = 0;
	*room += len + 1;
	return s;
}

struct ctp_class *ctp_class_parse(const uint8_t *decl, size_t decl_bytes, struct ctp_err *err)
{
	struct ctp_cursor c = {decl, decl + decl_bytes, false};
	struct ctp_class *cls = NULL;
	struct ctp_field *fields = calloc(CTP_FIELDS_MAX, sizeof *fields);
	struct ctp_label *labels = NULL;
	size_t nlabels = 0, label_room = 0;
	/* Each text takes its length's byte in the declaration, so its NUL has room here. */
	char *text = malloc(decl_bytes + 1), *room = text;
	uint8_t *copy = malloc(decl_bytes + 1);
	if (!fields || !text || !copy) {
		ctp_err_memory(err);
		goto out;
	}
	ctp_err_as(err, CTP_ERR_DAMAGED, "a class declaration of %zu bytes makes no sense", decl_bytes);
	uint64_t kind = ctp_cursor_varint(&c);
	const char *name = take_text(&c, &room);
	uint64_t nfields = ctp_cursor_varint(&c);
	if (!name || nfields > CTP_FIELDS_MAX)
		goto out;
	for (uint64_t i = 0; i < nfields; i++) {
		struct ctp_field *f = &fields[i];
		f->name = take_text(&c, &room);
		f->type = ctp_cursor_u8(&c);
		f->role = ctp_cursor_u8(&c);
		f->pred = ctp_cursor_u8(&c);
		f->flags = ctp_cursor_u8(&c);
		f->unit = take_text(&c, &room);
		uint64_t n = ctp_cursor_varint(&c);
		if (c.bad || !f->name || !f->unit || n > CTP_LABELS_MAX)
			goto out;
		f->nlabels = (uint32_t)n;
		if (!CTP_ARRAY_RESERVE(labels, label_room, nlabels + n, SIZE_MAX)) {
			ctp_err_as(err, CTP_ERR_MEMORY, "class %.40s: out of memory", name);
			goto out;
		}
		for (uint64_t j = 0; j < n; j++, nlabels++) {
			labels[nlabels].value = ctp_cursor_varint(&c);
			if (!(labels[nlabels].name = take_text(&c, &room)))
				goto out;
		}
	}
	if (c.bad || c.p != c.end)
		goto out;
	size_t at = 0; /* only now: the labels no longer move */
	for (uint64_t i = 0; i < nfields; at += fields[i++].nlabels)
		fields[i].labels = fields[i].nlabels ? labels + at : NULL;
	cls = ctp_class_new(name, kind < CTP_KIND_COUNT ? (enum ctp_kind)kind : CTP_KIND_OTHER, fields, (uint32_t)nfields, err);
	if (cls) { /* a class made by a newer version keeps its own words: roles that we do not know survive being copied */
		free((void *)cls->decl);
		cls->decl = memcpy(copy, decl, decl_bytes);
		cls->decl_bytes = decl_bytes;
		copy = NULL;
	}
out:
	free(copy);
	free(labels);
	free(fields);
	free(text);
	return cls;
}
