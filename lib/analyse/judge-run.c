/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * judge-run.c - the rules about running coroutines: long runs and threads that are held, storms of wakes, resumes that must not be,
 * and crashes.
 */
#include "analyse/judge.h"

#include <string.h>

#include "analyse/judge-words.h"

enum {
	LATE_MIN = 3,             /* late wakes after a long run; fewer may be chance */
	STORM_NS = 100000000,     /* the shortest storm that is a finding */
	STORM_PERIOD_NS = 100000, /* a coroutine with more time between two wakes is at work */
	STORM_RUN_NS = 5000,      /* and so is one whose runs are mostly longer, */
	STORM_FACTOR = 30,        /* unless it used to come to another place in this part of the time */
	SEEN_NS = 20000000,       /* between the first sample of a run and the last, at least */
};

/* What samples say of a run: nothing, or that its thread was mostly on a processor, or mostly asleep. */
enum seen { SEEN_NOTHING, SEEN_BUSY, SEEN_ASLEEP };

/* How long the thread was on a processor between the first sample of a run and the last. */
static uint64_t cpu_ns_of(const struct ctp_proc_seen_run *run) { return ctp_span_ns(run->first.cpu_ns, run->last.cpu_ns); }

/* Whether there are two samples of a run, far enough apart. */
static bool was_seen(const struct ctp_proc_seen_run *run)
{
	return run->samples >= 2 && ctp_span_ns(run->first.ts_ns, run->last.ts_ns) >= SEEN_NS;
}

static enum seen what_was_seen(const struct ctp_proc_seen_run *run)
{
	uint64_t ns = ctp_span_ns(run->first.ts_ns, run->last.ts_ns), cpu_ns = cpu_ns_of(run);
	uint64_t delay_ns = ctp_span_ns(run->first.delay_ns, run->last.delay_ns);
	if (!was_seen(run))
		return SEEN_NOTHING;
	/* On a busy machine, a thread that was ready and had no processor counts as busy. */
	bool ready = cpu_ns >= CTP_JUDGE_RUN_NS && cpu_ns + delay_ns >= ns / 4 * 3;
	if (cpu_ns >= ns / 2 || ready)
		return SEEN_BUSY;
	return cpu_ns < ns / 10 && 2 * run->asleep >= run->samples ? SEEN_ASLEEP : SEEN_NOTHING;
}

/*
 * How long the thread was on a processor during a run, at most, by the samples within the run and around it. known_ns: in how much
 * of the run, from its start on; of the rest nothing is known.
 */
struct bound {
	uint64_t cpu_ns, known_ns;
};

static struct bound bound_of(const struct ctp_proc_seen_run *run, uint64_t from_ns, uint64_t ns)
{
	const struct ctp_proc_seen_at *last = run->samples ? &run->last : &run->before;
	struct bound b = {0};
	if (run->before.ts_ns > from_ns || run->before.cpu_ns > last->cpu_ns)
		return b; /* of another run, or of another thread with this number */
	if (run->samples)
		b.known_ns = ctp_least(ctp_span_ns(from_ns, last->ts_ns), ns);
	b.cpu_ns = ctp_least(b.known_ns, last->cpu_ns - run->before.cpu_ns);
	if (run->after.ts_ns && run->after.cpu_ns >= last->cpu_ns) {
		b.cpu_ns += ctp_least(ns - b.known_ns, run->after.cpu_ns - last->cpu_ns);
		b.known_ns = ns;
	}
	return b;
}

/*
 * Whether the machine may have had no processor for the run. Samples show that if the thread was neither busy nor asleep. Without
 * two samples of the run, it is so if the thread was on a processor for less than half of the time of which that is known, and not
 * seen asleep; or if it was once ready, and without a processor, for half as long as the run between two other samples.
 */
static bool was_kept_out(const struct ctp_proc_seen_run *run, const struct ctp_thread *th, uint64_t from_ns, uint64_t ns)
{
	struct bound b = bound_of(run, from_ns, ns);
	if (was_seen(run))
		return what_was_seen(run) == SEEN_NOTHING ||
		       (what_was_seen(run) == SEEN_BUSY && b.cpu_ns + (ns - b.known_ns) < CTP_JUDGE_RUN_NS);
	bool asleep = run->samples && run->asleep, idle = b.known_ns >= SEEN_NS && b.cpu_ns < b.known_ns / 2;
	return (idle && !asleep) || (th && th->delay.most_ns >= ns / 2);
}

