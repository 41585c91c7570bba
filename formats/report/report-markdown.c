/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-markdown.c - renders a report for a ticket.
 *
 * Names and sites stand in code spans, where nothing is markup, mentions anybody or becomes a link. Sentences of findings are
 * prose in which every character that could be markup is escaped. An empty line is before each block.
 */
#include "report/report-markdown.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "report/report-ci.h"
#include "report/report-doc.h"
#include "report/report-rules.h"
#include "report/report-tree.h"

enum { MEMBERS = 20 };

/* --- inline ---------------------------------------------------------------------------------------------------------------- */

static bool follows(const char *at, const char *begin, const char *word)
{
	size_t len = strlen(word);
	return (size_t)(at - begin) >= len && !strncasecmp(at - len, word, len);
}

/* Whether a forge would make a link here, even of escaped text: of @somebody, of #7, !7 and GH-7, of a URL or of a www. */
static bool is_live(const char *at, const char *begin)
{
	bool number = isdigit((unsigned char)at[1]);
	return *at == '@' || (*at == ':' && at[1] == '/') || (*at == '.' && follows(at, begin, "www")) ||
	       (number && (strchr("#!%&$~^", *at) || (*at == '-' && follows(at, begin, "GH"))));
}

/* A text in which nothing is markup, and no link is made. It comes after the mark of a heading or of an item. */
static void prose(struct ctp_output *out, const char *text)
{
	static const char word_joiner[] = "\u2060"; /* has no width, and splits the word */
	char c[CTP_VISIBLE_MAX];
	unsigned n, columns;
	bool start = true, number = true; /* where a list could begin: at the start, and after a number there */
	const char *begin = text, *at = text;
	for (; (n = ctp_visible_char(c, &text, &columns)); at = text) {
		bool list = (start && strchr("-+=", c[0])) || (!start && number && strchr(".)", c[0]));
		number = number && c[0] >= '0' && c[0] <= '9';
		start = false;
		for (unsigned i = 0; i < n; i++) {
			if (list || strchr("\\`*_[]<>&|~#$", c[i]))
				ctp_output_put(out, "\\", 1);
			ctp_output_put(out, c + i, 1);
		}
		if (is_live(at, begin))
			ctp_output_put(out, word_joiner, sizeof word_joiner - 1);
	}
}

