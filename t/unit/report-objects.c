/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 the ctptools authors */
/*
 * report-objects.c - the rules about timers, descriptors, and available items. For each premise of each rule there is a scene that
 * breaks only that one, and then nothing is found.
 */
#include <poll.h>

#include "objects-scene.h"

/* --- timers --------------------------------------------------------------------------------------------------------------- */

static void timers(void)
{
	scene();
	waits_alone(1, CTP_WAITS_TIMER, AT + 10 * MS, 1, 0);
	is(over(), "timer-overdue likely 1", "a waiter that was not woken by its timer is found");
	ok(strstr(why, "coroutine #1 waits for a timer that was due 2.69 s before the end"),
	   "the finding says how late the timer is: %s", why);
	scene();
	waits_alone(1, CTP_WAITS_TIMER, END * (uint64_t)MS + S, 1, 0);
	is(over(), "", "it is not found before the timer is due");
	is(suspected, "", "it is no suspect before the timer is due");
	scene();
	waits_alone(1, CTP_WAITS_TIMER, AT + 10 * MS, 1, 0);
	is(over_at(700), "", "it is not found while the machine may be late");
	scene();
	runs(10 * MS, 1);
	waits_for(&h, 10 * MS + 1, 1, CTP_WAITS_TIMER, 20 * MS);
	stops(10 * MS + 2, 1);
	runs(20 * MS + 1400 * MS, 1);
	waits_for(&h, 1421 * MS, 1, CTP_WAITS_TIMER, 1422 * MS);
	stops(1422 * MS, 1);
	is(over_at(1422 + 2700), "", "it is not found if an earlier timer was half as late");
	scene();
	runs(10 * MS, 1);
	waits_for(&h, 10 * MS + 1, 1, CTP_WAITS_TIMER, 20 * MS);
	stops(10 * MS + 2, 1);
	runs(20 * MS + 200 * MS, 1);
	waits_for(&h, 221 * MS, 1, CTP_WAITS_TIMER, 222 * MS);
	stops(222 * MS, 1);
	is(over_at(222 + 2700), "timer-overdue likely 1", "it is found if it is far later than ever");
	scene();
	waits_alone(1, CTP_WAITS_TIMER, AT + 10 * MS, 1, 0);
	is_woken(&h, AT + 11 * MS, 1, 6, 0);
	is(over(), "", "it is not found if it was woken");
	scene();
	waits_alone(1, CTP_WAITS_TIMER, AT + 10 * MS, 1, 0);
	runs(AT + 5 * MS, 2);
	ok(!strstr(over(), "timer-overdue"), "it is not found while another coroutine holds the thread: %s", found);
	scene();
	runs(AT - 10, 1);
	for (uint64_t i = 0; i < 5; i++)
		waits_for(&h, AT - 5, 1, CTP_WAITS_TIMER, AT + 10 * MS);
	stops(AT, 1);
	is(over(), "", "it is not found with five reasons, of which four are kept");
	scene();
	waits_alone(1, CTP_WAITS_TIMER, AT + 10 * MS, 1, 0);
	are_missed(&h, AT + MS, AT + 2 * MS, 6);
	is(over(), "timer-overdue unknown 1", "if a wake may be lost, the finding is unknown");
}

/* --- what is there -------------------------------------------------------------------------------------------------------- */

static void items(void)
{
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	is(over(), "available-not-woken likely 1", "a worker that sleeps although an item is available is found");
	ok(strstr(why, "waits for an item of the queue at 0x1000 (some in it)"), "the finding names the queue: %s", why);
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	has(&h, AT + 2 * MS, A, CTP_WAITS_ITEM, 2);
	over();
	ok(strstr(why, "an item of the queue at 0x1000 (2 in it)"),
	   "the finding gives the number of items, if each change is recorded: %s", why);
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	is(over(), "", "a worker without an item is idle");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	has(&h, AT + 2 * MS, A, CTP_WAITS_ITEM, 0);
	is(over(), "", "so it is if another has taken the item");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, (END - 400) * (uint64_t)MS, A, CTP_WAITS_ITEM, 3);
	is(over(), "", "it is not found if the item is very new");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, CTP_REASON_RESTS);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	is(over(), "available-not-woken likely 1", "it is found even if it may rest there");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ROOM, 3);
	is(over(), "", "a worker is not found if only room is available");
	scene();
	has(&h, 10, A, CTP_WAITS_ROOM, 0);
	waits_alone(1, CTP_WAITS_ROOM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ROOM, 3);
	is(over(), "available-not-woken likely 1", "a sender that sleeps although there is room is found");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	waits_alone(2, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 1);
	is_woken(&h, AT + 2 * MS, 2, 6, 0);
	ok(!strstr(over(), "available-not-woken"), "it is not found if another one was woken for the item: %s", found);
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	waits_alone(2, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 1);
	is_woken(&h, AT + 2 * MS, 2, 6, 0);
	resumes(&h, AT + 3 * MS, 2, 5);
	dies(&h, AT + 4 * MS, 2);
	is(over(), "available-not-woken likely 1", "it is found if the woken one has ended without taking the item");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	are_missed(&h, AT + 2 * MS, AT + 3 * MS, 6);
	is(over(), "", "it is not found if records are lost: the item may be gone");
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_ITEM, 3);
	has_so(&h, AT + 2 * MS, A, 0, 0, CTP_OBJECT_GONE);
	is(over(), "", "it is not found if the queue was destroyed");
}

