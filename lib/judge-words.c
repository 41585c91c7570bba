/*
 * judge-words.c - a finding in words: a title, the evidence, and what to look at next.
 */
#include "judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

enum { AWAITED = 3, IN_CIRCLE = 6 }; /* members that have a line of their own */

/* Texts of a finding, while it is put together. */
struct words {
	struct ctp_judge *j;
	const struct ctp_group *g;
	struct ctp_finding *f;
	uint32_t nevidence, nnext;
	char duration[4][CTP_TEXT_MAX], count[4][2 * CTP_TEXT_MAX], label[2][CTP_FOLLOW_NAME_MAX + CTP_TEXT_MAX];
	unsigned nduration, ncount, nlabel;
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

/* "handler 17 (#37)", "coroutine #37", as the list of members has the number: a large one is an address. */
static const char *label(struct words *w, const char *name, uint64_t id)
{
	char *text = w->label[w->nlabel++ % 2], number[CTP_TEXT_MAX];
	snprintf(number, sizeof(number), id > UINT32_MAX ? "#0x%jx" : "#%ju", (uintmax_t)id);
	snprintf(text, sizeof(w->label[0]), name ? "%s (%s)" : "%s%s", name ? name : "coroutine ", number);
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

static const char *where_made(struct words *w) { return w->f->spawn ? w->f->spawn : "a place that the trace does not name"; }

static const char *word(uint64_t n, const char *one, const char *more) { return n == 1 ? one : more; }

/* "1 other wait", "50 other waits" */
static const char *counted(struct words *w, uint64_t n, const char *one, const char *more)
{
	char *text = w->count[w->ncount++ % 4], *end = ctp_text_count(text, n);
	snprintf(end, sizeof(w->count[0]) - (size_t)(end - text), " %s", word(n, one, more));
	return text;
}

/* Those that the finding is about. */
static const char *it(struct words *w) { return word(w->f->members, "it", "them"); }
static const char *they(struct words *w, const char *one, const char *more) { return word(w->f->members, one, more); }
static const char *those(struct words *w) { return counted(w, w->f->members, "coroutine", "coroutines"); }

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
	if (p->wait.count == 1)
		evidence(w, "1 other wait there ended, after %s", duration(w, p->wait.max_ns));
	else if (p->wait.count)
		evidence(w, "%s other waits there ended, after %s at most (half of them after %s)", count(w, p->wait.count),
		         duration(w, p->wait.max_ns), duration(w, ctp_hist_quantile(&p->wait, 0.5)));
}

static void siblings(struct words *w)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	uint64_t ended = s->died - s->destroyed;
	if (s->died)
		evidence(w, "of %s made at %s, %s come to %s end", count(w, s->born > s->died ? s->born : s->died),
		         w->f->spawn ? w->f->spawn : "the same place", counted(w, ended, "has", "have"), word(ended, "its", "their"));
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
	evidence(w, "the last to wake it was %s, which %s", label(w, co ? co->name : NULL, m->waker), co ? states[co->state] : "has ended");
}

static void say_waiting(struct words *w)
{
	const struct ctp_group *g = w->g;
	bool woken = g->rule == CTP_RULE_NEVER_WOKEN;
	title(w, woken ? "%s suspended for good at %s: never woken" : "%s suspended for good at %s", those(w), where(w));
	if (g->standstill && !g->siblings && !g->circle && !g->quiet && !g->overtaken)
		evidence(w, "where the trace ends, %s of %s %s suspended, and nobody is left who could wake %s",
		         count(w, w->j->waiting), counted(w, w->j->waiting + w->j->running, "coroutine", "coroutines"),
		         word(w->j->waiting, "is", "are"), word(w->j->waiting, "it", "them"));
	else
		history(w);
	if (woken)
		evidence(w, "no wake is missing from the trace, and there is none for %s", it(w));
	if (g->siblings)
		siblings(w);
	if (g->circle)
		evidence(w, "who woke %s before is suspended as well, round in a circle: nobody is left to wake any of them", it(w));
	if (g->overtaken && !g->siblings && !g->circle)
		evidence(w, "others that went to wait there later have come back, again and again");
	last_waker(w);
	if (g->quiet && !g->siblings && !g->circle)
		evidence(w, "nothing has run since: either nobody will wake %s, or nothing comes from outside", it(w));
	if (g->dependents)
		evidence(w, "%s for %s", counted(w, g->dependents, "other waits", "others wait"), it(w));
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
	evidence(w, "ready to run for %s%s, where %s came %s after the wake at most", they(w, "", "up to "),
	         duration(w, w->g->longest_ns), counted(w, ready->count, "other resume", "other resumes"), duration(w, ready->max_ns));
	last_waker(w);
	next(w, "the scheduler has lost %s: look at the run queue between the wake and the resume"
	        " (a wake while %s about to suspend?)", it(w), they(w, "it was", "they were"));
}

