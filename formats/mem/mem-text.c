/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mem-text.c - memory's counts for a person at a terminal.
 *
 * What costs most comes first. Tables are cut to their first rows unless all are wanted, and names, which are of any length, come
 * last in a row.
 */
#include "mem/mem-print.h"

#include <stdio.h>
#include <stdlib.h>

#include "memory/mem-members.h"
#include "memory/mem-remedy.h"
#include "symbols/spelling.h"

#define putf ctp_output_putf

enum { ROWS = 10, STRUCTURES = 3, LINES = 5, PLACES = 8 };

struct text {
	struct ctp_output *out;
	const struct ctp_mem *m;
	const struct ctp_mem_layouts *l;
	const struct ctp_mem_style *style;
};

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

static uint32_t rows(const struct text *t, uint32_t n, uint32_t limit)
{
	limit = t->style->top ? t->style->top : limit;
	return t->style->all || n < limit ? n : limit;
}

static void more(const struct text *t, uint64_t n, uint64_t shown, const char *what)
{
	char number[CTP_MEM_NUMBER_MAX];
	if (n > shown)
		putf(t->out, "  ... and %s more %s%s: -v shows all\n", ctp_mem_number(number, n - shown), what, plural(n - shown));
}

/* --- what there is ------------------------------------------------------------------------------------------------------- */

static void put_total(const struct text *t)
{
	const struct ctp_mem_counts *c = &t->m->all;
	const struct ctp_mem_facts *f = &t->m->facts;
	char n[4][CTP_MEM_NUMBER_MAX];
	putf(t->out, "%s access%s: ", ctp_mem_number(n[0], ctp_mem_accesses(c)), ctp_mem_accesses(c) == 1 ? "" : "es");
	putf(t->out, "%s read%s, %s write%s; ", ctp_mem_number(n[0], c->accesses[0]), plural(c->accesses[0]),
	     ctp_mem_number(n[1], c->accesses[1]), plural(c->accesses[1]));
	putf(t->out, "%s atomic, %s unaligned, %s across elements\n", ctp_mem_number(n[0], c->atomics),
	     ctp_mem_number(n[1], c->unaligned), ctp_mem_number(n[2], c->straddles));
	putf(t->out, "%s region%s: %s removed, %s replaced, %s there at the end", ctp_mem_number(n[0], f->added), plural(f->added),
	     ctp_mem_number(n[1], f->removed), ctp_mem_number(n[2], f->replaced), ctp_mem_number(n[3], f->alive));
	putf(t->out, "; %s thread%s\n", ctp_mem_number(n[0], t->m->nthreads), plural(t->m->nthreads));
}

static void put_if(const struct text *t, uint64_t n, const char *one, const char *many)
{
	char number[CTP_MEM_NUMBER_MAX];
	if (n)
		putf(t->out, "  %s %s\n", ctp_mem_number(number, n), n == 1 ? one : many);
}

static void put_missing(const struct text *t)
{
	const struct ctp_mem_facts *f = &t->m->facts;
	put_if(t, f->losses, "loss: the counts are of what is left, and what comes after it may be in wrong regions",
	       "losses: the counts are of what is left, and what comes after them may be in wrong regions");
	put_if(t, f->unread, "record is damaged and missing: the counts are of what is left, and what comes after it may be in wrong regions",
	       "records are damaged and missing: the counts are of what is left, and what comes after them may be in wrong regions");
	put_if(t, f->missing, "packet of records is missing: the counts are of what is left, and what comes after it may be in wrong regions",
	       "packets of records are missing: the counts are of what is left, and what comes after them may be in wrong regions");
	put_if(t, f->cut_short, "section has no orderly end: what came after it is not counted",
	       "sections have no orderly end: what came after them is not counted");
	if (f->harmed && !f->losses && !f->unread && !f->missing && !f->cut_short)
		putf(t->out, "  the input is damaged or cut short: the counts are of what could be read\n");
}

