/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* machine.c - stalls of threads, by samples; pauses of the program; and spans that wait until all is known of them. */
#include "analyse/machine.h"

#include <string.h>

#include "analyse/threads.h"
#include "base/compare.h"

static uint64_t overlap_ns(const struct ctp_stall *s, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t a = ctp_most(s->from_ns, from_ns), b = ctp_least(s->to_ns, to_ns);
	return b > a ? b - a : 0;
}

/* --- stalls of a thread --------------------------------------------------------------------------------------------------- */

static void put_stall(struct ctp_stalls *s, uint64_t from_ns, uint64_t to_ns)
{
	const struct ctp_stall *last = s->n ? &s->list[(s->n - 1) % CTP_MACHINE_STALLS] : NULL;
	from_ns = last ? ctp_most(from_ns, last->to_ns) : from_ns;
	if (to_ns > from_ns && to_ns - from_ns >= CTP_MACHINE_NS)
		s->list[s->n++ % CTP_MACHINE_STALLS] = (struct ctp_stall){from_ns, to_ns};
}

/*
 * Several samples found the thread ready, and without a processor in between. The kernel adds the delay when the thread has one
 * again, so the next sample says how long the stall was: it began after the thread's last event, and went on after the last sample.
 */
static void put_seen(struct ctp_stalls *s, const struct ctp_proc_seen_at *now)
{
	uint64_t seen_ns = s->last.ts_ns - s->first.ts_ns;
	uint64_t told_ns = now->delay_ns > s->first.delay_ns ? now->delay_ns - s->first.delay_ns : 0;
	uint64_t ns = ctp_most(seen_ns, told_ns), first_ns = s->last.ts_ns > ns ? s->last.ts_ns - ns : 0;
	uint64_t from_ns = ctp_least(ctp_most(first_ns, s->ran_ns), s->first.ts_ns);
	put_stall(s, from_ns, ctp_most(ctp_least(from_ns + ns, now->ts_ns), s->last.ts_ns));
}

/* Between two samples the thread was mostly without a processor. */
static void put_told(struct ctp_stalls *s, const struct ctp_proc_seen_at *before, const struct ctp_proc_seen_at *now)
{
	uint64_t ns = now->ts_ns - before->ts_ns;
	uint64_t told_ns = now->delay_ns > before->delay_ns ? ctp_least(now->delay_ns - before->delay_ns, ns) : 0;
	if (told_ns >= ns / 2)
		put_stall(s, now->ts_ns - told_ns, now->ts_ns);
}

void ctp_stalls_sample(struct ctp_stalls *s, struct ctp_proc_seen_at before, struct ctp_proc_seen_at now, bool ready, uint64_t ran_ns)
{
	s->kept[s->nkept++ % CTP_MACHINE_KEPT] = now;
	if (s->first.ts_ns && ready && now.cpu_ns == s->first.cpu_ns) {
		s->last = now;
		return;
	}
	if (s->first.ts_ns < s->last.ts_ns)
		put_seen(s, &now);
	else if (before.ts_ns && before.ts_ns < now.ts_ns)
		put_told(s, &before, &now);
	s->first = s->last = ready ? now : (struct ctp_proc_seen_at){0};
	s->ran_ns = ran_ns;
}

uint64_t ctp_stalls_ns(const struct ctp_stalls *s, uint64_t from_ns, uint64_t to_ns)
{
	const struct ctp_stall seen = {s->first.ts_ns, s->last.ts_ns}; /* it may go on */
	uint32_t n = s->n < CTP_MACHINE_STALLS ? s->n : CTP_MACHINE_STALLS;
	uint64_t ns = overlap_ns(&seen, from_ns, to_ns);
	for (uint32_t i = 0; i < n; i++)
		ns += overlap_ns(&s->list[i], from_ns, to_ns);
	return ns;
}

struct ctp_stalls_used ctp_stalls_used(const struct ctp_stalls *s, uint64_t from_ns)
{
	uint32_t n = s->nkept < CTP_MACHINE_KEPT ? s->nkept : CTP_MACHINE_KEPT;
	if (n < 2)
		return (struct ctp_stalls_used){0};
	const struct ctp_proc_seen_at *last = &s->kept[(s->nkept - 1) % CTP_MACHINE_KEPT], *first = last;
	for (uint32_t i = 2; i <= n && first->ts_ns > from_ns; i++)
		first = &s->kept[(s->nkept - i) % CTP_MACHINE_KEPT];
	uint64_t ns = last->ts_ns - ctp_least(first->ts_ns, last->ts_ns);
	uint64_t cpu_ns = last->cpu_ns - ctp_least(first->cpu_ns, last->cpu_ns);
	uint64_t delay_ns = last->delay_ns - ctp_least(first->delay_ns, last->delay_ns);
	uint64_t open_ns = s->last.ts_ns - ctp_least(ctp_most(s->first.ts_ns, first->ts_ns), s->last.ts_ns);
	return (struct ctp_stalls_used){ctp_least(cpu_ns + delay_ns + open_ns, ns), ns};
}

