/*
 * report-markdown.c - a report for a ticket.
 *
 * Names and sites stand in code spans, where nothing is markup, mentions anybody or becomes a link. Sentences of findings are
 * prose in which every character that could be markup is escaped.
 */
#include "report/report-markdown.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "base/text.h"
#include "report/report-tree.h"

enum { ROWS = 10, MEMBERS = 20, HEAVIEST = 3, BRANCHES = 40 };

static void more(const struct ctp_print *p, uint32_t n, uint32_t shown)
{
	char number[CTP_PRINT_NUMBER_MAX];
	if (n > shown)
		ctp_output_putf(p->out, "\n... %s more: `ctp-report -mv` shows all\n", ctp_print_count(number, n - shown));
}

static bool is_behind(const char *at, const char *begin, const char *word)
{
	size_t len = strlen(word);
	return (size_t)(at - begin) >= len && !strncasecmp(at - len, word, len);
}

/* Whether a forge would make a link here, whatever is escaped: of @somebody, of #7, !7 and GH-7, of a URL or of a www. */
static bool is_live(const char *at, const char *begin)
{
	bool number = isdigit((unsigned char)at[1]);
	return *at == '@' || (*at == ':' && at[1] == '/') || (*at == '.' && is_behind(at, begin, "www")) ||
	       (number && (strchr("#!%&$~^", *at) || (*at == '-' && is_behind(at, begin, "GH"))));
}

/* A text in which nothing is markup, and no link is made. It stands behind a heading's or an item's own mark. */
static void prose(struct ctp_output *out, const char *text)
{
	static const char word_joiner[] = "\u2060"; /* has no width, and makes it another word */
	char c[CTP_VISIBLE_MAX];
	unsigned n, columns;
	bool start = true, number = true; /* where a list could begin: at the start, and behind a number that stands there */
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

/* Code, fenced by more backticks than are in it. In a table a bar would end the cell, even there. */
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

static void cell(struct ctp_output *out, const char *text) { span(out, text, true); }

/* --- what ran, and findings ----------------------------------------------------------------------------------------------- */

static void what_ran(const struct ctp_print *p)
{
	const struct ctp_report_section *s = p->s;
	const struct ctp_follow_counts *c = &s->counts;
	char line[CTP_PRINT_LINE_MAX], wall[CTP_TEXT_MAX], n[4][CTP_PRINT_NUMBER_MAX];
	ctp_output_putf(p->out, "| | |\n| --- | --- |\n");
	if (s->file) {
		ctp_output_putf(p->out, "| trace | ");
		cell(p->out, s->file);
		ctp_output_putf(p->out, " |\n");
	}
	if (s->pid) {
		ctp_output_putf(p->out, "| process | ");
		cell(p->out, s->pid);
		if (s->host) {
			ctp_output_putf(p->out, " on ");
			cell(p->out, s->host);
		}
		ctp_output_putf(p->out, " |\n");
	}
	if (s->has_wall && s->start_wall_ns >= 0) {
		ctp_text_wall(wall, s->start_wall_ns / 1000000000, 0);
		ctp_output_putf(p->out, "| started | %.10s %.8s UTC |\n", wall, wall + 11);
	}
	ctp_output_putf(p->out, "| %s | %s; ", s->ordinal ? "records" : "duration", ctp_print_length(line, s));
	ctp_output_putf(p->out, "%s |\n", ctp_print_outcome(line, s));
	if (ctp_print_window(line, p->report))
		ctp_output_putf(p->out, "| looked at only | %s |\n", line);
	if (ctp_print_judged(line, s))
		ctp_output_putf(p->out, "| judged | %s |\n", line + strlen("judged "));
	if (ctp_print_quiet(line, s))
		ctp_output_putf(p->out, "| quiet | %s |\n", line);
	ctp_output_putf(p->out, "| coroutines | %s, %s %s |\n", ctp_print_count(n[0], c->coroutines), ctp_print_count(n[1], s->alive),
	                ctp_print_alive(s));
	ctp_output_putf(p->out, "| threads | %s |\n", ctp_print_count(n[0], s->nthreads_seen));
	ctp_output_putf(p->out, "| events | %s, and %s wake%s; %s lost |\n\n", ctp_print_count(n[0], c->events),
	                ctp_print_count(n[1], c->wakes), ctp_print_plural(c->wakes),
	                ctp_print_lost(n[2], s));
}

static void members(const struct ctp_print *p, const struct ctp_finding *f)
{
	char label[CTP_PRINT_LABEL_MAX], n[2][CTP_PRINT_NUMBER_MAX];
	uint32_t shown = ctp_print_some(p, f->nwho, MEMBERS);
	bool spread = ctp_report_is_spread(f);
	if (!shown)
		return;
	ctp_output_putf(p->out, "\n| coroutine | state |%s since | last woken by |%s\n", p->s->ordinal ? "" : " for |",
	                spread ? " at |" : "");
	ctp_output_putf(p->out, "| --- | --- |%s ---: | --- |%s\n", p->s->ordinal ? "" : " ---: |", spread ? " --- |" : "");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_member *m = &f->who[i];
		ctp_output_putf(p->out, "| ");
		cell(p->out, ctp_print_member(label, m));
		ctp_output_putf(p->out, " | %s |", ctp_print_state(m->state));
		if (p->s->ordinal)
			ctp_output_putf(p->out, " %ju |", ctp_print_number(p->s, m->since_ns));
		else
			ctp_output_putf(p->out, " %s | %s |", ctp_print_ns(n[0], m->for_ns), ctp_print_ns(n[1], m->since_ns));
		ctp_output_putf(p->out, " %s |", m->waker ? ctp_print_label(label, NULL, m->waker) : "");
		if (spread) {
			ctp_output_putf(p->out, " ");
			cell(p->out, m->place);
			ctp_output_putf(p->out, " |");
		}
		ctp_output_putf(p->out, "\n");
	}
	if (f->members > shown)
		ctp_output_putf(p->out, "\n... and %s more\n", ctp_print_count(n[0], f->members - shown));
}

