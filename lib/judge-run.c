/*
 * judge-run.c - the rules about those who run: too long, again and again, on a thread that stands still, on the wrong thread, when
 * they must not; and about the program as a whole: throughput that collapsed, coroutines that become more and more.
 */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>

#include "text.h"

enum {
	LATE_MIN = 3,             /* one or two may have been about to be woken anyway */
	STORM_WAKES = 5000,
	STORM_PERIOD_NS = 100000, /* one that does more than that between two wakes is at work */
	MOVES_PERCENT = 95,       /* of resumes on another thread; chance gives 100 - 100 / threads */
	GROWTH_STEPS = 8,
	GROWTH_ALIVE = 100,
	COLLAPSE_SLICES = 8,      /* with and without, at least */
};

static void long_runs(struct ctp_judge *j)
{
	const struct ctp_tally_list *l = &j->tally->runs;
	uint64_t usual_ns = ctp_hist_quantile(&j->tally->run, 0.99);
	for (uint32_t i = 0; i < l->count; i++) {
		const struct ctp_tally_case *c = &l->cases[i];
		uint64_t floor_ns = c->elsewhere ? CTP_JUDGE_RUN_NS : 5 * (uint64_t)CTP_JUDGE_RUN_NS;
		if (j->tally->run.count < CTP_JUDGE_HISTORY || c->ns < floor_ns || c->ns / CTP_JUDGE_FACTOR < usual_ns ||
		    (!c->count && c->late < LATE_MIN))
			continue;
		struct ctp_group *g = ctp_judge_group(j, CTP_RULE_LONG_RUN, c->spawn, c->place);
		ctp_judge_add_case(j, g, c, c->count ? CTP_CERTAIN_PROVED : CTP_CERTAIN_LIKELY);
		if (g) {
			g->count += c->count;
			g->late += c->late;
			g->most_ns = c->most_ns > g->most_ns ? c->most_ns : g->most_ns;
		}
	}
}

static void storms(struct ctp_judge *j)
{
	const struct ctp_tally_list *l = &j->tally->storms;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct ctp_tally_case *c = &l->cases[i];
		uint64_t wakes = c->count - CTP_TALLY_STORM;
		if (c->count < STORM_WAKES || c->ns / wakes > STORM_PERIOD_NS)
			continue;
		struct ctp_group *g = ctp_judge_group(j, CTP_RULE_SELF_WAKE, c->spawn, c->place);
		ctp_judge_add_case(j, g, c, c->whole ? CTP_CERTAIN_LIKELY : CTP_CERTAIN_UNKNOWN);
		if (g)
			g->count = c->count > g->count ? c->count : g->count;
	}
}

static void broken(struct ctp_judge *j)
{
	static const enum ctp_rule rules[] = {[CTP_BROKEN_DOUBLE_RESUME] = CTP_RULE_DOUBLE_RESUME,
	                                      [CTP_BROKEN_AFTER_DEATH] = CTP_RULE_AFTER_DEATH};
	for (int k = 0; k < 2; k++) {
		const struct ctp_tally_list *l = &j->tally->broken[k];
		for (uint32_t i = 0; i < l->count; i++)
			ctp_judge_add_case(j, ctp_judge_group(j, rules[k], l->cases[i].spawn, l->cases[i].place), &l->cases[i],
			                   CTP_CERTAIN_PROVED); /* follow.c tells of them only where nothing is missing */
	}
}

/*
 * A thread that has run the same coroutine since long ago, while others went on or the program was ended from outside. Of probes
 * that do not tell of an end, it could be one that has returned.
 */
static bool stands_still(struct ctp_judge *j, struct ctp_coroutine *co, uint64_t ns, bool *proves)
{
	const struct ctp_tally_place *p = ctp_tally_place(j->tally, ctp_follow_place(j->follow, co));
	bool went_on = j->tally->last_resume_ns > co->since_ns + CTP_JUDGE_RUN_NS;
	bool outside = !ctp_judge_exited(j) && ns >= CTP_JUDGE_QUIET_NS;
	*proves = ctp_judge_too_long(&p->run, ns);
	if (ns < CTP_JUDGE_RUN_NS || !ctp_judge_too_long(&j->tally->run, ns))
		return false;
	/* Where none of its like has run, it may be at work; but not if nobody else can be. */
	return *proves ? went_on || outside : p->run.count < CTP_JUDGE_HISTORY && !went_on && outside && j->waiting;
}

