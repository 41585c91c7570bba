/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * analysis.c - a section of a stream becomes a section of the report.
 */
#include "analyse/analysis.h"

#include "analyse/analysis-objects.h"
#include "analyse/analysis-spans.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/judge.h"
#include "analyse/objects.h"
#include "base/array.h"
#include "symbols/symbols.h"

struct ctp_analysis_priv {
	enum ctp_state sites_by;
	struct ctp_tally *tally;
	struct ctp_symbols *symbols;
	struct ctp_report_section *section; /* the section that is being read; null: the report has no room */
	const struct ctp_follow_ops *also;
	void *also_arg;
	struct ctp_kept kept; /* findings in the section's records */
	const struct ctp_section *stream_section; /* the same, as the stream has it */
};

/* --- changes ------------------------------------------------------------------------------------------------------------- */

static char *copy(struct ctp_analysis *a, const char *text) { return ctp_report_copy(text, &a->report.failed); }

/* The elements of argv, one after the other. */
static char *command_of(const struct ctp_section *sec, size_t *bytes)
{
	size_t size = 0;
	for (uint32_t i = 0; i < sec->nattrs; i++)
		size += strcmp(sec->attrs[i].name, "argv[]") ? 0 : strlen(sec->attrs[i].value) + 1;
	char *command = size ? malloc(size) : NULL, *p = command;
	for (uint32_t i = 0; command && i < sec->nattrs; i++)
		if (!strcmp(sec->attrs[i].name, "argv[]"))
			p = stpcpy(p, sec->attrs[i].value) + 1;
	*bytes = command ? size : 0;
	return command;
}

static uint64_t number_of(const struct ctp_section *sec, const char *name)
{
	const char *text = ctp_section_get(sec, name);
	return text ? strtoull(text, NULL, 10) : 0;
}

static struct ctp_report_section *add_section(struct ctp_analysis *a, const struct ctp_section *sec)
{
	struct ctp_report *report = &a->report;
	if (report->nsections == CTP_REPORT_SECTIONS)
		return NULL;
	if (!CTP_ARRAY_RESERVE(report->sections, report->room, report->nsections + 1, CTP_REPORT_SECTIONS)) {
		report->failed = true;
		return NULL;
	}
	struct ctp_report_section *s = &report->sections[report->nsections++];
	const char *recorded = ctp_section_get(sec, "recorded"); /* before the collector attached */
	*s = (struct ctp_report_section){
		.file = copy(a, a->input),
		.host = copy(a, ctp_section_get(sec, "host")),
		.pid = copy(a, ctp_section_get(sec, "pid")),
		.origin = copy(a, ctp_section_get(sec, "origin")),
		.origin_error_ns = copy(a, ctp_section_get(sec, "origin_error_ns")),
		.origin_number = number_of(sec, "origin_number"),
		.origin_section = number_of(sec, "origin_section"),
		.source = copy(a, ctp_section_get(sec, "source")),
		.tool = copy(a, ctp_section_get(sec, "tool")),
		.filtered = copy(a, ctp_section_get(sec, "filtered")),
		.filtered_events = ctp_section_get(sec, "filtered_events"),
		.unrecorded = recorded && !strcmp(recorded, "no"),
		.has_wall = sec->has_wall,
		.ordinal = sec->ordinal,
		.start_wall_ns = sec->wall_offset_ns,
	};
	s->command = command_of(sec, &s->command_bytes);
	return s;
}

/* A section begins, or, where sec is null, another run of the same. */
static void begun(void *arg, const struct ctp_section *sec)
{
	struct ctp_analysis *a = arg;
	struct ctp_analysis_priv *priv = a->priv;
	ctp_tally_clear(priv->tally);
	ctp_kept_clear(&priv->kept);
	if (sec)
		priv->stream_section = sec;
	assert(priv->stream_section); /* a stream begins with a section, not with another run of one */
	a->report.sections_seen++;
	priv->section = add_section(a, priv->stream_section);
	if (priv->also && priv->also->section)
		priv->also->section(priv->also_arg, sec);
}

static __attribute__((noinline)) void tell_also(const struct ctp_analysis_priv *priv, const struct ctp_change *ch)
{
	if (priv->also->change)
		priv->also->change(priv->also_arg, ch);
	ctp_tally_change(priv->tally, ch);
}

