/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * perfetto-chrome.c - the form of Chrome's JSON: an array of events, one on a line.
 *
 * Runs on threads are events X, which have a length, and are written when they end. What coroutines do on their lanes are pairs b
 * and e with the lane as id. A wake is an arrow from s to f, or an instant if it has no arrow. Times are microseconds from the
 * begin of the first section. Each event has name, cat, ph, pid, tid, ts and args, because some readers refuse others.
 *
 * speedscope shows events X alone. So waits that go on at the end are also such events, on a thread of their own for each
 * process. They end at the same time, so they nest. A thread has an event X only if it ran a coroutine.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "common/json.h"
#include "perfetto/perfetto-form.h"

struct chrome {
	struct ctp_perfetto_form form;
	uint64_t first_ns;
	int32_t waits_pid; /* of the process that has a thread for waits, the last one; 0: none */
	bool begun;
};

static void put(struct chrome *c, const char *text) { ctp_output_put(c->form.out, text, strlen(text)); }

static void put_number(struct chrome *c, uint64_t n)
{
	char *p = ctp_output_reserve(c->form.out, CTP_TEXT_MAX);
	ctp_output_commit(c->form.out, ctp_text_u64(p, n));
}

/* Nanoseconds as microseconds with three decimals. */
static void put_us(struct chrome *c, uint64_t ns)
{
	char *p = ctp_output_reserve(c->form.out, 2 * CTP_TEXT_MAX);
	p = ctp_text_u64(p, ns / 1000);
	unsigned rest = (unsigned)(ns % 1000);
	*p++ = '.';
	*p++ = (char)('0' + rest / 100);
	*p++ = (char)('0' + rest / 10 % 10);
	*p++ = (char)('0' + rest % 10);
	ctp_output_commit(c->form.out, p);
}

/* The begin of an event, up to the time. more: after the name; or null. */
static void put_head(struct chrome *c, const struct ctp_perfetto_track *t, char phase, const char *cat, const char *name,
                     const char *more, uint64_t ts_ns)
{
	char ph[] = ",\"ph\":\"?\",\"pid\":", all[2 * CTP_PERFETTO_TEXT_MAX + 32];
	size_t len = strlen(name), more_len = more ? strlen(more) : 0;
	memcpy(all, name, len);
	memcpy(all + len, more ? more : "", more_len);
	put(c, c->begun ? ",\n{\"name\":" : "\n{\"name\":");
	c->begun = true;
	ctp_json_put(c->form.out, all, len + more_len);
	put(c, ",\"cat\":\"");
	put(c, cat);
	put(c, "\"");
	ph[7] = phase;
	put(c, ph);
	put_number(c, (uint64_t)t->pid);
	put(c, ",\"tid\":");
	put_number(c, (uint64_t)(t->kind == CTP_PERFETTO_THREAD ? t->tid : t->pid));
	put(c, ",\"ts\":");
	put_us(c, ts_ns > c->first_ns ? ts_ns - c->first_ns : 0);
}

static void put_id(struct chrome *c, uint64_t id)
{
	put(c, ",\"id\":\"");
	put_number(c, id);
	put(c, "\"");
}

/* Texts of the same key follow each other, and are joined: keys of an object must differ. */
static uint32_t put_arg(struct chrome *c, const struct ctp_perfetto_arg *args, uint32_t i, uint32_t n)
{
	const char *key = ctp_perfetto_keys[args[i].key];
	ctp_json_put(c->form.out, key, strlen(key));
	put(c, ":");
	const char *text = args[i].name ? args[i].name->text : args[i].text;
	bool several = text && i + 1 < n && args[i + 1].key == args[i].key;
	if (!text) {
		put_number(c, args[i].number);
		return i + 1;
	}
	put(c, several ? "[" : "");
	ctp_json_put(c->form.out, text, strlen(text));
	uint32_t next = i + 1;
	for (; next < n && args[next].key == args[i].key; next++) {
		put(c, ",");
		ctp_json_put(c->form.out, args[next].text, strlen(args[next].text));
	}
	put(c, several ? "]" : "");
	return next;
}

static void put_args(struct chrome *c, const struct ctp_perfetto_arg *args, uint32_t n)
{
	put(c, ",\"args\":{");
	for (uint32_t i = 0; i < n;) {
		put(c, i ? "," : "");
		i = put_arg(c, args, i, n);
	}
	put(c, "}}");
}

static void section(struct ctp_perfetto_form *form, const struct ctp_perfetto_clock *clock)
{
	struct chrome *c = (struct chrome *)form;
	c->first_ns = clock->first_ns;
	if (clock->section == 1) /* no displayTimeUnit: Perfetto of 2022 took ns there as the unit of all times */
		put(c, "{\"traceEvents\":[");
}

static void put_name(struct chrome *c, const struct ctp_perfetto_track *t, const char *what, const char *name)
{
	put_head(c, t, 'M', "__metadata", what, NULL, 0);
	put(c, ",\"args\":{\"name\":");
	ctp_json_put(c->form.out, name, strlen(name));
	put(c, "}}");
}

static void track(struct ctp_perfetto_form *form, const struct ctp_perfetto_track *t, const char *name)
{
	struct chrome *c = (struct chrome *)form;
	if (t->kind == CTP_PERFETTO_PROCESS)
		put_name(c, t, "process_name", name);
	else if (t->kind == CTP_PERFETTO_THREAD)
		put_name(c, t, "thread_name", name);
}

