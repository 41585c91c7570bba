/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * perfetto-walk.c - a sink that makes the report, and draws what the coroutines do as it is read.
 *
 * It listens to the analysis, as ctp-tohtml does, so that the drawing and the findings rest on one walk through the stream.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/spans.h"
#include "analyse/wait-texts.h"
#include "base/compare.h"
#include "perfetto/perfetto-draw.h"
#include "perfetto/perfetto-findings.h"
#include "perfetto/perfetto.h"
#include "report/report-args.h"

enum { APART_NS = 1000000 }; /* between two sections whose clocks have nothing in common */
#define TIME_MAX (UINT64_C(1) << 62) /* Perfetto's times are signed */

struct walk {
	struct ctp_sink sink;
	struct ctp_output *out;
	struct ctp_perfetto_options options;
	struct ctp_analysis *analysis;
	struct ctp_follow *follow; /* of that */
	struct ctp_perfetto_form *form;
	struct ctp_perfetto_draw draw;
	const struct ctp_section *section; /* that is being read */
	uint32_t sections;
	uint64_t transitions;  /* of it, that are drawn */
	bool begun;            /* the form knows of the section */
	struct ctp_line line;  /* of the first section */
	uint64_t first_ns;     /* where that begins */
	bool has_wall;         /* it has wall-clock times: */
	int64_t wall_offset_ns;
	uint64_t shift_ns;     /* to add to times of this section; may wrap around */
	struct ctp_perfetto_track runnable, alive;
};

/* --- times ---------------------------------------------------------------------------------------------------------------- */

/* Whether a time of the section, moved by shift_ns, is one of the drawing. */
static bool fits(uint64_t ts_ns, uint64_t shift_ns)
{
	return (int64_t)shift_ns < 0 ? ts_ns > -shift_ns : ts_ns < TIME_MAX && shift_ns < TIME_MAX - ts_ns;
}

static __attribute__((noinline)) uint64_t moved(const struct walk *w, uint64_t ts_ns)
{
	if (fits(ts_ns, w->shift_ns))
		return ts_ns + w->shift_ns < TIME_MAX ? ts_ns + w->shift_ns : TIME_MAX;
	return (int64_t)w->shift_ns < 0 ? 0 : TIME_MAX;
}

/* A time of the section in the drawing. */
static inline uint64_t drawn(const struct walk *w, uint64_t ts_ns)
{
	return w->shift_ns || ts_ns >= TIME_MAX ? moved(w, ts_ns) : ts_ns;
}

/*
 * Where the section is in the drawing: the first one where it is, others by what their clocks have in common, or after it.
 * start_ns 0: nothing of the section has a time.
 */
static void place_section(struct walk *w, uint64_t start_ns)
{
	struct ctp_line line = ctp_line_of(w->section);
	bool first = w->sections == 1, same = line.id == w->line.id && !w->section->ordinal;
	uint64_t shift_ns = first ? 0 : line.offset_ns - w->line.offset_ns;
	bool in = !start_ns || fits(start_ns, shift_ns);
	bool early = w->options.chrome && start_ns && in && start_ns + shift_ns < w->first_ns; /* its times begin there */
	if (first)
		w->line = line;
	w->shift_ns = shift_ns;
	if (first || (same && in && !early))
		return;
	w->shift_ns = w->draw.last_ns + APART_NS - start_ns;
	if (w->options.left)
		w->options.left->moved++;
}

