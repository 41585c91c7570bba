/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-annotations.c - a report as workflow commands of GitHub, and as GitLab's code quality. */
#include "report/report-annotations.h"

#include <stdio.h>

#include "report/report-ci.h"
#include "report/report-rules.h"

/* A place as GitLab, and GitHub in a container, know it: by its name from the root of the repository. */
static struct ctp_report_place below(const char *root, struct ctp_report_place at)
{
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

enum kind { ERROR, WARNING, NOTICE, KINDS };

/* GitHub shows the first ten of each kind, and drops the others without a word. So the tenth may be a line that counts them. */
struct github {
	struct ctp_output *out;
	uint64_t all[KINDS], given[KINDS];
};
enum { GITHUB_SHOWN = 10 };

static enum kind kind_of(enum ctp_certainty certainty)
{
	return certainty == CTP_CERTAIN_PROVED ? ERROR : certainty == CTP_CERTAIN_LIKELY ? WARNING : NOTICE;
}

/* What the report could not see is one notice of a section; that there is nothing to judge is an error. */
static enum kind kind_of_caveats(const struct ctp_report_section *s) { return s->counts.events ? NOTICE : ERROR; }

static void count_all(struct github *g, const struct ctp_report *r)
{
	char lines[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX];
	for (uint32_t i = 0; i < r->nsections; i++) {
		const struct ctp_report_section *s = &r->sections[i];
		const struct ctp_finding *f;
		for (uint32_t k = 0; (f = ctp_report_finding(s, k)); k++)
			g->all[kind_of(f->certainty)]++;
		g->all[ERROR] += ctp_ci_hang(lines[0], s);
		g->all[kind_of_caveats(s)] += ctp_print_caveats(lines, r, s) > 0;
	}
}

/* Begins a command, up to its title. False: there is no room for it, and nothing is to follow. */
static bool command(struct github *g, enum kind kind, const struct ctp_report_place *at)
{
	static const char *const commands[KINDS] = {[ERROR] = "error", [WARNING] = "warning", [NOTICE] = "notice"};
	char n[CTP_PRINT_NUMBER_MAX];
	uint64_t given = ++g->given[kind], more = g->all[kind] - GITHUB_SHOWN + 1;
	bool full = g->all[kind] > GITHUB_SHOWN && given >= GITHUB_SHOWN;
	if (full && given == GITHUB_SHOWN)
		ctp_output_putf(g->out, "::%s title=ctp-report::%s more like these: the text of ctp-report has them\n",
		                commands[kind], ctp_print_count(n, more));
	if (full)
		return false;
	ctp_output_putf(g->out, "::%s ", commands[kind]);
	if (at->line) { /* else there is no file of the source */
		ctp_output_putf(g->out, "file=");
		ctp_ci_put_part(g->out, CTP_CI_PROPERTY, at->file, at->file_bytes);
		ctp_output_putf(g->out, ",line=%ju,", at->line);
	}
	ctp_output_putf(g->out, "title=ctp-report%%3A ");
	return true;
}

static void put_line(struct github *g, const char *line)
{
	ctp_ci_newline(g->out, CTP_CI_MESSAGE);
	ctp_ci_put(g->out, CTP_CI_MESSAGE, line);
}

static void put_command_line(struct github *g, const struct ctp_report_section *s)
{
	char text[CTP_PRINT_COMMAND_MAX];
	ctp_ci_put(g->out, CTP_CI_MESSAGE, ctp_print_command(text, s));
}

static void hang(struct github *g, const struct ctp_report_section *s)
{
	char how[CTP_PRINT_LINE_MAX], lines[CTP_CI_STILL][CTP_CI_ADVICE_MAX];
	if (!ctp_ci_hang(how, s) || !command(g, ERROR, &(struct ctp_report_place){0}))
		return;
	unsigned n = ctp_ci_hang_lines(lines, s);
	ctp_output_putf(g->out, CTP_CI_HANG "::");
	put_command_line(g, s);
	ctp_output_putf(g->out, " did not end by itself: ");
	ctp_ci_put(g->out, CTP_CI_MESSAGE, how);
	for (unsigned i = 0; i < n; i++)
		put_line(g, lines[i]);
	ctp_output_putf(g->out, "\n");
}

static void finding(struct github *g, const struct ctp_ci *ci, const struct ctp_ci_result *result, const char *root)
{
	struct ctp_ci_spot spot;
	ctp_ci_spot(&spot, ci->section, result);
	const struct ctp_report_place at = below(root, spot.at);
	if (!command(g, kind_of(result->certainty), &at))
		return;
	ctp_output_putf(g->out, "%s", ctp_report_rule(result->rule).name);
	if (result->rule != CTP_REPORT_POSSIBLE) /* whose name says it */
		ctp_output_putf(g->out, " (%s)", ctp_certainty_name(result->certainty));
	ctp_output_putf(g->out, "::");
	ctp_ci_put(g->out, CTP_CI_MESSAGE, result->title);
	ctp_ci_put_lines(g->out, CTP_CI_MESSAGE, result);
	ctp_output_putf(g->out, "\n");
}

static void caveats(struct github *g, const struct ctp_report *r, const struct ctp_report_section *s)
{
	char lines[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX];
	unsigned n = ctp_print_caveats(lines, r, s);
	if (!n || !command(g, kind_of_caveats(s), &(struct ctp_report_place){0}))
		return;
	ctp_output_putf(g->out, "what it could not see::");
	put_command_line(g, s);
	for (unsigned i = 0; i < n; i++)
		put_line(g, lines[i]);
	ctp_output_putf(g->out, "\n");
}

void ctp_report_github(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	struct github g = {.out = out};
	struct ctp_ci ci;
	struct ctp_ci_result result;
	count_all(&g, r);
	for (uint32_t i = 0; i < r->nsections; i++)
		hang(&g, &r->sections[i]);
	for (uint32_t i = 0; i < r->nsections; i++)
		for (ctp_ci_start(&ci, &r->sections[i]); ctp_ci_next(&ci, &result);)
			finding(&g, &ci, &result, style->root);
	for (uint32_t i = 0; i < r->nsections; i++)
		caveats(&g, r, &r->sections[i]);
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

/* A hang is no finding, and shown where coroutines wait. */
static void hang_entry(struct ctp_output *out, const struct ctp_report_section *s, const char *how, const char *root)
{
	char mark[CTP_CI_MARK_MAX], text[CTP_PRINT_COMMAND_MAX], lines[CTP_CI_STILL][CTP_CI_ADVICE_MAX];
	struct ctp_ci_spot spot;
	ctp_ci_hang_spot(&spot, s);
	const struct ctp_report_place at = below(root, spot.at);
	unsigned n = ctp_ci_hang_lines(lines, s);
	ctp_output_putf(out, "{\"description\":\"");
	ctp_ci_put(out, CTP_CI_JSON, ctp_print_command(text, s));
	ctp_output_putf(out, " did not end by itself: ");
	ctp_ci_put(out, CTP_CI_JSON, how);
	if (n) {
		ctp_output_putf(out, "; ");
		ctp_ci_put(out, CTP_CI_JSON, lines[0]);
	}
	ctp_output_putf(out, "\",\"check_name\":\"" CTP_CI_HANG "\",\"fingerprint\":\"%s\",\"severity\":\"critical\",",
	                ctp_ci_hang_mark(mark, s));
	ctp_output_putf(out, "\"location\":{\"path\":\"");
	ctp_ci_put_part(out, CTP_CI_JSON, at.file ? at.file : "unknown", at.file ? at.file_bytes : strlen("unknown"));
	ctp_output_putf(out, "\",\"lines\":{\"begin\":%ju}}}", at.line ? at.line : 1);
}

void ctp_report_gitlab(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	struct ctp_ci ci;
	struct ctp_ci_result result;
	struct ctp_ci_spot spot;
	const char *comma = "";
	char how[CTP_PRINT_LINE_MAX];
	ctp_output_putf(out, "[");
	for (uint32_t i = 0; i < r->nsections; i++) {
		if (!ctp_ci_hang(how, &r->sections[i]))
			continue;
		ctp_output_putf(out, "%s\n", comma);
		hang_entry(out, &r->sections[i], how, style->root);
		comma = ",";
	}
	for (uint32_t i = 0; i < r->nsections; i++)
		for (ctp_ci_start(&ci, &r->sections[i]); ctp_ci_next(&ci, &result); comma = ",") {
			ctp_ci_spot(&spot, ci.section, &result);
			const struct ctp_report_place at = below(style->root, spot.at);
			ctp_output_putf(out, "%s\n", comma);
			entry(out, &ci, &result, &at);
		}
	ctp_output_putf(out, "\n]\n");
}