static void say_destroyed(struct words *w)
{
	title(w, "%s waited at %s until destroyed", those(w), where(w));
	history(w);
	siblings(w);
	next(w, "%s cleaned up, at the end of the program perhaps, and would have waited on:"
	        " who should have ended a wait at %s?", they(w, "it was", "they were"), where(w));
}

static void say_cycle(struct words *w)
{
	if (w->f->members == 1)
		title(w, "%s waits for itself", those(w));
	else
		title(w, "%s wait for one another in a circle", those(w));
	for (uint32_t i = 0; i < w->f->nwho && i < IN_CIRCLE; i++) {
		const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, w->f->who[i].id);
		const char *place = co ? ctp_report_place(w->j->report, ctp_follow_place(w->j->follow, co)) : NULL;
		const struct ctp_coroutine *other = co ? ctp_follow_find(w->j->follow, co->awaits) : NULL;
		if (co)
			evidence(w, "%s awaits %s at %s", label(w, co->name, co->id), label(w, other ? other->name : NULL, co->awaits),
			         place ? place : "a place that is not named");
	}
	next(w, "%s", they(w, "this await must go: nothing can wake it", "one of these awaits must go: nothing can wake any of them"));
}

static void say_awaits_dead(struct words *w)
{
	title(w, "%s %s at %s for %s", those(w), they(w, "waits", "wait"), where(w),
	      they(w, "a coroutine that is dead", "coroutines that are dead"));
	evidence(w, "suspended for %s%s", they(w, "", "up to "), duration(w, w->g->longest_ns));
	for (uint32_t i = 0; i < w->f->nwho && i < AWAITED; i++) {
		const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, w->f->who[i].id);
		const struct ctp_coroutine *dead = co ? ctp_follow_find(w->j->follow, co->awaits) : NULL;
		if (co)
			evidence(w, "%s awaits %s, which has ended and did not wake it", label(w, co->name, co->id),
			         label(w, dead ? dead->name : NULL, co->awaits));
	}
	next(w, "see that whatever ends what %s for, also an exception or destruction, wakes %s", they(w, "it waits", "they wait"), it(w));
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
	evidence(w, "for %s%s without suspending, where %s took %s at most", they(w, "", "up to "), duration(w, w->g->longest_ns),
	         counted(w, run->count, "other run", "other runs"), duration(w, run->max_ns));
	for (uint32_t i = 0; i < w->f->nwho && i < AWAITED && w->f->members > 1; i++)
		evidence(w, "thread %ju in %s", (uintmax_t)m[i].tid, label(w, m[i].name, m[i].id));
	next(w, "blocked, or in a loop, behind %s: a debugger on thread %ju shows where", where(w), tid);
}

static void say_collapse(struct words *w)
{
	title(w, "throughput fell from %s a second to %s at %s", counted(w, w->g->count, "resume", "resumes"), count(w, w->g->most_ns),
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
	evidence(w, "alive for %s%s", they(w, "", "up to "), duration(w, w->g->longest_ns));
	evidence(w, "%s ended, after %s at most", counted(w, s->life.count, "made at the same place has", "made at the same place have"),
	         duration(w, s->life.max_ns));
	next(w, "is there still somebody who could resume or destroy %s?", it(w));
}

static void say_never_started(struct words *w)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	title(w, "%s made at %s and never run", those(w), where_made(w));
	evidence(w, "made %s%s ago; %s run after %s at most", they(w, "", "up to "), duration(w, w->g->longest_ns),
	         counted(w, s->start.count, "other from the same place was", "others from the same place were"),
	         duration(w, s->start.max_ns));
	next(w, "%s made and then neither awaited nor given to the scheduler?", they(w, "was the task", "were the tasks"));
}

static void say_growth(struct words *w)
{
	title(w, "coroutines made at %s become more and more: %s alive", where_made(w), counted(w, w->f->members, "is", "are"));
	evidence(w, "fewest alive at any time: %s in the first eighth, %s in the fourth, and steadily more since",
	         count(w, w->g->most_ns), count(w, w->g->count));
	next(w, "what limits how many there are? Do they end as fast as they are made?");
}

