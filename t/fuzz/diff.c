/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff.c - whatever records come, in whatever classes, in a stream from before a change and one from after it, ctp-diff counts each
 * resume in one group, judges only what it may, and each form in which it prints is valid. Before the records of an
 * input come births at up to 765 sites, because groups that are many are in arrays that move.
 * Covers: formats/diff
 */
#include "textmem.h"
#include "diff/diff-folded.h"
#include "diff/diff-print.h"
#include "steps.h"
#include "valid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct side {
	const uint8_t *data;
	size_t len;
	uint32_t sites; /* how many births come before its records */
	enum ctp_diff_side side;
};

/* A record with these numbers, and the texts "x". */
static void record(struct steps *s, enum ctp_event event, const uint64_t *numbers, uint32_t n)
{
	static _Alignas(struct ctp_str) char room[sizeof(struct ctp_str) + 2];
	struct ctp_str *text = (struct ctp_str *)room;
	struct ctp_record rec = {.cls = s->classes[event], .val = s->val, .ts_ns = s->last_ns};
	text->len = 1;
	text->data[0] = 'x';
	for (uint32_t i = 0; i < rec.cls->nfields; i++) {
		bool is_text = ctp_type_is_text(rec.cls->fields[i].type);
		s->val[i] = is_text ? ctp_val_str(text) : i < n ? numbers[i] : 0;
	}
	s->failed |= s->sink->ops->records(s->sink, &(struct ctp_batch){.rec = &rec, .n = 1}, &s->err);
}

/* A function with many lines: each is a site. */
static void add_sites(struct steps *s, uint32_t n)
{
	for (uint32_t i = 0; i < n && !s->failed; i++) {
		uint64_t site[CTP_SITE_FIELDS] = {[CTP_SITE_ID] = 300 + i, [CTP_SITE_LINE] = i};
		uint64_t birth[CTP_BIRTH_FIELDS] = {[CTP_BIRTH_CORO] = 300 + i, [CTP_BIRTH_SITE] = 300 + i};
		record(s, CTP_PLACE, site, CTP_SITE_FIELDS);
		record(s, CTP_BIRTH, birth, CTP_BIRTH_FIELDS);
	}
}

/* False: the sink has failed, and says why. */
static bool run(const struct side *from, struct ctp_sink *sink)
{
	struct steps s;
	steps_start(&s, from->data, from->len);
	s.sink = sink;
	must(sink, "no sink");
	steps_begin(&s);
	add_sites(&s, from->sites);
	steps_end(&s, 1);
	steps_run(&s, sink);
	bool done = steps_finish(&s);
	must(done || s.err.text[0], "it fails without a reason");
	steps_fini(&s);
	return done;
}

/* Before groups are joined: what a run counts as a whole is in its groups. */
static void check_counts(const struct ctp_diff *d)
{
	for (uint32_t i = 0; i < d->nruns; i++) {
		const struct ctp_diff_run *run = &d->runs[i];
		uint64_t resumes = 0;
		for (size_t k = 0; k < d->ngroups; k++) {
			const struct ctp_diff_group *g = &d->groups[k];
			if (g->run != i)
				continue;
			resumes += g->key.kind == CTP_DIFF_PLACE ? g->count : 0;
			must(g->key.kind != CTP_DIFF_LOSS && g->key.kind != CTP_DIFF_OTHERS, "a group of no kind");
		}
		must(run->crowded || resumes == run->resumes, "resumes are in no group");
	}
}

static void check_sample(const struct ctp_diff *d, const struct ctp_diff_sample *s, unsigned side)
{
	must(s->n + s->left_out <= d->sides[side], "more numbers than runs");
	for (uint32_t i = 1; i < s->n; i++)
		must(s->values[i - 1] <= s->values[i], "not sorted");
	must(!s->n || (s->low <= s->median && s->median <= s->high), "the median is no median");
}

