/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* queue-ends.c - see queue-ends.h. */
#include "analyse/queue-ends.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"

enum { ROOM_MIN = 64 };

struct key {
	uint64_t pid, at;
};

static bool is_queue(const void *items, uint32_t number, const void *key)
{
	const struct ctp_queue *queue = &((const struct ctp_queues *)items)->list[number];
	const struct key *k = key;
	return queue->at == k->at && queue->pid == k->pid;
}

static uint64_t hash_queue(const void *items, uint32_t number)
{
	const struct ctp_queues *q = items;
	return ctp_map_pair(&q->map, q->list[number].at, q->list[number].pid);
}

static uint32_t *slot_of(const struct ctp_queues *q, uint64_t pid, uint64_t at)
{
	struct key key = {pid, at};
	return ctp_map_slot(&q->map, ctp_map_pair(&q->map, at, pid), is_queue, q, &key);
}

bool ctp_queues_init(struct ctp_queues *q)
{
	*q = (struct ctp_queues){.room = ROOM_MIN, .list = calloc(ROOM_MIN, sizeof *q->list)};
	return ctp_map_init(&q->map, ROOM_MIN) && q->list;
}

void ctp_queues_fini(struct ctp_queues *q)
{
	ctp_map_fini(&q->map);
	free(q->list);
}

void ctp_queues_clear(struct ctp_queues *q)
{
	ctp_map_clear(&q->map);
	q->count = 0;
}

/* Without room for one more, all queues are forgotten. */
static void make_room(struct ctp_queues *q)
{
	if (!CTP_ARRAY_RESERVE(q->list, q->room, q->count + 2, CTP_QUEUES_MAX + 1) ||
	    !ctp_map_reserve(&q->map, q->count, hash_queue, q))
		ctp_queues_clear(q);
	assert(q->count + 1 < q->room && q->count < q->map.nslots / 2);
}

static void use(struct ctp_queue_end *end, uint64_t coro)
{
	uint32_t i = 0;
	assert(end->n <= CTP_QUEUE_USERS);
	while (i < end->n && end->users[i].coro != coro)
		i++;
	end->uses++;
	if (i == CTP_QUEUE_USERS) {
		end->more = true;
		return;
	}
	if (i == end->n)
		end->users[end->n++] = (struct ctp_queue_user){.coro = coro};
	end->users[i].uses++;
}

void ctp_queues_use(struct ctp_queues *q, uint64_t pid, uint64_t at, uint64_t coro, bool gives)
{
	uint32_t number = *slot_of(q, pid, at);
	if (!number) {
		make_room(q);
		*slot_of(q, pid, at) = number = ++q->count;
		q->list[number] = (struct ctp_queue){.pid = pid, .at = at};
	}
	use(gives ? &q->list[number].gives : &q->list[number].takes, coro);
}

void ctp_queues_forget(struct ctp_queues *q, uint64_t pid, uint64_t at)
{
	uint32_t number = q->count ? *slot_of(q, pid, at) : 0;
	if (number)
		q->list[number] = (struct ctp_queue){.pid = pid, .at = at};
}

const struct ctp_queue *ctp_queues_find(const struct ctp_queues *q, uint64_t pid, uint64_t at)
{
	uint32_t number = q->count ? *slot_of(q, pid, at) : 0;
	return number ? &q->list[number] : NULL;
}
