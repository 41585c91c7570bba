/*
 * sampler-fds.c - when the descriptors that coroutines wait for are looked at, and the records of what was found.
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
	SILENCE_MS = 1000, /* until a look, */
	AGAIN_MS = 10000,  /* and between looks */
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

static void tell(struct ctp_sampler *s, uint64_t ts_ns, struct ctp_waited_fd *e, const struct ctp_descriptor_ask *ask)
{
	if (e->told && e->type == ask->type && e->unread == ask->unread && e->unsent == ask->unsent)
		return;
	e->told = true;
	e->type = (uint8_t)ask->type;
	e->unread = ask->unread;
	e->unsent = ask->unsent;
	uint64_t *val = ctp_harvest_put(s->harvest, CTP_DESCRIPTOR, ts_ns);
	val[CTP_DESCRIPTOR_TS] = ts_ns;
	val[CTP_DESCRIPTOR_PID] = e->pid;
	val[CTP_DESCRIPTOR_FD] = (uint64_t)(int64_t)e->fd;
	val[CTP_DESCRIPTOR_TYPE] = ask->type;
	val[CTP_DESCRIPTOR_UNREAD] = ask->unread;
	val[CTP_DESCRIPTOR_UNSENT] = ask->unsent;
}

static void look(struct ctp_sampler *s, struct ctp_waited_fds *w, uint64_t now_ns)
{
	struct ctp_descriptor_ask asks[CTP_WAITED_FDS];
	struct ctp_waited_fd *whose[CTP_WAITED_FDS];
	uint64_t pid = 0;
	pid_t here = 0;
	size_t n = 0;
	s->fds_ns = now_ns;
	for (uint16_t link = w->newest; link; link = w->list[link - 1].older) {
		struct ctp_waited_fd *e = &w->list[link - 1];
		if (e->pid != pid)
			here = process_of(s, pid = e->pid);
		if (!here)
			continue;
		whose[n] = e;
		asks[n++] = (struct ctp_descriptor_ask){.pid = here, .fd = e->fd};
	}
	ctp_descriptors_ask(&s->descriptors, asks, n);
	for (size_t i = 0; i < n; i++)
		if (asks[i].found)
			tell(s, now_ns, whose[i], &asks[i]);
}

uint64_t ctp_sampler_fds_due_ns(const struct ctp_sampler *s)
{
	const struct ctp_waited_fds *w = ctp_harvest_fds(s->harvest);
	if (!w || !w->n || !s->all_ns)
		return UINT64_MAX;
	uint64_t silent_ns = s->silent_ns + SILENCE_MS * MS, again_ns = s->fds_ns ? s->fds_ns + AGAIN_MS * MS : 0;
	return silent_ns > again_ns ? silent_ns : again_ns;
}

void ctp_sampler_fds(struct ctp_sampler *s, uint64_t now_ns)
{
	if (now_ns >= ctp_sampler_fds_due_ns(s))
		look(s, ctp_harvest_fds(s->harvest), now_ns);
}

void ctp_sampler_last_fds(struct ctp_sampler *s, bool once)
{
	struct ctp_waited_fds *w = ctp_harvest_fds(s->harvest);
	if (!w || !w->n || s->gone_ns || s->fds_ns == s->looked_ns || (once && s->fds_ns))
		return;
	look(s, w, ctp_clock_ns());
}
