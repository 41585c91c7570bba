/*
 * judge-run.c - the rules about those who run: too long, again and again, on a thread that stands still, on the wrong thread, when
 * they must not; and about the program as a whole: throughput that collapsed, coroutines that become more and more.
 */
#include "analyse/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum {
	LATE_MIN = 3,             /* one or two may have been about to be woken anyway */
	STORM_NS = 100000000,     /* and for so long */
	STORM_PERIOD_NS = 100000, /* one that does more than that between two wakes is at work */
	STORM_RUN_NS = 5000,      /* and so is one that runs for longer, mostly */
	SEEN_NS = 20000000,       /* between samples, at least */
	MOVES_PERCENT = 95,       /* of resumes on another thread; chance gives 100 - 100 / threads */
	MOVES_A_SECOND = 2000,    /* fewer cost nothing to speak of */
	GROWTH_STEPS = 8,
	GROWTH_ALIVE = 100,
	COLLAPSE_SLICES = 8,      /* with and without, at least */
};

/* What samples say of a run: that it was on a processor for most of the time in between, or asleep; or too little. */
enum seen { SEEN_NOTHING, SEEN_BUSY, SEEN_ASLEEP };

/* Whether samples say anything of it: two at least, and not at nearly the same time. */
static bool was_seen(const struct ctp_proc_seen_run *run)
{
	return run->samples >= 2 && ctp_span_ns(run->first_ns, run->last_ns) >= SEEN_NS;
}

static enum seen what_was_seen(const struct ctp_proc_seen_run *run)
{
	uint64_t ns = ctp_span_ns(run->first_ns, run->last_ns);
	if (!was_seen(run))
		return SEEN_NOTHING;
	/* On a machine with too much to do, one that is ready when it is not on a processor is busy too. */
	bool busy = run->cpu_ns >= ns / 2 || (run->cpu_ns >= CTP_JUDGE_RUN_NS && run->cpu_ns + run->delay_ns >= ns / 4 * 3);
	return busy ? SEEN_BUSY : run->cpu_ns < ns / 10 && 2 * run->asleep >= run->samples ? SEEN_ASLEEP : SEEN_NOTHING;
}

/* Samples that neither show it busy nor asleep show that the machine had no time for it. */
static bool was_kept_out(const struct ctp_proc_seen_run *run) { return was_seen(run) && what_was_seen(run) == SEEN_NOTHING; }

static void add_run(struct ctp_judge *j, const struct ctp_tally_case *c, bool proved)
{
	enum seen seen = what_was_seen(&c->seen);
	struct ctp_group *g = ctp_judge_group(j, seen == SEEN_ASLEEP ? CTP_RULE_BLOCKED : CTP_RULE_LONG_RUN, c->spawn, c->place);
	if (!g || (!proved && g->by_certainty[CTP_CERTAIN_PROVED]))
		return; /* of a finding that is proved, all its numbers are */
	ctp_judge_add_case(j, g, c, proved ? CTP_CERTAIN_PROVED : CTP_CERTAIN_LIKELY);
	g->count += c->count;
	g->late += c->late;
	g->most_ns = c->most_ns > g->most_ns ? c->most_ns : g->most_ns;
	if (was_seen(&c->seen) && c->seen.last_ns - c->seen.first_ns > g->seen_ns) {
		g->seen_ns = c->seen.last_ns - c->seen.first_ns;
		g->cpu_ns = c->seen.cpu_ns;
	}
}

static void long_runs(struct ctp_judge *j, bool proved)
{
	const struct ctp_tally_list *l = &j->tally->runs;
	uint64_t usual_ns = ctp_hist_quantile(&j->tally->run, 0.99);
	for (uint32_t i = 0; i < l->count; i++) {
		const struct ctp_tally_case *c = &l->cases[i];
		uint64_t floor_ns = c->elsewhere || was_seen(&c->seen) ? CTP_JUDGE_RUN_NS : 5 * (uint64_t)CTP_JUDGE_RUN_NS;
		bool told = j->tally->run.count >= CTP_JUDGE_HISTORY && c->ns >= floor_ns && c->ns / CTP_JUDGE_FACTOR >= usual_ns &&
		            (c->count || c->late >= LATE_MIN) && !was_kept_out(&c->seen);
		if (told && proved == (c->count && what_was_seen(&c->seen) == SEEN_BUSY))
			add_run(j, c, proved);
	}
}

