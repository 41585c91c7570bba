/*
 * report-objects.c - the rules that rest on what coroutines wait for. For each premise of each rule there is a scene that breaks only
 * that one, and then nothing is found.
 */
#include "judged.h"

#include <poll.h>

enum { A = 0x1000, B = 0x2000, C = 0x3000, FD = 7, AT = 300 * MS, END = 3000 };

/* Coroutines 1 to 4 have run once and are suspended where they rest, which may take for ever. */
static void scene(void)
{
	begin();
	for (uint64_t co = 1; co <= 4; co++) {
		is_born(&h, 1, co, MAKER + co);
		resumes(&h, 2, co, 5);
		waits_so(&h, 3, co, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		suspends(&h, 4, co, 5, 30 + co);
	}
}

/* The coroutine runs from ts on, and suspends a microsecond later; what it says before comes in between. */
static void runs(uint64_t ts, uint64_t co)
{
	is_woken(&h, ts - 1, co, 6, 0);
	resumes(&h, ts, co, 5);
}

static void stops(uint64_t ts, uint64_t co) { suspends(&h, ts, co, 5, 30 + co); }

/* It waits for one thing alone, from AT on. */
static void waits_alone(uint64_t co, enum ctp_waits_for what, uint64_t value, uint64_t n, uint64_t marks)
{
	runs(AT - 10, co);
	waits_so(&h, AT - 5, co, what, value, n, marks);
	stops(AT, co);
}

static const char *over_at(uint64_t ms)
{
	is_over(&h, ms * MS, CTP_OUTCOME_RUNNING);
	return end();
}

static const char *over(void) { return over_at(END); }

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
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 1000, CTP_OBJECT_MADE);
	waits_alone(1, CTP_WAITS_PERMITS, A, 389, 0);
	is(over(), "", "a count that is told only when it becomes 0 says nothing of 389");
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 1000, CTP_OBJECT_MADE);
	runs(12, 3);
	gets(&h, 13, 3, A, 700);
	stops(14, 3);
	waits_alone(1, CTP_WAITS_PERMITS, A, 389, 0);
	is(over(), "", "and what others hold is not there");
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 1000, CTP_OBJECT_MADE);
	runs(12, 3);
	gets(&h, 13, 3, A, 300);
	stops(14, 3);
	waits_alone(1, CTP_WAITS_PERMITS, A, 389, 0);
	is(over(), "available-not-woken likely 1", "but the rest is");
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

/* --- who has it ----------------------------------------------------------------------------------------------------------- */

static void held_by_dead(uint64_t marks, bool dies_there, bool other)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 2, CTP_OBJECT_MADE | marks);
	runs(100 * MS, 2);
	gets(&h, 100 * MS + 1, 2, A, other ? 1 : 2);
	has(&h, 100 * MS + 2, A, CTP_WAITS_PERMITS, other ? 1 : 0);
	if (other) {
		runs(101 * MS, 3);
		gets(&h, 101 * MS + 1, 3, A, 1);
		has(&h, 101 * MS + 2, A, CTP_WAITS_PERMITS, 0);
	}
	if (dies_there)
		dies(&h, 110 * MS, 2);
	else
		stops(110 * MS, 2);
	waits_alone(1, CTP_WAITS_PERMITS, A, 1, 0);
	over();
}