/* Whether the samples of a run prove that it was a computation, and not only a moment of one. */
static bool is_proof(const struct ctp_proc_seen_run *run, uint64_t ns)
{
	return what_was_seen(run) == SEEN_BUSY && cpu_ns_of(run) >= ctp_least(CTP_JUDGE_RUN_NS, ns / 2);
}

/* The longest stretch between the first sample of a run and its last. */
static void note_samples(struct ctp_group *g, const struct ctp_proc_seen_run *seen)
{
	uint64_t ns = ctp_span_ns(seen->first.ts_ns, seen->last.ts_ns);
	if (was_seen(seen) && ns > g->seen_ns) {
		g->seen_ns = ns;
		g->cpu_ns = cpu_ns_of(seen);
	}
}

static void add_run(struct ctp_judge *j, const struct ctp_tally_case *c, bool proved)
{
	enum seen seen = what_was_seen(&c->seen);
	struct ctp_group *g = ctp_judge_group(j, seen == SEEN_ASLEEP ? CTP_RULE_BLOCKED : CTP_RULE_LONG_RUN, c->spawn, c->place);
	if (!g || (!proved && g->by_certainty[CTP_CERTAIN_PROVED]))
		return; /* a finding that is proved has only numbers of proved runs */
	ctp_judge_add_case(j, g, c, proved ? CTP_CERTAIN_PROVED : CTP_CERTAIN_LIKELY);
	g->count += c->count;
	g->late += c->late;
	g->most_ns = c->most_ns > g->most_ns ? c->most_ns : g->most_ns;
	note_samples(g, &c->seen);
}

/* Whether a sample says what its thread did: else the machine may have had no processor for it. */
static bool is_known(const struct ctp_tally_case *c)
{
	return c->seen.samples || bound_of(&c->seen, c->from_ns, c->ns).known_ns;
}

/* Whether a run that has ended is a finding: it was far too long, coroutines had to wait for it, and it had a processor. */
static bool is_long_run(const struct ctp_judge *j, const struct ctp_tally_case *c)
{
	struct ctp_threads *threads = j->follow->threads;
	const struct ctp_thread *th = ctp_threads_has(threads, c->tid) ? &threads->list[ctp_threads_number(threads, c->tid)] : NULL;
	uint64_t floor_ns = c->elsewhere || was_seen(&c->seen) ? CTP_JUDGE_RUN_NS : 5 * (uint64_t)CTP_JUDGE_RUN_NS;
	bool too_long = c->ns >= floor_ns && c->ns / CTP_JUDGE_FACTOR >= ctp_hist_quantile(&j->tally->run, 0.99);
	bool others_wait = c->count || c->late >= LATE_MIN, compares = j->tally->run.count >= CTP_JUDGE_HISTORY;
	return too_long && others_wait && compares && is_known(c) && !was_kept_out(&c->seen, th, c->from_ns, c->ns);
}

static void long_runs(struct ctp_judge *j, bool proved)
{
	const struct ctp_tally_list *l = &j->tally->runs;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct ctp_tally_case *c = &l->cases[i];
		if (proved == (c->count && is_proof(&c->seen, c->ns)) && is_long_run(j, c))
			add_run(j, c, proved);
	}
}

/*
 * Whether a coroutine is still in a storm that has lasted far longer than it ever took to come to another place: it waits in a loop
 * for something that used to come.
 */
static bool never_leaves(struct ctp_judge *j, const struct ctp_tally_case *c)
{
	const struct ctp_coroutine *co = ctp_follow_find(j->follow, c->id);
	if (!co || co->state == CTP_DEAD || co->streak < c->count || c->ns < CTP_JUDGE_QUIET_NS)
		return false;
	uint64_t left = 0, before_ns = ctp_span_ns(co->born_ns > j->start_ns ? co->born_ns : j->start_ns, c->from_ns);
	for (const struct ctp_visits *v = ctp_coro_visits(co); v < ctp_coro_visits(co) + CTP_CO_VISITS; v++)
		left += v->place != c->place ? v->back : 0;
	return left >= CTP_JUDGE_HISTORY && c->ns / STORM_FACTOR >= before_ns / left;
}

/*
 * A coroutine wakes itself again and again, and hardly any other runs on its thread; and it does next to nothing in between, or
 * never took as long before.
 */
