/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* report-body.c - walks over a report, part by part, in the order in which a person reads it. */
#include "report/report-doc.h"

#include <assert.h>
#include <stdio.h>

#include "base/text.h"
#include "report/report-alike.h"
#include "report/report-below.h"
#include "report/report-tree.h"
#include "report/report-which.h"

/* Columns of indentation on a terminal. */
enum { IN_SECTION = 2, IN_FINDING = 3, IN_TREE = 5 };
enum { HEAVIEST = 3 };

#define words(doc, ...) ctp_output_putf((doc)->out, __VA_ARGS__)

static void code(struct ctp_doc *doc, const char *text) { doc->ops->code(doc, text); }

static const char *known(const char *text) { return text ? text : "(not known)"; }

/* --- what ran ------------------------------------------------------------------------------------------------------------- */

/* "Section 2 of 3", or "Origin 2 of 3", its file if there are several, and the command. */
static void title(struct ctp_doc *doc, uint32_t number)
{
	const struct ctp_report_section *s = doc->section;
	char which[CTP_PRINT_LINE_MAX], command[CTP_PRINT_COMMAND_MAX];
	bool named = doc->report->sections_seen > 1 || doc->style->several;
	doc->ops->title(doc, ctp_which_title(which, doc->report, number - 1), named ? s->file : NULL, ctp_print_command(command, s));
}

static void one_fact(struct ctp_doc *doc, bool is_known, const char *label, const char *text)
{
	if (!is_known)
		return;
	doc->ops->item(doc, IN_SECTION, 0);
	words(doc, "%s%s\n", label, text);
}

static void start(struct ctp_doc *doc)
{
	const struct ctp_report_section *s = doc->section;
	char wall[CTP_TEXT_MAX];
	if (s->origin) {
		words(doc, "origin ");
		code(doc, s->origin);
		words(doc, s->pid || s->host ? "; " : "");
	}
	if (s->pid) {
		words(doc, "pid ");
		code(doc, s->pid);
	}
	if (s->host) {
		words(doc, s->pid ? " on " : "on ");
		code(doc, s->host);
	}
	if (s->pid || s->host || s->origin)
		words(doc, "; ");
	if (s->has_wall && s->start_wall_ns >= 0) {
		ctp_text_wall(wall, s->start_wall_ns / 1000000000, 0);
		words(doc, "started %.10s %.8s UTC; ", wall, wall + 11);
	}
}

/* By which options; they may have any bytes. */
static void filtered(struct ctp_doc *doc)
{
	if (!doc->section->filtered)
		return;
	doc->ops->item(doc, IN_SECTION, 0);
	words(doc, "filtered: ");
	code(doc, *doc->section->filtered ? doc->section->filtered : "yes");
	words(doc, "\n");
}

static void below(struct ctp_doc *doc)
{
	char path[CTP_SITE_TEXT_MAX];
	if (!doc->below_bytes)
		return;
	snprintf(path, sizeof path, "%.*s", (int)doc->below_bytes, doc->below);
	doc->ops->item(doc, IN_SECTION, 0);
	words(doc, "files are in ");
	code(doc, path);
	words(doc, "\n");
}

static void what_ran(struct ctp_doc *doc)
{
	const struct ctp_report_section *s = doc->section;
	const struct ctp_follow_counts *c = &s->counts;
	const char *alive = s->missing ? "not seen to die" : "alive at the end"; /* missing packets may have deaths */
	char line[CTP_PRINT_LINE_MAX], n[4][CTP_PRINT_NUMBER_MAX];
	if (s->file && doc->ops->names_file) {
		doc->ops->item(doc, IN_SECTION, 0);
		words(doc, "trace ");
		code(doc, s->file);
		words(doc, "\n");
	}
	doc->ops->item(doc, IN_SECTION, 0);
	start(doc);
	words(doc, "%s; ", ctp_print_length(line, s));
	words(doc, "%s\n", ctp_print_outcome(line, s));
	doc->ops->item(doc, IN_SECTION, 0);
	words(doc, "%s coroutine%s, %s %s; run by %s thread%s; ", ctp_print_count(n[0], c->coroutines), ctp_print_plural(c->coroutines),
	      ctp_print_count(n[1], s->alive), alive, ctp_print_count(n[2], s->nthreads_seen),
	      ctp_print_plural(s->nthreads_seen));
	words(doc, "%s event%s, %s wake%s; %s lost\n", ctp_print_count(n[0], c->events), ctp_print_plural(c->events),
	      ctp_print_count(n[1], c->wakes), ctp_print_plural(c->wakes), ctp_print_lost(n[2], s));
	filtered(doc);
	one_fact(doc, ctp_print_window(line, doc->report), "looked at only ", line);
	one_fact(doc, ctp_print_judged(line, s), "", line);
	one_fact(doc, ctp_print_quiet(line, s), "", line);
	one_fact(doc, ctp_print_origin_error(line, s), "", line);
	below(doc);
}

