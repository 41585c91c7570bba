/*
 * report-text.c - a report for a person at a terminal.
 *
 * Findings are complete; tables are cut to their first rows unless all are wanted. Texts of unknown length come last in a row,
 * so that none has to be cut and columns stay where they are. A title stays on its line, for grep; what is below it is wrapped.
 */
#include "report/report-text.h"

#include <stdio.h>

#include "base/text.h"
#include "report/report-tree.h"

enum { WIDTH = 98, ROWS = 6, FINDINGS = 20, MEMBERS = 5, HEAVIEST = 3, PLACES = 10, BRANCHES = 20, DEEPEST = 20 };

static const char BOLD[] = "\033[1m", RED[] = "\033[1;31m", YELLOW[] = "\033[1;33m", CYAN[] = "\033[1;36m", PLAIN[] = "\033[0m";

static void in_colour(const struct ctp_print *p, const char *colour, const char *text)
{
	ctp_output_putf(p->out, "%s", p->style->colour ? colour : "");
	ctp_print_text(p->out, text);
	ctp_output_putf(p->out, "%s", p->style->colour ? PLAIN : "");
}

static void heading(const struct ctp_print *p, const char *text)
{
	ctp_output_putf(p->out, "\n");
	in_colour(p, BOLD, text);
	ctp_output_putf(p->out, "\n");
}

static void more(const struct ctp_print *p, uint32_t n, uint32_t shown)
{
	char number[CTP_PRINT_NUMBER_MAX];
	if (n > shown)
		ctp_output_putf(p->out, "  ... %s more: -v shows all\n", ctp_print_count(number, n - shown));
}

/* The word up to the next space or the end: its columns, and it is put if it is to be. */
static unsigned word(const struct ctp_print *p, const char **text, bool put)
{
	char c[CTP_VISIBLE_MAX];
	unsigned sum = 0, columns;
	const char *s = *text;
	while (*s && *s != ' ') {
		unsigned bytes = ctp_visible_char(c, &s, &columns);
		if (put)
			ctp_output_put(p->out, c, bytes);
		sum += columns;
	}
	if (put)
		*text = s;
	return sum;
}

