/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-sarif.c - a report as SARIF 2.1.0. A line has a rule, a result or a notification. */
#include "report/report-sarif.h"

#include <stdio.h>

#include "report/report-ci.h"
#include "report/report-rules.h"

static const char *level(enum ctp_certainty certainty)
{
	return certainty == CTP_CERTAIN_PROVED ? "error" : certainty == CTP_CERTAIN_LIKELY ? "warning" : "note";
}

static void put(struct ctp_output *out, const char *text) { ctp_ci_put(out, CTP_CI_JSON, text); }

/* --- rules ---------------------------------------------------------------------------------------------------------------- */

/* The rule's name in one word, which begins with a capital: NeverWoken. */
static void put_name(struct ctp_output *out, const char *name)
{
	for (bool begins = true; *name; name++) {
		if (*name != '-')
			ctp_output_putf(out, "%c", begins ? *name - 'a' + 'A' : *name);
		begins = *name == '-';
	}
}

static void rule(struct ctp_output *out, unsigned number)
{
	const struct ctp_report_rule r = ctp_report_rule(number);
	const char *second = strstr(r.means, ". ");
	ctp_output_putf(out, "%s\n{\"id\":\"%s\",\"name\":\"", number ? "," : "", r.name);
	put_name(out, r.name);
	ctp_output_putf(out, "\",\"shortDescription\":{\"text\":\"");
	ctp_ci_put_part(out, CTP_CI_JSON, r.means, second ? (size_t)(second + 1 - r.means) : strlen(r.means));
	ctp_output_putf(out, "\"},\"fullDescription\":{\"text\":\"");
	put(out, r.means);
	ctp_output_putf(out, "\"},\"help\":{\"text\":\"");
	put(out, r.to_do);
	ctp_output_putf(out, " The manual page ctp-rules(7) has more.\"},\"defaultConfiguration\":{\"level\":\"%s\"}}", level(r.most));
}

/* --- results -------------------------------------------------------------------------------------------------------------- */

