/* judge.c - groups of coroutines become findings. */
#include "analyse/judge.h"

#include <assert.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096 };

/* --- groups --------------------------------------------------------------------------------------------------------------- */

static struct ctp_group *group_of(struct ctp_judge *j, enum ctp_rule rule, uint32_t spawn, uint32_t place, uint64_t first)
{
	uint32_t i = (uint32_t)((((uint64_t)spawn << 32 | place) + rule + first) * 0x9e3779b97f4a7c15u >> 52) % SLOTS;
	for (; j->slots[i]; i = (i + 1) % SLOTS) {
		struct ctp_group *g = &j->groups[j->slots[i] - 1];
		if (g->rule == rule && g->spawn == spawn && g->place == place && g->first == first)
			return g;
	}
	if (j->ngroups == CTP_REPORT_FINDINGS)
		return NULL;
	if (j->ngroups == j->room) {
		uint32_t room = j->room ? 2 * j->room : 16;
		struct ctp_group *groups = realloc(j->groups, room * sizeof(*groups));
		if (!groups) {
			j->failed = true;
			return NULL;
		}
		j->groups = groups;
		j->room = room;
	}
	j->groups[j->ngroups] = (struct ctp_group){.rule = rule, .spawn = spawn, .place = place, .first = first,
	                                            .shortest_ns = UINT64_MAX, .from_ns = UINT64_MAX};
	j->slots[i] = ++j->ngroups;
	return &j->groups[j->ngroups - 1];
}

static struct ctp_judge_process *process(struct ctp_judge *j, uint64_t pid)
{
	for (uint32_t i = 0; i < j->nothers; i++)
		if (j->others[i].pid == pid)
			return &j->others[i];
	if (j->nothers == CTP_JUDGE_PROCESSES)
		return NULL;
	j->others[j->nothers].pid = pid;
	return &j->others[j->nothers++];
}

static void find_processes(struct ctp_judge *j)
{
	for (uint32_t i = 1; i < j->follow->threads.count; i++) {
		const struct ctp_thread *th = &j->follow->threads.list[i];
		bool other = th->pid && j->follow->pid && th->pid != j->follow->pid;
		struct ctp_judge_process *p = other ? process(j, th->pid) : NULL;
		if (!p)
			continue;
		p->did_ns = th->last_ns > p->did_ns ? th->last_ns : p->did_ns;
		p->seen_ns = th->seen_ns > p->seen_ns ? th->seen_ns : p->seen_ns;
	}
}

const struct ctp_judge_process *ctp_judge_process(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	static const struct ctp_judge_process beyond; /* one too many: nothing is known of it */
	uint64_t pid = j->follow->threads.list[co->thread].pid;
	if (!pid || !j->follow->pid || pid == j->follow->pid)
		return NULL;
	for (uint32_t i = 0; i < j->nothers; i++)
		if (j->others[i].pid == pid)
			return &j->others[i];
	return &beyond;
}

uint64_t ctp_judge_end_ns(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_judge_process *p = ctp_judge_process(j, co);
	uint64_t known_ns = !p ? j->end_ns : p->seen_ns > p->did_ns ? p->seen_ns : p->did_ns;
	return known_ns < j->end_ns ? known_ns : j->end_ns;
}

struct ctp_group *ctp_judge_group(struct ctp_judge *j, enum ctp_rule rule, uint32_t spawn, uint32_t place)
{
	return group_of(j, rule, spawn, place, 0);
}

struct ctp_group *ctp_judge_circle(struct ctp_judge *j, enum ctp_rule rule, const struct ctp_coroutine *first)
{
	return group_of(j, rule, first->spawn, ctp_follow_place(j->follow, first), first->id);
}

static char *copy(struct ctp_judge *j, const char *text)
{
	char *s = text ? strdup(text) : NULL;
	j->failed |= text && !s;
	return s;
}

/* Where a member stands in the list, the longest first; null: it is one of those that are only counted. */
static struct ctp_report_member *member_put(struct ctp_judge *j, struct ctp_group *g, uint64_t ns)
{
	if (!g->who && !(g->who = calloc(CTP_REPORT_MEMBERS, sizeof(*g->who)))) {
		j->failed = true;
		return NULL;
	}
	uint32_t at = g->nwho;
	if (at == CTP_REPORT_MEMBERS) {
		if (g->who[at - 1].for_ns >= ns)
			return NULL;
		ctp_report_member_fini(&g->who[--at]);
	} else {
		g->nwho++;
	}
	for (; at > 0 && g->who[at - 1].for_ns < ns; at--)
		g->who[at] = g->who[at - 1];
	return &g->who[at];
}

