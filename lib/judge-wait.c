/*
 * judge-wait.c - the rules about those who wait: for good, for one another, until they were destroyed, or were never run.
 *
 * That somebody waits proves nothing: a server that is idle waits everywhere. A wait is judged if it is far longer than any that
 * ended at the same place, and one of these holds as well, the first and the last of places that several have come back from:
 *
 *	siblings  most of those that were made at the same place have ended, so this one was meant to, and wakes there come from
 *	          coroutines. If the program ended by itself, and who should have woken it is dead, it need not have waited for long
 *	circle    it was last woken by a coroutine that waits for far too long as well, and so on round to itself, all of
 *	          them where nothing from outside has ever woken anybody: what ends an idle conversation may come from there
 *	quiet     the whole program fell silent while it worked, with several in the same place, and did not end by itself; only
 *	          where no wakes are told of, or they come from coroutines and some siblings have ended: a pool that is idle is not stuck
 *	overtaken in rows that tell of no births, wakes or end, as coroTracer's: others that went to wait there later have come back, and
 *	          it has itself come back often before. A server that is idle, or was ended at work, is not overtaken
 *
 * Such rows end with their last event, and whoever waits then has mostly waited for an instant. Only where they do not even name
 * places, so that there is nothing to compare with, it counts if nearly all of many are suspended: a standstill.
 */
#include "judge.h"

enum {
	SIBLINGS_MIN = 3,
	STANDSTILL_PERCENT = 90,
	STANDSTILL_MEMBERS = 20,      /* of fewer, all may be suspended by chance */
	STANDSTILL_NS = 1000000,      /* that one of them has waited, at least */
};

static bool is_waiting(const struct ctp_coroutine *co) { return co && co->state == CTP_SUSPENDED; }

static uint64_t waits_ns(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return ctp_span_ns(co->suspended_ns, ctp_judge_end_ns(j, co));
}

/* Far longer than anybody has ever waited there. */
static bool waits_too_long(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return ctp_judge_too_long(&ctp_tally_place(j->tally, ctp_follow_place(j->follow, co))->wait, waits_ns(j, co));
}

/* --- who waits for whom --------------------------------------------------------------------------------------------------- */

/* Whom it awaits, and who is alive. */
static struct ctp_coroutine *awaited(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	struct ctp_coroutine *target = is_waiting(co) && co->awaits ? ctp_follow_find(j->follow, co->awaits) : NULL;
	return target && target->state != CTP_DEAD ? target : NULL;
}

/* Those that await one another all round: nothing can ever wake them, unless something of theirs is missing. */
static void cycle(struct ctp_judge *j, struct ctp_coroutine *co)
{
	enum ctp_certainty certainty = CTP_CERTAIN_PROVED;
	struct ctp_coroutine *next = co, *first = co;
	bool any_usual = false;
	do {
		/* Whom one waits for may have changed since: a lock that was handed on, say. That does not take long. */
		enum ctp_certainty sure = ctp_judge_sure(j, next, true);
		bool usual = waits_ns(j, next) < CTP_JUDGE_RUN_NS && !waits_too_long(j, next);
		sure = sure == CTP_CERTAIN_PROVED && (usual || !ctp_judge_over(j, next)) ? CTP_CERTAIN_LIKELY : sure;
		certainty = sure < certainty ? sure : certainty;
		any_usual |= usual;
		first = next->id < first->id ? next : first;
		next = awaited(j, next);
	} while (next != co);
	if (any_usual && !ctp_judge_exited(j))
		return;
	/* One group for each circle: it is named after the member that came first. */
	struct ctp_group *g = ctp_judge_circle(j, first);
	do {
		ctp_judge_add(j, g, next, certainty, next->suspended_ns, waits_ns(j, next));
		next = awaited(j, next);
	} while (next != co);
}

static const struct ctp_judge_ways awaits = {.next = awaited, .closed = cycle, .ends = true};

/*
 * What it awaits has died, long enough ago that a wake would have come. One that is not there any more was when it began to be
 * awaited, and so has died too. Where wakes are not told of it may have been woken, and be in a queue.
 */
