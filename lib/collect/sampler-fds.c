/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * sampler-fds.c - when the descriptors that coroutines wait for are looked at, and the records of what was found.
 *
 * A descriptor is looked at when a coroutine has waited for it for a second, and every ten seconds from then on, also while others
 * are busy. A look is a burst of system calls: there is one a second at most, and fewer if it takes long.
 *
 * A descriptor that has not changed since its last record gets no new one, unless a coroutine has begun to wait for it since. So the
 * time of its last record is the first time at which it was seen as it is.
 */
#include "base/clock.h"
#include "collect/proc-stat.h"
#include "collect/sampler.h"
#include "collect/waited-fds.h"

static const uint64_t MS = 1000000;

enum {
	WAIT_MS = 1000,   /* a wait of this length gets a look at its descriptor, */
	AGAIN_MS = 10000, /* and another look after this time */
	APART_MS = 1000,  /* the least time between two looks, */
	REST_FACTOR = 50, /* which is also at least this many times as long as the last look took */
};

/* The number here of a process that was named as waiting; 0: it is no target of ours. */
static pid_t process_of(struct ctp_sampler *s, uint64_t pid)
{
	unsigned depth;
	if (!pid || pid > INT32_MAX)
		return 0;
	if (!ctp_sampler_elsewhere(s))
		return ctp_targets_has(s->targets, (pid_t)pid) ? (pid_t)pid : 0;
	return ctp_proc_stat_number_of(s->proc.dir, (uint64_t)s->pid, &depth) == pid ? s->pid : 0;
}

static bool is_same(const struct ctp_waited_fd *e, const struct ctp_descriptor_ask *ask)
{
	bool same_queues = e->unread == ask->unread && e->unsent == ask->unsent && e->ended == ask->ended;
	return e->type == ask->type && same_queues && e->side == ask->side && e->last == ask->last;
}

static void write_descriptor(struct ctp_sampler *s, uint64_t ts_ns, struct ctp_waited_fd *e, const struct ctp_descriptor_ask *ask)
{
	if (e->told && is_same(e, ask))
		return;
	e->told = true;
	e->type = (uint8_t)ask->type;
	e->unread = ask->unread;
	e->unsent = ask->unsent;
	e->ended = ask->ended;
	e->side = (uint8_t)ask->side;
	e->last = (uint8_t)ask->last;
	CTP_HARVEST_PUT(s->harvest, CTP_DESCRIPTOR, ts_ns, [CTP_DESCRIPTOR_PID] = e->pid,
	                [CTP_DESCRIPTOR_FD] = (uint64_t)(int64_t)e->fd, [CTP_DESCRIPTOR_TYPE] = ask->type,
	                [CTP_DESCRIPTOR_UNREAD] = ask->unread, [CTP_DESCRIPTOR_UNSENT] = ask->unsent,
	                [CTP_DESCRIPTOR_ENDED] = ask->ended, [CTP_DESCRIPTOR_SIDE] = ask->side, [CTP_DESCRIPTOR_LAST] = ask->last);
}

/* There was something to read, and it is not known yet whether that stays there. */
static bool is_in_doubt(const struct ctp_waited_fd *e) { return e->asked_ns && e->told && (e->unread || e->ended) && !e->again; }

/* When the kernel is to be asked about it. */
static uint64_t due_ns(const struct ctp_waited_fd *e)
{
	if (is_in_doubt(e))
		return e->asked_ns + WAIT_MS * MS;
	return e->asked_ns ? e->asked_ns + AGAIN_MS * MS : e->since_ns + WAIT_MS * MS;
}

/* The longest waits come first. all: those too that are not due. */
static void look(struct ctp_sampler *s, struct ctp_waited_fds *w, uint64_t now_ns, bool all)
{
	struct ctp_descriptor_ask asks[CTP_ASKED_FDS];
	struct ctp_waited_fd *whose[CTP_ASKED_FDS];
	uint64_t pid = 0, next_ns = UINT64_MAX;
	pid_t here = 0;
	size_t n = 0;
	for (uint16_t link = w->oldest; link; link = w->list[link - 1].newer) {
		struct ctp_waited_fd *e = &w->list[link - 1];
		if ((!all && due_ns(e) > now_ns) || n == CTP_ASKED_FDS) {
			next_ns = due_ns(e) < next_ns ? due_ns(e) : next_ns;
			continue;
		}
		if (e->pid != pid)
			here = process_of(s, pid = e->pid);
		e->again = is_in_doubt(e);
		e->asked_ns = now_ns;
		if (!here)
			continue;
		whose[n] = e;
		asks[n++] = (struct ctp_descriptor_ask){.pid = here, .fd = e->fd};
	}
	if (n) {
		ctp_descriptors_ask(&s->descriptors, asks, n);
		s->fds_ns = now_ns;
	}
	for (size_t i = 0; i < n; i++) {
		if (asks[i].found)
			write_descriptor(s, now_ns, whose[i], &asks[i]);
		next_ns = due_ns(whose[i]) < next_ns ? due_ns(whose[i]) : next_ns;
		if (is_in_doubt(whose[i]) && !s->fds_again_ns)
			s->fds_again_ns = due_ns(whose[i]);
	}
	uint64_t done_ns = ctp_clock_ns(), took_ns = done_ns > now_ns ? done_ns - now_ns : 0, apart_ns = APART_MS * MS;
	s->fds_from_ns = now_ns + (n && REST_FACTOR * took_ns > apart_ns ? REST_FACTOR * took_ns : apart_ns);
	s->fds_next_ns = next_ns;
	s->fds_adds = w->adds;
}

uint64_t ctp_sampler_fds_due_ns(const struct ctp_sampler *s)
{
	const struct ctp_waited_fds *w = ctp_harvest_fds(s->harvest);
	if (!w || !w->n)
		return UINT64_MAX;
	if (w->adds != s->fds_adds) /* one of these may be due in a second; the others are due when they were */
		return s->fds_from_ns;
	return s->fds_next_ns > s->fds_from_ns ? s->fds_next_ns : s->fds_from_ns;
}

bool ctp_sampler_fds_between(const struct ctp_sampler *s) { return s->fds_again_ns > s->fds_ns; }

void ctp_sampler_fds(struct ctp_sampler *s, uint64_t now_ns)
{
	if (now_ns >= ctp_sampler_fds_due_ns(s))
		look(s, ctp_harvest_fds(s->harvest), now_ns, false);
}

void ctp_sampler_last_fds(struct ctp_sampler *s, bool once)
{
	struct ctp_waited_fds *w = ctp_harvest_fds(s->harvest);
	if (!w || !w->n || s->gone_ns || (s->fds_ns && s->fds_ns == s->looked_ns) || (once && s->fds_ns))
		return;
	look(s, w, ctp_clock_ns(), true);
}
