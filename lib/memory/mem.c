/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem.c - see mem.h. */
#include "memory/mem.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/capped.h"
#include "base/compare.h"
#include "memory/mem-members.h"
#include "stream/sink.h"

enum what { UNMET, FOREIGN, LOSS, ACCESS, ADD, REMOVE };

/* Where a class has what is needed; by its id. */
struct known {
	enum what what;
	int address, thread, size, op, atomic, unaligned, element_size, count, type;
};

struct ctp_mem_priv {
	struct ctp_regions regions;
	struct ctp_addrs refused; /* where regions would begin that found no room; as many as there may be regions */
	struct ctp_addrs thread_of; /* number of a thread, from 1 on */
	size_t thread_room;
	uint64_t last_id; /* the thread of the access before, and its number; 0: none */
	uint32_t last_thread;
	uint32_t owner, owners; /* of caches: that thread, and how many this section has */
	uint64_t alive;
	struct ctp_mem_counts unkept; /* of threads */
	struct known known[CTP_CLASSES_MAX];
};

struct ctp_mem *ctp_mem_new(const struct ctp_cache_shape *shapes, unsigned nlevels, bool own_caches, struct ctp_err *err)
{
	struct ctp_mem *m = calloc(1, sizeof *m);
	if (!m || !(m->priv = calloc(1, sizeof *m->priv)) || !ctp_mem_types_init(&m->types)) {
		ctp_err_memory(err);
		ctp_mem_free(m);
		return NULL;
	}
	m->levels = nlevels;
	m->sharing.line = nlevels ? shapes[0].line : CTP_MEM_LINE;
	if (nlevels && !(m->caches = ctp_caches_new(shapes, nlevels, own_caches, err))) {
		ctp_mem_free(m);
		return NULL;
	}
	return m;
}

void ctp_mem_free(struct ctp_mem *m)
{
	if (!m)
		return;
	if (m->priv) {
		ctp_regions_fini(&m->priv->regions);
		ctp_addrs_fini(&m->priv->refused);
		ctp_addrs_fini(&m->priv->thread_of);
		ctp_mem_types_fini(&m->types);
	}
	ctp_caches_free(m->caches);
	ctp_sharing_fini(&m->sharing);
	free(m->by_cost);
	free(m->threads);
	free(m->thread_at);
	free(m->priv);
	free(m);
}

/* --- classes ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status find_number(const struct ctp_class *cls, const char *name, int *field, struct ctp_err *err)
{
	*field = ctp_class_field(cls, name);
	unsigned type = *field < 0 ? CTP_STRING : cls->fields[*field].type;
	if (type <= CTP_U64 || type == CTP_BOOL || type == CTP_ENUM)
		return CTP_OK;
	return ctp_err_set(err, "class %s: there is no field %s that is an unsigned number; ctp-fromcacheray makes such a class",
	                   cls->name, name);
}

static enum ctp_status bind_access(struct known *k, const struct ctp_class *cls, struct ctp_err *err)
{
	k->what = ACCESS;
	return find_number(cls, "thread", &k->thread, err) || find_number(cls, "size", &k->size, err) ||
	       find_number(cls, "op", &k->op, err) || find_number(cls, "atomic", &k->atomic, err) ||
	       find_number(cls, "unaligned", &k->unaligned, err) ? CTP_FAILED : CTP_OK;
}

static enum ctp_status bind_add(struct known *k, const struct ctp_class *cls, struct ctp_err *err)
{
	k->what = ADD;
	if (find_number(cls, "element_size", &k->element_size, err) || find_number(cls, "count", &k->count, err))
		return CTP_FAILED;
	k->type = ctp_class_field(cls, "type");
	if (k->type < 0 || cls->fields[k->type].type != CTP_STRING)
		return ctp_err_set(err, "class %s: there is no field type that is a string", cls->name);
	return CTP_OK;
}

static enum ctp_status bind_class(struct known *k, const struct ctp_class *cls, struct ctp_err *err)
{
	enum ctp_status status = CTP_OK;
	*k = (struct known){.what = cls->kind == CTP_KIND_LOSS ? LOSS : FOREIGN};
	if (!strcmp(cls->name, "cacheray_access"))
		status = bind_access(k, cls, err);
	else if (!strcmp(cls->name, "cacheray_add"))
		status = bind_add(k, cls, err);
	else if (!strcmp(cls->name, "cacheray_remove"))
		k->what = REMOVE;
	return status || k->what < ACCESS ? status : find_number(cls, "address", &k->address, err);
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

/* The number of a thread, from 0 on; CTP_MEM_THREADS_MAX: there was no room for it. */
static uint32_t thread_of(struct ctp_mem *m, uint64_t id)
{
	struct ctp_mem_priv *p = m->priv;
	if (p->last_thread && p->last_id == id)
		return p->last_thread - 1;
	uint32_t number = ctp_addrs_get(&p->thread_of, id);
	if (!number) {
		if (!CTP_ARRAY_RESERVE(m->threads, p->thread_room, m->nthreads + 1, CTP_MEM_THREADS_MAX) ||
		    !ctp_addrs_add(&p->thread_of, id, m->nthreads + 1)) {
			p->last_thread = p->owner = 0;
			return CTP_MEM_THREADS_MAX;
		}
		m->threads[m->nthreads] = (struct ctp_mem_thread){.id = id};
		number = ++m->nthreads;
	}
	struct ctp_mem_thread *t = &m->threads[number - 1];
	if (t->section != m->facts.sections) {
		t->section = m->facts.sections;
		t->owner = p->owners++;
	}
	p->last_id = id;
	p->last_thread = number;
	p->owner = t->owner;
	return number - 1;
}

