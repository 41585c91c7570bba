/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* perfetto-draw.c - see perfetto-draw.h. */
#include "perfetto/perfetto-draw.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/places.h"
#include "analyse/report.h"
#include "base/array.h"
#include "base/compare.h"

struct ctp_perfetto_name *ctp_perfetto_draw_word(struct ctp_perfetto_draw *d, enum ctp_perfetto_inner inner)
{
	static const char *const words[CTP_PERFETTO_WORDS] = {"nothing", "running", "ready", "suspended", "lost", "wake", "left out"};
	if (!d->words[inner])
		d->words[inner] = ctp_perfetto_names_get(&d->names, words[inner]);
	return d->words[inner];
}

bool ctp_perfetto_draw_init(struct ctp_perfetto_draw *d, struct ctp_perfetto_form *form, struct ctp_follow *f, uint32_t max_lanes,
                            bool threads_only)
{
	d->form = form;
	d->follow = f;
	d->threads_only = threads_only;
	ctp_perfetto_names_init(&d->names);
	return ctp_perfetto_tracks_init(&d->tracks, form, f, max_lanes);
}

static void clear(struct ctp_perfetto_draw *d)
{
	for (uint32_t i = 1; i <= d->ncoros; i++)
		if (d->coros[i].used)
			free(d->coros[i].own.text);
	d->ncoros = d->free_coro = d->nplaces = 0;
	d->runnable = d->alive = 0;
	d->undrawn = (struct ctp_perfetto_undrawn){0};
	d->failed |= d->names.failed;
	ctp_perfetto_names_fini(&d->names);
	ctp_perfetto_names_init(&d->names);
	memset(d->words, 0, sizeof d->words);
}

void ctp_perfetto_draw_fini(struct ctp_perfetto_draw *d)
{
	clear(d);
	free(d->coros);
	free(d->places);
	ctp_perfetto_names_fini(&d->names);
	ctp_perfetto_tracks_fini(&d->tracks);
}

void ctp_perfetto_draw_section(struct ctp_perfetto_draw *d, uint32_t section, const struct ctp_section *sec)
{
	clear(d);
	ctp_perfetto_tracks_section(&d->tracks, section, sec);
}

struct ctp_perfetto_name *ctp_perfetto_draw_place(struct ctp_perfetto_draw *d, uint32_t place)
{
	if (!place || !CTP_ARRAY_RESERVE(d->places, d->places_room, place + 1u, CTP_PLACES_MAX + 1))
		return NULL;
	while (d->nplaces <= place)
		d->places[d->nplaces++] = NULL;
	if (!d->places[place]) {
		const char *text = ctp_follow_text(d->follow, place);
		d->places[place] = text ? ctp_perfetto_names_get(&d->names, text) : NULL;
	}
	return d->places[place];
}

/* --- coroutines ----------------------------------------------------------------------------------------------------------- */

/* The function in FILE:LINE:FUNCTION, or else all of it. */
static const char *function_of(const char *site)
{
	size_t file_bytes;
	if (!ctp_report_line(site, &file_bytes))
		return site;
	const char *colon = strchr(site + file_bytes + 1, ':');
	return colon && colon[1] ? colon + 1 : site;
}

/* A coroutine by its name and number, as findings have it; without a name by the function that it was spawned in. */
static void name_coro(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, const struct ctp_coroutine *co)
{
	char text[CTP_PERFETTO_TEXT_MAX], all[CTP_PERFETTO_TEXT_MAX + 32];
	const struct ctp_perfetto_name *spawn = co->name ? NULL : ctp_perfetto_draw_place(d, c->spawn);
	if (co->name)
		snprintf(all, sizeof all, "%s #%ju", ctp_perfetto_text(text, co->name), (uintmax_t)c->id);
	else
		snprintf(all, sizeof all, "%s%s#%ju", spawn ? function_of(spawn->text) : "", spawn ? " " : "", (uintmax_t)c->id);
	all[CTP_PERFETTO_TEXT_MAX - 1] = '\0';
	free(c->own.text);
	c->named = co->name;
	c->own = (struct ctp_perfetto_name){.text = strdup(all)};
	d->failed |= !c->own.text;
}

