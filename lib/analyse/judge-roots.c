/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-roots.c - the graph "is ended by members of" over the findings of a section, and the roots of its components.
 *
 * The coroutines that could end a wait are those that the program names: an awaited one, the holders of an object, the users of the
 * other end of a queue. If it names none, they are those that have ended such waits before; of more than a habit keeps, all of the
 * same spawn sites. If such a coroutine is in no finding, those that could end its wait are looked at instead. A wait says nothing
 * about its finding if one of them still moves, or if too many of them wait for reasons that are not known.
 */
#include "analyse/judge-roots.h"

#include <assert.h>
#include <stdlib.h>

#include "analyse/findings.h"
#include "analyse/judge-object.h"
#include "analyse/judge-own.h"
#include "analyse/judge-why.h"
#include "analyse/judge-words.h"

enum {
	SAMPLED = 64, /* members of a finding that are looked at */
	DEEP = 6,     /* coroutines in no finding, one after the other */
	MET = 64,     /* coroutines that are looked at for one wait */
	NODES = 8,    /* findings that it leads to */
	ENDERS = 32,  /* of one wait */
};

struct roots {
	struct ctp_judge *j;
	uint32_t n;                   /* numbers of findings are up to this one */
	struct ctp_finding **finding; /* by number; null: it is ignored */
	uint16_t *votes;              /* [a * (n + 1) + b]: members of a that wait because of b */
	uint32_t *sampled;            /* by number: members that were looked at */
	uint32_t *of_spawn;           /* by spawn site: the finding that has more than half of its living coroutines; 0: none */
	uint32_t *of_object;          /* by number of an object: the finding that says what is wrong with it; 0: none */
	uint32_t blocked;             /* the finding of a coroutine that has held its thread for longest */
	uint64_t blocked_ns;          /* since when */
};

static uint32_t node_of(const struct roots *r, const struct ctp_coroutine *co)
{
	uint32_t node = ctp_judged(co)->group;
	return node <= r->n && r->finding[node] ? node : 0;
}

static bool is_rule(const struct roots *r, uint32_t node, enum ctp_rule rule) { return r->finding[node]->rule == rule; }

/* The other part may have passed before the cause was there. */
static uint64_t nearly(uint64_t ns) { return ns - ns / 10; }

/* --- the other end of a wait ---------------------------------------------------------------------------------------------- */

struct enders {
	struct ctp_coroutine *list[ENDERS];
	uint32_t n;
	bool more;     /* there are others, which are not known */
	bool by_spawn; /* there are too many: all coroutines of their spawn sites count */
};

static void put(struct enders *e, struct ctp_coroutine *co)
{
	if (co && e->n < ENDERS)
		e->list[e->n++] = co;
}

/* Those that use the other end of a queue; null: not known. */
static const struct ctp_queue_end *other_end(const struct ctp_judge *j, uint64_t pid, const struct ctp_reason_of *r)
{
	bool gives = r->what == CTP_WAITS_ROOM, takes = r->what == CTP_WAITS_ITEM;
	const struct ctp_queue *queue = gives || takes ? ctp_queues_find(&j->follow->objects->queues, pid, r->value) : NULL;
	if (!queue)
		return NULL;
	return gives ? &queue->takes : &queue->gives;
}

/* Those of one object: who holds it, or gives to it what is waited for. */
static void put_users(const struct ctp_judge *j, struct enders *e, uint64_t pid, const struct ctp_reason_of *reason,
                      const struct ctp_object *ob)
{
	bool held = reason->what == CTP_WAITS_LOCK || reason->what == CTP_WAITS_PERMITS;
	const struct ctp_queue_end *other = other_end(j, pid, reason);
	for (uint32_t i = 0; held && ob->holders_known && i < ob->nholders; i++)
		put(e, ctp_judge_living(j, ob->holders[i].coro));
	for (uint32_t i = 0; !held && i < ob->nmakers; i++)
		put(e, ctp_judge_living(j, ob->makers[i]));
	for (uint32_t i = 0; !held && other && i < other->n; i++)
		put(e, ctp_judge_living(j, other->users[i].coro));
	e->more |= held ? ob->others : other ? other->more : ob->more_makers;
}

static void put_told(const struct ctp_judge *j, struct enders *e, const struct ctp_coroutine *co)
{
	const struct ctp_reasons *reasons = ctp_wait_reasons(j, co);
	for (uint32_t i = 0; reasons && i < reasons->n; i++) {
		const struct ctp_object *ob = ctp_objects_wanted(j->follow->objects, reasons, i);
		if (ob)
			put_users(j, e, reasons->pid, &reasons->list[i], ob);
	}
	if (!e->n)
		put(e, ctp_judge_living(j, co->awaits));
}

