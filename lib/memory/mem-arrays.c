/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-arrays.c - see mem-arrays.h. */
#include "memory/mem-arrays.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

struct fold {
	struct ctp_mem *m;
	struct ctp_members_want *want, *again; /* again: types whose elements have another size */
	struct ctp_mem_layouts found;          /* what came of these */
	struct ctp_fold_type {
		uint32_t into, size; /* the type that its regions are of, and the size of an element of its own */
		bool open;           /* by debug information it may have any size */
	} *of;
	uint32_t *order;
	bool any;
};

static int by_name(const void *a, const void *b, void *arg)
{
	const struct ctp_mem_type *types = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return strcmp(types[x].name, types[y].name) ?: ctp_compare(x, y);
}

/* Types of one name: their elements are those that debug information has. */
static void choose(struct fold *f, const uint32_t *same, uint32_t n)
{
	const struct ctp_mem_type *types = f->m->types.type;
	uint32_t into = 0, size = 0, first = 0;
	for (uint32_t i = 0; i < n; i++) {
		into = !into && f->want[same[i]].found ? same[i] : into;
		size = size ? size : f->want[same[i]].other_size;
	}
	size = into ? types[into].element_size : size;
	for (uint32_t i = 0; i < n; i++) {
		if (!size || !types[same[i]].element_size || types[same[i]].element_size % size)
			return;
		first = !first && types[same[i]].element_size > size ? same[i] : first;
	}
	if (!first)
		return;
	f->any = true;
	if (!into) {
		into = first;
		f->again[into] = (struct ctp_members_want){.type = types[into].name, .size = size};
	}
	f->of[into].size = size;
	for (uint32_t i = 0; i < n; i++)
		f->of[same[i]].into = into;
}

static void note_open(struct fold *f, const struct ctp_mem_layouts *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		f->of[l->member[i].want].open |= !l->member[i].size;
}

static bool is_array(const struct fold *f, uint32_t type)
{
	return !f->of[type].open && (!*f->again[type].type || f->again[type].found);
}

/* Those that are no arrays after all stay what they are. */
static void settle(struct fold *f)
{
	for (uint32_t i = 0; i < f->m->types.ntypes; i++)
		if (!is_array(f, f->of[i].into))
			f->of[i].into = i;
	for (uint32_t i = 0; i < f->m->types.ntypes; i++) {
		if (!is_array(f, i))
			f->of[i].size = f->m->types.type[i].element_size;
		else if (f->again[i].found)
			f->want[i] = f->again[i];
	}
}

static uint32_t size_of(const struct fold *f, uint32_t type) { return f->of[f->of[type].into].size; }

static bool is_folded(const struct fold *f, uint32_t type)
{
	return f->m->types.type[type].element_size != size_of(f, type);
}

static void fold_spans(struct fold *f)
{
	struct ctp_mem_types *t = &f->m->types;
	for (uint32_t i = 0; i < t->nspans; i++) {
		struct ctp_mem_span *s = &t->span[i];
		uint32_t size = size_of(f, s->type);
		if (!is_folded(f, s->type))
			continue;
		s->offset %= size;
		uint64_t across = s->size > size - s->offset ? ctp_mem_accesses(&s->counts) - s->counts.straddles : 0;
		s->counts.straddles += across;
		t->type[s->type].counts.straddles += across;
		f->m->all.straddles += across;
		s->type = f->of[s->type].into;
	}
}

/* What else has the number of a type. */
static void fold_places(struct fold *f)
{
	for (uint32_t i = 0; i < f->m->hot.n; i++) {
		struct ctp_region *r = &f->m->hot.hot[i].region;
		uint32_t size = size_of(f, r->type);
		if (!is_folded(f, r->type))
			continue;
		r->elements *= r->element_size / size;
		r->element_size = size;
		r->type = f->of[r->type].into;
	}
	for (uint32_t i = 0; i < f->m->sharing.nshared; i++)
		for (uint32_t k = 0; k < f->m->sharing.shared[i]->nplaces; k++) {
			struct ctp_sharing_place *p = &f->m->sharing.shared[i]->place[k];
			if (!is_folded(f, p->type))
				continue;
			p->offset %= size_of(f, p->type);
			p->type = f->of[p->type].into;
		}
}

static void fold_types(struct fold *f)
{
	struct ctp_mem_types *t = &f->m->types;
	for (uint32_t i = 0; i < t->ntypes; i++) {
		struct ctp_mem_type *from = &t->type[i], *to = &t->type[f->of[i].into];
		if (from == to)
			continue;
		ctp_mem_counts_add(&to->counts, &from->counts);
		to->unplaced += from->unplaced;
		to->regions += from->regions;
		from->counts = (struct ctp_mem_counts){.atomics = 0};
		from->unplaced = from->regions = 0;
	}
	for (uint32_t i = 0; i < t->ntypes; i++)
		if (f->of[i].into == i)
			t->type[i].element_size = f->of[i].size;
}

static enum ctp_status fold(struct fold *f, struct ctp_mem_layouts *l, const char *path, struct ctp_err *err)
{
	bool asks = false;
	for (uint32_t i = 0; i < f->m->types.ntypes; i++)
		asks |= *f->again[i].type;
	if (asks && ctp_members_find(path, f->again, f->m->types.ntypes, ctp_mem_layouts_take, &f->found, err))
		return CTP_FAILED;
	note_open(f, l);
	note_open(f, &f->found);
	settle(f);
	for (uint32_t i = 0; i < f->found.n; i++)
		if (is_array(f, f->found.member[i].want))
			ctp_mem_layouts_take(l, &f->found.member[i]); /* stays: l is another one */
	fold_spans(f);
	fold_places(f);
	fold_types(f);
	ctp_mem_types_group(&f->m->types);
	ctp_mem_order_types(f->m);
	return CTP_OK;
}

enum ctp_status ctp_mem_arrays_fold(struct ctp_mem *m, struct ctp_mem_layouts *l, const char *path, struct ctp_members_want *want,
                                    struct ctp_err *err)
{
	const struct ctp_mem_type *types = m->types.type;
	uint32_t n = m->types.ntypes, nnamed = 0;
	struct fold f = {.m = m, .want = want, .again = calloc(n, sizeof *f.again), .of = calloc(n, sizeof *f.of),
	                 .order = calloc(n, sizeof *f.order)};
	enum ctp_status status = CTP_OK;
	if (!f.again || !f.of || !f.order)
		status = ctp_err_memory(err);
	for (uint32_t i = 0; !status && i < n; i++) {
		f.of[i] = (struct ctp_fold_type){.into = i, .size = types[i].element_size};
		f.again[i].type = "";
		if (types[i].name)
			f.order[nnamed++] = i;
	}
	if (!status && nnamed)
		qsort_r(f.order, nnamed, sizeof *f.order, by_name, m->types.type);
	for (uint32_t i = 0, same; !status && i < nnamed; i += same) {
		for (same = 1; i + same < nnamed && !strcmp(types[f.order[i + same]].name, types[f.order[i]].name);)
			same++;
		choose(&f, f.order + i, same);
	}
	if (!status && f.any)
		status = fold(&f, l, path, err);
	ctp_mem_layouts_fini(&f.found);
	free(f.again);
	free(f.of);
	free(f.order);
	return status;
}