/* Says how many rows are not shown. */
static void more(struct ctp_doc *doc, uint32_t n, uint32_t shown)
{
	char line[CTP_PRINT_LINE_MAX], number[CTP_PRINT_NUMBER_MAX];
	snprintf(line, sizeof line, "... %s more: -v shows all", ctp_print_count(number, n - shown));
	if (n > shown)
		doc->ops->paragraph(doc, IN_SECTION, line);
}

/* --- findings ------------------------------------------------------------------------------------------------------------- */

/* The coroutines that wait because of a finding, each below the one that it waits for. */
static void tree(struct ctp_doc *doc, const struct ctp_finding *f)
{
	struct ctp_branch branches[CTP_TREE_MAX];
	char text[CTP_PRINT_LABEL_MAX], wait[CTP_PRINT_LINE_MAX];
	uint32_t n = ctp_report_tree(branches, f);
	n = doc->style->all ? n : ctp_report_fold(branches, n);
	uint32_t shown = ctp_doc_some(doc, n, doc->ops->branches);
	uint64_t waiters = 0;
	if (n)
		doc->ops->paragraph(doc, IN_FINDING, f->members == 1 ? "waiting because of it:" : "waiting because of them:");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_branch *b = &branches[i];
		doc->ops->item(doc, IN_TREE, b->depth);
		if (b->alike) {
			words(doc, "and %s more like it\n", ctp_print_count(text, b->alike));
			waiters += b->hidden;
			continue;
		}
		code(doc, b->who ? ctp_print_member(text, b->who) : ctp_print_label(text, b->name, b->id));
		if (b->depth && b->who->place) {
			words(doc, "%sat ", doc->ops->gap);
			code(doc, b->who->place);
		}
		if (b->depth)
			words(doc, "%s%s", b->who->place ? ", " : doc->ops->gap, ctp_print_wait(wait, doc->section, b->who));
		waiters += b->depth > 0;
		words(doc, "\n");
	}
	if (n && f->waiting > waiters) {
		snprintf(wait, sizeof wait, "and %s more", ctp_print_count(text, f->waiting - waiters));
		doc->ops->paragraph(doc, IN_TREE, wait);
	}
}

static void sentences(struct ctp_doc *doc, const char *label, char *const lines[CTP_REPORT_LINES])
{
	for (uint32_t i = 0; i < CTP_REPORT_LINES && lines[i]; i++)
		doc->ops->sentence(doc, IN_FINDING + (i ? (unsigned)strlen(label) : 0), i ? "" : label, lines[i]);
}

/* Which finding has the coroutines that this one waits for. */
static void because(struct ctp_doc *doc, const struct ctp_finding *f)
{
	char line[CTP_PRINT_LINE_MAX];
	if (f->root)
		doc->ops->sentence(doc, IN_FINDING, "", ctp_print_because(line, doc->section, f, false));
}

/*
 * Of what is because of another finding, the evidence is left out, unless everything is wanted: it would lead away from the root. Of a
 * wait that stands out, the evidence is about the coroutines that wait for the members, and so comes after these.
 */
static void finding(struct ctp_doc *doc, const struct ctp_finding *f, uint32_t number)
{
	bool has_rule = f->rule != CTP_RULE_NONE;
	doc->ops->finding(doc, number, f->certainty, f->title, has_rule ? ctp_rule_name(f->rule) : NULL);
	bool whole = !f->root || doc->style->all;
	because(doc, f);
	if (f->excuse)
		doc->ops->sentence(doc, IN_FINDING, "not reported as likely because ", f->excuse);
	if (has_rule && whole)
		sentences(doc, "", f->evidence);
	if (f->nwho)
		doc->ops->members(doc, f);
	if (!has_rule && whole)
		sentences(doc, "", f->evidence);
	tree(doc, f);
	if (whole)
		sentences(doc, "next: ", f->next);
}