uint32_t ctp_perfetto_draw_add(struct ctp_perfetto_draw *d, const struct ctp_coroutine *co, uint64_t born_ns, uint64_t pid)
{
	uint32_t number = d->free_coro;
	if (number)
		d->free_coro = d->coros[number].next_free;
	else if (CTP_ARRAY_RESERVE(d->coros, d->coros_room, d->ncoros + 2u, CTP_FOLLOW_MAX + 2))
		number = ++d->ncoros;
	d->failed |= !number;
	if (!number)
		return 0;
	struct ctp_perfetto_coro *c = &d->coros[number];
	*c = (struct ctp_perfetto_coro){.id = co->id, .born_ns = born_ns, .at_ns = born_ns, .used = true, .spawn = co->spawn,
	                                .parent = co->parent};
	uint32_t process = d->threads_only ? 0 : ctp_perfetto_tracks_process(&d->tracks, pid);
	c->lane = d->threads_only ? 0 : ctp_perfetto_tracks_take(&d->tracks, process, born_ns);
	if (c->lane)
		c->born_ns = c->at_ns = ctp_most(born_ns, d->tracks.lanes[c->lane].free_ns);
	else if (!d->threads_only)
		c->shared = ctp_perfetto_tracks_share(&d->tracks, process, c->spawn);
	d->alive++;
	if (!d->threads_only)
		d->form->ops->count(d->form, born_ns, d->runnable, d->alive);
	return number;
}

/* --- slices --------------------------------------------------------------------------------------------------------------- */

void ctp_perfetto_draw_tell(struct ctp_perfetto_draw *d, const struct ctp_perfetto_event *e)
{
	d->last_ns = ctp_most(d->last_ns, e->ts_ns);
	d->form->ops->event(d->form, e);
}

static inline void tell_end(struct ctp_perfetto_draw *d, const struct ctp_perfetto_track *track, uint64_t ts_ns)
{
	d->last_ns = ctp_most(d->last_ns, ts_ns);
	d->form->ops->end(d->form, track, ts_ns);
}

static const struct ctp_perfetto_track *lane_of(const struct ctp_perfetto_draw *d, const struct ctp_perfetto_coro *c)
{
	return c->lane ? &d->tracks.lanes[c->lane].track : NULL;
}

enum { LIFE_ARGS = 4, INNER_ARGS = 5 };

static uint32_t life_args(struct ctp_perfetto_draw *d, const struct ctp_perfetto_coro *c, struct ctp_perfetto_arg *args)
{
	uint32_t n = 0;
	struct ctp_perfetto_name *spawn = ctp_perfetto_draw_place(d, c->spawn);
	args[n++] = (struct ctp_perfetto_arg){.key = CTP_PERFETTO_CORO, .number = c->id};
	if (c->parent)
		args[n++] = (struct ctp_perfetto_arg){.key = CTP_PERFETTO_PARENT, .number = c->parent};
	if (spawn)
		args[n++] = (struct ctp_perfetto_arg){.key = CTP_PERFETTO_SPAWNED_AT, .name = spawn};
	if (c->before)
		args[n++] = (struct ctp_perfetto_arg){.key = CTP_PERFETTO_BORN_BEFORE, .text = "yes"};
	return n;
}

static void tell_life(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, enum ctp_perfetto_type type, uint64_t ts_ns,
                      const char *more)
{
	struct ctp_perfetto_arg args[LIFE_ARGS];
	uint32_t nargs = type == CTP_PERFETTO_BEGIN || d->form->closes ? life_args(d, c, args) : 0;
	ctp_perfetto_draw_tell(d, &(struct ctp_perfetto_event){
		.type = type, .track = lane_of(d, c), .ts_ns = ts_ns, .from_ns = c->born_ns, .name = &c->own, .more = more,
		.coro = c->id, .args = args, .nargs = nargs});
}

void ctp_perfetto_draw_new_life(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, const struct ctp_coroutine *co)
{
	c->spawn = co->spawn; /* a birth may be known late */
	c->parent = co->parent;
	c->before = !(co->flags & CTP_CO_BIRTH) || co->flags & CTP_CO_BEFORE;
	if (!c->own.text || (co->name && !c->named))
		name_coro(d, c, co);
	if (c->begun || !c->lane || !c->own.text)
		return;
	c->begun = true;
	tell_life(d, c, CTP_PERFETTO_BEGIN, c->born_ns, NULL);
}

static struct ctp_perfetto_name *inner_name(struct ctp_perfetto_draw *d, const struct ctp_perfetto_coro *c)
{
	if (c->inner == CTP_PERFETTO_WAIT && c->place)
		return c->place;
	return ctp_perfetto_draw_word(d, c->inner == CTP_PERFETTO_GAP && c->left_out ? CTP_PERFETTO_LEFT_OUT : c->inner);
}

