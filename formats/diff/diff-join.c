/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff-join.c - which groups and findings of two runs are the same.
 *
 * Sites are the same if their texts are: file and function, and the line where diff-lines.c can match it. A tree may be built in
 * another folder after a change, so a site that only runs before have, and one that only runs after have, are also the same if the
 * file has the same name and nothing else comes into question.
 */
#include "diff/diff-own.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* --- texts ---------------------------------------------------------------------------------------------------------------- */

const char *ctp_diff_site(char to[CTP_DIFF_SITE_MAX], const char *place)
{
	size_t file_bytes = 0;
	const char *function = place;
	if (place && ctp_report_line(place, &file_bytes)) {
		function = place + file_bytes + 1;
		function += strspn(function, "0123456789");
	}
	snprintf(to, CTP_DIFF_SITE_MAX, "%.*s%s", (int)file_bytes, place ? place : "", function ? function : "");
	return place ? to : NULL;
}

const char *ctp_diff_base(const char *site)
{
	const char *colon = strchr(site, ':'), *base = site;
	for (const char *p = site; colon && p < colon; p++)
		base = *p == '/' ? p + 1 : base;
	return colon ? base : NULL;
}

void ctp_diff_name(char to[CTP_FOLLOW_NAME_MAX + 1], const char *name)
{
	char *p = to;
	while (*name && p < to + CTP_FOLLOW_NAME_MAX) {
		bool digit = isdigit((unsigned char)*name);
		*p++ = digit ? '*' : *name++;
		while (digit && isdigit((unsigned char)*name))
			name++;
	}
	*p = '\0';
}

bool ctp_diff_is_named(const char *as, const char *name)
{
	for (;; as++) {
		bool digit = isdigit((unsigned char)*name);
		if (*as != (digit ? '*' : *name))
			return false;
		if (!*name)
			return true;
		name++;
		while (digit && isdigit((unsigned char)*name))
			name++;
	}
}

/* --- sites ---------------------------------------------------------------------------------------------------------------- */

/* A site that only one side has. */
struct moved {
	const char *base;
	uint32_t site;
	unsigned sides;
};

static int by_base(const void *a, const void *b)
{
	return strcmp(((const struct moved *)a)->base, ((const struct moved *)b)->base);
}

/* The site before gets the number of the one after: the file may be where people look for it. */
static void pair(struct moved *list, size_t n, uint32_t *same)
{
	qsort(list, n, sizeof *list, by_base);
	for (size_t i = 0, upto; i < n; i = upto) {
		for (upto = i + 1; upto < n && !by_base(&list[i], &list[upto]);)
			upto++;
		if (upto - i != 2 || (list[i].sides | list[i + 1].sides) != 3)
			continue;
		const struct moved *before = list[i].sides == 1 << CTP_DIFF_BEFORE ? &list[i] : &list[i + 1];
		same[before->site] = (before == &list[i] ? &list[i + 1] : &list[i])->site;
	}
}

bool ctp_diff_find_moved(const struct ctp_text_table *texts, const uint8_t *sides, uint32_t *same)
{
	struct moved *list = calloc(texts->count, sizeof *list);
	size_t n = 0;
	if (!list)
		return false;
	for (uint32_t i = 0; i < texts->count; i++) {
		const char *base = i && (sides[i] == 1 || sides[i] == 2) ? ctp_diff_base(ctp_text_table_at(texts, i)) : NULL;
		same[i] = i;
		if (base)
			list[n++] = (struct moved){base, i, sides[i]};
	}
	pair(list, n, same);
	free(list);
	return true;
}

/* Of each place, its site. The texts of sites are added to the table. Null: out of memory. */
static uint32_t *find_sites(struct ctp_diff *d)
{
	char place[CTP_DIFF_SITE_MAX], site[CTP_DIFF_SITE_MAX];
	uint32_t *site_of = calloc(d->texts.count, sizeof *site_of);
	for (size_t i = 0; site_of && i < d->ngroups; i++) {
		uint32_t number = d->groups[i].key.place;
		if (!number || site_of[number])
			continue;
		snprintf(place, sizeof place, "%s", ctp_text_table_at(&d->texts, number));
		site_of[number] = ctp_text_table_number(&d->texts, ctp_diff_site(site, place));
	}
	return site_of;
}

