/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * codec-plan.h - how the records of a class are coded: its fields sorted into groups, each with one predictor. Between schema.c,
 * which has a plan made for each class, and codec.c, which follows it.
 */
#ifndef CTP_CODEC_PLAN_H
#define CTP_CODEC_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "stream/schema.h"

enum { CTP_CONTEXT_WORDS = 15 }; /* that a key has for all fields of its class together */

/* How one field is coded. */
struct ctp_op {
	uint8_t field, type, pred;
	uint8_t slot;     /* of its first word in the context; of PREV in the record before */
	uint8_t by_state; /* 1: the word after the first is for the other state */
	uint8_t shift;    /* 64 less the type's width */
	bool narrow;      /* the value must be made to fit its type, or is a text */
};

/*
 * The ops of a class, in groups that are each coded by a loop without a choice in it: this is what makes it fast. Those that
 * can miss stand in the order of the mask's bits: the state's, then SAME and STATE, PREV, STEP, TOGGLE, each as declared.
 */
struct ctp_codec_plan {
	int key, time, state; /* fields, -1: none; time only where it is predicted as such */
	bool state_first;     /* the first that can miss is the state's */
	uint32_t nplain;      /* always written */
	uint32_t same, prev, step, toggle, nmasked; /* where in masked[] each group begins; the end */
	bool has_text;
	uint64_t often; /* bits of the mask: fields that are missed now and then in any stream, so that nobody can guess when */
	struct ctp_op key_op, state_op;
	struct ctp_op masked[CTP_MASKED_MAX];
	struct ctp_op plain[CTP_FIELDS_MAX];
};

/*
 * The plans of the classes that nearly all records are of: ctp-collect's transitions, births, deaths and wakes; coroTracer's
 * transitions, which have neither coro nor index and are told apart by their probe_id; and Cacheray's accesses. The coder is compiled for any plan, and once
 * more for each of these, which the compiler can see through: the same code, without its table look-ups. A test holds them against
 * the classes.
 */
#define CTP_U64_OP(f, pr, sl) { .field = f, .type = CTP_U64, .pred = pr, .slot = sl, .by_state = (pr) == CTP_PRED_STATE }
#define CTP_ACTIVE_OP { .field = 4, .type = CTP_BOOL, .pred = CTP_PRED_TOGGLE, .slot = 0, .shift = 63, .narrow = true }
static const struct ctp_codec_plan ctp_transition_plan = {
	.key = 6, .time = 5, .state = 4, .state_first = true, .same = 1, .prev = 5, .step = 5, .toggle = 7, .nmasked = 7,
	.often = 1 << 2 | 1 << 5,
	.key_op = CTP_U64_OP(6, CTP_PRED_KEY, 6), .state_op = CTP_ACTIVE_OP,
	.masked = {CTP_ACTIVE_OP, CTP_U64_OP(0, CTP_PRED_SAME, 1), CTP_U64_OP(1, CTP_PRED_SAME, 2),
	           CTP_U64_OP(2, CTP_PRED_STATE, 3), CTP_U64_OP(8, CTP_PRED_STATE, 5),
	           CTP_U64_OP(3, CTP_PRED_STEP, 7), CTP_U64_OP(7, CTP_PRED_STEP, 9)},
};

/* The same with the origin that ctp-merge adds. */
static const struct ctp_codec_plan ctp_merged_plan = {
	.key = 6, .time = 5, .state = 4, .state_first = true, .same = 1, .prev = 6, .step = 6, .toggle = 8, .nmasked = 8,
	.often = 1 << 2 | 1 << 6,
	.key_op = CTP_U64_OP(6, CTP_PRED_KEY, 6), .state_op = CTP_ACTIVE_OP,
	.masked = {CTP_ACTIVE_OP, CTP_U64_OP(0, CTP_PRED_SAME, 1), CTP_U64_OP(1, CTP_PRED_SAME, 2),
	           CTP_U64_OP(2, CTP_PRED_STATE, 3), CTP_U64_OP(8, CTP_PRED_STATE, 5), CTP_U64_OP(9, CTP_PRED_SAME, 7),
	           CTP_U64_OP(3, CTP_PRED_STEP, 8), CTP_U64_OP(7, CTP_PRED_STEP, 10)},
};

