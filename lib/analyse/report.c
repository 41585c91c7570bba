/*
 * report.c - a section of a stream becomes a section of the report.
 */
#include "analyse/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/judge.h"
#include "symbols/symbols.h"

struct ctp_report_priv {
	struct ctp_report_options options;
	struct ctp_tally *tally;
	struct ctp_symbols *symbols;
	struct ctp_report_section *section; /* at hand; null: there were too many */
	const struct ctp_follow_ops *also;
	void *also_arg;
	const struct ctp_section *who; /* at hand */
	char text[CTP_SITE_TEXT_MAX + 1]; /* of ctp_report_place */
};

/* --- what follow.c tells -------------------------------------------------------------------------------------------------- */

static char *copy(struct ctp_report *r, const char *text)
{
	char *s = text ? strdup(text) : NULL;
	r->failed |= text && !s;
	return s;
}

/* The elements of argv, one behind the other. */
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

static void still_fini(struct ctp_report_still *still, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		free(still[i].spawn);
		free(still[i].place);
		free(still[i].name);
	}
	free(still);
}

static void section_fini(struct ctp_report_section *s)
{
	free(s->command);
	free(s->file);
	free(s->host);
	free(s->pid);
	free(s->source);
	free(s->tool);
	for (uint32_t i = 0; i < s->nfindings; i++)
		ctp_finding_fini(&s->findings[i]);
	free(s->findings);
	still_fini(s->waiting, s->nwaiting);
	still_fini(s->running, s->nrunning);
	for (uint32_t i = 0; i < s->nsites; i++)
		free(s->sites[i].place);
	free(s->sites);
	for (uint32_t i = 0; i < s->nthreads; i++)
		free(s->threads[i].name);
	free(s->threads);
	for (int k = 0; k < CTP_HEAVY_KINDS; k++)
		for (uint32_t i = 0; i < s->nheavy[k]; i++) {
			free(s->heavy[k][i].name);
			free(s->heavy[k][i].spawn);
		}
}

/* A section begins, or, where sec is null, another run of the same. */
static void begun(void *arg, const struct ctp_section *sec)
{
	struct ctp_report *r = arg;
	struct ctp_report_priv *priv = r->priv;
	ctp_tally_clear(priv->tally);
	priv->section = NULL;
	if (sec)
		priv->who = sec;
	r->sections_seen++;
	if (r->nsections == r->room && r->room < CTP_REPORT_SECTIONS) {
		uint32_t room = r->room ? 2 * r->room : 4;
		struct ctp_report_section *sections = realloc(r->sections, room * sizeof(*sections));
		r->failed |= !sections;
		if (sections) {
			r->sections = sections;
			r->room = room;
		}
	}
	if (r->nsections < r->room) {
		struct ctp_report_section *s = priv->section = &r->sections[r->nsections++];
		*s = (struct ctp_report_section){0};
		s->command = command_of(priv->who, &s->command_bytes);
		s->file = copy(r, r->input);
		s->host = copy(r, ctp_section_get(priv->who, "host"));
		s->pid = copy(r, ctp_section_get(priv->who, "pid"));
		s->source = copy(r, ctp_section_get(priv->who, "source"));
		s->tool = copy(r, ctp_section_get(priv->who, "tool"));
		s->has_wall = priv->who->has_wall;
		s->start_wall_ns = priv->who->wall_offset_ns;
	}
	if (priv->also && priv->also->section)
		priv->also->section(priv->also_arg, sec);
}

static __attribute__((noinline)) void tell_also(const struct ctp_report_priv *priv, const struct ctp_change *ch)
{
	if (priv->also->change)
		priv->also->change(priv->also_arg, ch);
	ctp_tally_change(priv->tally, ch);
}

static void changed(void *arg, const struct ctp_change *ch)
{
	const struct ctp_report_priv *priv = ((struct ctp_report *)arg)->priv;
	if (priv->also)
		tell_also(priv, ch);
	else
		ctp_tally_change(priv->tally, ch);
}

static void thread_gap(void *arg, uint32_t thread, uint64_t after_ns, uint64_t ts_ns, uint64_t transitions)
{
	const struct ctp_report_priv *priv = ((struct ctp_report *)arg)->priv;
	if (priv->also && priv->also->thread_gap)
		priv->also->thread_gap(priv->also_arg, thread, after_ns, ts_ns, transitions);
}

