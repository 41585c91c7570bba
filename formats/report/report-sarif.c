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
	ctp_output_putf(out, " The manual page ctp-rules(7) has more.\"},\"defaultConfiguration\":{\"level\":\"%s\"}}",
	                level(r.most));
}

/* --- results -------------------------------------------------------------------------------------------------------------- */

/*
 * The parts of a location: where text has a file and a line, both; else the whole text is the name of a place in the program.
 * GitHub demands a line, so it is the first then.
 */
static void location(struct ctp_output *out, const struct ctp_report_place *at, const char *text)
{
	const char *name = at->line ? at->function : text;
	ctp_output_putf(out, "{");
	if (at->file_bytes) {
		ctp_output_putf(out, "\"physicalLocation\":{\"artifactLocation\":{\"uri\":\"");
		ctp_ci_put_uri(out, at);
		ctp_output_putf(out, "\"}");
		ctp_output_putf(out, ",\"region\":{\"startLine\":%ju}}%s", at->line ? at->line : 1, name ? "," : "");
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
	char label[CTP_PRINT_LABEL_MAX], file[CTP_CI_FILE_MAX];
	unsigned n = ctp_ci_related(list, result), id = 0;
	ctp_output_putf(out, ",\"relatedLocations\":[");
	for (unsigned i = 0; i < n; i++) {
		struct ctp_report_place at;
		if (!ctp_report_place(&at, list[i].place)) /* GitHub rejects a log that has a location without a file */
			continue;
		ctp_ci_file(&at, file);
		ctp_output_putf(out, id ? "," : "");
		location(out, &at, list[i].place);
		ctp_output_putf(out, ",\"id\":%u,\"message\":{\"text\":\"", ++id);
		if (list[i].who) {
			put(out, ctp_print_member(label, list[i].who));
			put(out, ": ");
		}
		put(out, list[i].what);
		ctp_output_putf(out, "\"}}");
	}
	ctp_output_putf(out, "]");
}

static void result(struct ctp_output *out, const struct ctp_ci *ci, uint32_t section, const struct ctp_ci_result *r,
                   const char *mark)
{
	const struct ctp_report_section *s = ci->section;
	struct ctp_ci_spot spot;
	ctp_ci_spot(&spot, s, r);
	if (!spot.at.file_bytes)
		spot.at = (struct ctp_report_place){.file = "unknown", .file_bytes = strlen("unknown")};
	ctp_output_putf(out, "{\"ruleId\":\"%s\",\"ruleIndex\":%u,\"level\":\"%s\",\"message\":{\"text\":\"",
	                ctp_report_rule(r->rule).name, r->rule, level(r->certainty));
	put(out, r->title);
	ctp_ci_put_lines(out, CTP_CI_JSON, r);
	ctp_output_putf(out, "\"},\"locations\":[");
	location(out, &spot.at, spot.text);
	ctp_output_putf(out, "}]");
	related(out, r);
	if (s->file) {
		ctp_output_putf(out, ",\"analysisTarget\":{\"uri\":\"");
		ctp_ci_put_uri(out, &(struct ctp_report_place){.file = s->file, .file_bytes = strlen(s->file)});
		ctp_output_putf(out, "\"}");
	}
	ctp_output_putf(out, ",\"partialFingerprints\":{\"ctpFinding/v1\":\"%s\"}", mark);
	ctp_output_putf(out, ",\"properties\":{\"certainty\":\"%s\",\"section\":%u,\"coroutines\":%ju,\"waiting\":%ju}}",
	                ctp_certainty_name(r->certainty), section, r->members, r->waiting);
}

/* GitHub stores no more, and rejects a log with five times as many. */
enum { RESULTS_MAX = 5000 };

static uint64_t count_results(const struct ctp_report *report)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < report->nsections; i++)
		n += report->sections[i].nfindings + report->sections[i].nsuspects;
	return n;
}

