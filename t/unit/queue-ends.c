/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/* queue-ends: which coroutines use which end of a queue; the numbers of queues and of users are limited. */
#include "analyse/queue-ends.h"
#include "tap.h"

enum { PID = 7, A = 0x1000, MANY = 3 * CTP_QUEUES_MAX };

int main(void)
{
	struct ctp_queues q;
	ok(ctp_queues_init(&q), "the table is created");
	ok(!ctp_queues_find(&q, PID, A), "an unknown queue is not found");
	for (int i = 0; i < 5; i++) {
		ctp_queues_use(&q, PID, A, 1, true);
		ctp_queues_use(&q, PID, A, 2, false);
		ctp_queues_use(&q, PID + 1, A, 3, false);
	}
	const struct ctp_queue *queue = ctp_queues_find(&q, PID, A);
	ok(queue && queue->gives.n == 1 && queue->gives.users[0].coro == 1 && queue->gives.users[0].uses == 5,
	   "one coroutine gives to the queue");
	ok(queue && queue->takes.n == 1 && queue->takes.users[0].coro == 2 && queue->takes.uses == 5,
	   "one coroutine takes from the queue");
	for (uint64_t co = 10; co < 10 + 2 * CTP_QUEUE_USERS; co++)
		ctp_queues_use(&q, PID, A, co, true);
	ok(queue->gives.n == CTP_QUEUE_USERS && queue->gives.more && queue->gives.uses == 5 + 2 * CTP_QUEUE_USERS,
	   "a few of many users are kept, and all uses are counted");
	ctp_queues_forget(&q, PID, A);
	queue = ctp_queues_find(&q, PID, A);
	ok(queue && !queue->gives.n && !queue->takes.n && !queue->gives.more, "a queue that was destroyed has no users");
	ctp_queues_forget(&q, PID, A + 1);
	unsigned wrong = 0;
	for (uint64_t i = 1; i <= MANY; i++) {
		ctp_queues_use(&q, PID, A + 16 * i, i, false);
		queue = ctp_queues_find(&q, PID, A + 16 * i);
		wrong += !queue || queue->takes.users[0].coro != i || queue->takes.uses != 1 || q.count > CTP_QUEUES_MAX;
	}
	is_u64(wrong, 0, "of very many queues the last ones are kept");
	ctp_queues_clear(&q);
	ok(!ctp_queues_find(&q, PID, A + 16), "no queue is kept after the end of a section");
	ctp_queues_fini(&q);
	return done_testing();
}
