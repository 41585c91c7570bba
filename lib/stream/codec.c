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
	AHEAD = 4, /* records whose contexts are fetched */
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
		uint32_t offset, len, handle; /* handle 0: free */
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
	if (c->slots && c->nstrings)
		memset(c->slots, 0, STRING_SLOTS * sizeof *c->slots);
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

INLINE uint64_t *context(struct context_place at, uint64_t key)
{
	struct context *ctx = context_at(at, key);
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
		if (!slot->handle) {
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
		*slot = (struct interned){ (uint32_t)(p - base), s->len, (uint32_t)(*v = ++c->nstrings) };
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

/* Bytes of a number; 9 stands for all above eight. */
INLINE unsigned number_bytes(uint64_t v) { return (2590 - 37 * (unsigned)__builtin_clzll(v | 1)) >> 8; }

/* A head, a key and a time: in one store where they are short, as most are, so that each needs not wait for the one before. */
INLINE uint8_t *put_start(uint8_t *p, uint64_t head, uint64_t key, uint64_t time)
{
	unsigned a = number_bytes(head), b = a + number_bytes(key), c = b + number_bytes(time);
	if (__builtin_expect(c > 8, 0))
		return ctp_varint_put(ctp_varint_put(ctp_varint_put(p, head), key), time);
	ctp_store_u64(p, (head << a | UINT64_C(1) << (a - 1)) | (key << (b - a) | UINT64_C(1) << (b - a - 1)) << 8 * a |
	                 (time << (c - b) | UINT64_C(1) << (c - b - 1)) << 8 * b);
	return p + c;
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

INLINE uint8_t *encode(struct ctp_codec *c, const struct ctp_codec_plan *plan, unsigned n, struct context_place at,
                       const uint64_t *val, const uint8_t *base, uint8_t *p)
{
	struct bound *b = &c->classes[n];
	const struct ctp_op *op = plan->masked;
	uint64_t key = 0, mask = 0, differs[CTP_MASKED_MAX], *word = 0, *w;
	unsigned state = 0;
	uint32_t i = 0;
	if (plan->key >= 0) {
		key = fit(&plan->key_op, val[plan->key]);
		word = context(at, key);
	}
	if (plan->state >= 0)
		state = fit(&plan->state_op, val[plan->state]) != 0;
	/* What comes true is remembered here, where it is not there already. */
	UNROLL for (; i < plan->nmasked; i++) {
		w = op_word(&op[i], word, b->prev, plan->state_first && !i ? 0 : state);
		uint64_t v = own_value(c, &op[i], val, base);
		differs[i] = v - expect_any(&op[i], w);
		mask |= (uint64_t)(differs[i] != 0) << i;
		if (op[i].pred == CTP_PRED_STEP || op[i].pred == CTP_PRED_TOGGLE)
			*w = v;
	}
	uint64_t head = mask << 2 | (n < CTP_HEAD_CLASS ? n : CTP_HEAD_CLASS);
	uint64_t key_step = plan->key >= 0 ? ctp_fold((int64_t)(key - b->prev[plan->key])) : 0;
	uint64_t time_step = plan->time >= 0 ? ctp_fold((int64_t)(val[plan->time] - c->last_ts)) : 0;
	if (n < CTP_HEAD_CLASS && plan->key >= 0 && plan->time >= 0) {
		p = put_start(p, head, key_step, time_step);
	} else {
		p = ctp_varint_put(p, head);
		p = n < CTP_HEAD_CLASS ? p : ctp_varint_put(p, n);
		p = plan->key >= 0 ? ctp_varint_put(p, key_step) : p;
		p = plan->time >= 0 ? ctp_varint_put(p, time_step) : p;
	}
	if (plan->key >= 0)
		b->prev[plan->key] = key;
	if (plan->time >= 0)
		c->last_ts = val[plan->time];
	for (i = 0; i < plan->nplain; i++) {
		const struct ctp_op *plain = &plan->plain[i];
		uint64_t handle;
		if (ctp_type_is_text(plain->type))
			p = put_string(c, string_or_empty(val[plain->field]), &handle, base, p);
		else
			p = put_plain(plain, fit(plain, val[plain->field]), p);
	}
	if (plan->state_first && op->type == CTP_BOOL && op->pred == CTP_PRED_TOGGLE)
		mask &= ~(uint64_t)1; /* that it was missed is all there is to say */
	UNROLL for (i = mask ? 0 : plan->nmasked; i < plan->nmasked; i++)
		if (mask >> i & 1)
			p = put_missed(c, &op[i], differs[i], val, op_word(&op[i], word, b->prev, plan->state_first && !i ? 0 : state), base, p);
	return p;
}

uint8_t *ctp_codec_encode(struct ctp_codec *c, unsigned n, const uint64_t *val, const uint8_t *base, uint8_t *p)
{
	assert(n < c->nclasses);
	return encode(c, c->classes[n].cls->plan, n, contexts_of(c, n), val, base, p);
}

/* Records of one class, until another comes. */
INLINE uint32_t encode_run(struct ctp_codec *c, const struct ctp_codec_plan *plan, unsigned n, struct ctp_encoded *e,
                           const struct ctp_record *rec, uint32_t count)
{
	const struct ctp_class *cls = c->classes[n].cls;
	const struct context_place at = contexts_of(c, n);
	uint8_t *p = e->p;
	uint64_t first_ns = e->first_ns, last_ns = e->last_ns;
	uint32_t i = 0;
	for (; i < count && rec[i].cls == cls && p < e->full; i++) {
		const uint64_t *val = rec[i].val;
		uint64_t ts = val[plan->time];
		if (i + AHEAD < count && rec[i + AHEAD].cls == cls) {
			struct context *ctx = context_at(at, rec[i + AHEAD].val[plan->key]);
			__builtin_prefetch(&ctx->word, 1);
			__builtin_prefetch(&ctx->owner, 1);
		}
		p = encode(c, plan, n, at, val, p, p);
		first_ns = ts < first_ns ? ts : first_ns;
		last_ns = ts > last_ns ? ts : last_ns;
	}
	*e = (struct ctp_encoded){ p, e->full, first_ns, last_ns };
	return i;
}

/* Apart, so that the registers they need are not saved for each other. */
static NOINLINE uint32_t encode_any(struct ctp_codec *c, unsigned n, struct ctp_encoded *e, const struct ctp_record *rec, uint32_t count)
{
	return encode_run(c, c->classes[n].cls->plan, n, e, rec, count);
}

static NOINLINE uint32_t encode_plain(struct ctp_codec *c, unsigned n, struct ctp_encoded *e, const struct ctp_record *rec, uint32_t count)
{
	return encode_run(c, &ctp_plain_plan, n, e, rec, count);
}

static NOINLINE uint32_t encode_transitions(struct ctp_codec *c, unsigned n, struct ctp_encoded *e, const struct ctp_record *rec,
                                            uint32_t count)
{
	return encode_run(c, &ctp_transition_plan, n, e, rec, count);
}

uint32_t ctp_codec_encode_some(struct ctp_codec *c, unsigned n, struct ctp_encoded *e, const struct ctp_record *rec, uint32_t count)
{
	assert(n < c->nclasses);
	const struct bound *b = &c->classes[n];
	return !b->quick              ? 0 :
	       b->plan == TRANSITION ? encode_transitions(c, n, e, rec, count) :
	       b->plan == PLAIN      ? encode_plain(c, n, e, rec, count) : encode_any(c, n, e, rec, count);
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

const uint8_t *ctp_codec_decode(struct ctp_codec *c, uint64_t n, uint64_t mask, const uint8_t *p, const uint8_t *end,
                                uint64_t *val, const struct ctp_class **cls)
{
	*cls = 0;
	if (n >= c->nclasses)
		return 0;
	struct bound *b = &c->classes[n];
	const struct ctp_codec_plan *plan = b->cls->plan;
	uint64_t *word = 0, d;
	*cls = b->cls;
	if (mask >> plan->nmasked)
		return 0;
	if (plan->key >= 0) {
		p = ctp_varint_get(p, &d);
		d = fit(&plan->key_op, b->prev[plan->key] + (uint64_t)ctp_unfold(d));
		word = context(contexts_of(c, (unsigned)n), d);
		val[plan->key] = b->prev[plan->key] = d;
	}
	if (plan->time >= 0) {
		p = ctp_varint_get(p, &d);
		val[plan->time] = c->last_ts += (uint64_t)ctp_unfold(d);
	}
	p = get_rest(c, plan, b->prev, word, mask, p, end, val);
	if (!p || !plan->has_text)
		return p;
	return handles_to_strings(c, plan, mask, val) && strings_fit(b->cls, val) ? p : 0;
}

/*
 * Numbers out of one word of eight bytes, so that the way to the next record is one load. The word's top bit is set, and so it is
 * never zero: its last byte is not to be used, and if the lengths add up to more than seven, the numbers were not all there.
 */
enum { WORD_BYTES = 7 };

INLINE uint64_t load_word(const uint8_t *p) { return ctp_load_u64(p) | (uint64_t)1 << 63; }

INLINE uint64_t take_number(uint64_t *word, unsigned *bytes)
{
	uint64_t w = *word;
	unsigned zeros = (unsigned)__builtin_ctzll(w), above = 8 * ~zeros % 64;
	*word = w >> 8 >> 8 * zeros % 64;
	*bytes += zeros + 1;
	return w << above >> above >> 1 >> zeros % 64;
}

/* Records of one class, until another comes. Those whose numbers before the fields need more than a word are left to others too. */
INLINE const uint8_t *decode_run(struct ctp_codec *c, const struct ctp_codec_plan *plan, unsigned n, const uint8_t *p,
                                 const uint8_t *end, struct ctp_decoded *d)
{
	struct bound *b = &c->classes[n];
	const struct ctp_class *cls = b->cls;
	const uint32_t nfields = 2 + plan->nplain + plan->nmasked; /* a key, a time, and the others */
	unsigned head_class = n < CTP_HEAD_CLASS ? n : CTP_HEAD_CLASS;
	uint64_t key = b->prev[plan->key], ts = c->last_ts, last_ns = d->last_ns, *val = d->val;
	const uint64_t least_ns = d->least_ns;
	const struct context_place at = contexts_of(c, n);
	bool sorted = d->sorted;
	struct ctp_record *rec = d->rec + d->n, *full = d->rec + d->max;
	for (; rec < full && p < end; rec++, val += nfields) {
		unsigned bytes = 0;
		uint64_t word = load_word(p), head = take_number(&word, &bytes), mask = head >> 2;
		if ((head & 3) != head_class || (n >= CTP_HEAD_CLASS && take_number(&word, &bytes) != n))
			break;
		uint64_t next_key = fit(&plan->key_op, key + (uint64_t)ctp_unfold(take_number(&word, &bytes)));
		uint64_t next_ts = ts + (uint64_t)ctp_unfold(take_number(&word, &bytes));
		if (__builtin_expect(bytes > WORD_BYTES || mask >> plan->nmasked || next_ts < least_ns, 0))
			break;
		const uint8_t *next = get_rest(c, plan, b->prev, context(at, next_key), mask, p + bytes, end, val);
		if (__builtin_expect(!next || next > end, 0))
			break;
		p = next;
		val[plan->key] = key = next_key;
		val[plan->time] = ts = next_ts;
		sorted &= ts >= last_ns;
		last_ns = ts;
		*rec = (struct ctp_record){ cls, val, ts };
	}
	b->prev[plan->key] = key;
	c->last_ts = ts;
	d->val = val;
	d->n = (uint32_t)(rec - d->rec);
	d->last_ns = last_ns;
	d->sorted = sorted;
	return p;
}

static NOINLINE const uint8_t *decode_any(struct ctp_codec *c, unsigned n, const uint8_t *p, const uint8_t *end, struct ctp_decoded *d)
{
	return decode_run(c, c->classes[n].cls->plan, n, p, end, d);
}

static NOINLINE const uint8_t *decode_plain(struct ctp_codec *c, unsigned n, const uint8_t *p, const uint8_t *end, struct ctp_decoded *d)
{
	return decode_run(c, &ctp_plain_plan, n, p, end, d);
}

static NOINLINE const uint8_t *decode_transitions(struct ctp_codec *c, unsigned n, const uint8_t *p, const uint8_t *end,
                                                  struct ctp_decoded *d)
{
	return decode_run(c, &ctp_transition_plan, n, p, end, d);
}

const uint8_t *ctp_codec_decode_some(struct ctp_codec *c, const uint8_t *p, const uint8_t *end, struct ctp_decoded *d)
{
	while (p < end && d->n < d->max) {
		unsigned bytes = 0;
		uint64_t word = load_word(p), n = take_number(&word, &bytes) & 3, had = d->n;
		if (n == CTP_HEAD_CLASS)
			n = take_number(&word, &bytes);
		if (n >= c->nclasses || !c->classes[n].quick)
			break;
		p = c->classes[n].plan == TRANSITION ? decode_transitions(c, (unsigned)n, p, end, d) :
		    c->classes[n].plan == PLAIN      ? decode_plain(c, (unsigned)n, p, end, d) : decode_any(c, (unsigned)n, p, end, d);
		if (d->n == had)
			break;
	}
	return p;
}