/* If there are too many, the most certain ones. */
static void results(struct ctp_output *out, const struct ctp_report *report)
{
	bool all = count_results(report) <= RESULTS_MAX;
	struct ctp_ci ci;
	struct ctp_ci_result r;
	uint32_t n = 0;
	for (enum ctp_certainty level = CTP_CERTAIN_PROVED; n < RESULTS_MAX; level--) {
		for (uint32_t i = 0; i < report->nsections; i++)
			for (ctp_ci_start(&ci, &report->sections[i]); ctp_ci_next(&ci, &r);) {
				char mark[CTP_CI_MARK_MAX];
				ctp_ci_mark(mark, &ci, &r); /* of each, for they are numbered */
				if (n == RESULTS_MAX || (!all && r.certainty != level))
					continue;
				ctp_output_putf(out, n++ ? ",\n" : "\n");
				result(out, &ci, i + 1, &r, mark);
			}
		if (all || level == CTP_CERTAIN_UNKNOWN)
			break;
	}
}

/* --- the run -------------------------------------------------------------------------------------------------------------- */

/* s null: it is about the whole run. */
static void notification(struct ctp_output *out, const char **comma, const struct ctp_report_section *s, const char *how,
                         const char *text)
{
	char command[CTP_PRINT_COMMAND_MAX];
	ctp_output_putf(out, "%s\n{\"level\":\"%s\",\"message\":{\"text\":\"", *comma, how);
	if (s) {
		put(out, ctp_print_command(command, s));
		put(out, ": ");
	}
	put(out, text);
	ctp_output_putf(out, "\"}}");
	*comma = ",";
}

static void hang(struct ctp_output *out, const char **comma, const struct ctp_report_section *s)
{
	char how[CTP_PRINT_LINE_MAX], text[CTP_PRINT_LINE_MAX + 60], lines[CTP_CI_STILL][CTP_CI_ADVICE_MAX];
	if (!ctp_ci_hang(how, s))
		return;
	unsigned n = ctp_ci_hang_lines(lines, s);
	snprintf(text, sizeof text, "the program did not end by itself: %s", how);
	notification(out, comma, s, "error", text);
	for (unsigned i = 0; i < n; i++)
		notification(out, comma, s, "note", lines[i]);
}

/* Programs that hung, and what the report could not see, a notification for each sentence. True: events were judged. */
static bool notifications(struct ctp_output *out, const struct ctp_report *report)
{
	char caveats[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX];
	uint64_t found = count_results(report);
	const char *comma = "";
	bool any = false;
	if (found > RESULTS_MAX) {
		snprintf(caveats[0], sizeof caveats[0], "%ju result%s left out: a log has %d at most", found - RESULTS_MAX,
		         found == RESULTS_MAX + 1 ? " is" : "s are", RESULTS_MAX);
		notification(out, &comma, NULL, "warning", caveats[0]);
	}
	for (uint32_t i = 0; i < report->nsections; i++) {
		const struct ctp_report_section *s = &report->sections[i];
		unsigned n = ctp_print_caveats(caveats, report, s);
		hang(out, &comma, s);
		for (unsigned k = 0; k < n; k++)
			notification(out, &comma, s, s->counts.events ? "note" : "error", caveats[k]);
		any |= s->counts.events > 0;
	}
	if (!report->nsections)
		notification(out, &comma, NULL, "error", "there is nothing in the trace");
	return any;
}

/* GitHub rejects absolute names unless it knows what they are below. */
static void put_folder(struct ctp_output *out, const char *root)
{
	if (!root || *root != '/')
		return;
	ctp_output_putf(out, ",\"workingDirectory\":{\"uri\":\"");
	ctp_ci_put_uri(out, &(struct ctp_report_place){.file = root, .file_bytes = strlen(root)});
	ctp_output_putf(out, "\"}");
}

void ctp_report_sarif(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	ctp_output_putf(out, "{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
	                "sarif-schema-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\n\"tool\":{\"driver\":{"
	                "\"name\":\"ctp-report\",\"version\":\"%s\",\"rules\":[",
	                CTP_VERSION);
	for (unsigned i = 0; i < CTP_REPORT_RULES; i++)
		rule(out, i);
	ctp_output_putf(out, "]}},\n\"invocations\":[{\"toolExecutionNotifications\":[");
	bool any = notifications(out, r);
	ctp_output_putf(out, "],\"executionSuccessful\":%s", any ? "true" : "false");
	put_folder(out, style->root);
	ctp_output_putf(out, "}],\n\"results\":[");
	results(out, r);
	ctp_output_putf(out, "]}]}\n");
}
