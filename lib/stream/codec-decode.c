/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * codec-decode.c - bytes to records.
 *
 * The bytes are hostile, but whole: each lane is followed by CTP_RECORD_ROOM readable bytes, so a record is read first and its ends
 * are looked at afterwards. As in codec-encode.c, the usual classes have code of their own.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/pages.h"
#include "stream/codec-own.h"

bool ctp_codec_strings_room(struct ctp_codec *c, size_t payload_bytes)
{
	/* A string of n > 0 bytes takes at least n + 2 in the payload and at most n + 12 here: so at most five times as much. */
	size_t want = 5 * payload_bytes;
	c->said_left = (uint64_t)CTP_SAID_FACTOR * payload_bytes;
	if (!c->strings && !(c->strings = ctp_pages_new(CTP_STRINGS_MAX * sizeof *c->strings)))
		return false;
	if (want <= c->arena_size)
		return true;
	free(c->arena);
	c->arena_size = 0;
	if (!(c->arena = malloc(want)))
		return false;
	c->arena_size = want;
	return true;
}

static const uint8_t *get_string(struct ctp_codec *c, const uint8_t *p, const uint8_t *end, const struct ctp_str **s, uint64_t *v)
{
	uint64_t code, len;
	p = ctp_varint_get(p, &code);
	if (code >= CTP_STRING_HANDLE) {
		*v = code - CTP_STRING_HANDLE;
		if (*v > c->nstrings)
			return NULL;
		*s = *v ? c->strings[*v - 1] : &ctp_empty_string;
		return p;
	}
	p = ctp_varint_get(p, &len);
	if (p > end || len > (uint64_t)(end - p) || len > CTP_STRING_MAX)
		return NULL;
	*v = 0;
	if (!len) {
		*s = &ctp_empty_string;
		return p; /* not remembered, even if it says so: the empty string has its handle */
	}
	struct ctp_str *str = (struct ctp_str *)(c->arena + c->arena_used);
	size_t size = (sizeof *str + len + 1 + 7) & ~(size_t)7;
	if (size > c->arena_size - c->arena_used || (code == CTP_STRING_NEW && c->nstrings == CTP_STRINGS_MAX))
		return NULL;
	c->arena_used += size;
	str->len = (uint32_t)len;
	memcpy(str->data, p, len);
	str->data[len] = 0;
	*s = str;
	if (code == CTP_STRING_NEW) {
		c->strings[c->nstrings] = str;
		*v = ++c->nstrings;
	}
	return p + len;
}

static const uint8_t *get_plain(const struct ctp_op *op, const uint8_t *p, uint64_t *v)
{
	if (op->type == CTP_F32) {
		*v = ctp_load_u32(p);
		return p + 4;
	}
	if (op->type == CTP_F64) {
		*v = ctp_load_u64(p);
		return p + 8;
	}
	p = ctp_varint_get(p, v);
	*v = fit(op, ctp_type_is_signed(op->type) ? (uint64_t)ctp_unfold(*v) : *v);
	return p;
}

/* v comes with the expected value. */
INLINE const uint8_t *get_missed(const struct ctp_op *op, const uint8_t *p, uint64_t *v)
{
	uint64_t d;
	if (__builtin_expect(ctp_type_is_float(op->type), 0))
		return get_plain(op, p, v);
	if (op->type == CTP_BOOL) {
		*v ^= 1;
		return p;
	}
	p = ctp_varint_get(p, &d);
	*v += (uint64_t)ctp_unfold(d);
	if (__builtin_expect(op->narrow, 0))
		*v = fit(op, *v);
	return p;
}

/* Those of a record have a limit, and so have all of the packet. */
static bool strings_fit(struct ctp_codec *c, const struct ctp_class *cls, const uint64_t *val)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < cls->nfields; i++)
		sum += ctp_type_is_text(cls->fields[i].type) ? ctp_str_val(val[i])->len : 0;
	if (sum > CTP_PAYLOAD_MAX || sum > c->said_left)
		return false;
	c->said_left -= sum;
	return true;
}

/* Of expected strings val has the handles, of missed ones the strings already. */
static bool handles_to_strings(const struct ctp_codec *c, const struct ctp_codec_plan *plan, uint64_t missed, uint64_t *val)
{
	for (uint32_t i = 0; i < plan->nmasked; i++) {
		const struct ctp_op *op = &plan->masked[i];
		if (!ctp_type_is_text(op->type) || missed >> i & 1)
			continue;
		uint64_t handle = val[op->field];
		if (handle > c->nstrings)
			return false;
		val[op->field] = ctp_val_str(handle ? c->strings[handle - 1] : &ctp_empty_string);
	}
	return true;
}

