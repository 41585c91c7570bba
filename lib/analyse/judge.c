/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* judge.c - calls the rules, and makes findings of groups. */
#include "analyse/judge.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/findings.h"
#include "analyse/judge-roots.h"
#include "analyse/judge-wakers.h"
#include "analyse/judge-why.h"
#include "analyse/judge-words.h"
#include "analyse/suspects.h"

/* --- chains of waits ------------------------------------------------------------------------------------------------------ */

/*
 * The number of the group that the way of a coroutine ends in; 0: none. visit keeps the result, so each coroutine is passed twice
 * at most.
 */
static uint32_t root_of(struct ctp_coroutine *start)
{
	enum { UNDER_WAY = UINT32_MAX, NONE = UINT32_MAX - 1 };
	struct ctp_coroutine *co = start;
	for (; co && !ctp_judged(co)->group && !ctp_judged(co)->visit; co = ctp_judged(co)->leads_to)
		ctp_judged(co)->visit = UNDER_WAY;
	const struct ctp_judged *last = co ? ctp_judged(co) : NULL;
	uint32_t root = !last || last->visit == UNDER_WAY ? NONE : last->group ? last->group : last->visit;
	for (co = start; co && ctp_judged(co)->visit == UNDER_WAY; co = ctp_judged(co)->leads_to)
		ctp_judged(co)->visit = root;
	return root == NONE ? 0 : root;
}

/* A coroutine that joins another waits because of it, even if that one is in no finding: its chain may lead to one that is. */
static void follow_joins(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co) {
		bool joins = ctp_wait_is(co) && co->flags & CTP_CO_JOINS && !ctp_judged(co)->group;
		if (joins && !ctp_judged(co)->leads_to)
			ctp_judged(co)->leads_to = ctp_judge_living(j, co->awaits);
	}
}

static void find_waiters(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	follow_joins(j);
	CTP_EACH_COROUTINE(j, co)
		ctp_judged(co)->visit = 0;
	CTP_EACH_COROUTINE(j, co) {
		uint32_t root = ctp_judged(co)->group || co->state == CTP_DEAD || !ctp_judged(co)->leads_to ? 0 : root_of(co);
		struct ctp_group *g = root ? &j->groups[root - 1] : NULL;
		if (!g)
			continue;
		assert(root <= j->ngroups && ctp_judged(co)->leads_to != co);
		co->flags |= CTP_CO_FOUND;
		g->dependents++;
		if (!g->waiters && !(g->waiters = calloc(CTP_REPORT_MEMBERS, sizeof *g->waiters)))
			j->failed = true;
		if (!g->waiters || g->nwaiters == CTP_REPORT_MEMBERS)
			continue;
		uint64_t since_ns = co->state == CTP_RUNNABLE || !co->suspended_ns ? co->since_ns : co->suspended_ns;
		struct ctp_report_member *waiter = &g->waiters[g->nwaiters++];
		*waiter = ctp_judge_member(j, co, since_ns, ctp_follow_ns(j->follow, since_ns, ctp_judge_end_ns(j, co)));
		waiter->waits_for = ctp_judged(co)->leads_to->id;
		waiter->waits_for_name = ctp_judge_copy(j, ctp_judged(co)->leads_to->name);
		waiter->awaits = co->awaits == waiter->waits_for;
	}
}

/* The end of the chain of awaited coroutines, if it runs; or null. */
static struct ctp_coroutine *runner_at_end(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	enum { STEPS = 64 };
	struct ctp_coroutine *at = NULL;
	for (int i = 0; i < STEPS && co && co->state == CTP_SUSPENDED && co->awaits; i++)
		co = at = ctp_follow_find(j->follow, co->awaits);
	return at && at->state == CTP_RUNNING ? at : NULL;
}

/*
 * Running coroutines that are no members, but in a finding all the same: a member awaits them; or their threads sleep in a program
 * that stands still.
 */
static void find_blockers(struct ctp_judge *j)
{
	struct ctp_coroutine *co, *runs;
	CTP_EACH_COROUTINE(j, co) {
		if (j->still && ctp_judge_blocks(j, co))
			co->flags |= CTP_CO_FOUND;
		else if (co->flags & CTP_CO_FOUND && (runs = runner_at_end(j, co)))
			runs->flags |= CTP_CO_FOUND;
	}
}

/* --- words ---------------------------------------------------------------------------------------------------------------- */

#define SAY(NAME, name, most, effect, rests, phase, judge, words) [CTP_RULE_##NAME] = ctp_say_##words,
static void (*const say[CTP_RULES])(struct ctp_words *w) = {CTP_RULE_TABLE(SAY)};

void ctp_judge_say(struct ctp_judge *j, const struct ctp_group *g, struct ctp_finding *f)
{
	struct ctp_words w = {.j = j, .g = g, .f = f};
	say[g->rule](&w);
	ctp_words_end(&w);
}

/* --- findings ------------------------------------------------------------------------------------------------------------- */

