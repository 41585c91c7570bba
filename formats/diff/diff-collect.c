/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * diff-collect.c - reads runs: counts and spans of each group, as an analysis tells them.
 *
 * While a run is read, the key of a group has numbers of places; their texts are known only at its end. Each coroutine keeps the
 * number of its last group as its handle, because most spans are of the same group as the one before.
 */
#include "diff/diff-own.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analysis-spans.h"
#include "base/array.h"
#include "base/capped.h"
#include "report/report-feed.h"
#include "report/report-print.h"

enum { GROUPS_MIN = 64 };

struct collecting {
	struct ctp_report_feed feed;
	struct ctp_diff *d;
	enum ctp_diff_side side;
	struct ctp_diff_run now;
	struct ctp_diff_group *live; /* of this run; number 0 is for all that have none */
	uint32_t nlive;
	size_t room;
	struct ctp_map map;
};

/* --- groups --------------------------------------------------------------------------------------------------------------- */

static uint64_t hash_key(const struct collecting *c, const struct ctp_diff_key *key)
{
	return ctp_map_bytes(c->map.salt, key, sizeof *key);
}

static uint64_t hash_group(const void *c, uint32_t number)
{
	return hash_key(c, &((const struct collecting *)c)->live[number].key);
}

static bool is_group(const void *c, uint32_t number, const void *key)
{
	return !memcmp(&((const struct collecting *)c)->live[number].key, key, sizeof(struct ctp_diff_key));
}

static uint32_t find(const struct collecting *c, const struct ctp_diff_key *key)
{
	return *ctp_map_slot(&c->map, hash_key(c, key), is_group, c, key);
}

static uint32_t put(struct collecting *c, struct ctp_diff_key key)
{
	uint32_t number = find(c, &key);
	if (number)
		return number;
	if (c->nlive == CTP_DIFF_GROUPS) {
		c->now.crowded = true;
		return 0;
	}
	if (!CTP_ARRAY_RESERVE(c->live, c->room, c->nlive + 1, CTP_DIFF_GROUPS) ||
	    !ctp_map_reserve(&c->map, c->nlive - 1, hash_group, c)) {
		c->d->failed = true;
		return 0;
	}
	c->live[c->nlive] = (struct ctp_diff_group){.key = key};
	return *ctp_map_slot(&c->map, hash_key(c, &key), is_group, c, &key) = c->nlive++;
}

/* The groups are looked at only after put(), which may move them. */
static struct ctp_diff_group *group(struct collecting *c, struct ctp_diff_key key)
{
	uint32_t number = put(c, key);
	return &c->live[number];
}

/* The group of a key and a name; the one without the name if there are many names. */
static uint32_t put_named(struct collecting *c, struct ctp_diff_key key, const char *name)
{
	char as[CTP_FOLLOW_NAME_MAX + 1];
	uint32_t nameless = put(c, key);
	if (!nameless || !name || !*name || c->live[nameless].crowded)
		return nameless;
	ctp_diff_name(as, name);
	key.name = ctp_text_table_find(&c->d->texts, as);
	uint32_t number = key.name ? find(c, &key) : 0;
	if (number)
		return number;
	if (c->live[nameless].names == CTP_DIFF_NAMES) {
		c->live[nameless].crowded = true;
		return nameless;
	}
	c->live[nameless].names++;
	key.name = ctp_text_table_number(&c->d->texts, as);
	return put(c, key);
}

static bool is_of(const struct collecting *c, const struct ctp_diff_group *g, uint32_t place, const struct ctp_coroutine *co)
{
	if (g->key.kind != CTP_DIFF_PLACE || g->key.place != place || g->key.spawn != co->spawn)
		return false;
	return g->key.name ? co->name && ctp_diff_is_named(ctp_diff_text(c->d, g->key.name), co->name) : !co->name || g->crowded;
}

static struct ctp_diff_group *group_of(struct collecting *c, uint32_t place, struct ctp_coroutine *co)
{
	if (!is_of(c, &c->live[co->handle], place, co))
		co->handle = put_named(c, (struct ctp_diff_key){CTP_DIFF_PLACE, place, co->spawn, 0}, co->name);
	return &c->live[co->handle];
}

/* --- while a run is read -------------------------------------------------------------------------------------------------- */

static void span(void *arg, struct ctp_coroutine *co, enum ctp_state state, uint32_t place, uint64_t ns)
{
	struct collecting *c = arg;
	unsigned of = state == CTP_RUNNING ? CTP_DIFF_RUN : state == CTP_SUSPENDED ? CTP_DIFF_WAIT : CTP_DIFF_READY;
	if (!c->now.ordinal && !ctp_diff_hist_add(&group_of(c, place, co)->spans[of], ns))
		c->d->failed = true;
}