static unsigned longest_run(const char *text, char c)
{
	unsigned most = 0, run = 0;
	for (; *text; text++) {
		run = *text == c ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return most;
}

static void fence(struct ctp_output *out, unsigned n)
{
	while (n--)
		ctp_output_put(out, "`", 1);
}

/* Code, fenced by more backticks than are in it. In a table a bar would end the cell, also in code. */
static void span(struct ctp_output *out, const char *text, bool in_cell)
{
	char c[CTP_VISIBLE_MAX];
	unsigned n, columns;
	if (!text || !*text)
		text = "(not known)";
	unsigned backticks = longest_run(text, '`') + 1;
	const char *space = backticks > 1 ? " " : "";
	fence(out, backticks);
	ctp_output_putf(out, "%s", space);
	while ((n = ctp_visible_char(c, &text, &columns))) {
		if (in_cell && c[0] == '|')
			ctp_output_put(out, "\\", 1);
		ctp_output_put(out, c, n);
	}
	ctp_output_putf(out, "%s", space);
	fence(out, backticks);
}

static void words(struct ctp_doc *doc, const char *text) { ctp_output_putf(doc->out, "%s", text); }
static void code(struct ctp_doc *doc, const char *text) { span(doc->out, text, doc->last == CTP_DOC_TABLE); }

/* --- blocks --------------------------------------------------------------------------------------------------------------- */

/* A block begins. The items of a list and the rows of a table are one block. */
static void begin(struct ctp_doc *doc, enum ctp_doc_block block)
{
	bool goes_on = block == doc->last && (block == CTP_DOC_LIST || block == CTP_DOC_TABLE);
	words(doc, doc->last && !goes_on ? "\n" : "");
	doc->last = block;
}

static void title(struct ctp_doc *doc, const char *which, const char *file, const char *command)
{
	(void)file; /* it is in the list below */
	begin(doc, CTP_DOC_HEADING);
	ctp_output_putf(doc->out, "# %s%s", which, *which ? ": " : "");
	code(doc, command);
	words(doc, "\n");
}

static void heading(struct ctp_doc *doc, const char *text)
{
	begin(doc, CTP_DOC_HEADING);
	ctp_output_putf(doc->out, "## %s\n", text);
}

static void finding(struct ctp_doc *doc, uint32_t number, enum ctp_certainty certainty, const char *text, const char *rule)
{
	begin(doc, CTP_DOC_HEADING);
	ctp_output_putf(doc->out, "### %u. ", number);
	ctp_output_putf(doc->out, "%s: ", ctp_certainty_name(certainty));
	prose(doc->out, text);
	words(doc, "\n");
	if (rule)
		ctp_output_putf(doc->out, "\nRule `%s`\n", rule);
}

/* indent: of text alone. */
static void item(struct ctp_doc *doc, unsigned indent, unsigned depth)
{
	(void)indent;
	begin(doc, CTP_DOC_LIST);
	ctp_output_putf(doc->out, "%*s- ", 2 * (int)depth, "");
}

static void sentence(struct ctp_doc *doc, unsigned indent, const char *label, const char *text)
{
	item(doc, indent, 0);
	words(doc, label);
	prose(doc->out, text);
	words(doc, "\n");
}

static void paragraph(struct ctp_doc *doc, unsigned indent, const char *text)
{
	(void)indent;
	begin(doc, CTP_DOC_PARAGRAPH);
	ctp_output_putf(doc->out, "%s\n", text);
}

/* --- tables --------------------------------------------------------------------------------------------------------------- */

/* Texts and words come first, then the other columns that have a width on a terminal. head: the cells are words, as titles are. */
static void put_cells(struct ctp_doc *doc, const struct ctp_doc_table *t, const char *const cells[CTP_DOC_COLUMNS], bool head)
{
	words(doc, "|");
	for (uint32_t k = 0; k < 2 * t->ncolumns; k++) {
		uint32_t i = k % t->ncolumns;
		const struct ctp_doc_column *column = &t->columns[i];
		bool is_text = !column->width || column->words;
		if (!ctp_doc_has(doc, column) || is_text != (k < t->ncolumns))
			continue;
		words(doc, " ");
		if (cells[i] && !column->width && !column->words && !head)
			code(doc, cells[i]);
		else
			words(doc, cells[i] ? cells[i] : "");
		words(doc, " |");
	}
	words(doc, "\n");
}

static void row(struct ctp_doc *doc, const struct ctp_doc_table *t, const char *const cells[CTP_DOC_COLUMNS])
{
	put_cells(doc, t, cells, false);
}

static void table(struct ctp_doc *doc, const struct ctp_doc_table *t)
{
	char over[CTP_DOC_COLUMNS][CTP_PRINT_NUMBER_MAX];
	const char *titles[CTP_DOC_COLUMNS], *rules[CTP_DOC_COLUMNS], *last = "";
	for (uint32_t i = 0; i < t->ncolumns; i++) {
		const struct ctp_doc_column *column = &t->columns[i];
		titles[i] = column->title;
		rules[i] = column->width > 0 ? "---:" : "---";
		if (column->over && strcmp(column->over, last)) { /* it is written in the first of its columns */
			snprintf(over[i], sizeof over[i], "%s %s", column->over, column->title);
			titles[i] = over[i];
		}
		last = column->over ? column->over : "";
	}
	if (t->title)
		heading(doc, t->title);
	begin(doc, CTP_DOC_TABLE);
	put_cells(doc, t, titles, true);
	put_cells(doc, t, rules, true);
}

static void members(struct ctp_doc *doc, const struct ctp_finding *f)
{
	static const struct ctp_doc_column columns[] = {
		{.title = "coroutine"}, {"state", .words = true}, {"for", .width = 1, .when = CTP_DOC_WITH_CLOCK},
		{"since", .width = 1}, {"last woken by", .width = -1}, {.title = "at"},
	};
	const struct ctp_report_section *s = doc->section;
	struct ctp_doc_table t = {.columns = columns, .ncolumns = 5 + ctp_report_is_spread(f)};
	char label[CTP_PRINT_LABEL_MAX], waker[CTP_PRINT_LABEL_MAX], for_ns[CTP_PRINT_NUMBER_MAX], since[CTP_PRINT_NUMBER_MAX];
	uint32_t shown = ctp_doc_some(doc, f->nwho, MEMBERS);
	table(doc, &t);
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_member *m = &f->who[i];
		if (s->ordinal)
			snprintf(since, sizeof since, "%ju", ctp_print_number(s, m->since_ns));
		else
			ctp_print_ns(since, m->since_ns);
		const char *const cells[CTP_DOC_COLUMNS] = {
			ctp_print_member(label, m), ctp_print_state(m->state), ctp_print_ns(for_ns, m->for_ns), since,
			m->waker ? ctp_print_label(waker, NULL, m->waker) : NULL, m->place ? m->place : "(not known)",
		};
		row(doc, &t, cells);
	}
	snprintf(label, sizeof label, "and %s more", ctp_print_count(since, f->members - shown));
	if (f->members > shown)
		paragraph(doc, 0, label);
}