/* With the first event of the section, whose time is that from which others are counted; or if there is none, at another time. */
static void begin_section(struct walk *w, uint64_t otherwise_ns)
{
	if (w->begun)
		return;
	w->begun = true;
	const struct ctp_follow_counts *c = &w->follow->counts;
	uint64_t start_ns = c->first_ns <= c->last_ns ? c->first_ns : otherwise_ns;
	place_section(w, start_ns);
	uint64_t base_ns = drawn(w, start_ns);
	if (w->sections == 1) {
		const char *merged = ctp_section_get(w->section, "merged_first_ns"); /* another origin may begin earlier */
		w->first_ns = merged ? ctp_least(strtoull(merged, NULL, 10), base_ns ? base_ns : UINT64_MAX) : base_ns;
		w->has_wall = w->section->has_wall;
		w->wall_offset_ns = w->section->wall_offset_ns;
	}
	w->draw.tracks.uuid += 2; /* for the counters, which the form must know first */
	uint32_t uuid = w->draw.tracks.uuid;
	w->runnable = (struct ctp_perfetto_track){.kind = CTP_PERFETTO_COUNTER, .uuid = uuid - 1};
	w->alive = (struct ctp_perfetto_track){.kind = CTP_PERFETTO_COUNTER, .uuid = uuid};
	bool counters = !w->options.threads_only;
	w->form->ops->section(w->form, &(struct ctp_perfetto_clock){
		.section = w->sections, .base_ns = base_ns, .first_ns = w->first_ns, .has_wall = w->has_wall,
		.wall_ns = (int64_t)(base_ns + (uint64_t)w->wall_offset_ns), .runnable = counters ? &w->runnable : NULL,
		.alive = counters ? &w->alive : NULL});
	ctp_perfetto_draw_section(&w->draw, w->sections, w->section);
	w->runnable.parent = w->alive.parent = w->draw.tracks.processes[0].track.uuid;
	w->runnable.pid = w->alive.pid = w->draw.tracks.processes[0].track.pid;
	if (counters) {
		w->form->ops->track(w->form, &w->runnable, "runnable");
		w->form->ops->track(w->form, &w->alive, "alive");
	}
}

static void on_section(void *arg, const struct ctp_section *sec)
{
	struct walk *w = arg;
	w->section = sec ? sec : w->section; /* null: another run of the same rows */
	w->sections++;
	w->transitions = 0;
	w->begun = false;
}

/* --- changes -------------------------------------------------------------------------------------------------------------- */

/* Whether a filter has made the gap: only a record of a loss says that events are lost, of this coroutine or of unknown ones. */
static bool is_left_out(const struct walk *w, uint64_t lost, uint64_t from_ns)
{
	return w->follow->filtered && !lost && from_ns >= w->follow->unsure_ns;
}

/* What a coroutine will wait for, from now on. */
static void set_wait(struct walk *w, struct ctp_perfetto_coro *c, const struct ctp_coroutine *co, uint32_t place)
{
	char text[CTP_WAIT_TEXT_MAX];
	c->place = ctp_perfetto_draw_place(&w->draw, place);
	c->reason = NULL;
	c->holder = 0;
	c->awaits = co->awaits;
	if (!ctp_wait_reasons_of(w->follow, co))
		return;
	c->reason = ctp_perfetto_names_get(&w->draw.names, ctp_wait_text(w->follow, co, text));
	c->holder = ctp_wait_holder(w->follow, co);
}

/*
 * A coroutine that is not drawn yet: it was born now, or it did something before the time that is asked for. Then its state is
 * drawn from that time on.
 */
static uint32_t adopt(struct walk *w, struct ctp_coroutine *co, const struct ctp_change *was, uint64_t pid)
{
	uint64_t since_ns = w->follow->since_ns;
	uint64_t from_ns = drawn(w, ctp_most(was->was_ns, since_ns));
	co->handle = ctp_perfetto_draw_add(&w->draw, co, drawn(w, ctp_most(co->born_ns, since_ns)), pid);
	struct ctp_perfetto_coro *c = ctp_perfetto_draw_at(&w->draw, co->handle);
	if (!c || !since_ns || was->was == CTP_UNBORN || was->was == CTP_BORN)
		return co->handle;
	from_ns = ctp_most(from_ns, c->at_ns);
	ctp_perfetto_draw_life(&w->draw, c, co);
	if (was->gap) {
		c->left_out = is_left_out(w, 0, was->was_ns);
		ctp_perfetto_draw_start(&w->draw, c, CTP_PERFETTO_GAP, from_ns);
	} else if (was->was == CTP_RUNNING) {
		c->thread = was->thread;
		c->ours = co->flags & CTP_CO_OURS;
		ctp_perfetto_draw_run(&w->draw, c, 0, from_ns);
		ctp_perfetto_draw_start(&w->draw, c, CTP_PERFETTO_RUN, from_ns);
	} else if (was->was == CTP_RUNNABLE) {
		ctp_perfetto_draw_start(&w->draw, c, CTP_PERFETTO_READY, from_ns);
		ctp_perfetto_draw_count(&w->draw, c, true, from_ns);
	} else if (was->was == CTP_SUSPENDED) {
		set_wait(w, c, co, was->from);
		ctp_perfetto_draw_start(&w->draw, c, CTP_PERFETTO_WAIT, from_ns);
	}
	return co->handle;
}

