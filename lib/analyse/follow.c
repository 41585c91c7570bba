/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* follow.c - from records to the states of coroutines. */
#include "analyse/follow-step.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/compare.h"
#include "stream/sink.h"
#include "symbols/symbols.h"

enum {
	SHUTDOWN_MIN = 3, /* coroutines that a program destroys at its end; fewer may be destroyed at any time, */
	SHUTDOWN_PERCENT = 30, /* and so may a smaller part of the living ones */
	SHUTDOWN_WAKE_NS = 100000000, /* a coroutine that was ready for less than that before it died is no finding */
	EARLY_NS = 1000, /* how far a processor reads its clock ahead of time, at most */
};

/* --- coroutines ----------------------------------------------------------------------------------------------------------- */

struct ctp_coroutine *ctp_follow_newcomer(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	struct ctp_coroutine *co = ctp_coro_table_make(&f->priv->table, val[roles->id]);
	if (!co) {
		f->counts.unfollowed++;
		return NULL;
	}
	f->counts.coroutines++;
	co->probe = ctp_roles_value(val, roles->probe);
	co->state = CTP_BORN;
	co->born_ns = co->since_ns = ts;
	return co;
}

/* Two writers write as one coroutine: nothing of it is certain. */
static void conflict(struct ctp_follow *f, struct ctp_coroutine *co)
{
	f->counts.conflicts += !(co->flags & CTP_CO_CONFLICT);
	co->flags |= CTP_CO_CONFLICT;
}

enum ctp_follow_order ctp_follow_sequence(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t seq, uint64_t ts)
{
	struct ctp_sequence q = {.last = co->next, .rows = co->repeats};
	enum ctp_step step = ctp_sequence_step(&q, &f->priv->dialect, seq, co->since_ns, ts);
	if (step == CTP_STEP_AGAIN) {
		ctp_follow_commit(f);
		struct ctp_change ch = ctp_change_of(co, CTP_CHANGE_DIED, ts);
		ch.whole = false;
		ch.by = 1;
		co->state = CTP_DEAD;
		ctp_follow_tell(f, &ch);
		if (f->ops->gone)
			f->ops->gone(f->arg, &ch);
		free(co->name);
		ctp_coro_renew(co, &(struct ctp_coroutine){
			.id = co->id, .probe = co->probe, .state = CTP_BORN, .born_ns = ts, .since_ns = ts});
		f->counts.coroutines++;
	}
	co->next = q.last;
	co->repeats = q.rows;
	if (step == CTP_STEP_MIXED)
		conflict(f, co);
	if (step == CTP_STEP_OLD)
		return CTP_FOLLOW_OLD;
	return step == CTP_STEP_GAP || step == CTP_STEP_MIXED ? CTP_FOLLOW_GAP : CTP_FOLLOW_NEXT;
}

/* The spot of an address in a process. */
static struct ctp_spot spot_at(const struct ctp_follow *f, uint64_t pid, uint64_t addr)
{
	uint64_t offset;
	uint32_t file = f->symbols ? ctp_symbols_locate(f->symbols, pid, addr, &offset) : 0;
	return file ? (struct ctp_spot){.addr = offset, .file = file} : (struct ctp_spot){.addr = addr};
}

void ctp_follow_put_place(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t pid, uint64_t site, uint64_t addr)
{
	struct ctp_spot spot = site ? (struct ctp_spot){.site = site} : spot_at(f, pid, addr);
	if (!site && co->code && !spot.file)
		spot = spot_at(f, pid, co->code);
	co->place = ctp_places_number(f->places, spot, pid, co->id);
}

/* --- records -------------------------------------------------------------------------------------------------------------- */

void ctp_follow_broken(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t ts, uint32_t thread)
{
	struct ctp_change ch = ctp_change_of(co, CTP_CHANGE_BROKEN, ts);
	ch.thread = thread;
	ch.by = co->state == CTP_DEAD ? CTP_BROKEN_AFTER_DEATH : CTP_BROKEN_DOUBLE_RESUME;
	ctp_follow_tell(f, &ch);
}