/* A coroutine waits for 389 of 1000 permits; another one holds some of them. */
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
	is(over(), "", "waiters after one in the queue that needs more permits than are free are no finding");
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 4, CTP_OBJECT_MADE);
	has(&h, 11, A, CTP_WAITS_PERMITS, 0);
	waits_alone(1, CTP_WAITS_PERMITS, A, 2, 0);
	waits_alone(2, CTP_WAITS_PERMITS, A, 1, 0);
	has(&h, AT + MS, A, CTP_WAITS_PERMITS, 1);
	has(&h, AT + 2 * MS, A, CTP_WAITS_PERMITS, 2);
	is(over(), "available-not-woken likely 1, available-not-woken likely 1",
	   "they are found if there are enough permits for it");
	is(wants_389(0), "", "a count that is recorded only when it becomes 0 does not prove 389 permits");
	is(wants_389(700), "", "permits that others hold are not free");
	is(wants_389(300), "available-not-woken likely 1", "the rest of the permits is free");
	ok(strstr(why, "waits for 389 of 1000 permits of the pool at 0x1000 (700 free)"),
	   "the finding gives the number of free permits: %s", why);
}

static void closed(void)
{
	scene();
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has_so(&h, AT + MS, A, 0, 0, CTP_OBJECT_CLOSED);
	is(over(), "closed-not-woken likely 1", "a waiter for a closed queue is found");
	scene();
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has_so(&h, AT + MS, B, 0, 0, CTP_OBJECT_CLOSED);
	is(over(), "", "it is not found if another queue was closed");
	scene();
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has_so(&h, (END - 400) * (uint64_t)MS, A, 0, 0, CTP_OBJECT_CLOSED);
	is(over(), "", "it is not found if the close is very new");
	scene();
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	has_so(&h, AT + MS, A, 0, 0, CTP_OBJECT_CLOSED);
	is_woken(&h, AT + 2 * MS, 1, 6, 0);
	ok(!strstr(over(), "closed"), "it is not found if it was woken after the close: %s", found);
	scene();
	has_so(&h, 10, A, 0, 0, CTP_OBJECT_CLOSED);
	has_so(&h, 11, A, CTP_WAITS_ITEM, 0, CTP_OBJECT_MADE);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, 0);
	is(over(), "", "it is not found if the address has a new queue");
}

/* A worker rests at a queue. The program closes the queue, and so wakes the worker; then it destroys all, this much later. */
static const char *closed_at_end(uint64_t later_ns, bool runs_on)
{
	uint64_t ts = END * (uint64_t)MS;
	scene();
	has_so(&h, 10, A, CTP_WAITS_ITEM, 0, CTP_OBJECT_MADE);
	waits_alone(1, CTP_WAITS_ITEM, A, 1, CTP_REASON_RESTS);
	has_so(&h, ts, A, 0, 0, CTP_OBJECT_CLOSED);
	is_woken(&h, ts + 1, 1, 6, 0);
	if (runs_on) {
		resumes(&h, ts + 2, 2, 5);
		stops(ts + 3, 2);
	}
	for (uint64_t co = 1; co <= 4; co++)
		dies(&h, ts + later_ns + co, co);
	is_over(&h, ts + later_ns + 10, CTP_OUTCOME_EXITED);
	return end();
}

static void closed_last(void)
{
	is(closed_at_end(10, false), "", "a queue that is closed when the program ends gives no finding");
	is(listed, "4096 for 1, held by 0", "it is listed as it was when the trace was judged: open");
	closed_at_end(10, true);
	is(listed, "4096 for 0, held by 0, closed", "it was closed before if a coroutine ran after that");
	closed_at_end(400 * MS, false);
	is(listed, "4096 for 0, held by 0, closed", "and so it was if the program ended much later");
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
	is(found, "wake-strayed likely 1", "a wake that went to a coroutine which waits for something else is found");
	ok(strstr(why, "coroutine #2 was woken for it"), "the finding names that coroutine: %s", why);
	strays(true, true);
	is(found, "", "it is not found if the woken one waits for the item");
	strays(false, true);
	is(found, "", "it is not found if the item was taken all the same");
}

/* Two reasons of one wait are one sentence. */
static void two_reasons(void)
{
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	runs(AT - 10, 1);
	waits_for(&h, AT - 6, 1, CTP_WAITS_ITEM, A);
	waits_for(&h, AT - 5, 1, CTP_WAITS_TIMER, AT + 10 * MS);
	stops(AT, 1);
	is(over(), "timer-overdue likely 1", "a timer beside another reason is found");
	ok(strstr(why, "coroutine #1 waits for an item of the queue at 0x1000 (0 in it), or for a timer that was due 2.69 s before the end\n"),
	   "both reasons are one sentence: %s", why);
}

