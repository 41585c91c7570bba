/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * mem.c - whatever is done to memory, ctp-mem's counts do not contradict each other, and each form in which they are printed is
 * valid. The first bytes are the caches and the form; each step after them is an access, a region or a
 * section. Covers: lib/memory formats/mem
 */
#include "textmem.h"
#include "cacheray/cacheray-classes.h"
#include "mem/mem-sink.h"
#include "mem/mem-svg.h"
#include "valid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NAME_MAX_BYTES = 40 };

struct feed {
	const uint8_t *p, *end;
	uint64_t ts;
	struct ctp_class *cls[CTP_CACHERAY_EVENTS];
	struct ctp_sink *sink;
	bool open;
	struct ctp_err err;
};

static uint8_t byte(struct feed *f) { return f->p < f->end ? *f->p++ : 0; }

/* Few addresses, so that regions overlap; and the edges. */
static uint64_t address(struct feed *f)
{
	static const uint64_t bases[] = {0, 0x1000, 0x7fff00000000, UINT64_MAX - 300, UINT64_C(1) << 63};
	uint8_t b = byte(f);
	return bases[b % 5] + byte(f) + (b & 0x80 ? 0x100 * byte(f) : 0);
}

static uint64_t number(struct feed *f)
{
	uint8_t b = byte(f);
	return b < 0xf0 ? b : UINT32_MAX >> 2 * (b & 15);
}

static struct ctp_str *name(struct feed *f)
{
	static struct {
		uint32_t len;
		char data[NAME_MAX_BYTES + 1];
	} text;
	text.len = byte(f) % NAME_MAX_BYTES;
	for (uint32_t i = 0; i < text.len; i++)
		text.data[i] = (char)byte(f);
	text.data[text.len] = '\0';
	return (struct ctp_str *)&text;
}

static void give(struct feed *f, enum ctp_cacheray_event event, const uint64_t *val, bool late)
{
	struct ctp_record rec = {.cls = f->cls[event], .val = val, .ts_ns = f->ts};
	struct ctp_batch batch = {.rec = &rec, .n = 1, .late = late};
	must(!f->sink->ops->records(f->sink, &batch, &f->err), f->err.text);
}

static void turn(struct feed *f, uint8_t how)
{
	static struct ctp_section sec;
	struct ctp_section_end end = {.complete = how & 1, .missing = how & 2};
	if (f->open)
		f->sink->ops->end(f->sink, &end, &f->err);
	f->sink->ops->section(f->sink, &sec, &f->err);
	f->open = true;
}

static void step(struct feed *f)
{
	uint8_t what = byte(f), how = byte(f);
	f->ts++;
	switch (what % 8) {
	case 0:
		give(f, CTP_CACHERAY_ADD, (uint64_t[CTP_ADD_FIELDS]){ [CTP_ADD_TS] = f->ts, [CTP_ADD_ADDRESS] = address(f),
			[CTP_ADD_THREAD] = how, [CTP_ADD_ELEMENT] = number(f), [CTP_ADD_COUNT] = number(f),
			[CTP_ADD_TYPE] = ctp_val_str(name(f)) }, how & 1);
		break;
	case 1:
		give(f, CTP_CACHERAY_REMOVE, (uint64_t[CTP_REMOVE_FIELDS]){ [CTP_REMOVE_TS] = f->ts, [CTP_REMOVE_ADDRESS] = address(f) }, false);
		break;
	case 2:
		if (how < 8)
			turn(f, how);
		else
			give(f, CTP_CACHERAY_DAMAGE, (uint64_t[CTP_DAMAGE_FIELDS]){ [CTP_DAMAGE_TS] = f->ts }, false);
		break;
	default:
		give(f, CTP_CACHERAY_ACCESS, (uint64_t[CTP_ACCESS_FIELDS]){ [CTP_ACCESS_TS] = f->ts, [CTP_ACCESS_ADDRESS] = address(f),
			[CTP_ACCESS_SIZE] = how >> 3, [CTP_ACCESS_THREAD] = what >> 3 & 7 ? what >> 3 & 7 : number(f),
			[CTP_ACCESS_OP] = how % 32 == 7 ? 2 : how & 1, [CTP_ACCESS_ATOMIC] = how >> 1 & 1,
			[CTP_ACCESS_UNALIGNED] = how >> 2 & 1 }, false);
	}
}

