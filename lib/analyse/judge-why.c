/*
 * judge-why.c - why a wait is not in order.
 *
 * A wait proves nothing, however long: an idle server waits everywhere. A wait is looked at if it is far longer than any that ended
 * at the same place, or if hardly any ended there. It is not in order if one of the CTP_WHY reasons holds. Most reasons need that
 * no waker may still come (judge-wakers.c), and that the coroutine does not rest: it waits neither at its home, where something from
 * outside mostly wakes it, nor where it and its siblings suspended first.
 *
 * Rows without an end record stop with their last event, and most coroutines have waited for an instant then. If such rows have no
 * places either, there is nothing to compare with, and the reason is that nearly all of many coroutines are suspended.
 */
#include "analyse/judge-why.h"

#include "analyse/judge-wakers.h"
#include "analyse/judge-object.h"

enum {
	SIBLINGS_MIN = 3,
	STANDSTILL_PERCENT = 90,
	STANDSTILL_MEMBERS = 20, /* fewer coroutines may all be suspended by chance */
	STANDSTILL_NS = 1000000, /* the longest of their waits, at least */
	FEW_WAITS = 3,           /* ended waits that are a history too, for a wait that is out of all proportion: */
	FAR_FACTOR = 100,        /* times the longest, */
	FARTHEST_FACTOR = 1000,  /* or that */
	FARTHEST_NS = 2000000000,
	FRESH_WAITS = 3,         /* fewer ended waits of a habit do not tell how its waits end */
	FRESH_RESUMES = 100,     /* of a coroutine that came back from all earlier waits */
	RHYTHM_EVENTS = 100,     /* fewer events are no activity that could end */
	REST_FACTOR = 10,        /* a coroutine that waits this many times as long elsewhere does not rest at its home */
};

bool ctp_wait_is_too_long(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	struct ctp_judge_place p = ctp_judge_history(j, co);
	uint64_t ns = ctp_wait_ns(j, co);
	if (j->ordinal)
		return false;
	if (p.waits < CTP_JUDGE_HISTORY)
		return p.waits >= FEW_WAITS && ns >= CTP_JUDGE_QUIET_NS && ns / FAR_FACTOR >= p.max_ns;
	return ns >= CTP_JUDGE_FLOOR_NS && ns / CTP_JUDGE_FACTOR >= p.max_ns;
}

/* --- its like ------------------------------------------------------------------------------------------------------------- */

bool ctp_spawn_has_siblings(const struct ctp_tally_spawn *s)
{
	uint64_t ended = s->died - s->destroyed;
	return ended >= SIBLINGS_MIN && ended >= s->born / 2;
}

/* Overtaken: waits of the habit have ended that began when a wait since from_ns was already far too long. */
static bool is_overtaken(const struct ctp_judge *j, uint32_t habit, uint64_t from_ns)
{
	const struct ctp_habit *h = &j->tally->habits.list[habit];
	uint64_t usual_ns = h->max_ns < UINT64_MAX / (2 * CTP_JUDGE_FACTOR) ? CTP_JUDGE_FACTOR * h->max_ns : UINT64_MAX / 2;
	return ctp_habit_overtook(h, from_ns + (usual_ns > CTP_JUDGE_FLOOR_NS ? usual_ns : CTP_JUDGE_FLOOR_NS),
	                          j->follow->attached_ns);
}

/* The coroutines of a spawn place come to one place again and again. */
static bool lives_on(const struct ctp_judge *j, uint32_t spawn)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, spawn);
	uint32_t main = j->spawns[spawn].main;
	return main && j->tally->habits.list[main].waits >= j->visits * (s->born > s->died ? s->born : s->died);
}

bool ctp_spawn_is_at_rest(const struct ctp_judge *j, uint32_t spawn, uint32_t place)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, spawn);
	if (!lives_on(j, spawn))
		return false;
	if (s->rest_votes)
		return s->rest == place;
	const struct ctp_habit *main = &j->tally->habits.list[j->spawns[spawn].main];
	return 2 * j->tally->habits.list[ctp_habits_number(&j->tally->habits, spawn, place)].waits >= main->waits;
}

bool ctp_habit_is_passing(const struct ctp_judge *j, uint32_t habit, uint64_t from_ns, uint64_t ns)
{
	uint32_t spawn = j->tally->habits.list[habit].spawn;
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, spawn);
	bool outlives = ns >= CTP_JUDGE_QUIET_NS && s->life.count >= SIBLINGS_MIN && ns / CTP_JUDGE_FACTOR >= s->life.max_ns;
	bool last = 10 * (s->died - s->destroyed) >= 9 * s->born;
	return ctp_spawn_has_siblings(s) && (!lives_on(j, spawn) || outlives || last || is_overtaken(j, habit, from_ns));
}

