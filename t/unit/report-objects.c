/*
 * report-objects.c - the rules about timers, descriptors, and what is available. For each premise of each rule there is a scene that
 * breaks only that one, and then nothing is found.
 */
#include <poll.h>

#include "objects-scene.h"

/* --- timers --------------------------------------------------------------------------------------------------------------- */

static void timers(void)
{
	scene();
	waits_alone(1, CTP_WAITS_TIMER, AT + 10 * MS, 1, 0);
	is(over(), "timer-overdue likely 1", "a timer is past due, and its waiter was not woken");
	ok(strstr(why, "coroutine #1 waits for a timer that was due 2.69 s before the end"), "which is said: %s", why);
	scene();
	waits_alone(1, CTP_WAITS_TIMER, END * (uint64_t)MS + S, 1, 0);
	is(over(), "", "but not before it is due");
	is(suspected, "", "nor is it suspect");
	scene();
	waits_alone(1, CTP_WAITS_TIMER, AT + 10 * MS, 1, 0);
	is(over_at(700), "", "nor as long as the machine may be late");
	scene();
	runs(10 * MS, 1);
	waits_for(&h, 10 * MS + 1, 1, CTP_WAITS_TIMER, 20 * MS);
	stops(10 * MS + 2, 1);
	runs(20 * MS + 1400 * MS, 1);
	waits_for(&h, 1421 * MS, 1, CTP_WAITS_TIMER, 1422 * MS);
	stops(1422 * MS, 1);
	is(over_at(1422 + 2700), "", "nor if such a wake was half as late before");
	scene();
	runs(10 * MS, 1);
	waits_for(&h, 10 * MS + 1, 1, CTP_WAITS_TIMER, 20 * MS);
	stops(10 * MS + 2, 1);
	runs(20 * MS + 200 * MS, 1);
	waits_for(&h, 221 * MS, 1, CTP_WAITS_TIMER, 222 * MS);
	stops(222 * MS, 1);
	is(over_at(222 + 2700), "timer-overdue likely 1", "but if it is far later than ever");
	scene();
	waits_alone(1, CTP_WAITS_TIMER, AT + 10 * MS, 1, 0);
	is_woken(&h, AT + 11 * MS, 1, 6, 0);
	is(over(), "", "nor if it was woken");
	scene();
	waits_alone(1, CTP_WAITS_TIMER, AT + 10 * MS, 1, 0);
	runs(AT + 5 * MS, 2);
	ok(!strstr(over(), "timer-overdue"), "nor while another coroutine has the thread: %s", found);
	scene();
	runs(AT - 10, 1);
	for (uint64_t i = 0; i < 5; i++)
		waits_for(&h, AT - 5, 1, CTP_WAITS_TIMER, AT + 10 * MS);
	stops(AT, 1);
	is(over(), "", "nor with five reasons, of which four are kept");
	scene();
	waits_alone(1, CTP_WAITS_TIMER, AT + 10 * MS, 1, 0);
	are_missed(&h, AT + MS, AT + 2 * MS, 6);
	is(over(), "timer-overdue unknown 1", "if a wake may be missing, nothing is known");
}

/* --- what is there -------------------------------------------------------------------------------------------------------- */