/* An event that changes no state. */
static __attribute__((noinline)) void unchanged(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val,
                                                enum ctp_change_kind kind, uint64_t ts)
{
	uint64_t id = ctp_roles_value(val, roles->id);
	struct ctp_coroutine *co = id ? ctp_coro_table_find(&f->priv->table, id) : NULL;
	struct ctp_change ch = co ? ctp_change_of(co, kind, ts) : (struct ctp_change){.kind = kind, .ts_ns = ts};
	if (!f->ops->unchanged)
		return;
	ch.thread = ctp_threads_number(f->threads, ctp_roles_value(val, roles->tid));
	ch.by = kind == CTP_CHANGE_WAKE ? ctp_roles_value(val, roles->by) : 0;
	f->ops->unchanged(f->arg, &ch);
}

static inline void transition(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	struct ctp_change ch;
	f->counts.events++;
	if (__builtin_expect(f->priv->nheld, 0) && roles->active != CTP_ROLES_NONE && val[roles->active])
		ctp_follow_commit(f);
	if (ctp_follow_step(f, roles, ctp_follow_whose(f, roles, val, ts), val, ts, CTP_FOLLOW_ASKED, &ch)) {
		struct ctp_change copy = ch; /* only the copy has an address outside, so that ch need not be in memory */
		ctp_follow_tell(f, &copy);
	} else {
		bool active = roles->active != CTP_ROLES_NONE && val[roles->active];
		unchanged(f, roles, val, active ? CTP_CHANGE_RESUME : CTP_CHANGE_SUSPEND, ts);
	}
}

static void birth(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	f->counts.births++;
	ctp_follow_commit(f);
	struct ctp_coroutine *co = ctp_follow_whose(f, roles, val, ts);
	if (!co || co->state == CTP_DEAD)
		return;
	struct ctp_change ch = ctp_change_of(co, CTP_CHANGE_BORN, ts);
	ch.was = CTP_UNBORN;
	ch.by = ctp_roles_value(val, roles->pid);
	bool before = f->attached_ns && (ts < f->attached_ns || !ctp_roles_value(val, roles->after));
	bool ours = ctp_roles_value(val, roles->pid) && !ctp_roles_value(val, roles->by_hand);
	co->flags |= CTP_CO_BIRTH | (ours ? CTP_CO_OURS : 0) | (before ? CTP_CO_BEFORE : 0);
	co->parent = ctp_roles_value(val, roles->parent);
	co->spawn = ctp_places_number(f->places, (struct ctp_spot){.site = ctp_roles_value(val, roles->site)}, 0, co->id);
	co->born_ns = ctp_least(co->born_ns, ts);
	ctp_follow_tell(f, &ch);
}

static void gone(struct ctp_follow *f, const struct ctp_change *ch)
{
	if (f->ops->gone)
		f->ops->gone(f->arg, ch);
	ctp_objects_died(f->objects, ch->co->id, ch->ts_ns);
	f->forgotten_ns = ctp_coro_table_release_dead(&f->priv->table, ch->co);
}

void ctp_follow_commit(struct ctp_follow *f)
{
	for (uint32_t i = 0; i < f->priv->nheld; i++)
		gone(f, &f->priv->held[i]);
	if (f->priv->nheld)
		ctp_objects_keep(f->objects);
	f->priv->nheld = 0;
}

/* Holds a death back. If there is no memory for that, all of them are final. */
static void hold(struct ctp_follow *f, const struct ctp_change *ch)
{
	struct ctp_follow_priv *priv = f->priv;
	assert(ch->kind == CTP_CHANGE_DIED && ch->co->state == CTP_DEAD);
	if (CTP_ARRAY_RESERVE(priv->held, priv->room, priv->nheld + 1, CTP_FOLLOW_MAX)) {
		priv->held[priv->nheld++] = *ch;
		return;
	}
	ctp_follow_commit(f);
	gone(f, ch);
}