bool ctp_habit_is_away(const struct ctp_judge *j, uint32_t habit)
{
	const struct ctp_habit *h = &j->tally->habits.list[habit];
	uint32_t home = j->spawns[h->spawn].outside;
	bool on = lives_on(j, h->spawn);
	bool known = home ? h->place != j->tally->habits.list[home].place : on && ctp_tally_spawn(j->tally, h->spawn)->rest_votes;
	/* In a program that was attached to, too little is known of where coroutines rest that do not live on. */
	return known && !ctp_spawn_is_at_rest(j, h->spawn, h->place) && (on || !j->follow->attached_ns);
}

/* --- the program ---------------------------------------------------------------------------------------------------------- */

/* Rows without births, wakes and an end record. */
static bool is_bare(const struct ctp_judge *j)
{
	return j->end->cut && !j->follow->counts.births && !ctp_follow_has_wakes(&j->follow->counts);
}

/* Nearly all coroutines wait, and there are no places to compare by. */
static bool is_standstill(const struct ctp_judge *j)
{
	return is_bare(j) && j->nowhere >= STANDSTILL_MEMBERS && j->nowhere_ns >= STANDSTILL_NS &&
	       100 * j->nowhere >= STANDSTILL_PERCENT * (j->waiting + j->running);
}

/* The program was active before: several coroutines have died, or one was resumed again and again. */
static bool has_rhythm(const struct ctp_judge *j)
{
	const struct ctp_coroutine *co = NULL;
	bool again = j->follow->counts.deaths >= CTP_JUDGE_HISTORY;
	for (uint32_t at = 0; !again && (co = ctp_follow_each(j->follow, &at));)
		again = co->resumes >= CTP_JUDGE_HISTORY;
	return again && j->follow->counts.events >= RHYTHM_EVENTS;
}

bool ctp_judge_stands_still(const struct ctp_judge *j)
{
	const struct ctp_proc_seen *seen = &j->follow->seen;
	const struct ctp_follow_counts *c = &j->follow->counts;
	bool asleep = seen->still_to_ns && seen->still_from_ns >= c->last_ns && seen->still_to_ns <= j->end_ns &&
	              ctp_span_ns(seen->still_from_ns, seen->still_to_ns) >= CTP_JUDGE_QUIET_NS;
	/* A program that was attached to may have had a rhythm before. */
	uint64_t quiet_ns = ctp_follow_ns(j->follow, j->tally->last_resume_ns, j->end_ns);
	bool unusual = j->follow->attached_ns || (has_rhythm(j) && quiet_ns / CTP_JUDGE_FACTOR >= j->tally->longest_pause_ns);
	return asleep && unusual && !c->missed && !c->untraced && !c->lost;
}

/* --- one wait ------------------------------------------------------------------------------------------------------------- */

/* The coroutine came back from several waits; in a program that was attached to, fewer are known. */
static bool has_come_back(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	return co->resumes >= (j->history < CTP_JUDGE_VISITS ? j->history : CTP_JUDGE_VISITS);
}

/*
 * The coroutine and its siblings returned from there in a hundredth of the time, and some still do; and the coroutine does not rest
 * there, for its home is elsewhere.
 */
static bool is_out_of_rhythm(const struct ctp_judge *j, const struct ctp_coroutine *co, struct ctp_judge_place p)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	uint64_t ns = ctp_wait_ns(j, co);
	bool elsewhere = j->spawns[co->spawn].outside != co->habit && (p.woken || !ctp_spawn_is_at_rest(j, co->spawn, h->place));
	return elsewhere && !co->awaits && has_come_back(j, co) && h->waits >= CTP_JUDGE_HISTORY && ns >= CTP_JUDGE_QUIET_NS &&
	       ns / FAR_FACTOR >= h->max_ns && !ctp_place_is_inside(p) && is_overtaken(j, co->habit, co->suspended_ns);
}

/* The whole program sleeps, and the coroutine rests elsewhere. In a stream without wakes, the second is enough. */
static bool is_forgotten(const struct ctp_judge *j, const struct ctp_coroutine *co, struct ctp_judge_place p, bool told)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	uint64_t ns = ctp_wait_ns(j, co);
	if (!told)
		return j->follow->counts.births && h->place && lives_on(j, co->spawn) && has_come_back(j, co) &&
		       !ctp_spawn_is_at_rest(j, co->spawn, h->place) && ns >= CTP_JUDGE_QUIET_NS && ns / FAR_FACTOR >= p.max_ns;
	return ctp_judge_stands_still(j) && ns >= FARTHEST_NS && ns / FARTHEST_FACTOR >= p.max_ns && !ctp_place_is_inside(p) &&
	       ctp_habit_is_away(j, co->habit);
}

bool ctp_habit_is_for_children(const struct ctp_habit *h)
{
	return h->asked >= CTP_JUDGE_HISTORY && 10 * h->children >= 9 * h->asked;
}