void ctp_judge_storms(struct ctp_judge *j)
{
	const struct ctp_tally_list *l = &j->tally->storms;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct ctp_tally_case *c = &l->cases[i];
		uint64_t wakes = c->count - CTP_TALLY_STORM;
		uint64_t run_ns = ctp_hist_quantile(&ctp_tally_place(j->tally, c->place)->run, 0.5);
		bool idle = c->ns / wakes <= STORM_PERIOD_NS && run_ns <= STORM_RUN_NS;
		bool lasts = c->count >= CTP_TALLY_STORMS && c->ns >= STORM_NS, alone = c->others <= wakes / 10;
		if (!lasts || !alone || !(idle || never_leaves(j, c)))
			continue;
		struct ctp_group *g = ctp_judge_group(j, CTP_RULE_SELF_WAKE, c->spawn, c->place);
		ctp_judge_add_case(j, g, c, c->whole ? CTP_CERTAIN_LIKELY : CTP_CERTAIN_UNKNOWN);
		if (g)
			g->count = c->count > g->count ? c->count : g->count;
	}
}

void ctp_judge_broken(struct ctp_judge *j)
{
	static const enum ctp_rule rules[] = {[CTP_BROKEN_DOUBLE_RESUME] = CTP_RULE_DOUBLE_RESUME,
	                                      [CTP_BROKEN_AFTER_DEATH] = CTP_RULE_AFTER_DEATH};
	for (int k = 0; k < 2; k++) {
		const struct ctp_tally_list *l = &j->tally->broken[k];
		for (uint32_t i = 0; i < l->count; i++)
			ctp_judge_add_case(j, ctp_judge_group(j, rules[k], l->cases[i].spawn, l->cases[i].place), &l->cases[i],
			                   CTP_CERTAIN_PROVED); /* follow.c finds these only where nothing is missing */
	}
}

/*
 * Coroutines that a run keeps from running. ready: they were ready for at least half of the run. due: by the history of their
 * habit, they would have come back after the run began; a coroutine that was idle before the run is not kept from anything.
 */
struct kept {
	uint64_t ready, due, most_ns;
	uint32_t at[CTP_GROUP_KEPT];
};

static void kept_at(uint32_t at[CTP_GROUP_KEPT], uint32_t place)
{
	for (uint32_t i = 0; place && i < CTP_GROUP_KEPT && at[i] != place; i++)
		if (!at[i]) {
			at[i] = place;
			return;
		}
}

/* Whether each thread that runs coroutines has run one for half of that time: then no thread was free for the others. */
static bool holds_everywhere(struct ctp_judge *j, const struct ctp_coroutine *runs)
{
	for (uint32_t i = 1; i < j->follow->threads->count; i++) {
		const struct ctp_thread *th = &j->follow->threads->list[i];
		const struct ctp_coroutine *co = th->current ? ctp_follow_find(j->follow, th->current) : NULL;
		if (th->resumes && (!co || co->state != CTP_RUNNING || co->since_ns > (runs->since_ns + j->end_ns) / 2))
			return false;
	}
	return true;
}

static struct kept keeps_waiting(struct ctp_judge *j, const struct ctp_coroutine *runs, uint64_t ns)
{
	struct kept kept = {0};
	struct ctp_coroutine *co;
	bool everywhere = holds_everywhere(j, runs);
	CTP_EACH_COROUTINE(j, co) {
		bool there = co->thread == runs->thread || (co->state == CTP_RUNNABLE && (!co->thread || everywhere));
		if (co == runs || !there)
			continue;
		uint64_t from_ns = co->since_ns > runs->since_ns ? co->since_ns : runs->since_ns;
		uint64_t waits_ns = ctp_follow_ns(j->follow, from_ns, j->end_ns);
		const struct ctp_habit *h = &j->tally->habits.list[co->habit];
		bool ready = co->state == CTP_RUNNABLE && waits_ns >= ns / 2;
		bool stays = co->state == CTP_SUSPENDED && !co->migrations && !co->awaits;
		bool too_long = h->waits >= CTP_JUDGE_HISTORY && waits_ns / CTP_JUDGE_FACTOR >= h->max_ns;
		bool due = stays && too_long && co->since_ns + 2 * h->max_ns >= runs->since_ns;
		kept.ready += ready;
		kept.due += due;
		kept.most_ns = ready && waits_ns > kept.most_ns ? waits_ns : kept.most_ns;
		if (ready || due)
			kept_at(kept.at, ctp_follow_place(j->follow, co));
	}
	return kept;
}