/* Who waits because of it, as a list in lists. */
static void tree(const struct ctp_print *p, const struct ctp_finding *f)
{
	struct ctp_branch branches[CTP_TREE_MAX];
	char text[CTP_PRINT_LABEL_MAX], wait[CTP_PRINT_LINE_MAX];
	uint32_t n = ctp_report_tree(branches, f), shown = ctp_print_some(p, n, BRANCHES);
	uint64_t waiters = 0;
	if (n)
		ctp_output_putf(p->out, "\nWaiting because of %s:\n\n", f->members == 1 ? "it" : "them");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_branch *b = &branches[i];
		ctp_output_putf(p->out, "%*s- ", 2 * (int)b->depth, "");
		span(p->out, b->who ? ctp_print_member(text, b->who) : ctp_print_label(text, NULL, b->id), false);
		if (b->depth && b->who->place) {
			ctp_output_putf(p->out, " at ");
			span(p->out, b->who->place, false);
		}
		if (b->depth)
			ctp_output_putf(p->out, ", %s", ctp_print_wait(wait, p->s, b->who));
		waiters += b->depth > 0;
		ctp_output_putf(p->out, "\n");
	}
	if (n && f->waiting > waiters)
		ctp_output_putf(p->out, "\n... and %s more\n", ctp_print_count(text, f->waiting - waiters));
}

static void finding(const struct ctp_print *p, const struct ctp_finding *f, uint32_t number)
{
	ctp_output_putf(p->out, "\n### %u. %s: ", number, ctp_certainty_name(f->certainty));
	prose(p->out, f->title);
	ctp_output_putf(p->out, "\n\nRule `%s`\n\n", ctp_rule_name(f->rule));
	for (uint32_t i = 0; i < CTP_REPORT_LINES && f->evidence[i]; i++) {
		ctp_output_putf(p->out, "- ");
		prose(p->out, f->evidence[i]);
		ctp_output_putf(p->out, "\n");
	}
	members(p, f);
	tree(p, f);
	for (uint32_t i = 0; i < CTP_REPORT_LINES && f->next[i]; i++) {
		ctp_output_putf(p->out, i ? "- " : "\nWhat to look at next:\n\n- ");
		prose(p->out, f->next[i]);
		ctp_output_putf(p->out, "\n");
	}
}

static void suspect(const struct ctp_print *p, const struct ctp_suspect *s)
{
	const struct ctp_finding like = {.members = s->members, .who = s->who, .nwho = s->nwho};
	ctp_output_putf(p->out, "\n### %s: ", ctp_certainty_name(s->certainty));
	prose(p->out, s->title);
	ctp_output_putf(p->out, "\n\n- not reported as likely because ");
	prose(p->out, s->excuse);
	ctp_output_putf(p->out, "\n");
	if (s->also) {
		ctp_output_putf(p->out, "- ");
		prose(p->out, s->also);
		ctp_output_putf(p->out, "\n");
	}
	members(p, &like);
}