/* Coroutine 1 gets one of two permits again and again, and then waits for one: from 300 ms on, and holds one or not. */
static void waits_for_own(bool own, enum ctp_waits_for what, uint64_t end_ms)
{
	scene();
	has_so(&h, 10, A, what, 2, CTP_OBJECT_MADE);
	for (uint64_t i = 0; i < 30; i++) {
		uint64_t ts = 10 * MS + i * 5 * MS;
		runs(ts, 1);
		waits_for(&h, ts + 1, 1, what, A);
		stops(ts + 2, 1);
		is_woken(&h, ts + 3, 1, 6, 2);
		resumes(&h, ts + 4, 1, 5);
		gets(&h, ts + 5, 1, A, 1);
		gets(&h, ts + 6, 1, A, -1);
		waits_so(&h, ts + 7, 1, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		suspends(&h, ts + 8, 1, 5, 40);
	}
	runs(250 * MS, 2);
	gets(&h, 250 * MS + 1, 2, A, 1);
	gets(&h, 250 * MS + 2, own ? 1 : 3, A, 1);
	has(&h, 250 * MS + 3, A, what, 0);
	waits_so(&h, 250 * MS + 4, 2, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
	stops(250 * MS + 5, 2);
	runs(AT - 10, 1);
	waits_for(&h, AT - 5, 1, what, A);
	stops(AT, 1);
	over_at(end_ms);
}

static void own_permits(void)
{
	waits_for_own(true, CTP_WAITS_PERMITS, END);
	is(found, "waits-for-own likely 1", "one that waits for what it was given already");
	waits_for_own(false, CTP_WAITS_PERMITS, END);
	ok(!strstr(found, "waits-for-own"), "but not for what others hold: %s", found);
	waits_for_own(true, CTP_WAITS_PERMITS, 1200);
	ok(!strstr(found, "waits-for-own"), "nor for less than a second: %s", found);
}

static void dead_holders(void)
{
	held_by_dead(CTP_OBJECT_OWNED, true, false);
	is(found, "held-by-dead likely 1", "a permit is held by a coroutine that has ended");
	ok(strstr(why, "waits for 1 of 2 permits of the semaphore at 0x1000 (0 free), held by coroutine #2, which has ended"),
	   "which is said: %s", why);
	held_by_dead(0, true, false);
	is(found, "", "but not if others may give it back");
	held_by_dead(CTP_OBJECT_OWNED, false, false);
	ok(!strstr(found, "held-by-dead"), "nor if that one lives: %s", found);
	held_by_dead(CTP_OBJECT_OWNED, true, true);
	ok(!strstr(found, "held-by-dead"), "nor if another that holds one runs: %s", found);
}

/* Two locks in two orders: 1 has A and waits for B, 2 has B and waits for A. */
static void circle(uint64_t marks, uint64_t owned, enum ctp_waits_for what, bool missed)
{
	scene();
	has_so(&h, 10, A, what, 1, CTP_OBJECT_MADE | owned);
	has_so(&h, 11, B, what, 1, CTP_OBJECT_MADE | owned);
	runs(100 * MS, 1);
	gets(&h, 100 * MS + 1, 1, A, 1);
	has(&h, 100 * MS + 2, A, what, 0);
	stops(100 * MS + 3, 1);
	runs(101 * MS, 2);
	gets(&h, 101 * MS + 1, 2, B, 1);
	has(&h, 101 * MS + 2, B, what, 0);
	stops(101 * MS + 3, 2);
	if (missed)
		are_missed(&h, 110 * MS, 111 * MS, 6);
	waits_alone(1, what, B, 1, marks);
	runs(AT + MS, 2);
	waits_so(&h, AT + MS + 1, 2, what, A, 1, 0);
	stops(AT + 2 * MS, 2);
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_KILLED);
	end();
}

/* The circle above, in a program that is told to end: it drops what is locked, the locks, and then the coroutines. */
static void circle_destroyed(void)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	has_so(&h, 11, B, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	for (uint64_t co = 1; co <= 2; co++) {
		runs(99 * MS + co * MS, co);
		gets(&h, 99 * MS + co * MS + 1, co, co == 1 ? A : B, 1);
		stops(99 * MS + co * MS + 3, co);
	}
	waits_alone(1, CTP_WAITS_LOCK, B, 1, 0);
	runs(AT + MS, 2);
	waits_so(&h, AT + MS + 1, 2, CTP_WAITS_LOCK, A, 1, 0);
	stops(AT + 2 * MS, 2);
	gets(&h, END * (uint64_t)MS - 20, 1, A, -1);
	has(&h, END * (uint64_t)MS - 19, A, CTP_WAITS_LOCK, 1);
	has_so(&h, END * (uint64_t)MS - 18, A, 0, 0, CTP_OBJECT_GONE);
	dies(&h, END * (uint64_t)MS - 17, 1);
	gets(&h, END * (uint64_t)MS - 16, 2, B, -1);
	has_so(&h, END * (uint64_t)MS - 15, B, 0, 0, CTP_OBJECT_GONE);
	has_so(&h, END * (uint64_t)MS - 14, C, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	for (uint64_t co = 2; co <= 4; co++)
		dies(&h, END * (uint64_t)MS - 10 + co, co);
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_EXITED);
	end();
}

static void circles(void)
{
	circle_destroyed();
	is(found, "wait-cycle proved 2", "locks are judged as they were before the program destroyed them");
	circle(0, 0, CTP_WAITS_LOCK, false);
	is(found, "wait-cycle proved 2", "two locks in two orders are proved to stop");
	ok(strstr(why, "coroutine #1 waits for the lock at 0x2000, held by coroutine #2, which has been suspended at"),
	   "locks and holders are named: %s", why);
	circle(0, CTP_OBJECT_OWNED, CTP_WAITS_PERMITS, false);
	is(found, "wait-cycle proved 2", "and permits that only the holder gives back");
	circle(0, 0, CTP_WAITS_PERMITS, false);
	is(found, "wait-cycle likely 2", "others may be given back by anybody");
	circle(CTP_REASON_TIMED, 0, CTP_WAITS_LOCK, false);
	is(found, "wait-cycle likely 2", "a wait with a time-out proves nothing");
	circle(CTP_REASON_CANCELLABLE, 0, CTP_WAITS_LOCK, false);
	is(found, "wait-cycle likely 2", "nor does one that may be cancelled");
	circle(CTP_REASON_SHARED, 0, CTP_WAITS_LOCK, false);
	is(found, "wait-cycle likely 2", "nor one for a share");
	circle(CTP_REASON_MORE, 0, CTP_WAITS_LOCK, false);
	ok(!strstr(found, "proved"), "nor one with other reasons: %s", found);
	circle(0, 0, CTP_WAITS_LOCK, true);
	ok(!strstr(found, "proved"), "nor one after records were missing: %s", found);
}

/* Two hold one permit each of A, and both wait for a third one's lock B; that one waits for a permit of A. Of them, 4 may run. */
static void knot(bool closes)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_PERMITS, 2, CTP_OBJECT_MADE | CTP_OBJECT_OWNED);
	has_so(&h, 11, B, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	for (uint64_t co = 1; co <= 2; co++) {
		runs(100 * MS * co, co);
		gets(&h, 100 * MS * co + 1, co, A, 1);
		stops(100 * MS * co + 2, co);
	}
	has(&h, 250 * MS, A, CTP_WAITS_PERMITS, 0);
	runs(251 * MS, 3);
	gets(&h, 251 * MS + 1, 3, B, 1);
	stops(251 * MS + 2, 3);
	waits_alone(1, CTP_WAITS_LOCK, B, 1, 0);
	runs(AT + MS, 3);
	waits_for(&h, AT + MS + 1, 3, CTP_WAITS_PERMITS, A);
	stops(AT + 2 * MS, 3);
	if (closes) {
		runs(AT + 3 * MS, 2);
		waits_for(&h, AT + 3 * MS + 1, 2, CTP_WAITS_LOCK, B);
		stops(AT + 4 * MS, 2);
	}
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_KILLED);
	end();
}

