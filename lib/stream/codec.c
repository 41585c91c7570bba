/*
 * codec.c - the predictive coder and decoder.
 *
 * What a predictor expects (expect_...) and what it remembers (learn_...) is written once, for encoder and decoder, so that they
 * cannot drift apart.
 */
#include "stream/codec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "stream/codec-plan.h"

#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

enum {
	STRING_SLOTS = 8192, /* of the encoder's table; half of it is used at most */
	STRING_INTERN_MAX = 4096, /* bytes: longer ones are not looked for a second time */
};

struct context {
	uint64_t word[CTP_CONTEXT_WORDS];
	uint64_t owner; /* packet and class; for another the words are zero, for they may be of other types */
};

struct bound {
	const struct ctp_class *cls;
	enum { ANY, TRANSITION, PLAIN } plan; /* ctp_transition_plan, ctp_plain_plan, or another */
	bool quick; /* it has a key and a time and no texts: see ctp_codec_decode_some */
	uint64_t *prev; /* values of the record before, by field */
};

struct ctp_codec {
	uint64_t packet, last_ts;
	struct context *contexts;
	uint32_t nclasses, nprevs;
	struct bound classes[CTP_CLASSES_MAX];

	uint32_t nstrings;
	/* encoder: hash table of the strings in the payload */
	struct interned {
		uint32_t offset, len, handle;
		uint64_t packet; /* of another one: free */
	} *slots;
	/* decoder: handle - 1 to string */
	const struct ctp_str **strings;
	uint8_t *arena;
	size_t arena_used, arena_size;
};

static const struct ctp_str empty_string = { 0, { 0 } };

/* --- what both sides remember ---------------------------------------------------------------------------------------------- */

