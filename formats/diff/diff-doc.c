/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* diff-doc.c - a comparison as a document: what was compared, findings, and a table each of counts, running times and waits. */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "diff/diff-own.h"
#include "diff/diff-print.h"
#include "report/report-doc.h"

enum { INDENT = 2, FILES = 3, ROWS_MAX = 1 << 30 };

#define words(doc, ...) ctp_output_putf((doc)->out, __VA_ARGS__)
#define count(n) ctp_print_count((char[CTP_PRINT_NUMBER_MAX]){""}, n)

static const char *const sides[CTP_DIFF_SIDES] = {"before", "after"};

/* --- what was compared ---------------------------------------------------------------------------------------------------- */

/* The files of a side; one that has several sections counts once. */
static void files(struct ctp_doc *doc, const struct ctp_diff *d, enum ctp_diff_side side)
{
	const char *last = NULL;
	uint32_t n = 0;
	for (uint32_t i = 0; i < d->nruns; i++) {
		const char *file = d->runs[i].file;
		if (d->runs[i].side != side || (last && !strcmp(last, file)))
			continue;
		last = file;
		if (n++ < FILES) {
			words(doc, n == 1 ? " in " : ", ");
			doc->ops->code(doc, file);
		}
	}
	if (n > FILES)
		words(doc, " and %u more", n - FILES);
}

/* The units of the runs of a side: "1,000", or "998 to 1,003". */
static void units(struct ctp_doc *doc, const struct ctp_diff *d, enum ctp_diff_side side)
{
	uint64_t low = UINT64_MAX, high = 0;
	char n[2][CTP_PRINT_NUMBER_MAX];
	for (uint32_t i = 0; i < d->nruns; i++) {
		if (d->runs[i].side != side)
			continue;
		low = d->runs[i].units < low ? d->runs[i].units : low;
		high = d->runs[i].units > high ? d->runs[i].units : high;
	}
	words(doc, low < high ? "%s to %s" : "%s", ctp_print_count(n[0], low), ctp_print_count(n[1], high));
}

/* The first run of a side with this command; null: the first of all. */
static uint32_t first_run(const struct ctp_diff *d, enum ctp_diff_side side, const char *command)
{
	uint32_t i = 0;
	while (d->runs[i].side != side || (command && strcmp(d->runs[i].command, command)))
		i++;
	return i;
}

/* The commands of a side, each once. Returns how many there are. doc: null if they are not to be written. */
static uint32_t commands(struct ctp_doc *doc, const struct ctp_diff *d, enum ctp_diff_side side)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < d->nruns; i++) {
		const struct ctp_diff_run *run = &d->runs[i];
		if (run->side != side || first_run(d, side, run->command) != i || n++ >= FILES || !doc)
			continue;
		words(doc, n == 1 ? " of " : ", ");
		doc->ops->code(doc, run->command);
	}
	if (doc && n > FILES)
		words(doc, " and %u more", n - FILES);
	return n;
}

enum { TITLE_BYTES = 2048 };

/* Of several commands on a side it has the first. */
static void title(struct ctp_doc *doc, const char *before, const char *after, bool several)
{
	char both[TITLE_BYTES];
	const char *what = several ? "Before and after, the first of several commands" : "Before and after";
	snprintf(both, sizeof both, "%s, then %s", before, after);
	doc->ops->title(doc, what, NULL, strcmp(before, after) ? both : before);
}

