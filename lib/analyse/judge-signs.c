/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-signs.c - the rules about what goes on although something is wrong: time-outs that repair lost wakes, coroutines of a spawn
 * site that never ran, and coroutines that are busy with nothing. Most are only possible: a healthy program can look the same.
 */
#include "analyse/judge.h"

#include "analyse/judge-own.h"
#include "analyse/judge-wakers.h"
#include "analyse/judge-why.h"
#include "analyse/judge-words.h"

enum {
	MASKED_MIN = 3,          /* waits that a time-out ended although what they were for was there */
	POLLS_MIN = 1000,        /* wakes of coroutines by themselves at one place */
	POLLS_FACTOR = 100,      /* the same, for each wait at that place that something else ended */
	SIGN_RUN_NS = 5000,      /* a coroutine whose runs are mostly longer is at work */
	PING_PONG_MIN = 10000,   /* wakes of each other, in a row */
};

static uint64_t usual_run_ns(const struct ctp_judge *j, uint32_t place)
{
	return ctp_hist_quantile(&ctp_tally_place(j->tally, place)->run, 0.5);
}

/* --- time-outs ------------------------------------------------------------------------------------------------------------ */

/* What the waits were for was there long before the time-out. */
static void masked_by_facts(struct ctp_judge *j)
{
	const struct ctp_tally_list *l = &j->tally->masked;
	for (uint32_t i = 0; i < l->count; i++) {
		uint32_t same = 0;
		for (uint32_t k = 0; k < l->count; k++)
			same += l->cases[k].place == l->cases[i].place;
		if (same < MASKED_MIN)
			continue;
		struct ctp_group *g = ctp_judge_group(j, CTP_RULE_MASKED, l->cases[i].spawn, l->cases[i].place);
		if (g)
			g->count++;
		ctp_judge_add_case(j, g, &l->cases[i], CTP_CERTAIN_LIKELY);
	}
}

/* Something from outside ended each wait of a coroutine at a place where other coroutines end those of its siblings. */
static bool is_masked(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_visits *v)
{
	const struct ctp_habit *h = &j->tally->habits.list[ctp_habits_number(&j->tally->habits, co->spawn, v->place)];
	bool outside = v->place && v->back >= CTP_JUDGE_VISITS && v->outside == v->back;
	bool others_inside = h->inside >= CTP_JUDGE_HISTORY && h->different == CTP_HABIT_DIFFERENT && 2 * h->inside >= h->woken;
	return outside && others_inside && !ctp_spawn_is_at_rest(j, co->spawn, v->place);
}

static void masked_by_habit(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co) {
		if (co->state == CTP_DEAD || co->flags & CTP_CO_FOUND || ctp_judge_in_doubt(j, co))
			continue;
		for (const struct ctp_visits *v = ctp_coro_visits(co); v < ctp_coro_visits(co) + CTP_CO_VISITS; v++) {
			struct ctp_group *g = is_masked(j, co, v) ? ctp_judge_group(j, CTP_RULE_MASKED, co->spawn, v->place) : NULL;
			if (!g || g->by_certainty[CTP_CERTAIN_LIKELY])
				continue;
			g->late += v->back;
			ctp_group_add(j, g, co, CTP_CERTAIN_POSSIBLE, co->resumed_ns, ctp_judge_own_ns(j, co->born_ns, j->end_ns));
		}
	}
}

void ctp_judge_masked(struct ctp_judge *j)
{
	masked_by_facts(j);
	if (!j->follow->counts.missed && !j->follow->attached_ns)
		masked_by_habit(j);
}

/* --- never run ------------------------------------------------------------------------------------------------------------ */