static void add_stalled(struct ctp_judge *j, struct ctp_coroutine *co, uint64_t ns, struct kept kept,
                        const struct ctp_proc_seen_run *run)
{
	enum seen seen = what_was_seen(run);
	static const enum ctp_rule rules[] = {[SEEN_NOTHING] = CTP_RULE_STALLED_THREAD, [SEEN_BUSY] = CTP_RULE_LONG_RUN,
	                                      [SEEN_ASLEEP] = CTP_RULE_BLOCKED};
	enum ctp_certainty sure = ctp_judge_sure(j, co, false);
	if (sure == CTP_CERTAIN_PROVED && (!is_proof(run, ns) || !kept.ready))
		sure = CTP_CERTAIN_LIKELY;
	struct ctp_group *g = ctp_judge_group(j, rules[seen], co->spawn, ctp_follow_place(j->follow, co));
	ctp_judge_add(j, g, co, sure, co->since_ns, ns);
	co->flags |= CTP_CO_STUCK;
	if (!g)
		return;
	g->cases++;
	g->count += kept.ready;
	g->late += kept.due;
	for (uint32_t k = 0; k < CTP_GROUP_KEPT; k++)
		kept_at(g->kept_at, kept.at[k]);
	g->most_ns = kept.most_ns > g->most_ns ? kept.most_ns : g->most_ns;
	g->still = true;
	g->seen_ns = was_seen(run) ? 0 : g->seen_ns; /* this run replaces those that have ended */
	note_samples(g, run);
}

/*
 * A thread has run the same coroutine for far too long, and others wait for the thread. Without CTP_CO_OURS the coroutine could
 * have returned.
 */
static void stalled_threads(struct ctp_judge *j)
{
	struct ctp_follow *f = j->follow;
	for (uint32_t i = 1; i < f->threads->count; i++) {
		const struct ctp_thread *th = &f->threads->list[i];
		struct ctp_coroutine *co = ctp_follow_find(f, th->current);
		bool runs = co && co->state == CTP_RUNNING && co->thread == i && co->flags & CTP_CO_OURS;
		if (!runs || was_kept_out(&th->seen, th, co->since_ns, ctp_span_ns(co->since_ns, j->end_ns)))
			continue;
		uint64_t ns = ctp_follow_ns(f, co->since_ns, ctp_judge_end_ns(j, co));
		if (ns < CTP_JUDGE_RUN_NS || !ctp_judge_too_long(&j->tally->run, j->tally->run_ns, ns))
			continue;
		struct kept kept = keeps_waiting(j, co, ns);
		/* A run that sleeps where other runs take a moment is a finding even if no coroutine waits for it. */
		const struct ctp_tally_place *place = ctp_tally_place(j->tally, ctp_follow_place(f, co));
		bool alone = what_was_seen(&th->seen) == SEEN_ASLEEP && ctp_judge_too_long(&place->run, place->run_ns, ns);
		if (kept.ready || kept.due || alone)
			add_stalled(j, co, ns, kept, &th->seen);
	}
}

/* The coroutine that was resumed last, on any thread. */
static const struct ctp_coroutine *last_run(const struct ctp_judge *j)
{
	const struct ctp_thread *last = NULL;
	for (uint32_t i = 1; i < j->follow->threads->count; i++) {
		const struct ctp_thread *th = &j->follow->threads->list[i];
		if (th->last && (!last || th->last_ns > last->last_ns))
			last = th;
	}
	return last ? ctp_follow_find(j->follow, last->last) : NULL;
}

/*
 * The program was killed by a signal of a crash. Members are the coroutines that ran then; if there are none, the group has the
 * last one that ran.
 */
void ctp_judge_crash(struct ctp_judge *j)
{
	struct ctp_coroutine *co;
	if (j->end->cut || !ctp_ended_is(&j->end->ended, CTP_OUTCOME_KILLED) || !ctp_judge_is_crash(j->end->ended.status))
		return;
	struct ctp_group *g = ctp_judge_group(j, CTP_RULE_CRASH, 0, 0);
	if (!g)
		return;
	g->from_ns = g->to_ns = j->end_ns;
	g->ended = j->end->ended;
	g->proved = true;
	g->count = j->follow->counts.untraced + j->filtered; /* these may have run */
	CTP_EACH_COROUTINE(j, co) {
		bool runs = co->state == CTP_RUNNING, doubt = ctp_judge_in_doubt(j, co) || (runs && !(co->flags & CTP_CO_OURS));
		g->count += co->state != CTP_DEAD && doubt;
		if (!runs || doubt)
			continue;
		if (!g->by_certainty[CTP_CERTAIN_PROVED]) {
			g->spawn = co->spawn;
			g->place = ctp_follow_place(j->follow, co);
		}
		ctp_judge_add(j, g, co, CTP_CERTAIN_PROVED, co->since_ns, ctp_span_ns(co->since_ns, j->end_ns));
	}
	g->last = g->count || g->by_certainty[CTP_CERTAIN_PROVED] ? NULL : last_run(j);
	if (g->last) {
		g->spawn = g->last->spawn;
		g->place = ctp_follow_place(j->follow, g->last);
	}
}

