/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * codec-own.h - between codec.c, codec-encode.c and codec-decode.c: what both sides remember within a packet, and what each
 * predictor expects from that. Both sides use the same functions, so that they cannot drift apart.
 */
#ifndef CTP_CODEC_OWN_H
#define CTP_CODEC_OWN_H

#include <string.h>

#include "stream/codec-plan.h"
#include "stream/codec.h"

enum { CTP_STRING_SLOTS = 8192 }; /* of the encoder's table of strings; half of it is used at most */

#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

struct context {
	uint64_t word[CTP_CONTEXT_WORDS];
	uint64_t owner; /* packet and class; for another the words are zero, for they may be of other types */
};

struct bound {
	const struct ctp_class *cls;
	enum { ANY, TRANSITION, MERGED, PLAIN, BIRTH, DEATH, WAKE, ACCESS } plan; /* one of codec-plan.h, or another */
	bool quick; /* the class has a key, a time and no texts: see ctp_codec_decode_some */
	uint64_t *prev; /* values of the record before, by field */
};

struct ctp_codec {
	uint64_t packet, last_ts;
	struct context *contexts;
	uint32_t nclasses, nprevs;
	struct bound classes[CTP_CLASSES_MAX];

	uint32_t nstrings;
	/* of the encoder: hash table of the strings in the payload */
	struct interned {
		uint32_t offset, len, handle;
		uint64_t packet; /* another packet: the slot is free */
	} *slots;
	/* of the decoder: handle - 1 to string */
	const struct ctp_str **strings;
	uint8_t *arena;
	size_t arena_used, arena_size;
	uint64_t said_left; /* bytes of strings that records of the packet may still have */
};

static const struct ctp_str ctp_empty_string = {0, {0}};

/* Where the contexts of a class are, and what those say that are its own in this packet. */
struct context_place {
	struct context *contexts;
	uint64_t first, owner;
};

INLINE struct context_place contexts_of(const struct ctp_codec *c, unsigned n)
{
	return (struct context_place){c->contexts, n * 1021, c->packet * CTP_CLASSES_MAX + n};
}

/* Small keys are numbers, and those in use together lie together; large keys are addresses, and are mixed. */
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
 * Each predictor once, for both sides: what it expects. w is the field's first word.
 */
INLINE uint64_t expect_step(const struct ctp_op *op, const uint64_t *w)
{
	uint64_t v = w[0] + w[1];
	return __builtin_expect(op->narrow, 0) ? fit(op, v) : v;
}

INLINE uint64_t expect_toggle(const uint64_t *w) { return *w ^ 1; }

/* The first word of a field whose group is not known. SAME, STATE and PREV expect the value in it. */
INLINE uint64_t *op_word(const struct ctp_op *op, uint64_t *word, uint64_t *prev, unsigned state)
{
	return op->pred == CTP_PRED_PREV ? &prev[op->slot] : &word[op->slot + (state & op->by_state)];
}

INLINE uint64_t expect_any(const struct ctp_op *op, const uint64_t *w)
{
	return op->pred == CTP_PRED_STEP ? expect_step(op, w) : op->pred == CTP_PRED_TOGGLE ? expect_toggle(w) : *w;
}

/* The value is not the one that was expected: the word is to have it, and a step becomes larger by what it differs. */
INLINE void learn_missed(const struct ctp_op *op, uint64_t *w, uint64_t v, uint64_t differs)
{
	w[0] = v;
	if (op->pred == CTP_PRED_STEP)
		w[1] += differs;
}

#endif