static void group_count(struct ctp_group *g, uint64_t from_ns, uint64_t ns)
{
	g->longest_ns = ns > g->longest_ns ? ns : g->longest_ns;
	g->shortest_ns = ns < g->shortest_ns ? ns : g->shortest_ns;
	g->from_ns = from_ns < g->from_ns ? from_ns : g->from_ns;
	g->to_ns = from_ns + ns > g->to_ns ? from_ns + ns : g->to_ns;
}

void ctp_judge_add(struct ctp_judge *j, struct ctp_group *g, struct ctp_coroutine *co, enum ctp_certainty certainty,
                   uint64_t from_ns, uint64_t ns)
{
	struct ctp_report_member *m = g ? member_put(j, g, ns) : NULL;
	if (g) {
		g->by_certainty[certainty]++;
		group_count(g, from_ns, ns);
		co->flags |= CTP_CO_FOUND;
		co->group = (uint32_t)(g - j->groups) + 1;
	}
	if (m)
		*m = (struct ctp_report_member){
			.id = co->id,
			.probe = co->probe,
			.since_ns = from_ns > j->start_ns ? from_ns - j->start_ns : 0,
			.for_ns = ns,
			.waker = co->waker ? co->waker : co->before,
			.tid = j->follow->threads.list[co->thread].tid,
			.pid = j->follow->threads.list[co->thread].pid,
			.name = co->name ? strdup(co->name) : NULL,
			.in = ctp_judge_in(j, co),
			.place = copy(j, ctp_follow_text(j->follow, ctp_follow_place(j->follow, co))),
			.spawn = copy(j, ctp_follow_text(j->follow, co->spawn)),
			.state = co->flags & CTP_CO_TAIL ? CTP_UNBORN : co->state, /* it is not known then */
			.certainty = certainty,
		};
}

/* One that is there already with a case that is no longer goes, for this one; false: it stays, and that is all there is to do. */
static bool member_again(struct ctp_group *g, const struct ctp_tally_case *c, enum ctp_certainty *certainty)
{
	uint32_t i = 0;
	while (i < g->nwho && g->who[i].id != c->id)
		i++;
	if (i == g->nwho)
		return true;
	struct ctp_report_member *m = &g->who[i];
	g->by_certainty[m->certainty]--;
	m->certainty = *certainty = m->certainty > *certainty ? m->certainty : *certainty;
	if (m->for_ns >= c->ns) {
		g->by_certainty[m->certainty]++;
		return false;
	}
	ctp_report_member_fini(m);
	memmove(m, m + 1, (--g->nwho - i) * sizeof(*m));
	return true;
}

void ctp_judge_add_case(struct ctp_judge *j, struct ctp_group *g, const struct ctp_tally_case *c, enum ctp_certainty certainty)
{
	if (!g)
		return;
	g->cases++;
	group_count(g, c->from_ns, c->ns);
	if (!member_again(g, c, &certainty))
		return;
	g->by_certainty[certainty]++;
	struct ctp_threads *threads = &j->follow->threads;
	struct ctp_report_member *m = member_put(j, g, c->ns);
	if (m)
		*m = (struct ctp_report_member){
			.id = c->id,
			.probe = c->probe,
			.since_ns = c->from_ns > j->start_ns ? c->from_ns - j->start_ns : 0,
			.for_ns = c->ns,
			.waker = c->waker,
			.tid = c->tid,
			.pid = ctp_threads_has(threads, c->tid) ? threads->list[ctp_threads_number(threads, c->tid)].pid : 0,
			.name = c->name ? strdup(c->name) : NULL,
			.place = copy(j, ctp_follow_text(j->follow, c->place)),
			.spawn = copy(j, ctp_follow_text(j->follow, c->spawn)),
			.state = g->dead ? CTP_DEAD : CTP_RUNNING,
			.certainty = certainty,
		};
}

/* --- who waits because of whom -------------------------------------------------------------------------------------------- */

char *ctp_judge_in(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	enum { ANCESTORS = 32 };
	const struct ctp_coroutine *up = co;
	for (int i = 0; i < ANCESTORS && up && !up->name; i++)
		up = up->parent && up->parent != up->id ? ctp_follow_find(j->follow, up->parent) : NULL;
	return co->name || !up ? NULL : copy(j, up->name);
}

