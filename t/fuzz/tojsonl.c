/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tojsonl.c - whatever records come, in whatever classes, each line of both forms is a JSON object, and the full form is read again
 * with nothing rejected.
 * Covers: formats/jsonl formats/common/json.c formats/common/template.c formats/common/meta.c
 */
#include "textmem.h"
#include "jsonl/jsonl.h"
#include "steps.h"
#include "valid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct textmem *text, bool all)
{
	static struct textmem stream;
	struct ctp_source_stats stats;
	struct ctp_err err;
	valid_jsonl((const char *)text->data, text->len);
	if (!all)
		return;
	must(textmem_from(ctp_jsonl_source("fuzz", &err), text->data, text->len, &stream, &stats, &err), err.text);
	valid_must(!stats.rejected, "a row of the full form is rejected", (const char *)text->data, text->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct textmem text;
	struct ctp_output out;
	struct steps s;
	steps_start(&s, data, size);
	bool all = steps_byte(&s) & 1;
	textmem_open(&out);
	struct ctp_sink *sink = ctp_jsonl_sink(&out, all, NULL, &s.err);
	must(sink, "no sink");
	steps_run(&s, sink);
	must(steps_finish(&s), s.err.text);
	textmem_take(&text);
	check(&text, all);
	steps_fini(&s);
	return 0;
}