static void findings(const struct ctp_print *p)
{
	char line[CTP_PRINT_LINE_MAX], lines[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX];
	ctp_output_putf(p->out, "## %s\n", ctp_print_verdict(line, p->s));
	for (uint32_t i = 0; i < p->s->nfindings; i++)
		finding(p, &p->s->findings[i], i + 1);
	for (uint32_t i = 0; i < p->s->nsuspects; i++)
		suspect(p, &p->s->suspects[i]);
	unsigned n = ctp_print_caveats(lines, p);
	for (unsigned i = 0; i < n; i++) {
		ctp_output_putf(p->out, i ? "- " : "\nWhat this could not see:\n\n- ");
		prose(p->out, lines[i]);
		ctp_output_putf(p->out, "\n");
	}
}

/* --- tables --------------------------------------------------------------------------------------------------------------- */

/* Who still waits, of whom some may be runnable; or who still runs, and on which thread the one does that has the longest. */
static void still(const struct ctp_print *p, const struct ctp_report_still *list, uint32_t nlist, bool runs)
{
	char n[4][CTP_PRINT_NUMBER_MAX];
	uint32_t all = 0, shown = 0, at = 0;
	for (const struct ctp_report_still *s; (s = ctp_print_still(list, nlist, &at));) {
		all++;
		if (ctp_print_rows(p, all, ROWS) < all)
			continue;
		if (!shown++)
			ctp_output_putf(p->out, "\n## Still %s at the end, but no finding\n\n"
			                        "| where | made at | %s | %s |%s\n| --- | --- | ---: | ---: |%s --- |\n",
			                runs ? "running" : "waiting", runs ? "running" : "waiting", runs ? "thread" : "runnable",
			                p->s->ordinal ? " first |" : runs ? " shortest | longest | which is |" :
			                                " shortest | longest | others ended | within | which is |",
			                p->s->ordinal ? "" : runs ? " ---: | ---: |" : " ---: | ---: | ---: | ---: |");
		ctp_output_putf(p->out, "| ");
		cell(p->out, s->place);
		ctp_output_putf(p->out, s->certain ? " | " : " (not certain) | ");
		cell(p->out, s->spawn);
		if (runs)
			snprintf(n[1], sizeof n[1], "%ju", s->tid);
		else
			ctp_print_count(n[1], s->runnable);
		ctp_output_putf(p->out, " | %s | %s |", ctp_print_count(n[0], s->coroutines), n[1]);
		if (!p->s->ordinal)
			ctp_output_putf(p->out, " %s | %s |", ctp_print_ns(n[2], s->shortest_ns), ctp_print_ns(n[3], s->longest_ns));
		if (!p->s->ordinal && !runs)
			ctp_output_putf(p->out, " %s | %s |", s->ended ? ctp_print_count(n[0], s->ended) : "-",
			                s->ended ? ctp_print_ns(n[1], s->ended_max_ns) : "-");
		ctp_output_putf(p->out, " ");
		if (s->name)
			cell(p->out, s->name);
		ctp_output_putf(p->out, " |\n");
	}
	more(p, all, shown);
}

static void put_times(const struct ctp_print *p, const struct ctp_report_times *t)
{
	char n[3][CTP_PRINT_NUMBER_MAX];
	if (t->count)
		ctp_output_putf(p->out, " %s | %s | %s |", ctp_print_ns(n[0], t->p50_ns), ctp_print_ns(n[1], t->p99_ns),
		                ctp_print_ns(n[2], t->max_ns));
	else
		ctp_output_putf(p->out, " - | - | - |");
}

static void sites(const struct ctp_print *p)
{
	const struct ctp_report_section *s = p->s;
	uint32_t shown = ctp_print_rows(p, s->nsites, ROWS);
	char n[CTP_PRINT_NUMBER_MAX], title[CTP_PRINT_LINE_MAX];
	if (!shown)
		return;
	ctp_output_putf(p->out, "\n## %s\n\n| site | times |", ctp_print_sites(title, s));
	ctp_output_putf(p->out, "%s\n", s->ordinal ? "\n| --- | ---: |" :
	                " suspended p50 | p99 | max | runnable p50 | p99 | max | running after it p50 | p99 | max |\n"
	                "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_site *site = &s->sites[i];
		ctp_output_putf(p->out, "| ");
		cell(p->out, ctp_print_site(site));
		ctp_output_putf(p->out, " | %s |", ctp_print_count(n, site->suspended.count));
		if (!s->ordinal) {
			put_times(p, &site->suspended);
			put_times(p, &site->runnable);
			put_times(p, &site->running);
		}
		ctp_output_putf(p->out, "\n");
	}
	more(p, s->nsites, shown);
}