/* If one coroutine has ended all waits of co there, the others that ended such waits do not count. */
static void put_wakers(const struct ctp_judge *j, struct enders *e, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	const struct ctp_visits *own = ctp_own_visits(co, ctp_follow_place(j->follow, co));
	if (own->back >= j->visits && !own->several && own->waker) {
		put(e, ctp_judge_living(j, own->waker));
		return;
	}
	for (uint32_t i = 0; !h->more_wakers && i < h->nwakers; i++)
		put(e, ctp_judge_living(j, h->wakers[i]));
}

static void find_enders(const struct ctp_judge *j, struct enders *e, const struct ctp_coroutine *co)
{
	const struct ctp_coroutine *cause = ctp_judged(co)->group ? NULL : ctp_judged(co)->leads_to;
	*e = (struct enders){.n = 0};
	if (co->state == CTP_RUNNABLE || co->state == CTP_BORN) {
		put(e, ctp_judge_holds_thread(j, co, co->since_ns));
		return;
	}
	if (!ctp_wait_is(co))
		return;
	put_told(j, e, co);
	if (!e->n && cause && cause != co)
		put(e, ctp_judge_living(j, cause->id));
	if (!e->n)
		put_wakers(j, e, co);
	e->by_spawn = !e->n && ctp_habit_of(j, co)->more_wakers;
	if (!e->n && !e->by_spawn) /* something from outside wakes it, on that thread */
		put(e, ctp_judge_holds_thread(j, co, ctp_judge_end_ns(j, co) - nearly(ctp_wait_ns(j, co))));
}

/* --- one wait ------------------------------------------------------------------------------------------------------------- */

struct walk {
	const struct ctp_coroutine *of;
	struct ctp_coroutine *met[MET];
	uint32_t nmet;
	uint32_t nodes[NODES], nnodes;
	uint32_t found, open; /* coroutines that are in another finding, and those that wait for a reason that is not known */
	bool moves;           /* one of them still moves */
};

static void reach(struct walk *w, uint32_t node)
{
	uint32_t i = 0;
	w->found++;
	while (i < w->nnodes && w->nodes[i] != node)
		i++;
	if (i == w->nnodes && i < NODES)
		w->nodes[w->nnodes++] = node;
}

static bool is_new(struct walk *w, struct ctp_coroutine *co)
{
	for (uint32_t i = 0; i < w->nmet; i++)
		if (w->met[i] == co)
			return false;
	if (w->nmet == MET)
		return false;
	w->met[w->nmet++] = co;
	return true;
}

/* It runs, or did in the last half of the wait. */
static bool still_moves(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_coroutine *of)
{
	uint64_t end_ns = ctp_judge_end_ns(j, of);
	bool lately = ctp_follow_ns(j->follow, co->resumed_ns, end_ns) < ctp_wait_ns(j, of) / 2;
	return co->state == CTP_RUNNING || (lately && !j->ordinal);
}

static void reach_spawns(struct roots *r, struct walk *w, const struct ctp_coroutine *co)
{
	const struct ctp_habit *list = r->j->tally->habits.list, *h = &list[co->habit];
	for (uint32_t i = 0; i < h->nfrom; i++) {
		uint32_t node = r->of_spawn[list[h->from[i]].spawn];
		if (node && node != node_of(r, w->of))
			reach(w, node);
		else if (!node)
			w->open++;
	}
	w->open += h->more_from;
}

/* Looks at what could end the wait of co, which is that of the walk, or one that this depends on. */
static void walk_from(struct roots *r, struct walk *w, const struct ctp_coroutine *co, unsigned depth)
{
	struct enders e;
	find_enders(r->j, &e, co);
	w->open += e.more || depth == DEEP || (!e.n && !e.by_spawn);
	if (e.by_spawn)
		reach_spawns(r, w, co);
	for (uint32_t i = 0; i < e.n && depth < DEEP; i++) {
		struct ctp_coroutine *at = e.list[i];
		uint32_t node = node_of(r, at);
		if (!is_new(w, at) || at == w->of || (node && node == node_of(r, w->of)))
			continue;
		if (node)
			reach(w, node);
		else if (still_moves(r->j, at, w->of))
			w->moves = true;
		else
			walk_from(r, w, at, depth + 1);
	}
}

/* --- edges ---------------------------------------------------------------------------------------------------------------- */

static void vote(struct roots *r, uint32_t a, uint32_t b)
{
	uint16_t *votes = &r->votes[a * (r->n + 1) + b];
	if (b && a != b)
		++*votes;
}