static void stalled_threads(struct ctp_judge *j)
{
	struct ctp_follow *f = j->follow;
	for (uint32_t i = 1; i < f->threads.count; i++) {
		struct ctp_coroutine *co = f->threads.list[i].current ? ctp_follow_find(f, f->threads.list[i].current) : NULL;
		if (!co || co->state != CTP_RUNNING || co->thread != i || !(co->flags & CTP_CO_OURS))
			continue;
		uint64_t ns = ctp_span_ns(co->since_ns, ctp_judge_end_ns(j, co));
		bool proves;
		if (!stands_still(j, co, ns, &proves))
			continue;
		enum ctp_certainty sure = ctp_judge_sure(j, co, false);
		ctp_judge_add(j, ctp_judge_group(j, CTP_RULE_STALLED_THREAD, co->spawn, ctp_follow_place(f, co)), co,
		              sure == CTP_CERTAIN_PROVED && !proves ? CTP_CERTAIN_LIKELY : sure, co->since_ns, ns);
	}
}

static void migration(struct ctp_judge *j)
{
	uint32_t running = 0;
	for (uint32_t i = 1; i < j->follow->threads.count; i++)
		running += j->follow->threads.list[i].resumes > 0;
	uint64_t chance = running ? 100 - 100 / running : 100;
	if (running < 2 || chance + 3 >= MOVES_PERCENT)
		return;
	for (uint32_t n = 0; n < j->follow->places.count; n++) {
		const struct ctp_tally_spawn *s = j->tally->spawns[n];
		if (!s || !s->move_resumes || s->moves < s->move_resumes / 100 * MOVES_PERCENT)
			continue;
		struct ctp_group *g = ctp_judge_group(j, CTP_RULE_MIGRATION, n, 0);
		if (!g)
			continue;
		g->by_certainty[CTP_CERTAIN_LIKELY] += s->movers;
		g->from_ns = j->start_ns;
		g->to_ns = j->end_ns;
		g->count = s->moves;
		g->most_ns = s->move_resumes;
	}
}

/* Of those that are alive, so many by spawn place have done nothing in the last quarter of the time. Null: out of memory. */
static uint64_t *count_idle(struct ctp_judge *j)
{
	uint64_t *idle = calloc(j->follow->places.count, sizeof(*idle)), quarter_ns = j->end_ns - (j->end_ns - j->start_ns) / 4;
	struct ctp_coroutine *co;
	j->failed |= !idle;
	for (uint32_t at = 0; idle && (co = ctp_follow_each(j->follow, &at));)
		idle[co->spawn] += co->state != CTP_DEAD && co->since_ns < quarter_ns;
	return idle;
}

/* The fewest alive in each of eight parts of the time; whether each is more than in the part before. */
static bool grows(const struct ctp_tally_spawn *s, uint64_t low[GROWTH_STEPS])
{
	if (s->alive < GROWTH_ALIVE || s->level + 1 < 2 * GROWTH_STEPS)
		return false;
	bool more = true;
	for (uint32_t step = 0; step < GROWTH_STEPS; step++) {
		uint32_t from = (s->level + 1) * step / GROWTH_STEPS, to = (s->level + 1) * (step + 1) / GROWTH_STEPS;
		low[step] = UINT64_MAX;
		for (uint32_t i = from; i < to; i++)
			low[step] = s->low[i] < low[step] ? s->low[i] : low[step];
		more &= !step || low[step] > low[step - 1] + low[step - 1] / 20;
	}
	return more && low[GROWTH_STEPS - 1] >= GROWTH_ALIVE && low[GROWTH_STEPS - 1] / 2 >= low[GROWTH_STEPS / 2 - 1];
}

/* They become more and more, and most of them do nothing any more: else it may be the load that grows. */
static void growth(struct ctp_judge *j)
{
	uint64_t *idle = count_idle(j), low[GROWTH_STEPS];
	for (uint32_t n = 0; idle && n < j->follow->places.count; n++) {
		const struct ctp_tally_spawn *s = j->tally->spawns[n];
		bool told = s && grows(s, low) && idle[n] >= s->alive / 2;
		struct ctp_group *g = told ? ctp_judge_group(j, CTP_RULE_GROWTH, n, 0) : NULL;
		if (!g)
			continue;
		bool missed = j->follow->missed_ns > j->follow->attached_ns;
		g->by_certainty[missed ? CTP_CERTAIN_UNKNOWN : CTP_CERTAIN_LIKELY] += s->alive;
		g->from_ns = j->start_ns;
		g->to_ns = j->end_ns;
		g->count = low[GROWTH_STEPS / 2 - 1];
		g->most_ns = low[0];
	}
	free(idle);
}

