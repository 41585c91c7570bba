/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-folded.c - a tree of places. A node is a stack, with the time that was spent there.
 *
 * Spawn places and suspend places both become frames. Each coroutine keeps the number of its node, without the frame of its suspend
 * place.
 *
 * A parent that waits for its child is suspended as long as the child is suspended, runs or is ready. Both are in one stack, and a
 * wait must not count twice: it counts for the child.
 */
#include "report/report-folded.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/capped.h"
#include "base/map.h"
#include "report/report-print.h"

enum { NODES_MIN = 1024 };
#define COVERED (UINT32_C(1) << 31) /* a bit beside the node of a coroutine: its wait counts for a child */
#define GAP UINT32_MAX              /* stands for a place, where nothing is known */

/* The times of a node, by state. Those of a gap are the first. */
static const enum ctp_state states[] = {CTP_SUSPENDED, CTP_RUNNABLE, CTP_RUNNING};
enum { STATES = sizeof states / sizeof *states };

struct ctp_folded {
	struct ctp_follow *follow;
	struct ctp_folded_options options;
	bool ordinal; /* the section has no clock: its times are numbers of records */
	uint64_t section;
	struct node {
		uint32_t parent, place; /* node 0 is the root, and has neither */
		uint32_t depth;
		uint64_t ns[STATES];
	} *nodes;
	uint32_t count;
	size_t room;
	struct ctp_map map;
};

/* --- the tree ------------------------------------------------------------------------------------------------------------- */

static uint64_t pair_of(uint32_t parent, uint32_t place) { return (uint64_t)parent << 32 | place; }

static uint64_t hash_node(const void *nodes, uint32_t number)
{
	const struct node *n = &((const struct node *)nodes)[number];
	return pair_of(n->parent, n->place);
}

static bool is_node(const void *nodes, uint32_t number, const void *pair)
{
	return hash_node(nodes, number) == *(const uint64_t *)pair;
}

static uint32_t *slot_of(const struct ctp_folded *f, uint32_t parent, uint32_t place)
{
	uint64_t pair = pair_of(parent, place);
	return ctp_map_slot(&f->map, pair, is_node, f->nodes, &pair);
}

static bool has_room(struct ctp_folded *f)
{
	return CTP_ARRAY_RESERVE(f->nodes, f->room, f->count + 1, CTP_FOLDED_NODES) &&
	       ctp_map_reserve(&f->map, f->count - 1, hash_node, f->nodes);
}

/* The stack with one more frame. Without room for it, the same stack. */
static uint32_t child(struct ctp_folded *f, uint32_t parent, uint32_t place)
{
	uint32_t number = *slot_of(f, parent, place);
	if (number)
		return number;
	if (f->nodes[parent].depth == CTP_FOLDED_DEPTH || !has_room(f))
		return parent;
	f->nodes[f->count] = (struct node){.parent = parent, .place = place, .depth = f->nodes[parent].depth + 1};
	return *slot_of(f, parent, place) = f->count++;
}

/*
 * The node of a coroutine; those of its ancestors are added if they are new. depth: how many ancestors to look at, as they may form
 * a circle.
 */
static uint32_t node_of(struct ctp_folded *f, struct ctp_coroutine *co, unsigned depth)
{
	if (co->handle & ~COVERED || (!co->parent && !co->spawn))
		return co->handle & ~COVERED;
	struct ctp_coroutine *parent = co->parent && depth ? ctp_follow_find(f->follow, co->parent) : NULL;
	uint32_t below = parent ? node_of(f, parent, depth - 1) : 0;
	uint32_t node = below || co->spawn ? child(f, below, co->spawn) : 0;
	co->handle = node | (co->handle & COVERED);
	return node;
}

static void clear(struct ctp_folded *f)
{
	ctp_map_clear(&f->map);
	f->nodes[0] = (struct node){0};
	f->count = 1;
}

/* --- changes -------------------------------------------------------------------------------------------------------------- */

static void add(struct ctp_folded *f, struct ctp_coroutine *co, unsigned state, uint32_t place, uint64_t from_ns, uint64_t to_ns)
{
	const struct ctp_follow *follow = f->follow;
	from_ns = from_ns > follow->since_ns ? from_ns : follow->since_ns;
	to_ns = to_ns < follow->until_ns ? to_ns : follow->until_ns;
	if (from_ns >= to_ns)
		return;
	uint32_t node = node_of(f, co, CTP_FOLDED_DEPTH);
	if (place)
		node = child(f, node, place); /* which may move the nodes */
	uint64_t ns = f->ordinal && f->options.times ? 1 : to_ns - from_ns;
	ctp_add_capped(&f->nodes[node].ns[state], ns);
}

static unsigned index_of(enum ctp_state state) { return state == CTP_SUSPENDED ? 0 : state == CTP_RUNNABLE ? 1 : 2; }

/* A coroutine was in a state between two times, with nothing missing. A runnable coroutine was suspended before. */
static void add_span(struct ctp_folded *f, struct ctp_coroutine *co, enum ctp_state state, uint32_t place, uint64_t from_ns,
                     uint64_t to_ns)
{
	if (f->options.states & 1u << state && !(state == CTP_SUSPENDED && co->handle & COVERED))
		add(f, co, index_of(state), place, from_ns, to_ns);
	if (state == CTP_RUNNABLE && co->suspended_ns)
		add_span(f, co, CTP_SUSPENDED, place, co->suspended_ns, from_ns);
}