void ctp_follow_revive(struct ctp_follow *f, bool alive)
{
	for (uint32_t i = 0; i < f->priv->nheld; i++) {
		const struct ctp_change *ch = &f->priv->held[i];
		ch->co->state = (uint8_t)(alive ? ch->was : CTP_DEAD);
		ch->co->since_ns = alive ? ch->was_ns : ch->ts_ns;
	}
}

static void death(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	f->counts.deaths++;
	struct ctp_coroutine *co = ctp_follow_whose(f, roles, val, ts);
	if (!co || co->state == CTP_DEAD)
		return;
	struct ctp_change ch = ctp_change_of(co, CTP_CHANGE_DIED, ts);
	ch.gap_ns = roles->after == CTP_ROLES_NONE ? ts : val[roles->after];
	ch.whole = ch.whole && ch.gap_ns == ts;
	struct ctp_thread *th = ctp_follow_running_on(f, co);
	if (ch.was == CTP_RUNNING && ch.whole)
		ctp_follow_ran(f, &f->threads->list[co->thread], ch.was_ns, ts, CTP_FOLLOW_ASKED);
	if (th) {
		th->current = th->outer;
		th->outer = 0;
		th->last_ns = ctp_most(th->last_ns, ts);
	}
	ctp_follow_spend(f, co, &ch, CTP_FOLLOW_ASKED);
	co->state = CTP_DEAD;
	co->since_ns = ts;
	ctp_follow_tell(f, &ch);
	if (ch.was == CTP_SUSPENDED || ch.was == CTP_RUNNABLE)
		hold(f, &ch);
	else
		gone(f, &ch);
}

/*
 * Whether a wake is the cause of a resume that is a little earlier: a processor may read its clock before it has what another sends
 * it (coros.c). That is so if no other wake came before the resume, and the wake is another thread's.
 */
static bool is_cause(const struct ctp_coroutine *co, uint32_t thread, uint64_t ts, uint64_t early_ns)
{
	return co->state == CTP_RUNNING && !(co->flags & CTP_CO_WOKEN) && thread != co->thread && ts - co->resumed_ns <= early_ns;
}

/*
 * The waker of a wake that names none: a child of the woken coroutine, if that child ran last on the thread and has ended. An
 * executor wakes a joining parent when the child is over, and so no coroutine is named.
 */
static uint64_t ended_child(struct ctp_follow *f, const struct ctp_thread *th, const struct ctp_coroutine *parent)
{
	const struct ctp_coroutine *child = th->current ? NULL : ctp_coro_table_find(&f->priv->table, th->last);
	return child && child->state == CTP_DEAD && child->parent == parent->id ? child->id : 0;
}

static void wake(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	bool stayed = ctp_roles_value(val, roles->how) == CTP_WAKE_STAYED;
	f->counts.wakes++;
	f->counts.stayed += stayed;
	struct ctp_coroutine *co = ctp_follow_whose(f, roles, val, ts);
	/* A late wake may be for a suspension that is over. */
	if (!co || co->state == CTP_DEAD || ts < co->resumed_ns) {
		unchanged(f, roles, val, CTP_CHANGE_WAKE, ts);
		return;
	}
	struct ctp_change ch = ctp_change_of(co, CTP_CHANGE_WAKE, ts);
	ch.thread = ctp_threads_number(f->threads, ctp_roles_value(val, roles->tid));
	ch.by = ctp_roles_value(val, roles->by);
	if (!ch.by)
		ch.by = ended_child(f, &f->threads->list[ch.thread], co);
	if (co->state == CTP_RUNNABLE || is_cause(co, ch.thread, ts, f->priv->early_ns)) {
		unchanged(f, roles, val, CTP_CHANGE_WAKE, ts);
		return;
	}
	if (co->flags & CTP_CO_TAIL) {
		ctp_follow_tell(f, &ch);
		return;
	}
	if (__builtin_expect(ctp_objects_any(f->objects), 0))
		ctp_follow_woken(f, co, &ch);
	co->streak = ch.by == co->id && !stayed ? co->streak + 1 : 0;
	co->waker = co->before = ch.by;
	co->before_at = co->place;
	if (co->state == CTP_RUNNING) {
		co->flags |= CTP_CO_PENDING;
	} else {
		co->state = CTP_RUNNABLE;
		co->since_ns = ts > co->since_ns ? ts : co->since_ns;
	}
	ctp_follow_tell(f, &ch);
}