static void change(void *arg, const struct ctp_change *ch)
{
	struct collecting *c = arg;
	struct ctp_coroutine *co = ch->co;
	const struct ctp_follow *f = &c->feed.analysis->follow;
	if (ch->ts_ns < f->since_ns)
		return;
	if (ch->kind == CTP_CHANGE_RESUME) {
		c->now.resumes++;
		group_of(c, ctp_follow_place(f, co), co)->count++;
	} else if (ch->kind == CTP_CHANGE_BORN) {
		group(c, (struct ctp_diff_key){CTP_DIFF_SPAWN, 0, co->spawn, 0})->count++;
	} else if (ch->kind == CTP_CHANGE_LOST && (ch->by || !(co->flags & CTP_CO_BEFORE))) {
		group(c, (struct ctp_diff_key){CTP_DIFF_LOSS, 0, co->spawn, 0})->count++;
	}
}

static void clear(struct collecting *c)
{
	for (uint32_t i = 0; i < c->nlive; i++)
		for (unsigned k = 0; k < CTP_DIFF_STATES; k++)
			ctp_diff_hist_fini(&c->live[i].spans[k]);
	ctp_map_clear(&c->map);
	c->live[0] = (struct ctp_diff_group){0};
	c->nlive = 1;
}

static void begun(void *arg, const struct ctp_section *sec)
{
	struct collecting *c = arg;
	bool ordinal = sec ? sec->ordinal : c->now.ordinal;
	clear(c);
	c->now = (struct ctp_diff_run){.side = c->side, .ordinal = ordinal};
}

/* --- the end of a run ----------------------------------------------------------------------------------------------------- */

/* Whether events of coroutines of the same spawn site were lost: they may have been at any suspend site. */
static bool is_touched(const struct collecting *c, const struct ctp_diff_group *g)
{
	struct ctp_diff_key loss = {CTP_DIFF_LOSS, 0, g->key.spawn, 0};
	return g->key.kind == CTP_DIFF_PLACE && find(c, &loss);
}

/* Gives a live group to the run, with texts in its key. What it has of memory is the run's then. */
static void keep(struct collecting *c, struct ctp_diff_group *g, uint32_t run)
{
	char place[CTP_DIFF_SITE_MAX], spawn[CTP_DIFF_SITE_MAX], site[CTP_DIFF_SITE_MAX], spawn_site[CTP_DIFF_SITE_MAX];
	struct ctp_diff *d = c->d;
	struct ctp_follow *f = &c->feed.analysis->follow;
	const char *text = ctp_follow_text(f, g->key.place);
	snprintf(place, sizeof place, "%s", text ? text : "");
	text = ctp_follow_text(f, g->key.spawn);
	snprintf(spawn, sizeof spawn, "%s", text ? text : "");
	ctp_diff_site(site, place);
	ctp_diff_site(spawn_site, spawn);
	g->touched = is_touched(c, g);
	/* Both are asked, because a pattern that matches is noted as used. */
	g->ignored = ctp_report_ignores(&c->feed.analysis->report, "difference", place, spawn);
	g->ignored |= ctp_report_ignores(&c->feed.analysis->report, "difference", site, spawn_site);
	d->ignored += g->ignored;
	if (!CTP_ARRAY_RESERVE(d->groups, d->groups_room, d->ngroups + 1, SIZE_MAX)) {
		d->failed = true;
		return;
	}
	g->key.place = ctp_text_table_number(&d->texts, place); /* diff-join.c makes a site of it */
	g->key.spawn = ctp_text_table_number(&d->texts, spawn_site);
	g->run = run;
	d->groups[d->ngroups++] = *g;
	memset(g->spans, 0, sizeof g->spans);
}

static void keep_all(struct collecting *c, uint32_t run)
{
	for (uint32_t i = 1; i < c->nlive; i++) {
		struct ctp_diff_group *g = &c->live[i];
		bool empty = !g->count && !g->still && !g->crowded;
		for (unsigned k = 0; k < CTP_DIFF_STATES; k++)
			empty &= !g->spans[k].count;
		if (!empty && g->key.kind != CTP_DIFF_LOSS)
			keep(c, g, run);
	}
}

/* Those that were destroyed only because the program ended count, and those that were woken do not. */
static void count_still(struct collecting *c)
{
	struct ctp_follow *f = &c->feed.analysis->follow;
	uint32_t at = 0;
	ctp_follow_revive(f, true);
	for (struct ctp_coroutine *co; (co = ctp_follow_each(f, &at));)
		if (co->state == CTP_SUSPENDED && !(co->flags & CTP_CO_TAIL))
			group_of(c, ctp_follow_place(f, co), co)->still++;
	ctp_follow_revive(f, false);
}