/* The first line has a label, the others are indented as far. */
static void wrapped(const struct ctp_print *p, const char *label, const char *text)
{
	unsigned indent = (unsigned)strlen(label), column = indent;
	ctp_output_putf(p->out, "%s", label);
	for (; *text; text += *text == ' ') {
		if (column > indent && column + 1 + word(p, &text, false) > WIDTH) {
			ctp_output_putf(p->out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			ctp_output_putf(p->out, " ");
			column++;
		}
		column += word(p, &text, true);
	}
	ctp_output_putf(p->out, "\n");
}

/* --- what ran ------------------------------------------------------------------------------------------------------------- */

static void put_start(const struct ctp_print *p)
{
	const struct ctp_report_section *s = p->s;
	char wall[CTP_TEXT_MAX];
	if (s->pid) {
		ctp_output_putf(p->out, "pid ");
		ctp_print_text(p->out, s->pid);
	}
	if (s->host) {
		ctp_output_putf(p->out, s->pid ? " on " : "on ");
		ctp_print_text(p->out, s->host);
	}
	if (s->pid || s->host)
		ctp_output_putf(p->out, "; ");
	if (s->has_wall && s->start_wall_ns >= 0) {
		ctp_text_wall(wall, s->start_wall_ns / 1000000000, 0);
		ctp_output_putf(p->out, "started %.10s %.8s UTC; ", wall, wall + 11);
	}
}

static void what_ran(const struct ctp_print *p)
{
	const struct ctp_report_section *s = p->s;
	const struct ctp_follow_counts *c = &s->counts;
	char text[CTP_PRINT_COMMAND_MAX], line[CTP_PRINT_LINE_MAX], n[4][CTP_PRINT_NUMBER_MAX];
	in_colour(p, BOLD, ctp_print_command(text, s));
	ctp_output_putf(p->out, "\n  ");
	put_start(p);
	ctp_output_putf(p->out, "%s; ", ctp_print_length(line, s));
	ctp_output_putf(p->out, "%s\n  ", ctp_print_outcome(line, s));
	ctp_output_putf(p->out, "%s coroutine%s, %s %s; %s thread%s; ", ctp_print_count(n[0], c->coroutines),
	                ctp_print_plural(c->coroutines), ctp_print_count(n[1], s->alive), ctp_print_alive(s),
	                ctp_print_count(n[2], s->nthreads_seen), ctp_print_plural(s->nthreads_seen));
	ctp_output_putf(p->out, "%s event%s, ", ctp_print_count(n[0], c->events), ctp_print_plural(c->events));
	ctp_output_putf(p->out, "%s wake%s; %s lost\n", ctp_print_count(n[1], c->wakes), ctp_print_plural(c->wakes),
	                ctp_print_lost(n[2], s));
	if (ctp_print_window(line, p->report))
		ctp_output_putf(p->out, "  looked at only %s\n", line);
	if (ctp_print_judged(line, s))
		ctp_output_putf(p->out, "  %s\n", line);
	if (ctp_print_quiet(line, s))
		ctp_output_putf(p->out, "  %s\n", line);
}

/* --- findings ------------------------------------------------------------------------------------------------------------- */

static void member_in_full(const struct ctp_print *p, const struct ctp_report_member *m, bool with_place)
{
	char label[CTP_PRINT_LABEL_MAX], n[2][CTP_PRINT_NUMBER_MAX];
	ctp_output_putf(p->out, "     ");
	ctp_print_text(p->out, ctp_print_member(label, m));
	if (with_place) {
		ctp_output_putf(p->out, " at ");
		ctp_print_text(p->out, m->place);
	}
	if (p->s->ordinal)
		ctp_output_putf(p->out, ": %s since %ju", ctp_print_state(m->state), ctp_print_number(p->s, m->since_ns));
	else
		ctp_output_putf(p->out, ": %s for %s, since %s after the start", ctp_print_state(m->state), ctp_print_ns(n[0], m->for_ns),
		                ctp_print_ns(n[1], m->since_ns));
	if (m->waker)
		ctp_output_putf(p->out, ", last woken by %s", ctp_print_label(label, NULL, m->waker));
	if (m->tid)
		ctp_output_putf(p->out, ", on thread %ju", m->tid);
	ctp_output_putf(p->out, "\n");
}

static bool is_at(const struct ctp_report_member *m, const char *place)
{
	return m->place && place ? !strcmp(m->place, place) : m->place == place;
}

/* The first few of those at a place, or of all, behind a label; more: so many are not listed. */
static void some_members(const struct ctp_print *p, const char *label, const struct ctp_finding *f, const char *at,
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
	wrapped(p, label, line);
}

/* A line for each place where members are. */
static void members_by_place(const struct ctp_print *p, const struct ctp_finding *f)
{
	char number[CTP_PRINT_NUMBER_MAX];
	uint32_t places = 0;
	for (uint32_t i = 0; i < f->nwho; i++) {
		uint32_t k = 0;
		while (!is_at(&f->who[k], f->who[i].place))
			k++;
		if (k == i && places++ < PLACES)
			some_members(p, places > 1 ? "        " : "   who: ", f, f->who[i].place, true, 0);
	}
	if (places > PLACES)
		ctp_output_putf(p->out, "        and at %u more places\n", places - PLACES);
	if (f->members > f->nwho)
		ctp_output_putf(p->out, "        and %s more\n", ctp_print_count(number, f->members - f->nwho));
}

static void members(const struct ctp_print *p, const struct ctp_finding *f)
{
	char number[CTP_PRINT_NUMBER_MAX];
	bool spread = ctp_report_is_spread(f);
	if (!f->nwho)
		return;
	if (!p->style->all && spread) {
		members_by_place(p, f);
	} else if (!p->style->all) {
		some_members(p, "   who: ", f, NULL, false, f->members > f->nwho ? f->members - f->nwho : 0);
	} else {
		ctp_output_putf(p->out, "   who:\n");
		for (uint32_t i = 0; i < f->nwho; i++)
			member_in_full(p, &f->who[i], spread);
		if (f->members > f->nwho)
			ctp_output_putf(p->out, "     and %s more\n", ctp_print_count(number, f->members - f->nwho));
	}
}

/* Who waits because of it: "#101, in consumer 5  at queue.c:41:pop, for 1.20 s", below whom it waits for. */
static void tree(const struct ctp_print *p, const struct ctp_finding *f)
{
	struct ctp_branch branches[CTP_TREE_MAX];
	char text[CTP_PRINT_LABEL_MAX], wait[CTP_PRINT_LINE_MAX];
	uint32_t n = ctp_report_tree(branches, f), shown = ctp_print_some(p, n, BRANCHES);
	uint64_t waiters = 0;
	if (n)
		ctp_output_putf(p->out, "   waiting because of %s:\n", f->members == 1 ? "it" : "them");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_branch *b = &branches[i];
		ctp_output_putf(p->out, "%*s", 5 + 2 * (int)(b->depth < DEEPEST ? b->depth : DEEPEST), "");
		ctp_print_text(p->out, b->who ? ctp_print_member(text, b->who) : ctp_print_label(text, NULL, b->id));
		if (b->depth) {
			waiters++;
			ctp_output_putf(p->out, b->who->place ? "  at " : " ");
			ctp_print_text(p->out, b->who->place ? b->who->place : "");
			ctp_output_putf(p->out, "%s %s", b->who->place ? "," : "", ctp_print_wait(wait, p->s, b->who));
		}
		ctp_output_putf(p->out, "\n");
	}
	if (n && f->waiting > waiters)
		ctp_output_putf(p->out, "     and %s more\n", ctp_print_count(text, f->waiting - waiters));
}

