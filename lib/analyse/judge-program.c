/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-program.c - the rules about the program as a whole: throughput that collapsed; and coroutines whose number grows
 * and grows, that keep changing threads, or that were not traced.
 */
#include "analyse/judge.h"

#include <stdio.h>
#include <stdlib.h>

#include "analyse/judge-object.h"
#include "analyse/judge-own.h"
#include "analyse/judge-words.h"

enum {
	MOVES_PERCENT = 95,       /* of resumes on another thread than before; chance gives 100 - 100 / threads */
	MOVES_A_SECOND = 2000,    /* fewer cost next to nothing */
	GROWTH_STEPS = 8,
	GROWTH_ALIVE = 100,
	COLLAPSE_SLICES = 8,      /* with resumes, and without, at least */
	COLLAPSE_RISE = 2,        /* from the resumes a second before the load began to those after */
	COLLAPSE_FACTOR = 20,     /* from the resumes a second before to those after, at least; */
	COLLAPSE_BY_MANY = 5,     /* that, if the finding explains why most coroutines wait: the others go on */
};

void ctp_judge_migration(struct ctp_judge *j)
{
	uint32_t running = 0;
	for (uint32_t i = 1; i < j->follow->threads->count; i++)
		running += j->follow->threads->list[i].resumes > 0;
	uint64_t chance = running ? 100 - 100 / running : 100;
	if (running < 2 || chance + 3 >= MOVES_PERCENT)
		return;
	for (uint32_t n = 0; n < j->follow->places->count; n++) {
		const struct ctp_tally_spawn *s = j->tally->spawns[n];
		uint64_t seconds = (j->end_ns - j->start_ns) / 1000000000 + 1;
		if (!s || !s->move_resumes || s->moves < s->move_resumes / 100 * MOVES_PERCENT ||
		    s->moves / seconds < MOVES_A_SECOND)
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

/*
 * A living coroutine that did nothing in the last quarter of the time; or is far older than any of its siblings became; or is in a
 * queue for a lock or for permits, which grows with the number of these.
 */
static bool is_left_over(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	uint64_t age_ns = ctp_follow_ns(j->follow, co->born_ns, j->end_ns);
	bool old = s->died >= CTP_JUDGE_HISTORY && age_ns >= CTP_JUDGE_FLOOR_NS && age_ns / CTP_JUDGE_FACTOR >= s->longest_ns;
	bool idle = co->since_ns < j->end_ns - (j->end_ns - j->start_ns) / 4;
	return co->state != CTP_DEAD && (old || idle || ctp_wait_is_in_queue(j, co));
}

/* The number of such coroutines by spawn place. Null: out of memory. */
static uint64_t *count_left_over(struct ctp_judge *j)
{
	uint64_t *left = calloc(j->follow->places->count, sizeof *left);
	struct ctp_coroutine *co;
	j->failed |= !left;
	for (uint32_t at = 0; left && (co = ctp_follow_each(j->follow, &at));)
		left[co->spawn] += is_left_over(j, co);
	return left;
}

/* Fills low with the fewest alive in each of eight parts of the time. True: each of the last four is more than the one before. */
static bool grows(const struct ctp_tally_spawn *s, uint64_t low[GROWTH_STEPS])
{
	if (s->alive < GROWTH_ALIVE || s->level + 1 < 2 * GROWTH_STEPS)
		return false;
	uint32_t more = 0; /* successive steps up to this one with more than before */
	for (uint32_t step = 0; step < GROWTH_STEPS; step++) {
		uint32_t from = (s->level + 1) * step / GROWTH_STEPS, to = (s->level + 1) * (step + 1) / GROWTH_STEPS;
		low[step] = UINT64_MAX;
		for (uint32_t i = from; i < to; i++)
			low[step] = s->low[i] < low[step] ? s->low[i] : low[step];
		more = step && low[step] > low[step - 1] + low[step - 1] / 20 ? more + 1 : 0;
	}
	return more >= GROWTH_STEPS / 2 && low[GROWTH_STEPS - 1] >= GROWTH_ALIVE &&
	       low[GROWTH_STEPS - 1] / 2 >= low[GROWTH_STEPS / 2 - 1];
}

/* Whether a coroutine is in a finding that is at least likely, or waits because of one that is. */
static bool is_reported(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_coroutine *cause = ctp_judged(co)->leads_to ? ctp_judged(co)->leads_to : co;
	const struct ctp_group *g = ctp_judged(cause)->group ? &j->groups[ctp_judged(cause)->group - 1] : NULL;
	return g && g->by_certainty[CTP_CERTAIN_LIKELY] + g->by_certainty[CTP_CERTAIN_PROVED];
}

/*
 * Fills explained with the number of living coroutines, by spawn place, that another finding explains: it has them or a child that
 * they wait for, or the number of their parents grows as well.
 */
static void count_explained(struct ctp_judge *j, const uint64_t *left, uint64_t *explained)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co)
		ctp_judged(co)->visit = 0;
	CTP_EACH_COROUTINE(j, co) {
		struct ctp_coroutine *parent = co->state == CTP_DEAD ? NULL : ctp_own_parent(j, co);
		if (parent && is_reported(j, co) && ctp_own_is_for(parent, co))
			ctp_judged(parent)->visit = 1;
	}
	CTP_EACH_COROUTINE(j, co) {
		if (co->state == CTP_DEAD)
			continue;
		const struct ctp_coroutine *parent = ctp_own_parent(j, co);
		bool with_parent = parent && parent->spawn != co->spawn && left[parent->spawn];
		explained[co->spawn] += with_parent || ctp_judged(co)->visit || is_reported(j, co);
	}
}

