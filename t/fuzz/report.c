/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report.c - whatever records come, in whatever classes, the report survives them and does not contradict itself, and each form in
 * which it is printed is valid: JSON is JSON, and text has nothing that a terminal interprets.
 * Covers: lib/analyse formats/report
 */
#include "textmem.h"
#include "report/report-sink.h"
#include "steps.h"
#include "valid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a listener sees is what is there. */
static void changed(void *arg, const struct ctp_change *ch)
{
	struct ctp_follow *follow = &((struct ctp_analysis *)arg)->follow;
	must(ch->co && ch->co->id && ch->co->state > CTP_UNBORN && ch->co->state < CTP_STATES && ch->was < CTP_STATES, "a state");
	must(ctp_follow_find(follow, ch->co->id) == ch->co, "a coroutine is not found");
	uint32_t threads = ctp_follow_threads(follow), places = ctp_follow_places(follow);
	must(ch->thread < threads && ch->co->thread < threads, "a thread");
	must(ch->co->place < places && ch->co->spawn < places, "a place");
}

static void check(const struct ctp_report *r)
{
	for (uint32_t i = 0; i < r->nsections; i++)
		for (uint32_t k = 0; k < r->sections[i].nfindings; k++) {
			const struct ctp_finding *f = &r->sections[i].findings[k];
			must(f->title && f->members >= f->nwho && f->nwho <= CTP_REPORT_MEMBERS, "members");
			must(f->members || f->rule == CTP_RULE_CRASH, "no members");
			must(f->waiting >= f->nwaiters && f->nwaiters <= CTP_REPORT_MEMBERS, "waiters");
			must(f->certainty <= ctp_rule_most(f->rule), "more certain than the rule");
			must(f->from_ns <= f->to_ns || f->to_ns == 0, "ends before it begins");
		}
}

static void check_text(const struct ctp_report_style *style)
{
	static struct textmem mem;
	textmem_take(&mem);
	const char *text = (const char *)mem.data;
	switch (style->format) {
	case CTP_REPORT_AS_JSON:
		must(valid_jsonl(text, mem.len) == 1, "the report is no JSON on a line");
		break;
	case CTP_REPORT_AS_FOLDED:
		valid_folded(text, mem.len);
		break;
	case CTP_REPORT_AS_TEXT:
		valid_shown(text, mem.len);
		break;
	case CTP_REPORT_AS_MARKDOWN:
		valid_shown_but(text, mem.len, 0x2060); /* a word joiner makes mentions and links mere text */
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ctp_follow_ops ops = {.change = changed};
	struct ctp_output out;
	struct steps s;
	steps_start(&s, data, size);
	uint8_t how = steps_byte(&s);
	const struct ctp_report_style style = {.format = how & 3, .state = CTP_RUNNING + (how >> 2 & 3) % 3, .unit_ns = 1000,
	                                       .all = how & 16, .top = how & 32 ? 1 : 0, .several = how & 64};
	struct ctp_analysis_options options = {.no_symbols = how & 128};
	if (how & 8) {
		options.since_ns = steps_number(&s);
		options.until_ns = steps_number(&s);
	}
	struct ctp_analysis *analysis = ctp_analysis_new(&options, &s.err);
	must(analysis, "no analysis");
	textmem_open(&out);
	struct ctp_sink *sink = ctp_report_sink(analysis, &out, &style, &s.err);
	must(sink, "no sink");
	if (style.format != CTP_REPORT_AS_FOLDED)
		ctp_analysis_listen(analysis, &ops, analysis);
	steps_run(&s, sink);
	if (steps_finish(&s)) {
		check(&analysis->report);
		check_text(&style);
	} else {
		must(strstr(s.err.text, "has no clock"), s.err.text);
	}
	ctp_analysis_free(analysis);
	steps_fini(&s);
	return 0;
}