static void items(void)
{
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	is(over(), "available-not-woken likely 1", "an item is there, and its worker sleeps");
	ok(strstr(why, "waits for an item of the queue at 0x1000 (some in it)"), "which is said: %s", why);
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	has(&h, AT + 2 * MS, A, CTP_WAITS_ITEM, 2);
	over();
	ok(strstr(why, "an item of the queue at 0x1000 (2 in it)"), "with their number, if each change is told: %s", why);
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	is(over(), "", "with nothing there it is idle");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	has(&h, AT + 2 * MS, A, CTP_WAITS_ITEM, 0);
	is(over(), "", "and if another has taken it");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, (END - 400) * (uint64_t)MS, A, CTP_WAITS_ITEM, 3);
	is(over(), "", "or if it came just now");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, CTP_REASON_RESTS);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	is(over(), "available-not-woken likely 1", "also if it may rest there: not while there is work");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ROOM, 3);
	is(over(), "", "or if only room is there");
	scene();
	has(&h, 10, A, CTP_WAITS_ROOM, 0);
	waits_alone(1, CTP_WAITS_ROOM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ROOM, 3);
	is(over(), "available-not-woken likely 1", "of which one that sends is to hear");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	waits_alone(2, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 1);
	is_woken(&h, AT + 2 * MS, 2, 6, 0);
	ok(!strstr(over(), "available-not-woken"), "one that was woken will come for it: %s", found);
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	waits_alone(2, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 1);
	is_woken(&h, AT + 2 * MS, 2, 6, 0);
	resumes(&h, AT + 3 * MS, 2, 5);
	dies(&h, AT + 4 * MS, 2);
	is(over(), "available-not-woken likely 1", "but not one that has ended without it");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	are_missed(&h, AT + 2 * MS, AT + 3 * MS, 6);
	is(over(), "", "where records are missing, it may be gone");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	has_so(&h, AT + 2 * MS, A, 0, 0, CTP_OBJECT_GONE);
	is(over(), "", "and what is destroyed has nothing");
}

/* A coroutine waits for 389 of 1000 permits, of which another one holds some. */
static const char *wants_389(int64_t held)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 1000, CTP_OBJECT_MADE);
	runs(12, 3);
	if (held)
		gets(&h, 13, 3, A, held);
	stops(14, 3);
	waits_alone(1, CTP_WAITS_PERMITS, A, 389, 0);
	return over();
}

static void permits(void)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 4, CTP_OBJECT_MADE);
	has(&h, 11, A, CTP_WAITS_PERMITS, 0);
	waits_alone(1, CTP_WAITS_PERMITS, A, 3, 0);
	waits_alone(2, CTP_WAITS_PERMITS, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_PERMITS, 2);
	is(over(), "", "one that waits for more than there is keeps the others behind it");
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 4, CTP_OBJECT_MADE);
	has(&h, 11, A, CTP_WAITS_PERMITS, 0);
	waits_alone(1, CTP_WAITS_PERMITS, A, 2, 0);
	waits_alone(2, CTP_WAITS_PERMITS, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_PERMITS, 1);
	has(&h, AT + 2 * MS, A, CTP_WAITS_PERMITS, 2);
	is(over(), "available-not-woken likely 1, available-not-woken likely 1", "but not if there is enough for it");
	is(wants_389(0), "", "a count that is told only when it becomes 0 says nothing of 389");
	is(wants_389(700), "", "and what others hold is not there");
	is(wants_389(300), "available-not-woken likely 1", "but the rest is");
	ok(strstr(why, "waits for 389 of 1000 permits of the semaphore at 0x1000 (700 free)"), "which is said: %s", why);
}

static void closed(void)
{
	scene();
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has_so(&h, AT + MS, A, 0, 0, CTP_OBJECT_CLOSED);
	is(over(), "closed-not-woken likely 1", "what it waits for was closed");
	scene();
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has_so(&h, AT + MS, B, 0, 0, CTP_OBJECT_CLOSED);
	is(over(), "", "but not if another thing was");
	scene();
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has_so(&h, (END - 400) * (uint64_t)MS, A, 0, 0, CTP_OBJECT_CLOSED);
	is(over(), "", "nor just now");
	scene();
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has_so(&h, AT + MS, A, 0, 0, CTP_OBJECT_CLOSED);
	is_woken(&h, AT + 2 * MS, 1, 6, 0);
	ok(!strstr(over(), "closed"), "nor if it was woken: %s", found);
	scene();
	has_so(&h, 10, A, 0, 0, CTP_OBJECT_CLOSED);
	has_so(&h, 11, A, CTP_WAITS_ITEM, 0, CTP_OBJECT_MADE);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	is(over(), "", "nor if another is at the address by now");
}

static void strays(bool for_it, bool taken)
{
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	waits_alone(2, CTP_WAITS_EVENT, B, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 1);
	is_woken_for(&h, AT + 2 * MS, for_it ? 1 : 2, 6, 0, A);
	resumes(&h, AT + 3 * MS, for_it ? 1 : 2, 5);
	if (taken)
		has(&h, AT + 4 * MS, A, CTP_WAITS_ITEM, 0);
	waits_for(&h, AT + 4 * MS, for_it ? 1 : 2, for_it ? CTP_WAITS_ITEM : CTP_WAITS_EVENT, for_it ? A : B);
	stops(AT + 5 * MS, for_it ? 1 : 2);
	over();
}

