/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge-over.c - the rules about waits that are over: ended by destruction, or far too late. */
#include "analyse/judge.h"

#include "analyse/judge-wakers.h"
#include "analyse/judge-why.h"
#include "analyse/judge-words.h"

/* Destruction often ends waits there, by a time-out for example: after less than the floor, but a tenth of this wait or more. */
static bool is_usual(const struct ctp_judge *j, const struct ctp_tally_case *c)
{
	const struct ctp_tally_list *l = &j->tally->destroyed;
	uint32_t usual = 0;
	for (uint32_t i = 0; i < l->count; i++)
		usual += l->cases[i].habit == c->habit && l->cases[i].ns < CTP_JUDGE_FLOOR_NS && l->cases[i].ns >= c->ns / CTP_JUDGE_FACTOR;
	return usual >= CTP_JUDGE_VISITS;
}

static uint64_t own_ns(const struct ctp_judge *j, const struct ctp_tally_case *c)
{
	return ctp_judge_own_ns(j, c->from_ns, c->from_ns + c->ns);
}

/* Coroutines that were destroyed when they had waited for far too long: a program that cleans up at its end leaves no others. */
void ctp_judge_destroyed(struct ctp_judge *j)
{
	const struct ctp_tally_list *l = &j->tally->destroyed;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct ctp_tally_case *c = &l->cases[i];
		const struct ctp_habit *h = &j->tally->habits.list[c->habit];
		struct ctp_judge_place p = ctp_judge_history(j, &(struct ctp_coroutine){.habit = c->habit});
		bool has_history = p.different >= CTP_HABIT_DIFFERENT && p.waits >= CTP_JUDGE_HISTORY;
		bool too_long = own_ns(j, c) >= CTP_JUDGE_FLOOR_NS && own_ns(j, c) / CTP_JUDGE_FACTOR >= p.max_ns;
		bool by_coroutine = ctp_place_is_inside(p) && !ctp_habit_is_called(h);
		if (!has_history || !too_long || !by_coroutine || is_usual(j, c) ||
		    !ctp_habit_is_passing(j, c->habit, c->from_ns, c->ns))
			continue;
		struct ctp_group *g = ctp_judge_group(j, CTP_RULE_DESTROYED, c->spawn, c->place);
		if (g)
			g->dead = true;
		ctp_judge_add_case(j, g, c, CTP_CERTAIN_LIKELY);
	}
}

/* Whether a late wait counts: something ended it that ends no other wait there, while other coroutines came back. */
static bool is_late(const struct ctp_judge *j, const struct ctp_tally_case *c)
{
	const struct ctp_habit *h = &j->tally->habits.list[c->habit];
	/* Later waits may have shown that such waits are usual. */
	bool too_long = c->ns / CTP_JUDGE_FACTOR >= h->gross_ns;
	bool by_coroutine = 10 * h->inside >= 9 * h->woken && !ctp_habit_is_called(h);
	bool not_idle = c->elsewhere || (j->spawns[c->spawn].outside && ctp_habit_is_away(j, c->habit));
	return too_long && by_coroutine && not_idle;
}

void ctp_judge_late(struct ctp_judge *j)
{
	const struct ctp_tally_list *l = &j->tally->late;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct ctp_tally_case *c = &l->cases[i];
		bool counts = false; /* if one wait of a habit counts, all late waits of the habit do */
		for (uint32_t k = 0; k < l->count && !counts; k++)
			counts = l->cases[k].habit == c->habit && is_late(j, &l->cases[k]);
		struct ctp_group *g = counts ? ctp_judge_group(j, CTP_RULE_LATE, c->spawn, c->place) : NULL;
		if (!g)
			continue;
		ctp_judge_add_case(j, g, c, j->follow->counts.missed ? CTP_CERTAIN_UNKNOWN : CTP_CERTAIN_LIKELY);
		g->most_ns = j->tally->habits.list[c->habit].gross_ns;
	}
}

/* --- words -------------------------------------------------------------------------------------------------------------- */

void ctp_say_destroyed(struct ctp_words *w)
{
	ctp_words_title(w, "%s waited at %s until destroyed", ctp_words_those(w), ctp_words_where(w));
	ctp_words_history(w);
	ctp_words_siblings(w);
	ctp_words_next(w, "%s cleaned up, at the end of the program perhaps, and would have waited on:"
	                  " who should have ended a wait at %s?",
	               ctp_words_they(w, "it was", "they were"), ctp_words_where(w));
}

void ctp_say_late(struct ctp_words *w)
{
	ctp_words_title(w, "%s woken at %s only after %s%s", ctp_words_those(w), ctp_words_where(w),
	                ctp_words_they(w, "", "up to "), ctp_words_duration(w, w->g->longest_ns));
	ctp_words_evidence(w, "%s began %s; those there that were in time took %s at most",
	                   ctp_word(w->g->cases, "the wait", "the first of these waits"), ctp_words_when(w, w->f->from_ns),
	                   ctp_words_duration(w, w->g->most_ns));
	ctp_words_times(w);
	ctp_words_evidence(w, "what ended %s is not what ends waits there otherwise",
	                   ctp_word(w->g->cases, "that wait", "these waits"));
	ctp_words_next(w, "a time-out that repairs what should not happen? Look for the wake that was due %s",
	               ctp_words_when(w, w->f->from_ns));
}
