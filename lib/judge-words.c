/*
 * judge-words.c - a finding in words: a title, the evidence, and what to look at next.
 */
#include "judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { AWAITED = 3 }; /* members that have a line of their own */

/* Texts of a finding, while it is put together. */
struct words {
	struct ctp_judge *j;
	const struct ctp_group *g;
	struct ctp_finding *f;
	uint32_t nevidence, nnext;
	char duration[4][CTP_TEXT_MAX], count[4][2 * CTP_TEXT_MAX];
	unsigned nduration, ncount;
};

static const char *duration(struct words *w, uint64_t ns)
{
	char *text = w->duration[w->nduration++ % 4];
	*ctp_text_duration(text, ns) = '\0';
	return text;
}

static const char *count(struct words *w, uint64_t n)
{
	char *text = w->count[w->ncount++ % 4];
	*ctp_text_count(text, n) = '\0';
	return text;
}

static __attribute__((format(printf, 2, 0))) char *format(struct words *w, const char *fmt, va_list args)
{
	char *text;
	if (vasprintf(&text, fmt, args) >= 0)
		return text;
	w->j->failed = true;
	return NULL;
}

static __attribute__((format(printf, 2, 3))) void title(struct words *w, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	w->f->title = format(w, fmt, args);
	va_end(args);
}

static __attribute__((format(printf, 2, 3))) void evidence(struct words *w, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	if (w->nevidence < CTP_REPORT_LINES - 1)
		w->f->evidence[w->nevidence++] = format(w, fmt, args);
	va_end(args);
}

static __attribute__((format(printf, 2, 3))) void next(struct words *w, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	if (w->nnext < CTP_REPORT_LINES - 1)
		w->f->next[w->nnext++] = format(w, fmt, args);
	va_end(args);
}

static const char *where(struct words *w)
{
	return w->f->place ? w->f->place : "a place that the trace does not name";
}

static const char *it(struct words *w) { return w->f->members == 1 ? "it" : "them"; }

/* "1 coroutine", "50 coroutines" */
static const char *those(struct words *w)
{
	char *text = w->count[w->ncount++ % 4];
	char *end = ctp_text_count(text, w->f->members);
	strcpy(end, w->f->members == 1 ? " coroutine" : " coroutines");
	return text;
}

/* How the others at the same place fared. */
static void history(struct words *w)
{
	const struct ctp_tally_place *p = ctp_tally_place(w->j->tally, w->g->place);
	if (w->f->members == 1)
		evidence(w, "suspended %s after the start, for %s",
		         duration(w, w->g->from_ns - w->j->start_ns), duration(w, w->g->longest_ns));
	else if (w->g->longest_ns - w->g->shortest_ns < w->g->longest_ns / 100)
		evidence(w, "all of them suspended for %s", duration(w, w->g->longest_ns));
	else
		evidence(w, "suspended for %s to %s", duration(w, w->g->shortest_ns), duration(w, w->g->longest_ns));
	if (p->wait.count)
		evidence(w, "%s other waits there ended, after %s at most (half of them after %s)", count(w, p->wait.count),
		         duration(w, p->wait.max_ns), duration(w, ctp_hist_quantile(&p->wait, 0.5)));
}

static void siblings(struct words *w)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	if (s->died)
		evidence(w, "of %s made at %s, %s have come to their end", count(w, s->born > s->died ? s->born : s->died),
		         w->f->spawn ? w->f->spawn : "the same place", count(w, s->died - s->destroyed));
}

/* Who should have woken it, where there is only one to be asked. */
static void last_waker(struct words *w)
{
	const struct ctp_report_member *m = w->f->nwho == 1 ? &w->f->who[0] : NULL;
	if (!m || !m->waker)
		return;
	const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, m->waker);
	static const char *const states[CTP_STATES] = {"", "has not run yet", "is running", "is suspended too", "is ready to run",
	                                               "has ended"};
	if (co && co->name)
		evidence(w, "the last to wake it was %s (coroutine %ju), which %s", co->name, (uintmax_t)m->waker, states[co->state]);
	else
		evidence(w, "the last to wake it was coroutine %ju, which %s", (uintmax_t)m->waker,
		         co ? states[co->state] : "has ended");
}

static void say_waiting(struct words *w)
{
	const struct ctp_group *g = w->g;
	bool woken = g->rule == CTP_RULE_NEVER_WOKEN;
	title(w, woken ? "%s suspended for good at %s: never woken" : "%s suspended for good at %s", those(w), where(w));
	if (g->standstill && !g->siblings && !g->circle && !g->quiet)
		evidence(w, "where the trace ends, %s of %s coroutines are suspended, and nobody is left who could wake them",
		         count(w, w->j->waiting), count(w, w->j->waiting + w->j->running));
	else
		history(w);
	if (woken)
		evidence(w, "no wake is missing from the trace, and there is none for %s", it(w));
	if (g->siblings)
		siblings(w);
	if (g->circle)
		evidence(w, "who woke %s before is suspended as well, round in a circle: nobody is left to wake any of them",
		         it(w));
	last_waker(w);
	if (g->quiet && !g->siblings && !g->circle)
		evidence(w, "nothing has run since: either nobody will wake %s, or nothing comes from outside", it(w));
	if (g->dependents)
		evidence(w, "%s others wait for %s", count(w, g->dependents), it(w));
	if (w->f->place)
		next(w, "who ends a wait at %s? Look for a path that forgets the waiter, or closes what it waits for, without a wake",
		     where(w));
	else
		next(w, "a probe that gives the place (CTP_HERE, a site) would say where to look");
	if (!woken && !w->j->follow->counts.wakes)
		next(w, "with wakes in the trace (ctp_coro_wake and the like) it could be told whether anybody woke %s", it(w));
}