static void certainty(const struct ctp_print *p, enum ctp_certainty is)
{
	static const char *const words[] = {
		[CTP_CERTAIN_UNKNOWN] = "unknown", [CTP_CERTAIN_POSSIBLE] = "possible", [CTP_CERTAIN_LIKELY] = "likely",
		[CTP_CERTAIN_PROVED] = "PROVED",
	};
	static const char *const colours[] = {
		[CTP_CERTAIN_UNKNOWN] = CYAN, [CTP_CERTAIN_POSSIBLE] = CYAN, [CTP_CERTAIN_LIKELY] = YELLOW, [CTP_CERTAIN_PROVED] = RED,
	};
	in_colour(p, colours[is], words[is]);
}

/* A wait that stands out; and which coroutines wait. */
static void suspect(const struct ctp_print *p, const struct ctp_suspect *s)
{
	const struct ctp_finding like = {.members = s->members, .who = s->who, .nwho = s->nwho};
	ctp_output_putf(p->out, "\n");
	certainty(p, s->certainty);
	ctp_output_putf(p->out, ": ");
	in_colour(p, BOLD, s->title);
	ctp_output_putf(p->out, "\n");
	wrapped(p, "   not reported as likely because ", s->excuse);
	members(p, &like);
	if (s->also)
		wrapped(p, "   ", s->also);
}

static void finding(const struct ctp_print *p, const struct ctp_finding *f, uint32_t number)
{
	ctp_output_putf(p->out, "%s%u. ", number > 1 ? "\n" : "", number);
	certainty(p, f->certainty);
	ctp_output_putf(p->out, ": ");
	in_colour(p, BOLD, f->title);
	ctp_output_putf(p->out, "  [%s]\n", ctp_rule_name(f->rule));
	for (uint32_t i = 0; i < CTP_REPORT_LINES && f->evidence[i]; i++)
		wrapped(p, "   ", f->evidence[i]);
	members(p, f);
	tree(p, f);
	for (uint32_t i = 0; i < CTP_REPORT_LINES && f->next[i]; i++)
		wrapped(p, i ? "         " : "   next: ", f->next[i]);
}

static void caveats(const struct ctp_print *p)
{
	char lines[CTP_PRINT_CAVEATS][CTP_PRINT_LINE_MAX];
	unsigned n = ctp_print_caveats(lines, p);
	if (n)
		heading(p, "What this could not see");
	for (unsigned i = 0; i < n; i++)
		wrapped(p, "  ", lines[i]);
}

static void findings(const struct ctp_print *p)
{
	const struct ctp_report_section *s = p->s;
	char line[CTP_PRINT_LINE_MAX];
	uint32_t shown = ctp_print_some(p, s->nfindings, FINDINGS);
	heading(p, ctp_print_verdict(line, s));
	for (uint32_t i = 0; i < shown; i++)
		finding(p, &s->findings[i], i + 1);
	more(p, s->nfindings, shown);
	for (uint32_t i = 0; i < s->nsuspects; i++)
		suspect(p, &s->suspects[i]);
	caveats(p);
}

/* --- tables --------------------------------------------------------------------------------------------------------------- */

static void made_at(const struct ctp_print *p, const char *spawn)
{
	if (!spawn)
		return;
	ctp_output_putf(p->out, ", made at ");
	ctp_print_text(p->out, spawn);
}