/* After key and time, which are read already: the other fields that are always written. */
INLINE const uint8_t *get_plains(struct ctp_codec *c, const struct ctp_codec_plan *plan, const uint8_t *p, const uint8_t *end,
                                 uint64_t *val)
{
	for (uint32_t i = 0; i < plan->nplain; i++) {
		const struct ctp_op *op = &plan->plain[i];
		const struct ctp_str *s;
		uint64_t handle;
		if (!ctp_type_is_text(op->type)) {
			p = get_plain(op, p, &val[op->field]);
			continue;
		}
		if (p > end || !(p = get_string(c, p, end, &s, &handle)))
			return NULL;
		val[op->field] = ctp_val_str(s);
	}
	return p;
}

/* One that was missed: val has what was expected. What the expectation has taught is put right. */
INLINE const uint8_t *get_and_learn(struct ctp_codec *c, const struct ctp_op *op, uint64_t *w, const uint8_t *p,
                                    const uint8_t *end, uint64_t *val)
{
	uint64_t *v = &val[op->field], expected = *v;
	if (__builtin_expect(ctp_type_is_text(op->type), 0)) {
		const struct ctp_str *s;
		if (p > end || !(p = get_string(c, p, end, &s, w)))
			return NULL;
		*v = ctp_val_str(s);
		return p;
	}
	p = get_missed(op, p, v);
	learn_missed(op, w, *v, *v - expected);
	return p;
}

/*
 * What stands after a record's key and time; word is the key's context. Every prediction is learned as if it had come true, which
 * for most is nothing to do; the few that were missed are put right.
 */
INLINE const uint8_t *get_rest(struct ctp_codec *c, const struct ctp_codec_plan *plan, uint64_t *prev, uint64_t *word,
                               uint64_t mask, const uint8_t *p, const uint8_t *end, uint64_t *val)
{
	const struct ctp_op *op = plan->masked;
	uint64_t *w;
	unsigned state = 0;
	uint32_t i = 0;
	if (!(p = get_plains(c, plan, p, end, val)))
		return NULL;
	if (plan->state_first) { /* others are predicted by it */
		w = op_word(op, word, prev, 0);
		uint64_t expected = expect_any(op, w), v = expected;
		if (op->type == CTP_BOOL)
			v ^= mask & 1;
		else if (mask & 1)
			p = get_missed(op, p, &v);
		learn_missed(op, w, v, v - expected);
		val[plan->state] = v;
		mask &= ~(uint64_t)1;
		i = 1;
	}
	if (plan->state >= 0)
		state = val[plan->state] != 0;
	UNROLL for (; i < plan->prev; i++)
		val[op[i].field] = word[op[i].slot + (state & op[i].by_state)];
	UNROLL for (; i < plan->step; i++)
		val[op[i].field] = prev[op[i].slot];
	UNROLL for (; i < plan->toggle; i++) {
		w = &word[op[i].slot];
		val[op[i].field] = w[0] = expect_step(&op[i], w);
	}
	UNROLL for (; i < plan->nmasked; i++) {
		w = &word[op[i].slot];
		val[op[i].field] = *w = expect_toggle(w);
	}
	UNROLL for (i = mask ? plan->state_first : plan->nmasked; i < plan->nmasked; i++) {
		if (mask >> i & 1 && !(p = get_and_learn(c, &op[i], op_word(&op[i], word, prev, state), p, end, val)))
			return NULL;
	}
	return p;
}

INLINE const uint8_t *get_step(const uint8_t *p, uint64_t *v)
{
	uint64_t d;
	p = ctp_varint_get(p, &d);
	*v += (uint64_t)ctp_unfold(d);
	return p;
}

bool ctp_codec_decode(struct ctp_codec *c, uint64_t n, uint64_t mask, struct ctp_lanes_in *from, uint64_t *val,
                      const struct ctp_class **cls)
{
	*cls = NULL;
	if (n >= c->nclasses)
		return false;
	struct bound *b = &c->classes[n];
	const struct ctp_codec_plan *plan = b->cls->plan;
	const struct context_place at = contexts_of(c, (unsigned)n);
	uint64_t *word = NULL, key;
	*cls = b->cls;
	if (mask >> plan->nmasked)
		return false;
	if (plan->key >= 0) {
		key = b->prev[plan->key];
		from->keys = get_step(from->keys, &key);
		key = fit(&plan->key_op, key);
		word = own_words(context_at(at, key), at);
		val[plan->key] = b->prev[plan->key] = key;
	}
	if (plan->time >= 0) {
		from->keys = get_step(from->keys, &c->last_ts);
		val[plan->time] = c->last_ts;
	}
	const uint8_t *p = get_rest(c, plan, b->prev, word, mask, from->rest, from->rest_end, val);
	if (!p || p > from->rest_end || from->keys > from->keys_end || from->heads > from->heads_end)
		return false;
	from->rest = p;
	return !plan->has_text || (handles_to_strings(c, plan, mask, val) && strings_fit(c, b->cls, val));
}