static bool awaits_dead(struct ctp_judge *j, struct ctp_coroutine *co)
{
	struct ctp_coroutine *target = ctp_follow_find(j->follow, co->awaits);
	if (target && target->state != CTP_DEAD)
		return false;
	bool wakes = j->tally->ready.count >= CTP_JUDGE_HISTORY;
	uint64_t died_ns = target ? target->since_ns : j->follow->forgotten_ns;
	uint64_t ns = ctp_span_ns(died_ns > co->suspended_ns ? died_ns : co->suspended_ns, ctp_judge_end_ns(j, co));
	if (ns < (wakes ? CTP_JUDGE_FLOOR_NS : CTP_JUDGE_QUIET_NS) || ns / CTP_JUDGE_FACTOR < j->tally->ready.max_ns)
		return false;
	enum ctp_certainty sure = ctp_judge_sure(j, co, true);
	ctp_judge_add(j, ctp_judge_group(j, CTP_RULE_AWAITS_DEAD, co->spawn, ctp_follow_place(j->follow, co)), co,
	              sure == CTP_CERTAIN_PROVED && !wakes ? CTP_CERTAIN_LIKELY : sure, co->suspended_ns, waits_ns(j, co));
	return true;
}

/* --- for good ------------------------------------------------------------------------------------------------------------- */

/* Who should wake it: whoever did so there the last time, or where it never was there, who did so to others. 0: not known. */
static uint64_t waker_id(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return co->before_at == co->place ? co->before : ctp_tally_place(j->tally, ctp_follow_place(j->follow, co))->waker;
}

static struct ctp_coroutine *waker_of(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint64_t waker = waker_id(j, co);
	return waker ? ctp_follow_find(j->follow, waker) : NULL;
}

static bool is_closed(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_tally_place *p = ctp_tally_place(j->tally, ctp_follow_place(j->follow, co));
	return p->woken && p->inside == p->woken;
}

/* Whoever woke it, and waits too. */
static struct ctp_coroutine *waiting_waker(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	struct ctp_coroutine *waker = is_waiting(co) ? waker_of(j, co) : NULL;
	return is_waiting(waker) && waker != co ? waker : NULL;
}

/* Who is such in a circle of wakers, and surely. Who leads into one and is none of it only suffers from it. */
static bool is_stuck(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return !ctp_judge_in_doubt(j, co) && waits_too_long(j, co) && is_closed(j, co);
}

static const struct ctp_judge_ways wakers = {.next = waiting_waker, .counts = is_stuck};

static bool has_siblings(const struct ctp_tally_spawn *s)
{
	uint64_t ended = s->died - s->destroyed;
	return ended >= SIBLINGS_MIN && ended >= s->born / 2;
}

/* Who should have woken it is dead; and it is in the process whose end is known. */
static bool is_orphan(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_coroutine *waker = waker_of(j, co);
	return waker_id(j, co) && is_closed(j, co) && (!waker || waker->state == CTP_DEAD) && !ctp_judge_process(j, co);
}

/* Nobody has run for far longer than ever before, and nobody ended the program but from outside. */
static bool fell_silent(const struct ctp_judge *j)
{
	uint64_t quiet_ns = ctp_span_ns(j->tally->last_resume_ns, j->end_ns);
	return !ctp_judge_exited(j) && !j->busy && quiet_ns >= CTP_JUDGE_QUIET_NS && quiet_ns / CTP_JUDGE_FACTOR >= j->tally->longest_pause_ns;
}

/* Rows that tell of no births, deaths, wakes or end. */
static bool is_bare(const struct ctp_judge *j) { return j->end->cut && !j->follow->counts.births && !j->follow->counts.wakes; }

/* Nearly everybody waits, at no place that could be compared, and nothing comes. */
static bool is_standstill(const struct ctp_judge *j)
{
	return is_bare(j) && j->nowhere >= STANDSTILL_MEMBERS && j->nowhere_ns >= STANDSTILL_NS &&
	       100 * j->nowhere >= STANDSTILL_PERCENT * (j->waiting + j->running);
}

/* The last that came back went to wait there later than this one, and are several. */
static bool is_overtaken(const struct ctp_tally_place *p, const struct ctp_coroutine *co)
{
	uint64_t others[CTP_TALLY_DIFFERENT];
	uint32_t n = 0;
	for (uint32_t i = 0; i < CTP_TALLY_BACK && p->nback >= CTP_TALLY_BACK; i++) {
		if (p->back[i].from_ns <= co->suspended_ns)
			return false;
		uint32_t k = 0;
		while (k < n && others[k] != p->back[i].id)
			k++;
		if (k == n && n < CTP_TALLY_DIFFERENT)
			others[n++] = p->back[i].id;
	}
	return n == CTP_TALLY_DIFFERENT;
}