static uint32_t wait_args(const struct ctp_perfetto_coro *c, struct ctp_perfetto_arg *args, uint32_t n)
{
	if (c->reason)
		args[n++] = (struct ctp_perfetto_arg){.key = CTP_PERFETTO_WAITS_FOR, .name = c->reason};
	if (c->holder)
		args[n++] = (struct ctp_perfetto_arg){.key = CTP_PERFETTO_HELD_BY, .number = c->holder};
	if (c->awaits)
		args[n++] = (struct ctp_perfetto_arg){.key = CTP_PERFETTO_AWAITS, .number = c->awaits};
	if (c->missed)
		args[n++] = (struct ctp_perfetto_arg){.key = CTP_PERFETTO_WAKES_LOST, .text = "yes"};
	return n;
}

/* Whether the inner slice has arguments that were not known at its begin. */
static inline bool has_late_args(const struct ctp_perfetto_coro *c)
{
	return (c->missed && c->inner == CTP_PERFETTO_WAIT) || c->destroyed;
}

static uint32_t inner_args(const struct ctp_perfetto_coro *c, struct ctp_perfetto_arg *args)
{
	uint32_t n = 0;
	if (c->inner == CTP_PERFETTO_GAP && c->lost)
		args[n++] = (struct ctp_perfetto_arg){.key = CTP_PERFETTO_LOST, .number = c->lost};
	if (c->inner == CTP_PERFETTO_WAIT)
		n = wait_args(c, args, n);
	if (c->destroyed)
		args[n++] = (struct ctp_perfetto_arg){.key = CTP_PERFETTO_DESTROYED, .text = "yes"};
	return n;
}

static void tell_inner(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, enum ctp_perfetto_type type, uint64_t ts_ns,
                       const char *more)
{
	struct ctp_perfetto_arg args[INNER_ARGS];
	bool run = c->inner == CTP_PERFETTO_RUN, only_ends = type == CTP_PERFETTO_END && !d->form->closes;
	if (!c->inner || !c->begun || (run && d->form->arrows_of_threads))
		return;
	assert(c->lane);
	if (only_ends && !has_late_args(c)) {
		tell_end(d, &d->tracks.lanes[c->lane].track, ts_ns);
		return;
	}
	struct ctp_perfetto_event e = {.type = type, .track = lane_of(d, c), .ts_ns = ts_ns, .from_ns = c->from_ns, .more = more,
	                               .args = args};
	e.nargs = inner_args(c, args);
	if (only_ends) {
		e.args += e.nargs - (c->missed + c->destroyed);
		e.nargs = (uint32_t)(c->missed + c->destroyed);
	}
	if (!only_ends)
		e.name = inner_name(d, c);
	if (more && type == CTP_PERFETTO_END && c->inner == CTP_PERFETTO_WAIT)
		e.waiter = &c->own;
	if (run && type == CTP_PERFETTO_BEGIN && c->flow) {
		e.flow = ctp_perfetto_draw_arrow(d, c, ts_ns);
		e.flow_ends = true;
	}
	ctp_perfetto_draw_tell(d, &e);
}

/* The row of a coroutine without a lane: one run at a time. */
static __attribute__((noinline)) void tell_shared(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c,
                                                  enum ctp_perfetto_type type, uint64_t ts_ns, const char *more)
{
	struct ctp_perfetto_shared *s = &d->tracks.shared[c->shared - 1];
	uint32_t number = (uint32_t)(c - d->coros);
	bool begins = type == CTP_PERFETTO_BEGIN;
	if (c->inner == CTP_PERFETTO_WAIT && begins)
		s->waits++;
	if (c->inner != CTP_PERFETTO_RUN || (begins ? s->coro != 0 : s->coro != number)) {
		s->runs += c->inner == CTP_PERFETTO_RUN && begins;
		return;
	}
	struct ctp_perfetto_arg arg = {.key = CTP_PERFETTO_CORO, .number = c->id};
	s->coro = begins ? number : 0;
	if (!c->own.text)
		return;
	uint64_t flow = begins && !d->form->arrows_of_threads ? ctp_perfetto_draw_arrow(d, c, ts_ns) : 0;
	ctp_perfetto_draw_tell(d, &(struct ctp_perfetto_event){
		.type = type, .track = &s->track, .ts_ns = ts_ns, .from_ns = c->from_ns, .name = &c->own, .more = more,
		.coro = c->id, .args = &arg, .nargs = begins || d->form->closes, .flow = flow, .flow_ends = true});
}