/* Who wakes itself again and again, does nothing to speak of in between, and leaves its thread to nobody else. */
void ctp_judge_storms(struct ctp_judge *j)
{
	const struct ctp_tally_list *l = &j->tally->storms;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct ctp_tally_case *c = &l->cases[i];
		uint64_t wakes = c->count - CTP_TALLY_STORM;
		uint64_t run_ns = ctp_hist_quantile(&ctp_tally_place(j->tally, c->place)->run, 0.5);
		if (c->count < CTP_TALLY_STORMS || c->ns < STORM_NS || c->ns / wakes > STORM_PERIOD_NS || run_ns > STORM_RUN_NS ||
		    c->others > wakes / 10)
			continue;
		struct ctp_group *g = ctp_judge_group(j, CTP_RULE_SELF_WAKE, c->spawn, c->place);
		ctp_judge_add_case(j, g, c, c->whole ? CTP_CERTAIN_LIKELY : CTP_CERTAIN_UNKNOWN);
		if (g)
			g->count = c->count > g->count ? c->count : g->count;
	}
}

void ctp_judge_broken(struct ctp_judge *j)
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
 * Of others that ran there last: those that were ready at least half as long as this one runs, and those that were to come back from
 * where they wait when it had begun, by what their like do there. Who was idle before that is not kept from anything.
 */
struct kept {
	uint64_t ready, due, most_ns;
};

/* Whether all threads that run coroutines have run the same one for as long: then it does not matter where others ran last. */
static bool holds_everywhere(struct ctp_judge *j, const struct ctp_coroutine *runs)
{
	for (uint32_t i = 1; i < j->follow->threads.count; i++) {
		const struct ctp_thread *th = &j->follow->threads.list[i];
		const struct ctp_coroutine *co = th->current ? ctp_follow_find(j->follow, th->current) : NULL;
		if (th->resumes && (!co || co->state != CTP_RUNNING || co->since_ns > (runs->since_ns + j->end_ns) / 2))
			return false;
	}
	return true;
}

static struct kept keeps_waiting(struct ctp_judge *j, const struct ctp_coroutine *runs, uint64_t ns)
{
	struct kept kept = {0};
	struct ctp_coroutine *co;
	bool everywhere = holds_everywhere(j, runs);
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));) {
		bool there = co->thread == runs->thread || (co->state == CTP_RUNNABLE && (!co->thread || everywhere));
		if (co == runs || !there)
			continue;
		uint64_t from_ns = co->since_ns > runs->since_ns ? co->since_ns : runs->since_ns;
		uint64_t waits_ns = ctp_follow_ns(j->follow, from_ns, j->end_ns);
		const struct ctp_habit *h = &j->tally->habits.list[co->habit];
		if (co->state == CTP_RUNNABLE && waits_ns >= ns / 2) {
			kept.ready++;
			kept.most_ns = waits_ns > kept.most_ns ? waits_ns : kept.most_ns;
		} else if (co->state == CTP_SUSPENDED && !co->migrations && h->waits >= CTP_JUDGE_HISTORY && !co->awaits) {
			kept.due += waits_ns / CTP_JUDGE_FACTOR >= h->max_ns && co->since_ns + 2 * h->max_ns >= runs->since_ns;
		}
	}
	return kept;
}

/*
 * A thread that has run the same coroutine since long ago, and keeps others waiting. Of probes that do not tell of an end, it could be
 * one that has returned.
 */
static void stalled_threads(struct ctp_judge *j)
{
	struct ctp_follow *f = j->follow;
	for (uint32_t i = 1; i < f->threads.count; i++) {
		const struct ctp_thread *th = &f->threads.list[i];
		struct ctp_coroutine *co = th->current ? ctp_follow_find(f, th->current) : NULL;
		if (!co || co->state != CTP_RUNNING || co->thread != i || !(co->flags & CTP_CO_OURS) || was_kept_out(&th->seen))
			continue;
		uint64_t ns = ctp_follow_ns(f, co->since_ns, ctp_judge_end_ns(j, co));
		if (ns < CTP_JUDGE_RUN_NS || !ctp_judge_too_long(&j->tally->run, ns))
			continue;
		struct kept kept = keeps_waiting(j, co, ns);
		enum seen seen = what_was_seen(&th->seen);
		/* One that sleeps where its like hardly take a moment does so in vain, whoever else waits. */
		bool alone = seen == SEEN_ASLEEP && ctp_judge_too_long(&ctp_tally_place(j->tally, ctp_follow_place(f, co))->run, ns);
		if (!kept.ready && !kept.due && !alone)
			continue;
		enum ctp_certainty sure = ctp_judge_sure(j, co, false);
		bool proved = sure == CTP_CERTAIN_PROVED && seen == SEEN_BUSY && kept.ready;
		struct ctp_group *g = ctp_judge_group(j, seen == SEEN_BUSY     ? CTP_RULE_LONG_RUN :
		                                         seen == SEEN_ASLEEP ? CTP_RULE_BLOCKED : CTP_RULE_STALLED_THREAD,
		                                      co->spawn, ctp_follow_place(f, co));
		ctp_judge_add(j, g, co, proved ? sure : sure == CTP_CERTAIN_PROVED ? CTP_CERTAIN_LIKELY : sure, co->since_ns, ns);
		co->flags |= CTP_CO_STUCK;
		if (!g)
			continue;
		g->cases++;
		g->count += kept.ready;
		g->late += kept.due;
		g->most_ns = kept.most_ns > g->most_ns ? kept.most_ns : g->most_ns;
		g->still = true;
		if (was_seen(&th->seen)) {
			g->seen_ns = th->seen.last_ns - th->seen.first_ns;
			g->cpu_ns = th->seen.cpu_ns;
		}
	}
}

