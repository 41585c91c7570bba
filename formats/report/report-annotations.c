/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-annotations.c - a report as workflow commands of GitHub, and as GitLab's code quality. */
#include "report/report-annotations.h"

#include <stdio.h>

#include "report/report-ci.h"
#include "report/report-rules.h"

/* The place of a result; GitLab, and GitHub in a container, know only names from the root of the repository. */
static struct ctp_report_place spot_below(const char *root, const struct ctp_report_section *s, const struct ctp_ci_result *r)
{
	struct ctp_report_place at = ctp_ci_spot(s, r).at;
	size_t len = root ? strlen(root) : 0;
	while (len && root[len - 1] == '/')
		len--;
	if (len && at.file_bytes > len + 1 && !memcmp(at.file, root, len) && at.file[len] == '/') {
		at.file += len + 1;
		at.file_bytes -= len + 1;
	}
	return at;
}

/* --- GitHub --------------------------------------------------------------------------------------------------------------- */

static void command(struct ctp_output *out, enum ctp_certainty certainty, const struct ctp_report_place *at)
{
	static const char *const commands[] = {[CTP_CERTAIN_UNKNOWN] = "notice", [CTP_CERTAIN_POSSIBLE] = "notice",
	                                       [CTP_CERTAIN_LIKELY] = "warning", [CTP_CERTAIN_PROVED] = "error"};
	ctp_output_putf(out, "::%s ", commands[certainty]);
	if (at->line) { /* else there is no file of the source */
		ctp_output_putf(out, "file=");
		ctp_ci_put_part(out, CTP_CI_PROPERTY, at->file, at->file_bytes);
		ctp_output_putf(out, ",line=%ju,", at->line);
	}
	ctp_output_putf(out, "title=ctp-report%%3A ");
}

/* What the report could not see, as one notice: a service shows only the first few of a job. */
static void caveats(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_section *s)
{
	char lines[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX], text[CTP_PRINT_COMMAND_MAX];
	unsigned n = ctp_print_caveats(lines, r, s);
	if (!n)
		return;
	command(out, s->counts.events ? CTP_CERTAIN_UNKNOWN : CTP_CERTAIN_PROVED, &(struct ctp_report_place){0});
	ctp_output_putf(out, "what it could not see::");
	ctp_ci_put(out, CTP_CI_MESSAGE, ctp_print_command(text, s));
	for (unsigned i = 0; i < n; i++) {
		ctp_ci_newline(out, CTP_CI_MESSAGE);
		ctp_ci_put(out, CTP_CI_MESSAGE, lines[i]);
	}
	ctp_output_putf(out, "\n");
}

void ctp_report_github(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	struct ctp_ci ci;
	struct ctp_ci_result result;
	for (uint32_t i = 0; i < r->nsections; i++)
		for (ctp_ci_start(&ci, &r->sections[i]); ctp_ci_next(&ci, &result);) {
			const struct ctp_report_place at = spot_below(style->root, ci.section, &result);
			command(out, result.certainty, &at);
			ctp_output_putf(out, "%s", ctp_report_rule(result.rule).name);
			if (result.rule != CTP_REPORT_POSSIBLE) /* whose name says it */
				ctp_output_putf(out, " (%s)", ctp_certainty_name(result.certainty));
			ctp_output_putf(out, "::");
			ctp_ci_put(out, CTP_CI_MESSAGE, result.title);
			ctp_ci_put_lines(out, CTP_CI_MESSAGE, &result);
			ctp_output_putf(out, "\n");
		}
	for (uint32_t i = 0; i < r->nsections; i++)
		caveats(out, r, &r->sections[i]);
	if (!r->nsections)
		ctp_output_putf(out, "::error title=ctp-report::there is nothing in the trace\n");
}

/* --- GitLab --------------------------------------------------------------------------------------------------------------- */

/* GitLab demands a path and a line of each entry. */
static void entry(struct ctp_output *out, struct ctp_ci *ci, const struct ctp_ci_result *r, const struct ctp_report_place *at)
{
	char mark[CTP_CI_MARK_MAX];
	static const char *const severities[] = {[CTP_CERTAIN_UNKNOWN] = "info", [CTP_CERTAIN_POSSIBLE] = "info",
	                                         [CTP_CERTAIN_LIKELY] = "major", [CTP_CERTAIN_PROVED] = "critical"};
	ctp_output_putf(out, "{\"description\":\"%s: ", ctp_certainty_name(r->certainty));
	ctp_ci_put(out, CTP_CI_JSON, r->title);
	ctp_output_putf(out, "\",\"check_name\":\"%s\",\"fingerprint\":\"%s\",\"severity\":\"%s\",\"location\":{\"path\":\"",
	                ctp_report_rule(r->rule).name, ctp_ci_mark(mark, ci, r), severities[r->certainty]);
	if (at->file_bytes)
		ctp_ci_put_part(out, CTP_CI_JSON, at->file, at->file_bytes);
	else
		ctp_output_putf(out, "unknown");
	ctp_output_putf(out, "\",\"lines\":{\"begin\":%ju}}}", at->line ? at->line : 1);
}

void ctp_report_gitlab(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	struct ctp_ci ci;
	struct ctp_ci_result result;
	const char *comma = "";
	ctp_output_putf(out, "[");
	for (uint32_t i = 0; i < r->nsections; i++)
		for (ctp_ci_start(&ci, &r->sections[i]); ctp_ci_next(&ci, &result); comma = ",") {
			const struct ctp_report_place at = spot_below(style->root, ci.section, &result);
			ctp_output_putf(out, "%s\n", comma);
			entry(out, &ci, &result, &at);
		}
	ctp_output_putf(out, "\n]\n");
}