const struct ctp_doc_ops ctp_doc_markdown = {
	.rows = 10, .findings = UINT32_MAX, .branches = 40, .gap = " ", .names_file = true, .ns = ctp_print_ns,
	.code = code, .title = title, .heading = heading, .finding = finding, .members = members, .item = item,
	.sentence = sentence, .paragraph = paragraph, .table = table, .row = row,
};

void ctp_report_markdown(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	ctp_doc_write(&(struct ctp_doc){.ops = &ctp_doc_markdown, .out = out, .report = r, .style = style});
}

/* --- in brief ------------------------------------------------------------------------------------------------------------- */

/* OTHERS: the heading, what ran, and space between. */
enum { BRIEF_STILL = 2, BRIEF_ITEMS = 8, BRIEF_CAVEATS = 4, BRIEF_OTHERS = 6 };
_Static_assert(BRIEF_STILL + BRIEF_ITEMS + BRIEF_CAVEATS + BRIEF_OTHERS <= CTP_BRIEF_LINES, "the limit holds");

static uint64_t count_results(const struct ctp_report *r)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < r->nsections; i++)
		n += r->sections[i].nfindings + r->sections[i].nsuspects;
	return n;
}

static void brief_heading(struct ctp_output *out, const struct ctp_report *r)
{
	char lines[CTP_PRINT_CLOSING][CTP_PRINT_LINE_MAX], command[CTP_PRINT_COMMAND_MAX];
	ctp_output_putf(out, "### ");
	if (r->sections_seen == 1 && r->nsections) {
		span(out, ctp_print_command(command, r->sections), false);
		ctp_output_putf(out, ": %s\n", ctp_print_verdict(lines[0], r->sections));
	} else {
		ctp_output_putf(out, "%s\n", ctp_print_closing(lines, r) ? lines[0] : "There is nothing in the trace.");
	}
}

/* An item for each program that hung, or in which nothing was resumed any more. */
static bool brief_still(struct ctp_output *out, const struct ctp_report *r)
{
	char how[CTP_PRINT_LINE_MAX], quiet[CTP_PRINT_LINE_MAX];
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->nsections; i++) {
		bool hangs = ctp_ci_hang(how, &r->sections[i]), still = ctp_print_quiet(quiet, &r->sections[i]);
		if ((!hangs && !still) || n++ >= BRIEF_STILL)
			continue;
		ctp_output_putf(out, n == 1 ? "\n- " : "- ");
		if (r->nsections > 1)
			ctp_output_putf(out, "section %u: ", i + 1);
		if (hangs)
			ctp_output_putf(out, "**the program did not end by itself**: %s%s", how, still ? "; " : "");
		ctp_output_putf(out, "%s\n", still ? quiet : "");
	}
	return n;
}

