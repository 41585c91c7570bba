/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-text.c - renders a report for a person at a terminal.
 *
 * Findings are complete; tables are cut to their first rows unless all are wanted. Texts of unknown length come last in a row, so
 * that none has to be cut and columns stay where they are. A title stays on its line, for grep; the sentences below it are wrapped.
 */
#include "report/report-text.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/report-below.h"
#include "report/report-doc.h"
#include "report/report-tree.h"

enum { WIDTH = 98, MEMBERS = 5, PLACES = 10, DEEPEST = 20 };

static const char BOLD[] = "\033[1m", RED[] = "\033[1;31m", YELLOW[] = "\033[1;33m", CYAN[] = "\033[1;36m", PLAIN[] = "\033[0m";

/* Where a site begins, the folder of all files is left out. */
static void put_text(const struct ctp_doc *doc, const char *text)
{
	char c[CTP_VISIBLE_MAX];
	unsigned n, columns;
	const char *s = ctp_below_skip(text ? text : "(not known)", doc->below, doc->below_bytes);
	while ((n = ctp_visible_char(c, &s, &columns))) {
		ctp_output_put(doc->out, c, n);
		s = *c == ' ' ? ctp_below_skip(s, doc->below, doc->below_bytes) : s;
	}
}

static void in_colour(const struct ctp_doc *doc, const char *colour, const char *text)
{
	ctp_output_putf(doc->out, "%s", doc->style->colour ? colour : "");
	put_text(doc, text);
	ctp_output_putf(doc->out, "%s", doc->style->colour ? PLAIN : "");
}

static void words(struct ctp_doc *doc, const char *text) { ctp_output_putf(doc->out, "%s", text); }
static void code(struct ctp_doc *doc, const char *text) { put_text(doc, text); }

static void title(struct ctp_doc *doc, const char *which, const char *file, const char *command)
{
	ctp_output_putf(doc->out, "%s%s", doc->last ? "\n" : "", which);
	if (file) {
		words(doc, *which ? ", " : "");
		code(doc, file);
	}
	words(doc, *which || file ? ": " : "");
	in_colour(doc, BOLD, command);
	words(doc, "\n");
	doc->last = CTP_DOC_HEADING;
}

static void heading(struct ctp_doc *doc, const char *text)
{
	words(doc, "\n");
	in_colour(doc, BOLD, text);
	words(doc, "\n");
	doc->last = CTP_DOC_HEADING;
}

/* --- lists ---------------------------------------------------------------------------------------------------------------- */

static void item(struct ctp_doc *doc, unsigned indent, unsigned depth)
{
	ctp_output_putf(doc->out, "%*s", (int)(indent + 2 * (depth < DEEPEST ? depth : DEEPEST)), "");
	doc->last = CTP_DOC_LIST;
}

static void paragraph(struct ctp_doc *doc, unsigned indent, const char *text)
{
	bool apart = !indent && doc->last && doc->last != CTP_DOC_PARAGRAPH;
	ctp_output_putf(doc->out, "%s%*s%s\n", apart ? "\n" : "", (int)indent, "", text);
	doc->last = CTP_DOC_PARAGRAPH;
}

/* The number of columns of the word up to the next space or the end. put: writes the word, and moves *text to its end. */
static unsigned word(const struct ctp_doc *doc, const char **text, bool put)
{
	char c[CTP_VISIBLE_MAX];
	unsigned sum = 0, columns;
	const char *s = ctp_below_skip(*text, doc->below, doc->below_bytes);
	while (*s && *s != ' ') {
		unsigned bytes = ctp_visible_char(c, &s, &columns);
		if (put)
			ctp_output_put(doc->out, c, bytes);
		sum += columns;
	}
	if (put)
		*text = s;
	return sum;
}

