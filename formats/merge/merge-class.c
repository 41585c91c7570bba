/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* merge-class.c - finds or makes the class of the output. */
#include "merge/merge-class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_whole(unsigned type) { return type >= CTP_U8 && type <= CTP_I64; }

/* The fields that have the number of a coroutine, although their role does not say it. */
static bool is_named_coroutine(const struct ctp_class *cls, const struct ctp_field *f)
{
	const char *name = cls->kind == CTP_KIND_BIRTH ? "parent" : cls->kind == CTP_KIND_WAKE ? "by" :
	                   cls->kind == CTP_KIND_AWAIT ? "target" : NULL;
	if (cls->kind == CTP_KIND_FINDING)
		return !strcmp(f->name, "waker") || !strcmp(f->name, "waits_for");
	return name && !strcmp(f->name, name);
}

static enum ctp_merge_op op_of(const struct ctp_class *cls, const struct ctp_field *f)
{
	if (cls->kind == CTP_KIND_ORIGIN && !strcmp(f->name, "stride") && is_whole(f->type))
		return CTP_MERGE_STRIDE;
	switch (f->role) {
	case CTP_ROLE_TIME:
		return CTP_MERGE_TIME;
	case CTP_ROLE_THREAD:
	case CTP_ROLE_PROCESS:
	case CTP_ROLE_COROUTINE:
	case CTP_ROLE_PROBE:
	case CTP_ROLE_SITE:
	case CTP_ROLE_ORIGIN:
		return is_whole(f->type) ? CTP_MERGE_ID : CTP_MERGE_COPY;
	default:
		return is_whole(f->type) && is_named_coroutine(cls, f) ? CTP_MERGE_ID : CTP_MERGE_COPY;
	}
}

static bool has_name(const struct ctp_class *cls, const char *name) { return ctp_class_field(cls, name) >= 0; }

/* The class with a further field. A predictor that has no room in the class is replaced by a simpler one. */
static struct ctp_class *with_origin(const struct ctp_class *cls, struct ctp_field *fields, struct ctp_err *err)
{
	static const uint8_t preds[] = {CTP_PRED_SAME, CTP_PRED_PREV, CTP_PRED_NONE};
	char name[32] = "origin";
	struct ctp_class *made = NULL;
	for (unsigned nth = 2; has_name(cls, name); nth++)
		snprintf(name, sizeof name, "origin_%u", nth);
	for (size_t i = cls->key_field < 0; i < sizeof preds && !made; i++) {
		fields[cls->nfields] = (struct ctp_field){.name = name, .type = CTP_U64, .role = CTP_ROLE_ORIGIN, .pred = preds[i],
		                                          .flags = CTP_FIELD_EXTRA};
		made = ctp_class_new(cls->name, (enum ctp_kind)cls->kind, fields, cls->nfields + 1, err);
	}
	return made;
}

static bool has_origin(const struct ctp_class *cls)
{
	int at = ctp_class_role(cls, CTP_ROLE_ORIGIN);
	return at >= 0 && is_whole(cls->fields[at].type);
}

static struct ctp_class *make(struct ctp_merge_class *c, const struct ctp_class *cls, bool same, struct ctp_err *err)
{
	struct ctp_field fields[CTP_FIELDS_MAX];
	if (same)
		return ctp_class_parse(cls->decl, cls->decl_bytes, err);
	memcpy(fields, cls->fields, cls->nfields * sizeof *fields);
	for (uint32_t i = 0; i < cls->nfields; i++) {
		c->op[i] = (uint8_t)op_of(cls, &fields[i]);
		c->plain &= c->op[i] == CTP_MERGE_COPY;
		fields[i].type = c->op[i] == CTP_MERGE_ID || c->op[i] == CTP_MERGE_STRIDE ? CTP_U64 : fields[i].type;
	}
	c->adds_origin = !has_origin(cls) && cls->nfields < CTP_FIELDS_MAX;
	if (c->adds_origin)
		return with_origin(cls, fields, err);
	return ctp_class_new(cls->name, (enum ctp_kind)cls->kind, fields, cls->nfields, err);
}

static bool is_same(const struct ctp_merge_class *a, const struct ctp_merge_class *b)
{
	return a->cls->decl_bytes == b->cls->decl_bytes && !memcmp(a->cls->decl, b->cls->decl, a->cls->decl_bytes) &&
	       a->adds_origin == b->adds_origin && a->plain == b->plain && !memcmp(a->op, b->op, sizeof a->op);
}

static void drop(struct ctp_merge_class *c)
{
	if (c)
		ctp_class_free(c->cls);
	free(c);
}

const struct ctp_merge_class *ctp_merge_class(struct ctp_merge_classes *all, const struct ctp_class *cls, bool same,
                                              struct ctp_err *err)
{
	struct ctp_merge_class *c = ctp_err_calloc(err, sizeof *c);
	if (!c)
		return NULL;
	c->plain = true;
	c->cls = make(c, cls, same, err);
	for (uint32_t i = 0; c->cls && i < all->n; i++)
		if (is_same(all->list[i], c)) {
			drop(c);
			return all->list[i];
		}
	if (c->cls && all->n < CTP_CLASSES_MAX)
		return all->list[all->n++] = c;
	if (c->cls)
		ctp_err_as(err, CTP_ERR_REFUSED, "the inputs together have more than %d classes", CTP_CLASSES_MAX);
	drop(c);
	return NULL;
}

void ctp_merge_classes_fini(struct ctp_merge_classes *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		drop(all->list[i]);
}
