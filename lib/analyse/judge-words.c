/*
 * judge-words.c - a finding in words: a title, the evidence, and what to look at next.
 */
#include "analyse/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { AWAITED = 3, IN_CIRCLE = 6 }; /* members that have a line of their own */

/* Texts of a finding, while it is put together. */
struct ctp_words {
	struct ctp_judge *j;
	const struct ctp_group *g;
	struct ctp_finding *f;
	uint32_t nevidence, nnext;
	char duration[4][CTP_TEXT_MAX], count[4][2 * CTP_TEXT_MAX], label[2][CTP_FOLLOW_NAME_MAX + 2 * CTP_TEXT_MAX];
	unsigned nduration, ncount, nlabel;
	char where[CTP_SITE_TEXT_MAX + 64], places[2 * CTP_SITE_TEXT_MAX + 64];
};

static const char *duration(struct ctp_words *w, uint64_t ns)
{
	char *text = w->duration[w->nduration++ % 4];
	*ctp_text_duration(text, ns) = '\0';
	return text;
}

static const char *count(struct ctp_words *w, uint64_t n)
{
	char *text = w->count[w->ncount++ % 4];
	*ctp_text_count(text, n) = '\0';
	return text;
}

/* "handler 17 (#37)"; "coroutine #37, in server"; as the list of members has the number: a large one is an address. */
static const char *label(struct ctp_words *w, const char *name, const char *in, uint64_t id)
{
	char *text = w->label[w->nlabel++ % 2], number[CTP_TEXT_MAX];
	snprintf(number, sizeof(number), id > UINT32_MAX ? "#0x%jx" : "#%ju", (uintmax_t)id);
	if (name)
		snprintf(text, sizeof(w->label[0]), "%s (%s)", name, number);
	else
		snprintf(text, sizeof(w->label[0]), "coroutine %s%s%s", number, in ? ", in " : "", in ? in : "");
	return text;
}

static const char *member(struct ctp_words *w, const struct ctp_report_member *m) { return label(w, m->name, m->in, m->id); }

/* One that need not be a member, and may be there no more. */
static const char *any(struct ctp_words *w, uint64_t id)
{
	const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, id);
	char *in = co ? ctp_judge_in(w->j, co) : NULL;
	const char *text = label(w, co ? co->name : NULL, in, id);
	free(in);
	return text;
}

static __attribute__((format(printf, 2, 0))) char *format(struct ctp_words *w, const char *fmt, va_list args)
{
	char *text;
	if (vasprintf(&text, fmt, args) >= 0)
		return text;
	w->j->failed = true;
	return NULL;
}

static __attribute__((format(printf, 2, 3))) void title(struct ctp_words *w, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	w->f->title = format(w, fmt, args);
	va_end(args);
}

static __attribute__((format(printf, 2, 3))) void evidence(struct ctp_words *w, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	if (w->nevidence < CTP_REPORT_LINES - 1)
		w->f->evidence[w->nevidence++] = format(w, fmt, args);
	va_end(args);
}

static __attribute__((format(printf, 2, 3))) void next(struct ctp_words *w, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	if (w->nnext < CTP_REPORT_LINES - 1)
		w->f->next[w->nnext++] = format(w, fmt, args);
	va_end(args);
}

static const char *named(const char *place) { return place ? place : "a place that the trace does not name"; }

static const char *where_made(struct ctp_words *w) { return named(w->f->spawn); }

/* Where that is not told, where they were made may be. */
static const char *where(struct ctp_words *w)
{
	if (w->f->place || !w->f->spawn)
		return named(w->f->place);
	snprintf(w->where, sizeof(w->where), "%s (made at %s)", named(NULL), w->f->spawn);
	return w->where;
}

/* Where the members are that are listed: "a.c:1:f", "a.c:1:f and b.c:2:g", "a.c:1:f and 2 other places". */
static const char *places(struct ctp_words *w)
{
	const char *list[CTP_REPORT_MEMBERS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->f->nwho && n < CTP_REPORT_MEMBERS; i++) {
		const char *place = w->f->who[i].place;
		uint32_t k = 0;
		while (k < n && place && strcmp(list[k], place))
			k++;
		if (place && k == n)
			list[n++] = place;
	}
	if (n < 2)
		return n ? list[0] : where(w);
	if (n == 2)
		snprintf(w->places, sizeof(w->places), "%s and %s", list[0], list[1]);
	else
		snprintf(w->places, sizeof(w->places), "%s and %u other places", list[0], n - 1);
	return w->places;
}

