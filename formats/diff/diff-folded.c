/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* diff-folded.c - a tree of sites: a node is a stack, with the times of both sides. A node comes after its parent. */
#include "diff/diff-folded.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/capped.h"
#include "diff/diff-own.h"
#include "report/report-feed.h"
#include "report/report-folded.h"

enum { NODES_MIN = 1024 };

struct tree {
	struct node {
		uint32_t parent, site; /* node 0 is the root, and has neither; site: number of a text */
		uint64_t ns[CTP_DIFF_SIDES];
	} *nodes;
	uint32_t count;
	size_t room;
	struct ctp_map map;
};

struct ctp_diff_folded {
	const struct ctp_analysis_options *options;
	enum ctp_state state;
	struct ctp_text_table texts;
	struct tree tree;
	uint32_t unknown; /* the site of gaps; 0: there is none yet */
	struct ctp_diff *counts; /* of units; null: there are none */
	uint64_t runs[CTP_DIFF_SIDES];
	bool ordinal, failed;
};

struct folding {
	struct ctp_report_feed feed;
	struct ctp_diff_folded *f;
	enum ctp_diff_side side;
	struct ctp_folded *folded;
	struct ctp_sink *counts; /* gets the same stream, and counts units; null: there are none */
};

/* --- trees ---------------------------------------------------------------------------------------------------------------- */

static uint64_t pair_of(uint32_t parent, uint32_t site) { return (uint64_t)parent << 32 | site; }

static uint64_t hash_node(const void *nodes, uint32_t number)
{
	const struct node *n = &((const struct node *)nodes)[number];
	return pair_of(n->parent, n->site);
}

static bool is_node(const void *nodes, uint32_t number, const void *pair)
{
	return hash_node(nodes, number) == *(const uint64_t *)pair;
}

static bool tree_init(struct tree *t)
{
	*t = (struct tree){.count = 1};
	if (!ctp_map_init(&t->map, NODES_MIN) || !CTP_ARRAY_RESERVE(t->nodes, t->room, NODES_MIN, UINT32_MAX))
		return false;
	t->nodes[0] = (struct node){0};
	return true;
}

static void tree_fini(struct tree *t)
{
	free(t->nodes);
	ctp_map_fini(&t->map);
}

/* The node of a stack with one more frame, which is added if it is new. 0: out of memory. */
static uint32_t child(struct tree *t, uint32_t parent, uint32_t site)
{
	uint64_t pair = pair_of(parent, site);
	bool room = CTP_ARRAY_RESERVE(t->nodes, t->room, t->count + 1, UINT32_MAX) &&
	            ctp_map_reserve(&t->map, t->count - 1, hash_node, t->nodes);
	uint32_t *slot = ctp_map_slot(&t->map, pair, is_node, t->nodes, &pair);
	if (*slot || !room)
		return *slot;
	t->nodes[t->count] = (struct node){.parent = parent, .site = site};
	return *slot = t->count++;
}

static void take(void *arg, struct ctp_folded *folded, const struct ctp_folded_stack *stack)
{
	struct folding *s = arg;
	struct ctp_diff_folded *f = s->f;
	char site[CTP_DIFF_SITE_MAX];
	uint32_t node = 0;
	bool gap = stack->state == CTP_UNBORN;
	if (gap && !f->unknown)
		f->unknown = ctp_text_table_number(&f->texts, CTP_FOLDED_UNKNOWN);
	for (uint32_t i = 0; i < stack->depth + gap && !f->failed; i++) {
		const char *text = i < stack->depth ? ctp_diff_site(site, ctp_folded_text(folded, stack->places[i])) : NULL;
		node = child(&f->tree, node, i < stack->depth ? ctp_text_table_number(&f->texts, text) : f->unknown);
		f->failed |= !node || f->texts.failed;
	}
	if (!f->failed)
		ctp_add_capped(&f->tree.nodes[node].ns[s->side], stack->ns);
	f->ordinal |= stack->ordinal;
}