static enum ctp_status take_access(struct ctp_mem *m, const struct known *k, const struct ctp_record *rec, struct ctp_err *err)
{
	struct ctp_mem_priv *p = m->priv;
	const uint64_t *val = rec->val;
	struct ctp_mem_access a = {
		.address = val[k->address], .size = val[k->size] > UINT8_MAX ? UINT8_MAX : val[k->size] ? (uint8_t)val[k->size] : 1,
		.write = val[k->op] == 1, .atomic = val[k->atomic], .unaligned = val[k->unaligned],
	};
	struct ctp_sharing_place at = {.thread = thread_of(m, val[k->thread])};
	if (val[k->op] > 1) {
		m->facts.unknown++;
		return CTP_OK;
	}
	uint32_t number = ctp_regions_find(&p->regions, a.address);
	struct ctp_region *region = number ? &p->regions.region[number] : NULL;
	if (region) {
		at.type = region->type;
		at.offset = (uint32_t)((a.address - region->start) % region->element_size);
		a.straddles = a.size > region->element_size - at.offset;
	}
	a.missed = m->levels ? ctp_caches_access(m->caches, p->owner, a.address, a.size, a.write) : 0;
	if (a.missed > m->levels)
		return ctp_err_memory(err);
	ctp_mem_types_count(&m->types, at.type, at.offset, &a);
	if (region)
		ctp_mem_count(&region->counts, &a);
	m->facts.other_threads += at.thread == CTP_MEM_THREADS_MAX;
	ctp_mem_count(at.thread < CTP_MEM_THREADS_MAX ? &m->threads[at.thread].counts : &p->unkept, &a);
	if (at.thread < CTP_MEM_THREADS_MAX)
		ctp_sharing_access(&m->sharing, &a, &at);
	return CTP_OK;
}

static void retire(struct ctp_mem *m, uint32_t number, uint64_t ts, bool alive)
{
	struct ctp_regions *regions = &m->priv->regions;
	struct ctp_region *r = &regions->region[number];
	r->removed = ts;
	ctp_hot_regions_note(&m->hot, r, ctp_mem_cost(&r->counts, m->levels), alive);
	m->priv->alive--;
	if (!alive)
		ctp_regions_remove(regions, number);
}

/* What becomes of a region that found no room is not strange. */
static void note_refused(struct ctp_mem *m, uint64_t start)
{
	struct ctp_addrs *refused = &m->priv->refused;
	m->facts.refused++;
	if (refused->count < CTP_REGIONS_MAX && !ctp_addrs_get(refused, start))
		ctp_addrs_add(refused, start, 1);
}

/* Whether such a region was to begin there; it does so no more. */
static bool forget_refused(struct ctp_mem *m, uint64_t start)
{
	struct ctp_addrs_slot *slot = ctp_addrs_find(&m->priv->refused, start);
	if (slot)
		ctp_addrs_remove(&m->priv->refused, slot);
	return slot;
}

static void take_add(struct ctp_mem *m, const struct known *k, const struct ctp_record *rec)
{
	struct ctp_mem_facts *f = &m->facts;
	struct ctp_regions *regions = &m->priv->regions;
	const struct ctp_str *name = ctp_str_val(rec->val[k->type]);
	uint64_t start = rec->val[k->address], size = rec->val[k->element_size], count = rec->val[k->count];
	uint32_t was = ctp_regions_at(regions, start), element = ctp_mem_pass_element(name->data, name->len);
	/* One of 8 bytes may be a pointer. */
	if (element && count == 1 && size != CTP_MEM_POINTER && size % element == 0) {
		count = size / element;
		size = element;
	}
	f->added++;
	if (was) {
		f->replaced++;
		retire(m, was, rec->ts_ns, false);
	}
	forget_refused(m, start);
	uint32_t number = size <= UINT32_MAX && count <= UINT32_MAX ? ctp_regions_add(regions, start, (uint32_t)size, (uint32_t)count) : 0;
	if (!number) {
		note_refused(m, start);
		return;
	}
	struct ctp_region *r = &regions->region[number];
	r->type = ctp_mem_types_get(&m->types, name->data, name->len, (uint32_t)size);
	r->added = rec->ts_ns;
	m->types.type[r->type].regions++;
	f->empty += !r->bytes;
	if (++m->priv->alive > f->most_alive)
		f->most_alive = m->priv->alive;
}