static void what_was_compared(struct ctp_doc *doc, const struct ctp_diff *d)
{
	const char *before = d->runs[first_run(d, CTP_DIFF_BEFORE, NULL)].command;
	const char *after = d->runs[first_run(d, CTP_DIFF_AFTER, NULL)].command;
	bool renamed = strcmp(before, after);
	bool several = commands(NULL, d, CTP_DIFF_BEFORE) > 1 || commands(NULL, d, CTP_DIFF_AFTER) > 1;
	title(doc, before, after, several);
	for (unsigned side = 0; side < CTP_DIFF_SIDES; side++) {
		doc->ops->item(doc, INDENT, 0);
		words(doc, "%s: %u run%s", sides[side], d->sides[side], ctp_print_plural(d->sides[side]));
		if (renamed || several)
			commands(doc, d, side);
		files(doc, d, side);
		words(doc, "\n");
	}
	if (!d->options.per)
		return;
	doc->ops->item(doc, INDENT, 0);
	words(doc, "a unit is one resume at ");
	doc->ops->code(doc, d->options.per);
	words(doc, ": ");
	units(doc, d, CTP_DIFF_BEFORE);
	words(doc, " in a run before, ");
	units(doc, d, CTP_DIFF_AFTER);
	words(doc, " after\n");
}

/* --- what it cannot tell -------------------------------------------------------------------------------------------------- */

static void note(struct ctp_doc *doc, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct ctp_doc *doc, const char *fmt, ...)
{
	char line[2 * CTP_PRINT_LINE_MAX + CTP_PRINT_COMMAND_MAX];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	doc->ops->sentence(doc, INDENT, "", line);
}

/* How many runs would show more. */
static const char *more_runs(char to[CTP_PRINT_LINE_MAX], const struct ctp_diff *d)
{
	enum { BEGIN_WITH = 5 };
	if (d->needed > BEGIN_WITH)
		snprintf(to, CTP_PRINT_LINE_MAX, "take %d or more of each side; %u show a difference of any single quantity",
		         BEGIN_WITH, d->needed);
	else
		snprintf(to, CTP_PRINT_LINE_MAX, "take %u or more of each side", d->needed);
	return to;
}

static void note_runs(struct ctp_doc *doc, const struct ctp_diff *d)
{
	uint32_t a = d->sides[CTP_DIFF_BEFORE], b = d->sides[CTP_DIFF_AFTER];
	char more[CTP_PRINT_LINE_MAX], largest[CTP_PRINT_LINE_MAX];
	if (!d->candidates)
		return;
	if (a == 1 || b == 1)
		note(doc, "one run of a side does not show how much runs differ by themselves: a 99th percentile can be several "
		          "times as long in another run of the same program, so neither it nor any other time or count is judged");
	snprintf(largest, sizeof largest, "%u quantities", d->alone);
	if (!d->compared)
		note(doc, "%u and %u runs are too few to show a difference: %s", a, b, more_runs(more, d));
	else if (!d->together)
		note(doc, "%u and %u runs are too few to show a difference among %u quantities: %s", a, b, d->compared,
		     more_runs(more, d));
	else if (!d->alone)
		note(doc, "%u and %u runs show a difference only if at least %u of the %u quantities differ; %u of each side are "
		          "enough for each quantity", a, b, d->together, d->compared, d->needed);
	else if (d->alone < d->compared)
		note(doc, "%u and %u runs are enough for the largest %s, and for the other %u only if several differ; %u of each "
		          "side are enough for each quantity", a, b, d->alone == 1 ? "quantity" : largest, d->compared - d->alone,
		     d->needed);
}

/* How many runs of a side something is true of: "the run", "all 6 runs", "2 of 6 runs". */
static const char *some(char to[CTP_PRINT_LINE_MAX], uint32_t n, uint32_t of)
{
	if (of == 1)
		return strcpy(to, "the run");
	snprintf(to, CTP_PRINT_LINE_MAX, n == of ? "all %u runs" : "%u of %u runs", n, of);
	return to;
}