static void same(const struct ctp_mem_counts *a, const struct ctp_mem_counts *b, const char *what)
{
	must(!memcmp(a, b, sizeof *a), what);
}

/* A type is its spans; its members do not overlap, and count each access once, except repeats. */
static void check_type(const struct ctp_mem_types *types, const struct ctp_mem_type *t)
{
	struct ctp_mem_counts spans = {.atomics = 0};
	uint64_t touched = 0, end = 0;
	for (uint32_t i = 0; i < t->nspans; i++)
		ctp_mem_counts_add(&spans, &types->span[t->first_span + i].counts);
	same(&spans, &t->counts, "a type is not the sum of its spans");
	for (uint32_t i = 0; i < t->nmembers; i++) {
		const struct ctp_mem_member *m = &types->member[t->first + i];
		must(m->offset >= end && m->size && m->size <= t->element_size - m->offset && ctp_mem_accesses(&m->counts), "a member");
		end = m->offset + m->size;
		touched += ctp_mem_accesses(&m->counts);
	}
	must(touched == ctp_mem_accesses(&t->counts) + t->repeats, "a type is not the sum of its members");
}

static void check(const struct ctp_mem *m)
{
	struct ctp_mem_counts types = {.atomics = 0}, threads = types;
	const struct ctp_mem_facts *f = &m->facts;
	for (uint32_t i = 0; i < m->types.ntypes; i++) {
		if (i > CTP_MEM_OTHERS)
			check_type(&m->types, &m->types.type[i]);
		ctp_mem_counts_add(&types, &m->types.type[i].counts);
	}
	for (uint32_t i = 0; i < m->nthreads; i++)
		ctp_mem_counts_add(&threads, &m->threads[i].counts);
	same(&types, &m->all, "types");
	same(&threads, &m->all, "threads");
	must(f->added == f->removed + f->replaced + f->alive, "regions");
	for (unsigned i = 0; i < m->levels; i++) {
		const struct ctp_cache_counts *c = ctp_caches_counts(m->caches, i);
		for (int w = 0; w < 2; w++) {
			uint64_t before = i ? m->all.misses[i - 1][w] : m->all.accesses[w];
			must(c->hits[w] + c->misses[w] == before && c->misses[w] == m->all.misses[i][w], "a level");
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ctp_cache_shape shapes[] = {{64, 2, 32}, {192, 1, 64}, {1024, 4, 128}};
	static const struct ctp_mem_layouts none;
	static struct textmem text;
	struct feed f = {.p = data, .end = data + size};
	struct ctp_output out;
	uint8_t how = byte(&f);
	struct ctp_mem *m = ctp_mem_new(shapes, how & 3, how & 4, &f.err);
	struct ctp_mem_style style = {.json = how & 8, .all = how & 16, .top = how & 32 ? 1 : 0, .caches_from = "option"};
	must(m, f.err.text);
	textmem_open(&out);
	must((f.sink = ctp_mem_sink(m, &out, &style, &f.err)), f.err.text);
	for (unsigned i = 0; i < CTP_CACHERAY_EVENTS; i++) {
		must((f.cls[i] = ctp_cacheray_class(i)), "a class");
		f.cls[i]->id = i;
	}
	turn(&f, 0);
	while (f.p < f.end)
		step(&f);
	f.sink->ops->end(f.sink, &(struct ctp_section_end){.complete = true}, &f.err);
	must(!f.sink->ops->finish(f.sink, &f.err), f.err.text);
	check(m);
	textmem_take(&text);
	if (style.json)
		must(valid_jsonl((char *)text.data, text.len) == 1, "no JSON on a line");
	else
		valid_shown((char *)text.data, text.len);
	f.sink->ops->free(f.sink);
	textmem_open(&out);
	ctp_mem_svg(&out, m, &none, &style);
	must(!ctp_output_close(&out, &f.err), f.err.text);
	textmem_take(&text);
	valid_shown((char *)text.data, text.len);
	must(text.len > 7 && !memcmp(text.data + text.len - 7, "</svg>\n", 7), "the picture has no end");
	ctp_mem_free(m);
	for (unsigned i = 0; i < CTP_CACHERAY_EVENTS; i++)
		ctp_class_free(f.cls[i]);
	return 0;
}