static const char *name_of(const struct ctp_perfetto_event *e) { return e->name ? e->name->text : ""; }

/* One end of an arrow. It belongs to the run around it, which must be there before, if it begins at the same time. */
static void put_arrow(struct chrome *c, const struct ctp_perfetto_event *e, char phase, uint64_t ts_ns)
{
	put_head(c, e->track, phase, "wake", "wake", NULL, ts_ns);
	put_id(c, e->flow);
	if (phase == 'f')
		put(c, ",\"bp\":\"e\"");
	put_args(c, NULL, 0);
}

/* A wake with an arrow outside of any run gets an instant, which the arrow begins at. */
static void put_wake(struct chrome *c, const struct ctp_perfetto_event *e)
{
	if (e->flow && e->apart) {
		put_head(c, e->track, 'i', "wake", "wake", NULL, e->ts_ns);
		put(c, ",\"s\":\"t\"");
		put_args(c, NULL, 0);
	}
	if (e->flow) {
		put_arrow(c, e, 's', e->ts_ns);
		return;
	}
	put_head(c, e->track, 'i', "wake", "wake", NULL, e->ts_ns);
	put(c, ",\"s\":\"t\"");
	put_args(c, e->args, e->nargs);
}

/* One end of a slice on a lane, or an instant. */
static void put_half(struct chrome *c, const struct ctp_perfetto_event *e, char phase, const char *more, uint64_t ts_ns)
{
	put_head(c, e->track, phase, "coroutine", name_of(e), more, ts_ns);
	put_id(c, e->track->uuid);
	put_args(c, phase == 'b' ? e->args : NULL, phase == 'b' ? e->nargs : 0);
}

/* A wait that goes on, as a frame. No thread has a number so large. */
static void put_open_wait(struct chrome *c, const struct ctp_perfetto_event *e)
{
	char name[2 * CTP_PERFETTO_TEXT_MAX];
	struct ctp_perfetto_track waits = {.kind = CTP_PERFETTO_THREAD, .pid = e->track->pid};
	waits.tid = (int32_t)((uint32_t)waits.pid ^ 1u << 30);
	if (c->waits_pid != waits.pid)
		put_name(c, &waits, "thread_name", "waits that go on at the end");
	c->waits_pid = waits.pid;
	snprintf(name, sizeof name, "%s: %s", e->waiter->text, name_of(e));
	put_head(c, &waits, 'X', "wait", name, e->more, e->from_ns);
	put(c, ",\"dur\":");
	put_us(c, e->ts_ns - e->from_ns);
	put_args(c, e->args, e->nargs);
}

/*
 * The life of a coroutine has a number, and is there before what is in it, for the two may begin at one time. So its name cannot
 * say that it is open at the end: that is an instant.
 */
static void put_slice(struct chrome *c, const struct ctp_perfetto_event *e)
{
	bool run = e->track->kind == CTP_PERFETTO_THREAD, ends = e->type == CTP_PERFETTO_END, life = e->coro != 0;
	if (run && ends) {
		put_head(c, e->track, 'X', "run", name_of(e), e->more, e->from_ns);
		put(c, ",\"dur\":");
		put_us(c, e->ts_ns - e->from_ns);
		put_args(c, e->args, e->nargs);
		if (e->flow)
			put_arrow(c, e, 'f', e->from_ns);
	}
	if (!run && (life ? !ends : ends))
		put_half(c, e, 'b', life ? NULL : e->more, life ? e->ts_ns : e->from_ns);
	if (e->waiter && e->waiter->text)
		put_open_wait(c, e);
	if (!run && ends && life && e->more)
		put_half(c, e, 'n', e->more, e->ts_ns);
	if (!run && ends)
		put_half(c, e, 'e', life ? NULL : e->more, e->ts_ns);
}

static void event(struct ctp_perfetto_form *form, const struct ctp_perfetto_event *e)
{
	struct chrome *c = (struct chrome *)form;
	if (e->type != CTP_PERFETTO_INSTANT) {
		put_slice(c, e);
	} else if (e->wake) {
		put_wake(c, e);
	} else {
		put_head(c, e->track, 'i', "note", name_of(e), e->more, e->ts_ns);
		put(c, ",\"s\":\"p\"");
		put_args(c, e->args, e->nargs);
	}
}

/* There are no counters: each value would be an event, as long as all others. */
static void count(struct ctp_perfetto_form *form, uint64_t ts_ns, uint64_t runnable, uint64_t alive)
{
	(void)form, (void)ts_ns, (void)runnable, (void)alive;
}

static void finish(struct ctp_perfetto_form *form)
{
	struct chrome *c = (struct chrome *)form;
	put(c, c->begun ? "\n]}\n" : "{\"traceEvents\":[]}\n");
}

static void free_chrome(struct ctp_perfetto_form *form) { free(form); }

struct ctp_perfetto_form *ctp_perfetto_chrome(struct ctp_output *out)
{
	static const struct ctp_perfetto_ops ops = {.section = section, .track = track, .event = event, .count = count,
	                                            .finish = finish, .free = free_chrome};
	struct chrome *c = calloc(1, sizeof *c);
	if (c)
		c->form = (struct ctp_perfetto_form){.ops = &ops, .out = out, .closes = true, .arrows_of_threads = true};
	return c ? &c->form : NULL;
}
