/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff-lines.c - which lines of a function are the same site before and after a change.
 *
 * Lines move, so a line alone does not identify a site. But a function with several waits has short and long runs, and a median of
 * both says nothing. So its lines are kept apart if it is clear which of them belong together: because both sides have the same
 * lines, or equally many. The runs of a side should be of one build; a function of which they have different lines is one site.
 */
#include "diff/diff-own.h"

#include <stdlib.h>

struct line {
	uint32_t site, place; /* texts: FILE:FUNCTION, as after the change; and as it is in the runs, with the line */
	uint64_t line;
	uint32_t runs[CTP_DIFF_SIDES]; /* how many have it */
};

/* How many runs of each side have a text. */
struct seen {
	uint32_t last, runs[CTP_DIFF_SIDES];
};

static void see(struct seen *s, const struct ctp_diff *d, uint32_t run)
{
	unsigned side = d->runs[run].side;
	if (s->last == run + 1)
		return;
	s->last = run + 1;
	s->runs[side]++;
}

static int by_line(const void *a, const void *b)
{
	const struct line *p = a, *q = b;
	if (p->site != q->site)
		return p->site < q->site ? -1 : 1;
	return p->line != q->line ? (p->line > q->line) - (p->line < q->line) : (p->place > q->place) - (p->place < q->place);
}

/* Whether the runs of a side agree on the lines: all of them have half of these lines or more. */
static bool is_settled(const struct line *lines, size_t n, unsigned side, uint32_t runs)
{
	size_t any = 0, all = 0;
	for (size_t i = 0; i < n; i++) {
		any += lines[i].runs[side] > 0;
		all += lines[i].runs[side] == runs && runs > 0;
	}
	return 2 * all >= any;
}

/* Whether each line that all runs of a side have is one of the other side, too. */
static bool is_part(const struct line *lines, size_t n, unsigned side, uint32_t runs)
{
	bool part = true;
	for (size_t i = 0; i < n; i++) {
		bool other = false;
		for (size_t k = 0; k < n; k++)
			other |= lines[k].line == lines[i].line && lines[k].runs[!side] > 0;
		part &= !runs || lines[i].runs[side] < runs || other;
	}
	return part;
}

static size_t count(const struct line *lines, size_t n, unsigned side)
{
	size_t has = 0;
	for (size_t i = 0; i < n; i++)
		has += lines[i].runs[side] > 0;
	return has;
}

/* The line of the runs after that is the same site as line i of the runs before; i if there is none. */
static size_t find_after(const struct line *lines, size_t n, size_t i, bool by_order)
{
	size_t number = count(lines, i, CTP_DIFF_BEFORE);
	for (size_t k = 0; k < n; k++) {
		if (!lines[k].runs[CTP_DIFF_AFTER])
			continue;
		if (by_order ? count(lines, k, CTP_DIFF_AFTER) == number : lines[k].line == lines[i].line)
			return k;
	}
	return i;
}

/* The lines of one function. */
static void match(const struct line *lines, size_t n, const uint32_t runs[CTP_DIFF_SIDES], uint32_t *const now[CTP_DIFF_SIDES])
{
	enum { LINES_MAX = 64 }; /* a function with more is not one that a person wrote */
	size_t before = count(lines, n, CTP_DIFF_BEFORE), after = count(lines, n, CTP_DIFF_AFTER);
	bool same = true, split = n > 1 && n <= LINES_MAX && (before > 1 || after > 1);
	for (unsigned side = 0; side < CTP_DIFF_SIDES && split; side++) {
		split = is_settled(lines, n, side, runs[side]);
		same = same && is_part(lines, n, side, runs[side]);
	}
	split = split && (same || before == after);
	for (size_t i = 0; i < n; i++) {
		now[CTP_DIFF_AFTER][lines[i].place] = split ? lines[i].place : lines[i].site;
		now[CTP_DIFF_BEFORE][lines[i].place] = split ? lines[find_after(lines, n, i, !same)].place : lines[i].site;
	}
}

bool ctp_diff_find_lines(const struct ctp_diff *d, const uint32_t *site_of, const uint32_t *same,
                         uint32_t *const now[CTP_DIFF_SIDES])
{
	struct seen *places = calloc(d->texts.count, sizeof *places), *sites = calloc(d->texts.count, sizeof *sites);
	struct line *lines = calloc(d->texts.count, sizeof *lines);
	size_t n = 0;
	bool done = places && sites && lines;
	for (size_t i = 0; done && i < d->ngroups; i++) {
		const struct ctp_diff_group *g = &d->groups[i];
		see(&places[g->key.place], d, g->run);
		see(&sites[same[site_of[g->key.place]]], d, g->run);
	}
	for (uint32_t i = 1; done && i < d->texts.count; i++) {
		size_t ignored;
		if (!places[i].last)
			continue;
		struct line *l = &lines[n++];
		*l = (struct line){.site = same[site_of[i]], .place = i};
		l->line = ctp_report_line(ctp_text_table_at(&d->texts, i), &ignored);
		memcpy(l->runs, places[i].runs, sizeof l->runs);
	}
	if (n)
		qsort(lines, n, sizeof *lines, by_line);
	for (size_t i = 0, upto; i < n; i = upto) {
		for (upto = i + 1; upto < n && lines[upto].site == lines[i].site;)
			upto++;
		match(lines + i, upto - i, sites[lines[i].site].runs, now);
	}
	free(places);
	free(sites);
	free(lines);
	return done;
}
