/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-folded.h - folded stacks, which flamegraph.pl and speedscope read: for each chain of parents and each place how long
 * coroutines were running, runnable or suspended there.
 *
 *	main.c:88:serve;accept.c:41:accept_loop;handler.c:212:read_request 1730
 *
 * The last frame is the place where the coroutine suspended last. The frames before it are the spawn places of the coroutine, its
 * parent and so on. An unknown place is left out, or is [no_place] if the stack needs a frame. The number is in the unit that was
 * asked for; in a section without a clock it is a difference of record numbers. A stack may come in several lines: add their
 * numbers.
 *
 * Only spans of which nothing is missing count. A span that lasts until the end counts too, so that a stuck coroutine is seen. Gaps
 * are in stacks that end in [unknown], whatever state was asked for. Memory is bounded: a stack has at most CTP_FOLDED_DEPTH
 * frames, and there are at most CTP_FOLDED_NODES stacks. Time of further ones counts for the parent's stack.
 */
#ifndef CTP_REPORT_FOLDED_H
#define CTP_REPORT_FOLDED_H

#include "analyse/analysis.h"
#include "io/output.h"

enum { CTP_FOLDED_DEPTH = 64, CTP_FOLDED_NODES = 1 << 20 };

/*
 * A stack at the end of a section. places has its frames, the root first: numbers of follow.h, whose texts ctp_folded_text has.
 * state is CTP_UNBORN for gaps: they have no frame of their own here.
 */
struct ctp_folded_stack {
	const uint32_t *places;
	uint32_t depth;
	enum ctp_state state;
	uint64_t ns;
	bool ordinal;     /* the section has no clock */
	uint64_t section; /* its number, from 1 on */
};

struct ctp_folded;
typedef void ctp_folded_take(void *arg, struct ctp_folded *f, const struct ctp_folded_stack *stack);

struct ctp_folded_options {
	unsigned states; /* 1 << CTP_RUNNING, 1 << CTP_RUNNABLE, 1 << CTP_SUSPENDED, or a sum of these */
	bool times; /* in a section without a clock: how often, instead of how many records */
	ctp_folded_take *take;
	void *arg;
};

/* Listens to the analysis, and passes each stack to take when a section ends. Null: err says why. */
struct ctp_folded *ctp_folded_new(struct ctp_analysis *a, const struct ctp_folded_options *options, struct ctp_err *err);
void ctp_folded_free(struct ctp_folded *f);

/* For take: the text of a frame, good until the next call; null: not known. */
const char *ctp_folded_text(struct ctp_folded *f, uint32_t place);

/* A frame of a line, without what would end it: a semicolon or a space. end comes after it. text null: not known. */
void ctp_folded_put_frame(struct ctp_output *out, const char *text, const char *end);
#define CTP_FOLDED_UNKNOWN "[unknown]" /* the last frame of a gap */

/* The unit if none is asked for. Runs are short: many stacks of less than a millisecond would be a millisecond each. */
static inline uint64_t ctp_folded_unit_ns(enum ctp_state state) { return state == CTP_SUSPENDED ? 1000000 : 1000; }

/* A time in units, rounded, and at least 1, so that no stack is lost. */
static inline uint64_t ctp_folded_units(uint64_t ns, uint64_t unit_ns)
{
	uint64_t units = ns / unit_ns + (ns % unit_ns >= unit_ns - unit_ns / 2);
	return units ? units : 1;
}

/* Where ctp_folded_print prints. */
struct ctp_folded_lines {
	struct ctp_output *out;
	uint64_t unit_ns;
};

/* A take that prints a line for each stack; arg is a struct ctp_folded_lines. */
void ctp_folded_print(void *arg, struct ctp_folded *f, const struct ctp_folded_stack *stack);

#endif
