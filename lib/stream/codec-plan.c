/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * codec-plan.c - makes the plan of a class.
 */
#include "stream/codec-plan.h"

#include <assert.h>
#include <stdlib.h>

static uint8_t type_shift(unsigned type)
{
	static const uint8_t bits[CTP_TYPE_COUNT] = {[CTP_U8] = 8, [CTP_U16] = 16, [CTP_U32] = 32, [CTP_U64] = 64, [CTP_I8] = 8,
	                                             [CTP_I16] = 16, [CTP_I32] = 32, [CTP_I64] = 64, [CTP_BOOL] = 1,
	                                             [CTP_ENUM] = 64, [CTP_F32] = 32, [CTP_F64] = 64, [CTP_STRING] = 64,
	                                             [CTP_BYTES] = 64};
	return (uint8_t)(64 - bits[type]);
}

static struct ctp_op make_op(const struct ctp_class *cls, int field, unsigned *words)
{
	const struct ctp_field *f = &cls->fields[field];
	struct ctp_op op = {.field = (uint8_t)field, .type = f->type, .pred = f->pred, .slot = (uint8_t)field,
	                    .shift = type_shift(f->type), .by_state = f->pred == CTP_PRED_STATE};
	op.narrow = op.shift || ctp_type_is_text(f->type);
	if (f->pred >= CTP_PRED_SAME) {
		op.slot = (uint8_t)*words;
		*words += 1 + (f->pred == CTP_PRED_STATE || f->pred == CTP_PRED_STEP);
	}
	return op;
}

/* The fields with one of two predictors, but for those that have a place of their own. */
static void plan_group(struct ctp_codec_plan *plan, const struct ctp_class *cls, unsigned pred, unsigned or_pred, unsigned *words)
{
	for (int i = 0; i < (int)cls->nfields; i++) {
		unsigned p = cls->fields[i].pred;
		if ((p != pred && p != or_pred) || (plan->state_first && i == plan->state))
			continue;
		struct ctp_op op = make_op(cls, i, words);
		if (plan->nmasked++ < CTP_MASKED_MAX)
			plan->masked[plan->nmasked - 1] = op;
	}
}

/* Coroutines move from thread to thread, and numbers of events are not of one kind: the first such field is coroTracer's. */
static uint64_t often_missed(const struct ctp_codec_plan *plan, const struct ctp_class *cls)
{
	uint64_t often = 0;
	bool numbered = false;
	for (uint32_t i = 0; i < plan->nmasked && i < CTP_MASKED_MAX; i++) {
		const struct ctp_op *op = &plan->masked[i];
		unsigned role = cls->fields[op->field].role;
		bool number = role == CTP_ROLE_SEQUENCE && !numbered;
		if (op->type == CTP_U64 && (role == CTP_ROLE_THREAD || number))
			often |= UINT64_C(1) << i;
		numbered |= number;
	}
	return often;
}

struct ctp_codec_plan *ctp_codec_plan_new(const struct ctp_class *cls, struct ctp_err *err)
{
	struct ctp_codec_plan *plan = calloc(1, sizeof *plan);
	unsigned words = 0;
	if (!plan) {
		ctp_err_as(err, CTP_ERR_MEMORY, "class %.40s: out of memory", cls->name);
		return NULL;
	}
	plan->has_text = cls->has_text;
	plan->key = cls->key_field;
	plan->time = cls->time_field >= 0 && cls->fields[cls->time_field].pred == CTP_PRED_TIME ? cls->time_field : -1;
	plan->state = cls->state_field;
	plan->state_first = plan->state >= 0 && cls->fields[plan->state].pred >= CTP_PRED_PREV;
	if (plan->key >= 0)
		plan->key_op = make_op(cls, plan->key, &words);
	for (int i = 0; i < (int)cls->nfields; i++)
		if (cls->fields[i].pred == CTP_PRED_NONE)
			plan->plain[plan->nplain++] = make_op(cls, i, &words);
	if (plan->state >= 0)
		plan->state_op = make_op(cls, plan->state, &words);
	if (plan->state_first)
		plan->masked[plan->nmasked++] = plan->state_op;
	plan->same = plan->nmasked;
	plan_group(plan, cls, CTP_PRED_SAME, CTP_PRED_STATE, &words);
	plan->prev = plan->nmasked;
	plan_group(plan, cls, CTP_PRED_PREV, CTP_PRED_PREV, &words);
	plan->step = plan->nmasked;
	plan_group(plan, cls, CTP_PRED_STEP, CTP_PRED_STEP, &words);
	plan->toggle = plan->nmasked;
	plan_group(plan, cls, CTP_PRED_TOGGLE, CTP_PRED_TOGGLE, &words);
	plan->often = often_missed(plan, cls);
	if (words > CTP_CONTEXT_WORDS || plan->nmasked > CTP_MASKED_MAX) {
		ctp_err_as(err, CTP_ERR_USAGE,
		           "class %.40s: its predictors need more than %d words for a key, or more than %d can miss",
		            cls->name, CTP_CONTEXT_WORDS, CTP_MASKED_MAX);
		free(plan);
		return NULL;
	}
	/* The groups of masked[] follow each other, and each field has at most one op: the coder's loops rest on that. */
	assert(plan->same <= plan->prev && plan->prev <= plan->step && plan->step <= plan->toggle && plan->toggle <= plan->nmasked);
	assert(plan->nplain + plan->nmasked <= cls->nfields && cls->nfields <= CTP_FIELDS_MAX);
	return plan;
}
