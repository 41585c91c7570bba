/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Any bytes as CSV, to a stream and to the full form: that must not crash, and the result must be stable:
 * the full form is reproduced byte for byte, and none of its rows is rejected.
 * Covers: formats/csv formats/common
 */
#include "textmem.h"
#include "csv/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ctp_sink *sink(struct ctp_output *out, struct ctp_err *err)
{
	static const struct ctp_csv_options all = {.all = true};
	return ctp_csv_sink(out, &all, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct textmem stream, first, second;
	struct ctp_source_stats stats;
	struct ctp_err err;
	if (!textmem_from(ctp_csv_source("test", NULL, &err), data, size, &stream, &stats, &err))
		return 0;
	textmem_to(sink, &stream, &first);
	must(textmem_from(ctp_csv_source("test", NULL, &err), first.data, first.len, &stream, &stats, &err), err.text);
	must(!stats.rejected, "a row of the full form is rejected");
	textmem_to(sink, &stream, &second);
	must(first.len == second.len && !memcmp(first.data, second.data, first.len), "the full form is not reproduced");
	return 0;
}
