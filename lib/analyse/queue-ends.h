/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * queue-ends.h - which coroutines use which end of a queue: whoever waits for an item takes, whoever waits for room gives.
 *
 * A queue is known by its process and its address. The program need not record its end, and another queue may be at the address
 * later. So conclusions need counts that agree: the known coroutines at one end must have given about as much as was taken at the
 * other.
 */
#ifndef CTP_QUEUE_ENDS_H
#define CTP_QUEUE_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

enum {
	CTP_QUEUES_MAX = 1 << 14, /* when there are more, all are forgotten, and counting begins again */
	CTP_QUEUE_USERS = 16,     /* of one end, that are kept */
};

struct ctp_queue_user {
	uint64_t coro;
	uint64_t uses;
};

struct ctp_queue_end {
	uint64_t uses;
	uint32_t n;
	bool more; /* others use it too */
	struct ctp_queue_user users[CTP_QUEUE_USERS];
};

struct ctp_queue {
	uint64_t pid, at;
	struct ctp_queue_end takes, gives;
};

struct ctp_queues {
	struct ctp_queue *list; /* numbers from 1 on */
	uint32_t count;
	size_t room;
	struct ctp_map map;
};

bool ctp_queues_init(struct ctp_queues *q); /* false: out of memory */
void ctp_queues_fini(struct ctp_queues *q);
void ctp_queues_clear(struct ctp_queues *q);

/* A coroutine waits for room, or for an item. */
void ctp_queues_use(struct ctp_queues *q, uint64_t pid, uint64_t at, uint64_t coro, bool gives);

/* Another queue is at the address from now on, or none. */
void ctp_queues_forget(struct ctp_queues *q, uint64_t pid, uint64_t at);

/* Null: the queue is not known. */
const struct ctp_queue *ctp_queues_find(const struct ctp_queues *q, uint64_t pid, uint64_t at);

#endif