/* The coroutine of a change, and when it is drawn. */
static struct ctp_perfetto_coro *coro_of(struct walk *w, const struct ctp_change *ch)
{
	struct ctp_coroutine *co = ch->co;
	if (!co->handle) {
		struct ctp_change was = *ch;
		was.thread = ch->kind == CTP_CHANGE_RESUME ? ch->from : co->thread;
		was.from = ch->kind == CTP_CHANGE_SUSPEND ? ch->from : ctp_follow_place(w->follow, co);
		uint64_t pid = ch->kind == CTP_CHANGE_BORN ? ch->by : ctp_follow_thread(w->follow, ch->thread).pid;
		adopt(w, co, &was, pid);
	}
	return ctp_perfetto_draw_at(&w->draw, co->handle);
}

static void suspend(struct walk *w, struct ctp_perfetto_coro *c, const struct ctp_coroutine *co, uint64_t ts_ns)
{
	struct ctp_perfetto_draw *d = &w->draw;
	bool ready = co->state == CTP_RUNNABLE; /* the wake came while it ran */
	if (c->inner == CTP_PERFETTO_RUN)
		ctp_perfetto_draw_ran(d, c, ts_ns, false, NULL);
	ctp_perfetto_draw_count(d, c, ready, ts_ns);
	ctp_perfetto_draw_stop(d, c, ts_ns, NULL);
	if (!ready)
		set_wait(w, c, co, ctp_follow_place(w->follow, co));
	ctp_perfetto_draw_start(d, c, ready ? CTP_PERFETTO_READY : CTP_PERFETTO_WAIT, c->at_ns);
}

static void draw_wake(struct walk *w, struct ctp_perfetto_coro *c, const struct ctp_change *ch, uint64_t ts_ns, bool arrow)
{
	struct ctp_coroutine *by = ch->by ? ctp_follow_find(w->follow, ch->by) : NULL;
	ctp_perfetto_draw_wake(&w->draw, c, &(struct ctp_perfetto_wake){
		.ts_ns = ts_ns, .coro = ch->co ? ch->co->id : 0, .waker = ctp_perfetto_draw_at(&w->draw, by ? by->handle : 0),
		.thread = ch->thread, .arrow = arrow});
}

static void resume(struct walk *w, struct ctp_perfetto_coro *c, const struct ctp_change *ch, uint64_t ts_ns)
{
	struct ctp_perfetto_draw *d = &w->draw;
	if (c->inner == CTP_PERFETTO_RUN && c->thread != ch->thread)
		ctp_perfetto_draw_ran(d, c, ts_ns, false, NULL);
	ctp_perfetto_draw_count(d, c, false, ts_ns);
	c->thread = ch->thread;
	c->ours = ch->co->flags & CTP_CO_OURS;
	c->missed = c->inner == CTP_PERFETTO_WAIT && !c->woken && w->follow->missed_ns > ch->was_ns;
	bool seen = ctp_perfetto_draw_run(d, c, ch->by, ts_ns) || c->shared || (c->lane && !w->form->arrows_of_threads);
	d->undrawn.runs += !seen;
	ctp_perfetto_draw_stop(d, c, ts_ns, NULL);
	ctp_perfetto_draw_start(d, c, CTP_PERFETTO_RUN, c->at_ns);
}