/* Of each site, which sides have it: a bit each. */
static void find_sides(const struct ctp_diff *d, const uint32_t *site_of, uint8_t *sides)
{
	for (size_t i = 0; i < d->ngroups; i++) {
		const struct ctp_diff_group *g = &d->groups[i];
		sides[site_of[g->key.place]] |= (uint8_t)(1u << d->runs[g->run].side);
		sides[g->key.spawn] |= (uint8_t)(1u << d->runs[g->run].side);
	}
	for (uint32_t i = 0; i < d->nfindings; i++)
		for (unsigned side = 0; side < CTP_DIFF_SIDES; side++) {
			sides[d->findings[i].place] |= (uint8_t)((d->findings[i].runs[side] > 0) << side);
			sides[d->findings[i].spawn] |= (uint8_t)((d->findings[i].runs[side] > 0) << side);
		}
}

/* --- findings ------------------------------------------------------------------------------------------------------------- */

static bool is_finding(const struct ctp_diff_finding *f, enum ctp_rule rule, uint32_t place, uint32_t spawn)
{
	return f->rule == rule && f->place == place && f->spawn == spawn;
}

void ctp_diff_add_finding(struct ctp_diff *d, uint32_t run, const struct ctp_finding *f)
{
	char place[CTP_DIFF_SITE_MAX], spawn[CTP_DIFF_SITE_MAX];
	struct ctp_diff_finding add = {
		.rule = f->rule, .certainty = f->certainty, .last = run,
		.place = ctp_text_table_number(&d->texts, ctp_diff_site(place, f->place)),
		.spawn = ctp_text_table_number(&d->texts, ctp_diff_site(spawn, f->spawn)),
	};
	uint32_t i = 0;
	while (i < d->nfindings && !is_finding(&d->findings[i], add.rule, add.place, add.spawn))
		i++;
	if (i == d->nfindings) {
		if (!CTP_ARRAY_RESERVE(d->findings, d->findings_room, i + 1, UINT32_MAX)) {
			d->failed = true;
			return;
		}
		add.last = UINT32_MAX;
		add.title = ctp_report_copy(f->title, &d->failed);
		d->findings[d->nfindings++] = add;
	}
	struct ctp_diff_finding *to = &d->findings[i];
	to->certainty = to->certainty > f->certainty ? to->certainty : f->certainty;
	to->runs[d->runs[run].side] += to->last != run;
	to->last = run;
}

/* A finding at a site that moved is the same as one there. No run has both, because only one side has each site. */
static void join_findings(struct ctp_diff *d, const uint32_t *same)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < d->nfindings; i++) {
		struct ctp_diff_finding f = d->findings[i];
		f.place = same[f.place];
		f.spawn = same[f.spawn];
		uint32_t k = 0;
		while (k < n && !is_finding(&d->findings[k], f.rule, f.place, f.spawn))
			k++;
		if (k == n) {
			d->findings[n++] = f;
			continue;
		}
		struct ctp_diff_finding *to = &d->findings[k];
		to->certainty = to->certainty > f.certainty ? to->certainty : f.certainty;
		for (unsigned side = 0; side < CTP_DIFF_SIDES; side++)
			to->runs[side] += f.runs[side];
		free(f.title);
	}
	d->nfindings = n;
}

static int by_rule(const void *a, const void *b)
{
	const struct ctp_diff_finding *f = a, *g = b;
	if (f->certainty != g->certainty)
		return f->certainty < g->certainty ? 1 : -1;
	return f->rule != g->rule ? (f->rule > g->rule) - (f->rule < g->rule) : (f->place > g->place) - (f->place < g->place);
}

/* --- groups --------------------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct ctp_diff_group *g = a, *h = b;
	const uint32_t mine[] = {g->key.kind, g->key.place, g->key.spawn, g->key.name, g->run};
	const uint32_t others[] = {h->key.kind, h->key.place, h->key.spawn, h->key.name, h->run};
	for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
		if (mine[i] != others[i])
			return mine[i] < others[i] ? -1 : 1;
	return 0;
}

static void sort_groups(struct ctp_diff *d)
{
	if (d->ngroups)
		qsort(d->groups, d->ngroups, sizeof *d->groups, by_key);
}

static bool is_same(const struct ctp_diff_key *a, const struct ctp_diff_key *b, bool with_name)
{
	return a->kind == b->kind && a->place == b->place && a->spawn == b->spawn && (!with_name || a->name == b->name);
}

/* Where there are too many names, in one run or in all together, the groups lose them. */
static void drop_names(struct ctp_diff *d)
{
	for (size_t i = 0, upto; i < d->ngroups; i = upto) {
		uint32_t names = 0;
		bool crowded = false;
		for (upto = i; upto < d->ngroups && is_same(&d->groups[i].key, &d->groups[upto].key, false); upto++) {
			names += upto == i || d->groups[upto].key.name != d->groups[upto - 1].key.name;
			crowded |= d->groups[upto].crowded;
		}
		for (size_t k = i; k < upto && (crowded || names > CTP_DIFF_NAMES); k++)
			d->groups[k].key.name = 0;
	}
}