static void say_not_resumed(struct words *w)
{
	const struct ctp_hist *ready = &w->j->tally->ready;
	title(w, "%s woken at %s and never resumed", those(w), where(w));
	evidence(w, "ready to run for %s, where %s others were resumed after %s at most", duration(w, w->g->longest_ns),
	         count(w, ready->count), duration(w, ready->max_ns));
	last_waker(w);
	next(w, "the scheduler has lost it: look at the run queue between the wake and the resume"
	        " (a wake while it was about to suspend?)");
}

static void say_destroyed(struct words *w)
{
	title(w, "%s waited at %s until destroyed", those(w), where(w));
	history(w);
	siblings(w);
	next(w, "they were cleaned up, at the end of the program perhaps, and would have waited on:"
	        " who should have ended a wait at %s?", where(w));
}

static void say_cycle(struct words *w)
{
	title(w, "%s wait for one another in a circle", those(w));
	for (uint32_t i = 0; i < w->f->nwho && i < CTP_REPORT_LINES - 2; i++) {
		const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, w->f->who[i].id);
		const char *place = co ? ctp_report_place(w->j->report, ctp_follow_place(w->j->follow, co)) : NULL;
		const struct ctp_coroutine *other = co ? ctp_follow_find(w->j->follow, co->awaits) : NULL;
		if (co)
			evidence(w, "%s%scoroutine %ju awaits %s%scoroutine %ju at %s", co->name ? co->name : "", co->name ? ", " : "",
			         (uintmax_t)co->id, other && other->name ? other->name : "", other && other->name ? ", " : "",
			         (uintmax_t)co->awaits, place ? place : "a place that is not named");
	}
	next(w, "one of these awaits must go: nothing can wake any of them");
}

static void say_awaits_dead(struct words *w)
{
	title(w, "%s at %s for a coroutine that is dead", w->f->members == 1 ? "1 coroutine waits" : "coroutines wait", where(w));
	evidence(w, "suspended for %s", duration(w, w->g->longest_ns));
	for (uint32_t i = 0; i < w->f->nwho && i < AWAITED; i++) {
		const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, w->f->who[i].id);
		const struct ctp_coroutine *dead = co ? ctp_follow_find(w->j->follow, co->awaits) : NULL;
		if (co)
			evidence(w, "coroutine %ju awaits %s%scoroutine %ju, which has ended and did not wake it", (uintmax_t)co->id,
			         dead && dead->name ? dead->name : "", dead && dead->name ? ", " : "", (uintmax_t)co->awaits);
	}
	next(w, "see that whatever ends what it waits for, also an exception or destruction, wakes it");
}

static void say_thread(struct words *w)
{
	const struct ctp_hist *run = &w->j->tally->run;
	const struct ctp_report_member *m = &w->f->who[0];
	uintmax_t tid = w->f->nwho ? m->tid : 0;
	if (w->f->members == 1)
		title(w, "thread %ju stands still in a coroutine that resumed from %s", tid, where(w));
	else
		title(w, "%s threads stand still in coroutines that resumed from %s", count(w, w->f->members), where(w));
	evidence(w, "for %s without suspending, where %s other runs took %s at most", duration(w, w->g->longest_ns),
	         count(w, run->count), duration(w, run->max_ns));
	for (uint32_t i = 0; i < w->f->nwho && i < AWAITED && w->f->members > 1; i++)
		evidence(w, "thread %ju in %s%scoroutine %ju", (uintmax_t)m[i].tid, m[i].name ? m[i].name : "", m[i].name ? ", " : "",
		         (uintmax_t)m[i].id);
	next(w, "blocked, or in a loop, behind %s: a debugger on thread %ju shows where", where(w), tid);
}

static void say_collapse(struct words *w)
{
	title(w, "throughput fell from %s to %s resumes a second at %s", count(w, w->g->count), count(w, w->g->most_ns),
	      duration(w, w->f->from_ns));
	evidence(w, "and stayed there for %s", duration(w, w->f->to_ns - w->f->from_ns));
	if (w->g->extra)
		evidence(w, "%s", w->g->extra);
	next(w, "look at what happened just before: ctp-report --until, or ctp-tohtml and the timeline there");
}

static void say_leaked(struct words *w)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	title(w, "%s leaked: suspended at %s, from where nobody comes back", those(w), where(w));
	evidence(w, "alive for %s", duration(w, w->g->longest_ns));
	evidence(w, "%s made at the same place have ended, after %s at most", count(w, s->life.count), duration(w, s->life.max_ns));
	next(w, "is there still somebody who could resume or destroy %s?", it(w));
}