/* In a gap, a wake is seen, but means nothing. */
static void wake(struct walk *w, struct ctp_perfetto_coro *c, const struct ctp_change *ch, uint64_t ts_ns)
{
	if (ch->was != CTP_RUNNING && !ch->gap) {
		c->woken = true;
		c->wake_ns = ts_ns;
		ctp_perfetto_draw_count(&w->draw, c, true, ts_ns);
	}
	draw_wake(w, c, ch, ts_ns, !ch->gap);
}

/* A gap begins, or goes on. A wake since the last transition may have been for another wait. */
static void lose(struct walk *w, struct ctp_perfetto_coro *c, const struct ctp_change *ch, uint64_t ts_ns)
{
	struct ctp_perfetto_draw *d = &w->draw;
	uint64_t gap_ns = drawn(w, ch->gap_ns);
	if (c->inner == CTP_PERFETTO_GAP && (!c->left_out || !ch->by)) {
		if (ch->by)
			ctp_perfetto_draw_note(d, c, "more lost", ch->by, ctp_most(c->at_ns, gap_ns));
		return;
	}
	c->woken = false;
	ctp_perfetto_draw_no_run(d, c);
	ctp_perfetto_draw_count(d, c, false, ts_ns);
	gap_ns = ctp_most(gap_ns, c->at_ns);
	if (c->inner == CTP_PERFETTO_RUN)
		ctp_perfetto_draw_ran(d, c, gap_ns, true, NULL);
	ctp_perfetto_draw_stop(d, c, gap_ns, NULL);
	c->lost = ch->by;
	c->left_out = is_left_out(w, ch->by, ch->gap_ns);
	ctp_perfetto_draw_start(d, c, CTP_PERFETTO_GAP, gap_ns);
}

static void take_change(struct walk *w, struct ctp_perfetto_coro *c, const struct ctp_change *ch, uint64_t ts_ns)
{
	if (ch->kind != CTP_CHANGE_BORN && ch->kind != CTP_CHANGE_WAKE && ch->kind != CTP_CHANGE_AWAIT)
		ctp_perfetto_draw_life(&w->draw, c, ch->co);
	w->transitions += ch->kind == CTP_CHANGE_SUSPEND || ch->kind == CTP_CHANGE_RESUME;
	switch (ch->kind) {
	case CTP_CHANGE_SUSPEND:
		suspend(w, c, ch->co, ts_ns);
		break;
	case CTP_CHANGE_RESUME:
		resume(w, c, ch, ts_ns);
		break;
	case CTP_CHANGE_WAKE:
		wake(w, c, ch, ts_ns);
		break;
	case CTP_CHANGE_LOST:
		lose(w, c, ch, ts_ns);
		break;
	case CTP_CHANGE_BROKEN:
		ctp_perfetto_draw_note(&w->draw, c, ch->by == CTP_BROKEN_AFTER_DEATH ? "resumed after its end" :
		                       "resumed while it ran", 0, ctp_most(ts_ns, c->at_ns));
		break;
	case CTP_CHANGE_DIED:
		c->destroyed = ch->whole && (ch->was == CTP_SUSPENDED || ch->was == CTP_RUNNABLE);
		ctp_perfetto_draw_remove(&w->draw, ch->co->handle, ts_ns, NULL);
		ch->co->handle = 0;
		return;
	case CTP_CHANGE_BORN:
	case CTP_CHANGE_AWAIT:
		break;
	}
	if (ch->co->flags & CTP_CO_CONFLICT && !c->conflict) {
		c->conflict = true;
		ctp_perfetto_draw_note(&w->draw, c, "two writers: nothing of it is certain", 0, ctp_most(ts_ns, c->at_ns));
	}
}

static bool is_asked(const struct walk *w, uint64_t ts_ns)
{
	uint64_t since_ns = w->options.report.since_ns, first_ns = w->follow->counts.first_ns;
	return !since_ns || (ts_ns >= first_ns && ts_ns - first_ns >= since_ns);
}