static void knots(void)
{
	knot(true);
	is(found, "wait-cycle proved 2", "where several hold permits, all of them are in the circle");
	ok(strstr(why, "1 other waits because of them"), "the third is counted: %s", why);
	knot(false);
	ok(!strstr(found, "proved"), "one that is not may give back what it has: %s", found);
}

/* A circle of a lock and a join. */
static void mixed(void)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_LOCK, 1, CTP_OBJECT_MADE);
	runs(100 * MS, 1);
	gets(&h, 100 * MS + 1, 1, A, 1);
	has(&h, 100 * MS + 2, A, CTP_WAITS_LOCK, 0);
	joins(&h, 100 * MS + 3, 1, 2);
	stops(100 * MS + 4, 1);
	waits_alone(2, CTP_WAITS_LOCK, A, 1, 0);
	is_over(&h, END * (uint64_t)MS, CTP_OUTCOME_KILLED);
	is(end(), "wait-cycle proved 2", "a join is part of a circle, too");
}

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

static bool is_helper; /* another coroutine waits through the last one */

/* Requests wait for something, which comes from no coroutine, and end after so long. The last one has waited since. */
static const char *left_behind(enum ctp_waits_for what, uint64_t marks, uint64_t requests, uint64_t life_ns, uint64_t end_ms)
{
	scene();
	for (uint64_t n = 0; n <= requests; n++) {
		uint64_t ts = 10 * MS + n * 5 * MS, value = what == CTP_WAITS_TIMER ? 10 * S : what == CTP_WAITS_DESCRIPTOR ? FD : A + 16 * n;
		is_born(&h, ts, 100 + n, MAKER);
		resumes(&h, ts + 1, 100 + n, 5);
		if (what)
			waits_so(&h, ts + 2, 100 + n, what, value, 1, marks);
		suspends(&h, ts + 3, 100 + n, 5, 50);
		if (n == requests)
			break;
		is_woken(&h, ts + 4 * MS, 100 + n, 5, 0);
		resumes(&h, ts + 4 * MS + 1, 100 + n, 5);
		if (life_ns > 4 * MS) {
			waits_so(&h, ts + 4 * MS + 2, 100 + n, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
			suspends(&h, ts + 4 * MS + 3, 100 + n, 5, 51);
		} else {
			dies(&h, ts + 4 * MS + 2, 100 + n);
		}
	}
	if (is_helper) {
		runs(AT, 2);
		awaits(&h, AT + 1, 2, 100 + requests);
		stops(AT + 2, 2);
	}
	for (uint64_t n = 0; n < requests && life_ns > 4 * MS; n++)
		dies(&h, 10 * MS + requests * 5 * MS + life_ns + n, 100 + n);
	return over_at(end_ms);
}

static void stragglers(void)
{
	is_helper = true;
	is(left_behind(CTP_WAITS_EVENT, 0, 40, 4 * MS, END), "", "one that another awaits may be a helper, for waits of all sorts");
	is_helper = false;
	is(left_behind(CTP_WAITS_EVENT, 0, 40, 4 * MS, END), "never-woken likely 1", "one of many requests waits for what the others had soon");
	is(left_behind(0, 0, 40, 4 * MS, END), "", "but not if that is not known");
	is(left_behind(CTP_WAITS_TIMER, 0, 40, 4 * MS, END), "", "nor for a timer that runs");
	is(left_behind(CTP_WAITS_DESCRIPTOR, 0, 40, 4 * MS, END), "", "nor for a descriptor, which a client may take its time for");
	is(left_behind(CTP_WAITS_EVENT, CTP_REASON_RESTS, 40, 4 * MS, END), "", "nor if it may rest there");
	is(left_behind(CTP_WAITS_EVENT, CTP_REASON_TIMED, 40, 4 * MS, END), "", "nor with a time-out");
	is(left_behind(CTP_WAITS_EVENT, 0, 15, 4 * MS, END), "", "nor after a few requests");
	is(left_behind(CTP_WAITS_EVENT, 0, 40, 200 * MS, END), "", "nor if the others lived for a tenth of the time");
	is(left_behind(CTP_WAITS_EVENT, 0, 40, 4 * MS, 900), "", "nor within a second");
}

/* --- the table ------------------------------------------------------------------------------------------------------------ */

static void quiet(bool alive)
{
	scene();
	has(&h, 10, A, CTP_WAITS_ITEM, 0);
	for (uint64_t i = 0; i < 40; i++) { /* 2 makes what 1 takes */
		uint64_t ts = 10 * MS + i * 5 * MS;
		if (!i) {
			runs(ts, 1);
			waits_for(&h, ts + 1, 1, CTP_WAITS_ITEM, A);
			stops(ts + 2, 1);
		}
		runs(ts + 3, 2);
		has(&h, ts + 4, A, CTP_WAITS_ITEM, 1);
		is_woken(&h, ts + 5, 1, 5, 2);
		waits_so(&h, ts + 6, 2, CTP_WAITS_OTHER, 0x9000, 1, CTP_REASON_RESTS);
		suspends(&h, ts + 7, 2, 5, 40);
		resumes(&h, ts + 8, 1, 5);
		has(&h, ts + 9, A, CTP_WAITS_ITEM, 0);
		waits_for(&h, ts + 10, 1, CTP_WAITS_ITEM, A);
		stops(ts + 11, 1);
	}
	if (!alive)
		dies(&h, AT, 2);
	over();
}

/* A server reads requests, 40 times, and then none comes. Others like it may have ended soon. */
static void idle_socket(bool looked, uint64_t unread, uint64_t ended)
{
	scene();
	for (uint64_t co = 100; co < 100 + ended; co++) {
		is_born(&h, 5 + co * 10, co, MAKER + 1);
		resumes(&h, 6 + co * 10, co, 5);
		waits_so(&h, 7 + co * 10, co, CTP_WAITS_DESCRIPTOR, FD + 1, POLLIN, CTP_REASON_CANCELLABLE);
		suspends(&h, 8 + co * 10, co, 5, 31);
		is_woken(&h, 2 * MS + co * 10, co, 6, 0);
		resumes(&h, 2 * MS + co * 10 + 1, co, 5);
		dies(&h, 2 * MS + co * 10 + 2, co);
	}
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t ts = 10 * MS + i * 5 * MS;
		runs(ts, 1);
		waits_so(&h, ts + 1, 1, CTP_WAITS_DESCRIPTOR, FD, POLLIN, CTP_REASON_CANCELLABLE);
		stops(ts + 2, 1);
	}
	for (uint64_t ts = 300 * MS; ts < END * (uint64_t)MS; ts += 50 * MS) { /* another goes on */
		runs(ts, 2);
		stops(ts + 1, 2);
	}
	if (looked)
		kernel_has(&h, 2 * S, FD, unread);
	over();
}