static void changed(void *arg, const struct ctp_change *ch)
{
	const struct ctp_analysis_priv *priv = ((struct ctp_analysis *)arg)->priv;
	if (priv->also)
		tell_also(priv, ch);
	else
		ctp_tally_change(priv->tally, ch);
}

static void gone(void *arg, const struct ctp_change *died)
{
	const struct ctp_analysis_priv *priv = ((struct ctp_analysis *)arg)->priv;
	ctp_tally_gone(priv->tally, died);
	if (priv->also && priv->also->gone)
		priv->also->gone(priv->also_arg, died);
}

static void thread_gap(void *arg, uint32_t thread, uint64_t after_ns, uint64_t ts_ns, uint64_t transitions)
{
	const struct ctp_analysis_priv *priv = ((struct ctp_analysis *)arg)->priv;
	if (priv->also && priv->also->thread_gap)
		priv->also->thread_gap(priv->also_arg, thread, after_ns, ts_ns, transitions);
}

static void unchanged(void *arg, const struct ctp_change *ch)
{
	const struct ctp_analysis_priv *priv = ((struct ctp_analysis *)arg)->priv;
	if (priv->also && priv->also->unchanged)
		priv->also->unchanged(priv->also_arg, ch);
}

/* --- the end of a section ------------------------------------------------------------------------------------------------- */

static struct ctp_report_times times_of(const struct ctp_hist *h)
{
	return (struct ctp_report_times){h->count, h->total_ns, ctp_hist_quantile(h, 0.5), ctp_hist_quantile(h, 0.99), h->max_ns};
}

/* The items with the largest number first; offset: of that number, in an item. */
static int by_number_at(const void *a, const void *b, void *offset)
{
	uint64_t m, n;
	memcpy(&m, (const char *)a + *(size_t *)offset, sizeof m);
	memcpy(&n, (const char *)b + *(size_t *)offset, sizeof n);
	return ctp_most_first(m, n);
}

static void sort_by(void *items, uint32_t n, size_t item_bytes, size_t offset)
{
	if (n)
		qsort_r(items, n, item_bytes, by_number_at, &offset);
}

/* The sites with counts of their own, and those where coroutines wait. The others are the first, which is no site. */
static void fill_sites(struct ctp_analysis *a, struct ctp_report_section *s, uint64_t *waiting)
{
	static const struct ctp_tally_place none;
	struct ctp_tally *t = a->priv->tally;
	uint32_t places = a->follow.places->count, n = 0;
	for (uint32_t i = 1; i < places && t->nplaces == CTP_TALLY_PLACES; i++)
		waiting[0] += t->places[i] ? 0 : waiting[i];
	for (uint32_t i = 0; i < places; i++)
		n += t->places[i] || waiting[i];
	s->sites = calloc(n + 1, sizeof *s->sites);
	a->report.failed |= !s->sites;
	for (uint32_t i = 0; s->sites && i < places; i++) {
		const struct ctp_tally_place *p = t->places[i] ? t->places[i] : &none;
		bool counts = p->wait.count || p->ready.count || p->run.count || waiting[i];
		if (!counts || (p == &none && t->nplaces == CTP_TALLY_PLACES))
			continue;
		s->sites[s->nsites++] = (struct ctp_report_site){
			.place = copy(a, ctp_follow_text(&a->follow, i)),
			.suspended = times_of(&p->wait),
			.runnable = times_of(&p->ready),
			.running = times_of(&p->run),
			.waiting = waiting[i],
		};
	}
	s->sites_by = a->priv->sites_by ? a->priv->sites_by : CTP_SUSPENDED;
	size_t by = s->ordinal                     ? offsetof(struct ctp_report_site, suspended.count) :
	            s->sites_by == CTP_RUNNING  ? offsetof(struct ctp_report_site, running.total_ns) :
	            s->sites_by == CTP_RUNNABLE ? offsetof(struct ctp_report_site, runnable.total_ns) :
	                                          offsetof(struct ctp_report_site, suspended.total_ns);
	sort_by(s->sites, s->nsites, sizeof *s->sites, by);
}

