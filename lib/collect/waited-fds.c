/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* waited-fds.c - a hash table with chains, and a list in the order of use through the same entries. */
#include "collect/waited-fds.h"

#include <assert.h>

static uint16_t *bucket_of(struct ctp_waited_fds *w, uint64_t pid, int32_t fd)
{
	return &w->buckets[((uint32_t)fd + (uint32_t)pid * 0x9e3779b1u) % CTP_WAITED_FDS];
}

static struct ctp_waited_fd *at(struct ctp_waited_fds *w, uint16_t link) { return &w->list[link - 1]; }

static uint16_t find(struct ctp_waited_fds *w, uint64_t pid, int32_t fd)
{
	uint16_t link = *bucket_of(w, pid, fd);
	while (link && (at(w, link)->fd != fd || at(w, link)->pid != pid))
		link = at(w, link)->chain;
	return link;
}

static void leave_order(struct ctp_waited_fds *w, uint16_t link)
{
	const struct ctp_waited_fd *e = at(w, link);
	*(e->newer ? &at(w, e->newer)->older : &w->newest) = e->older;
	*(e->older ? &at(w, e->older)->newer : &w->oldest) = e->newer;
}

static void become_newest(struct ctp_waited_fds *w, uint16_t link)
{
	struct ctp_waited_fd *e = at(w, link);
	e->newer = 0;
	e->older = w->newest;
	*(w->newest ? &at(w, w->newest)->newer : &w->oldest) = link;
	w->newest = link;
}

/* An entry that is in no bucket and not in the order: one that was never used, or the oldest. */
static uint16_t take_entry(struct ctp_waited_fds *w)
{
	if (w->n < CTP_WAITED_FDS)
		return ++w->n;
	uint16_t link = w->oldest;
	assert(link && !at(w, link)->older); /* all entries are in the order */
	uint16_t *from = bucket_of(w, at(w, link)->pid, at(w, link)->fd);
	while (*from != link)
		from = &at(w, *from)->chain;
	*from = at(w, link)->chain;
	leave_order(w, link);
	return link;
}

void ctp_waited_fds_add(struct ctp_waited_fds *w, uint64_t pid, int32_t fd, uint64_t ts_ns)
{
	uint16_t link = find(w, pid, fd);
	if (!link) {
		link = take_entry(w);
		uint16_t *bucket = bucket_of(w, pid, fd);
		*at(w, link) = (struct ctp_waited_fd){.pid = pid, .fd = fd, .chain = *bucket};
		*bucket = link;
	} else if (link != w->newest) {
		leave_order(w, link);
	}
	at(w, link)->told = false;
	at(w, link)->since_ns = ts_ns;
	at(w, link)->asked_ns = 0;
	w->adds++;
	if (link != w->newest)
		become_newest(w, link);
	assert(w->newest == link && !at(w, link)->newer && w->oldest);
}