/* Groups of one run with the same key become one. */
static bool merge(struct ctp_diff *d)
{
	size_t n = 0;
	for (size_t i = 0; i < d->ngroups; i++) {
		struct ctp_diff_group *g = &d->groups[i], *to = n ? &d->groups[n - 1] : NULL;
		if (!to || to->run != g->run || !is_same(&to->key, &g->key, true)) {
			d->groups[n++] = *g;
			if (n - 1 < i)
				memset(g->spans, 0, sizeof g->spans);
			continue;
		}
		to->count += g->count;
		to->still += g->still;
		to->touched |= g->touched;
		for (unsigned k = 0; k < CTP_DIFF_STATES; k++) {
			if (!ctp_diff_hist_merge(&to->spans[k], &g->spans[k]))
				return false;
			ctp_diff_hist_fini(&g->spans[k]);
		}
	}
	d->ngroups = n;
	return true;
}

static bool matches(const char *pattern, const char *site)
{
	const char *base = site ? ctp_diff_base(site) : NULL;
	return site && (!fnmatch(pattern, site, 0) || (base && !fnmatch(pattern, base, 0)));
}

/*
 * Adds the units of --per that a group has to its run: where lines of a function are apart, by the line that is printed, else by
 * the line that the run has. Any line matches a pattern without one.
 */
static void count_units(struct ctp_diff *d, const struct ctp_diff_group *g, uint32_t site, uint32_t place)
{
	const char *per = d->options.per;
	if (!per || g->key.kind != CTP_DIFF_PLACE ||
	    (!matches(per, ctp_diff_text(d, site)) && !matches(per, ctp_diff_text(d, place == site ? g->key.place : place))))
		return;
	d->runs[g->run].units += g->count;
	d->runs[g->run].units_touched |= g->touched;
}

/* Gives groups their final keys. False: out of memory. */
static bool find_keys(struct ctp_diff *d, const uint32_t *site_of, uint32_t *same)
{
	uint32_t places = d->texts.count, *now[CTP_DIFF_SIDES] = {calloc(places, sizeof **now), calloc(places, sizeof **now)};
	uint8_t *sides = calloc(places, sizeof *sides);
	bool found = now[0] && now[1] && sides;
	if (found) {
		find_sides(d, site_of, sides);
		found = ctp_diff_find_moved(&d->texts, sides, same) && ctp_diff_find_lines(d, site_of, same, now);
	}
	for (size_t i = 0; found && i < d->ngroups; i++) {
		struct ctp_diff_key *key = &d->groups[i].key;
		uint32_t place = now[d->runs[d->groups[i].run].side][key->place];
		count_units(d, &d->groups[i], same[site_of[key->place]], place);
		key->place = place;
		key->spawn = same[key->spawn];
	}
	free(now[0]);
	free(now[1]);
	free(sides);
	return found;
}

static void drop_ignored(struct ctp_diff *d)
{
	size_t n = 0;
	for (size_t i = 0; i < d->ngroups; i++) {
		if (!d->groups[i].ignored) {
			d->groups[n++] = d->groups[i];
			continue;
		}
		for (unsigned k = 0; k < CTP_DIFF_STATES; k++)
			ctp_diff_hist_fini(&d->groups[i].spans[k]);
	}
	d->ngroups = n;
}

bool ctp_diff_join(struct ctp_diff *d)
{
	uint32_t *site_of = find_sites(d), *same = calloc(d->texts.count, sizeof *same);
	bool joined = site_of && same && !d->texts.failed && find_keys(d, site_of, same);
	if (joined) {
		drop_ignored(d);
		join_findings(d, same);
		if (d->nfindings)
			qsort(d->findings, d->nfindings, sizeof *d->findings, by_rule);
		sort_groups(d);
		drop_names(d);
		sort_groups(d);
		joined = merge(d);
	}
	free(site_of);
	free(same);
	return joined;
}