/* Records of one class, until another comes. */
INLINE void decode_run(struct ctp_codec *c, const struct ctp_codec_plan *plan, unsigned n, struct ctp_lanes_in *from,
                       struct ctp_decoded *d)
{
	struct bound *b = &c->classes[n];
	const struct ctp_class *cls = b->cls;
	const uint32_t nfields = 2 + plan->nplain + plan->nmasked; /* a key, a time, and the others */
	unsigned head_class = n < CTP_HEAD_CLASS ? n : CTP_HEAD_CLASS;
	uint64_t key = b->prev[plan->key], ts = c->last_ts, last_ns = d->last_ns, *val = d->val;
	const uint64_t least_ns = d->least_ns;
	const struct context_place at = contexts_of(c, n);
	struct ctp_lanes_in l = *from;
	bool sorted = d->sorted;
	struct ctp_record *rec = d->rec + d->n, *full = d->rec + d->max;
	for (; rec < full && l.heads < l.heads_end; rec++, val += nfields) {
		uint64_t head, number, next_key = key, next_ts = ts;
		const uint8_t *heads = ctp_varint_get(l.heads, &head);
		if ((head & 3) != head_class || (n >= CTP_HEAD_CLASS && (heads = ctp_varint_get(heads, &number), number != n)))
			break;
		const uint8_t *keys = get_step(get_step(l.keys, &next_key), &next_ts);
		next_key = fit(&plan->key_op, next_key);
		if (__builtin_expect(head >> 2 >> plan->nmasked || next_ts < least_ns, 0))
			break;
		uint64_t *word = own_words(context_at(at, next_key), at);
		const uint8_t *rest = get_rest(c, plan, b->prev, word, head >> 2, l.rest, l.rest_end, val);
		if (__builtin_expect(heads > l.heads_end || keys > l.keys_end || rest > l.rest_end, 0))
			break;
		l.heads = heads;
		l.keys = keys;
		l.rest = rest;
		val[plan->key] = key = next_key;
		val[plan->time] = ts = next_ts;
		sorted &= ts >= last_ns;
		last_ns = ts;
		*rec = (struct ctp_record){cls, val, ts};
	}
	b->prev[plan->key] = key;
	c->last_ts = ts;
	*from = l;
	d->val = val;
	d->n = (uint32_t)(rec - d->rec);
	d->last_ns = last_ns;
	d->sorted = sorted;
}

static NOINLINE void decode_any(struct ctp_codec *c, unsigned n, struct ctp_lanes_in *from, struct ctp_decoded *d)
{
	decode_run(c, c->classes[n].cls->plan, n, from, d);
}

static NOINLINE void decode_plain(struct ctp_codec *c, unsigned n, struct ctp_lanes_in *from, struct ctp_decoded *d)
{
	decode_run(c, &ctp_plain_plan, n, from, d);
}

static NOINLINE void decode_transitions(struct ctp_codec *c, unsigned n, struct ctp_lanes_in *from, struct ctp_decoded *d)
{
	decode_run(c, &ctp_transition_plan, n, from, d);
}

static NOINLINE void decode_merged(struct ctp_codec *c, unsigned n, struct ctp_lanes_in *from, struct ctp_decoded *d)
{
	decode_run(c, &ctp_merged_plan, n, from, d);
}

static NOINLINE void decode_accesses(struct ctp_codec *c, unsigned n, struct ctp_lanes_in *from, struct ctp_decoded *d)
{
	decode_run(c, &ctp_access_plan, n, from, d);
}

void ctp_codec_decode_some(struct ctp_codec *c, struct ctp_lanes_in *from, struct ctp_decoded *d)
{
	assert(from->heads <= from->heads_end && from->keys <= from->keys_end && from->rest <= from->rest_end);
	while (from->heads < from->heads_end && d->n < d->max) {
		uint64_t n, had = d->n;
		const uint8_t *p = ctp_varint_get(from->heads, &n);
		n &= 3;
		if (n == CTP_HEAD_CLASS)
			ctp_varint_get(p, &n);
		if (n >= c->nclasses || !c->classes[n].quick)
			break;
		switch (c->classes[n].plan) {
		case TRANSITION:
			decode_transitions(c, (unsigned)n, from, d);
			break;
		case MERGED:
			decode_merged(c, (unsigned)n, from, d);
			break;
		case PLAIN:
			decode_plain(c, (unsigned)n, from, d);
			break;
		case ACCESS:
			decode_accesses(c, (unsigned)n, from, d);
			break;
		default:
			decode_any(c, (unsigned)n, from, d);
			break;
		}
		if (d->n == had)
			break;
	}
}