/* --- the end of a section ------------------------------------------------------------------------------------------------- */

static struct ctp_report_times times_of(const struct ctp_hist *h)
{
	return (struct ctp_report_times){h->count, h->total_ns, ctp_hist_quantile(h, 0.5), ctp_hist_quantile(h, 0.99), h->max_ns};
}

static uint64_t time_in(const struct ctp_report_site *site, enum ctp_state state)
{
	return (state == CTP_RUNNING ? site->running : state == CTP_RUNNABLE ? site->runnable : site->suspended).total_ns;
}

static int by_time_in(const void *a, const void *b, void *state)
{
	uint64_t m = time_in(a, *(enum ctp_state *)state), n = time_in(b, *(enum ctp_state *)state);
	return m == n ? 0 : m < n ? 1 : -1;
}

static void fill_sites(struct ctp_report *r, struct ctp_report_section *s, const uint64_t *waiting)
{
	struct ctp_tally *t = r->priv->tally;
	s->sites = calloc(t->nplaces, sizeof(*s->sites));
	r->failed |= !s->sites;
	for (uint32_t i = 0; s->sites && i < r->follow.places.count && s->nsites < t->nplaces; i++) {
		const struct ctp_tally_place *p = t->places[i];
		if (!p || (!p->wait.count && !p->run.count && !waiting[i]))
			continue;
		s->sites[s->nsites++] = (struct ctp_report_site){
			.place = copy(r, ctp_report_place(r, i)),
			.suspended = times_of(&p->wait),
			.runnable = times_of(&p->ready),
			.running = times_of(&p->run),
			.waiting = waiting[i],
		};
	}
	s->sites_by = r->priv->options.sites_by ? r->priv->options.sites_by : CTP_SUSPENDED;
	if (s->nsites)
		qsort_r(s->sites, s->nsites, sizeof(*s->sites), by_time_in, &s->sites_by);
}

static int by_busy(const void *a, const void *b)
{
	const struct ctp_report_thread *x = a, *y = b;
	return x->busy_ns == y->busy_ns ? 0 : x->busy_ns < y->busy_ns ? 1 : -1;
}

/* Those that ever ran a coroutine. Of a thread nothing is known before the collector came. */
static void fill_threads(struct ctp_report *r, struct ctp_report_section *s, uint64_t end_ns)
{
	uint64_t from_ns = end_ns - s->looked_ns, before_ns = ctp_span_ns(from_ns, r->follow.attached_ns);
	before_ns = before_ns < s->looked_ns ? before_ns : s->looked_ns;
	s->threads = calloc(r->follow.threads.count, sizeof(*s->threads));
	r->failed |= !s->threads;
	for (uint32_t i = 1; s->threads && i < r->follow.threads.count; i++) {
		struct ctp_thread *th = &r->follow.threads.list[i];
		if (!th->resumes && !th->unknown_ns)
			continue;
		uint64_t unknown_ns = th->unknown_ns + before_ns;
		s->threads[s->nthreads++] = (struct ctp_report_thread){
			.tid = th->tid,
			.busy_ns = th->busy_ns,
			.unknown_ns = unknown_ns,
			.known_ns = ctp_span_ns(unknown_ns, s->looked_ns),
			.resumes = th->resumes,
			.last_ns = th->last_ns > s->start_ns ? th->last_ns - s->start_ns : 0,
			.name = th->name[0] ? copy(r, th->name) : NULL,
		};
	}
	if (s->nthreads)
		qsort(s->threads, s->nthreads, sizeof(*s->threads), by_busy);
	s->nthreads_seen = s->nthreads;
}

static void fill_heavy(struct ctp_report *r, struct ctp_report_section *s)
{
	struct ctp_tally *t = r->priv->tally;
	memcpy(s->heavy, t->heavy, sizeof(s->heavy));
	memcpy(s->nheavy, t->nheavy, sizeof(s->nheavy));
	memcpy(s->total_ns, t->total_ns, sizeof(s->total_ns));
	for (int k = 0; k < CTP_HEAVY_KINDS; k++) {
		for (uint32_t i = 0; i < s->nheavy[k]; i++)
			s->heavy[k][i].spawn = copy(r, ctp_report_place(r, t->heavy_spawn[k][i]));
		t->nheavy[k] = 0; /* the names are the section's now */
	}
}