/* None of its siblings ever ran either, for as long as any takes to be resumed, and the threads had time. */
static bool is_unstarted(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	bool never_ran = co->flags & CTP_CO_BIRTH && !ctp_has_run(co) && co->state != CTP_RUNNABLE && co->state != CTP_DEAD;
	uint64_t ns = ctp_judge_own_ns(j, co->born_ns, ctp_judge_end_ns(j, co));
	bool too_long = ns >= CTP_JUDGE_QUIET_NS && ctp_judge_too_long(&j->tally->ready, j->tally->ready_ns, ns);
	bool goes_on = ctp_span_ns(co->born_ns, j->tally->last_resume_ns) >= CTP_JUDGE_FLOOR_NS;
	return never_ran && co->spawn && !s->start.count && too_long && goes_on && !ctp_judge_is_crowded(j, co->born_ns);
}

void ctp_judge_never_ran(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co)
		if (!(co->flags & CTP_CO_FOUND) && !ctp_judge_in_doubt(j, co) && is_unstarted(j, co))
			ctp_group_add(j, ctp_judge_group(j, CTP_RULE_NEVER_RAN, co->spawn, 0), co, CTP_CERTAIN_POSSIBLE, co->born_ns,
			              ctp_judge_own_ns(j, co->born_ns, ctp_judge_end_ns(j, co)));
}

/* --- busy with nothing ---------------------------------------------------------------------------------------------------- */

static uint64_t yields_of(const struct ctp_habit *h) { return h->self + h->yields; }

/* A storm is said already. */
static bool is_storm(const struct ctp_judge *j, uint32_t spawn)
{
	for (uint32_t i = 0; i < j->ngroups; i++)
		if (j->groups[i].rule == CTP_RULE_SELF_WAKE && j->groups[i].spawn == spawn)
			return true;
	return false;
}

/* Coroutines of a habit only give way, again and again, and do next to nothing in between. */
static bool polls(const struct ctp_judge *j, const struct ctp_habit *h)
{
	return h->place && yields_of(h) >= POLLS_MIN && yields_of(h) / POLLS_FACTOR >= h->waits && usual_run_ns(j, h->place) <= SIGN_RUN_NS;
}

void ctp_judge_polls(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co) {
		const struct ctp_habit *h = ctp_habit_of(j, co);
		bool at_it = co->state != CTP_DEAD && co->state != CTP_BORN && !(co->flags & CTP_CO_FOUND) && co->resumes >= POLLS_MIN;
		struct ctp_group *g = at_it && polls(j, h) && !is_storm(j, co->spawn) ? ctp_judge_group(j, CTP_RULE_POLLS, co->spawn, h->place) : NULL;
		if (!g)
			continue;
		g->count = yields_of(h);
		g->late = h->waits;
		ctp_group_add(j, g, co, CTP_CERTAIN_POSSIBLE, co->born_ns, ctp_judge_own_ns(j, co->born_ns, j->end_ns));
	}
}

/*
 * Two coroutines wake each other, and nothing else wakes them, for a second and until the end, and do next to nothing in between;
 * and each came back from other places before.
 */
static bool plays(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_tally_pair *pair)
{
	uint64_t before = 0;
	for (const struct ctp_visits *v = ctp_coro_visits(co); v < ctp_coro_visits(co) + CTP_CO_VISITS; v++)
		before += v->place != co->place ? v->back : 0;
	bool lasts = ctp_span_ns(pair->from_ns, j->end_ns) >= CTP_JUDGE_QUIET_NS && pair->streak >= PING_PONG_MIN;
	bool goes_on = ctp_span_ns(co->resumed_ns, j->end_ns) < CTP_JUDGE_FLOOR_NS;
	return pair->partner != co->id && lasts && goes_on && before >= CTP_JUDGE_HISTORY && usual_run_ns(j, co->place) <= SIGN_RUN_NS;
}

