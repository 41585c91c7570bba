/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-json.c - memory's counts for programs. */
#include "mem/mem-print.h"

#include "common/json.h"
#include "memory/mem-members.h"
#include "memory/mem-remedy.h"

#define putf ctp_output_putf

enum { LINES = 1024 }; /* shared ones that are listed, unless all are wanted */

static void put_text(struct ctp_output *out, const char *text) { ctp_json_put(out, text, strlen(text)); }

static void put_counts(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_counts *c)
{
	putf(out, "\"reads\":%ju,\"writes\":%ju,\"atomics\":%ju,\"unaligned\":%ju,\"straddles\":%ju,\"misses\":[", c->accesses[0],
	     c->accesses[1], c->atomics, c->unaligned, c->straddles);
	for (unsigned i = 0; i < m->levels; i++)
		putf(out, "%s{\"reads\":%ju,\"writes\":%ju}", i ? "," : "", c->misses[i][0], c->misses[i][1]);
	putf(out, "],\"cost\":%ju", ctp_mem_cost(c, m->levels));
}

static void put_type(struct ctp_output *out, const struct ctp_mem *m, uint32_t type)
{
	const struct ctp_mem_type *t = &m->types.type[type];
	putf(out, "\"type\":");
	if (t->name)
		ctp_json_put(out, t->name, t->name_len);
	else
		putf(out, type == CTP_MEM_NONE ? "null" : "null,\"others\":true");
}

static void put_facts(struct ctp_output *out, const struct ctp_mem *m)
{
	const struct ctp_mem_facts *f = &m->facts;
	putf(out, "\"sections\":%ju,\"filtered\":%ju,\"complete\":%s,\"losses\":%ju,\"lost\":%ju,\"late\":%ju,\"unknown\":%ju,", f->sections, f->filtered,
	     ctp_mem_is_complete(m) ? "true" : "false", f->losses, ctp_mem_lost(m), f->late, f->unknown);
	put_counts(out, m, &m->all);
	putf(out, ",\"regions\":{\"added\":%ju,\"removed\":%ju,\"replaced\":%ju,\"unmatched_removes\":%ju,\"empty\":%ju,"
	          "\"refused\":%ju,\"alive\":%ju,\"most_alive\":%ju}", f->added, f->removed, f->replaced, f->unmatched, f->empty,
	     f->refused, f->alive, f->most_alive);
}

static void put_caches(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_style *style)
{
	putf(out, ",\"caches_from\":");
	put_text(out, style->caches_from);
	putf(out, ",\"caches\":[");
	for (unsigned i = 0; i < m->levels; i++) {
		const struct ctp_cache_shape *s = ctp_caches_shape(m->caches, i);
		const struct ctp_cache_counts *c = ctp_caches_counts(m->caches, i);
		putf(out, "%s{\"size\":%ju,\"ways\":%u,\"line\":%u,\"private\":%s,", i ? "," : "", s->size, s->ways, s->line,
		     ctp_caches_own(m->caches, i) ? "true" : "false");
		putf(out, "\"read_hits\":%ju,\"read_misses\":%ju,\"write_hits\":%ju,\"write_misses\":%ju,\"write_backs\":%ju,"
		          "\"invalidated\":%ju,\"taken_misses\":%ju}", c->hits[0], c->misses[0], c->hits[1], c->misses[1], c->write_backs,
		     c->invalidated, c->taken);
	}
	putf(out, "],\"memory_writes\":%ju", m->levels ? ctp_caches_memory_writes(m->caches) : 0);
}

static void put_name(struct ctp_output *out, const struct ctp_mem_member *member)
{
	if (member && member->padding)
		putf(out, "\"padding\":true,");
	if (!member || !member->name)
		return;
	putf(out, "\"name\":");
	put_text(out, member->name);
	putf(out, ",");
}

static void put_member(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_member *member)
{
	putf(out, "{\"offset\":%u,\"size\":%u,", member->offset, member->size);
	put_name(out, member);
	put_counts(out, m, &member->counts);
	putf(out, "}");
}

static void put_layout(struct ctp_output *out, const struct ctp_mem_type *t)
{
	static const char *const words[] = {
		[CTP_LAYOUT_FOUND] = "found", [CTP_LAYOUT_ABSENT] = "absent", [CTP_LAYOUT_OTHER] = "other_size",
	};
	if (t->layout)
		putf(out, ",\"debug_info\":\"%s\"", words[t->layout]);
}

