/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-baseline.c - the largest stacks of a trace, sorted and cut whenever twice as many are there as are kept. */
#include "html/html-baseline.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/capped.h"
#include "common/json.h"
#include "report/report-feed.h"

enum { ROOM = 2 * CTP_HTML_STACKS_MAX, UNKNOWN = CTP_HTML_STATES - 1 };

struct baseline_sink {
	struct ctp_report_feed feed;
	struct ctp_html_baseline *b;
	struct ctp_folded *folded;
};

void ctp_html_baseline_init(struct ctp_html_baseline *b, const char *source)
{
	*b = (struct ctp_html_baseline){.source = source};
	ctp_text_table_init(&b->texts);
}

void ctp_html_baseline_fini(struct ctp_html_baseline *b)
{
	ctp_text_table_fini(&b->texts);
	free(b->stacks);
}

/* --- the stacks ----------------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
	const struct ctp_html_stack *p = a, *q = b;
	return (p->ns < q->ns) - (p->ns > q->ns);
}

static void drop_small(struct ctp_html_baseline *b)
{
	if (b->count)
		qsort(b->stacks, b->count, sizeof *b->stacks, by_time);
	for (; b->count > CTP_HTML_STACKS_MAX; b->count--) {
		const struct ctp_html_stack *last = &b->stacks[b->count - 1];
		b->left_out++;
		ctp_add_capped(&b->left_out_ns[last->state], last->ns);
	}
}

/* The stacks of another section replace those of the one before. */
static void begin_section(struct ctp_html_baseline *b, const struct ctp_folded_stack *stack)
{
	b->section = stack->section;
	b->ordinal = stack->ordinal;
	b->count = 0;
	b->left_out = 0;
	memset(b->total_ns, 0, sizeof b->total_ns);
	memset(b->left_out_ns, 0, sizeof b->left_out_ns);
	ctp_text_table_fini(&b->texts);
	ctp_text_table_init(&b->texts);
}

static uint32_t state_of(enum ctp_state state)
{
	return state == CTP_SUSPENDED ? 0 : state == CTP_RUNNABLE ? 1 : state == CTP_RUNNING ? 2 : UNKNOWN;
}

static void take(void *arg, struct ctp_folded *f, const struct ctp_folded_stack *stack)
{
	struct ctp_html_baseline *b = arg;
	if (!b->stacks && !(b->stacks = malloc(ROOM * sizeof *b->stacks))) {
		b->failed = true;
		return;
	}
	if (stack->section != b->section)
		begin_section(b, stack);
	if (b->count == ROOM)
		drop_small(b);
	struct ctp_html_stack *s = &b->stacks[b->count++];
	*s = (struct ctp_html_stack){.ns = stack->ns, .depth = stack->depth, .state = state_of(stack->state)};
	for (uint32_t i = 0; i < stack->depth; i++)
		s->frames[i] = ctp_text_table_number(&b->texts, ctp_folded_text(f, stack->places[i]));
	ctp_add_capped(&b->total_ns[s->state], s->ns);
	b->failed |= b->texts.failed;
}

/* --- the sink ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	struct baseline_sink *s = (struct baseline_sink *)sink;
	ctp_analysis_end(s->feed.analysis, how);
	bool failed = s->feed.analysis->report.failed || s->b->failed;
	return failed ? ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", s->b->source) : CTP_OK;
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct baseline_sink *s = (struct baseline_sink *)sink;
	const struct ctp_report *r = &s->feed.analysis->report;
	char command[CTP_PRINT_COMMAND_MAX];
	if (!s->b->count)
		return ctp_err_set(err, "--baseline %s: has no time of coroutines to compare with", s->b->source);
	drop_small(s->b);
	uint64_t at = s->b->section < r->nsections ? s->b->section : r->nsections;
	snprintf(s->b->title, sizeof s->b->title, "%s", at ? ctp_print_command(command, &r->sections[at - 1]) : s->b->source);
	return CTP_OK;
}

static void release(struct ctp_sink *sink)
{
	struct baseline_sink *s = (struct baseline_sink *)sink;
	ctp_folded_free(s->folded);
	ctp_analysis_free(s->feed.analysis);
	free(s);
}

struct ctp_sink *ctp_html_baseline_sink(struct ctp_html_baseline *b, const struct ctp_analysis_options *options,
                                        struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {
		.section = ctp_report_feed_section, .records = ctp_report_feed_records, .end = end, .finish = finish, .free = release,
	};
	const struct ctp_folded_options folded = {
		.states = 1u << CTP_SUSPENDED | 1u << CTP_RUNNABLE | 1u << CTP_RUNNING, .times = true, .take = take, .arg = b,
	};
	struct baseline_sink *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", b->source);
		return NULL;
	}
	*s = (struct baseline_sink){.feed.sink.ops = &ops, .b = b, .feed.analysis = ctp_analysis_new(options, err)};
	s->folded = s->feed.analysis ? ctp_folded_new(s->feed.analysis, &folded, err) : NULL;
	if (s->folded)
		return &s->feed.sink;
	release(&s->feed.sink);
	return NULL;
}

/* --- the page ------------------------------------------------------------------------------------------------------------- */

static void put_sums(struct ctp_output *out, const char *key, const uint64_t ns[CTP_HTML_STATES])
{
	ctp_output_putf(out, ",\"%s\":", key);
	for (unsigned i = 0; i < CTP_HTML_STATES; i++)
		ctp_output_putf(out, "%s%ju", i ? "," : "[", ns[i]);
	ctp_output_putf(out, "]");
}

void ctp_html_baseline_put(struct ctp_output *out, const struct ctp_html_baseline *b)
{
	ctp_output_putf(out, "{\"title\":");
	ctp_json_put_in_page(out, b->title, strlen(b->title));
	ctp_output_putf(out, ",\"source\":");
	ctp_json_put_in_page(out, b->source, strlen(b->source));
	ctp_output_putf(out, ",\"ordinal\":%s", b->ordinal ? "true" : "false");
	put_sums(out, "total_ns", b->total_ns);
	ctp_output_putf(out, ",\"left_out\":%ju", b->left_out);
	put_sums(out, "left_out_ns", b->left_out_ns);
	ctp_output_putf(out, ",\"frames\":");
	ctp_html_texts_put(out, &b->texts);
	ctp_output_putf(out, ",\"stacks\":[");
	for (uint32_t i = 0; i < b->count; i++) {
		const struct ctp_html_stack *s = &b->stacks[i];
		assert(s->depth <= CTP_FOLDED_DEPTH && s->state < CTP_HTML_STATES);
		ctp_output_putf(out, "%s", i ? ",[" : "[");
		for (uint32_t k = 0; k < s->depth; k++)
			ctp_output_putf(out, "%u,", s->frames[k]);
		ctp_output_putf(out, "%u,%ju]", s->state, s->ns);
	}
	ctp_output_putf(out, "]}");
}