static void on_change(void *arg, const struct ctp_change *ch)
{
	struct walk *w = arg;
	if (!is_asked(w, ch->ts_ns) || (!ch->co->handle && ch->was == CTP_DEAD))
		return;
	begin_section(w, ch->ts_ns);
	struct ctp_perfetto_coro *c = coro_of(w, ch);
	if (c)
		take_change(w, c, ch, drawn(w, ch->ts_ns));
}

/* A wake is drawn all the same; a transition has no place. */
static void on_unchanged(void *arg, const struct ctp_change *ch)
{
	struct walk *w = arg;
	struct ctp_perfetto_undrawn *u = &w->draw.undrawn;
	bool runs = ch->kind == CTP_CHANGE_RESUME;
	if (!is_asked(w, ch->ts_ns))
		return;
	begin_section(w, ch->ts_ns);
	if (ch->kind != CTP_CHANGE_WAKE) {
		++*(ch->co ? runs ? &u->passed_runs : &u->passed_suspensions : runs ? &u->strange_runs : &u->strange_suspensions);
		return;
	}
	draw_wake(w, ctp_perfetto_draw_at(&w->draw, ch->co ? ch->co->handle : 0), ch, drawn(w, ch->ts_ns),
	          ch->co && ch->was == CTP_RUNNABLE);
}

static void on_thread_gap(void *arg, uint32_t thread, uint64_t after_ns, uint64_t ts_ns, uint64_t transitions)
{
	struct walk *w = arg;
	if (!is_asked(w, ts_ns))
		return;
	begin_section(w, ts_ns);
	after_ns = ctp_most(after_ns, w->follow->since_ns);
	ctp_perfetto_draw_thread_gap(&w->draw, thread, drawn(w, after_ns), drawn(w, ts_ns), transitions);
}

/* --- the end of a section ------------------------------------------------------------------------------------------------- */

/* All coroutines that have not ended stay open. */
static void settle(struct walk *w, uint64_t end_ns)
{
	struct ctp_perfetto_draw *d = &w->draw;
	uint32_t at = 0;
	for (struct ctp_coroutine *co; (co = ctp_follow_each(w->follow, &at));) {
		if (!co->handle && co->state != CTP_DEAD) {
			struct ctp_change was = {.was = (enum ctp_state)co->state, .was_ns = co->since_ns,
			                         .gap = co->flags & CTP_CO_TAIL, .thread = co->thread,
			                         .from = ctp_follow_place(w->follow, co)};
			adopt(w, co, &was, ctp_follow_thread(w->follow, co->thread).pid);
		}
		struct ctp_perfetto_coro *c = ctp_perfetto_draw_at(d, co->handle);
		if (!c)
			continue;
		ctp_perfetto_draw_life(d, c, co);
		ctp_perfetto_draw_settle(d, c);
		if (w->form->closes) {
			static const char *const more[] = {
				"", " (still running)", " (still ready)", " (still waiting)", " (still lost)"
			};
			bool left_out = c->inner == CTP_PERFETTO_GAP && c->left_out;
			ctp_perfetto_draw_remove(d, co->handle, end_ns, left_out ? " (still left out)" : more[c->inner]);
			co->handle = 0;
		}
	}
}

static void add_undrawn(struct ctp_perfetto_undrawn *to, const struct ctp_perfetto_undrawn *u)
{
	to->strange_runs += u->strange_runs;
	to->strange_suspensions += u->strange_suspensions;
	to->passed_runs += u->passed_runs;
	to->passed_suspensions += u->passed_suspensions;
	to->runs += u->runs;
	to->wakes += u->wakes;
}

static void count_left(struct walk *w)
{
	struct ctp_perfetto_left *left = w->options.left;
	if (!left)
		return;
	left->sections = w->sections;
	add_undrawn(&left->undrawn, &w->draw.undrawn);
	left->transitions += w->transitions;
	for (uint32_t i = 0; i < w->draw.tracks.nshared; i++) {
		left->coroutines += w->draw.tracks.shared[i].coroutines;
		left->waits += w->draw.tracks.shared[i].waits;
		left->runs += w->draw.tracks.shared[i].runs;
	}
}