/* Runs of a side in which events may be missing. */
static void note_losses(struct ctp_doc *doc, const struct ctp_diff *d, enum ctp_diff_side side)
{
	char runs[CTP_PRINT_LINE_MAX], known[CTP_PRINT_LINE_MAX];
	uint32_t harmed = 0, cut = 0;
	uint64_t lost = 0;
	for (uint32_t i = 0; i < d->nruns; i++) {
		const struct ctp_diff_run *run = &d->runs[i];
		if (run->side != side)
			continue;
		harmed += run->lost || run->missed || run->damaged;
		cut += run->cut;
		lost += run->lost;
	}
	snprintf(known, sizeof known, lost ? "%s %s known to be lost" : "it is not known how many", count(lost),
	         lost == 1 ? "is" : "are");
	if (harmed)
		note(doc, "%s: %s lack%s events (%s), and may lack findings: %s left out wherever the events may belong",
		     sides[side], some(runs, harmed, d->sides[side]), harmed == 1 ? "s" : "", known,
		     harmed == 1 ? "it is" : "they are");
	if (cut)
		note(doc, "%s: %s %s no end, and may lack findings%s", sides[side], some(runs, cut, d->sides[side]),
		     cut == 1 ? "has" : "have", d->options.per ? "" : "; counts of such runs are left out: --per compares them");
}

static void notes(struct ctp_doc *doc, const struct ctp_diff *d)
{
	bool crowded = false, ordinal = false;
	for (uint32_t i = 0; i < d->nruns; i++) {
		crowded |= d->runs[i].crowded;
		ordinal |= d->runs[i].ordinal;
	}
	note_runs(doc, d);
	for (unsigned side = 0; side < CTP_DIFF_SIDES; side++)
		note_losses(doc, d, side);
	if (d->touched)
		note(doc, "%u quantit%s not known of all runs, because events or ends are missing", d->touched,
		     d->touched == 1 ? "y is" : "ies are");
	if (d->small)
		note(doc, "%u time%s not compared, because less than 0.1 %% of the time was spent there", d->small,
		     d->small == 1 ? " is" : "s are");
	if (d->slight)
		note(doc, "%u further quantit%s, by less than %.4g %%, which does not count: --min-change", d->slight,
		     d->slight == 1 ? "y differs" : "ies differ", 100 * d->options.min_change);
	if (crowded)
		note(doc, "a run has more than %d groups of coroutines and sites: what is in the further ones is not compared",
		     CTP_DIFF_GROUPS);
	if (ordinal)
		note(doc, "a run has no clock, and so no times");
	if (d->ignored)
		note(doc, "findings and sites are ignored, as asked: %s in all runs together", count(d->ignored));
}

/* --- findings ------------------------------------------------------------------------------------------------------------- */

static void findings(struct ctp_doc *doc, const struct ctp_diff *d, enum ctp_diff_change change, const char *heading)
{
	uint32_t number = 0;
	char line[CTP_PRINT_LINE_MAX];
	for (uint32_t i = 0; i < d->nfindings; i++) {
		const struct ctp_diff_finding *f = &d->findings[i];
		if (ctp_diff_change_of(d, f) != change)
			continue;
		if (!number++)
			doc->ops->heading(doc, heading);
		doc->ops->finding(doc, number, f->certainty, f->title, ctp_rule_name(f->rule));
		snprintf(line, sizeof line, "in %u of %u runs before, in %u of %u after", f->runs[CTP_DIFF_BEFORE],
		         d->sides[CTP_DIFF_BEFORE], f->runs[CTP_DIFF_AFTER], d->sides[CTP_DIFF_AFTER]);
		doc->ops->sentence(doc, INDENT + 1, "", line);
	}
}

/* Whether some quantity is known of both sides. */
static bool has_common(const struct ctp_diff *d)
{
	for (size_t i = 0; i < d->nrows; i++)
		if (d->rows[i].side[CTP_DIFF_BEFORE].n && d->rows[i].side[CTP_DIFF_AFTER].n)
			return true;
	return false;
}