static void stray_wakes(void)
{
	strays(false, false);
	is(found, "wake-strayed likely 1", "the wake for it went to one that waits for something else");
	ok(strstr(why, "coroutine #2 was woken for it"), "who is named: %s", why);
	strays(true, true);
	is(found, "", "not if it went to one that waits for it");
	strays(false, true);
	is(found, "", "nor if the item was taken all the same");
}

static void descriptors(void)
{
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, AT + S, FD, 12);
	is(over(), "unread-data likely 1", "a socket has unread data, and its reader sleeps");
	ok(strstr(why, "the kernel had 12 bytes for descriptor 7"), "which is said: %s", why);
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, AT + S, FD, 12);
	kernel_has(&h, (END - 400) * (uint64_t)MS, FD, 13);
	is(over(), "unread-data likely 1", "also if there is more just now");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	resumes(&h, AT + MS, 2, 5);
	kernel_has(&h, AT + S, FD, 12);
	ok(!strstr(over(), "unread-data"), "not while another holds its thread: %s", found);
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLOUT, 0);
	kernel_has(&h, AT + S, FD, 12);
	is(over(), "", "but not if it waits to write");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, AT + S, FD, 0);
	is(over(), "", "nor if there is nothing");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, AT + S, FD + 1, 12);
	is(over(), "", "nor if another one has it");
	scene();
	kernel_has(&h, AT - 100, FD, 12);
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	is(over(), "", "nor if that was before");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, (END - 400) * (uint64_t)MS, FD, 12);
	is(over(), "", "nor if it is about to read");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has_end(&h, AT + S, FD);
	is(over(), "unread-data likely 1", "the other side has hung up, and its reader sleeps");
	ok(strstr(why, "the kernel had the end of the stream for descriptor 7"), "which is said: %s", why);
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, AT + S, FD, 12);
	kernel_has_end(&h, (END - 400) * (uint64_t)MS, FD);
	is(over(), "unread-data likely 1", "also if there was something to read before");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLOUT, 0);
	kernel_has_end(&h, AT + S, FD);
	is(over(), "", "but not if it waits to write");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has_end(&h, (END - 400) * (uint64_t)MS, FD);
	is(over(), "", "nor if it is about to hear of it");
}

/* --- queues --------------------------------------------------------------------------------------------------------------- */

/* 400 in 8 s, which have all run just now, and wait again. */
static const char *queue_grows(enum ctp_waits_for what, uint64_t available)
{
	begin();
	has(&h, 10, A, what, available);
	for (uint64_t n = 0; n < 400; n++) {
		uint64_t ts = MS + n * 20 * MS;
		is_born(&h, ts, 100 + n, MAKER);
		resumes(&h, ts + 1, 100 + n, 5);
		suspends(&h, ts + 2, 100 + n, 5, 50);
	}
	for (uint64_t n = 0; n < 400; n++) {
		uint64_t ts = 8 * S + 20 * MS + n * 10;
		resumes(&h, ts, 100 + n, 5);
		waits_for(&h, ts + 1, 100 + n, what, A);
		suspends(&h, ts + 2, 100 + n, 5, 50);
	}
	is_over(&h, 8 * S + 100 * MS, CTP_OUTCOME_KILLED);
	return end();
}

static void queues(void)
{
	is(queue_grows(CTP_WAITS_LOCK, 0), "growth likely 400", "more and more wait for a lock");
	is(queue_grows(CTP_WAITS_PERMITS, 0), "growth likely 400", "or for permits");
	is(queue_grows(CTP_WAITS_PERMITS, 1), "", "but not if there are some");
	is(queue_grows(CTP_WAITS_ITEM, 0), "", "those that wait for work are only more");
}

/*
 * Coroutine 2 gives what coroutine 1 takes, 40 times, and ends: each waits at the queue each time, which takes no time. 1 rests elsewhere,
 * unless it rests there. Then 1 waits for one more.
 */