static const struct ctp_codec_plan ctp_plain_plan = {
	.key = 0, .time = 5, .state = 4, .state_first = true, .same = 1, .prev = 3, .step = 3, .toggle = 4, .nmasked = 4,
	.often = 1 << 1 | 1 << 3,
	.key_op = CTP_U64_OP(0, CTP_PRED_KEY, 0), .state_op = CTP_ACTIVE_OP,
	.masked = {CTP_ACTIVE_OP, CTP_U64_OP(1, CTP_PRED_SAME, 1), CTP_U64_OP(2, CTP_PRED_STATE, 2),
	           CTP_U64_OP(3, CTP_PRED_STEP, 4)},
};

static const struct ctp_codec_plan ctp_birth_plan = {
	.key = 2, .time = 0, .state = -1, .nplain = 3, .prev = 1, .step = 5, .toggle = 5, .nmasked = 5,
	.key_op = CTP_U64_OP(2, CTP_PRED_KEY, 2),
	.masked = { CTP_U64_OP(1, CTP_PRED_SAME, 0), CTP_U64_OP(6, CTP_PRED_PREV, 6), CTP_U64_OP(7, CTP_PRED_PREV, 7),
	            CTP_U64_OP(8, CTP_PRED_PREV, 8),
	            { .field = 9, .type = CTP_BOOL, .pred = CTP_PRED_PREV, .slot = 9, .shift = 63, .narrow = true } },
	.plain = { CTP_U64_OP(3, CTP_PRED_NONE, 3), CTP_U64_OP(4, CTP_PRED_NONE, 4), CTP_U64_OP(5, CTP_PRED_NONE, 5) },
};

static const struct ctp_codec_plan ctp_death_plan = {
	.key = 2, .time = 0, .state = -1, .nplain = 2, .prev = 1, .step = 1, .toggle = 1, .nmasked = 1,
	.key_op = CTP_U64_OP(2, CTP_PRED_KEY, 2), .masked = { CTP_U64_OP(1, CTP_PRED_SAME, 0) },
	.plain = { CTP_U64_OP(3, CTP_PRED_NONE, 3), CTP_U64_OP(4, CTP_PRED_NONE, 4) },
};

static const struct ctp_codec_plan ctp_wake_plan = {
	.key = 2, .time = 0, .state = -1, .prev = 4, .step = 4, .toggle = 4, .nmasked = 4, .often = 1 << 1,
	.key_op = CTP_U64_OP(2, CTP_PRED_KEY, 2),
	.masked = { CTP_U64_OP(1, CTP_PRED_SAME, 0), CTP_U64_OP(3, CTP_PRED_SAME, 1), CTP_U64_OP(4, CTP_PRED_SAME, 2),
	            { .field = 5, .type = CTP_ENUM, .pred = CTP_PRED_SAME, .slot = 3 } },
};

static const struct ctp_codec_plan ctp_access_plan = {
	.key = 3, .time = 0, .state = -1, .prev = 5, .step = 5, .toggle = 5, .nmasked = 5,
	.key_op = CTP_U64_OP(3, CTP_PRED_KEY, 3),
	.masked = { CTP_U64_OP(1, CTP_PRED_SAME, 0),
	            { .field = 2, .type = CTP_U8, .pred = CTP_PRED_SAME, .slot = 1, .shift = 56, .narrow = true },
	            { .field = 4, .type = CTP_ENUM, .pred = CTP_PRED_SAME, .slot = 2 },
	            { .field = 5, .type = CTP_BOOL, .pred = CTP_PRED_SAME, .slot = 3, .shift = 63, .narrow = true },
	            { .field = 6, .type = CTP_BOOL, .pred = CTP_PRED_SAME, .slot = 4, .shift = 63, .narrow = true } },
};

struct ctp_codec_plan *ctp_codec_plan_new(const struct ctp_class *cls, struct ctp_err *err); /* free() it */

#endif
