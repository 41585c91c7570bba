/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * ppt-live.c - the loop: looks at the rings, rests, and leaves the process as it was.
 *
 * ppt-attach.c writes to the target. Every way out of the loop goes through leave_all. Between the first begin and that, the only
 * wait is ppoll: outputs have threads of their own, and an output without room is passed over.
 */
#include "ppt/ppt-live.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "ppt/ppt-outs.h"
#include "ppt/ppt-signals.h"
#include "ppt/ppt-trace.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define SECOND (1000 * MS)

enum {
	TURN = 1 << 14,     /* frames that are taken of one ring before the next is looked at */
	REST_MIN_US = 20,   /* a shorter rest is none */
	REST_SLOT_NS = 20,  /* the longest rest, for each slot of a ring */
};

struct live {
	const struct ctp_ppt_live_conf *conf;
	struct ctp_ppt_live_result *result;
	struct ctp_err *err;
	struct ctp_ppt_memory memory;
	struct ctp_ppt_buffers all;
	struct ctp_ppt_trace *trace;
	size_t n, room;
	struct ctp_ppt_outs outs;
	uint64_t start_ns, now_ns, rest_ns, published_ns, checked_ns;
	bool stop, gone, failed;
	bool refused; /* a buffer was given up */
	bool cut; /* no output is left */
};

/* The second signal ends the wait for a reader as well. */
static bool wait_is_over(void)
{
	return ctp_ppt_signals_read() > 1;
}

/* --- counts ---------------------------------------------------------------------------------------------------------------- */

static struct ctp_ppt_counts sum(const struct live *l)
{
	struct ctp_ppt_counts all = {0};
	for (size_t i = 0; i < l->n; i++) {
		struct ctp_ppt_counts c = ctp_ppt_trace_counts(&l->trace[i]);
		all.frames += c.frames;
		all.lost += c.lost;
		all.overrun += c.overrun;
		all.torn += c.torn;
		all.wrong += c.wrong;
		all.unkept += c.unkept;
		all.unverified += c.unverified;
		all.late |= c.late;
	}
	return all;
}

/* Without memory there are no parts. */
static void tally(struct live *l)
{
	l->result->all = sum(l);
	l->result->part = calloc(l->n, sizeof *l->result->part);
	l->result->nparts = l->result->part ? l->n : 0;
	for (size_t i = 0; i < l->result->nparts; i++) {
		struct ctp_ppt_live_part *part = &l->result->part[i];
		snprintf(part->name, sizeof part->name, "%s", l->trace[i].buffer->label);
		part->counts = ctp_ppt_trace_counts(&l->trace[i]);
	}
}

/* --- warnings, each said once ---------------------------------------------------------------------------------------------- */

/* Names the buffers without members for counters: those that the user has named, or all if no buffer has such members. */
static void warn_uncounted(const struct live *l)
{
	bool any = false;
	for (size_t i = 0; i < l->n; i++)
		any |= l->trace[i].at.counters->n > 0;
	for (size_t i = 0; l->conf->counters.n && i < l->n; i++)
		if (!l->trace[i].at.counters->n && (!any || l->conf->buffers[0]))
			ctp_notice_say(l->conf->notice, "%s: has no members for counters, and is attached without",
			               l->trace[i].buffer->label);
}

static void warn(const struct live *l, struct ctp_ppt_trace *t)
{
	static const struct { unsigned flag; const char *text; } texts[] = {
		{CTP_PPT_UNCOUNTED, "the process may not open the counters, or has too many files open: their columns are 0"},
		{CTP_PPT_CROWDED, "more threads read counters than can have them, and to the others they are 0; "
		                  "a program that is built with a larger PPT_THREADS has more"},
		{CTP_PPT_SHARED, "a child that the process has forked has its ring too: what both save is lost, or mixed of two"},
	};
	unsigned troubles = t->at.shm.at ? ctp_ppt_attach_troubles(&t->at) : 0;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (troubles & texts[i].flag)
			ctp_notice_say(l->conf->notice, "%s: %s", t->buffer->label, texts[i].text);
	l->result->partial |= troubles & CTP_PPT_SHARED;
	if (t->late || !t->has_header || !t->at.ring.late)
		return;
	ctp_notice_say(l->conf->notice, "%s: its ring was full before the first look: the trace begins with frame %" PRId32
	               ", and what was saved before is not known", t->buffer->label, t->begins);
	t->late = true;
}