/* The threads that ever ran a coroutine, or have a gap. The time before known_ns is unknown. */
static void fill_threads(struct ctp_analysis *a, struct ctp_report_section *s, uint64_t end_ns)
{
	uint64_t from_ns = end_ns - s->looked_ns, before_ns = ctp_span_ns(from_ns, a->follow.known_ns);
	before_ns = before_ns < s->looked_ns ? before_ns : s->looked_ns;
	s->threads = calloc(a->follow.threads->count, sizeof *s->threads);
	a->report.failed |= !s->threads;
	for (uint32_t i = 1; s->threads && i < a->follow.threads->count; i++) {
		struct ctp_thread *th = &a->follow.threads->list[i];
		ctp_thread_end(th, end_ns);
		if (!th->resumes && !th->unknown_ns)
			continue;
		uint64_t unknown_ns = th->unknown_ns + before_ns;
		s->threads[s->nthreads++] = (struct ctp_report_thread){
			.tid = th->tid,
			.busy_ns = th->busy_ns,
			.unknown_ns = unknown_ns,
			.known_ns = ctp_span_ns(unknown_ns, s->looked_ns),
			.resumes = th->resumes,
			.last_ns = ctp_span_ns(s->start_ns, th->last_ns),
			.name = th->name[0] ? copy(a, th->name) : NULL,
		};
	}
	sort_by(s->threads, s->nthreads, sizeof *s->threads,
	        s->ordinal ? offsetof(struct ctp_report_thread, resumes) : offsetof(struct ctp_report_thread, busy_ns));
	s->nthreads_seen = s->nthreads;
}

static void fill_heavy(struct ctp_analysis *a, struct ctp_report_section *s)
{
	struct ctp_tally *t = a->priv->tally;
	memcpy(s->heavy, t->heavy, sizeof s->heavy);
	memcpy(s->nheavy, t->nheavy, sizeof s->nheavy);
	memcpy(s->total_ns, t->total_ns, sizeof s->total_ns);
	for (int k = 0; k < CTP_HEAVY_KINDS; k++) {
		for (uint32_t i = 0; i < s->nheavy[k]; i++)
			s->heavy[k][i].spawn = copy(a, ctp_follow_text(&a->follow, t->heavy_spawn[k][i]));
		t->nheavy[k] = 0; /* the names are the section's now */
	}
}

/* Coroutines that still wait, or still run, grouped before their places become texts. */
struct groups {
	struct group {
		uint32_t spawn, place;
		bool found; /* the coroutines are in findings */
		struct ctp_report_still still;
	} *list;
	uint32_t count, last; /* last: the group of the last coroutine, which the next often belongs to */
};

static bool is_group(const struct group *g, uint32_t spawn, uint32_t place, bool found)
{
	return g->spawn == spawn && g->place == place && g->found == found;
}

/* Null: the list is full. */
static struct group *group_of(struct groups *gs, uint32_t spawn, uint32_t place, bool found)
{
	struct group *g = &gs->list[gs->last];
	if (gs->last < gs->count && is_group(g, spawn, place, found))
		return g;
	for (g = gs->list; g < gs->list + gs->count && !is_group(g, spawn, place, found);)
		g++;
	if (g == gs->list + CTP_REPORT_FINDINGS)
		return NULL;
	gs->last = (uint32_t)(g - gs->list);
	if (gs->last == gs->count) {
		*g = (struct group){spawn, place, found, {.shortest_ns = UINT64_MAX, .certain = true}};
		gs->count++;
	}
	return g;
}

static void group_add(struct ctp_analysis *a, struct groups *gs, const struct ctp_coroutine *co, uint64_t ns)
{
	bool found = co->flags & CTP_CO_FOUND;
	struct group *g = group_of(gs, co->spawn, ctp_follow_place(&a->follow, co), found);
	if (!g)
		return;
	g->still.coroutines++;
	g->still.runnable += co->state == CTP_RUNNABLE;
	g->still.found += found;
	if (ns >= g->still.longest_ns) {
		g->still.longest_ns = ns;
		g->still.longest = co->id;
		g->still.tid = a->follow.threads->list[co->thread].tid;
	}
	g->still.shortest_ns = ns < g->still.shortest_ns ? ns : g->still.shortest_ns;
	const struct ctp_report_section *s = a->priv->section;
	g->still.certain &= !(co->flags & CTP_CO_CONFLICT) && co->since_ns >= a->follow.unsure_ns && (!s->cut || s->until);
}

