/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report.c - whatever records come, in whatever classes, the report survives them and does not contradict itself, and each form in
 * which it is printed is valid: JSON is JSON, XML is XML, and text has nothing that a terminal or a service interprets.
 * Covers: lib/analyse formats/report
 */
#include "textmem.h"
#include "report/report-markdown.h"
#include "report/report-sink.h"
#include "steps.h"
#include "valid-xml.h"

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

static size_t lines(const char *text, size_t len)
{
	size_t n = 0;
	for (size_t i = 0; i < len; i++)
		n += text[i] == '\n';
	return n;
}

/* Each line is a command of the report's own, and no text has begun another one. */
static void check_commands(const char *text, size_t len)
{
	valid_shown(text, len);
	for (const char *end = text + len, *lf; text < end; text = lf + 1) {
		lf = memchr(text, '\n', (size_t)(end - text));
		bool known = !strncmp(text, "::error ", 8) || !strncmp(text, "::warning ", 10) || !strncmp(text, "::notice ", 9);
		const char *message = known ? memmem(text + 2, (size_t)(lf - text) - 2, "::", 2) : NULL;
		valid_must(message, "no command", text, (size_t)(lf - text));
		for (const char *p = text; p < lf; p++)
			if (*p == '%')
				valid_must(lf - p > 2 && (!memcmp(p, "%25", 3) || !memcmp(p, "%0A", 3) || !memcmp(p, "%3A", 3) || !memcmp(p, "%2C", 3)),
				           "no escape", text, (size_t)(lf - text));
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
	case CTP_REPORT_AS_BRIEF:
		valid_shown_but(text, mem.len, 0x2060); /* a word joiner makes mentions and links mere text */
		break;
	case CTP_REPORT_AS_SARIF:
	case CTP_REPORT_AS_GITLAB:
		valid_shown(text, mem.len);
		must(valid_json(text, mem.len), "the form is no JSON");
		break;
	case CTP_REPORT_AS_JUNIT:
		valid_shown(text, mem.len);
		valid_must(valid_xml(text, mem.len), "no XML", text, mem.len);
		break;
	case CTP_REPORT_AS_GITHUB:
		check_commands(text, mem.len);
		break;
	case CTP_REPORT_FORMATS:
		break;
	}
	must(style->format != CTP_REPORT_AS_BRIEF || lines(text, mem.len) <= CTP_BRIEF_LINES, "brief is too long");
}

/* One of the forms for services, whichever form the report had. */
static void check_other(const struct ctp_report *report, struct ctp_report_style style, uint8_t which)
{
	struct ctp_output out;
	struct ctp_err err;
	style.format = CTP_REPORT_AS_BRIEF + which % (CTP_REPORT_FORMATS - CTP_REPORT_AS_BRIEF);
	textmem_open(&out);
	ctp_report_write(&out, report, &style);
	must(!ctp_output_close(&out, &err), err.text);
	check_text(&style);
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
	struct ctp_sink *sink = ctp_report_sink(analysis, &out, &style, NULL, &s.err);
	must(sink, "no sink");
	if (style.format != CTP_REPORT_AS_FOLDED)
		ctp_analysis_listen(analysis, &ops, analysis);
	steps_run(&s, sink);
	if (steps_finish(&s)) {
		check(&analysis->report);
		check_text(&style);
		check_other(&analysis->report, style, how);
	} else {
		must(strstr(s.err.text, "has no clock"), s.err.text);
	}
	ctp_analysis_free(analysis);
	steps_fini(&s);
	return 0;
}