/* Wakes are told of there, none is missing, and so one that is not told of was not. */
static bool wakes_known(const struct ctp_judge *j, const struct ctp_tally_place *p, const struct ctp_coroutine *co)
{
	return p->woken && 10 * p->woken >= 9 * p->wait.count && j->follow->missed_ns <= co->suspended_ns;
}

static void never_woken(struct ctp_judge *j, struct ctp_coroutine *co)
{
	uint32_t place = ctp_follow_place(j->follow, co);
	const struct ctp_tally_place *p = ctp_tally_place(j->tally, place);
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	uint64_t ns = waits_ns(j, co);
	bool standstill = !place && is_standstill(j);
	bool outlier = ctp_judge_too_long(&p->wait, ns), several = p->different == CTP_TALLY_DIFFERENT;
	/* Who waits for something from outside may only be idle. */
	bool inside = 10 * p->inside >= 9 * p->woken;
	bool orphan = p->wait.count >= CTP_JUDGE_HISTORY && ctp_judge_exited(j) && is_orphan(j, co);
	bool siblings = (outlier ? inside : orphan) && several && has_siblings(s), some = s->died - s->destroyed >= SIBLINGS_MIN;
	bool quiet = outlier && several && j->silent && (!p->woken || (inside && some));
	bool circle = outlier && co->goal == co;
	bool overtaken = outlier && is_bare(j) && co->resumes >= CTP_JUDGE_HISTORY && is_overtaken(p, co);
	if ((!siblings && !circle && !quiet && !overtaken && !standstill) || (outlier && !circle && co->goal))
		return;
	bool known = wakes_known(j, p, co);
	struct ctp_group *g = ctp_judge_group(j, known ? CTP_RULE_NEVER_WOKEN : CTP_RULE_SUSPENDED, co->spawn, place);
	bool all = p->woken == p->wait.count;
	bool proved = known && all && inside && outlier && (circle || siblings) && ctp_judge_over(j, co) && ctp_judge_exited(j);
	enum ctp_certainty certainty = ctp_judge_in_doubt(j, co) ? CTP_CERTAIN_UNKNOWN :
	                               proved                    ? CTP_CERTAIN_PROVED : CTP_CERTAIN_LIKELY;
	if (g) {
		g->siblings |= siblings;
		g->circle |= circle;
		g->quiet |= quiet;
		g->overtaken |= overtaken;
		g->standstill |= standstill;
		g->dependents += co->depth;
	}
	ctp_judge_add(j, g, co, certainty, co->suspended_ns, ns);
}

/*
 * Nobody has ever come back from there, but others that were made at the same place have come to their end, and soon; and it began
 * as several others did, for one place may make coroutines of all sorts.
 */
static void leaked(struct ctp_judge *j, struct ctp_coroutine *co)
{
	uint32_t place = ctp_follow_place(j->follow, co);
	const struct ctp_tally_place *p = ctp_tally_place(j->tally, place);
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	uint64_t age_ns = ctp_span_ns(co->born_ns, ctp_judge_end_ns(j, co));
	const struct ctp_tally_place *first = co->first_at ? ctp_tally_place(j->tally, co->first_at) : p;
	if (!(co->flags & CTP_CO_BIRTH) || p->wait.count >= CTP_JUDGE_HISTORY || !has_siblings(s) ||
	    !ctp_judge_too_long(&s->life, age_ns) || first->wait.count < CTP_JUDGE_HISTORY ||
	first->different < CTP_TALLY_DIFFERENT)
		return;
	ctp_judge_add(j, ctp_judge_group(j, CTP_RULE_LEAKED, co->spawn, place), co,
	              ctp_judge_in_doubt(j, co) ? CTP_CERTAIN_UNKNOWN : CTP_CERTAIN_LIKELY, co->born_ns, age_ns);
}

/* Whether the thread where it ran last has run another one ever since it was woken. */
static bool stands_behind(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	uint64_t current = j->follow->threads.list[co->thread].current;
	const struct ctp_coroutine *other = current && co->thread ? ctp_follow_find(j->follow, current) : NULL;
	return other && other->state == CTP_RUNNING && other->since_ns <= co->since_ns;
}