void ctp_judge_ping_pong(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co) {
		const struct ctp_tally_pair *pair = ctp_tally_pair_of(j->tally, co->id);
		struct ctp_coroutine *other = pair ? ctp_judge_living(j, pair->partner) : NULL;
		const struct ctp_tally_pair *back = other ? ctp_tally_pair_of(j->tally, other->id) : NULL;
		bool each = back && back->partner == co->id && co->state != CTP_DEAD && plays(j, co, pair) && plays(j, other, back);
		const struct ctp_coroutine *first = each && other->id < co->id ? other : co; /* names the group of both */
		uint32_t place = ctp_follow_place(j->follow, first);
		struct ctp_group *g = each ? ctp_judge_group(j, CTP_RULE_PING_PONG, first->spawn, place) : NULL;
		if (!g)
			continue;
		g->count = ctp_most(g->count, pair->streak);
		ctp_group_add(j, g, co, CTP_CERTAIN_POSSIBLE, pair->from_ns, ctp_judge_own_ns(j, pair->from_ns, j->end_ns));
	}
}

/* --- words -------------------------------------------------------------------------------------------------------------- */

void ctp_say_masked(struct ctp_words *w)
{
	ctp_words_title(w, "%s at %s %s only by time-outs", ctp_words_those(w), ctp_words_where(w),
	                ctp_words_they(w, "is woken", "are woken"));
	if (w->g->count)
		ctp_words_evidence(w, "what %s for was there up to %s before the time-out, %s in all",
		                   ctp_words_they(w, "the coroutine waited", "these coroutines waited"),
		                   ctp_words_duration(w, w->g->longest_ns), ctp_words_counted(w, w->g->count, "time", "times"));
	else
		ctp_words_evidence(w, "something other than a coroutine ended each of %s here; other coroutines end those of the siblings",
		                   ctp_words_counted(w, w->g->late, "wait", "waits"));
	ctp_words_next(w, "does whoever ends such waits know of %s? A time-out hides a wake that is lost", ctp_words_it(w));
	if (!w->g->count)
		ctp_words_excuse(w, "there may have been nothing to wake %s for", ctp_words_it(w));
}

void ctp_say_never_ran(struct ctp_words *w)
{
	ctp_words_title(w, "%s spawned at %s, and none from there has ever run", ctp_words_those(w), ctp_words_made(w));
	ctp_words_evidence(w, "spawned %s%s ago, and other coroutines have run since", ctp_words_they(w, "", "up to "),
	                   ctp_words_duration(w, w->g->longest_ns));
	ctp_words_next(w, "is what is spawned at %s ever awaited, or given to the scheduler?", ctp_words_made(w));
	ctp_words_excuse(w, "a program may spawn coroutines now, and start them later");
}

void ctp_say_polls(struct ctp_words *w)
{
	ctp_words_title(w, "%s at %s %s only to look again", ctp_words_those(w), ctp_words_where(w), ctp_words_they(w, "yields", "yield"));
	ctp_words_evidence(w, "coroutines yielded there %s, and waited there %s; half of their runs took %s or less",
	                   ctp_words_counted(w, w->g->count, "time", "times"), ctp_words_counted(w, w->g->late, "time", "times"),
	                   ctp_words_duration(w, usual_run_ns(w->j, w->g->place)));
	ctp_words_next(w, "what %s for? Let whoever changes that wake %s", ctp_words_they(w, "is the loop", "are the loops"), ctp_words_it(w));
	ctp_words_excuse(w, "code that lets others run between short pieces of work looks the same");
}

void ctp_say_ping_pong(struct ctp_words *w)
{
	ctp_words_title(w, "%s, at %s among other places, %s by one partner alone", ctp_words_those(w), ctp_words_where(w),
	                ctp_words_they(w, "is woken", "are woken"));
	ctp_words_evidence(w, "%s in a row, for %s, and still at the end; before, other waits had ended elsewhere",
	                   ctp_words_counted(w, w->g->count, "time", "times"), ctp_words_duration(w, w->g->longest_ns));
	ctp_words_next(w, "does each only tell the other to try again? Look for the condition that neither of the two can change");
	ctp_words_excuse(w, "two coroutines that hand work to each other look the same");
}