static void findings(struct ctp_doc *doc)
{
	const struct ctp_report_section *s = doc->section;
	char verdict[CTP_PRINT_LINE_MAX], lines[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX];
	uint32_t shown = ctp_doc_some(doc, s->nfindings, doc->ops->findings);
	doc->ops->heading(doc, ctp_print_verdict(verdict, s));
	for (uint32_t i = 0; i < shown; i++)
		finding(doc, &s->findings[i], i + 1);
	more(doc, s->nfindings, shown);
	for (uint32_t i = 0; i < s->nsuspects; i++) /* numbers go on, for ctp-filter --finding */
		finding(doc, &s->suspects[i], s->nfindings + i + 1);
	unsigned n = ctp_print_caveats(lines, doc->report, s);
	if (n)
		doc->ops->heading(doc, "What this could not see");
	for (unsigned i = 0; i < n; i++)
		doc->ops->sentence(doc, IN_SECTION, "", lines[i]);
}

/* --- tables --------------------------------------------------------------------------------------------------------------- */

/* A row while its cells are made, in the order of the columns. */
struct row {
	struct ctp_doc *doc;
	char numbers[CTP_DOC_COLUMNS][CTP_PRINT_NUMBER_MAX];
	const char *cells[CTP_DOC_COLUMNS];
	uint32_t n;
};

static void cell(struct row *r, const char *text)
{
	assert(r->n < CTP_DOC_COLUMNS);
	r->cells[r->n++] = text;
}

static void cell_count(struct row *r, uint64_t n) { cell(r, ctp_print_count(r->numbers[r->n], n)); }

static void cell_ns(struct row *r, bool is_known, uint64_t ns) { cell(r, is_known ? r->doc->ops->ns(r->numbers[r->n], ns) : "-"); }

static const char *number(char to[CTP_PRINT_NUMBER_MAX], uint64_t n)
{
	snprintf(to, CTP_PRINT_NUMBER_MAX, "%ju", n);
	return to;
}

static void put_row(const struct ctp_doc_table *table, struct row *r)
{
	assert(r->n == table->ncolumns);
	r->doc->ops->row(r->doc, table, r->cells);
	r->n = 0;
}

static uint32_t rows_of(const struct ctp_doc *doc, uint32_t n, uint32_t limit)
{
	return ctp_doc_some(doc, n, doc->style->top ? doc->style->top : limit);
}

#define NUMBER(name, columns, which) {.title = name, .width = columns, .when = which}
#define COUNT(name, columns) NUMBER(name, columns, CTP_DOC_ALWAYS)
#define TEXT(name, joins, which) {.title = name, .before = joins, .when = which}
#define SPAWNED_AT TEXT("spawned at", ", spawned at ", CTP_DOC_ALWAYS)
#define TABLE(title, columns) {title, columns, sizeof(columns) / sizeof *(columns)}