/* Who ran last, on any thread. */
static const struct ctp_coroutine *last_run(const struct ctp_judge *j)
{
	const struct ctp_thread *last = NULL;
	for (uint32_t i = 1; i < j->follow->threads.count; i++) {
		const struct ctp_thread *th = &j->follow->threads.list[i];
		if (th->last && (!last || th->last_ns > last->last_ns))
			last = th;
	}
	return last ? ctp_follow_find(j->follow, last->last) : NULL;
}

/* The program was killed by a signal that says that it is broken: who ran then, or else last. */
void ctp_judge_crash(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	if (j->end->cut || strcmp(j->end->outcome, "killed") || !ctp_judge_is_crash(j->end->status))
		return;
	struct ctp_group *g = ctp_judge_group(j, CTP_RULE_CRASH, 0, 0);
	if (!g)
		return;
	g->from_ns = g->to_ns = j->end_ns;
	g->crash = (int)j->end->status;
	g->proved = true; /* whoever ran then */
	g->count = j->follow->counts.untraced; /* of whom it is not known whether they ran */
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));) {
		bool runs = co->state == CTP_RUNNING, doubt = ctp_judge_in_doubt(j, co) || (runs && !(co->flags & CTP_CO_OURS));
		g->count += co->state != CTP_DEAD && doubt;
		if (!runs || doubt)
			continue;
		if (!g->by_certainty[CTP_CERTAIN_PROVED]) {
			g->spawn = co->spawn;
			g->place = ctp_follow_place(j->follow, co);
		}
		ctp_judge_add(j, g, co, CTP_CERTAIN_PROVED, co->since_ns, ctp_span_ns(co->since_ns, j->end_ns));
	}
	g->last = g->count || g->by_certainty[CTP_CERTAIN_PROVED] ? NULL : last_run(j);
	if (g->last) {
		g->spawn = g->last->spawn;
		g->place = ctp_follow_place(j->follow, g->last);
	}
}