static void tell_slice(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, enum ctp_perfetto_type type, uint64_t ts_ns,
                       const char *more)
{
	if (c->shared)
		tell_shared(d, c, type, ts_ns, more);
	else
		tell_inner(d, c, type, ts_ns, more);
}

void ctp_perfetto_draw_start(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, enum ctp_perfetto_inner inner,
                             uint64_t ts_ns)
{
	c->inner = (uint8_t)inner;
	c->from_ns = c->at_ns = ts_ns;
	tell_slice(d, c, CTP_PERFETTO_BEGIN, ts_ns, NULL);
	if (inner == CTP_PERFETTO_RUN)
		ctp_perfetto_draw_no_run(d, c);
}

void ctp_perfetto_draw_settle(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c)
{
	if (!c->woken)
		return;
	c->woken = false;
	uint64_t wake_ns = ctp_most(c->wake_ns, c->at_ns);
	tell_slice(d, c, CTP_PERFETTO_END, wake_ns, NULL);
	ctp_perfetto_draw_start(d, c, CTP_PERFETTO_READY, wake_ns);
}

void ctp_perfetto_draw_stop(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, uint64_t ts_ns, const char *more)
{
	ctp_perfetto_draw_settle(d, c);
	c->at_ns = ctp_most(c->at_ns, ts_ns);
	tell_slice(d, c, CTP_PERFETTO_END, c->at_ns, more);
	c->missed = c->destroyed = false;
	c->inner = CTP_PERFETTO_NOTHING;
}

void ctp_perfetto_draw_remove(struct ctp_perfetto_draw *d, uint32_t number, uint64_t ts_ns, const char *more)
{
	struct ctp_perfetto_coro *c = &d->coros[number];
	if (c->inner == CTP_PERFETTO_RUN)
		ctp_perfetto_draw_ran(d, c, ts_ns, false, more);
	ctp_perfetto_draw_count(d, c, false, ts_ns);
	ctp_perfetto_draw_stop(d, c, ts_ns, more);
	ctp_perfetto_draw_no_run(d, c);
	d->alive--;
	if (!d->threads_only)
		d->form->ops->count(d->form, c->at_ns, d->runnable, d->alive);
	if (c->begun)
		tell_life(d, c, CTP_PERFETTO_END, c->at_ns, more ? " (still alive)" : NULL);
	if (c->lane)
		ctp_perfetto_tracks_give(&d->tracks, c->lane, c->at_ns);
	free(c->own.text);
	*c = (struct ctp_perfetto_coro){.next_free = d->free_coro};
	d->free_coro = number;
}

/* --- threads -------------------------------------------------------------------------------------------------------------- */

static void tell_run(struct ctp_perfetto_draw *d, const struct ctp_perfetto_thread *th, const struct ctp_perfetto_run *run,
                     enum ctp_perfetto_type type, uint64_t ts_ns, const char *more)
{
	struct ctp_perfetto_coro *c = &d->coros[run->coro];
	if (type == CTP_PERFETTO_END && !d->form->closes) {
		tell_end(d, &th->track, ts_ns);
		return;
	}
	struct ctp_perfetto_arg arg = {.key = CTP_PERFETTO_CORO, .number = c->id};
	ctp_perfetto_draw_tell(d, &(struct ctp_perfetto_event){
		.type = type, .track = &th->track, .ts_ns = ts_ns, .from_ns = run->from_ns, .name = &c->own, .more = more,
		.coro = d->threads_only ? 0 : c->id, .flow = run->flow, .flow_ends = true, .args = &arg,
		.nargs = d->form->closes || !d->threads_only});
}

/* Ends the runs on a thread that are deeper than depth. */
static void end_runs(struct ctp_perfetto_draw *d, struct ctp_perfetto_thread *th, uint32_t depth, uint64_t ts_ns, const char *more)
{
	while (th->depth > depth) {
		const struct ctp_perfetto_run *run = &th->runs[--th->depth];
		th->last_ns = ctp_most(th->last_ns, ts_ns);
		tell_run(d, th, run, CTP_PERFETTO_END, ctp_most(run->from_ns, ts_ns), more);
	}
}