static void sockets(void)
{
	idle_socket(false, 0, 0);
	ok(*suspected, "one that reads requests, and has none, stands out: %s", suspected);
	idle_socket(true, 0, 0);
	is(suspected, "", "but not if the kernel has nothing for it, either");
	idle_socket(true, 0, 5);
	ok(*suspected, "unless the others have ended, as it was meant to: %s", suspected);
	idle_socket(true, 5, 0);
	ok(strstr(found, "unread-data"), "and if it has, that is found: %s", found);
}

/* One waits for another, which sleeps for an hour or waits for nobody knows what; each has come back there 40 times. */
static void sleeper(bool told)
{
	scene();
	for (uint64_t i = 0; i < 40; i++)
		for (uint64_t co = 1; co <= 2; co++) {
			runs(10 * MS + i * 5 * MS + co * 10, co);
			suspends(&h, 10 * MS + i * 5 * MS + co * 10 + 2, co, 5, 50 + co);
		}
	runs(AT, 2);
	if (told)
		waits_for(&h, AT + 1, 2, CTP_WAITS_TIMER, AT + 3600 * S);
	suspends(&h, AT + 2, 2, 5, 52);
	runs(AT + MS, 1);
	awaits(&h, AT + MS + 1, 1, 2);
	suspends(&h, AT + MS + 2, 1, 5, 51);
	over();
}