/* Who still waits, of whom some may be runnable; or who still runs, and on which thread the one does that has the longest. */
static void still(const struct ctp_print *p, const struct ctp_report_still *list, uint32_t nlist, bool runs)
{
	char n[4][CTP_PRINT_NUMBER_MAX];
	uint32_t all = 0, shown = 0, at = 0;
	for (const struct ctp_report_still *s; (s = ctp_print_still(list, nlist, &at));) {
		all++;
		if (ctp_print_rows(p, all, ROWS) < all)
			continue;
		if (!shown++) {
			heading(p, runs ? "Still running at the end, but no finding" : "Still waiting at the end, but no finding");
			if (!runs && !p->s->ordinal)
				ctp_output_putf(p->out, "  %7s %8s %17s %13s\n", "", "", "", "usual there");
			ctp_output_putf(p->out, "  %7s %8s%s  where\n", runs ? "running" : "waiting", runs ? "thread" : "runnable",
			                p->s->ordinal ? "" : runs ? " shortest  longest" : " shortest  longest ended  within");
		}
		if (runs)
			snprintf(n[1], sizeof n[1], "%ju", s->tid);
		else
			ctp_print_count(n[1], s->runnable);
		ctp_output_putf(p->out, "  %7s %8s", ctp_print_count(n[0], s->coroutines), n[1]);
		if (!p->s->ordinal)
			ctp_output_putf(p->out, " %8s %8s", ctp_print_brief(n[2], s->shortest_ns), ctp_print_brief(n[3], s->longest_ns));
		if (!p->s->ordinal && !runs)
			ctp_output_putf(p->out, " %5s %7s", s->ended ? ctp_print_count(n[0], s->ended) : "-",
			                s->ended ? ctp_print_brief(n[1], s->ended_max_ns) : "-");
		ctp_output_putf(p->out, "  ");
		ctp_print_text(p->out, s->place);
		made_at(p, s->spawn);
		if (s->name) {
			ctp_output_putf(p->out, p->s->ordinal ? "; first: " : "; longest: ");
			ctp_print_text(p->out, s->name);
		}
		ctp_output_putf(p->out, s->certain ? "\n" : " (not certain)\n");
	}
	more(p, all, shown);
}

static void put_times(const struct ctp_print *p, const struct ctp_report_times *t)
{
	char n[3][CTP_PRINT_NUMBER_MAX];
	if (t->count)
		ctp_output_putf(p->out, " %7s%7s%7s", ctp_print_brief(n[0], t->p50_ns), ctp_print_brief(n[1], t->p99_ns),
		                ctp_print_brief(n[2], t->max_ns));
	else
		ctp_output_putf(p->out, " %7s%7s%7s", "-", "-", "-");
}

static void sites(const struct ctp_print *p)
{
	const struct ctp_report_section *s = p->s;
	uint32_t shown = ctp_print_rows(p, s->nsites, ROWS);
	char n[CTP_PRINT_NUMBER_MAX], title[CTP_PRINT_LINE_MAX];
	if (!shown)
		return;
	heading(p, ctp_print_sites(title, s));
	if (!s->ordinal)
		ctp_output_putf(p->out, "  %7s %21s %21s %21s\n", "", "suspended", "runnable", "running after it");
	ctp_output_putf(p->out, "  %7s", "times");
	for (int i = 0; i < 3 && !s->ordinal; i++)
		ctp_output_putf(p->out, " %7s%7s%7s", "p50", "p99", "max");
	ctp_output_putf(p->out, "  site\n");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_site *site = &s->sites[i];
		ctp_output_putf(p->out, "  %7s", ctp_print_count(n, site->suspended.count));
		if (!s->ordinal) {
			put_times(p, &site->suspended);
			put_times(p, &site->runnable);
			put_times(p, &site->running);
		}
		ctp_output_putf(p->out, "  ");
		ctp_print_text(p->out, ctp_print_site(site));
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
	heading(p, "Threads");
	if (s->ordinal)
		ctp_output_putf(p->out, "  %11s %20s  thread\n", "resumes", "last seen");
	else
		ctp_output_putf(p->out, "  %7s %8s %8s %11s %10s  thread\n", "busy", "share", "unknown", "resumes", "last seen");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_thread *t = &s->threads[i];
		if (s->ordinal)
			ctp_output_putf(p->out, "  %11s %20ju", ctp_print_count(n[2], t->resumes), ctp_print_number(s, t->last_ns));
		else
			ctp_output_putf(p->out, "  %7s %8s %8s %11s %10s", ctp_print_brief(n[0], t->busy_ns),
			                ctp_print_percent(n[1], t->busy_ns, t->known_ns),
			                t->unknown_ns ? ctp_print_brief(n[4], t->unknown_ns) : "-", ctp_print_count(n[2], t->resumes),
			                ctp_print_brief(n[3], t->last_ns));
		ctp_output_putf(p->out, "  %ju%s", t->tid, t->name ? " " : "");
		ctp_print_text(p->out, t->name ? t->name : "");
		ctp_output_putf(p->out, "\n");
	}
	more(p, s->nthreads, shown);
}