static void on_end(void *arg, const struct ctp_follow_end *end)
{
	struct walk *w = arg;
	const struct ctp_report *r = &w->analysis->report;
	begin_section(w, end->end_ns);
	uint64_t end_ns = drawn(w, end->end_ns);
	settle(w, end_ns);
	ctp_perfetto_tracks_rename(&w->draw.tracks);
	bool reported = w->sections <= CTP_REPORT_SECTIONS && r->nsections;
	const struct ctp_report_section *sec = reported ? &r->sections[r->nsections - 1] : NULL;
	uint64_t start_ns = sec ? drawn(w, sec->start_ns) : 0;
	if (sec)
		ctp_perfetto_findings(&w->draw, sec, start_ns);
	ctp_perfetto_left_out(&w->draw, end_ns);
	ctp_perfetto_about(&w->draw, sec, ctp_most(start_ns, drawn(w, w->follow->since_ns)), end_ns,
	                   end->cut ? "the trace ends, maybe before the program" : "the trace ends");
	count_left(w);
}

/* --- the sink ------------------------------------------------------------------------------------------------------------- */

static enum ctp_status take_section(struct ctp_sink *sink, const struct ctp_section *sec, struct ctp_err *err)
{
	struct walk *w = (struct walk *)sink;
	if (ctp_report_window(&w->analysis->report, sec, err))
		return CTP_FAILED;
	w->analysis->input = sink->input;
	ctp_analysis_section(w->analysis, sec);
	return ctp_output_status(w->out, err);
}

static enum ctp_status take_records(struct ctp_sink *sink, const struct ctp_batch *batch, struct ctp_err *err)
{
	struct walk *w = (struct walk *)sink;
	ctp_analysis_records(w->analysis, batch);
	return ctp_output_status(w->out, err);
}

static enum ctp_status take_end(struct ctp_sink *sink, const struct ctp_section_end *end, struct ctp_err *err)
{
	struct walk *w = (struct walk *)sink;
	ctp_analysis_end(w->analysis, end);
	if (w->analysis->report.failed || w->draw.failed || w->draw.names.failed || w->draw.tracks.failed)
		return ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", w->out->name);
	return ctp_output_status(w->out, err);
}

static enum ctp_status finish(struct ctp_sink *sink, struct ctp_err *err)
{
	struct walk *w = (struct walk *)sink;
	w->form->ops->finish(w->form);
	return ctp_output_close(w->out, err);
}

static void free_walk(struct ctp_sink *sink)
{
	struct walk *w = (struct walk *)sink;
	ctp_output_abandon(w->out);
	if (w->form) {
		ctp_perfetto_draw_fini(&w->draw);
		w->form->ops->free(w->form);
	}
	ctp_analysis_free(w->analysis);
	free(w);
}

struct ctp_sink *ctp_perfetto_sink(struct ctp_output *out, const struct ctp_perfetto_options *options, struct ctp_err *err)
{
	static const struct ctp_sink_ops ops = {.section = take_section, .records = take_records, .end = take_end, .finish = finish,
	                                        .free = free_walk};
	static const struct ctp_follow_ops listens = {.section = on_section, .change = on_change, .end = on_end,
	                                              .thread_gap = on_thread_gap, .unchanged = on_unchanged};
	struct walk *w = calloc(1, sizeof *w);
	struct ctp_analysis *analysis = w ? ctp_analysis_new(&options->report, err) : NULL;
	if (!analysis) {
		if (!w)
			ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", out->name);
		ctp_output_abandon(out);
		free(w);
		return NULL;
	}
	w->sink.ops = &ops;
	w->out = out;
	w->options = *options;
	w->analysis = analysis;
	w->follow = &analysis->follow;
	w->form = options->chrome ? ctp_perfetto_chrome(out) : ctp_perfetto_packets(out);
	if (!w->form || !ctp_perfetto_draw_init(&w->draw, w->form, w->follow, options->lanes, options->threads_only)) {
		ctp_err_as(err, CTP_ERR_MEMORY, "%s: out of memory", out->name);
		free_walk(&w->sink);
		return NULL;
	}
	ctp_analysis_listen(analysis, &listens, w);
	return &w->sink;
}