/* The depth at which a coroutine runs on a thread; the depth of the thread if it does not. */
static uint32_t depth_of(const struct ctp_perfetto_thread *th, uint32_t coro)
{
	uint32_t i = 0;
	while (i < th->depth && th->runs[i].coro != coro)
		i++;
	return i;
}

bool ctp_perfetto_draw_run(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, uint64_t by, uint64_t ts_ns)
{
	struct ctp_perfetto_thread *th = c->own.text ? ctp_perfetto_tracks_thread(&d->tracks, c->thread) : NULL;
	if (!th)
		return false;
	ts_ns = ctp_most(ts_ns, th->last_ns);
	uint32_t number = (uint32_t)(c - d->coros), depth = depth_of(th, number);
	const struct ctp_perfetto_coro *outer = depth && depth == th->depth ? &d->coros[th->runs[depth - 1].coro] : NULL;
	/* Of several that go on, the follower knows the inner two at most. */
	bool nested = outer && (by ? outer->id == by : c->ours && outer->ours);
	end_runs(d, th, !nested ? 0 : depth < CTP_PERFETTO_NESTED ? depth : depth - 1, ts_ns, NULL);
	uint64_t flow = d->form->arrows_of_threads ? ctp_perfetto_draw_arrow(d, c, ts_ns) : 0;
	th->runs[th->depth++] = (struct ctp_perfetto_run){.coro = number, .from_ns = ts_ns, .flow = flow};
	th->last_ns = ts_ns;
	tell_run(d, th, &th->runs[th->depth - 1], CTP_PERFETTO_BEGIN, ts_ns, NULL);
	return true;
}

void ctp_perfetto_draw_ran(struct ctp_perfetto_draw *d, struct ctp_perfetto_coro *c, uint64_t ts_ns, bool gap, const char *more)
{
	struct ctp_perfetto_thread *th = c->own.text ? ctp_perfetto_tracks_thread(&d->tracks, c->thread) : NULL;
	uint32_t depth = th ? depth_of(th, (uint32_t)(c - d->coros)) : 0;
	if (!th || depth == th->depth)
		return;
	if (gap && depth + 1 < th->depth && th->runs[depth + 1].from_ns > ts_ns) {
		/* What runs on the thread by now came later. */
		struct ctp_perfetto_run run = th->runs[depth];
		memmove(&th->runs[depth], &th->runs[depth + 1], (--th->depth - depth) * sizeof *th->runs);
		tell_run(d, th, &run, CTP_PERFETTO_END, ctp_most(run.from_ns, ts_ns), more);
		return;
	}
	end_runs(d, th, depth, gap ? ts_ns : ctp_most(ts_ns, th->last_ns), more);
}

void ctp_perfetto_draw_thread_gap(struct ctp_perfetto_draw *d, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
                                  uint64_t transitions)
{
	struct ctp_perfetto_thread *th = ctp_perfetto_tracks_thread(&d->tracks, thread);
	if (!th)
		return;
	struct ctp_perfetto_arg arg = {.key = CTP_PERFETTO_TRANSITIONS_LOST, .number = transitions};
	struct ctp_perfetto_event e = {.type = CTP_PERFETTO_BEGIN, .track = ctp_perfetto_tracks_lost(&d->tracks, th),
	                               .ts_ns = from_ns, .from_ns = from_ns, .args = &arg, .nargs = 1,
	                               .name = ctp_perfetto_draw_word(d, CTP_PERFETTO_GAP)};
	ctp_perfetto_draw_tell(d, &e);
	e.type = CTP_PERFETTO_END;
	e.ts_ns = to_ns;
	e.nargs = d->form->closes;
	ctp_perfetto_draw_tell(d, &e);
}

/* --- instants ------------------------------------------------------------------------------------------------------------- */

void ctp_perfetto_draw_note(struct ctp_perfetto_draw *d, const struct ctp_perfetto_coro *c, const char *text, uint64_t lost,
                            uint64_t ts_ns)
{
	struct ctp_perfetto_arg arg = {.key = CTP_PERFETTO_LOST, .number = lost};
	if (c->lane && c->begun)
		ctp_perfetto_draw_tell(d, &(struct ctp_perfetto_event){
			.type = CTP_PERFETTO_INSTANT, .track = lane_of(d, c), .ts_ns = ts_ns, .args = &arg, .nargs = lost ? 1 : 0,
			.name = ctp_perfetto_names_get(&d->names, text)});
}