/* The place where most living coroutines of the spawn place wait, and how many do; 0: not known. */
static uint32_t where_most_wait(struct ctp_judge *j, uint32_t spawn, uint64_t *count)
{
	uint64_t *at = calloc(j->follow->places->count, sizeof *at);
	uint32_t most = 0;
	struct ctp_coroutine *co;
	for (uint32_t i = 0; at && (co = ctp_follow_each(j->follow, &i));)
		if (co->state == CTP_SUSPENDED && co->spawn == spawn && ctp_follow_place(j->follow, co)) {
			uint32_t place = ctp_follow_place(j->follow, co);
			most = ++at[place] > at[most] ? place : most;
		}
	*count = at ? at[most] : 0;
	free(at);
	return most;
}

/* Ever more coroutines of a spawn place are alive, and most are left over. Without the latter, the load may grow. */
void ctp_judge_growth(struct ctp_judge *j)
{
	uint64_t *left = count_left_over(j), *explained = calloc(j->follow->places->count, sizeof *explained);
	uint64_t low[GROWTH_STEPS], there = 0;
	uint32_t count = left && explained ? j->follow->places->count : 0;
	j->failed |= !explained;
	for (uint32_t n = 0; n < count; n++) {
		const struct ctp_tally_spawn *s = j->tally->spawns[n];
		if (!s || !grows(s, low) || left[n] < s->alive / 2)
			left[n] = 0; /* does not grow */
	}
	if (count)
		count_explained(j, left, explained);
	for (uint32_t n = 0; n < count; n++) {
		const struct ctp_tally_spawn *s = j->tally->spawns[n];
		bool counts = left[n] && explained[n] <= s->alive / 2;
		struct ctp_group *g = counts ? ctp_judge_group(j, CTP_RULE_GROWTH, n, where_most_wait(j, n, &there)) : NULL;
		if (!g)
			continue;
		g->there = there;
		grows(s, low);
		bool missed = j->follow->missed_ns > j->follow->attached_ns;
		g->by_certainty[missed ? CTP_CERTAIN_UNKNOWN : CTP_CERTAIN_LIKELY] += s->alive;
		g->from_ns = j->start_ns;
		g->to_ns = j->end_ns;
		g->count = low[GROWTH_STEPS / 2 - 1];
		g->most_ns = low[0];
	}
	free(explained);
	free(left);
}