static void check_rows(const struct ctp_diff *d)
{
	uint32_t shown = 0;
	for (size_t i = 0; i < d->nrows; i++) {
		const struct ctp_diff_row *row = &d->rows[i];
		for (unsigned side = 0; side < CTP_DIFF_SIDES; side++)
			check_sample(d, &row->side[side], side);
		must(row->p >= 0 && row->p <= 1 && row->adjusted >= 0, "a probability");
		bool is_shown = row->verdict >= CTP_DIFF_LESS;
		must(!is_shown || (!row->small && row->adjusted <= CTP_DIFF_ALPHA), "a difference without a proof");
		shown += is_shown;
	}
	must(shown == d->shown, "differences that are not counted");
}

static void check_text(const struct ctp_diff *d, enum ctp_report_format format, uint8_t how)
{
	static struct textmem mem;
	struct ctp_output out;
	struct ctp_err err;
	const struct ctp_report_style style = {.format = format, .all = how & 1, .top = how & 2 ? 1 : 0};
	textmem_open(&out);
	if (format == CTP_REPORT_AS_JSON)
		ctp_diff_print_json(&out, d);
	else
		ctp_diff_print(&out, d, &style);
	must(!ctp_output_close(&out, &err), err.text);
	textmem_take(&mem);
	const char *text = (const char *)mem.data;
	if (format == CTP_REPORT_AS_JSON)
		must(valid_jsonl(text, mem.len) == 1, "no JSON on a line");
	else if (format == CTP_REPORT_AS_MARKDOWN)
		valid_shown_but(text, mem.len, 0x2060);
	else
		valid_shown(text, mem.len);
}

static void compare(const struct side *sides, const struct ctp_diff_options *options, uint8_t how)
{
	struct ctp_diff d;
	struct ctp_err err;
	bool done = true;
	ctp_diff_init(&d, options);
	for (unsigned i = 0; i < CTP_DIFF_SIDES && done; i++)
		done = run(&sides[i], ctp_diff_sink(&d, sides[i].side, &err));
	if (done && !options->report.nignore)
		check_counts(&d);
	if (done && !ctp_diff_judge(&d, &err)) {
		check_rows(&d);
		check_text(&d, CTP_REPORT_AS_TEXT, how);
		check_text(&d, CTP_REPORT_AS_MARKDOWN, how);
		check_text(&d, CTP_REPORT_AS_JSON, how);
	}
	must(!d.failed, "no memory");
	ctp_diff_fini(&d);
}

static void fold(const struct side *sides, const struct ctp_diff_options *options, uint8_t how)
{
	static struct textmem mem;
	struct ctp_diff d;
	struct ctp_output out;
	struct ctp_err err;
	bool done = true;
	ctp_diff_init(&d, options);
	struct ctp_diff_folded *f = ctp_diff_folded_new(&options->report, CTP_RUNNING + how % 3, options->per ? &d : NULL);
	must(f, "no memory");
	for (unsigned i = 0; i < CTP_DIFF_SIDES && done; i++)
		done = run(&sides[i], ctp_diff_folded_sink(f, sides[i].side, &err));
	textmem_open(&out);
	done = done && !ctp_diff_folded_print(f, &out, 1000, &err);
	must(!ctp_output_close(&out, &err), err.text);
	textmem_take(&mem);
	if (done)
		valid_shown((const char *)mem.data, mem.len); /* two numbers, so no valid_folded */
	ctp_diff_folded_free(f);
	ctp_diff_fini(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { HEAD = 4 };
	static const uint8_t none[HEAD];
	static const char *const ignore[] = {"x*"};
	const uint8_t *head = size < HEAD ? none : data;
	size_t left = size < HEAD ? 0 : size - HEAD, first = left * head[1] / 255;
	const struct side sides[CTP_DIFF_SIDES] = {
		{data + size - left, first, 3U * head[2], CTP_DIFF_BEFORE},
		{data + size - left + first, left - first, head[3], CTP_DIFF_AFTER},
	};
	struct ctp_diff_options options = {.report = {.no_symbols = true}, .per = head[0] & 1 ? "*" : NULL,
	                                   .min_change = head[0] & 16 ? 0.02 : 0};
	if (head[0] & 2)
		options.report.ignore = ignore, options.report.nignore = 1;
	if (head[0] & 4)
		options.report.since_ns = 1000;
	if (head[0] & 8)
		fold(sides, &options, head[0] >> 4);
	else
		compare(sides, &options, head[0] >> 4);
	return 0;
}
