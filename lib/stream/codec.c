/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* codec.c - makes and clears what a codec remembers within a packet; declares classes. */
#include "stream/codec-own.h"

#include <assert.h>
#include <stdlib.h>

#include "base/pages.h"

#define CONTEXTS_BYTES (sizeof(struct context) << CTP_CONTEXT_BITS)

struct ctp_codec *ctp_codec_new(struct ctp_err *err)
{
	struct ctp_codec *c = calloc(1, sizeof *c);
	if (c)
		c->contexts = ctp_pages_new(CONTEXTS_BYTES);
	if (!c || !c->contexts) {
		ctp_err_memory(err);
		free(c);
		return NULL;
	}
	ctp_codec_reset(c);
	return c;
}

void ctp_codec_free(struct ctp_codec *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->nprevs; i++)
		free(c->classes[i].prev);
	ctp_pages_free(c->contexts, CONTEXTS_BYTES);
	ctp_pages_free(c->slots, CTP_STRING_SLOTS * sizeof *c->slots);
	ctp_pages_free(c->strings, CTP_STRINGS_MAX * sizeof *c->strings);
	free(c->arena);
	free(c);
}

void ctp_codec_reset(struct ctp_codec *c)
{
	c->packet++;
	c->last_ts = 0;
	c->nclasses = 0;
	c->nstrings = 0;
	c->arena_used = 0;
}

static int plan_number(const struct ctp_codec_plan *plan)
{
	static const struct ctp_codec_plan *const known[] = { [TRANSITION] = &ctp_transition_plan, [MERGED] = &ctp_merged_plan, [PLAIN] = &ctp_plain_plan,
		                                              [BIRTH] = &ctp_birth_plan, [DEATH] = &ctp_death_plan,
		                                              [WAKE] = &ctp_wake_plan, [ACCESS] = &ctp_access_plan };
	for (int i = ANY + 1; i <= ACCESS; i++)
		if (!memcmp(plan, known[i], sizeof *plan))
			return i;
	return ANY;
}

bool ctp_codec_declare(struct ctp_codec *c, const struct ctp_class *cls)
{
	if (c->nclasses == CTP_CLASSES_MAX)
		return false;
	assert(c->nclasses <= c->nprevs && cls->plan);
	struct bound *b = &c->classes[c->nclasses];
	if (c->nclasses == c->nprevs) {
		if (!(b->prev = malloc(CTP_FIELDS_MAX * sizeof *b->prev)))
			return false;
		c->nprevs++;
	}
	memset(b->prev, 0, CTP_FIELDS_MAX * sizeof *b->prev);
	b->cls = cls;
	b->plan = plan_number(cls->plan);
	b->quick = cls->plan->key >= 0 && cls->plan->time >= 0 && !cls->plan->has_text;
	c->nclasses++;
	assert(c->nclasses <= c->nprevs);
	return true;
}