/* A coroutine has slept for 5 ms many times, and now sleeps for so long. */
static void sleeps_for(uint64_t ns)
{
	scene();
	for (uint64_t i = 0; i < 60; i++) {
		uint64_t ts = 10 * MS + i * 6 * MS;
		runs(ts, 1);
		waits_for(&h, ts + 1, 1, CTP_WAITS_TIMER, ts + 5 * MS);
		stops(ts + 2, 1);
	}
	runs(400 * MS, 1);
	waits_for(&h, 400 * MS + 1, 1, CTP_WAITS_TIMER, 400 * MS + ns);
	stops(400 * MS + 2, 1);
	over();
}

static void sleepers(void)
{
	sleeps_for(4 * S);
	is(suspected, "", "one that sleeps longer than ever is in order");
	sleeps_for(49 * 86400 * S);
	ok(*suspected, "but not where all others slept for a thousandth of that: %s", suspected);
	sleeper(false);
	ok(*suspected, "one that others wait for stands out: %s", suspected);
	sleeper(true);
	is(suspected, "", "but not while its timer runs");
}

/* Six coroutines wait for room again and again, and 2 for items; it ends their waits, and they its own, until it misses an item. */
static void victims(void)
{
	scene();
	has_so(&h, 10, A, CTP_WAITS_ITEM, 0, CTP_OBJECT_MADE);
	for (uint64_t co = 11; co <= 16; co++) {
		is_born(&h, 5 * MS, co, MAKER);
		resumes(&h, 5 * MS + co, co, 5);
		suspends(&h, 5 * MS + co, co, 5, 60);
		is_woken(&h, 5 * MS + 100 + co, co, 6, 0);
	}
	for (uint64_t i = 0; i < 120; i++) {
		uint64_t ts = 10 * MS + i * 2 * MS, co = 11 + i % 6;
		resumes(&h, ts, co, 5);
		is_woken(&h, ts + 1, 2, 5, co);
		waits_for(&h, ts + 2, co, CTP_WAITS_ROOM, A);
		suspends(&h, ts + 3, co, 5, 61);
		resumes(&h, ts + 4, 2, 5);
		is_woken(&h, ts + 5, co, 5, 2);
		waits_for(&h, ts + 6, 2, CTP_WAITS_ITEM, A);
		suspends(&h, ts + 7, 2, 5, 62);
		resumes(&h, ts + 8, co, 5);
		suspends(&h, ts + 9, co, 5, 60);
		is_woken(&h, ts + 10, co, 6, 0);
	}
	has(&h, AT + 1, A, CTP_WAITS_ITEM, 3);
	for (uint64_t co = 11; co <= 16; co++) {
		resumes(&h, AT + co * 10, co, 5);
		waits_for(&h, AT + co * 10 + 2, co, CTP_WAITS_ROOM, A);
		suspends(&h, AT + co * 10 + 3, co, 5, 61);
	}
	is(over(), "available-not-woken likely 1", "a coroutine that waits because of a finding is no other finding");
}

static void makers(void)
{
	quiet(true);
	is(suspected, "", "one that waits for what an idle one makes is idle as well");
	is(found, "", "and no finding");
	quiet(false);
	ok(*suspected || *found, "not if that one has died: %s%s", suspected, found);
}

int main(void)
{
	timers();
	items();
	permits();
	closed();
	stray_wakes();
	descriptors();
	dead_holders();
	own_permits();
	circles();
	knots();
	mixed();
	queues();
	peers();
	victims();
	sleepers();
	stragglers();
	makers();
	sockets();
	return done_testing();
}