static void named_so(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	struct ctp_coroutine *co = roles->text == CTP_ROLES_NONE ? NULL : ctp_follow_whose(f, roles, val, ts);
	if (!co)
		return;
	const struct ctp_str *text = ctp_str_val(val[roles->text]);
	free(co->name);
	co->name = text->len ? strndup(text->data, text->len < CTP_FOLLOW_NAME_MAX ? text->len : CTP_FOLLOW_NAME_MAX) : NULL;
}

static void has_function(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	struct ctp_coroutine *co = ctp_follow_whose(f, roles, val, ts);
	if (!co)
		return;
	co->code = ctp_roles_value(val, roles->code);
	uint64_t pid = f->threads->list[co->thread].pid;
	if (co->place && !f->places->place[co->place].shared)
		co->place = ctp_places_number(f->places, spot_at(f, pid, co->code), pid, co->id);
}

/* Nothing is known of the coroutine from a time on, because a filter has left it out. */
static void is_left_out(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	struct ctp_coroutine *co = ctp_follow_whose(f, roles, val, ts);
	if (co && co->state != CTP_DEAD && !(co->flags & CTP_CO_TAIL))
		ctp_follow_lose(f, co, ctp_roles_value(val, roles->after), ts, 0);
}

static void awaits(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	struct ctp_coroutine *co = ctp_follow_whose(f, roles, val, ts);
	if (!co || co->state == CTP_DEAD)
		return;
	struct ctp_change ch = ctp_change_of(co, CTP_CHANGE_AWAIT, ts);
	ch.by = ctp_roles_value(val, roles->target);
	co->awaits = ctp_coro_table_find(&f->priv->table, ch.by) ? ch.by : 0;
	uint16_t joins = ctp_roles_value(val, roles->joins) ? CTP_CO_JOINS : 0;
	co->flags = (uint16_t)((co->flags & ~CTP_CO_JOINS) | CTP_CO_AWAITS | joins);
	ctp_follow_tell(f, &ch);
}

/* --- the whole ------------------------------------------------------------------------------------------------------------ */

void ctp_follow_clear(struct ctp_follow *f)
{
	struct ctp_follow_priv *priv = f->priv;
	ctp_coro_table_clear(&priv->table);
	ctp_threads_clear(f->threads);
	ctp_objects_clear(f->objects);
	priv->woken.coro = 0;
	priv->destroys = false;
	ctp_proc_seen_clear(&f->seen);
	priv->dialect = (struct ctp_dialect){0};
	priv->end_seen = false;
	priv->ended = (struct ctp_ended){0};
	priv->signalled = (struct ctp_signalled){0};
	priv->end_ns = 0;
	priv->nheld = 0;
	f->counts = (struct ctp_follow_counts){.first_ns = UINT64_MAX};
	ctp_follow_kept_free(priv->kept);
	priv->kept = NULL;
	f->unsure_ns = f->missed_ns = f->forgotten_ns = f->since_ns = f->other_run_ns = 0;
	f->until_ns = UINT64_MAX;
}

static char *as_it_is(char *to, const char *text, size_t len) { return (char *)memcpy(to, text, len) + len; }

