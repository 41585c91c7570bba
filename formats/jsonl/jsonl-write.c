/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* jsonl-write.c - a sink that writes JSONL; see jsonl.h for the form. */
#include "jsonl/jsonl.h"

#include <stdlib.h>

#include "common/json.h"
#include "common/meta.h"
#include "symbols/place-texts.h"

struct jsonl_sink {
	struct ctp_sink sink;
	struct ctp_output *out;
	bool all, symbols;
	struct ctp_place_texts *texts; /* null in the plain form */
	struct ctp_templates classes;
};

static void put(struct ctp_output *out, const char *text) { ctp_output_put(out, text, strlen(text)); }

/* Writes `before`, a text of meta.h without its first `skip` bytes, and `after`; frees the text. */
static enum ctp_status put_meta(struct jsonl_sink *s, const char *before, char *text, size_t skip, size_t len, const char *after,
                                struct ctp_err *err)
{
	if (!text)
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", s->out->name);
	put(s->out, before);
	ctp_output_put(s->out, text + skip, len - skip);
	put(s->out, after);
	free(text);
	return ctp_output_status(s->out, err);
}

/* --- sections ------------------------------------------------------------------------------------------------------------ */

static enum ctp_status write_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	ctp_templates_forget(&s->classes);
	if (!s->all)
		return ctp_output_status(s->out, err);
	ctp_place_texts_forget(s->texts);
	size_t len;
	char *attrs = ctp_meta_attrs(sec, &len);
	return put_meta(s, "{\"type\":\"@section\",\"attrs\":", attrs, 0, len, "}\n", err);
}

static enum ctp_status write_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	if (s->all)
		put(s->out, end->complete ? "{\"type\":\"@end\",\"complete\":true}\n" : "{\"type\":\"@end\",\"complete\":false}\n");
	return ctp_output_status(s->out, err);
}

/* --- records ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status declare(struct jsonl_sink *s, struct ctp_templates_class *c, struct ctp_err *err)
{
	size_t len;
	char *text = ctp_meta_class(c->cls, &len);
	ctp_templates_declare(&s->classes, c);
	return put_meta(s, "{\"type\":\"@schema\",", text, 1, len, "\n", err);
}

static enum ctp_status add_class(struct jsonl_sink *s, struct ctp_templates_class *c, const struct ctp_class *cls, struct ctp_err *err)
{
	c->cls = cls;
	c->row = ctp_jsonl_template(cls, s->all, s->symbols, s->texts);
	return c->row ? CTP_OK : ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", s->out->name);
}

static enum ctp_status write_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	for (const struct ctp_record *rec = batch->rec, *end = rec + batch->n, *next; rec < end; rec = next) {
		struct ctp_templates_class *c = &s->classes.of[rec->cls->id];
		next = ctp_templates_run(rec, end);
		if (!s->all && rec->cls->kind != CTP_KIND_TRANSITION)
			continue;
		if (!c->cls && add_class(s, c, rec->cls, err))
			return CTP_FAILED;
		if (s->all && !c->declared && declare(s, c, err))
			return CTP_FAILED;
		ctp_template_put(c->row, s->out, rec, (uint32_t)(next - rec), batch->late);
	}
	return ctp_output_status(s->out, err);
}

static enum ctp_status flush(struct ctp_sink *sink, struct ctp_err *err)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	ctp_output_flush(s->out);
	return ctp_output_status(s->out, err);
}

/* --- begin and end ------------------------------------------------------------------------------------------------------- */

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	return ctp_output_close(s->out, err);
}

static void free_sink(struct ctp_sink *sink)
{
	struct jsonl_sink *s = (struct jsonl_sink *)sink;
	ctp_templates_forget(&s->classes);
	ctp_place_texts_free(s->texts);
	ctp_output_abandon(s->out);
	free(s);
}

static const struct ctp_sink_ops ops = {
	.section = write_section,
	.records = write_records,
	.flush = flush,
	.end = write_end,
	.finish = finish,
	.free = free_sink,
};

struct ctp_sink *ctp_jsonl_sink(struct ctp_output *out, bool all, struct ctp_symbols *symbols, struct ctp_err *err)
{
	_Static_assert(CTP_JSON_GROWTH * CTP_SITE_TEXT_MAX + 2 <= CTP_SITE_SPELLED_MAX, "a place's text, quoted, has room");
	struct jsonl_sink *s = calloc(1, sizeof *s);
	struct ctp_place_texts *texts = all ? ctp_place_texts_new(ctp_json_quote, symbols) : NULL;
	if (!s || (all && !texts)) {
		ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", out->name);
		ctp_output_abandon(out);
		ctp_place_texts_free(texts);
		free(s);
		return NULL;
	}
	s->sink.ops = &ops;
	s->sink.others_by = all ? NULL : "-a shows them";
	s->out = out;
	s->all = all;
	s->symbols = symbols;
	s->texts = texts;
	return &s->sink;
}