void ctp_judge_migration(struct ctp_judge *j)
{
	uint32_t running = 0;
	for (uint32_t i = 1; i < j->follow->threads.count; i++)
		running += j->follow->threads.list[i].resumes > 0;
	uint64_t chance = running ? 100 - 100 / running : 100;
	if (running < 2 || chance + 3 >= MOVES_PERCENT)
		return;
	for (uint32_t n = 0; n < j->follow->places.count; n++) {
		const struct ctp_tally_spawn *s = j->tally->spawns[n];
		uint64_t seconds = (j->end_ns - j->start_ns) / 1000000000 + 1;
		if (!s || !s->move_resumes || s->moves < s->move_resumes / 100 * MOVES_PERCENT || s->moves / seconds < MOVES_A_SECOND)
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

/* It has done nothing in the last quarter of the time; or is far older than any of its like, of many, ever got. */
static bool is_left_over(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	uint64_t age_ns = ctp_follow_ns(j->follow, co->born_ns, j->end_ns);
	bool old = s->died >= CTP_JUDGE_HISTORY && age_ns >= CTP_JUDGE_FLOOR_NS && age_ns / CTP_JUDGE_FACTOR >= s->longest_ns;
	return co->state != CTP_DEAD && (old || co->since_ns < j->end_ns - (j->end_ns - j->start_ns) / 4);
}

/* How many are, by spawn place. Null: out of memory. */
static uint64_t *count_left_over(struct ctp_judge *j)
{
	uint64_t *left = calloc(j->follow->places.count, sizeof(*left));
	struct ctp_coroutine *co;
	j->failed |= !left;
	for (uint32_t at = 0; left && (co = ctp_follow_each(j->follow, &at));)
		left[co->spawn] += is_left_over(j, co);
	return left;
}

/* The fewest alive in each of eight parts of the time; whether each of the last four is more than the one before. */
static bool grows(const struct ctp_tally_spawn *s, uint64_t low[GROWTH_STEPS])
{
	if (s->alive < GROWTH_ALIVE || s->level + 1 < 2 * GROWTH_STEPS)
		return false;
	uint32_t more = 0; /* steps up to the last, in each of which there were more than before */
	for (uint32_t step = 0; step < GROWTH_STEPS; step++) {
		uint32_t from = (s->level + 1) * step / GROWTH_STEPS, to = (s->level + 1) * (step + 1) / GROWTH_STEPS;
		low[step] = UINT64_MAX;
		for (uint32_t i = from; i < to; i++)
			low[step] = s->low[i] < low[step] ? s->low[i] : low[step];
		more = step && low[step] > low[step - 1] + low[step - 1] / 20 ? more + 1 : 0;
	}
	return more >= GROWTH_STEPS / 2 && low[GROWTH_STEPS - 1] >= GROWTH_ALIVE && low[GROWTH_STEPS - 1] / 2 >= low[GROWTH_STEPS / 2 - 1];
}

/* They become more and more, and most of them are left over: else it may be the load that grows. */
void ctp_judge_growth(struct ctp_judge *j)
{
	uint64_t *left = count_left_over(j), low[GROWTH_STEPS];
	for (uint32_t n = 0; left && n < j->follow->places.count; n++) {
		const struct ctp_tally_spawn *s = j->tally->spawns[n];
		bool told = s && grows(s, low) && left[n] >= s->alive / 2;
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
	free(left);
}

/* Which place took up most of those that suspended for the last time around then: *place, and in words, allocated; null: too few. */
static char *what_was_special(struct ctp_judge *j, uint64_t from_ns, uint64_t to_ns, uint32_t *place)
{
	uint64_t *at = calloc(j->follow->places.count, sizeof(*at)), all = 0;
	struct ctp_coroutine *co;
	uint32_t best = 0;
	if (!at)
		return NULL;
	for (uint32_t i = 0; (co = ctp_follow_each(j->follow, &i));) {
		if (co->state != CTP_SUSPENDED || co->suspended_ns < from_ns || co->suspended_ns > to_ns)
			continue;
		uint32_t where = ctp_follow_place(j->follow, co);
		all++;
		best = ++at[where] > at[best] ? where : best;
	}
	*place = best;
	char *text = NULL, most[CTP_TEXT_MAX], of[CTP_TEXT_MAX];
	*ctp_text_count(most, at[best]) = *ctp_text_count(of, all) = '\0';
	free(at);
	const char *where = ctp_follow_text(j->follow, best);
	if (all >= 2 && asprintf(&text, "around then %s coroutines went to wait and did not come back, %s of them at %s", of, most,
	                         where ? where : "a place that is not known") < 0)
		text = NULL;
	return text;
}

/* A moment behind which next to nothing happens; told only where somebody else's finding says that this is no end of work. */
void ctp_judge_collapse(struct ctp_judge *j)
{
	const struct ctp_tally *t = j->tally;
	uint64_t all = 0, n = t->start_ns == UINT64_MAX ? 0 : (ctp_span_ns(t->start_ns, j->end_ns) >> t->slice_bits) + 1;
	uint64_t slice_ns = (uint64_t)1 << t->slice_bits;
	for (uint32_t i = 0; i < t->nslices; i++)
		all += t->slices[i];
	bool told = false;
	for (uint32_t i = 0; i < j->ngroups; i++)
		told |= ctp_rule_stops(j->groups[i].rule);
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
	uint32_t place = 0;
	char *special = what_was_special(j, when_ns - (busy_ns / 10 < slice_ns ? slice_ns : busy_ns / 10), j->end_ns, &place);
	struct ctp_group *g = special ? ctp_judge_group(j, CTP_RULE_COLLAPSE, 0, place) : NULL;
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

void ctp_judge_held_threads(struct ctp_judge *j)
{
	long_runs(j, true);
	stalled_threads(j);
	long_runs(j, false);
}

void ctp_judge_untraced(struct ctp_judge *j)
{
	struct ctp_group *g = j->follow->counts.untraced ? ctp_judge_group(j, CTP_RULE_UNTRACED, 0, 0) : NULL;
	if (g)
		g->by_certainty[CTP_CERTAIN_PROVED] = j->follow->counts.untraced;
}