/* What is missing or strange, so that no number is taken for more than it is. */
static void put_doubts(const struct text *t)
{
	const struct ctp_mem *m = t->m;
	const struct ctp_mem_facts *f = &m->facts;
	put_if(t, f->filtered, "section is filtered: the counts are of what is left, and regions may be left out",
	       "sections are filtered: the counts are of what is left, and regions may be left out");
	put_missing(t);
	put_if(t, f->late, "record came late: it is counted where it came", "records came late: they are counted where they came");
	put_if(t, f->unknown, "access is neither read nor write, and not counted",
	       "accesses are neither read nor write, and not counted");
	put_if(t, f->unmatched, "remove was for no region", "removes were for no region");
	put_if(t, f->empty, "region has no bytes", "regions have no bytes");
	put_if(t, f->refused, "region found no room: its accesses are in none, or in what it hid",
	       "regions found no room: their accesses are in none, or in what they hid");
	put_if(t, m->types.types_refused, "region is of a type that found no room: it is with (others)",
	       "regions are of types that found no room: they are with (others)");
	put_if(t, f->other_threads, "access is of a thread that found no room", "accesses are of threads that found no room");
	put_if(t, m->sharing.unknown + m->sharing.unkept, "write was to a line that found no room: it may be shared",
	       "writes were to lines that found no room: they may be shared");
}

/* --- caches -------------------------------------------------------------------------------------------------------------- */

static const char *percent(char to[CTP_MEM_NUMBER_MAX], uint64_t part, uint64_t whole)
{
	double share = whole ? 100.0 * (double)part / (double)whole : 0;
	snprintf(to, CTP_MEM_NUMBER_MAX, part && share < 0.05 ? "< 0.1 %%" : "%.1f %%", share);
	return to;
}

static void put_caches(const struct text *t)
{
	const struct ctp_mem *m = t->m;
	char n[6][CTP_MEM_NUMBER_MAX];
	if (!m->levels)
		return;
	const char *from = t->style->caches_from;
	putf(t->out, "\n%s%s\n", !strcmp(from, "option") ? "Caches" : !strcmp(from, "system") ? "Caches as this machine has them" :
	     "Caches as are usual, for this machine says nothing of its own", !ctp_caches_own(m->caches, 0) ? "" :
	     m->levels == 1 ? ", for each thread its own" : ", for each thread its own of all levels but the last");
	putf(t->out, "            size ways line     reads    missed    writes    missed  written back%s\n",
	     ctp_caches_own(m->caches, 0) ? "  taken away  and missed" : "");
	for (unsigned i = 0; i < m->levels; i++) {
		const struct ctp_cache_shape *s = ctp_caches_shape(m->caches, i);
		const struct ctp_cache_counts *c = ctp_caches_counts(m->caches, i);
		uint64_t reads = c->hits[0] + c->misses[0], writes = c->hits[1] + c->misses[1];
		putf(t->out, "  L%u %11s %4u %4u %9s %9s %9s %9s %13s", i + 1, ctp_mem_bytes(n[0], s->size), s->ways, s->line,
		     ctp_mem_brief(n[1], reads), percent(n[2], c->misses[0], reads), ctp_mem_brief(n[3], writes),
		     percent(n[4], c->misses[1], writes), ctp_mem_brief(n[5], c->write_backs));
		if (ctp_caches_own(m->caches, 0))
			putf(t->out, " %11s %11s", ctp_mem_brief(n[0], c->invalidated), ctp_mem_brief(n[1], c->taken));
		putf(t->out, "\n");
	}
}

/* --- tables -------------------------------------------------------------------------------------------------------------- */

static void put_heads(const struct text *t, const char *before, const char *name)
{
	putf(t->out, "%s   reads  writes", before);
	for (unsigned i = 0; i < t->m->levels; i++)
		putf(t->out, " L%u miss", i + 1);
	putf(t->out, "   cost  %s\n", name);
}