/* Which place took up most of those that suspended for the last time around then. */
static char *what_was_special(struct ctp_judge *j, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t *at = calloc(j->follow->places.count, sizeof(*at)), all = 0;
	struct ctp_coroutine *co;
	uint32_t best = 0;
	if (!at)
		return NULL;
	for (uint32_t i = 0; (co = ctp_follow_each(j->follow, &i));) {
		if (co->state != CTP_SUSPENDED || co->suspended_ns < from_ns || co->suspended_ns > to_ns)
			continue;
		uint32_t place = ctp_follow_place(j->follow, co);
		all++;
		best = ++at[place] > at[best] ? place : best;
	}
	char *text = NULL, most[CTP_TEXT_MAX], of[CTP_TEXT_MAX];
	*ctp_text_count(most, at[best]) = *ctp_text_count(of, all) = '\0';
	free(at);
	const char *where = ctp_report_place(j->report, best);
	if (all >= 2 && asprintf(&text, "around then %s coroutines went to wait and did not come back, %s of them at %s", of, most,
	                         where ? where : "a place that is not known") < 0)
		text = NULL;
	return text;
}

/* A moment behind which next to nothing happens; told only where somebody else's finding says that this is no end of work. */
static void collapse(struct ctp_judge *j)
{
	const struct ctp_tally *t = j->tally;
	uint64_t all = 0, n = t->start_ns == UINT64_MAX ? 0 : (ctp_span_ns(t->start_ns, j->end_ns) >> t->slice_bits) + 1;
	uint64_t slice_ns = (uint64_t)1 << t->slice_bits;
	for (uint32_t i = 0; i < t->nslices; i++)
		all += t->slices[i];
	bool told = false;
	for (uint32_t i = 0; i < j->ngroups; i++)
		told |= ctp_judge_is_stop(j->groups[i].rule);
	if (!told || n < 2 * COLLAPSE_SLICES || !t->nslices)
		return;
	/* From the end to the front, as long as what lies behind is at most a hundredth of all. */
	uint64_t behind = 0, last = t->nslices;
	while (last > 0 && behind + t->slices[last - 1] <= all / 100)
		behind += t->slices[--last];
	uint64_t active = 0;
	for (uint32_t i = 0; i < last; i++)
		active += t->slices[i] > 0;
	uint64_t quiet_ns = (n - last) * slice_ns, busy_ns = last * slice_ns;
	if (active < COLLAPSE_SLICES || n - last < COLLAPSE_SLICES || quiet_ns < busy_ns / 4 ||
	    quiet_ns / CTP_JUDGE_FACTOR < t->longest_pause_ns || quiet_ns < CTP_JUDGE_RUN_NS)
		return;
	uint64_t when_ns = t->start_ns + busy_ns;
	char *special = what_was_special(j, when_ns - (busy_ns / 10 < slice_ns ? slice_ns : busy_ns / 10), j->end_ns);
	struct ctp_group *g = special ? ctp_judge_group(j, CTP_RULE_COLLAPSE, 0, 0) : NULL;
	if (!g) {
		free(special);
		return;
	}
	g->by_certainty[j->follow->unsure_ns >= when_ns ? CTP_CERTAIN_UNKNOWN : CTP_CERTAIN_LIKELY]++;
	g->from_ns = when_ns;
	g->to_ns = j->end_ns;
	g->count = busy_ns ? (uint64_t)((double)(all - behind) * 1e9 / (double)busy_ns) : 0;
	g->most_ns = quiet_ns ? (uint64_t)((double)behind * 1e9 / (double)quiet_ns) : 0;
	g->extra = special;
}

void ctp_judge_runs(struct ctp_judge *j)
{
	broken(j);
	stalled_threads(j);
	long_runs(j);
	storms(j);
	migration(j);
	growth(j);
	collapse(j);
	if (j->follow->counts.untraced) {
		struct ctp_group *g = ctp_judge_group(j, CTP_RULE_UNTRACED, 0, 0);
		if (g)
			g->by_certainty[CTP_CERTAIN_PROVED] = j->follow->counts.untraced;
	}
}