static void ended(void *arg, const struct ctp_follow_end *end)
{
	struct collecting *c = arg;
	struct ctp_diff *d = c->d;
	const struct ctp_report *r = &c->feed.analysis->report;
	const struct ctp_follow_counts *counts = &c->feed.analysis->follow.counts;
	struct ctp_diff_run *run = &c->now;
	char command[CTP_PRINT_COMMAND_MAX];
	if (r->sections_seen > r->nsections || d->nruns == CTP_DIFF_RUNS || r->failed)
		return; /* the sink says so */
	const struct ctp_report_section *s = &r->sections[r->nsections - 1];
	run->file = ctp_report_copy(c->feed.sink.input ? c->feed.sink.input : "stdin", &d->failed);
	run->command = ctp_report_copy(ctp_print_command(command, s), &d->failed);
	run->lost = counts->lost;
	run->missed = counts->missed;
	run->untraced = counts->untraced;
	run->conflicts = counts->conflicts;
	run->events = counts->events;
	run->wakes = counts->wakes;
	run->coroutines = counts->coroutines;
	run->running_ns = s->total_ns[CTP_HEAVY_RUNNING];
	run->cut = end->cut && !s->until;
	run->damaged = counts->lost_apart || counts->untraced || counts->conflicts || counts->unfollowed || end->missing;
	count_still(c);
	keep_all(c, d->nruns);
	d->ignored += s->ignored;
	if (!CTP_ARRAY_RESERVE(d->runs, d->runs_room, d->nruns + 1, CTP_DIFF_RUNS)) {
		free(run->file);
		free(run->command);
		d->failed = true;
		return;
	}
	d->runs[d->nruns++] = *run;
	for (uint32_t i = 0; i < s->nfindings; i++)
		ctp_diff_add_finding(d, d->nruns - 1, &s->findings[i]);
}

/* --- the sink ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status take(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct collecting *c = (struct collecting *)sink;
	ctp_analysis_records(c->feed.analysis, batch);
	return c->d->failed ? ctp_err_memory(err) : CTP_OK;
}

static enum ctp_status end(struct ctp_sink *sink, const struct ctp_section_end *how, struct ctp_err *err)
{
	struct collecting *c = (struct collecting *)sink;
	const struct ctp_report *r = &c->feed.analysis->report;
	const char *name = sink->input ? sink->input : "stdin";
	uint32_t before = c->d->nruns;
	ctp_analysis_end(c->feed.analysis, how);
	if (r->failed || c->d->failed || c->d->texts.failed)
		return ctp_err_memory(err);
	if (r->sections_seen > CTP_REPORT_SECTIONS)
		return ctp_err_set(err, "%s: has more than %d sections; put them into several files", name, CTP_REPORT_SECTIONS);
	if (c->d->nruns == CTP_DIFF_RUNS && c->d->nruns == before)
		return ctp_err_set(err, "%s: has more sections than can be compared: %d in all", name, CTP_DIFF_RUNS);
	if (r->outside)
		return ctp_err_set(err, "%s: ends before the time of --since; leave the trace or the option out", name);
	return CTP_OK;
}

/* Patterns of --ignore that match nothing in one input may match something in another. */
static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct collecting *c = (struct collecting *)sink;
	const struct ctp_report *r = &c->feed.analysis->report;
	(void)err;
	for (size_t i = 0; i < r->nignore && c->d->matched; i++)
		ctp_add_capped(&c->d->matched[i], r->matched[i]);
	return CTP_OK;
}

static void release(struct ctp_sink *sink)
{
	struct collecting *c = (struct collecting *)sink;
	if (c->live && c->map.slots)
		clear(c);
	free(c->live);
	ctp_map_fini(&c->map);
	ctp_analysis_free(c->feed.analysis);
	free(c);
}

struct ctp_sink *ctp_diff_sink(struct ctp_diff *d, enum ctp_diff_side side, struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {
		.section = ctp_report_feed_section, .records = take, .end = end, .finish = finish, .free = release,
	};
	static const struct ctp_follow_ops listens = {.section = begun, .change = change, .end = ended};
	struct collecting *c = calloc(1, sizeof *c);
	if (!c) {
		ctp_err_memory(err);
		return NULL;
	}
	*c = (struct collecting){.feed.sink.ops = &ops, .d = d, .side = side};
	c->feed.analysis = ctp_analysis_new(&d->options.report, err);
	if (c->feed.analysis && (!CTP_ARRAY_RESERVE(c->live, c->room, GROUPS_MIN, CTP_DIFF_GROUPS) ||
	                         !ctp_map_init(&c->map, GROUPS_MIN))) {
		ctp_err_memory(err);
	} else if (c->feed.analysis) {
		clear(c);
		ctp_analysis_listen(c->feed.analysis, &listens, c);
		ctp_analysis_spans(c->feed.analysis, span, c);
		return &c->feed.sink;
	}
	release(&c->feed.sink);
	return NULL;
}