void ctp_judge_held_threads(struct ctp_judge *j)
{
	long_runs(j, true);
	stalled_threads(j);
	long_runs(j, false);
}

/* --- words -------------------------------------------------------------------------------------------------------------- */

void ctp_say_crash(struct ctp_words *w)
{
	char text[CTP_ENDED_TEXT_MAX];
	const char *killed = ctp_ended_text(text, &w->g->ended);
	if (w->f->members)
		ctp_words_title(w, "the program was %s while %s, resumed last from %s", killed,
		                ctp_words_counted(w, w->f->members, "coroutine ran", "coroutines ran"), ctp_words_places(w));
	else
		ctp_words_title(w, "the program was %s", killed);
	for (uint32_t i = 0; i < w->f->nwho && i < CTP_WORDS_LISTED; i++) {
		const struct ctp_report_member *m = &w->f->who[i];
		ctp_words_evidence(w, "%s ran then on thread %ju, from %s on", ctp_words_member(w, m), (uintmax_t)m->tid,
		                   m->place ? m->place : "its start");
	}
	const struct ctp_coroutine *last = w->g->last;
	if (last)
		ctp_words_evidence(w, "the trace shows no coroutine that ran then; the last that had was %s, on thread %ju,"
		                   " and it had %s at %s",
		                   ctp_words_any(w, last->id), (uintmax_t)w->j->follow->threads->list[last->thread].tid,
		                   last->state == CTP_DEAD ? "ended, after a wait" : "suspended", ctp_words_where(w));
	if (w->g->count)
		ctp_words_evidence(w, "the trace may not have all that ran then: last events were %s, or told by hand,"
		                   " or not traced", w->j->filtered ? "left out" : "lost");
	const char *where = w->f->members > 1                ? "begin with the coroutines that ran then" :
	                    w->f->members                    ? "begin with the coroutine that ran then" :
	                    last && last->state == CTP_DEAD ? "is the one that had ended still used?" :
	                    last ? "begin with what the last one does after its suspension" : "which coroutine ran then is not known";
	ctp_words_next(w, "a core dump or a debugger shows the line; %s", where);
}

void ctp_say_broken(struct ctp_words *w)
{
	bool dead = w->g->rule == CTP_RULE_AFTER_DEATH;
	ctp_words_title(w, dead ? "%s resumed after death, suspended last at %s" : "%s resumed while running, suspended last at %s",
	                ctp_words_those(w), ctp_words_where(w));
	ctp_words_evidence(w, "first %s", ctp_words_when(w, w->f->from_ns));
	ctp_words_times(w);
	ctp_words_next(w, dead ? "somebody keeps a handle of a coroutine that is over: a wake that comes late, or a timer that was"
	                         " not cancelled" :
	                         "two have the same handle: look for a coroutine that is put into the run queue twice, or before it"
	                         " has suspended");
}

/* The coroutines that a run kept from running. */
static void kept_waiting(struct ctp_words *w)
{
	if (w->g->count)
		ctp_words_evidence(w, "%s ready to run on the same thread meanwhile, for %s at most",
		                   ctp_words_counted(w, w->g->count, "coroutine was", "coroutines were"),
		                   ctp_words_duration(w, w->g->most_ns));
	if (w->g->late && w->g->still)
		ctp_words_evidence(w, "%s on the same thread would have come back by now, as earlier waits there did",
		                   ctp_words_counted(w, w->g->late, "other", "others"));
	else if (w->g->late)
		ctp_words_evidence(w, "%s woken from outside only when %s over",
		                   ctp_words_counted(w, w->g->late, "other on the same thread was",
		                                     "others on the same thread were"),
		                   w->g->cases == 1 ? "it was" : "such a run was");
	if (w->g->kept_at[1])
		ctp_words_evidence(w, "some of these wait at %s, some at %s", ctp_follow_text(w->j->follow, w->g->kept_at[0]),
		                   ctp_follow_text(w->j->follow, w->g->kept_at[1]));
	else if (w->g->kept_at[0])
		ctp_words_evidence(w, "%s at %s", w->g->count + w->g->late > 1 ? "these wait" : "this one waits",
		                   ctp_follow_text(w->j->follow, w->g->kept_at[0]));
}