enum ctp_status ctp_follow_init(struct ctp_follow *f, const struct ctp_follow_ops *ops, void *arg, struct ctp_err *err)
{
	*f = (struct ctp_follow){.ops = ops, .arg = arg};
	f->priv = calloc(1, sizeof *f->priv);
	f->sites = ctp_sites_new(as_it_is);
	if (f->priv) {
		f->threads = &f->priv->threads;
		f->places = &f->priv->places;
		f->objects = &f->priv->objects;
	}
	bool threads = f->priv && ctp_threads_init(f->threads), places = f->priv && ctp_places_init(f->places);
	bool objects = f->priv && ctp_objects_init(f->objects);
	if (!threads || !places || !objects || !ctp_coro_table_init(&f->priv->table) || !f->sites) {
		ctp_follow_fini(f);
		return ctp_err_memory(err);
	}
	ctp_follow_clear(f);
	return CTP_OK;
}

void ctp_follow_fini(struct ctp_follow *f)
{
	if (f->priv) {
		ctp_coro_table_fini(&f->priv->table);
		ctp_threads_fini(f->threads);
		ctp_places_fini(f->places);
		ctp_objects_fini(f->objects);
		free(f->priv->held);
		ctp_follow_kept_free(f->priv->kept);
	}
	ctp_proc_seen_fini(&f->seen);
	ctp_sites_free(f->sites);
	free(f->priv);
}

void ctp_follow_section(struct ctp_follow *f, const struct ctp_section *sec)
{
	ctp_follow_clear(f);
	ctp_places_clear(f->places);
	ctp_sites_forget(f->sites);
	memset(f->priv->shapes, 0, sizeof f->priv->shapes);
	f->priv->standard = NULL;
	const char *pid = ctp_section_get(sec, "pid");
	f->pid = pid ? strtoull(pid, NULL, 10) : 0;
	f->priv->runs = pid || sec->ordinal ? CTP_FOLLOW_RUNS : 1; /* without a clock, no silence is long */
	f->priv->early_ns = sec->ordinal ? 0 : EARLY_NS;
	const char *attached = ctp_section_get(sec, "attached"), *start = ctp_section_get(sec, "start_ns");
	f->attached_ns = attached && !strcmp(attached, "yes") && start ? strtoull(start, NULL, 10) : 0;
	f->objects->attached_ns = f->attached_ns;
	f->filtered = f->objects->filtered = sec->filtered;
	const char *first = ctp_section_get(sec, "first_event_ns"); /* of all, before some were left out */
	if (first && sec->filtered)
		f->counts.first_ns = strtoull(first, NULL, 10);
	const char *since = ctp_section_get(sec, "filtered_since_ns");
	f->known_ns = ctp_most(f->attached_ns, since && sec->filtered ? strtoull(since, NULL, 10) : 0);
	/* Wakes before attached_ns are not known, unless the program recorded: then the last wake of each coroutine is. */
	const char *recorded = ctp_section_get(sec, "recorded");
	f->missed_ns = recorded && !strcmp(recorded, "yes") ? 0 : f->attached_ns;
	if (f->ops->section)
		f->ops->section(f->arg, sec);
}

/* Whether the deaths that are held are those of a program that ends in order. */
static bool is_shutdown(struct ctp_follow *f)
{
	uint64_t alive = f->priv->nheld;
	uint32_t at = 0;
	for (const struct ctp_coroutine *co; f->priv->nheld >= SHUTDOWN_MIN && (co = ctp_follow_each(f, &at));)
		alive += co->state != CTP_DEAD;
	return f->priv->nheld >= SHUTDOWN_MIN && (uint64_t)100 * f->priv->nheld >= SHUTDOWN_PERCENT * alive;
}

/*
 * A program that ends may close objects and wake coroutines before it destroys them, as channels of Asio do when they
 * are closed. Such a wake came from no coroutine, and nothing has run since: it ended no wait, and is undone. Returns
 * when the program began to destroy: the first of these closes or wakes, or of the deaths.
 */