static const char *word(uint64_t n, const char *one, const char *more) { return n == 1 ? one : more; }

/* "1 other wait", "50 other waits" */
static const char *counted(struct ctp_words *w, uint64_t n, const char *one, const char *more)
{
	char *text = w->count[w->ncount++ % 4], *end = ctp_text_count(text, n);
	snprintf(end, sizeof(w->count[0]) - (size_t)(end - text), " %s", word(n, one, more));
	return text;
}

/* Those that the finding is about. */
static const char *it(struct ctp_words *w) { return word(w->f->members, "it", "them"); }
static const char *they(struct ctp_words *w, const char *one, const char *more) { return word(w->f->members, one, more); }
static const char *those(struct ctp_words *w) { return counted(w, w->f->members, "coroutine", "coroutines"); }

/* How the others at the same place fared. */
static void history(struct ctp_words *w)
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

static void siblings(struct ctp_words *w)
{
	const struct ctp_coroutine *co = w->g->spawn || !w->f->nwho ? NULL : ctp_follow_find(w->j->follow, w->f->who[0].id);
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, co ? co->spawn : w->g->spawn);
	uint64_t ended = s->died - s->destroyed;
	if (s->died)
		evidence(w, "of %s made at %s, %s come to %s end", count(w, s->born > s->died ? s->born : s->died),
		         w->f->spawn ? w->f->spawn : "the same place", counted(w, ended, "has", "have"), word(ended, "its", "their"));
}

/* Where its like rest. */
static void home(struct ctp_words *w)
{
	const struct ctp_judge *j = w->j;
	const struct ctp_coroutine *co = w->f->nwho ? ctp_follow_find(j->follow, w->f->who[0].id) : NULL;
	uint32_t home = co ? j->spawns[co->spawn].home : 0;
	uint32_t rest = co ? ctp_tally_spawn(j->tally, co->spawn)->rest : 0;
	uint32_t at = home ? j->tally->habits.list[home].place : rest;
	const char *place = at ? ctp_follow_text(j->follow, at) : "another place";
	const char *idle = they(w, "it is not idle: its like rest", "they are not idle: their like rest");
	if (home)
		evidence(w, "%s at %s, where something from outside has ended waits %s; here only coroutines do", idle, place,
		         counted(w, j->spawns[co->spawn].home_waits, "time", "times"));
	else
		evidence(w, "%s at %s, where each began; here only coroutines end waits", idle, place);
}

static const char *state_of(const struct ctp_words *w, uint64_t id)
{
	static const char *const states[CTP_STATES] = {"", "has not run yet", "is running", "is suspended too", "is ready to run",
	                                               "has ended"};
	const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, id);
	return states[co ? co->state : CTP_DEAD];
}

/* Whom it awaits, and who should have woken it, where there is only one to be asked. */
static void last_waker(struct ctp_words *w)
{
	const struct ctp_report_member *m = w->f->nwho == 1 ? &w->f->who[0] : NULL;
	const struct ctp_coroutine *co = m ? ctp_follow_find(w->j->follow, m->id) : NULL;
	if (co && co->state == CTP_SUSPENDED && co->awaits)
		evidence(w, "it awaits %s, which %s", any(w, co->awaits), state_of(w, co->awaits));
	if (m && m->waker && m->waker != m->id)
		evidence(w, "the last to wake it was %s, which %s", any(w, m->waker), state_of(w, m->waker));
}