/* One line of evidence: where most coroutines wait that suspended around then. Those that suspended later have come back since. */
static void say_who_went_to_wait(struct ctp_words *w, uint64_t from_ns, uint64_t to_ns)
{
	struct ctp_follow *f = w->j->follow;
	uint64_t *at = calloc(f->places->count, sizeof *at), all = 0;
	struct ctp_coroutine *co;
	uint32_t best = 0;
	for (uint32_t i = 0; at && (co = ctp_follow_each(f, &i));) {
		if (co->state != CTP_SUSPENDED || co->suspended_ns < from_ns || co->suspended_ns > to_ns)
			continue;
		uint32_t where = ctp_follow_place(f, co);
		all++;
		best = ++at[where] > at[best] ? where : best;
	}
	if (all >= 2 && 2 * at[best] > all)
		ctp_words_evidence(w, "around then %s coroutines went to wait and did not come back, %s%s at %s", ctp_words_count(w, all),
		                   at[best] == all ? "all" : ctp_words_count(w, at[best]), at[best] == all ? "" : " of them",
		                   ctp_words_named(ctp_follow_text(f, best)));
	free(at);
}

static uint64_t resumes_in(const struct ctp_tally *t, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;
	for (uint64_t i = from; i < to && i < t->nslices; i++)
		sum += t->slices[i];
	return sum;
}

/*
 * The slice that divides others into two parts whose averages explain them best, of which the first has more resumes,
 * or fewer if rises; from: there is none.
 */
static uint64_t divided_at(const struct ctp_tally *t, uint64_t from, uint64_t to, bool rises)
{
	uint64_t all = resumes_in(t, from, to), first = 0, at = from;
	double best = 0;
	for (uint64_t i = from + 1; i <= t->nslices && i < to; i++) {
		double n = (double)(i - from), rest = (double)(to - i);
		first += t->slices[i - 1];
		double fall = (double)first / n - (double)(all - first) / rest;
		double explained = (fall > 0) != rises ? fall * fall * n * rest : 0;
		if (explained > best) {
			best = explained;
			at = i;
		}
	}
	return at;
}

/* Where the load that fell at `to` began: time before that, with far fewer resumes, says nothing about it. */
static uint64_t load_began(const struct ctp_tally *t, uint64_t to)
{
	uint64_t from = 0, at;
	for (;; from = at) {
		at = divided_at(t, from, to, true);
		double before = (double)resumes_in(t, from, at) / (double)(at - from);
		double after = (double)resumes_in(t, at, to) / (double)(to - at);
		if (at == from || to - at < COLLAPSE_SLICES || after < COLLAPSE_RISE * before)
			return from;
	}
}