static uint64_t begin_of_shutdown(struct ctp_follow *f)
{
	struct ctp_follow_priv *priv = f->priv;
	assert(priv->nheld > 0);
	uint64_t first_ns = priv->held[0].ts_ns, begin_ns = first_ns, ran_ns = 0;
	for (uint32_t i = 0; i < f->threads->count; i++)
		ran_ns = f->threads->list[i].last_ns > ran_ns ? f->threads->list[i].last_ns : ran_ns;
	for (struct ctp_change *ch = priv->held; ch < priv->held + priv->nheld; ch++) {
		if (ch->was != CTP_RUNNABLE || !ch->co->suspended_ns || ch->co->waker || ch->was_ns < ran_ns ||
		    first_ns > ch->was_ns + SHUTDOWN_WAKE_NS)
			continue;
		begin_ns = ch->was_ns < begin_ns ? ch->was_ns : begin_ns;
		ch->was = CTP_SUSPENDED;
		ch->was_ns = ch->co->suspended_ns;
	}
	uint64_t late_ns = ctp_most(ran_ns, ctp_span_ns(SHUTDOWN_WAKE_NS, first_ns));
	return ctp_least(begin_ns, ctp_objects_first_close(f->objects, late_ns));
}

void ctp_follow_finish(struct ctp_follow *f, const struct ctp_section_end *how)
{
	ctp_follow_decide(f);
	struct ctp_follow_priv *priv = f->priv;
	uint64_t end_ns = priv->end_seen ? priv->end_ns : ctp_proc_seen_all_ns(&f->seen);
	struct ctp_follow_end end = {
		.complete = how->complete,
		.missing = how->missing,
		.cut = !priv->end_seen,
		.ended = priv->ended,
		.signalled = priv->signalled,
		.end_ns = end_ns > f->counts.last_ns ? end_ns : f->counts.last_ns,
	};
	end.gone_ns = ctp_most(end.end_ns, priv->gone_ns);
	if (f->seen.stopped_ns)
		ctp_proc_seen_went_on(&f->seen, end.end_ns);
	if (is_shutdown(f)) {
		end.destroyed = priv->nheld;
		if (priv->destroys)
			ctp_objects_undo(f->objects);
	} else {
		ctp_follow_commit(f);
	}
	end.judged_ns = end.destroyed ? begin_of_shutdown(f) : end.end_ns;
	assert(end.judged_ns <= end.end_ns && end.destroyed == priv->nheld);
	/* Lost events of no known coroutine may be the last of any, and so may those in packets that are missing. */
	uint32_t at = 0;
	f->unsure_ns = ctp_most(f->unsure_ns, how->missing_ns);
	for (struct ctp_coroutine *co; f->unsure_ns && (co = ctp_follow_each(f, &at));)
		if (co->state != CTP_DEAD && co->since_ns < f->unsure_ns)
			ctp_follow_lose(f, co, 0, end.end_ns, 0);
	if (how->missing) {
		f->unsure_ns = f->missed_ns = end.end_ns;
		ctp_objects_gap(f->objects);
	}
	ctp_follow_judge_gives(f);
	if (f->ops->end)
		f->ops->end(f->arg, &end);
}

static void happened(struct ctp_follow *f, uint64_t ts)
{
	if (__builtin_expect(f->seen.stopped_ns > 0, 0))
		ctp_proc_seen_went_on(&f->seen, ts);
	if (ts < f->counts.first_ns)
		f->counts.first_ns = ts;
	if (ts > f->counts.last_ns)
		f->counts.last_ns = ts;
}

static void take_conflict(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	struct ctp_coroutine *co = ctp_follow_whose(f, roles, val, ts);
	if (co)
		conflict(f, co);
}