/* Woken, and not resumed for far longer than it ever took. */
static void not_resumed(struct ctp_judge *j, struct ctp_coroutine *co)
{
	uint64_t ns = ctp_span_ns(co->since_ns, ctp_judge_end_ns(j, co));
	bool is_new = !(co->flags & (CTP_CO_BIRTH | CTP_CO_RAN)) && !co->suspended_ns; /* or was dead, and is forgotten */
	if (is_new || !ctp_judge_too_long(&j->tally->ready, ns) || stands_behind(j, co))
		return;
	/* Woken while it ran, it may be that nobody meant what came next. */
	bool proved = ctp_judge_over(j, co) && co->since_ns > co->suspended_ns;
	/* Those whose wakes are missing may have been ready for as long. */
	enum ctp_certainty sure = j->follow->counts.missed ? CTP_CERTAIN_UNKNOWN : ctp_judge_sure(j, co, false);
	ctp_judge_add(j, ctp_judge_group(j, CTP_RULE_NOT_RESUMED, co->spawn, ctp_follow_place(j->follow, co)), co,
	              sure == CTP_CERTAIN_PROVED && !proved ? CTP_CERTAIN_LIKELY : sure, co->since_ns, ns);
}

static void never_started(struct ctp_judge *j, struct ctp_coroutine *co)
{
	uint64_t ns = ctp_span_ns(co->born_ns, ctp_judge_end_ns(j, co));
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	if (!(co->flags & CTP_CO_BIRTH) || co->flags & (CTP_CO_RAN | CTP_CO_BEFORE) || !ctp_judge_too_long(&s->start, ns))
		return;
	ctp_judge_add(j, ctp_judge_group(j, CTP_RULE_NEVER_STARTED, co->spawn, 0), co,
	              ctp_judge_in_doubt(j, co) ? CTP_CERTAIN_UNKNOWN : CTP_CERTAIN_LIKELY, co->born_ns, ns);
}

/* Those that somebody destroyed while they waited, far too long already: at the end of a program that cleans up, they are gone. */
static void destroyed(struct ctp_judge *j)
{
	const struct ctp_tally_list *l = &j->tally->destroyed;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct ctp_tally_case *c = &l->cases[i];
		const struct ctp_tally_place *p = ctp_tally_place(j->tally, c->place);
		if (p->different == CTP_TALLY_DIFFERENT && ctp_judge_too_long(&p->wait, c->ns) &&
		    has_siblings(ctp_tally_spawn(j->tally, c->spawn)))
			ctp_judge_add_case(j, ctp_judge_group(j, CTP_RULE_DESTROYED, c->spawn, c->place), c, CTP_CERTAIN_LIKELY);
	}
}

static void judge_one(struct ctp_judge *j, struct ctp_coroutine *co)
{
	if (co->state == CTP_RUNNABLE) {
		not_resumed(j, co);
	} else if (co->state == CTP_BORN) {
		never_started(j, co);
	} else if (is_waiting(co)) {
		if (awaited(j, co) || (co->awaits && awaits_dead(j, co)))
			return; /* of the first, it is in order that it waits: who it awaits does not come, or is in a circle with it */
		if (!(co->flags & (CTP_CO_RAN | CTP_CO_BEFORE)) && co->flags & CTP_CO_BIRTH) {
			never_started(j, co);
		} else {
			never_woken(j, co);
			leaked(j, co);
		}
	}
}

void ctp_judge_waits(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));) {
		co->depth = 0;
		j->waiting += is_waiting(co);
		if (is_waiting(co) && !ctp_follow_place(j->follow, co)) {
			j->nowhere++;
			j->nowhere_ns = waits_ns(j, co) > j->nowhere_ns ? waits_ns(j, co) : j->nowhere_ns;
		}
		j->running += co->state == CTP_RUNNING || co->state == CTP_RUNNABLE;
		j->busy += co->state == CTP_RUNNING && co->flags & CTP_CO_OURS;
	}
	ctp_judge_circles(j, &awaits);
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));)
		co->goal->depth += co->goal != co;
	ctp_judge_circles(j, &wakers);
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));)
		if (co->goal && co->goal != co && !co->awaits && waits_too_long(j, co))
			co->goal->depth++;
	j->silent = fell_silent(j);
	for (uint32_t at = 0; (co = ctp_follow_each(j->follow, &at));)
		judge_one(j, co);
	destroyed(j);
}