/* The first line begins with the label, and the others are indented to the end of the label. */
static void sentence(struct ctp_doc *doc, unsigned indent, const char *label, const char *text)
{
	ctp_output_putf(doc->out, "%*s%s", (int)indent, "", label);
	indent += (unsigned)strlen(label);
	unsigned column = indent;
	for (; *text; text += *text == ' ') {
		if (column > indent && column + 1 + word(doc, &text, false) > WIDTH) {
			ctp_output_putf(doc->out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			ctp_output_putf(doc->out, " ");
			column++;
		}
		column += word(doc, &text, true);
	}
	ctp_output_putf(doc->out, "\n");
}

/* --- findings ------------------------------------------------------------------------------------------------------------- */

static void finding(struct ctp_doc *doc, uint32_t number, enum ctp_certainty certainty, const char *text, const char *rule)
{
	static const struct {
		const char *word, *colour;
	} certain[] = {
		[CTP_CERTAIN_UNKNOWN] = {"unknown", CYAN}, [CTP_CERTAIN_POSSIBLE] = {"possible", CYAN},
		[CTP_CERTAIN_LIKELY] = {"likely", YELLOW}, [CTP_CERTAIN_PROVED] = {"PROVED", RED},
	};
	words(doc, number == 1 ? "" : "\n");
	ctp_output_putf(doc->out, "%u. ", number);
	in_colour(doc, certain[certainty].colour, certain[certainty].word);
	words(doc, ": ");
	in_colour(doc, BOLD, text);
	ctp_output_putf(doc->out, rule ? "  [%s]\n" : "\n", rule);
}

static void member_in_full(struct ctp_doc *doc, const struct ctp_report_member *m, bool with_place)
{
	char label[CTP_PRINT_LABEL_MAX], n[2][CTP_PRINT_NUMBER_MAX];
	ctp_output_putf(doc->out, "     ");
	ctp_print_text(doc->out, ctp_print_member(label, m));
	if (with_place) {
		ctp_output_putf(doc->out, " at ");
		ctp_print_text(doc->out, m->place);
	}
	if (doc->section->ordinal)
		ctp_output_putf(doc->out, ": %s since %ju", ctp_print_state(m->state), ctp_print_number(doc->section, m->since_ns));
	else
		ctp_output_putf(doc->out, ": %s for %s, since %s after the start", ctp_print_state(m->state),
		                ctp_print_ns(n[0], m->for_ns), ctp_print_ns(n[1], m->since_ns));
	if (m->waker)
		ctp_output_putf(doc->out, ", last woken by %s", ctp_print_label(label, NULL, m->waker));
	if (m->tid)
		ctp_output_putf(doc->out, ", on thread %ju", m->tid);
	ctp_output_putf(doc->out, "\n");
}

static bool is_at(const struct ctp_report_member *m, const char *place)
{
	return m->place && place ? !strcmp(m->place, place) : m->place == place;
}

/* The first few members at a place, or of all, after a label. more: the number of members that the finding does not list. */
static void some_members(struct ctp_doc *doc, const char *label, const struct ctp_finding *f, const char *at,
                         bool spread, uint64_t more)
{
	char one[CTP_PRINT_LABEL_MAX], line[CTP_SITE_TEXT_MAX + (MEMBERS + 1) * CTP_PRINT_LABEL_MAX], number[CTP_PRINT_NUMBER_MAX];
	uint32_t shown = 0;
	bool had_comma = false;
	line[0] = '\0';
	if (spread)
		snprintf(line, sizeof line, "at %.*s: ", CTP_SITE_TEXT_MAX, at ? at : "a place that is not known");
	for (uint32_t i = 0; i < f->nwho; i++) {
		const struct ctp_report_member *m = &f->who[i];
		if (spread && !is_at(m, at))
			continue;
		if (shown == MEMBERS) {
			more++;
			continue;
		}
		bool has_comma = !m->name && m->in;
		strcat(line, !shown ? "" : has_comma || had_comma ? "; " : ", ");
		strcat(line, ctp_print_member(one, m));
		had_comma = has_comma;
		shown++;
	}
	if (more) {
		strcat(line, had_comma ? "; and " : ", and ");
		strcat(line, ctp_print_count(number, more));
		strcat(line, " more");
	}
	sentence(doc, 0, label, line);
}

/* A line for each place where members are. */
static void members_by_place(struct ctp_doc *doc, const struct ctp_finding *f)
{
	char number[CTP_PRINT_NUMBER_MAX];
	uint32_t places = 0;
	for (uint32_t i = 0; i < f->nwho; i++) {
		uint32_t k = 0;
		while (!is_at(&f->who[k], f->who[i].place))
			k++;
		if (k == i && places++ < PLACES)
			some_members(doc, places > 1 ? "        " : "   who: ", f, f->who[i].place, true, 0);
	}
	if (places > PLACES)
		ctp_output_putf(doc->out, "        and at %u more places\n", places - PLACES);
	if (f->members > f->nwho)
		ctp_output_putf(doc->out, "        and %s more\n", ctp_print_count(number, f->members - f->nwho));
}

static void members(struct ctp_doc *doc, const struct ctp_finding *f)
{
	char number[CTP_PRINT_NUMBER_MAX];
	bool spread = ctp_report_is_spread(f);
	if (!doc->style->all && spread) {
		members_by_place(doc, f);
	} else if (!doc->style->all) {
		some_members(doc, "   who: ", f, NULL, false, f->members > f->nwho ? f->members - f->nwho : 0);
	} else {
		ctp_output_putf(doc->out, "   who:\n");
		for (uint32_t i = 0; i < f->nwho; i++)
			member_in_full(doc, &f->who[i], spread);
		if (f->members > f->nwho)
			ctp_output_putf(doc->out, "     and %s more\n", ctp_print_count(number, f->members - f->nwho));
	}
}

/* --- tables --------------------------------------------------------------------------------------------------------------- */

/* The titles above several columns, each above its last column, if there are any. */
static void put_over(struct ctp_doc *doc, const struct ctp_doc_table *t)
{
	bool any = false;
	for (uint32_t i = 0; i < t->ncolumns; i++)
		any |= t->columns[i].over && ctp_doc_has(doc, &t->columns[i]);
	words(doc, any ? " " : "");
	for (uint32_t i = 0; any && i < t->ncolumns && t->columns[i].width;) {
		const char *over = t->columns[i].over;
		int width = abs(t->columns[i].width);
		while (++i < t->ncolumns && over && t->columns[i].over && !strcmp(t->columns[i].over, over))
			width += 1 + abs(t->columns[i].width);
		ctp_output_putf(doc->out, " %*s", width, over ? over : "");
	}
	words(doc, any ? "\n" : "");
}

static void table(struct ctp_doc *doc, const struct ctp_doc_table *t)
{
	const char *titles[CTP_DOC_COLUMNS] = {NULL};
	bool text = false; /* only the first of the texts has a title */
	for (uint32_t i = 0; i < t->ncolumns; i++) {
		titles[i] = text ? NULL : t->columns[i].title;
		text |= !t->columns[i].width;
	}
	heading(doc, t->title);
	put_over(doc, t);
	doc->ops->row(doc, t, titles);
	doc->last = CTP_DOC_TABLE;
}

static void row(struct ctp_doc *doc, const struct ctp_doc_table *t, const char *const cells[CTP_DOC_COLUMNS])
{
	words(doc, " ");
	for (uint32_t i = 0; i < t->ncolumns; i++) {
		const struct ctp_doc_column *column = &t->columns[i];
		if (!ctp_doc_has(doc, column) || !cells[i])
			continue;
		if (column->width) {
			ctp_output_putf(doc->out, " %*s", column->width, cells[i]);
			continue;
		}
		words(doc, column->before ? column->before : "  ");
		code(doc, cells[i]);
		words(doc, column->after ? column->after : "");
	}
	words(doc, "\n");
}

const struct ctp_doc_ops ctp_doc_text = {
	.rows = 6, .findings = 20, .branches = 20, .shortens = true, .gap = "  ", .ns = ctp_print_brief, .code = code, .title = title,
	.heading = heading, .finding = finding, .members = members, .item = item, .sentence = sentence,
	.paragraph = paragraph, .table = table, .row = row,
};

void ctp_report_text(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	ctp_doc_write(&(struct ctp_doc){.ops = &ctp_doc_text, .out = out, .report = r, .style = style});
}