/* The finding says of the object that the wait should have ended: it need not wait for anybody. */
static bool is_about_object(enum ctp_rule rule)
{
	return rule == CTP_RULE_HELD_BY_DEAD || rule == CTP_RULE_HELD_BY_NONE || rule == CTP_RULE_CLOSED || rule == CTP_RULE_UNSERVED ||
	       rule == CTP_RULE_STRAYED || rule == CTP_RULE_PEER_ENDED;
}

/* Members of such findings wait for other coroutines. */
static bool waits_for_others(enum ctp_rule rule)
{
	return rule == CTP_RULE_NEVER_WOKEN || rule == CTP_RULE_SUSPENDED || rule == CTP_RULE_STANDSTILL || rule == CTP_RULE_WAIT_CYCLE ||
	       rule == CTP_RULE_OWN || rule == CTP_RULE_LEAKED || rule == CTP_RULE_NOT_RESUMED || rule == CTP_RULE_NEVER_STARTED ||
	       rule == CTP_RULE_WORK_STOPPED || rule == CTP_RULE_NONE;
}

/* Votes for the findings about the objects that a coroutine waits for. False: there are none. */
static bool vote_for_object(struct roots *r, const struct ctp_coroutine *co, uint32_t node)
{
	const struct ctp_objects *objects = r->j->follow->objects;
	const struct ctp_reasons *reasons = ctp_wait_reasons(r->j, co);
	bool any = false;
	for (uint32_t i = 0; reasons && i < reasons->n; i++) {
		const struct ctp_object *ob = ctp_objects_wanted(r->j->follow->objects, reasons, i);
		uint32_t to = ob ? r->of_object[ob - objects->list] : 0;
		any |= to != 0;
		vote(r, node, to);
	}
	return any;
}

static void vote_for_member(struct roots *r, const struct ctp_coroutine *co, uint32_t node)
{
	enum ctp_rule rule = r->finding[node]->rule;
	struct walk w = {.of = co};
	if (r->sampled[node] == SAMPLED)
		return;
	r->sampled[node]++;
	if (vote_for_object(r, co, node) || !waits_for_others(rule))
		return;
	uint64_t blocked_ns = ctp_span_ns(r->blocked_ns, r->j->end_ns), ready_ns = ctp_span_ns(co->since_ns, r->j->end_ns);
	if (co->state == CTP_RUNNABLE && r->blocked && blocked_ns >= nearly(ready_ns)) {
		vote(r, node, r->blocked);
		return;
	}
	walk_from(r, &w, co, 0);
	for (uint32_t i = 0; i < w.nnodes && !w.moves && w.found >= w.open; i++)
		vote(r, node, w.nodes[i]);
}

/* More and more coroutines of a spawn site are because of the finding that most of them are in. */
static void vote_for_growth(struct roots *r, uint32_t node)
{
	bool grows = r->finding[node] && is_rule(r, node, CTP_RULE_GROWTH) && node <= r->j->ngroups;
	r->sampled[node] += grows;
	if (grows)
		vote(r, node, r->of_spawn[r->j->groups[node - 1].spawn]);
}

static bool is_edge(const struct roots *r, uint32_t a, uint32_t b)
{
	uint32_t votes = r->votes[a * (r->n + 1) + b];
	return votes && 2 * votes >= r->sampled[a];
}

/* --- what findings have --------------------------------------------------------------------------------------------------- */

/* Of each spawn site, the finding that has more than half of its living coroutines: the only one that can survive a vote. */
static bool find_spawns(struct roots *r)
{
	uint32_t n = r->j->follow->places->count;
	uint64_t *lead = calloc(n, sizeof *lead), *has = calloc(n, sizeof *has), *alive = calloc(n, sizeof *alive);
	bool found = lead && has && alive;
	struct ctp_coroutine *co;
	for (uint32_t at = 0; found && (co = ctp_follow_each(r->j->follow, &at));) {
		if (co->state == CTP_DEAD)
			continue;
		uint32_t node = node_of(r, co);
		if (!lead[co->spawn])
			r->of_spawn[co->spawn] = node;
		lead[co->spawn] += r->of_spawn[co->spawn] == node ? 1 : UINT64_MAX; /* one less */
		alive[co->spawn]++;
	}
	for (uint32_t at = 0; found && (co = ctp_follow_each(r->j->follow, &at));)
		has[co->spawn] += co->state != CTP_DEAD && node_of(r, co) == r->of_spawn[co->spawn];
	for (uint32_t i = 0; found && i < n; i++)
		if (2 * has[i] <= alive[i])
			r->of_spawn[i] = 0;
	free(lead);
	free(has);
	free(alive);
	return found;
}