/* The group whose member it waits for in the end, by its number; 0: there is none. Each is passed twice at most, by what visit keeps. */
static uint32_t root_of(struct ctp_coroutine *start)
{
	enum { UNDER_WAY = UINT32_MAX, NONE = UINT32_MAX - 1 };
	struct ctp_coroutine *co = start;
	for (; co && !co->group && !co->visit; co = co->goal)
		co->visit = UNDER_WAY;
	uint32_t root = !co || co->visit == UNDER_WAY ? NONE : co->group ? co->group : co->visit;
	for (co = start; co && co->visit == UNDER_WAY; co = co->goal)
		co->visit = root;
	return root == NONE ? 0 : root;
}

void ctp_judge_trees(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));)
		co->visit = 0;
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));) {
		uint32_t root = co->group || co->state == CTP_DEAD || !co->goal ? 0 : root_of(co);
		struct ctp_group *g = root ? &j->groups[root - 1] : NULL;
		if (!g)
			continue;
		co->flags |= CTP_CO_FOUND;
		g->dependents++;
		if (!g->waiters && !(g->waiters = calloc(CTP_REPORT_MEMBERS, sizeof(*g->waiters))))
			j->failed = true;
		if (!g->waiters || g->nwaiters == CTP_REPORT_MEMBERS)
			continue;
		uint64_t since_ns = co->state == CTP_RUNNABLE || !co->suspended_ns ? co->since_ns : co->suspended_ns;
		g->waiters[g->nwaiters++] = (struct ctp_report_member){
			.id = co->id,
			.probe = co->probe,
			.waits_for = co->goal->id,
			.awaits = co->awaits == co->goal->id,
			.since_ns = ctp_span_ns(j->start_ns, since_ns),
			.for_ns = ctp_follow_ns(j->follow, since_ns, ctp_judge_end_ns(j, co)),
			.tid = j->follow->threads.list[co->thread].tid,
			.pid = j->follow->threads.list[co->thread].pid,
			.name = copy(j, co->name),
			.in = ctp_judge_in(j, co),
			.place = copy(j, ctp_follow_text(j->follow, ctp_follow_place(j->follow, co))),
			.spawn = copy(j, ctp_follow_text(j->follow, co->spawn)),
			.state = co->state,
		};
	}
}

/* Whom it awaits, and that one, and so on: the one at the end of that if it runs, or null. */
static struct ctp_coroutine *runner_behind(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	enum { STEPS = 64 };
	struct ctp_coroutine *at = NULL;
	for (int i = 0; i < STEPS && co && co->state == CTP_SUSPENDED && co->awaits; i++)
		co = at = ctp_follow_find(j->follow, co->awaits);
	return at && at->state == CTP_RUNNING ? at : NULL;
}

/*
 * Those who run and are no members, but are in a finding all the same: who is awaited by its members, and those whose threads sleep
 * where the whole program stands still.
 */
static void find_blockers(struct ctp_judge *j)
{
	struct ctp_coroutine *co, *runs;
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));) {
		if (j->still && ctp_judge_blocks(j, co))
			co->flags |= CTP_CO_FOUND;
		else if (co->flags & CTP_CO_FOUND && (runs = runner_behind(j, co)))
			runs->flags |= CTP_CO_FOUND;
	}
}

/* --- findings ------------------------------------------------------------------------------------------------------------- */