/*
 * The finding has the certainty of its most certain members; the words say how many are less certain. They may say an excuse, if no
 * member is more than possible.
 */
static void make_finding(struct ctp_judge *j, struct ctp_group *g, struct ctp_finding *f)
{
	uint64_t proved = g->by_certainty[CTP_CERTAIN_PROVED], likely = g->by_certainty[CTP_CERTAIN_LIKELY];
	uint64_t unknown = g->by_certainty[CTP_CERTAIN_UNKNOWN], possible = g->by_certainty[CTP_CERTAIN_POSSIBLE];
	enum ctp_certainty certainty = CTP_CERTAIN_PROVED;
	while (certainty > CTP_CERTAIN_UNKNOWN && !g->by_certainty[certainty])
		certainty--;
	*f = (struct ctp_finding){
		.rule = g->rule,
		.certainty = certainty,
		.spawn = ctp_judge_copy(j, g->spawn || !g->nwho ? ctp_follow_text(j->follow, g->spawn) : g->who[0].spawn),
		.place = ctp_judge_copy(j, ctp_follow_text(j->follow, g->place)),
		.members = proved + likely + possible + unknown,
		.from_ns = g->from_ns > j->start_ns && g->from_ns != UINT64_MAX ? g->from_ns - j->start_ns : 0,
		.to_ns = g->to_ns > j->start_ns ? g->to_ns - j->start_ns : 0,
		.who = g->who,
		.nwho = g->nwho,
		.waiters = g->waiters,
		.nwaiters = g->nwaiters,
		.waiting = g->dependents,
	};
	if (g->proved)
		f->certainty = CTP_CERTAIN_PROVED;
	assert(f->certainty <= ctp_rule_most(f->rule));
	assert(!j->facts_only || !ctp_rule_needs_clock(f->rule));
	g->who = g->waiters = NULL;
	ctp_judge_say(j, g, f);
	assert(!f->excuse || f->certainty <= CTP_CERTAIN_POSSIBLE);
}

/* The first finding whose members are stopped gets this as evidence. */
static void say_collapse(struct ctp_judge *j, struct ctp_report_section *s)
{
	for (uint32_t i = 0; i < s->nfindings; i++)
		if (ctp_rule_stops(s->findings[i].rule) && s->findings[i].certainty >= CTP_CERTAIN_LIKELY) {
			if (!j->facts_only)
				ctp_judge_collapse(j, &s->findings[i]);
			return;
		}
}

/* --- rules ---------------------------------------------------------------------------------------------------------------- */

#define JUDGE(NAME, name, most, effect, rests, phase, judge, words) [CTP_RULE_##NAME] = ctp_judge_##judge,
static void (*const judges[CTP_RULES])(struct ctp_judge *j) = {CTP_RULE_TABLE(JUDGE)};

/* A judge of several rules is called for the first of these. */
static bool is_first(enum ctp_rule rule)
{
	for (enum ctp_rule other = 0; other < rule; other++)
		if (judges[other] == judges[rule])
			return false;
	return true;
}

/* A judge of several rules is called if one of these can be judged, and leaves the others out. */
static bool is_due(const struct ctp_judge *j, enum ctp_rule rule)
{
	bool due = !j->facts_only;
	for (enum ctp_rule other = 0; other < CTP_RULES; other++)
		due |= judges[other] == judges[rule] && !ctp_rule_needs_clock(other);
	return due;
}

static void judge_rules(struct ctp_judge *j)
{
	for (enum ctp_rule_phase phase = 0; phase < CTP_RULE_PHASES; phase++)
		for (enum ctp_rule rule = 0; rule < CTP_RULES; rule++)
			if (ctp_rule_phase(rule) == phase && is_first(rule) && is_due(j, rule))
				judges[rule](j);
}

bool ctp_judge_section(struct ctp_report *r, struct ctp_follow *f, struct ctp_tally *t, const struct ctp_follow_end *end,
                       struct ctp_kept *kept, struct ctp_report_section *s)
{
	struct ctp_judge j = {.follow = f, .tally = t, .end = end, .ordinal = s->ordinal, .filtered = f->filtered, .origin = s->origin,
	                      .facts_only = s->ordinal || f->filtered, .start_ns = s->start_ns, .end_ns = end->end_ns};
	if (!ctp_judge_init(&j))
		return false;
	if (ctp_judge_places(&j)) {
		judge_rules(&j);
		find_waiters(&j);
		find_blockers(&j);
	} else {
		j.failed = true;
	}
	for (uint32_t i = 0; i < j.ngroups; i++) {
		struct ctp_finding finding;
		make_finding(&j, &j.groups[i], &finding);
		finding.number = i + 1;
		ctp_findings_add(r, s, &finding);
	}
	j.failed |= !ctp_suspects_find(&j, r, s);
	ctp_kept_give(kept, &j, r, s);
	ctp_judge_roots(&j, r, s);
	ctp_findings_sort(r, s);
	say_collapse(&j, s);
	ctp_judge_fini(&j);
	return !j.failed;
}