struct pair {
	uint64_t times, taken; /* how often 2 gives, and 1 takes */
	uint64_t dies_ms, end_ms;
	bool rests, other, room, refilled;
	bool nowhere_else; /* 1 waits for nothing but the queue */
	uint64_t marks;
};

static const char *queue_pair(struct pair p)
{
	enum ctp_waits_for own = p.room ? CTP_WAITS_ROOM : CTP_WAITS_ITEM, others = p.room ? CTP_WAITS_ITEM : CTP_WAITS_ROOM;
	scene();
	for (uint64_t i = 0; i < p.times || i < p.taken; i++) {
		uint64_t ts = 10 * MS + i * 5 * MS;
		if (i < p.times) {
			runs(ts, 2);
			waits_for(&h, ts + 1, 2, others, A);
			stops(ts + 2, 2);
			runs(ts + 4, 2);
			waits_so(&h, ts + 5, 2, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
			stops(ts + 6, 2);
		}
		if (i < p.taken) {
			runs(ts + 10, 1);
			waits_for(&h, ts + 11, 1, own, A);
			suspends(&h, ts + 12, 1, 5, p.rests ? 31 : 40);
			if (p.nowhere_else)
				continue;
			runs(ts + 14, 1);
			waits_so(&h, ts + 15, 1, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
			suspends(&h, ts + 16, 1, 5, p.rests ? 40 : 31);
		}
	}
	if (p.other) {
		runs(AT - MS, 3);
		waits_for(&h, AT - MS + 1, 3, others, A);
		stops(AT - MS + 2, 3);
		runs(AT - MS + 4, 3);
		waits_so(&h, AT - MS + 5, 3, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		stops(AT - MS + 6, 3);
	}
	runs(AT, 1);
	waits_so(&h, AT + 1, 1, own, A, 1, p.marks);
	suspends(&h, AT + 2, 1, 5, p.rests ? 31 : 40);
	if (p.refilled)
		has(&h, AT + 3, A, own, 1);
	if (p.dies_ms)
		dies(&h, p.dies_ms * MS, 2);
	return over_at(p.end_ms);
}

static void peers(void)
{
	const struct pair good = {.times = 40, .taken = 40, .dies_ms = 310, .end_ms = END};
	struct pair p = good;
	is(queue_pair(p), "peer-ended likely 1", "who gave to the queue has ended, and one waits for more");
	ok(strstr(why, "coroutine #2 has given to it 40 times, and has ended"), "which is said: %s", why);
	p.room = true;
	is(queue_pair(p), "peer-ended likely 1", "and so if the one that took has ended");
	p = good, p.dies_ms = 0;
	ok(!strstr(queue_pair(p), "peer"), "but not if it is alive: %s", found);
	p = good, p.dies_ms = END - 400;
	ok(!strstr(queue_pair(p), "peer"), "nor if it ended just now: %s", found);
	p = good, p.other = true;
	ok(!strstr(queue_pair(p), "peer"), "nor if another one gives as well: %s", found);
	p = good, p.times = 30;
	ok(!strstr(queue_pair(p), "peer"), "nor if others must have, that never wait there: %s", found);
	p = good, p.times = p.taken = 15;
	ok(!strstr(queue_pair(p), "peer"), "nor if that was a few times: %s", found);
	p = good, p.end_ms = 1200;
	ok(!strstr(queue_pair(p), "peer"), "nor within a second: %s", found);
	p = good, p.rests = true;
	ok(!strstr(queue_pair(p), "peer"), "nor if it rests there, for the work is done: %s", found);
	p = good, p.nowhere_else = true;
	ok(!strstr(queue_pair(p), "peer"), "nor if it waits nowhere else: %s", found);
	p = good, p.marks = CTP_REASON_TIMED;
	ok(!strstr(queue_pair(p), "peer"), "nor with a time-out: %s", found);
	p = good, p.refilled = true;
	ok(!strstr(queue_pair(p), "peer"), "nor if there is something: %s", found);
}

int main(void)
{
	timers();
	items();
	permits();
	closed();
	stray_wakes();
	descriptors();
	queues();
	peers();
	return done_testing();
}