/* What a coroutine did several times. */
static void times(struct words *w)
{
	if (w->g->cases > w->f->members)
		evidence(w, "%s in all", counted(w, w->g->cases, "time", "times"));
}

static void say_long_run(struct words *w)
{
	const struct ctp_hist *run = &w->j->tally->run;
	title(w, "%s ran for %s%s without suspending, from %s on, and kept others waiting", those(w), they(w, "", "up to "),
	      duration(w, w->g->longest_ns), where(w));
	times(w);
	evidence(w, "99 in 100 of %s at most %s", counted(w, run->count, "run takes", "runs take"),
	         duration(w, ctp_hist_quantile(run, 0.99)));
	if (w->g->count)
		evidence(w, "%s ready to run on the same thread waited for %s, %s at most",
		         counted(w, w->g->count, "coroutine that was", "coroutines that were"), it(w), duration(w, w->g->most_ns));
	if (w->g->late)
		evidence(w, "%s woken from outside only when %s over",
		         counted(w, w->g->late, "other on the same thread was", "others on the same thread were"),
		         w->g->cases == 1 ? "it was" : "such a run was");
	next(w, "a blocking call or a long computation behind %s: move it to a thread of its own, or suspend in between", where(w));
}

static void say_storm(struct words *w)
{
	title(w, "%s woke %s %s in a row at %s", those(w), they(w, "itself", "themselves up to"),
	      counted(w, w->g->count, "time", "times"), where(w));
	uint64_t wakes = w->g->count > CTP_TALLY_STORM ? w->g->count - CTP_TALLY_STORM : 1;
	evidence(w, "every %s, with nothing done in between", duration(w, w->g->longest_ns / wakes));
	next(w, "%s for something: let whoever changes that wake %s instead", they(w, "it polls", "they poll"), it(w));
}

static void say_migration(struct words *w)
{
	title(w, "%s made at %s hardly ever %s twice on the same thread", those(w), where_made(w), they(w, "runs", "run"));
	evidence(w, "%s of %s %s on another thread than the one before, which is more than chance", count(w, w->g->count),
	         counted(w, w->g->most_ns, "resume", "resumes"), word(w->g->count, "was", "were"));
	next(w, "does each end wake the other on its own thread? Resume a coroutine where it ran last");
}

static void say_broken(struct words *w)
{
	bool dead = w->g->rule == CTP_RULE_AFTER_DEATH;
	title(w, dead ? "%s resumed after death" : "%s resumed while running", those(w));
	evidence(w, "first %s after the start; suspended last at %s", duration(w, w->f->from_ns), where(w));
	times(w);
	next(w,
	     dead ? "somebody keeps a handle of a coroutine that is over: a wake that comes late, or a timer that was not cancelled"
	             : "two have the same handle: look for a coroutine that is put into the run queue twice,"
	               " or before it has suspended");
}

static void say_untraced(struct words *w)
{
	title(w, "%s not traced: there were no stations left", those(w));
	evidence(w, "nothing is known of %s, and what %s did to others is missing", it(w), they(w, "it", "they"));
	next(w, "ctp-collect -n with a larger number");
}

/* Where the section has several, which they are in: all that are known of those that are listed. */
static void processes(struct words *w)
{
	enum { NAMED = 5 };
	uint64_t pids[NAMED];
	uint32_t n = 0;
	char text[NAMED * 22 + 8] = "";
	for (uint32_t i = 0; i < w->f->nwho && w->j->nothers; i++) {
		uint64_t pid = w->f->who[i].pid;
		uint32_t k = 0;
		while (k < n && pids[k] != pid)
			k++;
		if (!pid || k < n)
			continue;
		if (n == NAMED) {
			strcat(text, " ...");
			break;
		}
		sprintf(text + strlen(text), "%s%ju", n ? ", " : "", (uintmax_t)pid);
		pids[n++] = pid;
	}
	if (n)
		evidence(w, "in process%s %s", n == 1 ? "" : "es", text);
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
	processes(&w);
	if (unknown)
		evidence(&w, "events were lost that could say otherwise%s", unknown < f->members ? " of some of them" : "");
	if (proved && likely)
		evidence(&w, "%s proved, the %s likely", counted(&w, proved, "of them is", "of them are"), word(likely, "other", "others"));
}