/* --- buffers --------------------------------------------------------------------------------------------------------------- */

static enum ctp_status add_trace(struct live *l, const struct ctp_ppt_buffer *b, struct ctp_err *err)
{
	if (!CTP_ARRAY_RESERVE(l->trace, l->room, l->n + 1, CTP_PPT_BUFFERS_MAX))
		return ctp_err_memory(err);
	struct ctp_ppt_trace *t = &l->trace[l->n];
	if (ctp_ppt_trace_init(t, &l->memory, b, &l->conf->counters, l->conf->exact, err) ||
	    ctp_ppt_room_describe(l->conf, l->trace, l->n + 1, err)) {
		ctp_ppt_trace_fini(t);
		return CTP_FAILED;
	}
	l->n++;
	t->at.user = ctp_ppt_memory_user(l->conf->pid);
	return CTP_OK;
}

static enum ctp_status make_traces(struct live *l)
{
	const struct ctp_ppt_live_conf *conf = l->conf;
	for (size_t i = 0; i < l->all.n; i++) {
		if (!ctp_ppt_chosen(conf->buffers, &l->all.buffer[i]) || !add_trace(l, &l->all.buffer[i], l->err))
			continue;
		if (conf->buffers[0] || l->all.n == 1)
			return CTP_FAILED;
		ctp_notice_say(conf->notice, "%s", l->err->text);
		l->result->partial = true;
	}
	warn_uncounted(l);
	return l->n ? ctp_ppt_room_share(conf, l->trace, l->n, l->err) : CTP_FAILED;
}

static enum ctp_status open_outs(struct live *l)
{
	const char **names = calloc(l->n, sizeof *names);
	if (!names)
		return ctp_err_memory(l->err);
	for (size_t i = 0; i < l->n; i++)
		names[i] = l->trace[i].buffer->name;
	enum ctp_status status = ctp_ppt_outs_open(&l->outs, l->conf->output, l->conf->to_terminal, names, l->n, wait_is_over,
	                                           l->err);
	free(names);
	return status;
}

/* A program that was started may not have loaded all of its libraries yet. It is traced without the buffers that it lacks. */
static void say_missing(const struct live *l)
{
	for (char *const *name = l->conf->buffers; *name; name++) {
		char *const *same = l->conf->buffers;
		while (strcmp(*same, *name))
			same++;
		if (same < name || ctp_ppt_chosen_count(*name, &l->all))
			continue;
		ctp_notice_say(l->conf->notice, "%s: no buffer of this name was found in the process", *name);
		l->result->partial = true;
	}
}

/* --- buffers that end early --------------------------------------------------------------------------------------------------- */

/* This buffer is not traced any more. The others are. */
static void give_up(struct live *l, struct ctp_ppt_trace *t, const struct ctp_err *why)
{
	ctp_ppt_attach_release(&t->at);
	l->result->partial = l->refused = true;
	*l->err = *why;
	if (l->n > 1 || t->writer)
		ctp_notice_say(l->conf->notice, "%s", why->text);
}

/* This buffer has no output: its frames are only counted from now on. If no other buffer has one, the trace has failed. */
static void discard(struct live *l, struct ctp_ppt_trace *t, const struct ctp_err *why)
{
	bool any = false;
	ctp_err_set(l->err, "%s: what it saves is lost from now on: %.300s", t->buffer->label, why->text);
	ctp_ppt_trace_discard(t, UINT64_MAX);
	l->result->partial = true;
	for (size_t i = 0; i < l->n; i++)
		any |= l->trace[i].writer || l->trace[i].at.stage < CTP_PPT_ATTACHED;
	l->cut |= !any;
	l->failed |= !any;
	if (any)
		ctp_notice_say(l->conf->notice, "%s", l->err->text);
}

static void fail_out(struct live *l, size_t i)
{
	struct ctp_err err;
	if (l->outs.alone) {
		l->failed = true; /* the close says why */
		return;
	}
	ctp_ppt_outs_fail(&l->outs, i, &err);
	discard(l, &l->trace[i], &err);
}

