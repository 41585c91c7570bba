/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* mem-sink.c - see mem-sink.h. */
#include "mem/mem-sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mem/mem-svg.h"
#include "symbols/spelling.h"

struct mem_sink {
	struct ctp_sink sink;
	struct ctp_mem *mem;
	struct ctp_mem_style style;
	struct ctp_mem_layouts layouts;
	struct ctp_output *out; /* null: closed; so is the picture of the style */
};

static enum ctp_status begin(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct ctp_mem *mem = ((struct mem_sink *)sink)->mem;
	(void)err;
	ctp_mem_section(mem);
	mem->facts.filtered += sec->filtered;
	return CTP_OK;
}

static enum ctp_status take(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	return ctp_mem_records(((struct mem_sink *)sink)->mem, batch, err);
}

static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	(void)how, (void)err;
	ctp_mem_section_end(((struct mem_sink *)sink)->mem);
	return CTP_OK;
}

static enum ctp_status close_output(struct ctp_output **out, struct ctp_err *err)
{
	struct ctp_output *o = *out;
	*out = NULL;
	return ctp_output_close(o, err);
}

enum { NAMED = 6, NAME_MAX_SHOWN = 60 }; /* types of an error */

struct names {
	char text[NAMED * (NAME_MAX_SHOWN + 2) + 8];
	size_t len;
	uint32_t n;
};

/* The names of types that are near another, or are not; the dearest first. */
static void list_types(struct names *to, const struct ctp_mem *m, const char *type, bool near)
{
	char want[CTP_MEM_NAME_MAX], plain[CTP_MEM_NAME_MAX];
	ctp_spelling(want, sizeof want, type);
	for (uint32_t i = 0; i < m->ntypes && to->n <= NAMED; i++) {
		const char *name = m->types.type[m->by_cost[i]].name;
		if (!name || !*name)
			continue;
		ctp_spelling(plain, sizeof plain, name);
		if (ctp_spelling_is_near(want, plain) == near && to->n++ < NAMED)
			to->len += (size_t)snprintf(to->text + to->len, sizeof to->text - to->len, "%s%.*s", to->n > 1 ? ", " : "", NAME_MAX_SHOWN,
			                            name);
	}
}

/* The type of the picture is there, or the error names some that are: those that may be meant, then the dearest. */
static enum ctp_status check_type(const struct mem_sink *s, struct ctp_err *err)
{
	const struct ctp_mem *m = s->mem;
	struct names names = {.n = 0};
	for (uint32_t i = 0; i < m->ntypes; i++)
		if (ctp_mem_is_named(&m->types.type[m->by_cost[i]], s->style.svg_type))
			return CTP_OK;
	list_types(&names, m, s->style.svg_type, true);
	list_types(&names, m, s->style.svg_type, false);
	if (names.n > NAMED)
		snprintf(names.text + names.len, sizeof names.text - names.len, ", ...");
	return ctp_err_set(err, "no region of type %.*s; there %s%s", NAME_MAX_SHOWN, s->style.svg_type,
	                   names.n ? "are: " : "are none", names.text);
}

/* Damaged packets are among the missing ones, but for the last of a section. */
static void note_harm(struct ctp_mem_facts *f, const struct ctp_convert_stats *stats)
{
	const struct ctp_reader_stats *r = &stats->reader;
	f->harmed = stats->harmed;
	f->cut_short = r->cut_short;
	f->unread = r->skipped_records;
	f->missing = r->missing_packets > r->damaged_packets ? r->missing_packets - r->damaged_packets : 0;
}

static bool is_empty(const struct ctp_reader_stats *r) { return !r->packets && !r->damaged_packets && !r->skipped_bytes; }

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct mem_sink *s = (struct mem_sink *)sink;
	const struct ctp_mem_facts *f = &s->mem->facts;
	if (sink->stats)
		note_harm(&s->mem->facts, sink->stats);
	if (!f->sections && sink->stats && is_empty(&sink->stats->reader))
		return ctp_err_set(err, "there is nothing to count: not one byte of a stream, which ctp-fromcacheray makes of a trace");
	if (ctp_mem_end(s->mem, err))
		return CTP_FAILED;
	if (f->foreign && !f->added && !f->unmatched && !f->unknown && !ctp_mem_accesses(&s->mem->all))
		return ctp_err_set(err, "there are records, but none of memory: no class is cacheray_access; "
		                        "ctp-fromcacheray makes such a stream");
	if (s->style.svg_type && check_type(s, err))
		return CTP_FAILED;
	if (s->style.debug_info && ctp_mem_name(s->mem, &s->layouts, s->style.debug_info, err))
		return CTP_FAILED;
	errno = 0;
	if (s->style.svg && !ctp_mem_svg(s->style.svg, s->mem, &s->layouts, &s->style))
		return ctp_err_memory(err);
	if (ctp_memory_status(CTP_OK, "", err) || (s->style.svg && close_output(&s->style.svg, err)))
		return CTP_FAILED;
	errno = 0;
	(s->style.json ? ctp_mem_json : ctp_mem_text)(s->out, s->mem, &s->layouts, &s->style);
	return ctp_memory_status(CTP_OK, "", err) ? CTP_FAILED : close_output(&s->out, err);
}

static void release(struct ctp_sink *sink)
{
	struct mem_sink *s = (struct mem_sink *)sink;
	if (s->out)
		ctp_output_abandon(s->out);
	if (s->style.svg)
		ctp_output_abandon(s->style.svg);
	ctp_mem_layouts_fini(&s->layouts);
	free(s);
}

struct ctp_sink *ctp_mem_sink(struct ctp_mem *m, struct ctp_output *out, const struct ctp_mem_style *style, struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {.section = begin, .records = take, .end = end, .finish = finish, .free = release};
	struct mem_sink *s = calloc(1, sizeof *s);
	if (!s) {
		ctp_output_abandon(out);
		if (style->svg)
			ctp_output_abandon(style->svg);
		ctp_err_memory(err);
		return NULL;
	}
	*s = (struct mem_sink){.sink = {.ops = &ops, .made_by = "pipe a trace of Cacheray through ctp-fromcacheray"}, .mem = m, .style = *style, .out = out};
	return &s->sink;
}