/* Of members that differ, the finding has the certainty of those that are known best, and says how many are not. */
static void make_finding(struct ctp_judge *j, struct ctp_group *g, struct ctp_finding *f)
{
	uint64_t proved = g->by_certainty[CTP_CERTAIN_PROVED], likely = g->by_certainty[CTP_CERTAIN_LIKELY];
	uint64_t unknown = g->by_certainty[CTP_CERTAIN_UNKNOWN];
	*f = (struct ctp_finding){
		.rule = g->rule,
		.certainty = proved ? CTP_CERTAIN_PROVED : likely ? CTP_CERTAIN_LIKELY : CTP_CERTAIN_UNKNOWN,
		.spawn = copy(j, g->spawn || !g->nwho ? ctp_follow_text(j->follow, g->spawn) : g->who[0].spawn),
		.place = copy(j, ctp_follow_text(j->follow, g->place)),
		.members = proved + likely + unknown,
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
	g->who = g->waiters = NULL;
	ctp_judge_say(j, g, f);
}

static bool is_like(const char *pattern, const struct ctp_finding *f)
{
	const char *sites[] = {f->place, f->spawn};
	bool match = !fnmatch(pattern, ctp_rule_name(f->rule), 0);
	for (int k = 0; k < 2 && !match; k++) {
		char *both = NULL;
		match = sites[k] && !fnmatch(pattern, sites[k], 0);
		if (sites[k] && !match && asprintf(&both, "%s %s", ctp_rule_name(f->rule), sites[k]) >= 0) {
			match = !fnmatch(pattern, both, 0);
			free(both);
		}
	}
	return match;
}

/* All patterns are looked at: one that is for no finding is told of. */
static bool is_ignored(struct ctp_report *r, const struct ctp_finding *f)
{
	bool any = false;
	for (size_t i = 0; i < r->nignore; i++) {
		bool match = is_like(r->ignore[i], f);
		r->matched[i] += match;
		any |= match;
	}
	return any;
}

static void ignore(struct ctp_report *r, struct ctp_report_section *s, uint32_t i)
{
	ctp_finding_fini(&s->findings[i]);
	memmove(&s->findings[i], &s->findings[i + 1], (--s->nfindings - i) * sizeof(*s->findings));
	s->ignored++;
	r->ignored++;
}

/* A collapse beside which nothing is left that it means anything with goes as well. */
static void ignore_collapse(struct ctp_report *r, struct ctp_report_section *s)
{
	for (uint32_t i = 0; i < s->nfindings; i++)
		if (ctp_rule_stops(s->findings[i].rule))
			return;
	for (uint32_t i = s->nfindings; i--;)
		if (s->findings[i].rule == CTP_RULE_COLLAPSE)
			ignore(r, s, i);
}

static int by_gravity(const void *a, const void *b)
{
	const struct ctp_finding *x = a, *y = b;
	if (x->certainty != y->certainty)
		return x->certainty < y->certainty ? 1 : -1;
	if (x->rule != y->rule)
		return x->rule < y->rule ? -1 : 1;
	return x->members == y->members ? 0 : x->members < y->members ? 1 : -1;
}

/* --- rules ---------------------------------------------------------------------------------------------------------------- */

#define JUDGE(NAME, name, most, effect, phase, judge, words) [CTP_RULE_##NAME] = ctp_judge_##judge,
static void (*const judges[CTP_RULES])(struct ctp_judge *j) = {CTP_RULE_TABLE(JUDGE)};

/* A judge of several rules is called for the first of them. */
static bool is_first(enum ctp_rule rule)
{
	for (enum ctp_rule other = 0; other < rule; other++)
		if (judges[other] == judges[rule])
			return false;
	return true;
}

static void judge_rules(struct ctp_judge *j)
{
	for (enum ctp_rule_phase phase = 0; phase < CTP_RULE_PHASES; phase++)
		for (enum ctp_rule rule = 0; rule < CTP_RULES; rule++)
			if (ctp_rule_phase(rule) == phase && is_first(rule))
				judges[rule](j);
}

bool ctp_judge_section(struct ctp_report *r, struct ctp_follow *f, struct ctp_tally *t, const struct ctp_follow_end *end,
                       struct ctp_report_section *s)
{
	struct ctp_judge j = {.follow = f, .tally = t, .end = end, .start_ns = s->start_ns, .end_ns = end->end_ns,
	                      .slots = calloc(SLOTS, sizeof(*j.slots))};
	if (!j.slots)
		return false;
	find_processes(&j);
	if (ctp_judge_places(&j)) {
		judge_rules(&j);
		ctp_judge_trees(&j);
		find_blockers(&j);
	} else {
		j.failed = true;
	}
	s->findings = calloc(j.ngroups + 1, sizeof(*s->findings));
	for (uint32_t i = 0; i < j.ngroups; i++) {
		struct ctp_group *g = &j.groups[i];
		if (s->findings) {
			struct ctp_finding *finding = &s->findings[s->nfindings++];
			make_finding(&j, g, finding);
			if (is_ignored(r, finding))
				ignore(r, s, s->nfindings - 1);
		}
		free(g->extra);
	}
	ignore_collapse(r, s);
	if (s->nfindings)
		qsort(s->findings, s->nfindings, sizeof(*s->findings), by_gravity);
	free(j.groups);
	free(j.slots);
	free(j.places);
	free(j.spawns);
	free(j.middle_ns);
	return s->findings && !j.failed;
}