static void say_never_started(struct words *w)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	title(w, "%s made and never run", those(w));
	evidence(w, "made %s ago; %s others from the same place were run after %s at most", duration(w, w->g->longest_ns),
	         count(w, s->start.count), duration(w, s->start.max_ns));
	next(w, "was the task made and then neither awaited nor given to the scheduler?");
}

static void say_growth(struct words *w)
{
	title(w, "coroutines made at %s become more and more: %s are alive",
	      w->f->spawn ? w->f->spawn : "a place that is not named",
	      count(w, w->f->members));
	evidence(w, "at least %s were alive at all times in the first eighth, %s in the fourth, and steadily more since",
	         count(w, w->g->most_ns),
	         count(w, w->g->count));
	next(w, "what limits how many there are? Do they end as fast as they are made?");
}

static void say_long_run(struct words *w)
{
	const struct ctp_hist *run = &w->j->tally->run;
	title(w, "ran for %s without suspending, from %s on, and kept others waiting", duration(w, w->g->longest_ns), where(w));
	evidence(w, "99 in 100 of %s runs take at most %s", count(w, run->count), duration(w, ctp_hist_quantile(run, 0.99)));
	if (w->g->count)
		evidence(w, "%s coroutines that were ready to run on the same thread waited for it, %s at most", count(w, w->g->count),
		         duration(w, w->g->most_ns));
	if (w->g->late)
		evidence(w, "%s others on the same thread were woken from outside only when it was over", count(w, w->g->late));
	next(w, "a blocking call or a long computation behind %s: move it to a thread of its own, or suspend in between", where(w));
}

static void say_storm(struct words *w)
{
	title(w, "%s woke itself %s times in a row at %s", those(w), count(w, w->g->count), where(w));
	uint64_t wakes = w->g->count > CTP_TALLY_STORM ? w->g->count - CTP_TALLY_STORM : 1;
	evidence(w, "every %s, with nothing done in between", duration(w, w->g->longest_ns / wakes));
	next(w, "it polls for something: let whoever changes that wake it instead");
}

static void say_migration(struct words *w)
{
	title(w, "%s hardly ever run twice on the same thread", those(w));
	evidence(w, "%s of %s resumes were on another thread than the one before, which is more than chance", count(w, w->g->count),
	         count(w, w->g->most_ns));
	next(w, "does each end wake the other on its own thread? Resume a coroutine where it ran last");
}

static void say_broken(struct words *w)
{
	bool dead = w->g->rule == CTP_RULE_AFTER_DEATH;
	title(w, dead ? "%s resumed after death" : "%s resumed while running", those(w));
	evidence(w, "first at %s; suspended last at %s", duration(w, w->f->from_ns), where(w));
	next(w,
	     dead ? "somebody keeps a handle of a coroutine that is over: a wake that comes late, or a timer that was not cancelled"
	             : "two have the same handle: look for a coroutine that is put into the run queue twice,"
	               " or before it has suspended");
}

static void say_untraced(struct words *w)
{
	title(w, "%s not traced: there were no stations left", those(w));
	evidence(w, "nothing is known of them, and what they did to others is missing");
	next(w, "ctp-collect -n with a larger number");
}

static void (*const say[CTP_RULES])(struct words *w) = {
	[CTP_RULE_AFTER_DEATH] = say_broken,
	[CTP_RULE_DOUBLE_RESUME] = say_broken,
	[CTP_RULE_WAIT_CYCLE] = say_cycle,
	[CTP_RULE_AWAITS_DEAD] = say_awaits_dead,
	[CTP_RULE_NOT_RESUMED] = say_not_resumed,
	[CTP_RULE_NEVER_WOKEN] = say_waiting,
	[CTP_RULE_SUSPENDED] = say_waiting,
	[CTP_RULE_DESTROYED] = say_destroyed,
	[CTP_RULE_STALLED_THREAD] = say_thread,
	[CTP_RULE_COLLAPSE] = say_collapse,
	[CTP_RULE_LEAKED] = say_leaked,
	[CTP_RULE_NEVER_STARTED] = say_never_started,
	[CTP_RULE_GROWTH] = say_growth,
	[CTP_RULE_LONG_RUN] = say_long_run,
	[CTP_RULE_SELF_WAKE] = say_storm,
	[CTP_RULE_MIGRATION] = say_migration,
	[CTP_RULE_UNTRACED] = say_untraced,
};

void ctp_judge_say(struct ctp_judge *j, const struct ctp_group *g, struct ctp_finding *f)
{
	struct words w = {.j = j, .g = g, .f = f};
	uint64_t proved = g->by_certainty[CTP_CERTAIN_PROVED], likely = g->by_certainty[CTP_CERTAIN_LIKELY];
	uint64_t unknown = g->by_certainty[CTP_CERTAIN_UNKNOWN];
	say[g->rule](&w);
	if (unknown)
		evidence(&w, "events were lost that could say otherwise%s", unknown < f->members ? " of some of them" : "");
	if (proved && likely)
		evidence(&w, "%s of them are proved, the others likely", count(&w, proved));
}