/* Of several findings about an object, that with the most members says what is wrong with it. */
static void claim_objects(struct roots *r, const struct ctp_reasons *reasons, uint32_t node)
{
	const struct ctp_objects *objects = r->j->follow->objects;
	for (uint32_t i = 0; reasons && i < reasons->n; i++) {
		const struct ctp_object *ob = ctp_objects_wanted(objects, reasons, i);
		uint32_t *of = ob ? &r->of_object[ob - objects->list] : NULL;
		if (of && (!*of || r->finding[*of]->members < r->finding[node]->members))
			*of = node;
	}
}

/* A finding about an object as a whole may have members that wait for nothing at the end. */
static void claim_of_groups(struct roots *r)
{
	for (uint32_t i = 0; i < r->j->ngroups; i++) {
		const struct ctp_group *g = &r->j->groups[i];
		const struct ctp_reasons reasons = {.pid = g->pid, .n = 1, .list = {g->object}};
		if (g->object.what && r->finding[i + 1])
			claim_objects(r, &reasons, i + 1);
	}
}

static void find_objects(struct roots *r)
{
	struct ctp_coroutine *co;
	claim_of_groups(r);
	CTP_EACH_COROUTINE(r->j, co) {
		uint32_t node = node_of(r, co);
		if (node && ctp_wait_is(co) && is_about_object(r->finding[node]->rule))
			claim_objects(r, ctp_wait_reasons(r->j, co), node);
		bool holds_thread = node && co->state == CTP_RUNNING;
		if (holds_thread && (!r->blocked || co->since_ns < r->blocked_ns)) {
			r->blocked = node;
			r->blocked_ns = co->since_ns;
		}
	}
}

static void find_edges(struct roots *r)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(r->j, co)
		if (co->state != CTP_DEAD && node_of(r, co))
			vote_for_member(r, co, node_of(r, co));
	for (uint32_t i = 1; i <= r->n; i++)
		vote_for_growth(r, i);
}

/* --- components ----------------------------------------------------------------------------------------------------------- */

/* Tarjan's algorithm: a component is complete when the first of it that was visited is left, after all that it leads to. */
struct components {
	const struct roots *r;
	uint32_t *order, *low; /* by number; order 0: not visited */
	uint32_t *stack, nstack, visited;
	bool *is_done;
	uint32_t *root;        /* by number: of the incident */
};

/* Whether a goes before b as the root of both. */
static bool is_graver(const struct ctp_finding *a, const struct ctp_finding *b)
{
	if (a->certainty != b->certainty)
		return a->certainty > b->certainty;
	return a->rule != b->rule ? a->rule < b->rule : a->members > b->members;
}

static uint32_t graver(const struct roots *r, uint32_t a, uint32_t b)
{
	return !a || (b && is_graver(r->finding[b], r->finding[a])) ? b : a;
}

/* The component is on the stack from `from` on. Its root is that of what it leads to, or else the gravest of its own. */
static void complete(struct components *c, uint32_t from)
{
	uint32_t own = 0, other = 0;
	for (uint32_t i = from; i < c->nstack; i++) {
		uint32_t a = c->stack[i];
		own = graver(c->r, own, a);
		for (uint32_t b = 1; b <= c->r->n; b++)
			if (c->is_done[b] && is_edge(c->r, a, b))
				other = graver(c->r, other, c->root[b]);
	}
	for (; c->nstack > from; c->nstack--) {
		uint32_t a = c->stack[c->nstack - 1];
		c->root[a] = other ? other : own;
		c->is_done[a] = true;
	}
}

static void visit(struct components *c, uint32_t a)
{
	uint32_t from = c->nstack;
	c->order[a] = c->low[a] = ++c->visited;
	c->stack[c->nstack++] = a;
	for (uint32_t b = 1; b <= c->r->n; b++) {
		if (!is_edge(c->r, a, b) || c->is_done[b])
			continue;
		if (!c->order[b])
			visit(c, b);
		c->low[a] = c->low[b] < c->low[a] ? c->low[b] : c->low[a];
	}
	if (c->low[a] == c->order[a])
		complete(c, from);
}