static void put_types(struct ctp_output *out, const struct ctp_mem *m)
{
	putf(out, ",\"types\":[");
	for (uint32_t i = 0; i < m->ntypes; i++) {
		const struct ctp_mem_type *t = &m->types.type[m->by_cost[i]];
		putf(out, i ? ",{" : "{");
		put_type(out, m, m->by_cost[i]);
		putf(out, ",\"element_size\":%u,\"regions\":%ju,", t->element_size, t->regions);
		put_counts(out, m, &t->counts);
		put_layout(out, t);
		putf(out, ",\"unplaced\":%ju,\"repeats\":%ju,\"members\":[", t->unplaced, t->repeats);
		for (uint32_t k = 0; k < t->nmembers; k++) {
			putf(out, k ? "," : "");
			put_member(out, m, &m->types.member[t->first + k]);
		}
		putf(out, "]}");
	}
	putf(out, "]");
}

static void put_threads(struct ctp_output *out, const struct ctp_mem *m)
{
	putf(out, ",\"threads\":[");
	for (uint32_t i = 0; i < m->nthreads; i++) {
		putf(out, "%s{\"thread\":%ju,", i ? "," : "", m->threads[i].id);
		put_counts(out, m, &m->threads[i].counts);
		putf(out, "}");
	}
	putf(out, "],\"other_threads\":%ju", m->facts.other_threads);
}

static void put_hot(struct ctp_output *out, const struct ctp_mem *m)
{
	putf(out, ",\"hot_regions\":[");
	for (uint32_t i = 0; i < m->hot.n; i++) {
		const struct ctp_region *r = &m->hot.hot[i].region;
		putf(out, "%s{\"address\":\"0x%016jx\",", i ? "," : "", r->start);
		put_type(out, m, r->type);
		putf(out, ",\"element_size\":%u,\"count\":%u,\"added\":%ju,", r->element_size, r->elements, r->added);
		if (m->hot.hot[i].alive)
			putf(out, "\"removed\":null,");
		else
			putf(out, "\"removed\":%ju,", r->removed);
		put_counts(out, m, &r->counts);
		putf(out, "}");
	}
	putf(out, "]");
}

static void put_line(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *layouts,
                     const struct ctp_shared_line *l)
{
	char remedy[CTP_MEM_REMEDY_MAX];
	const uint64_t *h = l->handovers;
	putf(out, "{\"address\":\"0x%016jx\",\"section\":%u,\"verdict\":\"%s\",\"alternations\":%ju,", l->address, l->section,
	     ctp_sharing_verdict_name(ctp_sharing_verdict(l)), l->alternations);
	putf(out, "\"handovers\":{\"first\":%ju,\"needed\":%ju,\"needless\":%ju,\"others\":%ju},\"writers\":[", h[CTP_HANDOVER_FIRST],
	     h[CTP_HANDOVER_NEEDED], h[CTP_HANDOVER_NEEDLESS], h[CTP_HANDOVER_OTHER]);
	for (uint32_t i = 0; i < l->nwriters; i++)
		putf(out, "%s%ju", i ? "," : "", m->threads[m->thread_at[l->writer[i]]].id);
	putf(out, "],\"more_writers\":%s,\"places\":[", l->more_writers ? "true" : "false");
	for (uint32_t i = 0; i < l->nplaces; i++) {
		const struct ctp_sharing_place *p = &l->place[i];
		putf(out, "%s{\"thread\":%ju,\"byte\":%u,", i ? "," : "", m->threads[m->thread_at[p->thread]].id, p->byte);
		put_type(out, m, p->type);
		putf(out, ",\"element_size\":%u,\"offset\":%u,", m->types.type[p->type].element_size, p->offset);
		put_name(out, ctp_mem_members_at(&m->types, p->type, p->offset));
		putf(out, "\"reads\":%ju,\"writes\":%ju}", p->accesses[0], p->accesses[1]);
	}
	putf(out, "],\"unplaced\":%ju", l->unplaced);
	if (ctp_mem_remedy(remedy, m, layouts, l)) {
		putf(out, ",\"remedy\":");
		put_text(out, remedy);
	}
	putf(out, "}");
}

static void put_sharing(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *l, bool all)
{
	const struct ctp_sharing *s = &m->sharing;
	putf(out, ",\"sharing\":{\"line\":%u,\"shared\":%u,\"unknown\":%ju,\"unkept\":%ju,\"lines\":[", s->line, s->nshared, s->unknown,
	     s->unkept);
	for (uint32_t i = 0; i < s->nshared && (all || i < LINES); i++) {
		putf(out, i ? "," : "");
		put_line(out, m, l, s->shared[i]);
	}
	putf(out, "]}");
}

void ctp_mem_json(struct ctp_output *out, const struct ctp_mem *m, const struct ctp_mem_layouts *l, const struct ctp_mem_style *style)
{
	putf(out, "{");
	put_facts(out, m);
	put_caches(out, m, style);
	put_types(out, m);
	put_threads(out, m);
	put_hot(out, m);
	put_sharing(out, m, l, style->all);
	putf(out, "}\n");
}