static void descriptors(void)
{
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, AT + S, FD, 12);
	is(over(), "unread-data likely 1", "a reader that sleeps although its socket has data is found");
	ok(strstr(why, "the kernel had 12 bytes for descriptor 7"), "the finding gives the number of bytes: %s", why);
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, AT + S, FD, 12);
	kernel_has(&h, (END - 400) * (uint64_t)MS, FD, 13);
	is(over(), "unread-data likely 1", "it is found if even more data has just arrived");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	resumes(&h, AT + MS, 2, 5);
	kernel_has(&h, AT + S, FD, 12);
	ok(!strstr(over(), "unread-data"), "it is not found while another holds its thread: %s", found);
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLOUT, 0);
	kernel_has(&h, AT + S, FD, 12);
	is(over(), "", "it is not found if it waits to write");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, AT + S, FD, 0);
	is(over(), "", "it is not found if there is no data");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, AT + S, FD + 1, 12);
	is(over(), "", "it is not found if the data is of another descriptor");
	scene();
	kernel_has(&h, AT - 100, FD, 12);
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	is(over(), "", "it is not found if the data was there before the wait");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, (END - 400) * (uint64_t)MS, FD, 12);
	is(over(), "", "it is not found if it may be about to read");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has_end(&h, AT + S, FD);
	is(over(), "unread-data likely 1", "a reader that sleeps although its peer has hung up is found");
	ok(strstr(why, "the kernel had the end of the stream for descriptor 7"),
	   "the finding names the end of the stream: %s", why);
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has(&h, AT + S, FD, 12);
	kernel_has_end(&h, (END - 400) * (uint64_t)MS, FD);
	is(over(), "unread-data likely 1", "it is found if there was data before");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLOUT, 0);
	kernel_has_end(&h, AT + S, FD);
	is(over(), "", "it is not found after a hang-up if it waits to write");
	scene();
	waits_alone(1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, 0);
	kernel_has_end(&h, (END - 400) * (uint64_t)MS, FD);
	is(over(), "", "it is not found if the hang-up is very new");
}

/* --- queues --------------------------------------------------------------------------------------------------------------- */

/* 400 coroutines in 8 s, which have all just run and wait again. */
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
	is(queue_grows(CTP_WAITS_LOCK, 0), "growth likely 400", "a growing number of waiters for a lock is found");
	is(queue_grows(CTP_WAITS_PERMITS, 0), "growth likely 400", "a growing number of waiters for permits is found");
	is(queue_grows(CTP_WAITS_PERMITS, 1), "", "it is not found if there are free permits");
	is(queue_grows(CTP_WAITS_ITEM, 0), "", "a growing number of idle workers is not found");
}

/*
 * Coroutine 2 gives 40 items, coroutine 1 takes them, and 2 ends; each waits at the queue every time, briefly. 1 rests elsewhere,
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
	is(queue_pair(p), "peer-ended likely 1", "a coroutine that waits at a queue whose only giver has ended is found");
	ok(strstr(why, "coroutine #2 has given to it 40 times, and has ended"), "the finding names the giver: %s", why);
	p.room = true;
	is(queue_pair(p), "peer-ended likely 1", "a giver that waits at a queue whose only taker has ended is found");
	p = good, p.dies_ms = 0;
	ok(!strstr(queue_pair(p), "peer"), "it is not found if the peer is alive: %s", found);
	p = good, p.dies_ms = END - 400;
	ok(!strstr(queue_pair(p), "peer"), "it is not found if the peer has just ended: %s", found);
	p = good, p.other = true;
	ok(!strstr(queue_pair(p), "peer"), "it is not found if another coroutine gives, too: %s", found);
	p = good, p.times = 30;
	ok(!strstr(queue_pair(p), "peer"), "it is not found if others must have given without waiting: %s", found);
	p = good, p.times = p.taken = 15;
	ok(!strstr(queue_pair(p), "peer"), "it is not found after a few items: %s", found);
	p = good, p.end_ms = 1200;
	ok(!strstr(queue_pair(p), "peer"), "it is not found within a second: %s", found);
	p = good, p.rests = true;
	ok(!strstr(queue_pair(p), "peer"), "it is not found if it rests there: %s", found);
	p = good, p.nowhere_else = true;
	ok(!strstr(queue_pair(p), "peer"), "it is not found if it waits nowhere else: %s", found);
	p = good, p.marks = CTP_REASON_TIMED;
	ok(!strstr(queue_pair(p), "peer"), "it is not found with a time-out: %s", found);
	p = good, p.refilled = true;
	ok(!strstr(queue_pair(p), "peer"), "it is not found if there is an item: %s", found);
}

int main(void)
{
	timers();
	items();
	permits();
	closed();
	closed_last();
	stray_wakes();
	two_reasons();
	descriptors();
	queues();
	peers();
	return done_testing();
}