struct ctp_codec *ctp_codec_new(struct ctp_err *err)
{
	struct ctp_codec *c = calloc(1, sizeof *c);
	if (c)
		c->contexts = calloc((size_t)1 << CTP_CONTEXT_BITS, sizeof *c->contexts);
	if (!c || !c->contexts) {
		ctp_err_set(err, "out of memory");
		free(c);
		return 0;
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
	free(c->contexts);
	free(c->slots);
	free(c->strings);
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

bool ctp_codec_declare(struct ctp_codec *c, const struct ctp_class *cls)
{
	if (c->nclasses == CTP_CLASSES_MAX)
		return false;
	struct bound *b = &c->classes[c->nclasses];
	if (c->nclasses == c->nprevs) {
		if (!(b->prev = malloc(CTP_FIELDS_MAX * sizeof *b->prev)))
			return false;
		c->nprevs++;
	}
	memset(b->prev, 0, CTP_FIELDS_MAX * sizeof *b->prev);
	b->cls = cls;
	b->plan = !memcmp(cls->plan, &ctp_transition_plan, sizeof ctp_transition_plan) ? TRANSITION :
	          !memcmp(cls->plan, &ctp_plain_plan, sizeof ctp_plain_plan)           ? PLAIN : ANY;
	b->quick = cls->plan->key >= 0 && cls->plan->time >= 0 && !cls->plan->has_text;
	c->nclasses++;
	return true;
}

/* Where the contexts of a class are, and what those say that are its own in this packet. */
struct context_place {
	struct context *contexts;
	uint64_t first, owner;
};

INLINE struct context_place contexts_of(const struct ctp_codec *c, unsigned n)
{
	return (struct context_place){ c->contexts, n * 1021, c->packet * CTP_CLASSES_MAX + n };
}

/* Small keys are taken as they are, so that those in use together lie together; large ones are addresses and are mixed. */
INLINE struct context *context_at(struct context_place at, uint64_t key)
{
	uint64_t i = key >> 32 ? key * 0x9e3779b97f4a7c15u >> (64 - CTP_CONTEXT_BITS) : key;
	return &at.contexts[(i + at.first) % (1u << CTP_CONTEXT_BITS)];
}

/* The words of a context, which are zero for a class and a packet that are new to it. */
INLINE uint64_t *own_words(struct context *ctx, struct context_place at)
{
	if (__builtin_expect(ctx->owner != at.owner, 0)) {
		memset(ctx->word, 0, sizeof ctx->word);
		ctx->owner = at.owner;
	}
	return ctx->word;
}

/* The value as the field's type holds it. */
INLINE uint64_t fit(const struct ctp_op *op, uint64_t v)
{
	if (__builtin_expect(op->shift == 0, 1))
		return v;
	if (ctp_type_is_signed(op->type))
		return (uint64_t)((int64_t)(v << op->shift) >> op->shift);
	return op->type == CTP_BOOL ? v != 0 : v << op->shift >> op->shift;
}

/*
 * Each predictor once, for both sides: what it expects, and what it remembers of the true value. w is the field's first word.
 */
INLINE uint64_t expect_step(const struct ctp_op *op, const uint64_t *w)
{
	uint64_t v = w[0] + w[1];
	return __builtin_expect(op->narrow, 0) ? fit(op, v) : v;
}

INLINE void learn_step(uint64_t *w, uint64_t v)
{
	w[1] = v - w[0];
	w[0] = v;
}

INLINE uint64_t expect_toggle(const uint64_t *w) { return *w ^ 1; }

/* The first word of a field whose group is not known; what that expects and remembers: of SAME, STATE and PREV the value itself. */
INLINE uint64_t *op_word(const struct ctp_op *op, uint64_t *word, uint64_t *prev, unsigned state)
{
	return op->pred == CTP_PRED_PREV ? &prev[op->slot] : &word[op->slot + (state & op->by_state)];
}

INLINE uint64_t expect_any(const struct ctp_op *op, const uint64_t *w)
{
	return op->pred == CTP_PRED_STEP ? expect_step(op, w) : op->pred == CTP_PRED_TOGGLE ? expect_toggle(w) : *w;
}

INLINE void learn_any(const struct ctp_op *op, uint64_t *w, uint64_t v)
{
	if (op->pred == CTP_PRED_STEP)
		learn_step(w, v);
	else
		*w = v;
}

/* --- encoding -------------------------------------------------------------------------------------------------------------- */

/* The handle of a string if this packet has it; otherwise *free_slot is where it could go, or null. */
static uint32_t find_string(struct ctp_codec *c, const struct ctp_str *s, const uint8_t *base, struct interned **free_slot)
{
	*free_slot = 0;
	if (s->len > STRING_INTERN_MAX)
		return 0;
	if (!c->slots && !(c->slots = calloc(STRING_SLOTS, sizeof *c->slots)))
		return 0;
	for (uint32_t i = ctp_crc32c(0, s->data, s->len);; i++) {
		struct interned *slot = &c->slots[i % STRING_SLOTS];
		if (slot->packet != c->packet) {
			*free_slot = c->nstrings < STRING_SLOTS / 2 ? slot : 0;
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
		*slot = (struct interned){ (uint32_t)(p - base), s->len, (uint32_t)(*v = ++c->nstrings), c->packet };
	return p + s->len;
}

/* What a string is for the predictors: its handle. One that is not known yet is like none that they could expect. */
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

static const struct ctp_str *string_or_empty(uint64_t v) { return v ? ctp_str_val(v) : &empty_string; }

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
	if (op->pred == CTP_PRED_STEP)
		w[1] += differs;
	else
		*w = fit(op, v);
	if (ctp_type_is_float(op->type))
		return put_plain(op, fit(op, v), p);
	return op->type == CTP_BOOL ? p : ctp_varint_put(p, ctp_fold((int64_t)differs));
}

/* The same of a number where it differs, without asking whether it does. */
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
	/* What comes true is remembered here, where it is not there already. */
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
		mask &= ~(uint64_t)1; /* that it was missed is all there is to say */
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
static NOINLINE uint32_t encode_any(struct ctp_codec *c, unsigned n, const struct ctp_record *rec, uint32_t count, struct ctp_lanes *to)
{
	return encode_run(c, c->classes[n].cls->plan, n, rec, count, to);
}

static NOINLINE uint32_t encode_plain(struct ctp_codec *c, unsigned n, const struct ctp_record *rec, uint32_t count, struct ctp_lanes *to)
{
	return encode_run(c, &ctp_plain_plan, n, rec, count, to);
}

static NOINLINE uint32_t encode_transitions(struct ctp_codec *c, unsigned n, const struct ctp_record *rec, uint32_t count,
                                            struct ctp_lanes *to)
{
	return encode_run(c, &ctp_transition_plan, n, rec, count, to);
}

uint32_t ctp_codec_encode_some(struct ctp_codec *c, unsigned n, const struct ctp_record *rec, uint32_t count, struct ctp_lanes *to)
{
	assert(n < c->nclasses);
	const struct bound *b = &c->classes[n];
	return !b->quick             ? 0 :
	       b->plan == TRANSITION ? encode_transitions(c, n, rec, count, to) :
	       b->plan == PLAIN      ? encode_plain(c, n, rec, count, to) : encode_any(c, n, rec, count, to);
}

/* --- decoding -------------------------------------------------------------------------------------------------------------- */

bool ctp_codec_strings_room(struct ctp_codec *c, size_t payload_bytes)
{
	/* A string of n > 0 bytes takes at least n + 2 in the payload and at most n + 12 here: so at most five times as much. */
	size_t want = 5 * payload_bytes;
	if (!c->strings && !(c->strings = malloc(CTP_STRINGS_MAX * sizeof *c->strings)))
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
			return 0;
		*s = *v ? c->strings[*v - 1] : &empty_string;
		return p;
	}
	p = ctp_varint_get(p, &len);
	if (p > end || len > (uint64_t)(end - p) || len > CTP_STRING_MAX)
		return 0;
	*v = 0;
	if (!len) {
		*s = &empty_string;
		return p; /* not remembered, even if it says so: the empty string has its handle */
	}
	struct ctp_str *str = (struct ctp_str *)(c->arena + c->arena_used);
	size_t size = (sizeof *str + len + 1 + 7) & ~(size_t)7;
	if (size > c->arena_size - c->arena_used || (code == CTP_STRING_NEW && c->nstrings == CTP_STRINGS_MAX))
		return 0;
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

/* v comes with what was expected. */
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

/* The strings of a record have a limit, or a long one could be named again and again. */
static bool strings_fit(const struct ctp_class *cls, const uint64_t *val)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < cls->nfields; i++)
		sum += ctp_type_is_text(cls->fields[i].type) ? ctp_str_val(val[i])->len : 0;
	return sum <= CTP_PAYLOAD_MAX;
}

/* val has the handles of the strings that were expected; of those that were missed it has the strings already. */
static bool handles_to_strings(const struct ctp_codec *c, const struct ctp_codec_plan *plan, uint64_t missed, uint64_t *val)
{
	for (uint32_t i = 0; i < plan->nmasked; i++) {
		const struct ctp_op *op = &plan->masked[i];
		if (!ctp_type_is_text(op->type) || missed >> i & 1)
			continue;
		uint64_t handle = val[op->field];
		if (handle > c->nstrings)
			return false;
		val[op->field] = ctp_val_str(handle ? c->strings[handle - 1] : &empty_string);
	}
	return true;
}

/* Behind key and time, which are read already: the other fields that are always written. */
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
			return 0;
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
			return 0;
		*v = ctp_val_str(s);
		return p;
	}
	p = get_missed(op, p, v);
	if (op->pred == CTP_PRED_STEP) { /* w[0] has the expectation, so the value before is that less the step */
		w[0] = fit(op, expected - w[1]);
		learn_step(w, *v);
	} else {
		*w = *v;
	}
	return p;
}

