/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * Any bytes as JSONL, to a stream and to the full form: that must not crash, and the result must be stable:
 * the full form is reproduced byte for byte, and none of its rows is rejected.
 * Covers: formats/jsonl formats/common/json.c formats/common/template.c formats/common/intake.c
 */
#include "textmem.h"
#include "jsonl/jsonl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ctp_sink *sink(struct ctp_output *out, struct ctp_err *err) { return ctp_jsonl_sink(out, true, NULL, err); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct textmem stream, first, second;
	struct ctp_source_stats stats;
	struct ctp_err err;
	bool done = textmem_from(ctp_jsonl_source("fuzz", &err), data, size, &stream, &stats, &err);
	/* The only failure is an input that is something else. */
	if (!done && strstr(err.text, "is CSV"))
		return 0;
	must(done, err.text);
	textmem_to(sink, &stream, &first);
	must(textmem_from(ctp_jsonl_source("fuzz", &err), first.data, first.len, &stream, &stats, &err), err.text);
	must(!stats.rejected, "a row of the full form is rejected");
	textmem_to(sink, &stream, &second);
	must(first.len == second.len && !memcmp(first.data, second.data, first.len), "the full form is not reproduced");
	return 0;
}