/* The groups with their texts, *n of them; frees the list. */
static struct ctp_report_still *groups_done(struct ctp_analysis *a, struct groups *gs, uint32_t *n)
{
	struct ctp_report_still *still = calloc(gs->count + 1, sizeof *still);
	a->report.failed |= !still;
	sort_by(gs->list, gs->count, sizeof *gs->list, offsetof(struct group, still.coroutines));
	for (uint32_t i = 0; still && i < gs->count; i++) {
		const struct ctp_coroutine *longest = ctp_follow_find(&a->follow, gs->list[i].still.longest);
		still[i] = gs->list[i].still;
		if (gs->list[i].place) {
			const struct ctp_hist *ended = &ctp_tally_place(a->priv->tally, gs->list[i].place)->wait;
			still[i].ended = ended->count;
			still[i].ended_max_ns = ended->max_ns;
		}
		still[i].name = copy(a, longest ? longest->name : NULL);
		still[i].spawn = copy(a, ctp_follow_text(&a->follow, gs->list[i].spawn));
		still[i].place = copy(a, ctp_follow_text(&a->follow, gs->list[i].place));
	}
	*n = still ? gs->count : 0;
	free(gs->list);
	return still;
}

/* A running coroutine without CTP_CO_OURS may have ended: its probe records no end. */
static void fill_still(struct ctp_analysis *a, struct ctp_report_section *s, uint64_t end_ns, uint64_t *waiting)
{
	struct groups waits = {.list = calloc(CTP_REPORT_FINDINGS, sizeof *waits.list)};
	struct groups runs = {.list = calloc(CTP_REPORT_FINDINGS, sizeof *runs.list)};
	uint32_t at = 0;
	a->report.failed |= !waits.list || !runs.list;
	for (struct ctp_coroutine *co; waits.list && runs.list && (co = ctp_follow_each(&a->follow, &at));) {
		bool in_gap = co->state != CTP_DEAD && co->flags & CTP_CO_TAIL;
		s->alive += co->state != CTP_DEAD;
		if (s->outside)
			continue;
		s->in_gap += in_gap;
		if (in_gap)
			continue;
		if (co->state == CTP_RUNNING && co->flags & CTP_CO_OURS)
			group_add(a, &runs, co, ctp_follow_ns(&a->follow, co->since_ns, end_ns));
		if (co->state != CTP_SUSPENDED && co->state != CTP_RUNNABLE)
			continue;
		waiting[ctp_follow_place(&a->follow, co)]++;
		group_add(a, &waits, co, ctp_follow_ns(&a->follow, ctp_coroutine_waits_since(co), end_ns));
	}
	s->alive -= s->destroyed;
	s->waiting = groups_done(a, &waits, &s->nwaiting);
	s->running = groups_done(a, &runs, &s->nrunning);
}

/* The time at which the section is judged: its end, or the moment before the program destroyed its coroutines. */
static bool judge(struct ctp_analysis *a, const struct ctp_follow_end *end)
{
	struct ctp_follow_end at = *end;
	if (end->destroyed)
		at = (struct ctp_follow_end){.complete = end->complete, .missing = end->missing, .cut = true, .end_ns = end->judged_ns};
	return ctp_judge_section(&a->report, &a->follow, a->priv->tally, &at, &a->priv->kept, a->priv->section);
}