void ctp_say_waiting(struct ctp_words *w)
{
	const struct ctp_group *g = w->g;
	bool woken = g->rule == CTP_RULE_NEVER_WOKEN;
	title(w, woken ? "%s suspended at %s for %s%s and not woken" : "%s suspended at %s for %s%s", those(w), where(w),
	      they(w, "", "up to "), duration(w, g->longest_ns));
	if (g->why == CTP_WHY_STANDSTILL)
		evidence(w, "where the trace ends, %s of %s %s suspended, and nobody is left who could wake %s",
		         count(w, w->j->waiting), counted(w, w->j->waiting + w->j->running, "coroutine", "coroutines"),
		         word(w->j->waiting, "is", "are"), word(w->j->waiting, "it", "them"));
	else
		history(w);
	if (woken)
		evidence(w, "no wake is missing from the trace, and there is none for %s", it(w));
	if (g->why & CTP_WHY_PASSING)
		siblings(w);
	if (g->why & CTP_WHY_AWAY)
		home(w);
	if (g->why & CTP_WHY_CIRCLE)
		evidence(w, "of all who ever woke %s there, each one that is alive is suspended for far too long as well",
		         they(w, "its like", "their like"));
	if (g->why & CTP_WHY_RHYTHM)
		evidence(w, "others that went to wait there later have come back, again and again, a hundred times as fast");
	if (g->why & CTP_WHY_FORGOTTEN)
		evidence(w, "a hundred times as long as any other wait there, where %s not rest", they(w, "it does", "they do"));
	if (g->why & CTP_WHY_FRESH)
		evidence(w, "hardly any of %s has ever come back from there", they(w, "its like", "their like"));
	if (g->why & CTP_WHY_CHILDREN)
		evidence(w, "coroutines that the waiting one had made ended such waits, and %s none that is alive",
		         they(w, "it has", "they have"));
	if (g->why & CTP_WHY_NEEDED)
		evidence(w, "who made %s waits for %s, far longer than ever for %s", it(w), it(w), they(w, "its like", "their like"));
	if (g->why & CTP_WHY_OVERTAKEN && !(g->why & CTP_WHY_PASSING) && !(g->why & CTP_WHY_CIRCLE))
		evidence(w, "others that went to wait there later have come back, again and again");
	last_waker(w);
	if (g->why & CTP_WHY_QUIET && !(g->why & CTP_WHY_PASSING) && !(g->why & CTP_WHY_CIRCLE))
		evidence(w, "nothing has run since, for far longer than ever before");
	if (w->f->place)
		next(w, "who ends a wait at %s? Look for a path that forgets the waiter, or closes what it waits for, without a wake",
		     where(w));
	else
		next(w, "a probe that gives the place (CTP_HERE, a site) would say where to look");
	if (!woken && !w->j->follow->counts.wakes)
		next(w, "with wakes in the trace (ctp_coro_wake and the like) it could be told whether anybody woke %s", it(w));
}

void ctp_say_not_resumed(struct ctp_words *w)
{
	const struct ctp_hist *ready = &w->j->tally->ready;
	title(w, "%s woken at %s and not resumed", those(w), where(w));
	evidence(w, "ready to run for %s%s, where %s came %s after the wake at most", they(w, "", "up to "),
	         duration(w, w->g->longest_ns), counted(w, ready->count, "other resume", "other resumes"), duration(w, ready->max_ns));
	last_waker(w);
	evidence(w, "threads that run coroutines were idle for most of that time");
	next(w, "look at the run queue between the wake and the resume (was the wake told while %s about to suspend?)",
	     they(w, "it was", "they were"));
}

void ctp_say_destroyed(struct ctp_words *w)
{
	title(w, "%s waited at %s until destroyed", those(w), where(w));
	history(w);
	siblings(w);
	next(w, "%s cleaned up, at the end of the program perhaps, and would have waited on:"
	        " who should have ended a wait at %s?", they(w, "it was", "they were"), where(w));
}

void ctp_say_cycle(struct ctp_words *w)
{
	if (w->f->members == 1)
		title(w, "%s waits for itself at %s", those(w), places(w));
	else
		title(w, "%s wait for one another in a circle, at %s", those(w), places(w));
	for (uint32_t i = 0; i < w->f->nwho && i < IN_CIRCLE; i++) {
		const struct ctp_report_member *m = &w->f->who[i];
		const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, m->id);
		if (co)
			evidence(w, "%s awaits %s at %s", member(w, m), any(w, co->awaits), named(m->place));
	}
	next(w, "%s", they(w, "this await must go", "one of these awaits must go"));
}

void ctp_say_awaits_dead(struct ctp_words *w)
{
	title(w, "%s %s at %s for %s", those(w), they(w, "waits", "wait"), where(w),
	      they(w, "a coroutine that is dead", "coroutines that are dead"));
	evidence(w, "suspended for %s%s", they(w, "", "up to "), duration(w, w->g->longest_ns));
	for (uint32_t i = 0; i < w->f->nwho && i < AWAITED; i++) {
		const struct ctp_coroutine *co = ctp_follow_find(w->j->follow, w->f->who[i].id);
		if (co)
			evidence(w, "%s awaits %s, which has ended and did not wake it", member(w, &w->f->who[i]), any(w, co->awaits));
	}
	next(w, "see that whatever ends what %s for, also an exception or destruction, wakes %s", they(w, "it waits", "they wait"), it(w));
}