/* Hardly a sibling ever waited there, so it is not known how waits end; but a coroutine waits that this one used to wake. */
static bool is_fresh(const struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	uint64_t ns = ctp_wait_ns(j, co);
	bool needed = co->flags & CTP_CO_NEEDED || (!ctp_follow_has_wakes(&j->follow->counts) && j->follow->counts.births);
	return needed && !co->awaits && h->waits < FRESH_WAITS && j->places[h->place].waits < CTP_JUDGE_HISTORY &&
	       lives_on(j, co->spawn) && co->resumes >= FRESH_RESUMES && ns >= CTP_JUDGE_QUIET_NS &&
	       ns / CTP_JUDGE_FACTOR >= j->spawns[co->spawn].max_ns;
}

bool ctp_wait_is_suspect(const struct ctp_judge *j, const struct ctp_coroutine *co, const struct ctp_coroutine *other)
{
	uint64_t ns = ctp_wait_ns(j, co);
	return ctp_wait_is(co) && !co->awaits && ctp_habit_of(j, co)->waits < FRESH_WAITS && ns >= CTP_JUDGE_QUIET_NS &&
	       ns >= ctp_wait_ns(j, other) / 10 * 9;
}

/*
 * The coroutine waits for an object of the program, for a hundred times as long as any wait there took and as any sibling lived. If no
 * coroutine ends the waits there, a callback or a cancellation does, and that is the program's as well. A coroutine that another one
 * awaits does not count: it may be a helper, through which the others wait for different things.
 */
static bool is_left_behind(struct ctp_judge *j, const struct ctp_coroutine *co, struct ctp_judge_place p)
{
	const struct ctp_hist *life = &ctp_tally_spawn(j->tally, co->spawn)->life;
	uint64_t ns = ctp_wait_ns(j, co), far_ns = ns / FAR_FACTOR;
	return !co->depth && ctp_wait_is_for_objects(j, co) && ns >= CTP_JUDGE_QUIET_NS && far_ns >= p.max_ns && life->count >= CTP_JUDGE_HISTORY &&
	       far_ns >= life->max_ns && !ctp_judge_waker_may_come(j, co);
}

static uint64_t mean_ns(const struct ctp_habit *h) { return h->waits ? h->total_ns / h->waits : 0; }

/* The reasons that compare a wait with others at the same place. */
static uint32_t why_too_long(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	struct ctp_judge_place p = ctp_judge_history(j, co);
	const struct ctp_tally_spawn *s = ctp_tally_spawn(j->tally, co->spawn);
	/* In a program that was attached to, only the last earlier wake of each coroutine is known. */
	bool told = p.woken || (ctp_follow_has_wakes(&j->follow->counts) && !j->follow->attached_ns), bare = is_bare(j);
	bool several = p.different >= CTP_HABIT_DIFFERENT, rests = ctp_spawn_is_at_rest(j, co->spawn, h->place);
	bool lost = ctp_place_is_inside(p) && !ctp_judge_waker_may_come(j, co);
	/* A coroutine that rests there may be idle while others are not, unless it has a home, and waits there for as long. */
	uint32_t home = j->spawns[co->spawn].outside;
	bool busy = !rests || (home && mean_ns(&j->tally->habits.list[home]) >= mean_ns(h) / REST_FACTOR);
	bool came_back = bare ? co->resumes >= CTP_JUDGE_HISTORY : lost && busy && has_come_back(j, co);
	uint32_t why = 0;
	if ((lost || (!told && !ctp_judge_waker_may_come(j, co)) || is_left_behind(j, co, p)) && several &&
	    ctp_habit_is_passing(j, co->habit, co->suspended_ns, ctp_wait_ns(j, co)))
		why |= CTP_WHY_PASSING;
	if (lost && co->resumes > 1 && ctp_habit_is_away(j, co->habit))
		why |= CTP_WHY_AWAY;
	if (co->flags & CTP_CO_STUCK && (co->depth || ctp_judge_needs_others(j, co, rests)))
		why |= CTP_WHY_CIRCLE;
	if (several && j->silent && !told && (bare || s->died - s->destroyed >= SIBLINGS_MIN))
		why |= CTP_WHY_QUIET;
	if (came_back && is_overtaken(j, co->habit, co->suspended_ns))
		why |= CTP_WHY_OVERTAKEN;
	if (lost && ctp_habit_is_for_children(h) && !(co->flags & CTP_CO_PARENT))
		why |= CTP_WHY_CHILDREN;
	if (is_out_of_rhythm(j, co, p))
		why |= CTP_WHY_RHYTHM;
	else if (is_forgotten(j, co, p, told))
		why |= CTP_WHY_FORGOTTEN;
	return why;
}

uint32_t ctp_wait_why(struct ctp_judge *j, const struct ctp_coroutine *co)
{
	const struct ctp_habit *h = ctp_habit_of(j, co);
	if (j->ordinal)
		return 0;
	if (!h->place && is_standstill(j))
		return CTP_WHY_STANDSTILL;
	if (ctp_habit_is_called(h) || ctp_wait_is_quiet(j, co))
		return 0;
	if (is_fresh(j, co))
		return CTP_WHY_FRESH;
	return ctp_wait_is_too_long(j, co) ? why_too_long(j, co) : 0;
}