static void ended(void *arg, const struct ctp_follow_end *whole)
{
	struct ctp_analysis *a = arg;
	struct ctp_analysis_priv *priv = a->priv;
	struct ctp_report_section *s = priv->section;
	struct ctp_follow_end end = *whole;
	const struct ctp_follow_counts *c = &a->follow.counts;
	uint64_t first_ns = c->first_ns <= end.end_ns ? c->first_ns : end.end_ns, long_ns = end.end_ns - first_ns;
	bool outside = a->report.since_ns && a->report.since_ns >= long_ns;
	a->report.outside += outside;
	a->report.longest_ns = long_ns > a->report.longest_ns ? long_ns : a->report.longest_ns;
	if (a->report.until_ns && end.end_ns > first_ns && end.end_ns - first_ns > a->report.until_ns) {
		end = (struct ctp_follow_end){.complete = end.complete, .missing = end.missing, .cut = true,
		                              .end_ns = first_ns + a->report.until_ns, .destroyed = end.destroyed,
		                              .judged_ns = end.destroyed ? end.judged_ns : first_ns + a->report.until_ns};
	}
	if (s) {
		uint64_t *waiting = calloc(a->follow.places->count, sizeof *waiting);
		s->start_ns = first_ns;
		s->duration_ns = end.end_ns - first_ns;
		s->ended_ns = ctp_most(s->duration_ns, ctp_span_ns(first_ns, end.gone_ns));
		s->looked_ns = ctp_span_ns(a->follow.since_ns > first_ns ? a->follow.since_ns : first_ns, end.end_ns);
		s->start_wall_ns = (int64_t)((uint64_t)s->start_wall_ns + first_ns);
		s->ended = end.ended;
		memcpy(s->signal, whole->signalled.name, sizeof s->signal);
		s->signal_ns = ctp_span_ns(first_ns, whole->signalled.ts_ns);
		s->complete = end.complete;
		s->cut = end.cut;
		s->missing = end.missing;
		s->remnant = a->follow.attached_ns && a->follow.counts.first_ns < a->follow.attached_ns;
		s->until = end.end_ns < whole->end_ns;
		s->outside = outside;
		s->counts = *c;
		s->judged_ns = ctp_span_ns(first_ns, end.judged_ns);
		s->destroyed = end.destroyed;
		s->quiet_ns = priv->tally->last_resume_ns ? ctp_span_ns(priv->tally->last_resume_ns, end.judged_ns) : 0;
		s->pause_ns = priv->tally->longest_pause_ns;
		ctp_tally_finish(priv->tally, &end);
		ctp_follow_revive(&a->follow, true);
		ctp_objects_reopen(a->follow.objects, end.judged_ns);
		bool judged = outside || judge(a, &end);
		a->report.failed |= !waiting || priv->tally->failed || !judged;
		if (waiting) {
			fill_still(a, s, end.judged_ns, waiting);
			fill_sites(a, s, waiting);
		}
		fill_threads(a, s, end.end_ns);
		if (!outside)
			ctp_analysis_objects(a, s);
		if (!s->ordinal)
			fill_heavy(a, s);
		free(waiting);
	}
	ctp_follow_revive(&a->follow, false);
	if (priv->also && priv->also->end)
		priv->also->end(priv->also_arg, &end);
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

static const struct ctp_follow_ops listens = {.section = begun, .change = changed, .gone = gone, .end = ended,
                                              .thread_gap = thread_gap, .unchanged = unchanged};

static void take_options(struct ctp_analysis *a, const struct ctp_analysis_options *o)
{
	a->report.ignore = o->ignore;
	a->report.nignore = o->nignore;
	a->report.since_ns = o->since_ns;
	a->report.until_ns = o->until_ns;
	a->priv->sites_by = o->sites_by;
	a->report.matched = o->nignore ? calloc(o->nignore, sizeof *a->report.matched) : NULL;
	a->report.failed = o->nignore && !a->report.matched;
}

struct ctp_analysis *ctp_analysis_new(const struct ctp_analysis_options *options, struct ctp_err *err)
{
	static const struct ctp_analysis_options none;
	const struct ctp_analysis_options *o = options ? options : &none;
	struct ctp_analysis *a = calloc(1, sizeof *a);
	struct ctp_analysis_priv *priv = calloc(1, sizeof *priv);
	if (!a || !priv || ctp_follow_init(&a->follow, &listens, a, err)) {
		free(priv);
		free(a);
		ctp_err_memory(err);
		return NULL;
	}
	a->priv = priv;
	take_options(a, o);
	priv->tally = ctp_tally_new(&a->follow);
	if (!priv->tally || a->report.failed)
		ctp_err_memory(err);
	else if ((priv->symbols = ctp_symbols_new(o->debug_dirs, o->ndebug_dirs, err))) {
		a->follow.symbols = priv->symbols;
		ctp_sites_use(a->follow.sites, priv->symbols);
		if (o->no_symbols)
			ctp_symbols_without_files(priv->symbols);
		return a;
	}
	ctp_analysis_free(a);
	return NULL;
}

void ctp_analysis_free(struct ctp_analysis *a)
{
	if (!a)
		return;
	ctp_report_fini(&a->report);
	ctp_tally_free(a->priv->tally);
	ctp_kept_fini(&a->priv->kept);
	ctp_symbols_free(a->priv->symbols);
	ctp_follow_fini(&a->follow);
	free(a->priv);
	free(a);
}

void ctp_analysis_listen(struct ctp_analysis *a, const struct ctp_follow_ops *also, void *arg)
{
	a->priv->also = also;
	a->priv->also_arg = arg;
}

void ctp_analysis_spans(struct ctp_analysis *a, ctp_tally_span *span, void *arg)
{
	a->priv->tally->span = span;
	a->priv->tally->span_arg = arg;
}

void ctp_analysis_section(struct ctp_analysis *a, const struct ctp_section *sec)
{
	ctp_tally_clear(a->priv->tally); /* before its places are freed */
	ctp_symbols_forget(a->priv->symbols);
	ctp_follow_section(&a->follow, sec);
}

/* Whether a record is later than until_ns. A loss has two times: the first counts. */
static bool is_later(const struct ctp_analysis *a, const struct ctp_record *rec)
{
	uint64_t first_ns = a->follow.counts.first_ns, until_ns = a->report.until_ns;
	uint64_t ts = rec->val[rec->cls->time_field];
	int after = rec->cls->kind == CTP_KIND_LOSS ? ctp_class_field(rec->cls, "after") : -1;
	if (after >= 0 && rec->cls->fields[after].role == CTP_ROLE_TIME && rec->val[after] < ts)
		ts = rec->val[after];
	return until_ns && rec->cls->kind != CTP_KIND_END && ts > first_ns && ts - first_ns > until_ns;
}

/* A record that is no transition, or one of a part of the time. */
static __attribute__((noinline)) void any_record(struct ctp_analysis *a, const struct ctp_record *rec, bool late)
{
	const struct ctp_report *o = &a->report;
	if (rec->cls->kind == CTP_KIND_FINDING) {
		ctp_kept_take(&a->priv->kept, rec);
		return;
	}
	if (rec->cls->kind == CTP_KIND_MAPPING || rec->cls->kind == CTP_KIND_THREAD)
		ctp_symbols_learn(a->priv->symbols, rec);
	if ((o->since_ns || o->until_ns) && rec->cls->time_field >= 0 && a->follow.counts.first_ns <= a->follow.counts.last_ns) {
		uint64_t first_ns = a->follow.counts.first_ns;
		a->follow.since_ns = o->since_ns < UINT64_MAX - first_ns ? first_ns + o->since_ns : UINT64_MAX;
		if (o->until_ns && o->until_ns < UINT64_MAX - first_ns)
			a->follow.until_ns = first_ns + o->until_ns;
		if (is_later(a, rec))
			return;
	}
	ctp_follow_records(&a->follow, &(struct ctp_batch){rec, 1, late});
	if (rec->cls->kind == CTP_KIND_SAMPLE)
		ctp_tally_sampled(a->priv->tally);
}

void ctp_analysis_records(struct ctp_analysis *a, const struct ctp_batch *batch)
{
	bool all = !(a->report.since_ns | a->report.until_ns);
	bool alone = all && !a->priv->also && !a->priv->tally->span && !batch->late;
	for (uint32_t i = 0, upto; i < batch->n; i = upto) {
		upto = i + (alone ? ctp_tally_transitions(a->priv->tally, batch->rec + i, batch->n - i) : 0);
		if (upto > i)
			continue;
		while (all && upto < batch->n && batch->rec[upto].cls->kind == CTP_KIND_TRANSITION)
			upto++;
		if (upto > i)
			ctp_follow_records(&a->follow, &(struct ctp_batch){batch->rec + i, upto - i, batch->late});
		else
			any_record(a, &batch->rec[upto++], batch->late);
	}
}

void ctp_analysis_end(struct ctp_analysis *a, const struct ctp_section_end *end)
{
	ctp_follow_finish(&a->follow, end);
}