/* Others that a run on their thread kept from running. */
static void kept_waiting(struct ctp_words *w)
{
	if (w->g->count)
		evidence(w, "%s ready to run on the same thread meanwhile, for %s at most",
		         counted(w, w->g->count, "coroutine was", "coroutines were"), duration(w, w->g->most_ns));
	if (w->g->late && w->g->still)
		evidence(w, "%s on the same thread would have come back by now, by what %s", counted(w, w->g->late, "other", "others"),
		         word(w->g->late, "its like do", "their like do"));
	else if (w->g->late)
		evidence(w, "%s woken from outside only when %s over",
		         counted(w, w->g->late, "other on the same thread was", "others on the same thread were"),
		         w->g->cases == 1 ? "it was" : "such a run was");
}

void ctp_say_stalled_thread(struct ctp_words *w)
{
	const struct ctp_hist *run = &w->j->tally->run;
	const struct ctp_report_member *m = &w->f->who[0];
	uintmax_t tid = w->f->nwho ? m->tid : 0;
	if (w->f->members == 1)
		title(w, "thread %ju is still in a coroutine that resumed from %s", tid, where(w));
	else
		title(w, "%s threads are still in coroutines that resumed from %s", count(w, w->f->members), where(w));
	evidence(w, "for %s%s without suspending, where %s took %s at most", they(w, "", "up to "), duration(w, w->g->longest_ns),
	         counted(w, run->count, "other run", "other runs"), duration(w, run->max_ns));
	for (uint32_t i = 0; i < w->f->nwho && i < AWAITED && w->f->members > 1; i++)
		evidence(w, "thread %ju in %s", (uintmax_t)m[i].tid, member(w, &m[i]));
	kept_waiting(w);
	next(w, "blocked, or in a loop, behind %s: a debugger on thread %ju shows where", where(w), tid);
}

void ctp_say_collapse(struct ctp_words *w)
{
	title(w, "throughput fell from %s a second to %s at %s%s%s", counted(w, w->g->count, "resume", "resumes"), count(w, w->g->most_ns),
	      duration(w, w->f->from_ns), w->f->place ? ", with waits at " : "", w->f->place ? w->f->place : "");
	evidence(w, "and stayed there for %s", duration(w, w->f->to_ns - w->f->from_ns));
	if (w->g->extra)
		evidence(w, "%s", w->g->extra);
	next(w, "look at what happened just before: ctp-report --until, or ctp-tohtml and the timeline there");
}

void ctp_say_leaked(struct ctp_words *w)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	title(w, "%s leaked: suspended at %s, from where nobody comes back", those(w), where(w));
	evidence(w, "alive for %s%s", they(w, "", "up to "), duration(w, w->g->longest_ns));
	evidence(w, "%s ended, after %s at most", counted(w, s->life.count, "made at the same place has", "made at the same place have"),
	         duration(w, s->life.max_ns));
	next(w, "is there still somebody who could resume or destroy %s?", it(w));
}

void ctp_say_never_started(struct ctp_words *w)
{
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	title(w, "%s made at %s and never run", those(w), where_made(w));
	evidence(w, "made %s%s ago; %s run after %s at most", they(w, "", "up to "), duration(w, w->g->longest_ns),
	         counted(w, s->start.count, "other from the same place was", "others from the same place were"),
	         duration(w, s->start.max_ns));
	next(w, "%s made and then neither awaited nor given to the scheduler?", they(w, "was the task", "were the tasks"));
}

void ctp_say_growth(struct ctp_words *w)
{
	title(w, "coroutines made at %s become more and more: %s alive", where_made(w), counted(w, w->f->members, "is", "are"));
	evidence(w, "fewest alive at any time: %s in the first eighth, %s in the fourth, and steadily more since",
	         count(w, w->g->most_ns), count(w, w->g->count));
	const struct ctp_tally_spawn *s = ctp_tally_spawn(w->j->tally, w->g->spawn);
	if (s->died)
		evidence(w, "%s made there %s ended, after %s at most", counted(w, s->died, "other", "others"), word(s->died, "has", "have"),
		         duration(w, s->longest_ns));
	next(w, "what limits how many there are? Do they end as fast as they are made?");
}