/* If resumes all but stop at some moment, a finding that stops its members gets that as evidence. Without one, work has ended. */
void ctp_judge_collapse(struct ctp_judge *j, struct ctp_finding *f)
{
	const struct ctp_tally *t = j->tally;
	uint64_t n = t->start_ns == UINT64_MAX ? 0 : (ctp_span_ns(t->start_ns, j->end_ns) >> t->slice_bits) + 1;
	uint64_t slice_ns = (uint64_t)1 << t->slice_bits;
	if (n < 2 * COLLAPSE_SLICES || !t->nslices)
		return;
	uint64_t last = divided_at(t, 0, n, false), active = 0;
	uint64_t before = resumes_in(t, 0, last), later = resumes_in(t, last, n);
	for (uint64_t i = 0; i < last; i++)
		active += t->slices[i] > 0;
	uint64_t quiet_ns = (n - last) * slice_ns, busy_ns = last * slice_ns, when_ns = t->start_ns + busy_ns;
	int factor = 2 * (f->members + f->waiting) > j->waiting + j->running ? COLLAPSE_BY_MANY : COLLAPSE_FACTOR;
	bool fell = (double)later * (double)busy_ns * factor <= (double)before * (double)quiet_ns;
	if (!fell || active < COLLAPSE_SLICES || n - last < COLLAPSE_SLICES || quiet_ns < busy_ns / 4 ||
	    quiet_ns / CTP_JUDGE_FACTOR < t->pause_ns || quiet_ns < CTP_JUDGE_RUN_NS || j->follow->unsure_ns >= when_ns)
		return;
	struct ctp_words w = {.j = j, .f = f};
	while (w.nevidence < CTP_REPORT_LINES && f->evidence[w.nevidence])
		w.nevidence++;
	uint64_t from = load_began(t, last);
	double load = (double)resumes_in(t, from, last) * 1e9 / (double)((last - from) * slice_ns);
	bool silent = 2 * ctp_span_ns(t->last_resume_ns, j->end_ns) > quiet_ns; /* also if a few came in the first moments */
	ctp_words_evidence(&w, "after %s, throughput fell from %s a second to %s, and stayed at that for %s%s%s",
	                   ctp_words_duration(&w, ctp_span_ns(j->start_ns, when_ns)),
	                   ctp_words_counted(&w, (uint64_t)load, "resume", "resumes"),
	                   ctp_words_count(&w, (uint64_t)((double)later * 1e9 / (double)quiet_ns)),
	                   ctp_words_duration(&w, ctp_span_ns(when_ns, j->end_ns)), silent ? "; the last resume was " : "",
	                   silent ? ctp_words_when(&w, ctp_span_ns(j->start_ns, t->last_resume_ns)) : "");
	say_who_went_to_wait(&w, when_ns - (busy_ns / 10 < slice_ns ? slice_ns : busy_ns / 10), when_ns + quiet_ns / 2);
}

void ctp_judge_untraced(struct ctp_judge *j)
{
	struct ctp_group *g = j->follow->counts.untraced ? ctp_judge_group(j, CTP_RULE_UNTRACED, 0, 0) : NULL;
	if (g)
		g->by_certainty[CTP_CERTAIN_PROVED] = j->follow->counts.untraced;
}

/* --- words -------------------------------------------------------------------------------------------------------------- */

void ctp_say_migration(struct ctp_words *w)
{
	ctp_words_title(w, "%s spawned at %s hardly ever %s twice on the same thread", ctp_words_those(w), ctp_words_made(w),
	                ctp_words_they(w, "runs", "run"));
	ctp_words_evidence(w, "%s of %s %s on another thread than the one before, which is more than chance",
	                   ctp_words_count(w, w->g->count), ctp_words_counted(w, w->g->most_ns, "resume", "resumes"),
	                   ctp_word(w->g->count, "was", "were"));
	ctp_words_next(w, "does each end wake the other on its own thread? Resume a coroutine where it ran last");
}

void ctp_say_growth(struct ctp_words *w)
{
	ctp_words_title(w, "the number of coroutines spawned at %s keeps growing: %s alive", ctp_words_made(w),
	                ctp_words_counted(w, w->f->members, "is", "are"));
	ctp_words_evidence(w, "fewest alive at any time: %s in the first eighth, %s in the fourth, and steadily more since",
	                   ctp_words_count(w, w->g->most_ns), ctp_words_count(w, w->g->count));
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	if (s->died)
		ctp_words_evidence(w, "%s made there %s ended, after %s at most", ctp_words_counted(w, s->died, "other", "others"),
		                   ctp_word(s->died, "has", "have"), ctp_words_duration(w, s->longest_ns));
	if (w->g->place)
		ctp_words_evidence(w, "%s at %s", ctp_words_counted(w, w->g->there, "of them waits", "of them wait"),
		                   ctp_words_named(ctp_follow_text(w->j->follow, w->g->place)));
	ctp_words_next(w, "what limits how many there are? Do they end as fast as they are spawned?");
}

void ctp_say_untraced(struct ctp_words *w)
{
	ctp_words_title(w, "%s not traced: there were no stations left", ctp_words_those(w));
	ctp_words_evidence(w, "nothing is known of %s, and what %s did to others is missing", ctp_words_it(w),
	                   ctp_words_they(w, "it", "they"));
	ctp_words_next(w, "ctp-collect -n with a larger number");
}
