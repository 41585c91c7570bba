/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* follow-seen.c - what the collector saw of the program from outside: its processes and threads, and its end. */
#include <string.h>

#include "analyse/follow-own.h"
#include "base/compare.h"
#include "stream/sink.h"

static void take_thread(struct ctp_follow *f, const struct ctp_roles *roles, const uint64_t *val, uint64_t ts)
{
	struct ctp_thread *th = &f->threads->list[ctp_threads_number(f->threads, ctp_roles_value(val, roles->tid))];
	if (!th->tid)
		return;
	th->pid = ctp_roles_value(val, roles->pid);
	th->seen_ns = ts;
	const struct ctp_str *name = roles->text == CTP_ROLES_NONE ? NULL : ctp_str_val(val[roles->text]);
	size_t len = !name ? 0 : name->len < sizeof th->name ? name->len : sizeof th->name - 1;
	if (len)
		memcpy(th->name, name->data, len);
	th->name[len] = '\0';
}

/*
 * The collector has looked at a process. If the process was alive, all of its events up to the look are known. What was seen of the
 * section's own process counts for the section; and so does what was seen of another one, if only that has coroutines.
 */
static void process_seen(struct ctp_follow *f, const struct ctp_record *rec, uint64_t pid, uint64_t ts)
{
	uint64_t alive_ns = ctp_proc_seen_alive_ns(rec, ts);
	bool alone = true;
	for (uint32_t i = 1; i < f->threads->count; i++) {
		struct ctp_thread *th = &f->threads->list[i];
		if (th->pid == pid && alive_ns > th->seen_ns)
			th->seen_ns = alive_ns;
		alone &= th->pid == pid || !th->resumes;
	}
	if (pid == f->pid || alone)
		ctp_proc_seen_process(&f->seen, rec, ts, f->counts.last_ns);
}

static void take_sample(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec, uint64_t ts)
{
	uint64_t tid = ctp_roles_value(rec->val, roles->tid);
	struct ctp_thread *th = ctp_threads_has(f->threads, tid) ? &f->threads->list[ctp_threads_number(f->threads, tid)] : NULL;
	if (th && !f->attached_ns && !th->delay.samples)
		th->delay.samples = 1; /* the trace has the start of the thread */
	struct ctp_proc_seen_at before = th ? th->delay.last : (struct ctp_proc_seen_at){0};
	bool ready = ctp_proc_seen_sample(&f->seen, rec, ts, th && th->current ? &th->seen : NULL, th ? &th->delay : NULL);
	if (!th)
		return;
	ctp_stalls_sample(&th->stalls, before, th->delay.last, ready, th->last_ns);
	if (th->stalls.n || th->stalls.first.ts_ns < th->stalls.last.ts_ns)
		f->threads->stalled_ns = ts;
}

static void take_untraced(struct ctp_follow *f, const struct ctp_record *rec)
{
	f->counts.untraced = ctp_most(f->counts.untraced, ctp_record_untraced(rec));
}

void ctp_follow_seen(struct ctp_follow *f, const struct ctp_roles *roles, const struct ctp_record *rec, uint64_t ts)
{
	switch (roles->kind) {
	case CTP_KIND_THREAD:
		take_thread(f, roles, rec->val, ts);
		break;
	case CTP_KIND_END:
		f->priv->ended = ctp_ended_read(rec);
		f->priv->end_ns = ctp_ended_ns(rec, ts);
		f->priv->gone_ns = ctp_most(f->priv->end_ns, ctp_roles_value(rec->val, ctp_roles_named(rec->cls, "before")));
		f->priv->end_seen = true;
		take_untraced(f, rec);
		break;
	case CTP_KIND_UNTRACED:
		take_untraced(f, rec);
		break;
	case CTP_KIND_PROCESS:
		process_seen(f, rec, ctp_roles_value(rec->val, roles->pid), ts);
		break;
	case CTP_KIND_SIGNAL:
		f->priv->signalled = ctp_signalled_read(rec, ts);
		break;
	case CTP_KIND_SAMPLE:
		take_sample(f, roles, rec, ts);
		break;
	default:
		break;
	}
}