static void threads(const struct ctp_print *p)
{
	const struct ctp_report_section *s = p->s;
	uint32_t shown = ctp_print_rows(p, s->nthreads, ROWS);
	char n[5][CTP_PRINT_NUMBER_MAX];
	if (!shown)
		return;
	ctp_output_putf(p->out, "\n## Threads\n\n| thread | name |%s resumes | last seen |\n",
	                s->ordinal ? "" : " busy | share | unknown |");
	ctp_output_putf(p->out, "| ---: | --- |%s ---: | ---: |\n", s->ordinal ? "" : " ---: | ---: | ---: |");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_thread *t = &s->threads[i];
		ctp_output_putf(p->out, "| %ju | ", t->tid);
		if (t->name)
			cell(p->out, t->name);
		if (s->ordinal) {
			ctp_output_putf(p->out, " | %s | %ju |\n", ctp_print_count(n[2], t->resumes), ctp_print_number(s, t->last_ns));
			continue;
		}
		ctp_output_putf(p->out, " | %s | %s | %s | %s | %s |\n", ctp_print_ns(n[0], t->busy_ns),
		                ctp_print_percent(n[1], t->busy_ns, t->known_ns), t->unknown_ns ? ctp_print_ns(n[4], t->unknown_ns) : "-",
		                ctp_print_count(n[2], t->resumes), ctp_print_ns(n[3], t->last_ns));
	}
	more(p, s->nthreads, shown);
}

static void objects(const struct ctp_print *p)
{
	const struct ctp_report_section *s = p->s;
	uint32_t shown = ctp_print_rows(p, s->nobjects, ROWS);
	char n[2][CTP_PRINT_NUMBER_MAX], label[CTP_PRINT_LABEL_MAX];
	if (!shown)
		return;
	ctp_output_putf(p->out, "\n## What coroutines wait for\n\n| waiting | longest | available | held by | kind | name | made at |\n"
	                "| ---: | ---: | --- | --- | --- | --- | --- |\n");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_object *o = &s->objects[i];
		ctp_output_putf(p->out, "| %s | %s | %s | ", ctp_print_count(n[0], o->waiters),
		                o->waiters && !s->ordinal ? ctp_print_ns(n[1], o->longest_ns) : "-", ctp_print_available(label, o));
		cell(p->out, ctp_print_holders(label, o));
		ctp_output_putf(p->out, " | %s | ", ctp_print_object_kind(o));
		cell(p->out, o->name ? o->name : "");
		ctp_output_putf(p->out, " | ");
		cell(p->out, o->made ? o->made : "");
		ctp_output_putf(p->out, " |\n");
	}
	more(p, s->nobjects_seen, shown);
}

static void heavy(const struct ctp_print *p, int kind)
{
	uint32_t shown = ctp_print_rows(p, p->s->nheavy[kind], HEAVIEST);
	char n[CTP_PRINT_NUMBER_MAX], label[CTP_PRINT_LABEL_MAX];
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_heavy *h = &p->s->heavy[kind][i];
		ctp_output_putf(p->out, "| %s | %s | ", ctp_print_heavy(kind), ctp_print_ns(n, h->ns));
		cell(p->out, ctp_print_label(label, h->name, h->id));
		ctp_output_putf(p->out, " | ");
		cell(p->out, h->spawn);
		ctp_output_putf(p->out, " |\n");
	}
}

static void heaviest(const struct ctp_print *p)
{
	if (!ctp_print_any_heavy(p->s))
		return;
	ctp_output_putf(p->out, "\n## Coroutines with the most time in all\n\n| state | time | coroutine | made at |\n"
	                        "| --- | ---: | --- | --- |\n");
	for (int kind = 0; kind < CTP_HEAVY_KINDS; kind++)
		heavy(p, kind);
}

static void section(const struct ctp_print *p)
{
	what_ran(p);
	findings(p);
	if (p->s->outside)
		return;
	still(p, p->s->waiting, p->s->nwaiting, false);
	still(p, p->s->running, p->s->nrunning, true);
	sites(p);
	objects(p);
	threads(p);
	heaviest(p);
}

void ctp_report_markdown(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	struct ctp_print p = {out, r, style, NULL};
	char command[CTP_PRINT_COMMAND_MAX], lines[CTP_PRINT_CLOSING][CTP_PRINT_LINE_MAX];
	for (uint32_t i = 0; i < r->nsections; i++) {
		p.s = &r->sections[i];
		ctp_output_putf(out, i ? "\n# " : "# ");
		span(out, ctp_print_command(command, p.s), false);
		ctp_output_putf(out, "\n\n");
		section(&p);
	}
	if (!r->nsections)
		ctp_output_putf(out, "There is nothing in the trace.\n");
	unsigned n = ctp_print_closing(lines, r);
	for (unsigned i = 0; i < n; i++)
		ctp_output_putf(out, "\n%s\n", lines[i]);
}
