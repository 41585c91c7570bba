/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* html-part.c - one section of a page. */
#include "html/html-part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/json.h"
#include "report/report-print.h"

void ctp_html_part_init(struct ctp_html_part *part, uint64_t max_events)
{
	*part = (struct ctp_html_part){.rank = CTP_HTML_RANK_NONE};
	ctp_html_pack_init(&part->pack, max_events);
	ctp_text_table_init(&part->places);
	ctp_text_table_init(&part->names);
	ctp_text_table_init(&part->reasons);
	ctp_html_gaps_init(&part->gaps);
}

void ctp_html_part_fini(struct ctp_html_part *part)
{
	ctp_html_pack_fini(&part->pack);
	ctp_text_table_fini(&part->places);
	ctp_text_table_fini(&part->names);
	ctp_text_table_fini(&part->reasons);
	ctp_html_gaps_fini(&part->gaps);
	free(part->place_numbers);
	free(part->thread_numbers);
	free(part->threads);
}

static bool settle_places(struct ctp_html_part *part, struct ctp_follow *f)
{
	uint32_t n = ctp_follow_places(f);
	part->place_numbers = calloc(n, sizeof *part->place_numbers);
	if (!part->place_numbers)
		return false;
	part->nplace_numbers = n;
	for (uint32_t i = 1; i < n; i++)
		part->place_numbers[i] = ctp_text_table_number(&part->places, ctp_follow_text(f, i));
	return !part->places.failed;
}

static bool settle_threads(struct ctp_html_part *part, const struct ctp_follow *f)
{
	uint32_t count = ctp_follow_threads(f);
	part->thread_numbers = calloc(count, sizeof *part->thread_numbers);
	part->threads = calloc(count, sizeof *part->threads);
	if (!part->thread_numbers || !part->threads)
		return false;
	part->nthread_numbers = count;
	for (uint32_t i = 0; i < count; i++) {
		struct ctp_follow_thread th = ctp_follow_thread(f, i);
		if (!th.resumes && !ctp_html_gaps_has(&part->gaps, i))
			continue;
		part->thread_numbers[i] = part->nthreads;
		part->threads[part->nthreads++] = th;
	}
	return true;
}

/* From the start of the section in the report to its end, or to the last event that is shown. */
static void settle_span(struct ctp_html_part *part, const struct ctp_report_section *sec)
{
	uint64_t last_ns = sec->start_ns;
	for (uint32_t i = 0; i < part->pack.nrows; i++)
		last_ns = ctp_most(last_ns, ctp_most(part->pack.rows[i].last_ns, part->pack.rows[i].died_ns));
	part->t0_ns = sec->start_ns;
	part->span_ns = ctp_most(sec->duration_ns, last_ns - sec->start_ns);
	if (part->span_ns > CTP_HTML_TIME_MAX)
		part->span_ns = CTP_HTML_TIME_MAX;
}

static enum ctp_html_rank rank_of(const struct ctp_html_part *part, const struct ctp_report_section *sec)
{
	for (uint32_t i = 0; i < sec->nfindings; i++)
		if (sec->findings[i].certainty > CTP_CERTAIN_UNKNOWN)
			return CTP_HTML_RANK_FINDINGS;
	if (sec->nsuspects)
		return CTP_HTML_RANK_SUSPECTS;
	return part->pack.nrows ? CTP_HTML_RANK_CALM : CTP_HTML_RANK_EMPTY;
}

bool ctp_html_part_settle(struct ctp_html_part *part, struct ctp_follow *f, const struct ctp_report_section *sec)
{
	bool done = settle_places(part, f) && settle_threads(part, f);
	settle_span(part, sec);
	part->rank = rank_of(part, sec);
	return done;
}

void ctp_html_put_text(struct ctp_output *out, const char *key, const char *text)
{
	ctp_output_putf(out, "\"%s\":", key);
	ctp_json_put_in_page(out, text, strlen(text));
}

static void put_threads(struct ctp_output *out, const struct ctp_html_part *part)
{
	ctp_output_putf(out, ",\"threads\":[");
	for (uint32_t i = 0; i < part->nthreads; i++) {
		const struct ctp_follow_thread *th = &part->threads[i];
		ctp_output_putf(out, "%s{\"tid\":%ju,\"pid\":%ju,", i ? "," : "", th->tid, th->pid);
		ctp_html_put_text(out, "name", th->name);
		ctp_output_putf(out, "}");
	}
	ctp_output_putf(out, "]");
}

void ctp_html_part_put(struct ctp_output *out, const struct ctp_html_part *part, const struct ctp_report_section *sec,
                       const char *title)
{
	char command[CTP_PRINT_COMMAND_MAX];
	ctp_output_putf(out, "{\"section\":%u,", part->section);
	if (sec->origin_number)
		ctp_output_putf(out, "\"merge\":%ju,", sec->origin_section);
	char with_origin[CTP_PRINT_COMMAND_MAX + CTP_FOLLOW_NAME_MAX];
	ctp_print_command(command, sec);
	snprintf(with_origin, sizeof with_origin, "%s%s%s", command, sec->origin ? " on " : "", sec->origin ? sec->origin : "");
	ctp_html_put_text(out, "title", title ? title : with_origin);
	if (sec->has_wall)
		ctp_output_putf(out, ",\"t0_wall_ns\":\"%jd\"", sec->start_wall_ns);
	else
		ctp_output_putf(out, ",\"t0_wall_ns\":null");
	ctp_output_putf(out, ",\"ordinal\":%s", sec->ordinal ? "true" : "false");
	ctp_output_putf(out, ",\"t0_ns\":\"%ju\",\"span_ns\":%ju", part->t0_ns, part->span_ns);
	ctp_output_putf(out, ",\"coroutines\":%u,\"events\":%ju", ctp_html_pack_rows(&part->pack),
	                ctp_html_pack_shown(&part->pack));
	ctp_output_putf(out, ",\"omitted_coroutines\":%ju,\"omitted_events\":%ju", part->pack.omitted_coroutines,
	                part->pack.omitted_events);
	put_threads(out, part);
	ctp_output_putf(out, ",\"places\":");
	ctp_html_texts_put(out, &part->places);
	ctp_output_putf(out, ",\"strings\":");
	ctp_html_texts_put(out, &part->names);
	ctp_output_putf(out, ",\"reasons\":");
	ctp_html_texts_put(out, &part->reasons);
	ctp_output_putf(out, "}");
}
