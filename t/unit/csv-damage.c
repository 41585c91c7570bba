/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * A small file of the full form, cut at every byte and with every byte changed: nothing crashes, a cut is noticed, and what was
 * read is reproduced.
 */
#include "csv/csv.h"
#include "tap.h"
#include "textmem.h"

static const char whole[] =
	"type,ts,n,text,odd,late,@meta\n"
	"@section,,,,,,\"{\"\"host\"\":\"\"a, b\"\",\"\"argv\"\":[\"\"x\"\",\"\"\"\"],\"\"wall_offset_ns\"\":\"\"17\"\"}\"\n"
	"@schema,,,,,,\"{\"\"name\"\":\"\"thing\"\",\"\"kind\"\":\"\"other\"\",\"\"fields\"\":[{\"\"name\"\":\"\"ts\"\",\"\"type\"\":\"\"u64\"\",\"\"role\"\":\"\"time\"\"},"
	"{\"\"name\"\":\"\"text\"\",\"\"type\"\":\"\"string\"\"},{\"\"name\"\":\"\"n\"\",\"\"type\"\":\"\"i16\"\"}]}\"\n"
	"thing,1,-5,\"a \"\"text\"\", on\ntwo lines\",,,\n"
	"thing,2,32767,,,,\n"
	"thing,3,0,plain,,true,\n"
	"@schema,,,,,,\"{\"\"name\"\":\"\"other\"\",\"\"kind\"\":\"\"other\"\",\"\"fields\"\":[{\"\"name\"\":\"\"odd\"\",\"\"type\"\":\"\"enum\"\",\"\"labels\"\":{\"\"a,\"\":1}}]}\"\n"
	"other,,,,\"a,\",,\n"
	"other,,,,2,,\n"
	"@end,,,,,,true\n";
enum { RECORDS = 5, ROWS = 10, SIZE = sizeof whole - 1 };

static struct ctp_sink *sink(struct ctp_output *out, struct ctp_err *err)
{
	static const struct ctp_csv_options all = {.all = true};
	return ctp_csv_sink(out, &all, err);
}

int main(void)
{
	struct textmem stream = {0}, text = {0};
	struct ctp_source_stats stats;
	struct ctp_err err;
	bool done = textmem_from(ctp_csv_source("test", NULL, &err), whole, SIZE, &stream, &stats, &err);
	ok(done && stats.accepted == RECORDS && !stats.rejected && !stats.harmed, "the intact file is read completely");

	const char *header_end = strchr(whole, '\n');
	bool noticed = true, grows = true;
	uint64_t last = 0;
	for (size_t cut = (size_t)(header_end + 1 - whole); cut < SIZE - 1; cut++) {
		char *copy = malloc(cut); /* of its size, so that ASan sees a read beyond the end */
		memcpy(copy, whole, cut);
		done = textmem_from(ctp_csv_source("test", NULL, &err), copy, cut, &stream, &stats, &err);
		/* A cut right after the header cannot be noticed. */
		noticed &= !done || stats.harmed || copy + cut == strchr(copy, '\n') + 1;
		grows &= !done || stats.accepted >= last;
		last = stats.accepted;
		free(copy);
	}
	ok(noticed, "each cut is noticed");
	ok(grows, "a later cut never gives fewer records");

	static const char others[] = "\",\n\r x0@{\0\xff";
	bool bounded = true, survived = true;
	char *copy = malloc(SIZE);
	for (size_t at = 0; at < SIZE; at++) {
		memcpy(copy, whole, SIZE);
		copy[at] = others[at % (sizeof others - 1)];
		if (!textmem_from(ctp_csv_source("test", NULL, &err), copy, SIZE, &stream, &stats, &err))
			continue;
		bounded &= stats.accepted <= ROWS + 1;
		if (at % 8)
			continue;
		textmem_to(sink, &stream, &text);
		survived &= textmem_from(ctp_csv_source("test", NULL, &err), text.data, text.len, &stream, &stats, &err) && !stats.rejected;
	}
	ok(bounded, "a changed byte never gives more records than there are rows");
	ok(survived, "what was read can be written as CSV and read again, without a rejected row");
	free(copy);
	free(stream.data);
	free(text.data);
	return done_testing();
}