static void put_counts(const struct text *t, const struct ctp_mem_counts *c)
{
	char n[2][CTP_MEM_NUMBER_MAX];
	const struct ctp_mem *m = t->m;
	putf(t->out, " %7s %7s", ctp_mem_brief(n[0], c->accesses[0]), ctp_mem_brief(n[1], c->accesses[1]));
	for (unsigned i = 0; i < m->levels; i++)
		putf(t->out, " %7s", ctp_mem_brief(n[0], ctp_mem_misses(c, i)));
	uint64_t all = ctp_mem_cost(&m->all, m->levels);
	putf(t->out, " %4.0f %%  ", all ? 100.0 * (double)ctp_mem_cost(c, m->levels) / (double)all : 0.0);
}

/* After the name, what is not in the columns. */
static void put_rest(const struct text *t, const struct ctp_mem_counts *c)
{
	const struct {
		uint64_t n;
		const char *what;
	} rest[] = {{c->atomics, "atomic"}, {c->unaligned, "unaligned"}, {c->straddles, "across elements"}};
	char number[CTP_MEM_NUMBER_MAX];
	const char *before = " (";
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
		if (!rest[i].n)
			continue;
		putf(t->out, "%s%s %s", before, ctp_mem_number(number, rest[i].n), rest[i].what);
		before = ", ";
	}
	putf(t->out, *before == ',' ? ")\n" : "\n");
}

static void put_types(const struct text *t)
{
	const struct ctp_mem *m = t->m;
	char n[CTP_MEM_NUMBER_MAX];
	uint32_t shown = rows(t, m->ntypes, ROWS);
	if (!m->ntypes)
		return;
	putf(t->out, "\nTypes, the dearest first\n");
	put_heads(t, " ", "type");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_mem_type *type = &m->types.type[m->by_cost[i]];
		putf(t->out, " ");
		put_counts(t, &type->counts);
		ctp_mem_put_type(t->out, m, m->by_cost[i]);
		if (type->name)
			putf(t->out, ", %s", ctp_mem_bytes(n, type->element_size));
		put_rest(t, &type->counts);
	}
	more(t, m->ntypes, shown, "type");
}

static int compare_members(const void *a, const void *b, void *arg)
{
	const struct ctp_mem_member *x = *(const struct ctp_mem_member *const *)a, *y = *(const struct ctp_mem_member *const *)b;
	uint64_t cx = ctp_mem_cost(&x->counts, *(unsigned *)arg), cy = ctp_mem_cost(&y->counts, *(unsigned *)arg);
	return cx != cy ? (cx < cy ? 1 : -1) : (x->offset > y->offset) - (x->offset < y->offset);
}

/* The members of a type, the dearest first; for free(). Null: out of memory. */
static const struct ctp_mem_member **sorted_members(const struct ctp_mem *m, const struct ctp_mem_type *type)
{
	const struct ctp_mem_member **list = calloc(type->nmembers, sizeof *list);
	unsigned levels = m->levels;
	for (uint32_t i = 0; list && i < type->nmembers; i++)
		list[i] = &m->types.member[type->first + i];
	if (list)
		qsort_r(list, type->nmembers, sizeof *list, compare_members, &levels);
	return list;
}

static void put_members(const struct text *t, uint32_t number)
{
	const struct ctp_mem *m = t->m;
	const struct ctp_mem_type *type = &m->types.type[number];
	const struct ctp_mem_member **list = sorted_members(m, type);
	uint32_t shown = list ? rows(t, type->nmembers, ROWS) : 0;
	char n[CTP_MEM_NUMBER_MAX], regions[CTP_MEM_NUMBER_MAX];
	putf(t->out, "\nMembers of ");
	ctp_mem_put_type(t->out, m, number);
	putf(t->out, ", %s each, in %s region%s\n", ctp_mem_bytes(n, type->element_size), ctp_mem_number(regions, type->regions),
	     plural(type->regions));
	put_heads(t, "    offset size", "name");
	for (uint32_t i = 0; i < shown; i++) {
		putf(t->out, " %9u %4u", list[i]->offset, list[i]->size);
		put_counts(t, &list[i]->counts);
		ctp_mem_put_name(t->out, ctp_mem_member_name(list[i]));
		put_rest(t, &list[i]->counts);
	}
	more(t, type->nmembers, shown, "offset");
	if (type->unplaced)
		putf(t->out, "  and %s at offsets that found no room\n", ctp_mem_number(n, type->unplaced));
	if (type->repeats)
		putf(t->out, "  an access counts for each member that it touches: all rows are %s more than the type\n",
		     ctp_mem_number(n, type->repeats));
	free(list);
}