/* What a coroutine did several times. */
static void times(struct ctp_words *w)
{
	if (w->g->cases > w->f->members)
		evidence(w, "%s in all", counted(w, w->g->cases, "time", "times"));
}

/* What samples of its thread say of the longest run. */
static void on_processor(struct ctp_words *w)
{
	if (w->g->seen_ns)
		evidence(w, "between two samples of %s, %s apart, the thread was on a processor for %s",
		         they(w, "its thread", "the thread of one"), duration(w, w->g->seen_ns), duration(w, w->g->cpu_ns));
}

void ctp_say_long_run(struct ctp_words *w)
{
	const struct ctp_hist *run = &w->j->tally->run;
	bool blocked = w->g->rule == CTP_RULE_BLOCKED;
	title(w, blocked ? "%s held %s for %s%s, asleep, from %s on%s" : "%s held %s for %s%s without suspending, from %s on%s",
	      those(w), they(w, "its thread", "their threads"), they(w, "", "up to "), duration(w, w->g->longest_ns), where(w),
	      w->g->count ? ", while others were ready to run" : "");
	times(w);
	evidence(w, "99 in 100 of %s at most %s", counted(w, run->count, "run takes", "runs take"),
	         duration(w, ctp_hist_quantile(run, 0.99)));
	on_processor(w);
	kept_waiting(w);
	if (blocked)
		next(w, "a call that blocks, behind %s: a lock, a sleep, a file: make it one that suspends, or move it to a thread of its own",
		     where(w));
	else if (w->g->seen_ns)
		next(w, "a long computation or a loop behind %s: move it to a thread of its own, or suspend in between", where(w));
	else
		next(w, "a blocking call or a long computation behind %s: move it to a thread of its own, or suspend in between", where(w));
}

void ctp_say_standstill(struct ctp_words *w)
{
	const struct ctp_proc_seen *seen = &w->j->follow->seen;
	title(w, "the whole program stands still: %s at %s, and no thread runs",
	      counted(w, w->f->members, "coroutine waits", "coroutines wait"), places(w));
	evidence(w, "all threads were asleep %s and %s after the start, with no time on a processor in between",
	         duration(w, ctp_span_ns(w->j->start_ns, seen->still_from_ns)),
	         duration(w, ctp_span_ns(w->j->start_ns, seen->still_to_ns)));
	evidence(w, "before that, no pause between two resumes was longer than %s", duration(w, w->j->tally->longest_pause_ns));
	if (w->j->follow->counts.wakes)
		evidence(w, "nobody waits where something from outside is known to have woken anybody");
	struct ctp_coroutine *co;
	uint32_t shown = 0;
	for (uint32_t at = 0; (co = ctp_follow_each(w->j->follow, &at)) && shown < AWAITED;) {
		const char *place = ctp_follow_text(w->j->follow, ctp_follow_place(w->j->follow, co));
		if (!ctp_judge_blocks(w->j, co))
			continue;
		evidence(w, "%s is asleep on thread %ju, in the middle of a run%s%s", any(w, co->id),
		         (uintmax_t)w->j->follow->threads.list[co->thread].tid, place ? " from " : "", place ? place : "");
		shown++;
	}
	next(w, "who should have been woken, and by whom? Look for two locks in two orders, a queue full at both ends, a wake that"
	        " nobody waited for yet");
}

void ctp_say_late(struct ctp_words *w)
{
	title(w, "%s woken at %s only after %s%s", those(w), where(w), they(w, "", "up to "), duration(w, w->g->longest_ns));
	evidence(w, "%s began %s after the start; those there that were in time took %s at most",
	         word(w->g->cases, "the wait", "the first of these waits"), duration(w, w->f->from_ns), duration(w, w->g->most_ns));
	times(w);
	evidence(w, "what ended %s is not what ends waits there otherwise", word(w->g->cases, "that wait", "these waits"));
	next(w, "a time-out that repairs what should not happen? Look for the wake that was due %s after the start",
	     duration(w, w->f->from_ns));
}