static void brief_because(struct ctp_output *out, const struct ctp_ci_result *result)
{
	ctp_output_putf(out, "  - ");
	prose(out, result->because);
	ctp_output_putf(out, "\n");
}

/* One item for each result; and below it, if there is room for all, what to look at next. */
static void brief_results(struct ctp_output *out, const struct ctp_report *r, bool goes_on)
{
	struct ctp_ci ci;
	struct ctp_ci_result result;
	char number[CTP_PRINT_NUMBER_MAX];
	uint64_t all = count_results(r), shown = 0, limit = all > BRIEF_ITEMS ? BRIEF_ITEMS - 1 : BRIEF_ITEMS;
	if (all && !goes_on)
		ctp_output_putf(out, "\n");
	for (uint32_t i = 0; i < r->nsections; i++)
		for (ctp_ci_start(&ci, &r->sections[i]); shown < limit && ctp_ci_next(&ci, &result); shown++) {
			ctp_output_putf(out, "- %s: ", ctp_certainty_name(result.certainty));
			prose(out, result.title);
			ctp_output_putf(out, " (`%s`)\n", ctp_report_rule(result.rule).name);
			if (all > BRIEF_ITEMS / 2 || !result.next[0])
				continue;
			if (*result.because) {
				brief_because(out, &result);
				continue;
			}
			ctp_output_putf(out, result.excuse ? "  - not likely because " : "  - next: ");
			if (result.excuse) {
				prose(out, result.excuse);
				ctp_output_putf(out, "; ");
			}
			prose(out, result.next[0]);
			ctp_output_putf(out, "\n");
		}
	if (all > shown)
		ctp_output_putf(out, "- and %s more\n", ctp_print_count(number, all - shown));
}

static void brief_caveats(struct ctp_output *out, const struct ctp_report *r)
{
	char lines[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX];
	unsigned all = 0;
	for (uint32_t i = 0; i < r->nsections; i++) {
		unsigned n = ctp_print_caveats(lines, r, &r->sections[i]);
		for (unsigned k = 0; k < n; k++, all++) {
			ctp_output_putf(out, all ? "" : "\n");
			if (all >= BRIEF_CAVEATS - 1)
				continue;
			ctp_output_putf(out, "- note: ");
			prose(out, lines[k]);
			ctp_output_putf(out, "\n");
		}
	}
	if (all >= BRIEF_CAVEATS)
		ctp_output_putf(out, "- and %u more notes\n", all - (BRIEF_CAVEATS - 1));
}

void ctp_report_brief(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	char length[CTP_PRINT_LINE_MAX], outcome[CTP_PRINT_LINE_MAX], n[4][CTP_PRINT_NUMBER_MAX];
	const struct ctp_report_section *s = r->sections;
	(void)style;
	brief_heading(out, r);
	brief_results(out, r, brief_still(out, r));
	brief_caveats(out, r);
	if (r->nsections != 1)
		return;
	ctp_output_putf(out, "\n%s; ", ctp_print_length(length, s));
	ctp_output_putf(out, "%s; ", ctp_print_outcome(outcome, s));
	ctp_output_putf(out, "%s coroutine%s, %s alive at the end; %s event%s, %s lost\n",
	                ctp_print_count(n[0], s->counts.coroutines), ctp_print_plural(s->counts.coroutines),
	                ctp_print_count(n[1], s->alive), ctp_print_count(n[2], s->counts.events),
	                ctp_print_plural(s->counts.events), ctp_print_lost(n[3], s));
}