void ctp_say_stalled_thread(struct ctp_words *w)
{
	const struct ctp_hist *run = &w->j->tally->run;
	const struct ctp_report_member *m = &w->f->who[0];
	uintmax_t tid = w->f->nwho ? m->tid : 0;
	if (w->f->members == 1)
		ctp_words_title(w, "thread %ju is still in a coroutine that resumed from %s", tid, ctp_words_where(w));
	else
		ctp_words_title(w, "%s threads are still in coroutines that resumed from %s", ctp_words_count(w, w->f->members),
		                ctp_words_where(w));
	ctp_words_evidence(w, "for %s%s without suspending, where %s took %s at most", ctp_words_they(w, "", "up to "),
	                   ctp_words_duration(w, w->g->longest_ns), ctp_words_counted(w, run->count, "other run", "other runs"),
	                   ctp_words_duration(w, run->max_ns));
	ctp_words_stalls(w, run->max_ns, w->j->tally->run_ns);
	for (uint32_t i = 0; i < w->f->nwho && i < CTP_WORDS_LISTED && w->f->members > 1; i++)
		ctp_words_evidence(w, "thread %ju in %s", (uintmax_t)m[i].tid, ctp_words_member(w, &m[i]));
	kept_waiting(w);
	ctp_words_next(w, "blocked, or in a loop, after %s: a debugger on thread %ju shows where", ctp_words_where(w), tid);
}

void ctp_say_long_run(struct ctp_words *w)
{
	const struct ctp_hist *run = &w->j->tally->run;
	bool blocked = w->g->rule == CTP_RULE_BLOCKED;
	ctp_words_title(w, blocked ? "%s held %s for %s%s, asleep, from %s on%s" :
	                             "%s held %s for %s%s without suspending, from %s on%s",
	                ctp_words_those(w), ctp_words_they(w, "its thread", "their threads"), ctp_words_they(w, "", "up to "),
	                ctp_words_duration(w, w->g->longest_ns), ctp_words_where(w),
	                w->g->count ? ", while others were ready to run" : "");
	ctp_words_times(w);
	ctp_words_evidence(w, "99 in 100 of %s at most %s", ctp_words_counted(w, run->count, "run takes", "runs take"),
	                   ctp_words_duration(w, ctp_hist_quantile(run, 0.99)));
	if (w->g->seen_ns) /* samples of the longest run */
		ctp_words_evidence(w, "between two samples of %s, %s apart, the thread was on a processor for %s",
		                   ctp_words_they(w, "its thread", "the thread of one"), ctp_words_duration(w, w->g->seen_ns),
		                   ctp_words_duration(w, w->g->cpu_ns));
	kept_waiting(w);
	const char *what = w->g->seen_ns ? "long computation or a loop" : "blocking call or a long computation";
	if (blocked)
		ctp_words_next(w, "a call that blocks, after %s: a lock, a sleep, a file: make it one that suspends, or move it"
		               " to a thread of its own", ctp_words_where(w));
	else
		ctp_words_next(w, "a %s after %s: move it to a thread of its own, or suspend in between", what, ctp_words_where(w));
}

void ctp_say_storm(struct ctp_words *w)
{
	ctp_words_title(w, "%s woke %s %s in a row at %s", ctp_words_those(w), ctp_words_they(w, "itself", "themselves up to"),
	                ctp_words_counted(w, w->g->count, "time", "times"), ctp_words_where(w));
	uint64_t wakes = w->g->count > CTP_TALLY_STORM ? w->g->count - CTP_TALLY_STORM : 1;
	ctp_words_evidence(w, "every %s, and next to nobody else ran on %s meanwhile",
	                   ctp_words_duration(w, w->g->longest_ns / wakes), ctp_words_they(w, "its thread", "their threads"));
	ctp_words_next(w, "%s for something: let whoever changes that wake %s instead", ctp_words_they(w, "it polls", "they poll"),
	               ctp_words_it(w));
}