/* Whether a coroutine waits for one of its descendants: then the stack of that one has the wait already. */
static bool is_covered(const struct ctp_folded *f, const struct ctp_coroutine *co)
{
	const struct ctp_coroutine *below = co->awaits ? ctp_follow_find(f->follow, co->awaits) : NULL;
	for (unsigned depth = 0; below && depth < CTP_FOLDED_DEPTH; depth++) {
		if (below->parent == co->id)
			return true;
		below = below->parent ? ctp_follow_find(f->follow, below->parent) : NULL;
	}
	return false;
}

static void begin(void *arg, const struct ctp_section *sec)
{
	struct ctp_folded *f = arg;
	f->ordinal = sec ? sec->ordinal : f->ordinal;
	f->section++;
	clear(f);
}

static void change(void *arg, const struct ctp_change *ch)
{
	struct ctp_folded *f = arg;
	struct ctp_coroutine *co = ch->co;
	uint32_t place = ch->kind == CTP_CHANGE_SUSPEND ? ch->from : ctp_follow_place(f->follow, co);
	switch (ch->kind) {
	case CTP_CHANGE_BORN:
		co->handle = 0; /* the spawn place is known only now */
		node_of(f, co, CTP_FOLDED_DEPTH);
		break;
	case CTP_CHANGE_LOST:
		if (ch->whole)
			add_span(f, co, ch->was, place, ch->was_ns, ch->gap_ns);
		break;
	case CTP_CHANGE_SUSPEND:
	case CTP_CHANGE_RESUME:
	case CTP_CHANGE_DIED:
		if (ch->whole)
			add_span(f, co, ch->was, place, ch->was_ns, ch->ts_ns);
		else if (ch->gap)
			add(f, co, 0, GAP, ch->was_ns, ch->ts_ns);
		co->handle &= ~COVERED;
		if (ch->kind == CTP_CHANGE_SUSPEND && is_covered(f, co))
			co->handle |= COVERED;
		break;
	default:
		break;
	}
}

/* Passes the stacks of a node on: one for each state that it has time of. */
static void take_node(struct ctp_folded *f, const struct node *node)
{
	uint32_t places[CTP_FOLDED_DEPTH], n = node->depth;
	bool gap = node->depth && node->place == GAP;
	assert(node->depth <= CTP_FOLDED_DEPTH);
	for (const struct node *at = node; at->depth; at = &f->nodes[at->parent])
		places[--n] = at->place;
	for (unsigned i = 0; i < STATES; i++) {
		struct ctp_folded_stack stack = {.places = places, .depth = node->depth - gap, .ns = node->ns[i],
		                                 .state = gap ? CTP_UNBORN : states[i], .ordinal = f->ordinal,
		                                 .section = f->section};
		if (stack.ns)
			f->options.take(f->options.arg, f, &stack);
	}
}

static void end(void *arg, const struct ctp_follow_end *how)
{
	struct ctp_folded *f = arg;
	struct ctp_follow *follow = f->follow;
	uint32_t at = 0;
	for (struct ctp_coroutine *co; (co = ctp_follow_each(follow, &at));) {
		if (co->state == CTP_DEAD || co->flags & CTP_CO_CONFLICT)
			continue;
		if (co->flags & CTP_CO_TAIL)
			add(f, co, 0, GAP, co->since_ns, how->end_ns);
		else
			add_span(f, co, co->state, ctp_follow_place(follow, co), co->since_ns, how->end_ns);
	}
	for (uint32_t i = 0; i < f->count; i++)
		take_node(f, &f->nodes[i]);
}

/* --- lines ---------------------------------------------------------------------------------------------------------------- */

const char *ctp_folded_text(struct ctp_folded *f, uint32_t place)
{
	const char *text = place ? ctp_follow_text(f->follow, place) : NULL;
	return text && *text ? text : NULL;
}

/* A number after a space would be read as a weight. */
void ctp_folded_put_frame(struct ctp_output *out, const char *text, const char *end)
{
	char c[CTP_VISIBLE_MAX];
	unsigned n, columns;
	text = text ? text : "[no_place]";
	while ((n = ctp_visible_char(c, &text, &columns)))
		ctp_output_put(out, c[0] == ';' ? ":" : c[0] == ' ' ? "_" : c, n);
	ctp_output_put(out, end, 1);
}

void ctp_folded_print(void *arg, struct ctp_folded *f, const struct ctp_folded_stack *stack)
{
	const struct ctp_folded_lines *lines = arg;
	bool gap = stack->state == CTP_UNBORN;
	for (uint32_t i = 0; i < stack->depth; i++)
		ctp_folded_put_frame(lines->out, ctp_folded_text(f, stack->places[i]), i + 1 < stack->depth || gap ? ";" : " ");
	if (gap || !stack->depth)
		ctp_folded_put_frame(lines->out, gap ? CTP_FOLDED_UNKNOWN : NULL, " ");
	ctp_output_putf(lines->out, "%ju\n", ctp_folded_units(stack->ns, stack->ordinal ? 1 : lines->unit_ns));
}

struct ctp_folded *ctp_folded_new(struct ctp_analysis *a, const struct ctp_folded_options *options, struct ctp_err *err)
{
	static const struct ctp_follow_ops ops = {.section = begin, .change = change, .end = end};
	struct ctp_folded *f = calloc(1, sizeof *f);
	if (!f || !ctp_map_init(&f->map, NODES_MIN) || !CTP_ARRAY_RESERVE(f->nodes, f->room, NODES_MIN, CTP_FOLDED_NODES)) {
		ctp_folded_free(f);
		ctp_err_memory(err);
		return NULL;
	}
	f->follow = &a->follow;
	f->options = *options;
	clear(f);
	ctp_analysis_listen(a, &ops, f);
	return f;
}

void ctp_folded_free(struct ctp_folded *f)
{
	if (!f)
		return;
	free(f->nodes);
	ctp_map_fini(&f->map);
	free(f);
}