static void put_structures(const struct text *t)
{
	uint32_t left = rows(t, t->m->ntypes, STRUCTURES);
	for (uint32_t i = 0; i < t->m->ntypes && left; i++)
		if (ctp_mem_members_are_parts(&t->m->types, t->m->by_cost[i])) {
			put_members(t, t->m->by_cost[i]);
			left--;
		}
}

/* Whether names of members are missed: numbers have none. */
static bool is_missed(const struct ctp_mem *m, uint32_t type)
{
	const struct ctp_mem_type *t = &m->types.type[type];
	bool named = t->name && (!strncmp(t->name, "struct", 6) || !strncmp(t->name, "class", 5) || !strncmp(t->name, "union", 5));
	bool missed = t->layout == CTP_LAYOUT_ABSENT || t->layout == CTP_LAYOUT_OTHER;
	if (!missed || !t->name || ctp_spelling_is_number(t->name))
		return false;
	return named || ctp_mem_members_are_parts(&m->types, type);
}

static void put_missed(const struct text *t)
{
	const struct ctp_mem *m = t->m;
	uint32_t n = 0, shown = 0;
	char bytes[CTP_MEM_NUMBER_MAX], number[CTP_MEM_NUMBER_MAX];
	for (uint32_t i = 0; i < m->ntypes; i++)
		n += is_missed(m, m->by_cost[i]);
	if (!n)
		return;
	putf(t->out, "\nTypes that are not in the debug information of ");
	ctp_mem_put_name(t->out, t->style->debug_info);
	putf(t->out, "\n");
	for (uint32_t i = 0, limit = rows(t, n, ROWS); shown < limit; i++) {
		const struct ctp_mem_type *type = &m->types.type[m->by_cost[i]];
		if (!is_missed(m, m->by_cost[i]))
			continue;
		putf(t->out, "  ");
		ctp_mem_put_type(t->out, m, m->by_cost[i]);
		putf(t->out, ", %s", ctp_mem_bytes(bytes, type->element_size));
		if (type->layout == CTP_LAYOUT_OTHER)
			putf(t->out, ": there it has %s", ctp_mem_number(number, type->other_size));
		if (type->near) {
			putf(t->out, ": perhaps ");
			ctp_mem_put_name(t->out, type->near);
		}
		putf(t->out, "\n");
		shown++;
	}
	more(t, n, shown, "type");
}

static void put_threads(const struct text *t)
{
	const struct ctp_mem *m = t->m;
	uint32_t shown = rows(t, m->nthreads, ROWS);
	if (m->nthreads < 2)
		return;
	putf(t->out, "\nThreads\n");
	put_heads(t, " ", "thread");
	for (uint32_t i = 0; i < shown; i++) {
		putf(t->out, " ");
		put_counts(t, &m->threads[i].counts);
		putf(t->out, "%ju", m->threads[i].id);
		put_rest(t, &m->threads[i].counts);
	}
	more(t, m->nthreads, shown, "thread");
}

static void put_regions(const struct text *t)
{
	const struct ctp_mem *m = t->m;
	uint32_t shown = rows(t, m->hot.n, ROWS);
	if (!m->hot.n)
		return;
	putf(t->out, "\nRegions, the dearest first%s\n", m->hot.n == CTP_HOT_REGIONS ? ", and 256 at most" : "");
	put_heads(t, " ", "region");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_region *r = &m->hot.hot[i].region;
		putf(t->out, " ");
		put_counts(t, &r->counts);
		putf(t->out, "0x%jx, %u x ", r->start, r->elements);
		ctp_mem_put_type(t->out, m, r->type);
		putf(t->out, "\n");
	}
	more(t, m->hot.n, shown, "region");
}

