/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * codec-encode.c - records to bytes.
 *
 * The coder is compiled for any class, and once more for each of the plans that nearly all records have: see codec-plan.h.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/crc32c.h"
#include "base/pages.h"
#include "stream/codec-own.h"

enum {
	STRING_INTERN_MAX = 4096, /* bytes; longer strings are written each time */
};

/* The handle of a string if this packet has it; otherwise *free_slot is where it could go, or null. */
static uint32_t find_string(struct ctp_codec *c, const struct ctp_str *s, const uint8_t *base, struct interned **free_slot)
{
	*free_slot = NULL;
	if (s->len > STRING_INTERN_MAX)
		return 0;
	if (!c->slots && !(c->slots = ctp_pages_new(CTP_STRING_SLOTS * sizeof *c->slots)))
		return 0;
	for (uint32_t i = ctp_crc32c(0, s->data, s->len);; i++) {
		struct interned *slot = &c->slots[i % CTP_STRING_SLOTS];
		if (slot->packet != c->packet) {
			*free_slot = c->nstrings < CTP_STRING_SLOTS / 2 ? slot : NULL;
			return 0;
		}
		if (slot->len == s->len && !memcmp(base + slot->offset, s->data, s->len))
			return slot->handle;
	}
}

/* Writes a string that the prediction missed; learns its handle into *v. */
static uint8_t *put_string(struct ctp_codec *c, const struct ctp_str *s, uint64_t *v, const uint8_t *base, uint8_t *p)
{
	struct interned *slot;
	uint32_t handle = s->len ? find_string(c, s, base, &slot) : 0;
	*v = handle;
	if (handle || !s->len)
		return ctp_varint_put(p, CTP_STRING_HANDLE + (uint64_t)handle);
	p = ctp_varint_put(p, slot ? CTP_STRING_NEW : CTP_STRING_LITERAL);
	p = ctp_varint_put(p, s->len);
	memcpy(p, s->data, s->len);
	if (slot)
		*slot = (struct interned){(uint32_t)(p - base), s->len, (uint32_t)(*v = ++c->nstrings), c->packet};
	return p + s->len;
}

/* Predictors compare strings by their handles. A new string has a handle that no predictor expects. */
static uint64_t string_handle(struct ctp_codec *c, uint64_t v, const uint8_t *base)
{
	const struct ctp_str *s = ctp_str_val(v);
	struct interned *slot;
	if (!s || !s->len)
		return 0;
	uint32_t handle = find_string(c, s, base, &slot);
	return handle ? handle : UINT64_MAX;
}

/* A value without a prediction. */
static uint8_t *put_plain(const struct ctp_op *op, uint64_t v, uint8_t *p)
{
	if (op->type == CTP_F32) {
		ctp_store_u32(p, (uint32_t)v);
		return p + 4;
	}
	if (op->type == CTP_F64) {
		ctp_store_u64(p, v);
		return p + 8;
	}
	return ctp_varint_put(p, ctp_type_is_signed(op->type) ? ctp_fold((int64_t)v) : v);
}

static const struct ctp_str *string_or_empty(uint64_t v) { return v ? ctp_str_val(v) : &ctp_empty_string; }

/* The value as it is compared: made to fit its type, of a text the handle. */
INLINE uint64_t own_value(struct ctp_codec *c, const struct ctp_op *op, const uint64_t *val, const uint8_t *base)
{
	uint64_t v = val[op->field];
	if (__builtin_expect(op->narrow, 0))
		return ctp_type_is_text(op->type) ? string_handle(c, v, base) : fit(op, v);
	return v;
}

/* A value that differs from what was expected: it is written, and remembered. Of a bool there is only one other. */
INLINE uint8_t *put_missed(struct ctp_codec *c, const struct ctp_op *op, uint64_t differs, const uint64_t *val, uint64_t *w,
                           const uint8_t *base, uint8_t *p)
{
	uint64_t v = val[op->field];
	if (ctp_type_is_text(op->type))
		return put_string(c, string_or_empty(v), w, base, p);
	learn_missed(op, w, fit(op, v), differs);
	if (ctp_type_is_float(op->type))
		return put_plain(op, fit(op, v), p);
	return op->type == CTP_BOOL ? p : ctp_varint_put(p, ctp_fold((int64_t)differs));
}

/* The same of a number of 64 bits where it differs, without asking whether it does: a step's value is there already. */
INLINE uint8_t *put_if_missed(const struct ctp_op *op, uint64_t differs, uint64_t *w, uint8_t *p)
{
	w[op->pred == CTP_PRED_STEP] += differs;
	uint8_t *end = ctp_varint_put(p, ctp_fold((int64_t)differs));
	return differs ? end : p;
}