/* Groups of those that wait, or run, before their places are texts. */
struct groups {
	struct group {
		uint32_t spawn, place;
		bool found; /* in findings, or not */
		struct ctp_report_still still;
	} *list;
	uint32_t count, last; /* last: the one that was asked for; many that follow one another are of the same */
};

static bool is_group(const struct group *g, uint32_t spawn, uint32_t place, bool found)
{
	return g->spawn == spawn && g->place == place && g->found == found;
}

/* Null: there are too many. */
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

static void group_add(struct ctp_report *r, struct groups *gs, const struct ctp_coroutine *co, uint64_t ns)
{
	bool found = co->flags & CTP_CO_FOUND;
	struct group *g = group_of(gs, co->spawn, ctp_follow_place(&r->follow, co), found);
	if (!g)
		return;
	g->still.coroutines++;
	g->still.runnable += co->state == CTP_RUNNABLE;
	g->still.found += found;
	if (ns >= g->still.longest_ns) {
		g->still.longest_ns = ns;
		g->still.longest = co->id;
		g->still.tid = r->follow.threads.list[co->thread].tid;
	}
	g->still.shortest_ns = ns < g->still.shortest_ns ? ns : g->still.shortest_ns;
	const struct ctp_report_section *s = r->priv->section;
	g->still.certain &= !(co->flags & CTP_CO_CONFLICT) && co->since_ns >= r->follow.unsure_ns && (!s->cut || s->until);
}

static int by_number(const void *a, const void *b)
{
	uint64_t m = ((const struct group *)a)->still.coroutines, n = ((const struct group *)b)->still.coroutines;
	return m == n ? 0 : m < n ? 1 : -1;
}

/* Those with their texts, so many; the groups are freed. */
static struct ctp_report_still *groups_done(struct ctp_report *r, struct groups *gs, uint32_t *n)
{
	struct ctp_report_still *still = calloc(gs->count + 1, sizeof(*still));
	r->failed |= !still;
	if (gs->count)
		qsort(gs->list, gs->count, sizeof(*gs->list), by_number);
	for (uint32_t i = 0; still && i < gs->count; i++) {
		const struct ctp_coroutine *longest = ctp_follow_find(&r->follow, gs->list[i].still.longest);
		still[i] = gs->list[i].still;
		still[i].name = copy(r, longest ? longest->name : NULL);
		still[i].spawn = copy(r, ctp_report_place(r, gs->list[i].spawn));
		still[i].place = copy(r, ctp_report_place(r, gs->list[i].place));
	}
	*n = still ? gs->count : 0;
	free(gs->list);
	return still;
}

/* Of probes that do not tell of an end, who seems to run may be over. */
static void fill_still(struct ctp_report *r, struct ctp_report_section *s, uint64_t end_ns, uint64_t *waiting)
{
	struct groups waits = {.list = calloc(CTP_REPORT_FINDINGS, sizeof(*waits.list))};
	struct groups runs = {.list = calloc(CTP_REPORT_FINDINGS, sizeof(*runs.list))};
	uint32_t at = 0;
	r->failed |= !waits.list || !runs.list;
	for (struct ctp_coroutine *co; waits.list && runs.list && (co = ctp_follow_each(&r->follow, &at));) {
		bool in_gap = co->state != CTP_DEAD && co->flags & CTP_CO_TAIL;
		s->alive += co->state != CTP_DEAD;
		if (s->outside)
			continue;
		s->in_gap += in_gap;
		if (in_gap)
			continue;
		if (co->state == CTP_RUNNING && co->flags & CTP_CO_OURS)
			group_add(r, &runs, co, ctp_follow_ns(&r->follow, co->since_ns, end_ns));
		if (co->state != CTP_SUSPENDED && co->state != CTP_RUNNABLE)
			continue;
		waiting[ctp_follow_place(&r->follow, co)]++;
		group_add(r, &waits, co, ctp_follow_ns(&r->follow, co->suspended_ns, end_ns));
	}
	s->waiting = groups_done(r, &waits, &s->nwaiting);
	s->running = groups_done(r, &runs, &s->nrunning);
}