/* Its name, or else the place where it was made. */
static void put_object(const struct ctp_print *p, const struct ctp_report_object *o)
{
	ctp_output_putf(p->out, "%s%s", ctp_print_object_kind(o), o->name ? " '" : "");
	ctp_print_text(p->out, o->name ? o->name : "");
	if (o->name)
		ctp_output_putf(p->out, "'");
	made_at(p, o->made);
	if (!o->name && !o->made)
		ctp_output_putf(p->out, " 0x%jx", o->at);
}

static void objects(const struct ctp_print *p)
{
	const struct ctp_report_section *s = p->s;
	uint32_t shown = ctp_print_rows(p, s->nobjects, ROWS);
	char n[2][CTP_PRINT_NUMBER_MAX], label[CTP_PRINT_LABEL_MAX];
	if (!shown)
		return;
	heading(p, "What coroutines wait for");
	ctp_output_putf(p->out, "  %7s %8s %-15s  what\n", "waiting", s->ordinal ? "" : "longest", "available");
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_object *o = &s->objects[i];
		ctp_output_putf(p->out, "  %7s %8s", ctp_print_count(n[0], o->waiters),
		                o->waiters && !s->ordinal ? ctp_print_brief(n[1], o->longest_ns) : "-");
		ctp_output_putf(p->out, " %-15s  ", ctp_print_available(label, o));
		put_object(p, o);
		if (!o->holders_known || o->nholders) {
			ctp_output_putf(p->out, "; held by ");
			ctp_print_text(p->out, ctp_print_holders(label, o));
		}
		ctp_output_putf(p->out, "\n");
	}
	more(p, (uint32_t)s->nobjects_seen, shown);
}

/* A line for each kind; a row for each coroutine if more are wanted than fit there. */
static void heavy(const struct ctp_print *p, int kind)
{
	const struct ctp_report_section *s = p->s;
	uint32_t shown = ctp_print_rows(p, s->nheavy[kind], HEAVIEST);
	char n[CTP_PRINT_NUMBER_MAX], label[CTP_PRINT_LABEL_MAX];
	if (!shown)
		return;
	bool rows = p->style->all || p->style->top > HEAVIEST;
	ctp_output_putf(p->out, rows ? "  %s" : "  %-9s", ctp_print_heavy(kind));
	for (uint32_t i = 0; i < shown; i++) {
		const struct ctp_report_heavy *h = &s->heavy[kind][i];
		if (rows)
			ctp_output_putf(p->out, "\n    ");
		else
			ctp_output_putf(p->out, i ? ", " : "  ");
		ctp_print_text(p->out, ctp_print_label(label, h->name, h->id));
		ctp_output_putf(p->out, " %s", ctp_print_ns(n, h->ns));
		if (rows)
			made_at(p, h->spawn);
	}
	ctp_output_putf(p->out, "\n");
}

/* "Section 2 of 3, b.ctp: " */
static void put_which(const struct ctp_print *p, uint32_t number)
{
	bool sections = p->report->sections_seen > 1, named = p->s->file && (sections || p->style->several);
	if (sections)
		ctp_output_putf(p->out, "Section %u of %ju%s", number, p->report->sections_seen, named ? ", " : ": ");
	if (named) {
		ctp_print_text(p->out, p->s->file);
		ctp_output_putf(p->out, ": ");
	}
}

static void section(const struct ctp_print *p)
{
	what_ran(p);
	findings(p);
	if (p->s->outside)
		return;
	still(p, p->s->waiting, p->s->nwaiting, false);
	still(p, p->s->running, p->s->nrunning, true);
	objects(p);
	sites(p);
	threads(p);
	if (ctp_print_any_heavy(p->s))
		heading(p, "Coroutines with the most time in all");
	for (int kind = 0; kind < CTP_HEAVY_KINDS; kind++)
		heavy(p, kind);
}

void ctp_report_text(struct ctp_output *out, const struct ctp_report *r, const struct ctp_report_style *style)
{
	struct ctp_print p = {out, r, style, NULL};
	char lines[CTP_PRINT_CLOSING][CTP_PRINT_LINE_MAX];
	for (uint32_t i = 0; i < r->nsections; i++) {
		p.s = &r->sections[i];
		ctp_output_putf(out, "%s", i ? "\n" : "");
		put_which(&p, i + 1);
		section(&p);
	}
	if (!r->nsections)
		ctp_output_putf(out, "There is nothing in the trace.\n");
	unsigned n = ctp_print_closing(lines, r);
	for (unsigned i = 0; i < n; i++)
		ctp_output_putf(out, "%s%s\n", i ? "" : "\n", lines[i]);
}