static void verdict(struct ctp_doc *doc, const struct ctp_diff *d)
{
	char line[CTP_PRINT_LINE_MAX];
	uint32_t n[CTP_DIFF_CHANGES] = {0};
	int len;
	for (uint32_t i = 0; i < d->nfindings; i++)
		n[ctp_diff_change_of(d, &d->findings[i])]++;
	if (d->shown)
		len = snprintf(line, sizeof line, "%u of %u quantities differ%s", d->shown, d->compared, d->shown == 1 ? "s" : "");
	else if (d->compared)
		len = snprintf(line, sizeof line, "No difference shown; %u quantit%s compared", d->compared,
		               d->compared == 1 ? "y" : "ies");
	else if (d->candidates)
		len = snprintf(line, sizeof line, "Too few runs to compare counts and times");
	else
		len = snprintf(line, sizeof line, has_common(d) ? "Counts and times are the same in all runs" :
		                                                  "No count or time is known of both sides");
	if (!d->nfindings)
		snprintf(line + len, sizeof line - (size_t)len, "; no findings");
	else
		len += snprintf(line + len, sizeof line - (size_t)len, "; %u new finding%s, %u gone, %u on both sides",
		                n[CTP_DIFF_NEW], ctp_print_plural(n[CTP_DIFF_NEW]), n[CTP_DIFF_GONE], n[CTP_DIFF_BOTH]);
	if (n[CTP_DIFF_CHANCE])
		snprintf(line + len, sizeof line - (size_t)len, ", %u that may be chance", n[CTP_DIFF_CHANCE]);
	doc->ops->heading(doc, line);
}

/* --- tables --------------------------------------------------------------------------------------------------------------- */

enum column { BEFORE, BEFORE_SPREAD, AFTER, AFTER_SPREAD, CHANGE, P, RUNS, WHAT, SITE, SPAWN, NAME, COLUMNS };

static const struct ctp_doc_column columns[COLUMNS] = {
	{"before", .width = 9}, {"+/-", .width = 7}, {"after", .width = 9}, {"+/-", .width = 7}, {"change", .width = 9},
	{"p", .width = 7}, {"runs", .width = 5}, {"what", .width = -13, .words = true},
	{.title = "where"}, {"spawned at", .before = ", spawned at "}, {"name", .before = ", named "},
};

static const char *const whats[CTP_DIFF_WHATS] = {
	[CTP_DIFF_STILL] = "still waiting",
	[CTP_DIFF_RESUMES] = "resumes", [CTP_DIFF_WAKES] = "wakes", [CTP_DIFF_COROUTINES] = "coroutines",
	[CTP_DIFF_RUN_TOTAL] = "running, all", [CTP_DIFF_RUN_P50] = "running p50", [CTP_DIFF_RUN_P99] = "running p99",
	[CTP_DIFF_WAIT_P50] = "suspended p50", [CTP_DIFF_WAIT_P99] = "suspended p99",
	[CTP_DIFF_READY_P50] = "runnable p50", [CTP_DIFF_READY_P99] = "runnable p99",
};

typedef char number[CTP_PRINT_NUMBER_MAX];

static const char *quantity(const struct ctp_doc *doc, number to, const struct ctp_diff_row *row, const struct ctp_diff_sample *s)
{
	if (!s->n)
		return "-";
	if (ctp_diff_is_time(row->what))
		return doc->ops->ns(to, (uint64_t)(s->median + 0.5));
	if (s->median >= 100 || fabs(s->median - rint(s->median)) < 1e-9)
		return ctp_print_count(to, (uint64_t)(s->median + 0.5));
	snprintf(to, CTP_PRINT_NUMBER_MAX, "%.3g", s->median);
	return to;
}

/* Half of the range of the runs, as a part of the median. */
static const char *spread(number to, const struct ctp_diff_sample *s)
{
	if (s->n < 2 || s->median <= 0)
		return "";
	double part = 50 * (s->high - s->low) / s->median;
	if (part < 999.5)
		snprintf(to, CTP_PRINT_NUMBER_MAX, part < 9.95 ? "%.1f %%" : "%.0f %%", part);
	else
		snprintf(to, CTP_PRINT_NUMBER_MAX, "%.0fx", part / 100);
	return to;
}