static bool is_same(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

/* All coroutines of a row are above, as a wait that stands out. */
static bool stands_out(const struct ctp_report_section *s, const struct ctp_report_still *row)
{
	for (uint32_t i = 0; i < s->nsuspects; i++) {
		const struct ctp_finding *p = &s->suspects[i];
		bool all = p->members == p->open && p->members == row->coroutines;
		if (all && is_same(p->place, row->place) && is_same(p->spawn, row->spawn))
			return true;
	}
	return false;
}

/*
 * Coroutines that still wait, of which some may be runnable; or that still run, and the thread of the one that has run longest.
 * Those in findings are left out, and waits that stand out.
 */
static void still(struct ctp_doc *doc, const struct ctp_report_still *list, uint32_t nlist, bool runs)
{
#define SPAN NUMBER("shortest", 8, CTP_DOC_WITH_CLOCK), NUMBER("longest", 8, CTP_DOC_WITH_CLOCK)
#define USUAL(name, columns) {.title = name, .over = "usual there", .width = columns, .when = CTP_DOC_WITH_CLOCK}
#define WHICH {.title = "where"}, SPAWNED_AT, TEXT("the longest", "; longest: ", CTP_DOC_WITH_CLOCK), \
	TEXT("the first", "; first: ", CTP_DOC_WITHOUT_CLOCK), {.title = "note", .before = " (", .after = ")", .words = true}
	static const struct ctp_doc_column waiting[] = {COUNT("waiting", 7), COUNT("runnable", 8), SPAN, USUAL("ended", 5),
	                                                USUAL("within", 7), WHICH};
	static const struct ctp_doc_column running[] = {COUNT("running", 7), COUNT("thread", 8), SPAN, WHICH};
	static const struct ctp_doc_table tables[] = {TABLE("Still waiting at the end, but no finding", waiting),
	                                              TABLE("Still running at the end, but no finding", running),
	                                              TABLE("Waiting before coroutines were destroyed, but no finding", waiting),
	                                              TABLE("Running before coroutines were destroyed, but no finding", running)};
	unsigned which = runs + (doc->section->destroyed ? 2 : 0);
	struct row r = {.doc = doc};
	uint32_t all = 0, shown = 0, at = 0;
	for (const struct ctp_report_still *s; (s = ctp_print_still(list, nlist, &at));) {
		if (!runs && stands_out(doc->section, s))
			continue;
		all++;
		if (rows_of(doc, all, doc->ops->rows) < all)
			continue;
		if (!shown++)
			doc->ops->table(doc, &tables[which]);
		cell_count(&r, s->coroutines);
		cell(&r, runs ? number(r.numbers[r.n], s->tid) : ctp_print_count(r.numbers[r.n], s->runnable));
		cell_ns(&r, true, s->shortest_ns);
		cell_ns(&r, true, s->longest_ns);
		if (!runs) {
			cell(&r, s->ended ? ctp_print_count(r.numbers[r.n], s->ended) : "-");
			cell_ns(&r, s->ended, s->ended_max_ns);
		}
		cell(&r, known(s->place));
		cell(&r, s->spawn);
		cell(&r, s->name);
		cell(&r, s->name);
		cell(&r, s->certain ? NULL : "not certain");
		put_row(&tables[which], &r);
	}
	more(doc, all, shown);
}

static void objects(struct ctp_doc *doc)
{
	static const struct ctp_doc_column columns[] = {
		COUNT("waiting", 7), NUMBER("longest", 8, CTP_DOC_WITH_CLOCK), COUNT("available", -15), {.title = "what"},
		TEXT("created at", ", created at ", CTP_DOC_ALWAYS), TEXT("held by", "; held by ", CTP_DOC_ALWAYS),
	};
	static const struct ctp_doc_table table = TABLE("What coroutines wait for", columns);
	const struct ctp_report_section *s = doc->section;
	struct row r = {.doc = doc};
	struct ctp_alike alike[CTP_REPORT_OBJECTS];
	uint32_t n = ctp_report_alike(alike, s, doc->style->all), shown = rows_of(doc, n, doc->ops->rows);
	char available[CTP_PRINT_LABEL_MAX], what[CTP_PRINT_LABEL_MAX], holders[CTP_PRINT_LABEL_MAX];
	if (shown)
		doc->ops->table(doc, &table);
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_object *o = alike[i].first;
		cell_count(&r, alike[i].waiters);
		cell_ns(&r, alike[i].waiters && alike[i].longest_ns, alike[i].longest_ns); /* 0: it is not known whether they still wait */
		cell(&r, ctp_print_available(available, o));
		cell(&r, ctp_alike_title(what, &alike[i]));
		cell(&r, o->made);
		cell(&r, !o->holders_known || o->nholders ? ctp_print_holders(holders, o) : NULL);
		put_row(&table, &r);
	}
	more(doc, shown ? s->nobjects_seen - s->nobjects + n : 0, shown);
}

static void cell_times(struct row *r, const struct ctp_report_times *t)
{
	cell_ns(r, t->count, t->p50_ns);
	cell_ns(r, t->count, t->p99_ns);
	cell_ns(r, t->count, t->max_ns);
}

/* Where coroutines only wait, there are no times: the table of those that wait has them. */
static bool has_times(const struct ctp_report_site *site)
{
	return site->suspended.count || site->runnable.count || site->running.count;
}

static void sites(struct ctp_doc *doc)
{
#define TIME(name, of, columns) {.title = name, .over = of, .width = columns, .when = CTP_DOC_WITH_CLOCK}
#define TIMES(of) TIME("p50", of, 7), TIME("p99", of, 6), TIME("max", of, 6)
	static const struct ctp_doc_column columns[] = {
		COUNT("times", 7), TIMES("suspended"), TIMES("runnable"), TIMES("running after it"), {.title = "site"},
	};
	const struct ctp_report_section *s = doc->section;
	struct row r = {.doc = doc};
	uint32_t n = 0, shown;
	for (uint32_t i = 0; i < s->nsites; i++)
		n += has_times(&s->sites[i]);
	shown = rows_of(doc, n, doc->ops->rows);
	char title[CTP_PRINT_LINE_MAX];
	const struct ctp_doc_table table = TABLE(ctp_print_sites(title, s), columns);
	if (shown)
		doc->ops->table(doc, &table);
	for (uint32_t i = 0, at = 0; at < shown; i++) {
		const struct ctp_report_site *site = &s->sites[i];
		if (!has_times(site))
			continue;
		at++;
		cell_count(&r, site->suspended.count);
		cell_times(&r, &site->suspended);
		cell_times(&r, &site->runnable);
		cell_times(&r, &site->running);
		/* Runs before the first suspension have no site. */
		cell(&r, site->place || site->suspended.count ? known(site->place) : "(the start, or not known)");
		put_row(&table, &r);
	}
	more(doc, n, shown);
}