/* --- sharing ------------------------------------------------------------------------------------------------------------- */

static void put_place(const struct text *t, const struct ctp_sharing_place *p)
{
	const struct ctp_mem *m = t->m;
	const struct ctp_mem_member *member = ctp_mem_members_at(&m->types, p->type, p->offset);
	char n[2][CTP_MEM_NUMBER_MAX];
	putf(t->out, "     thread %ju, byte %u: %s write%s, %s read%s: ", m->threads[m->thread_at[p->thread]].id, p->byte,
	     ctp_mem_number(n[0], p->accesses[1]), plural(p->accesses[1]), ctp_mem_number(n[1], p->accesses[0]), plural(p->accesses[0]));
	ctp_mem_put_type(t->out, m, p->type);
	if (p->type != CTP_MEM_NONE)
		putf(t->out, " +%u%s", p->offset, *ctp_mem_member_name(member) ? " " : "");
	ctp_mem_put_name(t->out, ctp_mem_member_name(member));
	putf(t->out, "\n");
}

static void put_line(const struct text *t, const struct ctp_shared_line *l, uint32_t number)
{
	static const char *const verdicts[] = {
		[CTP_SHARING_FALSE] = "FALSE", [CTP_SHARING_TRUE] = "true", [CTP_SHARING_MIXED] = "true and FALSE", [CTP_SHARING_ONCE] = "no",
	};
	char n[CTP_MEM_HANDS_MAX], remedy[CTP_MEM_REMEDY_MAX];
	uint32_t shown = t->style->all || l->nplaces < PLACES ? l->nplaces : PLACES;
	putf(t->out, "%u. %s sharing at 0x%jx: changed hands %s; ", number, verdicts[ctp_sharing_verdict(l)], l->address, ctp_mem_hands(n, l));
	putf(t->out, "%u%s threads write\n", l->nwriters + l->more_writers, l->more_writers ? " or more" : "");
	for (uint32_t i = 0; i < shown; i++)
		put_place(t, &l->place[i]);
	if (l->nplaces > shown)
		putf(t->out, "     and at %u more places\n", l->nplaces - shown);
	if (ctp_mem_remedy(remedy, t->m, t->l, l)) {
		putf(t->out, "     ");
		ctp_mem_put_name(t->out, remedy);
		putf(t->out, " parts them\n");
	}
}

static void put_sharing(const struct text *t)
{
	const struct ctp_sharing *s = &t->m->sharing;
	char n[CTP_MEM_NUMBER_MAX];
	uint32_t often = 0, number = 0;
	for (uint32_t i = 0; i < s->nshared; i++)
		often += ctp_sharing_verdict(s->shared[i]) != CTP_SHARING_ONCE;
	if (!s->nshared)
		return;
	uint32_t shown = rows(t, often, LINES);
	putf(t->out, "\nLines of %u bytes that several threads write, the worst first\n", s->line);
	for (uint32_t i = 0; number < shown; i++)
		if (ctp_sharing_verdict(s->shared[i]) != CTP_SHARING_ONCE)
			put_line(t, s->shared[i], ++number);
	more(t, often, shown, "line");
	if (s->nshared > often)
		putf(t->out, "  %s line%s handed over, and no thread came back\n", ctp_mem_number(n, s->nshared - often),
		     s->nshared - often == 1 ? " was" : "s were");
}

void ctp_mem_text(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *l, const struct ctp_mem_style *style)
{
	struct text t = {out, m, l, style};
	put_total(&t);
	put_doubts(&t);
	put_caches(&t);
	put_types(&t);
	put_structures(&t);
	put_missed(&t);
	put_threads(&t);
	put_regions(&t);
	put_sharing(&t);
}