/* The parts of a location: where text has a file and a line, both; else the whole text is the name of a place in the program. */
static void location(struct ctp_output *out, const struct ctp_report_place *at, const char *text)
{
	const char *name = at->line ? at->function : text;
	ctp_output_putf(out, "{");
	if (at->file_bytes) {
		ctp_output_putf(out, "\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"");
		ctp_ci_put_uri(out, at);
		ctp_output_putf(out, "\"}");
		if (at->line)
			ctp_output_putf(out, ",\"region\":{\"startLine\":%ju}", at->line);
		ctp_output_putf(out, "}%s", name ? "," : "");
	}
	if (name) {
		ctp_output_putf(out, "\"logicalLocations\":[{\"fullyQualifiedName\":\"");
		put(out, name);
		ctp_output_putf(out, "\"%s}]", at->line ? ",\"kind\":\"function\"" : "");
	}
}

static void related(struct ctp_output *out, const struct ctp_ci_result *result)
{
	struct ctp_ci_related list[CTP_CI_RELATED];
	char label[CTP_PRINT_LABEL_MAX];
	unsigned n = ctp_ci_related(list, result);
	ctp_output_putf(out, ",\"relatedLocations\":[");
	for (unsigned i = 0; i < n; i++) {
		struct ctp_report_place at;
		if (!ctp_report_place(&at, list[i].place))
			at = (struct ctp_report_place){0};
		ctp_output_putf(out, i ? "," : "");
		location(out, &at, list[i].place);
		ctp_output_putf(out, ",\"id\":%u,\"message\":{\"text\":\"", i + 1);
		if (list[i].who) {
			put(out, ctp_print_member(label, list[i].who));
			put(out, ": ");
		}
		put(out, list[i].what);
		ctp_output_putf(out, "\"}}");
	}
	ctp_output_putf(out, "]");
}

static void result(struct ctp_output *out, struct ctp_ci *ci, uint32_t section, const struct ctp_ci_result *r)
{
	const struct ctp_report_section *s = ci->section;
	const struct ctp_ci_spot spot = ctp_ci_spot(s, r);
	char mark[CTP_CI_MARK_MAX];
	ctp_output_putf(out, "{\"ruleId\":\"%s\",\"ruleIndex\":%u,\"level\":\"%s\",\"message\":{\"text\":\"",
	                ctp_report_rule(r->rule).name, r->rule, level(r->certainty));
	put(out, r->title);
	ctp_ci_put_lines(out, CTP_CI_JSON, r);
	ctp_output_putf(out, "\"},\"locations\":[");
	if (spot.at.file_bytes || spot.text) {
		location(out, &spot.at, spot.text);
		ctp_output_putf(out, "}");
	}
	ctp_output_putf(out, "]");
	related(out, r);
	if (s->file) {
		ctp_output_putf(out, ",\"analysisTarget\":{\"uri\":\"");
		ctp_ci_put_uri(out, &(struct ctp_report_place){.file = s->file, .file_bytes = strlen(s->file)});
		ctp_output_putf(out, "\"}");
	}
	ctp_output_putf(out, ",\"partialFingerprints\":{\"ctpFinding/v1\":\"%s\"}", ctp_ci_mark(mark, ci, r));
	ctp_output_putf(out, ",\"properties\":{\"certainty\":\"%s\",\"section\":%u,\"coroutines\":%ju,\"waiting\":%ju}}",
	                ctp_certainty_name(r->certainty), section, r->members, r->waiting);
}

static void results(struct ctp_output *out, const struct ctp_report *report)
{
	struct ctp_ci ci;
	struct ctp_ci_result r;
	const char *comma = "";
	for (uint32_t i = 0; i < report->nsections; i++)
		for (ctp_ci_start(&ci, &report->sections[i]); ctp_ci_next(&ci, &r); comma = ",") {
			ctp_output_putf(out, "%s\n", comma);
			result(out, &ci, i + 1, &r);
		}
}

/* --- the run -------------------------------------------------------------------------------------------------------------- */

/* What the report could not see, a notification for each sentence. True: events were judged. */
static bool notifications(struct ctp_output *out, const struct ctp_report *report)
{
	char caveats[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX], command[CTP_PRINT_COMMAND_MAX];
	const char *comma = "";
	bool any = false;
	for (uint32_t i = 0; i < report->nsections; i++) {
		const struct ctp_report_section *s = &report->sections[i];
		unsigned n = ctp_print_caveats(caveats, report, s);
		for (unsigned k = 0; k < n; k++, comma = ",") {
			ctp_output_putf(out, "%s\n{\"level\":\"%s\",\"message\":{\"text\":\"", comma, s->counts.events ? "note" : "error");
			put(out, ctp_print_command(command, s));
			put(out, ": ");
			put(out, caveats[k]);
			ctp_output_putf(out, "\"}}");
		}
		any |= s->counts.events > 0;
	}
	if (!report->nsections)
		ctp_output_putf(out, "\n{\"level\":\"error\",\"message\":{\"text\":\"there is nothing in the trace\"}}");
	return any;
}

void ctp_report_sarif(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	(void)style;
	ctp_output_putf(out, "{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json\","
	                "\"version\":\"2.1.0\",\"runs\":[{\n\"tool\":{\"driver\":{\"name\":\"ctp-report\",\"version\":\"%s\",\"rules\":[",
	                CTP_VERSION);
	for (unsigned i = 0; i < CTP_REPORT_RULES; i++)
		rule(out, i);
	ctp_output_putf(out, "]}},\n\"invocations\":[{\"toolExecutionNotifications\":[");
	bool any = notifications(out, r);
	ctp_output_putf(out, "],\"executionSuccessful\":%s}],\n\"results\":[", any ? "true" : "false");
	results(out, r);
	ctp_output_putf(out, "]}]}\n");
}