INLINE void encode(struct ctp_codec *c, const struct ctp_codec_plan *plan, unsigned n, uint64_t *word, const uint64_t *val,
                    uint64_t *last_key, uint64_t *last_ts, struct ctp_lanes *to)
{
	struct bound *b = &c->classes[n];
	const struct ctp_op *op = plan->masked;
	uint64_t key = 0, ts = plan->time >= 0 ? val[plan->time] : 0, mask = 0, differs[CTP_MASKED_MAX], *w;
	unsigned state = 0;
	uint32_t i = 0;
	if (plan->key >= 0)
		key = fit(&plan->key_op, val[plan->key]);
	if (plan->state >= 0)
		state = fit(&plan->state_op, val[plan->state]) != 0;
	/* Values of steps and toggles are remembered here; the other words have the value already if it was expected. */
	UNROLL for (; i < plan->nmasked; i++) {
		w = op_word(&op[i], word, b->prev, plan->state_first && !i ? 0 : state);
		uint64_t v = own_value(c, &op[i], val, to->base);
		differs[i] = v - expect_any(&op[i], w);
		mask |= (uint64_t)(differs[i] != 0) << i;
		if (op[i].pred == CTP_PRED_STEP || op[i].pred == CTP_PRED_TOGGLE)
			*w = v;
	}
	to->heads = ctp_varint_put(to->heads, mask << 2 | (n < CTP_HEAD_CLASS ? n : CTP_HEAD_CLASS));
	if (n >= CTP_HEAD_CLASS)
		to->heads = ctp_varint_put(to->heads, n);
	uint8_t *p = to->keys;
	if (plan->key >= 0) {
		p = ctp_varint_put(p, ctp_fold((int64_t)(key - *last_key)));
		*last_key = key;
	}
	if (plan->time >= 0) {
		p = ctp_varint_put(p, ctp_fold((int64_t)(ts - *last_ts)));
		*last_ts = ts;
	}
	to->keys = p;
	p = to->rest;
	for (i = 0; i < plan->nplain; i++) {
		const struct ctp_op *plain = &plan->plain[i];
		uint64_t handle;
		if (ctp_type_is_text(plain->type))
			p = put_string(c, string_or_empty(val[plain->field]), &handle, to->base, p);
		else
			p = put_plain(plain, fit(plain, val[plain->field]), p);
	}
	if (plan->state_first && op->type == CTP_BOOL && op->pred == CTP_PRED_TOGGLE)
		mask &= ~(uint64_t)1; /* a toggle that was missed has only one other value */
	if (__builtin_expect(!(mask & ~plan->often), 1)) {
		UNROLL for (i = 0; i < plan->nmasked; i++)
			if (plan->often >> i & 1)
				p = put_if_missed(&op[i], differs[i], op_word(&op[i], word, b->prev, state), p);
	} else {
		UNROLL for (i = 0; i < plan->nmasked; i++)
			if (mask >> i & 1)
				p = put_missed(c, &op[i], differs[i], val,
				               op_word(&op[i], word, b->prev, plan->state_first && !i ? 0 : state), to->base, p);
	}
	to->rest = p;
}

void ctp_codec_encode(struct ctp_codec *c, unsigned n, const uint64_t *val, struct ctp_lanes *to)
{
	assert(n < c->nclasses);
	const struct ctp_codec_plan *plan = c->classes[n].cls->plan;
	const struct context_place at = contexts_of(c, n);
	uint64_t *word = NULL, *last_key = NULL;
	if (plan->key >= 0) {
		word = own_words(context_at(at, fit(&plan->key_op, val[plan->key])), at);
		last_key = &c->classes[n].prev[plan->key];
	}
	encode(c, plan, n, word, val, last_key, &c->last_ts, to);
}

/* Records of one class, until another comes. */
INLINE uint32_t encode_run(struct ctp_codec *c, const struct ctp_codec_plan *plan, unsigned n, const struct ctp_record *rec,
                           uint32_t count, struct ctp_lanes *to)
{
	const struct ctp_class *cls = c->classes[n].cls;
	const struct context_place at = contexts_of(c, n);
	struct ctp_lanes l = *to;
	uint64_t key = c->classes[n].prev[plan->key], ts = c->last_ts;
	uint32_t i = 0;
	struct context *ctx = context_at(at, fit(&plan->key_op, rec->val[plan->key])), *next = ctx;
	for (; i < count && rec[i].cls == cls; i++, ctx = next) {
		if (i + 1 < count && rec[i + 1].cls == cls) {
			next = context_at(at, fit(&plan->key_op, rec[i + 1].val[plan->key]));
			__builtin_prefetch(next->word, 1);
			__builtin_prefetch(&next->owner, 1);
		}
		encode(c, plan, n, own_words(ctx, at), rec[i].val, &key, &ts, &l);
	}
	c->classes[n].prev[plan->key] = key;
	c->last_ts = ts;
	*to = l;
	return i;
}

/* Apart, so that the registers they need are not saved for each other. */
#define ENCODER(name, of_plan) \
	static NOINLINE uint32_t name(struct ctp_codec *c, unsigned n, const struct ctp_record *rec, uint32_t count, struct ctp_lanes *to) \
	{ \
		return encode_run(c, of_plan, n, rec, count, to); \
	}
ENCODER(encode_any, c->classes[n].cls->plan)
ENCODER(encode_transitions, &ctp_transition_plan)
ENCODER(encode_merged, &ctp_merged_plan)
ENCODER(encode_plain, &ctp_plain_plan)
ENCODER(encode_births, &ctp_birth_plan)
ENCODER(encode_deaths, &ctp_death_plan)
ENCODER(encode_wakes, &ctp_wake_plan)
ENCODER(encode_accesses, &ctp_access_plan)

typedef uint32_t encoder(struct ctp_codec *c, unsigned n, const struct ctp_record *rec, uint32_t count, struct ctp_lanes *to);
static encoder *const encoders[] = { [ANY] = encode_any,      [TRANSITION] = encode_transitions, [MERGED] = encode_merged, [PLAIN] = encode_plain,
	                             [BIRTH] = encode_births, [DEATH] = encode_deaths,           [WAKE] = encode_wakes,
	                             [ACCESS] = encode_accesses };

uint32_t ctp_codec_encode_some(struct ctp_codec *c, unsigned n, const struct ctp_record *rec, uint32_t count, struct ctp_lanes *to)
{
	assert(n < c->nclasses);
	const struct bound *b = &c->classes[n];
	return b->quick ? encoders[b->plan](c, n, rec, count, to) : 0;
}
