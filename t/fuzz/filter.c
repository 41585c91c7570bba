/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * filter.c - whatever records come, in whatever classes, and whatever is selected: the result is a whole stream with the same
 * sections, its end counts what is there, a report can be made of it, and it has all records if nothing is selected.
 * Covers: formats/filter
 */
#include "textmem.h"
#include "analyse/analysis.h"
#include "analyse/stat.h"
#include "filter/filter-finding.h"
#include "filter/filter.h"
#include "steps.h"
#include "stream/order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	uint64_t sum, records; /* of all sections, as they came */
} whole;

static void add_section(struct steps *s)
{
	whole.sum += s->sum;
	whole.records += s->records;
}

static void check_copy(const struct textmem *stream)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_item item;
	uint64_t sum = 0, records = 0;
	ctp_input_mem(&in, stream->data, stream->len);
	struct ctp_reader *r = ctp_reader_new(&in, NULL, &err);
	while (!ctp_reader_next(r, &item, &err))
		for (uint32_t i = 0; item.kind == CTP_ITEM_RECORDS && i < item.batch.n; i++, records++)
			sum += steps_record_hash(item.batch.rec[i].cls, item.batch.rec[i].val);
	must(sum == whole.sum && records == whole.records, "a record is left out, or has changed");
	ctp_reader_free(r);
	ctp_input_close(&in);
}

static void check_stat(const struct textmem *stream, uint64_t sections, bool filtered)
{
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_stat *stat = ctp_stat_new(&err);
	ctp_input_mem(&in, stream->data, stream->len);
	in.name = "x";
	must(stat && !ctp_stat_read(stat, &in, NULL, NULL, &err), err.text);
	must(stat->nsections == sections && !stat->reader.damaged_packets, "the stream is not whole");
	must(!filtered || (stat->nfiltered == sections && !stat->all.unseen), "the end counts more than there is");
	ctp_stat_free(stat);
}

static const struct ctp_analysis_options no_symbols = {.no_symbols = true};

/* A report of the stream, to be freed. */
static struct ctp_filter_report *report_of(const struct textmem *stream, struct ctp_filter_anon *anon)
{
	struct ctp_convert_stats stats = {0};
	struct ctp_err err;
	struct ctp_input in;
	struct ctp_filter_report *r = ctp_filter_report_new(&no_symbols, anon, &err);
	must(r, "no report");
	ctp_input_mem(&in, stream->data, stream->len);
	in.name = "x";
	must(!ctp_convert(&in, ctp_filter_report_sink(r), NULL, NULL, &stats, &err), err.text);
	ctp_input_close(&in);
	return r;
}

static void check_report(const struct textmem *stream)
{
	struct ctp_filter_report *r = report_of(stream, NULL);
	const struct ctp_report *report = ctp_filter_report_of(r);
	for (uint32_t i = 0; i < report->nsections; i++)
		for (uint32_t k = 0; k < report->sections[i].nfindings; k++)
			must(!ctp_rule_needs_clock(report->sections[i].findings[k].rule) || !report->sections[i].filtered,
			     "a finding rests on what was left out");
	ctp_filter_report_free(r);
}

/* What is cut out with a finding has it, with or without names. */
static void check_finding(const struct textmem *whole_stream, bool anonymise)
{
	static struct textmem part;
	struct ctp_filter_stats stats = {0};
	struct ctp_convert_stats read = {0};
	struct ctp_filter_finding f;
	struct ctp_output out;
	struct ctp_input in;
	struct ctp_err err;
	struct ctp_filter_anon *anon = anonymise ? ctp_filter_anon_new(&err) : NULL;
	struct ctp_filter_report *r = report_of(whole_stream, anon);
	if (!ctp_filter_finding_get(&f, r, 1, 1, 0, &err)) {
		bool clock = !ctp_filter_report_of(r)->sections->ordinal; /* without one there is no --around */
		const struct ctp_filter_options options = {
			.coros = {f.coros, f.ncoros}, .section = f.section, .finding = f.finding, .anon = anon,
			.anonymise = anonymise, .absolute = clock, .since_ns = clock ? f.from_ns : 0, .no_symbols = true, .said = "x",
		};
		textmem_open(&out);
		struct ctp_sink *sink = ctp_filter_sink(&out, &options, &stats, &err);
		ctp_input_mem(&in, whole_stream->data, whole_stream->len);
		in.name = "x";
		must(sink && !ctp_convert(&in, sink, NULL, NULL, &read, &err) && !sink->ops->finish(sink, &err), err.text);
		sink->ops->free(sink);
		ctp_input_close(&in);
		textmem_take(&part);
		struct ctp_filter_report *again = report_of(&part, NULL);
		const struct ctp_report_section *s = ctp_filter_report_of(again)->sections;
		const struct ctp_finding *g;
		bool found = !f.finding;
		for (uint32_t i = 0; !found && (g = ctp_report_finding(s, i)); i++)
			found = !strcmp(g->title, f.finding->title);
		must(found, "the finding is not in the part");
		ctp_filter_report_free(again);
		ctp_filter_finding_fini(&f);
	}
	ctp_filter_report_free(r);
	ctp_filter_anon_free(anon);
}

/* Options by the bits of two bytes; the lists are of small numbers, as the steps have them. */
static struct ctp_filter_options options_of(struct steps *s)
{
	static const uint64_t numbers[] = {1, 2, 5}, starts[] = {20000000, 1};
	static const char *const patterns[] = {"index*", "a*", "*"};
	uint8_t coros = steps_byte(s), records = steps_byte(s);
	struct ctp_filter_options o = {.no_symbols = true, .descendants = coros & 16, .anonymise = coros & 32, .said = "x",
	                               .origin = coros & 64 ? 1 : 0};
	o.coros.list = o.processes.list = o.threads.list = numbers;
	o.spawns.list = o.names.list = o.places.list = o.classes.list = patterns;
	o.coros.n = coros & 1 ? 2 : 0;
	o.processes.n = coros & 2 ? 1 : 0;
	o.spawns.n = coros & 4 ? 2 : 0;
	o.names.n = coros & 8 ? 3 : 0;
	o.threads.n = records & 1 ? 2 : 0;
	o.classes.n = records & 2 ? 2 : 0;
	o.places.n = records & 4 ? 3 : 0;
	o.states = records >> 3 & 3;
	o.since_ns = records & 32 ? 20000000 : 0;
	o.until_ns = records & 64 ? 2000000000 : 0;
	o.absolute = records & 128;
	o.starts = (struct ctp_filter_numbers){starts, o.absolute ? 2 : 0};
	if (!(coros & 95) && !records)
		o.said = NULL;
	return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct textmem stream;
	struct ctp_filter_stats stats = {0};
	struct ctp_output out;
	struct steps s;
	steps_start(&s, data, size);
	const struct ctp_filter_options options = options_of(&s);
	whole.sum = whole.records = 0;
	s.ended = add_section;
	textmem_open(&out);
	struct ctp_sink *sink = ctp_filter_sink(&out, &options, &stats, &s.err);
	must(sink, "no sink");
	steps_run(&s, sink);
	uint64_t sections = s.sections;
	if (steps_finish(&s)) {
		textmem_take(&stream);
		must(stats.taken == whole.records, "a record was not taken");
		check_stat(&stream, sections, options.said);
		check_report(&stream);
		if (!options.said)
			check_finding(&stream, size & 1);
		if (!options.said && !options.anonymise)
			check_copy(&stream);
	} else {
		must(options.since_ns || options.starts.n || options.until_ns || options.origin, s.err.text); /* a section has no clock, or no origins */
	}
	steps_fini(&s);
	return 0;
}