static const char *change(number to, const struct ctp_diff *d, const struct ctp_diff_row *row)
{
	const struct ctp_diff_sample *a = &row->side[CTP_DIFF_BEFORE], *b = &row->side[CTP_DIFF_AFTER];
	if (row->verdict == CTP_DIFF_SAME)
		return "~";
	if (row->verdict == CTP_DIFF_UNTOLD)
		return "?";
	if (row->verdict == CTP_DIFF_SLIGHT) {
		snprintf(to, CTP_PRINT_NUMBER_MAX, "< %.4g %%", 100 * d->options.min_change);
		return to;
	}
	if (a->median <= 0 || b->median <= 0)
		return a->median <= 0 ? "new" : "gone";
	double ratio = b->median / a->median;
	if (ratio >= 10)
		snprintf(to, CTP_PRINT_NUMBER_MAX, "%.3gx", ratio);
	else
		snprintf(to, CTP_PRINT_NUMBER_MAX, "%+.1f %%", 100 * (ratio - 1));
	return to;
}

static const char *p_of(number to, const struct ctp_diff_row *row)
{
	if (row->verdict == CTP_DIFF_UNTOLD)
		return "-";
	snprintf(to, CTP_PRINT_NUMBER_MAX, row->adjusted < 0.001 ? "< 0.001" : "%.3f", row->adjusted);
	return to;
}

/* Whether groups at the same place have different spawn sites; different names at both. */
static void find_different(const struct ctp_diff *d, const struct ctp_diff_key *key, bool *spawns, bool *names)
{
	size_t at = 0;
	*spawns = *names = false;
	CTP_ARRAY_FIRST(at, d->ngroups, d->groups[at].key.kind > key->kind ||
	                (d->groups[at].key.kind == key->kind && d->groups[at].key.place >= key->place));
	for (; at < d->ngroups && d->groups[at].key.kind == key->kind && d->groups[at].key.place == key->place; at++) {
		*spawns |= d->groups[at].key.spawn != key->spawn;
		*names |= d->groups[at].key.spawn == key->spawn && d->groups[at].key.name != key->name;
	}
}

/* The last columns are left out if no row of a table has anything there. */
static uint32_t count_columns(const struct ctp_diff *d, enum ctp_diff_what first, enum ctp_diff_what last)
{
	uint32_t n = SPAWN;
	for (size_t i = 0; i < d->nrows; i++) {
		bool spawns = false, names = false;
		if (d->rows[i].what >= first && d->rows[i].what <= last && d->rows[i].key.kind == CTP_DIFF_PLACE)
			find_different(d, &d->rows[i].key, &spawns, &names);
		n = names ? COLUMNS : spawns && n < NAME ? NAME : n;
	}
	return n;
}

static void row(struct ctp_doc *doc, const struct ctp_doc_table *t, const struct ctp_diff *d, const struct ctp_diff_row *r)
{
	number n[COLUMNS];
	char site[CTP_DIFF_SITE_MAX + sizeof "spawned at "];
	bool spawns = false, names = false;
	const char *place = ctp_diff_text(d, r->key.place), *spawn = ctp_diff_text(d, r->key.spawn);
	if (r->key.kind == CTP_DIFF_ALL)
		snprintf(site, sizeof site, "(the whole run)");
	else if (r->key.kind == CTP_DIFF_SPAWN)
		snprintf(site, sizeof site, "spawned at %.*s", CTP_DIFF_SITE_MAX - 1, spawn ? spawn : "(not known)");
	else
		snprintf(site, sizeof site, "%.*s", CTP_DIFF_SITE_MAX - 1, place ? place : "(the start, or not known)");
	if (r->key.kind == CTP_DIFF_PLACE)
		find_different(d, &r->key, &spawns, &names);
	snprintf(n[RUNS], sizeof n[RUNS], "%u+%u", r->side[CTP_DIFF_BEFORE].n, r->side[CTP_DIFF_AFTER].n);
	const char *const cells[CTP_DOC_COLUMNS] = {
		[BEFORE] = quantity(doc, n[BEFORE], r, &r->side[CTP_DIFF_BEFORE]),
		[BEFORE_SPREAD] = spread(n[BEFORE_SPREAD], &r->side[CTP_DIFF_BEFORE]),
		[AFTER] = quantity(doc, n[AFTER], r, &r->side[CTP_DIFF_AFTER]),
		[AFTER_SPREAD] = spread(n[AFTER_SPREAD], &r->side[CTP_DIFF_AFTER]),
		[CHANGE] = change(n[CHANGE], d, r), [P] = p_of(n[P], r), [RUNS] = n[RUNS], [WHAT] = whats[r->what],
		[SITE] = site, [SPAWN] = spawns ? (spawn ? spawn : "(not known)") : NULL,
		[NAME] = names && r->key.name ? ctp_diff_text(d, r->key.name) : NULL,
	};
	doc->ops->row(doc, t, cells);
}