static void take_remove(struct ctp_mem *m, const struct known *k, const struct ctp_record *rec)
{
	uint32_t number = ctp_regions_at(&m->priv->regions, rec->val[k->address]);
	if (number) {
		m->facts.removed++;
		retire(m, number, rec->ts_ns, false);
	} else {
		m->facts.unmatched += !forget_refused(m, rec->val[k->address]);
	}
}

static enum ctp_status take(struct ctp_mem *m, const struct known *k, const struct ctp_record *rec, struct ctp_err *err)
{
	switch (k->what) {
	case ACCESS:
		return take_access(m, k, rec, err);
	case ADD:
		take_add(m, k, rec);
		break;
	case REMOVE:
		take_remove(m, k, rec);
		break;
	case LOSS:
		m->facts.losses++;
		ctp_add_capped(&m->facts.lost, ctp_record_lost(rec));
		break;
	case FOREIGN:
	case UNMET:
		m->facts.foreign++;
	}
	return CTP_OK;
}

enum ctp_status ctp_mem_records(struct ctp_mem *m, const struct ctp_batch *batch, struct ctp_err *err)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct ctp_record *rec = &batch->rec[i];
		struct known *k = &m->priv->known[rec->cls->id];
		if (!k->what && bind_class(k, rec->cls, err))
			return CTP_FAILED;
		m->facts.late += batch->late && k->what >= ACCESS;
		if (take(m, k, rec, err))
			return CTP_FAILED;
	}
	return CTP_OK;
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

void ctp_mem_section(struct ctp_mem *m)
{
	memset(m->priv->known, 0, sizeof m->priv->known);
	ctp_regions_clear(&m->priv->regions);
	ctp_addrs_clear(&m->priv->refused);
	if (m->facts.sections && m->caches)
		ctp_caches_clear(m->caches);
	m->priv->last_thread = m->priv->owners = 0;
	ctp_sharing_section(&m->sharing, (uint32_t)m->facts.sections++);
}

void ctp_mem_section_end(struct ctp_mem *m)
{
	for (uint32_t i = 0; (i = ctp_regions_next(&m->priv->regions, i));) {
		m->facts.alive++;
		retire(m, i, 0, true);
	}
	ctp_regions_clear(&m->priv->regions);
}

uint64_t ctp_mem_lost(const struct ctp_mem *m)
{
	uint64_t lost = m->facts.lost;
	ctp_add_capped(&lost, m->facts.unread);
	ctp_add_capped(&lost, m->facts.missing);
	return lost;
}

/* --- the end ------------------------------------------------------------------------------------------------------------- */

static int compare_types(const void *a, const void *b, void *arg)
{
	const struct ctp_mem *m = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return ctp_compare(ctp_mem_type_cost(m, y), ctp_mem_type_cost(m, x)) ?: ctp_compare(x, y);
}

static int compare_threads(const void *a, const void *b, void *arg)
{
	const struct ctp_mem_thread *threads = arg;
	return ctp_compare(threads[*(const uint32_t *)a].id, threads[*(const uint32_t *)b].id);
}

/* Threads by their ids; sharing has their numbers. */
static bool sort_threads(struct ctp_mem *m)
{
	uint32_t *order = calloc(m->nthreads + 1, sizeof *order);
	struct ctp_mem_thread *sorted = calloc(m->nthreads + 1, sizeof *sorted);
	m->thread_at = calloc(m->nthreads + 1, sizeof *m->thread_at);
	if (!order || !sorted || !m->thread_at) {
		free(order);
		free(sorted);
		return false;
	}
	for (uint32_t i = 0; i < m->nthreads; i++)
		order[i] = i;
	qsort_r(order, m->nthreads, sizeof *order, compare_threads, m->threads);
	for (uint32_t i = 0; i < m->nthreads; i++) {
		sorted[i] = m->threads[order[i]];
		m->thread_at[order[i]] = i;
	}
	free(order);
	free(m->threads);
	m->threads = sorted;
	return true;
}

void ctp_mem_order_types(struct ctp_mem *m)
{
	m->ntypes = 0;
	for (uint32_t i = 0; i < m->types.ntypes; i++)
		if (m->types.type[i].regions || ctp_mem_accesses(&m->types.type[i].counts))
			m->by_cost[m->ntypes++] = i;
	qsort_r(m->by_cost, m->ntypes, sizeof *m->by_cost, compare_types, m);
}

enum ctp_status ctp_mem_end(struct ctp_mem *m, struct ctp_err *err)
{
	struct ctp_mem_types *t = &m->types;
	ctp_mem_types_end(t);
	m->by_cost = calloc(t->ntypes, sizeof *m->by_cost);
	if (!m->by_cost || !sort_threads(m) || !ctp_mem_members_make(t, NULL, 0))
		return ctp_err_memory(err);
	for (uint32_t i = 0; i < t->ntypes; i++)
		ctp_mem_counts_add(&m->all, &t->type[i].counts);
	ctp_mem_order_types(m);
	ctp_hot_regions_sort(&m->hot);
	ctp_sharing_sort(&m->sharing);
	return CTP_OK;
}