/* --- the sink ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct ctp_sink *counts = ((struct folding *)sink)->counts;
	if (counts)
		counts->input = sink->input;
	if (counts && counts->ops->section(counts, sec, err))
		return CTP_FAILED;
	return ctp_report_feed_section(sink, sec, err);
}

static enum ctp_status take_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct ctp_sink *counts = ((struct folding *)sink)->counts;
	if (counts && counts->ops->records(counts, batch, err))
		return CTP_FAILED;
	return ctp_report_feed_records(sink, batch, err);
}

static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	struct folding *s = (struct folding *)sink;
	if (s->counts && s->counts->ops->end(s->counts, how, err))
		return CTP_FAILED;
	ctp_analysis_end(s->feed.analysis, how);
	return s->feed.analysis->report.failed || s->f->failed ? ctp_err_memory(err) : CTP_OK;
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct folding *s = (struct folding *)sink;
	s->f->runs[s->side] += s->feed.analysis->report.sections_seen;
	return s->counts ? s->counts->ops->finish(s->counts, err) : CTP_OK;
}

static void release(struct ctp_sink *sink)
{
	struct folding *s = (struct folding *)sink;
	ctp_folded_free(s->folded);
	ctp_analysis_free(s->feed.analysis);
	if (s->counts)
		s->counts->ops->free(s->counts);
	free(s);
}

struct ctp_sink *ctp_diff_folded_sink(struct ctp_diff_folded *f, enum ctp_diff_side side, struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {
		.section = section, .records = take_records, .end = end, .finish = finish, .free = release,
	};
	struct folding *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_err_memory(err);
		return NULL;
	}
	*s = (struct folding){.feed.sink.ops = &ops, .f = f, .side = side, .feed.analysis = ctp_analysis_new(f->options, err)};
	const struct ctp_folded_options folded = {.states = 1u << f->state, .take = take, .arg = s};
	s->folded = s->feed.analysis ? ctp_folded_new(s->feed.analysis, &folded, err) : NULL;
	s->counts = s->folded && f->counts ? ctp_diff_sink(f->counts, side, err) : NULL;
	if (s->folded && (s->counts || !f->counts))
		return &s->feed.sink;
	release(&s->feed.sink);
	return NULL;
}

struct ctp_diff_folded *ctp_diff_folded_new(const struct ctp_analysis_options *options, enum ctp_state state,
                                            struct ctp_diff *counts)
{
	struct ctp_diff_folded *f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	f->options = options;
	f->state = state;
	f->counts = counts;
	ctp_text_table_init(&f->texts);
	if (tree_init(&f->tree))
		return f;
	ctp_diff_folded_free(f);
	return NULL;
}

void ctp_diff_folded_free(struct ctp_diff_folded *f)
{
	if (!f)
		return;
	tree_fini(&f->tree);
	ctp_text_table_fini(&f->texts);
	free(f);
}

/* --- printing ------------------------------------------------------------------------------------------------------------- */

/* The same tree, where sites that moved are one. False: out of memory. */
static bool join(const struct ctp_diff_folded *f, struct tree *joined)
{
	const struct tree *t = &f->tree;
	uint8_t *sides = calloc(f->texts.count, sizeof *sides);
	uint32_t *same = calloc(f->texts.count, sizeof *same), *now = calloc(t->count, sizeof *now);
	bool done = sides && same && now;
	for (uint32_t i = 1; done && i < t->count; i++)
		for (unsigned side = 0; side < CTP_DIFF_SIDES; side++)
			for (uint32_t at = t->nodes[i].ns[side] ? i : 0; at; at = t->nodes[at].parent)
				sides[t->nodes[at].site] |= (uint8_t)(1u << side);
	done = done && ctp_diff_find_moved(&f->texts, sides, same);
	for (uint32_t i = 0; done && i < t->count; i++) {
		now[i] = i ? child(joined, now[t->nodes[i].parent], same[t->nodes[i].site]) : 0;
		done = !i || now[i];
		for (unsigned side = 0; done && side < CTP_DIFF_SIDES; side++)
			ctp_add_capped(&joined->nodes[now[i]].ns[side], t->nodes[i].ns[side]);
	}
	free(sides);
	free(same);
	free(now);
	return done;
}

static void put_stack(struct ctp_output *out, const struct ctp_diff_folded *f, const struct tree *t, uint32_t node)
{
	uint32_t sites[CTP_FOLDED_DEPTH + 1], n = 0;
	for (uint32_t at = node; at; at = t->nodes[at].parent) {
		assert(n < CTP_FOLDED_DEPTH + 1);
		sites[n++] = t->nodes[at].site;
	}
	if (!n)
		ctp_folded_put_frame(out, NULL, " ");
	while (n--)
		ctp_folded_put_frame(out, sites[n] ? ctp_text_table_at(&f->texts, sites[n]) : NULL, n ? ";" : " ");
}

/* What the times of a side are divided by: its runs, or the units of all of them. */
static uint64_t divisor(const struct ctp_diff_folded *f, unsigned side)
{
	uint64_t units = 0;
	if (!f->counts)
		return f->runs[side];
	for (uint32_t i = 0; i < f->counts->nruns; i++)
		units += f->counts->runs[i].side == side ? f->counts->runs[i].units : 0;
	return units;
}

enum ctp_status ctp_diff_folded_print(struct ctp_diff_folded *f, struct ctp_output *out, uint64_t unit_ns, struct ctp_err *err)
{
	struct tree joined;
	if (f->counts && ctp_diff_check(f->counts, err))
		return CTP_FAILED;
	const uint64_t by[CTP_DIFF_SIDES] = {divisor(f, CTP_DIFF_BEFORE), divisor(f, CTP_DIFF_AFTER)};
	bool done = tree_init(&joined) && join(f, &joined);
	for (uint32_t i = 0; done && i < joined.count; i++) {
		const uint64_t *ns = joined.nodes[i].ns;
		if (!ns[CTP_DIFF_BEFORE] && !ns[CTP_DIFF_AFTER])
			continue;
		put_stack(out, f, &joined, i);
		for (unsigned side = 0; side < CTP_DIFF_SIDES; side++) {
			uint64_t mean_ns = by[side] ? ns[side] / by[side] : 0;
			ctp_output_putf(out, side ? " %ju\n" : "%ju",
			                ns[side] ? ctp_folded_units(mean_ns, f->ordinal ? 1 : unit_ns) : 0);
		}
	}
	tree_fini(&joined);
	return done ? CTP_OK : ctp_err_memory(err);
}