static void ended(void *arg, const struct ctp_follow_end *told)
{
	struct ctp_report *r = arg;
	struct ctp_report_priv *priv = r->priv;
	struct ctp_report_section *s = priv->section;
	struct ctp_follow_end end = *told;
	const struct ctp_follow_counts *c = &r->follow.counts;
	uint64_t first_ns = c->first_ns <= c->last_ns ? c->first_ns : end.end_ns, long_ns = end.end_ns - first_ns;
	bool outside = r->since_ns && r->since_ns >= long_ns;
	r->outside += outside;
	r->longest_ns = long_ns > r->longest_ns ? long_ns : r->longest_ns;
	if (priv->options.until_ns && end.end_ns > first_ns && end.end_ns - first_ns > priv->options.until_ns) {
		end = (struct ctp_follow_end){.complete = end.complete, .cut = true, .outcome = "",
		                              .end_ns = first_ns + priv->options.until_ns};
	}
	if (s) {
		uint64_t *waiting = calloc(r->follow.places.count, sizeof(*waiting));
		s->start_ns = first_ns;
		s->duration_ns = end.end_ns - first_ns;
		s->looked_ns = ctp_span_ns(r->follow.since_ns > first_ns ? r->follow.since_ns : first_ns, end.end_ns);
		s->start_wall_ns = (int64_t)((uint64_t)s->start_wall_ns + first_ns);
		snprintf(s->outcome, sizeof(s->outcome), "%s", end.outcome[0] ? end.outcome : "unknown");
		s->status = end.status;
		s->complete = end.complete;
		s->cut = end.cut;
		s->remnant = r->follow.attached_ns && r->follow.counts.first_ns < r->follow.attached_ns;
		s->until = end.end_ns < told->end_ns;
		s->outside = outside;
		s->counts = *c;
		ctp_tally_finish(priv->tally, end.end_ns);
		r->failed |= !waiting || priv->tally->failed || (!outside && !ctp_judge_section(r, priv->tally, &end, &priv->options, s));
		if (waiting) {
			fill_still(r, s, end.end_ns, waiting);
			fill_sites(r, s, waiting);
		}
		fill_threads(r, s, end.end_ns);
		fill_heavy(r, s);
		free(waiting);
	}
	if (priv->also && priv->also->end)
		priv->also->end(priv->also_arg, &end);
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

static const struct ctp_follow_ops listens = {.section = begun, .change = changed, .end = ended, .thread_gap = thread_gap};

struct ctp_report *ctp_report_new(const struct ctp_report_options *options, struct ctp_err *err)
{
	struct ctp_report *r = calloc(1, sizeof(*r));
	struct ctp_report_priv *priv = calloc(1, sizeof(*priv));
	if (!r || !priv || ctp_follow_init(&r->follow, &listens, r, err)) {
		free(priv);
		free(r);
		ctp_err_set(err, "out of memory");
		return NULL;
	}
	r->priv = priv;
	if (options)
		priv->options = *options;
	r->since_ns = priv->options.since_ns;
	r->until_ns = priv->options.until_ns;
	if (priv->options.nignore && !(r->matched = calloc(priv->options.nignore, sizeof(*r->matched)))) {
		ctp_report_free(r);
		ctp_err_set(err, "out of memory");
		return NULL;
	}
	priv->symbols = ctp_symbols_new(priv->options.debug_dirs, priv->options.ndebug_dirs, err);
	r->follow.symbols = priv->symbols;
	if (priv->symbols)
		ctp_sites_use(r->follow.sites, priv->symbols);
	priv->tally = ctp_tally_new(&r->follow);
	if (priv->symbols && priv->tally)
		return r;
	if (priv->symbols)
		ctp_err_set(err, "out of memory");
	ctp_report_free(r);
	return NULL;
}

void ctp_report_free(struct ctp_report *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->nsections; i++)
		section_fini(&r->sections[i]);
	free(r->sections);
	free(r->matched);
	ctp_tally_free(r->priv->tally);
	ctp_symbols_free(r->priv->symbols);
	ctp_follow_fini(&r->follow);
	free(r->priv);
	free(r);
}

const char *ctp_report_unmatched(const struct ctp_report *r, size_t *at)
{
	const struct ctp_report_options *o = r->matched && r->outside < r->sections_seen ? &r->priv->options : NULL;
	while (o && *at < o->nignore) {
		size_t i = (*at)++;
		if (!r->matched[i])
			return o->ignore[i];
	}
	return NULL;
}