/*
 * What stands behind a record's key and time; word is the key's context. Every prediction is learned as if it had come true, which
 * for most is nothing to do; the few that were missed are put right.
 */
INLINE const uint8_t *get_rest(struct ctp_codec *c, const struct ctp_codec_plan *plan, uint64_t *prev, uint64_t *word, uint64_t mask,
                               const uint8_t *p, const uint8_t *end, uint64_t *val)
{
	const struct ctp_op *op = plan->masked;
	uint64_t *w;
	unsigned state = 0;
	uint32_t i = 0;
	if (!(p = get_plains(c, plan, p, end, val)))
		return 0;
	if (plan->state_first) { /* others are predicted by it */
		w = op_word(op, word, prev, 0);
		uint64_t v = expect_any(op, w);
		if (op->type == CTP_BOOL)
			v ^= mask & 1;
		else if (mask & 1)
			p = get_missed(op, p, &v);
		learn_any(op, w, v);
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
			return 0;
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
	*cls = 0;
	if (n >= c->nclasses)
		return false;
	struct bound *b = &c->classes[n];
	const struct ctp_codec_plan *plan = b->cls->plan;
	const struct context_place at = contexts_of(c, (unsigned)n);
	uint64_t *word = 0, key;
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
	return !plan->has_text || (handles_to_strings(c, plan, mask, val) && strings_fit(b->cls, val));
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
		*rec = (struct ctp_record){ cls, val, ts };
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

void ctp_codec_decode_some(struct ctp_codec *c, struct ctp_lanes_in *from, struct ctp_decoded *d)
{
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
		case PLAIN:
			decode_plain(c, (unsigned)n, from, d);
			break;
		case ANY:
			decode_any(c, (unsigned)n, from, d);
			break;
		}
		if (d->n == had)
			break;
	}
}