/* Sets the root of each finding. False: out of memory. */
static bool condense(const struct roots *r)
{
	size_t n = r->n + 1;
	struct components c = {.r = r, .order = calloc(n, sizeof *c.order), .low = calloc(n, sizeof *c.low),
	                       .stack = calloc(n, sizeof *c.stack), .is_done = calloc(n, sizeof *c.is_done),
	                       .root = calloc(n, sizeof *c.root)};
	bool done = c.order && c.low && c.stack && c.is_done && c.root;
	for (uint32_t i = 1; done && i <= r->n; i++)
		if (r->finding[i] && !c.order[i])
			visit(&c, i);
	for (uint32_t i = 1; done && i <= r->n; i++)
		if (r->finding[i])
			r->finding[i]->root = c.root[i] == i ? 0 : c.root[i];
	free(c.order);
	free(c.low);
	free(c.stack);
	free(c.is_done);
	free(c.root);
	return done;
}

/* --- all ------------------------------------------------------------------------------------------------------------------ */

/* The numbers of findings are dense, but for those that are ignored. */
static void number_all(struct roots *r, struct ctp_report_section *s)
{
	struct ctp_finding *f;
	for (uint32_t i = 0; (f = (struct ctp_finding *)(uintptr_t)ctp_report_finding(s, i)); i++)
		if (f->number && f->number <= r->n)
			r->finding[f->number] = f;
}

static bool init(struct roots *r)
{
	size_t n = r->n + 1;
	r->finding = calloc(n, sizeof *r->finding);
	r->votes = calloc(n * n, sizeof *r->votes);
	r->sampled = calloc(n, sizeof *r->sampled);
	r->of_spawn = calloc(r->j->follow->places->count, sizeof *r->of_spawn);
	r->of_object = calloc((size_t)r->j->follow->objects->count + 2, sizeof *r->of_object);
	return r->finding && r->votes && r->sampled && r->of_spawn && r->of_object;
}

/*
 * A wait that only stands out does more than that if a likely finding is because of it: what would end the waits of that one does not
 * come, whatever may be said for it.
 */
static bool is_needed(const struct ctp_report_section *s, const struct ctp_finding *f)
{
	for (uint32_t i = 0; i < s->nfindings && f->rule == CTP_RULE_NONE; i++)
		if (f->number && s->findings[i].root == f->number && s->findings[i].certainty >= CTP_CERTAIN_LIKELY)
			return true;
	return false;
}

static void mark_found(struct ctp_judge *j, uint32_t number)
{
	struct ctp_coroutine *co;
	CTP_EACH_COROUTINE(j, co)
		if (co->state != CTP_DEAD && ctp_judged(co)->group == number)
			co->flags |= CTP_CO_FOUND;
}

static void become_likely(struct ctp_judge *j, struct ctp_report *r, struct ctp_report_section *s, uint32_t i)
{
	struct ctp_finding f = s->suspects[i];
	bool ready = f.nwho && f.who[0].state == CTP_RUNNABLE, has_wakes = ctp_follow_has_wakes(&j->follow->counts);
	struct ctp_words w = {.j = j, .f = &f, .nevidence = f.evidence[0] != NULL};
	char *excuse = f.excuse;
	memmove(&s->suspects[i], &s->suspects[i + 1], (--s->nsuspects - i) * sizeof f);
	f.excuse = NULL;
	f.rule = ready ? CTP_RULE_NOT_RESUMED : has_wakes ? CTP_RULE_NEVER_WOKEN : CTP_RULE_SUSPENDED;
	f.certainty = CTP_CERTAIN_LIKELY;
	ctp_words_evidence(&w, "coroutines of other findings can go on only after %s; by %s, %s might be harmless, because %s",
	                   ctp_words_it(&w), ctp_words_they(&w, "itself", "themselves"), ctp_words_they(&w, "it", "they"),
	                   excuse ? excuse : "");
	ctp_words_next(&w, "look at whatever ends a wait at %s", ctp_words_where(&w));
	free(excuse);
	mark_found(j, f.number);
	ctp_findings_add(r, s, &f);
}

static void fini(struct roots *r)
{
	free(r->finding);
	free(r->votes);
	free(r->sampled);
	free(r->of_spawn);
	free(r->of_object);
}

void ctp_judge_roots(struct ctp_judge *j, struct ctp_report *report, struct ctp_report_section *s)
{
	struct roots r = {.j = j, .n = j->ngroups + CTP_REPORT_SUSPECTS};
	if (s->nfindings + s->nsuspects < 2)
		return;
	bool done = init(&r);
	if (done) {
		number_all(&r, s);
		done = find_spawns(&r);
	}
	if (done) {
		find_objects(&r);
		find_edges(&r);
		done = condense(&r);
	}
	fini(&r);
	for (uint32_t i = s->nsuspects; done && i-- > 0;)
		if (is_needed(s, &s->suspects[i]))
			become_likely(j, report, s, i);
	j->failed |= !done;
}