static void threads(struct ctp_doc *doc)
{
	static const struct ctp_doc_column columns[] = {
		NUMBER("busy", 7, CTP_DOC_WITH_CLOCK), NUMBER("share", 8, CTP_DOC_WITH_CLOCK),
		NUMBER("unknown", 8, CTP_DOC_WITH_CLOCK), COUNT("resumes", 11), NUMBER("last seen", 10, CTP_DOC_WITH_CLOCK),
		NUMBER("last seen", 20, CTP_DOC_WITHOUT_CLOCK), {.title = "thread", .words = true},
		TEXT("name", " ", CTP_DOC_ALWAYS),
	};
	static const struct ctp_doc_table table = TABLE("Threads", columns);
	const struct ctp_report_section *s = doc->section;
	struct row r = {.doc = doc};
	uint32_t shown = rows_of(doc, s->nthreads, doc->ops->rows);
	if (shown)
		doc->ops->table(doc, &table);
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_thread *t = &s->threads[i];
		cell_ns(&r, true, t->busy_ns);
		cell(&r, s->filtered_events ? "-" : ctp_print_percent(r.numbers[r.n], t->busy_ns, t->known_ns));
		cell_ns(&r, t->unknown_ns, t->unknown_ns);
		cell_count(&r, t->resumes);
		cell_ns(&r, true, t->last_ns);
		cell(&r, number(r.numbers[r.n], ctp_print_number(s, t->last_ns)));
		cell(&r, number(r.numbers[r.n], t->tid));
		cell(&r, t->name);
		put_row(&table, &r);
	}
	more(doc, s->nthreads, shown);
}

/* An item for each kind. If more coroutines are wanted than fit on a line, each is an item of its own. */
static void heavy(struct ctp_doc *doc, int kind)
{
	uint32_t shown = rows_of(doc, doc->section->nheavy[kind], HEAVIEST);
	char n[CTP_PRINT_NUMBER_MAX], label[CTP_PRINT_LABEL_MAX];
	if (!shown)
		return;
	bool alone = doc->style->all || doc->style->top > HEAVIEST;
	doc->ops->item(doc, IN_SECTION, 0);
	words(doc, alone ? "%s\n" : "%-9s  ", ctp_print_heavy(kind));
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_heavy *h = &doc->section->heavy[kind][i];
		if (alone)
			doc->ops->item(doc, IN_SECTION, 1);
		code(doc, ctp_print_coroutine(label, h->name, h->spawn, h->id));
		words(doc, " %s", ctp_print_ns(n, h->ns));
		if (alone && h->spawn) {
			words(doc, ", spawned at ");
			code(doc, h->spawn);
		}
		words(doc, alone || i + 1 == shown ? "\n" : ", ");
	}
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

static void section(struct ctp_doc *doc)
{
	const struct ctp_report_section *s = doc->section;
	doc->below_bytes = doc->ops->shortens && !doc->style->all ? ctp_report_below(s, &doc->below) : 0;
	what_ran(doc);
	findings(doc);
	if (s->outside)
		return;
	still(doc, s->waiting, s->nwaiting, false);
	still(doc, s->running, s->nrunning, true);
	objects(doc);
	sites(doc);
	threads(doc);
	bool any = false;
	for (int kind = 0; kind < CTP_HEAVY_KINDS; kind++)
		any |= s->nheavy[kind];
	if (any)
		doc->ops->heading(doc, "Coroutines with the most time in all");
	for (int kind = 0; kind < CTP_HEAVY_KINDS; kind++)
		heavy(doc, kind);
}

void ctp_doc_write(struct ctp_doc *doc)
{
	const struct ctp_report *r = doc->report;
	char lines[CTP_PRINT_CLOSING][CTP_PRINT_LINE_MAX];
	for (uint32_t i = 0; i < r->nsections; i++) {
		doc->section = &r->sections[i];
		title(doc, i + 1);
		section(doc);
	}
	if (!r->nsections)
		doc->ops->paragraph(doc, 0, "There is nothing in the trace.");
	unsigned n = ctp_print_closing(lines, r);
	for (unsigned i = 0; i < n; i++)
		doc->ops->paragraph(doc, 0, lines[i]);
}