/* Rows of tiny parts, and those of which losses leave nothing, say nothing to anybody. */
static bool is_worth_a_row(const struct ctp_diff_row *r)
{
	return !r->small && (r->side[CTP_DIFF_BEFORE].n || r->side[CTP_DIFF_AFTER].n);
}

/* The rows from first to last of a table. Rows that are not compared are shown only if all are wanted. */
static void table(struct ctp_doc *doc, const struct ctp_diff *d, const char *title, enum ctp_diff_what first,
                  enum ctp_diff_what last)
{
	const struct ctp_doc_table t = {.title = title, .columns = columns, .ncolumns = count_columns(d, first, last)};
	uint32_t limit = doc->style->all ? ROWS_MAX : doc->style->top ? doc->style->top : doc->ops->rows, shown = 0, more = 0;
	char line[CTP_PRINT_LINE_MAX];
	for (size_t i = 0; i < d->nrows; i++) {
		const struct ctp_diff_row *r = &d->rows[i];
		if (r->what < first || r->what > last || (!is_worth_a_row(r) && !doc->style->all))
			continue;
		if (shown >= limit && r->verdict < CTP_DIFF_LESS) {
			more++;
			continue;
		}
		if (!shown++)
			doc->ops->table(doc, &t);
		row(doc, &t, d, r);
	}
	snprintf(line, sizeof line, "... %u more, without a difference shown: -v shows all", more);
	if (more)
		doc->ops->paragraph(doc, INDENT, line);
}

void ctp_diff_print(struct ctp_output *out, const struct ctp_diff *d, const struct ctp_report_style *style)
{
	const struct ctp_doc_ops *ops = style->format == CTP_REPORT_AS_MARKDOWN ? &ctp_doc_markdown : &ctp_doc_text;
	struct ctp_doc doc = {.ops = ops, .out = out, .style = style};
	const char *counts = d->options.per ? "Counts per unit" : "Counts of a run";
	const char *running = d->options.per ? "Running time (all: per unit)" : "Running time";
	assert(style->format != CTP_REPORT_AS_FOLDED && d->nruns);
	what_was_compared(&doc, d);
	verdict(&doc, d);
	notes(&doc, d);
	findings(&doc, d, CTP_DIFF_NEW, "New findings");
	findings(&doc, d, CTP_DIFF_GONE, "Findings that are gone");
	findings(&doc, d, CTP_DIFF_CHANCE, "Findings of one side that may be chance");
	table(&doc, d, "Coroutines that wait at the end of a run", CTP_DIFF_STILL, CTP_DIFF_STILL);
	table(&doc, d, counts, CTP_DIFF_RESUMES, CTP_DIFF_COROUTINES);
	table(&doc, d, running, CTP_DIFF_RUN_TOTAL, CTP_DIFF_RUN_P99);
	table(&doc, d, "Waits", CTP_DIFF_WAIT_P50, CTP_DIFF_READY_P99);
}
