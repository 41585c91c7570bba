/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * tocsv.c - whatever records come, in whatever classes, each form is CSV with as many columns in each row, no text of a guarded one
 * looks like a formula, and the full form is read again with nothing rejected.
 * Covers: formats/csv/csv-write.c formats/csv/csv.c formats/common/template.c formats/common/spool.c formats/common/meta.c
 */
#include "textmem.h"
#include "csv/csv.h"
#include "steps.h"
#include "valid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct textmem *text, const struct ctp_csv_options *options)
{
	static struct textmem stream;
	struct ctp_source_stats stats;
	struct ctp_err err;
	valid_csv((const char *)text->data, text->len, options->guard);
	if (!options->all || options->guard || options->wall)
		return;
	must(textmem_from(ctp_csv_source("fuzz", NULL, &err), text->data, text->len, &stream, &stats, &err), err.text);
	valid_must(!stats.rejected, "a row of the full form is rejected", (const char *)text->data, text->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct textmem text;
	char name[CTP_NAME_MAX + 1];
	struct ctp_output out;
	struct steps s;
	steps_start(&s, data, size);
	uint8_t how = steps_byte(&s);
	struct ctp_csv_options options = {.all = how & 1, .guard = how & 2, .wall = how & 4};
	options.class_name = !options.all && how & 8 ? steps_name(&s, name) : NULL;
	textmem_open(&out);
	struct ctp_sink *sink = ctp_csv_sink(&out, &options, &s.err);
	must(sink, "no sink");
	steps_run(&s, sink);
	if (steps_finish(&s)) {
		textmem_take(&text);
		check(&text, &options);
	} else {
		must(options.wall || options.class_name, s.err.text);
	}
	steps_fini(&s);
	return 0;
}