/* --- pauses of the program ------------------------------------------------------------------------------------------------ */

uint64_t ctp_machine_ns(const struct ctp_machine *m, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t n = m->ntaken < CTP_MACHINE_TAKEN ? m->ntaken : CTP_MACHINE_TAKEN;
	uint64_t ns = 0;
	for (uint32_t i = 1; i <= n; i++) {
		const struct ctp_stall *s = &m->taken[(m->ntaken - i) % CTP_MACHINE_TAKEN];
		if (s->to_ns <= from_ns)
			break;
		ns += overlap_ns(s, from_ns, to_ns);
	}
	return ns;
}

/* The machine took as much of a pause as of the thread that was stalled for most of it. */
static void look_at_pause(struct ctp_machine *m, const struct ctp_stall *pause)
{
	uint64_t most_ns = 0;
	if (m->threads->stalled_ns <= pause->from_ns)
		return;
	for (uint32_t i = 1; i < m->threads->count; i++)
		most_ns = ctp_most(most_ns, ctp_stalls_ns(&m->threads->list[i].stalls, pause->from_ns, pause->to_ns));
	most_ns = ctp_least(most_ns, pause->to_ns - pause->from_ns);
	if (most_ns >= CTP_MACHINE_NS)
		m->taken[m->ntaken++ % CTP_MACHINE_TAKEN] = (struct ctp_stall){pause->to_ns - most_ns, pause->to_ns};
}

static void look_at_pauses(struct ctp_machine *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		look_at_pause(m, &m->pauses[i]);
	m->npauses -= n;
	memmove(m->pauses, m->pauses + n, m->npauses * sizeof *m->pauses);
}

void ctp_machine_pause(struct ctp_machine *m, uint64_t from_ns, uint64_t to_ns)
{
	if (m->npauses == CTP_MACHINE_PENDING)
		look_at_pauses(m, CTP_MACHINE_PENDING / 2);
	m->pauses[m->npauses++] = (struct ctp_stall){from_ns, to_ns};
}

void ctp_machine_clear(struct ctp_machine *m, const struct ctp_threads *threads)
{
	m->threads = threads;
	m->ntaken = m->npauses = m->nspans = 0;
	memset(m->wakes, 0, sizeof m->wakes);
}

/* --- spans ---------------------------------------------------------------------------------------------------------------- */

static void count_span(const struct ctp_machine *m, const struct ctp_machine_span *s)
{
	uint64_t run_ns = ctp_least(ctp_most(s->run_ns, s->from_ns), s->to_ns);
	uint64_t stalled_ns = ctp_stalls_ns(&m->threads->list[s->thread].stalls, run_ns, s->to_ns);
	uint64_t part_ns = ctp_machine_ns(m, s->from_ns, run_ns) + ctp_most(stalled_ns, ctp_machine_ns(m, run_ns, s->to_ns));
	*s->longest_ns = ctp_most(*s->longest_ns, s->ns - ctp_least(part_ns, s->ns));
}

static void count_spans(struct ctp_machine *m, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		count_span(m, &m->spans[i]);
	m->nspans -= n;
	memmove(m->spans, m->spans + n, m->nspans * sizeof *m->spans);
}

void ctp_machine_span(struct ctp_machine *m, struct ctp_machine_span span)
{
	if (m->nspans == CTP_MACHINE_PENDING)
		ctp_machine_settle(m, m->spans[CTP_MACHINE_PENDING / 2].to_ns + CTP_MACHINE_SETTLE_NS);
	if (m->nspans == CTP_MACHINE_PENDING) {
		look_at_pauses(m, m->npauses);
		count_spans(m, CTP_MACHINE_PENDING / 2);
	}
	m->spans[m->nspans++] = span;
}

void ctp_machine_settle(struct ctp_machine *m, uint64_t now_ns)
{
	uint32_t pauses = 0, spans = 0;
	while (pauses < m->npauses && m->pauses[pauses].to_ns + CTP_MACHINE_SETTLE_NS <= now_ns)
		pauses++;
	look_at_pauses(m, pauses);
	while (spans < m->nspans && m->spans[spans].to_ns + CTP_MACHINE_SETTLE_NS <= now_ns)
		spans++;
	count_spans(m, spans);
}

/* --- wakes ---------------------------------------------------------------------------------------------------------------- */

void ctp_machine_woke(struct ctp_machine *m, struct ctp_machine_wake wake) { m->wakes[wake.coro % CTP_MACHINE_WAKES] = wake; }

const struct ctp_machine_wake *ctp_machine_wake(const struct ctp_machine *m, uint64_t coro, uint64_t ts_ns)
{
	const struct ctp_machine_wake *w = &m->wakes[coro % CTP_MACHINE_WAKES];
	return w->coro == coro && w->ts_ns == ts_ns ? w : NULL;
}