void ctp_report_listen(struct ctp_report *r, const struct ctp_follow_ops *also, void *arg)
{
	r->priv->also = also;
	r->priv->also_arg = arg;
}

void ctp_report_section_begin(struct ctp_report *r, const struct ctp_section *sec)
{
	ctp_tally_clear(r->priv->tally); /* while the places that it knows are there */
	ctp_symbols_forget(r->priv->symbols);
	ctp_follow_section(&r->follow, sec);
}

/* Whether a record is about what is later than what was asked for. Of a loss, the first of its two times counts. */
static bool is_later(const struct ctp_report *r, const struct ctp_record *rec)
{
	uint64_t first_ns = r->follow.counts.first_ns, until_ns = r->priv->options.until_ns;
	uint64_t ts = rec->val[rec->cls->time_field];
	int after = rec->cls->kind == CTP_KIND_LOSS ? ctp_class_field(rec->cls, "after") : -1;
	if (after >= 0 && rec->cls->fields[after].role == CTP_ROLE_TIME && rec->val[after] < ts)
		ts = rec->val[after];
	return until_ns && rec->cls->kind != CTP_KIND_END && ts > first_ns && ts - first_ns > until_ns;
}

/* One that has to be looked at: whether it is within the time that was asked for, and what it tells besides. */
static __attribute__((noinline)) void any_record(struct ctp_report *r, const struct ctp_record *rec, bool late)
{
	const struct ctp_report_options *o = &r->priv->options;
	if (rec->cls->kind == CTP_KIND_MAPPING || rec->cls->kind == CTP_KIND_THREAD)
		ctp_symbols_learn(r->priv->symbols, rec);
	if ((o->since_ns || o->until_ns) && rec->cls->time_field >= 0 && r->follow.counts.first_ns <= r->follow.counts.last_ns) {
		uint64_t first_ns = r->follow.counts.first_ns;
		r->follow.since_ns = o->since_ns < UINT64_MAX - first_ns ? first_ns + o->since_ns : UINT64_MAX;
		if (o->until_ns && o->until_ns < UINT64_MAX - first_ns)
			r->follow.until_ns = first_ns + o->until_ns;
		if (is_later(r, rec))
			return;
	}
	ctp_follow_records(&r->follow, &(struct ctp_batch){rec, 1, late});
}

void ctp_report_records(struct ctp_report *r, const struct ctp_batch *batch)
{
	bool all = !(r->since_ns | r->until_ns);
	for (uint32_t i = 0, upto; i < batch->n; i = upto) {
		for (upto = i; all && upto < batch->n && batch->rec[upto].cls->kind == CTP_KIND_TRANSITION;)
			upto++;
		if (upto > i)
			ctp_follow_records(&r->follow, &(struct ctp_batch){batch->rec + i, upto - i, batch->late});
		else
			any_record(r, &batch->rec[upto++], batch->late);
	}
}

void ctp_report_section_end(struct ctp_report *r, const struct ctp_section_end *end)
{
	ctp_follow_finish(&r->follow, end->complete, end->missing);
}

const char *ctp_report_place(struct ctp_report *r, uint32_t place)
{
	const struct ctp_place *p = &r->follow.places.place[place];
	if (!place || !p->shared)
		return NULL;
	const struct ctp_spot *at = &p->spot;
	const struct ctp_sites_text *site = at->site ? ctp_sites_find(r->follow.sites, at->site) : NULL;
	const struct ctp_str *symbol = at->site ? NULL : at->file ? ctp_symbols_text(r->priv->symbols, at->file, at->addr) :
	                               ctp_symbols_find(r->priv->symbols, p->pid, at->addr); /* it was mapped later */
	if (site) /* it is not terminated in the table */
		snprintf(r->priv->text, sizeof(r->priv->text), "%.*s", (int)site->len, site->data);
	else if (symbol)
		return symbol->data;
	else
		snprintf(r->priv->text, sizeof(r->priv->text), at->site ? "site %ju" : at->file ? "+0x%jx" : "0x%016jx",
		         (uintmax_t)(at->site ? at->site : at->addr));
	return r->priv->text;
}