/* Records of all kinds but transitions. */
static void other(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec, uint64_t ts)
{
	static void (*const take[CTP_KIND_COUNT])(struct ctp_follow *, const struct ctp_roles *, const uint64_t *, uint64_t) = {
		[CTP_KIND_WAKE] = wake, [CTP_KIND_BIRTH] = birth, [CTP_KIND_DEATH] = death, [CTP_KIND_CONFLICT] = take_conflict,
		[CTP_KIND_AWAIT] = awaits, [CTP_KIND_FUNCTION] = has_function, [CTP_KIND_NAME] = named_so,
		[CTP_KIND_LEFT_OUT] = is_left_out,
	};
	if (roles->kind == CTP_KIND_WAKE || roles->kind == CTP_KIND_BIRTH || roles->kind == CTP_KIND_DEATH)
		happened(f, ts);
	if (roles->kind < CTP_KIND_COUNT && take[roles->kind])
		take[roles->kind](f, roles, rec->val, ts);
	else if (roles->kind == CTP_KIND_LOSS)
		ctp_follow_loss(f, roles, rec, ts);
	else if (roles->kind == CTP_KIND_SITE)
		ctp_sites_learn(f->sites, rec);
	else if (roles->kind >= CTP_KIND_REASON)
		ctp_follow_fact(f, roles, rec->val, ts);
	else
		ctp_follow_seen(f, roles, rec, ts);
}

void ctp_follow_take(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec)
{
	uint64_t ts = roles->ts == CTP_ROLES_NONE ? f->counts.last_ns : rec->val[roles->ts];
	if (roles->kind == CTP_KIND_TRANSITION) {
		happened(f, ts);
		transition(f, roles, rec->val, ts);
	} else {
		other(f, roles, rec, ts);
	}
}

static __attribute__((noinline)) void any_record(struct ctp_follow *f, const struct ctp_record *rec)
{
	struct ctp_roles *roles = &f->priv->shapes[rec->cls->id];
	if (!roles->known)
		ctp_roles_learn(roles, rec->cls);
	if (roles->standard)
		f->priv->standard = rec->cls;
	if (!ctp_follow_keeps(f, roles, rec))
		ctp_follow_take(f, roles, rec);
}

void ctp_follow_records(struct ctp_follow *f, const struct ctp_batch *batch)
{
	f->counts.late += batch->late ? batch->n : 0;
	for (const struct ctp_record *rec = batch->rec, *end = rec + batch->n; rec < end; rec++) {
		if (rec->cls != f->priv->standard) {
			any_record(f, rec);
			continue;
		}
		uint64_t ts = rec->val[ctp_roles_standard.ts];
		happened(f, ts);
		transition(f, &ctp_roles_standard, rec->val, ts);
	}
}

struct ctp_coroutine *ctp_follow_each(struct ctp_follow *f, uint32_t *at) { return ctp_coro_table_each(&f->priv->table, at); }
struct ctp_coroutine *ctp_follow_find(struct ctp_follow *f, uint64_t id) { return ctp_coro_table_find(&f->priv->table, id); }

uint32_t ctp_follow_place(const struct ctp_follow *f, const struct ctp_coroutine *co) { return ctp_follow_place_of(f, co); }
uint32_t ctp_follow_places(const struct ctp_follow *f) { return f->places->count; }
uint32_t ctp_follow_threads(const struct ctp_follow *f) { return f->threads->count; }

struct ctp_follow_thread ctp_follow_thread(const struct ctp_follow *f, uint32_t thread)
{
	const struct ctp_thread *th = &f->threads->list[thread];
	struct ctp_follow_thread shown = {.tid = th->tid, .pid = th->pid, .resumes = th->resumes};
	memcpy(shown.name, th->name, sizeof shown.name);
	return shown;
}

void ctp_follow_account(struct ctp_follow *f, struct ctp_coroutine *co, uint64_t end_ns)
{
	struct ctp_change ch = ctp_change_of(co, CTP_CHANGE_DIED, end_ns);
	ctp_follow_spend(f, co, &ch, CTP_FOLLOW_ASKED);
	if (co->state == CTP_RUNNING && ch.whole && co->flags & CTP_CO_OURS)
		ctp_follow_ran(f, &f->threads->list[co->thread], co->since_ns, end_ns, CTP_FOLLOW_ASKED);
}