void ctp_say_crash(struct ctp_words *w)
{
	const char *abbreviated = sigabbrev_np(w->g->crash), *name = abbreviated ? abbreviated : "?";
	if (w->f->members)
		title(w, "the program was killed by SIG%s while %s, resumed last from %s", name,
		      counted(w, w->f->members, "coroutine ran", "coroutines ran"), places(w));
	else
		title(w, "the program was killed by SIG%s", name);
	for (uint32_t i = 0; i < w->f->nwho && i < AWAITED; i++) {
		const struct ctp_report_member *m = &w->f->who[i];
		evidence(w, "%s ran then on thread %ju, from %s on", member(w, m), (uintmax_t)m->tid, m->place ? m->place : "its start");
	}
	const struct ctp_coroutine *last = w->g->last;
	if (last)
		evidence(w, "no coroutine is told to have run then; the last that had was %s, on thread %ju, and it had %s at %s",
		         any(w, last->id), (uintmax_t)w->j->follow->threads.list[last->thread].tid,
		         last->state == CTP_DEAD ? "ended, after a wait" : "suspended", where(w));
	if (w->g->count)
		evidence(w, "the trace may not have all that ran then: last events were lost, or told by hand, or not traced");
	next(w, "a core dump or a debugger shows the line; %s", w->f->members > 1 ? "those who ran then are where to begin" :
	     w->f->members ? "who ran then is where to begin" : last && last->state == CTP_DEAD ? "is the one that had ended still used?" :
	     last ? "what the last one does behind its suspension is where to begin" : "who ran then is not known");
}

void ctp_say_storm(struct ctp_words *w)
{
	title(w, "%s woke %s %s in a row at %s", those(w), they(w, "itself", "themselves up to"),
	      counted(w, w->g->count, "time", "times"), where(w));
	uint64_t wakes = w->g->count > CTP_TALLY_STORM ? w->g->count - CTP_TALLY_STORM : 1;
	evidence(w, "every %s, and next to nobody else ran on %s meanwhile", duration(w, w->g->longest_ns / wakes),
	         they(w, "its thread", "their threads"));
	next(w, "%s for something: let whoever changes that wake %s instead", they(w, "it polls", "they poll"), it(w));
}

void ctp_say_migration(struct ctp_words *w)
{
	title(w, "%s made at %s hardly ever %s twice on the same thread", those(w), where_made(w), they(w, "runs", "run"));
	evidence(w, "%s of %s %s on another thread than the one before, which is more than chance", count(w, w->g->count),
	         counted(w, w->g->most_ns, "resume", "resumes"), word(w->g->count, "was", "were"));
	next(w, "does each end wake the other on its own thread? Resume a coroutine where it ran last");
}

void ctp_say_broken(struct ctp_words *w)
{
	bool dead = w->g->rule == CTP_RULE_AFTER_DEATH;
	title(w, dead ? "%s resumed after death, suspended last at %s" : "%s resumed while running, suspended last at %s",
	      those(w), where(w));
	evidence(w, "first %s after the start", duration(w, w->f->from_ns));
	times(w);
	next(w,
	     dead ? "somebody keeps a handle of a coroutine that is over: a wake that comes late, or a timer that was not cancelled"
	             : "two have the same handle: look for a coroutine that is put into the run queue twice,"
	               " or before it has suspended");
}

void ctp_say_untraced(struct ctp_words *w)
{
	title(w, "%s not traced: there were no stations left", those(w));
	evidence(w, "nothing is known of %s, and what %s did to others is missing", it(w), they(w, "it", "they"));
	next(w, "ctp-collect -n with a larger number");
}

/* Where the section has several, which they are in: all that are known of those that are listed. */
static void processes(struct ctp_words *w)
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

#define SAY(NAME, name, most, effect, phase, judge, words) [CTP_RULE_##NAME] = ctp_say_##words,
static void (*const say[CTP_RULES])(struct ctp_words *w) = {CTP_RULE_TABLE(SAY)};

void ctp_judge_say(struct ctp_judge *j, const struct ctp_group *g, struct ctp_finding *f)
{
	struct ctp_words w = {.j = j, .g = g, .f = f};
	uint64_t proved = g->by_certainty[CTP_CERTAIN_PROVED], likely = g->by_certainty[CTP_CERTAIN_LIKELY];
	uint64_t unknown = g->by_certainty[CTP_CERTAIN_UNKNOWN];
	say[g->rule](&w);
	processes(&w);
	if (g->dependents)
		evidence(&w, "%s because of %s", counted(&w, g->dependents, "other waits", "others wait"), it(&w));
	if (unknown)
		evidence(&w, "events were lost that could say otherwise%s", unknown < f->members ? " of some of them" : "");
	if (proved && likely)
		evidence(&w, "%s proved, the %s likely", counted(&w, proved, "of them is", "of them are"), word(likely, "other", "others"));
}