static bool is_taken(const struct ctp_ppt_trace *t) { return t->writer || t->discards; }

/* --- resting --------------------------------------------------------------------------------------------------------------- */

static void wait_for(struct live *l, uint64_t ns)
{
	struct pollfd fds[2 + CTP_PPT_BUFFERS_MAX] = {{.fd = ctp_ppt_signals_fd(), .events = POLLIN},
	                                              {.fd = l->memory.process, .events = POLLIN}};
	ctp_ppt_outs_watch(&l->outs, fds + 2);
	struct timespec rest = {.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
	int ready = ppoll(fds, l->n + 2, &rest, NULL);
	l->stop |= ctp_ppt_signals_read() > 0;
	l->gone |= ready > 0 && fds[1].revents;
	for (size_t i = 0; ready > 0 && i < l->n; i++)
		if (fds[2 + i].revents)
			fail_out(l, i);
	l->now_ns = ctp_clock_ns();
}

/*
 * The rest is as long as the fullest ring stays nearly empty; fullest is in parts of 256. It is short while a client may attach at
 * any moment, so that its first frames are not overwritten before the first look.
 */
static void rest(struct live *l, uint32_t fullest, uint32_t fewest, bool waiting)
{
	uint64_t most_ns = fewest * (uint64_t)REST_SLOT_NS;
	most_ns = most_ns < 500 * US ? 500 * US : most_ns > 10 * MS ? 10 * MS : most_ns;
	if (waiting)
		most_ns = l->now_ns - l->start_ns < SECOND ? 100 * US : 1 * MS;
	if (fullest >= 32)
		l->rest_ns /= fullest >= 128 ? 16 : 2;
	else if (fullest < 8)
		l->rest_ns += l->rest_ns / 2 + REST_MIN_US * US;
	l->rest_ns = l->rest_ns > most_ns ? most_ns : l->rest_ns;
	wait_for(l, l->rest_ns < REST_MIN_US * US ? 0 : l->rest_ns);
}

/* --- one buffer ------------------------------------------------------------------------------------------------------------ */

static void begin_section(struct live *l, struct ctp_ppt_trace *t)
{
	struct ctp_err err;
	struct ctp_writer *w = ctp_ppt_outs_writer(&l->outs, (size_t)(t - l->trace), &err);
	if (!w) {
		discard(l, t, &err);
		return;
	}
	ctp_ppt_trace_begin(t, w, l->conf->tool);
	ctp_notice_say(l->conf->notice, "%s: attached, with %" PRIu32 " slots", t->buffer->label, t->at.ring.slots);
}

/* Before the ring is there. */
static void step(struct live *l, struct ctp_ppt_trace *t)
{
	struct ctp_err err;
	enum ctp_status status = ctp_ppt_attach_step(&t->at, &err);
	if (status == CTP_EOF)
		l->gone = true;
	else if (status)
		give_up(l, t, &err);
	else if (t->at.stage == CTP_PPT_ATTACHED)
		begin_section(l, t);
}

/* Takes the new frames, unless the output has no room for them. How full the ring was, in parts of 256. */
static uint32_t look_at(struct live *l, struct ctp_ppt_trace *t)
{
	if (ctp_ppt_outs_tight(&l->outs, (size_t)(t - l->trace)))
		return 0;
	uint64_t n = ctp_ppt_trace_take(t, TURN, false), parts = n == TURN ? 256 : n * 256 / t->at.ring.slots;
	return parts < 256 ? (uint32_t)parts : 256;
}

/* Its frames are taken now, or at the end if the output has no room. A buffer that its program closes is no failure. */
static void close_one(struct live *l, struct ctp_ppt_trace *t, const struct ctp_err *why)
{
	if (!ctp_ppt_outs_tight(&l->outs, (size_t)(t - l->trace)))
		ctp_ppt_trace_take(t, 2 * t->at.ring.slots, false);
	ctp_ppt_attach_release(&t->at);
	t->closed = true;
	ctp_notice_say(l->conf->notice, "%s", why->text);
}

static void check(struct live *l, struct ctp_ppt_trace *t)
{
	struct ctp_err err;
	switch (ctp_ppt_attach_holds(&t->at, &err)) {
	case CTP_PPT_HELD:
		warn(l, t);
		break;
	case CTP_PPT_CLOSED: close_one(l, t, &err); break;
	case CTP_PPT_TAKEN: give_up(l, t, &err); break;
	case CTP_PPT_GONE:
		l->gone = true;
		if (ctp_ppt_memory_lost(&l->memory)) {
			ctp_notice_say(l->conf->notice, "%s", err.text);
			l->result->partial = true;
		}
		break;
	}
}

/* --- the loop -------------------------------------------------------------------------------------------------------------- */

static bool is_due(struct live *l, uint64_t *last_ns, uint64_t every_ns)
{
	if (l->now_ns - *last_ns < every_ns)
		return false;
	*last_ns = l->now_ns;
	return true;
}

static void look_at_all(struct live *l)
{
	uint32_t fullest = 0, fewest = UINT32_MAX;
	bool waiting = false, publish = is_due(l, &l->published_ns, 100 * MS), look = is_due(l, &l->checked_ns, 50 * MS);
	if (publish && l->conf->tick)
		l->conf->tick(l->conf->arg, sum(l));
	for (size_t i = 0; i < l->n; i++) {
		struct ctp_ppt_trace *t = &l->trace[i];
		if (t->at.stage < CTP_PPT_ATTACHED)
			step(l, t);
		waiting |= t->at.stage < CTP_PPT_ATTACHED;
		if (t->at.stage != CTP_PPT_ATTACHED)
			continue;
		uint32_t found = look_at(l, t);
		fullest = found > fullest ? found : fullest;
		fewest = t->at.ring.slots < fewest ? t->at.ring.slots : fewest;
		if (publish && t->writer && !ctp_ppt_outs_tight(&l->outs, i))
			ctp_ppt_trace_publish(t);
		if (look)
			check(l, t);
	}
	rest(l, fullest, fewest == UINT32_MAX ? CTP_PPT_SLOTS_MAX : fewest, waiting);
}

static bool is_attached(const struct live *l)
{
	bool any = false;
	for (size_t i = 0; i < l->n; i++)
		any |= is_taken(&l->trace[i]);
	return any;
}

/* Buffers that have saved nothing. One that the user has not named may be idle. */
static void give_up_waiting(struct live *l)
{
	for (size_t i = 0; i < l->n; i++) {
		struct ctp_ppt_trace *t = &l->trace[i];
		struct ctp_err err;
		if (!t->at.claimed || t->at.ring.slots)
			continue;
		double waited_s = (double)(l->now_ns - l->start_ns) / 1e9;
		if (ctp_ppt_signals_read())
			ctp_err_set(&err, "%s: a signal has ended this after %.3g s, before the process has saved a frame", t->buffer->label, waited_s);
		else
			ctp_err_set(&err, "%s: the process has not saved a frame in %.3g s, and attaches only when it does%s", t->buffer->label,
			            waited_s, l->conf->limit_ns ? "" : "; -t waits longer");
		bool partial = l->result->partial;
		give_up(l, t, &err);
		l->result->partial = partial || l->conf->buffers[0];
	}
}

static bool is_over(struct live *l)
{
	uint64_t passed_ns = l->now_ns - l->start_ns, limit_ns = l->conf->limit_ns;
	if (limit_ns && passed_ns >= limit_ns)
		l->stop = true;
	if (!limit_ns && !l->conf->argv && passed_ns >= CTP_PPT_LIVE_WAIT_S * SECOND && !is_attached(l))
		l->stop = true;
	bool any = false;
	for (size_t i = 0; i < l->n; i++)
		any |= l->trace[i].at.stage < CTP_PPT_LEAVING && !l->trace[i].discards;
	if (l->memory.process < 0 && !ctp_ppt_memory_alive(&l->memory))
		l->gone = true;
	return l->stop || l->gone || l->failed || !any;
}

/* --- leaving --------------------------------------------------------------------------------------------------------------- */

/*
 * A client says that it has attached, and then opens its counters. Their number must not change before that is done: at its first
 * frame.
 */
static void await_counters(struct live *l)
{
	uint64_t until_ns = l->now_ns + 200 * MS;
	for (bool wait = true; wait && !l->gone && l->now_ns < until_ns;) {
		wait = false;
		for (size_t i = 0; i < l->n; i++) {
			struct ctp_ppt_trace *t = &l->trace[i];
			if (t->at.stage == CTP_PPT_ATTACHED && t->at.ncounters && !t->at.ring.begun && t->writer)
				wait |= !ctp_ppt_trace_take(t, 1, false);
		}
		if (wait)
			wait_for(l, MS);
	}
}

/* Frames that are saved from now on lack some of their counters, and are not taken. */
static void leave(struct live *l, struct ctp_ppt_trace *t)
{
	if (is_taken(t) && t->at.ncounters && !ctp_ppt_outs_tight(&l->outs, (size_t)(t - l->trace)))
		ctp_ppt_trace_take(t, t->at.ring.slots, false);
	ctp_ppt_attach_leave(&t->at);
}

/* Restores the target first. What is still to be written can wait. */
static void leave_all(struct live *l)
{
	struct ctp_err ignored;
	uint64_t least_ns = 0;
	if (!l->gone)
		await_counters(l);
	for (size_t i = 0; i < l->n; i++) {
		/* A client may be about to attach: the segment must be there for a moment more. */
		if (l->trace[i].at.stage == CTP_PPT_WAITING)
			least_ns = l->now_ns + 2 * MS;
		if (l->trace[i].at.stage < CTP_PPT_LEAVING)
			leave(l, &l->trace[i]);
	}
	uint64_t until_ns = l->now_ns + SECOND;
	for (bool wait = true; wait && !l->gone && l->now_ns < until_ns;) {
		wait = l->now_ns < least_ns;
		for (size_t i = 0; i < l->n; i++) {
			struct ctp_ppt_trace *t = &l->trace[i];
			if (t->at.stage == CTP_PPT_LEAVING)
				ctp_ppt_attach_step(&t->at, &ignored);
			if (t->at.ring.slots && t->at.claimed && !is_taken(t))
				begin_section(l, t);
			wait |= t->at.stage == CTP_PPT_LEAVING;
			if (is_taken(t) && !t->at.ncounters && !ctp_ppt_outs_tight(&l->outs, i))
				ctp_ppt_trace_take(t, TURN, false);
		}
		if (wait)
			wait_for(l, 200 * US);
	}
	if (!l->failed && !l->gone)
		give_up_waiting(l);
	for (size_t i = 0; i < l->n; i++)
		ctp_ppt_attach_release(&l->trace[i].at);
}

/* A child is not reaped here. Its memory may be gone a moment before it has ended. */
static struct ctp_ppt_outcome outcome_of(const struct live *l, bool replaced)
{
	siginfo_t info = {0};
	if (replaced || !l->gone || ctp_ppt_memory_lost(&l->memory))
		return (struct ctp_ppt_outcome){.how = replaced ? CTP_PPT_OUTCOME_REPLACED : CTP_OUTCOME_RUNNING};
	if (l->conf->argv)
		poll(&(struct pollfd){.fd = l->memory.process, .events = POLLIN}, 1, 1000);
	if (!l->conf->argv || waitid(P_PID, (id_t)l->conf->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return (struct ctp_ppt_outcome){.how = CTP_OUTCOME_ENDED};
	return (struct ctp_ppt_outcome){info.si_code == CLD_EXITED ? CTP_OUTCOME_EXITED : CTP_OUTCOME_KILLED, info.si_status};
}

static void finish_traces(struct live *l, bool replaced)
{
	struct ctp_ppt_outcome outcome = outcome_of(l, replaced);
	for (size_t i = 0; i < l->n; i++) {
		struct ctp_ppt_trace *t = &l->trace[i];
		if (is_taken(t) && (!t->at.ncounters || l->gone || t->closed)) {
			/* All that a ring can hold and no more: a hostile one does not stop writing. */
			ctp_ppt_trace_take(t, 2 * t->at.ring.slots, true);
			ctp_ppt_trace_strays(t);
		}
		ctp_ppt_trace_end(t, t->closed ? (struct ctp_ppt_outcome){.how = CTP_PPT_OUTCOME_CLOSED} : outcome);
		warn(l, t);
		ctp_ppt_attach_end(&t->at);
	}
}

/* --- all of it ------------------------------------------------------------------------------------------------------------- */

/* A buffer that another agent has is left to it, unless the user has named the buffer. */
static bool begin(struct live *l, struct ctp_ppt_trace *t)
{
	struct ctp_err err;
	if (!ctp_ppt_attach_begin(&t->at, l->conf->force, l->conf->notice, &err))
		return true;
	if (!l->conf->buffers[0] && l->n > 1 && !t->at.claimed)
		give_up(l, t, &err);
	else
		*l->err = err;
	return t->at.stage == CTP_PPT_OVER && !l->conf->buffers[0];
}

static enum ctp_status trace(struct live *l)
{
	l->start_ns = l->now_ns = ctp_clock_ns();
	for (size_t i = 0; i < l->n && !l->failed; i++)
		l->failed = !begin(l, &l->trace[i]);
	while (!l->failed && !is_over(l))
		look_at_all(l);
	/* A client may have attached since the last look, saved its frames, and ended. */
	for (size_t i = 0; i < l->n && !l->failed; i++)
		if (l->trace[i].at.stage == CTP_PPT_WAITING)
			step(l, &l->trace[i]);
	leave_all(l);
	bool any = is_attached(l), replaced = l->gone && ctp_ppt_memory_replaced(&l->memory);
	if (any && replaced)
		ctp_notice_say(l->conf->notice, "process %d: has become another program", (int)l->conf->pid);
	if (!any && l->gone && !l->refused)
		ctp_err_set(l->err, "process %d: has %s, and saved no frame before", (int)l->conf->pid,
		            replaced ? "become another program" : "ended");
	else if (!any && !l->failed && l->n > 1)
		ctp_err_set(l->err, "process %d: none of %zu buffers could be attached", (int)l->conf->pid, l->n);
	finish_traces(l, replaced);
	return any && !l->cut ? CTP_OK : CTP_FAILED;
}

static void tell_cut(void *arg, size_t i, uint64_t kept, const char *why)
{
	struct live *l = arg;
	struct ctp_ppt_trace *t = &l->trace[i];
	ctp_ppt_trace_discard(t, kept);
	l->result->partial = true;
	if (why)
		ctp_notice_say(l->conf->notice, "%s: the end of it is lost: %s", t->buffer->label, why);
}

static enum ctp_status run(struct live *l)
{
	const struct ctp_ppt_live_conf *conf = l->conf;
	if (ctp_ppt_symbols_find(&l->all, conf->pid, NULL, conf->notice, l->err))
		return CTP_FAILED;
	bool wanting = ctp_ppt_chosen_check(conf->buffers, &l->all, conf->pid, l->err);
	if ((wanting && !conf->argv) || make_traces(l) || ctp_ppt_shm_join(conf->pid, l->err))
		return CTP_FAILED;
	if (wanting)
		say_missing(l);
	struct ctp_err err;
	enum ctp_status status = ctp_ppt_signals_take(conf, l->err);
	if (!status)
		status = open_outs(l);
	if (!status)
		status = trace(l);
	if (ctp_ppt_outs_close(&l->outs, tell_cut, l, &err) && !status)
		status = ctp_err_set(l->err, "%s", err.text);
	l->result->unread = l->outs.unread;
	tally(l);
	ctp_ppt_signals_await_readers();
	return status;
}

enum ctp_status ctp_ppt_live(const struct ctp_ppt_live_conf *conf, struct ctp_ppt_live_result *result, struct ctp_err *err)
{
	struct live l = {.conf = conf, .result = result, .err = err};
	*result = (struct ctp_ppt_live_result){0};
	if (ctp_ppt_memory_open(&l.memory, conf->pid, true, err)) {
		ctp_ppt_signals_give_back();
		return CTP_FAILED;
	}
	enum ctp_status status = run(&l);
	for (size_t i = 0; i < l.n; i++)
		ctp_ppt_trace_fini(&l.trace[i]);
	free(l.trace);
	ctp_ppt_symbols_free(&l.all);
	ctp_ppt_memory_close(&l.memory);
	ctp_ppt_signals_give_back();
	return status;
}
