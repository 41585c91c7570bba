/* queue-ends: who uses which end of a queue; and that there is a limit on queues, and on users of one. */
#include "analyse/queue-ends.h"
#include "tap.h"

enum { PID = 7, A = 0x1000, MANY = 3 * CTP_QUEUES_MAX };

int main(void)
{
	struct ctp_queues q;
	ok(ctp_queues_init(&q), "there is room");
	ok(!ctp_queues_find(&q, PID, A), "none is known");
	for (int i = 0; i < 5; i++) {
		ctp_queues_use(&q, PID, A, 1, true);
		ctp_queues_use(&q, PID, A, 2, false);
		ctp_queues_use(&q, PID + 1, A, 3, false);
	}
	const struct ctp_queue *queue = ctp_queues_find(&q, PID, A);
	ok(queue && queue->gives.n == 1 && queue->gives.users[0].coro == 1 && queue->gives.users[0].uses == 5, "one gives");
	ok(queue && queue->takes.n == 1 && queue->takes.users[0].coro == 2 && queue->takes.uses == 5, "one takes");
	for (uint64_t co = 10; co < 20; co++)
		ctp_queues_use(&q, PID, A, co, true);
	ok(queue->gives.n == CTP_QUEUE_USERS && queue->gives.more && queue->gives.uses == 15, "of many, a few are kept, and all are counted");
	ctp_queues_forget(&q, PID, A);
	queue = ctp_queues_find(&q, PID, A);
	ok(queue && !queue->gives.n && !queue->takes.n && !queue->gives.more, "one that is gone has no users");
	ctp_queues_forget(&q, PID, A + 1);
	unsigned wrong = 0;
	for (uint64_t i = 1; i <= MANY; i++) {
		ctp_queues_use(&q, PID, A + 16 * i, i, false);
		queue = ctp_queues_find(&q, PID, A + 16 * i);
		wrong += !queue || queue->takes.users[0].coro != i || queue->takes.uses != 1 || q.count > CTP_QUEUES_MAX;
	}
	is_u64(wrong, 0, "of very many the last ones are known");
	ctp_queues_clear(&q);
	ok(!ctp_queues_find(&q, PID, A + 16), "and none after the end of a section");
	ctp_queues_fini(&q);
	return done_testing();
}
